"""compare() works on the profile of one draw; here it is held against the public functions on all k entries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import (
    RandomizedResponse,
    Scenario,
    max_error,
    negative_log_likelihood,
    optimality_gap,
    squared_error,
    total_variation,
)
from rr_core.comparison import ESTIMATORS, METRICS, RULES, VALID, compare, measure, ranked, truth_of
from tests.core.histograms import everyday_epsilons

SCENARIOS = {
    "k = 2": Scenario("zipf", 2, 1.0, 0.5, 40, 3),
    "few users": Scenario("zipf", 12, 1.0, 1.0, 5, 1),
    "one user": Scenario("uniform", 7, 0.0, 1.0, 1, 2),
    "first look": Scenario(),
    "no negatives": Scenario("uniform", 5, 0.0, 6.0, 100_000, 1),
    "table": Scenario("letters", epsilon=2.0, n=935_819, seed=4),
    "a billion users": Scenario("zipf", 300, 1.3, 1.0, 10**9, 5),
    "looked up": Scenario("zipf", 20_000, 1.3, 3.0, 60_000, 6),
    "long, large counts": Scenario("zipf", 5000, 1.0, 0.5, 10**8, 7),
    "smallest epsilon": Scenario("humps", 50, 1.0, 0.01, 1000, 8),
    "largest epsilon": Scenario("zipf", 3000, 2.0, 20.0, 10**5, 9),
}


@pytest.fixture(scope="module", params=SCENARIOS.values(), ids=SCENARIOS)
def draw(request):
    return request.param.draw()


@pytest.mark.parametrize("target", ["users", "population"])
def test_a_comparison_equals_the_public_functions(draw, target):
    result, mechanism, n = compare(draw, target), draw.mechanism, draw.scenario.n
    truth = draw.true_counts / n if target == "users" else draw.population.probabilities
    assert result.target == target
    np.testing.assert_array_equal(result.truth, truth)
    assert list(result.errors) == list(METRICS)
    assert list(result.estimates) == list(ESTIMATORS) == list(RULES) == list(result.zeros)
    for name, estimator in ESTIMATORS.items():
        alone = estimator(draw.counts, mechanism)
        np.testing.assert_allclose(result.estimates[name], alone, rtol=1e-13, atol=1e-300)
        errors = {metric: result.errors[metric][name] for metric in METRICS}
        expected = {
            "mse": squared_error(alone, truth),
            "tv": total_variation(alone, truth),
            "max": max_error(alone, truth),
            "nll": negative_log_likelihood(draw.counts, alone, mechanism) / n,
        }
        assert errors == pytest.approx(expected, rel=1e-10, abs=1e-14)
        assert all(type(error) is float for error in errors.values())
        assert result.zeros[name] == (alone == 0).sum()
    best = ESTIMATORS["mle_star"](draw.counts, mechanism)
    assert result.certificate == pytest.approx(optimality_gap(draw.counts, best, mechanism), abs=1e-12)
    assert abs(result.certificate) < 1e-12


def test_mle_star_is_never_less_likely_than_the_other_repairs(draw):
    likelihood = compare(draw).errors["nll"]
    assert likelihood["mle_star"] <= min(likelihood["inv_n"], likelihood["inv_p"]) + 1e-13
    # Inv answers to nobody: without the constraint it fits the reports at least as well.
    assert likelihood["inv"] <= likelihood["mle_star"] + 1e-13
    assert "mle_star" in compare(draw).best("nll")


@given(st.integers(2, 40), everyday_epsilons, st.integers(1, 5000), st.integers(0, 1000))
def test_mle_star_is_likeliest_in_any_small_scenario(k, epsilon, n, seed):
    result = compare(Scenario("zipf", k, 1.0, epsilon, n, seed).draw())
    likelihood = result.errors["nll"]
    assert likelihood["mle_star"] <= min(likelihood["inv_n"], likelihood["inv_p"]) + 1e-13
    assert result.zeros["inv_n"] <= result.zeros["mle_star"] <= result.zeros["inv_p"]


def test_the_targets_differ_only_in_the_distances():
    draw = SCENARIOS["first look"].draw()
    users, population = compare(draw), compare(draw, "population")
    assert users.errors["nll"] == population.errors["nll"]
    assert users.zeros == population.zeros
    for metric in ("mse", "tv", "max"):
        assert all(users.errors[metric][name] != population.errors[metric][name] for name in ESTIMATORS)
    np.testing.assert_array_equal(truth_of(draw, "users"), draw.theta)
    np.testing.assert_array_equal(truth_of(draw, "population"), draw.population.probabilities)


@pytest.mark.parametrize("target", ["user", "", None])
def test_wrong_target(target):
    draw = SCENARIOS["few users"].draw()
    for call in (compare, truth_of):
        with pytest.raises(ValueError, match=f"^target must be 'users' or 'population', got {target!r}$"):
            call(draw, target)


@pytest.mark.parametrize(
    ("errors", "best", "worst"),
    [
        ((1, 2, 3), ("inv_n",), ("mle_star",)),
        ((3, 1, 2), ("inv_p",), ("inv_n",)),
        ((2, 3, 1), ("mle_star",), ("inv_p",)),
        ((1, 1, 2), ("inv_n", "inv_p"), ("mle_star",)),
        ((2, 1, 2), ("inv_p",), ("inv_n", "mle_star")),
        ((1, 1, 1), VALID, ()),
        ((0, 0, 0), VALID, ()),
        ((1, 1 + 1e-12, 1 - 1e-12), VALID, ()),
        ((1e-20, 1.0000000001e-20, 2e-20), ("inv_n", "inv_p"), ("mle_star",)),
        ((1, 1 + 1e-12, 1 + 1e-6), ("inv_n", "inv_p"), ("mle_star",)),
        ((0, 1e-12, 1), ("inv_n", "inv_p"), ("mle_star",)),
        ((1, 1 + 1e-6, 1 + 1e-6), ("inv_n",), ("inv_p", "mle_star")),
        ((2, 2 - 1e-12, 1), ("mle_star",), ("inv_n", "inv_p")),
        ((1e-301, 2e-301, 3e-301), ("inv_n",), ("mle_star",)),
        ((-3, -2, -1), ("inv_n",), ("mle_star",)),
    ],
)
def test_ranks_and_ties(errors, best, worst):
    assert ranked(np.array(errors, dtype=float)) == (best, worst)


def test_best_and_worst_are_the_ranks_of_the_three_valid_estimators():
    result = compare(SCENARIOS["first look"].draw())
    for metric in METRICS:
        errors = result.errors[metric]
        by_hand = sorted(VALID, key=errors.__getitem__)
        assert len({errors[name] for name in VALID}) == 3
        assert (result.best(metric), result.worst(metric)) == ((by_hand[0],), (by_hand[-1],))


def test_all_three_tie_where_there_are_no_negatives():
    result = compare(SCENARIOS["no negatives"].draw())
    assert result.zeros == dict.fromkeys(ESTIMATORS, 0)
    for metric in METRICS:
        assert (result.best(metric), result.worst(metric)) == (VALID, ())


@pytest.mark.parametrize("k", [6, 2500], ids=["short rows", "long rows"])
def test_measuring_a_batch_is_measuring_its_rows(k):
    mechanism, rng = RandomizedResponse(k, 1.2), np.random.default_rng(1)
    reports, truth = rng.integers(0, 9, (2, 3, k)), rng.dirichlet(np.ones(k))
    reports[1] *= 50
    for estimator in ESTIMATORS.values():
        estimate = estimator(reports, mechanism)
        together = measure(reports, estimate, truth, mechanism)
        assert list(together) == list(METRICS)
        for index in np.ndindex(2, 3):
            alone = measure(reports[index], estimate[index], truth, mechanism)
            per_report = reports[index] / reports[index].sum()
            assert alone["nll"] == pytest.approx(
                negative_log_likelihood(per_report, estimate[index], mechanism), rel=1e-12
            )
            for metric in METRICS:
                assert together[metric].shape == (2, 3)
                assert together[metric][index] == pytest.approx(alone[metric], rel=1e-13)


def test_zeroed_names_the_categories_set_to_zero():
    draw = Scenario("zipf", 12, 1.5, 1.0, 2000, 5).draw()
    result = compare(draw)
    for name in VALID:
        every = [i for i, share in enumerate(result.estimates[name]) if share == 0]
        assert result.zeroed(name, 12).tolist() == every
        assert result.zeroed(name, 2).tolist() == every[:2]
        assert len(every) == result.zeros[name] > 2
