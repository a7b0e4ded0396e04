"""IBU: the listing's iterates at the price of the distinct counts, against rational arithmetic and arithmetic with 60
digits; its starts; many histograms at once, each with its own mechanism; limits; progress."""

from __future__ import annotations

import decimal
import importlib
import itertools
import re
import types
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import (
    RandomizedResponse,
    ibu,
    ibu_channel,
    ibu_path,
    mle_star,
    negative_log_likelihood,
    optimality_gap,
    sampling,
    squared_error,
    zipf,
)
from rr_core.ibu import ibu_paths
from rr_core.ibu.costs import affordable_iterations, records_per_decade
from rr_core.ibu.engine import Start, parse_weights
from rr_core.optimality import update_factors
from tests.core import exact, listing
from tests.core.histograms import both_ways, counts, everyday_epsilons, families
from tests.sentences import holds


def noisy(k, n, mechanism, seed=0):
    rng = np.random.default_rng(seed)
    return mechanism.randomize_histogram(sampling.multinomial(n, zipf(k, 1.0), rng), rng)


@pytest.mark.parametrize(
    ("k", "n", "epsilon"), [(2, 40, 0.5), (12, 1000, 1.0), (500, 10_000, 1.0), (3000, 5000, 5.0)]
)
def test_every_iterate_is_that_of_the_listing(k, n, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    histogram = noisy(k, n, mechanism)
    path = ibu_path(histogram, mechanism, range(60))
    theta = np.full(k, 1 / k)
    for t in range(60):
        np.testing.assert_allclose(path.estimate(t), theta, rtol=1e-12)
        theta = listing.ibu_step(histogram / histogram.sum(), mechanism.p, theta)


@pytest.mark.parametrize("start", [None, "interior", "with a zero"])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (7, 0.3), (40, 3.0)])
def test_the_general_channel_gives_the_same_iterates(k, epsilon, start):
    mechanism, rng = RandomizedResponse(k, epsilon), np.random.default_rng(k)
    histogram = rng.integers(0, 30, k) + 1
    if start is not None:
        start_values = rng.dirichlet(np.ones(k))
        start_values[0] *= start == "interior"
        start = start_values / start_values.sum()
    for n_iterations in (0, 1, 2, 25):
        np.testing.assert_allclose(
            ibu(histogram, mechanism, n_iterations, start),
            ibu_channel(histogram, mechanism.matrix(), n_iterations, start),
            rtol=1e-11, atol=1e-300,
        )  # fmt: skip


def test_a_channel_with_more_reports_than_truths():
    channel = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    truth = np.array([0.35, 0.65])
    np.testing.assert_allclose(ibu_channel(truth @ channel, channel, 5000), truth, atol=1e-9)
    assert ibu_channel([5, 0, 0], np.eye(3), 10).tolist() == [1, 0, 0]


