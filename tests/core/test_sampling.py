"""The samplers against their law; the reports of repeated collections follow theirs, and every block is its own; the
first reports of a collection are nested, and end in the collection itself. Seeds are fixed; thresholds come from the law
itself: |z| < 6 for moments, p > 1e-6 for chi-square, so that a right sampler fails about once in a million tests."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from rr_core import Population, RandomizedResponse, Scenario, sampling, squared_error, total_variation, zipf
from rr_core.arrivals import first_reports, follow_estimates, follow_reports, moments
from rr_core.experiments.cell import cell_collector
from rr_core.experiments.grid import POINT, Cell, Settings
from rr_core.law import report_distribution, report_variance
from rr_core.populations import TABLES
from rr_core.profile import shared_profile
from rr_core.registry import ESTIMATORS, RULES
from rr_core.sampling import poisson, poissonised_multinomial, whole_users
from rr_core.simulate import simulate
from rr_core.streams import Stream, generator
from tests.core.laws import check_moments, chi_square_p, law_of_one_count
from tests.sentences import holds

BRANCHES = {"as chosen": None, "one by one": math.inf, "by binomials": 0}


@pytest.fixture(params=BRANCHES)
def branch(request, monkeypatch):
    """Run with both ways of throwing users into boxes, whatever the size."""
    if BRANCHES[request.param] is not None:
        monkeypatch.setattr(sampling, "_USERS_PER_BOX", BRANCHES[request.param])
    return request.param


def noise_covariance(true_counts, mechanism):
    rows = mechanism.matrix()
    return sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(true_counts, rows, strict=True))


@pytest.mark.parametrize(("truth", "epsilon"), [((1, 0, 0, 0, 2), 0.1), ((12, 3), 2.5)])
def test_one_noisy_count_has_its_exact_law(truth, epsilon, branch):
    mechanism, runs = RandomizedResponse(len(truth), epsilon), 60_000
    reports = mechanism.randomize_histogram(np.broadcast_to(truth, (runs, len(truth))), 1)
    for category, own in enumerate(truth):
        law = law_of_one_count(own, sum(truth) - own, mechanism)
        assert chi_square_p(reports[:, category], law) > 1e-6


@holds("What arrives on average")
@pytest.mark.parametrize(("n", "epsilon"), [(30, 1.0), (3000, 0.05), (3000, 4.0), (10**9, 1.0)])
def test_noisy_histograms_have_the_mean_and_covariance_of_the_channel(n, epsilon):
    mechanism = RandomizedResponse(5, epsilon)
    true_counts = np.array([n // 2, n // 3, 0, 1, n - n // 2 - n // 3 - 1])
    reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (20_000, 5)), 2)
    assert (reports.sum(axis=1) == n).all()
    check_moments(reports, true_counts @ mechanism.matrix(), noise_covariance(true_counts, mechanism))


def test_user_by_user_and_whole_histogram_have_the_same_law():
    truth, mechanism, runs = (5, 3, 0, 1), RandomizedResponse(4, 0.8), 40_000
    users = np.broadcast_to(np.repeat(np.arange(4), truth), (runs, 9))
    reports = mechanism.randomize(users, 3)
    assert reports.dtype == np.int64
    histograms = np.stack([(reports == category).sum(axis=1) for category in range(4)], axis=1)
    check_moments(histograms, truth @ mechanism.matrix(), noise_covariance(truth, mechanism))
    for category, own in enumerate(truth):
        assert chi_square_p(histograms[:, category], law_of_one_count(own, 9 - own, mechanism)) > 1e-6


def test_reports_keep_the_shape_of_the_users_and_may_be_none():
    mechanism = RandomizedResponse(3, 1.0)
    assert mechanism.randomize(np.zeros((2, 3), dtype=np.uint8), 0).shape == (2, 3)
    assert mechanism.randomize([], 0).shape == (0,)
    assert mechanism.randomize(2, 0) in (0, 1, 2)
    assert mechanism.randomize_histogram([0, 0, 0], 0).tolist() == [0, 0, 0]
    assert mechanism.randomize_histogram(np.zeros((0, 3)), 0).shape == (0, 3)


def test_a_seed_or_a_generator_may_be_given():
    mechanism, users = RandomizedResponse(9, 1.0), np.arange(9)
    for draw in (
        lambda rng: mechanism.randomize(users, rng),
        lambda rng: mechanism.randomize_histogram(users * 50, rng),
    ):
        np.testing.assert_array_equal(draw(5), draw(np.random.default_rng(5)))
        assert (draw(5) != draw(6)).any()


@pytest.mark.slow
@pytest.mark.parametrize("totals", [[3], [0, 1, 12], [20_000]])
def test_uniform_multinomial_has_its_moments(totals, branch):
    runs, k = 20_000 if max(totals) < 1000 else 500, 7
    batch = np.broadcast_to(totals, (runs, len(totals)))
    samples = sampling.uniform_multinomial(batch, k, np.random.default_rng(6))
    assert samples.shape == (runs, len(totals), k)
    np.testing.assert_array_equal(samples.sum(axis=-1), batch)
    for i, n in enumerate(totals):
        if n:
            covariance = n * (np.eye(k) / k - np.full((k, k), 1 / k**2))
            check_moments(samples[:, i], np.full(k, n / k), covariance)


def test_multinomial_has_its_exact_law():
    weights, n, runs = np.array([5.0, 0.0, 1.0, 0.25, 3.75]), 9, 2000
    rng = np.random.default_rng(7)
    samples = np.stack([sampling.multinomial(n, weights, rng) for _ in range(runs)])
    share = weights / weights.sum()
    assert (samples[:, 1] == 0).all()
    assert (samples.sum(axis=1) == n).all()
    for category in (0, 2, 3, 4):
        law = stats.binom.pmf(np.arange(n + 1), n, share[category])
        assert chi_square_p(samples[:, category], law) > 1e-6
    check_moments(np.delete(samples, 1, axis=1), *_moments(n, np.delete(share, 1)))


def test_multinomial_keeps_its_moments_on_very_unequal_weights():
    n, weights = 10**9, np.array([1.0, 1e-3, 1e-3, 0, 2e-2, 0.5])
    rng = np.random.default_rng(8)
    samples = np.stack([sampling.multinomial(n, weights, rng) for _ in range(1500)])
    assert (samples[:, 3] == 0).all()
    check_moments(np.delete(samples, 3, axis=1), *_moments(n, np.delete(weights / weights.sum(), 3)))


def _moments(n, share):
    return n * share, n * (np.diag(share) - np.outer(share, share))


@pytest.mark.parametrize("n", [1_664_500, 10**9])
def test_the_tail_of_a_million_categories_gets_its_share(n):
    """Bins of ranks down to the last ten thousand, of which conditioning one by one would lose track."""
    weights = zipf(1_423_000, 1.3)
    counts = sampling.multinomial(n, weights, np.random.default_rng(9))
    assert counts.sum() == n
    assert counts.min() >= 0
    edges = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 1_413_000, 1_423_000]
    for low, high in itertools.pairwise(edges):
        share = math.fsum(weights[low:high])
        z = (counts[low:high].sum() - n * share) / math.sqrt(n * share * (1 - share))
        assert abs(z) < 6
    if n == 10**9:
        # Within the tail, the spread of the counts is that of a Poisson, too.
        expected = n * weights[-200_000:]
        z2 = ((counts[-200_000:] - expected) ** 2 / expected).mean()
        assert abs(z2 - 1) < 6 * math.sqrt((2 + 1 / expected.mean()) / 200_000)


ROWS = 6000
# Seeds are fixed: a right law passes once and for all, and fails by bad luck with this chance.
LUCK = 1e-5


def chance(drawn, first, pmf):
    """p-value of ``drawn`` against Pr(first + i) = pmf[i]; what is beyond the ends is counted at the ends."""
    return chi_square_p(np.clip(drawn - first, 0, len(pmf) - 1), np.asarray(pmf))


@pytest.mark.parametrize("guide", [8, 4096])
@pytest.mark.parametrize("rate", [0.3, 4.0, 23.7, 180.0, 2000.0])
def test_poisson_counts(monkeypatch, rate, guide):
    """With a coarse guide nearly every count takes some steps from where it starts."""
    monkeypatch.setattr(sampling, "_GUIDE", guide)
    counts = poisson(rate, (200, 200), np.random.default_rng(1))
    most = int(rate + 12 * np.sqrt(rate) + 40)
    assert chance(counts.ravel(), 0, stats.poisson.pmf(np.arange(most), rate)) > LUCK


@pytest.mark.parametrize("margin", [4.0, 0.5])
def test_poisson_counts_and_the_rest_are_uniform_multinomial(monkeypatch, margin):
    """With a small margin many rows are drawn anew, which must not show."""
    monkeypatch.setattr(sampling, "_MARGIN", margin)
    totals = np.where(np.arange(ROWS) % 2, 150, 190)
    counts = poissonised_multinomial(totals, 4, np.random.default_rng(2))
    assert (counts.sum(axis=1) == totals).all()
    assert counts.min() >= 0
    for total in (150, 190):
        rows = counts[totals == total]
        for drawn, share in (
            (rows[:, 0], 0.25),
            (rows[:, 3], 0.25),
            (rows[:, 1] + rows[:, 2], 0.5),
            (total - rows[:, 2], 0.75),
        ):
            assert chance(drawn, 0, stats.binom.pmf(np.arange(total + 1), total, share)) > LUCK


# k = 20: users thrown one by one, Poisson counts, a tree of binomials.
@pytest.mark.parametrize(("n", "way"), [(60, "few"), (900, "between"), (40_000, "many")])
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_reports_follow_their_law(n, way, users):
    cell = Cell("zipf", 20, 2.0, n, 1.2)
    collector = cell_collector(cell, Settings(users=users), {})
    thrown = n * (1 - cell.mechanism.keep)
    assert way == ("few" if thrown <= 80 else "many" if thrown >= 3200 else "between")
    reports = replace(collector, rows=ROWS).draw(0, ROWS).reports
    assert (reports.sum(axis=1) == n).all()
    for category in (0, 1, 7, 19):
        if users == "fixed":
            first, pmf = report_distribution(int(collector.true_counts[category]), n, cell.mechanism)
        else:
            seen = cell.mechanism.expected(collector.theta)[category]
            first, pmf = 0, stats.binom.pmf(np.arange(n + 1), n, seen)
        assert chance(reports[:, category], first, pmf) > LUCK
    # Two categories together: the covariance is that of the whole law.
    both = reports[:, 0] + reports[:, 1]
    if users == "fixed":
        t, (p, q) = collector.true_counts[:2].sum(), (cell.mechanism.p, cell.mechanism.q)
        variance = t * (p + q) * (1 - p - q) + (n - t) * 2 * q * (1 - 2 * q)
    else:
        seen = cell.mechanism.expected(collector.theta)[:2].sum()
        variance = n * seen * (1 - seen)
    assert both.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / ROWS))


@pytest.mark.parametrize(("k", "n"), [(3000, 30_000), (60_000, 10**6), (60_000, 1000)])
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_long_rows_have_the_right_mean_and_spread(k, n, users):
    cell = Cell("zipf", k, 6.0, n, 0.7)
    collector = cell_collector(cell, Settings(users=users), {})
    rows = 2 if k < 10_000 else 1
    reports = replace(collector, rows=rows).draw(0, 4 * rows).reports
    assert (reports.sum(axis=1) == n).all()
    expected = n * cell.mechanism.expected(collector.truth)
    variance = (
        report_variance(collector.true_counts, n, cell.mechanism)
        if users == "fixed"
        else expected * (1 - expected / n)
    )
    z2 = ((reports - expected) ** 2 / variance).mean()
    # The squared deviations are of mean 1; where counts are small their own variance is near 2 + 1/variance.
    spread = np.sqrt((2 + (1 / variance).mean()) / reports.size)
    assert z2 == pytest.approx(1, abs=6 * spread)


def block(collector, number):
    return replace(collector, rows=10).draw(10 * number, 10).reports


def test_a_block_is_its_own():
    cell, settings = Cell("zipf", 30, 1.0, 500, 1.0), Settings()
    collector = cell_collector(cell, settings, {})
    np.testing.assert_array_equal(block(collector, 3), block(cell_collector(cell, settings, {}), 3))
    others = [
        block(collector, 4),
        block(cell_collector(cell, Settings(seed=2), {}), 3),
        block(cell_collector(cell, Settings(people="rounded"), {}), 3),
        block(cell_collector(cell, Settings(users="sampled"), {}), 3),
        block(cell_collector(Cell("zipf", 30, 1.1, 500, 1.0), settings, {}), 3),
        block(cell_collector(Cell("zipf", 30, 1.0, 500, 1.1), settings, {}), 3),
    ]
    for other in others:
        assert not np.array_equal(block(collector, 3), other)
    same_people = [cell_collector(cell, Settings(people="rounded", seed=seed), {}) for seed in (1, 2)]
    np.testing.assert_array_equal(same_people[0].true_counts, same_people[1].true_counts)
    assert not np.array_equal(block(same_people[0], 3), block(same_people[1], 3))


def test_a_block_is_drawn_from_its_beginning():
    collector = cell_collector(Cell("zipf", 30, 1.0, 500, 1.0), Settings(), {})
    with pytest.raises(ValueError, match="first must be a multiple of the rows of a block, 100, got 30"):
        collector.draw(30, 5)


def test_several_collectors_take_turns():
    collectors = [cell_collector(Cell("zipf", 30, e, 500, 1.0), Settings(), {}) for e in (1.0, 2.0)]
    blocks = list(simulate(collectors, 150))
    assert [(block.point, block.first, block.wanted) for block in blocks] == [
        *((point, 0, 100) for point in (0, 1)),
        *((point, 100, 50) for point in (0, 1)),
    ]
    for block in blocks:
        alone = collectors[block.point].draw(block.first, block.wanted)
        np.testing.assert_array_equal(block.reports, alone.reports)


def test_who_the_users_are():
    def people(dist, k, n, epsilon=1.0, s=1.0, **changes):
        return cell_collector(Cell(dist, k, epsilon, n, s), Settings(**changes), {}).true_counts

    np.testing.assert_array_equal(people("zipf", 40, 999), people("zipf", 40, 999, epsilon=7.0))
    assert people("zipf", 40, 999).sum() == 999
    assert not np.array_equal(people("zipf", 40, 999), people("zipf", 40, 999, seed=9))
    np.testing.assert_array_equal(people("zipf", 40, 999, people="rounded"), whole_users(zipf(40, 1.0), 999))
    assert people("zipf", 40, 999, users="sampled") is None
    assert people(POINT, 4, 17).tolist() == [17, 0, 0, 0]
    table = TABLES["work"].population("work")
    np.testing.assert_array_equal(people("work", 9, table.total), table.counts)
    assert not np.array_equal(people("work", 9, table.total - 1), table.counts)


def test_an_uploaded_histogram_is_its_own_people():
    uploaded = Population.from_weights(np.array([5, 0, 11, 4]))
    cell = Cell(uploaded.key, 4, 1.0, 20)
    collector = cell_collector(cell, Settings(), {uploaded.key: uploaded})
    assert collector.true_counts.tolist() == [5, 0, 11, 4]
    assert collector.truth.tolist() == [0.25, 0, 0.55, 0.2]
    assert cell_collector(cell, Settings(users="sampled"), {uploaded.key: uploaded}).true_counts is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    rows=hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 5), st.integers(2, 12)),
        elements=st.one_of(st.integers(0, 6), st.integers(1000, 1100), st.integers(0, 10**9)),
    ),
    epsilon=st.floats(0.05, 12),
)
def test_levels_of_a_block_give_the_estimates_of_each_row(rows, epsilon):
    """Whatever the rows share, and whether their counts are tallied or stand alone."""
    rows[:, 0] += rows.sum(axis=1) == 0
    levels, mechanism = shared_profile(rows), RandomizedResponse(rows.shape[1], epsilon)
    assert (np.diff(levels.values, axis=1) <= 0).all()
    for row, values, multiplicities in zip(rows, levels.values, levels.multiplicities, strict=True):
        assert np.repeat(values, multiplicities.astype(int)).tolist() == sorted(row, reverse=True)
    for name, make in RULES.items():
        expected = ESTIMATORS[name](rows, mechanism)
        np.testing.assert_allclose(
            make(levels, mechanism).at(rows), expected, rtol=1e-9, atol=2e-12 * np.abs(expected).max()
        )


DRAWS = 6000


def generators(seed, number):
    rng = generator(seed, Stream.ARRIVALS)
    return itertools.repeat(rng, number)


def forwards(counts, sizes, rng):
    return np.array(list(first_reports(counts, sizes, rng))[::-1])


def test_every_possible_order_of_a_small_collection_is_as_likely_as_any():
    """Histograms after 1, 2 and 4 of 6 reports together, against counting all orders of the six people."""
    counts, sizes = np.array([3, 2, 1]), [1, 2, 4, 6]
    people = np.repeat(np.arange(3), counts)
    law = {}
    for order in itertools.permutations(range(6)):
        path = tuple(np.bincount(people[list(order[:n])], minlength=3).tobytes() for n in sizes)
        law[path] = law.get(path, 0) + 1 / 720
    seen = dict.fromkeys(law, 0)
    for rng in generators(1, DRAWS):
        seen[tuple(part.tobytes() for part in forwards(counts, sizes, rng))] += 1  # no other path is possible
    expected = np.array(list(law.values())) * DRAWS
    assert expected.min() > 5
    assert stats.chisquare(list(seen.values()), expected).pvalue > 1e-6


def test_mean_and_covariance_of_a_large_collection():
    """Sample without replacement: mean n c/N, covariance n (N-n)/(N-1) (diag(f) - f f')."""
    counts = np.array([500_000_000, 300_000_000, 199_999_999, 1])  # the largest that the app takes
    total, n, times = 10**9, 400_000_000, 1500
    drawn = np.array([forwards(counts, [n], rng)[0] for rng in generators(3, times)], dtype=float)
    shares = counts / total
    covariance = n * (total - n) / (total - 1) * (np.diag(shares) - np.outer(shares, shares))
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - n * shares) < 6 * deviation / np.sqrt(times)).all()
    scaled = (drawn - n * shares)[:, :3] / deviation[:3]  # nearly normal, but for the single report
    expected = (covariance / np.outer(deviation, deviation))[:3, :3]
    spread = np.sqrt((1 + expected**2) / times)
    assert (np.abs(scaled.T @ scaled / times - expected) < 6 * spread).all()


