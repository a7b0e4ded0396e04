"""Starts of IBU."""

import re

import numpy as np
import pytest

from rr_core.ibu.costs import affordable_iterations, records_per_decade
from rr_core.ibu.engine import Start, parse_weights

COUNTS = np.array([5, 0, 3, 2])


def test_each_kind():
    assert Start().distribution(COUNTS) is None
    np.testing.assert_array_equal(Start("reports").distribution(COUNTS), [0.5, 0, 0.3, 0.2])
    np.testing.assert_allclose(Start("leaning", 2, 0.7).distribution(COUNTS), [0.1, 0.1, 0.7, 0.1])
    np.testing.assert_allclose(Start("zero", 1).distribution(COUNTS), [1 / 3, 0, 1 / 3, 1 / 3])
    np.testing.assert_allclose(
        Start("typed", weights=(1, 2, 3, 4)).distribution(COUNTS), [0.1, 0.2, 0.3, 0.4]
    )


def test_random_point_depends_on_the_seed_alone():
    one, again, other = (Start("random", seed=seed).distribution(COUNTS) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0.01


@pytest.mark.parametrize("text", ["1, 2, 1", "1 2 1", "1;2;1", " 25% 50% 25% ", "0.5/1/0.5"])
def test_typed_shares(text):
    weights = parse_weights(text, 3)
    np.testing.assert_allclose(Start("typed", weights=weights).distribution([1, 1, 1]), [0.25, 0.5, 0.25])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1, 2", "3 numbers are needed, one for each category; this has 2."),
        ("1, 2, x", "'x' is not a number; write for example 0.5, 0.3, 0.2."),
        ("1, 2, -1", "'-1' is not a share: every number must be zero or more."),
        ("1, 2, nan", "'nan' is not a share: every number must be zero or more."),
        ("1, inf, 2", "'inf' is not a share: every number must be zero or more."),
        ("0, 0, 0", "At least one number must be above zero."),
    ],
)
def test_typed_shares_that_cannot_be_used(text, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        parse_weights(text, 3)


@pytest.mark.slow
def test_budget_shortens_only_what_is_dear():
    few, many = np.arange(12), np.arange(300_000)
    assert affordable_iterations(few, 10_000) == 10_000
    assert affordable_iterations(few, 100) == affordable_iterations(many, 100) == 100
    assert affordable_iterations(many, 100_000) == 100
    lengths = [affordable_iterations(np.arange(levels), 100_000) for levels in (10, 1000, 10_000, 100_000)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 10 * lengths[-1]
    assert affordable_iterations(np.repeat(few, 1000), 10_000) == affordable_iterations(
        few, 10_000
    )  # distinct counts matter, not k
    assert records_per_decade(few) > records_per_decade(many)
