"""The run of IBU that the page is about: choosing where it starts, how far it goes and when it is near enough; computed
once for a class, longer ones with progress and a stop; and its files to download."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from pages._ui import dials, downloads, long_run
from pages._ui.draw_results import LARGE, DrawResults
from pages._ui.figure_controls import note, widget
from pages._ui.link import binding_of_parameters
from rr_core.data import read_toml
from rr_core.ibu import ibu_path
from rr_core.ibu.convergence import TOLERANCES, FirstReached, SettlingTimes, first_reached, settling_times
from rr_core.ibu.costs import affordable_iterations, records_per_decade
from rr_core.ibu.engine import LARGEST_K_RANDOM, LARGEST_K_TYPED, START_KINDS, Start, parse_weights
from rr_core.ibu.path import IBUPath, log_spaced
from rr_core.io.text import csv_bytes
from rr_core.mechanism import RandomizedResponse
from rr_core.parameters import Choice, Parameter
from rr_core.rounding import number, percent
from rr_core.scenario import Scenario
from server import jobs
from server.priority import TURNS

_NAME = "ibu_longer"
_LONGEST = 10.0  # seconds that a page waits for a worker
About = tuple[Scenario, str, Start, int]


_STARTS: dict[str, str] = read_toml("ibu.toml")["starts"]
_LARGEST_K = {"random": LARGEST_K_RANDOM, "typed": LARGEST_K_TYPED}
_LENGTHS = (100, 1_000, 10_000, 100_000)


@dataclass(frozen=True)
class RunSettings:
    """What a link says of a run: how many iterations, and the largest factor minus 1 that is near enough."""

    iterations: int = 10_000
    near: float = TOLERANCES[4]


_PARAMETERS: tuple[Parameter, ...] = (
    Choice("iterations", "steps", "number of iterations", {one: f"{one:,}" for one in _LENGTHS}),
    Choice("near", "near", "choice of what is near enough", {one: number(one) for one in TOLERANCES}),
)
SETTINGS = binding_of_parameters("_ibu_run", _PARAMETERS, RunSettings())
_NEARNESS = (1.0, 0.1, 0.01, 0.001, 0.0001)


def pick_start(results: DrawResults) -> Start:
    """Widgets for IBU's start. Call it in the row above the figure, to which it adds up to three."""
    k = results.draw.scenario.k
    kinds = [kind for kind in START_KINDS if k <= _LARGEST_K.get(kind, k)]
    kind = widget(
        st.selectbox,
        "Start from",
        kinds,
        format_func=_STARTS.__getitem__,
        key=f"ibu_start_{len(kinds)}",
        width=175,
        help="IBU multiplies: a category that starts at zero stays at zero for ever, whatever was reported.",
    )
    if kind == "typed":
        return _typed_start(k)
    if kind == "random":
        return Start(
            kind, seed=widget(st.number_input, "Which", 0, 999_999, 1, key="ibu_start_seed", width=130)
        )
    if kind in ("uniform", "reports"):
        return Start(kind)
    chosen = widget(st.number_input, "Category", 1, k, 1, key=f"ibu_start_category_{k}", width=130)
    if kind == "zero":
        return Start(kind, chosen - 1)
    percent_of_users = widget(st.slider, "Its share, %", 1, 99, 90, key="ibu_start_mass", width=180)
    return Start(kind, chosen - 1, percent_of_users / 100)


def _typed_start(k: int) -> Start:
    """Start with the k shares that the user types; invalid text leaves the last valid shares in use."""
    key = f"_ibu_typed_{k}"
    text = widget(
        st.text_input,
        f"{k} shares",
        placeholder="0.5, 0.3, 0.2",
        key=f"ibu_start_typed_{k}",
        width=260,
        help="Any numbers: they are divided by their sum.",
    )
    if text:
        try:
            st.session_state[key] = parse_weights(text, k)
        except ValueError as problem:
            note(f":red[{problem}]")
    weights = st.session_state.get(key)
    return Start("typed", weights=weights) if weights else Start()


def pick_length() -> int:
    """How many iterations to run."""
    length: int = widget(
        st.select_slider,
        "Iterations",
        _LENGTHS,
        format_func="{:,}".format,
        width=140,
        **SETTINGS.of_field("ibu_length", "iterations"),
    )
    return length


