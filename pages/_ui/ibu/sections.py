"""Sections of the IBU page around its main run: what the run shows, the way through a triangle, several runs side by
side, and what each way to the estimate costs."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from pages._ui import chart, long_run, widgets
from pages._ui.draw_results import DrawResults
from rr_core.data import read_toml
from rr_core.figures.ibu import compared_runs, triangle_path
from rr_core.figures.view import natural_order
from rr_core.geometry.simplex import estimate_three
from rr_core.ibu import figure4
from rr_core.ibu.convergence import FirstReached, LocalRate, RunComparison, compare_epsilons, local_rate
from rr_core.ibu.costs import LARGEST_MATRIX, Cost, IterationsNeeded, Method, compare_costs
from rr_core.ibu.engine import Start
from rr_core.ibu.figure4 import IMPLIED_DISTANCE, PAPER_CLAIMS, IterationsClaim, measurement
from rr_core.ibu.path import IBUPath
from rr_core.plain_text import starred
from rr_core.rounding import counted, number, odds, percent
from rr_core.words.phrases import duration, names, table

_METHODS: dict[Method, dict[str, str]] = read_toml("ibu.toml")["methods"]
_QUICK = 10  # iterations per digit
_MUCH = 3.0  # nats of all reports together, within which shares that fit better by far may be found
_NEARLY_ALL = 0.999  # of the error, removed by one iteration


def triangle_section(results: DrawResults, path: IBUPath) -> None:
    """The path of IBU through the triangle; nothing unless there are three categories."""
    if results.draw.scenario.k != 3:
        return
    st.subheader("The way through the triangle")
    draw = results.draw
    labels = names(draw.population.labels, natural_order(3), 18)
    chart.show(triangle_path(path, estimate_three(draw.counts, draw.mechanism), labels), "ibu_triangle")


def brief_answer(reached: FirstReached, path: IBUPath) -> str:
    """When the run may stop, in a sentence that stands alone; "" where the run never may."""
    if "certificate" in reached.unreachable:
        return ""
    if reached.certificate is None:
        return f"IBU needs more than {int(path.iterations[-1]):,} iterations before it may stop."
    return f"IBU may stop after {counted(reached.certificate, 'iteration')}."


def show_answer(reached: FirstReached, path: IBUPath) -> None:
    """What the certificate says at the iteration of the brief answer; when the measures that need MLE* were as near."""
    last = int(path.iterations[-1])
    largest = f"{1 + reached.tolerance:.13g}"

    def when(measure: str) -> str:
        iteration: int | None = getattr(reached, measure)
        if iteration is not None:
            return "after **1 iteration**" if iteration == 1 else f"after **{iteration:,} iterations**"
        if measure in reached.unreachable:
            return "**never**"
        if path.cut_off:  # a run that does not tend to MLE* may or may not arrive later
            return f"**not in the first {last:,} iterations**"
        return f"after **more than {last:,} iterations**"

    if "certificate" in reached.unreachable:
        says = f"IBU may **never** stop: by its **certificate** the largest factor never falls to {largest}"
    elif reached.certificate is None:
        says = f"After {counted(last, 'iteration')} its **certificate** forbids it: a factor is still above {largest}"
    else:
        n = float(path.counts @ path.multiplicities)
        most = odds(n * math.log1p(reached.tolerance))
        too_many = ": for so many choose a smaller **Near enough**" if n * reached.tolerance > _MUCH else ""
        says = (
            f"Then its **certificate** allows it: no factor is above {largest}, so no shares make these reports more "
            f"than {most} times as likely{too_many}"
        )
    measured = (reached.certificate, reached.gap, reached.squared_distance)
    near = number(reached.tolerance)
    if all(one is None for one in measured) and not reached.unreachable and not path.cut_off:
        rest = (
            f", and the distance to MLE\\*, in likelihood and squared, is above {near}. Raise **Iterations**, or "
            "**Near enough**."
        )
    else:
        rest = (
            f". (Within {near} of MLE\\* in likelihood {when('gap')}, in squared distance "
            f"{when('squared_distance')}; but without MLE\\* nobody could know.)"
        )
    st.markdown(f"{says}{rest}")


def explain_start(path: IBUPath) -> None:
    """The effect of zeros in the start, where it has any."""
    if path.cut_off:
        st.warning(
            "A category that MLE\\* keeps started at **zero**, and IBU only multiplies: it stays at zero for ever. This "
            "run tends to the distribution that fits best without the categories that started at zero, so its distance "
            "to MLE\\* never reaches zero, and its largest factor never 1: the certificate gives it away."
        )


def explain_pace(path: IBUPath) -> None:
    """The final rate of convergence, which categories converge last, and why."""
    st.markdown(f"**Then, close to the limit,** {_pace(local_rate(path))}")


def _pace(rate: LocalRate) -> str:
    if rate.decay == 1:
        return "there is nothing to wait for: this start is the limit itself."
    share = f"more than {percent(_NEARLY_ALL)}" if rate.decay > _NEARLY_ALL else percent(rate.decay)
    if rate.iterations_per_digit < _QUICK:
        return f"every iteration removes {share} of what is left on the way to the limit: here IBU is quick."
    reports = rate.counts[rate.slowest_level]
    # Categories with as many reports are as slow, wherever above zero they started.
    alike = rate.multiplicities[(rate.counts == reports) & ~np.isnan(rate.own_decay)].sum()
    which = "is the category" if alike == 1 else "are the categories"
    slowest = (
        f"Slowest there {which} with **{reports:,.0f} report{'s' if reports != 1 else ''}** (perhaps not the last to "
        "come near)"
    )
    if rate.on_border:
        return (
            f"the steps shrink faster than what is left of the way. {slowest}, exactly on the border between staying "
            "above zero and tending to it."
        )
    own = percent(float(rate.own_decay[rate.slowest_level]))
    truthful = float(rate.truthful_share[rate.slowest_level])
    why = (
        f"IBU moves a category only by the reports that it believes to be truthful, here {percent(truthful)} of them."
        if truthful
        else f"the share there tends to zero, and each iteration takes away {own} of what is left of it."
    )
    return (
        f"an iteration removes {share} of what is left: one more correct digit takes "
        f"**{rate.iterations_per_digit:,.0f} iterations**. {slowest}: {why}"
    )


_HERE, _PAPER = "These users", "The paper's Figure 4"
_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_CHOSEN = "_ibu_epsilons"
_NAME = "ibu_several"
_TABLE_DISTANCES = (1e-2, 1e-3, 1e-4)  # squared


def comparison_section(results: DrawResults, length: int, tolerance: float) -> None:
    """Choose what to compare, run it in one batch with progress and a stop, and show the curves."""
    st.markdown("### Does more privacy make it slower?")
    what = st.segmented_control(
        "What to compare",
        (_HERE, _PAPER),
        required=True,
        default=_HERE,
        key="ibu_compare",
        persist_state="page",
    )
    if what == _HERE:
        _these_users(results, length, tolerance)
    else:
        _paper_figure(results.draw.scenario.seed, tolerance)


def _choose_epsilons(chosen: list[float]) -> None:
    """Keep what was chosen; the last ε stays."""
    if chosen:
        st.session_state[_CHOSEN] = chosen


def _these_users(results: DrawResults, length: int, tolerance: float) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.pills(
            "At these ε",
            _EPSILONS,
            selection_mode="multi",
            format_func="{:g}".format,
            **widgets.widget_arguments(
                "ibu_epsilons", st.session_state.get(_CHOSEN, list(_EPSILONS[1:4])), _choose_epsilons
            ),
        )
        epsilons = tuple(sorted(chosen))
        about = (results.draw.scenario, results.draw.population.key, epsilons, length)
        start = long_run.start_button(_NAME, "Run them", about)
    run, k = partial(compare_epsilons, results.draw, epsilons, length), results.draw.scenario.k
    runs: RunComparison | None = long_run.outcome(
        start, _NAME, about, length, "iterations", run, k=k, shared=results.is_shared
    )
    if runs is None:
        st.caption("The same users report under each ε, and IBU runs on all of them in one batch.")
        return
    _stopped(runs, length)
    about_them = f"K = {results.draw.scenario.k:,}, N = {results.draw.scenario.n:,}"
    chart.show(compared_runs(runs, about_them, tolerance), "ibu_several")


def _paper_figure(seed: int, tolerance: float) -> None:
    st.markdown(
        "K = 500; s = 0.01 and 1.3; 10,000 and 500,000 users; ε = 0.5, 1 and 2; 40,000 iterations: twelve runs, here "
        "in one batch, with this scenario's seed."
    )
    about = (_PAPER, seed)
    with st.container(horizontal=True, vertical_alignment="center"):
        start = long_run.start_button(_NAME, "Run the twelve curves", about)
        linear = st.toggle("Linear axes, as printed in the paper", key="ibu_linear", persist_state="page")
    run = partial(figure4.compare, seed)
    runs: RunComparison | None = long_run.outcome(
        start, _NAME, about, figure4.ITERATIONS, "iterations", run, k=figure4.K, shared=True
    )
    if runs is not None:
        _stopped(runs, figure4.ITERATIONS)
        _panels(runs, tolerance, linear=linear)
    with st.expander("Measured over 20 seeds, beside what the paper says", expanded=runs is not None):
        st.markdown(_measurements())


def _panels(runs: RunComparison, tolerance: float, *, linear: bool) -> None:
    """Two by two, as in the paper: s in rows, n in columns."""
    each = len(figure4.EPSILONS)
    starts = iter(range(0, len(runs.scenarios), each))
    for s in figure4.EXPONENTS:
        for n, column in zip(figure4.USERS, st.columns(2), strict=True):
            first = next(starts)
            panel_runs = runs.select(first, first + each)
            panel = compared_runs(panel_runs, f"s = {s:g}, N = {n:,}", tolerance, logarithmic=not linear)
            with column:
                st.markdown(f"**s = {s:g}, N = {n:,}**")
                chart.show(panel, f"ibu_figure4_{first}")


def _measurements() -> str:
    """Iterations to three distances in each setting, and the verdict on the paper's figures."""
    heads = ["s", "N", "ε", *(f"to {number(distance)}" for distance in _TABLE_DISTANCES), "the paper says"]
    rows = []
    quotations = {(claim.n, claim.epsilon): claim.quotation for claim in PAPER_CLAIMS}
    for scenario in figure4.scenarios():
        s, n, epsilon = scenario.s, scenario.n, scenario.epsilon
        found = [measurement(s, n, epsilon, distance) for distance in _TABLE_DISTANCES]
        cells = [f"**{one.median:,.0f}** ({one.fewest:,.0f}–{one.most:,.0f})" for one in found]
        rows.append((f"{s:g}", f"{n:,}", f"{epsilon:g}", *cells, quotations.get((n, epsilon), "–")))
    return (
        "Iterations until the squared distance to MLE\\* is at most this much, to within 1.2%: median, and the fewest "
        f"and most over the seeds.\n\n{table(heads, 'r' * (len(heads) - 1) + 'l', rows)}\n\n{starred(_verdict())}"
    )


