"""The estimators compared: what each promises, costs, and when it is best."""

from __future__ import annotations

import streamlit as st

from pages._ui.reference.entries import Entry, stacked, table

PROMISE = "what each promises, what it costs, when it is best"

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
BEST = (
    Entry(
        "Inv",
        "when estimates will be added or averaged (over weeks, over groups) or need an interval: it is the only one "
        "whose errors cancel. Not as a histogram to show.",
        "when best",
    ),
    Entry(
        "InvN", "on average the nearest to the truth when the shares are nearly equal.", "when best norm-mul"
    ),
    Entry(
        "InvP",
        "on average the nearest when a few categories hold nearly everything; it clears small ones most "
        "eagerly.",
        "when best norm-sub",
    ),
    Entry(
        "MLE\\*",
        "when you do not know which of the two it is. Its average error lies between theirs, often close to the "
        "better one, and nothing fits the reports better. **Never the worst is true of averages, not of every draw**: "
        "see *Misprints* for how often.",
        "when best never the worst",
    ),
    Entry(
        "IBU",
        "when the channel is not k-RR and no closed form is known. For k-RR MLE\\* is where it is heading.",
        "when best EM",
    ),
)


def entries() -> tuple[Entry, ...]:
    promised = (
        Entry(f"{name}: {row[0].lower()}?", answer, "estimators compared")
        for row in _PROMISES
        for name, answer in zip(_HEAD[1:], row[1:], strict=True)
    )
    costs = (Entry(f"{name}: cost, zeros", f"{cost}; zeros: {zeros}.") for name, cost, zeros in _COSTS)
    return (*BEST, *promised, *costs)


def show() -> None:
    st.subheader("What each promises")
    table(_HEAD, _PROMISES)
    st.markdown(
        "*Valid*: always a distribution. *Unbiased*: right on average over collections. *Consistent*: right in the "
        "limit of infinitely many users, for fixed $K$ and $ε$. *Limit*: only if IBU runs to convergence; stopped "
        "after a fixed number of steps it is neither. No estimator is both valid and unbiased: at the edge of the "
        "simplex a valid one can only err inwards (paper, section 5.2)."
    )
    st.subheader("What it costs, and what it sets to zero")
    table(("Estimator", "Time here", "Categories set to zero"), _COSTS)
    st.markdown(
        "The sort is over the $D$ distinct counts, about 40 of them at $K$ = 1,423,000. By the paper's Table 1: $O(K)$ "
        "for Inv and InvN, $O(K\\log K)$ for InvP and MLE\\*, $O(K)$ per step for IBU."
    )
    st.subheader("When each is best")
    stacked(BEST)
    st.caption("Other names of each: see Names. Formulas and sources: see Formulas.")
