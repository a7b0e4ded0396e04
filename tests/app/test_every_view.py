"""Every view of the app, found on screen: each page with each of its parts, and each option of each choice there, at the
ends of the scenario. No view may say what cannot be, or say it in broken words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.opening import ROOT, charts, checked, opened

ENDS = (
    "dist=zipf&k=2&eps=0.01&n=1",
    "dist=zipf&k=2&eps=20&n=1000000000",
    "dist=zipf&k=12&s=5&eps=20&n=1000000",
    "dist=zipf&k=60&eps=0.01&n=2",
    "dist=zipf&k=1500000&eps=1&n=1000",
)
_MANY = r"(?:people|users|reports|categories|times|days|iterations|collections|answers|truths|rows|bits|others|more users)"
IMPOSSIBLE = {
    "a number that is none": r"\bnan\b|(?<![A-Za-z])[-−]?inf\b(?!o)|\bNone\b|(?<!\.)\bTrue\b",
    "one of many": rf"(?<![\d.,·/]\s)(?<![\d.,·/−])\b1 {_MANY}\b(?! (?:or|and) )",
    "nothing that is something": r"at most 0%|\bwithin 0%|(?<![\d.,])0 times",
    "rounding told as a number": r"·10⁻(?:1[2-9]|[2-9]\d)\s?%",
    "minus zero": r"[-−]0(?:\.0+)?(?![\d.])%?",
    "an interval of no width": r"\b(100|0)% to \1%",
    "two full stops": r"[^.]\.\.(?!\.)|\s,|\(\s|\s\)",
    "an empty name": r"“”|\*\*\*\*",
}


def parts_of(name: str) -> list[str | None]:
    """Keys of the parts of a page; [None] where it has none."""
    path = ROOT / ("pages" if name else ".") / f"{name or 'app'}.py"
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Parts":
            return list(ast.literal_eval(call.args[1]))
    return [None]


NAMES = ["", *sorted(path.stem for path in (ROOT / "pages").glob("[a-z]*.py"))]
PLACES = [(name, part) for name in NAMES for part in parts_of(name)]


def words(page: AppTest) -> str:
    """All that is said on screen and to those who do not see the figures."""
    kinds = (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "text",
        "info",
        "warning",
        "error",
        "success",
    )
    said = [str(one.value) for kind in kinds for one in getattr(page, kind)]
    said += [f"{one.label}: {one.value}" for one in page.metric]
    said += [one.label for kind in ("selectbox", "button", "expander") for one in getattr(page, kind)]
    return "\n".join((*said, *(chart["alt"] for chart in charts(page))))


def options(page: AppTest) -> Iterator[tuple[str, Any, Any]]:
    """Each choice of the page's main part and each of its other options: key, label and the option."""
    for one in (*page.main.selectbox, *page.main.radio, *page.main.get("button_group")):
        if not one.disabled and one.key and 1 < len(one.options) <= 40:
            for option in one.options:
                yield one.key, one.label, option


def views(name: str, part: str | None, query: str) -> Iterator[tuple[str, AppTest]]:
    """The page as it opens, then with each option of each choice chosen by itself."""
    link = f"{query}&part={part}" if part else query
    first = opened(name, link)
    yield "as it opens", first
    for key, label, option in list(options(first)):
        page = opened(name, link)
        (one,) = [
            found
            for found in (*page.main.selectbox, *page.main.radio, *page.main.get("button_group"))
            if found.key == key
        ]
        yield f"{label}: {option}", checked(choose(one, option))


def choose(one: Any, option: Any) -> AppTest:
    if one.type == "button_group":
        return one.set_value([option] if isinstance(one.value, list) else option).run()
    return one.select(option).run() if one.type == "selectbox" else one.set_value(option).run()


def faults(text: str) -> list[str]:
    """What cannot be, with the words around it."""
    return [
        f"{what}: … {text[max(0, found.start() - 60) : found.end() + 40]!r}"
        for what, pattern in IMPOSSIBLE.items()
        for found in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize(("name", "part"), PLACES)
def test_a_view_as_it_opens_says_nothing_that_cannot_be(name, part):
    found = [
        fault
        for query in ENDS[:2]
        for fault in faults(words(opened(name, f"{query}&part={part}" if part else query)))
    ]
    assert not found, "\n".join(found)
