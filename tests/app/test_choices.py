"""What a widget shows is what the page is drawn from: a click on what is chosen takes no choice away."""

from __future__ import annotations

import ast
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.opening import ROOT, checked, opened
from tests.app.test_every_view import PLACES

BUTTONS = ("segmented_control", "pills")
# Nothing chosen is a choice here: nothing is drawn beside the estimates, no regions are coloured.
MAY_BE_EMPTY = {"triangle_shown", "triangle_zeros"}


def calls(tree: ast.AST) -> list[ast.Call]:
    """Calls that draw buttons to choose from: by name, or handed to another that draws them."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and any(isinstance(one, ast.Attribute) and one.attr in BUTTONS for one in (node.func, *node.args))
    ]


def test_every_row_of_buttons_says_whether_one_has_to_be_chosen():
    unclear, optional = [], set()
    for path in sorted((ROOT / "pages").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        named = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and one.attr in BUTTONS]
        assert len(named) == len(calls(tree)), f"{path.name} hands buttons on in a way that is not seen here"
        for call in calls(tree):
            given = {one.arg: ast.unparse(one.value) for one in call.keywords}
            if "selection_mode" in given:
                continue  # see the next test
            if "required" not in given:
                unclear.append(f"{path.relative_to(ROOT)}:{call.lineno}")
            elif given["required"] == "False":
                optional.add(ast.literal_eval(given["key"]))
    assert not unclear
    assert optional <= MAY_BE_EMPTY


def several(page: AppTest) -> list[Any]:
    return [one for one in page.get("button_group") if isinstance(one.value, list) and not one.disabled]


def test_the_last_of_several_stays_chosen_or_is_asked_for():
    wanted = {
        call.args[0].value if ast.unparse(call.func).startswith("st.") else call.args[1].value
        for path in (ROOT / "pages").rglob("*.py")
        for call in calls(ast.parse(path.read_text("utf-8")))
        if "selection_mode" in [one.arg for one in call.keywords]
        and "label" not in map(ast.unparse, call.args)
    }
    seen = set()
    links = [(name, f"part={part}" if part else "") for name, part in PLACES]
    for name, query in [*links, ("experiments", "part=sweep&sweep=own")]:
        link = f"dist=zipf&k=12&{query}".strip("&")
        for key in [one.key for one in several(opened(name, link))]:
            page = opened(name, link)
            (one,) = [found for found in several(page) if found.key == key]
            seen.add(one.label)
            one.set_value([])
            checked(page.run())
            (one,) = [found for found in several(page) if found.key == key]
            told = any("at least one" in error.value for error in page.error)
            assert bool(one.value) != (key in MAY_BE_EMPTY or told), key
    assert seen >= {*wanted, "Populations"}
