"""The scenario's widgets. Each shows the session's scenario and changes it in its callback."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from pages._ui import link, state
from rr_core import limits
from rr_core.figures.style import number, percent
from rr_core.populations import DISTRIBUTIONS, TABLES, UPLOAD
from rr_core.scenario import PRESETS, Scenario

_PRESETS = {preset.name: preset for preset in PRESETS}
# About twenty steps per factor of ten, to three digits: 0.01 ... 20.
_EPSILONS = [float(f"{10 ** (i / 20):.3g}") for i in range(-40, 27)] + [limits.EPSILON_APP_MAX]
_USERS = [10**i for i in range(1, 10)]


def draw() -> None:
    """Draw the scenario's widgets where it is called (the sidebar)."""
    scenario = link.current()
    preset = next((name for name, p in _PRESETS.items() if p.scenario == scenario), None)
    st.selectbox(
        "Preset",
        list(_PRESETS),
        index=None,
        placeholder="Your own settings",
        help="Scenarios worth starting from: " + "; ".join(f"{p.name}: {p.why}" for p in PRESETS) + ".",
        **_widget_arguments("preset", preset, _put_preset),
    )
    with st.container(horizontal=True):
        st.button("New draw", on_click=_new_draw, width="stretch")
        st.button("Reset", on_click=_reset, width="stretch")
    dist = UPLOAD if state.upload_open() else scenario.dist
    st.selectbox(
        "Distribution",
        list(DISTRIBUTIONS),
        format_func=DISTRIBUTIONS.__getitem__,
        help="How the users' true answers are spread over the categories.",
        **_widget_arguments("dist", dist, _put_distribution),
    )
    _categories(scenario)
    _privacy(scenario)
    _users(scenario)
    st.number_input(
        "Seed",
        limits.SEED_MIN,
        limits.SEED_MAX,
        help="Which random draw of users and noise. The same seed gives the same numbers everywhere.",
        **_widget_arguments("seed", scenario.seed),
    )


def _categories(scenario: Scenario) -> None:
    fixed = scenario.dist in TABLES or scenario.dist == UPLOAD
    st.number_input(
        "Categories K",
        limits.K_MIN,
        limits.K_MAX,
        disabled=fixed,
        help="Fixed by the table." if fixed else "How many answers there are to choose from.",
        **_widget_arguments("k", scenario.k),
    )
    if scenario.dist == "zipf":
        st.slider(
            "Zipf exponent s",
            limits.S_MIN,
            limits.S_MAX,
            step=0.01,
            format="%.2f" if scenario.s == round(scenario.s, 2) else "%.6g",
            help="Share of rank r is proportional to 1/rˢ: 0 is uniform, larger is more concentrated.",
            **_widget_arguments("s", scenario.s),
        )


def _privacy(scenario: Scenario) -> None:
    mechanism = scenario.mechanism
    st.select_slider(
        "Privacy ε",
        _stops("epsilon", _EPSILONS, scenario.epsilon),
        format_func="{:.6g}".format,
        help="Privacy budget. One report changes the odds between any two answers by at most eᵋ.",
        **_widget_arguments("epsilon", scenario.epsilon, slot="slider"),
    )
    st.caption(
        "← more private · more accurate →  \n"
        f"p = {percent(mechanism.p)} · q = {percent(mechanism.q)} · eᵋ = {number(math.exp(scenario.epsilon), 4)}"
    )
    st.number_input(
        "Exact ε",
        limits.EPSILON_APP_MIN,
        limits.EPSILON_APP_MAX,
        step=0.1,
        format="%.6g",
        **_widget_arguments("epsilon", scenario.epsilon, slot="box"),
    )


def _users(scenario: Scenario) -> None:
    st.select_slider(
        "Users N",
        _stops("n", _USERS, scenario.n),
        format_func=_power,
        help="How many people report, one report each.",
        **_widget_arguments("n", scenario.n, slot="slider"),
    )
    st.number_input("Exact N", limits.N_MIN, limits.N_MAX, **_widget_arguments("n", scenario.n, slot="box"))


def _widget_arguments(
    field: str, value: object, put: Callable[[Any], None] | None = None, slot: str = ""
) -> dict[str, Any]:
    """Arguments of a widget bound to a field of the scenario, see `state.widget_arguments`; ``put`` replaces
    the default callback."""
    # A widget is another one on every page, even under the same key, and would start at its minimum there.
    key = f"scenario_{field}_{slot}_{link.page()}"
    return state.widget_arguments(key, value, put or (lambda chosen: link.change(**{field: chosen})))


def _put_preset(name: str) -> None:
    state.close_upload()
    link.change(**asdict(_PRESETS[name].scenario))


def _put_distribution(dist: str) -> None:
    held = state.uploaded()
    if dist != UPLOAD:
        state.close_upload()
        link.change(dist=dist)
    elif held is None:
        state.open_upload()
    else:
        link.change(dist=UPLOAD, k=held.population.k)


def _new_draw() -> None:
    link.change(seed=(link.current().seed + 1) % (limits.SEED_MAX + 1))


def _reset() -> None:
    state.close_upload()
    link.change(**asdict(Scenario()))


def _stops(field: str, grid: Sequence[float], value: float) -> list[Any]:
    """The stops of a slider: its grid, and the last value from a link or a box that is not on it, which it shows too.

    That one stays when the slider moves on, so that its stops do not shift under the hand.
    """
    key = f"_stop_{field}"
    if value not in grid:
        st.session_state[key] = value
    return sorted({*grid, st.session_state.get(key, value)})


def _power(n: int) -> str:
    """10⁶ for a power of ten from ten on, any other number in full."""
    zeros = str(n)[1:]
    if not zeros or zeros.strip("0") or str(n)[0] != "1":
        return f"{n:,}"
    return "10" + str(len(zeros)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
