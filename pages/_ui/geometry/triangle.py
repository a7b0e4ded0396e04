"""Three categories: the whole simplex, and the reports that a person moves about in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages._ui.frame import Page
from pages._ui.geometry import picked
from pages._ui.safe_text import markdown
from rr_core.figures.labels import display, plain
from rr_core.figures.style import QUANTITIES, percent
from rr_core.figures.triangle import Layers, triangle
from rr_core.geometry.contours import distance_circles, likelihood_curves
from rr_core.geometry.simplex import Frame, frame, percents_at, regions, to_plane
from rr_core.geometry.three import (
    Reports,
    Trio,
    category_names,
    move_share,
    slider_value,
    trio,
    with_a_negative,
)
from rr_core.scenario import Draw

_CIRCLES, _CURVES = "Circles of distance", "Curves of likelihood"
_ZEROS = ("inv_n", "mle_star", "inv_p")
_LONGEST = 14  # of a category's name, in the figure and on a slider
_ROWS = ("observed", "inv", "inv_n", "mle_star", "inv_p", "truth")


def section(page: Page) -> Any:
    """The lead figure with the widgets that move the reports, and the numbers; gives the figure."""
    draw, three = page.work.draw, page.work.geometry.three
    reports = picked.current(draw)
    example = reports is None and _needs_an_example(draw, three)
    if example:
        reports = with_a_negative(three.mechanism)
    found = trio(three.counts if reports is None else reports, three.mechanism)
    names = category_names(three)
    drawn = frame(to_plane(found.estimates["inv"]))
    layers = _pick_layers(found, drawn)
    figure = triangle(found, three.theta, [display(name, _LONGEST) for name in names], drawn, layers)
    left, right = st.columns([5, 2], gap="medium")
    with left:
        page.lead(figure, "geometry", partial(_clicked, draw))
    with right:
        _numbers(found)
        _move(draw, three, found, reports, [plain(name, _LONGEST) for name in names], example=example)
    _table(found, three, names)
    return figure


def _needs_an_example(draw: Draw, three: Draw) -> bool:
    """Whether the page would open on three shares that are one point: those of a scenario with three categories
    are its own and shown whatever they are."""
    own = draw.scenario.k == 3 or picked.wants_own(draw)
    return not own and not trio(three.counts, three.mechanism).place.cut_off


def _pick_layers(found: Trio, drawn: Frame) -> Layers:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        shown = st.pills(
            "Show",
            (_CIRCLES, _CURVES),
            selection_mode="multi",
            default=(_CIRCLES, _CURVES),
            key="triangle_shown",
        )
        zeros_of = st.segmented_control(
            "Colour the reports by how many zeros they get from",
            _ZEROS,
            format_func=lambda name: QUANTITIES[name].name.replace("*", "\\*"),
            key="triangle_zeros",
        )
    return Layers(
        distance_circles(found, drawn) if _CIRCLES in shown else None,
        likelihood_curves(found, drawn) if _CURVES in shown else None,
        regions(zeros_of, found.mechanism) if zeros_of else (),
        zeros_of or "",
    )


def _numbers(found: Trio) -> None:
    place = found.place
    at = percent(place.position) if place.length else "all one point"
    st.metric("Position of MLE\\*", at, help="On the way from InvP (0%) to InvN (100%).")


def _move(
    draw: Draw,
    three: Draw,
    found: Trio,
    reports: Reports | None,
    names: Sequence[str],
    *,
    example: bool,
) -> None:
    """Four ways to move the reports beside the click: sliders, a box, and two buttons."""
    own = "two categories, with an empty third," if draw.scenario.k == 2 else "three most frequent categories"
    what = (
        f"These reports are an **example** with one negative share: the scenario's {own} have none.\n\n"
        if example
        else ""
    )
    st.markdown(f"{what}**Move the reports φ:** click in the triangle (on a touch screen, tap twice), or")
    for i, name in enumerate(names):
        shown = slider_value(float(found.phi[i]))
        put = partial(_slid, draw, found, i)
        st.slider(
            f"Share of reports: {markdown(name)}",
            0.0,
            100.0,
            step=0.1,
            format="%.1f%%",
            **_shows(f"phi_{i}", shown, put),
        )
    exact: Sequence[float] = three.counts.tolist() if reports is None else reports
    text = ", ".join(map(picked.as_text, exact))
    complaint = picked.complaint()
    st.text_input(
        "Exact: three counts or shares",
        max_chars=80,
        **_shows("phi_text", text, partial(picked.put_text, draw), leave=bool(complaint)),
    )
    if complaint:
        st.error(complaint)
    negative = with_a_negative(found.mechanism)
    st.button("Make one share negative", on_click=picked.put, args=(draw, negative), width="stretch")
    st.button(
        "Use the scenario's reports",
        on_click=picked.use_own,
        args=(draw,),
        disabled=reports is None,
        width="stretch",
    )


def _shows(key: str, value: Any, put: Callable[[Any], None], *, leave: bool = False) -> dict[str, Any]:
    """Arguments that make a widget show ``value`` and tell ``put`` what a person enters; ``leave`` what is there
    already, so that it can be corrected."""
    if st.session_state.get(key) != value and not (leave and key in st.session_state):
        st.session_state[key] = value

    def take() -> None:
        put(st.session_state.get(key, value))

    return {"key": key, "on_change": take}


def _clicked(draw: Draw, x: float, y: float) -> None:
    picked.put(draw, percents_at(x, y))


def _slid(draw: Draw, found: Trio, category: int, percents: float) -> None:
    picked.put(draw, move_share(found.phi, category, percents))


def _table(found: Trio, three: Draw, names: Sequence[str]) -> None:
    """What is drawn, as numbers, and why MLE* is in the middle."""
    values = {"observed": found.phi, "truth": three.theta, **found.estimates}
    heads = " | ".join(markdown(plain(name)) for name in names)
    lines = [f"| Share | {heads} |", "|:--|--:|--:|--:|"]
    for row in _ROWS:
        name = "Observed φ" if row == "observed" else QUANTITIES[row].name.replace("*", "\\*")
        lines.append(f"| **{name}** | " + " | ".join(percent(share, 4) for share in values[row]) + " |")
    table = "\n".join(lines)
    st.markdown(f"{table}\n\n{_why(found)}")


def _why(found: Trio) -> str:
    if not found.place.cut_off:
        return (
            "Here **Inv** has no negative share, so there is nothing to repair. **Try:** press **Make one share "
            "negative**, or click on an edge of the triangle, where one category has no reports."
        )
    if not found.place.length:
        return (
            "Here every category that is left has the same share, so that the three repairs are **one point**. **Try:** "
            "press **Make one share negative**."
        )
    if not found.place.position:
        return (
            "Here MLE\\* keeps a single category, as InvP does: the two are **one point**. **Try:** press **Make one "
            "share negative**."
        )
    return (
        "**Why in the middle?** To get rid of the negatives, InvP **subtracts the same amount** from every category "
        "that is kept (the shortest way back into the triangle), and InvN **divides all of them by the same number**. "
        "MLE\\* does some of both, and so it lands between the two. With three categories all are on one edge of the "
        "triangle, hence on one line; with more categories that takes a theorem (below)."
    )
