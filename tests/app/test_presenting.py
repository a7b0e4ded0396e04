"""Presenting leaves what was chosen as it was: every control of every view, found on screen."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.opening import FILES, ROOT, checked, dials, opened, widget
from tests.app.test_every_view import PLACES

VALUES = {
    "checkbox",
    "multiselect",
    "number_input",
    "pills",
    "radio",
    "segmented_control",
    "select_slider",
    "selectbox",
    "slider",
    "text_area",
    "text_input",
    "toggle",
}
# The harness moves no select_slider whose options have other words.
KINDS = ("selectbox", "radio", "toggle", "checkbox", "slider", "number_input", "button_group")
LINKS = {"protocols": ["channel=errors", "channel=warner"], "geometry": ["part=bias", "part=why"]}


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
    [
        *((name, f"part={part}" if part else "") for name, part in PLACES if name in FILES),
        *((name, query) for name, queries in LINKS.items() for query in queries),
    ],
)
def test_what_was_chosen_is_chosen_after_presenting(name, query):
    link = f"dist=zipf&k=25&{query}".strip("&")
    for key in values(opened(name, link)):
        page = opened(name, link)
        (one,) = [found for found in controls(page) if found.key == key]
        if len(getattr(one, "options", "ab")) < 2:
            continue
        change(one)
        checked(page.run())
        chosen = values(page)
        checked(dials(page)[0].tell("presents", {"on": True}))
        checked(widget(page, "Exit").click().run())
        assert values(page) == chosen


def test_every_control_below_a_main_figure_keeps_its_value_while_that_is_presented():
    """A page that is presented ends with its figure: what is not drawn keeps its value with ``persist_state``, which
    `state.widget_arguments` gives too. (Your reports and the reference are not presented; the upload is drawn above.)"""
    forgetful = []
    for path in sorted((ROOT / "pages").rglob("*.py")):
        if "reports" in path.parts or path.stem in ("your_reports", "reference", "upload"):
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
