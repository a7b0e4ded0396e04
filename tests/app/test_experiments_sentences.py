"""What the page of experiments says of a sweep, its run and its settings, over sweeps made at random."""

from __future__ import annotations

import math
import re
import runpy
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pages._ui.experiments import controls, protocols, results, runs, settings, winner_map
from pages._ui.experiments.protocols import ProtocolSettings
from pages._ui.experiments.runs import Run, SweepView
from pages._ui.experiments.settings import OwnSweep
from rr_core import Scenario, limits, zipf
from rr_core.experiments.claims import claims
from rr_core.experiments.curves import default_selection
from rr_core.experiments.grid import MAIN_GRID, PAPER_FIGURES, Settings, Sweep, over
from rr_core.experiments.protocols import stored
from rr_core.experiments.run import SweepResult, expected_cell_seconds
from rr_core.experiments.storage import stored_result
from rr_core.populations import DISTRIBUTIONS, TABLES, UPLOAD, Table
from rr_core.words.experiments import WORDS, paper_says
from server.sweeps import Job
from tests.core.exact import histogram_law
from tests.core.sweeps import THREE, made
from tests.sentences import recomputes
from tests.sentences.drawn import drawn, said, texts
from tests.sentences.spoken import clipped, mle, numbers, p_and_q, projected, tells

HERE = Scenario("zipf", 10, 1.0, 1.0, 100, 1)


def grids(rng):
    """Cells in which one axis or several have more than one value."""
    ks, budgets, users = (
        tuple(sorted(rng.choice(values, rng.integers(1, 4), replace=False).tolist()))
        for values in ((2, 10, 100, 5000), (0.5, 1.0, 4.0, 10.0), (10, 1000, 10**6, 10**9))
    )
    s = tuple(sorted(rng.choice([0.01, 1.3, 2.5, 4.0], rng.integers(1, 4), replace=False).tolist()))
    return over(s=s, k=ks, epsilon=budgets, n=users)


def sweeps(many):
    """Sweeps of random cells, all or some of them done, of random means; and how many are done."""
    rng = np.random.default_rng(50)
    for i in range(many):
        cells = grids(rng)
        done = len(cells) if i % 2 else int(rng.integers(1, len(cells) + 1))
        about = replace(THREE, seeds=int(rng.choice([1, 2, 40, 1000])))
        error = math.nan if about.seeds == 1 else float(rng.choice([1e-6, 0.1, 5.0]))
        result = made(cells, [tuple(1 + rng.random(3)) for _ in range(done)], error, about)
        known = tuple(
            replace(one, concentration=float((zipf(one.cell.k, one.cell.s) ** 2).sum()))
            for one in result.cells
        )
        yield SweepResult(result.sweep, known)


def view_of(result, name="Your own sweep"):
    return SweepView("own", name, result, None, {})


def varies(result, axis):
    """Whether three cells that are done differ in this axis alone: fewer have no slope to speak of."""
    rest = [name for name in ("dist", "s", "k", "epsilon", "n") if name != axis]
    groups = Counter(tuple(getattr(one.cell, name) for name in rest) for one in result.cells)
    return max(groups.values()) > 2


