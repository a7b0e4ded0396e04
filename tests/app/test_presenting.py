"""Presenting leaves what was chosen as it was: every control of every view, found on screen."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests import LENGTHY
from tests.app.opening import (
    ABOUT_SCENARIO,
    PLACES,
    ROOT,
    charts,
    checked,
    components,
    dials,
    opened,
    parts_of,
    widget,
)
from tests.app.test_grey_controls import CHOICES, MOVES, PARAMETER, link

VALUES = {
    *("checkbox", "multiselect", "number_input", "pills", "radio", "segmented_control", "select_slider"),
    *("selectbox", "slider", "text_area", "text_input", "toggle"),
}
# The harness moves no select_slider whose options have other words.
KINDS = ("selectbox", "radio", "toggle", "checkbox", "slider", "number_input", "button_group")
LINKS = [("protocols", "channel=errors"), ("protocols", "channel=warner")]


def controls(page: AppTest) -> list[Any]:
    found = [one for kind in KINDS for one in page.main.get(kind)]
    return [one for one in found if one.type in KINDS and one.key and not one.disabled]


def values(page: AppTest) -> dict[str, Any]:
    return {one.key: one.value for one in controls(page)}


def change(one: Any) -> None:
    """Choose something else than what is chosen."""
    if one.type in ("toggle", "checkbox"):
        one.set_value(not one.value)
    elif one.type in ("slider", "number_input"):
        one.set_value(type(one.value)(one.max if one.value == one.min else one.min))
    else:
        chosen = one.value if isinstance(one.value, list) else [one.value]
        other = next(text for text in one.options if text not in map(str, chosen))
        one.set_value([other] if isinstance(one.value, list) else other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "query"),
    [*((name, f"part={part}" if part else "") for name, part in PLACES if name in ABOUT_SCENARIO), *LINKS],
)
def test_what_was_chosen_is_chosen_after_presenting(name, query):
    """All of them, one after another, and on a page opened anew those that an earlier choice took away. What stands on
    all parts of a page is chosen on the first of them."""
    own = "dist=zipf&k=25"
    link, elsewhere = f"{own}&{query}".strip("&"), set[str]()
    if query and query != f"part={parts_of(name)[0]}" and not LENGTHY:
        elsewhere = set(values(opened(name, own)))
    left = [key for key in values(opened(name, link)) if key not in elsewhere]
    while left:
        page = opened(name, link)
        for key in tuple(left):
            (one,) = [found for found in controls(page) if found.key == key] or [None]
            if one is not None:
                left.remove(key)
                if len(getattr(one, "options", "ab")) > 1:
                    change(one)
                    checked(page.run())
        chosen = values(page)
        checked(dials(page)[0].tell("presents", {"on": True}))
        checked(widget(page, "Exit").click().run())
        assert values(page) == chosen


def test_every_control_below_a_main_figure_keeps_its_value_while_that_is_presented():
    """A page that is presented ends with its figure: what is not drawn keeps its value with ``persist_state``, which
    `widgets.widget_arguments` gives too. (Your reports, a room and the reference are not presented; the upload is drawn
    above.)"""
    forgetful = []
    for path in sorted((ROOT / "pages").rglob("*.py")):
        if "reports" in path.parts or path.stem in ("your_reports", "room", "reference", "upload"):
            continue
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in VALUES
            ):
                named = [keyword.arg for keyword in call.keywords]
                if "key" in named and "persist_state" not in named and None not in named:
                    forgetful.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert not forgetful


def presented(name: str, query: str) -> tuple[tuple[Any, ...], dict[str, str]]:
    """What is on screen beside the controls, and why each of those is grey."""
    page = opened(name, f"{query}&present=on")
    assert any(one.label == "Exit" for one in page.button)
    figures = [json.dumps([one["data"], one["layout"], one["alt"]], sort_keys=True) for one in charts(page)]
    data = [data for _, data in components(page)]
    grey = {dial["name"]: dial["off"] for one in data for dial in one.get("dials", ()) if dial["off"]}
    (new,) = [one for one in page.button if one.label == "New draw"]
    if new.disabled:
        grey["seed"] = "it is"
    return (figures, [one.value for one in page.caption]), grey


VIEWS = [
    (name, part, choice)
    for name, part in PLACES
    if name in ABOUT_SCENARIO
    for choice in CHOICES.get((name, part or ""), [""])
]


MOVED = ("epsilon", "n", "seed")


@pytest.mark.parametrize(
    ("name", "part", "choice", "turn"),
    [
        pytest.param(*one, i % 3, marks=() if "memoised" in one[2] else pytest.mark.slow)
        for i, one in enumerate(VIEWS)
    ],
)
def test_what_can_be_moved_while_presenting_changes_the_picture(name, part, choice, turn):
    """One control in each view, in turns; all of them while it is not presented: tests/app/test_grey_controls.py."""
    query = "&".join(filter(None, (part and f"part={part}", choice)))
    shown, grey = presented(name, link(query))
    for control in MOVED if LENGTHY else MOVED[turn : turn + 1]:
        links = (link(query, **{PARAMETER.get(control, control): to}) for to in MOVES[control])
        changes = any(presented(name, one)[0] != shown for one in links)
        assert changes == (control not in grey), f"{control}: {grey.get(control, 'nothing changes')}"


def test_a_presented_example_is_said_to_be_one_and_has_no_truth():
    page = opened("geometry", "present=on")
    assert any(one.value.startswith("An example") for one in page.caption)
    assert not any("Truth" in one.value for one in opened("geometry").markdown if "| Share |" in one.value)
    assert any(
        "Truth" in one.value
        for one in opened("geometry", "dist=zipf&k=3").markdown
        if "| Share |" in one.value
    )
    moved = opened("geometry", "dist=zipf&k=3&phi=0.1,0.3,0.6")
    assert not any("Truth" in one.value for one in moved.markdown if "| Share |" in one.value)


def test_hide_is_offered_where_the_picture_has_a_truth():
    for name, offered in (("ibu", False), ("estimators", True)):
        page = opened(name, "present=on")
        assert any(one.label == "Hide" for one in page.button) == offered