def _verdict() -> str:
    """What the measurements say of the paper's numbers."""
    farther, nearer = (
        " and ".join(f"{measurement(s, 10_000, 1.0, distance).median:,.0f}" for s in figure4.EXPONENTS)
        for distance in (1e-2, 1e-4)
    )
    widest = measurement(0.01, 10_000, 0.5, IMPLIED_DISTANCE)
    longest = measurement(0.01, 500_000, 0.5, 1e-6)
    return (
        "The paper does not say how near counts as reached; at a squared distance of 0.001 from MLE* all four "
        "of its numbers hold to within a sixth, and its figure, on linear axes up to 0.12, hardly shows anything nearer. "
        f"Medians over {len(figure4.SEEDS)} seeds, for s = {figure4.EXPONENTS[0]:g} and s = {figure4.EXPONENTS[1]:g}: "
        + "; ".join(_medians_and_quotation(claim) for claim in PAPER_CLAIMS)
        + ". "
        f"At a tenfold or a tenth of that distance they do not: n = 10,000 at ε = 1 takes {farther} iterations "
        f"to 0.01, and {nearer} to 0.0001. "
        f"Draws differ: n = 10,000 at ε = 0.5 and s = 0.01 takes from {widest.fewest:,.0f} to {widest.most:,.0f}. "
        "There is no last iteration, only a distance one is content with: to 0.000001, n = 500,000 at ε = 0.5 "
        f"and s = 0.01 takes {longest.median:,.0f}, where MLE* takes none."
    )


