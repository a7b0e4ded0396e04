"""The figures about unary encoding, against the numbers they speak of."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario
from rr_core.figures.style import reading
from rr_core.figures.unary import gain_map, one_report, unary_estimates
from rr_core.figures.view import bars, natural_order
from rr_core.protocols.collection import collect_unary, one_person
from rr_core.protocols.unary import UnaryEncoding
from rr_core.protocols.unary_estimation import mle_gains
from tests.figures.test_every_figure import check

NAMES = {"inv_n": "InvN", "inv_p": "InvP", "mle": "MLE"}


@pytest.mark.parametrize(
    ("k", "epsilon", "n"), [(2, 0.01, 1), (12, 1.0, 2000), (60, 4.0, 10_000), (12, 20.0, 10**9)]
)
def test_estimates_are_drawn(k, epsilon, n):
    users = Scenario("zipf", k, 1.5, epsilon, n, 3).users().counts
    found = collect_unary(UnaryEncoding(k, epsilon), users, 1)
    estimates = {"inv": found.inv, "inv_n": found.inv_n, "inv_p": found.inv_p}
    if found.mle is not None:
        estimates["mle"] = found.mle.theta
    ones, view = found.support / found.n, bars(natural_order(k), None, "Category")
    figure = unary_estimates(estimates, ones, found.theta, view)
    check(figure)
    assert {trace.name for trace in figure.data} == {"Truth", "Inv"} | {
        NAMES[name] for name in list(estimates)[1:]
    }
    check(unary_estimates(estimates, ones, None, view))


def test_one_report_of_the_blog():
    person = one_person([1] * 10, RandomizedResponse(10, np.log(3)), UnaryEncoding(10, np.log(3)), 1)
    figure = one_report(person.debiased, person.debiased_bits, [str(i) for i in range(10)])
    check(figure)
    assert "counts as 5.5 people in the category that it names, and as −0.5 in each other one" in reading(
        figure
    )
    assert sorted(figure.data[0].y.round(9)) == [-0.5] * 9 + [5.5]


@pytest.mark.parametrize("encoding", ["sue", "oue"])
@pytest.mark.parametrize("k", [10, 50])
def test_the_map_of_gains_is_what_was_measured(encoding, k):
    gains = [gain for gain in mle_gains() if gain.encoding == encoding]
    figure = gain_map(gains, k)
    check(figure)
    of_k = [gain for gain in gains if gain.k == k]
    best = min(of_k, key=lambda gain: gain.ratio)
    row, column = (
        list(figure.data[0].y).index(f"{best.n // k:,}"),
        list(figure.data[0].x).index(f"{best.epsilon:g}"),
    )
    assert figure.data[0].z[row][column] == pytest.approx(1 - best.ratio, abs=1e-6)
