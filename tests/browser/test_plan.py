"""The plan in a real browser: a link restores it, and a click on its map goes into the address. All else:
tests/app/test_plan_page.py."""

from __future__ import annotations

from rr_core.plan.solve import required_n
from rr_core.plan.targets import Target

LINK = (
    "dist=zipf&k=40&s=1.2&eps=2&n=30000&seed=7&target=max&value=2.5&conf=90&find=n&guess=worst&whose=sampled"
    "&share=20"
)


def test_a_link_restores_the_plan_and_a_click_on_the_map_goes_into_the_address(open_lab):
    lab = open_lab(f"/plan?{LINK}")
    users = required_n(Target("max", 0.025, 0.9), 40, 2.0, None, users="sampled")
    assert f"{users:,} users are enough at ε = 2" in lab.words()
    query = dict(pair.split("=") for pair in LINK.split("&"))
    assert lab.query == query
    before = lab.figure("plan")
    area = lab.chart("plan").locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    with lab.rerun():
        lab.page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.5)
    # A quarter of the way from 0.1 to 10, half of the way from 10^2 to 10^9, on logarithmic axes.
    assert 0.28 < float(lab.query["eps"]) < 0.36
    assert 2e5 < int(lab.query["n"]) < 5e5
    assert lab.query["target"] == "max"
    assert lab.figure("plan") != before
    lab.back()
    assert lab.query == query
    assert lab.figure("plan") == before
    assert lab.alerts() == []
