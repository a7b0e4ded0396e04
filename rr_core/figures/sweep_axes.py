"""Where the panels of a sweep's figure stand, and their axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rr_core._validate import Array
from rr_core.experiments.lines import Lines, Row
from rr_core.figures.style import axis, number

# What can be read: more rows and columns are for the pickers above to choose from.
MOST_ROWS, MOST_COLUMNS = 6, 5
_ROWS = (330, 230, 162)  # pixels of a row, where there are one, two and more
_HEAD, _TOP, _BOTTOM = 30, 92, 54  # pixels
HEADS_OF_COLUMNS = 18
_GAP = 0.015  # between panels, as a part of the width
_LINEAR_EPSILON = 20.0  # largest over smallest epsilon up to which the axis is linear, as in the paper
_OF_ZEROS = (-6.0, -3.0)  # ends of a logarithmic axis for errors that are all zero
_MARKED_BY_POWERS, _MOST_TICKS = (
    1.4,
    4,
)  # decades from which powers of ten are ticks enough, and how many of them
_LEAST_DECADES, _DECADES = 0.7, 12.0  # of error that a row shows


class Grid:
    """Where every panel stands, and what its axes are called."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = max(rows, 1), max(columns, 1)
        self.top = _TOP + (HEADS_OF_COLUMNS if columns > 1 else 0)
        self.row = _ROWS[min(self.rows, len(_ROWS)) - 1]
        self.inner = self.rows * self.row - _HEAD
        self.margin = {"l": 66, "r": 84, "t": self.top, "b": _BOTTOM}
        self.height = self.inner + self.top + _BOTTOM
        self.left = 0.2 if self.columns == 1 else 0.15
        self.of_histograms = str(self.columns + 1)

    @property
    def lowest(self) -> str:
        """The vertical axis that the horizontal ones stand on."""
        return f"y{self.of_errors(self.rows - 1)}"

    def of_column(self, column: int) -> str:
        return "" if column == 0 else str(column + 1)

    def of_errors(self, row: int) -> str:
        return "" if row == 0 else str(row + 1)

    def of_shares(self, row: int) -> str:
        return str(self.rows + row + 1)

    def down(self, row: int) -> list[float]:
        """From where to where a row reaches, as a part of the height from below."""
        upper = self.inner - row * self.row
        return [(upper - self.row + _HEAD) / self.inner, upper / self.inner]

    def across(self, column: int) -> list[float]:
        wide = (1 - self.left) / self.columns
        return [self.left + column * wide + _GAP, min(self.left + (column + 1) * wide, 1.0)]

    def histograms(self) -> list[float]:
        return [0.0, self.left - _GAP]


@dataclass(frozen=True)
class Scale:
    """The vertical axis of a row.

    Attributes:
        low, high: its ends; powers of ten when it is logarithmic.
        logarithmic: whether it is.
        zero: where on a logarithmic axis zero is drawn, as a power of ten; None where there is no zero.
    """

    low: float
    high: float
    logarithmic: bool
    zero: float | None = None

    @classmethod
    def of(cls, drawn: Lines, row: Row) -> Scale:
        """The scale that shows all means and bands of a row; a band may reach below it."""
        every = [line for panel in row.panels[:MOST_COLUMNS] for line in panel.lines.values()]
        mean, low, high = (
            np.concatenate([getattr(line, name) for line in every]) if every else np.empty(0)
            for name in ("mean", "low", "high")
        )
        if (drawn.choice.metric, drawn.choice.measure) == ("nll", "level"):
            return cls(*_with_room(low, high), logarithmic=False)
        positive = mean[mean > 0]
        if not positive.size:
            return cls(*_OF_ZEROS, logarithmic=True, zero=_OF_ZEROS[0] + 0.2)
        top = float(np.log10(max(positive.max(), high.max())))
        bottom = max(float(np.log10(positive.min())), top - _DECADES)
        room = max(0.07 * (top - bottom), (_LEAST_DECADES - top + bottom) / 2)
        top, bottom = top + room, bottom - room
        if positive.size == mean.size:
            return cls(bottom, top, logarithmic=True)
        below = 0.12 * (top - bottom)
        return cls(bottom - 1.5 * below, top, logarithmic=True, zero=bottom - below)

    def placed(self, values: Array) -> Array:
        """Where values are drawn: zero and what is too small for the axis at its bottom."""
        if not self.logarithmic:
            return values
        placed: Array = np.maximum(values, 10.0 ** (self.low if self.zero is None else self.zero))
        return placed

    def axis(self, title: str) -> dict[str, Any]:
        shared = axis(title, range=[self.low, self.high], zeroline=False)
        shared["title"] = {"text": title, "font": {"size": 13}, "standoff": 6}
        shared["tickfont"] = {"size": 12}
        if not self.logarithmic:
            return {**shared, "nticks": 5}
        if self.zero is None and self.high - self.low > _MARKED_BY_POWERS:
            step = math.ceil((self.high - self.low) / _MOST_TICKS)
            return {**shared, "type": "log", "exponentformat": "power", "dtick": step}
        ticks = self._ticks()
        texts = [number(tick).removeprefix("1·") for tick in ticks]
        if self.zero is not None:
            ticks, texts = [10.0**self.zero, *ticks], ["0", *texts]
        return {**shared, "type": "log", "tickvals": ticks, "ticktext": texts}

    def _ticks(self) -> list[float]:
        """Powers of ten, with 2 and 5 times them where they are few."""
        low = self.low if self.zero is None else self.zero + 0.1 * (self.high - self.low)
        wide = self.high - low
        powers = range(math.floor(low), math.ceil(self.high) + 1, math.ceil(wide / _MOST_TICKS))
        steps = (1, 2, 5) if wide <= _MARKED_BY_POWERS else (1,)
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        return [tick for tick in ticks if low <= math.log10(tick) <= self.high]


