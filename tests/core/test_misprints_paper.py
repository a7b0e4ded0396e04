"""Misprinted formulas of the paper, its listing, figures and poster, and of the blog: every number that the reference
page tells is computed anew; the corrected formula holds, the printed one fails.

The page cites these tests by name. Items without a number (captions, complexity claims, settings of published code) have
none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rr_core import (
    RandomizedResponse,
    Scenario,
    collinearity,
    inv,
    inv_n,
    inv_p,
    inv_variance,
    mle_star,
    optimality_gap,
    squared_error,
    zipf,
)
from rr_core.ibu import ibu
from rr_core.plan.bounds import protocol_error
from rr_core.protocols import SubsetSelection
from rr_core.registry import VALID
from tests.core import exact, listing
from tests.core.misprints import STORED, stored
from tests.sentences import holds

EXAMPLE_COUNTS = (6, 3, 2, 1)  # with exact reference values: p = 1/2, q = 1/6, e^eps = 3
EXAMPLE = exact.channel_from_p(4, Fraction(1, 2))


def variances(true_counts, channel):
    """Of Inv for fixed users, in fractions: a report count is a sum of two binomials."""
    n, p, q = sum(true_counts), channel.p, channel.q
    return [(t * p * (1 - p) + (n - t) * q * (1 - q)) / (n * channel.keep) ** 2 for t in true_counts]


def test_eq_8_and_theorem_9_divide_by_n_keep_squared():
    """Paper, eq. (8): Var(Inv_i) has N (p - q)^2 below, not N (p - q). Theorem 9 sums it over the categories."""
    true_counts, mechanism = [120, 60, 20, 0, 0], RandomizedResponse(5, 1.0)
    channel = exact.channel_from_epsilon(5, 1.0)
    corrected = variances(true_counts, channel)
    printed = [x * channel.keep for x in corrected]
    np.testing.assert_allclose(
        inv_variance(np.array(true_counts) / 200, 200, mechanism), np.array(corrected, float), rtol=1e-12
    )
    told = stored("variance_of_inv")
    assert told.corrected == pytest.approx(float(sum(corrected)), rel=STORED)
    assert told.printed == pytest.approx(float(sum(printed)), rel=STORED)
    reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (told.n_draws, 5)), 1)
    assert told.simulated == pytest.approx(inv(reports, mechanism).var(axis=0).sum(), rel=STORED)
    assert told.simulated == pytest.approx(told.corrected, rel=0.02)
    assert told.simulated > 3 * told.printed


def test_section_5_2_centre_of_phi_is_p_then_q():
    """Paper, section 5.2: for theta = (1, 0, ..., 0) the centre is (p, q, ..., q), not (p - q, q, ..., q)."""
    told, channel = stored("centre_of_reports"), exact.channel_from_epsilon(6, 1.0)
    p, q = float(channel.p), float(channel.q)
    assert (told.expected_own, told.expected_other) == pytest.approx((p, q), rel=STORED)
    assert (told.own, told.other) == pytest.approx((p, q), abs=6 / math.sqrt(told.n))
    phi = RandomizedResponse(6, 1.0).randomize_histogram([told.n, 0, 0, 0, 0, 0], 2) / told.n
    assert [told.own, told.other] == phi[:2].tolist()
    assert told.printed_own == pytest.approx(p - q)
    assert told.printed_own < told.own - 0.1
    assert told.printed_sum == pytest.approx(1 - q)


def thresholded(phi, tau, channel):
    """Inv(phi^tau), eq. (6), in the arithmetic of its arguments."""
    kept = [x >= tau for x in phi]
    scale = (1 - channel.q * kept.count(False)) / sum(x for x, keep in zip(phi, kept, strict=True) if keep)
    return [
        (scale * x - channel.q) / (channel.p - channel.q) if keep else 0
        for x, keep in zip(phi, kept, strict=True)
    ]


def test_tau_star_is_the_smallest_entry_that_is_kept():
    """Paper, after Algorithm 1: tau* is phi_sigma(i+1), with i the number of zeros, not phi_sigma(i)."""
    told, phi = stored("mle_threshold"), exact.frequencies(EXAMPLE_COUNTS)
    best = exact.mle(EXAMPLE_COUNTS, EXAMPLE)
    assert told.n_zeros == best.count(0) == 2
    np.testing.assert_allclose(told.phi, np.array(phi, float), rtol=STORED)
    np.testing.assert_allclose(told.mle_star, np.array(best, float), rtol=STORED)
    for at, tau in ((told.at_dropped, phi[2]), (told.at_kept, phi[1])):
        np.testing.assert_allclose(at, np.array(thresholded(phi, tau, EXAMPLE), float), rtol=STORED)
    assert thresholded(phi, phi[1], EXAMPLE) == best
    assert min(told.at_dropped) < 0
    # The example also refutes "if and only if": unequal frequencies, equal estimates.
    assert phi[2] > phi[3]
    assert best[2] == best[3]


def test_the_listing_divides_by_zero_where_its_assertion_passes():
    """Paper, section A: the listing asserts p >= q and divides by p - q."""
    assert (1 - 0.25) / 3 == 0.25  # p = 1/4 with four categories: p = q, so the assertion p >= q passes
    with np.errstate(all="ignore"), pytest.raises(ZeroDivisionError):
        listing.mle([0.25] * 4, 0.25)
    with pytest.raises(ValueError, match=r"1/k = 0\.25 < p < 1"):
        RandomizedResponse.from_p(4, 0.25)


@pytest.mark.slow
def test_the_listing_drifts_at_the_industrial_size():
    """Subtracting 1.4 million frequencies one by one leaves the sum of the estimate off by more than 1e-11;
    on the profile of integer counts it is one to the last digit."""
    draw = Scenario("zipf", 1_423_000, 1.3, 8.0, 1_664_500, 1).draw()
    drifted = listing.mle(draw.counts / draw.counts.sum(), draw.mechanism.p)
    ours = mle_star(draw.counts, draw.mechanism)
    assert abs(math.fsum(drifted) - 1) > 1e-11
    assert abs(math.fsum(ours) - 1) < 1e-14
    assert abs(optimality_gap(draw.counts, ours, draw.mechanism)) < 1e-12
    np.testing.assert_allclose(drifted, ours, atol=1e-8)


def test_the_drift_on_the_page_is_that_of_the_listing():
    """At a tenth of that size."""
    draw, told = Scenario("zipf", 142_300, 1.3, 8.0, 166_450, 1).draw(), stored("listing_drift")
    looped = listing.mle(draw.counts / draw.scenario.n, draw.mechanism.p)
    ours = mle_star(draw.counts, draw.mechanism)
    assert told.k == draw.scenario.k
    # Rounding errors, which another processor may sum up otherwise in the last of the two digits told.
    assert told.listing_sum_error == pytest.approx(math.fsum(looped) - 1, rel=0.05)
    assert told.largest_difference == pytest.approx(np.abs(looped - ours).max(), rel=0.05)
    assert told.our_sum_error == pytest.approx(math.fsum(ours) - 1, abs=1e-14)
    assert abs(told.listing_sum_error) > 1e-11
    assert 1e-14 < told.largest_difference < 1e-11


@holds(
    "For fixed users, whatever their shares.",
    "Inv's is exactly a constant divided by N, and InvP is never farther from the truth than Inv: for these two it is a theorem.",  # noqa: E501
    "For Inv it is $\\frac{K^2+(2e^ε-3)K-2(e^ε-1)}{N(e^ε-1)^2}$, whatever the shares: at fixed $ε$ it grows like $K^2$ once $K$ is well above $e^ε$.",  # noqa: E501
)
def test_the_error_of_inv_grows_like_k_squared():
    """Theorem 9 with its denominator mended: the closed form on the page is the sum of the variances, for any shares,
    and far above e^eps its slope along K is 2; with the printed denominator it would be 1."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        k, epsilon, n = int(rng.integers(2, 3000)), 10 ** rng.uniform(-2, 1.3), int(10 ** rng.uniform(0, 9))
        theta, mechanism = rng.dirichlet(np.full(k, 0.3)), RandomizedResponse(k, epsilon)
        odds = math.expm1(epsilon)
        closed = (k**2 + (2 * math.exp(epsilon) - 3) * k - 2 * odds) / (n * odds**2)
        assert protocol_error("rr", k, epsilon, n) == pytest.approx(closed, rel=1e-9)
        assert inv_variance(theta, n, mechanism).sum() == pytest.approx(closed, rel=1e-9)

    def slope(low, high, epsilon, power=0):
        errors = [
            float(protocol_error("rr", k, epsilon, 1)) * RandomizedResponse(k, epsilon).keep ** power
            for k in (low, high)
        ]
        return math.log(errors[1] / errors[0]) / math.log(high / low)

    assert slope(1000, 5000, 1.0) == pytest.approx(2, abs=0.01)
    assert slope(1000, 5000, 1.0, power=1) == pytest.approx(1, abs=0.01)  # as printed
    assert slope(100, 200, 20.0) == pytest.approx(1, abs=0.01)  # K far below e^eps
    # The table on the page: what it calls right is the exact variance.
    told = stored("error_growth")
    assert [row.k for row in told.at] == [10, 100, 1000]
    for row in told.at:
        channel, mechanism = exact.channel_from_epsilon(row.k, 1.0), RandomizedResponse(row.k, 1.0)
        per_user = 100 * row.k * variances([100] * row.k, channel)[0]
        assert row.corrected == pytest.approx(float(per_user), rel=STORED)
        assert row.printed == pytest.approx(float(per_user * channel.keep), rel=STORED)
        reports = mechanism.randomize_histogram(np.full((100_000 // row.k, row.k), 100), row.k)
        simulated = squared_error(inv(reports, mechanism), np.full(row.k, 1 / row.k)).mean() * 100
        assert row.simulated == pytest.approx(simulated, rel=STORED)
        assert row.simulated == pytest.approx(row.corrected, rel=0.03)
    assert told.at[2].corrected / told.at[0].corrected == pytest.approx(100, rel=0.2)
    assert told.at[2].printed / told.at[0].printed == pytest.approx(1, rel=0.05)
    assert told.slope == pytest.approx(slope(told.slope_from, told.slope_to, 1.0), rel=STORED)


@holds(
    "Inv's is exactly a constant divided by N, and InvP is never farther from the truth than Inv: for these two it is a theorem."  # noqa: E501
)
def test_inv_p_is_never_farther_than_inv():
    """The projection on a convex set that holds the truth: no collection in which InvP's distance is the larger."""
    rng = np.random.default_rng(12)
    for _ in range(200):
        k, mechanism = (
            (size := int(rng.integers(2, 40))),
            RandomizedResponse(size, 10 ** rng.uniform(-2, 1.3)),
        )
        truth = rng.multinomial(int(10 ** rng.uniform(0, 5)), rng.dirichlet(np.full(k, 0.3)))
        theta = truth / truth.sum()
        reports = mechanism.randomize_histogram(np.broadcast_to(truth, (20, k)), rng)
        far, near = (squared_error(make(reports, mechanism), theta) for make in (inv, inv_p))
        assert (near <= far * (1 + 1e-9)).all()


def g(n, counts, q):
    """Of Lemma 3, for counts that ascend."""
    phi = [Fraction(count, sum(counts)) for count in counts]
    return (1 - n * q) * phi[n] - q * sum(phi[n:])


def test_lemma_3_d_is_about_the_next_entry():
    """phi_(n-1) = phi_n does not make g(n) = g(n - 1); phi_n = phi_(n+1) does. The paper counts entries from 1."""
    told, q = stored("drop_condition"), EXAMPLE.q
    counts = told.counts
    assert counts == [1, 1, 4, 6]  # phi_1 = phi_2
    assert told.g == pytest.approx([float(g(n, counts, q)) for n in range(4)], rel=STORED)
    assert g(2, counts, q) > 0 > g(1, counts, q)  # n = 2
    assert g(1, counts, q) == g(0, counts, q)  # n = 1
    # So the best n has phi_(n-1) = phi_n, which Theorem 7's proof excludes.
    assert told.n_zeros == exact.mle(counts, EXAMPLE).count(0) == 2


def test_theorem_8_means_the_entries_that_are_kept():
    counts, p, q = (5, 3, 3, 1), EXAMPLE.p, EXAMPLE.q
    phi = [Fraction(count, 12) for count in counts]
    v = phi[-1]
    assert v < q
    assert phi[-2] >= (4 * q - v) / 3  # the theorem's condition
    made = {exact.inv_n: [(x - q) / (p - v) for x in phi[:3]]}
    made[exact.mle] = [x * (1 - q) / ((p - q) * (1 - v)) - q / (p - q) for x in phi[:3]]
    for estimate, right in made.items():
        assert estimate(counts, EXAMPLE) == [*right, 0]
        assert 0 not in right
    np.testing.assert_allclose(
        stored("theorem_8").right_sides, np.array([*made.values()], float), rtol=STORED
    )


@holds("Nothing wrong: $p=K/(K-1+e^ε)$ is the chance of a *uniform redraw*.")
def test_the_blogs_p_is_the_chance_of_a_uniform_redraw():
    """p = k/(k - 1 + e^eps) is k q = 1 - (p - q) here; read as the chance of the truth it is another law."""
    k, epsilon = 10, math.log(3)
    mechanism, blog = RandomizedResponse(k, epsilon), k / (k - 1 + math.exp(epsilon))
    assert blog == pytest.approx(k * mechanism.q)
    assert blog == pytest.approx(1 - mechanism.keep)
    np.testing.assert_allclose((np.eye(k) - blog / k) / (1 - blog), inv(np.eye(k), mechanism), rtol=1e-12)
    assert mechanism.p == pytest.approx((1 - blog) + blog / k)
    assert abs(blog - mechanism.p) > 0.5
    told = stored("blog_example")
    assert (told.redraw_chance, told.truth_chance) == pytest.approx((blog, mechanism.p), rel=STORED)
    debiased = inv(np.eye(k)[1], mechanism)
    assert (told.debiased_other, told.debiased_reported) == pytest.approx(debiased[:2], rel=STORED)


def test_zipf_at_s_5_is_not_the_point_mass_of_the_published_code():
    """The published figures' "s = 5" puts every user in one category; Zipf(5) leaves one in 28 elsewhere."""
    told = stored("largest_shares")
    for share, s in ((told.zipf_2_5, 2.5), (told.zipf_5, 5.0)):
        assert share == pytest.approx(1 / math.fsum(r**-s for r in range(1, 10_001)), rel=STORED)
        assert share == pytest.approx(zipf(10_000, s)[0], rel=STORED)
    assert told.published_code == 1


def test_the_posters_formula_is_inv_not_the_mle():
    told = stored("poster_formula")
    best, raw = exact.mle(EXAMPLE_COUNTS, EXAMPLE), exact.inv(EXAMPLE_COUNTS, EXAMPLE)
    printed = [x if y else 0 for x, y in zip(raw, best, strict=True)]
    assert sum(printed) == Fraction(5, 4)
    np.testing.assert_allclose(told.printed, np.array(printed, float), rtol=STORED)
    np.testing.assert_allclose(told.corrected, np.array(best, float), rtol=STORED)


# Statements of the paper and its poster that are false: each counterexample is counted out exactly, or simulated apart.


def test_rr_is_not_optimal_among_all_mechanisms():
    """The law of subset selection is held by tests/core/test_protocols_subset.py."""
    told = stored("subset_selection")
    k, n = told.k, 200
    assert k < told.border == pytest.approx(3 * math.e + 2, rel=STORED)
    assert told.ratio == pytest.approx(told.rr / told.subset_selection, rel=STORED)
    assert told.rr == pytest.approx(
        n * inv_variance(np.full(k, 1 / k), n, RandomizedResponse(k, told.epsilon)).sum(), rel=STORED
    )
    subsets = SubsetSelection(k, told.epsilon)
    assert told.subset_size == subsets.size
    assert told.subset_selection == pytest.approx(k * float(subsets.variance(1 / k, 1)), rel=STORED)


@holds(
    "False of single collections too: where the three keep the same categories MLE\\* cannot be the worst, otherwise it now and then is."  # noqa: E501
)
def test_mle_star_is_sometimes_the_worst_in_one_draw():
    """In about one of eighty at epsilon 1, and ever fewer at a larger one.

    K = 5; 12,000 draws with a true distribution uniform on the simplex and N log-uniform from 10 to 100,000."""
    told = stored("worst_in_single_draws")
    assert [at.epsilon for at in told] == [0.1, 1, 2, 4]
    for seed, at in enumerate(told):
        _, negative, worst = single_draws(5, at.epsilon, 12_000, 5, np.random.default_rng((seed, 9)))
        assert (at.n_with_negatives, at.n_worst) == (negative.sum(), worst.sum())
    shares = [at.n_worst / at.n_with_negatives for at in told]
    assert shares == sorted(shares, reverse=True)
    assert 1 / 130 < shares[1] < 1 / 50
    assert shares[3] < 1 / 500


def single_draws(k, epsilon, draws, most, rng):
    """Reports of random users, and in which of them MLE* has the largest squared error of the three."""
    mechanism = RandomizedResponse(k, epsilon)
    users = (10 ** rng.uniform(1, most, draws)).astype(np.int64)
    true_counts = rng.multinomial(users, rng.dirichlet(np.ones(k), draws))
    reports, theta = mechanism.randomize_histogram(true_counts, rng), true_counts / users[:, None]
    errors = [squared_error(make(reports, mechanism), theta) for make in (inv_n, inv_p, mle_star)]
    negative = inv(reports, mechanism).min(axis=-1) < 0
    return reports, negative, negative & (errors[2] > np.maximum(errors[0], errors[1]) * (1 + 1e-9))


@holds(
    "False of single collections too: where the three keep the same categories MLE\\* cannot be the worst, otherwise it now and then is."  # noqa: E501
)
@pytest.mark.parametrize("k", [3, 5, 8])
def test_mle_star_is_never_the_worst_on_equal_supports_nor_with_three_categories(k):
    reports, _, worst = single_draws(k, 0.5, 8000, 4, np.random.default_rng(k))
    same_support = collinearity(reports, RandomizedResponse(k, 0.5)).same_support
    assert not (worst & same_support).any()
    assert worst.any() == (k > 3)


def exact_errors(true_counts, channel):
    """Mean squared errors of InvN, InvP and MLE* by rules other than the library's, over all histograms."""
    n, means = sum(true_counts), [Fraction(0)] * 3
    for counts, chance in exact.histogram_law(true_counts, channel.rows).items():
        for place, estimate in enumerate((exact.inv_n, exact.inv_p, exact.mle)):
            error = sum(
                (a - Fraction(b, n)) ** 2 for a, b in zip(estimate(counts, channel), true_counts, strict=True)
            )
            means[place] += chance * error
    return means


@holds(
    "**“Never the worst” is false, though no cell of the paper's grid contradicts it.",
    "All {} possible noisy histograms, each weighed by its exact chance, give mean squared errors **InvN {}, InvP {}, MLE\\* {}**: MLE\\* is the worst.",  # noqa: E501
    "Not always: it can be the smallest of the three, or the largest (the entry above).",
    "Ten users: MLE* is worst",
    "the paper calls MLE* never the worst of the three; here its mean squared error is the largest, by about 1%",
)
def test_mle_star_is_the_worst_on_average_for_ten_users():
    """All 286 histograms of (8, 1, 1, 0) at eps = 2.13, with e^eps to twelve digits as a fraction."""
    power = Fraction(exact.channel_from_epsilon(4, 2.13).odds + 1).limit_denominator(10**12)
    channel = exact.Channel(4, power / (power + 3), 1 / (power + 3))
    reports = exact.histogram_law((8, 1, 1, 0), channel.rows)
    assert len(reports) == 286
    assert sum(reports.values()) == 1
    n, p, best = exact_errors((8, 1, 1, 0), channel)
    assert best > n > p
    assert [float(x) for x in (n, p, best)] == pytest.approx([0.069467, 0.069440, 0.070247], abs=5e-7)
    told = stored("worst_average")
    assert (told.true_counts, told.epsilon, told.n, told.histograms) == ([8, 1, 1, 0], 2.13, 10, 286)
    assert list(vars(told.errors)) == list(VALID)
    assert [*vars(told.errors).values()] == pytest.approx([float(x) for x in (n, p, best)], rel=STORED)


@holds("Not always: it can be the smallest of the three, or the largest (the entry above).")
def test_mle_star_is_the_best_on_average_in_the_scenario_the_app_opens_with():
    """K = 12, s = 1.5, eps = 1, N = 2,000: below both others by more than five standard errors, with other noise too."""
    told, draw = stored("mle_star_not_between"), Scenario().draw()
    assert vars(told.scenario) == {name: getattr(draw.scenario, name) for name in ("k", "s", "epsilon", "n")}
    shape = (told.n_draws, draw.scenario.k)
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(draw.true_counts, shape), 62)
    errors = [squared_error(make(reports, draw.mechanism), draw.theta) for make in (inv_n, inv_p, mle_star)]
    assert list(vars(told.errors)) == list(VALID)
    assert [*vars(told.errors).values()] == pytest.approx([x.mean() for x in errors], rel=STORED)
    below = [error - errors[2] for error in errors[:2]]
    far = [x.mean() / x.std(ddof=1) * math.sqrt(told.n_draws) for x in below]
    assert [*vars(told.standard_errors_below).values()] == pytest.approx(far, rel=STORED)
    assert min(far) > 5


@holds("Reports exactly at their expectation, Zipf 1, $K=12$, $ε=1$.", "True of the limit it tends to.")
def test_ibu_stopped_early_misses_the_truth_without_any_noise():
    """Against the supplement's listing, from the expected histogram."""
    told, theta, mechanism = stored("stopped_ibu"), zipf(12, 1.0), RandomizedResponse(12, 1.0)
    assert [at.n_iterations for at in told] == [10, 100, 1000]
    distances = [at.total_variation for at in told]
    for at in told:
        expected = mechanism.q + mechanism.keep * theta
        for stopped in (
            listing.ibu(expected, mechanism.p, at.n_iterations),
            ibu(expected, mechanism, at.n_iterations),
        ):
            assert at.total_variation == pytest.approx(np.abs(stopped - theta).sum() / 2, rel=STORED)
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.2
    assert distances[1] > 0.02
    assert 0 < distances[2] < 1e-3
