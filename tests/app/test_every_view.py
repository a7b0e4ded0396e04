"""Every view of the app, found on screen: each page with each of its parts, and each option of each choice there, at the
ends of the scenario. No view may say what cannot be, or say it in broken words; and what it tells its reader to press,
choose, open or move stands on screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages._ui import navigation
from tests.app.opening import ABOUT_SCENARIO, PLACES, charts, checked, dials, opened, parts_of
from tests.documents import ADDRESSES

ENDS = (
    "dist=zipf&k=2&eps=0.01&n=1",
    "dist=zipf&k=2&eps=20&n=1000000000",
    "dist=zipf&k=12&s=5&eps=20&n=1000000",
    "dist=zipf&k=60&eps=0.01&n=2",
    "dist=zipf&k=1500000&eps=1&n=1000",
)
WITHOUT_SCENARIO = ("experiments", *(name for name in ADDRESSES if name not in ABOUT_SCENARIO))
MOST_OPTIONS = 4
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
    if part != parts_of(name)[0]:
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
    ("name", "part", "whole", "opening"),
    [
        (name, part, ENDS[0], None)
        if name in WITHOUT_SCENARIO
        else (name, part, ENDS[i % len(ENDS)], ENDS[(i + 2) % len(ENDS)])
        for i, (name, part) in enumerate(PLACES)
    ],
)
def test_no_view_says_what_cannot_be(name, part, whole, opening):
    """At one end each option of each choice, at another one the page as it opens."""
    found = [fault for page in views(name, part, whole) for fault in faults(page)]
    if opening:
        found += faults(opened(name, f"{opening}&part={part}" if part else opening))
    assert not found, "\n".join(dict.fromkeys(found))


# A verb and the name of what to do it with, in bold; one more may follow.
_TOLD = re.compile(
    r"(?i)\b(?:press|choose|open|lower|raise|drag|set|click(?: on)?|switch on|change|move|unfold|start from|tab)"
    r"(?: the| a| to)? \*\*(?P<name>(?:\\\*|[^*])+)\*\*(?: and \*\*(?P<second>(?:\\\*|[^*])+)\*\*)?"
)
_ESCAPED = re.compile(r"\\(.)")
# Blocks whose contents are out of sight until they are opened.
_FOLDED = ("popover", "dialog")
NOTHING_TO_REPAIR = "dist=uniform&k=3&eps=8&n=100000&seed=1"
FAR = (
    NOTHING_TO_REPAIR,
    "truth=hidden",
    "dist=zipf&k=2&eps=0.01&n=1&seed=1",
    "dist=zipf&k=1500000&s=1.3&eps=1&n=1000000&seed=1",
    "dist=letters&eps=0.01&n=1000000000",
)


def on_screen(block: Block, part: str) -> Iterator[object]:
    """Blocks and elements that can be seen, folds that are closed and tabs that are not open left out."""
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            closed = child.type == "expander" and not child.proto.expanded
            other_tab = child.type == "tab" and child.label != part
            if not (closed or other_tab or child.type in _FOLDED):
                yield from on_screen(child, part)


def open_tab(page: AppTest, name: str, part: str | None) -> str:
    """The label of the open tab: the parts' keys and their tabs stand in one order."""
    labels = [tab.label for tab in page.tabs]
    return labels[parts_of(name).index(part)] if labels and part else ""


def seen(page: AppTest, part: str) -> tuple[list[str], set[str]]:
    """Texts on screen, and names: of widgets, their choices, tabs, folds, links, the dials, and a figure's buttons."""
    said, names = [], {dial.label for dial in dials(page)} | {dial.dial["exact"] for dial in dials(page)}
    for element in on_screen(page._tree, part):
        kind = getattr(element, "type", "")
        if kind in ("markdown", "caption", "info", "warning", "error", "success"):
            said.append(element.value)
        proto = getattr(element, "proto", None)
        for name in ("label", "title"):
            names.add(str(getattr(proto, name, "") or getattr(element, name, "") or ""))
        if kind == "popover":
            names.add(proto.popover.label)
        for option in getattr(element, "options", ()) or ():
            names |= {str(option), str(option).partition(":")[0]}
        for option in getattr(proto, "options", ()) or ():
            names.add(getattr(option, "content", ""))
    for chart in charts(page):
        for menu in chart["layout"].get("updatemenus", ()):
            names |= {button["label"] for button in menu["buttons"]}
        names |= {trace.get("name", "") for trace in chart["data"]}
    return said, {plainly(name) for name in names if isinstance(name, str)}


def plainly(name: str) -> str:
    return _ESCAPED.sub(r"\1", name).replace("**", "").removeprefix("► ").strip()


def told(text: str) -> list[str]:
    """Names in bold that a text tells to do something with."""
    return [plainly(name) for found in _TOLD.finditer(text) for name in found.groups() if name]


def missing(name: str, query: str) -> list[str]:
    """What the parts of a page tell their reader to use and do not show."""
    found = []
    for key in parts_of(name):
        page = opened(name, "&".join(filter(None, (query, key and f"part={key}"))))
        said, names = seen(page, open_tab(page, name, key))
        found += [
            f"/{name}?{query}&part={key}: {one!r} in {text[:300]!r}"
            for text in said
            for one in told(text)
            if one not in names
        ]
    return found


@pytest.mark.parametrize(
    ("name", "query"),
    [
        *((name, "") for name in navigation.BY_ADDRESS),
        ("inv_negatives", NOTHING_TO_REPAIR),
        ("geometry", NOTHING_TO_REPAIR),
    ],
)
def test_what_a_reader_is_told_to_use_is_on_screen(name, query):
    assert missing(name, query) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "query"),
    [
        (name, query)
        for i, name in enumerate(ABOUT_SCENARIO)
        for j, query in enumerate(FAR)
        if (i + j) % 3 == 0
    ],
)
def test_what_a_reader_is_told_to_use_is_on_screen_at_other_settings(name, query):
    assert missing(name, query) == []
