"""People for one share: against the textbook, the exact binomial, and simulated surveys of every design."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rr_core.plan.one_share import Goal, hardest_share, people_needed, share_curve
from rr_core.protocols import Channel, UnaryEncoding, inv
from rr_core.reports.designs import DESIGNS, OF_ONE_SHARE, Unclear, kuk, table_of_one_share, unrelated
from rr_core.words.plan import SHARE_FORMULAS
from tests.sentences import holds

BIT = UnaryEncoding(9, 1.5, optimized=True)
TABLES = {
    "warner": Channel.warner(0.7),
    "crosswise": Channel.warner(0.25),
    "unrelated": unrelated(0.7, 0.25),
    "forced": Channel.forced_response([1 / 12, 1 / 6]),
    "kuk": kuk(0.8, 0.2, 5),
    "unary": Channel(np.array([[1 - BIT.q, BIT.q], [1 - BIT.p, BIT.p]])),
}
WRITTEN = {
    "warner": ["0.7"],
    "crosswise": ["1/4"],
    "unrelated": ["70%", "0.25"],
    "forced": ["1/12", "1/6"],
    "kuk": ["0.8", "0.2", "5"],
    "unary": ["1.5"],
}
Z, DRAWS = stats.norm.ppf(0.975), 6000
ERRORS = 4.0  # standard errors of a simulated chance, beyond which it is not the true one


def standard_error(chance):
    return math.sqrt(chance * (1 - chance) / DRAWS)


def surveys(table, share, n, rng):
    """Estimates of the share from simulated surveys of n people drawn from a population, and the reports themselves."""
    reports = rng.multinomial(int(n), [1 - share, share] @ table.matrix, size=DRAWS)
    return inv(reports, table)[:, 1], reports


def spread(table, estimates, n):
    """Standard errors as an analysis has them: from the law of total variance at the estimates."""
    weights = inv(np.eye(table.m), table)[:, 1]
    none, have = (row @ weights**2 - (row @ weights) ** 2 for row in table.matrix)
    at = np.clip(estimates, 0, 1)
    return np.sqrt((have * at + none * (1 - at) + at * (1 - at)) / n)


def test_every_design_has_its_table_of_what_is_written():
    assert {one.key for one in OF_ONE_SHARE} == set(TABLES) == set(WRITTEN)
    for key, table in TABLES.items():
        encoding = "oue" if key == "unary" else "rappor"
        made = table_of_one_share(DESIGNS[key], WRITTEN[key], encoding)
        np.testing.assert_allclose(made.matrix, table.matrix, atol=1e-15)
    bit = table_of_one_share(DESIGNS["unary"], ["0", "0.25", "0.75"], "fpq")
    np.testing.assert_allclose(bit.matrix, [[0.75, 0.25], [0.25, 0.75]])
    with pytest.raises(Unclear, match="nobody can estimate"):
        table_of_one_share(DESIGNS["warner"], ["1/2"])


@pytest.mark.parametrize(("p", "share"), [(0.05, 0.01), (0.3, 0.1), (0.7, 0.5), (0.9, 0.93)])
def test_warner_is_the_textbooks(p, share):
    """Warner 1965: Var = share (1 - share)/n + p (1 - p)/(n (2 p - 1)^2)."""
    table = Channel.warner(p)
    once = share * (1 - share) + p * (1 - p) / (2 * p - 1) ** 2
    assert people_needed(table, Goal("half_width", 0.02), share) == math.ceil(Z**2 * once / 0.02**2)
    other = share + 0.04
    both = once + other * (1 - other) + p * (1 - p) / (2 * p - 1) ** 2
    z = Z + stats.norm.ppf(0.9)
    assert people_needed(table, Goal("difference", 0.04, 0.9), share) == math.ceil(z**2 * both / 0.04**2)


def test_answers_asked_directly_are_those_of_plain_binomials():
    directly = Channel(np.eye(2))
    assert people_needed(directly, Goal("half_width", 0.03), 0.5) == 1068
    # Who has it says so: one of them among N is enough.
    assert people_needed(directly, Goal("power", power=0.95), 0.01) == math.ceil(
        math.log(0.05) / math.log(0.99)
    )


@holds("The unbiased estimate of $\\pi$ from $N$ people has the variance $V(\\pi)/N$ with")
@pytest.mark.parametrize("key", TABLES)
def test_the_interval_has_its_half_width_and_holds_the_share(key):
    table, rng = TABLES[key], np.random.default_rng(7)
    for share, half in ((0.1, 0.03), (0.4, 0.05)):
        n = people_needed(table, Goal("half_width", half), share)
        estimates, _ = surveys(table, share, n, rng)
        error = half / Z
        assert abs(estimates.mean() - share) < ERRORS * error / math.sqrt(DRAWS)
        assert abs(estimates.std() / error - 1) < ERRORS / math.sqrt(2 * DRAWS) + 1 / n
        reach = Z * spread(table, estimates, n)
        assert abs(reach.mean() / half - 1) < 0.01
        held = np.mean(np.abs(estimates - share) <= reach)
        assert abs(held - 0.95) < ERRORS * standard_error(0.95) + 0.004  # whole reports


def split(table):
    """Of which reports the test counts how many: the chances of those from no and from yes."""
    order = sorted(range(table.m), key=lambda j: table.matrix[0, j] / table.matrix[1, j])
    kinds = [order[: i + 1] for i in range(table.m - 1)]

    def telling(some):
        none, have = table.matrix[:, some].sum(axis=1)
        return (have - none) ** 2 / (none * (1 - none))

    best = max(kinds, key=telling)
    return best, *table.matrix[:, best].sum(axis=1).tolist()


@holds(
    "**To tell it from zero:** $\\mathrm{Binomial}(N, b)$ reaches a number of “yes” with a chance of 5% at most; "
    "$\\mathrm{Binomial}(N, m)$ reaches it with the power."
)
@pytest.mark.parametrize(("key", "power"), [*((key, 0.8) for key in TABLES), ("warner", 0.9)])
def test_the_power_is_that_of_the_exact_binomial_from_there_on_and_not_long_before(key, power):
    _, none, have = split(TABLES[key])
    for share in (0.05, 0.5):
        needed = int(people_needed(TABLES[key], Goal("power", power=power), share))
        n = np.arange(1, 2 * needed + 100)
        threshold = stats.binom.isf(0.05, n, none) + 1
        assert (stats.binom.sf(threshold - 1, n, none) <= 0.05 + 1e-12).all()
        reached = stats.binom.sf(threshold - 1, n, none + share * (have - none)) >= power
        assert reached[needed - 1 :].all()
        exact = int(n[~reached].max(initial=0)) + 1
        assert needed == exact if needed <= 3000 else exact < needed < 1.02 * exact


@pytest.mark.parametrize("key", TABLES)
def test_simulated_surveys_have_the_power_and_err_as_seldom(key):
    table, rng = TABLES[key], np.random.default_rng(11)
    counted, none, _ = split(table)
    n = int(people_needed(table, Goal("power", power=0.8), 0.1))
    threshold = stats.binom.isf(0.05, n, none) + 1
    for share, low, high in ((0.1, 0.8, 1.0), (0.0, 0.0, 0.05)):
        found = np.mean(surveys(table, share, n, rng)[1][:, counted].sum(axis=1) >= threshold)
        assert low - ERRORS * standard_error(0.8) < found < high + ERRORS * standard_error(0.05)
    n = int(people_needed(table, Goal("difference", 0.1, 0.8), 0.1))
    for other, chance in ((0.2, 0.8), (0.1, 0.05)):
        one, two = (surveys(table, share, n, rng)[0] for share in (0.1, other))
        error = np.hypot(spread(table, one, n), spread(table, two, n))
        found = np.mean(np.abs(two - one) > Z * error)
        assert abs(found - chance) < ERRORS * standard_error(chance) + 0.005


@pytest.mark.parametrize("key", TABLES)
def test_no_share_takes_more_than_the_hardest_and_rarer_ones_take_more_to_tell_from_zero(key):
    table = TABLES[key]
    for goal in (Goal("half_width", 0.03), Goal("difference", 0.3, 0.9)):
        curve = share_curve(table, goal, 0.2)
        assert curve.hardest is not None
        everywhere = people_needed(table, goal, np.linspace(0, goal.largest_share, 2001))
        assert everywhere.max() == curve.hardest[1]
        assert curve.hardest[0] == hardest_share(table, goal)
    rarer = people_needed(table, Goal("power", power=0.9), np.geomspace(0.001, 1, 30))
    assert (np.diff(rarer) <= 0).all()


@pytest.mark.parametrize("kind", ["power", "half_width"])
def test_answers_that_tell_next_to_nothing_take_endlessly_many(kind):
    assert people_needed(Channel.warner(0.5 + 1e-8), Goal(kind), 0.1) == np.inf


def test_the_formulas_have_the_numbers_of_the_normal_law():
    assert all(f"{stats.norm.ppf(p):.2f}" in SHARE_FORMULAS for p in (0.975, 0.8, 0.9))
