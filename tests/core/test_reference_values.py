"""The worked values of DESIGN section 9, exactly, and of the sources they come from."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rr_core import RandomizedResponse, collinearity, ibu, inv, inv_n, inv_p, mle_star, optimality_gap
from tests.core import exact

MECHANISM = RandomizedResponse.from_p(4, 0.5)
EXPECTED = {
    inv: (Fraction(1), Fraction(1, 4), Fraction(0), Fraction(-1, 4)),
    inv_n: (Fraction(4, 5), Fraction(1, 5), Fraction(0), Fraction(0)),
    inv_p: (Fraction(7, 8), Fraction(1, 8), Fraction(0), Fraction(0)),
    mle_star: (Fraction(5, 6), Fraction(1, 6), Fraction(0), Fraction(0)),
}


@pytest.mark.parametrize("estimate", EXPECTED, ids=lambda estimate: estimate.__name__)
@pytest.mark.parametrize(
    "histogram", [(6, 3, 2, 1), (1 / 2, 1 / 4, 1 / 6, 1 / 12)], ids=["counts", "frequencies"]
)
def test_four_categories_with_p_one_half(estimate, histogram):
    np.testing.assert_allclose(
        estimate(histogram, MECHANISM), [float(x) for x in EXPECTED[estimate]], rtol=1e-15, atol=1e-16
    )


@pytest.mark.parametrize("estimate", EXPECTED, ids=lambda estimate: estimate.__name__)
def test_the_exact_oracle_gives_the_same_values(estimate):
    channel = exact.channel_from_p(4, Fraction(1, 2))
    name = estimate.__name__
    assert tuple(exact.ESTIMATORS[name]([6, 3, 2, 1], channel)) == EXPECTED[estimate]


def test_the_reference_example_is_certified_and_collinear():
    assert optimality_gap([6, 3, 2, 1], [5 / 6, 1 / 6, 0, 0], MECHANISM) == pytest.approx(0, abs=1e-15)
    place = collinearity([6, 3, 2, 1], MECHANISM)
    # InvN to InvP is (-3/40, 3/40): MLE* at 5/6 is (7/8 - 5/6)/(7/8 - 4/5) = 5/9 of the way.
    assert place.position == pytest.approx(5 / 9, rel=1e-14)
    assert place.same_support
    assert not place.theorem2_holds


def test_the_blog_debiases_a_one_hot_report_to_minus_half_and_five_and_a_half():
    np.testing.assert_allclose(
        inv(np.eye(10), RandomizedResponse(10, math.log(3))), 6 * np.eye(10) - 0.5, rtol=1e-14
    )


def test_three_categories_at_log_three_report_something_at_random_in_three_cases_of_five():
    made = RandomizedResponse(3, math.log(3))
    assert made.k * made.q == pytest.approx(0.6, rel=1e-15)
    np.testing.assert_allclose(made.matrix(), 0.2 + 0.4 * np.eye(3), rtol=1e-15)


def test_ibu_ends_at_the_reference_mle():
    np.testing.assert_allclose(ibu([6, 3, 2, 1], MECHANISM, 3000), [5 / 6, 1 / 6, 0, 0], atol=1e-12)
