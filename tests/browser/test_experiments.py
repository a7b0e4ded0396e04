"""Experiments in a real browser, with real background processes: a run that is stopped and resumed, and
a click on the map."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

CENTRE = """(plot, [x, y]) => { const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.x + xaxis._offset + xaxis.c2p(x), box.y + yaxis._offset + yaxis.c2p(y)] }"""


def press(lab, name):
    """Press a button on a page that draws itself anew while something runs, and is never at rest then."""
    lab.page.get_by_role("button", name=name, exact=True).click(delay=80)


def wait_for(lab, text):
    """A run gives way to other tests' browsers, so it may take its time."""
    lab.page.get_by_text(re.compile(text)).first.wait_for(timeout=150_000)


def reading(lab, key):
    return lab.page.locator(f".st-key-{key}").get_by_role("figure").get_attribute("aria-label")


def test_a_run_is_stopped_and_resumed(open_lab):
    """Saved, opened and compared: tests/app/test_experiments_page.py."""
    lab = open_lab("/experiments?sweep=2a")
    assert lab.page.get_by_role("combobox", name="Sweep").input_value() == "Figure 2a: MSE along ε"
    assert "Smallest mean squared error, in these 30 cells" in reading(lab, "exp_curves")
    stored = lab.figure("exp_curves")
    press(lab, "Run it again")
    press(lab, "Run")
    wait_for(lab, r"^[1-9]\d* of 50 cells")
    press(lab, "Stop")
    wait_for(lab, r"Stopped after [1-9]\d* of 50 cells")
    press(lab, "Resume")
    for state in ("visible", "hidden"):
        lab.page.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True).wait_for(
            state=state, timeout=150_000
        )
    lab.settle()
    assert lab.figure("exp_curves") == stored  # the same collections


def test_a_click_on_the_map_offers_its_cell_and_back_brings_the_scenario_from_before(open_lab):
    lab = open_lab("/experiments?dist=uniform&k=7&eps=1.5&n=50&seed=3")
    chart = lab.chart("exp_map")
    chart.scroll_into_view_if_needed()
    before, seen = lab.query, reading(lab, "exp_map")
    with lab.rerun():
        lab.page.mouse.click(*chart.evaluate(CENTRE, [3, 2]), delay=60)  # the fourth ε, the third N
    assert (lab.path, lab.query) == ("/experiments", before)
    assert lab.sidebar()["Exact N"] == "50"
    offer = lab.page.get_by_role("link", name="Open this cell: Which repair should I use?")
    assert lab.page.get_by_role("combobox", name="Cell to open").input_value() == "ε = 4, N = 10,000"
    assert offer.bounding_box()["y"] + offer.bounding_box()["height"] < lab.page.viewport_size["height"]
    frames = "plot => plot.data.filter(trace => trace.name === 'chosen cell').map(trace => [trace.x[0], trace.y[0]])"
    assert [[round(x + 0.485), round(y + 0.475)] for x, y in chart.evaluate(frames)] == [[3, 2]] * 2
    with lab.rerun():
        offer.click(delay=80)
    lab.page.wait_for_url(lambda url: urlsplit(url).path == "/estimators")
    lab.settle()
    cell = {"dist": "zipf", "k": "50", "s": "1.3", "eps": "4", "n": "10000", "seed": "3"}
    assert {name: lab.query.get(name) for name in cell} == cell
    assert lab.sidebar()["Exact N"] == "10,000"
    assert lab.chart("estimators").count() == 1
    lab.back()
    assert (lab.path, lab.query) == ("/experiments", before)
    assert lab.sidebar()["Exact N"] == "50"
    assert reading(lab, "exp_map") == seen
    lab.forward()
    assert {name: lab.query.get(name) for name in cell} == cell
