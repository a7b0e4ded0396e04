"""The scenario's widgets. Each shows the session's scenario and changes it in its callback."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import segno
import streamlit as st

from pages._ui import link, session_files, truth, widgets
from rr_core import limits
from rr_core.populations import DISTRIBUTIONS, UPLOAD
from rr_core.rounding import number, percent
from rr_core.scenario import FIRST, PRESETS, Scenario
from server import sessions

_POPOVER_PART = 260  # pixels
_MASK = 3  # of a QR code
_LONGEST_IN_QR = 1200  # characters: denser codes are hard to read from a projector
_OTHER_K = "With another K the plan is for a Zipf distribution."
_PRESETS = {preset.name: preset for preset in PRESETS}


def grey(unused: Mapping[str, str]) -> dict[str, str]:
    """Why controls that do nothing are grey, by field: what the page says, and what the distribution fixes."""
    scenario, fixed = link.current(), {}
    if scenario.of_data and link.page() != "plan":  # of a survey that may have other answers than the data
        whose = "Your data" if scenario.dist == UPLOAD else "These data"
        fixed["k"] = f"{whose} have {scenario.k:,} categories; choose Zipf to set K."
    if scenario.dist != "zipf":
        fixed["s"] = "For Zipf: how unequal."
    return {**unused, **fixed}


def draw_population(grey: Mapping[str, str]) -> None:
    """Draw the widgets for the distribution and its number of categories; ``grey`` as in `dials`."""
    scenario = link.current()
    left, right = st.columns([2, 1], gap="xsmall")
    dist = UPLOAD if session_files.upload_open() else scenario.dist
    with left:
        widgets.pick_from_list(
            "Distribution", DISTRIBUTIONS, **_widget_arguments("dist", dist, _put_distribution)
        )
    right.number_input(
        "Categories K",
        limits.K_MIN,
        limits.K_MAX,
        scenario.k,
        disabled="k" in grey,
        **_widget_arguments("k", scenario.k, _put_k),
    )
    if about_k := grey.get("k") or (_OTHER_K if scenario.of_data else ""):
        st.caption(about_k)


def draw_buttons(grey: Mapping[str, str]) -> None:
    """Draw the buttons for another draw, for the rest of the widgets, and for hiding the truth; as `dials`."""
    with st.container(key="buttons", horizontal=True, gap="xsmall"):
        draw_new_draw(grey)
        with st.popover("More", width="stretch"), st.container(horizontal=True, gap="large"):
            with st.container(width=_POPOVER_PART):
                _more(link.current(), grey)
            with st.container(width=_POPOVER_PART):
                draw_share()
        truth.draw_button()


def draw_new_draw(grey: Mapping[str, str]) -> None:
    """Draw the button for another draw; ``grey`` as in `dials`."""
    st.button(
        "New draw", on_click=link.new_draw, width="stretch", disabled="seed" in grey, help=grey.get("seed")
    )


def _more(scenario: Scenario, grey: Mapping[str, str]) -> None:
    preset = next((name for name, p in _PRESETS.items() if p.scenario == scenario), None)
    st.selectbox(
        "Preset",
        list(_PRESETS),
        index=None,
        placeholder="Your own settings",
        help="Scenarios worth starting from: " + "; ".join(f"{p.name}: {p.why}" for p in PRESETS) + ".",
        **_widget_arguments("preset", preset, lambda name: _put(_PRESETS[name].scenario)),
    )
    st.number_input(
        "Seed",
        limits.SEED_MIN,
        limits.SEED_MAX,
        scenario.seed,
        help=grey.get(
            "seed", "Which random draw of users and noise. The same seed gives the same numbers everywhere."
        ),
        disabled="seed" in grey,
        **_widget_arguments("seed", scenario.seed),
    )
    if "seed" in grey:
        st.caption(grey["seed"])
    mechanism = scenario.mechanism
    whose = "k-RR: " if link.page() == "protocols" else ""  # where other chances have these names, too
    st.caption(
        f"{whose}p = {percent(mechanism.p)} · q = {percent(mechanism.q)} · eᵋ = {number(math.exp(scenario.epsilon), 4)}"
    )
    st.button("Reset", on_click=_put, args=(FIRST,), width="stretch", help="Back to the first scenario.")


def draw_share() -> None:
    """Draw the link to what is on screen, to be copied or photographed."""
    address = link.address()
    if address is None:
        return
    st.markdown("**Share this page**")
    if len(address) <= _LONGEST_IN_QR:
        code = sessions.SHARED.get(("qr", address), lambda: qr_code(address))
        st.image(code, width="stretch", alt="QR code of this link")
    st.code(address, language=None, wrap_lines=True)


def qr_code(address: str) -> str:
    """The address as a QR code: an SVG, black on white on dark pages too, or cameras would not read it. All have one
    mask: choosing the best of eight takes three times as long as all the rest."""
    svg = io.BytesIO()
    segno.make(address, error="m", micro=False, mask=_MASK).save(
        svg, "svg", scale=4, border=3, dark="#000", light="#fff"
    )
    return svg.getvalue().decode()


def _widget_arguments(field: str, value: object, put: Callable[[Any], None] | None = None) -> dict[str, Any]:
    """As `widgets.widget_arguments`, of a field of the scenario; ``put`` replaces the default callback."""
    # A widget is another one on every page, even under the same key, and would start at its minimum there.
    key = f"scenario_{field}_{link.page()}"
    take = put or (lambda chosen: link.change(**{field: chosen}))
    return widgets.widget_arguments(key, value, take, anew=True)


def _put(scenario: Scenario) -> None:
    session_files.close_upload()
    link.change(**asdict(scenario))


def _put_distribution(dist: str) -> None:
    held = session_files.uploaded()
    if dist != UPLOAD:
        session_files.close_upload()
        link.change(dist=dist)
    elif held is None:
        session_files.open_upload()
    else:
        link.change(dist=UPLOAD, k=held.population.k)


def _put_k(k: int) -> None:
    link.change(**({"dist": "zipf"} if link.current().of_data else {}), k=k)
