"""The estimators compared: what each promises, costs, and when it is best."""

from __future__ import annotations

from functools import cache

import streamlit as st

from pages._ui.reference.entries import Entry, stacked, table
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS
from rr_core.experiments.ranking import Standing, standing
from rr_core.experiments.storage import stored_result
from rr_core.figures.wording import about

PROMISE = "what each promises, what it costs, when it is best"

_CLOSE = 1.5  # times the smallest mean error: close to it
_HEAD = ("", "Inv", "InvN", "InvP", "MLE\\*", "IBU")
_PROMISES = (
    ("Valid", "no", "**yes**", "**yes**", "**yes**", "**yes**"),
    ("Unbiased", "**yes**", "no", "no", "no", "no"),
    ("Is the MLE", "no", "no", "no", "**yes**", "limit"),
    ("Consistent", "**yes**", "**yes**", "**yes**", "**yes**", "limit"),
)
_COSTS = (
    ("Inv", "$O(K)$", "none; sums to 1 with negatives"),
    ("InvN", "$O(K)$", "where Inv $\\le 0$: the fewest"),
    ("InvP", "$O(K)$ + sort", "the most"),
    ("MLE\\*", "$O(K)$ + sort", "at least InvN's, at most InvP's"),
    ("IBU", "$O(K)$ + sort, then $O(D)$ a step", "none: they shrink step by step"),
)


@cache
def best() -> tuple[Entry, ...]:
    """When each is best, with what the runs of the paper's grid show."""
    grid = standing(stored_result(MAIN_GRID), "mse", _CLOSE)
    return (
        Entry(
            "Inv",
            "when estimates will be added or averaged (over weeks, over groups) or need an interval: it is the only one "
            "that is right on average. Not as a histogram to show.",
            "when best",
        ),
        Entry(
            "InvN",
            f"had the smallest mean squared error, beyond chance, in {_of(grid, 'inv_n')}.",
            "when best norm-mul",
        ),
        Entry("InvP", f"had it, beyond chance, in {_of(grid, 'inv_p')}.", "when best norm-sub"),
        Entry(
            "MLE\\*",
            f"had it, beyond chance, in {_of(grid, 'mle_star')} ({grid.n_unsettled:,} are open). By the means of "
            f"{MAIN_SETTINGS.seeds} collections its own was at most {_CLOSE:g} times the smallest in {grid.n_close:,}, "
            f"and at worst {about(grid.worst_ratio)} it. No distribution fits the reports better.",
            "when best never the worst",
        ),
        Entry(
            "IBU",
            "when the channel is not k-RR and no closed form is known. For k-RR it tends to MLE\\*, from a start "
            "without zeros.",
            "when best EM",
        ),
    )


def _of(grid: Standing, name: str) -> str:
    return f"{grid.n_best[name]:,} of the {grid.n_different:,} settings of the paper's grid where the three differ"


def entries() -> tuple[Entry, ...]:
    promised = (
        Entry(f"{name}: {row[0].lower()}?", answer, "estimators compared")
        for row in _PROMISES
        for name, answer in zip(_HEAD[1:], row[1:], strict=True)
    )
    costs = (Entry(f"{name}: cost, zeros", f"{cost}; zeros: {zeros}.") for name, cost, zeros in _COSTS)
    return (*best(), *promised, *costs)


def show() -> None:
    st.subheader("What each promises")
    table(_HEAD, _PROMISES)
    st.markdown(
        "*Valid*: always a distribution. *Unbiased*: right on average over collections. *Consistent*: right in the "
        "limit of infinitely many users, for fixed $K$ and $ε$. *Limit*: only if IBU runs to convergence; stopped "
        "after a fixed number of steps it is neither. No estimator is both valid and unbiased: at the edge of the "
        "simplex a valid one can only err inwards (paper, section 5.2). Where Inv has no negative, it is valid and "
        "the MLE, and InvN, InvP and MLE\\* are the same."
    )
    st.subheader("What it costs, and what it sets to zero")
    table(("Estimator", "Time here", "Categories set to zero"), _COSTS)
    st.markdown(
        "The sort is over the $D$ distinct counts, a few dozen in the preset of 1,423,000 categories. By the paper's "
        "Table 1: $O(K)$ for Inv and InvN, $O(K\\log K)$ for InvP and MLE\\*, $O(K)$ per step for IBU."
    )
    st.subheader("When each is best")
    stacked(best())
    st.caption(
        f"The paper's grid: {len(MAIN_GRID):,} settings of K, N, ε and s, see Experiments. Other names of each: see "
        "Names. Formulas and sources: see Formulas."
    )
