"""Every bad input is a ValueError that names the argument, the allowed range and what was received."""

import decimal
import fractions
import re
from functools import partial

import numpy as np
import pytest

import rr_core
from rr_core import RandomizedResponse, collinearity, coupling, ibu, zipf
from rr_core.plan import bounds, shuffling
from rr_core.plan.protocol_choice import compare, flip_k, flip_k_of_mean, single_k
from rr_core.populations import Population
from rr_core.protocols import HadamardResponse, SubsetSelection, UnaryEncoding, laws
from rr_core.protocols.over_time import Longitudinal
from rr_core.registry import ESTIMATORS
from rr_core.sampling import multinomial

MECHANISM = RandomizedResponse(3, 1.0)
ON_HISTOGRAMS = {
    **{name: getattr(rr_core, name) for name in (*ESTIMATORS, "collinearity")},
    "ibu": lambda histogram, mechanism: ibu(histogram, mechanism, 3),
    "optimality_gap": lambda histogram, mechanism: rr_core.optimality_gap(
        histogram, [0.2, 0.3, 0.5], mechanism
    ),
    "update_factors": lambda histogram, mechanism: rr_core.update_factors(
        histogram, [0.2, 0.3, 0.5], mechanism
    ),
    "negative_log_likelihood": lambda histogram, mechanism: rr_core.negative_log_likelihood(
        histogram, [0.2, 0.3, 0.5], mechanism
    ),
}
NOT_NUMBERS = [True, np.True_, "4", b"4", None, [3], (), {}, 1 + 2j, float("nan"), float("inf"), float("-inf"), 0, -3.5,
               np.array([3]), np.array(True), np.timedelta64(3), np.str_("4"), 10**400, "9" * 5000]  # fmt: skip


# Whatever takes a stated epsilon.
BY_EPSILON = [
    partial(RandomizedResponse, 3), partial(UnaryEncoding, 3), partial(UnaryEncoding, 3, optimized=True),
    partial(SubsetSelection, 40), partial(HadamardResponse, 40), partial(Longitudinal, "fresh", 3),
    *(partial(laws.support, key, 1000) for key in laws.KEYS), laws.hash_range, partial(laws.subset_size, 40),
    lambda epsilon: laws.local_hashing(epsilon, 3), partial(laws.hadamard_blocks, 40),
    single_k, flip_k, flip_k_of_mean, partial(compare, 40, n=10),
    lambda epsilon0: shuffling.shuffled(epsilon0, 10, 1e-6),
    lambda epsilon0: shuffling.users_needed(epsilon0, 1e-6),
]  # fmt: skip


def refusal(call, *args, **kwargs) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is matched by the caller
        call(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("make", BY_EPSILON)
def test_every_public_function_has_the_same_range_of_epsilon(make):
    for value in (5e-324, np.nextafter(1e-6, 0), np.nextafter(700, 701), "4", True, np.array([1.0])):
        assert re.match("epsilon0? must be a number from 1e-06 to 700, got ", refusal(make, value))
    make(1e-6)
    make(700)


@pytest.mark.parametrize(
    "bound", [bounds.theorem, bounds.equal_shares, partial(bounds.protocol_error, "olh")]
)
def test_arrays_of_epsilons_have_the_same_range(bound):
    for end in (np.nextafter(1e-6, 0), np.nextafter(700, 701)):
        assert refusal(bound, 3, [1.0, end], 10).startswith(
            "epsilon must be a number from 1e-06 to 700, got "
        )
    assert np.isfinite(bound(3, [1e-6, 700], 10)).all()
    np.testing.assert_array_equal(bound(3, np.array([1, 200], np.uint8), 10), bound(3, [1.0, 200.0], 10))


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: repr(value)[:12])
def test_what_is_no_k_no_epsilon_and_no_p(value):
    for call, allowed in (
        (lambda: RandomizedResponse(value, 1.0), "k must be an integer >= 2, got "),
        (lambda: zipf(value, 1.0), "k must be an integer >= 2, got "),
        (lambda: RandomizedResponse(3, value), "epsilon must be a number from 1e-06 to 700, got "),
        (lambda: RandomizedResponse.from_p(4, value), "p must be a number with 1/k = 0.25 < p < 1, got "),
    ):
        said = refusal(call)
        assert said.startswith(allowed)
        assert len(said) < 120


@pytest.mark.parametrize("k", [3, 49, 1_423_000])
def test_one_category_and_too_many_and_p_equal_to_one_over_k_as_a_double_are_refused(k):
    assert refusal(RandomizedResponse, 1, 1.0) == "k must be an integer >= 2, got 1"
    assert refusal(RandomizedResponse, 10**5000, 1.0).endswith("got a number of thousands of digits")
    assert "p must be" in refusal(RandomizedResponse.from_p, k, 1 / k)


