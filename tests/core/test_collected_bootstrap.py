"""The bootstrap against its definition in plain loops, its samplers against their law, and its coverage."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv, inv_variance, mle_star, zipf
from rr_core.collected import bootstrap as module
from rr_core.collected.bootstrap import METRICS, Followed, bootstrap
from rr_core.collected.replicates import new_users, same_users, simulate
from rr_core.comparison import ESTIMATORS, measure
from rr_core.sampling import whole_users

USERS = ("fixed", "sampled")
MECHANISM = RandomizedResponse(8, 1.0)
COUNTS = np.array([300, 150, 90, 60, 55, 50, 48, 47])


def blocks(counts, mechanism, users, replicates, seed):
    """The collections that the bootstrap sees, one array."""
    n, best = int(np.sum(counts)), mle_star(counts, mechanism)
    if users == "fixed":
        sampler = same_users(whole_users(best, n), mechanism)
    else:
        sampler = new_users(best, n, mechanism)
    return np.concatenate(list(simulate(sampler, mechanism.k, replicates, (seed, 4))))


@pytest.mark.parametrize("users", USERS)
def test_errors_and_intervals_by_their_definition(users):
    result = bootstrap(COUNTS, MECHANISM, 90, users=users, seed=3)
    n, rows = 800, blocks(COUNTS, MECHANISM, users, 90, 3)
    truth = mle_star(COUNTS, MECHANISM)
    if users == "fixed":
        truth = whole_users(truth, n) / n
    np.testing.assert_array_equal(result.truth, truth)
    zero = mle_star(COUNTS, MECHANISM) == 0
    assert zero.sum() > 1
    for index, (name, estimator) in enumerate(ESTIMATORS.items()):
        simulated = estimator(rows, MECHANISM)
        want = measure(rows, simulated, truth, MECHANISM)
        for metric in METRICS:
            np.testing.assert_allclose(result.errors[metric][:, index], want[metric], rtol=1e-12)

        def deviation(at):
            return np.sqrt(inv_variance(np.clip(at, 0, 1), n, MECHANISM, users=users))

        ratios = np.abs(simulated - truth) / deviation(simulated)
        factor = np.array(
            [np.quantile(ratios[:, zero if zero[i] else [i]], 0.9, method="weibull") for i in range(8)]
        )
        estimate = estimator(COUNTS, MECHANISM)
        for together, t in ((False, factor), (True, np.quantile(ratios.max(axis=1), 0.9, method="weibull"))):
            low, high = estimate - t * deviation(estimate), estimate + t * deviation(estimate)
            if name != "inv":
                low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
            interval = result.interval(name, 0.9, simultaneous=together)
            np.testing.assert_allclose(interval.low, low, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(interval.high, high, rtol=1e-9, atol=1e-12)
            assert (interval.level, interval.simultaneous) == (0.9, together)


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(("rows", "times"), [(1, 500), (4000, 4000)])
def test_samplers_have_the_mean_and_variance_of_their_law(users, rows, times):
    n = 500
    theta = np.array([0.6, 0.2, 0.2, 0, 0])
    mechanism, rng = RandomizedResponse(5, 1.5), np.random.default_rng(6)
    sampler = (
        same_users(whole_users(theta, n), mechanism) if users == "fixed" else new_users(theta, n, mechanism)
    )
    drawn = np.concatenate([sampler(rng, rows) for _ in range(times // rows)])
    assert (drawn.sum(axis=1) == n).all()
    estimates = inv(drawn, mechanism)
    variance = inv_variance(theta, n, mechanism, users=users)
    assert (np.abs(estimates.mean(axis=0) - theta) < 4.5 * np.sqrt(variance / times)).all()
    np.testing.assert_allclose(estimates.var(axis=0) / variance, 1, atol=4.5 * math.sqrt(2 / times))


@pytest.mark.parametrize("users", USERS)
def test_neither_more_replicates_nor_a_stop_changes_those_before(users, monkeypatch):
    long = bootstrap(COUNTS, MECHANISM, 200, users=users)
    short = bootstrap(COUNTS, MECHANISM, 70, users=users)
    monkeypatch.setattr("rr_core.collected.replicates._SECONDS", 0.0)
    told = []
    stopped = bootstrap(
        COUNTS, MECHANISM, 200, users=users, progress=lambda done: told.append(done) or len(told) == 2
    )
    assert told == [64, 128]
    assert (stopped.done, stopped.asked) == (128, 200)
    for other in (short, stopped):
        for metric in METRICS:
            np.testing.assert_array_equal(other.errors[metric], long.errors[metric][: other.done])
        np.testing.assert_array_equal(other.ratios, long.ratios[:, : other.done])
        np.testing.assert_array_equal(other.largest, long.largest[: other.done])
    assert (bootstrap(COUNTS, MECHANISM, 70, seed=1).largest != short.largest).any()


def test_the_last_call_of_progress_is_at_the_end():
    told = []
    bootstrap(COUNTS, MECHANISM, 100, progress=lambda done: bool(told.append(done)))
    assert told[-1] == 100


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda w: sum(w) > 0), st.integers(1, 10**6))
def test_whole_users_by_largest_remainder(weights, n):
    shares = np.array(weights) / sum(weights)
    users = whole_users(shares, n)
    assert users.sum() == n
    assert (users >= 0).all()
    assert (np.abs(users - n * shares) < 1 + 1e-9 * n).all()
    left = n * shares - np.floor(n * shares)
    more = users > np.floor(n * shares)
    if more.any() and not more.all():
        assert left[more].min() >= left[~more].max()


def test_what_is_followed_of_many_levels():
    shares = np.repeat(np.concatenate([[0.0], np.linspace(1, 3, 900)]), 3)
    shares /= shares.sum()
    followed = Followed.of(shares)
    levels = np.unique(shares)
    assert followed.values.size <= 256
    assert followed.members.size <= 512
    assert (np.diff(followed.values) > 0).all()
    assert {levels[0], *levels[-12:]} <= set(followed.values)
    groups = np.split(followed.members, followed.starts[1:])
    for value, members in zip(followed.values, groups, strict=True):
        assert (shares[members] == value).all()
        assert np.unique(members).size == members.size >= 1
    # A ratio that is linear in the share is interpolated exactly.
    ratios = np.tile(1 + shares[followed.members], (5, 1))
    np.testing.assert_allclose(followed.quantiles(ratios, 0.9), 1 + shares, rtol=1e-12)


def test_members_of_a_large_group_are_spread_over_it():
    followed = Followed.of(np.concatenate([np.zeros(5000), [1.0]]))
    zeros = followed.members[: followed.starts[1]]
    assert zeros.size == 256
    assert zeros.min() == 0
    assert zeros.max() == 4999


@pytest.mark.parametrize("users", USERS)
def test_long_rows_are_counted_by_pairs_with_the_same_result(users, monkeypatch):
    mechanism = RandomizedResponse(60_000, 4.0)
    counts = np.random.default_rng(1).multinomial(60_000, mechanism.expected(zipf(60_000, 1.0)))
    seen = []
    reduce = module._Cells.reduce
    monkeypatch.setattr(
        module._Cells, "reduce", lambda cells, block: seen.append(reduce(cells, block)) or seen[-1]
    )
    pairs = bootstrap(counts, mechanism, 2, users=users)
    assert all(reports.shape[1] < 30_000 for reports, _, _ in seen)
    assert all(weights.sum() == 60_000 for _, _, weights in seen)
    monkeypatch.setattr(module, "LONG_ROW", 10**9)
    plain = bootstrap(counts, mechanism, 2, users=users)
    for metric in METRICS:
        np.testing.assert_allclose(pairs.errors[metric], plain.errors[metric], rtol=1e-9)
    np.testing.assert_allclose(pairs.largest, plain.largest, rtol=1e-9)


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(
    ("counts", "epsilon"), [([1, 0], 1.0), ([0, 7], 20.0), ([10**9, 0, 3], 0.01), ([4, 1, 0], 5000.0)]
)
def test_extremes(counts, epsilon, users):
    result = bootstrap(counts, RandomizedResponse(len(counts), epsilon), 30, users=users)
    for name in ESTIMATORS:
        interval = result.interval(name)
        assert np.isfinite(interval.low).all()
        assert (interval.low <= interval.high).all()
        if name != "inv":
            assert (interval.low >= 0).all()
            assert (interval.high <= 1).all()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="users must be 'fixed' or 'sampled', got 'some'"):
        bootstrap(COUNTS, MECHANISM, users="some")
    with pytest.raises(ValueError, match="replicates must be an integer >= 1"):
        bootstrap(COUNTS, MECHANISM, 0)
    result = bootstrap(COUNTS, MECHANISM, 5)
    with pytest.raises(ValueError, match="name must be one of inv, inv_n, inv_p, mle_star, got 'ibu'"):
        result.interval("ibu")
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        result.interval("inv", 1.0)
