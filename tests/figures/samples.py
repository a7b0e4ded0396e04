"""One draw per number of categories, and every figure that a page shows of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core import Scenario
from rr_core.comparison import Comparison, compare
from rr_core.figures import estimators, inv_negatives, noisy_histogram
from rr_core.figures.view import MOST_BARS, View, bars, curve, natural_order, rank_order
from rr_core.privacy import answer, posterior_of_reports
from rr_core.repeats import Repeats, repeat
from rr_core.scenario import Draw

SIZES = (2, 12, 200, 201, 10_000, 1_423_000)


@cache
def drawn(k: int) -> Draw:
    users = {12: 200, 1_423_000: 1_664_500}.get(
        k, 50_000
    )  # so few at k = 12 that some estimates are negative
    return Scenario("zipf", k, 1.2, 1.0 if k == 12 else 3.0, users, 4).draw()


@cache
def compared(k: int) -> Comparison:
    return compare(drawn(k))


@cache
def repeats(k: int) -> Repeats:
    *_, last = repeat(drawn(k), 30 if k <= 10_000 else 2)
    return last


@cache
def view(k: int) -> View:
    """What the pages show first: all bars, or the curve over the ranks."""
    if k <= MOST_BARS:
        return bars(natural_order(k), None, "Category")
    return curve(rank_order(drawn(k).true_counts), "Rank of the category")


def top(k: int) -> View:
    """The other view of many categories: the most frequent ones as bars."""
    return bars(rank_order(drawn(k).true_counts), None, "The most frequent categories")


def by_name(name: str, k: int, shown: View | None = None) -> go.Figure:
    draw, shown = drawn(k), shown or view(k)
    result, mechanism, n = compared(k), draw.mechanism, draw.scenario.n
    makers: dict[str, Callable[[], go.Figure]] = {
        "histogram": lambda: noisy_histogram.noisy_histogram(draw.true_counts, draw.counts, mechanism, shown),
        "inv": lambda: inv_negatives.inv_with_negatives(
            result.estimates["inv"], draw.theta, n, mechanism, shown
        ),
        "estimates": lambda: estimators.estimates(result.estimates, draw.theta, n, mechanism, shown),
        "histogram, truth hidden": lambda: noisy_histogram.noisy_histogram(
            None, draw.counts, mechanism, shown
        ),
        "inv, truth hidden": lambda: inv_negatives.inv_with_negatives(
            result.estimates["inv"], None, n, mechanism, shown
        ),
        "estimates, truth hidden": lambda: estimators.estimates(
            result.estimates, None, n, mechanism, shown, quick=True
        ),
        "chance": lambda: inv_negatives.chance_against_users(n, mechanism, 0.4),
        "chance, truth hidden": lambda: inv_negatives.chance_against_users(n, mechanism, None),
        "belief": lambda: _belief(draw, 1),
        "beliefs": lambda: _belief(draw, 5),
        "errors": lambda: estimators.error_distribution(repeats(k), "mse"),
        "bias": lambda: estimators.bias_and_variance(repeats(k)),
        "wins": lambda: estimators.wins(repeats(k), "tv"),
    }
    return makers[name]()


def _belief(draw: Draw, answers: int) -> go.Figure:
    """What an onlooker believes of a person of the second category who answers so often."""
    prior = draw.population.probabilities
    reports = [answer(1, draw.mechanism, i).report for i in range(answers)]
    beliefs = [posterior_of_reports(reports[:m], prior, draw.mechanism) for m in (1, answers)]
    return noisy_histogram.belief(
        prior, beliefs[-1:] if answers == 1 else beliefs, reports, 1, top(draw.scenario.k)
    )


OF_CATEGORIES = ("histogram", "inv", "estimates")
WITHOUT_TRUTH = tuple(f"{name}, truth hidden" for name in (*OF_CATEGORIES, "chance"))
FIGURES = (*OF_CATEGORIES, *WITHOUT_TRUTH, "chance", "belief", "beliefs", "errors", "bias", "wins")


def spec(figure: go.Figure) -> dict[str, Any]:
    """The figure as a browser gets it."""
    read: dict[str, Any] = json.loads(figure.to_json())
    return read


def values(trace: Any, axis: str = "y") -> np.ndarray:
    """The numbers that a trace draws along an axis."""
    return np.asarray([] if trace[axis] is None else trace[axis], dtype=float)


def named(figure: go.Figure, name: str) -> Any:
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found
