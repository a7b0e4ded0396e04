"""The story at the head of the home page: a sensitive question, a coin, 2,000 reports, a guess, the truth, and how it
comes back from the reports.

A component of our own that runs wholly in the browser: it sends nothing, so that no answer leaves the screen, and asks
nothing of the server.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from pages._ui import link
from pages._ui.component import component
from rr_core.figures.style import QUANTITIES
from rr_core.lesson import Lesson, lesson

_QUESTION = "How did you pass the last exam that you were not ready for?"
_FIRST_EPSILON = 0.5

_COLOURED = ("truth", "observed", "inv", "inv_n", "inv_p", "mle_star")

_component = component(
    "lesson",
    '<section class="rr-card rr-story" aria-label="Randomized response, a story"></section>',
    scripts=("bars", "lesson"),
    mounts="Story",
)


@cache  # of the process: a visitor can empty those of Streamlit
def _lesson() -> Lesson:
    return lesson()


def draw() -> None:
    """Draw the story."""
    _component(key="lesson", data=_data())


def _data() -> dict[str, Any]:
    """What the browser needs: the survey at every ε, colours, and the scenario that the last link carries."""
    survey = _lesson()
    return {
        "question": _QUESTION,
        "answers": survey.answers,
        "true_counts": survey.true_counts,
        "n": survey.n,
        "steps": [asdict(step) for step in survey.steps],
        "first": next(i for i, step in enumerate(survey.steps) if step.epsilon == _FIRST_EPSILON),
        "colours": {name: QUANTITIES[name].colour for name in _COLOURED},
        "query": {**link.current().to_query(), **link.manner_to_query()},
    }
