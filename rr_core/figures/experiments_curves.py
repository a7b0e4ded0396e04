"""A sweep as the paper draws it: the population at the left of a row, the errors along epsilon or N beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.experiments.curves import CELL_STATISTICS, Curves, ErrorCurve, PanelRow, other_axis
from rr_core.experiments.ranking import Standing
from rr_core.figures import style
from rr_core.rounding import counted, number
from rr_core.words import phrases
from rr_core.words.experiments import WORDS, where_settled

# Rows and columns that can still be read; if there are more, the widgets above choose among them.
MOST_ROWS, MOST_COLUMNS = 6, 5
_ROWS = (330, 230, 162)  # pixels of a row, where there are one, two and more
_HEAD, _TOP, _BOTTOM = 30, 92, 54  # pixels
HEADS_OF_COLUMNS = 18
_GAP = 0.015  # between panels, as a part of the width
_LINEAR_EPSILON = 20.0  # largest over smallest epsilon up to which the axis is linear, as in the paper
_OF_ZEROS = (-6.0, -3.0)  # ends of a logarithmic axis for errors that are all zero
_MARKED_BY_POWERS = 1.4  # decades from which only powers of ten are ticks
_MOST_TICKS = 4  # powers of ten
_ROUNDING = 1e-12  # in nats: means of losses that differ by less may differ by rounding alone
_LEAST_DECADES, _DECADES = 0.7, 12.0  # decades of error that a row shows, at least and at most


class PanelGrid:
    """Layout of the panels: suffixes of axes ("", "2", "3", …) and domains, in fractions of the plot."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = max(rows, 1), max(columns, 1)
        self.top = _TOP + (HEADS_OF_COLUMNS if columns > 1 else 0)
        self.row = _ROWS[min(self.rows, len(_ROWS)) - 1]
        self.inner = self.rows * self.row - _HEAD
        self.margin = {"l": 76, "r": 84, "t": self.top, "b": _BOTTOM}
        self.height = self.inner + self.top + _BOTTOM
        self.left = 0.2 if self.columns == 1 else 0.15
        self.of_histograms = str(self.columns + 1)

    @property
    def lowest(self) -> str:
        """Name of the vertical axis at the bottom, to which the horizontal axes are anchored."""
        return f"y{self.suffix(self.rows - 1)}"

    @staticmethod
    def suffix(place: int) -> str:
        """Suffix of the horizontal axis of a column of panels, or of the vertical axis of the errors in a row."""
        return "" if place == 0 else str(place + 1)

    def of_shares(self, row: int) -> str:
        """Suffix of the vertical axis of the population's shares in a row."""
        return str(self.rows + row + 1)

    def row_domain(self, row: int) -> list[float]:
        """Lower and upper end of a row, as fractions of the height."""
        upper = self.inner - row * self.row
        return [(upper - self.row + _HEAD) / self.inner, upper / self.inner]

    def column_domain(self, column: int) -> list[float]:
        """Left and right end of a column, as fractions of the width."""
        wide = (1 - self.left) / self.columns
        return [self.left + column * wide + _GAP, min(self.left + (column + 1) * wide, 1.0)]

    def histograms(self) -> list[float]:
        return [0.0, self.left - _GAP]


@dataclass(frozen=True)
class Scale:
    """The vertical axis of a row: its ends (powers of ten when logarithmic), and where zeros are drawn."""

    low: float
    high: float
    logarithmic: bool
    zero: float | None = None

    @classmethod
    def for_row(cls, drawn: Curves, row: PanelRow) -> Scale:
        """The scale that contains all means of a row and the upper ends of its bands."""
        every = [line for panel in row.panels[:MOST_COLUMNS] for line in panel.curves.values()]
        mean, low, high = (
            np.concatenate([getattr(line, name) for line in every]) if every else np.empty(0)
            for name in ("mean", "low", "high")
        )
        if (drawn.selection.metric, drawn.selection.measure) == ("nll", "level"):
            if not low.size:
                return cls(0.0, 1.0, logarithmic=False)
            least, most = float(low.min()), float(high.max())
            room = 0.06 * (most - least) or 0.05 * abs(most) or 1.0
            return cls(least - room, most + room, logarithmic=False)
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

    def positions(self, values: Array) -> Array:
        """The values as drawn: on a logarithmic axis, zeros and values below it are moved to its bottom."""
        if not self.logarithmic:
            return values
        placed: Array = np.maximum(values, 10.0 ** (self.low if self.zero is None else self.zero))
        return placed

    def axis(self, title: str) -> dict[str, Any]:
        shared = style.axis(title, range=[self.low, self.high], zeroline=False)
        shared["title"] = {"text": title, "font": {"size": 14}, "standoff": 6}
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


