"""What a sweep shows: the answer, its figures, the paper's claims, another run beside it, and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages._ui import chart, guidance, link, session_files, widgets
from pages._ui.downloads import button
from pages._ui.experiments import controls, runs, winner_map
from pages._ui.experiments.runs import SweepView, cached
from pages._ui.experiments.settings import HISTOGRAM
from rr_core import reference
from rr_core.experiments import curves as drawing
from rr_core.experiments.claims import PaperClaim, Verdict, claims, figure_claims
from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.ranking import FAMILY_LEVEL, agreement
from rr_core.experiments.run import SweepResult
from rr_core.experiments.winner_map import has_map
from rr_core.figures.experiments_curves import MOST_COLUMNS, MOST_ROWS, paper_figure
from rr_core.figures.experiments_map import why_no_map
from rr_core.figures.style import QUANTITIES
from rr_core.io import experiments as files
from rr_core.io.decoding import UnreadableFile
from rr_core.plain_text import markdown, starred
from rr_core.rounding import counted, number
from rr_core.scenario import WORST_AVERAGE, Scenario
from rr_core.words.experiments import (
    SHAPES_EXPLAINED,
    WORDS,
    agreement_in_words,
    answer_in_words,
    evidence,
    paper_says,
)
from rr_core.words.phrases import METRIC_NAMES, SYMBOLS, listed, population_name, table
from server import sessions


def answer_text(result: SweepResult, metric: str) -> str:
    """The answer of a sweep as markdown; "" where the run cannot tell."""
    return cached(result, ("answer", metric), lambda: starred(answer_in_words(result, metric)))


_MOST_ROWS = 50


def with_symbol(verdict: Verdict) -> str:
    """A verdict with its symbol."""
    return f"{WORDS['verdicts'][verdict]['symbol']} {verdict}"


def claims_table(view: SweepView) -> None:
    """Draw the claims with their verdicts, the numbers behind them, and the cells that contradict one."""
    result = view.result
    if not result.cells:
        st.caption("No cell of this sweep is computed yet.")
        return
    st.markdown(answer_text(result, view.preset.metric if view.preset else "mse"))
    all_claims = cached(result, "claims", lambda: claims(result))  # 40 ms for the main grid
    tested = [claim for claim in all_claims if claim.verdict != "not tested"]
    about: dict[str, Sequence[PaperClaim]] = {"The paper says": tested}
    if view.preset is not None or view.key == HISTOGRAM:
        about["The paper on the populations drawn"] = _claims_on_screen(result, current_selection(view))
    st.markdown("\n\n".join(_verdicts(head, rows, "") for head, rows in about.items()))
    with st.expander("The numbers behind the verdicts"):
        silent = [paper_says(claim) for claim in all_claims if claim not in tested]
        more = f"No cells of this sweep, or too few, bear on: “{'”, “'.join(silent)}”." if silent else ""
        tables = [_verdicts(head, rows, ". {}") for head, rows in about.items()]
        st.markdown(
            "\n\n".join([*tables, *map(starred, (more, _about_the_run(view), _meaning_of_words(result)))])
        )
    if all_claims[0] in tested:
        _counterexample()
    for claim in all_claims:
        if claim.count is not None and claim.count.exceptions:
            _exceptions(claim, claim.count.exceptions)


def _verdicts(head: str, rows: Sequence[PaperClaim], numbers: str) -> str:
    """A table of claims as markdown; ``numbers`` is the form in which the evidence follows a verdict."""
    lines = [
        (paper_says(row), f"**{with_symbol(row.verdict)}**{_elsewhere(row)}{numbers.format(evidence(row))}")
        for row in rows
    ]
    return starred(table((head, "This run"), "ll", lines)) if rows else ""


def _elsewhere(claim: PaperClaim) -> str:
    """What follows the verdict on the one claim that is known to be false in settings that no sweep holds."""
    known = claim.key == "never_worst" and claim.verdict == "not contradicted"
    return ", but false in other settings: see below" if known else ""


def _about_the_run(view: SweepView) -> str:
    done, sweep = len(view.result.cells), view.result.sweep
    of, each = counted(len(sweep.cells), "cell"), counted(sweep.settings.seeds, "collection")
    return f"About {view.name}: {done:,} of {of}, {each} in each."


def _meaning_of_words(result: SweepResult) -> str:
    concentrated, even = SHAPES_EXPLAINED
    cells = counted(len(result.sweep.cells), "cell")
    return (
        "A **cell** is one setting: a population, K, ε and N. **Surely**: not **too close to call**, by a t test with at "
        f"most {FAMILY_LEVEL:.0%} chance of a single wrong call over the {cells} of the whole sweep, here and in the map "
        "(as far as means of so many collections are about normal). "
        "The three are **equal** where their mean errors are: nothing came out negative, say, so there was nothing to "
        "mend. **By the means**: without that test. Where two are the worst of a **single collection** together, it "
        f"counts half. **Concentrated**: {concentrated}. **Near uniform**: {even}; the paper gives these words no "
        "numbers. A **slope** of −1 along N: ten times the users, a tenth of the error; of +1 along K: ten times the "
        "categories, ten times the error."
    )


def _counterexample() -> None:
    """Explain that the first claim is false whatever this sweep finds, by a counterexample."""
    worst = reference.read("misprints")["numbers"]["worst_average"]
    users, counts = worst["n"], worst["true_counts"]
    shares = ", ".join(map(str, counts))
    errors = ", ".join(f"{QUANTITIES[key].name} {number(error, 4)}" for key, error in worst["errors"].items())
    st.markdown(
        starred(
            f"**“Never the worst” is false, though no cell of the paper's grid contradicts it.** With {users} users in "
            f"{len(counts)} categories ({shares}) and ε = {worst['epsilon']:g}, the exact mean squared errors "
            f"over all {worst['histograms']} possible noisy histograms are {errors}. So far such settings are known only "
            "with few users."
        )
    )
    winner_map.link_to_estimators("Open these ten users in Estimators", WORST_AVERAGE)


def _exceptions(claim: PaperClaim, cells: Sequence[Cell]) -> None:
    with st.expander(f"{counted(len(cells), 'cell')} surely against: {starred(paper_says(claim))}"):
        first = cells[:_MOST_ROWS]
        rows = [(population_name(one), f"{one.k:,}", f"{one.epsilon:g}", f"{one.n:,}") for one in first]
        more = f"\n\nAnd {len(cells) - _MOST_ROWS:,} more." if len(cells) > _MOST_ROWS else ""
        st.markdown(table(("Population", "K", "ε", "N"), "lrrr", rows) + more)


_SELECTION, _PICKED = "_exp_curves", "_exp_curves_picked"
_ALONG: dict[drawing.CurveAxis, str] = {"epsilon": "Privacy ε", "n": "Users N"}
_ALL = "All"


def curves(view: SweepView, scenario: Scenario, lead: bool) -> None:
    """Draw the widgets of the selection and the figure of curves; ``lead`` as in `winner_map.section`."""
    st.markdown(
        f"Each point is one survey, simulated {winner_map.how_often(view.result.sweep)}; each line is one estimate. At "
        "the left: the shares of the population, largest first."
    )
    st.markdown("**Try:** find the lowest line of each row. What does the population at its left look like?")
    choice = _selection_widgets(view)
    st.session_state[_SELECTION] = view.key, choice
    if not view.result.cells:
        st.caption("No cell of this sweep is computed yet: the curves appear as soon as the first ones are.")
        return
    drawn = drawing.select_curves(view.result, choice, view.populations)
    here = scenario.epsilon if choice.along == "epsilon" else float(scenario.n)
    winner_map.show(paper_figure(drawn, here), "exp_curves", lead)
    first = [f"{MOST_ROWS} rows"] if len(drawn.rows) > MOST_ROWS else []
    first += [f"{MOST_COLUMNS} columns"] if len(choice.fixed_values) > MOST_COLUMNS else []
    if first:
        st.caption(
            f"Only the first {listed(first)} are drawn: choose among populations, K and "
            f"{SYMBOLS[drawing.other_axis(choice.along)]} above."
        )


def current_selection(view: SweepView) -> drawing.CurveSelection:
    """The selection of curves that is drawn: as chosen above the figure, by default as the page opens."""
    key, choice = st.session_state.get(_SELECTION, ("", None))
    chosen = choice is not None and key == view.key
    return choice if chosen else drawing.default_selection(view.result.sweep, view.preset)


def _selection_widgets(view: SweepView) -> drawing.CurveSelection:
    """The selection, with one widget in a row for each option of this sweep that offers a choice."""
    sweep = view.result.sweep
    start = drawing.default_selection(sweep, view.preset)
    ask = _Pickers(view.key)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        cells = {(cell.dist, cell.s): cell for cell in sweep.cells}
        who = ask.some(
            "Populations",
            drawing.populations_of(sweep),
            start.populations,
            lambda one: population_name(cells[one]).partition(" (")[0],
        )
        along = start.along
        if view.preset is None and min(len(drawing.axis_values(sweep, axis)) for axis in _ALONG) > 1:
            along = ask.one("Along", tuple(_ALONG), along, _ALONG.__getitem__)
        ks = ask.one_or_all("K", drawing.axis_values(sweep, "k"), start.ks, "{:,}".format)
        third = drawing.other_axis(along)
        fixed = drawing.axis_values(sweep, third)
        opening = start.fixed_values if along == start.along else fixed[len(fixed) // 2 :][:1]
        form = "{:g}".format if third == "epsilon" else "{:,}".format
        wider = "One value gives wider panels: a phone needs them."
        fixed = ask.one_or_all(SYMBOLS[third], fixed, opening, form, wider)
        metric = start.metric
        if view.preset is None:
            metric = ask.one("Error", sweep.settings.metrics, metric, lambda name: METRIC_NAMES[name].button)
        how = drawing.measures(sweep.settings, metric)
        measure = ask.one("Shown", how, how[0], lambda one: WORDS["drawn"][f"{metric}-{one}"]["button"])
        guidance.words(WORDS["explained"])
    return drawing.CurveSelection(along, metric, measure, who, tuple(int(k) for k in ks), fixed)


class _Pickers:
    """Widgets of one sweep, drawn where they offer a choice; their values survive while they are not drawn."""

    def __init__(self, name: str) -> None:
        self._name = name

    def one(
        self,
        label: str,
        options: Sequence[Any],
        default: Any,
        words: Callable[[Any], str],
        help: str | None = None,
    ) -> Any:
        if len(options) < 2:
            return default
        value, arguments = self._bound(label, options, default)
        st.segmented_control(label, options, required=True, format_func=words, help=help, **arguments)
        return value

    def some(
        self,
        label: str,
        options: Sequence[drawing.PopulationId],
        default: Sequence[drawing.PopulationId],
        words: Callable[[Any], str],
    ) -> tuple[drawing.PopulationId, ...]:
        if len(options) < 2:
            return tuple(options)
        value, arguments = self._bound(label, options, list(default))
        st.pills(label, options, selection_mode="multi", format_func=words, **arguments)
        return tuple(one for one in options if one in value)

    def one_or_all(
        self,
        label: str,
        options: Sequence[Any],
        default: Sequence[Any],
        words: Callable[[Any], str],
        help: str | None = None,
    ) -> tuple[Any, ...]:
        """One value, or the tuple of all values where the figure can draw all."""
        if len(options) < 2:
            return tuple(options)
        offered = [*([_ALL] if len(options) <= max(MOST_ROWS, MOST_COLUMNS) else []), *options]
        start = _ALL if len(default) > 1 and _ALL in offered else default[0]
        picked = self.one(label, offered, start, lambda one: _ALL if one == _ALL else words(one), help)
        return tuple(options) if picked == _ALL else (picked,)

    def _bound(self, label: str, options: Sequence[Any], default: Any) -> tuple[Any, dict[str, Any]]:
        """What is chosen, one option or a list of some, and the arguments of its widget."""
        key = f"exp_curves_{label.replace('ε', 'eps').lower()}_{self._name}"
        picked = st.session_state.setdefault(_PICKED, {})
        value = picked.get(key, default)
        if not set(value if isinstance(value, list) else [value]) <= set(options):
            value = default

        def take(chosen: Any) -> None:
            if chosen != []:  # the last one stays
                picked[key] = chosen

        return value, widgets.widget_arguments(key, value, take)


def _claims_on_screen(result: SweepResult, choice: drawing.CurveSelection) -> tuple[PaperClaim, ...]:
    """The claims about the populations and the error that are drawn, at every K and epsilon."""
    who, metric = choice.populations, choice.metric

    def find() -> tuple[PaperClaim, ...]:
        cells = tuple(cell for cell in result.cells if (cell.cell.dist, cell.cell.s) in who)
        return figure_claims(SweepResult(result.sweep, cells), metric)

    return cached(result, ("findings", who, metric), find)


def _verdicts_in_brief(result: SweepResult) -> str:
    """How many of the paper's claims hold in a run, in a sentence; "" where it bears on none."""
    if not result.cells:
        return ""
    verdicts = [claim.verdict for claim in cached(result, "claims", lambda: claims(result))]
    tested = {verdict: words for verdict, words in WORDS["verdicts"].items() if "one" in words}
    counts = {verdict: verdicts.count(verdict) for verdict in tested}
    parts = [
        f"{count} {tested[verdict]['one' if count == 1 else 'more']}"
        for verdict, count in counts.items()
        if count
    ]
    if not parts:
        return ""
    total = sum(counts.values())
    return (
        f"Of **{counted(total, 'claim')}** of the paper that this run tests, {listed(parts)}: "
        "tab **The paper's claims**."
    )


