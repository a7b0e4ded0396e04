"""Reports by group and with weights: against the formulas written out for each person, simulated samples, and each
other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse, inv
from rr_core.protocols import Channel
from rr_core.protocols.channel_estimation import inv_channel
from rr_core.reports.analysis import analyse
from rr_core.reports.survey import Sample, analyse_groups

TABLE = Channel([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
PROTOCOLS = {"k-RR": RandomizedResponse(3, 1.5), "table": TABLE}
NAMES = ("a", "b", "c")


def linearised(reports, weights, strata, units, member, protocol):
    """Inv and its variance, person by person: with replacement, ultimate clusters."""
    added = (
        inv_channel(np.eye(protocol.m), protocol)
        if isinstance(protocol, Channel)
        else (np.eye(protocol.k) - protocol.q) / protocol.keep
    )
    total = (weights * member).sum()
    theta = (weights * member) @ added[reports] / total
    z = (weights * member)[:, None] * (added[reports] - theta) / total
    variance = np.zeros(protocol.k)
    for stratum in np.unique(strata):
        mine = strata == stratum
        sums = np.array([z[mine & (units == unit)].sum(axis=0) for unit in np.unique(units[mine])])
        n = len(sums)
        variance += n / (n - 1) * ((sums - sums.mean(axis=0)) ** 2).sum(axis=0)
    return theta, variance


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("layers", ["persons", "strata", "units", "strata and units"])
def test_the_variance_is_that_of_the_linearised_sums(name, layers):
    protocol, rng, n = PROTOCOLS[name], np.random.default_rng(1), 240
    reports, weights = rng.integers(0, 3, n), rng.uniform(0.5, 4, n)
    groups = rng.integers(0, 2, n)
    strata = rng.integers(0, 3, n) if "strata" in layers else np.zeros(n, dtype=int)
    units = strata * 8 + rng.integers(0, 8, n) if "units" in layers else np.arange(n)
    sample = Sample(
        reports,
        groups,
        weights,
        strata if "strata" in layers else None,
        np.unique(units, return_inverse=True)[1] if "units" in layers else None,
    )
    found = analyse_groups(sample, protocol, NAMES, ("x", "y"))
    for group, one in enumerate(found.analyses):
        theta, variance = linearised(
            reports, weights, strata, units, (groups == group).astype(float), protocol
        )
        np.testing.assert_allclose(one.estimates["inv"], theta, atol=1e-12)
        np.testing.assert_allclose(one.variance, variance, rtol=1e-9)
        assert one.n == (groups == group).sum()
    units_of = np.unique(units).size - np.unique(strata).size
    assert found.analyses[0].degrees_of_freedom == units_of


@pytest.mark.parametrize("name", PROTOCOLS)
def test_equal_weights_are_a_simple_random_sample(name):
    protocol, rng = PROTOCOLS[name], np.random.default_rng(2)
    reports = rng.integers(0, 3, 900)
    found = analyse_groups(Sample(reports, None, np.full(900, 2.5)), protocol, NAMES).analyses[0]
    plain = analyse(np.bincount(reports), protocol, users="sampled")
    for key, estimate in plain.estimates.items():
        np.testing.assert_allclose(found.estimates[key], estimate, atol=1e-8)
    np.testing.assert_allclose(found.design_effects, 900 / 899, rtol=1e-9)
    width, other = found.interval.high - found.interval.low, plain.interval.high - plain.interval.low
    np.testing.assert_allclose(width, other, rtol=0.02)


DESIGNS = {
    "weights": {},
    "strong weights": {"spread": 1.0},
    "strata": {"strata": 5},
    "clusters": {"clusters": 60},
    "strata and clusters": {"strata": 3, "clusters": 90},
    "few clusters": {"clusters": 24},
    "weights that go with the answer": {"informative": True},
    "a rare answer": {"rare": True},
}


def drawn(rng, protocol, *, strata=1, clusters=0, spread=0.4, informative=False, rare=False):
    """A sample with replacement from an endless population, and the population's shares."""
    base = np.array([0.9, 0.08, 0.02]) if rare else np.array([0.6, 0.3, 0.1])
    n = 1200
    stratum = np.arange(n) % strata
    of_strata = base * np.exp(0.5 * np.outer(np.arange(strata), [0, 1, -1]))
    of_strata /= of_strata.sum(axis=1, keepdims=True)
    truth = of_strata.mean(axis=0)
    unit = None
    each = of_strata[stratum]
    if clusters:
        unit = (np.arange(n) // strata) % (clusters // strata) * strata + stratum
        # The mean of a Dirichlet is its base: clusters differ, and the population's shares are the same.
        of_units = np.array([rng.dirichlet(40 * of_strata[c % strata]) for c in range(clusters)])
        each = of_units[unit]
    truths = (rng.random(n)[:, None] > each.cumsum(axis=1)[:, :2]).sum(axis=1)
    weights = np.exp(spread * rng.standard_normal(n))
    if informative:  # people of the first category are drawn half as often, and count twice
        kept = (truths != 0) | (rng.random(n) < 0.5)
        weights = np.where(truths == 0, 2.0, 1.0)
        truths, weights, stratum = truths[kept], weights[kept], stratum[kept]
        unit = None if unit is None else unit[kept]
    chances = protocol.matrix if isinstance(protocol, Channel) else protocol.matrix()
    reports = (rng.random(truths.size)[:, None] > chances[truths].cumsum(axis=1)[:, :2]).sum(axis=1)
    return Sample(reports, None, weights, stratum if strata > 1 else None, unit), truth


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_weighted_reports_hold_the_truth_as_often_as_they_say(design, name):
    rng, times, protocol = np.random.default_rng(3), 400, PROTOCOLS[name]
    held = np.zeros(3)
    for _ in range(times):
        sample, truth = drawn(rng, protocol, **DESIGNS[design])
        interval = analyse_groups(sample, protocol, NAMES).analyses[0].interval
        held += (interval.low <= truth) & (truth <= interval.high)
    assert (held / times >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / times)).all(), held / times


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [40, 600])
def test_groups_that_are_alike_are_seldom_told_apart(weighted, n):
    rng, times, protocol = np.random.default_rng(4), 300, PROTOCOLS["k-RR"]
    low = 0
    for _ in range(times):
        reports, groups = rng.choice(3, n, p=[0.5, 0.3, 0.2]), np.arange(n) % 3
        weights = np.exp(0.4 * rng.standard_normal(n)) if weighted else None
        low += analyse_groups(Sample(reports, groups, weights), protocol, NAMES, "xyz").alike <= 0.05
    assert low <= stats.binom.ppf(1 - 1e-4, times, 0.06)


