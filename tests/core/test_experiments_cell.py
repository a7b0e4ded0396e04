"""Cells and their keys, combinations of axes, and the paper's grids; one cell of a sweep: against closed forms, exact
enumeration and the estimators on the same reports; how it is summed up; and that it does not depend on how many
collections are made."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import (
    Population,
    inv_variance,
    max_error,
    negative_log_likelihood,
    simulate,
    squared_error,
    total_variation,
    zipf,
)
from rr_core.comparison import METRICS, TIE
from rr_core.experiments.cell import (
    ARRAYS,
    QUANTILES,
    cell_collector,
    compute_cell,
    rows_per_block,
    simulate_cell,
    summarise,
)
from rr_core.experiments.grid import (
    MAIN_GRID,
    MAIN_SETTINGS,
    PAPER_FIGURES,
    POINT,
    Cell,
    Settings,
    Sweep,
    over,
)
from rr_core.populations import SHAPES, TABLES
from rr_core.registry import ESTIMATORS, VALID
from tests.core import exact
from tests.sentences import holds

NAMES = tuple(ESTIMATORS)
OF_VALID = [NAMES.index(name) for name in VALID]
# Blocks of every size, rows short and long, tables of counts and counts too high for one.
VARIOUS = (
    Cell("zipf", 7, 1.0, 200, 1.3),
    Cell("zipf", 40, 2.0, 10**5, 2.5),
    Cell("uniform", 300, 3.0, 900),
    Cell("zipf", 2500, 4.0, 10**6, 1.3),
    Cell("humps", 3000, 1.0, 400),
    Cell("step", 60_000, 8.0, 10**5),
)


def exact_errors(name, reports, truth, channel):
    """The four errors of one estimate, from exact arithmetic."""
    theta = exact.ESTIMATORS[name](reports, channel)
    off = [float(a - b) for a, b in zip(theta, truth, strict=True)]
    seen = [float(channel.q + channel.keep * share) for share in theta]
    nll = -sum(c * math.log(x) for c, x in zip(reports, seen, strict=True) if c) / sum(reports)
    return (sum(x * x for x in off), sum(map(abs, off)) / 2, max(map(abs, off)), nll)


SMALL = Population.from_weights(np.array([6, 2, 0]))
SMALL_CELL = Cell(SMALL.key, 3, 1.2, 8)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_fixed_users_are_measured_against_their_own_shares(users):
    """Of ten users rounded shares are far from the population's, and the noise is small beside that."""
    for cell in (Cell("zipf", 5, 5.0, 10, 1.3), Cell("humps", 20, 6.0, 25), Cell("zipf", 3, 2.0, 60, 0.5)):
        settings = Settings(2000, estimators=("inv",), metrics=("mse",), users=users, bias=False)
        truth = cell_collector(cell, settings, {}).truth
        closed = inv_variance(truth, cell.n, cell.mechanism, users=users).sum()
        found = compute_cell(cell, settings)
        assert abs(found.mean[0, 0] - closed) < 4 * found.standard_error[0, 0], cell