def horizontal(drawn: Curves) -> dict[str, Any]:
    """Layout of the horizontal axis, which all columns share."""
    seen = [panel.x for row in drawn.rows for panel in row.panels if panel.x.size]
    x = np.unique(np.concatenate(seen)) if seen else np.array([1.0, 10.0])
    least, most = float(x[0]), float(x[-1])
    narrow = len(drawn.selection.fixed_values) > 2
    title = "Users N" if drawn.selection.along == "n" else "Privacy ε"
    if drawn.selection.along == "epsilon" and most <= _LINEAR_EPSILON * least:
        room = 0.05 * (most - least) or 0.5
        ticks: dict[str, Any] = {"nticks": 5} if narrow or most - least > 10 else {"dtick": 1}
        return style.axis(title, range=[least - room, most + room], **ticks)
    low, high = math.log10(least), math.log10(most)
    room = 0.05 * (high - low) or 0.3
    if high - low < 1.2:
        ticks = {"dtick": "D2", "tickformat": style.ALL_DIGITS}
    else:
        ticks = {"dtick": 2 if narrow and high - low > 2.5 else 1, **style.COUNT}
    return style.axis(
        title if narrow else f"{title} (log scale)", type="log", range=[low - room, high + room], **ticks
    )


def inside(here: float, x: dict[str, Any]) -> bool:
    """Whether a value lies within the range of a horizontal axis."""
    low, high = x["range"]
    return bool(low <= (math.log10(here) if x.get("type") == "log" else here) <= high)


def ranks_axis(rows: tuple[PanelRow, ...], grid: PanelGrid) -> dict[str, Any]:
    k = max((row.cell.k for row in rows), default=2)
    last = f"{k:,}" if k < 10_000 else f"{k / 1000:.3g}k" if k < 1_000_000 else f"{k / 1_000_000:.3g}M"
    shared = style.axis("Rank", type="log", range=[0.0, math.log10(k + 1)], showgrid=False)
    shared["title"] = {"text": f"Rank 1–{last}", "font": {"size": 14}, "standoff": 26}
    return {
        # Its ends in the title: beside the next axis tick labels have no room on a phone.
        **shared,
        "showticklabels": False,
        "domain": grid.histograms(),
        "anchor": f"y{grid.of_shares(grid.rows - 1)}",
    }


def shares_axis(row: PanelRow, grid: PanelGrid, index: int) -> dict[str, Any]:
    largest = float(row.shares[0]) if row.shares.size else 1.0
    shared = style.axis("Share", range=[0, 1.08 * largest], tickformat=".2~p", nticks=4)
    shared["title"] = {"text": "Share", "font": {"size": 14}, "standoff": 2}
    return {**shared, "domain": grid.row_domain(index), "anchor": f"x{grid.of_histograms}"}


# MLE* often lies on another one: a small marker on a large one shows both.
SIZES = {"inv_p": 11, "mle_star": 6, "mle": 6}
WIDTHS = {"inv_p": 4.0}
_BAND = 0.2  # opacity
_HERE = {"color": style.ZERO, "dash": "dash", "width": 2}
_NOWHERE = np.array([np.nan])  # of what stands in the legend alone


def paper_figure(drawn: Curves, here: float | None = None) -> go.Figure:
    """Rows of panels: at the left the population by rank, then one panel per value of the third axis; those beyond
    MOST_ROWS and MOST_COLUMNS are left out. An error of zero lies on a line of its own at the bottom, marked 0.
    ``here``, the reader's own epsilon or N, is a vertical line where it is within the axis."""
    rows, columns = drawn.rows[:MOST_ROWS], drawn.selection.fixed_values[:MOST_COLUMNS]
    grid = PanelGrid(len(rows), len(columns))
    x = horizontal(drawn)
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for column in range(len(columns)):
        axes[f"xaxis{grid.suffix(column)}"] = {
            **x,
            "domain": grid.column_domain(column),
            "anchor": grid.lowest,
        }
    axes[f"xaxis{grid.of_histograms}"] = ranks_axis(rows, grid)
    for index, row in enumerate(rows):
        scale = Scale.for_row(drawn, row)
        axes[f"yaxis{grid.suffix(index)}"] = {
            **scale.axis(_title(drawn)),
            "domain": grid.row_domain(index),
            "anchor": f"x{grid.suffix(len(columns) - 1)}",
            "side": "right",
        }
        axes[f"yaxis{grid.of_shares(index)}"] = shares_axis(row, grid, index)
        traces.append(_histogram(row, grid, index))
        for column in range(len(columns)):
            place = {"xaxis": f"x{grid.suffix(column)}", "yaxis": f"y{grid.suffix(index)}"}
            traces += _curves(drawn, row, column, scale, place)
    named = set()  # every estimator once in the legend, with its first curve
    for trace in traces:
        if trace["mode"] == "lines+markers" and trace["name"] not in named:
            trace["showlegend"] = True
            named.add(trace["name"])
    if drawn.band != "none":
        traces.append(_band_in_legend(drawn))
    shapes = []
    if here is not None and inside(here, x):
        symbol = phrases.SYMBOLS[drawn.selection.along]
        traces.append(
            style.line_trace(f"your {symbol} = {number(here, 6)}", _NOWHERE, _NOWHERE, "", line=_HERE)
        )
        shapes = [
            style.upright(here, **_HERE)
            | {"xref": f"x{grid.suffix(column)}", "yref": f"y{grid.suffix(index)} domain"}
            for index in range(len(rows))
            for column in range(len(columns))
        ]
    y = axes.pop("yaxis") if rows else style.axis(_title(drawn))
    return style.figure(
        traces,
        axes.pop("xaxis") if columns else x,
        y,
        curves_reading(drawn),
        **axes,
        shapes=shapes,
        annotations=_heads(drawn, rows, columns, grid),
        height=grid.height,
        margin=grid.margin,
        legend=style.LEGEND | {"y": 1 + (grid.top - 58) / grid.inner, "xanchor": "left"},
    )


