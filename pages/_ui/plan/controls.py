"""The widgets of the plan, their place in the address, and the plan that is worked out of them: once for a class; about
an uploaded population, once for its owner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from pages._ui import link, widgets
from pages._ui.draw_results import DrawResults
from pages._ui.link import binding_of_parameters
from rr_core.figures.plan_map import TargetFrontier
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.metrics import WHOSE
from rr_core.plan import settings as options
from rr_core.plan import solve
from rr_core.plan.landscape import Landscape, Plan, frontier, landscape, make_plan
from rr_core.plan.targets import KINDS, Guess, Target
from rr_core.words.plan import KIND_TEXTS

SETTINGS = binding_of_parameters(
    "_plan_settings",
    options.PARAMETERS,
    options.PlanSettings(),
    lambda query: options.PlanSettings.from_query(query, link.current().k),
    lambda settings: settings.fitted(link.current().k).to_query(),
)


def controls(k: int, settings: options.PlanSettings) -> None:
    """The widgets, one below the other; what is seldom changed, behind a click."""
    kind, promised = settings.about, KIND_TEXTS[settings.kind].promised
    widgets.pick_from_list(
        "I want to find", options.FINDS, **SETTINGS.of_field("plan_find", "find", settings)
    )
    st.selectbox(
        "My goal",
        list(KINDS),
        format_func=lambda key: options.KIND_LABELS[key],
        help="\n\n".join(
            f"**{options.KIND_LABELS[key]}:** {text.meaning}" for key, text in KIND_TEXTS.items()
        ),
        **SETTINGS.widget_arguments("plan_target", settings.kind, settings.of_kind),
    )
    if settings.kind == "share":
        st.number_input(
            "Its share, % of users",
            options.SHARE.low,
            options.SHARE.high,
            float(settings.share),
            step=1.0,
            format="%.6g",
            **SETTINGS.of_field("plan_share", "share", settings),
        )
    if settings.find != "value" or kind.whole:
        _value_input(k, settings)
    if kind.has_confidence and not (settings.find == "value" and kind.whole):
        st.number_input(
            "Probability, %",
            options.CONFIDENCE.low,
            options.CONFIDENCE.high,
            float(settings.confidence),
            step=1.0,
            format="%.4g",
            help=f"Of what is promised: {promised}.",
            **SETTINGS.of_field("plan_conf", "confidence", settings),
        )
    with st.popover("For whom?"):
        widgets.pick_one(
            "Guess of the population",
            options.GUESSES,
            disabled=not settings.needs_guess,
            help="There is no worst case for a ranking: with equal shares no number of reports puts them in order."
            if kind.needs_population
            else "This plan holds for all shares."
            if not settings.needs_guess
            else "The promise is for the distribution of the sidebar, or for every distribution over K categories.",
            **SETTINGS.widget_arguments(
                "plan_guess",
                "worst" if settings.worst_case else "sidebar",
                lambda guess: replace(settings, guess=guess),
                anew=True,
            ),
        )
        widgets.pick_one(
            "Whose shares",
            WHOSE,
            help="The shares among the very people who report, or in the population that they are a random sample of: "
            "then the luck of the sample counts too.",
            **SETTINGS.of_field("plan_whose", "users", settings, anew=True),
        )


def _value_input(k: int, settings: options.PlanSettings) -> None:
    kind = settings.about
    allowed = options.value_range(kind, k)
    if kind.whole:
        st.number_input(
            "How many categories",
            int(allowed.low),
            int(allowed.high),
            int(settings.value),
            help=f"At most {kind.high:g}, and fewer than K.",
            **SETTINGS.widget_arguments(
                f"plan_value_top_{k <= kind.high and k}",
                int(settings.value),
                lambda most: replace(settings, value=most),
            ),
        )
        return
    st.number_input(
        "Share, % of users" if kind.key == "smallest" else "Error at most, in points",
        allowed.low,
        allowed.high,
        float(settings.value),
        step=kind.default * options.PERCENT / 5,
        format="%.6g",
        help=None
        if kind.key == "smallest"
        else "One point is 1% of all users: a share of 20% that is estimated as 21% is one point off.",
        **SETTINGS.of_field(f"plan_value_{kind.key}", "value", settings),
    )


_WAIT = "Working out the plan…"
_CELLS = 33  # of the map, each way


def map_ranges(
    epsilons: tuple[float, float], users: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of the map along epsilon and N: the default ones, extended to contain these places."""
    low = 0.1 if min(epsilons) >= 0.1 else EPSILON_APP_MIN
    high = 10.0 if max(epsilons) <= 10 else EPSILON_APP_MAX
    fewest = 100.0 if min(users) >= 100 else 1.0
    most = 1e9 if max(users) <= 1e9 else float(solve.N_MOST)
    return (low, high), (fewest, most)


def population_guess(results: DrawResults, settings: options.PlanSettings) -> Guess:
    """The population that the plan assumes, or the worst case over all populations."""
    k, population = results.draw.scenario.k, results.draw.population
    if settings.worst_case:
        return Guess.of(k, None)
    return results.once("plan_guess", (), lambda: Guess.of(k, population.probabilities), of="population")


def current_plan(results: DrawResults, settings: options.PlanSettings) -> Plan:
    """The plan for this scenario."""
    epsilon, n = results.draw.scenario.epsilon, results.draw.scenario.n
    return results.once(
        "plan_answer",
        (settings, epsilon, n),
        lambda: make_plan(settings, results.draw.scenario.k, epsilon, n, population_guess(results, settings)),
        of="population",
        wait=_WAIT,
    )


def plan_landscape(results: DrawResults, plan: Plan) -> Landscape:
    """The values over the map around a plan; only of a ranking do they depend on the requested value."""
    settings = plan.settings
    settings = settings if settings.about.whole else settings.of_kind(settings.kind)
    settings = replace(settings, find="n")
    epsilons, users = _ranges(results, plan)
    across, up = np.geomspace(*epsilons, _CELLS), np.unique(np.rint(np.geomspace(*users, _CELLS)))
    return results.once(
        "plan_map",
        (settings, epsilons, users),
        lambda: landscape(
            settings.target,
            results.draw.scenario.k,
            population_guess(results, settings),
            epsilons=across,
            n=up,
            users=settings.users,
        ),
        of="population",
        wait=_WAIT,
    )


def target_frontier(results: DrawResults, plan: Plan) -> TargetFrontier | None:
    """For each epsilon of the map, the smallest N that meets the plan's target; None without a target."""
    settings, target = plan.settings, plan.target
    if target is None:
        return None
    epsilons, _ = _ranges(results, plan)
    across = np.geomspace(*epsilons, _CELLS)
    if settings.find == "value" and target.kind == "max":
        across = across[::2]  # another target at every move of a slider, and the one that takes longest

    def make(target: Target = target) -> TargetFrontier:
        guess = population_guess(results, settings)
        return TargetFrontier(
            target, across, frontier(target, results.draw.scenario.k, guess, across, users=settings.users)
        )

    about = (target, settings.worst_case, settings.users, epsilons, across.size)
    return results.once("plan_border", about, make, of="population", wait=_WAIT)


def _ranges(results: DrawResults, plan: Plan) -> tuple[tuple[float, float], tuple[float, float]]:
    return map_ranges((results.draw.scenario.epsilon, plan.epsilon), (results.draw.scenario.n, plan.n))
