"""What the population of a cell is called."""

from __future__ import annotations

from rr_core.experiments.grid import POINT, Cell
from rr_core.populations import SHAPES, TABLES


def population_name(cell: Cell) -> str:
    """In words that may stand within a sentence; equal names mean equal populations, but for uploaded ones."""
    if cell.dist == "zipf":
        return f"Zipf s = {cell.s:.12g}"
    if cell.dist == POINT:
        return "point mass (everybody in one category)"
    if cell.dist in TABLES:
        return TABLES[cell.dist].name
    return "your histogram" if cell.uploaded else SHAPES[cell.dist].name.lower()
