"""A sweep of one's own: lists as they are typed, its parameters in a link, what is too large, and the form."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.experiments.settings import PARAMETERS, POPULATION_NAMES, OwnSweep, figure3
from rr_core import Population, Scenario, limits
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS, Cell, Settings, Sweep
from rr_core.experiments.run import run
from rr_core.parameters import RefusedSettings, parse_numbers
from rr_core.populations import DISTRIBUTIONS
from rr_core.scenario import NUMBERS

FIELD = {field.name: field for field in NUMBERS}
NAMES = {one.parameter for one in PARAMETERS}
HERE = Scenario("zipf", 40, 1.2, 0.7, 3000, 9)
COUNTED = Population.from_weights([5, 0, 2, 1])
SHARED = Population.from_weights([0.5, 0.25, 0.25])


LISTS = {
    "k": {
        " 50 100;1000 ,": [50, 100, 1000], "7, 7, 3, 7": [7, 3], "1e3": [1000], "3-3": [3], "10-31 +10": [10, 20, 30],
        "2 – 4, 9..11, 20…21": [2, 3, 4, 9, 10, 11, 20, 21],
    },
    "n": {
        "10^2..10^6": [100, 1000, 10**4, 10**5, 10**6], "10²–10⁴, 10⁹": [100, 1000, 10**4, 10**9], "1-9*3": [1, 3, 9],
        "2^1-2^4": [2, 4, 8, 16], "2^1-3^2": list(range(2, 10)), "10^2-10^4 + 4950": [100, 5050, 10_000],
        "100..10000 x10": [100, 1000, 10**4], "1 - 50 × 4": [1, 4, 16], "1-100": list(range(1, 101)),
    },
    "epsilon": {
        "0.1-1 +0.1": [i / 10 for i in range(1, 11)], "0.5-3": [0.5, 1.5, 2.5], "0,5; 1; 1,25": [0.5, 1, 1.25],
        "ln 3, LOG(2), .5": [math.log(3), math.log(2), 0.5], "1e-2-1e-1 x10": [0.01, 0.1],
    },
    "s": {"0-5 +2.5": [0, 2.5, 5], "": [], " ; ,": []},
}  # fmt: skip
REFUSED = {
    "k": {
        "fifty": "Categories K: “fifty” cannot be read. Write values like 50", "-3": "“-3” cannot be read",
        "1_000": "“1_000” cannot be read", "2..4..6": "“2..4..6” cannot be read", "٣": "“٣” cannot be read",
        "x" * 90: "“xxxxxxxxxxxxxxxxxxxxxxx…” cannot be read",
        "1-9": "Categories K goes from 2 to 1,500,000, and “1-9” leads beyond.",
        "2.5": "Categories K takes whole numbers, and “2.5” is something else.",
        "50, 1,000": "a comma separates values; write “1,000” as 1000.",
    },
    "n": {
        "9999^99": "Users N goes from 1 to 1,000,000,000, and “9999^99” leads beyond",
        "1-101": "Users N: “1-101” has more than 100 values; take larger steps",
        "1-60, 101-160": "Users N: 120 values are too many; at most 100 are taken.",
        "1," * 200: "Users N: at most 300 characters are read",
    },
    "epsilon": {
        "0.0099999999999999999": "“0.0099999999999999999” leads beyond", "3-1": "“3-1” runs downwards",
        "20.01": "Privacy ε goes from 0.01 to 20, and “20.01” leads beyond", "ln 0.5": "is not a number above 0",
        "1-3 +0": "the steps of “1-3+0” lead nowhere", "1-3 x1": "the steps of “1-3x1” lead nowhere",
    },
    "s": {"0-3 x2": "the steps of “0-3x2” lead nowhere"},
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_read_or_it_is_said_why_not(name):
    for text, wanted in LISTS[name].items():
        found, named = parse_numbers(text, FIELD[name], 100)
        assert (list(found), named) == (wanted, ()), text
        assert all(isinstance(value, int if FIELD[name].whole else float) for value in found)
    for text, sentence in REFUSED[name].items():
        with pytest.raises(RefusedSettings) as told:
            parse_numbers(text, FIELD[name], 100)
        assert sentence in str(told.value)


def test_a_usual_sweep_is_the_sidebars_along_epsilon():
    sweep = OwnSweep().sweep(HERE)
    assert sweep.cells == tuple(Cell("zipf", 40, float(e), 3000, 1.2) for e in range(1, 11))
    assert sweep.settings == MAIN_SETTINGS
    (cell,) = OwnSweep(epsilons="").sweep(HERE).cells
    assert cell == Cell("zipf", 40, 0.7, 3000, 1.2)
    (cell,) = OwnSweep(epsilons="").sweep(replace(HERE, dist="humps")).cells
    assert cell == Cell("humps", 40, 0.7, 3000)


def test_the_main_grid_can_be_typed():
    asked = OwnSweep("0.01, 1.3, 2.5", "50 100 1000 5000", "1-10", "10^2-10^6")
    assert asked.sweep(HERE, workers=2) == Sweep(MAIN_GRID, MAIN_SETTINGS)


def test_names_of_populations_and_every_combination_once():
    cells = OwnSweep("uniform, 1.5, Point, 0", "5, 6", "2, 1", "10, 20").sweep(HERE).cells
    populations = [("zipf", 1.5), ("zipf", 0.0), ("uniform", 0), ("point", 0)]
    every = product(populations, [5, 6], [1.0, 2.0], [10, 20])
    assert set(cells) == {Cell(dist, k, epsilon, n, s) for (dist, s), k, epsilon, n in every}
    assert len(cells) == 32
    assert set(POPULATION_NAMES) == {*DISTRIBUTIONS, "point"} - {"zipf"}
    cells = OwnSweep(", ".join(POPULATION_NAMES).upper(), epsilons="1").sweep(HERE, COUNTED).cells
    assert len(cells) == len(POPULATION_NAMES)


def test_a_population_with_its_own_k_takes_no_other():
    asked = OwnSweep("letters, upload, 1", "5, 6, 7", "1-3", "100")
    cells = asked.sweep(HERE, COUNTED).cells
    assert [(cell.dist, cell.k) for cell in cells if cell.epsilon == 1.0] == [
        ("zipf", 5), ("zipf", 6), ("zipf", 7), ("letters", 26), (COUNTED.key, 4),
    ]  # fmt: skip
    assert len(cells) == 15
    here = Scenario("upload", 4, 1.0, 2.0, 8, 1)
    (cell,) = OwnSweep(epsilons="", ks="9").sweep(here, COUNTED).cells
    assert cell == Cell(COUNTED.key, 4, 2.0, 8)
    assert run(Sweep((cell,), Settings(2)), populations={COUNTED.key: COUNTED}).finished


def test_an_upload_that_is_not_there_is_asked_for():
    for asked, here in ((OwnSweep("upload"), HERE), (OwnSweep(), replace(HERE, dist="upload"))):
        with pytest.raises(RefusedSettings, match="stands for a histogram of your own: upload it first"):
            asked.sweep(here)


@pytest.mark.slow
def test_a_server_takes_so_many_cells():
    just = OwnSweep("0, 1", "2-51", "1-20", "10")
    assert len(just.sweep(HERE).cells) == limits.SWEEP_CELLS_MAX == 2000
    with pytest.raises(RefusedSettings) as told:
        replace(just, ks="2-52").sweep(HERE)
    assert "These lists make 2,040 cells, and a run here takes at most 2,000" in str(told.value)
    assert "the longest list, K with 51 values. A cluster takes more" in str(told.value)
    with pytest.raises(RefusedSettings, match="make 16,000,000,000,000 cells"):
        OwnSweep("0-4.9975 +0.0025", "2-2001", "0.01-20 +0.01", "1-2000").sweep(HERE)
    for asked, what in ((OwnSweep(estimators=()), "estimate"), (OwnSweep(metrics=()), "error")):
        with pytest.raises(RefusedSettings, match=f"Choose at least one {what}"):
            asked.sweep(HERE)


def test_figure_3_is_the_table_itself():
    sweep = figure3(COUNTED)
    assert [cell.epsilon for cell in sweep.cells] == list(range(1, 11))
    assert {(cell.dist, cell.k, cell.n) for cell in sweep.cells} == {(COUNTED.key, 4, 8)}
    wanted = ("rounded", 20, ("inv_n", "inv_p", "mle_star"), ("mse", "tv", "max", "nll"), "fixed")
    found = sweep.settings
    assert (found.people, found.seeds, found.estimators, found.metrics, found.users) == wanted
    assert {cell.n for cell in figure3(SHARED).cells} == {10**6}
    assert {cell.n for cell in figure3(SHARED, 500).cells} == {500}
    assert {cell.n for cell in figure3(COUNTED, 500).cells} == {8}
    crowd = Population.from_weights(np.array([2, 1]) * 10**9)
    assert {cell.n for cell in figure3(crowd).cells} == {limits.N_MAX}


OTHER = OwnSweep("0.5, uniform", "10-20", "", "10^2..10^4", 5, 0, "sampled", ("inv",), ("max", "nll"), True)


def test_there_and_back_through_a_link():
    assert OwnSweep().to_query() == {}
    assert OTHER.to_query() == {
        "pop": "0.5, uniform", "ks": "10-20", "es": "", "ns": "10^2..10^4", "seeds": "5", "draw": "0",
        "users": "sampled", "est": "inv", "met": "max,nll", "bv": "1",
    }  # fmt: skip
    assert set(OTHER.to_query()) == NAMES
    assert OwnSweep.from_query(OTHER.to_query()) == (OTHER, ())
    assert OwnSweep.from_query({}) == (OwnSweep(), ())


WRONG = [
    ("pop", "foo", "In the link: Zipf exponents: “foo” cannot be read."),
    ("es", "a", "Instead: 1-10."),
    ("ns", "0", "Instead: the sidebar’s value."),
    ("seeds", "5000", "1,000 is used instead"),
    ("users", "all", "The link's choice of users “all” is not one of fixed, sampled. Instead: fixed."),
    ("est", "", "The link's estimates have “”, which is not among"),
    ("bv", "yes", "The link's choice of bias and variance “yes” is not one of 0, 1. Instead: 0."),
]


def test_a_wrong_value_in_a_link_is_one_sentence():
    for parameter, text, sentence in WRONG:
        asked, (note,) = OwnSweep.from_query({parameter: text})
        assert sentence in note
        assert asked == replace(OwnSweep(), seeds=asked.seeds)
        assert OwnSweep.from_query(asked.to_query()) == (asked, ())


def own_page():
    import streamlit as st

    from pages._ui import link
    from pages._ui.experiments import controls, runs
    from rr_core import Scenario

    link.read("experiments", [runs.SWEEP, controls.OWN_SWEEP])
    link.show_notes(link.notes())
    controls.own_sweep_form(Scenario("zipf", 40, 1.2, 0.7, 3000, 9))
    st.session_state["out"] = controls.OWN_SWEEP.current()
    link.write()


def test_the_form():
    page = AppTest.from_function(own_page)
    page.query_params["sweep"] = "own"
    page.query_params["es"], page.query_params["bv"] = "2,4", "maybe"
    page.run()
    assert "maybe" in page.warning[0].value
    assert page.session_state["out"] == OwnSweep(epsilons="2,4")
    assert page.caption[0].value.startswith("2 cells, 100 collections each")
    assert page.text_input(key="exp_own_ks").placeholder == "40 (sidebar)"
    page.text_input(key="exp_own_ks").set_value("10-20").run()
    page.button_group(key="exp_own_estimators").set_value(["mle_star", "inv"]).run()
    page.number_input(key="exp_own_seeds").set_value(3).run()
    assert page.session_state["out"] == OwnSweep("", "10-20", "2,4", "", 3, estimators=("inv", "mle_star"))
    assert "K = 10; 11; …; 20" in page.caption[0].value
    assert not page.warning
    assert not page.exception
    kept = {name: text for name, text in page.query_params.items() if name in NAMES}
    assert OwnSweep.from_query({**kept, "ns": ""})[0] == replace(page.session_state["out"], ns="")