def curves_reading(drawn: Curves) -> str:
    """The figure in one sentence: who has surely the smallest mean in how many cells, and what MLE* costs."""
    choice = drawn.selection
    what = phrases.METRIC_NAMES[choice.metric].in_text
    if not drawn.n_completed:
        return "No cell of these panels is computed yet, so there is nothing to see so far."
    if choice.measure == "excess":
        ends = [_above(drawn, name) for name in ("inv_n", "inv_p")]
        return f"MLE* has the lowest {what} (nats per report, the line at 0), alone or shared; {' and '.join(ends)}."
    if choice.measure in CELL_STATISTICS:
        return f"{_words(drawn)['title']}: {_ranges(drawn)}."
    stand = drawn.standing
    if stand is None:
        cells, along = counted(drawn.n_completed, "cell"), phrases.SYMBOLS[choice.along]
        return f"The {what} of each estimator over {cells} along {along}."
    parts = [f"{style.QUANTITIES[name].name} in {count}" for name, count in stand.n_best.items()]
    parts += [f"two share it in {stand.n_shared}"] if stand.n_shared else []
    parts += [f"too close to call in {stand.n_unsettled}"] if stand.n_unsettled else []
    parts += [f"all equal in {stand.n_equal}"] if stand.n_equal else []
    these = "this one cell" if drawn.n_completed == 1 else f"these {drawn.n_completed:,} cells"
    return f"Smallest {what}, in {these}: {', '.join(parts)}{_far(stand)}."


def _far(stand: Standing) -> str:
    if stand.worst_cell is None:
        return ". MLE*’s is nowhere surely above it"
    cell = stand.worst_cell
    where = f"ε = {cell.epsilon:g}, N = {cell.n:,}, {phrases.display(phrases.population_name(cell))}"
    if math.isinf(stand.worst_ratio):
        return f". The smallest is 0 where MLE*’s is not ({where})"
    if phrases.practically_equal(stand.worst_ratio):
        return ". MLE*’s is nowhere surely 0.5% above it"
    return f". MLE*’s is up to {phrases.roughly_times(stand.worst_ratio)} the smallest{where_settled(stand)} ({where})"


def _above(drawn: Curves, name: str) -> str:
    largest = float(_means(drawn, name).max(initial=0.0))
    if largest <= 0:
        return f"{style.QUANTITIES[name].name}’s is the same"
    if largest <= _ROUNDING:
        return f"{style.QUANTITIES[name].name}’s is the same to within {number(_ROUNDING)}"
    return f"{style.QUANTITIES[name].name}’s is up to {number(largest)} higher"


def _ranges(drawn: Curves) -> str:
    """The range of the means of every estimator, as text."""
    names = dict.fromkeys(name for row in drawn.rows for panel in row.panels for name in panel.curves)
    ends = ((style.QUANTITIES[name].name, _means(drawn, name)) for name in names)
    return ", ".join(f"{name} {number(seen.min())} to {number(seen.max())}" for name, seen in ends)


def _means(drawn: Curves, name: str) -> Array:
    seen = [panel.curves[name].mean for row in drawn.rows for panel in row.panels if panel.x.size]
    return np.concatenate(seen) if seen else np.empty(0)


def _title(drawn: Curves) -> str:
    choice = drawn.selection
    zoomed = (choice.metric, choice.measure) == ("nll", "level")
    return f"{_words(drawn)['axis']}<br>({'zoomed' if zoomed else 'log scale'})"


def _words(drawn: Curves) -> dict[str, str]:
    words: dict[str, str] = WORDS["drawn"][f"{drawn.selection.metric}-{drawn.selection.measure}"]
    return words