@pytest.mark.parametrize("start", [None, "interior"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_the_path_records_distance_gap_and_certificate(shape, start):
    mechanism, rng = RandomizedResponse(9, 1.0), np.random.default_rng(1)
    histogram = rng.integers(0, 50, (*shape, 9)) + 1
    start = None if start is None else rng.dirichlet(np.ones(9))
    path = ibu_path(histogram, mechanism, [30, 0, 7, 7], start)
    assert path.iterations.tolist() == [0, 7, 30]
    assert path.stopped is False
    best = mle_star(histogram, mechanism)
    phi = histogram / histogram.sum(axis=-1, keepdims=True)
    for index in range(3):
        theta = path.estimate(index)
        np.testing.assert_allclose(
            theta, ibu(histogram, mechanism, path.iterations[index], start), rtol=1e-13
        )
        np.testing.assert_allclose(path.squared_distance[..., index], squared_error(theta, best), rtol=1e-10)
        np.testing.assert_allclose(
            path.certificate[..., index], optimality_gap(histogram, theta, mechanism), rtol=1e-9, atol=1e-13
        )
        losses = [negative_log_likelihood(phi, x, mechanism) for x in (theta, best)]
        np.testing.assert_allclose(path.log_likelihood_gap[..., index], losses[0] - losses[1], atol=1e-13)


@holds(
    "From a guess without zeros it tends to **MLE\\***, the best fit.",
    "It is expectation-maximisation: the likelihood never falls, and from any start without zeros it tends to MLE\\*.",
    "For k-RR it tends to MLE\\*, from a start without zeros.",
)
def test_any_interior_start_ends_at_mle_star():
    mechanism, rng = RandomizedResponse(6, 2.0), np.random.default_rng(3)
    histogram = [50, 30, 20, 10, 5, 2]
    for _ in range(5):
        theta = ibu(histogram, mechanism, 20_000, rng.dirichlet(np.ones(6)))
        np.testing.assert_allclose(theta, mle_star(histogram, mechanism), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["uniform", "by halves"])
def test_a_million_categories_are_a_few_dozen_levels(start):
    k = 1_000_000
    mechanism = RandomizedResponse(k, 8.0)
    histogram = noisy(k, 1_200_000, mechanism)
    halves = np.where(np.arange(k) < k // 2, 1.5, 0.5) / k
    given_start = None if start == "uniform" else halves
    path = ibu_path(histogram, mechanism, [1, 5000], given_start)
    pairs = np.unique(histogram + 10**9 * (halves * k > 1) * (start != "uniform"))
    assert len(path.counts) == pairs.size < 100
    step = listing.ibu_step(
        histogram / histogram.sum(), mechanism.p, np.full(k, 1 / k) if given_start is None else halves
    )
    np.testing.assert_allclose(path.estimate(0), step, rtol=1e-11)
    assert path.certificate[1] < path.certificate[0]
    assert path.certificate[1] == pytest.approx(
        optimality_gap(histogram, path.estimate(1), mechanism), rel=1e-6
    )


def test_more_levels_than_one_dot_product_takes():
    """Every category is a level, and the sum over them is taken in several pieces."""
    k = 20_000
    counts = np.random.default_rng(4).exponential(size=k)
    mechanism = RandomizedResponse(k, 9.0)
    phi, theta = counts / counts.sum(), np.full(k, 1 / k)
    for _ in range(3):
        theta = listing.ibu_step(phi, mechanism.p, theta)
    np.testing.assert_allclose(ibu(counts, mechanism, 3), theta, rtol=1e-11)


def test_what_decays_ends_at_zero_not_at_the_smallest_number_above_it():
    """A factor between a half and one would leave it at the smallest number above zero for ever."""
    counts, mechanism = np.array([50, 30, 20, 8, 1, 0]), RandomizedResponse(6, 1.0)
    estimate = ibu(counts, mechanism, 10_000)
    np.testing.assert_array_equal(estimate[3:], 0)
    assert 0 < estimate[2] < 1e-100  # on its way
    assert np.abs(estimate - mle_star(counts, mechanism)).max() < 1e-14


# Below this a double has no 16 digits left.
SMALLEST = 1e-280


def rational(histogram, channel, start, iterations):
    """Eq. (5) in fractions."""
    theta = [Fraction(x) for x in start]
    for _ in range(iterations):
        factors = exact.update_factors(histogram, theta, channel)
        theta = [x * m for x, m in zip(theta, factors, strict=True)]
    return theta


def by_digits(histogram, channel, start, marks, digits=60):
    """Eq. (5) with so many digits; the iterates at ``marks``."""
    with decimal.localcontext(decimal.Context(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)):
        odds, phi, theta = (
            [decimal.Decimal(x.numerator) / x.denominator for x in values]
            for values in ([channel.odds], exact.frequencies(histogram), [Fraction(x) for x in start])
        )
        found = {}
        for t in range(max(marks) + 1):
            if t in marks:
                found[t] = [Fraction(x) for x in theta]
            share = [f / (1 + odds[0] * x) for f, x in zip(phi, theta, strict=True)]
            common = sum(share)
            theta = [x * (common + odds[0] * s) for x, s in zip(theta, share, strict=True)]
    return [found[t] for t in sorted(found)]


def assert_near(computed, truth, tolerance=exact.TOLERANCE):
    assert exact.normwise_error(computed, truth) <= tolerance
    for value, wanted in zip(computed, truth, strict=True):
        if wanted == 0:
            assert value == 0
        elif wanted > SMALLEST:
            assert abs(Fraction(float(value)) - wanted) <= tolerance * wanted


@pytest.mark.parametrize("start", [None, [0.5, 0.25, 0.125, 0.125], [0.75, 0.0, 0.25, 0.0]])
@pytest.mark.parametrize("histogram", [[7, 0, 2, 2], [0, 0, 0, 1], [3, 1, 10**6, 2]])
@pytest.mark.parametrize("p", [0.26, 0.5, 0.96875])
def test_the_first_iterations_are_those_of_rational_arithmetic(histogram, start, p):
    mechanism, channel = RandomizedResponse.from_p(4, p), exact.channel_from_p(4, p)
    path = ibu_path(histogram, mechanism, range(5), start)
    given = [0.25] * 4 if start is None else start
    for t in range(5):
        assert_near(path.estimate(t), rational(histogram, channel, given, t), 1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5, 9])
def test_every_kind_of_histogram_and_mechanism(k):
    marks = (1, 2, 7)
    uniform = [Fraction(1 / k)] * k
    for histogram in families(k, np.random.default_rng(k)).values():
        for mechanism, channel in both_ways(k):
            path = ibu_path(histogram, mechanism, marks)
            wanted = by_digits(histogram, channel, uniform, marks)
            for index, truth in enumerate(wanted):
                assert_near(path.estimate(index), truth)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 6.0])
