"""Beyond Theorem 2: equal supports are enough, how often that is so, and one count pushed down."""

from __future__ import annotations

import streamlit as st

from pages._ui import chart, long_run
from pages._ui.long_run import Progress
from pages._ui.work import Work
from rr_core.figures.labels import plain
from rr_core.figures.off_line import how_far_off, pushed_down, shares_of_draws
from rr_core.figures.plane import plane
from rr_core.geometry.alignment import Alignment, align
from rr_core.geometry.pushdown import PushDown
from rr_core.populations import UPLOAD
from rr_core.scenario import Draw

_NAME = "align"


def section(work: Work) -> None:
    """The wider rule, its argument, its share of draws, and a category that is pushed down."""
    st.subheader("Beyond the theorem: equal supports are enough")
    st.markdown(
        "Theorem 2 is about draws in which **one** category is cut off. But the three repairs lie on one line "
        "**whenever they keep the same categories**, however many are cut off, and MLE\\* is between the other two."
    )
    with st.expander("The argument in three lines"):
        st.markdown(_ARGUMENT)
    _draws(work)
    _push(work)


_ARGUMENT = r"""
1. On the categories that it keeps each repair is $\alpha\varphi_i + \beta$, and $0$ elsewhere. With $m$ of them kept,
   their share of reports $\Phi$, and $-\nu$ the sum of the negatives of Inv, the slope $\alpha$ is
   $\frac{1}{p-q}$ for InvP, $\frac{p-q+mq}{(p-q)\,\Phi}$ for MLE\*, and $\frac{1}{(1+\nu)(p-q)}$ for InvN.
2. If all three keep the same categories, each sums to one over them, which settles $\beta$ once $\alpha$ is known. The
   points $\alpha\varphi + \beta$ with fixed sum form a **line**, and all three are on it.
3. What is kept of Inv sums to $\frac{\Phi - mq}{p-q} = 1 + \nu > 1$, so that $\Phi > p - q + mq$. Put into the slopes of
   step 1 this orders them: InvP's is the largest and InvN's the smallest, with MLE\*'s **in between**.

When the supports differ, the three rules are about different categories, and MLE\* may be off the line.
"""


def _draws(work: Work) -> None:
    st.markdown("**How often does each rule apply?**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times = long_run.how_many("align_times")
        about = (work.scenario, work.draw.population.key, times)
        asked = long_run.offer(_NAME, "Collect again and again", about)
    if asked:
        shared = work.scenario.dist != UPLOAD
        long_run.follow(
            _NAME, about, times, "collections", lambda told: _run(work.draw, times, told), shared=shared
        )
    found: Alignment | None = long_run.result(_NAME, about)
    if found is None:
        st.caption("The same users report again and again with new noise; each time the rules are checked.")
        return
    if found.done < times:
        long_run.stopped(found.done, times, "collections")
    left, right = st.columns(2, gap="medium")
    with left:
        chart.show(shares_of_draws(found), "align_shares")
    with right:
        if found.n_off:
            chart.show(how_far_off(found), "align_off")
        else:
            st.markdown(
                "In every one of these collections the three lie on one line or are one point: none is off it."
            )


def _run(draw: Draw, times: int, told: Progress) -> Alignment:
    result = Alignment()
    for result in align(draw, times):
        if told(result.done):
            break
    return result


def _push(work: Work) -> None:
    st.markdown(
        "**Push one category down.** Take reports away from a category that all three repairs keep, and give them to the "
        "most reported other one. **Try:** at which counts does MLE\\* leave the line, and does it come back?"
    )
    candidates = work.geometry.candidates
    labels = work.draw.population.labels

    def called(category: int) -> str:
        name = f"category {category + 1}" if labels is None else plain(labels[category])
        return f"{name} ({work.draw.counts[category]:,} reports)"

    left, right = st.columns([2, 3], gap="medium")
    with left:
        category = st.selectbox("Category", candidates, format_func=called, key="push_category")
        # With equal supports the toggle would change nothing: only the sum of what all three drop matters.
        level = not work.geometry.place.same_support and st.toggle(
            "Begin with equal supports",
            True,
            key="push_level",
            help="Spreads the reports of the categories that InvP drops evenly among them. Then all of them are below "
            "q, every repair drops them, and InvP stays where it is. Off: the reports as they are.",
        )
        found = work.geometry.push_down(category, level)
        now = _pick_count(found, category)
        chart.show(plane(found.at(now)), "pushed_plane")
    with right:
        chart.show(pushed_down(found, now), "pushed_curve")


def _pick_count(found: PushDown, category: int) -> int:
    """Position of the count that is chosen; the category's own to begin with."""
    counts = found.counts.tolist()
    chosen: int = st.select_slider(
        "Its reports",
        counts,
        value=counts[-1],
        format_func="{:,}".format,
        key=f"push_count_{category}_{counts[-1]}",
    )
    position: int = counts.index(chosen)
    return position
