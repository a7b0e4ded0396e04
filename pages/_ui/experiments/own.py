"""A sweep of one's own: its widgets, and its place in the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from pages._ui import link, messages
from pages._ui.experiments import pool
from pages._ui.experiments.asked import DRAW, NAMES, PARAMETERS, SEEDS, USERS, OwnSweep
from pages._ui.experiments.values import HOW, MOST_LETTERS, Refused
from pages._ui.safe_text import markdown
from rr_core.comparison import ESTIMATORS, METRICS
from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.run import expected_seconds
from rr_core.figures.experiments_names import METRIC_NAMES, population_name
from rr_core.figures.style import QUANTITIES, duration
from rr_core.populations import UPLOAD, Population
from rr_core.scenario import Scenario

_KEPT = "_exp_asked"
_NOTES = "_exp_asked_notes"
_MOST_NAMED = 6


def form(scenario: Scenario, uploaded: Population | None, workers: int | None = None) -> OwnSweep:
    """Draw the widgets, and below them what they add up to, or why it cannot be run; call it once per run.

    Args:
        scenario: the sidebar's.
        uploaded: the person's own histogram, if there is one.
        workers: processes that will share the work; as many as a sweep gets here when None.

    Returns:
        The question; its ``sweep`` raises what is already said here.
    """
    asked = _current()
    _axes(asked, scenario, uploaded)
    _measured(asked)
    workers = pool.size() if workers is None else workers
    try:
        sweep = asked.sweep(scenario, uploaded, workers)
    except Refused as problem:
        st.error(markdown(str(problem)), icon=":material/edit:")
    else:
        st.caption(markdown(said(sweep, workers), 2000))
    return asked


@lru_cache(maxsize=4)
def said(sweep: Sweep, workers: int) -> str:
    """What a sweep is, in numbers."""
    axes = {
        "": [population_name(cell) for cell in sweep.cells],
        "K": [str(cell.k) for cell in sweep.cells],  # as they are typed: 1,000 would look like two of a list
        "ε": [f"{cell.epsilon:.6g}" for cell in sweep.cells],
        "N": [str(cell.n) for cell in sweep.cells],
    }
    parts = [_named(name, list(dict.fromkeys(values))) for name, values in axes.items()]
    many, seeds = len(sweep.cells), sweep.settings.seeds
    cells = "1 cell" if many == 1 else f"{many:,} cells"
    each = "1 collection each" if seeds == 1 else f"{seeds:,} collections each"
    where = "1 process" if workers == 1 else f"{workers} processes"
    time = duration(max(expected_seconds(sweep, workers), 1.0))
    more = " Give a field several values to see what they change." if many == 1 else ""
    return f"{cells}, {each}: {' · '.join(parts)}. About {time} on this server's {where}.{more}"


def _named(name: str, values: list[str]) -> str:
    if len(values) > _MOST_NAMED:
        values = [*values[:2], "…", values[-1]]
    return f"{name} = {', '.join(values)}" if name else ", ".join(values)


def _current() -> OwnSweep:
    """The question as the session holds it, taken from the address at a first look at it."""
    query = {name: st.query_params[name] for name in PARAMETERS.values() if name in st.query_params}
    if link.arrived():
        st.session_state[_NOTES] = ()
        if query or "sweep" in st.query_params:  # a link to an own sweep that is as usual has none
            st.session_state[_KEPT], st.session_state[_NOTES] = OwnSweep.from_query(query)
    asked: OwnSweep = st.session_state.get(_KEPT, OwnSweep())
    wanted = asked.to_query()
    for name in PARAMETERS.values():
        link.keep(name, wanted.get(name))
    messages.show(st.session_state.get(_NOTES, ()))
    return asked


def _axes(asked: OwnSweep, scenario: Scenario, uploaded: Population | None) -> None:
    """Four fields: what varies."""
    here = _sidebar(scenario, uploaded)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for field, label, shown, width, more in (
            (
                "populations",
                "Populations",
                here[0],
                250,
                f"Zipf exponents, as 0.01, 1.3, 2.5 or 0-5 +0.5, and any of the names {', '.join(NAMES)}. “point” is "
                f"everybody in one category; “{UPLOAD}” is your own file. ",
            ),
            ("ks", "Categories, values of K", here[1], 200, HOW + " "),
            ("epsilons", "Privacy, values of ε", here[2], 200, HOW + " "),
            ("ns", "Users, values of N", here[3], 200, HOW + " "),
        ):
            st.text_input(
                label,
                placeholder=f"{shown} (sidebar)",
                max_chars=MOST_LETTERS,
                width=width,
                help=f"{more}Empty: the sidebar's value. Every combination of the four lists is a cell.",
                **_shows(asked, field),
            )


def _measured(asked: OwnSweep) -> None:
    """How every cell is measured."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            "Collections per cell",
            int(SEEDS.low),
            int(SEEDS.high),
            width=130,
            help="In each the same people report again with new noise; their spread says how sure a mean is.",
            **_shows(asked, "seeds"),
        )
        st.number_input(
            "Seed of the sweep",
            int(DRAW.low),
            int(DRAW.high),
            width=130,
            help="Which random draw of users and noise. The same seed gives the same numbers, wherever it runs.",
            **_shows(asked, "draw"),
        )
        st.segmented_control(
            "Whose shares",
            list(USERS),
            format_func=USERS.__getitem__,
            help="The same people report every time and errors are against their own shares, as in the paper; or new "
            "people every time, and errors are against the population they come from.",
            **_shows(asked, "users"),
        )
        st.pills(
            "Estimates",
            list(ESTIMATORS),
            selection_mode="multi",
            format_func=lambda name: QUANTITIES[name].name,
            help="Who wins is asked of InvN, InvP and MLE*, the three that give shares; it needs all of them.",
            **_shows(asked, "estimators"),
        )
        st.pills(
            "Errors",
            list(METRICS),
            selection_mode="multi",
            format_func=lambda metric: METRIC_NAMES[metric].abbreviation,
            help="MSE: squared error summed over the categories. NLL: negative log-likelihood in nats per report.",
            **_shows(asked, "metrics"),
        )
        st.toggle(
            "Bias and variance",
            help="How much of the squared error is the same in every collection, and how much is luck.",
            **_shows(asked, "bias"),
        )