def _histogram(row: PanelRow, grid: PanelGrid, index: int) -> dict[str, Any]:
    look = style.QUANTITIES["truth"]
    # Every category reaches to the next rank, the last one too.
    x, shares = np.append(row.ranks, row.cell.k + 1), np.append(row.shares, row.shares[-1:])
    return style.line_trace(
        "Population",
        x[: shares.size].astype(np.float32),
        shares.astype(np.float32),
        "rank %{x:,.0f}<br>share of users: %{y:.3~p}",
        xaxis=f"x{grid.of_histograms}",
        yaxis=f"y{grid.of_shares(index)}",
        line={"color": look.colour, "width": 1.5, "shape": "hv"},
        fill="tozeroy",
        fillcolor=look.faded(0.45),
        showlegend=False,
    )


def _curves(
    drawn: Curves, row: PanelRow, column: int, scale: Scale, place: dict[str, str]
) -> Iterator[dict[str, Any]]:
    panel = row.panels[column]
    if not panel.x.size:
        return
    small = len(drawn.selection.fixed_values) > 1
    if drawn.band != "none":
        for name, line in panel.curves.items():
            yield _band(name, panel.x, line, scale, place)
    for name, line in panel.curves.items():
        look = style.QUANTITIES[name]
        yield style.line_trace(
            look.name,
            panel.x,
            scale.positions(line.mean),
            _hover(drawn, look.name, row, column),
            mode="lines+markers",
            legendgroup=name,
            showlegend=False,
            **place,
            line=look.line(WIDTHS.get(name, 2.2)),
            marker=look.marker(SIZES.get(name, 8) - (2 if small else 0)),
            customdata=np.stack([line.mean, line.low, line.high], axis=-1),
        )


def _hover(drawn: Curves, name: str, row: PanelRow, column: int) -> str:
    choice = drawn.selection
    third = other_axis(choice.along)
    kinds = {"error": "two standard errors", "seeds": "5% to 95% of the collections"}
    band = (
        f"<br>{kinds[drawn.band]}: %{{customdata[1]:.3~g}} to %{{customdata[2]:.3~g}}"
        if drawn.band in kinds
        else ""
    )
    at = f"{phrases.SYMBOLS[choice.along]} = %{{x:,.6~g}}, {phrases.SYMBOLS[third]} = {choice.fixed_values[column]:,.6g}"
    return (
        f"<b>{name}</b>, {phrases.display(phrases.population_name(row.cell))}, K = {row.cell.k:,}<br>{at}<br>"
        f"{_words(drawn)['title']}: %{{customdata[0]:.4~g}}{band}"
    )


def _band(name: str, x: Array, line: ErrorCurve, scale: Scale, place: dict[str, str]) -> dict[str, Any]:
    """The band of a curve as a closed polygon: along its upper limit and back along the lower one."""
    return style.line_trace(
        "band",
        np.concatenate([x, x[::-1]]),
        np.concatenate([scale.positions(line.high), scale.positions(line.low)[::-1]]),
        "",
        legendgroup=name,
        showlegend=False,
        **place,
        line={"width": 0, "color": style.QUANTITIES[name].colour},
        fill="toself",
        fillcolor=style.QUANTITIES[name].faded(_BAND),
    )


def _band_in_legend(drawn: Curves) -> dict[str, Any]:
    words = (
        "band: ±2 standard errors"
        if drawn.band == "error"
        else f"band: 5% to 95% of {counted(drawn.seeds, 'collection')}"
    )
    marker = {"symbol": "square", "size": 13, "color": style.QUANTITIES["truth"].faded(0.4)}
    return style.mark_trace(words, _NOWHERE, _NOWHERE, "", marker=marker)


def _heads(
    drawn: Curves, rows: tuple[PanelRow, ...], columns: tuple[float, ...], grid: PanelGrid
) -> list[dict[str, Any]]:
    """The name of every row above its left end, and the third axis above every column."""
    symbol = phrases.SYMBOLS[other_axis(drawn.selection.along)]
    values = [f"{symbol} = {value:,.10g}" for value in columns]
    heads = []
    for index, row in enumerate(rows):
        text = f"<b>{phrases.display(phrases.population_name(row.cell))}</b>, K = {row.cell.k:,}"
        if len(columns) == 1:
            text += f", {values[0]}"
        heads.append(style.head(text, 0.0, grid.row_domain(index)[1], xanchor="left", yshift=3))
    if len(columns) > 1:
        above = {"xanchor": "center", "yshift": 2 + HEADS_OF_COLUMNS}
        heads += [
            style.head(text, sum(grid.column_domain(column)) / 2, 1.0, **above)
            for column, text in enumerate(values)
        ]
    return heads
