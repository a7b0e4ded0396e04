"""Kinds of target, and the guess of a population reduced to levels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.plan.targets import KINDS, Guess, Target
from rr_core.populations import zipf


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_the_default_of_each_kind_is_allowed(kind):
    target = Target(kind.key, kind.default)
    assert kind.key == next(key for key, value in KINDS.items() if value is kind)
    assert target.goal == (0.95 if kind.key == "top" else kind.default)


@settings(max_examples=50)
@given(st.integers(100, 3000), st.floats(0, 3), st.integers(0, 5))
def test_levels_keep_number_and_sum_and_bound_convex_sums(k, s, after):
    shares = zipf(k, s)
    levels, weights = Guess.of(k, shares).levels(after)
    rest = shares[after:]
    assert weights.sum() == pytest.approx(k - after, rel=1e-9)
    assert weights @ levels == pytest.approx(rest.sum(), rel=1e-9)
    assert (weights >= 0).all()
    convex = weights @ levels**2
    # At most an eighth of the squared width of a level too much.
    assert rest @ rest * (1 - 1e-9) <= convex <= rest @ rest * 1.01


def test_few_shares_are_their_own_levels():
    levels, weights = Guess.of(5, [2, 0, 0, 6, 2]).levels()
    assert levels == pytest.approx([0, 0.2, 0.6])
    assert weights.tolist() == [2, 2, 1]
    # A long population with empty categories keeps zero as a level.
    long = np.concatenate([np.zeros(50), np.arange(1, 200)])
    levels, weights = Guess.of(249, long).levels()
    assert levels[0] == 0
    assert weights[0] == 50
    assert weights.sum() == pytest.approx(249)


def test_the_sum_of_squares_of_a_guess():
    assert Guess.of(3, None).sum_of_squares is None
    assert Guess.of(4, np.ones(4)).sum_of_squares == pytest.approx(0.25)