@pytest.mark.parametrize("k", [2, 12, 10_000])
@pytest.mark.parametrize("n", [1, 9, 10, 2000, 10**9])
def test_histograms_are_nested_have_their_totals_and_end_in_the_collection(k, n):
    draw = Scenario("zipf", k, 1.3, 1.0, n, 7).draw()
    sizes = moments(n)
    parts = forwards(draw.counts, sizes.tolist(), draw.scenario.stream(Stream.ARRIVALS))
    np.testing.assert_array_equal(parts.sum(axis=1), sizes)
    np.testing.assert_array_equal(parts[-1], draw.counts)
    assert (np.diff(parts, axis=0) >= 0).all()
    assert parts.min() >= 0


def test_a_collection_is_left_as_it_is():
    counts = np.array([3, 2, 1])
    list(first_reports(counts, [1, 2], generator(1, Stream.ARRIVALS)))
    assert counts.tolist() == [3, 2, 1]


def test_nobody_and_everybody_in_one_category():
    assert forwards([0, 0], [0], generator(1, Stream.ARRIVALS)).tolist() == [[0, 0]]
    assert forwards([0, 10**9], [0, 10, 10**9], generator(1, Stream.ARRIVALS)).tolist() == [
        [0, 0],
        [0, 10],
        [0, 10**9],
    ]


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 99, 100, 101, 2000, 10**9])
def test_moments_come_one_by_one_and_then_in_steps_of_at_most_a_quarter(n):
    found = moments(n)
    assert found[0] == 1
    assert found[-1] == n
    assert (np.diff(found) > 0).all()
    np.testing.assert_array_equal(found[:10], np.arange(1, min(n, 10) + 1))
    assert (np.diff(found)[9:] <= 0.25 * found[9:-1]).all()
    assert len(found) <= 10 + 15 * max(np.log10(n) - 1, 0) + 1


def test_what_is_followed_is_measured_by_the_definitions():
    scenario = Scenario("zipf", 40, 1.3, 1.5, 3000, 2)
    draw = scenario.draw()
    chosen, truth = np.array([5, 0, 39]), draw.population.probabilities
    reports, seen = follow_reports(draw, chosen), follow_estimates(draw, truth, chosen)
    sizes = moments(3000)
    parts = forwards(draw.counts, sizes.tolist(), scenario.stream(Stream.ARRIVALS))
    for i, part in enumerate(parts):
        np.testing.assert_allclose(reports.shares[i], part[chosen] / sizes[i], rtol=1e-15)
        expected = total_variation(part / sizes[i], draw.mechanism.expected(draw.theta))
        assert reports.distance[i] == pytest.approx(expected, rel=1e-12)
        for name, estimate in ESTIMATORS.items():
            whole = estimate(part, draw.mechanism)
            np.testing.assert_allclose(seen.estimates[name][i], whole[chosen], rtol=1e-12, atol=1e-15)
            assert seen.squared_error[name][i] == pytest.approx(squared_error(whole, truth), rel=1e-9)
