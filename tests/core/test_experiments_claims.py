"""Verdicts on the paper's claims: from results made by hand, where the right answer is known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rr_core.comparison import VALID
from rr_core.experiments import ranking
from rr_core.experiments.claims import (
    best_when,
    claims,
    mle_lowest_nll,
    mle_never_worst,
    order_in_k,
    order_in_n,
    slopes,
)
from rr_core.experiments.grid import POINT, Cell, Settings, Sweep, over
from rr_core.experiments.ranking import always_best, below, leading, never_worst, regret, sign
from rr_core.experiments.run import SweepResult, run
from rr_core.figures.experiments_sentences import evidence
from rr_core.misprints import squared_error_of_inv

SETTINGS = Settings(40, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse", "nll"), bias=False)


@pytest.fixture(scope="module")
def real():
    return run(Sweep(over(s=(0.01, 2.5), k=(20, 40, 80), epsilon=2.0, n=(100, 1000, 10_000)), SETTINGS))


def made(real, means, error=1e-6, **changes):
    """Cells with these (InvN, InvP, MLE*) mean errors, the same standard error of every difference."""
    cells = []
    for cell, mean in zip(real.cells, means, strict=False):
        both = np.array([mean, mean], dtype=float)
        difference = both[:, :, None] - both[:, None, :]
        cells.append(
            replace(
                cell,
                mean=both,
                difference=difference,
                difference_error=np.full(difference.shape, float(error)),
                **{name: value.copy() for name, value in changes.items()},
            )
        )
    return SweepResult(real.sweep, tuple(cells))


def answers(count):
    return count.yes, count.no, count.unsure, count.equal


def test_who_is_surely_better(real):
    result = made(real, [(1.0, 2.0, 1.5), (1.0, 1.0, 1.0)], error=0.1)
    first, second = result.cells
    assert sign(result, first, "mse", "inv_n", "inv_p") == -1
    assert sign(result, first, "mse", "inv_p", "inv_n") == 1
    assert sign(result, second, "mse", "inv_p", "inv_n") == 0
    with pytest.raises(ValueError, match="metric must be one of the sweep's, mse, nll, got 'tv'"):
        sign(result, first, "tv", "inv_n", "inv_p")
    with pytest.raises(ValueError, match="estimator must be one of the sweep's, inv_n"):
        sign(result, first, "mse", "inv", "inv_p")


def test_sure_is_a_t_test_over_all_cells_together(real):
    """Three pairs of estimators in each of the sweep's 18 cells, two sides, 5% in all; however many are asked about."""
    limit = stats.t.isf(0.05 / (2 * 3 * 18), df=39)
    for cells in (1, 5, 18):
        for distance, expected in ((limit * 0.999, None), (limit * 1.001, 1)):
            result = made(real, [(1 + distance, 1.0, 1.0)] * cells, error=1.0)
            assert sign(result, result.cells[0], "mse", "inv_n", "inv_p") == expected


def test_a_part_of_a_sweep_is_held_to_the_same_as_the_whole(real):
    """The nine concentrated cells are judged as the 18 are; at a level of their own this one would be settled."""
    whole, own = (stats.t.isf(0.05 / (2 * 3 * cells), df=39) for cells in (18, 9))
    between = 1 + (whole + own) / 2
    count = best_when(made(real, [(between, 1.0, 1.0)] * 18, error=1.0), "inv_p", "concentrated").count
    assert (count.asked, count.unsure) == (9, 9)


def test_differences_that_are_all_the_same_settle_nothing(real):
    """Two collections that happen to be alike have a standard error of zero, and say nothing of a third."""
    result = made(real, [(1.0, 2.0, 1.5)], error=0.0)
    assert sign(result, result.cells[0], "mse", "inv_n", "inv_p") is None
    assert not leading(result, result.cells[0], "mse").sure


def test_one_seed_settles_nothing(real):
    result = made(real, [(1.0, 2.0, 1.5)])
    alone = SweepResult(real.sweep, (replace(result.cells[0], seeds=1),))
    assert sign(alone, alone.cells[0], "mse", "inv_n", "inv_p") is None


def test_counts(real):
    means = [(1, 3, 2), (3, 1, 2), (1, 2, 3), (2, 3, 1), (1, 1, 1), (1, 1.01, 1.02), (1.01, 1, 1.005)]
    result = made(real, means, error=0.1)
    count = never_worst(result, "mse", "mle_star")
    assert answers(count) == (3, 1, 2, 1)
    assert count.exceptions == (result.cells[2].cell,)
    assert count.asked == 6
    assert answers(always_best(result, "mse", "mle_star")) == (1, 3, 2, 1)
    assert answers(always_best(result, "mse", "inv_n")) == (2, 2, 2, 1)
    assert answers(below(result, "mse", "inv_p", "inv_n")) == (1, 3, 2, 1)
    assert answers(never_worst(made(real, [(1, 1, 1)]), "mse", "mle_star")) == (0, 0, 0, 1)


