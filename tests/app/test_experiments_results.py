"""The claims on the page: their verdicts, what their words mean, and the cells that speak against one; and the cache."""

from __future__ import annotations

import gc

from streamlit.testing.v1 import AppTest

from pages._ui.experiments import runs as module
from pages._ui.experiments.runs import cached
from rr_core.experiments.grid import over
from rr_core.scenario import WORST_AVERAGE
from tests.app.experiments import words
from tests.app.opening import checked
from tests.core.sweeps import made

PAGE = """
import streamlit as st
from dataclasses import replace
from pages._ui.experiments import results
from pages._ui.experiments.runs import SweepView
from rr_core.experiments.grid import over
from tests.core.sweeps import THREE, made
cells = over(s=2.5, k=10, epsilon=1.0, n=(10, 20, 30, 40))
means = [(3, 1, 2), (3, 1, 2), (1, 3, 2)][: st.session_state["done"]]
settings = replace(THREE, seeds=st.session_state["seeds"])
results.claims_table(SweepView("own", "Your own sweep", made(cells, means, 0.01, settings), None, {}, ""))
"""


def opened(done, seeds=40):
    page = AppTest.from_string(PAGE, default_timeout=30)
    page.session_state["done"], page.session_state["seeds"] = done, seeds
    return checked(page.run())


def test_verdicts_words_and_the_cells_against():
    page = opened(3)
    said = words(page)
    assert (
        "| InvP is best where the population is concentrated. | ◐ depends. In 2 of 3 cells InvP is surely best"
        in said
    )
    assert "About Your own sweep: 3 of 4 cells, 40 collections in each." in said
    assert "chance of a single wrong call over the 4 cells of the whole sweep" in said
    assert "the squared shares sum to 0.5 or more" in said
    assert [one.label for one in page.expander] == [
        "1 cell surely against: InvP is best where the population is concentrated."
    ]
    assert "| Zipf s = 2.5 | 10 | 1 | 30 |" in said


def test_one_collection_settles_nothing_and_is_one():
    page = opened(1, seeds=1)
    said = words(page)
    assert "1 of 4 cells, 1 collection in each." in said
    assert "? not settled. In 0 of 1 cell InvP is surely best, in 1 the collections do not settle it" in said
    assert not page.expander
    assert "No cell of this sweep is computed yet." in words(opened(0))


def test_never_the_worst_is_told_to_be_false_with_its_numbers_and_the_way_there():
    """The exact means are those of tests/core/test_misprints_counterexamples.py; the button opens that very scenario."""
    page = opened(3)
    said = words(page)
    assert "“Never the worst” is false, though no cell of the paper's grid contradicts it." in said
    assert "(8, 1, 1, 0) and ε = 2.13" in said
    assert "InvN 0.06947, InvP 0.06944, MLE* 0.07025" in said
    assert "| MLE* is never the worst of the three on average. | ○ not contradicted" in said
    (button,) = (one for one in page.button if one.key == "exp_worst_average")
    button.click().run()
    assert page.session_state["_exp_map_jump"]
    assert page.session_state["_link"].scenario == WORST_AVERAGE


def test_a_sweep_without_the_three_says_nothing_of_it():
    page = AppTest.from_string(
        PAGE.replace("settings = replace(THREE, ", 'settings = replace(THREE, metrics=("nll",), ')
    )
    page.session_state["done"], page.session_state["seeds"] = 3, 40
    assert "Never the worst” is false" not in words(checked(page.run()))


def test_what_is_worked_out_about_a_result_is_made_once_and_does_not_outlive_it():
    gc.collect()
    cells, calls, before = over(k=5, epsilon=(1, 2), n=10), [], len(module._CACHE)
    results = [made(cells, []), made(cells, [])]
    for result in (*results, results[0]):
        for what in ("a", "b", "a"):
            assert cached(result, what, lambda what=what: calls.append(what) or what) == what
    assert calls == ["a", "b", "a", "b"]
    assert len(module._CACHE) == before + 2
    del result, results
    gc.collect()
    assert len(module._CACHE) == before
