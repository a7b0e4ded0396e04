"""What a widget shows is what the page is drawn from: a click on what is chosen takes no choice away."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.reports import k_rr, results
from rr_core.reports.designs import DESIGNS
from tests.app.opening import PLACES, ROOT, charts, checked, opened
from tests.app.reports import CSV, YES_NO, answered, entered, given, one, typed
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
    links = [(name, f"part={part}" if part else "") for name, part in PLACES]
    for name, query in [*links, ("experiments", "part=sweep&sweep=own")]:
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


ALIKE = "a b\n0.9 0.1\n0.1 0.9\n0.5 0.5"
STATES = {
    **{f"{made}, nothing entered": lambda made=made: reports(made) for made in DESIGNS},
    "unary": lambda: typed(given(reports("unary"), CSV), epsilon="1.5"),
    "warner": lambda: typed(reports("warner"), typed=YES_NO, p="0.75"),
    "warner that tells nothing": lambda: typed(reports("warner"), typed=YES_NO, p="0.5"),
    "warner, then a chance that is none": lambda: typed(
        typed(reports("warner"), typed=YES_NO, p="0.75"), p="2"
    ),
    "forced": lambda: typed(reports("forced"), typed=YES_NO, forced_no="1/6", forced_yes="0"),
    "table": lambda: typed(reports("table"), typed=YES_NO, table="no yes\n0.9 0.1\n0.2 0.8"),
    "table that tells nothing": lambda: typed(reports("table"), typed="a, 640\nb, 360", table=ALIKE),
    "table from a file": lambda: with_table_file(entered(reports("table"), typed=YES_NO)),
    "k-RR of three": lambda: answered(given(reports(), "category,count\na,500\nb,320\nc,90\n")),
    "k-RR of twenty-five": lambda: answered(
        given(reports(), "category,count\n" + "".join(f"c{i},{90 + 7 * i}\n" for i in range(25)))
    ),
}


def screen(page: AppTest) -> tuple[Any, ...]:
    kinds = (page.markdown, page.caption, page.success, page.error, page.warning, page.info)
    tables = [box.value.to_csv() for box in page.dataframe]
    return [box.value for kind in kinds for box in kind], tables, [box["data"] for box in charts(page)]


def changed(page: AppTest, key: str) -> bool:
    """Whether some other choice of a row of buttons changes what is on screen."""
    before = screen(page)
    (row,) = [box for box in page.button_group if box.key == key]
    first, options = row.value, range(len(row.options))
    for place in options:
        (row,) = [box for box in page.button_group if box.key == key]
        row.set_value(
            ESTIMATES[row.options[place]] if row.label == "Estimator" else CHOICES[row.label][place]
        )
        if screen(checked(page.run())) != before:
            break
    else:
        return False
    (row,) = [box for box in page.button_group if box.key == key]
    row.set_value(first)
    checked(page.run())
    return True


GREY = {"There are no intervals: this table cannot tell the truths apart.": ("tells nothing",)}
ESTIMATES = {"Inv": "inv", "InvN": "inv_n", "InvP": "inv_p", "MLE\\*": "mle_star", "MLE": "mle"}
CHOICES: dict[str, tuple[Any, ...]] = {
    "Whose shares": tuple(results._TARGETS),
    "Confidence": results._LEVELS,
    "Intervals hold for": results._SCOPES,
    "In the chart": results._MOST,
    "Encoding": ("rappor", "oue", "fpq"),
    "Privacy given as": tuple(k_rr._PRIVACY),
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_every_choice_among_collected_reports_does_something_or_is_grey(state):
    page = STATES[state]()
    for key in [box.key for box in page.button_group if not box.disabled]:
        if key == "design_encoding" and "nothing entered" in state:
            continue  # it is a part of what is entered
        assert changed(page, key), key
    reason = next((text for text, states in GREY.items() if any(one in state for one in states)), None)
    for box in page.button_group:
        if box.label in ("Whose shares", "Confidence"):
            assert (box.proto.help if box.disabled else None) == reason