def test_groups_that_differ_are_told_apart_and_their_differences_have_intervals():
    protocol, rng = PROTOCOLS["table"], np.random.default_rng(5)
    truth = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2]])
    held = np.zeros(3)
    for _ in range(300):
        counts = np.array([rng.multinomial(1500, row @ protocol.matrix) for row in truth])
        found = analyse_groups(counts, protocol, NAMES, ("x", "y"), users="sampled")
        assert found.alike < 1e-6
        gap = found.difference(0, 1)
        held += (gap["low"] <= truth[0] - truth[1]) & (truth[0] - truth[1] <= gap["high"])
        assert gap["p_holm"][0] < 0.05
    assert (held / 300 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 300)).all()


def test_every_group_is_analysed_as_it_would_be_alone():
    protocol, counts = PROTOCOLS["k-RR"], np.array([[50, 30, 20], [10, 60, 30]])
    found = analyse_groups(counts, protocol, NAMES, ("x", "y"))
    for row, one in zip(counts, found.analyses, strict=True):
        np.testing.assert_array_equal(one.estimates["inv"], inv(row, protocol))
    columns = analyse_groups(counts, protocol, NAMES, ("x", "y"), order=range(3)).columns()
    assert columns["group"] == ["x"] * 3 + ["y"] * 3
    assert columns["reports"].tolist() == counts.ravel().tolist()
    together = analyse_groups(counts.sum(axis=0)[None], protocol, NAMES)
    weights = counts.sum(axis=1) / counts.sum()
    mean = weights @ [one.estimates["inv"] for one in found.analyses]
    np.testing.assert_allclose(together.estimates["inv"], mean, atol=1e-12)  # a total that matches


def test_differences_from_one_group_are_corrected_for_all_others():
    counts = np.array([[50, 30, 20], [30, 50, 20], [40, 30, 30], [45, 35, 20]])
    found = analyse_groups(counts, PROTOCOLS["k-RR"], NAMES, "wxyz", 0.9)
    gaps = found.differences(1)
    for group in (0, 2, 3):
        alone = found.difference(group, 1, 0.9)
        for name, key in (
            ("difference", "from_first"),
            *((name, name) for name in ("low", "high", "p_value")),
        ):
            np.testing.assert_array_equal(gaps[key][group], alone[name])
    assert all(np.isnan(values[1]).all() for values in gaps.values())
    for of, adjusted in zip(gaps["p_value"][[0, 2, 3]].T, gaps["p_holm"][[0, 2, 3]].T, strict=True):
        rising, highest = np.argsort(of), 0.0
        for below, i in enumerate(rising):  # Holm (1979), step by step
            highest = max(highest, min(1.0, (3 - below) * of[i]))
            assert adjusted[i] == pytest.approx(highest, rel=1e-12)
    columns = found.columns()
    for name, values in found.differences().items():
        np.testing.assert_array_equal(columns[f"difference_{name}"], values.ravel())
    blind = analyse_groups([[50, 50], [60, 40]], Channel.warner(0.5), ("no", "yes"), ("x", "y"))
    assert blind.differences() == {}


def test_what_cannot_be_analysed_is_refused():
    protocol = PROTOCOLS["k-RR"]
    with pytest.raises(ValueError, match="positive sum"):
        analyse_groups(Sample(np.array([0, 1]), None, np.zeros(2)), protocol, NAMES)
    two_strata = Sample(np.array([0, 1]), None, np.ones(2), np.array([0, 1]), np.zeros(2, dtype=int))
    with pytest.raises(ValueError, match="one in two strata"):
        analyse_groups(two_strata, protocol, NAMES)
    alike = analyse_groups([[50, 50], [60, 40]], Channel.warner(0.5), ("no", "yes"), ("x", "y"))
    assert alike.alike is None
    with pytest.raises(ValueError, match="tell the truths apart"):
        alike.difference(0, 1)
