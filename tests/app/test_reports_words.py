"""What the sentences about collected reports warn of: much noise, a wrong domain, reports left out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pages._ui.your_reports import words
from pages._ui.your_reports.results import Results
from rr_core.io import AllSeen, Domain, Size, read_list
from rr_core.mechanism import RandomizedResponse
from tests.app.analysed import analysed, counts_csv


@cache
def fitting() -> Results:
    """Five categories that fit their epsilon."""
    return of([290, 250, 170, 150, 140], Size(5), 1.0)


@cache
def noisy(share: float) -> Results:
    """Four thousand categories, one of them with this share of 10,000 people, and reports of 2.4 each from noise."""
    mechanism = RandomizedResponse(4000, 5.0)
    people = np.full(4000, int(10_000 * (1 - share)) // 4000)
    people[0] += 10_000 - people.sum()
    return of(mechanism.randomize_histogram(people, 1).tolist(), Size(4000), 5.0)


def of(counts: list[int], domain: Domain, epsilon: float) -> Results:
    data = counts_csv([f"c{i}" for i in range(len(counts))], counts)
    return analysed([("reports.csv", data)], domain, epsilon=epsilon, replicates=120)


def test_inv_leads_where_nothing_is_told_from_zero():
    found = of([11, *([6, 11] * 30)], AllSeen(), 2.0)
    assert not found.analysis.above.above.any()
    assert words.estimator(found) == "inv"
    assert "Of 61 categories none is told from zero" in words.answer(found)
    assert words.advice(found)[0].startswith("Report Inv")
    assert words.moved(found, "inv") == ""


@pytest.mark.parametrize("name", ["inv_n", "mle_star"])
def test_estimates_that_the_repair_moved_out_of_the_interval_are_pointed_out(name):
    found = noisy(0.3)
    limits, estimate = found.analysis.interval, found.analysis.estimates[name]
    low, high = np.maximum(limits.low, 0), np.maximum(np.minimum(limits.high, 1), 0)
    outside = int(((estimate < low) | (estimate > high)).sum())
    assert estimate[0] < low[0]
    assert f"For {outside:,} of 4,000 categories" in words.moved(found, name)
    assert words.moved(found, "inv") == ""
    assert words.moved(fitting(), name) == ""


def test_reports_that_are_left_out_are_in_the_answer():
    found = of([290, 250, 170, 150, 1], read_list("c0\nc1\nc2\nc3"), 1.0)
    assert "1 report is left out: see below." in words.answer(found)
    assert "left out" not in words.answer(fitting())
    assert "“c4” (1)" in words.left_out(found)[0]
    assert "c4" not in words.left_out(found, named=False)[0]


def test_a_domain_too_large_is_another_reason_for_a_misfit():
    found = of([900, 400, 300], Size(9), 2.0)
    assert "Or K is too large: 6 categories got no report at all." in words.fit(found)[0]
    assert words.advice(found)[0].startswith("Settle ε first")
    assert "K is too large" not in words.fit(fitting())[0]
