"""Tests against zero under tables of chances, beside every collection that there can be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse
from rr_core.protocols import Channel
from rr_core.protocols.channel_estimation import inv_channel
from rr_core.reports.analysis import analyse
from rr_core.reports.saddlepoint import _tails, chances_if_nobody
from rr_core.reports.survey import Sample, analyse_groups

TABLE = Channel([[0.9, 0.08, 0.02], [0.2, 0.75, 0.05], [0.15, 0.05, 0.8]])


def collections(n, law):
    """All (c, m) counts of n reports and their chances."""
    counts = np.array([c for c in itertools.product(range(n + 1), repeat=law.size) if sum(c) == n])
    return counts, stats.multinomial.pmf(counts, n, law)


@pytest.mark.parametrize("n", [5, 30])
def test_the_chance_is_near_that_of_all_collections_and_hardly_below_it(n):
    law = np.array([0.7, 0.3, 0.0]) @ TABLE.matrix
    added = inv_channel(np.eye(3), TABLE)[:, 2]
    counts, chance = collections(n, law)
    sums, laws = counts @ added, law[None]
    for sought in np.unique(sums.round(9))[:: max(1, len(counts) // 40)]:
        exact = chance[sums >= sought - 1e-9].sum()
        told = _tails([(added[None], laws, n)], np.array([sought]))[0]
        if 1e-9 < exact < 0.1:
            assert 0.9 * exact < told < 10 * exact  # the span errs on the safe side


def test_two_groups_are_one_where_they_are_asked_alike():
    one = np.array([[30, 10, 3], [20, 20, 4]])
    shares = np.array([0.6, 0.35, 0.05])
    apart, test = chances_if_nobody(list(one), [TABLE, TABLE], [shares, shares])
    together, _ = chances_if_nobody([one.sum(axis=0)], [TABLE], [shares])
    assert test == "saddlepoint"
    np.testing.assert_allclose(apart, together, rtol=0.2)


@pytest.mark.parametrize(
    ("channel", "counts"),
    [
        (Channel(RandomizedResponse(4, 1.5).matrix()), [60, 20, 12, 9]),
        (Channel.forced_response([0.1, 0.05, 0.2]), [50, 9, 30]),
        (Channel.warner(0.8), [70, 30]),
    ],
    ids=["k-RR", "forced", "Warner"],
)
def test_where_a_report_adds_one_of_two_numbers_it_is_the_binomial_one(channel, counts):
    n, others = sum(counts), [channel.matrix[(i + 1) % channel.k, i] for i in range(channel.k)]
    exact = stats.binom.sf(np.array(counts) - 1, n, others)
    np.testing.assert_allclose(analyse(counts, channel).above.p_values, exact, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_few_reports_no_category_is_called_above_zero_that_nobody_has_and_intervals_are_wide(weighted):
    """In at most 5% of collections, and 5 standard errors. (By the normal law it was 19 to 25%, and with weights
    intervals of all at once held in at most 18%.)"""
    rng, k, n, many, called, held = np.random.default_rng(5), 10, 200, 150, 0, 0
    channel = Channel(0.9 * np.eye(k) + 0.1 * rng.dirichlet(np.full(k, 0.5), k))
    truth = np.array([0.4, 0.3, 0.2, 0.1, *np.zeros(6)])
    for _ in range(many):
        reports = channel.randomize(rng.choice(k, n, p=truth), rng)
        weights = rng.uniform(0.5, 3, n) if weighted else None
        found = analyse_groups(Sample(reports, None, weights), channel, list("abcdefghij"), users="sampled")
        called += found.analyses[0].above.above[4:].any()
        limits = found.analyses[0].simultaneous
        held += ((limits.low <= truth + 1e-12) & (truth <= limits.high + 1e-12)).all()
    slack = 5 * math.sqrt(many * 0.95 * 0.05)
    assert called <= many * 0.05 + slack
    assert held >= many * 0.95 - slack
