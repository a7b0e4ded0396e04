"""Films by keyboard and by name: what their buttons are called, and the keys that press them. "Watch it come in": films
of the scenario's own reports, built only while they are shown."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, figure_controls, truth
from pages._ui.component import read
from pages._ui.draw_results import DrawResults
from rr_core.arrivals import LARGEST_K, follow_estimates, follow_reports
from rr_core.comparison import Target, truth_of
from rr_core.figures.arrivals import arriving_estimates, arriving_reports
from rr_core.figures.film import ASIDE, BACK, CONTROLS, FAST, NORMAL, PAUSE, PLAY, SLOW, START, STEP

_STYLE, _SCRIPT = f"<style>{read(('film',), 'css')}</style>", read(("film",), "js")
_KEYS = {"ArrowRight": STEP, "ArrowLeft": BACK, "Home": START, " ": PLAY}


def show(figure: go.Figure, name: str) -> None:
    """Draw a film that is not the main figure of its page, with its keys."""
    chart.show(figure, name)
    with st.container(key="film_keys"):
        st.caption("Keys: space plays and pauses, arrows step, Home starts.")
    listen_for_keys()


def listen_for_keys() -> None:
    """Make one button of Play and Pause, and speeds of the other ones; make the films of a page operable by keyboard:
    arrows step, Home goes back to the start, the space bar plays and pauses."""
    given = {
        "names": CONTROLS | ASIDE,
        "keys": _KEYS,
        "aside": list(ASIDE),
        "speeds": [SLOW, NORMAL, FAST],
        "play": PLAY,
        "pause": PAUSE,
    }
    st.html(
        f"{_STYLE}<script>{_SCRIPT}listenToFilms({json.dumps(given)});</script>", unsafe_allow_javascript=True
    )


_WAIT = "The reports come in…"


def reports_section(results: DrawResults) -> None:
    """The film of the histogram: shares among the reports so far."""
    if _possible(results, "These very reports, one after the other."):
        view = figure_controls.most_frequent_bars(results)
        theta = truth.unless_hidden(results.draw.theta)
        seen = results.once(
            "arriving_reports", view.title, lambda: follow_reports(results.draw, view.categories), wait=_WAIT
        )
        figure = arriving_reports(seen, theta, results.draw.mechanism, view)
        show(figure, "arriving_reports")


def estimates_section(results: DrawResults, target: Target) -> None:
    """The film of the estimates: the truth, and the four estimators on the reports so far."""
    if _possible(results, "The same estimates while the reports come in."):
        view = figure_controls.most_frequent_bars(results)
        estimated = truth_of(results.draw, target)
        seen = results.once(
            "arriving_estimates",
            (target, view.title),
            lambda: follow_estimates(results.draw, estimated, view.categories),
            wait=_WAIT,
        )
        figure = arriving_estimates(seen, truth.unless_hidden(estimated), view)
        show(figure, "arriving_estimates")


def _possible(results: DrawResults, about: str) -> bool:
    """Whether there are few enough categories for a film; draws the line above it, or why there is none."""
    k = results.draw.scenario.k
    if k > LARGEST_K:
        st.caption(f"Films are made for up to {LARGEST_K:,} categories; here are {k:,}.")
        return False
    st.caption(f"{about} A bar may be taller than the picture.")
    return True