def first_figure(view: SweepView, scenario: Scenario) -> None:
    """Draw what the run says of the paper's claims, and the first figure."""
    if brief := _verdicts_in_brief(view.result):
        st.markdown(f"{brief} {WORDS['introduced']}")
    (winner_map.section if _map_first(view) else curves)(view, scenario, True)


def map_numbers(view: SweepView) -> None:
    """The numbers of the map where it is the first figure."""
    if _map_first(view):
        winner_map.numbers(view)


def unused(view: SweepView) -> dict[str, str]:
    """Why controls are grey, see `frame.Page.controls`: the figures mark the scenario along their axes alone."""
    preset = view.preset
    along = _ALONG if preset is None else {drawing.default_selection(view.result.sweep, preset).along}
    axes = {*along, *winner_map.axes(view)}
    others = (name for name in ("k", "s", "epsilon", "n", "seed") if name not in axes)
    return dict.fromkeys(others, "The sweep has its own.")


def second_figure(view: SweepView, scenario: Scenario) -> None:
    """Draw the second figure: the curves where the map came first, else the map; then update the address."""
    if _map_first(view):
        curves(view, scenario, False)
    else:
        winner_map.section(view, scenario, False)
        winner_map.numbers(view)
    link.write()


def _map_first(view: SweepView) -> bool:
    sweep = view.result.sweep
    return view.preset is None and has_map(sweep.cells) and not why_no_map(sweep)


