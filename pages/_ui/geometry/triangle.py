"""Three categories: the whole triangle, the reports that a person moves about in it, and the bias of the repairs at its
border.

The reports that a person picked are kept for the session and in the address (``phi``). They outlive changes of epsilon,
so that one sees the repairs move, and are dropped when anything else of the scenario changes. Nobody has picked anything
at first: then an example is shown where the scenario's own three shares would leave nothing to see.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, figure_controls, guidance, link, session_files, truth, widgets
from pages._ui.draw_results import DrawResults
from pages._ui.frame import Page
from pages._ui.link import Binding
from rr_core._validate import Array
from rr_core.figures.geometry_triangle import Layers, cloud_panels, triangle, way_along
from rr_core.figures.style import QUANTITIES
from rr_core.geometry import simplex
from rr_core.geometry.replicates import N_COLLECTIONS, TRUTH_PLACES, Cloud, TruthPlace, cloud_frame
from rr_core.plain_text import markdown, plain, starred
from rr_core.populations import UPLOAD
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number, percent
from rr_core.scenario import Draw
from rr_core.words.phrases import FOLDED, display, table

_PARAMETER = "phi"
_CIRCLES, _CURVES = "Circles of distance", "Curves of likelihood"
_CLOSE = "Close up"
_EXAMPLE = "Example with one negative share"
_NEAR = 0.15  # distance from InvP to InvN below which their markers overlap on a phone
_PARTED = 0.03  # part of the width of a picture that parts two markers
_ZEROS = ("inv_n", "mle_star", "inv_p")
_LONGEST_NAME = 14  # of a category's name, in the figure and on a slider
_ROWS = ("observed", "inv", "inv_n", "mle_star", "inv_p", "truth")


@dataclass(frozen=True)
class PickedReports:
    """Reports that a person picked in the triangle, in the scenario of this key; ``own`` is the key of the scenario
    whose own reports the user chose, even if all its points coincide."""

    reports: simplex.ThreeReports | None = None
    scenario: Hashable = None
    error: str = ""
    own: Hashable = None


def _read(query: Mapping[str, str]) -> tuple[PickedReports, tuple[str, ...]]:
    picked = PickedReports(own=PICKED.current().own)
    if _PARAMETER in query:
        try:
            picked = replace(picked, reports=simplex.parse_reports(query[_PARAMETER]), scenario=_scenario())
        except ValueError as error:
            picked = replace(picked, error=f"The link's φ was left out. {error}")
    return picked, ()


def _write(picked: PickedReports) -> dict[str, str | None]:
    reports = picked.reports if picked.scenario == _scenario() else None
    return {_PARAMETER: None if reports is None else ",".join(map(_format_number, reports))}


PICKED: Binding[PickedReports] = Binding("_picked_reports", PickedReports(), _read, _write)


def _scenario() -> Hashable:
    """Key of what the picked reports depend on: the scenario without epsilon, and the uploaded population."""
    scenario, upload = link.current(), session_files.uploaded()
    of_upload = upload.population.key if upload is not None and scenario.dist == UPLOAD else None
    return replace(scenario, epsilon=1.0), of_upload


def _pick(reports: simplex.ThreeReports) -> None:
    PICKED.change(replace(PICKED.current(), reports=reports, scenario=_scenario(), error=""))


def _pick_text(text: str) -> None:
    """Pick the reports that were typed; if the text is invalid, store the error and keep the picked reports."""
    try:
        _pick(simplex.parse_reports(text))
    except ValueError as error:
        PICKED.change(replace(PICKED.current(), error=str(error)))


def _use_own_reports() -> None:
    PICKED.change(PickedReports(own=_scenario()))


def _format_number(value: float) -> str:
    """A number as it may be typed."""
    return f"{value:.12g}"


def section(page: Page, part: str) -> tuple[go.Figure, simplex.ThreeEstimates, Array | None]:
    """The lead figure with the widgets that move the reports, while this part of the page is open: the figure, for the
    download row, and the points in it with the truth, where that is drawn, for `why_section`."""
    draw, three = page.results.draw, page.results.geometry.three
    picked = PICKED.current()
    if picked.reports is not None and picked.scenario != _scenario():
        picked = PickedReports(own=picked.own)
        PICKED.change(picked)
    reports = picked.reports
    example = reports is None and _needs_an_example(draw, three)
    if example:
        reports = simplex.example_with_a_negative(three.mechanism)
    result = simplex.estimate_three(three.counts if reports is None else reports, three.mechanism)
    names = simplex.category_names(three)
    view, layers = _pick_view(result)
    left, right = st.columns([5, 2], gap="medium")
    with left:
        place, why = chart.place_of_lead(), st.container()
    # Reports that a person moved, or an example, come from no truth.
    theta = truth.unless_hidden(three.theta) if reports is None else None
    shown = [display(name, _LONGEST_NAME) for name in names]
    # Why, is said beside the figure, but not while it is presented.
    why_one = ", for the scenario's own three shares need no repair." if link.presenting() else "."
    figure = triangle(result, theta, shown, view, layers, example=f"An example{why_one}" if example else "")
    unused = _unused(part) if example else None
    page.lead(figure, "geometry", lambda x, y: _pick(simplex.percents_at(x, y)), place, unused)
    why.markdown(_explanation(result))
    with right:
        alignment = result.collinearity
        at = way_along(alignment.position) if alignment.length else "all one point"
        st.metric("MLE\\* on the way InvP → InvN", at)
        _move_reports(three, result, reports, [plain(name, _LONGEST_NAME) for name in names], example=example)
    return figure, result, theta


def _unused(part: str) -> dict[str, str]:
    """What hardly changes anything on screen while the triangle shows an example."""
    if link.presenting() or part == "why" or (part == "bias" and truth.hidden()):
        fields: tuple[str, ...] = ("s", "seed")
    else:
        fields = ("s",) if part == "bias" and st.session_state.get(_CLOUDS) != "own" else ()
    return dict.fromkeys(fields, "The triangle shows an example.")


def why_section(result: simplex.ThreeEstimates, theta: Array | None, three: Draw) -> None:
    """Why MLE* lies between the others, in curves; folded, the drawn points as a table of shares."""
    st.markdown(f"**{_CIRCLES}** first touch the triangle at InvP, **{_CURVES}** at MLE\\*.")
    with st.expander("The shares of these points"):
        st.markdown(_shares(result, theta, three))


def _needs_an_example(draw: Draw, three: Draw) -> bool:
    """Whether the scenario's own three shares, unless they were asked for, would make the repairs one point."""
    own = draw.scenario.k == 3 or PICKED.current().own == _scenario()
    return not own and not simplex.estimate_three(three.counts, three.mechanism).collinearity.cut_off


