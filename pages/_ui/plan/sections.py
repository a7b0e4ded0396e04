"""The sections of the planning page, from the answer to its files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, downloads, link, long_run, session_files, widgets
from pages._ui.draw_results import DrawResults
from pages._ui.frame import Page
from pages._ui.link import binding_of_parameters
from pages._ui.plan.controls import plan_landscape, population_guess, target_frontier
from pages._ui.reports.designs import encoding_choice, entry
from rr_core._validate import Array
from rr_core.figures import plan_curves
from rr_core.figures.plan_map import plan_map
from rr_core.io.text import csv_bytes
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, K_MAX, K_MIN, N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import WHOSE
from rr_core.plain_text import markdown
from rr_core.plan import protocol_choice, shuffling
from rr_core.plan.landscape import METRICS, Along, Landscape, Plan, SimulatedCurve, inv_curve, simulate_curve
from rr_core.plan.one_share import ShareCurve, share_curve
from rr_core.plan.settings import GOALS, SHARE_PARAMETERS, ShareSettings
from rr_core.plan.shuffling import shuffled
from rr_core.plan.solve import Find
from rr_core.plan.targets import Target
from rr_core.populations import DISTRIBUTIONS, UPLOAD
from rr_core.reports.designs import DESIGNS, OF_ONE_SHARE, Missing, Parameter, Unclear
from rr_core.rounding import number, percent
from rr_core.words import plan as sentences
from rr_core.words.phrases import METRIC_NAMES, capital
from rr_core.words.plan import at_least, at_most, budget, number_of_users, promise_text

_CLICKED_DIGITS = 3
_SIMULATION = "plan_curves"
_ALONG: dict[Along, str] = {"epsilon": "Privacy ε", "n": "Users N"}
_SIMULATED_POINTS = 9
# Collections per point: some seconds at K = 10,000.
_CELLS, _FEWEST, _MOST = 1_000_000, 4, 400
_METRIC_OF_TARGET = {"rmse": "rmse", "max": "max"}
_PROTOCOL_POINTS = 41
_DELTAS = tuple(float(f"1e-{digits}") for digits in range(5, 16))
_SHUFFLING_POINTS = 81


_ASK: dict[Find, str] = {
    "n": "How many users does the same goal need then?",
    "eps": "Which ε is enough then?",
    "value": "How good does it get then?",
}
_OF_SURVEY = "The answer above is of a survey that asks one question; the sidebar and the map are of k-RR."


def answer(plan: Plan, *, of_survey: bool) -> bool:
    """Write the answer in bold, what the map shows, and what to try; in place of the plan's the answer of the survey
    that asks one question, where that part is open and has one. Returns whether it is that."""
    curve = _curve_if_stated() if of_survey else None
    if curve is not None:
        st.markdown(f"##### {plan_curves.enough(curve)}")
        st.markdown(
            "The map is of k-RR: each point is one survey with that much privacy ε, that many users N."
        )
        return True
    st.markdown(f"##### {sentences.answer(plan)}")
    if few := sentences.whose_shares(plan):
        st.markdown(few)
    st.markdown("Each point of the map is one survey: that much privacy ε, that many users N.")
    st.markdown("**Try:** ask for less, or choose another goal." if plan.problem else _task(plan))
    return False


def _task(plan: Plan) -> str:
    """What to try: no more and no fewer users, and no other ε, than the sidebar has."""
    if plan.settings.find == "n":
        ways = (
            ("double", 2 * plan.epsilon <= EPSILON_APP_MAX),
            ("halve", plan.epsilon / 2 >= EPSILON_APP_MIN),
        )
        change = f"{' or '.join(way for way, there in ways if there)} ε"
    else:
        ways = (
            ("ten times as many users", 10 * plan.n <= N_MAX),
            ("a tenth of the users", plan.n >= 10 * N_MIN),
        )
        change = f"take {' or '.join(way for way, there in ways if there)}"
    return f"**Try:** {change}. {_ASK[plan.settings.find]}"


def use(plan: Plan, *, of_survey: bool) -> None:
    """Draw the button that applies the plan's answer, where there is one; grey while the page has that of the survey."""
    if not plan.solved:
        return
    symbol, found = ("ε", {"epsilon": plan.epsilon}) if plan.settings.find == "eps" else ("N", {"n": plan.n})
    grey = f"The app goes up to {N_MAX:,} users." if found.get("n", 0) > N_MAX else None
    grey = _OF_SURVEY if of_survey else grey
    st.button(
        f"Use this {symbol}",
        on_click=link.change,
        kwargs=found,
        type="primary",
        width="stretch",
        disabled=grey is not None,
        help=grey,
    )


