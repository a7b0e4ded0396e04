"""Runs of IBU on their levels: many histograms at once, each with its own mechanism; limits; progress."""

import importlib
import itertools
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse, ibu, ibu_path, mle_star, optimality_gap
from rr_core.ibu import ibu_paths
from rr_core.optimality import update_factors
from tests.core import listing
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds

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
