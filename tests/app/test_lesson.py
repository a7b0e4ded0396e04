"""The story on the home page, its hill, and the lesson's scenes: what the pages hand to the browser, and when."""

from __future__ import annotations

import json
import random
import re
from functools import cache

import pytest

from pages._ui.lesson import PROGRESS, Progress, kept_page, scene_data, teachers_sheet
from rr_core.figures.style import QUANTITIES
from rr_core.lesson import SCENES, SEED, Posed, Scene, lesson
from rr_core.lesson.scene import NumberQuestion, scene
from tests.app.opening import Dial, checked, components, opened
from tests.core.test_scenes import predictions
from tests.sentences import recomputes
from tests.sentences.spoken import tells

END = len(SCENES) + 1
# All that is sent of a scene before its reader has predicted something.
BEFORE = {
    *("number", "of", "key", "draw", "title", "before", "question", "picture", "said", "colours", "answered")
}


def story_data(page):
    found = [data for _, data in components(page)]
    (data,) = [data for data in found if "true_counts" in data]
    return data


def test_home_hands_the_cores_survey_to_the_browser():
    page, survey = opened("", "eps=2&n=3000"), lesson()
    data = story_data(page)
    assert (data["n"], data["answers"]) == (2000, list(survey.answers))
    assert data["true_counts"] == list(survey.true_counts)
    for sent, step in zip(data["steps"], survey.steps, strict=True):
        assert (sent["epsilon"], sent["keep"], sent["p"]) == (step.epsilon, step.keep, step.p)
        for name in ("counts", "inv", "inv_n", "inv_p", "mle_star"):
            assert sent[name] == list(getattr(step, name))
    assert data["steps"][data["first"]]["epsilon"] == 0.5
    assert data["colours"]["mle_star"] == QUANTITIES["mle_star"].colour
    assert (data["query"]["eps"], data["query"]["n"]) == ("2", "3000")


def test_the_hill_has_the_storys_reports_and_their_best_shares_whatever_the_scenario():
    page, survey = opened("estimators", "part=hill&eps=2&n=3000&truth=hidden"), lesson()
    (data,) = [data for _, data in components(page) if "people" in data]
    assert data["answers"] == list(survey.answers)
    assert data["people"] == [survey.n / 20, survey.n, 20 * survey.n]
    for sent, step in zip(data["steps"], survey.steps, strict=True):
        assert (sent["epsilon"], sent["keep"], sent["p"]) == (step.epsilon, step.keep, step.p)
        assert sent["counts"] == list(step.counts)
        assert sent["mle_star"] == list(step.mle_star)
    assert data["steps"][data["first"]]["epsilon"] == 1
    assert data["colours"]["mle_star"] == QUANTITIES["mle_star"].colour


def shown(page):
    """The scene as it is sent, and its data."""
    (found,) = [(proto, data) for proto, data in components(page) if "question" in data and "of" in data]
    return found


def tell(page, event, value):
    """What the browser tells the page of."""
    proto, _ = shown(page)
    dial = Dial(page, proto, {"label": "", "value": 0, "error": "", "stops": []}, 0)
    return checked(dial.tell(event, value))


def progress(page):
    return page.session_state["_lesson"][0]


@cache
def posed_by(about, draw=0):
    return about.pose(SEED + draw)


def other_than_answer(posed):
    """A prediction that misses."""
    return next(said for said in predictions(posed.question, random.Random(0)) if said != posed.answer)


@pytest.mark.parametrize("number", range(1, END))
def test_nothing_of_the_answer_is_sent_before_the_prediction(number):
    draw = number % 2
    page, posed = opened("lesson", f"scene={number}&draw={draw}"), posed_by(SCENES[number - 1], draw)
    _, sent = shown(page)
    assert set(sent) == BEFORE
    assert (sent["answered"], sent["said"]) == (None, None)
    text = json.dumps(sent, ensure_ascii=False)
    hidden = [posed.after(posed.answer), *(frame.caption for frame in posed.frames)]
    hidden += [json.dumps(frame.picture) for frame in posed.frames if frame.picture != posed.picture]
    assert not [one for one in hidden if one in text]
    on_page = [one.value for one in (*page.main.markdown, *page.main.caption)]
    assert not [one for one in hidden if any(one in line for line in on_page)]
    address = PROGRESS.write(progress(page))
    assert {name: text for name, text in address.items() if text} == {"scene": str(number)} | (
        {"draw": "1"} if draw else {}
    )
    assert posed.question.words(posed.answer) not in kept_page(progress(page)) or isinstance(
        posed.question, NumberQuestion
    )


