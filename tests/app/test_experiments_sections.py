"""Sections of the page of experiments: who wins (link, widgets, where a click leads), and the verdicts on claims."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui import session_files
from pages._ui.experiments import runs as module
from pages._ui.experiments import winner_map as map_section
from pages._ui.experiments.runs import cached
from pages._ui.experiments.winner_map import MapSelection, from_query, to_query
from rr_core.experiments.grid import MAIN_GRID, POINT, Cell, Sweep, over
from rr_core.experiments.winner_map import fixed_axes, winner_map
from rr_core.figures.experiments_map import map_figure
from rr_core.populations import Population
from rr_core.scenario import Scenario
from tests.app.experiments import words
from tests.app.opening import charts, checked, widget
from tests.core.sweeps import THREE, made
from tests.sentences import holds, recomputes

MAIN = Sweep(MAIN_GRID, THREE)
UPLOADED = Population.from_weights([5, 3, 2])

PAGE = """
import numpy as np
import streamlit as st
from pages._ui import link
from pages._ui.experiments import winner_map
from pages._ui.experiments.runs import SWEEP, SweepView
from rr_core.experiments.grid import MAIN_GRID, over
from tests.core.sweeps import THREE, made
from dataclasses import replace
whole = not st.session_state.get("part_only")  # while a run goes on, the map is drawn again within the same arrival
which = st.session_state.get("which", "main")
SWEEP.change(which)
if whole:
    link.read("experiments", [winner_map.SELECTIONS])
cells = {"main": MAIN_GRID, "again": MAIN_GRID, "point": over(dist="point", k=5, epsilon=(1.0, 2.0), n=(10, 20)),
         "line": over(k=5, epsilon=1.0, n=(10, 20)), "dot": over(k=5, epsilon=1.0, n=10)}[which]
means = np.random.default_rng(1).lognormal(size=(len(cells), 3)).tolist()
view = SweepView(which, which, made(cells, means, 0.1), None, {})
if whole:
    link.show_notes(winner_map.notes(view))