def _pick_view(result: simplex.ThreeEstimates) -> tuple[simplex.Frame, Layers]:
    """Widgets for what is drawn: the rectangle of the plane, and the layers in it."""
    with figure_controls.row():
        layers = figure_controls.widget(
            st.pills,
            "Show",
            (_CLOSE, _CIRCLES, _CURVES),
            selection_mode="multi",
            key="triangle_shown",
            persist_state="page",
        )
        zeros_of = figure_controls.widget(
            st.segmented_control,
            "Colour by zeros of",
            _ZEROS,
            required=False,  # no zeros are coloured at first
            format_func=lambda name: starred(QUANTITIES[name].name),
            key="triangle_zeros",
            persist_state="page",
        )
        guidance.words("Simplex, Inv, InvN, InvP, MLE\\*, Likelihood, Collinear, Support, Bias, Unbiased")
    view = simplex.close_view(result) if _CLOSE in layers else simplex.FRAME
    return view, Layers(
        simplex.distance_circles(result, view) if _CIRCLES in layers else None,
        simplex.likelihood_curves(result, view) if _CURVES in layers else None,
        simplex.zero_regions(zeros_of, result.mechanism) if zeros_of else (),
        zeros_of or "",
    )


def _move_reports(
    three: Draw,
    result: simplex.ThreeEstimates,
    reports: simplex.ThreeReports | None,
    names: Sequence[str],
    *,
    example: bool,
) -> None:
    """Draw the widgets that move the reports, as a click in the figure does: sliders, a text box, two buttons."""
    own = (
        "two categories, with an empty third," if link.current().k == 2 else "three most frequent categories"
    )
    about = st.container()  # there in either case, for what is open below it would close if its place changed
    if example:
        about.markdown(
            f"An **example**: the scenario's own {own} have no negative share. Fewer **Users N** may bring one."
        )
    negative = simplex.example_with_a_negative(result.mechanism)
    there = np.allclose(result.phi, np.array(negative) / sum(negative))
    st.button(
        _EXAMPLE,
        on_click=_pick,
        args=(negative,),
        disabled=there,
        help="The triangle shows it." if there else None,
        width="stretch",
    )
    error = PICKED.current().error
    with st.expander("Move the reports φ", expanded=bool(error)):
        st.caption("Or by a click or a tap in the picture.")
        _share_widgets(three, result, reports, names, error)


