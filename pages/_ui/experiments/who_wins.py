"""Who wins: the map of a sweep, what it holds fixed, and the way from a cell to the page of estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import streamlit as st

from pages._ui import chart, link, messages, state, widget
from pages._ui.experiments import map_asked
from pages._ui.experiments.map_asked import LABELS, MAPS, Asked
from pages._ui.experiments.shown import Shown
from pages._ui.safe_text import markdown
from rr_core.experiments.grid import POINT, Cell
from rr_core.experiments.winner_map import FixedAxis, WinnerMap, axis_value, fixed_axes, map_kinds, winner_map
from rr_core.figures.experiments_map import column_and_row, map_figure, why_no_map
from rr_core.figures.experiments_names import METRIC_NAMES, population_name
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario

_KEPT, _NOTES, _JUMP = "_exp_maps", "_exp_map_notes", "_exp_map_jump"
_LINK = "_exp_map_link"
_SWITCHES = "**Try:** choose another population, a flatter or a more concentrated one. Which colour grows?"
_FOLLOWS = (
    "**Try:** find the cells beyond the line 2×. Which estimate wins there, and what of the population would you have to "
    "know to choose it beforehand?"
)
_FITS = (
    "MLE\\* is the distribution under which the reports are most likely, so no other distribution has a lower negative "
    "log-likelihood. **Try:** switch to the squared error to see which is nearest to the truth."
)


def arrive() -> None:
    """Remember what an address says of the map until a sweep can be asked; call it once per run of the page."""
    if link.arrived():
        query = st.query_params.to_dict()
        st.session_state[_LINK] = {name: query[name] for name in map_asked.PARAMETERS if name in query}
        st.session_state[_NOTES] = ()


def take(shown: Shown) -> None:
    """Have the map show what the address says, and say where it cannot; once per run of the page."""
    query = st.session_state.get(_LINK)
    if query and not why_no_map(shown.result.sweep):
        del st.session_state[_LINK]
        asked, st.session_state[_NOTES] = map_asked.from_query(query, shown.result.sweep)
        _held()[shown.key] = asked
    messages.show(st.session_state.get(_NOTES, ()))


def jump() -> None:
    """Go to the page of estimators when a cell was clicked; nothing after it is drawn."""
    if st.session_state.pop(_JUMP, False):
        st.switch_page("pages/estimators.py", query_params=link.current().to_query())


def open_scenario(scenario: Scenario) -> None:
    """Make it the scenario and go to the page of estimators; for callbacks."""
    state.close_upload()
    link.change(**asdict(scenario))
    st.session_state[_JUMP] = True


def section(shown: Shown, scenario: Scenario) -> None:
    """The question, the widgets, the map, and what to do with it."""
    jump()
    st.subheader("Who wins, and by how much?")
    sweep = shown.result.sweep
    reason = why_no_map(sweep)
    if reason:
        _keep(dict.fromkeys(map_asked.PARAMETERS))
        st.caption(markdown(reason))
        return
    asked = _held().get(shown.key, Asked()).fitted(sweep)
    taken = fixed_axes(sweep.cells, asked.key, asked.at)
    _widgets(shown, asked, taken)
    _keep(map_asked.to_query(asked, taken))
    drawn = winner_map(shown.result, asked.key, asked.metric, asked.at)
    here = _here(drawn, scenario)
    chart.show(map_figure(drawn, here), "exp_map", partial(_clicked, drawn))
    lines = (_of_a_click(drawn), _of_the_mark(drawn, here, scenario), _try(drawn, taken))
    st.markdown("\n\n".join(filter(None, lines)))


def _held() -> dict[str, Asked]:
    """What the map of every sweep shows, in this session."""
    held: dict[str, Asked] = st.session_state.setdefault(_KEPT, {})
    return held


def _keep(query: dict[str, str | None]) -> None:
    """Have the map's parameters in the address when the page writes it."""
    for name, text in query.items():
        link.keep(name, text)


