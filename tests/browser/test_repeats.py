"""Repeated collections on the estimators page: progress, Stop, and what is kept."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.lab import PATIENCE

FIGURES = ("error_distribution", "bias_and_variance", "wins")


def test_stop_keeps_what_was_done(open_lab):
    lab = open_lab("/estimators?dist=zipf&k=20000&s=1.1&eps=3&n=1000000&seed=11")
    lab.pick("1,000")
    lab.page.get_by_role("button", name="Repeat", exact=True).click(delay=80)
    progress = lab.page.get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"\d+ of 1,000 collections"), timeout=PATIENCE)
    stop = lab.page.locator(".st-key-repeat_stop button")  # Streamlit has a Stop of its own in the header
    with lab.rerun():
        stop.click(delay=80)
    stopped = re.search(r"Stopped after ([\d,]+) of 1,000 collections", lab.words())
    assert stopped, lab.alerts()
    done = int(stopped[1].replace(",", ""))
    assert 0 < done < 1000
    assert progress.count() == stop.count() == 0
    for figure in FIGURES:
        assert lab.chart(figure).count() == 1
    reading = lab.page.locator(".st-key-error_distribution").get_by_role("figure").get_attribute("aria-label")
    assert f"{done:,} collections" in (reading or "")
    lab.press("New draw")
    assert lab.chart("error_distribution").count() == 0  # results of another scenario are not shown
