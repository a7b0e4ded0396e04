"""The page's answer in one or two sentences: which estimate to report, and what MLE* costs."""

from __future__ import annotations

import streamlit as st

from pages._ui.experiments.kept import kept
from pages._ui.experiments.runs import Run
from pages._ui.safe_text import starred
from rr_core.experiments.grid import PRESETS
from rr_core.experiments.run import SweepResult
from rr_core.figures.experiments_sentences import answer_in_words

_WHAT = (
    "Simulated collections, thousands of them: in every setting the same users report again and again, and **InvN**, "
    "**InvP** and **MLE\\*** estimate their shares from the same reports."
)


def show(run: Run | None) -> None:
    """What the run on screen says, or else what the page is about."""
    said = sentence(run.result, _metric(run)) if run is not None and not run.active else ""
    st.markdown(said or _WHAT)


def sentence(result: SweepResult, metric: str) -> str:
    """Empty where the run cannot tell: no cell, or one of the three estimates or the error was left out."""
    return kept(result, ("answer", metric), lambda: starred(answer_in_words(result, metric)))


def _metric(run: Run) -> str:
    return PRESETS[run.key].metric if run.key in PRESETS else "mse"