def test_a_shared_best_is_best_and_a_shared_worst_is_not_settled(real):
    result = made(real, [(1, 2, 1), (1, 2, 2)])
    assert answers(always_best(result, "mse", "mle_star")) == (1, 1, 0, 0)
    assert answers(never_worst(result, "mse", "mle_star")) == (1, 0, 1, 0)


def test_who_wins_and_by_how_much(real):
    means = [(1, 3, 2), (3, 1, 2), (1, 1, 1), (1, 1.01, 1.02), (1, 2, 1), (0, 1, 2), (0, 0, 0)]
    result = made(real, means, error=0.1)
    found = [leading(result, cell, "mse") for cell in result.cells]
    n, p, two = ("inv_n",), ("inv_p",), ("inv_n", "mle_star")
    assert [one.best for one in found] == [n, p, VALID, n, two, n, VALID]
    assert [one.possible for one in found] == [n, p, VALID, VALID, two, n, VALID]
    assert [one.margin for one in found] == pytest.approx([2, 2, 1, 1.01, 2, math.inf, 1])
    assert [one.sure for one in found] == [True, True, False, False, True, True, False]
    regrets = [regret(result, cell, "mse", "mle_star") for cell in result.cells]
    assert regrets == pytest.approx([2, 2, 1, 1.02, 1, math.inf, 1])
    assert regret(result, result.cells[1], "mse", "inv_p") == 1


@pytest.mark.parametrize(
    ("means", "error", "verdict"),
    [
        ([(1, 3, 2)] * 4, 0.01, "not contradicted"),  # it is false elsewhere, so it does not hold
        ([(1, 3, 2)] * 3 + [(2, 3, 2.99)], 0.1, "not contradicted"),
        ([(1, 3, 2)] * 4, 100, "not settled"),
        ([(1, 3, 2)] * 9 + [(1, 2, 3)], 0.01, "mostly holds"),
        ([(1, 3, 2)] * 8 + [(1, 2, 3)] * 2, 0.01, "depends"),
        ([(1, 2, 3)] * 4, 0.01, "does not hold"),
        ([(1, 1, 1)] * 4, 0.01, "not tested"),
    ],
)
def test_the_verdict_on_never_worst(real, means, error, verdict):
    assert mle_never_worst(made(real, means, error)).verdict == verdict


def test_the_evidence_names_its_numbers(real):
    worst = np.array([[30.0, 2.0, 8.0], [0.0, 0.0, 0.0]])
    claim = mle_never_worst(made(real, [(1, 3, 2)] * 3 + [(1, 2, 3), (1, 1, 1)], 0.01, worst=worst))
    assert evidence(claim) == (
        "In 3 of 4 cells MLE* is surely not the worst, in 1 it surely is. In 1 more the three are equal. In single "
        "collections it is the worst in 20.00% of 200."
    )
    assert claim.count.no == 1
    unsure = mle_never_worst(made(real, [(1, 3, 2)] * 3 + [(2, 3, 2.99)], 0.1))
    assert "In 3 of 4 cells MLE* is surely not the worst, in 1 the collections do not settle it." in evidence(
        unsure
    )
    assert evidence(mle_never_worst(made(real, [(1, 3, 2)], 0.01))).startswith(
        "In 1 of 1 cell MLE* is surely"
    )


@pytest.mark.parametrize(
    ("worst", "words"), [(0.0, "none"), (0.003, "less than 0.01%"), (0.5, "1.25%"), (0.004, "0.01%")]
)
def test_a_rate_of_single_collections(real, worst, words):
    """Of 40; those that two share count half."""
    counts = np.array([[0.0, 0.0, worst], [0.0, 0.0, 0.0]])
    assert evidence(mle_never_worst(made(real, [(1, 3, 2)], worst=counts))).endswith(
        f"the worst in {words} of 40."
    )


@pytest.mark.parametrize(("cells", "words"), [(1, "the only cell"), (4, "all 4 cells")])
def test_where_all_coincide(real, cells, words):
    claim = mle_never_worst(made(real, [(1, 1, 1)] * cells))
    assert evidence(claim).startswith(f"The three are equal in {words}.")


