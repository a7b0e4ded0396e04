"""Every view of the app, found on screen: each page with each of its parts, and each option of each choice there, at the
ends of the scenario. No view may say what cannot be, or say it in broken words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests import LENGTHY
from tests.app.opening import ABOUT_SCENARIO, PLACES, charts, checked, opened, parts_of
from tests.documents import ADDRESSES

ENDS = (
    "dist=zipf&k=2&eps=0.01&n=1",
    "dist=zipf&k=2&eps=20&n=1000000000",
    "dist=zipf&k=12&s=5&eps=20&n=1000000",
    "dist=zipf&k=60&eps=0.01&n=2",
    "dist=zipf&k=1500000&eps=1&n=1000",
)
WITHOUT_SCENARIO = ("experiments", *(name for name in ADDRESSES if name not in ABOUT_SCENARIO))
MOST_OPTIONS = 8
_MANY = (
    "people|users|reports|categories|times|days|iterations|collections|answers|truths|rows|bits|draws|cells|files|"
    "others|queries|questions|shares|zeros|ones"
)
IMPOSSIBLE = {
    "a number that is none": r"\bnan\b|(?<![A-Za-z])[-−]?inf\b",
    "one of many": rf"(?<![\d.,·/−])(?<![\d.,·/]\s)\b1 (?:{_MANY})\b(?! (?:or|and) )",
    "something told as nothing": r"at most 0%|\bwithin 0%|(?<![\d.,])0 times",
    # Doubles keep sixteen figures; what ε alone proves may be as little, and a chance is 10⁻⁴².
    "rounding told as a number": r"(?<!alone )(?<![\d.])[\d.]+·10⁻¹[²³⁴⁵⁶⁷⁸⁹]%",
    "minus zero": r"[-−]0(?:\.0+)?(?![\d.])%?",
    "an interval of no width": r"\b(100|0)% to \1%",
    "a broken sentence": r"[a-z%)]\.\.(?!\.)|[a-z] ,|“”|\*{4}",
}


def words(page: AppTest) -> str:
    """All that is said on screen and to those who do not see the figures."""
    headings, boxes = ("title", "header", "subheader"), ("info", "warning", "error", "success")
    kinds = (*headings, "markdown", "caption", "text", *boxes)
    said = [str(one.value) for kind in kinds for one in getattr(page, kind)]
    said += [f"{one.label}: {one.value}" for one in page.metric]
    said += [one.label for kind in ("selectbox", "button", "expander") for one in getattr(page, kind)]
    return "\n".join((*said, *(chart["alt"] for chart in charts(page))))


def choices(page: AppTest) -> list[Any]:
    """The widgets of the page's main part with which one of a few things is chosen."""
    found = (*page.main.selectbox, *page.main.radio, *page.main.get("button_group"))
    return [one for one in found if not one.disabled and one.key and len(one.options) > 1]


def views(name: str, part: str | None, query: str) -> Iterator[AppTest]:
    """The page as it opens, then with each option of each choice by itself; of many options the first and last few. What
    stands on all parts of a page is chosen on the first of them."""
    link = f"{query}&part={part}" if part else query
    first, elsewhere = opened(name, link), set[str]()
    yield first
    if part != parts_of(name)[0] and not LENGTHY:
        elsewhere = {one.key for one in choices(opened(name, query))}
    for key, options in [(one.key, one.options) for one in choices(first) if one.key not in elsewhere]:
        page = opened(name, link)
        for i in range(len(options)):
            if min(i, len(options) - 1 - i) < MOST_OPTIONS // 2:
                (one,) = [found for found in choices(page) if found.key == key]
                if one.type == "selectbox":
                    one.select_index(i)
                else:
                    one.set_value([options[i]] if isinstance(one.value, list) else options[i])
                yield checked(page.run())


def faults(page: AppTest) -> list[str]:
    """What cannot be, with the words around it; formulas aside."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "x", words(page), flags=re.S)
    return [
        f"{what}: … {text[max(0, found.start() - 60) : found.end() + 40]!r}"
        for what, pattern in IMPOSSIBLE.items()
        for found in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize(("name", "part"), PLACES)
def test_a_page_as_it_opens_says_nothing_that_cannot_be(name, part):
    found = faults(opened(name, f"{ENDS[1]}&part={part}" if part else ENDS[1]))
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part", "query", "whole"),
    [
        (name, part, query, whole)
        for i, (name, part) in enumerate(PLACES)
        for j, query in enumerate(ENDS[:1] if name in WITHOUT_SCENARIO else ENDS)
        for whole in [LENGTHY or name in WITHOUT_SCENARIO or j == i % len(ENDS)]
        if whole or j != 1  # where the test above opens it
    ],
)
def test_no_view_says_what_cannot_be(name, part, query, whole):
    """At one end each option of each choice, if it is not to take long; at the others the page as it opens."""
    each = views(name, part, query)
    found = [fault for page in (each if whole else [next(each)]) for fault in faults(page)]
    assert not found, "\n".join(dict.fromkeys(found))
