"""The same people every day: every formula against all reports there can be, every sampler against its law."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core.protocols.laws import hash_range
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, reports_of, simulated_rmse
from tests.sentences import holds

TWO_STEPS = ("l_grr", "rappor", "l_osue", "loloha")
SETTINGS = [(2, 0.3, 0.1, 2), (3, 1.0, 0.5, 2), (3, 2.0, 1.7, 3), (4, 1.5, 0.2, 3)]


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
@pytest.mark.parametrize("setting", [*SETTINGS, (3, 8.0, 4.0, 2), (2, 1.0, 0.95, 2)])
@pytest.mark.parametrize("key", SCHEMES)
@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_no_reports_under_changing_values_spend_more_than_is_promised(key, setting, t):
    scheme = made(key, *setting)
    outcomes = 2**scheme.k if scheme.unary else scheme.cells
    if (outcomes * min(scheme.k, scheme.cells)) ** t > 500_000:
        pytest.skip("too many sequences")
    for changes in range(t):
        exact = largest_log_ratio(scheme, t, changes)
        promised = float(scheme.epsilon_any_changes(t, changes))
        assert promised >= exact * (1 - 1e-12)
        if key in ("fresh", "memoised") or changes == 0:
            assert promised == pytest.approx(exact, rel=1e-9)
        else:
            assert promised <= 2.5 * exact


@pytest.mark.parametrize("setting", [*SETTINGS, (3, 8.0, 4.0, 2), (2, 1.0, 0.95, 2)])
@pytest.mark.parametrize("key", [key for key in SCHEMES if key != "fresh"])
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_values_in_turn_spend_this_for_who_knows_which_days_share_noise(key, setting, every, t):
    scheme = made(key, *setting)
    outcomes, values = 2**scheme.k if scheme.unary else scheme.cells, min(scheme.k, scheme.cells)
    if (outcomes * values) ** t > 500_000:
        pytest.skip("too many sequences")
    sets = [day // every % values for day in range(t)]
    in_turn = [[order[one] for one in sets] for order in itertools.permutations(range(values), max(sets) + 1)]
    assert ratio_of(scheme, in_turn) == pytest.approx(float(scheme.epsilon_changing(t, every)), rel=1e-9)


@pytest.mark.parametrize("key", [key for key in SCHEMES if key != "fresh"])
def test_to_know_the_days_of_change_is_not_to_know_which_days_share_noise(key):
    """Three values, all changing every day: (a, b, a) against (a, b, c)."""
    scheme = made(key, 3, 1.0, None if key == "memoised" else 0.5, 3)
    sequences = itertools.product(range(3), repeat=3)
    changing = [values for values in sequences if all(a != b for a, b in itertools.pairwise(values))]
    found = ratio_of(scheme, changing)
    assert found > 1.1 * float(scheme.epsilon_changing(3, 1))
    assert np.isinf(found) == (key == "memoised")


def test_rappor_with_a_value_that_changes_spends_far_more_than_its_values():
    """Twelve categories, epsilon 1: (a, a) against (b, c) is 4.00, place by place; the sum over the values is 1."""
    scheme, places = Longitudinal("rappor", 12, 1.0), []
    law, (p2, _, q2, _) = scheme.permanent, scheme.second

    def chance(bits, ones, together):
        """Of these two bits of one place, remembered with the chances ``ones``, as one answer or as two."""
        each = [[p2 if bit else q2, q2 if bit else p2] for bit in bits]
        if together:
            return ones[0] * each[0][0] * each[1][0] + (1 - ones[0]) * each[0][1] * each[1][1]
        return math.prod(one * yes + (1 - one) * no for one, (yes, no) in zip(ones, each, strict=True))

    p, q = law.p_star, law.q_star
    for of_aa, of_bc in [(p, (q, q)), (q, (p, q)), (q, (q, p)), *[(q, (q, q))] * 9]:
        pairs = itertools.product((0, 1), repeat=2)
        places.append(max(math.log(chance(y, (of_aa,), True) / chance(y, of_bc, False)) for y in pairs))
    assert sum(places) == pytest.approx(4.00, abs=0.005)
    assert sum(places) <= float(scheme.epsilon_any_changes(2, 1)) <= 1.11 * sum(places)
    assert float(scheme.epsilon_changing(2, 1)) == pytest.approx(1.0)


@given(
    st.sampled_from(SCHEMES),
    st.integers(2, 10**6),
    st.floats(0.01, 700.0),
    st.floats(0.01, 0.99),
    st.integers(1, 60),
)
def test_not_to_know_the_days_of_change_never_spends_less(key, k, epsilon, part, t):
    scheme = Longitudinal(key, k, epsilon, part * epsilon if key in TWO_STEPS else None)
    days = np.arange(1, t + 1)
    for every in (1, 3, t):
        spent = scheme.epsilon_any_changes(days, (days - 1) // every)
        assert not np.isnan(spent).any()
        assert (spent >= scheme.epsilon_changing(days, every) * (1 - 1e-9)).all()
    more = scheme.epsilon_any_changes(t, np.arange(t))
    assert (np.diff(more[np.isfinite(more)]) >= -1e-9 * more[0]).all()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("key", TWO_STEPS)
def test_the_first_report_grants_what_was_asked_and_all_together_at_most_epsilon(key, setting):
    scheme = made(key, *setting)
    assert float(scheme.epsilon_after(1)) == pytest.approx(setting[2], rel=1e-12)
    spent = scheme.epsilon_after(np.arange(1, 400))
    assert (np.diff(spent) >= -1e-12).all()
    assert spent.max() <= scheme.epsilon * (1 + 1e-12)
    assert spent[-1] == pytest.approx(scheme.epsilon, rel=0.35)
    assert float(scheme.epsilon_after(10**9)) == pytest.approx(scheme.epsilon, rel=1e-12)


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
@pytest.mark.parametrize("t", [1, 2, 3])
def test_likelihoods_and_variances_are_those_of_the_enumeration(key, setting, t):
    scheme = made(key, *setting)
    if scheme.unary and t * scheme.k > 9:
        pytest.skip("too many sequences")
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
@pytest.mark.parametrize("t", [1, 2, 4])
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
    scheme, n, days, batches = made(key, 4, 1.5, 0.6, 3), 500, 6, 4000
    truth = np.array([250, 150, 80, 20])
    supports = scheme._sums(np.tile(truth, (batches, 1)), np.ones(days, np.int64), np.random.default_rng(7))
    assert supports.shape == (days, batches, 4)
    sums = scheme._sums(np.tile(truth, (batches, 1)), np.array([1, 5]), np.random.default_rng(8))
    for t, days_together in ((1, sums[0]), (3, None), (6, sums.sum(axis=0))):
        if days_together is not None:
            variance = scheme.variance(truth / n, n, t)
            found = scheme.estimate(days_together / t, n).var(axis=0)
            assert np.abs(found / variance - 1).max() < 5 * math.sqrt(2 / batches)
        means = scheme.estimate(supports[:t].mean(axis=0), n)
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
    days = [1, 2] if scheme.unary and scheme.k == 4 else [1, 2, 3]
    found = guesses(scheme, prior, days, 40_000, 5)
    functions = [None]
    if key == "loloha":
        functions = list(itertools.product(range(scheme.cells), repeat=scheme.k))
    for i, t in enumerate(days):
        right = np.mean(
            [
                (prior[:, None] * law_of_reports(scheme, t, hashes)[0]).max(axis=0).sum()
                for hashes in functions
            ]
        )
        assert abs(found.right[i] - right) <= 5 * found.error[i] + 1e-12
    assert guesses(scheme, prior, [0], 10, 1).right[0] == pytest.approx(prior.max())


def test_fresh_noise_gives_everybody_away_and_a_remembered_answer_does_not():
    prior = np.full(10, 0.1)
    fresh = guesses(Longitudinal("fresh", 10, 1.0), prior, [365], 500, 1).right[0]
    assert fresh > 0.999
    for key in SCHEMES[1:]:
        scheme = Longitudinal(key, 10, 1.0)
        right = guesses(scheme, prior, [1, 10**6], 4000, 1).right
        assert right[1] < 0.35, key
    # What is remembered of L-GRR is the report of k-RR at epsilon, so in the end they show the same.
    two = guesses(Longitudinal("l_grr", 10, 1.0), prior, [10**6], 4000, 1)
    one = guesses(Longitudinal("memoised", 10, 1.0), prior, [1], 2)
    assert two.right[0] == pytest.approx(one.right[0], abs=1e-9)


@pytest.mark.parametrize("key", SCHEMES)
def test_the_reports_of_one_person_have_the_law_of_the_enumeration(key):
    scheme, t, people = made(key, 2, 1.5, 0.6, 2), 2, 1500
    seen = [tuple(reports_of(scheme, 1, t, i).tolist()) for i in range(people)]
    expected = {}
    for hashes in itertools.product(range(2), repeat=2) if key == "loloha" else [None]:
        chances, sequences, outcomes = law_of_reports(scheme, t, hashes)
        for chance, days in zip(chances[1], sequences, strict=True):
            counts = np.bincount(days, minlength=2)
            if scheme.unary:
                counts = np.sum([outcomes[y] for y in days], axis=0)
            expected[tuple(counts.tolist())] = expected.get(tuple(counts.tolist()), 0.0) + chance
    total = sum(expected.values())
    for counts, weight in expected.items():
        chance = weight / total
        off = abs(seen.count(counts) / people - chance)
        assert off <= 5 * math.sqrt(chance * (1 - chance) / people) + 1e-12, counts
    assert set(seen) <= set(expected)


def printed_second(epsilon, first):
    return (math.exp(epsilon + first) - 1) / (math.exp(epsilon) - math.exp(first))


@pytest.mark.parametrize(("k", "grants"), [(2, 1.0), (10, 0.70)])
def test_the_printed_second_step_of_l_grr_grants_less_than_asked(k, grants):
    e, f = math.exp(2.0), printed_second(2.0, 1.0)
    one_report = math.log((e * f + k - 1) / (e + f + k - 2))
    assert one_report == pytest.approx(grants, abs=0.005)
    assert Longitudinal("l_grr", k, 2.0, 1.0).epsilon_after(1) == pytest.approx(1.0)


@pytest.mark.parametrize("key", ["rappor", "l_osue"])
@pytest.mark.parametrize(("epsilon", "first"), [(1.0, 0.5), (3.0, 2.5), (0.2, 0.1)])
def test_the_printed_second_steps_of_unary_encoding_are_right(key, epsilon, first):
    half = 0.5 if key == "rappor" else 1.0
    scheme = Longitudinal(key, 7, epsilon, first)
    assert math.exp(scheme.log_odds) == pytest.approx(printed_second(half * epsilon, half * first))
    e, b = math.exp(epsilon), math.exp(first)
    if key == "l_osue":
        assert scheme.second.p == pytest.approx((1 - b * e) / (b - e - b * e + 1))


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


@given(
    st.sampled_from(SCHEMES),
    st.integers(2, 10**7),
    st.floats(0.01, 700.0),
    st.floats(0.01, 0.99),
    st.integers(0, 10**6),
)
def test_everything_is_finite_and_ordered(key, k, epsilon, part, t):
    scheme = Longitudinal(key, k, epsilon, part * epsilon if key in TWO_STEPS else None)
    spent, later = scheme.epsilon_after([t, t + 1]).tolist()
    assert 0 <= spent <= later * (1 + 1e-12) + 1e-15
    if key != "fresh":
        assert later <= epsilon * (1 + 1e-9)
    assert 0 <= scheme.epsilon_changing(t) <= (k * epsilon if key != "fresh" else t * epsilon) * (1 + 1e-9)
    one, many = scheme.variance(1 / k, 100, [1, t + 1]).tolist()
    assert 0 <= many <= one * (1 + 1e-12)
    assert math.isfinite(one)
    assert one == pytest.approx(float(scheme.daily.variance(1 / k, 100)), rel=1e-6, abs=1e-300)