@pytest.mark.parametrize("stored", [np.float16(0.1), np.longdouble("0.3"), np.uint8(255), np.array(2.5),
                                    decimal.Decimal("0.5"), fractions.Fraction(1, 3)], ids=repr)  # fmt: skip
def test_an_epsilon_is_a_float_whatever_it_was_stored_as(stored):
    """As a float it makes the same objects, to the last bit: everywhere an epsilon is stated. A k is an int."""
    for make in BY_EPSILON:
        assert make(stored) == make(float(stored))
    assert type(RandomizedResponse(np.float64(3.0), stored).epsilon) is float
    assert type(RandomizedResponse(np.float64(3.0), stored).k) is int


BAD_HISTOGRAMS = [
    (5, r"last axis of length k = 3, got shape \(\)"),
    ([1, 2], r"last axis of length k = 3, got shape \(2,\)"),
    ([[1], [2], [3]], r"last axis of length k = 3, got shape \(3, 1\)"),
    ([1, -2, 3], r"non-negative \(every entry >= 0\), got -2 at index \[1\]"),
    ([[1, 2, 3], [4, 5, -0.5]], r"non-negative \(every entry >= 0\), got -0\.5 at index \[1, 2\]"),
    ([1, float("nan"), 3], r"finite, got nan at index \[1\]"),
    ([-float("inf"), 2, 3], r"finite, got -inf at index \[0\]"),
    ([0, 0, 0], r"positive total, got all zeros"),
    ([[1, 2, 3], [0, 0, 0]], r"positive total, got all zeros"),
    ([[1, 2, 3], [1, 2]], r"numeric array, got a ragged sequence"),
    (["1", "2", "3"], r"numeric array, got dtype <U1"),
    ([1, None, 3], r"numeric array, got dtype object"),
    ([1, 2, 3j], r"numeric array, got dtype complex128"),
    (np.array([1, 2, 3], dtype="datetime64[s]"), r"numeric array, got dtype datetime64\[s\]"),
    ({"a": 1}, r"numeric array, got dtype object"),
]


@pytest.mark.parametrize(("histogram", "said"), BAD_HISTOGRAMS, ids=[said for _, said in BAD_HISTOGRAMS])
def test_wrong_histogram(histogram, said):
    for call in ON_HISTOGRAMS.values():
        message = refusal(call, histogram, MECHANISM)
        assert message.startswith("histogram must ")
        assert re.search(said, message)


@pytest.mark.parametrize(
    "start",
    [[0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.4, 0.2], [float("nan"), 0.5, 0.5], np.full((2, 3), 1 / 3)],
    ids=repr,
)
def test_wrong_start(start):
    assert refusal(ibu, np.ones((4, 3)), MECHANISM, 3, start=start).startswith("start must ")


def test_mechanisms_are_frozen_and_compare_by_k_and_epsilon():
    with pytest.raises(AttributeError):
        MECHANISM.k = 4
    assert RandomizedResponse(3, 1) == MECHANISM
    assert hash(RandomizedResponse(3, 1)) == hash(MECHANISM)
    assert RandomizedResponse(3, 2) != MECHANISM
    assert collinearity([1, 2, 3], MECHANISM).supports.shape == (3,)


HUGE = {
    "2^62": [2**62] * 4,
    "2^63": np.array([2**63] * 4, dtype=np.uint64),
    "the largest floats": [1.7e308] * 4,
    "the smallest floats": [5e-324] * 4,
}


@pytest.mark.parametrize("histogram", HUGE.values(), ids=HUGE)
def test_sums_beyond_the_largest_numbers_are_no_trouble(histogram):
    """Whatever the unit of the counts, four equal ones have equal shares, and these are optimal."""
    mechanism = RandomizedResponse(4, 1.0)
    for name in ESTIMATORS:
        np.testing.assert_allclose(getattr(rr_core, name)(histogram, mechanism), 0.25, rtol=1e-15)
    np.testing.assert_allclose(ibu(histogram, mechanism, 3), 0.25, rtol=1e-15)
    assert abs(rr_core.optimality_gap(histogram, [0.25] * 4, mechanism)) < 1e-15
    np.testing.assert_allclose(Population.from_weights(histogram).probabilities, 0.25, rtol=1e-15)
    assert multinomial(1000, histogram, np.random.default_rng(1)).sum() == 1000
    assert coupling.multinomial(1000, histogram, np.full(4, 0.5)).sum() == 1000


@pytest.mark.parametrize("counts", [HUGE["2^62"], HUGE["2^63"], HUGE["the largest floats"]])
def test_more_users_than_can_be_counted_are_refused(counts):
    said = refusal(RandomizedResponse(4, 1.0).randomize_histogram, counts, 1)
    assert said.startswith("counts must add up to at most 2^62, got ")
