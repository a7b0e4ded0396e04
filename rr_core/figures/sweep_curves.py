"""A sweep as the paper draws it: the population at the left of a row, the errors along epsilon or N beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.experiments.lines import PARTS, Line, Lines, Row
from rr_core.experiments.names import SYMBOLS, population_name
from rr_core.experiments.standing import Standing
from rr_core.experiments.wording import about, counted
from rr_core.figures.labels import display
from rr_core.figures.style import QUANTITIES, ZERO, axis, figure, number
from rr_core.figures.sweep_axes import (
    HEADS_OF_COLUMNS,
    MOST_COLUMNS,
    MOST_ROWS,
    Grid,
    Scale,
    horizontal,
    inside,
    ranks_axis,
    shares_axis,
)

MEASURES = {
    ("mse", "category"): "Mean squared error per category",
    ("mse", "sum"): "Mean squared error, summed over categories",
    ("tv", "level"): "Total variation",
    ("max", "level"): "Largest error of any category",
    ("nll", "excess"): "NLL above that of MLE*, nats per report",
    ("nll", "level"): "NLL, nats per report",
    ("mse", "bias2"): "Squared bias, summed over categories",
    ("mse", "variance"): "Variance, summed over categories",
    ("mse", "zeros"): "Categories at zero, on average",
    ("mse", "negatives"): "Categories below zero, on average",
}
# The same in two lines that fit beside a row.
_TITLES = {
    ("mse", "category"): "MSE per category",
    ("mse", "sum"): "MSE, summed",
    ("tv", "level"): "Total variation",
    ("max", "level"): "Largest error",
    ("nll", "excess"): "NLL above MLE*’s",
    ("nll", "level"): "NLL (nats)",
    ("mse", "bias2"): "Squared bias",
    ("mse", "variance"): "Variance",
    ("mse", "zeros"): "Categories at 0",
    ("mse", "negatives"): "Negatives",
}
# MLE* often lies on another one: a small marker on a large one shows both.
_SIZES = {"inv": 8, "inv_n": 8, "inv_p": 11, "mle_star": 6}
_WIDTHS = {"inv_p": 4.0}
_BAND = 0.2  # opacity


def paper_figure(drawn: Lines, here: float | None = None) -> go.Figure:
    """Rows of panels: at the left the population by rank, then one panel per value of the third axis.

    Panels of a row share their vertical axis, panels of a column their horizontal one. An error of zero has no place
    on a logarithmic axis: it lies on a line of its own at the bottom, marked 0.

    Args:
        drawn: the curves; rows and columns beyond MOST_ROWS and MOST_COLUMNS are left out.
        here: the reader's own epsilon or N, drawn as a vertical line where it is within the axis.
    """
    rows, columns = drawn.rows[:MOST_ROWS], drawn.choice.fixed[:MOST_COLUMNS]
    grid = Grid(len(rows), len(columns))
    x = horizontal(drawn)
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for column in range(len(columns)):
        axes[f"xaxis{grid.of_column(column)}"] = {**x, "domain": grid.across(column), "anchor": grid.lowest}
    axes[f"xaxis{grid.of_histograms}"] = ranks_axis(rows, grid)
    for index, row in enumerate(rows):
        scale = Scale.of(drawn, row)
        axes[f"yaxis{grid.of_errors(index)}"] = {
            **scale.axis(_title(drawn)),
            "domain": grid.down(index),
            "anchor": f"x{grid.of_column(len(columns) - 1)}",
            "side": "right",
        }
        axes[f"yaxis{grid.of_shares(index)}"] = shares_axis(row, grid, index)
        traces.append(_histogram(row, grid, index))
        for column in range(len(columns)):
            place = {"xaxis": f"x{grid.of_column(column)}", "yaxis": f"y{grid.of_errors(index)}"}
            traces += _curves(drawn, row, column, scale, place)
    _name_once(traces)
    if drawn.band != "none":
        traces.append(_band_in_legend(drawn))
    shapes = []
    if here is not None and inside(here, x):
        symbol = SYMBOLS[drawn.choice.along]
        traces.append(_here_in_legend(f"your {symbol} = {number(here, 6)}"))
        shapes = [
            _upright(here, f"x{grid.of_column(column)}", f"y{grid.of_errors(index)} domain")
            for index in range(len(rows))
            for column in range(len(columns))
        ]
    y = axes.pop("yaxis") if rows else axis(_title(drawn))
    return figure(
        traces,
        axes.pop("xaxis") if columns else x,
        y,
        reading_of(drawn),
        **axes,
        shapes=shapes,
        annotations=_heads(drawn, rows, columns, grid),
        height=grid.height,
        margin=grid.margin,
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1 + (grid.top - 58) / grid.inner,
            "x": 0,
            "xanchor": "left",
            "font": {"size": 13},
        },
    )


def reading_of(drawn: Lines) -> str:
    """The figure in one sentence: who surely has the smallest mean in how many cells, and how far MLE* is from it."""
    choice = drawn.choice
    what = {"mse": "mean squared error", "tv": "total variation", "max": "largest error", "nll": "NLL"}[
        choice.metric
    ]
    if not drawn.cells:
        return "No cell of these panels is computed yet, so there is nothing to see so far."
    if choice.measure == "excess":
        ends = [_above(drawn, name) for name in ("inv_n", "inv_p")]
        return f"MLE* has the lowest {what} (nats per report, the line at 0), alone or shared; {' and '.join(ends)}."
    if choice.measure in PARTS:
        return f"{MEASURES[choice.metric, choice.measure]}: {_ranges(drawn)}."
    stand = drawn.standing
    if stand is None:
        return (
            f"The {what} of each estimator over {counted(drawn.cells, 'cell')} along {SYMBOLS[choice.along]}."
        )
    parts = [f"{QUANTITIES[name].name} in {count}" for name, count in stand.sure.items()]
    parts += [f"two share it in {stand.shared}"] if stand.shared else []
    parts += [f"not settled in {stand.unsettled}"] if stand.unsettled else []
    parts += [f"all equal in {stand.equal}"] if stand.equal else []
    return f"Surely the smallest {what}, in {counted(drawn.cells, 'cell')}: {', '.join(parts)}{_far(stand)}."


def _far(stand: Standing) -> str:
    if stand.where is None:
        return "; MLE*’s is nowhere surely above the smallest"
    cell = stand.where
    where = f"ε = {cell.epsilon:g}, N = {cell.n:,}, {display(population_name(cell))}"
    if math.isinf(stand.largest):
        return f"; the smallest is 0 where MLE*’s is not ({where})"
    return f"; MLE*’s is up to {about(stand.largest)} the smallest ({where})"


def _above(drawn: Lines, name: str) -> str:
    largest = float(_means(drawn, name).max(initial=0.0))
    if largest <= 0:
        return f"{QUANTITIES[name].name}’s is the same"
    return f"{QUANTITIES[name].name}’s is up to {number(largest)} higher"


def _ranges(drawn: Lines) -> str:
    """Between which values every estimator lies."""
    names = dict.fromkeys(name for row in drawn.rows for panel in row.panels for name in panel.lines)
    ends = ((QUANTITIES[name].name, _means(drawn, name)) for name in names)
    return ", ".join(f"{name} {number(seen.min())} to {number(seen.max())}" for name, seen in ends)


def _means(drawn: Lines, name: str) -> Array:
    seen = [panel.lines[name].mean for row in drawn.rows for panel in row.panels if panel.x.size]
    return np.concatenate(seen) if seen else np.empty(0)


def _title(drawn: Lines) -> str:
    kind = (drawn.choice.metric, drawn.choice.measure)
    return f"{_TITLES[kind]}<br>({'zoomed' if kind == ('nll', 'level') else 'log scale'})"


def _histogram(row: Row, grid: Grid, index: int) -> dict[str, Any]:
    look = QUANTITIES["truth"]
    # Every category reaches to the next rank, the last one too.
    x, shares = np.append(row.ranks, row.cell.k + 1), np.append(row.shares, row.shares[-1:])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Population",
        "x": x[: shares.size].astype(np.float32),
        "y": shares.astype(np.float32),
        "xaxis": f"x{grid.of_histograms}",
        "yaxis": f"y{grid.of_shares(index)}",
        "line": {"color": look.colour, "width": 1.5, "shape": "hv"},
        "fill": "tozeroy",
        "fillcolor": look.faded(0.45),
        "showlegend": False,
        "hovertemplate": "rank %{x:,.0f}<br>share of users: %{y:.3~%}<extra></extra>",
    }


def _curves(
    drawn: Lines, row: Row, column: int, scale: Scale, place: dict[str, str]
) -> Iterator[dict[str, Any]]:
    panel = row.panels[column]
    if not panel.x.size:
        return
    small = len(drawn.choice.fixed) > 1
    if drawn.band != "none":
        for name, line in panel.lines.items():
            yield _band(name, panel.x, line, scale, place)
    for name, line in panel.lines.items():
        look = QUANTITIES[name]
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "name": look.name,
            "legendgroup": name,
            "showlegend": False,
            "x": panel.x,
            "y": scale.placed(line.mean),
            **place,
            "line": {"color": look.colour, "dash": look.dash, "width": _WIDTHS.get(name, 2.2)},
            "marker": {
                "symbol": look.symbol,
                "color": look.colour,
                "size": _SIZES[name] - (2 if small else 0),
            },
            "customdata": np.stack([line.mean, line.low, line.high], axis=-1),
            "hovertemplate": _hover(drawn, look.name, row, column),
        }


def _hover(drawn: Lines, name: str, row: Row, column: int) -> str:
    choice = drawn.choice
    third = "n" if choice.along == "epsilon" else "epsilon"
    kinds = {"error": "two standard errors", "seeds": "5% to 95% of the collections"}
    band = (
        f"<br>{kinds[drawn.band]}: %{{customdata[1]:.3~g}} to %{{customdata[2]:.3~g}}"
        if drawn.band in kinds
        else ""
    )
    at = f"{SYMBOLS[choice.along]} = %{{x:,.6~g}}, {SYMBOLS[third]} = {choice.fixed[column]:,.6g}"
    return (
        f"<b>{name}</b>, {display(population_name(row.cell))}, K = {row.cell.k:,}<br>{at}<br>"
        f"{MEASURES[choice.metric, choice.measure]}: %{{customdata[0]:.4~g}}{band}<extra></extra>"
    )


def _band(name: str, x: Array, line: Line, scale: Scale, place: dict[str, str]) -> dict[str, Any]:
    """There along the upper edge, and back along the lower one."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "band",
        "legendgroup": name,
        "showlegend": False,
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([scale.placed(line.high), scale.placed(line.low)[::-1]]),
        **place,
        "line": {"width": 0, "color": QUANTITIES[name].colour},
        "fill": "toself",
        "fillcolor": QUANTITIES[name].faded(_BAND),
        "hoverinfo": "skip",
    }


