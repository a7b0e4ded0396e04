"""Display names of populations, cells, axes and errors."""

from __future__ import annotations

from typing import NamedTuple

from rr_core.experiments.grid import POINT, Cell
from rr_core.populations import SHAPES, TABLES

SYMBOLS = {"epsilon": "ε", "n": "N", "k": "K", "s": "s"}


class MetricNames(NamedTuple):
    """Display names of an error.

    Attributes:
        abbreviation: on a button of a multiple choice.
        button: on a button of a single choice.
        of_cell: on such a button, for the error of a single cell.
        in_text: within a sentence.
        mean_in_text: its mean within a sentence.
    """

    abbreviation: str
    button: str
    of_cell: str
    in_text: str
    mean_in_text: str


METRIC_NAMES = {
    "mse": MetricNames("MSE", "Squared error", "Squared error", "mean squared error", "mean squared error"),
    "tv": MetricNames(
        "Total variation", "Total variation", "Total variation", "total variation", "mean total variation"
    ),
    "max": MetricNames(
        "Largest error", "Largest error", "Largest error", "largest error", "mean largest error"
    ),
    "nll": MetricNames("NLL", "NLL", "NLL per report", "NLL", "mean negative log-likelihood"),
}


def population_name(cell: Cell) -> str:
    """In words that may stand within a sentence; equal names mean equal populations, but for uploaded ones."""
    if cell.dist == "zipf":
        return f"Zipf s = {cell.s:.12g}"
    if cell.dist == POINT:
        return "point mass (everybody in one category)"
    if cell.dist in TABLES:
        return TABLES[cell.dist].name
    return "your histogram" if cell.uploaded else SHAPES[cell.dist].name.lower()


def cell_name(cell: Cell) -> str:
    """A cell in words: its population, K, epsilon and N."""
    return f"{population_name(cell)}, K = {cell.k:,}, ε = {cell.epsilon:g}, N = {cell.n:,}"
