"""The verdicts on the sentences of Lopuhaä-Zwakenberg et al.: of made-up errors, and of the stored ones another way."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from rr_core.experiments.protocol_claims import SIMILAR, against_inv_p, sentences
from rr_core.experiments.protocols import ESTIMATES, PAIRS, stored
from rr_core.experiments.ranking import FAMILY_LEVEL
from tests.sentences import holds

ROWS = stored()
FOUND = {one.key: one for one in sentences(ROWS)}
N_TESTS = 2 * len(PAIRS) * sum(map(len, ROWS.values()))


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


@holds(
    "surely so",
)
def test_each_count_by_tests_of_its_own():
    """Of every sentence on maximum likelihood against InvP, by SciPy's quantiles."""
    level = FAMILY_LEVEL / N_TESTS
    parts = {
        "rr_many": [row for row in ROWS["2"] if row.setting.n == 1_024_000],
        "rr_few": [row for row in ROWS["2"] if row.setting.n == 10_240],
        "ue_many": [row for row in ROWS["3"] if row.setting.n == 10_000 and row.setting.epsilon > 1.5],
        "ue_few": [row for row in ROWS["3"] if row.setting.n == 100],
        "rr_real": ROWS["4"],
        "ue_real": ROWS["5"],
    }
    for key, rows in parts.items():
        yes = no = 0
        for row in rows:
            far = stats.t.isf(level, row.collections - 1)
            if key in ("rr_many", "ue_few", "rr_real"):
                ratio, error = row.ratio("mle", "inv_p")
                low, high = ratio - far * error, ratio + far * error
                yes += low >= 1 / SIMILAR and high <= SIMILAR
                no += high < 1 / SIMILAR or low > SIMILAR
            else:
                scaled = row.difference["mle", "inv_p"] / row.difference_error["mle", "inv_p"]
                yes += scaled < -far
                no += scaled > far
        assert (FOUND[key].yes, FOUND[key].no, FOUND[key].total) == (yes, no, len(rows))
        ratios = [row.ratio("mle", "inv_p")[0] for row in rows]
        assert FOUND[key].lowest.ratio("mle", "inv_p")[0] == min(ratios)
        assert FOUND[key].highest.ratio("mle", "inv_p")[0] == max(ratios)


def test_from_which_epsilon_maximum_likelihood_is_better_with_many_users():
    assert {one.key for one in FOUND.values() if one.already_from is not None} == {"ue_many"}
    surely = {}
    for row in ROWS["3"]:
        if row.setting.n == 10_000:
            far = stats.t.isf(FAMILY_LEVEL / N_TESTS, row.collections - 1)
            lower = row.difference["mle", "inv_p"] < -far * row.difference_error["mle", "inv_p"]
            surely.setdefault(row.setting.epsilon, []).append(lower)
    start = FOUND["ue_many"].already_from
    assert all(all(found) for epsilon, found in surely.items() if epsilon >= start)
    assert not all(surely[round(start - 0.2, 1)])
    rows = table(1.0, 0.9, 0.80, 0.82)
    assert next(one for one in sentences(rows) if one.key == "ue_many").already_from is None


@holds(
    ", surely worse in {}",
)
def test_against_inv_p_every_setting_is_counted_once_by_the_same_tests():
    for rows in ROWS.values():
        count = against_inv_p(rows, ROWS)
        scaled = [row.difference["mle", "inv_p"] / row.difference_error["mle", "inv_p"] for row in rows]
        far = [stats.t.isf(FAMILY_LEVEL / N_TESTS, row.collections - 1) for row in rows]
        assert count.yes == sum(one < -limit for one, limit in zip(scaled, far, strict=True))
        assert count.no == sum(one > limit for one, limit in zip(scaled, far, strict=True))
        assert count.total == len(rows)


def test_ratios_of_the_table_are_consistent():
    for row in (row for rows in ROWS.values() for row in rows):
        assert row.difference["mle", "inv_p"] == pytest.approx(
            row.mean["mle"] - row.mean["inv_p"], rel=1e-4, abs=1e-12
        )
        assert not math.isnan(row.ratio("mle", "inv_p")[1])