def _name_once(traces: list[dict[str, Any]]) -> None:
    """Every estimator stands in the legend with its first curve."""
    named = set()
    for trace in traces:
        if trace["mode"] == "lines+markers" and trace["name"] not in named:
            trace["showlegend"] = True
            named.add(trace["name"])


def _band_in_legend(drawn: Lines) -> dict[str, Any]:
    words = (
        "band: ±2 standard errors"
        if drawn.band == "error"
        else f"band: 5% to 95% of {counted(drawn.seeds, 'collection')}"
    )
    return {
        **_only_in_legend(words),
        "marker": {"symbol": "square", "size": 13, "color": QUANTITIES["truth"].faded(0.4)},
    }


def _here_in_legend(words: str) -> dict[str, Any]:
    return {**_only_in_legend(words), "mode": "lines", "line": {"color": ZERO, "dash": "dash", "width": 2}}


def _only_in_legend(words: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": words,
        "x": np.array([np.nan]),
        "y": np.array([np.nan]),
        "hoverinfo": "skip",
    }


def _upright(here: float, across: str, down: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": across,
        "yref": down,
        "x0": here,
        "x1": here,
        "y0": 0,
        "y1": 1,
        "line": {"color": ZERO, "dash": "dash", "width": 2},
    }


def _heads(
    drawn: Lines, rows: tuple[Row, ...], columns: tuple[float, ...], grid: Grid
) -> list[dict[str, Any]]:
    """The name of every row above its left end, and the third axis above every column."""
    symbol = SYMBOLS["n" if drawn.choice.along == "epsilon" else "epsilon"]
    values = [f"{symbol} = {value:,.10g}" for value in columns]
    heads = []
    for index, row in enumerate(rows):
        text = f"<b>{display(population_name(row.cell))}</b>, K = {row.cell.k:,}"
        if len(columns) == 1:
            text += f", {values[0]}"
        heads.append(_head(text, 0.0, "left", grid.down(index)[1], 3))
    if len(columns) > 1:
        heads += [
            _head(text, sum(grid.across(column)) / 2, "center", 1.0, 2 + HEADS_OF_COLUMNS)
            for column, text in enumerate(values)
        ]
    return heads


def _head(text: str, x: float, anchor: str, y: float, above: int) -> dict[str, Any]:
    return {
        "text": text,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": y,
        "xanchor": anchor,
        "yanchor": "bottom",
        "yshift": above,
        "font": {"size": 14},
    }