def _medians_and_quotation(claim: IterationsClaim) -> str:
    rows = [measurement(s, claim.n, claim.epsilon, IMPLIED_DISTANCE) for s in figure4.EXPONENTS]
    medians = " and ".join(f"{row.median:,.0f}" for row in rows)
    return f"n = {claim.n:,} at ε = {claim.epsilon:g} takes {medians} (paper: “{claim.quotation}”)"


def _stopped(runs: RunComparison, length: int) -> None:
    if runs.stopped:
        long_run.stopped(int(runs.iterations[-1]), length, "iterations")


def cost_section(results: DrawResults, reached: FirstReached, start: Start) -> None:
    """Measure the computing times when a button is pressed, so that no other work is measured with them."""
    st.subheader("What does it cost?")
    tolerance = reached.tolerance
    about = (results.draw.scenario, results.draw.population.key, tolerance)
    with st.container(horizontal=True, vertical_alignment="center"):
        ask = partial(st.session_state.__setitem__, "_ibu_cost_asked", about)
        st.button("Measure on this machine", on_click=ask, key="ibu_cost")
        st.caption(
            "MLE\\*, and IBU from the uniform start until its largest factor is near enough to 1; takes a few seconds."
        )
    if st.session_state.get("_ibu_cost_asked") != about:
        return
    known = reached.certificate if start == Start() else None
    needed = None if known is None else IterationsNeeded(known, True)
    with st.spinner("Measuring…"):
        draw = results.draw
        costs = results.once(
            "ibu_cost",
            (tolerance, needed),
            lambda: compare_costs(draw.counts, draw.mechanism, tolerance, needed),
        )
    st.markdown(_cost_table(costs, results.draw.scenario.k))


