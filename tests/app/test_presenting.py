"""Presenting leaves what was chosen as it was, and every control that is offered changes the picture."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.app.opening import ROOT, charts, components, opened
from tests.app.test_grey_controls import MOVES, PARAMETER, link

VALUES = {
    *("checkbox", "multiselect", "number_input", "pills", "radio", "segmented_control", "select_slider"),
    *("selectbox", "slider", "text_area", "text_input", "toggle"),
}


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


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("geometry", "part=line"),  # shows an example
        pytest.param("plan", "part=estimators", marks=pytest.mark.slow),
        ("protocols", "part=time"),
        ("protocols", "part=time&schemes=memoised"),
    ],
)
def test_what_can_be_moved_while_presenting_changes_the_picture(name, query):
    """Where a control is idle in the picture alone; of the whole page: tests/app/test_grey_controls.py."""
    shown, grey = presented(name, link(query))
    for control in ("epsilon", "n", "seed"):
        links = (link(query, **{PARAMETER.get(control, control): to}) for to in MOVES[control])
        changes = any(presented(name, one)[0] != shown for one in links)
        assert changes == (control not in grey), f"{control}: {grey.get(control, 'nothing changes')}"


def test_a_presented_example_is_said_to_be_one_and_has_no_truth():
    page = opened("geometry", "present=on")
    assert any(one.value.startswith("An example") for one in page.caption)
    moved = opened("geometry", "dist=zipf&k=3&phi=0.1,0.3,0.6")
    for page, has_truth in ((opened("geometry", "dist=zipf&k=3"), True), (moved, False)):
        (table,) = [one.value for one in page.markdown if "| Share |" in one.value]
        assert ("Truth" in table) == has_truth


def test_hide_is_offered_where_the_picture_has_a_truth():
    for name, offered in (("ibu", False), ("estimators", True)):
        page = opened(name, "present=on")
        assert any(one.label == "Hide" for one in page.button) == offered
