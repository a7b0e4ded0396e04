"""Links: the first request to a fresh server, page switches, a second browser, and wrong values."""

from __future__ import annotations

import pytest

from rr_core import Scenario
from tests.browser import expected
from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import LEAD

ADDRESSES = {
    "Home": "/",
    "Noisy histogram": "/noisy_histogram",
    "Inv and its negatives": "/inv_negatives",
    "Estimators": "/estimators",
    "Geometry": "/geometry",
    "IBU → MLE*": "/ibu",
    "Experiments": "/experiments",
    "Plan": "/plan",
    "Your reports": "/your_reports",
    "Reference": "/reference",
}
NAVIGATION = list(ADDRESSES)
QUESTIONS = {
    "Home": "How can a survey learn the truth from answers that lie?",
    "Noisy histogram": "What does the noise do to a histogram?",
    "Inv and its negatives": "Why can the unbiased estimate give negative shares?",
    "Estimators": "Which repair of the negatives comes closest to the truth?",
    "Geometry": "Where do the three repairs lie, and why is MLE* in the middle?",
    "IBU → MLE*": "How many iterations does IBU need, and when may it stop?",
    "Experiments": "Do the paper's claims hold, and which estimate wins where?",
    "Plan": "How many people, and how much privacy, does my survey need?",
    "Your reports": "What do my collected reports say, and how sure is it?",
    "Reference": "What does this symbol, name or formula mean?",
}


def links_of_navigation(lab):
    return lab.page.get_by_test_id("stSidebar").get_by_role("link").all_inner_texts()


def title(lab):
    return lab.page.get_by_role("heading", level=1).inner_text().strip()


def names_in(lab):
    return [text.strip().splitlines()[-1] for text in links_of_navigation(lab)]


@pytest.mark.journey
def test_first_request_to_a_fresh_server_is_a_deep_link(fresh_server, open_lab):
    lab = open_lab(f"/estimators?{LINK}", on=fresh_server, stranger=True)
    assert title(lab) == QUESTIONS["Estimators"]
    assert names_in(lab) == NAVIGATION
    assert lab.sidebar() == SIDEBAR
    errors, zeros = expected.without_marks(lab.table())
    assert expected.differing_errors(errors, expected.drawn()) == []
    assert zeros == expected.zeros_as_shown(expected.drawn())
    assert "InvN sets" in (lab.page.get_by_role("figure").first.get_attribute("aria-label") or "")
    assert (lab.path, lab.query) == ("/estimators", QUERY)
    assert lab.alerts() == []


def test_first_request_to_a_fresh_server_is_the_page_without_a_scenario(fresh_server, open_lab):
    lab = open_lab(f"/reference?{LINK}", on=fresh_server, stranger=True)
    assert title(lab) == QUESTIONS["Reference"]
    assert names_in(lab) == NAVIGATION
    assert (lab.path, lab.query) == ("/reference", QUERY)
    lab.go("Inv and its negatives")
    assert lab.sidebar() == SIDEBAR


def test_links_of_the_navigation_lead_to_the_scenario_in_a_new_tab_too(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    links = lab.page.get_by_test_id("stSidebar").get_by_role("link").all()
    targets = dict(zip(NAVIGATION, [link.evaluate("a => a.href") for link in links], strict=True))
    # Streamlit 1.67 writes Home's link as "?...", which a new tab opens as the current page.
    assert targets.pop("Home").endswith(LINK)
    assert targets == {label: f"{lab.server}{ADDRESSES[label]}?{LINK}" for label in targets}


def test_copied_address_opens_the_same_numbers_in_a_second_browser(open_lab):
    first = open_lab(f"/estimators?{LINK}")
    first.slide("Privacy ε")
    first.type("Exact N", 54_321)
    first.press("New draw")
    for label in ("Estimators", "Home"):  # the page harness opens every page by its link
        first.go(label)
        second = open_lab(first.page.url, stranger=label == "Estimators")
        assert second.sidebar() == first.sidebar()
        assert second.numbers() == first.numbers()
        assert second.figure(LEAD[label]) == first.figure(LEAD[label])
        assert second.query == first.query
    assert first.query["n"] == "54321"
    assert first.query["seed"] == "8"
    assert float(first.query["eps"]) > 2


def test_wrong_value_in_a_link_gives_one_plain_sentence(open_lab):
    lab = open_lab("/noisy_histogram?dist=%3Cimg%20src=x%20onerror=alert(1)%3E")
    (sentence,) = lab.alerts()
    assert "distribution" in sentence
    assert "<img src=x" in sentence
    assert lab.chart("noisy_histogram").count() == 1
    assert lab.page.get_by_test_id("stMain").locator("img").count() == 0
    assert lab.query == Scenario().to_query()
    lab.press("New draw")
    assert lab.alerts() == []
