"""The geometry page in a browser: a click moves every estimate, links restore the point, Stop keeps what was done."""

from __future__ import annotations

import json
from typing import Any

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
_TOP = "(plot) => plot.getBoundingClientRect().top + plot._fullLayout._size.t + 1"
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


def box(lab) -> Any:
    return lab.page.get_by_label("Exact: three counts or shares")


def expected(reports) -> dict[str, list[str]]:
    mechanism = RandomizedResponse(3, 1.0)
    return {
        label: [percent(float(share), 4) for share in ESTIMATORS[name](reports, mechanism)]
        for label, name in ESTIMATES.items()
    }


def test_clicking_a_point_moves_every_estimate_and_back_takes_it_along(open_lab):
    lab = open_lab(LINK)
    before, own = points(lab), rows(lab)
    for reports in ((66, 24, 10), (20, 30, 50)):
        with lab.rerun():
            lab.page.mouse.click(*where(lab, *(share / 100 for share in reports)), delay=60)
        after = points(lab)
        assert after.keys() == before.keys() - {"Truth"}  # reports that were picked come from no truth
        moved = [name for name in after if after[name] != before[name]]
        assert sorted(moved) == ["Inv", "InvN", "InvP", "MLE*", "Observed"]
        shown = rows(lab)
        assert shown["Observed φ"] == [f"{share}%" for share in reports]
        for label, shares in expected(reports).items():
            assert shown[label] == shares
        assert box(lab).input_value() == ", ".join(map(str, reports))
        assert lab.query["phi"] == ",".join(map(str, reports))
        assert lab.chart("geometry").evaluate(_OPACITIES) == 0  # nothing is faded by the click
        before = after
    lab.back()
    lab.back()
    assert rows(lab) == own
    assert "phi" not in lab.query
    lab.forward()
    assert rows(lab)["Observed φ"] == ["66%", "24%", "10%"]


def test_the_keyboard_moves_a_share_further_and_further_from_the_example(open_lab):
    lab = open_lab(LINK.replace("k=3", "k=12").replace("n=200", "n=2000"))
    assert "An example" in lab.words()
    lab.page.locator("summary", has_text="Move the reports φ").press("Enter")
    lab.page.get_by_role("slider", name="Share of reports").first.focus()
    for _ in range(2):
        shown = lab.query.get("phi")
        with lab.rerun():
            lab.page.keyboard.press("ArrowRight")
        assert lab.query["phi"] != shown
    assert "An example" not in lab.words()


def test_the_triangle_stays_where_it_is_and_a_click_outside_takes_the_nearest_point(open_lab):
    lab = open_lab(LINK)
    corners = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    at = [where(lab, *corner) for corner in corners]
    (left, floor), (right, _), _ = at
    for x, y, reports in (
        ((left + right) / 2, floor + 14, ["50%", "50%", "0%"]),
        (left - 15, floor + 12, ["100%", "0%", "0%"]),
    ):
        with lab.rerun():
            lab.page.mouse.click(x, y, delay=60)
        assert rows(lab)["Observed φ"] == reports
        assert [where(lab, *corner) for corner in corners] == [pytest.approx(point) for point in at]
    legend = lab.chart("geometry").locator(".legend").bounding_box()
    assert legend["y"] + legend["height"] <= lab.chart("geometry").evaluate(_TOP)


def test_on_a_touch_screen_a_tap_takes_the_point(open_lab):
    lab = open_lab(LINK, viewport=PHONE, has_touch=True, is_mobile=True)
    spot = where(lab, 0.7, 0.26, 0.04)
    with lab.rerun():
        lab.page.touchscreen.tap(*spot)
    assert rows(lab)["Observed φ"] == ["70%", "26%", "4%"]
    lab.must_be_fine()
