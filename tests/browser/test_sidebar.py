"""The sidebar's widgets by keyboard, with downloads; those of the home page; and a long run that is stopped."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from playwright.sync_api import expect

from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import LABELS, PATIENCE, PROJECTOR


def test_the_keyboard_alone_goes_to_a_page_uses_its_widgets_and_downloads(open_lab):
    lab = open_lab(f"/?{LINK}")
    lab.tab_to(LABELS["Inv and its negatives"])
    with lab.rerun():
        lab.page.keyboard.press("Enter")
    lab.page.wait_for_url(lambda url: "/inv_negatives?" in url, timeout=PATIENCE)
    assert {name: lab.query[name] for name in QUERY} == QUERY
    figure = lab.figure("inv_negatives")
    lab.tab_to("New draw")
    with lab.rerun():
        lab.page.keyboard.press("Enter")
    assert (lab.query, lab.sidebar()) == ({**QUERY, "seed": "8"}, SIDEBAR)
    assert lab.figure("inv_negatives") != figure
    lab.tab_to("Privacy ε")
    with lab.rerun():
        lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_url(lambda url: "eps=2.24" in url, timeout=PATIENCE)
    html = lab.download("Download chart (HTML)").decode("utf-8")
    assert "Inv below zero" in html
    assert 'src="http' not in html
    script = lab.download("Download script (Python)").decode("utf-8")
    expect(lab.page.get_by_role("button", name="Download script (Python)")).to_be_focused()
    (query,) = re.findall(r"LINK = '/inv_negatives\?(.*)'", script)
    assert dict(parse_qsl(query)) == lab.query


def test_stop_keeps_what_was_done(open_lab):
    lab = open_lab("/estimators?dist=zipf&k=20000&s=1.1&eps=3&n=1000000&seed=11")
    lab.part("Repeat it")
    lab.pick("1,000")
    lab.page.get_by_role("button", name="Repeat", exact=True).click(delay=80)
    progress = lab.page.get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"\d+ of 1,000 collections"), timeout=PATIENCE)
    stop = lab.page.locator(".st-key-repeat_stop button")  # Streamlit has a Stop of its own in the header
    with lab.rerun():
        stop.click(delay=80)
    stopped = re.search(r"Stopped after ([\d,]+) of 1,000 collections", lab.words())
    assert stopped, lab.alerts()
    assert 0 < int(stopped[1].replace(",", "")) < 1000
    assert progress.count() == stop.count() == 0
    reading = lab.page.locator(".st-key-error_distribution").get_by_role("figure").get_attribute("aria-label")
    assert f"{stopped[1]} collections" in (reading or "")
    lab.press("New draw")
    assert lab.chart("error_distribution").count() == 0  # results of another scenario are not shown


def test_home_has_the_storys_dial_alone_and_what_is_set_in_its_fold_is_that_of_the_next_page(open_lab):
    lab = open_lab(f"/?{LINK}", viewport=PROJECTOR)
    epsilon = lab.page.get_by_role("slider", name=re.compile("Privacy ε"))
    lab.page.get_by_role("radio").first.check(force=True)
    lab.page.locator(".rr-story").get_by_role("button", name="Next", exact=True).click()
    expect(epsilon).to_have_count(1)
    assert epsilon.get_attribute("aria-label") == "Privacy ε, in this story only"
    lab.unfold_widgets()
    expect(epsilon).to_have_count(2)
    assert lab.sidebar() == SIDEBAR
    present = lab.page.get_by_role("button", name="Present", exact=True)
    assert present.count() == 0  # there is no figure
    lab.slide("Privacy ε")
    lab.press("New draw")
    changed = {**QUERY, "eps": "2.24", "seed": "8"}
    lab.page.wait_for_url(lambda url: "seed=8" in url, timeout=PATIENCE)
    assert lab.query == changed
    lab.page.keyboard.press("p")
    lab.go("Noisy histogram")
    assert lab.query == changed
    assert lab.sidebar()["Privacy ε"] == "2.24"
    assert present.is_visible()
