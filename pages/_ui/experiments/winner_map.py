"""Who wins: the map of a sweep, what it holds fixed, its place in a link, and the way from a cell to the estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, guidance, link, navigation, session_files, widgets
from pages._ui.experiments.runs import SWEEP, SweepView
from pages._ui.experiments.settings import MAIN, SWEEP_PARAMETER
from pages._ui.link import Binding
from rr_core import parameters, typed
from rr_core.experiments import winner_map as maps
from rr_core.experiments.grid import POINT, Cell, Sweep
from rr_core.figures.experiments_map import cell_numbers, column_and_row, map_figure, tick, why_no_map
from rr_core.parameters import Choice
from rr_core.plain_text import markdown, starred
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario
from rr_core.words.experiments import WORDS
from rr_core.words.phrases import METRIC_NAMES, SYMBOLS, population_name, table

MAP_LABELS: Mapping[str, str] = WORDS["maps"]
# Of an axis that a map holds fixed: its label, and its parameter in a link.
_FIXED: dict[maps.FixedName, tuple[str, str]] = {
    "population": ("Population", "at_s"),
    "k": ("Categories K", "at_k"),
    "epsilon": ("Privacy ε", "at_eps"),
    "n": ("Users N", "at_n"),
}
PARAMETERS = ("map", "metric", *(name for _, name in _FIXED.values()))


@dataclass(frozen=True)
class MapSelection:
    """The chosen map (a key of ALL_KINDS), metric, and values of fixed axes, which other maps keep."""

    key: str = ""
    metric: str = ""
    fixed: Mapping[maps.FixedName, maps.AxisValue] = field(default_factory=dict)

    def with_fixed(self, axis: maps.FixedName, taken: maps.AxisValue) -> MapSelection:
        return replace(self, fixed={**self.fixed, axis: taken})

    def fitted_to(self, sweep: Sweep) -> MapSelection:
        """The selection with a map and a metric that the sweep has. The sweep must have a map."""
        offered, metrics = maps.map_kinds(sweep.cells), sweep.settings.metrics
        return replace(
            self,
            key=self.key if self.key in offered else offered[0],
            metric=self.metric if self.metric in metrics else metrics[0],
        )


def to_query(selection: MapSelection, taken: tuple[maps.FixedAxis, ...]) -> dict[str, str | None]:
    """The map's query parameters; None for a parameter that the link does not need."""
    query: dict[str, str | None] = dict.fromkeys(PARAMETERS)
    query |= {"map": selection.key, "metric": selection.metric}
    return query | {_FIXED[one.axis][1]: value_in_link(one.value) for one in taken if len(one.options) > 1}


def from_query(query: Mapping[str, str], sweep: Sweep) -> tuple[MapSelection, tuple[str, ...]]:
    """The selection of a link for a sweep with a map, and a sentence for each value that the sweep does not have."""
    at = {axis: _parse_value(axis, query[name]) for axis, (_, name) in _FIXED.items() if name in query}
    offered, metrics = maps.map_kinds(sweep.cells), sweep.settings.metrics
    choices = (
        Choice("key", "map", "map", {key: MAP_LABELS[key] for key in offered}, _NOT_IN_MAP),
        Choice(
            "metric",
            "metric",
            "error measure",
            {name: METRIC_NAMES[name].of_cell for name in metrics},
            _NOT_IN_MAP,
        ),
    )
    selection, notes = parameters.read(choices, query, MapSelection(offered[0], metrics[0], at))
    populations = population_names(sweep)
    return selection, notes + tuple(
        _NOT_IN_MAP.format(
            label=_FIXED[one.axis][0],
            text=typed.shorten(query[_FIXED[one.axis][1]]),
            used=value_in_words(one.axis, one.value, populations),
        )
        for one in maps.fixed_axes(sweep.cells, selection.key, selection.fixed)
        if one.axis in at and at[one.axis] != one.value
    )


def population_names(sweep: Sweep) -> dict[maps.AxisValue, str]:
    """What each population of a sweep is called."""
    return {maps.axis_value(cell, "population"): population_name(cell) for cell in sweep.cells}


def value_in_words(
    axis: maps.FixedName, taken: maps.AxisValue, populations: Mapping[maps.AxisValue, str]
) -> str:
    """A fixed value as text for the screen."""
    if axis == "population":
        return populations[taken]
    return f"{taken:g}" if axis == "epsilon" else f"{taken:,.0f}"