def test_every_mean_is_the_exact_one():
    """Over all histograms of eight users."""
    channel = exact.channel_from_epsilon(3, SMALL_CELL.epsilon)
    truth = [Fraction(6, 8), Fraction(2, 8), Fraction(0)]
    law = exact.histogram_law(SMALL.counts.tolist(), np.array(channel.rows, float).tolist())
    errors = np.array([[exact_errors(name, reports, truth, channel) for name in NAMES] for reports in law])
    weights = np.array(list(law.values()))
    mean = np.tensordot(weights, errors, 1).T
    spread = np.sqrt(np.tensordot(weights, errors**2, 1).T - mean**2)
    result = compute_cell(SMALL_CELL, Settings(6000), {SMALL.key: SMALL})
    assert (np.abs(result.mean - mean) / (spread / np.sqrt(6000))).max() < 4
    # A standard error is that of a mean of so many: to six standard errors of a standard deviation.
    np.testing.assert_allclose(result.standard_error, spread / np.sqrt(6000), rtol=6 * 1.5 / np.sqrt(12_000))


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("cell", VARIOUS, ids=str)
def test_draws_are_the_estimators_on_the_same_reports(cell, users):
    size = rows_per_block(cell.k)
    settings = Settings(size + size // 2 + 1, users=users)
    drawn, collector = simulate_cell(cell, settings), cell_collector(cell, settings, {})
    reports = collector.draw(0, 2 * size).reports[: settings.seeds]
    for index, (name, estimator) in enumerate(ESTIMATORS.items()):
        estimate = estimator(reports, cell.mechanism)
        errors = {
            "mse": squared_error(estimate, collector.truth),
            "tv": total_variation(estimate, collector.truth),
            "max": max_error(estimate, collector.truth),
            "nll": negative_log_likelihood(reports, estimate, cell.mechanism) / cell.n,
        }
        for metric, values in zip(METRICS, drawn.errors[:, index], strict=True):
            np.testing.assert_allclose(values, errors[metric], rtol=1e-9, atol=1e-15, err_msg=name)
        np.testing.assert_array_equal(drawn.zeros[index], (estimate == 0).sum(axis=1))
        np.testing.assert_array_equal(drawn.negatives[index], (estimate < 0).sum(axis=1))
        off = estimate - collector.truth
        np.testing.assert_allclose(drawn.deviation[index], off.sum(axis=0), rtol=1e-8, atol=1e-12)
        assert drawn.total_squared[index] == pytest.approx((off**2).sum(), rel=1e-10)


@pytest.mark.parametrize("cell", VARIOUS[1:4:2], ids=str)
def test_the_first_collections_do_not_depend_on_how_many_there_are(cell):
    size = rows_per_block(cell.k)
    long = simulate_cell(cell, Settings(2 * size))
    for seeds in (1, size - 1, size, size + 1):
        short = simulate_cell(cell, Settings(seeds))
        np.testing.assert_array_equal(short.errors, long.errors[..., :seeds])
        np.testing.assert_array_equal(short.zeros, long.zeros[:, :seeds])


def test_what_is_asked_for_changes_no_number():
    cell = VARIOUS[1]
    full, few = compute_cell(cell, Settings(30)), compute_cell(cell, replace(MAIN_SETTINGS, seeds=30))
    for name in ("mean", "best", "quantiles"):
        of_all = getattr(full, name)[..., [0, 3], :][..., OF_VALID]
        np.testing.assert_array_equal(getattr(few, name), of_all, name)
    np.testing.assert_array_equal(few.zeros, full.zeros[OF_VALID])
    assert np.isnan(few.bias2).all()


@pytest.mark.parametrize("cell", VARIOUS[:2], ids=str)
def test_the_summary_is_that_of_the_draws(cell):
    settings = Settings(37)
    drawn = simulate_cell(cell, settings)
    result = summarise(cell, settings, drawn)
    for m, e in np.ndindex(drawn.errors.shape[:2]):
        errors = drawn.errors[m, e]
        assert result.mean[m, e] == pytest.approx(errors.mean(), rel=1e-13)
        assert result.standard_error[m, e] == pytest.approx(np.std(errors, ddof=1) / math.sqrt(37), rel=1e-10)
        np.testing.assert_array_equal(result.quantiles[:, m, e], np.quantile(errors, QUANTILES))
        for other in range(len(NAMES)):
            pairs = errors - drawn.errors[m, other]
            assert result.difference[m, e, other] == pytest.approx(pairs.mean(), rel=1e-9, abs=1e-18)
            spread = np.std(pairs, ddof=1) / math.sqrt(37)
            assert result.difference_error[m, e, other] == pytest.approx(spread, rel=1e-9, abs=1e-18)
    np.testing.assert_allclose(result.zeros, drawn.zeros.mean(axis=1))
    np.testing.assert_allclose(result.negatives, drawn.negatives.mean(axis=1))
    assert QUANTILES == (0.05, 0.25, 0.5, 0.75, 0.95)
    assert result.concentration == pytest.approx((cell.population({}).probabilities ** 2).sum())


@holds("Where two are the worst of a **single collection** together, it counts half.")
def test_best_and_worst_are_counted_as_for_single_draws():
    cell, settings = Cell("zipf", 4, 1.5, 40, 0.5), Settings(80)
    drawn = simulate_cell(cell, settings)
    result = summarise(cell, settings, drawn)
    for m in range(len(METRICS)):
        best, worst, beaten = (dict.fromkeys(VALID, 0.0) for _ in range(3))
        tied = 0
        for errors in drawn.errors[m, OF_VALID].T:
            slack = TIE * np.abs(errors).max()
            smallest = [
                name for name, error in zip(VALID, errors, strict=True) if error <= errors.min() + slack
            ]
            largest = [
                name for name, error in zip(VALID, errors, strict=True) if error >= errors.max() - slack
            ]
            if len(smallest) == len(VALID):
                largest, tied = [], tied + 1
            for tally, names in ((best, smallest if largest else ()), (worst, largest)):
                for name in names:
                    tally[name] += 1 / len(names)
            for name in VALID:
                beaten[name] += name not in smallest
        assert tied == result.tied[m] > 0
        for counts, tally in ((result.best, best), (result.worst, worst), (result.beaten, beaten)):
            assert math.isnan(counts[m, 0])
            assert counts[m, OF_VALID] == pytest.approx(list(tally.values()))
        assert result.best[m, OF_VALID].sum() + tied == pytest.approx(settings.seeds)


@holds("textbook; both unbiased, so the squared bias may come out a little below zero")
def test_bias_and_variance():
    cell, settings = Cell("zipf", 6, 1.0, 50, 1.0), Settings(1000, users="sampled")
    result, collector = compute_cell(cell, settings), cell_collector(cell, settings, {})
    reports = collector.draw(0, 1000).reports
    for index, estimator in enumerate(ESTIMATORS.values()):
        estimates = estimator(reports, cell.mechanism)
        variance = estimates.var(axis=0, ddof=1)
        assert result.variance[index] == pytest.approx(variance.sum(), rel=1e-9)
        raw = ((estimates.mean(axis=0) - collector.truth) ** 2).sum()
        assert result.bias2[index] == pytest.approx(raw - variance.sum() / 1000, rel=1e-7, abs=1e-12)
        assert result.bias2[index] + result.variance[index] == pytest.approx(result.mean[0, index])
    # Inv has no bias; the others, near the border, have.
    noise = result.variance[0] / 1000
    assert abs(result.bias2[0]) < 4 * noise
    assert (result.bias2[1:] > 10 * noise).all()


def test_one_collection_has_no_spread():
    result = compute_cell(VARIOUS[0], Settings(1))
    for array in (result.standard_error, result.difference_error, result.bias2, result.variance):
        assert np.isnan(array).all()
    assert np.isfinite(result.mean).all()
    np.testing.assert_array_equal(result.quantiles, np.broadcast_to(result.mean, result.quantiles.shape))


def test_results_are_read_only_and_compare_bit_for_bit():
    cell = VARIOUS[0]
    result, again = compute_cell(cell, Settings(5)), compute_cell(cell, Settings(5))
    assert result.same(again)
    for name in ARRAYS:
        array = getattr(result, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert not result.same(replace(result, **{name: np.nextafter(array, 9) + np.isnan(array)})), name
    assert not result.same(replace(result, seeds=6))


def test_stopping_leaves_no_result(monkeypatch):
    monkeypatch.setattr(simulate, "PROGRESS_SECONDS", 0.0)
    calls = []
    assert (
        simulate_cell(VARIOUS[3], Settings(100), progress=lambda done: calls.append(done) or done > 20)
        is None
    )
    assert calls == [20, 40]


UPLOAD = Population.from_weights([3, 0, 7])


@given(
    dist=st.sampled_from([*SHAPES, *TABLES, POINT, UPLOAD.key]),
    k=st.integers(2, 1_500_000),
    epsilon=st.floats(0.01, 20),
    n=st.integers(1, 10**9),
    s=st.floats(0, 5),
)
def test_a_key_names_one_cell_and_reads_back(dist, k, epsilon, n, s):
    cell = Cell(dist, k, epsilon, n, s)
    assert Cell.parse(cell.key) == cell
    assert hash(Cell.parse(cell.key)) == hash(cell)
    other = Cell(dist, k, math.nextafter(epsilon, 1.0), n, s)
    assert (other.key == cell.key) == (other == cell)


def test_populations():
    assert Cell(POINT, 4, 1.0, 10).population({}).probabilities.tolist() == [1, 0, 0, 0]
    np.testing.assert_array_equal(Cell("zipf", 7, 1.0, 10, 1.3).population({}).probabilities, zipf(7, 1.3))
    cell = Cell(UPLOAD.key, 3, 1.0, 10)
    assert cell.uploaded
    assert cell.population({UPLOAD.key: UPLOAD}) is UPLOAD
    with pytest.raises(ValueError, match="populations must hold 'weights:"):
        cell.population({})
    with pytest.raises(ValueError, match="population must have k = 4 categories, got 3"):
        Cell(UPLOAD.key, 4, 1.0, 10).population({UPLOAD.key: UPLOAD})


def test_combinations():
    cells = over(s=(1.0, 2.0), k=5, epsilon=(1, 2, 3), n=[10, 20])
    assert len(cells) == len(set(cells)) == 12
    assert cells[0] == Cell("zipf", 5, 1.0, 10, 1.0)
    assert cells[1] == Cell("zipf", 5, 1.0, 20, 1.0)
    assert cells[-1] == Cell("zipf", 5, 3.0, 20, 2.0)
    # Only Zipf has an exponent, and a table its own k.
    assert len(over(dist=("zipf", "uniform"), s=(1.0, 2.0), k=5, epsilon=1.0, n=10)) == 3
    assert len(over(dist="letters", k=(5, 6), epsilon=1.0, n=10)) == 1
    assert Sweep(cells + cells[:3]).cells == cells
    # Equal cells and settings, however they are written.
    assert Cell("zipf", 12, 1, 100, 2) == Cell("zipf", np.int64(12), 1.0, np.int64(100), 2.0)
    assert Cell("uniform", 12, 1.0, 100, 2.0).key == Cell("uniform", 12, 1.0, 100).key
    assert Settings(estimators=["mle_star", "inv"]) == Settings(estimators=("inv", "mle_star"))


def test_the_main_grid_and_the_presets_are_the_papers():
    grid = Sweep(over(s=(0.01, 1.3, 2.5), k=(50, 100, 1000, 5000), epsilon=range(1, 11),
                      n=(100, 1000, 10_000, 100_000, 1_000_000)))  # fmt: skip
    assert set(MAIN_GRID) == set(grid.cells)
    assert len(MAIN_GRID) == 600
    assert Settings(100, estimators=VALID, metrics=("mse", "nll"), bias=False) == MAIN_SETTINGS
    assert list(PAPER_FIGURES) == ["1a", "1b", "2a", "2b", "5", "6", "7", "8", "9", "10"]
    for key, preset in PAPER_FIGURES.items():
        assert preset.metric == ("mse" if key in ("1a", "2a", "5", "6", "7") else "nll")
        ks, exponents = (
            {getattr(cell, name) for cell in preset.cells if cell.dist == "zipf"} for name in "ks"
        )
        if key in ("1a", "1b", "2a", "2b"):
            assert (ks, exponents) == ({10_000}, {0.01, 1.3, 2.5, 5.0})
            assert len(preset.cells) == (25 if preset.along == "n" else 50)
        else:
            assert (ks, exponents) == ({50, 100, 1000, 5000, 10_000}, {(0.01, 1.3, 2.5)[(int(key) - 5) % 3]})
            assert {cell.epsilon for cell in preset.cells} == {1, 2, 4, 10}
