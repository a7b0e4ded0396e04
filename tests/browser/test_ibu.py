"""IBU in a real browser: the film plays without the server. A long run: tests/app/test_ibu_page.py; how any is
stopped: test_sidebar.py."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Scenario, ibu_path
from tests.browser.film import Film

LINK = "dist=zipf&k=30&s=1.2&eps=1&n=5000&seed=3"
SCENARIO = Scenario("zipf", 30, 1.2, 1.0, 5000, 3)


@pytest.fixture
def film(open_lab):
    return Film(open_lab(), f"/ibu?{LINK}", "ibu", r"iteration ([\d,]+) ")


def estimate(iteration):
    draw = SCENARIO.draw()
    return ibu_path(draw.counts, draw.mechanism, [iteration]).estimate(0)


def test_the_film_plays_without_the_server_by_its_buttons_the_keyboard_and_its_slider(film):
    assert film.moment == 0
    np.testing.assert_allclose(film.drawn(1), 1 / 30, rtol=1e-6)
    before = film.sent, film.heard
    film.press("One frame on")
    film.wait_for(lambda t: t == 1)
    np.testing.assert_allclose(film.drawn(1), estimate(1), rtol=1e-5, atol=1e-9)
    film.press("One frame on")
    film.wait_for(lambda t: t == 2)
    film.press("One frame back")
    film.wait_for(lambda t: t == 1)
    assert film.speed() == "normal"
    film.press("Slow")
    assert film.speed() == "slow"
    assert film.moment_at_rest(900) == 1  # a speed does not play
    film.press("Play")
    # one button, whose word changes
    assert (film.button("Play").count(), film.button("Pause").count()) == (0, 1)
    assert film.numbers_of_marks() == [60]  # nothing flickers
    film.wait_for(lambda t: t > 2)
    film.press("Pause")
    assert (film.button("Play").count(), film.button("Pause").count()) == (1, 0)
    assert film.moment_at_rest(900) < 10_000
    film.press("Play")
    film.press("Fast")  # goes on with another speed
    film.wait_for(lambda t: t == 10_000)
    film.button("Play").wait_for()  # at its end
    np.testing.assert_allclose(film.drawn(1), estimate(10_000), rtol=1e-5, atol=1e-9)
    film.press("Play")  # from the start again
    film.wait_for(lambda t: t < 1000)
    film.press("Pause")
    film.lab.page.keyboard.press("Home")
    film.wait_for(lambda t: t == 0)
    np.testing.assert_allclose(film.drawn(1), 1 / 30, rtol=1e-6)
    assert (film.sent, film.heard) == before  # no message in either direction
    keyboard = film.lab.page.keyboard
    film.lab.page.get_by_role("button", name="New draw").focus()
    film.tab_to_it()
    for key, iteration in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        keyboard.press(key)
        film.wait_for(lambda t, wanted=iteration: t == wanted)
    keyboard.press("Space")
    film.wait_for(lambda t: t > 3)
    keyboard.press("Space")
    assert film.moment_at_rest() < 10_000
    keyboard.press("Home")
    film.wait_for(lambda t: t == 0)
    box = film.chart.locator(".slider-rail-touch-rect").bounding_box()
    film.lab.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    film.wait_for(lambda t: 20 < t < 500)  # the middle of a log scale from 1 to 10,000
    np.testing.assert_allclose(film.drawn(1), estimate(film.moment), rtol=1e-5, atol=1e-9)
    assert film.sent == before[0]  # no message to the server


def test_the_film_plays_and_pauses_while_it_is_presented(open_lab):
    film = Film(open_lab(), f"/ibu?{LINK}&present=on", "ibu", r"iteration ([\d,]+) ")
    film.press("Play")
    film.wait_for(lambda t: t > 2)
    film.press("Pause")
    assert film.moment_at_rest() < 10_000
