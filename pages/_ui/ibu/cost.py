"""What MLE* and three ways to iterate cost on this machine, side by side."""

from __future__ import annotations

import streamlit as st

from pages._ui import state
from pages._ui.work import Work
from rr_core.figures.style import duration, number
from rr_core.iteration.costs import Cost, Needed, side_by_side
from rr_core.iteration.progress import FirstReached
from rr_core.iteration.starts import Start
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario


def section(work: Work, reached: FirstReached, start: Start) -> None:
    """Measure on demand: the clock should run when nothing else does."""
    st.subheader("What does it cost?")
    tolerance = reached.tolerance
    about = (work.scenario, work.draw.population.key, tolerance)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Measure on this machine", on_click=_ask, args=(about,), key="ibu_cost")
        st.caption(
            "MLE\\*, and IBU from the uniform start to a certificate of your tolerance; takes a few seconds."
        )
    if st.session_state.get("_ibu_cost_asked") != about:
        return
    known = reached.certificate if start == Start() else None
    needed = None if known is None else Needed(known, True)
    with st.spinner("Measuring…"):
        costs = (
            state.latest("ibu_cost", (*about, needed), lambda: _measure(work, tolerance, needed))
            if work.scenario.dist == UPLOAD
            else _shared(work.scenario, tolerance, needed, work)
        )
    st.markdown(_table(costs))


def _ask(about: tuple[Scenario, str, float]) -> None:
    st.session_state["_ibu_cost_asked"] = about


@st.cache_resource(max_entries=64, show_spinner=False)
def _shared(scenario: Scenario, tolerance: float, needed: Needed | None, _work: Work) -> list[Cost]:
    return _measure(_work, tolerance, needed)


def _measure(work: Work, tolerance: float, needed: Needed | None) -> list[Cost]:
    return side_by_side(work.draw.counts, work.draw.mechanism, tolerance, needed)


def _table(costs: list[Cost]) -> str:
    lines = ["| Way | Iterations | Each | In all | Compared to MLE\\* |", "|:--|--:|--:|--:|--:|"]
    for cost in costs:
        each = "–" if cost.seconds_per_iteration is None else duration(cost.seconds_per_iteration)
        iterations = "–" if cost.iterations is None else f"{cost.iterations:,}"
        total = "not run" if cost.seconds is None else duration(cost.seconds)
        total += " (extrapolated)" if cost.extrapolated else ""
        times = None if cost is costs[0] else cost.times(costs[0])
        compared = "–" if times is None else f"{number(times)} times as long"
        name = cost.name.replace("*", "\\*")
        lines.append(f"| {name} | {iterations} | {each} | {total} | {compared} |")
    notes = " ".join(f"{cost.name}: {cost.note}" for cost in costs[1:]).replace("*", "\\*")
    return "\n".join(lines) + f"\n\n{notes}"