def value_in_link(taken: maps.AxisValue) -> str:
    """A fixed value as text for a link."""
    return taken if isinstance(taken, str) else f"{taken:.17g}" if taken % 1 else f"{taken:.0f}"


def _parse_value(axis: maps.FixedName, text: str) -> maps.AxisValue:
    """A number where the text is one; of a population, in the one form that it has."""
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return f"{number:.12g}" if axis == "population" else number


_NOT_IN_MAP = "The link's {label} “{text}” is not in this sweep's map; “{used}” is used instead."
_CHOSEN = "_exp_map_cell"
_SWITCHES = "**Try:** choose another population, a flatter or a more concentrated one. Which colour grows?"
_FOLLOWS = (
    "**Try:** point at cells where MLE\\*'s error is twice the smallest or more. Which estimate wins there?"
)
_FITS = "**Try:** look for a cell where another estimate has a smaller error than MLE\\*. Is there one?"
_POINTS = "**Try:** point at a cell to see the three errors. How close are they?"


@dataclass(frozen=True)
class Selections:
    """The map selection of every sweep: chosen by the user, or the parameters of a link, which mean something once the
    sweep has cells. ``arrived`` is the sweep of the last arrival; "" when its address had no map."""

    by_sweep: Mapping[str, MapSelection | dict[str, str]] = field(default_factory=dict)
    arrived: str = ""

    def changed(self, key: str, selection: MapSelection | dict[str, str], arrived: str = "") -> Selections:
        return Selections({**self.by_sweep, key: selection}, arrived)


def _read(query: Mapping[str, str]) -> tuple[Selections, tuple[str, ...]]:
    held, mine = SELECTIONS.current(), {name: query[name] for name in PARAMETERS if name in query}
    if not mine:
        return Selections(), ()
    parameter = SWEEP_PARAMETER.parameter
    key = SWEEP_PARAMETER.parse(query[parameter], MAIN)[0] if parameter in query else SWEEP.current()
    return held.changed(key, mine, key), ()


# What of it stands in the address is known as the map is drawn: `section` keeps it there.
SELECTIONS: Binding[Selections] = Binding("_exp_maps", Selections(), _read, lambda selections: {})


def notes(view: SweepView) -> tuple[str, ...]:
    """A sentence for each value of the link that the sweep on screen does not have."""
    selections = SELECTIONS.current()
    query = selections.by_sweep.get(view.key)
    if selections.arrived != view.key or not isinstance(query, dict) or why_no_map(view.result.sweep):
        return ()
    return from_query(query, view.result.sweep)[1]


def _selection(view: SweepView) -> MapSelection:
    """The selection of the sweep on screen, which must have a map; at first the one nearest to the scenario."""
    held, sweep = SELECTIONS.current(), view.result.sweep
    if view.key not in held.by_sweep:
        # kept, for what the sidebar has no use for on this page must not move the map
        SELECTIONS.change(held.changed(view.key, _nearest(sweep, link.current()), held.arrived))
    selection = SELECTIONS.current().by_sweep[view.key]
    return from_query(selection, sweep)[0] if isinstance(selection, dict) else selection.fitted_to(sweep)


def _nearest(sweep: Sweep, scenario: Scenario) -> MapSelection:
    """The first map of a sweep, with the options of its fixed axes that are nearest to a scenario."""
    selection = MapSelection().fitted_to(sweep)
    own = {
        "population": scenario.s if scenario.dist == "zipf" else scenario.dist,
        "k": math.log(scenario.k),
        "epsilon": scenario.epsilon,
        "n": math.log(scenario.n),
    }

    def distance(axis: maps.FixedName, option: maps.AxisValue) -> float:
        mine = own[axis]
        if isinstance(mine, str):
            return float(option != mine)
        try:
            value = float(option)
        except ValueError:  # another population
            return math.inf
        return abs((math.log(value) if axis in ("k", "n") else value) - mine)

    for place in (0, 1):  # the options of the second depend on the first
        one = maps.fixed_axes(sweep.cells, selection.key, selection.fixed)[place]
        middle = [one.value, *one.options]  # where none is nearer than another
        selection = selection.with_fixed(one.axis, min(middle, key=partial(distance, one.axis)))
    return selection