def _with_room(low: Array, high: Array) -> tuple[float, float]:
    if not low.size:
        return 0.0, 1.0
    least, most = float(low.min()), float(high.max())
    room = 0.06 * (most - least) or 0.05 * abs(most) or 1.0
    return least - room, most + room


def horizontal(drawn: Lines) -> dict[str, Any]:
    """The axis that all columns have."""
    seen = [panel.x for row in drawn.rows for panel in row.panels if panel.x.size]
    x = np.unique(np.concatenate(seen)) if seen else np.array([1.0, 10.0])
    least, most = float(x[0]), float(x[-1])
    narrow = len(drawn.choice.fixed) > 2
    title = "Users N" if drawn.choice.along == "n" else "Privacy ε"
    if drawn.choice.along == "epsilon" and most <= _LINEAR_EPSILON * least:
        room = 0.05 * (most - least) or 0.5
        ticks = {"nticks": 5} if narrow or most - least > 10 else {"dtick": 1}
        return axis(title, range=[least - room, most + room], **ticks)
    low, high = math.log10(least), math.log10(most)
    room = 0.05 * (high - low) or 0.3
    step = "D2" if high - low < 1.2 else 2 if narrow and high - low > 2.5 else 1
    return axis(
        title if narrow else f"{title} (log scale)",
        type="log",
        range=[low - room, high + room],
        tickformat="~s",
        dtick=step,
    )


def inside(here: float, x: dict[str, Any]) -> bool:
    """Whether a value is within a horizontal axis."""
    low, high = x["range"]
    return bool(low <= (math.log10(here) if x.get("type") == "log" else here) <= high)


def ranks_axis(rows: tuple[Row, ...], grid: Grid) -> dict[str, Any]:
    k = max((row.cell.k for row in rows), default=2)
    last = f"{k:,}" if k < 10_000 else f"{k / 1000:.3g}k" if k < 1_000_000 else f"{k / 1_000_000:.3g}M"
    shared = axis("Rank", type="log", range=[0.0, math.log10(k + 1)], showgrid=False)
    shared["title"] = {"text": f"Rank 1–{last}", "font": {"size": 14}, "standoff": 26}
    return {
        # Its ends in the title: beside the next axis tick labels have no room on a phone.
        **shared,
        "showticklabels": False,
        "domain": grid.histograms(),
        "anchor": f"y{grid.of_shares(grid.rows - 1)}",
    }


def shares_axis(row: Row, grid: Grid, index: int) -> dict[str, Any]:
    largest = float(row.shares[0]) if row.shares.size else 1.0
    shared = axis("Share", range=[0, 1.08 * largest], tickformat=".2~p", nticks=4)
    shared["title"] = {"text": "Share", "font": {"size": 13}, "standoff": 2}
    shared["tickfont"] = {"size": 11}
    return {**shared, "domain": grid.down(index), "anchor": f"x{grid.of_histograms}"}