def test_thousands_of_iterations_gather_no_error(epsilon):
    histogram, marks = [40, 17, 17, 5, 0], (100, 3000)
    path = ibu_path(histogram, RandomizedResponse(5, epsilon), marks)
    wanted = by_digits(histogram, exact.channel_from_epsilon(5, epsilon), [0.2] * 5, marks, 40)
    for index, truth in enumerate(wanted):
        assert exact.normwise_error(path.estimate(index), truth) <= exact.TOLERANCE


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_an_entry_that_starts_tiny_grows_as_it_should(epsilon):
    """From 1e-200: 1 + odds theta rounds to 1, so a formula with 1 - 1/(1 + odds theta) would lose it."""
    histogram, marks = [1, 30, 2], (1, 40)
    start = [1 - 2**-20, 1e-200, 2**-20]
    path = ibu_path(histogram, RandomizedResponse(3, epsilon), marks, start)
    wanted = by_digits(histogram, exact.channel_from_epsilon(3, epsilon), start, marks, 300)
    for index, truth in enumerate(wanted):
        assert truth[1] > 1e-200
        assert_near(path.estimate(index), truth)


@holds(
    "IBU multiplies: a category that starts at zero stays at zero for ever, whatever was reported.",
    "A category that started at zero stays there, however many reports it has.",
)
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 30.0, 700.0])
def test_what_starts_at_zero_is_never_revived(epsilon):
    """Not by rounding either, though the category has nearly all the reports."""
    path = ibu_path(
        [1, 900, 1, 1], RandomizedResponse(4, epsilon), [0, 1, 2, 50, 3000], [0.25, 0.0, 0.5, 0.25]
    )
    for index in range(5):
        theta = path.estimate(index)
        assert theta[1] == 0
        assert (theta[[0, 2, 3]] > 0).all() or epsilon > 29
        assert theta.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.slow
def test_the_sum_stays_one_where_nearly_every_report_is_a_redraw():
    """There each iteration multiplies by a rounded one: 200,000 of them would gather 1e-11."""
    rng = np.random.default_rng(0)
    for k in (7, 10):
        path = ibu_path(rng.integers(1, 50, k), RandomizedResponse(k, 1e-6), [200_000])
        assert path.estimate(0).sum() == pytest.approx(1, abs=1e-14)


def test_the_gap_close_to_the_limit():
    """There it is the small difference of two large sums, unless each term is taken as one logarithm."""
    histogram, channel = [40, 17, 17, 5, 20], exact.channel_from_epsilon(5, 0.01)
    path = ibu_path(histogram, RandomizedResponse(5, 0.01), [0, 30_000])
    phi, best = exact.frequencies(histogram), exact.mle(histogram, channel)
    with decimal.localcontext(decimal.Context(prec=60)):
        for index in range(2):
            ratios = [
                (channel.q + channel.keep * b) / (channel.q + channel.keep * Fraction(float(x)))
                for b, x in zip(best, path.estimate(index), strict=True)
            ]
            logs = [(decimal.Decimal(r.numerator) / r.denominator).ln() for r in ratios]
            gap = sum(
                decimal.Decimal(f.numerator) / f.denominator * x for f, x in zip(phi, logs, strict=True)
            )
            assert path.log_likelihood_gap[index] == pytest.approx(float(gap), abs=1e-18)