def axes(view: SweepView) -> frozenset[str]:
    """Fields of the scenario that the map of a sweep has along its axes; none where there is no map."""
    if why_no_map(view.result.sweep):
        return frozenset()
    kind = maps.ALL_KINDS[_selection(view).key]
    return frozenset((kind.x, kind.y))


def link_to_estimators(label: str, scenario: Scenario) -> None:
    """Draw a link that opens a scenario on the page of estimators. The page that it leaves keeps its address, so that
    Back returns to the scenario from before."""
    navigation.link_to("pages/estimators.py", label, ":material/balance:", scenario.to_query())


def show(figure: go.Figure, name: str, lead: bool, on_click: chart.OnClick | None = None) -> None:
    """Show a figure; the page's first one, the ``lead``, can fill the window."""
    (chart.lead if lead else chart.show)(figure, name, on_click)


def section(view: SweepView, scenario: Scenario, lead: bool) -> None:
    """What a cell means, what to try, and the map; at its right the cell that was clicked or chosen, which has a frame,
    with the link that opens it, and the map's widgets."""
    sweep = view.result.sweep
    reason = why_no_map(sweep)
    if reason:
        link.set_parameters(dict.fromkeys(PARAMETERS))
        st.caption(markdown(reason))
        return
    selection = _selection(view)
    taken = maps.fixed_axes(sweep.cells, selection.key, selection.fixed)
    link.set_parameters(to_query(selection, taken))
    drawn = maps.winner_map(view.result, selection.key, selection.metric, selection.fixed)
    st.markdown(
        f"Each cell is one survey, simulated {how_often(sweep)}. Colour: the estimate with the smallest error on "
        "average. Point at a cell for its numbers."
    )
    st.markdown(_task(drawn, taken))
    left, right = st.columns([3, 1], gap="small")
    with left:
        figure = map_figure(drawn, _scenario_point(drawn, scenario), st.session_state.get(_CHOSEN))
        show(figure, "exp_map", lead, partial(_choose_cell, drawn))
    with right:
        guidance.words(WORDS["explained"])
        if why := _why_not_on_it(drawn, scenario):
            st.caption(why)
        _pick_cell(drawn, scenario)
        _widgets(view, selection, taken)


def numbers(view: SweepView) -> None:
    """The numbers of the map's cells as a table, folded; nothing where there is no map."""
    if why_no_map(view.result.sweep):
        return
    selection = _selection(view)
    drawn = maps.winner_map(view.result, selection.key, selection.metric, selection.fixed)
    x, y = drawn.kind.x, drawn.kind.y
    heads = ["", *(f"{SYMBOLS[x]} = {tick(x, value)}" for value in drawn.x)]
    lines = []
    for value, row in list(zip(drawn.y, drawn.rows, strict=True))[::-1]:
        cells = ["" if one is None else starred(cell_numbers(one)) for one in row]
        lines.append([f"{SYMBOLS[y]} = {tick(y, value)}", *cells])
    with st.expander("The map in numbers"):
        st.caption(
            "Who wins, and the next one's error over the winner's; then that of MLE\\*, where it is the third."
        )
        st.markdown(table(heads, "l" * len(heads), lines))


def how_often(sweep: Sweep) -> str:
    """How many collections each cell of a sweep has, in words."""
    return "once" if sweep.settings.seeds == 1 else f"{sweep.settings.seeds:,} times"


def _widgets(view: SweepView, selection: MapSelection, taken: tuple[maps.FixedAxis, ...]) -> None:
    sweep = view.result.sweep
    offered, metrics, names = maps.map_kinds(sweep.cells), sweep.settings.metrics, population_names(sweep)
    if len(offered) > 1:
        st.selectbox(
            "Map of",
            offered,
            format_func=MAP_LABELS.__getitem__,
            **_bound(view, "of", selection.key, lambda key: replace(selection, key=key)),
        )
    for one in taken:
        if len(one.options) > 1:
            st.selectbox(
                _FIXED[one.axis][0],
                one.options,
                format_func=partial(value_in_words, one.axis, populations=names),
                **_bound(view, one.axis, one.value, partial(selection.with_fixed, one.axis)),
            )
    if len(metrics) > 1:
        st.selectbox(
            "Error measure",
            metrics,
            format_func=lambda metric: METRIC_NAMES[metric].of_cell,
            **_bound(view, "metric", selection.metric, lambda metric: replace(selection, metric=metric)),
        )


