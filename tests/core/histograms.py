"""Histograms and mechanisms for the tests: every shape that has broken an estimator somewhere."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from rr_core import RandomizedResponse, sampling, zipf
from rr_core.limits import EPSILON_MAX, EPSILON_MIN
from tests.core import exact

EPSILONS = (1e-6, 0.01, 0.5, math.log(2), 1.0, math.log(3), 4.0, 20.0, 690.0, 700.0)


def families(k: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Named (k,) histograms: ties, zeros, point masses, huge counts, frequencies."""
    point, almost = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    point[rng.integers(k)] = 17
    almost[rng.integers(k)] = 10**9
    almost[rng.integers(k)] += 1
    noisy = RandomizedResponse(k, 2.0).randomize_histogram(
        sampling.multinomial(20 * k, zipf(k, 1.3), rng), rng
    )
    return {
        "few small counts": np.maximum(rng.integers(-2, 4, k), np.eye(1, k, 0, dtype=np.int64)[0]),
        "all equal": np.full(k, 3),
        "one category": point,
        "two categories of very different size": almost,
        "noisy Zipf": noisy,
        "huge counts": rng.integers(0, 2**45, k),
        "nearly equal huge counts": 2**45 + rng.integers(0, 1000, k),
        "frequencies": rng.dirichlet(np.full(k, 0.7)),
        "peaked frequencies": rng.dirichlet(np.full(k, 0.05)) + 1e-30,
        "frequencies with zeros": np.where(rng.random(k) < 0.5, 0.0, rng.random(k)) + np.eye(1, k)[0],
        "tiny frequencies": rng.random(k) * 1e-200,
    }


def both_ways(k: int) -> list[tuple[RandomizedResponse, exact.Channel]]:
    """Mechanisms with their exact channels: by epsilon over its whole range, and by p."""
    ps = (RandomizedResponse(k, EPSILON_MIN).p, (1 + 1 / k) / 2, 0.99, 1 - 1e-12, math.nextafter(1, 0))
    return [
        *((RandomizedResponse(k, eps), exact.channel_from_epsilon(k, eps)) for eps in EPSILONS),
        *((RandomizedResponse.from_p(k, p), exact.channel_from_p(k, p)) for p in ps),
    ]


@st.composite
def counts(draw: st.DrawFn, max_k: int = 12, largest: int = 10**6) -> list[int]:
    """Non-negative integers with a positive total; small values often, so that ties and zeros abound."""
    k = draw(st.integers(2, max_k))
    entry = st.one_of(st.integers(0, 3), st.integers(0, 40), st.integers(0, largest))
    values = draw(st.lists(entry, min_size=k, max_size=k))
    return values if any(values) else [1, *values[1:]]


# Log-uniform over what the contract accepts.
epsilons = (
    st.floats(math.log(EPSILON_MIN), math.log(EPSILON_MAX))
    .map(math.exp)
    .map(lambda eps: min(max(eps, EPSILON_MIN), EPSILON_MAX))
)
everyday_epsilons = st.floats(math.log(0.05), math.log(12.0)).map(math.exp)