@pytest.mark.parametrize("start", [None, [0.4, 0.3, 0.2, 0.1, 0.0]])
def test_a_run_recorded_in_full_has_the_measures_of_every_iteration(start):
    histograms, mechanism = [[40, 17, 17, 5, 0], [9, 9, 9, 1, 3]], RandomizedResponse(5, 1.2)
    all_of_it = ibu_path(histograms, mechanism, range(2001), start)
    path = ibu_path(histograms, mechanism, [3, 700, 2000], start, in_full=True)
    assert all_of_it.every is None
    assert path.iterations.tolist() == [3, 700, 2000]
    np.testing.assert_array_equal(path.thetas, all_of_it.thetas[[3, 700, 2000]])
    for name in ("squared_distance", "certificate"):
        np.testing.assert_array_equal(getattr(path.every, name), getattr(all_of_it, name))
        np.testing.assert_array_equal(getattr(path.row(1).every, name), getattr(all_of_it, name)[1])


def test_a_run_recorded_in_full_stops_when_asked():
    called = []

    def stop_later(done):
        called.append(done)
        return len(called) == 2

    arguments = [7, 5, 5, 2], RandomizedResponse(4, 0.7), [0, 10, 10_000_000]
    path = ibu_path(*arguments, progress=stop_later, in_full=True)
    reached = int(path.iterations[-1])
    assert path.stopped
    assert called[-1] == reached < 10_000_000
    assert path.iterations.tolist() == [0, 10, reached]
    assert path.every.squared_distance.shape == path.every.certificate.shape == (reached + 1,)
    assert path.every.squared_distance[-1] == path.squared_distance[-1]


COUNTS = np.array([5, 0, 3, 2])


def test_each_kind():
    assert Start().distribution(COUNTS) is None
    np.testing.assert_array_equal(Start("reports").distribution(COUNTS), [0.5, 0, 0.3, 0.2])
    np.testing.assert_allclose(Start("leaning", 2, 0.7).distribution(COUNTS), [0.1, 0.1, 0.7, 0.1])
    np.testing.assert_allclose(Start("zero", 1).distribution(COUNTS), [1 / 3, 0, 1 / 3, 1 / 3])
    np.testing.assert_allclose(
        Start("typed", weights=(1, 2, 3, 4)).distribution(COUNTS), [0.1, 0.2, 0.3, 0.4]
    )


