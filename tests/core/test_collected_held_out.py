"""Errors measured on reports held out: unbiased, and enough to name the best estimate where a simulation misleads."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.collected.held_out import FOLDS, held_out
from rr_core.comparison import ESTIMATORS, VALID


def test_the_measured_error_is_the_error_of_estimates_from_four_fifths():
    k, n, times = 8, 400, 250
    mechanism, theta, rng = RandomizedResponse(k, 1.0), zipf(k, 1.5), np.random.default_rng(3)
    measured, true = np.zeros((times, 4)), np.zeros((times, 4))
    for i in range(times):
        counts = rng.multinomial(n, mechanism.expected(theta))
        found = held_out(counts, mechanism, 2, seed=i)
        measured[i] = [found.means[name] for name in ESTIMATORS]
        fewer = rng.multinomial(n * (FOLDS - 1) // FOLDS, mechanism.expected(theta))
        true[i] = [((f(fewer, mechanism) - theta) ** 2).sum() for f in ESTIMATORS.values()]
    error = np.sqrt((measured.var(axis=0) + true.var(axis=0)) / times)
    assert (np.abs(measured.mean(axis=0) - true.mean(axis=0)) < 4 * error).all()


@pytest.mark.parametrize(("s", "epsilon", "best"), [(2.5, 3.0, "inv_p"), (0.01, 1.0, "inv_n")])
def test_the_best_estimate_is_named_or_tied(s, epsilon, best):
    mechanism, rng = RandomizedResponse(200, epsilon), np.random.default_rng(1)
    users = rng.multinomial(20_000, zipf(200, s))
    found = [held_out(mechanism.randomize_histogram(users, i), mechanism, 4, seed=i) for i in range(20)]
    assert all(best in one.tied for one in found)
    assert sum(one.best == best for one in found) >= 15


def test_heavy_noise_does_not_flatter_the_flat_estimate():
    # A bootstrap at MLE* names InvN here, whose error is five times that of InvP.
    users = np.zeros(4000, dtype=np.int64)
    users[:40] = np.round(20_000 * zipf(40, 1.3))
    mechanism = RandomizedResponse(4000, 5.0)
    counts = mechanism.randomize_histogram(users, 2)
    truth = users / users.sum()
    errors = {name: ((ESTIMATORS[name](counts, mechanism) - truth) ** 2).sum() for name in VALID}
    assert min(errors, key=errors.__getitem__) == "inv_p"
    assert errors["inv_n"] > 5 * errors["inv_p"]
    assert held_out(counts, mechanism, 5).best == "inv_p"


def test_standard_errors_are_those_of_the_differences():
    k, times = 20, 80
    mechanism, rng = RandomizedResponse(k, 1.0), np.random.default_rng(5)
    theta = zipf(k, 1.2)
    differences, claimed = [], []
    for i in range(times):
        found = held_out(rng.multinomial(3000, mechanism.expected(theta)), mechanism, 8, seed=i)
        differences.append(found.means["inv_n"] - found.means["inv_p"])
        claimed.append(max(found.standard_errors["inv_n"], found.standard_errors["inv_p"]))
    assert 0.6 < np.mean(claimed) / np.std(differences) < 1.6


def test_without_negatives_all_are_tied():
    found = held_out([300, 310, 290], RandomizedResponse(3, 3.0), 4)
    assert found.tied == VALID
    assert found.means["inv"] == pytest.approx(found.means["mle_star"])


def test_repetitions_do_not_depend_on_how_many_there_are_and_can_be_stopped():
    mechanism, counts = RandomizedResponse(5, 1.0), [50, 40, 30, 20, 60]
    stopped = held_out(counts, mechanism, 9, progress=lambda done: done == 3)
    assert stopped == held_out(counts, mechanism, 3)
    assert stopped.done == 3
    assert held_out(counts, mechanism, 9, progress=lambda done: True) is None


@pytest.mark.parametrize("counts", [[24, 0], [10, 14]])
def test_too_few_reports_to_deal(counts):
    assert held_out(counts, RandomizedResponse(2, 1.0)) is None
    assert held_out([25, 0], RandomizedResponse(2, 1.0)) is not None