@recomputes(results.claims_table, results._about_the_run, results._verdicts_in_brief)
def test_what_a_sweep_says_of_the_claims(many):
    silent_claims = {one.key: paper_says(one) for one in claims(made(over(k=2, epsilon=1.0, n=10), []))}
    for result in sweeps(many // 10):
        elements = drawn(results.claims_table, view_of(result))
        squares = [(zipf(one.cell.k, one.cell.s) ** 2).sum() for one in result.cells]
        even = [1 / (square * one.cell.k) for square, one in zip(squares, result.cells, strict=True)]
        tested = {
            "never_worst": True,
            "lowest_nll": True,
            "inv_p_best": any(
                square >= 0.5 and not near >= 0.9 for square, near in zip(squares, even, strict=True)
            ),
            "inv_n_best": max(even) >= 0.9,
            "order_n": varies(result, "n"),
            "order_k": varies(result, "k"),
        }
        behind = said(elements, "About Your own sweep")
        silent = re.findall(r"“([^”]*)”", behind.partition("or too few, bear on: ")[2].partition("\n")[0])
        assert silent == [silent_claims[key].replace("\\", "") for key, so in tested.items() if not so]
        about = re.search(r"About Your own sweep: (.*) in each\.", behind)[0]
        cells, seeds = len(result.sweep.cells), result.sweep.settings.seeds
        tells(about, len(result.cells), cells, seeds)
        assert ("cells," in about, "collections in" in about) == (cells > 1, seeds > 1)
        table = next(text for text in texts(elements) if text.startswith("| The paper says | This run |"))
        verdicts = Counter(re.findall(r"\| [✔○◕◐✘?] ([a-z ]+?)(?:, but [^|]*)? \|", table))
        brief = results._verdicts_in_brief(result)
        total, *counts = numbers(brief.partition(" (The paper")[0])
        assert total == sum(counts) == sum(tested.values()) == verdicts.total()
        for verdict in verdicts.keys() | {"holds", "depends", "does not hold"}:
            told, count = WORDS["verdicts"][verdict], verdicts[verdict]
            assert (f"{count} {told['one' if count == 1 else 'more']}" in brief) == bool(count), brief


@recomputes(results._meaning_of_words)
def test_what_the_words_of_the_claims_mean(many):
    ks = {cell.k for figure in PAPER_FIGURES.values() for cell in figure.cells}
    of = [[float((zipf(k, s) ** 2).sum()) for k in ks] for s in (2.5, 1.3)]
    for result in sweeps(many // 5):
        text = results._meaning_of_words(result)
        told = (2.5, max(of[0]), 1.3, min(of[1]), max(of[1]))
        tells(text, 0.05, len(result.sweep.cells), 0.5, *told, 0.9, -1, 1)
    counted = Counter(len(result.sweep.cells) == 1 for result in sweeps(many))
    assert len(counted) == 2


@cache
def errors_of_ten():
    """Mean squared errors of InvN, InvP and MLE* for counts (8, 1, 1, 0) at epsilon 2.13, over all that ten people can
    report, person by person; and how many histograms these are."""
    about, truth, errors = (
        SimpleNamespace(k=4, epsilon=2.13, n=10),
        np.array([0.8, 0.1, 0.1, 0.0]),
        np.zeros(3),
    )
    p, q = p_and_q(about)
    law = histogram_law((8, 1, 1, 0), (np.full((4, 4), q) + (p - q) * np.eye(4)).tolist())
    for counts, chance in law.items():
        c = np.array(counts)
        found = (clipped(c, about), projected(c, about)[0], mle(c, about)[0])
        errors += [float(chance) * ((one - truth) ** 2).sum() for one in found]
    return errors, len(law)


@recomputes(results._counterexample)
def test_the_counterexample_is_one():
    errors, histograms = errors_of_ten()
    assert errors[2] > max(errors[:2])
    text = said(drawn(results._counterexample), "exact mean")
    tells(text, 10, 4, 8, 1, 1, 0, 2.13, histograms, *errors)
    # No cell of the paper's grid contradicts the claim.
    grid = stored_result(MAIN_GRID)
    names = grid.sweep.settings.estimators
    for one in grid.cells:
        mean, error = dict(zip(names, one.mean[0], strict=True)), one.standard_error[0].max()
        assert mean["mle_star"] < max(mean["inv_n"], mean["inv_p"]) + 4 * error


@recomputes(results.curves, winner_map.section)
def test_figures_say_how_often_a_survey_is_simulated_and_what_is_left_out(monkeypatch):
    monkeypatch.setattr(winner_map, "show", lambda figure, *_: shown.append(figure))
    grids = {(False, False): (2, 2), (True, False): (7, 2), (False, True): (2, 6)}  # numbers of K and of N
    for (left_rows, left_columns), (rows, columns) in grids.items():
        ks, users = tuple(range(2, 2 + rows)), tuple(range(10, 10 + columns))
        cells, shown = over(s=1.3, k=ks, epsilon=(1.0, 2.0), n=users), list[Any]()
        for seeds in (1, 40):
            about = replace(THREE, seeds=seeds)
            view = view_of(made(cells, [(1, 2, 3)] * len(cells), 0.1, about))
            choice = default_selection(view.result.sweep)
            choice = replace(choice, along="epsilon", ks=ks, fixed_values=users)
            monkeypatch.setattr(results, "_selection_widgets", lambda _, chosen=choice: chosen)
            elements = drawn(results.curves, view, HERE, False)
            _told_how_often(said(elements, "Each point is one survey"), seeds)
            left = said(elements, "Only the first")
            tells(left, *[6] * left_rows, *[5] * left_columns)
            assert ("rows" in left, "columns" in left) == (left_rows, left_columns)
            axes = [name for name in shown[-1].layout.to_plotly_json() if name.startswith("yaxis")]
            assert len(axes) == 2 * min(rows, 6)
            _told_how_often(
                said(drawn(winner_map.section, view, HERE, False), "Each cell is one survey"), seeds
            )


def _told_how_often(text, seeds):
    tells(text, *([seeds] if seeds > 1 else []))
    assert ("simulated once" in text) == (seeds == 1)


@recomputes(results.compare_runs, results.file_opener)
def test_what_does_not_fit_is_named(monkeypatch):
    one, other = over(s=1.0, k=10, epsilon=1.0, n=(10, 100)), replace(THREE, metrics=("nll",))
    view = view_of(made(one, [(1, 2, 3)] * 2, 0.1))
    lacking = made(one, [(1, 2, 3)] * 2, 0.1, other)
    for name in ("Your own sweep · Run 2: 40 collections, seed 1", "A *starred* <b>file</b>"):
        monkeypatch.setattr(results.st, "selectbox", lambda *_, chosen=name, **__: chosen)
        elements = drawn(results.compare_runs, view, {name: lacking})
        (text,) = (text for text in texts(elements) if "did not measure" in text)
        assert text == f"“{name}” did not measure what is shown above, so there is nothing to compare."
        assert not any("<b>" in getattr(one, "body", "") for one in elements)
        assert not said(drawn(results.compare_runs, view_of(lacking), {name: lacking}), "did not measure")
        problem = f"The file {name} has no column named cell."
        held = {"_exp_broken": problem}
        assert (
            said(drawn(results.file_opener, state=held), "stays") == f"{problem} What was shown before stays."
        )
        assert not said(drawn(results.file_opener), "stays")


@recomputes(runs._stored)
def test_the_stored_numbers_are_what_they_are_said_to_be():
    for key, cells in settings.CELLS.items():
        run = runs._stored.__wrapped__(key)
        about = run.result.sweep.settings
        assert about == settings.built_in(key).settings == stored_result(MAIN_GRID).sweep.settings
        assert (about.users, run.result.finished, len(run.result.cells)) == ("fixed", True, len(cells))
        assert {cell.seeds for cell in run.result.cells} == {about.seeds}
        tells(run.origin, about.seeds)
        tells(run.label, about.seeds, about.seed)


class Queue:
    """A server's queue that does no work."""

    is_full = False

    def __init__(self, job=None):
        self.job = job

    def join(self, sweep, *_):
        return Job(sweep, {}, SweepResult(sweep, ()))

    def running_same_cells(self, cells):
        return self.job if self.job and self.job.sweep.cells == cells else None


@recomputes(runs.begin, runs.status, runs.origin)
def test_a_run_says_how_far_it_came(many, monkeypatch):
    for i, result in enumerate(sweeps(many // 2)):
        sweep, done, held = result.sweep, len(result.cells), {}
        sweep = replace(sweep, settings=replace(sweep.settings, seed=i))
        seeds = sweep.settings.seeds
        monkeypatch.setattr(runs.sweeps, "SERVER", Queue())
        drawn(runs.begin, "own", sweep, state=held)
        (begun,) = held["_held"].get("sweeps")
        tells(begun.origin, seeds, i)
        tells(begun.label, 1, seeds, i)
        assert ("collections" in begun.origin) == (seeds > 1)
        # Of a run that another session began.
        job = Job(sweep, {}, SweepResult(sweep, result.cells), "running")
        monkeypatch.setattr(runs.sweeps, "SERVER", Queue(job))
        seen = Run("own", "A run", "", SweepResult(sweep, result.cells))
        elsewhere: list[str] = []
        drawn(lambda run=seen, to=elsewhere: to.append(runs.origin(run)))
        tells(elsewhere[0], seeds, i, done, len(sweep.cells))
        other = Run("own", "A run", "", made(over(k=7, epsilon=1.0, n=10), []))
        drawn(lambda run=other, to=elsewhere: to.append(runs.origin(run)))
        assert elsewhere[1] == ""
        # Over before its end.
        for state in ("failed", "stopped", "finished", "running"):
            seen.job = Job(sweep, {}, SweepResult(sweep, result.cells), state)
            elements = drawn(runs.status, seen)
            over_early = state == "failed" or (state != "running" and done < len(sweep.cells))
            assert bool(list(texts(elements))) == over_early
            if over_early:
                (text,) = texts(elements)
                tells(text, done, len(sweep.cells))
                assert ("broke off" in text, "Stopped after" in text) == (
                    state == "failed",
                    state != "failed",
                )


@recomputes(runs._waiting)
def test_a_run_that_waits_knows_its_place():
    for ahead in range(1, 20):
        text = runs._waiting(ahead)
        place = {1: "you are next", 2: "yours is the second"}.get(ahead, f"yours is number {ahead}")
        tells(text, ahead, *([ahead] if ahead > 2 else []))
        assert place in text
        assert ("runs first" in text) == (ahead > 1)


def seconds(text):
    number, unit = re.fullmatch(r"([\d.,·⁰¹²³⁴⁵⁶⁷⁸⁹]+) (h|min|s)", text).groups()
    return numbers(number)[0] * {"h": 3600, "min": 60, "s": 1}[unit]


@recomputes(settings.why_too_large)
def test_a_sweep_that_is_too_large_is_told_by_how_much_and_what_would_help(many):
    rng, ways, every = np.random.default_rng(51), set(), (2, 100, 20_000, 10**6, 1_500_000)
    for i in range(max(many // 2, 50)):
        ks = tuple(sorted(rng.choice(every, rng.integers(1, 4), replace=False).tolist()))
        if i % 10 == 0:
            ks = (1_500_000,)
        users = tuple(range(10**9 - int(rng.choice([1, 3, 80, 700])), 10**9))
        cells = over(s=1.0, k=ks, epsilon=1.0, n=users)
        about = Settings(1000 if i % 10 == 0 else int(rng.choice([1, 20, 1000])), bias=bool(i % 4))
        sweep, workers = Sweep(cells, about), int(rng.choice([1, 2, 8]))
        done = made(cells, [(1, 2, 3)] * int(rng.integers(0, min(len(cells), 30)))) if i % 3 == 0 else None
        text = settings.why_too_large(sweep, workers, done)
        left = cells[len(done.cells) if done else 0 :]
        takes = sum(expected_cell_seconds(cell, about) for cell in left) / workers
        if len(left) > 2000:
            tells(text, len(left), 2000)
            continue
        assert bool(text) == (takes > 1800)
        if not text:
            continue
        told, most = re.search(r"about (.+?), and a run here may take (.+?):", text).groups()
        assert seconds(told) == pytest.approx(takes, rel=5.1e-3)
        assert seconds(most) == limits.SWEEP_SECONDS_MAX
        advice = text.partition(": ")[2].partition(". A cluster")[0]
        tells(advice, about.seeds, *([max(ks)] if len(ks) > 1 else []))
        assert about.seeds > limits.COLLECTIONS_MIN  # so that fewer can be taken
        assert ("leave out K" in advice) == (len(ks) > 1)
        assert ("run fewer cells" in advice) == (len(ks) == 1 < len(cells))
        ways.add(re.sub(r"[\d,]+", "", advice))
    assert len(ways) >= 2


@recomputes(controls._axis_fields)
def test_what_may_be_typed_for_a_sweep_is_taken():
    elements = drawn(controls._axis_fields, OwnSweep(), HERE, None)
    help = said(elements, "Zipf exponents")
    named = re.search(r"any of the names (.+?)\. “", help)[1].split(", ")
    assert re.findall(r"“(\w+)” is", help) == ["point", UPLOAD]
    assert set(named) == {*DISTRIBUTIONS, "point"} - {"zipf"}
    cells = OwnSweep("0.01, 1.3, 2.5").sweep(HERE).cells
    assert {cell.s for cell in cells} == {0.01, 1.3, 2.5}
    steps = OwnSweep("0-5 +0.5", epsilons="").sweep(HERE).cells
    assert [Fraction(cell.s) for cell in steps] == [Fraction(i, 2) for i in range(11)]
    tells(help.partition(", and any")[0], 0.01, 1.3, 2.5, 0, 5, 0.5)
    for name in named:
        if name != UPLOAD:
            (cell,) = OwnSweep(name, epsilons="").sweep(HERE).cells
            assert cell.dist == name
            assert (cell.epsilon, cell.n) == (HERE.epsilon, HERE.n)  # empty: the sidebar's values
            assert name in TABLES or cell.k == HERE.k
    (point,) = OwnSweep("point", epsilons="").sweep(HERE).cells
    assert sorted(point.population({}).probabilities)[-2:] == [0.0, 1.0]
    for s, k, epsilon, n in product(*[("1", "1, 2", "1, 2, 3")] * 4):
        wanted = math.prod(len(text.split(",")) for text in (s, k, epsilon, n))
        ks = k.replace("1", "5") if k == "1" else k.replace("1", "4")
        assert len(OwnSweep(s, ks, epsilon, n).sweep(HERE).cells) == wanted


@recomputes("pages/_ui/experiments/controls.py::<module>")
def test_the_histograms_at_hand_are_real_and_in_the_sidebar(monkeypatch):
    assert all(table.is_real != ("made up" in table.source) for table in TABLES.values())
    monkeypatch.setitem(
        TABLES, "pets", Table("Pets", (("Cat", 2), ("Dog", 1)), "Nobody counted them: made up.")
    )
    text = runpy.run_path(controls.__file__)["_HISTOGRAMS"]
    tells(text.replace("Figure 3", ""), 41_270)
    named = text.rpartition("in the sidebar: ")[2].removesuffix(".").split(", ")
    assert named == [DISTRIBUTIONS[key] for key, table in TABLES.items() if table.is_real]


@recomputes("pages/_ui/experiments/protocols.py::<module>")
def test_what_is_said_of_the_settings_of_the_protocols_is_so_in_them():
    text = runpy.run_path(protocols.__file__)["_MEANING"]
    rows = [row for several in stored().values() for row in several]
    times = {row.collections for row in rows}
    each = {row.setting.n // row.setting.k for row in (*stored()["2"], *stored()["3"])}
    work = len(TABLES["work"].rows)
    ages = {row.setting.k for row in rows if row.setting.population == "age"}
    payment = {(row.setting.k, row.setting.s) for row in rows if row.setting.population == "zipf"}
    distances = {row.setting.k for row in rows if row.setting.population == "geometric"}
    assert (each, payment, distances, ages) == ({10, 1000}, {(5, 2.0)}, {1000}, {74})
    tells(text, 0.05, 1.1, min(times), max(times), 100, 1000, 10, 10, 1000, 100, 5, 2, 74, 75, work, 8)


@recomputes(protocols._run_anew)
def test_too_many_bits_are_told(many, monkeypatch):
    rng = np.random.default_rng(52)
    for i in range(many):
        protocol = ("oue", "sue", "k_rr")[i % 3]
        k, n = (int(10 ** rng.uniform(low, high)) for low, high in ((0.31, 3), (1, 6)))
        if i < 3:
            k, n = 1000, 2000 + (i > 0)
        asked = ProtocolSettings(protocol=protocol, k=k, n=n)
        monkeypatch.setattr(protocols.SETTINGS.__class__, "current", lambda _, asked=asked: asked)
        elements = drawn(protocols._run_anew)
        text = said(elements, "Unary encoding makes")
        assert bool(text) == (protocol != "k_rr" and k * n > 2_000_000)
        assert bool(said(elements, "Simulate 100 collections")) == (not text)
        if text:
            tells(text, k * n, 2_000_000)