def test_random_point_depends_on_the_seed_alone():
    one, again, other = (Start("random", seed=seed).distribution(COUNTS) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0.01


@pytest.mark.parametrize("text", ["1, 2, 1", "1 2 1", "1;2;1", " 25% 50% 25% ", "0.5/1/0.5"])
def test_typed_shares(text):
    weights = parse_weights(text, 3)
    np.testing.assert_allclose(Start("typed", weights=weights).distribution([1, 1, 1]), [0.25, 0.5, 0.25])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1, 2", "3 numbers are needed, one for each category; this has 2."),
        ("1, 2, x", "'x' is not a number; write for example 0.5, 0.3, 0.2."),
        ("1, 2, -1", "'-1' is not a share: every number must be zero or more."),
        ("1, 2, nan", "'nan' is not a share: every number must be zero or more."),
        ("1, inf, 2", "'inf' is not a share: every number must be zero or more."),
        ("0, 0, 0", "At least one number must be above zero."),
    ],
)
def test_typed_shares_that_cannot_be_used(text, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        parse_weights(text, 3)


@pytest.mark.slow
def test_budget_shortens_only_what_is_dear():
    few, many = np.arange(12), np.arange(300_000)
    assert affordable_iterations(few, 10_000) == 10_000
    assert affordable_iterations(few, 100) == affordable_iterations(many, 100) == 100
    assert affordable_iterations(many, 100_000) == 100
    lengths = [affordable_iterations(np.arange(levels), 100_000) for levels in (10, 1000, 10_000, 100_000)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 10 * lengths[-1]
    assert affordable_iterations(np.repeat(few, 1000), 10_000) == affordable_iterations(
        few, 10_000
    )  # distinct counts matter, not k
    assert records_per_decade(few) > records_per_decade(many)


# The module; the package has the function under this name.
MODULE = importlib.import_module("rr_core.ibu.engine")


def batch(k=30, rows=7, seed=0):
    """Histograms with very different numbers of levels, and mechanisms from very private to none at all."""
    rng = np.random.default_rng(seed)
    histograms = np.stack([rng.integers(0, 2 + 4**row, k) for row in range(rows)])
    histograms[:, 0] += 1
    return histograms, [RandomizedResponse(k, epsilon) for epsilon in np.geomspace(0.05, 700, rows)]


@pytest.mark.parametrize("start", [None, "shared", "own", "with zeros"])
def test_a_batch_of_mixed_mechanisms_is_its_rows_one_by_one(start):
    histograms, mechanisms = batch()
    rng = np.random.default_rng(1)
    starts = rng.dirichlet(np.ones(30), 7)
    if start == "with zeros":
        starts[:, rng.integers(1, 30, 9)] = 0
        starts /= starts.sum(axis=1, keepdims=True)
    given_start = None if start is None else starts[0] if start == "shared" else starts
    together = ibu_paths(histograms, mechanisms, [0, 1, 9, 300], given_start)
    assert together.squared_distance.shape == (7, 4)
    assert together.estimate(2).shape == (7, 30)
    for row, (histogram, mechanism) in enumerate(zip(histograms, mechanisms, strict=True)):
        own = None if start is None else starts[0] if start == "shared" else starts[row]
        alone, taken = ibu_path(histogram, mechanism, [0, 1, 9, 300], own), together.row(row)
        for name in ("thetas", "limit", "mle_star", "counts", "multiplicities", "start", "level_of"):
            np.testing.assert_allclose(
                getattr(taken, name), getattr(alone, name), rtol=1e-12, atol=1e-290, err_msg=name
            )
        for name in ("squared_distance", "log_likelihood_gap", "certificate"):
            wanted = getattr(alone, name)
            np.testing.assert_allclose(getattr(taken, name), wanted, rtol=1e-9, atol=1e-14, err_msg=name)
            np.testing.assert_array_equal(getattr(together, name)[row], getattr(taken, name))
        assert taken.cut_off == alone.cut_off
        assert taken.mechanisms == alone.mechanisms == (mechanism,)
        for index in range(4):
            np.testing.assert_array_equal(taken.estimate(index), together.estimate(index)[row])


def test_padding_cuts_nothing_off():
    """The second row starts at zero in a category that MLE* keeps, and the first, with fewer levels, nowhere."""
    start = [[0.25] * 4, [0.4, 0.3, 0.3, 0.0]]
    path = ibu_paths([[5, 5, 5, 5], [5, 4, 3, 3]], [RandomizedResponse(4, 3.0)] * 2, [1], start)
    assert path.cut_off.tolist() == [False, True]


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 40.0, 700.0])
def test_iteration_zero_is_the_start_to_the_last_bit(epsilon):
    rng = np.random.default_rng(4)
    for start in rng.dirichlet(np.ones(6), 20):
        theta = ibu(rng.integers(0, 9, 6) + 1, RandomizedResponse(6, epsilon), 0, start)
        np.testing.assert_array_equal(theta, start)


