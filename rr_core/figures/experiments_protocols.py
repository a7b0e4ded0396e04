"""Errors along epsilon under k-RR and unary encoding, the figures of Lopuhaä-Zwakenberg et al., and their sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.experiments.protocols import ESTIMATES, Errors, FigureKey, ProtocolKey, Sentence, Setting
from rr_core.experiments.ranking import Count
from rr_core.figures.experiments_curves import SIZES, WIDTHS
from rr_core.figures.plan_curves import error_axis, log_range
from rr_core.figures.style import LEGEND, QUANTITIES, Quantity, axis, figure, head, line_trace
from rr_core.metrics import Users
from rr_core.populations import TABLES
from rr_core.rounding import counted, number
from rr_core.words.experiments import WORDS
from rr_core.words.phrases import listed

_LOPUHAA = WORDS["lopuhaa"]
LOPUHAA_PROTOCOL_NAMES: Mapping[ProtocolKey, str] = _LOPUHAA["protocols"]
FIGURE_NAMES: Mapping[FigureKey, str] = _LOPUHAA["figures"]
_POPULATIONS: Mapping[str, str] = _LOPUHAA["populations"] | {"work": TABLES["work"].name}
_OF_SIMILAR, _OF_BOTH = ("rr_many", "ue_few", "rr_real"), ("both_better", "both_better_real")
_EXISTS = " For each data set and encoding there is one where it is."
_SHORT: Mapping[ProtocolKey, str] = {"k_rr": "k-RR", "oue": "OUE", "sue": "SUE"}
_WHOSE: Mapping[Users, str] = {"fixed": "against these people", "sampled": "against their population"}
_PANEL, _GAP, _TOP, _BOTTOM = 220, 96, 84, 62  # pixels: height of a panel, between two, above and below
_LEFT, _MARGIN_OF_HEADS = 84, 8  # of the axes, and of the names of panels: a phone needs the room
_ROOM = 0.03  # beside the ends of the axis of epsilon, as a share of it
_STANDARD_ERRORS = 2.0


def look(name: str, protocol: ProtocolKey) -> Quantity:
    """The appearance of an estimate; the maximum likelihood of unary encoding has no star."""
    if name != "mle":
        return QUANTITIES[name]
    of = QUANTITIES["mle_star"]
    return of if protocol == "k_rr" else Quantity("MLE", of.colour, of.symbol, of.dash)


def error_curves(rows: Sequence[Errors], against: Count, relative: bool = False) -> go.Figure:
    """Mean squared errors along epsilon, of one protocol and one truth, one panel for each population and number of
    users (their rows together, by rising epsilon); ``relative``: only that of maximum likelihood, divided by InvP's."""
    panels = [list(group) for _, group in groupby(rows, lambda row: panel_name(row.setting))]
    inner = _PANEL * len(panels) + _GAP * (len(panels) - 1)
    budgets = [row.setting.epsilon for row in rows]
    low, high = min(budgets), max(budgets)
    room = _ROOM * max(high - low, high)
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    heads = []
    for index, panel in enumerate(panels):
        top = 1 - index * (_PANEL + _GAP) / inner
        of = str(index + 1) if index else ""
        lines, y = _ratios(panel) if relative else _errors(panel)
        traces += [{**line, "xaxis": f"x{of}", "yaxis": f"y{of}", "showlegend": index == 0} for line in lines]
        axes[f"xaxis{of}"] = axis("Privacy ε", range=[low - room, high + room], anchor=f"y{of}")
        axes[f"yaxis{of}"] = {**y, "domain": [max(top - _PANEL / inner, 0.0), top], "anchor": f"x{of}"}
        population, _, size = panel_name(panel[0].setting).partition(", ")
        text = f"<b>{population}</b>, {size}"
        heads.append(head(text, 0, top, xanchor="left", xshift=_MARGIN_OF_HEADS - _LEFT, yshift=3))
    return figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        _reading(panels, against),
        **axes,
        annotations=heads,
        height=inner + _TOP + _BOTTOM,
        margin={"l": _LEFT, "t": _TOP, "b": _BOTTOM},
        legend=LEGEND | {"y": 1 + 26 / inner},
    )


def panel_name(setting: Setting) -> str:
    """Population, K and N in a few words."""
    return f"{_POPULATIONS[setting.population]}, K = {setting.k:,}, N = {setting.n:,}"


def errors_in_words(row: Errors) -> str:
    """The errors of one setting, in one sentence."""
    ratio, error = row.ratio("mle", "inv_p")
    each = listed([f"{look(name, row.setting.protocol).name} {number(row.mean[name])}" for name in ESTIMATES])
    return (
        f"Mean squared errors, summed over categories, from {counted(row.collections, 'collection')}: {each}. "
        f"{look('mle', row.setting.protocol).name} divided by InvP: {_with_error(ratio, error)}."
    )


def paper_says(sentence: Sentence) -> str:
    """The sentence, in the words of the paper as far as they are short."""
    return str(_LOPUHAA["says"][sentence.key])


