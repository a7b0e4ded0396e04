"""The numbers that the reference page prints about the misprints say what the page says."""

import dataclasses

import numpy as np
import pytest

from rr_core import RandomizedResponse, collinearity, inv, inv_n, inv_p, mle_star, squared_error
from rr_core import misprints as checks
from tests.core import listing


@pytest.fixture(scope="module")
def found():
    return checks.all_checks()


def test_all_checks_runs_every_check_and_is_reproducible(found):
    again = checks.all_checks()
    assert str(found) == str(again)
    assert all(getattr(found, field.name) is not None for field in dataclasses.fields(found))


def test_variance_agrees_with_the_corrected_formula_only(found):
    v = found.variance
    assert v.simulated == pytest.approx(v.corrected, rel=0.02)
    assert v.simulated > 3 * v.printed


def test_the_error_grows_like_k_squared_not_like_k(found):
    per_k = {g.k: g for g in found.growth}
    for g in found.growth:
        assert g.simulated == pytest.approx(g.corrected, rel=0.03)
    assert per_k[1000].corrected / per_k[10].corrected == pytest.approx(100, rel=0.2)
    assert per_k[1000].printed / per_k[10].printed == pytest.approx(1, rel=0.05)


def test_the_centre_is_p_and_the_printed_vector_does_not_sum_to_one(found):
    c, six = found.centre, 6 / np.sqrt(found.centre.users)
    mechanism = RandomizedResponse(6, 1.0)
    assert (c.expected_own, c.expected_other) == pytest.approx((mechanism.p, mechanism.q))
    assert (c.own, c.other) == pytest.approx((mechanism.p, mechanism.q), abs=six)
    assert c.printed_own < c.own - 0.1
    assert c.printed_sum == pytest.approx(1 - mechanism.q)


def test_the_threshold_is_the_smallest_entry_kept(found):
    t = found.threshold
    assert t.zeros == 2
    np.testing.assert_allclose(t.mle_star, [5 / 6, 1 / 6, 0, 0], atol=1e-15)
    np.testing.assert_allclose(t.at_kept, t.mle_star, atol=1e-15)
    assert t.at_dropped.min() < 0
    # The example also refutes "if and only if": unequal frequencies, equal estimates.
    assert t.phi[2] > t.phi[3]
    assert t.mle_star[2] == t.mle_star[3]


def test_the_accumulated_subtraction_is_the_listing_bit_by_bit():
    rng = np.random.default_rng(8)
    counts = RandomizedResponse(500, 2.0).randomize_histogram(
        rng.multinomial(2000, rng.dirichlet(np.ones(500))), rng
    )
    phi, left = np.sort(counts / counts.sum()), 1.0
    for value in phi[:300]:
        left -= value
    assert np.subtract.accumulate(np.concatenate([[1.0], phi]))[300] == left


def test_the_listing_drifts_and_the_profile_does_not(found):
    d = found.drift
    assert abs(d.listing_sum) > 1e-11
    assert abs(d.own_sum) < 1e-14
    assert 1e-14 < d.largest < 1e-11
    # The vectorised loop gives what the loop gives.
    counts = np.array(checks.EXAMPLE_COUNTS)
    np.testing.assert_allclose(listing.mle(counts / 12, 0.5), found.threshold.mle_star, atol=1e-15)


def test_mle_star_is_the_worst_in_about_one_of_eighty_draws_at_epsilon_1_and_ever_fewer(found):
    shares = [w.worst / w.negative for w in found.worst]
    assert [w.epsilon for w in found.worst] == [0.1, 1, 2, 4]
    assert shares == sorted(shares, reverse=True)
    assert 1 / 130 < shares[1] < 1 / 50
    assert shares[3] < 1 / 500
    assert all(w.one_in is None or w.one_in == round(w.negative / w.worst) for w in found.worst)


def errors_and_supports(k, epsilon, draws, seed):
    rng, mechanism = np.random.default_rng(seed), RandomizedResponse(k, epsilon)
    users = (10 ** rng.uniform(1, 4, draws)).astype(np.int64)
    true_counts = rng.multinomial(users, rng.dirichlet(np.ones(k), draws))
    reports = mechanism.randomize_histogram(true_counts, rng)
    theta = true_counts / users[:, None]
    errors = np.array([squared_error(make(reports, mechanism), theta) for make in (inv_n, inv_p, mle_star)])
    return errors, collinearity(reports, mechanism), inv(reports, mechanism).min(axis=-1) < 0


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5])
def test_mle_star_is_never_the_worst_on_equal_supports_nor_with_three_categories(epsilon):
    for k in (3, 5, 8):
        errors, geometry, negative = errors_and_supports(k, epsilon, 8000, k)
        worst = negative & (errors[2] > np.maximum(errors[0], errors[1]) * (1 + 1e-9))
        assert not (worst & geometry.same_support).any()
        assert not worst.any() or k > 3


def test_what_the_other_checks_show(found):
    """Each as it is printed on the page; the statements themselves are held in tests/core/test_misprints.py."""
    g = found.drop.g
    assert g[0] == pytest.approx(g[1])
    assert g[1] < 0 < g[2]
    assert found.drop.zeros == 2
    np.testing.assert_allclose(found.one_zero.right_sides, found.one_zero.corrected, atol=1e-15)
    assert (found.one_zero.printed == 0).all()


def test_the_posters_formula_is_inv_not_the_mle(found):
    assert found.poster.printed.sum() == pytest.approx(5 / 4)
    np.testing.assert_allclose(found.poster.corrected, found.threshold.mle_star)


def test_ibu_stopped_early_misses_the_truth_without_any_noise(found):
    assert [s.iterations for s in found.stopped] == [10, 100, 1000]
    distances = [s.distance for s in found.stopped]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.2
    assert distances[1] > 0.02
    assert 0 < distances[2] < 1e-3


def test_the_blogs_example(found):
    b = found.blog
    assert (b.redraw, b.truth, b.low, b.high) == pytest.approx((10 / 12, 0.25, -0.5, 5.5))


def test_largest_shares(found):
    assert found.shares[2.5] == pytest.approx(0.7454, abs=1e-4)
    assert found.shares[5.0] == pytest.approx(0.9644, abs=1e-4)
    assert found.shares[np.inf] == 1