@pytest.mark.parametrize("number", [1, 5, END - 1])
def test_a_prediction_brings_the_answer_and_stands_in_the_link(number):
    about = SCENES[number - 1]
    page, posed = opened("lesson", f"scene={number}"), posed_by(about)
    for said in (other_than_answer(posed), posed.answer):
        page = tell(page, "predicts", {"scene": about.key, "values": list(said)})
        _, sent = shown(page)
        assert sent["said"] == list(said)
        assert sent["answered"]["after"] == posed.after(said)
        assert [frame["caption"] for frame in sent["answered"]["frames"]] == [
            one.caption for one in posed.frames
        ]
        address = PROGRESS.write(progress(page))
        assert address[f"said_{about.key}"] == Scene.format(said)
        again = opened("lesson", f"scene={number}&said_{about.key}={Scene.format(said)}")
        assert shown(again)[1] == sent
    page = tell(page, "goes", {"to": "anew"})
    assert (progress(page).draw, progress(page).said) == (1, {})
    assert shown(page)[1]["answered"] is None


def test_the_way_leads_on_to_the_end_and_back():
    page = opened("lesson")
    for number in range(1, END):
        assert shown(page)[1]["number"] == number
        page = tell(page, "goes", {"to": number + 1})
    assert not [data for _, data in components(page) if "of" in data]
    page = checked(next(one for one in page.button if one.label == "Back to the first scene").click().run())
    assert shown(page)[1]["number"] == 1


@pytest.mark.parametrize("event", ["predicts", "goes"])
def test_what_no_button_tells_changes_nothing(event):
    page = opened("lesson", "scene=2")
    before = progress(page)
    for value in (None, 7, "x", [], {}, {"to": 0}, {"to": 99}, {"to": "end"}, {"to": 1.5}, {"scene": "crowd"},
                  {"scene": "crowd", "values": [1]}, {"scene": "crowd", "values": ["a"]}, {"scene": [], "values": {}},
                  {"scene": "nobody", "values": [1]}, {"scene": "crowd", "values": [-20, 120, 0, 0, 0]}):  # fmt: skip
        page = tell(page, event, value)
        assert progress(page) == before


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("scene=0", "scene"),
        ("scene=12", "outside"),
        ("said_crowd=1.2", "The crowd still shows"),
        ("said_closest=<b>", "closest"),
    ],
)
def test_a_wrong_link_is_told_in_one_sentence(query, word):
    page = opened("lesson", query)
    (note,) = page.warning
    assert word in note.value
    assert 1 <= progress(page).scene <= END
    assert progress(page).said == {}


@recomputes("pages/_ui/lesson.py::_end", "pages/_ui/lesson.py::kept_page")
def test_the_end_has_predictions_beside_answers_and_a_page_to_keep():
    for wanted in ((), ("coin", "crowd", "repairs"), tuple(about.key for about in SCENES)):
        said = {about.key: other_than_answer(posed_by(about, 1)) for about in SCENES if about.key in wanted}
        query = "&".join(f"said_{key}={Scene.format(one)}" for key, one in said.items())
        page = opened("lesson", "&".join(filter(None, (f"scene={END}&draw=1", query))))
        _, first, remember = (one.value for one in page.main.markdown[:3])
        tells(first, *((len(wanted), len(SCENES)) if wanted else ()))
        assert remember.replace("\\", "").count("\n") == len(SCENES) - 1
        file = kept_page(progress(page))
        tells(re.search(r"Made with[^<]*", file)[0], 1)
        for about in SCENES:
            assert about.remember.replace("'", "&#39;") in file
            posed = posed_by(about, 1)
            row = re.search(rf"<tr><td>{re.escape(about.title)}</td><td>([^<]*)</td><td>([^<]*)</td>", file)
            expected = (
                [posed.question.words(said[about.key]), posed.question.words(posed.answer)]
                if about.key in said
                else ["", ""]
            )
            assert [text.replace("&#39;", "'") for text in row.groups()] == expected
        assert "<script" not in file
        assert "http" not in file


def test_the_teachers_sheet_has_every_scene():
    sheet = teachers_sheet()
    for about in SCENES:
        for text in (about.title, about.aim, about.belief, about.ask):
            assert text.replace("'", "&#39;") in sheet


def test_a_teacher_adds_a_scene_in_twenty_lines(monkeypatch):
    """The example of CONTRIBUTING, run as it stands there."""
    from tests.documents import ROOT

    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a scene")[1]
    example = re.search(r"```python\n(.*?)```", recipe, re.DOTALL)[1]
    assert len(example.strip().splitlines()) <= 20
    monkeypatch.setattr("rr_core.lesson.scene.SCENES", added := [])
    exec(example, vars(__import__("rr_core.lesson.scenes", fromlist=["scenes"])) | {"scene": scene})
    (about,) = added
    posed = about.pose(SEED)
    assert isinstance(posed, Posed)
    assert posed.question.check(posed.answer)
    monkeypatch.setattr("pages._ui.lesson.SCENES", (about,))
    for said in (None, posed.answer, other_than_answer(posed)):
        data = scene_data(about, Progress(said={} if said is None else {about.key: said}))
        json.dumps(data)
        assert (data["answered"] is None) == (said is None)
