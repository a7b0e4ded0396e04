"""Who wins: a sweep as a map. Colour and name say which estimator, shade by how much."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.ranking import SweepAxis
from rr_core.experiments.winner_map import FixedName, MapCell, WinnerMap, map_kinds
from rr_core.figures import style
from rr_core.registry import VALID
from rr_core.rounding import counted, number, raised
from rr_core.words import phrases
from rr_core.words.experiments import WORDS

Point = tuple[float, float]  # column, row


def times_sign(ratio: float) -> str:
    """A ratio of two errors as text; below 2, two digits of what it is above 1."""
    if math.isinf(ratio):
        return "∞×"
    if ratio < 2:
        return f"{1 + float(f'{ratio - 1:.2g}'):.12g}×"
    return f"{number(ratio, 3) if ratio < 100 or ratio >= 1e6 else format(ratio, ',.0f')}×"


def cell_text(map_cell: MapCell) -> str:
    """Text in a completed cell: the winner, the tied winners, or the possible winners."""
    lead = map_cell.leader
    if lead is None or lead.equal:
        return "="
    if is_unsettled(map_cell):
        return "?" if len(lead.possible) == len(VALID) else "<br>".join(_names(lead.possible))
    return "<br>".join(_names(lead.best))


def cell_numbers(map_cell: MapCell) -> str:
    """A cell in a table: the winner and the next one's error over its own, that of MLE* if last; or why none."""
    lead = map_cell.leader
    if map_cell.result is None:
        return "–"
    if lead is None or lead.equal:
        return "all equal"
    if is_unsettled(map_cell):
        return f"{' or '.join(_names(lead.possible))}?"
    text = f"{' and '.join(_names(lead.best))} {times_sign(float(f'{lead.margin:.3g}'))}"
    if "mle_star" in lead.possible or math.isclose(map_cell.regret, lead.margin):
        return text
    return f"{text}, MLE* {times_sign(float(f'{map_cell.regret:.3g}'))}"


def is_unsettled(map_cell: MapCell) -> bool:
    """Whether the three errors differ and no significant winner is known."""
    return map_cell.leader is not None and not map_cell.leader.equal and not map_cell.leader.settled


def _names(names: tuple[str, ...]) -> list[str]:
    return [style.QUANTITIES[name].name for name in names]


def cell_lines(map_cell: MapCell) -> str:
    """The cell, in two lines."""
    cell = map_cell.cell
    return f"ε = {cell.epsilon:g}, N = {cell.n:,}, K = {cell.k:,}<br>{phrases.capital(phrases.population_name(cell))}"


def hover_text(drawn: WinnerMap, map_cell: MapCell) -> str:
    """Everything that is known of a cell that was run, in lines short enough for a phone."""
    result = map_cell.result
    if result is None:
        return f"{cell_lines(map_cell)}<br>not run yet"
    lines = [*_verdict(map_cell), cell_lines(map_cell), f"{phrases.METRIC_NAMES[drawn.metric].title}:"]
    for error in map_cell.errors:
        spread = "" if math.isnan(error.standard_error) else f" ± {number(error.standard_error, 2)}"
        lines.append(f"<b>{style.QUANTITIES[error.estimator].name}</b> {number(error.mean, 4)}{spread}")
    if not math.isnan(map_cell.errors[0].standard_error):
        lines.append("(mean ± its standard error)")
    made = counted(result.seeds, "collection")
    lines.append(f"Best / worst of the {made}:")
    ranks = [error for error in map_cell.errors if error.estimator in VALID]
    lines.append(
        ", ".join(
            f"{style.QUANTITIES[one.estimator].name} {_count(one.n_best)} / {_count(one.n_worst)}"
            for one in ranks
        )
    )
    lines.append(f"all equal in {_count(map_cell.n_tied)}")
    if map_cell.leader is not None and "mle_star" not in map_cell.leader.possible:
        lines.append(f"MLE*'s error over the smallest: {times_sign(map_cell.regret)}")
    return "<br>".join(lines)


