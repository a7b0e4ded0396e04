"""compare() works on the profile of one draw; here it is held against the public functions on all k entries, and the
numbers of one scenario in a line against plain sums and the exact chance of a negative. Distances and likelihood against
plain sums; the variance of Inv against simulation."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given

from rr_core import (
    Population,
    RandomizedResponse,
    Scenario,
    inv,
    inv_variance,
    max_error,
    negative_log_likelihood,
    optimality_gap,
    squared_error,
    total_variation,
)
from rr_core.comparison import (
    METRICS,
    RANKED,
    EmptyShare,
    compare,
    empty_negative_share,
    expected_negatives,
    noise_summary,
    ranks,
)
from rr_core.law import negative_chance, report_band
from rr_core.registry import ESTIMATORS, RULES, VALID
from rr_core.scenario import Draw
from tests.core import exact
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds

SCENARIOS = {
    "k = 2": Scenario("zipf", 2, 1.0, 0.5, 40, 3),
    "few users": Scenario("zipf", 12, 1.0, 1.0, 5, 1),
    "first look": Scenario(),
    "no negatives": Scenario("uniform", 5, 0.0, 6.0, 100_000, 1),
    "a billion users": Scenario("zipf", 300, 1.3, 1.0, 10**9, 5),
    "looked up": Scenario("zipf", 20_000, 1.3, 3.0, 60_000, 6),
    "long, large counts": Scenario("zipf", 5000, 1.0, 0.5, 10**8, 7),
    "smallest epsilon": Scenario("humps", 50, 1.0, 0.01, 1000, 8),
    "largest epsilon": Scenario("zipf", 3000, 2.0, 20.0, 10**5, 9),
}


@pytest.fixture(scope="module", params=SCENARIOS.values(), ids=SCENARIOS)
def draw(request):
    return request.param.draw()


@pytest.mark.parametrize("target", ["users", "population"])
def test_a_comparison_equals_the_public_functions(draw, target):
    result, mechanism, n = compare(draw, target), draw.mechanism, draw.scenario.n
    truth = draw.true_counts / n if target == "users" else draw.population.probabilities
    assert result.target == target
    np.testing.assert_array_equal(result.truth, truth)
    assert list(result.errors) == [*METRICS, "above"]
    assert list(result.estimates) == list(ESTIMATORS) == list(RULES) == list(result.zeros)
    for name, estimator in ESTIMATORS.items():
        alone = estimator(draw.counts, mechanism)
        np.testing.assert_allclose(result.estimates[name], alone, rtol=1e-13, atol=1e-300)
        errors = {metric: result.errors[metric][name] for metric in METRICS}
        expected = {
            "mse": squared_error(alone, truth),
            "tv": total_variation(alone, truth),
            "max": max_error(alone, truth),
            "nll": negative_log_likelihood(draw.counts, alone, mechanism) / n,
        }
        above = errors["nll"] - result.errors["nll"]["mle_star"]
        assert result.errors["above"][name] == pytest.approx(above, rel=1e-6, abs=1e-12)
        assert errors == pytest.approx(expected, rel=1e-10, abs=1e-14)
        assert all(type(error) is float for error in errors.values())
        assert result.zeros[name] == (alone == 0).sum()
    best = ESTIMATORS["mle_star"](draw.counts, mechanism)
    assert result.certificate == pytest.approx(optimality_gap(draw.counts, best, mechanism), abs=1e-12)
    assert abs(result.certificate) < 1e-12


@pytest.mark.parametrize(
    ("errors", "best", "worst"),
    [
        ((3, 1, 2), ("inv_p",), ("inv_n",)),
        ((1, 1, 2), ("inv_n", "inv_p"), ("mle_star",)),
        ((2, 1, 2), ("inv_p",), ("inv_n", "mle_star")),
        ((0, 0, 0), VALID, ()),
        ((1, 1 + 1e-12, 1 - 1e-12), VALID, ()),
        ((1, 1 + 1e-12, 1 + 1e-6), ("inv_n", "inv_p"), ("mle_star",)),
        ((0, 1e-12, 1), ("inv_n", "inv_p"), ("mle_star",)),
        ((2, 2 - 1e-12, 1), ("mle_star",), ("inv_n", "inv_p")),
        ((-3, -2, -1), ("inv_n",), ("mle_star",)),
    ],
)
def test_ranks_and_ties(errors, best, worst):
    placed = ranks(np.array(errors, dtype=float), 1e-11)
    for flags, names in ((placed.best, best), (placed.worst, worst)):
        assert tuple(name for name, flag in zip(VALID, flags, strict=True) if flag) == names


def exact_errors(draw):
    """Every metric of RANKED and valid estimator, in 60 digits."""
    channel = exact.channel_from_epsilon(draw.scenario.k, draw.scenario.epsilon)
    counts, users, n = draw.counts.tolist(), draw.true_counts.tolist(), draw.scenario.n

    def digits(fraction):
        return Decimal(fraction.numerator) / Decimal(fraction.denominator)

    with localcontext() as context:
        context.prec = 60
        q, keep = digits(channel.q), digits(channel.keep)
        found = {metric: {} for metric in RANKED}
        for name in VALID:
            shares = [digits(share) for share in exact.ESTIMATORS[name](counts, channel)]
            off = [abs(share - Decimal(t) / n) for share, t in zip(shares, users, strict=True)]
            found["mse"][name] = sum(one * one for one in off)
            found["tv"][name], found["max"][name] = sum(off) / 2, max(off)
            logs = (c * (q + keep * share).ln() for c, share in zip(counts, shares, strict=True) if c)
            found["above"][name] = -sum(logs) / n
        least = found["above"]["mle_star"]
        found["above"] = {name: loss - least for name, loss in found["above"].items()}
    return found


@pytest.mark.parametrize("k", [2, 3, 12])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0, 20.0])
def test_an_order_is_told_where_there_is_one_and_nowhere_else(k, epsilon):
    """Against exact arithmetic. Where the computed errors share a mark they do differ by rounding alone: by less than
    what 1e-14 of a share can do."""
    for n in (1, 10, 2000, 10**6, 10**9):
        for dist, s in (("zipf", 5.0), ("zipf", 1.5), ("dominant", 0.0), ("uniform", 0.0)):
            draw = Scenario(dist, k, s, epsilon, n, 1).draw()
            result, true = compare(draw), exact_errors(draw)
            for metric in RANKED:
                best, worst, errors = result.best(metric), result.worst(metric), true[metric]
                smallest, largest = min(errors.values()), max(errors.values())
                reach = {"mse": {name: 2 * float(off) for name, off in true["max"].items()}}
                reach["above"] = {name: float(2 * loss) ** 0.5 for name, loss in true["above"].items()}
                reached = reach.get(metric, dict.fromkeys(VALID, 1.0))
                slack = {name: Decimal(2e-14 * reached[name]) + Decimal("4e-28") for name in VALID}
                case = (draw.scenario, metric)
                most = max(VALID, key=errors.__getitem__)
                assert all(errors[name] <= smallest + slack[name] for name in best), case
                assert all(errors[name] >= largest - slack[most] for name in worst), case
                equal = {name for name in VALID if errors[name] - smallest < Decimal("1e-50")}
                assert equal <= set(best), case
                assert worst or largest - smallest <= slack[most], case
                for name, error in errors.items():
                    assert name in best or error > smallest, case
                    off = abs(Decimal(result.errors[metric][name]) - error)
                    assert off <= slack[name] + error * Decimal("1e-9"), case


def test_zeroed_names_the_categories_set_to_zero():
    draw = Scenario("zipf", 12, 1.5, 1.0, 2000, 5).draw()
    result = compare(draw)
    for name in VALID:
        every = [i for i, share in enumerate(result.estimates[name]) if share == 0]
        assert result.zeroed(name, 12).tolist() == every
        assert result.zeroed(name, 2).tolist() == every[:2]
        assert len(every) == result.zeros[name] > 2


def draw_of(true_counts, counts, epsilon=1.0, seed=1):
    """A draw with these very users and reports."""
    true_counts, counts = np.array(true_counts), np.array(counts)
    scenario = Scenario("upload", true_counts.size, epsilon=epsilon, n=int(true_counts.sum()), seed=seed)
    return Draw(scenario, Population.from_weights(true_counts), true_counts, counts)


def test_noise_by_hand():
    found = noise_summary(draw_of([60, 30, 10, 0], [45, 28, 12, 15], math.log(3)))
    assert found.truthful == pytest.approx(0.5)
    assert found.moved == pytest.approx((15 + 2 + 2 + 15) / 2 / 100)
    assert found.largest_change == -15
    assert noise_summary(draw_of([40, 60, 0], [35, 55, 10])).largest_change == 10


def test_the_band_counts_its_own_limits_as_inside():
    users = [70, 30]
    band = report_band(users, 100, RandomizedResponse(2, 1.0))
    for first, inside in ((band.low[0], 1), (band.high[0], 1), (band.low[0] - 1, 0), (band.high[0] + 1, 0)):
        found = noise_summary(draw_of(users, [int(first), 100 - int(first)]))
        assert found.inside_band == inside


def agrees(found, n, mechanism):
    """Within four standard errors of the exact chance: looks at one draw are nearly independent."""
    chance = float(negative_chance(n, mechanism))
    return abs(found.share - chance) < 4 * math.sqrt(chance * (1 - chance) / found.looks)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("zipf", 30, 3.0, 1.0, 60, 1),
        Scenario("dominant", 1000, 0.0, 3.0, 300, 3),
        Scenario("zipf", 100, 5.0, 0.1, 10**6, 4),
    ],
)
def test_empty_categories_go_negative_as_often_as_the_law_says(scenario):
    draw = scenario.draw()
    found, empty = empty_negative_share(draw), int((draw.true_counts == 0).sum())
    assert empty > 0
    assert not found.emptied
    assert found.looks == empty * min(1000, 300_000 // scenario.k)
    assert agrees(found, scenario.n, draw.mechanism)


@pytest.mark.parametrize("users", [[40, 25, 10, 5], [500, 500], [3, 9, 3], [1, 10**9 - 1]])
def test_where_all_are_in_use_the_rarest_is_taken_to_be_empty(users):
    draw = draw_of(users, users)
    found = empty_negative_share(draw)
    assert (found.emptied, found.looks) == (True, 1000)
    assert agrees(found, sum(users), draw.mechanism)
    np.testing.assert_array_equal(draw.true_counts, users)


def test_an_inv_of_zero_is_not_negative_in_the_observed_share_either():
    """k = 3, eps = log 6, N = 8: N q is one report. Inv is zero there, a rounding below it in doubles."""
    draw = draw_of([8, 0, 0], [8, 0, 0], math.log(6))
    assert abs(inv([1, 7, 0], draw.mechanism)[0]) < 1e-16
    assert agrees(empty_negative_share(draw), 8, draw.mechanism)


def test_the_observed_share_is_deterministic_and_depends_on_the_seed():
    first, again = (empty_negative_share(Scenario("zipf", 30, 3.0, 1.0, 60, 1).draw()) for _ in range(2))
    assert first == again
    same_users = [draw_of([50, 10, 0, 0], [30, 10, 10, 10], seed=seed) for seed in (1, 2)]
    assert empty_negative_share(same_users[0]) != empty_negative_share(same_users[1])


def test_the_standard_error_of_a_share():
    share = EmptyShare(30, 120, False)
    assert share.share == 0.25
    assert share.standard_error(0.3) == pytest.approx(math.sqrt(0.3 * 0.7 / 120))
    # One look shows all or nothing, which says nothing of how sure it is.
    assert EmptyShare(0, 1, True).standard_error(0.5) == EmptyShare(1, 1, True).standard_error(0.5) == 0.5


@pytest.mark.parametrize(
    "scenario", [Scenario(), Scenario("zipf", 40, 2.0, 1.0, 300, 2), Scenario(k=6, epsilon=6.0, n=50)]
)
@pytest.mark.parametrize("times", [1, 10])
def test_expected_negatives_are_the_average_over_collections(scenario, times):
    """Within four standard errors of what 4,000 collections of these users show, or of ten times as many."""
    draw, rng = scenario.draw(), np.random.default_rng(9)
    users = draw.true_counts * times
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(users, (4000, scenario.k)), rng)
    below = reports * (math.exp(scenario.epsilon) + scenario.k - 1) < scenario.n * times * (1 - 1e-12)
    found = expected_negatives(draw, times)
    assert found.n == scenario.n * times
    for of, expected, kind in (
        (found.of_held, found.held, users > 0),
        (found.of_empty, found.empty, users == 0),
    ):
        assert of == kind.sum()
        seen = below[:, kind].sum(axis=1)
        assert abs(seen.mean() - expected) <= 4 * seen.std() / math.sqrt(4000) + 1e-3


@holds(
    "**Try:** set **Zipf**, **Categories K** 1,000, **Zipf exponent s** 5, **Privacy ε** 5: nobody has most of the categories."  # noqa: E501
)
def test_in_the_setting_to_try_the_row_of_the_held_falls_and_the_dial_brings_more_of_them():
    """Zipf with s = 5, K = 1,000 and epsilon = 5: whatever N, nobody has most of the categories; with 100 times the users
    in the same shares fewer negatives of held categories are to expect. With N drawn anew more categories are held, and
    more of them negative, so that the dial does not show it."""
    found = [
        [expected_negatives(Scenario("zipf", 1000, 5.0, 5.0, n, 5).draw(), times) for times in (1, 10, 100)]
        for n in (2000, 10**5, 10**7, 10**9)
    ]
    assert all(row[0].of_empty > 900 for row in found)
    assert all(row[0].held > row[1].held > row[2].held for row in found)
    firsts = [row[0] for row in found]
    for fewer, more in itertools.pairwise(firsts):
        assert more.of_held > fewer.of_held
        assert more.held > fewer.held


@holds("± one standard error, at most: looks at several categories of one collection share its reports.")
@pytest.mark.parametrize(("k", "epsilon", "n"), [(3, 0.5, 10), (4, 0.1, 12), (3, 8.0, 20)])
def test_looks_at_one_collection_vary_less_than_independent_ones(k, epsilon, n):
    """All users in one category, every histogram of the others enumerated: the exact spread of the share below N q."""
    mechanism = RandomizedResponse(k, epsilon)
    law = exact.histogram_law((n, *[0] * (k - 1)), mechanism.matrix().tolist())
    chances = np.array([*law.values()], dtype=float)
    shares = (np.array([*law])[:, 1:] < n * mechanism.q).mean(axis=1)
    mean = chances @ shares
    spread = math.sqrt(chances @ (shares - mean) ** 2)
    assert spread < EmptyShare(0, k - 1, False).standard_error(mean)
    assert mean == pytest.approx(float(negative_chance(n, mechanism)))


@holds(
    "A category that **somebody has** expects more reports than that, and with more and more users its chance of getting fewer tends to zero, though it may rise on the way."  # noqa: E501
)
def test_more_users_may_at_first_make_more_negatives_of_held_categories():
    draw = Scenario("zipf", 1000, 0.0, 0.01, 900, 3).draw()
    held = [expected_negatives(draw, times).held for times in (1, 10, 100, 10**10, 10**11, 10**12)]
    assert held[0] < held[1] < held[2]
    assert held[2] > held[3] > held[4] > held[5]
    assert held[5] < 1e-6 * held[0]


RUNS = 40_000
# Six standard errors of a sample variance of normals, widened for the kurtosis of the small counts.
SLACK = 6 * 1.3 * math.sqrt(2 / RUNS)


def test_distances_are_their_sums():
    a, b = [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]
    assert squared_error(a, b) == pytest.approx(0.09 + 0.04 + 0.25)
    assert total_variation(a, b) == pytest.approx(0.5)
    assert max_error(a, b) == pytest.approx(0.5)
    assert total_variation([1, 0], [0, 1]) == 1
    assert squared_error([3, 0], np.array([1, 2], dtype=np.uint8)) == 8


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_the_likelihood_of_counts_is_summed_over_reports_and_of_frequencies_is_per_report(histogram, epsilon):
    k, n = len(histogram), sum(histogram)
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    theta = np.random.default_rng(0).dirichlet(np.ones(k))
    seen = [float(channel.q + channel.keep * exact.Fraction(share)) for share in theta]
    expected = -math.fsum(c * math.log(s) for c, s in zip(histogram, seen, strict=True))
    assert negative_log_likelihood(histogram, theta, mechanism) == pytest.approx(
        expected, rel=1e-12, abs=1e-13 * n
    )
    assert negative_log_likelihood(np.array(histogram) / n, theta, mechanism) == pytest.approx(
        expected / n, rel=1e-11, abs=1e-13
    )


def test_the_likelihood_where_q_is_smallest():
    """At eps = 700 a report of a category of probability zero costs log(1/q) = 700 nats."""
    assert negative_log_likelihood([2, 1, 0], [1, 0, 0], RandomizedResponse(3, 700)) == pytest.approx(700)


def test_an_impossible_report_is_infinitely_unlikely():
    """Inv can go below -q/(p - q) only where nothing was reported; another vector can go anywhere."""
    mechanism = RandomizedResponse(3, 1.0)
    assert negative_log_likelihood([5, 3, 1], [3, -1, -1], mechanism) == math.inf
    assert negative_log_likelihood([5, 3, 1], [3, -1, -1], RandomizedResponse(3, 700)) == math.inf
    histogram = [50, 3, 0]
    phi = np.array(histogram) / 53
    entropy = -53 * (phi[:2] @ np.log(phi[:2]))
    assert negative_log_likelihood(histogram, inv(histogram, mechanism), mechanism) == pytest.approx(entropy)


@holds(
    "It is right on average, but a category that received fewer reports than the noise alone would bring comes out **below zero**.",  # noqa: E501
    "when estimates will be added or averaged (over weeks, over groups) or need an interval: it is the only one that is right on average.",  # noqa: E501
    "Unbiased: $\\mathrm E[\\mathrm{Inv}_i]=θ_i$.",
    "Right on average, but shares may come out below zero.",
)
def test_inv_is_unbiased():
    """And has its variance, for fixed users and for users who are drawn anew each time."""
    mechanism, true_counts = RandomizedResponse(5, 1.0), np.array([120, 60, 20, 0, 0])
    theta, rng = true_counts / 200, np.random.default_rng(2)
    drawn_anew = rng.multinomial(200, theta, size=RUNS)
    for users, people in (("fixed", np.tile(true_counts, (RUNS, 1))), ("sampled", drawn_anew)):
        estimates = inv(mechanism.randomize_histogram(people, rng), mechanism)
        variance = inv_variance(theta, 200, mechanism, users=users)
        np.testing.assert_allclose(estimates.var(axis=0), variance, rtol=SLACK)
        assert (np.abs(estimates.mean(axis=0) - theta) < 6 * np.sqrt(variance / RUNS)).all()


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 40.0])
@pytest.mark.parametrize("k", [2, 1000])
def test_variance_of_inv_in_exact_arithmetic(k, epsilon, users):
    channel, n = exact.channel_from_epsilon(k, epsilon), 777
    shares = [exact.Fraction(1, 4), exact.Fraction(3, 4), *[exact.Fraction(0)] * (k - 2)]
    seen = [channel.q + channel.keep * share for share in shares]
    fixed = [x * channel.p * (1 - channel.p) + (1 - x) * channel.q * (1 - channel.q) for x in shares]
    report = fixed if users == "fixed" else [m * (1 - m) for m in seen]
    expected = [float(value / (n * channel.keep**2)) for value in report]
    got = inv_variance([float(x) for x in shares], n, RandomizedResponse(k, epsilon), users=users)
    np.testing.assert_allclose(got, expected, rtol=2e-12)