@pytest.mark.parametrize("values", ["counts", "frequencies"])
@pytest.mark.parametrize("shape", [(40,), (2, 2, 40), (2, 3000)])
@pytest.mark.parametrize("start", [False, True])
def test_levels_are_the_distinct_pairs_of_count_and_start(values, shape, start):
    rng = np.random.default_rng(3)
    histogram = rng.integers(0, 9, shape) * (1 if values == "counts" else 0.1) + 1
    start = np.where(np.arange(shape[-1]) % 3, 1.5, 0.75) if start else None
    start = None if start is None else start / start.sum()
    path = ibu_path(histogram, RandomizedResponse(shape[-1], 2.0), [0, 4], start)
    np.testing.assert_allclose(path.by_category(path.counts), histogram, rtol=1e-15)
    assert path.level_of.shape == shape
    for row, level_of in enumerate(path.level_of.reshape(-1, shape[-1])):
        one, flat = path.row(row), histogram.reshape(-1, shape[-1])[row]
        wanted = set(zip(flat, flat * 0 if start is None else start, strict=True))
        assert len(one.counts) == len(wanted)
        np.testing.assert_array_equal(one.multiplicities, np.bincount(level_of))
        assert (np.diff(one.counts) <= 0).all()
    theta = np.full(shape[-1], 1 / shape[-1]) if start is None else start
    theta = np.broadcast_to(theta, shape)
    np.testing.assert_allclose(path.estimate(0), theta, rtol=1e-15)
    phi = histogram.reshape(-1, shape[-1])[-1]
    phi, theta = phi / phi.sum(), theta.reshape(-1, shape[-1])[-1]
    for _ in range(4):
        theta = listing.ibu_step(phi, RandomizedResponse(shape[-1], 2.0).p, theta)
    np.testing.assert_allclose(path.estimate(1).reshape(-1, shape[-1])[-1], theta, rtol=1e-12)