def _share_widgets(
    three: Draw,
    result: simplex.ThreeEstimates,
    reports: simplex.ThreeReports | None,
    names: Sequence[str],
    error: str,
) -> None:
    for i, name in enumerate(names):
        percents = simplex.slider_percent(float(result.phi[i]))
        st.slider(
            f"Share of reports: {markdown(name)}",
            0.0,
            100.0,
            step=0.1,
            format="%.1f%%",
            **widgets.widget_arguments(f"phi_{i}", percents, partial(_pick_share, result, i), anew=True),
        )
    exact: Sequence[float] = three.counts.tolist() if reports is None else reports
    text = ", ".join(map(_format_number, exact))
    st.text_input(
        "Exact: three counts or shares",
        max_chars=80,
        **widgets.widget_arguments("phi_text", text, _pick_text, keep_entry=bool(error), anew=True),
    )
    if error:
        st.error(markdown(error))
    st.button(
        "Use the scenario's reports",
        on_click=_use_own_reports,
        disabled=reports is None,
        width="stretch",
    )


def _pick_share(result: simplex.ThreeEstimates, category: int, percents: float) -> None:
    _pick(simplex.set_share(result.phi, category, percents))


def _shares(result: simplex.ThreeEstimates, theta: Array | None, three: Draw) -> str:
    values = {"observed": result.phi, **result.estimates}
    if theta is not None:
        values["truth"] = theta
    names = {row: "Observed φ" if row == "observed" else starred(QUANTITIES[row].name) for row in _ROWS}
    rows = [
        (f"**{names[row]}**", *(percent(share, 4) for share in values[row])) for row in _ROWS if row in values
    ]
    heads = (markdown(plain(name)) for name in simplex.category_names(three))
    return table(("Share", *heads), "lrrr", rows)


def _explanation(result: simplex.ThreeEstimates) -> str:
    if not result.collinearity.cut_off:
        return (
            f"Here **Inv** has no negative share, so there is nothing to repair. **Try:** press **{_EXAMPLE}**, or click "
            "on an edge of the triangle, where one category has no reports."
        )
    if not result.collinearity.length:
        return (
            "Here the three repairs are **one point**: what is left has equal shares or is a single category. **Try:** "
            f"press **{_EXAMPLE}**."
        )
    if not result.collinearity.position:
        return (
            "Here MLE\\* keeps a single category, as InvP does: the two are **one point**. **Try:** press "
            f"**{_EXAMPLE}**."
        )
    line, length = _worked_line(result), result.collinearity.length
    if length >= _NEAR:
        return line
    left, right = simplex.close_view(result).x
    parts = f": **{_CLOSE}** parts them" if length > _PARTED * (right - left) else ""
    return f"{line} They nearly cover each other{parts}."