def evidence(sentence: Sentence) -> str:
    """The numbers behind a verdict."""
    found = sentence.count
    parts = ((found.yes, "surely so"), (found.no, "surely not"), (found.undecided, "not settled"))
    told = ", ".join(f"{words} in {count}" for count, words in parts if count)
    ends = " to ".join(number(_ratio(sentence, row)[0]) for row in (sentence.lowest, sentence.highest))
    pair = "MLE/InvP"
    if sentence.key in _OF_BOTH:
        pair = "The larger of InvP and MLE, divided by Inv"
    row, low = sentence.highest, sentence.lowest  # of those that are to be similar, the farther from 1
    if sentence.key in _OF_SIMILAR and 1 / _ratio(sentence, low)[0] > _ratio(sentence, row)[0]:
        row = low
    one = row.setting
    at = f"{_SHORT[one.protocol]}, {panel_name(one)}, ε = {one.epsilon:g}, {_WHOSE[row.truth]}"
    worst = f"{_with_error(*_ratio(sentence, row))} for {at}"
    more = _EXISTS if sentence.key == "ue_real" and sentence.verdict == "holds" else ""
    if sentence.already_from is not None:
        more = f" It surely is from ε = {sentence.already_from:g} on."
    return f"Of {counted(found.total, 'setting')}: {told}.{more} {pair}: {ends}; worst {worst}."


def _errors(panel: Sequence[Errors]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The curves of all estimates, and their axis."""
    x = np.array([row.setting.epsilon for row in panel])
    lines = []
    for name in ESTIMATES:
        shown = look(name, panel[0].setting.protocol)
        y = np.array([row.mean[name] for row in panel])
        spread = np.array([_STANDARD_ERRORS * row.standard_error[name] for row in panel])
        hover = f"<b>{shown.name}</b>, ε = %{{x:.3~g}}<br>%{{y:.4~g}} ± %{{customdata:.2~g}}"
        lines.append(_line(shown, x, y, hover, spread, WIDTHS.get(name, 2.2), SIZES.get(name, 8)))
    return lines, error_axis("Squared error", log_range([line["y"] for line in lines]), "~g")


def _ratios(panel: Sequence[Errors]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The error of maximum likelihood divided by that of InvP, with two standard errors, and its axis."""
    shown = look("mle", panel[0].setting.protocol)
    found = np.array([row.ratio("mle", "inv_p") for row in panel])
    ratio, spread = found[:, 0], _STANDARD_ERRORS * found[:, 1]
    x = np.array([row.setting.epsilon for row in panel])
    ends = float((ratio - spread).min()), float((ratio + spread).max())
    low, high = min(ends[0], 1.0), max(ends[1], 1.0)
    room = 0.06 * max(high - low, 0.02)
    lines = [
        line_trace("InvP", x, np.ones(x.size), "", line=QUANTITIES["inv_p"].line(3)),
        {
            **_line(shown, x, ratio, "ε = %{x:.3~g}<br>%{y:.3~f} ± %{customdata:.2~g}", spread, 2.2, 8),
            "name": f"{shown.name} ÷ InvP, ±2 standard errors",
            "error_y": {"array": spread, "color": shown.colour, "thickness": 1.5, "width": 4},
        },
    ]
    return lines, axis("Error ÷ InvP’s", range=[low - room, high + room], tickformat=".2~f")


def _line(
    shown: Quantity, x: Array, y: Array, hover: str, spread: Array, width: float, size: float
) -> dict[str, Any]:
    return line_trace(
        shown.name,
        x,
        y,
        hover,
        mode="lines+markers",
        legendgroup=shown.name,
        customdata=spread,
        line=shown.line(width),
        marker=shown.marker(size),
    )


def _reading(panels: Sequence[Sequence[Errors]], against: Count) -> str:
    """MLE's error over InvP's at the largest epsilon of each panel, and how often each has the smallest mean."""
    last = [panel[-1] for panel in panels]
    by_size = len({row.setting.population for row in last}) == 1
    parts = []
    for row in last:
        population = _POPULATIONS[row.setting.population]
        of = f"with N = {row.setting.n:,}" if by_size else f"for {population[0].lower()}{population[1:]}"
        parts.append(f"{_times_inv_p(row.ratio('mle', 'inv_p')[0])} InvP’s {of}")
    name = look("mle", last[0].setting.protocol).name
    worse = f", surely worse in {against.no}" if against.no else ""
    return (
        f"At ε = {last[0].setting.epsilon:g} the squared error of {name} is {listed(parts)}. "
        f"Of {counted(against.total, 'setting')} {name} is surely better than InvP in {against.yes}{worse}. "
        f"{_smallest([row for panel in panels for row in panel])}"
    )


def _times_inv_p(ratio: float) -> str:
    return "about the same as" if number(ratio) == "1" else f"{number(ratio)} times"


def _smallest(rows: Sequence[Errors]) -> str:
    first = [min(row.mean, key=row.mean.__getitem__) for row in rows]
    counts = sorted(((first.count(name), name) for name in set(first)), reverse=True)
    each = [f"{look(name, rows[0].setting.protocol).name} in {count}" for count, name in counts]
    return f"Smallest mean error: {listed(each)}."


def _ratio(sentence: Sentence, row: Errors) -> tuple[float, float]:
    if sentence.key not in _OF_BOTH:
        return row.ratio("mle", "inv_p")
    return max(row.ratio("inv_p", "inv"), row.ratio("mle", "inv"))


def _with_error(ratio: float, error: float) -> str:
    return f"{number(ratio)} (± {number(error, 1)})"
