"""The steps of Algorithm 1: each is the paper's theta^[n], and they end at MLE*."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv, mle_star
from rr_core.estimators import mle_search


def definition_1(counts: list[int], p: Fraction, n: int) -> tuple[list[Fraction], Fraction]:
    """theta^[n] and g(n) of the supplement, for sorted counts."""
    k, phi = len(counts), [Fraction(c, sum(counts)) for c in counts]
    q = (1 - p) / (k - 1)
    scale = (p - q) * sum(phi[n:]) / (1 - n * q)
    theta = [Fraction(0)] * n + [one / scale - q / (p - q) for one in phi[n:]]
    return theta, (1 - n * q) * phi[n] - q * sum(phi[n:])


@given(st.lists(st.integers(0, 9), min_size=2, max_size=7).filter(any), st.integers(1, 19))
def test_steps_are_those_of_the_paper(counts, twentieths):
    p = Fraction(1, len(counts)) + (1 - Fraction(1, len(counts))) * Fraction(twentieths, 20)
    mechanism = RandomizedResponse.from_p(len(counts), float(p))
    found = mle_search(counts, mechanism)
    assert [counts[i] for i in found.order] == sorted(counts)
    exact_g = []
    for n, (theta, g) in enumerate(zip(found.theta, found.g, strict=True)):
        exact, exact_value = definition_1(sorted(counts), p, n)
        exact_g.append(exact_value)
        np.testing.assert_allclose(theta, np.array(exact, dtype=float), rtol=1e-9, atol=1e-12)
        assert g == pytest.approx(float(exact_value), abs=1e-14)
    # It ends at the first that is not negative, up to the rounding of p where g is zero.
    assert all(g < 1e-14 for g in exact_g[:-1])
    assert exact_g[-1] > -1e-14
    # Each step is Inv of the reports left, under randomized response with this epsilon over the categories left.
    for n, (left, chance, theta) in enumerate(zip(found.left, found.chance, found.theta, strict=True)):
        np.testing.assert_allclose(left[n:] * sum(sorted(counts)[n:]), sorted(counts)[n:], rtol=1e-12)
        if n < len(counts) - 1:
            alone = RandomizedResponse(len(counts) - n, mechanism.epsilon)
            assert chance == pytest.approx(alone.q, rel=1e-9)
            np.testing.assert_allclose(theta[n:], inv(sorted(counts)[n:], alone), rtol=1e-9, atol=1e-12)
    assert (np.diff(found.chance) > 0).all()


@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=50).filter(any),
    st.one_of(st.floats(0.01, 20), st.sampled_from([1e-6, 700.0])),
)
def test_the_last_step_is_mle_star(counts, epsilon):
    mechanism = RandomizedResponse(len(counts), epsilon)
    found = mle_search(counts, mechanism)
    np.testing.assert_allclose(found.theta[-1], mle_star(counts, mechanism)[found.order], atol=1e-12)
    assert (found.theta[-1] >= -1e-12).all()
    for theta in found.theta[:-1]:
        assert theta.min() < 0