@holds(
    "It is expectation-maximisation: the likelihood never falls, and from any start without zeros it tends to MLE\\*.",
    "The likelihood never falls, yet the squared distance rises for a while.",
)
@pytest.mark.slow
@given(counts(), everyday_epsilons, st.integers(0, 2**32 - 1), st.booleans())
def test_certificate_gap_and_likelihood_from_any_start(histogram, epsilon, seed, zeros):
    """The certificate bounds the gap at every recorded iteration, and the likelihood never falls."""
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.full(len(histogram), 0.5)) + 1e-9
    if zeros:
        start[rng.integers(len(histogram))] = 0
    mechanism = RandomizedResponse(len(histogram), epsilon)
    path = ibu_path(histogram, mechanism, [*range(12), 30, 100, 400], start / start.sum())
    assert (path.certificate >= path.log_likelihood_gap - 1e-12).all()
    assert (np.diff(path.log_likelihood_gap) <= 1e-13).all()
    assert (path.log_likelihood_gap >= -1e-13).all()
    assert path.certificate[-1] == pytest.approx(
        optimality_gap(histogram, path.estimate(-1), mechanism), rel=1e-9, abs=1e-13
    )


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.5, 20.0, 690.0, 700.0])
@pytest.mark.parametrize("histogram", [[3, 0], [1, 1], [0, 7, 2, 0, 1], [10**9, 1, 0, 10**9]])
def test_the_record_has_numbers_at_every_epsilon(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    path = ibu_path(histogram, mechanism, [0, 1, 2, 50])
    for values in (path.squared_distance, path.log_likelihood_gap, path.certificate, path.thetas):
        assert np.isfinite(values).all()
    assert (path.certificate >= path.log_likelihood_gap - 1e-12).all()
    assert (np.diff(path.log_likelihood_gap) <= 1e-13).all()


def test_the_gap_where_mle_star_is_zero_and_epsilon_large():
    """log1p(-1) would be infinite: the category's chance falls from about 1/3 to a redraw's, e^-60."""
    mechanism = RandomizedResponse(3, 60.0)
    path = ibu_path([1.0, 1.0, 1e-40], mechanism, [0])
    assert path.mle_star[-1] == 0
    assert path.log_likelihood_gap[0] == pytest.approx(np.log(1.5), rel=1e-12)


@holds(
    "This run tends to the distribution that fits best without the categories that started at zero, so its distance to MLE\\* never reaches zero, and its largest factor never 1: the certificate gives it away.",  # noqa: E501
    "IBU then tends to the distribution without those categories under which the reports are most likely, and the certificate tells.",  # noqa: E501
)
@pytest.mark.slow
@given(counts(), everyday_epsilons, st.integers(0, 2**32 - 1))
def test_the_limit_from_a_start_with_zeros(histogram, epsilon, seed):
    """Among distributions with those zeros it is the most likely: every factor is at most one where the
    start is positive, and one where the limit is. MLE*'s formula on the others alone says the same."""
    rng, k = np.random.default_rng(seed), len(histogram)
    alive = rng.random(k) < 0.6
    alive[rng.integers(k)] = True
    start = rng.dirichlet(np.ones(k)) * alive
    mechanism = RandomizedResponse(k, epsilon)
    path = ibu_path(histogram, mechanism, [0], start / start.sum())
    limit = path.by_category(path.limit)
    assert limit.sum() == pytest.approx(1, rel=1e-12)
    assert (limit[~alive] == 0).all()
    factors = update_factors(histogram, limit, mechanism)
    assert (factors[alive] <= 1 + 1e-11).all()
    np.testing.assert_allclose(factors[limit > 0], 1, rtol=1e-11)
    rest = np.array(histogram)[alive]
    if not rest.any():
        np.testing.assert_array_equal(path.limit, path.start)
    elif len(rest) > 1:
        alone = mle_star(rest, RandomizedResponse(len(rest), epsilon))
        np.testing.assert_allclose(limit[alive], alone, rtol=1e-12)
    assert path.cut_off == bool((mle_star(histogram, mechanism)[~alive] > 0).any())


@pytest.mark.parametrize("epsilon", [1e-6, 1.0])
def test_the_limit_where_a_start_leaves_next_to_nothing_of_the_reports(epsilon):
    path = ibu_path([0, 2.0**62, 5e-324, 5e-324], RandomizedResponse(4, epsilon), [1], [0.5, 0, 0.2, 0.3])
    assert path.by_category(path.limit).tolist() == [0, 0, 0.5, 0.5]


def test_progress_is_told_the_iterations_done_and_the_last(monkeypatch):
    monkeypatch.setattr(MODULE, "PROGRESS_SECONDS", 0.0)
    seen = []
    path = ibu_path([5, 3, 1], RandomizedResponse(3, 0.5), [10, 9000], progress=seen.append)
    assert seen[0] == 10
    assert seen[-1] == 9000
    assert (np.diff(seen) > 0).all()
    assert len(seen) > 3
    assert path.stopped is False


def test_progress_waits_for_the_clock_each_time(monkeypatch):
    """A clock that moves 20 ms from look to look: every third look is 50 ms after the last call."""
    ticks = itertools.count(0, 0.02)
    monkeypatch.setattr(MODULE, "time", types.SimpleNamespace(perf_counter=lambda: next(ticks)))
    looks = []
    monkeypatch.setattr(
        MODULE._Batch, "advance", lambda self, steps: setattr(self, "done", self.done + steps)
    )
    ibu_path([5, 3, 1], RandomizedResponse(3, 0.5), [10**5], progress=looks.append)
    steps = np.diff(looks)
    assert len(looks) > 8
    np.testing.assert_array_equal(steps[:-1], steps[0])
    assert steps[0] == looks[0]
    assert steps[0] == 3 * (MODULE._ENTRIES_PER_LOOK // (3 + MODULE._ENTRIES_PER_CALL))


def test_a_stopped_run_keeps_what_was_reached(monkeypatch):
    monkeypatch.setattr(MODULE, "PROGRESS_SECONDS", 0.0)
    mechanism = RandomizedResponse(3, 0.5)
    path = ibu_path([5, 3, 1], mechanism, [10, 100, 10**9, 2 * 10**9], progress=lambda done: done > 100)
    assert path.stopped is True
    assert path.iterations[:2].tolist() == [10, 100]
    assert len(path.iterations) == 3
    reached = int(path.iterations[-1])
    assert 100 < reached < 10**9
    assert path.certificate.shape == (3,)
    np.testing.assert_array_equal(path.estimate(-1), ibu([5, 3, 1], mechanism, reached))
    np.testing.assert_array_equal(path.estimate(0), ibu([5, 3, 1], mechanism, 10))


def test_a_stop_on_a_recorded_iteration_records_it_once(monkeypatch):
    monkeypatch.setattr(MODULE, "PROGRESS_SECONDS", 0.0)
    path = ibu_path([5, 3, 1], RandomizedResponse(3, 0.5), [10, 100], progress=lambda done: True)
    assert path.iterations.tolist() == [10]
    assert path.stopped is True