def pick_tolerance() -> float:
    """Widget for the tolerance: of the certificate, and of the two measures that need MLE*."""
    tolerance: float = widget(
        st.select_slider,
        "Near enough",
        TOLERANCES,
        format_func=number,
        width=140,
        help="How far the largest factor may be above 1. Once it is by 1/N only, no shares make N reports more than 2.72 "
        "times as likely: a millionth is enough for up to a million reports. What is left in likelihood, "
        "per report, and in squared distance is held against the same number.",
        **SETTINGS.of_field("ibu_tolerance", "near"),
    )
    return tolerance


def pick_nearness() -> float:
    """Widget for the tolerance of a single category, as a fraction of the average share 1/K."""
    return st.select_slider(
        "Within this part of an average share (1/K)",
        _NEARNESS,
        value=_NEARNESS[1],
        key="ibu_nearness",
        persist_state="page",
        format_func=percent,
        width=320,
    )


def ibu_run(results: DrawResults, start: Start, length: int) -> IBUPath:
    """The run of this length, where some session may share it in full; else the part that is computed at once."""
    longer: IBUPath | None = long_run.result(_NAME, _about(results, start, length))
    if longer is not None:
        return longer
    path = results.once("ibu", (start, length), lambda: _affordable_run(results, start, length))
    TURNS.go_on(dials.look)
    return path


def iterations_to_tolerance(
    results: DrawResults, start: Start, path: IBUPath, tolerance: float
) -> FirstReached:
    """The first iteration at which the run is within the tolerance, by each measure."""
    about = (start, int(path.iterations[-1]), tolerance)
    return results.once("ibu_reached", about, lambda: first_reached(path, tolerance))


def settling(results: DrawResults, start: Start, path: IBUPath, part: float) -> SettlingTimes:
    """For each level, the iteration from which its estimate stays within ``part``/K of its limit."""
    tolerance = part / results.draw.scenario.k
    about = (start, int(path.iterations[-1]), tolerance)
    return results.once("ibu_settled", about, lambda: settling_times(path, tolerance))


def offer_rest(results: DrawResults, start: Start, length: int, path: IBUPath) -> None:
    """Where the displayed run is shorter than requested, say so and offer to compute the rest."""
    last = int(path.iterations[-1])
    if last >= length:
        return
    st.info(f"Shown are the first {last:,} of {length:,} iterations: the rest takes longer than a page may.")
    about = _about(results, start, length)
    with st.container(horizontal=True):
        start_now = long_run.start_button(_NAME, "Run to the end", about)
    if start_now:
        run = partial(ibu_path, *_given(results, start, length), in_full=True)
        long_run.run_with_progress(
            _NAME, about, length, "iterations", run, k=results.draw.scenario.k, shared=results.is_shared
        )


def _about(results: DrawResults, start: Start, length: int) -> About:
    return results.draw.scenario, results.draw.population.key, start, length


def _given(
    results: DrawResults, start: Start, length: int
) -> tuple[NDArray[Any], RandomizedResponse, NDArray[np.int64], NDArray[Any] | None]:
    counts = results.draw.counts
    marks = log_spaced(length, records_per_decade(counts))
    return counts, results.draw.mechanism, marks, start.distribution(counts)


def _affordable_run(results: DrawResults, start: Start, length: int) -> IBUPath:
    """The first part of the run, short enough to compute while the page is drawn."""
    most = affordable_iterations(results.draw.counts, length)
    if results.draw.scenario.k <= LARGE and TURNS.are_wanted() and jobs.is_free():
        # Half of all that the figures of a busy class compute: others have their turn meanwhile.
        with suppress(jobs.Lost):
            return jobs.run(
                ibu_path,
                *_given(results, start, most),
                look=lambda *_: dials.look(),
                seconds=_LONGEST,
                in_full=True,
            )
    return ibu_path(*_given(results, start, most), in_full=True)


def downloads_row(results: DrawResults, path: IBUPath, start: Start, figure: go.Figure) -> None:
    """The download row: the record as CSV, the animation as HTML, and a script that repeats the run."""
    iterations = int(path.iterations[-1])
    downloads.row(
        results, figure, "ibu", partial(record_csv, path), start=asdict(start), iterations=iterations
    )


def record_csv(path: IBUPath) -> bytes:
    """One row per recorded iteration."""
    return csv_bytes(path.columns())