def fixed_values(drawn: WinnerMap) -> str:
    """The axes that a map holds fixed, and the value of an axis with one row, in words."""
    if not drawn.map_cells:
        return ""
    cell = drawn.map_cells[0].cell
    words: dict[FixedName | SweepAxis, str] = {
        "population": phrases.population_name(cell),
        "k": f"K = {cell.k:,}",
        "epsilon": f"ε = {cell.epsilon:g}",
        "n": f"N = {cell.n:,}",
    }
    row = (drawn.kind.y,) if drawn.is_strip else ()
    return ", ".join(words[name] for name in (*drawn.kind.fixed, *row))


def map_reading(drawn: WinnerMap) -> str:
    """Counts of wins, and what MLE* costs where another wins."""
    done = drawn.completed
    fixed = phrases.capital(fixed_values(drawn))
    if not done:
        return f"{fixed}: none of the {counted(len(drawn.map_cells), 'cell')} of this map has been run yet."
    leads = [map_cell.leader for map_cell in done if map_cell.leader is not None]
    alone = {name: sum(lead.settled and lead.best == (name,) for lead in leads) for name in VALID}
    of = counted(len(done), "cell")
    if len(done) < len(drawn.map_cells):
        of = f"the {of} run so far"
    text = (
        f"{fixed}: of {of}, InvP has the smallest {phrases.METRIC_NAMES[drawn.metric].mean_in_text} in {alone['inv_p']}, "
        f"InvN in {alone['inv_n']}, MLE* in {alone['mle_star']}"
    )
    if shared := sum(lead.settled and len(lead.best) == 2 for lead in leads):
        text += f"; in {shared} two share it"
    if equal := sum(lead.equal for lead in leads):
        text += f"; in {equal} all are equal"
    if hatched := sum(map(is_unsettled, done)):
        text += f"; {hatched} (hatched) {'is' if hatched == 1 else 'are'} too close to call"
    return f"{text}. {_cost(done)}."


def _cost(done: tuple[MapCell, ...]) -> str:
    lost = [
        map_cell.regret
        for map_cell in done
        if map_cell.leader is not None and "mle_star" not in map_cell.leader.possible
    ]
    if not lost:
        return "MLE* loses in none of them"
    worst = max(lost)
    if math.isinf(worst):
        return f"MLE* loses in {len(lost)}, where the smallest error may be zero"
    if phrases.practically_equal(worst):
        return f"MLE* loses in {len(lost)}, by less than 0.5% of the smallest error"
    return f"MLE* loses in {len(lost)}: its error there is up to {phrases.roughly_times(worst)} the smallest"


def _verdict(map_cell: MapCell) -> list[str]:
    lead = map_cell.leader
    if lead is None or lead.equal:
        return ["<b>All three are equal</b>"]
    if not lead.settled:
        return [f"<b>Not settled: {' or '.join(_names(lead.possible))}</b>", "may have the smallest error"]
    verb = "has" if len(lead.best) == 1 else "share"
    first = f"<b>{' and '.join(_names(lead.best))} {verb} the smallest error</b>"
    return [first, f"the next one's is {times_sign(lead.margin)} as large"]


def _count(seeds: float) -> str:
    return f"{seeds:,.1f}".removesuffix(".0")


_INK, _PAPER = "#000000", "#FFFFFF"
_BRIGHT = "#F0E442"  # the yellow of Okabe and Ito, which no quantity has
_DARK = 0.179  # luminance below which white words stand out more than black ones
_EQUAL, _UNSETTLED = "#C4C4C4", "#F2F2F2"
# Margin from which a win has its full colour, and how much of it a win by a hair has.
_FULL, _PALEST = 3.0, 0.2
# Gaps between the cells; cells beyond which there is no room for words.
_WIDTH, _HEIGHT, _MOST_WORDS = 0.97, 0.95, 240
_MOST_TICKS = 12
_STRIP_HEIGHT = 84  # pixels of a single row
_ASIDE = 0.4  # corners of a cell, from its middle: clear of its words
_STEADY = {"marker": {"opacity": 1}, "textfont": {"color": _INK}}  # a click must not fade the other cells


def why_no_map(sweep: Sweep) -> str:
    """The reason why a sweep has no map, as a sentence; "" when it has one."""
    lacking = [style.QUANTITIES[key].name for key in VALID if key not in sweep.settings.estimators]
    if lacking:
        return f"The map compares InvN, InvP and MLE*; this sweep was run without {' and '.join(lacking)}."
    if not map_kinds(sweep.cells):
        return (
            "The map needs something that varies: ε, N, K or the Zipf exponent s. In this sweep none of them takes two "
            "values with all else the same."
        )
    return ""


