"""Every page in light and dark, wide and narrow; and scenarios at the ends of every range."""

from __future__ import annotations

from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import LEAD, PAGES, SCENARIO_PAGES
from tests.browser.test_links import ADDRESSES, QUESTIONS, title

TOO_WIDE = """() => { const main = document.querySelector('[data-testid="stMain"]');
  return [document.documentElement, document.body, main].map(e => e.scrollWidth - e.clientWidth) }"""
UNNAMED = """() => [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
  .filter(c => c.getAttribute('role') !== 'figure' || (c.getAttribute('aria-label') || '').length < 20).length"""
NAMELESS = """() => [...document.querySelectorAll('button, a, input, [role=slider], [role=button]')]
  .filter(e => e.offsetParent && e.tabIndex >= 0 && !e.innerText.trim() && !e.getAttribute('aria-label')
    && !e.getAttribute('aria-labelledby') && !e.title && !(e.labels && e.labels.length))
  .map(e => e.outerHTML.slice(0, 160))"""


def test_every_page_keeps_the_scenario_is_quiet_fits_and_names_its_charts(open_lab):
    wide, narrow = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
    lab = open_lab(f"/?{LINK}", color_scheme="dark", viewport=wide)
    lab.type("Seed", 8)
    query, sidebar = {**QUERY, "seed": "8"}, {**SIDEBAR, "Seed": "8"}
    for label, page in PAGES.items():
        if label != "Home":
            lab.go(label)
        assert (title(lab), lab.path) == (QUESTIONS[label], ADDRESSES[label])
        assert {name: lab.query.get(name) for name in query} == query  # a page may have more of its own
        if label in SCENARIO_PAGES:
            assert lab.sidebar() == sidebar
        for size in (wide, narrow):
            lab.page.set_viewport_size(size)
            lab.settle()
            lab.must_be_fine()
            assert lab.page.evaluate(UNNAMED) == 0, page
            assert lab.page.evaluate(NAMELESS) == [], page
        assert lab.page.evaluate(TOO_WIDE) == [0, 0, 0], page
        lab.page.set_viewport_size(wide)
        lab.settle()


def test_dark_and_light_are_different_and_charts_follow(open_lab):
    grounds = {}
    for theme in ("light", "dark"):
        lab = open_lab(f"/?{LINK}", color_scheme=theme)
        app = lab.page.get_by_test_id("stApp")
        grounds[theme] = app.evaluate("e => getComputedStyle(e).backgroundColor")
        chart = lab.page.locator(".js-plotly-plot .main-svg").first
        assert chart.evaluate("e => e.style.background") in (grounds[theme], "rgba(0, 0, 0, 0)")
    assert grounds["light"] != grounds["dark"]


def test_largest_scenario(open_lab):
    lab = open_lab("/?k=1500000&s=0&eps=0.01&n=1000000000&seed=5")
    for label in ("Home", "Estimators", "IBU → MLE*"):  # the page harness opens it on all of them
        if label != "Home":
            lab.go(label)
        assert lab.alerts() == []
        assert lab.chart(LEAD[label]).count() == 1
        lab.must_be_fine()
        assert "nan" not in lab.words().lower().split()
