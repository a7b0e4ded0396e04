"""The channel: its probabilities against exact arithmetic, and what it expects of data."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from tests.core import exact
from tests.core.histograms import EPSILONS, epsilons

KS = (2, 3, 10, 1000, 1_423_000)


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_probabilities_by_epsilon(k, epsilon):
    made, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    assert made.p == pytest.approx(float(channel.p), rel=4e-16)
    assert made.q == pytest.approx(float(channel.q), rel=1e-15, abs=5e-324)
    assert made.keep == pytest.approx(float(channel.keep), rel=1e-15)
    assert made.log_q == pytest.approx(-(epsilon + math.log1p((k - 1) * math.exp(-epsilon))), rel=1e-14)


@given(st.integers(2, 2_000_000), epsilons)
def test_every_row_of_the_channel_is_a_distribution_with_ratio_e_to_the_epsilon(k, epsilon):
    made = RandomizedResponse(k, epsilon)
    assert made.p + (k - 1) * made.q == pytest.approx(1, rel=1e-14)
    assert made.keep + k * made.q == pytest.approx(1, rel=1e-14)
    if made.q > 1e-300:
        assert math.log(made.p / made.q) == pytest.approx(epsilon, rel=1e-14, abs=1e-15)


@given(st.integers(2, 100_000), st.floats(1e-12, 1, exclude_max=True))
def test_probabilities_by_p(k, fraction):
    p = 1 / k + fraction * (1 - 1 / k)
    if not 1 / k < p < 1:
        return
    made, channel = RandomizedResponse.from_p(k, p), exact.channel_from_p(k, p)
    assert made.p == p
    assert made.q == pytest.approx(float(channel.q), rel=1e-15)
    assert made.keep == pytest.approx(float(channel.keep), rel=1e-15)
    assert made.truth / made.blur == pytest.approx(float(channel.odds), rel=1e-15)
    assert made.epsilon == pytest.approx(math.log1p(float(channel.odds)), rel=1e-15)


def test_p_and_epsilon_name_the_same_mechanism():
    by_epsilon = RandomizedResponse(7, 1.7)
    by_p = RandomizedResponse.from_p(7, by_epsilon.p)
    assert by_p.epsilon == pytest.approx(1.7, rel=1e-14)
    np.testing.assert_allclose(by_p.matrix(), by_epsilon.matrix(), rtol=1e-14)


def test_matrix_and_expectation_agree():
    rng = np.random.default_rng(0)
    for k, epsilon in ((2, 0.1), (5, 1.0), (40, 6.0), (3, 800.0)):
        made, theta = RandomizedResponse(k, epsilon), rng.dirichlet(np.ones(k), size=(2, 3))
        assert made.matrix().shape == (k, k)
        np.testing.assert_allclose(made.matrix().sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(made.expected(theta), theta @ made.matrix(), rtol=1e-14)


def test_q_underflows_without_harm():
    made = RandomizedResponse(10, 5000)
    assert (made.p, made.q, made.keep) == (1.0, 0.0, 1.0)
    assert made.log_q == -5000


def test_mechanisms_survive_pickling():
    """Caches and worker processes pickle them, with the exact weights of from_p."""
    made = RandomizedResponse.from_p(9, 0.3)
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert (copy.p, copy.q, copy.truth, copy.blur) == (made.p, made.q, made.truth, made.blur)