def _widgets(shown: Shown, asked: Asked, taken: tuple[FixedAxis, ...]) -> None:
    sweep = shown.result.sweep
    offered, metrics, names = map_kinds(sweep.cells), sweep.settings.metrics, map_asked.names(sweep)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if len(offered) > 1:
            st.segmented_control(
                "Map of",
                offered,
                format_func=MAPS.__getitem__,
                **_shows(shown, "of", asked.key, lambda key: Asked(key, asked.metric, asked.at)),
            )
        for one in taken:
            if len(one.options) > 1:
                st.selectbox(
                    LABELS[one.axis],
                    one.options,
                    format_func=partial(map_asked.shown, one.axis, populations=names),
                    width=200 if one.axis == "population" else 120,
                    **_shows(shown, one.axis, one.taken, partial(asked.fixed_at, one.axis)),
                )
        if len(metrics) > 1:
            st.segmented_control(
                "Error measure",
                metrics,
                format_func=lambda metric: METRIC_NAMES[metric].of_cell,
                **_shows(shown, "metric", asked.metric, lambda metric: Asked(asked.key, metric, asked.at)),
            )


def _shows(shown: Shown, name: str, taken: Any, changed: Callable[[Any], Asked]) -> dict[str, Any]:
    """Arguments that make a widget show what is taken, and keep what a person's choice makes of it."""

    def take(chosen: Any) -> None:
        _held()[shown.key] = changed(chosen)
        st.session_state[_NOTES] = ()

    return widget.shows(f"exp_map_{name}_{shown.key}", taken, take)


def _here(drawn: WinnerMap, scenario: Scenario) -> tuple[float, float] | None:
    if drawn.kind.zipf and scenario.dist != "zipf":
        return None
    return float(getattr(scenario, drawn.kind.x)), float(getattr(scenario, drawn.kind.y))


def _clicked(drawn: WinnerMap, x: float, y: float) -> None:
    """Make the clicked cell the scenario, where a link can show it; the next run goes there."""
    column, row = column_and_row(x, y)
    spot = drawn.rows[row][column]
    fields = None if spot is None else _fields(spot.cell)
    if fields is not None:
        state.close_upload()
        link.change(**fields)
        st.session_state[_JUMP] = True


def _fields(cell: Cell) -> dict[str, Any] | None:
    """The scenario's fields that show a cell; None where it has no such population."""
    fields: dict[str, Any] = {"dist": cell.dist, "k": cell.k, "epsilon": cell.epsilon, "n": cell.n}
    if cell.dist == "zipf":
        fields["s"] = cell.s
    if cell.uploaded:
        held = state.uploaded()
        if held is None or held.population.key != cell.dist:
            return None
        fields["dist"] = UPLOAD
    return None if cell.dist == POINT else fields


def _try(drawn: WinnerMap, taken: tuple[FixedAxis, ...]) -> str:
    if drawn.metric == "nll":
        return _FITS
    if any(one.axis == "population" and len(one.options) > 1 for one in taken):
        return _SWITCHES
    return _FOLLOWS if any(spot.regret >= 2 for spot in drawn.run) else ""


def _of_a_click(drawn: WinnerMap) -> str:
    cell = drawn.spots[0].cell
    if _fields(cell) is not None:
        return "**Click a cell** (on a touch screen tap it twice) to open it on the page **Estimators**."
    if cell.dist == POINT:
        return "These cells cannot be opened on another page: the sidebar has no such population."
    return (
        "These cells cannot be opened on another page: the histogram they are about is not the one uploaded in this "
        "session."
    )


def _of_the_mark(drawn: WinnerMap, here: tuple[float, float] | None, scenario: Scenario) -> str:
    """What of the scenario is not the map's, where its place is marked."""
    if here is None or drawn.place(*here) is None:
        return ""
    mine, cell = _own(scenario), drawn.spots[0].cell
    words = {
        "population": population_name(mine),
        "k": f"K = {mine.k:,}",
        "epsilon": f"ε = {mine.epsilon:g}",
        "n": f"N = {mine.n:,}",
    }
    other = [words[axis] for axis in drawn.kind.fixed if axis_value(cell, axis) != axis_value(mine, axis)]
    if not other:
        return ""
    return (
        f"The white circle is the sidebar's scenario, which has {' and '.join(other)} and not what this map holds fixed: "
        "there another may win."
    )


def _own(scenario: Scenario) -> Cell:
    held = state.uploaded()
    dist = held.population.key if held is not None and scenario.dist == UPLOAD else scenario.dist
    return Cell(dist, scenario.k, scenario.epsilon, scenario.n, scenario.s)
