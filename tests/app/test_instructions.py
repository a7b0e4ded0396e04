"""What a page tells its reader to press, choose, open or move stands on screen: found on every page and in every part of
it, as is what is on screen, so that neither is listed here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages._ui import navigation
from tests import LENGTHY
from tests.app.opening import charts, dials, opened, parts_of

# A verb and the name of what to do it with, in bold; one more may follow.
_TOLD = re.compile(
    r"(?i)\b(?:press|choose|open|lower|raise|drag|set|click(?: on)?|switch on|change|move|unfold|start from|tab)"
    r"(?: the| a| to)? \*\*(?P<name>(?:\\\*|[^*])+)\*\*(?: and \*\*(?P<second>(?:\\\*|[^*])+)\*\*)?"
)
_ESCAPED = re.compile(r"\\(.)")
# Blocks whose contents are out of sight until they are opened.
_FOLDED = ("popover", "dialog")
NOTHING_TO_REPAIR = "dist=uniform&k=3&eps=8&n=100000&seed=1"
FAR = {
    "nothing to repair": NOTHING_TO_REPAIR,
    "hidden": "truth=hidden",
    "smallest": "dist=zipf&k=2&eps=0.01&n=1&seed=1",
    "largest noise-free": "dist=zipf&k=300&s=0&eps=20&n=1000000000&seed=1",
    "many categories": "dist=zipf&k=1500000&s=1.3&eps=1&n=1000000&seed=1",
    "table": "dist=letters&eps=0.01&n=1000000000",
    "large epsilon": "dist=exam&eps=20&n=1",
    "three": "dist=uniform&k=3&eps=1&n=100&seed=2",
}


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
        for i, name in enumerate(navigation.BY_ADDRESS)
        for j, query in enumerate(FAR.values())
        if LENGTHY or (i + j) % 3 == 0
    ],
)
def test_what_a_reader_is_told_to_use_is_on_screen_at_other_settings(name, query):
    assert missing(name, query) == []
