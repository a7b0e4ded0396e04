"""Choosing a sweep and its run, asking for one's own, and starting it: the widgets, and their place in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from pages._ui import session_files, widgets
from pages._ui.experiments import runs, settings
from pages._ui.experiments.runs import Run
from pages._ui.link import Binding
from rr_core.comparison import METRICS
from rr_core.experiments.grid import MAIN_SETTINGS, Cell, Sweep
from rr_core.experiments.run import SweepResult, expected_seconds
from rr_core.figures.style import QUANTITIES
from rr_core.limits import LIST_LETTERS_MAX
from rr_core.metrics import WHOSE
from rr_core.parameters import LIST_HELP, Number, RefusedSettings
from rr_core.plain_text import markdown
from rr_core.populations import TABLES, UPLOAD, Population, build
from rr_core.registry import ESTIMATORS
from rr_core.rounding import counted
from rr_core.scenario import Scenario
from rr_core.words.phrases import METRIC_NAMES, duration, population_name
from server import sweeps
from server.jobs import worker_count

_MOST_NAMED = 6


def _read_own_sweep(query: Mapping[str, str]) -> tuple[settings.OwnSweep, tuple[str, ...]] | None:
    """An own sweep in an address, with a sentence for each value that was changed; None for another sweep."""
    return (
        settings.OwnSweep.from_query(query)
        if query.get("sweep", "").strip().lower() == settings.OWN
        else None
    )


def _write_own_sweep(own_sweep: settings.OwnSweep) -> dict[str, str | None]:
    if runs.SWEEP.current() != settings.OWN:
        return {}
    return {**dict.fromkeys(one.parameter for one in settings.PARAMETERS), **own_sweep.to_query()}


OWN_SWEEP = Binding("_exp_own", settings.OwnSweep(), _read_own_sweep, _write_own_sweep)


def show_sweep(key: str) -> None:
    """Put the sweep of this key on screen; a widget callback."""
    runs.SWEEP.change(key)
    OWN_SWEEP.change(OWN_SWEEP.current())


def sweep_picker(key: str) -> None:
    """Widget that chooses the sweep."""
    widgets.pick_from_list(
        "Sweep",
        settings.TITLES,
        width=290,
        help="What is computed: settings of the paper's figures, or your own. Figure 4, the convergence of IBU, is on "
        "the page “Can one get there by patience?”.",
        **widgets.widget_arguments("exp_sweep", key, show_sweep),
    )


def run_picker(key: str, run: Run | None) -> None:
    """Widget that chooses the run of this sweep that is on screen, where there are several."""
    listed = runs.runs_of_sweep(key)
    if run is not None and len(listed) > 1:
        labels = [one.label for one in listed]  # Streamlit keeps what a widget refers to
        st.selectbox(
            "Numbers from",
            range(len(labels)),
            format_func=labels.__getitem__,
            width=240,
            **widgets.widget_arguments(
                f"exp_run_{key}_{len(labels)}",
                listed.index(run),
                lambda place: runs.choose(key, labels[place]),
            ),
        )


def own_sweep_form(scenario: Scenario) -> Sweep | None:
    """Draw the widgets of an own sweep, and its size and duration or why it cannot be run; returns it, or None."""
    own_sweep, held, workers = OWN_SWEEP.current(), session_files.uploaded(), worker_count()
    uploaded = held.population if held else None
    _axis_fields(own_sweep, scenario, uploaded)
    _measuring_fields(own_sweep)
    try:
        sweep = own_sweep.sweep(scenario, uploaded, workers)
    except RefusedSettings as problem:
        st.error(markdown(str(problem)), icon=":material/edit:")
        return None
    st.caption(markdown(sweep_in_words(sweep, workers), 2000))
    return sweep


@lru_cache(maxsize=4)
def sweep_in_words(sweep: Sweep, workers: int) -> str:
    """Cells and collections, the values of each axis, and the expected time of a sweep, in a sentence."""
    axes = {
        "": [population_name(cell) for cell in sweep.cells],
        "K": [f"{cell.k:,}" for cell in sweep.cells],
        "ε": [f"{cell.epsilon:.6g}" for cell in sweep.cells],
        "N": [f"{cell.n:,}" for cell in sweep.cells],
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
    return f"{name} = {'; '.join(values)}" if name else ", ".join(values)


def _axis_fields(own_sweep: settings.OwnSweep, scenario: Scenario, uploaded: Population | None) -> None:
    here, names = _sidebar_values(scenario, uploaded), ", ".join(settings.POPULATION_NAMES)
    with _row():
        for field, label, usual, width, more in (
            (
                "populations",
                "Populations",
                here[0],
                250,
                f"Zipf exponents, as 0.01, 1.3, 2.5 or 0-5 +0.5, and any of the names {names}. "
                f"“point” is everybody in one category; “{UPLOAD}” is your own file. ",
            ),
            ("ks", "Categories, values of K", here[1], 200, LIST_HELP + " "),
            ("epsilons", "Privacy, values of ε", here[2], 200, LIST_HELP + " "),
            ("ns", "Users, values of N", here[3], 200, LIST_HELP + " "),
        ):
            st.text_input(
                label,
                placeholder=f"{usual} (sidebar)",
                max_chars=LIST_LETTERS_MAX,
                width=width,
                help=f"{more}Empty: the sidebar's value. Every combination of the four lists is a cell.",
                **_widget_arguments(own_sweep, field),
            )


def _measuring_fields(own_sweep: settings.OwnSweep) -> None:
    with _row():
        for field, number, about in (
            (
                "seeds",
                settings.SEEDS,
                "In each the same people report again with new noise; their spread says how sure a mean is.",
            ),
            (
                "draw",
                settings.DRAW,
                "Which random draw of users and noise. The same seed gives the same numbers, wherever it runs.",
            ),
        ):
            arguments = _widget_arguments(own_sweep, field)
            _number_field(number, number.label, 130, about, getattr(own_sweep, field), arguments)
        widgets.pick_one(
            "Whose shares",
            WHOSE,
            help="The same people report every time and errors are against their own shares, as in the paper; or new "
            "people every time, and errors are against the population they come from.",
            **_widget_arguments(own_sweep, "users"),
        )
        st.pills(
            "Estimates",
            list(ESTIMATORS),
            selection_mode="multi",
            format_func=lambda name: QUANTITIES[name].name,
            help="Who wins is asked of InvN, InvP and MLE*, the three that give shares; it needs all of them.",
            **_widget_arguments(own_sweep, "estimators"),
        )
        st.pills(
            "Errors",
            list(METRICS),
            selection_mode="multi",
            format_func=lambda metric: METRIC_NAMES[metric].abbreviation,
            help="MSE: squared error summed over the categories. NLL: negative log-likelihood in nats per report.",
            **_widget_arguments(own_sweep, "metrics"),
        )
        st.toggle(
            "Bias and variance",
            help="How much of the squared error is the same in every collection, and how much is luck.",
            **_widget_arguments(own_sweep, "bias"),
        )


def _sidebar_values(scenario: Scenario, uploaded: Population | None) -> tuple[str, str, str, str]:
    """Population, K, epsilon and N of the sidebar as text: the values that empty fields take."""
    if scenario.dist == UPLOAD:
        name, k = "your own file", uploaded.k if uploaded else scenario.k
    else:
        cell = Cell(scenario.dist, scenario.k, scenario.epsilon, scenario.n, scenario.s)
        name, k = population_name(cell), scenario.k
    return name, f"{k:,}", f"{scenario.epsilon:g}", f"{scenario.n:,}"


def _widget_arguments(own_sweep: settings.OwnSweep, field: str) -> dict[str, Any]:
    value, several = getattr(own_sweep, field), _SEVERAL.get(field)

    def changed(chosen: Any) -> settings.OwnSweep:
        changes: dict[str, Any] = {field: several.chosen(chosen) if several else chosen}
        return replace(own_sweep, **changes)

    return OWN_SWEEP.widget_arguments(f"exp_own_{field}", list(value) if several else value, changed)


_SEVERAL = {one.name: one for one in (settings.ESTIMATES, settings.ERRORS)}


def _row() -> Any:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def settings_fields() -> tuple[int, int]:
    """Draw the widgets for the collections per cell and the seed of the run; returns both values."""
    seeds = _number_field(
        settings.SEEDS,
        settings.SEEDS.label,
        150,
        "Every setting is collected this many times with new noise, and all estimators see the same reports. "
        "The paper's text says 100.",
        *_number_in_session("seeds", MAIN_SETTINGS.seeds),
    )
    seed = _number_field(
        settings.DRAW,
        "Seed of the run",
        120,
        "Which users and which noise. The same seed gives the same numbers everywhere.",
        *_number_in_session("seed", MAIN_SETTINGS.seed),
    )
    return seeds, seed


def _number_field(
    number: Number, label: str, width: int, help: str, value: int, arguments: dict[str, Any]
) -> int:
    low, high = int(number.low), int(number.high)
    return int(st.number_input(label, low, high, value, width=width, help=help, **arguments))


def _number_in_session(name: str, usual: int) -> tuple[int, dict[str, Any]]:
    """A number that survives while its widget is not drawn, ``usual`` at first, and the arguments of that."""
    key = f"_exp_{name}"
    value: int = st.session_state.get(key, usual)

    def take(value: int) -> None:
        st.session_state[key] = value

    return value, widgets.widget_arguments(f"exp_{name}", value, take, anew=True)


def start_button(key: str, sweep: Sweep | None) -> None:
    """Draw the button that runs a sweep."""
    busy = runs.active() is not None
    full = sweeps.SERVER.is_full and not busy
    st.button(
        "Run",
        type="primary",
        disabled=busy or full or sweep is None,
        on_click=runs.begin,
        args=(key, sweep),
        key="exp_start",
        width=80,
        help="Your other run has to end first." if busy else expected_time(sweep) if sweep else None,
    )
    if full:
        st.caption(
            "So many sweeps wait on this server that it takes no more for now. Try again in a few minutes."
        )


def resume_button(run: Run | None) -> None:
    """Draw the button that resumes a stopped run, if it is one."""
    if run is not None and not run.active and not run.result.finished:
        hindered = settings.why_too_large(run.sweep, worker_count(), run.result)
        if not runs.has_populations(run.sweep):
            hindered = "The histogram that this sweep is about is not the one uploaded here: upload it first."
        st.button(
            "Resume",
            disabled=runs.active() is not None or bool(hindered),
            on_click=runs.resume,
            args=(run.key, run.label),
            key="exp_resume",
            width=100,
            help=hindered or expected_time(run.sweep, run.result),
        )


def expected_time(sweep: Sweep, done: SweepResult | None = None) -> str:
    """How long a sweep will take here, in words."""
    workers = worker_count()
    work = f"{counted(len(sweep.cells), 'cell')}, {counted(sweep.settings.seeds, 'collection')} in each"
    seconds = duration(max(expected_seconds(sweep, workers, done), 1.0))
    processes = "1 background process" if workers == 1 else f"{workers} background processes"
    return f"{work}: about {seconds} in {processes}."


_FOR_FIGURE_3 = tuple(key for key, table in TABLES.items() if table.is_real)
_HISTOGRAMS = (
    "**Figure 3 is about real histograms: give it yours.** The paper's are "
    "[Kosarak](http://fimi.uantwerpen.be/data/), the first page of each visitor of a news site (41,270 categories), and "
    "the columns PUMA and PINCP of "
    "[ACSIncome](https://github.com/socialfoundations/folktables), a census sample. Make a table with a **category** "
    "and a **count** per row, or with one person per row, and choose it here. It is run at its full K. No file at hand? "
    f"Choose one of these as **Distribution** in the sidebar: {', '.join(TABLES[key].name for key in _FOR_FIGURE_3)}."
)


def sweep_and_run(key: str, run: Run | None, scenario: Scenario) -> None:
    """Draw the controls that choose the sweep and its run, define an own sweep, and start it."""
    with _row():
        sweep_picker(key)
        run_picker(key, run)
        if key in settings.CELLS:
            with st.popover("Run it again"):
                if run is not None:
                    st.markdown(runs.origin(run))
                with _row():
                    start_button(key, settings.built_in(key, *settings_fields()))
            resume_button(run)
            return
    sweep = (own_sweep_form if key == settings.OWN else _histogram_sweep)(scenario)
    if sweep is not None or run is not None:
        with _row():
            start_button(key, sweep)
            resume_button(run)
    if run is not None:
        st.caption(runs.origin(run))


def _histogram_sweep(scenario: Scenario) -> Sweep | None:
    held = session_files.uploaded()
    if held is not None:
        population, about = held.population, f"your file **{markdown(held.file_name)}**"
    elif scenario.dist in _FOR_FIGURE_3:
        population = build(scenario.dist, scenario.k, scenario.s)
        about = f"**{TABLES[scenario.dist].name}**, chosen in the sidebar"
    else:
        if not session_files.upload_open():
            st.markdown(_HISTOGRAMS)
            st.button("Choose a file", on_click=session_files.open_upload, key="exp_file")
        return None
    sweep = settings.figure3(population, scenario.n)
    if problem := settings.why_too_large(sweep, worker_count()):
        st.error(markdown(problem))
        return None
    st.caption(f"About {about}: {expected_time(sweep)}")
    return sweep
