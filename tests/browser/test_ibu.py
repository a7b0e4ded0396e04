"""IBU in a real browser: its film plays without the server, as that of a collection which comes in does by the same
script. A long run: tests/app/test_ibu_page.py; how any is stopped: test_sidebar.py."""

from __future__ import annotations

import numpy as np

from rr_core import Scenario, ibu_path
from tests.browser.film import Film

LINK = "dist=zipf&k=30&s=1.2&eps=1&n=5000&seed=3"
DRAW = Scenario("zipf", 30, 1.2, 1.0, 5000, 3).draw()


def estimate(iteration):
    return ibu_path(DRAW.counts, DRAW.mechanism, [iteration]).estimate(0)


def test_the_film_plays_without_the_server_by_its_buttons_the_keyboard_and_its_slider(open_lab):
    film = Film(open_lab(), f"/ibu?{LINK}", "ibu", r"iteration ([\d,]+) ")
    assert film.moment == 0
    np.testing.assert_allclose(film.drawn(1), 1 / 30, rtol=1e-6)
    before = film.sent, film.heard
    film.press("One frame on")
    film.wait_for(lambda t: t == 1)
    np.testing.assert_allclose(film.drawn(1), estimate(1), rtol=1e-5, atol=1e-9)
    film.press("One frame back")
    film.wait_for(lambda t: t == 0)
    film.press("Slow")
    assert film.moment_at_rest() == 0  # a speed does not play
    film.press("Play")
    # one button, whose word changes
    assert (film.button("Play").count(), film.button("Pause").count()) == (0, 1)
    assert film.numbers_of_marks() == [60]  # nothing flickers
    film.wait_for(lambda t: t > 2)
    film.press("Pause")
    assert film.moment_at_rest() < 10_000
    film.press("Play")
    film.press("Fast")  # goes on with another speed
    film.wait_for(lambda t: t == 10_000)
    film.button("Play").wait_for()  # at its end
    np.testing.assert_allclose(film.drawn(1), estimate(10_000), rtol=1e-5, atol=1e-9)
    film.press("Play")  # from the start again
    film.wait_for(lambda t: t < 1000)
    film.press("Pause")
    keyboard = film.lab.page.keyboard
    film.lab.page.get_by_role("button", name="New draw").focus()
    film.tab_to_it()
    for key, iteration in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0)):
        keyboard.press(key)
        film.wait_for(lambda t, wanted=iteration: t == wanted)
    keyboard.press("Space")
    film.wait_for(lambda t: t > 3)
    keyboard.press("Space")
    assert film.moment_at_rest() < 10_000
    box = film.chart.locator(".slider-rail-touch-rect").bounding_box()
    film.lab.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    film.wait_for(lambda t: 20 < t < 500)  # the middle of a log scale from 1 to 10,000
    np.testing.assert_allclose(film.drawn(1), estimate(film.moment), rtol=1e-5, atol=1e-9)
    assert (film.sent, film.heard) == before  # no message in either direction
    with film.lab.rerun():
        keyboard.press("p")
    film.press("Play")  # also while it is presented
    film.wait_for(lambda t: t > 2)
    film.press("Pause")
    assert film.moment_at_rest() < 10_000
