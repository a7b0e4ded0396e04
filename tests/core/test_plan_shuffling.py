"""Shuffling: the bound against exact divergences of shuffled reports."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from rr_core.plan.shuffling import against_users, shuffled, users_needed
from tests.sentences import holds

LOCAL = st.floats(0.01, 12)
DELTAS = st.floats(1e-12, 0.5)
FEW = settings(max_examples=60)


def divergence(one, other, epsilon):
    """The smallest delta with which ``one`` is within e^epsilon of ``other``."""
    return np.maximum(one - math.exp(epsilon) * other, 0).sum()


def mixed(base, chance):
    """The law of a count after one more report, which is a one with this chance."""
    law = np.zeros(base.size + 1)
    law[:-1] += (1 - chance) * base
    law[1:] += chance * base
    return law


def any_delta(epsilon0, n, epsilon):
    """No randomizer does worse than this pair (the paper's Theorem 3.2 with hidden clones): C others look like
    either of the two inputs, half each; my report is among them."""
    truth = math.exp(epsilon0) / (math.exp(epsilon0) + 1)
    delta = 0.0
    for clones in range(n):
        among = binom.pmf(range(clones + 1), clones, 0.5)
        chance = binom.pmf(clones, n - 1, math.exp(-epsilon0))
        delta += chance * divergence(mixed(among, truth), mixed(among, 1 - truth), epsilon)
    return delta


@pytest.mark.parametrize(
    ("epsilon0", "delta"), [(0.2, 0.5), (0.2, 1e-6), (1.0, 0.01), (2.0, 0.5), (3.0, 0.5)]
)
def test_every_randomizer_is_as_private_as_promised(epsilon0, delta):
    for n in (users_needed(epsilon0, delta), 300):
        assert any_delta(epsilon0, n, shuffled(epsilon0, n, delta).epsilon) <= delta


@pytest.mark.parametrize("epsilon0", [0.5, 3.0])
def test_the_formula(epsilon0):
    """Written out as in the paper."""
    n, delta, power = 200_000, 1e-6, math.exp(epsilon0)
    spread = 8 * math.sqrt(power * math.log(4 / delta)) / math.sqrt(n) + 8 * power / n
    want = math.log(1 + (power - 1) / (power + 1) * spread)
    made = shuffled(epsilon0, n, delta)
    assert made.epsilon == pytest.approx(want, rel=1e-12)
    assert made.delta == delta


@FEW
@given(LOCAL, st.integers(1, 10**9), DELTAS)
def test_condition_and_users_agree(epsilon0, n, delta):
    made = shuffled(epsilon0, n, delta)
    assert 0 < made.epsilon <= epsilon0
    if not made.holds:
        assert made.epsilon == epsilon0
    assert made.holds == (n >= made.users_needed)
    needed = made.users_needed
    scale = 16 * math.log(2 / delta) * math.exp(epsilon0)
    assert scale * (1 - 1e-12) <= needed < scale * (1 + 1e-12) + 1


def test_shuffling_never_hurts():
    """At the fewest users the formula alone would promise less than the local guarantee gives."""
    made = shuffled(0.05, users_needed(0.05, 0.1), 0.1)
    assert made.holds
    assert made.epsilon == 0.05


def test_curve_for_a_figure():
    curve = against_users([10, 1000, 10**6], 1.0, 5000, 1e-6)
    assert curve.now == shuffled(1.0, 5000, 1e-6)
    assert (curve.epsilon0, curve.n) == (1.0, 5000)
    np.testing.assert_array_equal(curve.epsilon, [shuffled(1.0, n, 1e-6).epsilon for n in (10, 1000, 10**6)])


@holds(
    "Were one person's truth another, anything that may be seen would be at most eᵋ times as likely, plus δ."
)
def test_delta_is_added_to_a_chance_and_is_not_the_chance_of_a_larger_loss():
    """k = 2, epsilon0 = 1, N = 1,000: at 0.1 the loss is larger with a chance above a hundred times delta."""
    epsilon, p = 0.1, math.e / (math.e + 1)
    base = binom.pmf(range(1000), 999, 1 - p)
    one, other = mixed(base, p), mixed(base, 1 - p)
    delta = divergence(one, other, epsilon)
    larger = one > math.exp(epsilon) * other
    assert one[larger].sum() == pytest.approx(math.exp(epsilon) * other[larger].sum() + delta, rel=1e-9)
    assert one[larger].sum() > 100 * delta
    rng = np.random.default_rng(1)
    for _ in range(200):
        seen = rng.random(one.size) < rng.random()
        assert one[seen].sum() <= math.exp(epsilon) * other[seen].sum() + delta
