"""Any number of categories: are the three repairs on one line? Theorem 2, the wider rule of equal supports, how often
each applies, and one category pushed down."""

from __future__ import annotations

from functools import partial
from operator import attrgetter

import streamlit as st

from pages._ui import chart, long_run
from pages._ui.draw_results import DrawResults
from rr_core.collinearity import Collinearity, Theorem2
from rr_core.figures import geometry_line
from rr_core.geometry.push_down import PushDown
from rr_core.geometry.replicates import AlignmentCounts, count_alignment
from rr_core.plain_text import plain
from rr_core.rounding import number, percent
from rr_core.simulate import last_of
from rr_core.words.phrases import FOLDED, table


def theorem_section(results: DrawResults) -> None:
    """The positions of the repairs for this draw, and whether Theorem 2 applies."""
    k, geometry = results.draw.scenario.k, results.geometry
    alignment, conditions = geometry.collinearity, geometry.theorem2
    st.markdown(
        "The triangle above has three categories, and reports that you can move. Here are **all categories** of the "
        "scenario."
    )
    left, right = st.columns([5, 2], gap="medium")
    with left:
        chart.show(geometry_line.repairs_plane(alignment), "plane")
    with right:
        _numbers(alignment, k)
    st.markdown(
        "**Why between?** If the three keep the same m categories, whose Inv sums to T: InvN divides Inv by T, InvP by 1 "
        "and lowers all alike. MLE\\* divides by the mean of T and 1, weighted by eᵋ − 1 (reports that tell the truth) "
        "and m (by chance), and lowers all by less. With the same reports, the larger ε, the nearer it is to InvN.\n\n"
        "**Why care?** Where the three keep the same categories, MLE\\* is a mixture of InvP and InvN, so its squared "
        "error is no larger than the larger of theirs."
    )
    with st.expander("Theorem 2, and which categories each keeps"):
        st.markdown(_conditions(alignment, conditions, results.draw.mechanism.q))
        chart.show(geometry_line.support_sizes(alignment.supports, k), "supports")


def _numbers(alignment: Collinearity, k: int) -> None:
    label = f"MLE\\* on the way, K = {k:,}"
    if not alignment.length:
        st.metric(label, "all one point")
        return
    st.metric(label, percent(alignment.position))
    if alignment.on_line:
        st.metric("MLE\\* off their line", "0")
        return
    st.metric("MLE\\* off their line", number(alignment.residual), help="Euclidean distance.")
    st.metric("… as a share of the way from InvP to InvN", percent(alignment.relative))


def _conditions(alignment: Collinearity, conditions: Theorem2, q: float) -> str:
    """The conditions of Theorem 2 and of the rule of equal supports as a table, with the numbers on both sides."""
    smallest, border = _distinguishable(conditions.smallest, q)
    second, needed = _distinguishable(conditions.second, conditions.threshold)
    small, large = alignment.supports[0], alignment.supports[2]
    rows = [
        ("The smallest share of reports, φ₁, is below q", smallest, "<", border),
        ("The second smallest, φ₂, is at least (Kq − φ₁)/(K − 1)", second, "≥", needed),
        ("**Wider rule:** InvP keeps as many categories as InvN", f"{small:,}", "=", f"{large:,}"),
    ]
    both = "**Theorem 2:** both of these", "", "", ""
    holds = (
        (rows[0], conditions.first_condition),
        (rows[1], conditions.second_condition),
        (both, alignment.theorem2_holds),
        (rows[2], alignment.same_support),
    )
    checked = [(*row, "✓" if fine else "✗") for row, fine in holds]
    shown = table(("Condition", "left", "", "right", "holds"), "lrcrc", checked)
    return f"{shown}\n\n{_verdict(alignment, conditions)}"


def _verdict(alignment: Collinearity, conditions: Theorem2) -> str:
    if not alignment.cut_off:
        return "No share of reports is below q: nothing was cut off, and the three repairs coincide with Inv."
    if not alignment.length:
        return "What is left after the cut is all equal: the three repairs coincide."
    if alignment.theorem2_holds:
        return (
            "**Theorem 2 applies.** Its t = (1 − φ₁)/(p − φ₁), by which InvN − InvP = t·(MLE\\* − InvP), is "
            f"**{number(conditions.t, 6)}**; measured (one over the position): **{number(alignment.t, 6)}**."
        )
    if alignment.same_support:
        return (
            "**Theorem 2 does not apply, yet the three are on one line:** equal supports are enough. Measured "
            f"t, one over the position: **{number(alignment.t, 6)}**."
        )
    if alignment.on_line:
        return "**Neither applies,** and yet the three are on one line here, though they keep different categories."
    return "**Neither applies:** the repairs keep different categories, and MLE\\* is off the line."