def _cost_table(costs: list[Cost], k: int) -> str:
    """The costs of MLE* (first) and of IBU on k categories as markdown, with a sentence on each way of IBU."""
    rows = []
    for cost in costs:
        each = "–" if cost.seconds_per_iteration is None else duration(cost.seconds_per_iteration)
        iterations = "–" if cost.needed is None else f"{cost.needed.iterations:,}"
        total = "not run" if cost.seconds is None else duration(cost.seconds)
        total += " (extrapolated)" if cost.extrapolated else ""
        times = None if cost is costs[0] else cost.ratio_to(costs[0])
        compared = "–" if times is None else f"{number(times)} times as long"
        rows.append((_METHODS[cost.method]["name"], iterations, each, total, compared))
    notes = " ".join(f"{_METHODS[cost.method]['name']}: {_cost_note(cost, k)}" for cost in costs[1:])
    heads = "Way", "Iterations", "Each", "In all", "Compared to MLE*"
    return starred(f"{table(heads, 'lrrrr', rows)}\n\n{notes}")


def _cost_note(cost: Cost, k: int) -> str:
    if cost.seconds is None:
        size = number(8 * k * k / 1e9, 2)
        return f"Not run: the matrix has K² = {k * k:,} entries, {size} GB; beyond K = {LARGEST_MATRIX:,}."
    is_short = cost.needed is not None and not cost.needed.reached
    more = " It needs more than these to the tolerance." if is_short else ""
    return _METHODS[cost.method]["iteration"] + more
