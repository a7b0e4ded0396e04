"""The measured errors under right and wrong priors: a part of them measured again."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse
from rr_core.protocols import posterior, posterior_mean, summarise_posterior
from rr_core.protocols.posterior import prior_errors
from tests.benchmarks.prior_choice import NAMES, squared_errors


@pytest.mark.parametrize(("prior", "truth"), [(0.5, 0.5), (1.0, 0.05), (0.5, 20.0)])
def test_a_few_collections_agree_with_the_table(prior, truth):
    (row,) = [one for one in prior_errors() if (one.prior, one.truth) == (prior, truth)]
    errors = squared_errors(truth, prior, 60, 7)
    for name, found in zip(NAMES, errors.T, strict=True):
        spread = np.hypot(found.std(ddof=1) / np.sqrt(60), row.spread[name])
        assert abs(found.mean() - row.errors[name]) < 4.5 * spread


def test_bayes_wins_where_the_prior_is_right():
    """Theorem 3.1: no estimator has a smaller expected squared error."""
    for row in prior_errors():
        if row.prior == row.truth:
            others = [row.errors[name] for name in ("inv_n", "inv_p", "mle_star")]
            assert row.errors["posterior"] < min(others)


def test_a_summary_is_that_of_the_draws():
    mechanism = RandomizedResponse(4, 1.0)
    found = summarise_posterior([600, 300, 200, 100], mechanism, 1.0, 500, 3, level=0.9)
    drawn = posterior([600, 300, 200, 100], mechanism, 1.0, 500, 3)
    np.testing.assert_array_equal(found.mean, drawn.mean(axis=0))
    np.testing.assert_allclose([found.low, found.high], np.quantile(drawn, [0.05, 0.95], axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.mean, posterior_mean([600, 300, 200, 100], mechanism, 1.0), atol=0.02)
    for level in (0, 1, np.nan):
        with pytest.raises(ValueError, match="level must be a number with 0 < level < 1"):
            summarise_posterior([1, 2, 3, 4], mechanism, level=level)
