"""One collection through a channel: its parts agree with the functions that they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse, ibu_channel, inv, mle_star, protocols
from rr_core.protocols import (
    Channel,
    collect,
    ibu_gaps_channel,
    merge_last,
    optimality_gap_channel,
)


def test_k_rr_as_a_channel_gives_the_estimates_of_k_rr():
    mechanism = RandomizedResponse(6, 1.2)
    found = collect(Channel.k_rr(mechanism), [400, 300, 200, 60, 30, 10], 4)
    assert found.counts.sum() == 1000
    np.testing.assert_allclose(found.inv, inv(found.counts, mechanism), atol=1e-12)
    np.testing.assert_allclose(found.mle.theta, mle_star(found.counts, mechanism), atol=1e-6)
    np.testing.assert_allclose(found.theta, [0.4, 0.3, 0.2, 0.06, 0.03, 0.01])
    np.testing.assert_allclose(found.phi, found.counts / 1000)


def test_a_channel_that_tells_nothing_has_no_unbiased_estimate_and_still_a_most_likely_one():
    found = collect(Channel.warner(0.5), [70, 30], 1)
    assert found.inv is None
    assert found.mle.gap < 1e-9


@given(st.integers(0, 3), st.integers(0, 200))
def test_gaps_of_ibu_are_those_of_its_iterates(seed, iterations):
    rng = np.random.default_rng(seed)
    channel = Channel(rng.dirichlet(np.ones(4), size=3))
    counts = rng.integers(1, 50, 4)
    (gap,) = ibu_gaps_channel(counts, channel, [iterations])
    theta = ibu_channel(counts, channel.matrix, iterations)
    assert gap == pytest.approx(optimality_gap_channel(counts, theta, channel), rel=1e-9, abs=1e-13)


def test_the_last_categories_are_merged():
    counts, names = merge_last([5, 9, 1, 2], ["a", "b", "c", "d"], 2)
    assert (counts.tolist(), names) == ([5, 12], ("a", "all others"))
    counts, names = merge_last([5, 9], None, 2)
    assert (counts.tolist(), names) == ([5, 9], None)


@pytest.mark.parametrize(("forced", "first"), [(0.0, 0.3), (0.4, 0.0), (0.4, 1.0), (1.0, 0.5)])
def test_forced_answers_go_where_they_are_sent(forced, first):
    channel = Channel.forced_with_first(3, forced, first)
    np.testing.assert_allclose(channel.matrix[1, 0], forced * first, atol=1e-15)
    np.testing.assert_allclose(channel.matrix[0, 1:], forced * (1 - first) / 2, atol=1e-15)
    assert channel.identified == (forced < 1)


def test_mistakes_are_made_between_neighbours_only():
    channel = Channel.misclassification(5, 0.2)
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert (channel.matrix[steps > 1] == 0).all()
    np.testing.assert_allclose(np.diag(channel.matrix), 0.8)
    assert channel.epsilon == np.inf
    assert Channel.misclassification(2, 0.25).epsilon == pytest.approx(np.log(3))


@given(st.integers(0, 10_000))
def test_inv_enlarges_a_relative_error_at_most_by_the_condition_number(seed):
    """Also by least squares among shares with sum one, where there are more reports than truths."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    channel = Channel(rng.dirichlet(np.full(k + int(rng.integers(0, 4)), 0.5), size=k))
    theta = rng.dirichlet(np.full(k, 0.5))
    phi = channel.expected(theta)
    seen = rng.multinomial(100, phi) / 100
    off = np.linalg.norm(protocols.inv(seen, channel) - theta) / np.linalg.norm(theta)
    assert (
        off <= channel.condition_number * np.linalg.norm(seen - phi) / np.linalg.norm(phi) * (1 + 1e-6) + 1e-9
    )
