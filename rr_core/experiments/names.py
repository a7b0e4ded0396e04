"""What populations, estimators, axes and cells are called."""

from __future__ import annotations

from rr_core.experiments.grid import POINT, Cell
from rr_core.populations import SHAPES, TABLES

ESTIMATOR_NAMES = {"inv": "Inv", "inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}
SYMBOLS = {"epsilon": "ε", "n": "N", "k": "K", "s": "s"}


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
