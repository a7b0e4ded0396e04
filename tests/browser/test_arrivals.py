"""A collection that comes in, in a real browser: it plays without the server."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Scenario
from rr_core.arrivals import follow_estimates, follow_reports
from tests import LENGTHY
from tests.browser.film import Film

LINK = "dist=zipf&k=12&s=1.5&eps=1&n=300&seed=5"
DRAW = Scenario("zipf", 12, 1.5, 1.0, 300, 5).draw()
EVERY = np.arange(12)
PAGES = {
    "noisy_histogram": ("arriving_reports", 1, lambda: follow_reports(DRAW, EVERY).shares),
    "estimators": (
        "arriving_estimates",
        4,
        lambda: follow_estimates(DRAW, DRAW.theta, EVERY).estimates["mle_star"],
    ),
}
IN_VIEW = """() => {
  const film = document.querySelector('.js-plotly-plot:has(.updatemenu-button)').getBoundingClientRect();
  return film.top >= 0 && film.bottom <= innerHeight }"""
MARKS = {"noisy_histogram": 3 * 12, "estimators": 5 * 12}


# The film of /ibu plays by the same script: test_ibu.py has its other buttons and keys.
@pytest.mark.parametrize("page", PAGES if LENGTHY else ["estimators"])
def test_the_reports_come_in_without_the_server(open_lab, page):
    key, trace, expected = PAGES[page]
    film = Film(open_lab(), f"/{page}?{LINK}", key, r"^([\d,]+) of 300 reports")
    assert film.chart.count() == 0  # until it is wanted
    with film.lab.rerun():
        film.lab.page.get_by_role("tab", name="Watch it come in").click(delay=80)
    film.chart.wait_for()
    film.lab.page.wait_for_function(IN_VIEW)  # who opens a tab with a film sees it
    shares = expected()
    assert film.moment == 1
    np.testing.assert_allclose(film.drawn(trace), shares[0], rtol=1e-5, atol=1e-9)
    before, spans = (film.sent, film.heard), film.chart.evaluate("plot => plot._fullLayout.yaxis.range")
    film.press("Play")
    assert film.numbers_of_marks() == [MARKS[page]]  # nothing flickers
    film.press("Fast")
    film.wait_for(lambda n: n == 300)
    np.testing.assert_allclose(film.drawn(trace), shares[-1], rtol=1e-5, atol=1e-9)
    keyboard = film.lab.page.keyboard
    keyboard.press("Home")
    film.wait_for(lambda n: n == 1)
    film.button("Play").focus()  # a button by itself
    keyboard.press("Enter")
    film.wait_for(lambda n: n > 2)
    keyboard.press("Space")  # the button still has the focus
    film.button("Play").wait_for()
    keyboard.press("Home")  # and keys still reach the film
    film.wait_for(lambda n: n == 1)
    assert (film.sent, film.heard) == before  # no message in either direction
    assert film.chart.evaluate("plot => plot._fullLayout.yaxis.range") == spans  # no jump
    film.lab.must_be_fine()