def _distinguishable(left: float, right: float) -> tuple[str, str]:
    """Both numbers as text, with enough digits to tell them apart if they differ."""
    for digits in range(5, 17):
        texts = number(left, digits), number(right, digits)
        if texts[0] != texts[1]:
            break
    return texts


_NAME = "align"


def equal_supports_section(results: DrawResults) -> None:
    """The rule of equal supports: its argument, how often it applies, and a category that is pushed down."""
    st.subheader("Beyond the theorem: equal supports are enough")
    st.markdown(
        "Theorem 2 is about draws in which **one** category is cut off. But the three repairs lie on one line "
        "**whenever they keep the same categories**, however many are cut off, and MLE\\* is between the other two."
    )
    with st.expander("The argument in three lines"):
        st.markdown(FOLDED["equal_supports"])
    _repeated_draws(results)
    _push_down(results)


def _repeated_draws(results: DrawResults) -> None:
    st.markdown("**How often does each rule apply?**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times = long_run.how_many("align_times")
        about = (results.draw.scenario, results.draw.population.key, times)
        start = long_run.start_button(_NAME, "Collect again and again", about)
    run = partial(last_of, partial(count_alignment, results.draw, times), attrgetter("n_collections"))
    k = results.draw.scenario.k
    counts: AlignmentCounts | None = long_run.outcome(
        start, _NAME, about, times, "collections", run, k=k, shared=results.is_shared
    )
    if counts is None:
        st.caption("The same users report again and again with new noise; each time the rules are checked.")
        return
    if counts.n_collections < times:
        long_run.stopped(counts.n_collections, times, "collections")
    left, right = st.columns(2, gap="medium")
    with left:
        chart.show(geometry_line.alignment_shares(counts), "align_shares")
    with right:
        if counts.n_off_line:
            chart.show(geometry_line.off_line_histogram(counts), "align_off")
        else:
            st.markdown(
                "In every one of these collections the three lie on one line or are one point: none is off it."
            )


def _push_down(results: DrawResults) -> None:
    st.markdown(
        "**Push one category down.** Take reports away from a category that all three repairs keep, and give them to the "
        "most reported other one. **Try:** at which counts does MLE\\* leave the line, and does it come back?"
    )
    candidates = results.geometry.push_down_candidates
    labels = results.draw.population.labels

    def label(category: int) -> str:
        name = f"category {category + 1}" if labels is None else plain(labels[category])
        return f"{name} ({results.draw.counts[category]:,} reports)"

    left, right = st.columns([2, 3], gap="medium")
    with left:
        category = st.selectbox(
            "Category", candidates, format_func=label, key="push_category", persist_state="page"
        )
        # With equal supports the toggle would change nothing: only the sum of what all three drop matters.
        equalize = not results.geometry.collinearity.same_support and st.toggle(
            "Begin with equal supports",
            True,
            key="push_level",
            persist_state="page",
            help="Spreads the reports of the categories that InvP drops evenly among them. Then all of them are below "
            "q, every repair drops them, and InvP stays where it is. Off: the reports as they are.",
        )
        pushed = results.geometry.push_down(category, equalize)
        index = _pick_count(pushed, category)
        chart.show(geometry_line.repairs_plane(pushed.collinearity_at(index)), "pushed_plane")
    with right:
        chart.show(geometry_line.push_down_curves(pushed, index), "pushed_curve")


def _pick_count(pushed: PushDown, category: int) -> int:
    """Index in ``pushed.counts`` of the chosen count; initially that of the category's own count."""
    counts = pushed.counts.tolist()
    chosen: int = st.select_slider(
        "Its reports",
        counts,
        value=counts[-1],
        format_func="{:,}".format,
        key=f"push_count_{category}_{counts[-1]}",
        persist_state="page",
    )
    index: int = counts.index(chosen)
    return index