def compare_runs(view: SweepView, others: Mapping[str, SweepResult]) -> None:
    """Choose a second run; draw both as curves with the current selection, and how far their means differ."""
    st.subheader("Runs side by side")
    there = {name: result for name, result in others.items() if result.cells}
    if not there or not view.result.cells:
        st.caption("Run or open another sweep, and it can be compared with the one on screen here.")
        return
    name = st.selectbox(
        "Compare with",
        list(there),
        index=None,
        placeholder="Choose a run",
        key="exp_beside",
        persist_state="page",
        width=420,
    )
    if name is None:
        return
    second, choice = there[name], current_selection(view)
    if choice.metric not in second.sweep.settings.metrics:
        st.caption(markdown(f"“{name}” did not measure what is shown above, so there is nothing to compare."))
        return
    common = agreement(view.result, second, choice.metric)
    st.markdown(starred(agreement_in_words(common, view.result, second)))
    if common.n_common:
        _two_figures(view, name, second, choice)


def _two_figures(view: SweepView, name: str, second: SweepResult, choice: drawing.CurveSelection) -> None:
    pairs = ((view.name, view.result, "exp_beside_first"), (name, second, "exp_beside_second"))
    common = _common(view.result, second)
    third = drawing.axis_values(common.sweep, drawing.other_axis(choice.along))
    fixed = tuple(value for value in choice.fixed_values if value in third)[:1] or third[:1]
    how = [m for m in drawing.measures(second.sweep.settings, choice.metric) if m == choice.measure]
    narrow = replace(choice, fixed_values=fixed, measure=(how or ["level"])[0])
    if not drawing.select_curves(common, narrow, view.populations).n_completed:
        narrow = replace(
            drawing.default_selection(common.sweep), metric=choice.metric, measure=narrow.measure
        )
    for column, (title, result, key) in zip(st.columns(2), pairs, strict=True):
        with column:
            st.text(title)
            chart.show(
                paper_figure(drawing.select_curves(_common(result, common), narrow, view.populations)), key
            )


