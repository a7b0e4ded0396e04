"""The story at the head of the home page, the hill of the likelihood, and the lesson's scenes.

The story is a component of our own that runs wholly in the browser: it sends nothing, so that no answer leaves the
screen, and asks nothing of the server. A scene is one that asks first: it tells a prediction, and only then the server
sends the answer. Predictions stand in the link and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import streamlit as st

from pages._ui import downloads, link, navigation
from pages._ui.component import component, told
from pages._ui.link import Binding
from rr_core import parameters
from rr_core.figures.style import QUANTITIES
from rr_core.lesson import SCENES, SEED, Posed, Scene, lesson, mean_errors
from rr_core.parameters import Number
from rr_core.words.phrases import table

_QUESTION = "How did you pass the last exam that you were not ready for?"
_FIRST_EPSILON = 0.5

_COLOURED = ("truth", "observed", "inv", "inv_n", "inv_p", "mle_star")

_component = component(
    "lesson",
    '<section class="rr-card rr-story" aria-label="Randomized response, a story"></section>',
    scripts=("bars", "lesson"),
    mounts="Story",
)


_lesson = cache(lesson)  # of the process: a visitor can empty those of Streamlit


@cache
def _usual() -> list[dict[str, float]]:
    """How far off each repair is on average, over many surveys of the story's people, at every ε."""
    survey = _lesson()
    return [mean_errors(np.array(survey.true_counts), step.epsilon) for step in survey.steps]


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
        "usual": _usual(),
        "first": next(i for i, step in enumerate(survey.steps) if step.epsilon == _FIRST_EPSILON),
        "colours": {name: QUANTITIES[name].colour for name in _COLOURED},
        "query": {**link.current().to_query(), **link.manner_to_query()},
    }


# The likelihood as a hill that one climbs: share bars that one drags, IBU's steps, the summit MLE* and the certificate.
# It is about the reports of the story: five answers are few enough to drag their shares, and it is the same everywhere.
_FIRST_HILL = 1.0  # its first ε
_FEWER, _MORE = 20, 20  # times as few, and times as many people whose reports have the same shares
_hill = component(
    "hill",
    '<section class="rr-card" aria-label="The likelihood as a hill"></section>',
    scripts=("bars", "hill"),
    mounts="Hill",
)


def draw_hill() -> None:
    """Draw the hill."""
    _hill(key="hill", data=_hill_data())