def test_lowest_nll_is_about_single_draws(real):
    beaten = np.zeros((2, 3))
    assert mle_lowest_nll(made(real, [(1, 3, 2)] * 2, beaten=beaten)).verdict == "holds"
    beaten[0, 2] = beaten[1, 0] = 1  # the MSE's, and another's
    assert mle_lowest_nll(made(real, [(1, 3, 2)] * 2, beaten=beaten)).verdict == "holds"
    beaten[1, 2] = 1
    claim = mle_lowest_nll(made(real, [(1, 3, 2)] * 2, beaten=beaten))
    assert claim.verdict == "does not hold"
    assert "InvN or InvP had a lower one in 2 of 80 collections;" in evidence(claim)


def test_who_is_best_by_the_shape_of_the_population(real):
    """The first nine cells are near uniform, the others concentrated."""
    flat, peaked = [(1, 3, 2)] * 9, [(3, 1, 2)] * 9
    result = made(real, flat + peaked, 0.01)
    assert best_when(result, "inv_n", "near uniform").verdict == "holds"
    assert best_when(result, "inv_p", "concentrated").verdict == "holds"
    assert best_when(result, "inv_p", "near uniform").verdict == "does not hold"
    mixed = best_when(made(real, flat + peaked[:5] + flat[:4], 0.01), "inv_p", "concentrated")
    assert mixed.verdict == "depends"
    assert (mixed.count.yes, mixed.count.no) == (5, 4)
    assert (
        "surely better in 5, surely worse in 4. The exceptions lie at N = 100 to 10,000 and ε = 2."
        in evidence(mixed)
    )
    only_flat = SweepResult(real.sweep, real.cells[:9])
    assert best_when(only_flat, "inv_p", "concentrated").verdict == "not tested"


@pytest.mark.parametrize(
    ("cell", "concentrated", "near_uniform"),
    [
        (Cell("zipf", 100, 1.0, 50, 2.5), True, False),
        (Cell("zipf", 100, 1.0, 50, 1.3), False, False),
        (Cell("zipf", 100, 1.0, 50, 0.01), False, True),
        (Cell("uniform", 100, 1.0, 50), False, True),
        (Cell(POINT, 100, 1.0, 50), True, False),
    ],
)
def test_shapes_are_those_of_the_population(cell, concentrated, near_uniform):
    result = run(Sweep((cell,), SETTINGS))
    assert (best_when(result, "inv_p", "concentrated").verdict != "not tested") == concentrated
    assert (best_when(result, "inv_n", "near uniform").verdict != "not tested") == near_uniform


def grown(real, power_k, power_n, error=1e-9):
    """Errors that are powers of k and n, with this relative standard error."""
    means = [(c.cell.k**power_k * c.cell.n**power_n * (2 + c.cell.s),) * 3 for c in real.cells]
    result = made(real, means)
    cells = [replace(cell, standard_error=cell.mean * error) for cell in result.cells]
    return SweepResult(result.sweep, tuple(cells))


def test_slopes_of_a_power_law(real):
    result = grown(real, 2.0, -0.75)
    along_n, along_k = (slopes(result, "mse", along, "inv_p") for along in ("n", "k"))
    assert len(along_n.groups) == 2 * 3
    assert len(along_k.groups) == 2 * 3
    for found, slope in ((along_n, -0.75), (along_k, 2.0)):
        np.testing.assert_allclose(found.fitted, slope)
        np.testing.assert_allclose(found.last, slope)
    assert all(" n=" not in group for group in along_n.groups)


def test_slopes_are_least_squares_and_the_last_step(real):
    cells = [cell for cell in real.cells if cell.cell.k == 40 and cell.cell.s == 2.5]
    result = SweepResult(real.sweep, tuple(cells[::-1]))
    found = slopes(result, "mse", "n", "mle_star")
    x, y = np.log([100, 1000, 10_000]), np.log([cell.mean[0, 2] for cell in cells])
    assert found.fitted == pytest.approx([np.polyfit(x, y, 1)[0]])
    assert found.last == pytest.approx([(y[2] - y[1]) / math.log(10)])


def test_no_slope_without_three_points_or_with_an_error_of_zero(real):
    assert slopes(SweepResult(real.sweep, real.cells[:2]), "mse", "n", "inv_p").groups == ()
    assert slopes(made(real, [(1, 1, 1), (1, 0, 1), (1, 1, 1)]), "mse", "n", "inv_p").groups == ()
    assert len(slopes(made(real, [(1, 1, 1), (1, 0, 1), (1, 1, 1)]), "mse", "n", "inv_n").groups) == 1


