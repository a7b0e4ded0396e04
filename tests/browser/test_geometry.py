"""The geometry page in a browser: a click, a tap or a key moves the reports and every estimate, and Back returns."""

from __future__ import annotations

import json

import pytest

from rr_core import RandomizedResponse
from rr_core.registry import ESTIMATORS
from rr_core.rounding import percent
from tests.browser.lab import PHONE

LINK = "/geometry?dist=zipf&k=3&s=1.5&eps=1&n=200&seed=4"
ESTIMATES = {"Inv": "inv", "InvN": "inv_n", "MLE*": "mle_star", "InvP": "inv_p"}
_AT = """(plot, [second, third]) => {
  const box = plot.getBoundingClientRect(), layout = plot._fullLayout;
  const x = second * Math.SQRT2 + third * Math.SQRT2 / 2, y = third * Math.sqrt(1.5);
  return [box.left + layout.xaxis._offset + layout.xaxis.d2p(x), box.top + layout.yaxis._offset
    + layout.yaxis.d2p(y)] }"""
_POINTS = """(plot) => JSON.stringify(Object.fromEntries(plot._fullData
  .filter(t => t.mode === 'markers' && t.x.length === 1).map(t => [t.name, [t.x[0], t.y[0]]])))"""
_OPACITIES = """(plot) => [...plot.querySelectorAll('.scatterlayer .points path')]
  .map(p => Number(p.style.opacity || 1)).filter(o => o < 0.25).length"""


def where(lab, first, second, third):
    """Where on the screen the reports with these shares are."""
    plot = lab.chart("geometry")
    plot.scroll_into_view_if_needed()
    assert first + second + third == pytest.approx(1)
    return plot.evaluate(_AT, [second, third])


def points(lab) -> dict[str, list[float]]:
    read: dict[str, list[float]] = json.loads(lab.chart("geometry").evaluate(_POINTS))
    return read


def rows(lab) -> dict[str, list[str]]:
    """The table below the triangle."""
    table = lab.page.locator('[data-testid="stMarkdown"] table', has_text="Observed φ")
    cells = [row.locator("th, td").all_text_contents() for row in table.locator("tr").all()]
    return {name: rest for name, *rest in cells}


def expected(reports) -> dict[str, list[str]]:
    mechanism = RandomizedResponse(3, 1.0)
    return {
        label: [percent(float(share), 4) for share in ESTIMATORS[name](reports, mechanism)]
        for label, name in ESTIMATES.items()
    }


def test_a_click_and_a_key_move_every_estimate_and_back_takes_it_along(open_lab):
    lab = open_lab(LINK)
    corners = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    at = [where(lab, *corner) for corner in corners]
    before, own = points(lab), rows(lab)
    with lab.rerun():
        lab.page.mouse.click(*where(lab, 0.66, 0.24, 0.1), delay=60)
    after = points(lab)
    assert after.keys() == before.keys() - {"Truth"}  # reports that were picked come from no truth
    moved = [name for name in after if after[name] != before[name]]
    assert sorted(moved) == ["Inv", "InvN", "InvP", "MLE*", "Observed"]
    shown = rows(lab)
    assert shown["Observed φ"] == ["66%", "24%", "10%"]
    for label, shares in expected((66, 24, 10)).items():
        assert shown[label] == shares
    assert lab.page.get_by_label("Exact: three counts or shares").input_value() == "66, 24, 10"
    assert lab.query["phi"] == "66,24,10"
    assert lab.chart("geometry").evaluate(_OPACITIES) == 0  # nothing is faded by the click
    (left, floor), *_ = at
    with lab.rerun():  # outside the triangle, which stays where it is: the nearest point is taken
        lab.page.mouse.click(left - 15, floor + 12, delay=60)
    assert rows(lab)["Observed φ"] == ["100%", "0%", "0%"]
    assert [where(lab, *corner) for corner in corners] == [pytest.approx(point) for point in at]
    lab.back()
    assert rows(lab)["Observed φ"] == ["66%", "24%", "10%"]
    lab.back()
    assert rows(lab) == own
    assert "phi" not in lab.query
    lab.page.locator("summary", has_text="Move the reports φ").press("Enter")
    lab.page.get_by_role("slider", name="Share of reports").first.focus()
    for _ in range(2):  # further and further
        before = lab.query.get("phi")
        with lab.rerun():
            lab.page.keyboard.press("ArrowRight")
        assert lab.query["phi"] != before


def test_on_a_touch_screen_a_tap_takes_the_point(open_lab):
    lab = open_lab(LINK, viewport=PHONE, has_touch=True, is_mobile=True)
    spot = where(lab, 0.7, 0.26, 0.04)
    with lab.rerun():
        lab.page.touchscreen.tap(*spot)
    assert rows(lab)["Observed φ"] == ["70%", "26%", "4%"]
