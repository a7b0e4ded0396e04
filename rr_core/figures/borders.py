"""Borders between the cells of a map, where a value passes a level, with a place for each one's name."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rr_core._validate import Array

Point = tuple[float, float]  # column, row
Edge = tuple[Point, Point]
_APART = 1.2  # between two names, in cells


def borders(z: Array, levels: Sequence[float]) -> dict[float, list[Edge]]:
    """The edges between two cells of z (rows, columns) of which one reaches a level and the other does not. An edge
    that passes several levels is the highest one's; one beside a cell of nan is nobody's."""
    found: dict[float, list[Edge]] = {level: [] for level in levels}
    rows, columns = z.shape
    for row in range(rows):
        for column in range(columns):
            for right, up in ((1, 0), (0, 1)):
                if column + right < columns and row + up < rows:
                    low, high = sorted((float(z[row, column]), float(z[row + up, column + right])))
                    passed = [level for level in levels if low < level <= high]
                    if passed:
                        middle = (column + right / 2, row + up / 2)
                        found[max(passed)].append(_edge(middle, upright=bool(right)))
    return {level: edges for level, edges in found.items() if edges}


def path(edges: Sequence[Edge]) -> Array:
    """(2, 3 times edges) columns and rows to draw as one line, with gaps."""
    gap = (math.nan, math.nan)
    return np.array([point for edge in edges for point in (*edge, gap)]).T


def named_at(edges: Sequence[Edge], taken: Sequence[Point]) -> Point | None:
    """Where a border's name hides least: the middle of one of its edges, between two rows rather than between two
    columns, not beside another name, and in the midst of the border. None where there is no room."""
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in edges]
    centre = tuple(np.mean(middles, axis=0).tolist())
    free = [middle for middle in middles if all(math.dist(middle, other) >= _APART for other in taken)]
    return min(free, key=lambda middle: (middle[0] % 1 != 0, math.dist(middle, centre), middle), default=None)


def _edge(middle: Point, *, upright: bool) -> Edge:
    x, y = middle
    return ((x, y - 0.5), (x, y + 0.5)) if upright else ((x - 0.5, y), (x + 0.5, y))