def _worked_line(result: simplex.ThreeEstimates) -> str:
    """What each repair does to the two bars of Inv that InvN and MLE* keep, in numbers, and why that makes a line."""
    repaired, both = result.estimates, result.estimates["mle_star"] > 0
    inv, mechanism = repaired["inv"], result.mechanism
    total, taken = float(inv[both].sum()), float((inv - repaired["inv_p"])[repaired["inv_p"] > 0].max())
    # MLE* on what stays, c/S + (2c - S)/(S (e^epsilon - 1)), written with Inv: divide it, then lower it.
    parts = math.expm1(mechanism.epsilon)
    divisor = (parts * total + 2) / (parts + 2)
    lowered = (total / divisor - 1) / 2
    digits = max(3, len(f"{parts:.0f}"))  # so that the two numbers of reports differ
    bars = " + ".join(percent(share) for share in sorted(inv[both].tolist(), reverse=True))
    alone = (repaired["inv_p"] > 0).sum() == 1
    return (
        f"Two bars of Inv stay: {bars} ≈ {percent(total, 4)}. **InvN** divides by that; **InvP** takes "
        f"{_points(taken)} from {'one and drops the other' if alone else 'both'}; **MLE\\*** divides by "
        f"{percent(divisor, 4)}, then takes {_points(lowered)}. "
        + (
            "All three lie on the edge where the third share is zero. "
            if alone
            else "Each divides, then lowers both alike to 100%: so they lie on **one line**. "
        )
        + f"**Why {percent(divisor, 4)}?** It is between {percent(total, 4)} and InvP's 100%: of "
        f"{number(parts + 2, digits)} reports about the two, {number(parts, digits)} (eᵋ − 1) tell the truth, and are "
        "divided; 2 are by chance, and are not."
    )


def _points(share: float) -> str:
    return f"{number(100 * share)} points"


_PLACE_LABELS: dict[TruthPlace, str] = {
    "own": "The three above",
    "edge": "Half and half, as near as N allows",
    "corner": "Everybody alike: a corner",
}
_LONGEST_AXIS_NAME = 16
_CLOUDS = "clouds_where"  # key of a widget


def bias_section(results: DrawResults) -> None:
    """Widget for the truth, the clouds of many collections under it, and the length of each bias."""
    st.subheader("What does a repair cost? Bias at the border")
    if truth.hidden():
        st.markdown(truth.note("how far from it the mean of many collections lies"))
        return
    where = widgets.pick_one(
        "The truth of the three categories",
        {place: _PLACE_LABELS[place] for place in TRUTH_PLACES},
        default="edge",
        key=_CLOUDS,
        persist_state="page",
    )
    clouds = results.geometry.clouds(where)
    names = [display(name, _LONGEST_AXIS_NAME) for name in simplex.category_names(results.geometry.three)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart.show(cloud_panels(clouds, names, cloud_frame(clouds)), "clouds")
    with right:
        st.markdown(_bias_table(clouds))


def _bias_table(clouds: Mapping[str, Cloud]) -> str:
    rows = []
    for name in ESTIMATORS:
        cloud = clouds[name]
        cells = [number(value) for value in (cloud.bias, cloud.standard_error, cloud.spread)]
        rows.append((f"**{starred(QUANTITIES[name].name)}**", *cells))
    return table(("", "length of the bias", "chance alone", "spread"), "lrrr", rows) + (
        f"\n\nThe same users report {N_COLLECTIONS} times; each dot is one collection. The grey dash is the truth, the "
        "large marker the mean of the cloud, and the line between them the **bias**, up to chance: the error that no "
        f"repetition averages out.\n\n{FOLDED['bias']}"
    )
