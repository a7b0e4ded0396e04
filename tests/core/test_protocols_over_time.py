"""The same people every day: every formula against all reports there can be, every sampler against its law."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core.protocols.laws import hash_range
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, simulated_rmse
from tests.sentences import holds

TWO_STEPS = ("l_grr", "rappor", "l_osue", "loloha")
SETTINGS = [(2, 0.3, 0.1, 2), (3, 2.0, 1.7, 3), (4, 1.5, 0.2, 3)]  # k, epsilon, that of one report, g


def made(key, k, epsilon, first, g):
    return Longitudinal(key, k, epsilon, first if key in TWO_STEPS else None, g if key == "loloha" else None)


def table(size, p, q):
    """(size, size) chances of k-RR."""
    return np.where(np.eye(size, dtype=bool), p, q)


def steps_of(scheme):
    """(values, answers) of the first step, (answers, reports) of the second; None and the one step of fresh noise."""
    size, second = scheme.cells, scheme.second
    if scheme.unary:
        bits, law = reports_of_a_day(scheme), scheme.permanent
        bit, flip = (
            [[1 - chance, chance] for chance in (law.q_star, law.p_star)],
            table(2, second.p, second.q),
        )
        first = [[math.prod(bit[i == x][y[i]] for i in range(size)) for y in bits] for x in range(size)]
        return np.array(first), np.array([[math.prod(flip[a, b]) for b in bits] for a in bits])
    odds = math.exp(scheme.epsilon)
    once = table(size, odds / (odds + size - 1), 1 / (odds + size - 1))
    if scheme.scheme == "fresh":
        return None, once
    return once, np.eye(size) if scheme.scheme == "memoised" else table(size, second.p, second.q)


def reports_of_a_day(scheme):
    """Everything that one report can be: a value, or all bits."""
    return list(itertools.product(*[[0, 1]] * scheme.k if scheme.unary else [range(scheme.cells)]))


def law_of_reports(scheme, t, hashes=None):
    """(values, outcomes) chance of every sequence of t reports of one person, by enumeration; and the sequences.
    Unary encoding: all bits. LOLOHA: for one hash function."""
    memo, daily = steps_of(scheme)
    memo = np.eye(len(daily)) if memo is None else memo
    memo = memo if hashes is None else memo[list(hashes)]
    outcomes = reports_of_a_day(scheme)
    sequences = list(itertools.product(range(len(outcomes)), repeat=t))
    given_memo = np.array(
        [[math.prod(daily[a, y] for y in days) for days in sequences] for a in range(len(daily))]
    )
    return memo @ given_memo, sequences, outcomes


def law_of_changing(first, second, values):
    """(sequences of reports,) their chances, for a person whose value is values[i] on day i."""
    days, reports = len(values), second.shape[1]
    law = np.ones((1,) * days)
    for value in set(values):
        of_value = [i for i, one in enumerate(values) if one == value]
        if first is None:
            for i in of_value:
                law = law * second[value].reshape([reports if j == i else 1 for j in range(days)])
            continue
        joint = first[value].reshape(-1, *(1,) * days)
        for i in of_value:
            joint = joint * second.reshape(len(second), *(reports if j == i else 1 for j in range(days)))
        law = law * joint.sum(axis=0)
    return law.ravel()


def largest_log_ratio(scheme, t, changes):
    """Of the chances of any t reports under any two sequences of values that change at most so many times."""
    sequences = itertools.product(range(min(scheme.k, scheme.cells)), repeat=t)
    few = [values for values in sequences if sum(a != b for a, b in itertools.pairwise(values)) <= changes]
    return ratio_of(scheme, few)


def lengths(scheme):
    """Numbers of days for which all sequences of values and of reports are few enough to go through."""
    outcomes = 2**scheme.k if scheme.unary else scheme.cells
    each = outcomes * min(scheme.k, scheme.cells)
    return [t for t in range(1, 5) if each**t <= 500_000]


def ratio_of(scheme, sequences):
    """The largest log-ratio of the chances of any reports under two of these sequences of values."""
    steps = steps_of(scheme)
    laws = np.array([law_of_changing(*steps, values) for values in sequences])
    assert laws.sum(axis=1) == pytest.approx(1)
    with np.errstate(divide="ignore"):
        logs = np.log(laws[:, laws.max(axis=0) > 0])
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


@holds(
    "With values that change, the limit holds whatever the values, and for an onlooker who does not know on which days "
    "they change: reports that stop looking alike tell of a change, and memoised ones, when two differ, prove it."
)
@pytest.mark.parametrize("setting", [*SETTINGS, (3, 8.0, 4.0, 2)])
@pytest.mark.parametrize("key", SCHEMES)
def test_no_reports_under_changing_values_spend_more_than_is_promised(key, setting):
    scheme = made(key, *setting)
    for t, changes in [(days, changes) for days in lengths(scheme) for changes in range(days)]:
        exact = largest_log_ratio(scheme, t, changes)
        promised = float(scheme.epsilon_any_changes(t, changes))
        assert promised >= exact * (1 - 1e-12)
        if key in ("fresh", "memoised") or changes == 0:
            assert promised == pytest.approx(exact, rel=1e-9)
        else:
            assert promised <= 2.5 * exact


@pytest.mark.parametrize("setting", [*SETTINGS, (3, 8.0, 4.0, 2)])
@pytest.mark.parametrize("key", [key for key in SCHEMES if key != "fresh"])
def test_values_in_turn_spend_this_for_who_knows_which_days_share_noise(key, setting):
    scheme = made(key, *setting)
    values = min(scheme.k, scheme.cells)
    for t, every in itertools.product(lengths(scheme), (1, 2)):
        sets = [day // every % values for day in range(t)]
        orders = itertools.permutations(range(values), max(sets) + 1)
        in_turn = [[order[one] for one in sets] for order in orders]
        assert ratio_of(scheme, in_turn) == pytest.approx(float(scheme.epsilon_changing(t, every)), rel=1e-9)


@given(
    st.sampled_from(SCHEMES),
    st.integers(2, 10**6),
    st.floats(0.01, 700.0),
    st.floats(0.01, 0.99),
    st.integers(1, 60),
)
def test_what_is_spent_and_what_is_learned_are_finite_and_ordered(key, k, epsilon, part, t):
    """More days spend more, and not to know the days of change never less; estimates become better."""
    scheme = Longitudinal(key, k, epsilon, part * epsilon if key in TWO_STEPS else None)
    days = np.arange(1, t + 1)
    unchanged, variances = scheme.epsilon_after(days), scheme.variance(1 / k, 100, days)
    assert (np.diff(unchanged) >= -1e-12 * unchanged[:-1]).all()
    assert unchanged[-1] <= (t if key == "fresh" else 1) * epsilon * (1 + 1e-9)
    assert np.isfinite(variances).all()
    assert (np.diff(variances) <= 1e-12 * variances[:-1]).all()
    assert variances[0] == pytest.approx(float(scheme.daily.variance(1 / k, 100)), rel=1e-6, abs=1e-300)
    for every in (1, 3, t):
        spent = scheme.epsilon_any_changes(days, (days - 1) // every)
        assert not np.isnan(spent).any()
        assert (spent >= scheme.epsilon_changing(days, every) * (1 - 1e-9)).all()
    more = scheme.epsilon_any_changes(t, np.arange(t))
    assert (np.diff(more[np.isfinite(more)]) >= -1e-9 * more[0]).all()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("key", SCHEMES)
def test_one_day_is_the_protocol_that_is_used_once(key, setting):
    scheme, daily = made(key, *setting), made(key, *setting).daily
    k, size = scheme.k, scheme.cells
    if key == "loloha":
        own, other = [], []
        for hashes in itertools.product(range(size), repeat=k):
            chances, _, outcomes = law_of_reports(scheme, 1, hashes)
            own.append(sum(chances[0, y] for y in range(size) if hashes[0] == y))
            other.append(sum(chances[1, y] for y in range(size) if hashes[0] == y))
        own, other = np.mean(own), np.mean(other)
    else:
        chances, _, outcomes = law_of_reports(scheme, 1)
        supports = np.array([bool(y[0]) if scheme.unary else y[0] == 0 for y in outcomes])
        own, other = chances[0, supports].sum(), chances[1, supports].sum()
    assert own == pytest.approx(daily.p_star, rel=1e-12)
    assert other == pytest.approx(daily.q_star, rel=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("key", SCHEMES)
def test_likelihoods_and_variances_are_those_of_the_enumeration(key, setting):
    scheme = made(key, *setting)
    t = 2 if scheme.unary and scheme.k == 4 else 3
    chances, sequences, outcomes = law_of_reports(scheme, t)
    counts = np.array([np.sum([outcomes[y] for y in days], axis=0) for days in sequences])
    if not scheme.unary:
        flat = np.array(sequences)
        counts = (flat[:, :, None] == np.arange(scheme.cells)).sum(axis=1)
    possible = (chances > 0).all(axis=0)
    found = scheme.log_likelihood(counts[possible], t)
    exact = np.log(chances[:, possible]).T
    np.testing.assert_allclose(found - found[:, :1], exact - exact[:, :1], atol=1e-10)
    if key == "loloha":
        return
    shares = np.full(scheme.k, 0.0)
    shares[0] = 0.25
    shares[1:] = 0.75 / (scheme.k - 1)
    mean = counts[:, 0] / t
    variances = chances @ mean**2 - (chances @ mean) ** 2
    expected = (shares @ variances) / scheme.daily.keep**2 / 7
    assert float(scheme.variance(0.25, 7, t)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("t", [1, 3])
def test_the_variance_of_loloha_is_that_over_all_hash_functions(setting, t):
    scheme = made("loloha", *setting)
    moments = np.zeros((scheme.k, 2))
    functions = list(itertools.product(range(scheme.cells), repeat=scheme.k))
    for hashes in functions:
        chances, sequences, _ = law_of_reports(scheme, t, hashes)
        mean = (np.array(sequences) == hashes[0]).mean(axis=1)
        moments += np.stack([chances @ mean, chances @ mean**2], axis=1) / len(functions)
    variances = moments[:, 1] - moments[:, 0] ** 2
    expected = (0.4 * variances[0] + 0.6 * variances[1]) / scheme.daily.keep**2 / 11
    assert float(scheme.variance(0.4, 11, t)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("key", SCHEMES)
def test_simulated_days_have_the_mean_and_the_variance_of_the_formula(key):
    scheme, n, batches = made(key, 4, 1.5, 0.6, 3), 500, 4000
    truth, days = np.array([250, 150, 80, 20]), np.array([1, 2, 3])
    sums = scheme._sums(np.tile(truth, (batches, 1)), days, np.random.default_rng(7))
    assert sums.shape == (3, batches, 4)
    for t, ones in zip(days.cumsum(), sums.cumsum(axis=0), strict=True):
        means = scheme.estimate(ones / t, n)
        variance = scheme.variance(truth / n, n, t)
        # Thresholds of normal estimates: five standard errors.
        assert (np.abs(means.mean(axis=0) - truth / n) < 5 * np.sqrt(variance / batches)).all()
        assert np.abs(means.var(axis=0) / variance - 1).max() < 5 * math.sqrt(2 / batches)


@pytest.mark.parametrize("key", SCHEMES)
def test_simulated_errors_agree_with_the_formula(key):
    scheme, truth, days, repeats = made(key, 4, 1.5, 0.6, 3), [250, 150, 80, 20], np.array([1, 2, 30]), 3000
    found = simulated_rmse(scheme, truth, days, repeats, 11)
    mean = np.mean([scheme.variance(count / 500, 500, days) for count in truth], axis=0)
    # The categories' errors may agree fully: five standard errors of the mean of `repeats` squares.
    assert np.abs(found**2 / mean - 1).max() < 5 * math.sqrt(2 / repeats)


@pytest.mark.parametrize("key", SCHEMES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_guesses_are_right_as_often_as_by_enumeration(key, setting):
    scheme = made(key, *setting)
    prior = np.arange(1, scheme.k + 1) / sum(range(1, scheme.k + 1))
    days = [1, 2] if scheme.unary and scheme.k == 4 else [1, 3]
    found = guesses(scheme, prior, days, 20_000, 5)
    functions = [None]
    if key == "loloha":
        functions = list(itertools.product(range(scheme.cells), repeat=scheme.k))
    for i, t in enumerate(days):
        joint = [prior[:, None] * law_of_reports(scheme, t, hashes)[0] for hashes in functions]
        right = np.mean([one.max(axis=0).sum() for one in joint])
        assert abs(found.right[i] - right) <= 5 * found.error[i] + 1e-12
    assert guesses(scheme, prior, [0], 10, 1).right[0] == pytest.approx(prior.max())


def test_after_a_million_days_an_onlooker_knows_what_is_remembered():
    """Of L-GRR that is the report of k-RR at epsilon, which memoised answers show at once."""
    prior = np.full(10, 0.1)
    two = guesses(Longitudinal("l_grr", 10, 1.0), prior, [10**6], 4000, 1)
    one = guesses(Longitudinal("memoised", 10, 1.0), prior, [1], 2)
    assert two.right[0] == pytest.approx(one.right[0], abs=1e-9)


def printed_second(epsilon, first):
    return (math.exp(epsilon + first) - 1) / (math.exp(epsilon) - math.exp(first))


@pytest.mark.parametrize(("k", "grants"), [(2, 1.0), (10, 0.70)])
def test_the_printed_second_step_of_l_grr_grants_less_than_asked(k, grants):
    e, f = math.exp(2.0), printed_second(2.0, 1.0)
    one_report = math.log((e * f + k - 1) / (e + f + k - 2))
    assert one_report == pytest.approx(grants, abs=0.005)
    assert Longitudinal("l_grr", k, 2.0, 1.0).epsilon_after(1) == pytest.approx(1.0)


@pytest.mark.parametrize(("epsilon", "first"), [(1.0, 0.5), (3.0, 2.0), (5.0, 2.5), (5.0, 4.0)])
def test_the_g_of_loloha_is_best_and_the_printed_one_is_not_better(epsilon, first):
    a, b = math.exp(epsilon), math.exp(first)
    root = math.sqrt(a**4 - 14 * a**2 + 12 * a * b * (1 - a * b) + 12 * a**3 * b + 1)
    printed = 1 + max(1, round((1 - a**2 + root) / (6 * (a - b))))
    ours = Longitudinal("loloha", 10**6, epsilon, first)
    assert ours.g == hash_range(first)
    variances = [
        float(Longitudinal("loloha", 10**6, epsilon, first, g).variance(0, 1))
        for g in (*range(2, 80), printed)
    ]
    assert float(ours.variance(0, 1)) <= min(variances) * (1 + 1e-12)
