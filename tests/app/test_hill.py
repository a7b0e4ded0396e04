"""The likelihood as a hill: what the page hands to the browser."""

from __future__ import annotations

from rr_core.figures.style import QUANTITIES
from rr_core.lesson import lesson
from tests.app.opening import components, opened


def test_the_page_hands_the_storys_reports_and_their_best_shares_to_the_browser_whatever_the_scenario():
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
