"""The verdicts on the sentences of Lopuhaä-Zwakenberg et al.: of made-up errors, and of the stored ones another way."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rr_core.experiments.protocols import ESTIMATES, PAIRS, sentences, stored

ROWS = stored()


def with_errors(row, mean, spread=1e-6):
    """The row with other mean errors, each difference with this standard error."""
    return replace(
        row,
        mean=dict(zip(ESTIMATES, mean, strict=True)),
        standard_error=dict.fromkeys(ESTIMATES, spread),
        difference={(a, b): mean[ESTIMATES.index(a)] - mean[ESTIMATES.index(b)] for a, b in PAIRS},
        difference_error=dict.fromkeys(PAIRS, spread),
    )


def table(*mean, spread=1e-6):
    return {key: [with_errors(row, mean, spread) for row in rows] for key, rows in ROWS.items()}


def verdicts(rows):
    return {one.key: one.verdict for one in sentences(rows)}


def test_where_maximum_likelihood_is_far_better_everywhere():
    found = verdicts(table(1.0, 0.9, 0.8, 0.4))
    assert {key for key, verdict in found.items() if verdict == "does not hold"} == {
        "rr_many",
        "ue_few",
        "rr_real",
    }
    assert {verdict for key, verdict in found.items() if key not in ("rr_many", "ue_few", "rr_real")} == {
        "holds"
    }


def test_where_it_is_a_little_worse_everywhere():
    found = verdicts(table(1.0, 0.9, 0.80, 0.82))
    assert {key for key, verdict in found.items() if verdict == "does not hold"} == {
        "rr_few",
        "ue_many",
        "ue_real",
    }


def test_where_both_are_worse_than_inv():
    found = verdicts(table(1.0, 0.9, 1.2, 1.2))
    assert found["both_better"] == found["both_better_real"] == "does not hold"


def test_where_nothing_is_settled():
    found = verdicts(table(1.0, 0.9, 0.8, 0.79, spread=1.0))
    assert set(found.values()) - {"not settled"} <= {"does not hold"}
    assert found["ue_real"] == "does not hold"  # no setting shows what the sentence says there can be


def test_a_single_exception_is_counted():
    rows = table(1.0, 0.9, 0.8, 0.4)
    rows["2"][0] = with_errors(rows["2"][0], (1.0, 0.9, 0.8, 1.1))
    found = {one.key: one for one in sentences(rows)}
    assert (found["rr_few"].no, found["rr_few"].verdict) == (1, "mostly holds")
    assert found["rr_few"].highest is rows["2"][0]
    assert found["both_better"].no == 1


def test_ratios_of_the_table_are_consistent():
    for row in (row for rows in ROWS.values() for row in rows):
        assert row.difference["mle", "inv_p"] == pytest.approx(
            row.mean["mle"] - row.mean["inv_p"], rel=1e-4, abs=1e-12
        )
        assert not math.isnan(row.ratio("mle", "inv_p")[1])
