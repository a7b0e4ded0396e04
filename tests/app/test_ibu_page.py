"""The page about IBU: its numbers are the core's, its choices change the run, long work can be asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rr_core import Scenario, ibu_path
from rr_core.ibu.engine import Start
from server import jobs
from tests.app.experiments import values
from tests.app.opening import charts, checked, opened, widget
from tests.sentences import holds

LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"
SCENARIO = Scenario("zipf", 50, 1.3, 2.0, 3000, 7)


def said(page, words):
    (text,) = [one.value for one in page.markdown if words in one.value]
    return text


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
def test_what_takes_long_is_run_when_it_is_asked_for():
    page = opened("ibu", LINK.replace("seed=7", "seed=70"))  # nobody has run this one yet
    alone = len(charts(page))
    checked(widget(page, "Run them").click().run())
    assert len(charts(page)) == alone + 1
    checked(widget(page, "Measure on this machine").click().run())
    rows = said(page, "| Way").partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == 4
    assert all("times as long" in row for row in rows[1:])
    checked(page.button_group(key="ibu_compare").set_value("The paper's Figure 4").run())
    checked(widget(page, "Run the twelve curves").click().run())
    assert [len(panel["data"]) for panel in charts(page)[alone:]] == [3, 3, 3, 3]


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
