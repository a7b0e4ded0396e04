"""Experiments in a real browser: a click on the map. Runs: tests/app/test_experiments_page.py and tests/server."""

from __future__ import annotations

from urllib.parse import urlsplit

CENTRE = """(plot, [x, y]) => { const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.x + xaxis._offset + xaxis.c2p(x), box.y + yaxis._offset + yaxis.c2p(y)] }"""


def test_a_click_on_the_map_offers_its_cell_and_back_brings_the_scenario_from_before(open_lab):
    lab = open_lab("/experiments?dist=uniform&k=7&eps=1.5&n=50&seed=3")
    chart = lab.chart("exp_map")
    chart.scroll_into_view_if_needed()
    before = lab.query
    with lab.rerun():
        lab.page.mouse.click(*chart.evaluate(CENTRE, [3, 2]), delay=60)  # the fourth ε, the third N
    assert (lab.path, lab.query) == ("/experiments", before)
    assert lab.sidebar()["Exact N"] == "50"
    offer = lab.page.get_by_role("link", name="Open this cell: Which repair should I use?")
    assert lab.page.get_by_role("combobox", name="Cell to open").input_value() == "ε = 4, N = 10,000"
    assert offer.bounding_box()["y"] + offer.bounding_box()["height"] < lab.page.viewport_size["height"]
    with lab.rerun():
        offer.click(delay=80)
    lab.page.wait_for_url(lambda url: urlsplit(url).path == "/estimators")
    lab.settle()
    cell = {"dist": "zipf", "k": "50", "s": "1.3", "eps": "4", "n": "10000", "seed": "3"}
    assert {name: lab.query.get(name) for name in cell} == cell
    assert lab.sidebar()["Exact N"] == "10,000"
    lab.back()
    assert (lab.path, lab.query) == ("/experiments", before)
    assert lab.sidebar()["Exact N"] == "50"
