"""Theorem 2 and its extension: equal supports put InvP, MLE* and InvN on one line."""

import math

import numpy as np
import pytest
from hypothesis import given

from rr_core import RandomizedResponse, collinearity, inv, inv_n, inv_p, mle_star
from rr_core.collinearity import theorem2
from tests.core import exact
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds


def random_cases(how_many, seed, *, same_support):
    """Random histograms whose supports are (or are not) all equal and whose estimates differ."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < how_many:
        k = int(rng.integers(3, 30))
        mechanism = RandomizedResponse(k, rng.uniform(0.3, 4))
        histogram = rng.multinomial(rng.integers(20, 2000), rng.dirichlet(np.full(k, rng.uniform(0.3, 3))))
        place = collinearity(histogram, mechanism)
        if place.same_support is same_support and not math.isnan(place.position):
            found.append((histogram, mechanism, place))
    return found


@holds(
    "the most",
    "at least InvN's, at most InvP's",
    "No share of reports is below q: nothing was cut off, and the three repairs coincide with Inv.",
)
@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_supports_are_nested_and_length_and_cut_off_are_those_of_the_estimates(histogram, epsilon):
    k = len(histogram)
    mechanism = RandomizedResponse(k, epsilon)
    estimates = [make(histogram, mechanism) for make in (inv_p, mle_star, inv_n)]
    near, best, far = (estimate > 0 for estimate in estimates)
    assert (near <= best).all()
    assert (best <= far).all()
    place = collinearity(histogram, mechanism)
    np.testing.assert_array_equal(place.supports, [near.sum(), best.sum(), far.sum()])
    assert place.same_support is bool(near.sum() == far.sum())
    assert place.cut_off is any(
        value < 0 for value in exact.inv(histogram, exact.channel_from_epsilon(k, epsilon))
    )
    assert place.length == pytest.approx(np.linalg.norm(estimates[2] - estimates[0]), rel=1e-9, abs=1e-14)
    assert (place.length == 0) is math.isnan(place.position)


def test_an_estimate_of_exactly_zero_is_outside_the_support():
    """k = 3, p = 1/2, q = 1/4: every repair of (2, 1, 1) is (1, 0, 0), with both small counts on the edge."""
    place = collinearity([2, 1, 1], RandomizedResponse.from_p(3, 0.5))
    assert place.supports.tolist() == [1, 1, 1]
    assert math.isnan(place.position)


@holds(
    "Where the three keep the same categories, MLE\\* is a mixture of InvP and InvN, so its squared error is no larger than the larger of theirs.",  # noqa: E501
    "While all keep the same answers, it is never farther from the truth than the farther of the two.",
)
def test_with_equal_supports_mle_star_is_no_farther_from_any_truth_than_the_farther_of_the_others():
    truths = np.random.default_rng(3)
    for histogram, mechanism, _ in random_cases(50, 2, same_support=True):
        for spread in (0.05, 1.0, 20.0):
            truth = truths.dirichlet(np.full(mechanism.k, spread))
            off = [rule(histogram, mechanism) - truth for rule in (inv_n, inv_p, mle_star)]
            for norm in (1, 2):
                n, p, mle = (np.linalg.norm(one, norm) for one in off)
                assert mle <= max(n, p) + 1e-12


def test_with_equal_supports_mle_star_divides_inv_between_inv_n_and_inv_p():
    """By the mean of T, what is kept of Inv, and 1, weighted by e^epsilon - 1 and by the number of categories kept."""
    for histogram, mechanism, place in random_cases(300, 5, same_support=True):
        kept = mle_star(histogram, mechanism) > 0
        raw, total, m = inv(histogram, mechanism)[kept], inv(histogram, mechanism)[kept].sum(), kept.sum()
        parts = math.exp(mechanism.epsilon) - 1
        mean = (parts * total + m) / (parts + m)
        assert 1 < mean < total
        for repair, divisor in ((inv_n, total), (mle_star, mean), (inv_p, 1.0)):
            lowered = (total / divisor - 1) / m
            np.testing.assert_allclose(
                repair(histogram, mechanism)[kept], raw / divisor - lowered, rtol=0, atol=1e-12
            )
        assert place.position == pytest.approx(parts * total / (parts * total + m), rel=1e-9)


@pytest.mark.slow
@given(counts(max_k=7), everyday_epsilons)
def test_position_and_residual_are_those_of_exact_geometry(histogram, epsilon):
    k = len(histogram)
    place = collinearity(histogram, RandomizedResponse(k, epsilon))
    position, residual2 = exact.collinear_position(histogram, exact.channel_from_epsilon(k, epsilon))
    if position is None:
        assert math.isnan(place.position)
    else:
        assert place.position == pytest.approx(float(position), rel=1e-9)
    assert place.residual == pytest.approx(math.sqrt(residual2), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(
    ("histogram", "holds"),
    [
        # k = 4, p = 1/2, q = 1/6: with a smallest count of 1 in 24 the second must be (4/6 - 1/24)/3 = 5/24.
        ([12, 6, 5, 1], True),
        ([13, 6, 4, 1], False),
        ([10, 5, 5, 4], False),
        ([6, 6, 6, 6], False),
        ([10, 10, 2, 2], False),
        ([24, 0, 0, 0], False),
    ],
)
def test_the_conditions_of_theorem_2(histogram, holds):
    """Equality is decided on integers, however large."""
    for scale in (1, 10**9):
        place = collinearity(np.array(histogram) * scale, RandomizedResponse.from_p(4, 0.5))
        assert place.theorem2_holds is holds


@pytest.mark.parametrize(
    "histogram",
    [[25, 26, 27, 28], [1, 1, 1, 1], [9, 0, 0, 0], [500, 500, 0, 0]],
    ids=["inside", "equal", "one", "two"],
)
def test_position_is_nan_where_inv_p_and_inv_n_coincide(histogram):
    mechanism = RandomizedResponse(4, 1.0)
    np.testing.assert_allclose(inv_n(histogram, mechanism), inv_p(histogram, mechanism), atol=1e-15)
    place = collinearity(histogram, mechanism)
    assert math.isnan(place.position)
    assert place.residual == pytest.approx(0, abs=1e-15)
    assert place.same_support


RNG = np.random.default_rng(6)
# The rows of the second have different numbers of distinct counts.
BATCHES = {
    "short rows": RNG.integers(0, 40, (3, 2, 6)),
    "long rows": np.stack([np.full(2500, 7), RNG.integers(5, 60, 2500), RNG.integers(90, 93, 2500)]),
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_a_batch_gives_arrays_with_the_numbers_of_its_rows(batch):
    mechanism = RandomizedResponse(batch.shape[-1], 1.0 if batch.shape[-1] == 6 else 3.0)
    together = collinearity(batch, mechanism)
    for index in np.ndindex(batch.shape[:-1]):
        alone = collinearity(batch[index], mechanism)
        for field in ("same_support", "theorem2_holds", "position", "residual"):
            np.testing.assert_allclose(
                getattr(together, field)[index], getattr(alone, field), rtol=1e-12, atol=1e-15
            )
            assert isinstance(getattr(alone, field), bool | float)
        np.testing.assert_array_equal(together.supports[index], alone.supports)


@holds("The second smallest, φ₂, is at least (Kq − φ₁)/(K − 1)")
@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_theorem_2_needs_both_conditions_whose_sides_are_exact_and_says_the_position(histogram, epsilon):
    k = len(histogram)
    channel, phi = exact.channel_from_epsilon(k, epsilon), sorted(exact.frequencies(histogram))
    found = theorem2(histogram, RandomizedResponse(k, epsilon))
    needed = (k * channel.q - phi[0]) / (k - 1)
    assert found.smallest == pytest.approx(float(phi[0]), rel=1e-14)
    assert found.second == pytest.approx(float(phi[1]), rel=1e-14)
    assert found.threshold == pytest.approx(float(needed), rel=1e-12, abs=1e-15)
    assert found.first_condition is (phi[0] < channel.q)
    assert found.second_condition is (phi[1] >= needed)
    if found.first_condition:
        assert found.t == pytest.approx(float((1 - phi[0]) / (channel.p - phi[0])), rel=1e-12)
    else:
        assert math.isnan(found.t)
    place = collinearity(histogram, RandomizedResponse(k, epsilon))
    assert place.theorem2_holds is (found.first_condition and found.second_condition)
    if place.theorem2_holds and place.length:
        assert found.t > 1
        assert place.position == pytest.approx(1 / found.t, rel=1e-9)
        assert place.residual <= 1e-12


def test_a_zero_without_a_negative_is_nothing_to_repair():
    """k = 4, q = 1/6: Inv of (5, 3, 2, 2) is (3/4, 1/4, 0, 0), whatever the rounding."""
    for scale in (1, 7, 10**9 + 7):
        place = collinearity(np.array([5, 3, 2, 2]) * scale, RandomizedResponse.from_p(4, 0.5))
        assert not place.cut_off
        assert place.length == 0
        assert math.isnan(place.position)


@holds(
    "But the three repairs lie on one line **whenever they keep the same categories**, however many are cut off, and MLE\\* is between the other two."  # noqa: E501
)
def test_slopes_on_equal_supports_are_ordered_and_put_mle_star_between():
    """The argument of the page: 1/(p-q) > (p-q+mq)/((p-q) Phi) > 1/((1+nu)(p-q)), the slopes against phi."""
    for histogram, mechanism, place in random_cases(100, 8, same_support=True):
        phi, raw = histogram / histogram.sum(), inv(histogram, mechanism)
        support = np.flatnonzero(mle_star(histogram, mechanism))
        m, mass, nu = len(support), phi[support].sum(), -raw[raw < 0].sum()
        slopes = [1, (mechanism.keep + m * mechanism.q) / mass, 1 / (1 + nu)]
        assert slopes[0] > slopes[1] > slopes[2]
        low, high = support[phi[support].argmin()], support[phi[support].argmax()]
        if phi[low] < phi[high]:
            for make, slope in zip((inv_p, mle_star, inv_n), slopes, strict=True):
                estimate = make(histogram, mechanism)
                measured = (estimate[high] - estimate[low]) / (phi[high] - phi[low]) * mechanism.keep
                assert measured == pytest.approx(slope, rel=1e-9)
        position = (slopes[0] - slopes[1]) / (slopes[0] - slopes[2])
        assert place.position == pytest.approx(position, rel=1e-6, abs=1e-9)
        assert 0 < place.position < 1
        assert place.residual < 1e-13


def test_relative_residual_and_measured_t():
    near = collinearity([50, 45, 40, 3], RandomizedResponse(4, 1.0))
    assert near.t == pytest.approx(1 / near.position)
    assert near.relative == pytest.approx(near.residual / near.length, abs=1e-15)
    nothing = collinearity([25, 26, 27, 28], RandomizedResponse(4, 1.0))
    assert math.isnan(nothing.relative)
    assert math.isnan(nothing.t)
    # So noisy that InvP and MLE* are the same corner.
    corner = collinearity([40, 35, 25], RandomizedResponse(3, 0.01))
    assert (corner.position, corner.t, corner.relative) == (0, math.inf, 0)
    batch = collinearity([[40, 35, 25], [34, 33, 33]], RandomizedResponse(3, 0.01))
    assert batch.relative.shape == batch.t.shape == (2,)


@pytest.mark.parametrize(
    ("k", "percent"), [(10, 19), (9, 28), (8, 37), (6, 55), (5, 60), (4, 70), (12, 23), (7, 46)]
)
def test_a_difference_that_is_only_rounding_counts_as_equality(k, percent):
    """q is a whole number of percent but no exact double: shares at q, and at what Theorem 2 needs, are equal to
    it for a person."""
    mechanism, q = RandomizedResponse.from_p(k, percent / 100), (100 - percent) // (k - 1)
    rest = 100 - 2 * q
    at_q = theorem2([q, q, *(rest // (k - 2) + (i < rest % (k - 2)) for i in range(k - 2))], mechanism)
    assert not at_q.first_condition
    # With phi_1 = q/2 the second smallest must be (k - 1/2) q/(k - 1).
    whole, second = 200 * (k - 1), (2 * k - 1) * q
    left = whole - q * (k - 1) - second
    others = [left // (k - 2) + (i < left % (k - 2)) for i in range(k - 2)]
    assert min(others) >= second
    at_need = theorem2([q * (k - 1), second, *others], mechanism)
    assert at_need.first_condition
    assert at_need.second_condition
    short = theorem2([q * (k - 1), second - 1, others[0] + 1, *others[1:]], mechanism)
    assert not short.second_condition


def test_on_the_line_means_up_to_rounding():
    for *_, place in random_cases(60, 9, same_support=True):
        assert place.on_line
    off = [bool(place.on_line) for *_, place in random_cases(200, 10, same_support=False)]
    assert np.mean(off) < 0.1
    assert collinearity([25, 26, 27, 28], RandomizedResponse(4, 1.0)).on_line