def _bound(view: SweepView, name: str, taken: Any, changed: Callable[[Any], MapSelection]) -> dict[str, Any]:
    return SELECTIONS.widget_arguments(
        f"exp_map_{name}_{view.key}",
        taken,
        lambda chosen: SELECTIONS.current().changed(view.key, changed(chosen)),
    )


def _scenario_point(drawn: maps.WinnerMap, scenario: Scenario) -> tuple[float, float] | None:
    if drawn.kind.zipf_only and scenario.dist != "zipf":
        return None
    return float(getattr(scenario, drawn.kind.x)), float(getattr(scenario, drawn.kind.y))


def _why_not_on_it(drawn: maps.WinnerMap, scenario: Scenario) -> str:
    """Why the scenario has no ring on the map; "" where it has one."""
    here = _scenario_point(drawn, scenario)
    if here is None:
        return "You are not on this map: it is of Zipf's populations, and the sidebar has another."
    ends = zip((drawn.kind.x, drawn.kind.y), here, (drawn.x, drawn.y), strict=True)
    off = [
        f"{SYMBOLS[name]} = {f'{value:,.0f}' if name in ('n', 'k') else f'{value:.12g}'} lies outside "
        f"{tick(name, values[0])} to {tick(name, values[-1])}"
        for name, value, values in ends
        if not values[0] <= value <= values[-1]
    ]
    return f"You are not on this map: {' and '.join(off)}." if off else ""


def _choose_cell(drawn: maps.WinnerMap, x: float, y: float) -> None:
    """Frame the clicked cell and offer it beside the map; nothing else changes."""
    column, row = column_and_row(x, y)
    map_cell = drawn.rows[row][column]
    if map_cell is not None:
        _keep_cell(map_cell.cell)


def _pick_cell(drawn: maps.WinnerMap, scenario: Scenario) -> None:
    """Widget for the cell to open, with the link that opens it; or why the sidebar cannot show such a cell."""
    cells = [one.cell for one in drawn.map_cells]
    fields = _scenario_fields(cells[0])
    if fields is None:
        st.caption(_why_not_opened(cells[0]))
        return
    held: Cell | None = st.session_state.get(_CHOSEN)
    chosen = held if held in cells else None
    st.selectbox(
        "Cell to open",
        cells,
        index=None,
        format_func=partial(_coordinates, drawn),
        placeholder="Click one in the map",
        help="Click a cell of the map (touch: twice), or choose it here. Opening it changes the sidebar's scenario to "
        "it; the browser's Back brings yours again.",
        **widgets.widget_arguments("exp_map_cell", chosen, _keep_cell),
    )
    if chosen is not None:
        link_to_estimators(
            f"Open this cell: {navigation.BY_ADDRESS['estimators'].label}",
            replace(scenario, **(_scenario_fields(chosen) or {})),
        )


def _keep_cell(cell: Cell) -> None:
    st.session_state[_CHOSEN] = cell


def _coordinates(drawn: maps.WinnerMap, cell: Cell) -> str:
    values = ((SYMBOLS[name], getattr(cell, name)) for name in (drawn.kind.x, drawn.kind.y))
    return ", ".join(f"{symbol} = {value:,.12g}" for symbol, value in values)


def _scenario_fields(cell: Cell) -> dict[str, Any] | None:
    """The scenario's fields that reproduce a cell; None where the sidebar has no such population."""
    fields: dict[str, Any] = {"dist": cell.dist, "k": cell.k, "epsilon": cell.epsilon, "n": cell.n}
    if cell.dist == "zipf":
        fields["s"] = cell.s
    if cell.uploaded:
        held = session_files.uploaded()
        if held is None or held.population.key != cell.dist:
            return None
        fields["dist"] = UPLOAD
    return None if cell.dist == POINT else fields


def _task(drawn: maps.WinnerMap, taken: tuple[maps.FixedAxis, ...]) -> str:
    if drawn.metric == "nll":
        return _FITS
    if any(one.axis == "population" and len(one.options) > 1 for one in taken):
        return _SWITCHES
    return _FOLLOWS if any(map_cell.regret >= 2 for map_cell in drawn.completed) else _POINTS


def _why_not_opened(cell: Cell) -> str:
    if cell.dist == POINT:
        return "These cells cannot be opened on another page: the sidebar has no such population."
    return (
        "These cells cannot be opened on another page: the histogram they are about is not the one uploaded in this "
        "session."
    )