winner_map.section(view, link.current(), True)
link.write()
"""


def opened(which="main", **query):
    page = AppTest.from_string(PAGE, default_timeout=30)
    page.session_state["which"] = which
    for name, text in query.items():
        page.query_params[name] = text
    return checked(page.run())


def test_links_come_back():
    for key, at in (
        ("eps-n", {"population": "2.5", "k": 50}),
        ("n-k", {"population": "0.01", "epsilon": 3.0}),
    ):
        asked = MapSelection(key, "nll", at)
        query = to_query(asked, fixed_axes(MAIN.cells, key, at))
        assert from_query({name: text for name, text in query.items() if text}, MAIN) == (asked, ())
    odd = Sweep(
        over(s=1.0, k=5, epsilon=(0.1, 1 / 3), n=(10, 20)) + over(s=1.0, k=(5, 6), epsilon=1 / 3, n=(10, 20))
    )
    query = to_query(MapSelection("n-k", "mse"), fixed_axes(odd.cells, "n-k", {}))
    assert query == dict.fromkeys(map_section.PARAMETERS) | {"map": "n-k", "metric": "mse"}
    assert float(map_section.value_in_link(1 / 3)) == 1 / 3


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ({}, ()),
        ({"map": " EPS-N ", "metric": "MSE", "at_s": "2.50", "at_k": "1e3", "at_eps": "nan"}, ()),
        ({"map": "k-n"}, ("map “k-n”", "“ε and N” is used")),
        ({"map": "n-k", "at_eps": "inf"}, ("Privacy ε “inf”", "“6” is used")),
        ({"at_s": "x" * 99}, ("Population “" + "x" * 23 + "…”", "“Zipf s = 1.3” is used")),
    ],
)
def test_what_a_link_cannot_have_is_said(query, notes):
    asked, said = from_query(query, MAIN)
    assert len(said) == bool(notes)
    assert all(part in said[0] for part in notes)
    assert asked.key in map_section.MAP_LABELS
    assert asked.metric in MAIN.settings.metrics


@pytest.mark.slow
def test_widgets_change_the_map_and_are_remembered_by_sweep():
    page = opened(at_s="2.5", at_k="77")
    assert "Categories K “77”" in page.warning[0].value.replace("\\", "")
    page.session_state["part_only"] = True
    checked(page.run())
    checked(widget(page, "Categories K").select(50).run())
    assert not page.warning
    assert charts(page)[0]["alt"].startswith("Zipf s = 2.5, K = 50: of 50 cells")
    page.session_state["part_only"] = False
    for which, reading in (
        ("again", "Zipf s = 1.3, K = 50"),
        ("point", "Point mass (everybody in one category), K = 5: of 4 cells"),
        ("line", "Zipf s = 0, ε = 1, K = 5: of 2 cells"),  # along one axis there is one map, a row
        ("main", "Zipf s = 2.5, K = 50"),
    ):
        page.session_state["which"] = which
        checked(page.run())
        assert charts(page)[0]["alt"].startswith(reading)
        other_page = "cannot be opened on another page: the sidebar has no such population"
        assert any(other_page in one.value for one in page.caption) == (which == "point")
    page.session_state["which"] = "dot"
    checked(page.run())
    assert "none of them takes two values" in page.caption[-1].value.replace("\\", "")
    assert not charts(page)


@holds(
    "These cells cannot be opened on another page: the sidebar has no such population.",
    "These cells cannot be opened on another page: the histogram they are about is not the one uploaded in this session.",
)
def test_what_a_click_sets(monkeypatch):
    fields = map_section._scenario_fields
    common = {"k": 9, "epsilon": 2.0, "n": 30}
    assert fields(Cell("zipf", 9, 2.0, 30, 1.3)) == {"dist": "zipf", "s": 1.3, **common}
    assert fields(Cell("uniform", 9, 2.0, 30)) == {"dist": "uniform", **common}
    assert fields(Cell(POINT, 9, 2.0, 30)) is None
    mine = Cell(UPLOADED.key, 3, 2.0, 30)
    for held, expected in (
        (None, None),
        (Population.from_weights([1, 1, 1]), None),
        (UPLOADED, {"dist": "upload", "k": 3, "epsilon": 2.0, "n": 30}),
    ):
        upload = None if held is None else session_files.Uploaded(held, "a.csv", "")
        monkeypatch.setattr(session_files, "uploaded", lambda upload=upload: upload)
        assert fields(mine) == expected


def link_offered(monkeypatch, drawn, scenario):
    """Label and scenario of the link beside the map; None where there is none."""
    offered = []
    monkeypatch.setattr(map_section.navigation, "link_to", lambda path, *link: offered.append((path, *link)))
    map_section._pick_cell(drawn, scenario)
    return offered[0] if offered else None


def test_a_click_offers_the_cell_and_changes_nothing_else(monkeypatch):
    """The scenario stays until the link is followed, and so does the address that Back returns to."""
    session = {}
    monkeypatch.setattr(map_section.st, "session_state", session)
    scenario = Scenario("uniform", 7, seed=3)
    drawn = winner_map(made(MAIN_GRID, []), "eps-n", "mse", {"population": "2.5"})
    assert link_offered(monkeypatch, drawn, scenario) is None
    map_section._choose_cell(drawn, 3, 2.475)
    assert session == {map_section._CHOSEN: drawn.rows[2][3].cell}
    path, label, _, query = link_offered(monkeypatch, drawn, scenario)
    assert (path, label) == ("pages/estimators.py", "Open this cell: Which repair should I use?")
    assert query == Scenario("zipf", 1000, 2.5, 4.0, 10_000, 3).to_query()
    other_map = winner_map(made(MAIN_GRID, []), "eps-n", "mse", {"population": "0.01"})
    assert link_offered(monkeypatch, other_map, scenario) is None
    holed = winner_map(made(over(s=1.0, k=5, epsilon=(1.0, 2.0), n=(10, 20))[:3], []), "eps-n", "mse", {})
    before = dict(session)
    map_section._choose_cell(holed, 1, 1.475)
    assert session == before


def test_a_cell_is_chosen_without_a_mouse_and_framed():
    page = opened(k="12", s="1.5")
    assert not [trace for trace in charts(page)[0]["data"] if trace["name"] == "chosen cell"]
    box = page.selectbox(key="exp_map_cell")
    assert len(box.options) == len(set(box.options)) == 50
    checked(box.select("ε = 4, N = 10,000").run())
    # the map nearest to the scenario
    assert page.selectbox(key="exp_map_cell").value == Cell("zipf", 50, 4.0, 10_000, 1.3)
    frames = [trace for trace in charts(page)[0]["data"] if trace["name"] == "chosen cell"]
    assert {(min(one["x"]) + max(one["x"]), min(one["y"]) + max(one["y"])) for one in frames} == {(6, 4)}
    checked(widget(page, "Categories K").select(100).run())  # the map of other cells
    assert page.selectbox(key="exp_map_cell").value is None
    assert not [trace for trace in charts(page)[0]["data"] if trace["name"] == "chosen cell"]


@recomputes(map_section._why_not_on_it)
def test_who_is_not_on_the_map_is_told_so():
    """The ring “you” left the map without a word."""
    cells = over(s=(0.5, 1.0), k=10, epsilon=(1, 2), n=(100, 1000))
    drawn = {key: winner_map(made(cells, [(1, 30, 15)] * 8), key, "mse", {}) for key in ("eps-n", "eps-s")}
    for key, of, why in (
        ("eps-n", {"epsilon": 1.0, "n": 1000}, ""),
        ("eps-n", {"epsilon": 0.25, "n": 1000}, "ε = 0.25 lies outside 1 to 2."),
        (
            "eps-n",
            {"epsilon": 2.5, "n": 1001},
            "ε = 2.5 lies outside 1 to 2 and N = 1,001 lies outside 10² to 10³.",
        ),
        ("eps-s", {"s": 2.0, "epsilon": 1.5}, "s = 2 lies outside 0.5 to 1."),
        ("eps-s", {"dist": "uniform"}, "it is of Zipf's populations, and the sidebar has another."),
    ):
        scenario = replace(Scenario(), **of)
        told = map_section._why_not_on_it(drawn[key], scenario)
        assert told == (f"You are not on this map: {why}" if why else "")
        names = [
            trace.name
            for trace in map_figure(drawn[key], map_section._scenario_point(drawn[key], scenario)).data
        ]
        assert any(f"{name}".startswith("you") for name in names) == (why == "")


TABLE_PAGE = """
import streamlit as st
from dataclasses import replace
from pages._ui.experiments import results
from pages._ui.experiments.runs import SweepView
from rr_core.experiments.grid import over
from tests.core.sweeps import THREE, made
cells = over(s=2.5, k=10, epsilon=1.0, n=(10, 20, 30, 40))
means = [(3, 1, 2), (3, 1, 2), (1, 3, 2)][: st.session_state["done"]]
settings = replace(THREE, seeds=st.session_state["seeds"])
results.claims_table(SweepView("own", "Your own sweep", made(cells, means, 0.01, settings), None, {}))
"""


def with_claims(done, seeds=40):
    page = AppTest.from_string(TABLE_PAGE, default_timeout=30)
    page.session_state["done"], page.session_state["seeds"] = done, seeds
    return checked(page.run())


@holds("{} surely against: {}")
def test_verdicts_words_and_the_cells_against():
    page = with_claims(3)
    said = words(page)
    assert (
        "| InvP is best where the population is concentrated. | ◐ depends. In 2 of 3 cells InvP is surely best"
        in said
    )
    assert [one.label for one in page.expander] == [
        "The numbers behind the verdicts",
        "1 cell surely against: InvP is best where the population is concentrated.",
    ]
    assert "| Zipf s = 2.5 | 10 | 1 | 30 |" in said


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
