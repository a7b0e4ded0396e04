"""Coupled collections: the exact law at every setting, and as few changes between settings as there can be.

Seeds are fixed; thresholds come from the law itself: |z| < 6 for moments, p > 1e-6 for chi-square. With about 120 of
either, a right sampler fails these tests for about one set of seeds in 8,000.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from rr_core import RandomizedResponse, coupling, streams, zipf
from rr_core.populations import Population
from rr_core.scenario import Scenario
from rr_core.streams import Stream
from tests.core import exact
from tests.core.laws import chi_square_p, law_of_one_count

RESOLUTION = 2.0**-53  # of the uniform numbers that NumPy draws


def histograms(n, k):
    """Every histogram of ``n`` users over ``k`` categories."""
    for bars in itertools.combinations(range(n + k - 1), k - 1):
        edges = (-1, *bars, n + k - 1)
        yield tuple(right - left - 1 for left, right in itertools.pairwise(edges))


def multinomial_law(n, shares):
    return {cell: stats.multinomial.pmf(cell, n, shares) for cell in histograms(n, len(shares))}


def check_law(samples, law):
    """Chi-square of (runs, k) histograms against a law over all of them."""
    number = {cell: i for i, cell in enumerate(law)}
    assert chi_square_p([number[tuple(row)] for row in np.asarray(samples).tolist()],
                        np.array(list(law.values()))) > 1e-6  # fmt: skip


def uniforms_of(seed, k):
    return streams.generator(seed, Stream.USERS).random(k)


def noise_of(seed, k):
    return streams.generator(seed, Stream.NOISE).random((2, k))


# --- the law at one setting -----------------------------------------------------------------------------

SEEDS = range(1200)
SMALL = [
    # weights, epsilon, n
    ((9, 1), 0.01, 8),
    ((5, 3, 2), 1.0, 1),
    ((5, 3, 2), 1.0, 5),
    ((1, 0, 5e-3), 6.0, 4),
    ((8, 4, 2, 1), 4.0, 5),
    ((1, 1, 1, 1, 1), 1.5, 3),
]


@pytest.mark.parametrize(("weights", "epsilon", "n"), SMALL)
@pytest.mark.slow
def test_users_and_reports_have_their_exact_laws(weights, epsilon, n):
    """Every histogram of few users in a few categories; the reports of sampled users are multinomial, too."""
    shares = np.array(weights) / sum(weights)
    population = Population.from_weights(shares)
    scenario = Scenario("upload", k=len(weights), epsilon=epsilon, n=n)
    draws = [replace(scenario, seed=seed).draw(population) for seed in SEEDS]
    check_law([draw.true_counts for draw in draws], multinomial_law(n, shares))
    check_law([draw.counts for draw in draws], multinomial_law(n, scenario.mechanism.expected(shares)))


@pytest.mark.parametrize(
    ("truth", "epsilon"), [((1, 0, 0, 0, 2), 0.1), ((12, 3), 2.5), ((30, 0, 6), 1.0), ((40, 25), 4.0)]
)
def test_the_reports_of_fixed_users_have_their_exact_law(truth, epsilon):
    people = Population.from_weights(list(truth))
    scenario = Scenario("upload", k=len(truth), epsilon=epsilon, n=sum(truth))
    draws = [replace(scenario, seed=seed).draw(people) for seed in SEEDS]
    assert all(draw.true_counts.tolist() == list(truth) for draw in draws)
    reports = np.stack([draw.counts for draw in draws])
    for category, own in enumerate(truth):
        law = law_of_one_count(own, sum(truth) - own, scenario.mechanism)
        assert chi_square_p(reports[:, category], law) > 1e-6


@pytest.mark.slow
def test_the_noise_is_independent_of_who_the_users_are():
    """The joint law of true counts and reports of four users in two categories, at the second of two epsilons."""
    n, share = 4, 0.6
    population = Population.from_weights([share, 1 - share])
    draws = []
    for seed in SEEDS:
        users = Scenario("upload", k=2, epsilon=0.7, n=n, seed=seed).users(population)
        draw = Scenario("upload", k=2, epsilon=1.2, n=n, seed=seed).collect(users)
        draws.append((int(draw.true_counts[0]), int(draw.counts[0])))
    mechanism = RandomizedResponse(2, 1.2)
    joint = {
        (truth, reports): stats.binom.pmf(truth, n, share) * chance
        for truth in range(n + 1)
        for reports, chance in enumerate(law_of_one_count(truth, n - truth, mechanism))
    }
    check_law(draws, joint)


@pytest.mark.parametrize(
    ("k", "s", "epsilon", "n"), [(60_000, 1.3, 3.0, 70_000), (60_000, 0.01, 6.0, 10**7), (40_000, 0.5, 9.0, 10**9)]
)  # fmt: skip
def test_many_categories_get_their_shares_and_their_spread(k, s, epsilon, n):
    """Bins of ranks, and the sum of squares over all categories, of users and of reports. Boxes of means 1.2, 166 and
    21,000: by a table of Poisson probabilities, and by the expansion of quantiles."""
    draw = Scenario("zipf", k, s, epsilon, n, 3).draw()
    shares = zipf(k, s)
    for counts, law in ((draw.true_counts, shares), (draw.counts, draw.mechanism.expected(shares))):
        assert counts.sum() == n
        for low, high in itertools.pairwise([0, 1, 10, 100, 1000, 10_000, 30_000, k]):
            share = math.fsum(law[low:high])
            assert abs(counts[low:high].sum() - n * share) < 6 * math.sqrt(n * share * (1 - share))
        # Pearson's sum: mean k - 1, variance 2 (k - 1) + (sum of 1/expectation - k^2 - 2 k + 2)/n.
        expected = n * law
        pearson = ((counts - expected) ** 2 / expected).sum()
        variance = 2 * (k - 1) + (1 / expected).sum() - (k * k + 2 * k - 2) / n
        assert abs(pearson - (k - 1)) < 6 * math.sqrt(variance)


# --- more users -----------------------------------------------------------------------------------------

PROBLEMS = st.tuples(
    st.integers(2, 40),  # k
    st.floats(0, 5),  # s
    st.floats(0.01, 20),  # epsilon
    st.one_of(st.integers(1, 60), st.integers(1, 10**9 - 1)),  # n
    st.integers(0, 2**32 - 1),  # seed
)


@given(PROBLEMS)
def test_one_more_person_is_one_more_user_and_one_more_report(problem):
    k, s, epsilon, n, seed = problem
    draw = Scenario("zipf", k, s, epsilon, n, seed).draw()
    more = Scenario("zipf", k, s, epsilon, n + 1, seed).draw()
    for before, after in ((draw.true_counts, more.true_counts), (draw.counts, more.counts)):
        assert before.sum() == n
        assert before.min() >= 0
        assert sorted((after - before).tolist()) == [0] * (k - 1) + [1]


def test_thousands_of_categories_are_nested_too():
    sizes = [1, 2, 30_000, 30_001, 50_000, 10**6, 10**6 + 1, 10**9 - 1, 10**9]
    draws = [Scenario("zipf", 30_000, 1.1, 4.0, n, 9).draw() for n in sizes]
    for less, more in itertools.pairwise(draws):
        assert (less.true_counts <= more.true_counts).all()
        assert (less.counts <= more.counts).all()


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "n"), [((5, 3, 2), 4), ((6, 1, 1, 2), 3)])
def test_the_next_person_is_drawn_from_the_population_whoever_is_there(weights, n):
    """The joint law of the users and of the category of person n + 1: independent, multinomial and the shares."""
    shares = np.array(weights) / sum(weights)
    k = len(weights)
    pairs = []
    for seed in SEEDS:
        uniforms = uniforms_of(seed, k)
        now, then = (coupling.multinomial(size, shares, uniforms) for size in (n, n + 1))
        pairs.append((*now, int((then - now).argmax())))
    joint = {
        (*cell, i): chance * shares[i]
        for cell, chance in multinomial_law(n, shares).items()
        for i in range(k)
    }
    check_law(pairs, joint)


# --- another epsilon ------------------------------------------------------------------------------------


def kept_and_boxes(true_counts, keep, uniforms):
    kept = coupling.binomial_quantile(true_counts, keep, uniforms[0])
    return kept, coupling.noisy_histogram(true_counts, keep, uniforms) - kept


@given(PROBLEMS, st.floats(0.01, 20))
def test_a_larger_epsilon_only_takes_reports_out_of_the_boxes(problem, other):
    """As few reports change as there are people whose coin changes: those who tell the truth now."""
    k, s, epsilon, n, seed = problem
    users = Scenario("zipf", k, s, epsilon, n, seed).users().counts
    low, high = (RandomizedResponse(k, one).keep for one in sorted((epsilon, other)))
    kept, boxes = kept_and_boxes(users, low, noise_of(seed, k))
    more_kept, fewer_boxes = kept_and_boxes(users, high, noise_of(seed, k))
    assert (kept <= more_kept).all()
    assert (more_kept <= users).all()
    assert (fewer_boxes >= 0).all()
    assert (fewer_boxes <= boxes).all()
    assert (more_kept - kept).sum() == (boxes - fewer_boxes).sum()
    assert (more_kept + fewer_boxes).sum() == n


@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(200, 20_000, 1.0, 1.05), (10_000, 10**6, 4.0, 4.05), (5, 10**9, 0.1, 3.0)]
)
def test_on_average_as_few_people_change_as_possible(k, n, low, high):
    """N times the difference of p - q change. Their number has at most the variance that two independent collections
    would give: each category's two counts rise together with its uniform number, so that they are correlated
    positively."""
    users = Scenario("zipf", k, 1.3, 1.0, n, 4).users().counts
    less, more = RandomizedResponse(k, low).keep, RandomizedResponse(k, high).keep
    changed = []
    for seed in range(200):
        uniforms = noise_of(seed, k)[0]
        changed.append(
            (
                coupling.binomial_quantile(users, more, uniforms)
                - coupling.binomial_quantile(users, less, uniforms)
            ).sum()
        )
    variance = n * (less * (1 - less) + more * (1 - more))
    assert abs(np.mean(changed) - n * (more - less)) < 6 * math.sqrt(variance / len(changed))
    # An independent collection would change nearly every report; this one changes hardly more than it must.
    assert max(changed) < n * (more - less) + 6 * math.sqrt(variance)


def test_another_s_or_one_more_category_moves_few_people():
    draw = Scenario("zipf", 200, 1.3, 1.0, 20_000, 5).draw()
    steeper = Scenario("zipf", 200, 1.31, 1.0, 20_000, 5).draw()
    # 134 people change, not a single one more than the expected counts do, up to rounding in each category.
    expected = 20_000 * np.abs(zipf(200, 1.31) - zipf(200, 1.3)).sum()
    assert np.abs(steeper.true_counts - draw.true_counts).sum() < expected + 200
    larger = Scenario("zipf", 201, 1.3, 1.0, 20_000, 5).draw()
    assert np.abs(larger.true_counts[:200] - draw.true_counts).sum() < 50
    # A box is one of 201 now: about 100 of 20,000 reports go to the new one.
    assert np.abs(larger.counts[:200] - draw.counts).sum() < 200


def test_users_at_sizes_far_apart_are_more_alike_than_a_crowd():
    """What the module says is not modelled: three times as many people added to n have a smaller variance than
    independent ones, (sqrt(4) - 1)^2 n p (1 - p) instead of 3 n p (1 - p)."""
    n = 1000
    added = []
    for seed in range(500):
        uniforms = uniforms_of(seed, 3)
        some, all_of_them = (coupling.multinomial(size, [5, 3, 2], uniforms) for size in (n, 4 * n))
        added.append(int((all_of_them - some)[0]))
    relative = np.var(added, ddof=1) / (n * 0.25)
    # The standard error of a variance is sqrt(2/499) of it; whole numbers add up to 1/6 person^2.
    assert abs(relative - 1) < 6 * math.sqrt(2 / 499)


# --- no path --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_numbers_do_not_depend_on_the_way(seed):
    """Random walks through epsilon, N, s and seed come back to the numbers that a fresh link has."""
    rng = np.random.default_rng(seed)
    choices = {"epsilon": (0.3, 1.0, 7.0), "n": (50, 51, 4000, 10**8), "s": (0.5, 1.5), "seed": (5, 6)}
    seen, users, scenario = {}, {}, Scenario(k=25)
    for _ in range(150):
        field = rng.choice(list(choices))
        scenario = replace(scenario, **{field: type(choices[field][0])(rng.choice(choices[field]))})
        key = replace(scenario, epsilon=1.0)
        if key not in users or rng.random() < 0.3:
            users[key] = scenario.users()
        draw = scenario.collect(users[key])
        result = draw.true_counts.tolist(), draw.counts.tolist()
        assert seen.setdefault(scenario, result) == result
    for visited, result in seen.items():
        fresh = Scenario.from_query(visited.to_query())[0].draw()
        assert (fresh.true_counts.tolist(), fresh.counts.tolist()) == result


# --- quantiles ------------------------------------------------------------------------------------------

# Half of them as NumPy draws them, some in the ends.
MANY = np.concatenate(
    [
        np.random.default_rng(1).random(400),
        [0.0, RESOLUTION, 5 * RESOLUTION, 1e-12, 1e-6, 1e-3, 0.5],
        1 - np.array([RESOLUTION, 5 * RESOLUTION, 1e-12, 1e-6, 1e-3]),
    ]
)
ROUNDING = 1e-14  # of the distribution functions in double precision


def check_quantiles(found, upto):
    """(m,) quantiles at MANY against a list of exact values of the distribution function, to within rounding."""
    for x, u in zip(found.tolist(), MANY.tolist(), strict=True):
        assert x == 0 or upto[x - 1] <= Fraction(u) + Fraction(ROUNDING)
        assert x >= len(upto) or Fraction(u) < upto[x] + Fraction(ROUNDING)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30, 90])
@pytest.mark.parametrize("p", [0.0, 1e-12, 0.01, 0.3, 0.5, 0.77, 1 - 1e-9, 1.0])
def test_binomial_quantiles_in_exact_arithmetic(n, p):
    upto = [*itertools.accumulate(exact.binomial(n, Fraction(p)))]
    found = coupling.binomial_quantile(np.full(MANY.size, n), p, MANY)
    assert found.min() >= 0
    assert found.max() <= n
    check_quantiles(found, upto)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.3, 1.0, 3.99, 4.0, 12.5, 80.0])
def test_poisson_quantiles_in_exact_arithmetic(mean):
    with localcontext(prec=60):
        term = (-Decimal(mean)).exp()
        total, upto = term, [Fraction(term)]
        for x in range(1, int(mean + 15 * math.sqrt(mean) + 40)):
            term *= Decimal(mean) / x
            total += term
            upto.append(Fraction(total))
    check_quantiles(coupling.poisson_quantile(np.full(MANY.size, mean), MANY), upto)


def summed_law(mean, deviation, ratio):
    """First whole number and probabilities within 12 standard deviations: products of the exact ratios of neighbours,
    in extended precision, divided by their sum."""
    first = max(int(mean - 12 * deviation), 0)
    x = np.arange(first + 1, int(mean + 12 * deviation) + 2, dtype=np.longdouble)
    middle = x.size // 2
    # From the middle outwards, so that nothing overflows.
    steps = ratio(x)
    up = np.cumprod(steps[middle:])
    down = np.cumprod(1 / steps[:middle][::-1])[::-1]
    law = np.concatenate([down, [np.longdouble(1)], up])
    return first, law / law.sum()


def check_against(law, first, uniforms, found):
    """Quantiles ``found`` against a law from the whole number ``first`` on, except within 1e-11 of a step of it."""
    upto = np.cumsum(law)
    step = np.searchsorted(upto, uniforms, side="right")
    neighbours = np.stack([upto[np.maximum(step - 1, 0)], upto[np.minimum(step, upto.size - 1)]])
    clear = np.abs(neighbours - uniforms).min(axis=0) > 1e-11
    np.testing.assert_array_equal(found[clear], first + step[clear])
    assert clear.mean() > 0.999


@pytest.mark.parametrize(
    ("n", "p"), [(1000, 0.004), (1000, 0.3), (10**6, 0.9), (10**6, 1e-5), (10**9, 0.5), (10**9, 1e-7), (10**9, 0.001)]
)  # fmt: skip
def test_binomial_quantiles_of_many_trials(n, p):
    variance = n * p * (1 - p)
    x_max = np.longdouble(n)
    odds = np.longdouble(p) / (1 - np.longdouble(p))
    first, law = summed_law(n * p, math.sqrt(variance) + 3, lambda x: np.maximum(x_max - x + 1, 0) / x * odds)
    uniforms = np.random.default_rng(2).random(50_000)
    check_against(law, first, uniforms, coupling.binomial_quantile(np.full(uniforms.size, n), p, uniforms))


@pytest.mark.parametrize("mean", [4.5, 30.0, 666.6, 1e5, 5e8])
def test_poisson_quantiles_of_large_means(mean):
    first, law = summed_law(mean, math.sqrt(mean) + 3, lambda x: np.longdouble(mean) / x)
    uniforms = np.random.default_rng(3).random(50_000)
    check_against(law, first, uniforms, coupling.poisson_quantile(np.full(uniforms.size, mean), uniforms))


@pytest.mark.parametrize("variance", [4.0, 6.0, 15.0, 100.0])
@pytest.mark.parametrize("p", [0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99])
def test_the_expansion_is_within_its_tolerance(variance, p):
    """Against the quantile of the distribution function continued between the integers, found by bisection."""
    scores = np.linspace(-6, 6, 241)
    uniforms = special.ndtr(scores)
    if p:
        n = math.ceil(variance / (p * (1 - p)))
        mean, variance, most = n * p, n * p * (1 - p), n + 1 - 1e-9
        below = lambda y: special.betaincc(y, n - y + 1, p)  # noqa: E731
        above = lambda y: special.betainc(y, n - y + 1, p)  # noqa: E731
    else:
        mean, most = variance, variance + 30 * math.sqrt(variance) + 50
        below = lambda y: special.gammaincc(y, mean)  # noqa: E731
        above = lambda y: special.gammainc(y, mean)  # noqa: E731
    low, high = np.full(scores.shape, 1e-9), np.full(scores.shape, most)
    for _ in range(90):
        middle = (low + high) / 2
        less = np.where(scores > 0, above(middle) > special.ndtr(-scores), below(middle) < uniforms)
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    size = np.ones(scores.shape)
    near = coupling._Expansion(mean * size, variance * size, p * size, uniforms)
    used = near.tolerance < 0.5
    assert used.sum() > 100
    # In the upper tail a uniform number itself is rounded: no closer than that.
    assert (np.abs(near.y - low) < near.tolerance)[used & (np.abs(scores) < 5)].all()
    assert (np.abs(near.y - low) < near.tolerance + 1e-3)[used].all()


def test_quantiles_at_the_ends_of_the_uniform_numbers_are_finite():
    ends = np.array([0.0, RESOLUTION, 1 - RESOLUTION])
    for n in (1, 50, 10**5, 10**9):
        for p in (1e-300, 1e-9, 0.2, 0.999999):
            found = coupling.binomial_quantile(np.full(3, n), p, ends)
            assert found[0] >= 0
            assert (np.diff(found) >= 0).all()
            assert found[2] <= n
    found = coupling.poisson_quantile(np.full(3, 1e9), ends)
    np.testing.assert_allclose((found - 1e9) / math.sqrt(1e9), [-8.3, -8.2, 8.2], atol=0.1)


@given(st.integers(0, 3000), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_binomial_quantiles_grow_with_p_and_by_at_most_one_with_n(n, p, other, seed):
    uniforms = np.random.default_rng(seed).random(50)
    low, high = sorted((p, other))
    now = coupling.binomial_quantile(np.full(50, n), low, uniforms)
    assert (now <= coupling.binomial_quantile(np.full(50, n), high, uniforms)).all()
    step = coupling.binomial_quantile(np.full(50, n + 1), low, uniforms) - now
    assert set(step.tolist()) <= {0, 1}


# --- solving for the time -------------------------------------------------------------------------------


def test_equal_uniform_numbers_share_by_position():
    """All categories change at one time: as many as are missing do, the first ones."""
    uniforms = np.full(5, 0.5)
    counts = [coupling.multinomial(n, np.ones(5), uniforms).tolist() for n in range(11)]
    assert counts[5] == [1] * 5
    assert counts[10] == [2] * 5
    assert counts[8] == [2, 2, 2, 1, 1]


def test_nobody_and_categories_without_weight():
    uniforms = np.array([0.99, 0.5, 0.99])
    assert coupling.multinomial(0, [1, 1, 1], uniforms).tolist() == [0, 0, 0]
    assert coupling.multinomial(10**9, [0, 1, 0], uniforms).tolist() == [0, 10**9, 0]
    nobody = np.zeros(3, dtype=np.int64)
    assert coupling.noisy_histogram(nobody, 0.5, np.stack([uniforms, uniforms])).tolist() == [0, 0, 0]
