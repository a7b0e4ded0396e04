"""The part "Watch it come in": it opens and closes, shows the scenario's own reports, and says what is too large."""

from __future__ import annotations

import pytest

from rr_core import Scenario
from rr_core.arrivals import follow_estimates, follow_reports
from rr_core.comparison import truth_of
from rr_core.figures.arrivals import arriving_estimates, arriving_reports, drawn_categories
from rr_core.figures.style import reading
from rr_core.figures.view import rank_order
from tests.app.opening import charts, checked, open_part, opened, widget

LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"
SCENARIO = Scenario("zipf", 50, 1.3, 2.0, 3000, 7)
PAGES = ("noisy_histogram", "estimators")


def films(page):
    return [chart for chart in charts(page) if chart["layout"].get("sliders")]


def expected(name, draw, target="users"):
    view = drawn_categories(rank_order(draw.true_counts), draw.population.labels)
    if name == "noisy_histogram":
        return arriving_reports(follow_reports(draw, view.categories), draw.theta, draw.mechanism, view)
    truth = truth_of(draw, target)
    return arriving_estimates(follow_estimates(draw, truth, view.categories), truth, view)


@pytest.mark.parametrize("name", PAGES)
def test_the_film_opens_and_closes(name):
    page = opened(name, LINK)
    before = charts(page)
    assert not films(page)
    open_part(page, name, "film")
    (film,) = films(page)
    assert film["alt"] == reading(expected(name, SCENARIO.draw()))
    assert len(charts(page)) == len(before) + 1
    assert charts(open_part(page, name, "numbers" if name == "noisy_histogram" else "errors")) == before
    checked(widget(open_part(page, name, "film").sidebar, "New draw").click().run())
    (film,) = films(page)  # follows the scenario
    assert film["alt"] == reading(expected(name, Scenario("zipf", 50, 1.3, 2.0, 3000, 8).draw()))