def _sidebar(scenario: Scenario, uploaded: Population | None) -> tuple[str, str, str, str]:
    """What empty fields stand for."""
    if scenario.dist == UPLOAD:
        name, k = "your own file", uploaded.k if uploaded else scenario.k
    else:
        cell = Cell(scenario.dist, scenario.k, scenario.epsilon, scenario.n, scenario.s)
        name, k = population_name(cell), scenario.k
    return name, f"{k:,}", f"{scenario.epsilon:g}", f"{scenario.n:,}"


def _shows(asked: OwnSweep, field: str) -> dict[str, Any]:
    """Arguments that make a widget show a field of the question and keep what a person makes of it."""
    key, value = f"exp_own_{field}", getattr(asked, field)
    several = isinstance(value, tuple)
    held = st.session_state.get(key)
    if held is None or (set(held) != set(value) if several else held != value):
        st.session_state[key] = list(value) if several else value  # the same again would make it bounce

    def take() -> None:
        chosen = st.session_state.get(key)
        if chosen is None:  # a choice that is taken back stays as it was
            return
        changes: dict[str, Any] = {field: _IN_ORDER[field](chosen) if several else chosen}
        st.session_state[_KEPT], st.session_state[_NOTES] = replace(asked, **changes), ()

    return {"key": key, "on_change": take}


_IN_ORDER: dict[str, Callable[[list[str]], tuple[str, ...]]] = {
    "estimators": lambda chosen: tuple(name for name in ESTIMATORS if name in chosen),
    "metrics": lambda chosen: tuple(name for name in METRICS if name in chosen),
}
