"""A sweep as curves, with what to draw of it, and what the paper says beside what the run shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart
from pages._ui.experiments.claimed import marked
from pages._ui.experiments.kept import kept
from pages._ui.experiments.shown import Shown
from pages._ui.experiments.sweeps import HISTOGRAM
from pages._ui.safe_text import starred
from rr_core.experiments.claims import Claim, figure_claims
from rr_core.experiments.curves import (
    CurveAxis,
    CurveSelection,
    Measure,
    PopulationId,
    axis_values,
    default_selection,
    measures,
    other_axis,
    populations_of,
    select_curves,
)
from rr_core.experiments.grid import Sweep
from rr_core.experiments.run import SweepResult
from rr_core.figures.experiments_curves import MOST_COLUMNS, MOST_ROWS, paper_figure
from rr_core.figures.experiments_names import METRIC_NAMES, SYMBOLS, population_name
from rr_core.figures.experiments_sentences import evidence, paper_says
from rr_core.scenario import Scenario

_CHOSEN, _PICKED = "_exp_curves", "_exp_curves_picked"
_ALONG: dict[CurveAxis, str] = {"epsilon": "Privacy ε", "n": "Users N"}
_MEASURES: dict[Measure, str] = {
    "category": "Per category",
    "sum": "Summed",
    "excess": "Above MLE*’s",
    "level": "NLL itself",
    "bias2": "Squared bias",
    "variance": "Variance",
    "zeros": "Set to zero",
    "negatives": "Negatives",
}
_ALL = "All"


def lead(shown: Shown, scenario: Scenario) -> go.Figure | None:
    """The pickers, the figure, and the paper's statements beside this run's; None before the first cell."""
    choice = _pickers(shown)
    st.session_state[_CHOSEN] = shown.key, choice
    if not shown.result.cells:
        st.caption("No cell of this sweep is computed yet: the curves appear as soon as the first ones are.")
        return None
    drawn = select_curves(shown.result, choice, shown.populations)
    here = scenario.epsilon if choice.along == "epsilon" else float(scenario.n)
    figure = paper_figure(drawn, here)
    chart.show(figure, "exp_curves")
    if len(drawn.rows) > MOST_ROWS or len(choice.fixed) > MOST_COLUMNS:
        st.caption(
            f"Only the first {MOST_ROWS} rows and {MOST_COLUMNS} columns are drawn: choose among populations, K and "
            f"{SYMBOLS[other_axis(choice.along)]} above."
        )
    if shown.preset is not None or shown.key == HISTOGRAM:
        _beside_the_paper(shown.result, choice)
    return figure


def chosen(shown: Shown) -> CurveSelection:
    """What is drawn of a sweep: as picked above its figure, or as it opens."""
    key, choice = st.session_state.get(_CHOSEN, ("", None))
    return (
        choice
        if choice is not None and key == shown.key
        else default_selection(shown.result.sweep, shown.preset)
    )


def _pickers(shown: Shown) -> CurveSelection:
    """The widgets where there is a choice, in one row; they belong to this sweep and its axes."""
    sweep = shown.result.sweep
    start = default_selection(sweep, shown.preset)
    ask = _Ask(shown.key)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        who = ask.some("Populations", populations_of(sweep), start.who, _namer(sweep))
        along = start.along
        if shown.preset is None and min(len(axis_values(sweep, axis)) for axis in _ALONG) > 1:
            along = ask.one("Along", tuple(_ALONG), along, _ALONG.__getitem__)
        ks = ask.one_or_all("K", axis_values(sweep, "k"), start.ks, "{:,}".format)
        third = other_axis(along)
        fixed = axis_values(sweep, third)
        opening = start.fixed if along == start.along else fixed[len(fixed) // 2 :][:1]
        form = "{:g}".format if third == "epsilon" else "{:,}".format
        wider = "One value gives wider panels: a phone needs them."
        fixed = ask.one_or_all(SYMBOLS[third], fixed, opening, form, wider)
        metric = start.metric
        if shown.preset is None:
            metric = ask.one("Error", sweep.settings.metrics, metric, lambda name: METRIC_NAMES[name].button)
        how = measures(sweep.settings, metric)
        measure = ask.one("Shown", how, how[0], _MEASURES.__getitem__)
    return CurveSelection(along, metric, measure, who, tuple(int(k) for k in ks), fixed)


class _Ask:
    """Widgets of one sweep, which keep what was picked while they are not drawn. One without a choice is never drawn."""

    def __init__(self, name: str) -> None:
        self._name = name

    def one(
        self,
        label: str,
        options: Sequence[Any],
        default: Any,
        words: Callable[[Any], str],
        help: str | None = None,
    ) -> Any:
        if len(options) < 2:
            return default
        key = self._key(label, options, default)
        picked = st.segmented_control(label, options, format_func=words, key=key, help=help)
        return self._kept(key, default if picked is None else picked)

    def some(
        self,
        label: str,
        options: Sequence[PopulationId],
        default: Sequence[PopulationId],
        words: Callable[[Any], str],
    ) -> tuple[PopulationId, ...]:
        if len(options) < 2:
            return tuple(options)
        key = self._key(label, options, list(default))
        picked = st.pills(label, options, selection_mode="multi", format_func=words, key=key)
        return tuple(self._kept(key, [one for one in options if one in picked] or list(default)))

    def one_or_all(
        self,
        label: str,
        options: Sequence[Any],
        default: Sequence[Any],
        words: Callable[[Any], str],
        help: str | None = None,
    ) -> tuple[Any, ...]:
        """One value, or all of them where all can be drawn."""
        if len(options) < 2:
            return tuple(options)
        offered = [*([_ALL] if len(options) <= max(MOST_ROWS, MOST_COLUMNS) else []), *options]
        start = _ALL if len(default) > 1 and _ALL in offered else default[0]
        picked = self.one(label, offered, start, lambda one: _ALL if one == _ALL else words(one), help)
        return tuple(options) if picked == _ALL else (picked,)

    def _key(self, label: str, options: Sequence[Any], default: Any) -> str:
        key = f"exp_curves_{label.replace('ε', 'eps').lower()}_{self._name}"
        if key not in st.session_state:
            st.session_state[key] = st.session_state.get(_PICKED, {}).get(key, default)
        if not set(_listed(st.session_state[key])) <= set(options):
            st.session_state[key] = default
        return key

    def _kept(self, key: str, picked: Any) -> Any:
        st.session_state.setdefault(_PICKED, {})[key] = picked
        return picked


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _namer(sweep: Sweep) -> Callable[[PopulationId], str]:
    """Names of populations, short enough for a button."""
    cells = {(cell.dist, cell.s): cell for cell in sweep.cells}

    def name(who: PopulationId) -> str:
        return population_name(cells[who]).partition(" (")[0]

    return name


def _beside_the_paper(result: SweepResult, choice: CurveSelection) -> None:
    about = choice.who, choice.metric
    rows = kept(result, ("findings", *about), lambda: _findings(result, *about))
    if not rows:
        return
    table = ["| The paper | This run |", "|:--|:--|"]
    table += [f"| {paper_says(row)} | **{marked(row.verdict)}.** {evidence(row)} |" for row in rows]
    st.markdown(starred("\n".join(table)))


def _findings(result: SweepResult, who: tuple[PopulationId, ...], metric: str) -> tuple[Claim, ...]:
    """About the populations on screen, at every K and ε."""
    cells = tuple(cell for cell in result.cells if (cell.cell.dist, cell.cell.s) in who)
    return figure_claims(SweepResult(result.sweep, cells), metric)