def plan_map_figure(page: Page, plan: Plan, place: Any, simulates: bool) -> go.Figure:
    """Draw the map over epsilon and N at its place, as the page's clickable lead figure; returns it. ``simulates``:
    whether the open part offers to simulate the scenario."""
    landscape = plan_landscape(page.results, plan)
    frontier = target_frontier(page.results, plan)
    here = page.results.draw.scenario.epsilon, page.results.draw.scenario.n
    found = (plan.epsilon, plan.n) if plan.solved else None
    figure = plan_map(landscape, plan.target or plan.settings.target, frontier, here, found)
    simulates = simulates and not link.presenting()  # which shows this figure alone
    unused = {} if simulates else {"seed": "The plan is computed, not drawn."}
    if not (simulates or plan.settings.needs_shares):
        unused["s"] = "This plan holds for all shares."
    page.lead(figure, "plan", _clicked, place, unused)
    return figure


def _clicked(epsilon: float, n: float) -> None:
    near = float(f"{epsilon:.{_CLICKED_DIGITS}g}")
    users = round(float(f"{n:.{_CLICKED_DIGITS}g}"))
    link.change(epsilon=min(max(near, EPSILON_APP_MIN), EPSILON_APP_MAX), n=min(max(users, N_MIN), N_MAX))


def price_of_privacy(plan: Plan) -> None:
    """A table of the users needed with less epsilon."""
    words = sentences.price_sentence(plan)
    st.markdown(words if plan.price is None else f"{words}\n\n{sentences.price_table(plan)}")


