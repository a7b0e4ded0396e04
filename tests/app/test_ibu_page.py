"""The page about IBU: its numbers are the core's, its choices change the run, long work can be asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages._ui.ibu import sections
from rr_core import RandomizedResponse, Scenario, ibu_path
from rr_core.ibu.costs import LARGEST_MATRIX, Cost, IterationsNeeded, compare_costs
from rr_core.ibu.engine import Start
from rr_core.ibu.path import log_spaced
from server import jobs
from tests.app.experiments import values
from tests.app.opening import charts, checked, opened, widget
from tests.sentences import holds

LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"
SCENARIO = Scenario("zipf", 50, 1.3, 2.0, 3000, 7)


def said(page, words):
    (text,) = [one.value for one in page.markdown if words in one.value]
    return text


def path_of(start, last=10_000, scenario=SCENARIO):
    draw = scenario.draw()
    return ibu_path(draw.counts, draw.mechanism, log_spaced(last, 40), start.distribution(draw.counts))


def iterations_said(page):
    """By the certificate, the gap, the squared distance; in words where it is no number."""
    told = re.findall(r"\*\*([^*]+)\*\*", said(page, " **certificate** ").replace("**certificate**", ""))
    if of_certificate := re.match(r"IBU (?:may stop after|needs) (.+? iterations?)", charts(page)[0]["alt"]):
        told.insert(0, of_certificate[1])
    return [int(words.split()[0].replace(",", "")) if words[0].isdigit() else words for words in told]


def one_by_one(start, tolerance, last=10_000):
    """The same, iterated plainly."""
    draw = SCENARIO.draw()
    every = ibu_path(draw.counts, draw.mechanism, range(last + 1), start.distribution(draw.counts))
    for measure in (every.certificate, every.log_likelihood_gap, every.squared_distance):
        yield int(np.argmax(measure <= tolerance)) if (measure <= tolerance).any() else None


@pytest.mark.slow
def test_answer_is_the_first_iteration_of_all():
    page = opened("ibu", LINK)
    assert iterations_said(page) == list(one_by_one(Start(), 1e-6))
    checked(page.select_slider(key="ibu_tolerance").set_value(1e-3).run())
    found = list(one_by_one(Start(), 1e-3))
    assert iterations_said(page) == found
    assert not set(found) <= set(path_of(Start()).iterations.tolist())  # not what happened to be recorded
    checked(page.select_slider(key="ibu_length").set_value(100).run())
    assert iterations_said(page) == [t if t <= 100 else "more than 100 iterations" for t in found]


def test_a_run_that_is_nowhere_near_enough_says_so_in_one_sentence():
    page = opened("ibu", LINK)
    checked(page.select_slider(key="ibu_length").set_value(100).run())
    assert list(one_by_one(Start(), 1e-6, 100)) == [None, None, None]
    assert "a factor is still above 1.000001, and the distance to MLE" in said(
        page, "After 100 iterations its"
    )
    assert charts(page)[0]["alt"].startswith("IBU needs more than 100 iterations before it may stop.")
    checked(page.select_slider(key="ibu_length").set_value(10_000).run())
    (first, *_) = one_by_one(Start(), 1e-6)
    assert charts(page)[0]["alt"].startswith(f"IBU may stop after {first:,} iterations.")
    words = [one.value for one in (*page.markdown, *page.caption)]
    assert sum("may stop" in one for one in words) == 1  # the figure says it, and nothing again


def start_from(page, kind, typed=""):
    (box,) = [one for one in page.selectbox if one.label == "Start from"]
    checked(box.set_value(kind).run())
    if typed:
        (text,) = [one for one in page.text_input if one.label == "3 shares"]
        checked(text.set_value(typed).run())


@holds("IBU may **never** stop: by its **certificate** the largest factor never falls to {}")
@pytest.mark.slow
def test_every_start_runs():
    page = opened("ibu", LINK)
    figures = [charts(page)[0]["data"]]
    for kind in ("reports", "leaning", "random", "zero"):
        start_from(page, kind)
        assert charts(page)[0]["data"] not in figures
        figures.append(charts(page)[0]["data"])
        assert bool(page.warning) is (kind == "zero")
    assert "started at **zero**" in page.warning[0].value
    assert iterations_said(page) == ["never"] * 3
    page = opened("ibu", "k=5000&n=100000")
    (box,) = [one for one in page.selectbox if one.label == "Start from"]
    assert "Uniform" in box.options
    assert not {"Shares that I type", "A random point"} & set(box.options)  # they have too many levels
    assert "The way through the triangle" not in [one.value for one in page.subheader]


@pytest.mark.slow
def test_typed_start_and_what_cannot_be_used():
    page = opened("ibu", "k=3&n=500&s=0")
    assert "The way through the triangle" in [one.value for one in page.subheader]
    start_from(page, "typed", "7, 2, 1")
    good = charts(page)[0]["data"]
    start_from(page, "typed", "7, 2")
    assert "3 numbers are needed" in " ".join(caption.value for caption in page.caption)
    assert charts(page)[0]["data"] == good  # what was there before is still there
    start_from(page, "typed", "1, 0, 0")
    assert "without the categories that started at zero" in page.warning[0].value


@pytest.mark.slow
def test_several_epsilons_run_and_stay():
    page = opened("ibu", LINK.replace("seed=7", "seed=70"))  # nobody has run this one yet
    alone = len(charts(page))
    checked(widget(page, "Run them").click().run())
    assert len(charts(page)) == alone + 1
    assert re.search(r"Here .* Iterations to a squared distance .* at ε = 0\.5", charts(page)[-1]["alt"])
    checked(widget(page, "New draw").click().run())
    assert len(charts(page)) == alone  # a result of another scenario is not shown


@pytest.mark.slow
def test_paper_figure_4_has_four_panels():
    page = opened("ibu", LINK)
    checked(page.button_group(key="ibu_compare").set_value("The paper's Figure 4").run())
    alone = len(charts(page))
    checked(widget(page, "Run the twelve curves").click().run())
    panels = charts(page)[alone:]
    assert [len(panel["data"]) for panel in panels] == [3, 3, 3, 3]
    assert all("more than 40,000 at ε = 0.5" in panel["alt"] for panel in panels)
    checked(widget(page, "Linear axes, as printed in the paper").set_value(True).run())
    assert charts(page)[alone]["layout"]["yaxis"].get("type") is None


@pytest.mark.slow
def test_costs_are_measured_when_asked_for():
    page = opened("ibu", LINK)
    assert not [one for one in page.markdown if one.value.startswith("| Way")]
    checked(widget(page, "Measure on this machine").click().run())
    rows = said(page, "| Way").partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == 4
    assert rows[0].startswith("| MLE")
    assert all("times as long" in row for row in rows[1:])


def shown_of(page):
    """How many iterations are shown of the 100,000."""
    (note,) = page.info
    return int(re.search(r"first ([\d,]+) of 100,000 iterations", note.value)[1].replace(",", ""))


@pytest.mark.slow
def test_a_run_that_takes_long_is_offered_and_what_it_reached_when_stopped_is_shown(monkeypatch):
    page = opened("ibu", "k=20000&n=1000000000&eps=12&s=0.3&seed=2")
    checked(page.select_slider(key="ibu_length").set_value(100_000).run())
    at_once = shown_of(page)
    monkeypatch.setattr(jobs, "run", lambda work, **_: work(progress=lambda done: done > at_once))
    checked(widget(page, "Run to the end").click().run())
    assert at_once < shown_of(page) < 100_000
    (curves,) = [one for one in charts(page) if one["alt"].startswith("A gap")]
    assert max(max(values(line["x"])) for line in curves["data"]) == shown_of(page)


def test_every_way_has_its_note():
    mechanism = RandomizedResponse(3, 1.0)
    for iterations, note in ((IterationsNeeded(7, True), 0), (IterationsNeeded(7, False), 3)):
        text = sections._cost_table(compare_costs([5, 3, 1], mechanism, 1e-3, iterations, 1e-4), 3)
        ways = [line.split("|")[2].strip() for line in text.splitlines()[2:6]]
        assert note or ways == ["–", "7", "7", "7"]
        assert text.count("more than these") == note
    text = sections._cost_table(compare_costs([5, 5, 5], mechanism, 1e-6, budget=1e-4), 3)
    assert text.count("| 0 | – |") == 3  # no time is told for iterations that are not needed
    costs = [Cost("mle_star", 1e-4), Cost("ibu_matrix", None, IterationsNeeded(3, True))]
    text = sections._cost_table(costs, LARGEST_MATRIX + 1)
    assert "Not run: the matrix has K² = 1,002,001 entries, 0.008 GB" in text
    assert "| 3 | – | not run | – |" in text


def test_the_formula_on_the_page_is_an_iteration(many):
    """Read as LaTeX and worked out in plain numbers."""
    page = opened("ibu", "k=3&n=10")
    (shown,) = [one.value for one in page.markdown if "One iteration (paper, eq. 5)" in one.value]
    python = re.sub(r"\\\\\[6pt\]|\{\}|\s", "", shown.partition("m_i =")[2].partition(r"\end")[0]).rstrip(".")
    for latex, meaning in (
        (r"\\(?:var)?(phi|theta)_(.)", r"*\1[\2]"),
        (r"\\frac\{\*(.*?)\}\{(.*?)\}", r"*(\1/(\2))"),
        (r"\\sum_j(\*\(.*?\]\)\))", r"*sum(1\1 for j in range(k))"),
    ):
        python = re.sub(latex, meaning, python)
    rng = np.random.default_rng(4)
    for _ in range(many):
        k, epsilon = int(rng.integers(2, 8)), float(np.exp(rng.uniform(-4, 3)))
        counts, start = rng.multinomial(50, rng.dirichlet(np.ones(k))), rng.dirichlet(np.ones(k))
        path, total = ibu_path(counts, RandomizedResponse(k, epsilon), [1], start), np.exp(epsilon) + k - 1
        given = {"p": np.exp(epsilon) / total, "q": 1 / total, "phi": counts / 50, "theta": start, "k": k}
        factors = [eval(python, {**given, "i": i}) for i in range(k)]
        np.testing.assert_allclose(path.estimate(-1), start * factors, rtol=1e-9, atol=1e-15)


def test_a_link_keeps_how_long_the_run_is_and_what_is_near_enough():
    page = opened("ibu", f"{LINK}&steps=100&near=0.01")
    assert page.select_slider(key="ibu_length").value == 100
    assert page.select_slider(key="ibu_tolerance").value == 0.01
    page = opened("ibu", f"{LINK}&steps=5&near=1e-6")
    assert "number of iterations “5” is not known here; “10,000” is used instead" in page.warning[0].value
    assert page.select_slider(key="ibu_tolerance").value == 1e-6