@cache  # of the process: a visitor can empty those of Streamlit
def _hill_data() -> dict[str, Any]:
    """What the browser needs: the reports of the story and their MLE* at every epsilon, numbers of people, colours."""
    survey = _lesson()
    return {
        "answers": survey.answers,
        "people": (survey.n // _FEWER, survey.n, survey.n * _MORE),
        "steps": [asdict(step) for step in survey.steps],
        "first": next(i for i, step in enumerate(survey.steps) if step.epsilon == _FIRST_HILL),
        "colours": {name: QUANTITIES[name].colour for name in ("observed", "mle_star", "ibu")},
    }


_END = len(SCENES) + 1
_PLACE = (
    Number("scene", "scene", "scene", 1, _END, whole=True),
    Number("draw", "draw", "draw", 0, 9999, whole=True),
)
_ANSWER = (
    "At small ε one report proves little; many together still tell the shares."  # to the lesson's question
)
_SAID = "said_"  # before a scene's key: its prediction in a link


@dataclass(frozen=True)
class Progress:
    """How far a reader has come: the scene on screen, from 1 (one more than there are is the end), the number of the dice
    that all scenes share, and the prediction by key of the scene."""

    scene: int = 1
    draw: int = 0
    said: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def _read(query: Mapping[str, str]) -> tuple[Progress, tuple[str, ...]] | None:
    names = {_SAID + scene.key: scene for scene in SCENES}
    if query.keys().isdisjoint((*names, *(one.parameter for one in _PLACE))):
        return None
    progress, notes = parameters.read(_PLACE, query, Progress())
    said: dict[str, tuple[int, ...]] = {}
    for name, scene in names.items():
        if name in query:
            prediction, note = scene.parse(query[name])
            notes += (note,) if note else ()
            said |= {} if prediction is None else {scene.key: prediction}
    return replace(progress, said=said), notes


def _write(progress: Progress) -> dict[str, str | None]:
    said = {_SAID + scene.key: None for scene in SCENES} | {
        _SAID + key: Scene.format(prediction) for key, prediction in progress.said.items()
    }
    return {"scene": str(progress.scene), "draw": str(progress.draw) if progress.draw else None, **said}


PROGRESS = Binding("_lesson", Progress(), _read, _write)
_scene = component(
    "scene",
    '<section class="rr-card rr-story rr-scene" aria-label="A scene of the lesson"></section>',
    scripts=("bars", "lesson", "hill", "scene"),
    mounts="Scene",
)


def _posed(scene: Scene, draw: int) -> Posed:
    return scene.pose(SEED + draw)


def scene_or_end() -> None:
    """Draw the scene on screen, or the page to keep when all are over."""
    progress = PROGRESS.current()
    if progress.scene == _END:
        _end(progress)
        return
    scene = SCENES[progress.scene - 1]
    _scene(
        key="scene",
        data=scene_data(scene, progress),
        on_predicts_change=_predicted,
        on_goes_change=_goes,
    )


def scene_data(scene: Scene, progress: Progress) -> dict[str, Any]:
    """What the browser is sent of a scene: without a prediction nothing of the answer."""
    posed, said = _posed(scene, progress.draw), progress.said.get(scene.key)
    return {
        "number": SCENES.index(scene) + 1,
        "of": len(SCENES),
        "key": scene.key,
        "draw": progress.draw,
        "title": scene.title,
        "before": posed.before,
        "question": posed.question.for_browser(),
        "picture": posed.picture,
        "said": said,
        "colours": {name: QUANTITIES[name].colour for name in (*_COLOURED, "ibu")},
        "answered": None
        if said is None
        else {
            "recall": posed.recall,
            "after": posed.after(said),
            "dial": posed.dial,
            "frames": [asdict(frame) for frame in posed.frames],
            "first": posed.first % len(posed.frames),
            "reveal": list(posed.reveal),
            "you": {"name": f"you: {posed.question.words(said)}", **posed.mark(said)},
            "hill": _hill_data() if posed.climb else None,
        },
    }


def _predicted() -> None:
    event, progress = told("scene").get("predicts"), PROGRESS.current()
    if not isinstance(event, dict):
        return
    scene, values = next((one for one in SCENES if one.key == event.get("scene")), None), event.get("values")
    if scene is None:
        return
    text = ".".join(map(str, values)) if isinstance(values, list) else ""
    prediction, _ = scene.parse(text)
    if prediction is not None:
        PROGRESS.change(replace(progress, said={**progress.said, scene.key: prediction}))


def _goes() -> None:
    event, progress = told("scene").get("goes"), PROGRESS.current()
    to: object = event.get("to") if isinstance(event, dict) else None
    if to == "anew":
        scene = SCENES[min(progress.scene, len(SCENES)) - 1]
        others = {name: said for name, said in progress.said.items() if name != scene.key}
        PROGRESS.change(replace(progress, draw=(progress.draw + 1) % 10_000, said=others))
    elif isinstance(to, int) and 1 <= to <= _END:
        PROGRESS.change(replace(progress, scene=to))


def _end(progress: Progress) -> None:
    """Predictions beside answers, the ten sentences to remember, and the file that has both."""
    said = sum(scene.key in progress.said for scene in SCENES)
    st.markdown(f"#### {_ANSWER}")
    told = f"You predicted in {said} of {len(SCENES)} scenes. " if said else ""
    st.markdown(f"{told}Ten sentences to remember:")
    st.markdown("\n".join(f"{i}. {scene.remember}".replace("*", "\\*") for i, scene in enumerate(SCENES, 1)))
    with st.container(horizontal=True):
        downloads.button(
            "Keep this page (HTML)",
            partial(kept_page, progress),
            "lesson.html",
            "lesson_kept",
            type="primary",
            width="content",
        )
        st.button("Back to the first scene", on_click=PROGRESS.change, args=(replace(progress, scene=1),))
    rows = [
        (scene.title, given or "–", answer)
        for scene, (given, answer) in zip(SCENES, _beside(progress), strict=True)
    ]
    with st.expander("Your predictions beside the answers"):
        st.markdown(table(("Scene", "You said", "It was"), "lll", rows).replace("*", "\\*"))


def _beside(progress: Progress) -> list[tuple[str, str]]:
    """Of each scene the prediction and the answer, in words; both empty where nothing was predicted."""
    beside = [("", "")] * len(SCENES)
    for i, scene in enumerate(SCENES):
        if (said := progress.said.get(scene.key)) is not None:
            posed = _posed(scene, progress.draw)
            beside[i] = posed.question.words(said), posed.question.words(posed.answer)
    return beside


def kept_page(progress: Progress) -> str:
    """The end of the lesson as one HTML file: predictions beside answers, sentences to remember, where to see more."""
    beside = zip(SCENES, _beside(progress), strict=True)
    return downloads.printed(
        title="The lesson",
        heading="What a coin is good for: ten sentences to remember",
        answer=_ANSWER,
        meaning=f"Made with the dice number {progress.draw}.",
        sections=[
            downloads.Section(
                "Ten sentences",
                "Each with the page that shows more.",
                ("", "To remember", "More on the page"),
                [
                    (str(i), scene.remember, navigation.BY_ADDRESS[scene.more.partition("?")[0]].question)
                    for i, scene in enumerate(SCENES, 1)
                ],
            ),
            downloads.Section(
                "Predictions beside answers",
                "Without a prediction the line is empty.",
                ("Scene", "Prediction", "Answer"),
                [(scene.title, said, answer) for scene, (said, answer) in beside],
            ),
        ],
        footer="Predictions stand in the address of the lesson and in this file, nowhere else.",
    )


def teachers_sheet() -> str:
    """The teacher's sheet, as one HTML file to print: of each scene aim, minutes, belief, and what to ask."""
    minutes = sum(scene.minutes for scene in SCENES)
    return downloads.printed(
        title="Teacher's sheet",
        heading="The lesson, for the teacher",
        answer=f"{len(SCENES)} scenes, {minutes} minutes. Each asks first: let the class predict before you press "
        "the button.",
        meaning="**Predict, see, say why.** Collect a few predictions aloud, and dwell on the wrong ones.",
        sections=[
            downloads.Section(
                f"{i}. {scene.title} ({scene.minutes} minutes)",
                f"**Aim:** {scene.aim} **A common belief:** {scene.belief} **Ask:** {scene.ask}",
            )
            for i, scene in enumerate(SCENES, 1)
        ],
        footer="Key + in the browser makes letters larger.",
    )


def for_teachers() -> None:
    """The teacher's sheet, folded."""
    with st.expander("For teachers"):
        st.caption("Aim, minutes, a common belief and what to ask, for all ten scenes.")
        downloads.button(
            "Teacher's sheet (HTML)", teachers_sheet, "teachers_sheet.html", "teachers_sheet", width="content"
        )