def _common(first: SweepResult, second: SweepResult) -> SweepResult:
    """The first run's cells that the second one has too."""
    cells = tuple(cell for cell in first.cells if cell.cell in second.by_cell)
    return SweepResult(Sweep(tuple(cell.cell for cell in cells), first.sweep.settings), cells)


def file_downloads(view: SweepView) -> None:
    """Buttons for the files of the run on screen, and the uploader for a saved one."""
    st.subheader("Take it along, bring it back")
    result = view.result
    if result.cells:
        name = f"sweep_{view.key}"
        with st.container(horizontal=True):
            for label, make in (("Parquet", files.parquet_file), ("CSV", files.csv_file)):
                ending = label.lower()
                button(
                    f"Sweep ({label})", partial(make, result), f"{name}.{ending}", f"exp_{ending}", width=200
                )
        st.caption(
            "One row per cell and estimate: means with their standard errors, quantiles over the collections, who was "
            "best and worst how often; with the settings and versions. A run that was stopped is saved as far as it "
            "came, and goes on from there when it is opened again."
        )
    file_opener()


def file_opener() -> None:
    """Uploader for the file of a saved sweep."""
    # A new uploader each time, so that the one on screen is empty again once its file is in use.
    st.file_uploader(
        "Open a saved sweep",
        key=f"exp_bring_{st.session_state.get('_exp_brought', 0)}",
        on_change=_open_file,
        help="A file from here, or from the same engine on a cluster (see the README).",
    )
    if problem := st.session_state.get("_exp_broken"):
        st.error(markdown(f"{problem} What was shown before stays."), icon=":material/error:")


def _open_file() -> None:
    """Read the file as soon as it is there, and put it on screen."""
    count = st.session_state.get("_exp_brought", 0)
    file = st.session_state.get(f"exp_bring_{count}")
    if file is None:
        return
    st.session_state.pop("_exp_broken", None)
    try:
        result = session_files.read_by_worker(
            sessions.to_read(file.name, file.size),
            lambda: partial(files.read, file.name, file.getvalue()),
            lambda *_: None,
        )
        if not result.cells:
            raise UnreadableFile(
                "The sweep in the file has no cell that is done, so there is nothing to show."
            )
    except (UnreadableFile, sessions.NoRoom) as problem:
        st.session_state["_exp_broken"] = str(problem)
        return
    controls.show_sweep(runs.open_result(result, file.name).key)
    st.session_state["_exp_brought"] = count + 1
