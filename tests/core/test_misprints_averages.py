"""Averages on which MLE* is the worst, and the best, of the three: counted out exactly, and simulated."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from rr_core import PRESETS, RandomizedResponse, Scenario
from rr_core.comparison import VALID
from rr_core.misprints_averages import histogram_law, not_between, worst_average
from rr_core.scenario import WORST_AVERAGE
from tests.core import exact


def parts(n, k):
    """All ways to write n as a sum of k whole numbers."""
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in parts(n - first, k - 1):
            yield (first, *rest)


def law(true_counts, channel):
    """The chance of every noisy histogram, in fractions: one multinomial a category, added up."""
    found = {(0,) * channel.k: Fraction(1)}
    for truth, users in enumerate(true_counts):
        grown = {}
        for some in parts(users, channel.k):
            chance = Fraction(factorial(users))
            for report, count in enumerate(some):
                chance *= (channel.p if report == truth else channel.q) ** count / factorial(count)
            for before, weight in found.items():
                key = tuple(a + b for a, b in zip(before, some, strict=True))
                grown[key] = grown.get(key, 0) + weight * chance
        found = grown
    return found


def exact_errors(true_counts, channel):
    """Mean squared errors of InvN, InvP and MLE* by rules other than the library's, over all histograms."""
    n, means = sum(true_counts), [Fraction(0)] * 3
    for counts, chance in law(true_counts, channel).items():
        for place, estimate in enumerate((exact.inv_n, exact.inv_p, exact.mle)):
            error = sum(
                (a - Fraction(b, n)) ** 2 for a, b in zip(estimate(counts, channel), true_counts, strict=True)
            )
            means[place] += chance * error
    return means


def test_mle_star_is_the_worst_on_average_for_ten_users():
    """All 286 histograms of (8, 1, 1, 0) at eps = 2.13, with e^eps to twelve digits as a fraction."""
    power = Fraction(exact.channel_from_epsilon(4, 2.13).odds + 1).limit_denominator(10**12)
    channel = exact.Channel(4, power / (power + 3), 1 / (power + 3))
    reports = law((8, 1, 1, 0), channel)
    assert len(reports) == 286
    assert sum(reports.values()) == 1
    n, p, best = exact_errors((8, 1, 1, 0), channel)
    assert best > n > p
    assert [float(x) for x in (n, p, best)] == pytest.approx([0.069467, 0.069440, 0.070247], abs=5e-7)
    shown = worst_average()
    assert (shown.true_counts, shown.epsilon, shown.histograms) == ((8, 1, 1, 0), 2.13, 286)
    assert [shown.errors[name] for name in VALID] == pytest.approx([float(x) for x in (n, p, best)], rel=1e-9)


def test_the_preset_and_its_link_restore_the_counterexample():
    assert WORST_AVERAGE in [preset.scenario for preset in PRESETS]
    restored, notes = Scenario.from_query(WORST_AVERAGE.to_query())
    assert (restored, notes) == (WORST_AVERAGE, ())
    np.testing.assert_array_equal(restored.users().counts, [8, 1, 1, 0])
    assert (restored.k, restored.epsilon, restored.n) == (4, 2.13, 10)


def test_the_law_of_a_histogram_is_the_one_that_is_drawn():
    true_counts, mechanism, draws = np.array([3, 0, 2]), RandomizedResponse(3, 0.7), 50_000
    histograms, chance = histogram_law(true_counts, mechanism)
    assert len(histograms) == 21
    assert chance.sum() == pytest.approx(1, rel=1e-12)
    drawn = mechanism.randomize_histogram(np.broadcast_to(true_counts, (draws, 3)), 1)
    seen = np.array([(drawn == one).all(axis=1).sum() for one in histograms])
    assert (np.abs(seen - draws * chance) < 5 * np.sqrt(draws * chance * (1 - chance))).all()


def test_mle_star_is_the_best_on_average_in_the_scenario_the_app_opens_with():
    """K = 12, s = 1.5, eps = 1, N = 2,000: below both others by more than five standard errors, with other noise too."""
    shown = not_between()
    assert shown.scenario == Scenario()
    assert min(shown.errors, key=shown.errors.__getitem__) == "mle_star"
    assert min(shown.distance) > 5