def map_figure(
    drawn: WinnerMap, here: tuple[float, float] | None = None, chosen: Cell | None = None
) -> go.Figure:
    """The map; its cell (i, j) reaches from j - 1/2 to j + 1/2 upwards; a click gives i and the upper end, see
    `column_and_row`. ``here`` are the scenario's own values along x and y, ``chosen`` is the cell to frame."""
    place = None if here is None else drawn.position(*here)
    empty = {"color": "rgba(128,128,128,0)", "line": {"color": style.GRID, "width": 1}}
    missing = _cells_at(drawn, done=False)
    traces = [
        *_legend(drawn),
        _bar(drawn, missing, name="not run yet", marker=empty, textposition="none"),
        _cells(drawn),
    ]
    if place is not None:
        traces.append(_mark(drawn, _nearest_corner(place)))
    traces += [
        line
        for (column, row), map_cell in _places(drawn).items()
        if map_cell.cell == chosen
        for line in _frame(column, row)
    ]
    return style.figure(
        traces,
        _axis(drawn.kind.x, drawn.x),
        _axis(drawn.kind.y, drawn.y),
        map_reading(drawn),
        barmode="overlay",
        uniformtext={"mode": "hide", "minsize": 10},
        height=(_STRIP_HEIGHT if drawn.is_strip else min(max(60 * len(drawn.y), 210), 460)) + 150,
        margin={"l": 66, "r": 6, "t": 84, "b": 58},
        legend={
            **style.LEGEND,
            "y": 1.01,
            "title": {"text": "Pale: a close win", "side": "top", "font": {"size": 14}},
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )


def column_and_row(x: float, y: float) -> tuple[int, int]:
    """Column and row of the cell at the coordinates of a click."""
    return round(x), round(y - _HEIGHT / 2)


def _axis(name: SweepAxis, values: tuple[float, ...]) -> dict[str, Any]:
    shown = range(0, len(values), math.ceil(len(values) / _MOST_TICKS))
    return style.axis(
        WORDS["axes"][name],
        tickmode="array",
        tickvals=list(shown),
        ticktext=[tick(name, values[i]) for i in shown],
        range=[-0.5, len(values) - 0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )


def tick(name: SweepAxis, value: float) -> str:
    """A value of an axis, as the map writes it."""
    if name not in ("n", "k"):
        return f"{value:g}"
    power = round(math.log10(value))
    if name == "n" and power > 1 and value == 10**power:
        return f"10{raised(power)}"
    return f"{value:,.0f}" if value < 1e6 else f"{value / 1e6:,.7g}M"


def _bar(drawn: WinnerMap, map_cells: dict[Point, MapCell], **more: Any) -> dict[str, Any]:
    columns, rows = (np.array([place[i] for place in map_cells], dtype=np.float64) for i in (0, 1))
    return {
        "type": "bar",
        "x": columns,
        "y": np.full(columns.size, _HEIGHT),
        "base": rows - _HEIGHT / 2,
        "width": _WIDTH,
        "showlegend": False,
        "selected": _STEADY,
        "unselected": _STEADY,
        "hovertext": [hover_text(drawn, map_cell) for map_cell in map_cells.values()],
        "hoverinfo": "text",
        **more,
    }


def _places(drawn: WinnerMap) -> dict[Point, MapCell]:
    return {
        (column, row): map_cell
        for row, map_cells in enumerate(drawn.rows)
        for column, map_cell in enumerate(map_cells)
        if map_cell is not None
    }


def _cells_at(drawn: WinnerMap, *, done: bool) -> dict[Point, MapCell]:
    return {place: one for place, one in _places(drawn).items() if (one.result is not None) == done}


def _cells(drawn: WinnerMap) -> dict[str, Any]:
    map_cells = _cells_at(drawn, done=True)
    colours = [_colour(map_cell) for map_cell in map_cells.values()]
    words = len(map_cells) <= _MOST_WORDS
    return _bar(
        drawn,
        map_cells,
        name="cells",
        marker={
            "color": colours,
            "line": {"width": 0},
            "pattern": {
                "shape": ["/" if is_unsettled(map_cell) else "" for map_cell in map_cells.values()],
                "fillmode": "overlay",
                "size": 8,
                "solidity": 0.25,
                "fgopacity": 0.4,
            },
        },
        text=[
            _inked(cell_text(map_cell), colour)
            for map_cell, colour in zip(map_cells.values(), colours, strict=True)
        ]
        if words
        else None,
        textposition="inside" if words else "none",
        insidetextanchor="middle",
        textangle=0,
        constraintext="inside",
        insidetextfont={"size": 15, "color": _INK},
    )


def _colour(map_cell: MapCell) -> str:
    """Colour of a cell: its winner's, paler the smaller its margin; that of MLE* where it ties with others."""
    lead = map_cell.leader
    if lead is None or lead.equal:
        return _EQUAL
    if not lead.settled:
        return _UNSETTLED
    name = "mle_star" if "mle_star" in lead.best else lead.best[0]
    strength = min(math.log(lead.margin) / math.log(_FULL), 1.0)
    return mixed(style.QUANTITIES[name].colour, _PALEST + (1 - _PALEST) * strength)


def mixed(colour: str, part: float) -> str:
    """The colour mixed with white, ``part`` of it colour, as #RRGGBB."""
    return "#" + "".join(f"{round(255 - part * (255 - one)):02X}" for one in style.rgb(colour))


def _inked(words: str, ground: str) -> str:
    """Words in black, or in white where that stands out more: a contrast of at least 4.5 : 1 by WCAG 2. The colour is
    part of the text: Plotly gives all the cells that were not clicked one colour."""
    parts = [part / 255 for part in style.rgb(ground)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return f'<span style="color:{_PAPER}">{words}</span>' if luminance < _DARK else words


def _legend(drawn: WinnerMap) -> list[dict[str, Any]]:
    """Entries that explain colour and hatching; they draw nothing."""
    found = [_key(style.QUANTITIES[name].name, style.QUANTITIES[name].colour) for name in VALID]
    if any(map_cell.leader is not None and map_cell.leader.equal for map_cell in drawn.map_cells):
        found.append(_key("equal", _EQUAL))
    if any(map(is_unsettled, drawn.map_cells)):
        found.append(_key("too close", _UNSETTLED, "/"))
    return found


def _key(name: str, colour: str, shape: str = "") -> dict[str, Any]:
    pattern = {"shape": shape, "bgcolor": colour, "fgcolor": "#606060", "fillmode": "replace", "size": 6}
    return style.bar_trace(
        name, [None], [None], "", marker={"color": colour, "line": {"width": 0}, "pattern": pattern}
    )


def _nearest_corner(place: Point) -> Point:
    """Corner of a cell for the scenario's mark: within a cell the place means little, and the mark must hide no words."""
    middle = (round(place[0]), round(place[1]))
    corners = [
        (middle[0] + right * _ASIDE, middle[1] + up * _ASIDE) for up, right in product((1, -1), repeat=2)
    ]
    return min(corners, key=lambda corner: math.dist(corner, place))


def _frame(column: float, row: float) -> list[dict[str, Any]]:
    """A bright frame on a dark one around a cell: it stands out on every colour."""
    right, up = _WIDTH / 2, _HEIGHT / 2
    corners = [(-right, -up), (-right, up), (right, up), (right, -up), (-right, -up)]
    frame = style.line_trace(
        "chosen cell",
        [column + x for x, _ in corners],
        [row + y for _, y in corners],
        "",
        showlegend=False,
        cliponaxis=False,
    )
    return [
        {**frame, "line": {"color": colour, "width": width}} for colour, width in ((_INK, 9), (_BRIGHT, 5))
    ]


def _mark(drawn: WinnerMap, place: Point) -> dict[str, Any]:
    return style.mark_trace(
        f"you: {phrases.SYMBOLS[drawn.kind.x]}, {phrases.SYMBOLS[drawn.kind.y]}",
        [place[0]],
        [place[1]],
        "",
        marker={"symbol": "circle", "size": 10, "color": _PAPER, "line": {"width": 2.5, "color": _INK}},
        unselected={"marker": {"opacity": 1}},
        cliponaxis=False,
    )
