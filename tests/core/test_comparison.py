"""compare() works on the profile of one draw; here it is held against the public functions on all k entries."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from rr_core import (
    RandomizedResponse,
    Scenario,
    max_error,
    negative_log_likelihood,
    optimality_gap,
    squared_error,
    total_variation,
)
from rr_core.comparison import METRICS, RANKED, compare, measure, ranks
from rr_core.registry import ESTIMATORS, RULES, VALID
from tests.core import exact

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
    assert list(result.errors) == [*METRICS, "above"]
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
        above = errors["nll"] - result.errors["nll"]["mle_star"]
        assert result.errors["above"][name] == pytest.approx(above, rel=1e-6, abs=1e-12)
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
    assert "mle_star" in compare(draw).best("above")


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
        ((1, 1 + 1e-12, 1 + 1e-6), ("inv_n", "inv_p"), ("mle_star",)),
        ((0, 1e-12, 1), ("inv_n", "inv_p"), ("mle_star",)),
        ((1, 1 + 1e-6, 1 + 1e-6), ("inv_n",), ("inv_p", "mle_star")),
        ((2, 2 - 1e-12, 1), ("mle_star",), ("inv_n", "inv_p")),
        ((-3, -2, -1), ("inv_n",), ("mle_star",)),
    ],
)
def test_ranks_and_ties(errors, best, worst):
    placed = ranks(np.array(errors, dtype=float), 1e-11)
    for flags, names in ((placed.best, best), (placed.worst, worst)):
        assert tuple(name for name, flag in zip(VALID, flags, strict=True) if flag) == names


def exact_errors(draw):
    """Every metric of RANKED and valid estimator, in 60 digits."""
    channel = exact.channel_from_epsilon(draw.scenario.k, draw.scenario.epsilon)
    counts, users, n = draw.counts.tolist(), draw.true_counts.tolist(), draw.scenario.n

    def digits(fraction):
        return Decimal(fraction.numerator) / Decimal(fraction.denominator)

    with localcontext() as context:
        context.prec = 60
        q, keep = digits(channel.q), digits(channel.keep)
        found = {metric: {} for metric in RANKED}
        for name in VALID:
            shares = [digits(share) for share in exact.ESTIMATORS[name](counts, channel)]
            off = [abs(share - Decimal(t) / n) for share, t in zip(shares, users, strict=True)]
            found["mse"][name] = sum(one * one for one in off)
            found["tv"][name], found["max"][name] = sum(off) / 2, max(off)
            logs = (c * (q + keep * share).ln() for c, share in zip(counts, shares, strict=True) if c)
            found["above"][name] = -sum(logs) / n
        least = found["above"]["mle_star"]
        found["above"] = {name: loss - least for name, loss in found["above"].items()}
    return found


@pytest.mark.parametrize("k", [2, 3, 5, 12])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 7.0, 20.0])
def test_an_order_is_told_where_there_is_one_and_nowhere_else(k, epsilon):
    """Against exact arithmetic. Where the computed errors share a mark they do differ by rounding alone: by less than
    what 1e-14 of a share can do."""
    for n in (1, 10, 2000, 10**6, 10**9):
        for dist, s in (("zipf", 5.0), ("zipf", 1.5), ("dominant", 0.0), ("uniform", 0.0)):
            draw = Scenario(dist, k, s, epsilon, n, 1).draw()
            result, true = compare(draw), exact_errors(draw)
            for metric in RANKED:
                best, worst, errors = result.best(metric), result.worst(metric), true[metric]
                smallest, largest = min(errors.values()), max(errors.values())
                reach = {"mse": {name: 2 * float(off) for name, off in true["max"].items()}}
                reach["above"] = {name: float(2 * loss) ** 0.5 for name, loss in true["above"].items()}
                slack = {
                    name: Decimal(2e-14 * (reach[metric][name] if metric in reach else 1.0))
                    + Decimal("4e-28")
                    for name in VALID
                }
                case = (draw.scenario, metric)
                most = max(VALID, key=errors.__getitem__)
                assert all(errors[name] <= smallest + slack[name] for name in best), case
                assert all(errors[name] >= largest - slack[most] for name in worst), case
                assert {name for name in VALID if errors[name] - smallest < Decimal("1e-50")} <= set(best), (
                    case
                )
                assert worst or largest - smallest <= slack[most], case
                for name, error in errors.items():
                    assert name in best or error > smallest, case
                    off = abs(Decimal(result.errors[metric][name]) - error)
                    assert off <= slack[name] + error * Decimal("1e-9"), case


def test_all_three_tie_where_there_are_no_negatives():
    result = compare(SCENARIOS["no negatives"].draw())
    assert result.zeros == dict.fromkeys(ESTIMATORS, 0)
    for metric in RANKED:
        assert (result.best(metric), result.worst(metric)) == (VALID, ())


@pytest.mark.parametrize("k", [6, 2500], ids=["short rows", "long rows"])
def test_measuring_a_batch_is_measuring_its_rows(k):
    mechanism, rng = RandomizedResponse(k, 1.2), np.random.default_rng(1)
    reports, truth = rng.integers(0, 9, (2, 3, k)), rng.dirichlet(np.ones(k))
    reports[1] *= 50
    for estimator in ESTIMATORS.values():
        estimate, best = estimator(reports, mechanism), ESTIMATORS["mle_star"](reports, mechanism)
        together = measure(reports, estimate, best, truth, mechanism)
        assert list(together) == list(RANKED)
        for index in np.ndindex(2, 3):
            alone = measure(reports[index], estimate[index], best[index], truth, mechanism)
            per_report = reports[index] / reports[index].sum()
            loss, least = (
                negative_log_likelihood(per_report, one[index], mechanism) for one in (estimate, best)
            )
            assert alone["above"] == pytest.approx(loss - least, rel=1e-6, abs=1e-12)
            for metric in RANKED:
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
