"""The story at the head of the home page: what the page hands to the browser."""

from __future__ import annotations

from rr_core.figures.style import QUANTITIES
from rr_core.lesson import lesson
from tests.app.opening import components, opened


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
