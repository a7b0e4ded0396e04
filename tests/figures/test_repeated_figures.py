"""Figures of repeated collections show what the repeats hold."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Scenario
from rr_core.comparison import ESTIMATORS, METRICS, VALID
from rr_core.figures.repeated import bias_and_variance, error_distribution, wins
from rr_core.figures.style import QUANTITIES, reading
from rr_core.repeats import repeat
from tests.figures.samples import named, repeats


@pytest.mark.parametrize("metric", METRICS)
def test_boxes_hold_the_errors_of_each_estimator(metric):
    result = repeats(200)
    figure = error_distribution(result, metric)
    for index, name in enumerate(ESTIMATORS):
        box = named(figure, QUANTITIES[name].name)
        finite = result.errors[metric][:, index]
        assert sorted(np.asarray(box.x, float)) == sorted(finite[np.isfinite(finite)])


def test_thousands_of_collections_keep_extremes_and_median():
    *_, result = repeat(Scenario("zipf", 5, 1.0, 1.0, 100, 3).draw(), 2000)
    box = named(error_distribution(result, "tv"), "MLE*")
    drawn, errors = np.asarray(box.x, float), result.errors["tv"][:, list(ESTIMATORS).index("mle_star")]
    assert drawn.size <= 400
    assert (drawn.min(), drawn.max()) == (errors.min(), errors.max())
    assert np.median(drawn) == pytest.approx(np.median(errors), rel=0.02)


def test_bias_and_variance_add_up_to_the_mean_squared_error():
    result = repeats(200)
    bias, variance = bias_and_variance(result).data
    for index, name in enumerate(ESTIMATORS):
        mean = result.errors["mse"][:, index].mean()
        whole = np.asarray(bias.x, float)[index] + np.asarray(variance.x, float)[index]
        assert whole == pytest.approx(mean, rel=0.1), name


def test_shares_of_wins_add_up_to_one():
    figure = wins(repeats(200), "tv")
    total = sum(np.asarray(trace.x, float) for trace in figure.data)
    np.testing.assert_allclose(total, np.ones(len(VALID)))


def test_without_negatives_nobody_wins():
    *_, result = repeat(Scenario("uniform", 3, 1.0, 6.0, 100_000, 3).draw(), 20)
    assert "equal" in reading(wins(result, "tv"))
    assert [trace.name for trace in wins(result, "tv").data] == ["all equal"]
    assert "same error" in reading(error_distribution(result, "tv"))
