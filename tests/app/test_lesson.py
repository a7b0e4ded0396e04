"""The story at the head of the home page: what the page hands to the browser."""

from __future__ import annotations

from rr_core.figures.style import QUANTITIES
from rr_core.lesson import lesson
from tests.app.opening import charts, components, opened


def story_data(page):
    found = [data for _, data in components(page)]
    (data,) = [data for data in found if "true_counts" in data]
    return data


def test_home_hands_the_cores_survey_to_the_browser_and_keeps_its_own_figure():
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
    assert len(charts(page)) == 1


def test_home_says_whose_the_dials_are_and_what_the_words_mean():
    page = opened("", "eps=2")
    said = "\n".join(block.value for block in page.markdown)
    assert (
        "Set them in the sidebar; the story above has five answers and its own ε, here are 12.\n\nOne answer leaves doubt"
        in said
    )
    (popover,) = [one for one in page.get("popover") if one.proto.popover.label == "What do the words mean?"]
    meanings = popover.markdown[0].value
    for title in ("Randomized response", "Epsilon (ε)", "MLE\\*", "Total variation"):
        assert f"**{title}**: " in meanings