def simulated_errors(results: DrawResults, plan: Plan) -> None:
    """The valid estimators beside Inv: choose what varies, run it with progress and a stop, and show the curves."""
    st.subheader("And the valid estimators?")
    k = results.draw.scenario.k
    n = min(plan.n, N_MAX)
    times = replicates(k)
    place = f"ε = {budget(plan.epsilon)}, N = {number_of_users(n)}"
    around = f"the plan ({place})" if n == plan.n and not plan.problem else place
    around += "" if n == plan.n else ", the most users that the app has"
    st.markdown(
        "For the errors of **InvN**, **InvP** and **MLE\\*** there is no simple formula: they are "
        f"simulated with the sidebar's population, {times:,} collections at each of {_SIMULATED_POINTS} points around "
        f"{around}."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        along = widgets.pick_one(
            "Error against", _ALONG, default="epsilon", key="plan_along", persist_state="page"
        )
        points = simulated_points(along, plan.epsilon, n)
        fixed_value = n if along == "epsilon" else plan.epsilon
        users = plan.settings.users
        population = results.draw.population.key
        about = (population, results.draw.scenario.seed, along, tuple(points.tolist()), fixed_value, users)
        metrics = {metric: METRIC_NAMES[metric].button for metric in METRICS}
        metric = widgets.pick_one(
            "Error measure", metrics, default="rmse", key="plan_metric", persist_state="page"
        )
        started = long_run.start_button(_SIMULATION, "Simulate", about)
    total = times * points.size
    run = partial(
        simulate_curve,
        k,
        results.draw.population.probabilities,
        along,
        points if along == "epsilon" else points.astype(np.int64),
        fixed_value,
        times,
        users=users,
        seed=results.draw.scenario.seed,
    )
    curve: SimulatedCurve | None = long_run.outcome(
        started, _SIMULATION, about, total, "simulated collections", run, k=k, shared=results.is_shared
    )
    if curve is None or not curve.completed.any():
        st.caption("Press Simulate: it takes some seconds, can be stopped, and keeps what it has.")
        return
    if not curve.finished:
        long_run.stopped(int(curve.completed.sum()), total, "simulated collections")
    _show_errors(results, plan, curve, fixed_value, metric)


def simulated_points(along: Along, epsilon: float, n: int) -> Array:
    """The values of epsilon or N to simulate: the plan's own and others around it at equal ratios."""
    here, low, high = (
        (epsilon, 0.25 * epsilon, 4.0 * epsilon) if along == "epsilon" else (n, 0.01 * n, 100.0 * n)
    )
    least, most = (EPSILON_APP_MIN, EPSILON_APP_MAX) if along == "epsilon" else (N_MIN, N_MAX)
    low, high = max(low, least), min(high, most)
    points: Array = np.clip(np.geomspace(low, high, _SIMULATED_POINTS), low, high)
    points[np.argmin(np.abs(np.log(points / here)))] = here
    return points if along == "epsilon" else np.unique(np.rint(points))


def replicates(k: int) -> int:
    """Number of collections per point, which decreases with k."""
    return min(max(_CELLS // k, _FEWEST), _MOST)


def _show_errors(
    results: DrawResults, plan: Plan, curve: SimulatedCurve, fixed_value: float, metric: str
) -> None:
    settings, exact = plan.settings, None
    if metric == "rmse":
        guess = population_guess(results, replace(settings, guess="sidebar"))
        values = curve.points if curve.along == "epsilon" else curve.points.astype(np.int64)
        exact = inv_curve(
            results.draw.scenario.k, guess, curve.along, values, fixed_value, users=settings.users
        )
    here = plan.epsilon if curve.along == "epsilon" else float(min(plan.n, N_MAX))
    about_metric = settings.find != "value" and _METRIC_OF_TARGET.get(settings.kind) == metric
    wanted = settings.target.value if about_metric else None
    chart.show(plan_curves.error_curves(curve, metric, exact, here, wanted), "plan_curves")


def other_protocols(plan: Plan) -> None:
    """Which protocol has the smallest error, the table of all, and where the order changes."""
    st.subheader("Should it be RR at all?")
    table = sentences.protocol_table(sentences.compared_protocols(plan))
    st.markdown(f"{sentences.protocol_sentence(plan)}\n\n{table}")
    with st.expander("What is compared?"):
        st.markdown(sentences.protocol_notes(plan))
    left, right = st.columns(2, gap="medium")
    users = plan.settings.users
    with left:
        low, high = max(K_MIN, plan.k / 100), min(K_MAX, max(plan.k * 100, 1000))
        ks = np.unique(np.rint(np.geomspace(low, high, _PROTOCOL_POINTS))).astype(np.int64)
        curves = protocol_choice.against_k(ks, plan.k, plan.epsilon, plan.n, users=users)
        chart.show(plan_curves.rmse_against_k(curves, plan.epsilon), "plan_protocols_k")
    with right:
        budgets = np.geomspace(EPSILON_APP_MIN, EPSILON_APP_MAX, _PROTOCOL_POINTS)
        curves = protocol_choice.against_epsilon(budgets, plan.k, plan.epsilon, plan.n, users=users)
        chart.show(plan_curves.rmse_against_epsilon(curves, plan.k), "plan_protocols_epsilon")


def lower_bounds(plan: Plan) -> None:
    """The error of Inv, the lower bounds on it, and what they assume."""
    st.subheader("How far from the best possible?")
    curves = sentences.bound_curves(plan)
    st.markdown(sentences.bounds_sentence(curves))
    chart.show(plan_curves.error_and_bounds(curves), "plan_bounds")
    with st.expander("What the lines marked ≥ and ≈ assume"):
        st.markdown(sentences.bounds_table(curves))


def shuffled_reports(plan: Plan) -> float:
    """Widget for delta, and the central epsilon after shuffling; returns delta."""
    st.subheader("If the reports are shuffled")
    delta = st.select_slider(
        "δ",
        _DELTAS,
        value=1e-6,
        format_func=number,
        key="plan_delta",
        persist_state="page",
        width=260,
        help="Were one person's truth another, anything that may be seen would be at most eᵋ times as likely, plus δ. It "
        "should be far below 1/N.",
    )
    st.markdown(sentences.shuffling_sentence(plan, shuffling.shuffled(plan.epsilon, plan.n, delta)))
    ends = min(1e2, plan.n / 10), max(1e9, plan.n * 10.0)
    curve = shuffling.against_users(np.geomspace(*ends, _SHUFFLING_POINTS), plan.epsilon, plan.n, delta)
    chart.show(plan_curves.central_against_users(curve), "plan_shuffling")
    return float(delta)


SHARE_SETTINGS = binding_of_parameters("_plan_share", SHARE_PARAMETERS, ShareSettings())


def _curve_of_survey() -> ShareCurve:
    """The answer of what is stated in Survey designs; `Unclear` where something is missing or cannot be."""
    settings = SHARE_SETTINGS.current()
    stated = settings.understood()
    return session_files.cached("plan_share", settings, lambda: share_curve(*stated))


def _curve_if_stated() -> ShareCurve | None:
    with suppress(Unclear):
        return _curve_of_survey()
    return None


def survey_designs() -> None:
    """Widgets, and the answer of what was stated."""
    st.subheader("And a survey that asks one question?")
    st.markdown(
        "Say how you ask and what you want to see. The people are drawn at random from the population whose share you "
        "want to know."
    )
    settings = SHARE_SETTINGS.current()
    _entries(settings)
    try:
        curve = _curve_of_survey()
    except Missing:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info("Fill in the boxes above: the answer is made of these numbers.", width="stretch")
            st.button("Try an example", on_click=SHARE_SETTINGS.change, args=(_with_examples(settings),))
        return
    except Unclear as problem:
        st.error(markdown(f"{problem}"), icon=":material/error:")
        return
    st.markdown(f"##### {plan_curves.enough(curve)}")
    chart.show(plan_curves.people_against_share(curve), "plan_share")
    with st.expander("How is that worked out?"):
        st.markdown(sentences.PROMISES[curve.goal.kind])
        st.markdown(sentences.SHARE_FORMULAS)


def _entries(settings: ShareSettings) -> None:
    with st.container(horizontal=True):
        designs = {one.key: one.name for one in OF_ONE_SHARE}
        widgets.pick_from_list(
            "How do you ask?", designs, width=330, **SHARE_SETTINGS.of_field("plan_design", "design")
        )
        widgets.pick_from_list("I want", GOALS, width=330, **SHARE_SETTINGS.of_field("plan_goal", "goal"))
    st.caption(DESIGNS[settings.design].about)
    with st.container(horizontal=True):
        if settings.design == "unary":
            encoding_choice(**SHARE_SETTINGS.of_field("plan_encoding", "encoding", anew=True))
        _boxes(settings, settings.of_design)
    with st.container(horizontal=True):
        _boxes(settings, settings.of_goal)


def _boxes(settings: ShareSettings, numbers: Sequence[Parameter]) -> None:
    for one in numbers:
        width, text = 150 if len(one.label) == 1 else 330, getattr(settings, one.key)
        entry(
            one, width, **SHARE_SETTINGS.widget_arguments(f"plan_{one.key}", text, partial(_entered, one.key))
        )


def _entered(key: str, text: str, settings: ShareSettings | None = None) -> ShareSettings:
    changed: dict[str, Any] = {key: text.strip()}
    return replace(settings or SHARE_SETTINGS.current(), **changed)


def _with_examples(settings: ShareSettings) -> ShareSettings:
    """The settings with the first example in each empty box."""
    for one in (*settings.of_design, *settings.of_goal):
        if not getattr(settings, one.key):
            settings = _entered(one.key, one.like.partition(" or ")[0], settings)
    return settings


def files(results: DrawResults, plan: Plan, landscape: Landscape, figure: go.Figure, delta: float) -> None:
    """The button of the summary in a row of its own, then those of data, chart and script."""
    st.subheader("Take it with you")
    downloads.button(
        "One-page summary (HTML)",
        lambda: summary(
            plan, population_name(results), delta, f"{datetime.now(UTC):%Y-%m-%d}", survey_section()
        ),
        "plan_summary.html",
        "plan_summary",
        type="primary",
        width="content",
    )
    target = plan.target or plan.settings.target
    data = partial(map_csv, landscape, target)
    downloads.row(results, figure, "plan", data, delta=delta)


def map_csv(landscape: Landscape, target: Target) -> bytes:
    """One row per cell of the map that is worked out, not interpolated: epsilon, how many users, and what is achieved
    there, with its unit, which quantity it is, and the probability that is promised for it (empty for an average)."""
    exact = ~landscape.interpolated
    epsilons, users = (axis[exact] for axis in np.meshgrid(landscape.epsilons, landscape.users))
    about = target.about
    named = f", {target.share:.10g} of users" if target.kind == "share" else ""
    promised = about.has_confidence and target.kind != "top"
    return csv_bytes(
        {
            "epsilon_nats": epsilons,
            "n_users": users,
            "achieved": landscape.values[exact],
            "unit": np.full(users.size, about.unit),
            "quantity": np.full(users.size, about.measure + named),
            "probability": np.full(users.size, target.confidence if promised else ""),
        }
    )


def population_name(results: DrawResults) -> str:
    """Display name of the sidebar's population."""
    scenario, upload = results.draw.scenario, session_files.uploaded()
    if scenario.dist == UPLOAD and upload is not None:
        return f"the file {upload.file_name}"
    name = DISTRIBUTIONS[scenario.dist]
    return f"{name}, s = {scenario.s:g}" if scenario.dist == "zipf" else name


def survey_section() -> list[downloads.Section]:
    """What was stated in Survey designs and its answer; nothing where something is missing or cannot be."""
    settings, curve = SHARE_SETTINGS.current(), _curve_if_stated()
    if curve is None:
        return []
    stated = "; ".join(f"{one.label}: {getattr(settings, one.key)}" for one in settings.of_design)
    return [
        downloads.Section(
            f"A survey that asks one question: {DESIGNS[settings.design].name}",
            f"{plan_curves.enough(curve)} ({stated}.)",
        )
    ]


def summary(
    plan: Plan, population: str, delta: float, date: str, more: Sequence[downloads.Section] = ()
) -> str:
    """The plan on one page of paper, as HTML, with ``more`` sections; the name may come from an uploaded file."""
    return downloads.printed(
        title="Plan of a survey with randomized response",
        heading="Plan of a survey with k-ary randomized response",
        answer=sentences.answer(plan),
        meaning=sentences.meaning(plan),
        settings=_summary_settings(plan, population),
        sections=[
            downloads.Section(
                "The price of privacy",
                sentences.price_sentence(plan),
                ("Privacy", "ε", "Users needed", "Compared to the first row"),
                sentences.price_rows(plan),
            ),
            downloads.Section(
                "Should it be k-RR at all?",
                sentences.protocol_sentence(plan),
                ("Protocol", "RMSE per category", "Users for the same error", "Bits per report (coded)"),
                [sentences.protocol_cells(row) for row in sentences.compared_protocols(plan)],
            ),
            downloads.Section(
                "How far from the best possible?", sentences.bounds_sentence(sentences.bound_curves(plan))
            ),
            downloads.Section(
                "If the reports are shuffled",
                sentences.shuffling_sentence(plan, shuffled(plan.epsilon, plan.n, delta)),
            ),
            *more,
        ],
        footer=f"Made on {date}. Each person sends one randomized report; their true answer stays with them.",
    )


def _summary_settings(plan: Plan, population: str) -> list[tuple[str, str]]:
    settings, mechanism = plan.settings, RandomizedResponse(plan.k, plan.epsilon)
    guess = "the worst case over all populations" if settings.worst_case else population
    target = "what is reachable" if settings.find == "value" else promise_text(settings.target)
    return [
        ("Categories K", f"{plan.k:,}"),
        (
            "Privacy ε",
            f"{budget(plan.epsilon)} (p = {percent(mechanism.p, 4)}, q = {percent(mechanism.q, 4)})",
        ),
        ("Users N", number_of_users(plan.n)),
        ("Target", capital(target)),
        ("Reached by the plan", _reached(plan)),
        ("Population", guess),
        ("Whose shares", WHOSE[settings.users].lower()),
    ]


def _reached(plan: Plan) -> str:
    kind = plan.settings.kind
    if math.isinf(plan.value) or (kind == "smallest" and plan.value > 1):
        return "nothing by the bounds used here"
    value = f"probability at least {at_least(plan.value)}" if kind == "top" else at_most(plan.value, 4)
    return f"{value} ({plan.settings.about.measure})"