def test_the_error_of_a_slope_is_that_of_its_two_means(real):
    found = slopes(grown(real, 2.0, -1.0, 0.03), "mse", "k", "inv_p")
    np.testing.assert_allclose(found.error, 0.03 * math.sqrt(2) / math.log(2))
    assert found.seeds == 40


@pytest.mark.parametrize(
    ("power", "error", "verdict"),
    [
        (1, 1e-6, "holds"),
        (0.5, 1e-6, "holds"),  # at most in proportion
        (1.09, 1e-6, "holds"),
        (2, 1e-6, "does not hold"),
        (1.2, 0.1, "not settled"),
        (1, 0.1, "not settled"),
    ],
)
def test_the_verdict_along_k(real, power, error, verdict):
    """18 slopes, each against 1.1: twelve would be a guess where the means are not known well enough."""
    claim = order_in_k(grown(real, power, -1, error))
    assert claim.verdict == verdict
    assert "Of 18 slopes between the two largest K (1: in proportion), above 1.1:" in evidence(claim)
    words = {
        "holds": "surely not in 18.",
        "does not hold": "surely above in 18.",
        "not settled": "not settled in 18.",
    }
    assert words[verdict] in evidence(claim)
    assert f"InvP {power:.2f} (from {power:.2f} to {power:.2f})" in evidence(claim)


def test_one_collection_settles_no_slope(real):
    result = grown(real, 2, -1)
    once = replace(result.sweep, settings=replace(result.sweep.settings, seeds=1))
    assert order_in_k(SweepResult(once, result.cells)).verdict == "not settled"


def test_along_n_a_theorem_holds_whatever_the_slopes(real):
    """Of InvP and Inv; InvN and MLE* alone have none."""
    for power in (-1.5, -1, -0.4):
        claim = order_in_n(grown(real, 1, power))
        assert claim.verdict == "holds"
        assert f"the middle one first: InvP −{-power:.2f} (from −{-power:.2f} to" in evidence(claim)
        assert "-" not in evidence(claim)
    settings = Settings(3, estimators=("inv_n", "mle_star"), metrics=("mse",), bias=False)
    without = order_in_n(run(Sweep(over(k=5, epsilon=1.0, n=(10, 20, 40)), settings)))
    assert without.verdict == "not settled"
    assert "theorem" not in evidence(without)
    two = replace(settings, estimators=("inv", "inv_n"))
    alone = order_in_n(run(Sweep(over(k=5, epsilon=1.0, n=(10, 20, 40)), two)))
    assert alone.verdict == "holds"
    assert "first: Inv −" in evidence(alone)
    assert "from" not in evidence(alone).partition("first:")[2]  # one group
    assert order_in_n(run(Sweep(over(k=5, epsilon=1.0, n=(10, 20)), two))).verdict == "not tested"
    assert order_in_k(run(Sweep(over(k=5, epsilon=1.0, n=(10, 20, 40)), two))).verdict == "not tested"


def test_the_errors_of_a_sweep_keep_the_theorem(real):
    """N times Inv's mean squared error is the constant of Theorem 9, whoever the users are; InvP's is at most that."""
    settings = Settings(200, estimators=("inv", "inv_p"), metrics=("mse",), bias=False)
    result = run(Sweep(over(s=(0.01, 2.5), k=(5, 50), epsilon=(0.5, 3.0), n=(10, 1000)), settings))
    for cell in result.cells:
        constant = squared_error_of_inv(cell.cell.k, cell.cell.epsilon) / cell.cell.n
        assert abs(cell.mean[0, 0] - constant) < 5 * cell.standard_error[0, 0]
        assert cell.mean[0, 1] <= cell.mean[0, 0]


def test_all_claims_of_a_real_sweep(real):
    found = {claim.key: claim for claim in claims(real)}
    assert list(found) == ["never_worst", "lowest_nll", "inv_p_best", "inv_n_best", "order_n", "order_k"]
    assert found["never_worst"].count.no == 0
    assert found["lowest_nll"].verdict == "holds"
    assert found["inv_n_best"].count.no == 0


def test_claims_a_sweep_cannot_bear_on():
    settings = Settings(3, estimators=("inv_n", "mle_star"), metrics=("tv",), bias=False)
    result = run(Sweep(over(k=5, epsilon=1.0, n=(10, 20)), settings))
    assert {claim.verdict for claim in claims(result)} == {"not tested"}
    assert {claim.verdict for claim in claims(SweepResult(result.sweep, ()))} == {"not tested"}


def test_the_family_level_is_five_percent():
    assert ranking.FAMILY_LEVEL == 0.05
