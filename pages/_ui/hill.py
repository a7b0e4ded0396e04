"""The likelihood as a hill that one climbs: share bars that one drags, IBU's steps, the summit MLE* and the certificate.

A component of our own that runs wholly in the browser, on the reports of the story (`rr_core.lesson`): five answers are
few enough to drag their shares, and the hill is the same on every page.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from pages._ui.component import component
from rr_core.figures.style import QUANTITIES
from rr_core.lesson import lesson

_FIRST_EPSILON = 1.0
_FEWER, _MORE = 20, 20  # times as few, and times as many people whose reports have the same shares

_component = component(
    "hill",
    '<section class="rr-card" aria-label="The likelihood as a hill"></section>',
    scripts=("bars", "hill"),
    mounts="Hill",
)


def draw() -> None:
    """Draw the hill."""
    _component(key="hill", data=data())


@cache  # of the process: a visitor can empty those of Streamlit
def data() -> dict[str, Any]:
    """What the browser needs: the reports of the story and their MLE* at every epsilon, numbers of people, colours."""
    survey = lesson()
    return {
        "answers": survey.answers,
        "people": (survey.n // _FEWER, survey.n, survey.n * _MORE),
        "steps": [asdict(step) for step in survey.steps],
        "first": next(i for i, step in enumerate(survey.steps) if step.epsilon == _FIRST_EPSILON),
        "colours": {name: QUANTITIES[name].colour for name in ("observed", "mle_star", "ibu")},
    }
