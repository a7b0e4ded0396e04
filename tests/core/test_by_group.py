"""Groups whose reports were made differently: their total, their differences, and whether they are alike."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

import rr_core
from rr_core import RandomizedResponse
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import ByGroup, analyse
from rr_core.reports.by_group import Stated, alike_designs, by_chance, designs_of, total
from rr_core.reports.designs import DESIGNS, Unclear, unary_encoding
from rr_core.reports.intervals import holm
from rr_core.reports.survey import Sample, Survey, Tallies, analyse_groups
from tests.core.test_survey import NAMES, TABLE, added_to, between

MADE = {
    "k-RR": (RandomizedResponse(3, 1.0), RandomizedResponse(3, 2.5)),
    "table": (TABLE, Channel.forced_response([0.1, 0.2, 0.1])),
    "unary": (UnaryEncoding(3, 1.0), UnaryEncoding(3, 3.0, optimized=True)),
}
GROUPS = ("x", "y")


def drawn(name, rng, n, shares=((0.6, 0.3, 0.1), (0.5, 0.3, 0.2))):
    """Reports, groups and contributions of n people: one in three is of the first group."""
    groups = (rng.random(n) > 1 / 3).astype(int)
    reports = [None, None]
    for group, design in enumerate(MADE[name]):
        truths = rng.choice(3, n, p=shares[group])
        reports[group] = design.randomize(truths, rng)
    mine = groups if reports[0].ndim == 1 else groups[:, None]
    added = np.where(
        groups[:, None] == 0,
        *(added_to(some, one) for one, some in zip(MADE[name], reports, strict=True)),
    )
    return np.where(mine == 0, *reports), groups, added


def test_the_variance_among_these_people_is_that_of_every_possible_collection():
    """Two of three and one of two people have it, p = 0.7 and 0.6: all 2^5 collections, in fractions."""
    chances, truths = (Fraction(7, 10), Fraction(3, 5)), ((1, 1, 0), (1, 0))
    mean = square = Fraction(0)
    for answers in itertools.product((0, 1), repeat=5):
        weight, total = Fraction(1), Fraction(0)
        for (p, truth), said in zip(
            [(p, t) for p, some in zip(chances, truths, strict=True) for t in some], answers, strict=True
        ):
            weight *= p if truth == said else 1 - p
            total += (said - (1 - p)) / (2 * p - 1) / 5
        mean, square = mean + weight * total, square + weight * total**2
    assert mean == Fraction(3, 5)
    designs = ByGroup([Channel.warner(float(p)) for p in chances])
    found = analyse_groups([[1, 2], [1, 1]], designs, ("no", "yes"), GROUPS).together
    half = (found.interval.high - found.interval.low)[1] / 2
    assert (half / special.ndtri(0.975)) ** 2 == pytest.approx(float(square - mean**2), rel=1e-12)
    # Two of three and one of two said yes: (2/3 - 0.3)/0.4 and 1/2, of three and two people in five.
    assert found.estimates["inv"][1] == pytest.approx(0.6 * (2 / 3 - 0.3) / 0.4 + 0.4 / 2, abs=1e-14)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("layers", ["none", "weights", "strata", "units"])
def test_the_total_is_that_of_each_persons_part(name, layers):
    rng, n = np.random.default_rng(1), 6000  # enough reports of each kind
    reports, groups, added = drawn(name, rng, n)
    weights = np.ones(n) if layers == "none" else rng.uniform(0.5, 4, n)
    strata = rng.integers(0, 3, n) if layers == "strata" else np.zeros(n, dtype=int)
    units = rng.integers(0, 20, n) if layers == "units" else np.arange(n)
    sample = Sample(
        reports,
        groups,
        None if layers == "none" else weights,
        strata if layers == "strata" else None,
        units if layers == "units" else None,
    )
    found = analyse_groups(sample, ByGroup(MADE[name]), NAMES, GROUPS, users="sampled")
    theta = weights @ added / weights.sum()
    np.testing.assert_allclose(found.together.estimates["inv"], theta, atol=1e-12)
    z = weights[:, None] * (added - theta) / weights.sum()
    variance = between(z, strata, units) * ((n - 1) / n if layers == "none" else 1)
    df = np.unique(units).size - np.unique(strata).size
    quantile = special.ndtri(0.975) if layers == "none" else stats.t.ppf(0.975, df)
    half = (found.together.interval.high - found.together.interval.low) / 2
    np.testing.assert_allclose(half, quantile * np.sqrt(variance), rtol=1e-9)
    if layers != "none":
        plain = (weights @ (added - theta) ** 2) / weights.sum() / n
        np.testing.assert_allclose(found.together.design_effects, variance / plain, rtol=1e-9)
        assert found.together.degrees_of_freedom == df
    assert found.together.counts.tolist() == found.reports.sum(axis=0).tolist()
    assert found.together.n == n
    for name_of in ("inv_n", "inv_p"):
        assert found.together.estimates[name_of].sum() == pytest.approx(1)
    for group, design in enumerate(MADE[name] if layers == "none" else ()):
        own = Sample(reports[groups == group])
        (alone,) = analyse_groups(own, design, NAMES, users="sampled").analyses
        for key, estimate in alone.estimates.items():
            np.testing.assert_allclose(found.analyses[group].estimates[key], estimate, atol=1e-9)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("name", MADE)
def test_one_design_in_all_groups_has_the_variance_that_it_has(name, users):
    design, counts = MADE[name][0], np.array([[300, 200, 150], [250, 300, 100]])
    if name == "unary":
        truths = np.array([[300, 200, 150], [250, 300, 100]])
        counts = np.column_stack([np.round(design.q * 650 + design.keep * truths).astype(int), [650, 650]])
    found = analyse_groups(Tallies(counts), ByGroup([design] * 2), NAMES, GROUPS, users=users).together
    alone = analyse_groups(Tallies(counts.sum(axis=0, keepdims=True)), design, NAMES, users=users).analyses[0]
    np.testing.assert_allclose(found.estimates["inv"], alone.estimates["inv"], atol=1e-12)
    width, other = (one.interval.high - one.interval.low for one in (found, alone))
    np.testing.assert_allclose(width, other, rtol=0.02)


def test_two_groups_of_two_answers_are_compared_by_cochrans_test():
    designs, counts = [Channel.warner(0.7), Channel.warner(0.2)], np.array([[500, 500], [300, 200]])
    found = analyse_groups(counts, ByGroup(designs), ("no", "yes"), GROUPS)
    inv = np.array(
        [(row[1] / row.sum() - (1 - p)) / (2 * p - 1) for row, p in zip(counts, (0.7, 0.2), strict=True)]
    )
    precision = np.array([1000 * 0.4**2, 500 * 0.6**2])
    at_half = [n * (2 * p - 1) ** 2 / 0.25 for n, p in ((1000, 0.7), (500, 0.2))]
    common = at_half @ inv / np.sum(at_half)
    seen = [(1 - p) + (2 * p - 1) * common for p in (0.7, 0.2)]
    variance = [s * (1 - s) / w for s, w in zip(seen, precision, strict=True)]
    cochran = (inv[0] - inv[1]) ** 2 / sum(variance)
    assert found.alike == pytest.approx(stats.chi2.sf(cochran, 1), rel=1e-9)
    gap = found.difference(0, 1)
    own = [0.5 * 0.5 / precision[0], 0.4 * 0.6 / precision[1]]
    fixed = [0.7 * 0.3 / precision[0], 0.2 * 0.8 / precision[1]]
    assert gap["difference"][1] == pytest.approx(inv[0] - inv[1], abs=1e-12)
    assert (gap["high"] - gap["low"])[1] / 2 == pytest.approx(special.ndtri(0.975) * math.sqrt(sum(fixed)))
    sampled = analyse_groups(counts, ByGroup(designs), ("no", "yes"), GROUPS, users="sampled")
    gap = sampled.difference(0, 1)
    assert (gap["high"] - gap["low"])[1] / 2 == pytest.approx(special.ndtri(0.975) * math.sqrt(sum(own)))


def test_with_one_design_it_is_pearsons_test():
    counts = np.array([[360, 640], [400, 600], [300, 700]])
    for design in (Channel.warner(0.2), RandomizedResponse(2, 1.0)):
        found = analyse_groups(counts, ByGroup([design] * 3), ("no", "yes"), "xyz")
        wanted = stats.chi2_contingency(counts, correction=False).pvalue
        assert found.alike == pytest.approx(wanted, rel=1e-9)
    few = np.array([[3, 6], [4, 4], [2, 8]])
    found = analyse_groups(few, ByGroup([Channel.warner(0.2)] * 3), ("no", "yes"), "xyz")
    assert found.alike_by_chance == 2000
    assert found.alike == pytest.approx(analyse_groups(few, Channel.warner(0.2), "ny", "xyz").alike, abs=0.1)


def test_how_categories_go_together_is_that_of_the_whole_covariance():
    """k-RR as a table of chances: the same test by another route."""
    designs = MADE["k-RR"]
    tables = [Channel(one.matrix()) for one in designs]
    counts = np.array([[500, 300, 200], [700, 200, 100]])
    found = [analyse_groups(counts, ByGroup(made), NAMES, GROUPS).alike for made in (designs, tables)]
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert 1e-6 < found[0] < 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "weighted"),
    [*((name, 900, False) for name in MADE), ("k-RR", 60, False), ("unary", 60, False), ("unary", 900, True)],
)
def test_groups_that_are_alike_are_seldom_told_apart(name, n, weighted):
    made, rng, low = ByGroup(MADE[name]), np.random.default_rng(4), 0
    times = 400 if n == 900 and not weighted else 100
    for _ in range(times):
        reports, groups, added = drawn(name, rng, n, ((0.5, 0.3, 0.2),) * 2)
        if weighted:
            sample = Sample(reports, groups, np.exp(0.4 * rng.standard_normal(n)))
            p_value = analyse_groups(replace(sample.tallies(3), rows=None), made, NAMES, GROUPS).alike
        else:
            by_inv = np.array([added[groups == group].mean(axis=0) for group in (0, 1)])
            p_value, _ = alike_designs(by_inv, np.bincount(groups), made)
        low += p_value <= 0.05
    assert stats.binom.ppf(1e-4, times, 0.03) <= low <= stats.binom.ppf(1 - 1e-4, times, 0.06)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "users"), [("k-RR", "fixed"), ("k-RR", "weighted"), ("unary", "weighted")])
def test_intervals_hold_the_truth_as_often_as_they_say(name, users):
    """(The variances of each design to the digit: above.)"""
    rng, times, n = np.random.default_rng(5), 150, 1200
    part, shares = np.array([1 / 3, 2 / 3]), np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]])
    held, apart = np.zeros(3), np.zeros(3)
    fixed = [np.repeat([0, 1, 2], [240, 120, 40]), np.repeat([0, 1, 2], [160, 400, 240])]
    for _ in range(times):
        if users == "fixed":
            truths, groups = fixed, np.repeat([0, 1], [400, 800])
        else:
            groups = np.sort((rng.random(n) > 1 / 3).astype(int))
            truths = [rng.choice(3, (groups == g).sum(), p=shares[g]) for g in range(2)]
        reports = np.concatenate([d.randomize(t, rng) for d, t in zip(MADE[name], truths, strict=True)])
        weights = np.exp(0.4 * rng.standard_normal(n)) if users == "weighted" else None
        tallies = replace(Sample(reports, groups, weights).tallies(3), rows=None)
        found = analyse_groups(
            tallies, ByGroup(MADE[name]), NAMES, GROUPS, users="fixed" if users == "fixed" else "sampled"
        )
        truth = np.array([400, 800]) / 1200 @ shares if users == "fixed" else part @ shares
        held += (found.together.interval.low <= truth) & (truth <= found.together.interval.high)
        gap, true_gap = found.difference(0, 1), shares[0] - shares[1]
        apart += (gap["low"] <= true_gap) & (true_gap <= gap["high"])
    most = 3.5 * math.sqrt(0.95 * 0.05 / times)
    for of in (held / times, apart / times):
        assert (np.abs(of - 0.95) <= most).all(), of


def test_from_python_designs_are_named_by_group():
    wave, said = np.repeat([1.0, 2.0], [400, 600]), np.tile(["no", "yes"], 500)
    made = {1: Channel.warner(0.7), 2: Channel.warner(0.6), 3: Channel.warner(0.9)}
    found = rr_core.analyse(said, made, by=wave, labels=["no", "yes"])
    assert found.groups == ("1", "2")
    assert [one.protocol for one in found.analyses] == [made[1], made[2]]
    assert found.of_all().frame()["reports"].tolist() == [500, 500]
    assert found.of_all().estimates is found.together.estimates
    with pytest.raises(ValueError, match="none for '2'"):
        rr_core.analyse(said, {1: made[1]}, by=wave, labels=["no", "yes"])
    with pytest.raises(ValueError, match="where there is no by"):
        rr_core.analyse(said, made, labels=["no", "yes"])
    with pytest.raises(ValueError, match="over the same categories"):
        rr_core.analyse([0, 1] * 500, {1: RandomizedResponse(2, 1.0), 2: Channel.warner(0.7)}, by=wave)
    with pytest.raises(ValueError, match="apart"):
        rr_core.analyse([0, 1] * 500, {1: Channel.warner(0.5), 2: Channel.warner(0.7)}, by=wave)
    with pytest.raises(ValueError, match="one made all"):
        rr_core.analyse(said, made[1], by=wave, labels=["no", "yes"]).of_all()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (("1", "2"), "The group “south” has “1” and “2” in the column “eps”"),
        (("",), "The group “south” has no value in the column “eps”"),
        (("", "1"), "The group “south” has rows without a value in the column “eps”"),
        (("one",), "The group “south”: “one” is not a number above 0"),
        (("800",), "The group “south”: ε = 800"),
        (("1e-7",), "The group “south”: ε = 1·10⁻⁷ is too small"),
    ],
)
def test_what_was_stated_wrongly_of_a_group_is_refused_in_one_sentence_that_names_it(values, says):
    stated = Stated(("column “eps”",), ((("1",),), (values,)))
    with pytest.raises(Unclear, match=f"^{says}[^\n]*[.]$"):
        designs_of(["north", "south"], stated, lambda texts: unary_encoding(3, "rappor", texts))


def test_chances_that_tell_nothing_are_refused_and_one_design_is_one():
    warner = DESIGNS["warner"].chances
    stated = Stated(("p",), ((("70%", "0.7"),), (("1/2",),)))
    with pytest.raises(
        Unclear, match=r"^The group “south”: as stated, different shares give the same reports"
    ):
        designs_of(["north", "south"], stated, lambda texts: warner(rr_core.typed.chance(texts[0])))
    alike = Stated(("p",), ((("70%",),), (("0.7",),)))
    one = designs_of(["north", "south"], alike, lambda texts: warner(rr_core.typed.chance(texts[0])))
    assert isinstance(one, Channel)


@pytest.mark.parametrize("unary", [False, True])
def test_a_category_that_nobody_has_is_reported_no_more_often_than_by_chance(unary):
    """Against the sum of independent binomials, one for each group, convolved."""
    rng = np.random.default_rng(12)
    for _ in range(25):
        people = rng.integers(1, 60, int(rng.integers(2, 5)))
        epsilons = rng.uniform(0.2, 5, people.size)
        made = ByGroup([(UnaryEncoding if unary else RandomizedResponse)(4, float(one)) for one in epsilons])
        law, mean = np.ones(1), 0.0
        for n, one in zip(people.tolist(), made.designs, strict=True):
            law, mean = np.convolve(law, stats.binom.pmf(np.arange(n + 1), n, one.q)), mean + n * one.q
        tails = law[::-1].cumsum()[::-1]
        counts = np.arange(people.sum() + 1)
        groups = [SimpleNamespace(n=n, counts=counts * (i == 0)) for i, n in enumerate(people.tolist())]
        told, _ = by_chance(groups, made)
        assert (tails <= told + 1e-12)[counts >= mean + 1].all()
        assert told[counts <= mean].min(initial=1.0) > 0.2
        alike = ByGroup([made.designs[0]] * people.size)
        one = stats.binom.sf(counts - 1, people.sum(), made.designs[0].q)
        np.testing.assert_allclose(by_chance(groups, alike)[0], one, atol=1e-12)


def test_of_very_many_categories_few_that_nobody_has_are_called_above_zero():
    """By the normal law it was in 13 to 25% of collections; 8% are found. With weights the chances are the same."""
    rng, k, many, n = np.random.default_rng(13), 300, 1000, 300
    made, people = ByGroup([RandomizedResponse(k, one) for one in (1.0, 2.0)]), np.eye(1, k, dtype=int)[0] * n
    counts = [one.randomize_histogram(np.tile(people, (many, 1)), rng) for one in made.designs]
    chances, _ = by_chance([SimpleNamespace(n=n, counts=of) for of in counts], made)
    called = (holm(chances.T) <= 0.05)[1:].any(axis=0).sum()
    assert called <= many * 0.05 + 3.5 * (many * 0.05 * 0.95) ** 0.5
    reports, groups = np.concatenate([np.repeat(np.arange(k), of[0]) for of in counts]), np.repeat([0, 1], n)
    for weights in (None, rng.lognormal(0, 0.7, 2 * n)):
        sample = Sample(reports, groups, weights)
        found = analyse_groups(sample, made, [f"c{j}" for j in range(k)], ("one", "two")).together
        np.testing.assert_array_equal(found.above.p_values, chances[0])


RARE = {
    "k-RR": [RandomizedResponse(20, 3.5), RandomizedResponse(20, 4.5)],
    "forced": [Channel.forced_response(np.full(10, 0.02)), Channel.forced_response(np.full(10, 0.01))],
    "unary": [UnaryEncoding(20, 5, optimized=True), UnaryEncoding(20, 6, optimized=True)],
}


@pytest.mark.parametrize(
    ("name", "weighted"),
    [("k-RR", True), ("unary", False), pytest.param("forced", True, marks=pytest.mark.slow)],
)
def test_of_few_reports_totals_have_wide_enough_intervals_and_alike_groups_no_differences(name, weighted):
    """Intervals of all at once hold in 95% of collections, and some difference is significant in at most 5%, but for 5
    standard errors. (By the variance of what was seen alone they held in 0 to 35%, and two thirds had a difference.)"""
    made, rng, many, held, differ = ByGroup(RARE[name]), np.random.default_rng(3), 60, 0, 0
    truth = np.zeros(made.k)
    truth[:5] = 0.2
    for _ in range(many):
        reports = np.concatenate([d.randomize(rng.choice(made.k, 80, p=truth), rng) for d in made.designs])
        weights = rng.uniform(0.5, 3, 160) if weighted else None
        names = [f"c{j}" for j in range(made.k)]
        tallies = replace(Sample(reports, np.repeat([0, 1], 80), weights).tallies(made.k), rows=None)
        if weighted:
            found = analyse_groups(tallies, made, names, GROUPS)
        else:  # without the simulated test that the groups are alike
            rows = zip(tallies.counts, made.designs, strict=True)
            each = [analyse(row[: made.k], one, users="sampled", n=80) for row, one in rows]
            found = Survey(names, GROUPS, each, together=total(each, made))
        limits = found.together.simultaneous
        held += ((limits.low <= truth + 1e-12) & (truth <= limits.high + 1e-12)).all()
        differ += (found.difference(1, 0)["p_holm"] <= 0.05).any()
    slack = 5 * math.sqrt(many * 0.95 * 0.05)
    assert held >= many * 0.95 - slack
    assert differ <= many * 0.05 + slack
