"""What a widget shows is what the page is drawn from: a click on what is chosen takes no choice away."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.reports import results
from tests.app.opening import ROOT, charts, checked, opened
from tests.app.reports import YES_NO, answered, entered, given, one, typed
from tests.app.reports import opened as reports

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
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
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


@pytest.mark.slow
def test_the_last_of_several_stays_chosen_or_is_asked_for():
    wanted = {
        call.args[0].value if ast.unparse(call.func).startswith("st.") else call.args[1].value
        for path in (ROOT / "pages").rglob("*.py")
        for call in calls(ast.parse(path.read_text("utf-8")))
        if "selection_mode" in [given.arg for given in call.keywords]
        and "label" not in map(ast.unparse, call.args)
    }
    seen = set()
    for name, query in (
        ("geometry", ""),
        ("geometry", "part=bias"),
        ("protocols", "part=time"),
        ("ibu", "part=epsilon"),
        ("experiments", "part=sweep&sweep=own"),
        ("experiments", "sweep=1a"),
    ):
        link = f"dist=zipf&k=12&{query}".strip("&")
        for key in [row.key for row in several(opened(name, link))]:
            page = opened(name, link)
            (row,) = [found for found in several(page) if found.key == key]
            seen.add(row.label)
            row.set_value([])
            checked(page.run())
            (row,) = [found for found in several(page) if found.key == key]
            told = any("at least one" in error.value for error in page.error)
            assert bool(row.value) != (key in MAY_BE_EMPTY or told), key
    assert seen >= {*wanted, "Populations"}


def test_what_a_file_replaces_is_grey_wherever_both_are_offered():
    for path in (ROOT / "pages").rglob("*.py"):
        text = path.read_text("utf-8")
        if "file_uploader" in text:
            for call in ast.walk(ast.parse(text)):
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".text_area"):
                    assert "disabled" in [given.arg for given in call.keywords], f"{path.name}:{call.lineno}"


TABLE_FILE = [("table.csv", b"no,yes\n0.9,0.1\n0.2,0.8\n", "text/csv")]


def with_table_file(page: AppTest, label: str = "or a file") -> AppTest:
    one(page.file_uploader, label).set_value(TABLE_FILE[0])
    return checked(page.run())


def test_a_table_from_a_file_greys_the_one_that_is_typed():
    page = with_table_file(entered(reports("table"), typed=YES_NO))
    (box,) = [box for box in page.text_area if box.key == "design_table"]
    assert box.disabled
    page = opened("protocols", "dist=zipf&k=12&channel=own&matrix=.9 .1 0;0 1 0;.1 .1 .8")
    (box,) = page.text_area
    assert not box.disabled
    page = with_table_file(page, "Or a file")
    (box,) = page.text_area
    assert box.disabled
    assert "so K is 2 here" in " ".join(text.value for text in page.markdown)
    assert page.query_params["matrix"] in (box.value, [box.value])
    assert "typed instead" in " ".join(text.value for text in page.caption)


def screen(page: AppTest) -> tuple[Any, ...]:
    kinds = (page.markdown, page.caption, page.success, page.error, page.warning, page.info)
    tables = [box.value.to_csv() for box in page.dataframe]
    return [box.value for kind in kinds for box in kind], tables, [box["data"] for box in charts(page)]


CHOICES: dict[str, tuple[Any, ...]] = {
    "Estimator": ("inv", "inv_n", "inv_p", "mle_star"),
    "Whose shares": tuple(results._TARGETS),
    "Confidence": results._LEVELS,
    "Intervals hold for": results._SCOPES,
    "In the chart": results._MOST,
}


@pytest.mark.slow
def test_every_choice_beside_an_answer_changes_what_is_on_screen():
    table = "category,count\n" + "".join(f"c{i},{90 + 7 * i}\n" for i in range(25))
    page = answered(given(reports(), table))
    assert {box.label for box in page.button_group} == {*CHOICES}
    for label, choices in CHOICES.items():
        seen = []
        for choice in choices:
            one(page.button_group, label).set_value(choice)
            seen.append(screen(checked(page.run())))
        assert any(other != seen[0] for other in seen[1:]), label


def test_what_a_table_that_tells_nothing_apart_leaves_without_effect_is_grey():
    page = typed(reports("table"), typed="a, 640\nb, 360", table="a b\n0.9 0.1\n0.1 0.9\n0.5 0.5")
    for label in ("Whose shares", "Confidence"):
        box = one(page.button_group, label)
        assert box.disabled
        assert box.proto.help == "There are no intervals: this table cannot tell the truths apart."
