"""What a cell costs before it is computed: for the order of work, and for the time left."""

from __future__ import annotations

from rr_core.experiments.cell import PER_CATEGORY, rows_per_block
from rr_core.experiments.grid import Cell, Settings

# Seconds on one core of an ordinary machine (measured): per cell, per block, per category and collection, per user
# thrown one by one. Estimates are within a factor of three; the time left is told from work already done.
_PER_CELL, _PER_BLOCK, _PER_THROWN = 1.5e-3, 0.7e-3, 6e-9
_DRAWN, _LEVELS, _ESTIMATED, _SUMMED = 25e-9, 10e-9, 5e-9, 3e-9
_MOST_THROWN = 5  # per category


def seconds(cell: Cell, settings: Settings) -> float:
    """Expected seconds of one cell on one core."""
    rows = rows_per_block(cell.k)
    blocks = -(-settings.seeds // rows)
    thrown = min(cell.n * (1 - cell.mechanism.keep), _MOST_THROWN * cell.k)
    busy = min(cell.n, cell.k)  # categories with users of their own
    passes = 0.0
    if settings.bias or set(settings.metrics) & set(PER_CATEGORY):
        passes = _ESTIMATED + _SUMMED * (settings.bias + bool({"tv", "max"} & set(settings.metrics)))
    per_category = _LEVELS + passes * len(settings.estimators)
    return (
        _PER_CELL
        + blocks * _PER_BLOCK
        + blocks
        * rows
        * (cell.k * per_category + (busy + min(cell.n, cell.k)) * _DRAWN + thrown * _PER_THROWN)
    )
