"""How long a run of IBU may be while somebody waits for a page."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# An iteration costs its levels, and as much again as this many levels for being an iteration at all.
_OVERHEAD = 1200
# Level-iterations that take about a quarter of a second, and as much again to be gone through one by one.
_BUDGET = 60_000_000
_FEW_LEVELS = 2000
_LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def at_once(histogram: ArrayLike, iterations: int) -> int:
    """How many iterations to run while a page is being drawn: all that are asked for, or as many as take
    about a quarter of a second. The same on every machine, because it follows from the histogram alone."""
    affordable = _BUDGET / (_levels(histogram) + _OVERHEAD)
    shorter = [length for length in _LENGTHS if length <= affordable]
    return min(iterations, shorter[-1] if shorter else _LENGTHS[0])


def marks_per_decade(histogram: ArrayLike) -> int:
    """How densely to record: within 6% of every iteration, or 20% where a record takes much memory."""
    return 40 if _levels(histogram) <= _FEW_LEVELS else 12


def _levels(histogram: ArrayLike) -> int:
    counts: NDArray[np.int64] = np.asarray(histogram)
    return np.unique(counts).size
