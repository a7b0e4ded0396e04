"""The sidebar's widgets: draws, reset, presets, the two views of ε and N, and the keyboard alone."""

from __future__ import annotations

import math

import pytest

from rr_core import PRESETS, Scenario
from rr_core.figures.style import percent
from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import PATIENCE

FOCUSED = "() => document.activeElement.getAttribute('aria-label') || document.activeElement.innerText || ''"


def test_draws_and_the_two_views_of_epsilon(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    figure, table = lab.figure("estimators"), lab.table()
    lab.press("New draw")
    assert lab.sidebar() == {**SIDEBAR, "Seed": "8"}
    assert lab.query == {**QUERY, "seed": "8"}
    assert lab.figure("estimators") != figure
    assert lab.table() != table
    lab.type("Seed", 7)
    assert lab.figure("estimators") == figure
    assert lab.table() == table
    lab.type("Seed", 4_294_967_295)
    lab.press("New draw")
    assert lab.query["seed"] == "0"  # after the last one they start again
    _both_views_of_epsilon(lab)


def _both_views_of_epsilon(lab):
    side = lab.page.get_by_test_id("stSidebar").inner_text()
    assert "more private" in side
    assert "more accurate" in side
    assert f"p = {percent(math.exp(2) / (math.exp(2) + 999))} " in side
    assert f"q = {percent(1 / (math.exp(2) + 999))} " in side
    assert f"e^ε = {math.exp(2):.4g}" in side
    ends = lab.page.get_by_role("group", name="Privacy ε").get_by_test_id("stSliderTickBar").inner_text()
    assert ends.split() == ["0.01", "20"]
    lab.type("Exact ε", 0.7)
    assert lab.sidebar()["Privacy ε"] == "0.7"
    assert lab.query["eps"] == "0.7"
    lab.slide("Privacy ε")
    assert lab.sidebar()["Exact ε"] == lab.sidebar()["Privacy ε"] == lab.query["eps"] == "0.708"
    lab.slide("Privacy ε")
    assert 1.08 < float(lab.query["eps"]) / 0.708 < 1.16  # even steps by ratio
    for key, end in (("Home", "0.01"), ("End", "20")):
        lab.slide("Privacy ε", key)
        assert lab.sidebar()["Exact ε"] == lab.sidebar()["Privacy ε"] == end


def test_presets_tables_and_reset(open_lab):
    lab = open_lab(f"/noisy_histogram?{LINK}")
    for preset in PRESETS:
        lab.choose("Preset", preset.name)
        assert lab.query == preset.scenario.to_query()
        shown = lab.sidebar()
        assert shown["Preset"] == preset.name
        assert int(shown["Categories K"]) == preset.scenario.k
        assert float(shown["Exact ε"]) == pytest.approx(preset.scenario.epsilon, rel=1e-5)
        assert int(shown["Exact N"]) == preset.scenario.n
        assert lab.chart("noisy_histogram").count() == 1
    lab.choose("Distribution", "Letters of Moby-Dick")
    assert lab.query["k"] == "26"
    box = lab.page.get_by_role("spinbutton", name="Categories K")
    assert box.is_disabled()
    assert box.input_value() == "26"
    assert "e" in lab.layout("noisy_histogram")["xaxis"]["ticktext"]
    lab.choose("Distribution", "Uniform")
    assert box.is_enabled()
    assert not lab.page.get_by_role("group", name="Zipf exponent s").count()
    lab.press("Reset")
    assert lab.query == Scenario().to_query()
    assert lab.path == "/noisy_histogram"
    assert lab.sidebar()["Preset"] == "First look"
    assert lab.sidebar()["Categories K"] == "12"


def tab_to(lab, name, most=60):
    for _ in range(most):
        lab.page.keyboard.press("Tab")
        if lab.page.evaluate(FOCUSED).strip() == name:
            return
    raise AssertionError(f"Tab does not reach {name}")


def test_keyboard_alone(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    figure = lab.figure("estimators")
    tab_to(lab, "New draw")
    with lab.rerun():
        lab.page.keyboard.press("Enter")
    assert lab.query["seed"] == "8"
    assert lab.figure("estimators") != figure
    figure = lab.figure("estimators")
    tab_to(lab, "Privacy ε")
    with lab.rerun():
        lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_url(lambda url: "eps=2.24" in url, timeout=PATIENCE)
    assert lab.figure("estimators") != figure
