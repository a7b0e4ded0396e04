"""The likelihood as a hill: what the browser computes is the core's, its sentences are true, and nothing is sent."""

from __future__ import annotations

import json
import math
import random
import re

import numpy as np
import pytest

from rr_core import RandomizedResponse, ibu, mle_star, negative_log_likelihood, optimality_gap
from rr_core.lesson import EPSILONS, lesson
from rr_core.optimality import update_factors
from tests.browser.expected import LINK
from tests.browser.lab import PHONE, PROJECTOR
from tests.browser.test_lesson import UNREADABLE, font

SURVEY = lesson()
EPSILON = "Privacy ε, in this picture only"
PEOPLE = (100, 2000, 40_000)
EXACT = {"rel": 0, "abs": 1e-9}
# Letters of the picture below 14 pixels, and what of it reaches beyond its edge.
OUTSIDE = """picture => { const edge = picture.getBoundingClientRect();
  return [...picture.querySelectorAll('text, circle')].filter(e => { const box = e.getBoundingClientRect();
    return parseFloat(getComputedStyle(e).fontSize) < 14 || box.left < edge.left - 1 || box.right > edge.right + 1
      || box.bottom > edge.bottom + 1 || box.top < edge.top - 1 }).map(e => e.outerHTML) }"""
DOT = """hill => { const box = e => hill.querySelector(e).getBoundingClientRect(), dot = box('.rr-climber');
  return {x: dot.left + dot.width / 2, y: dot.top + dot.height / 2, line: box('.rr-certificate').top} }"""
# Keeps the numbers on screen of every frame.
NOTE_NUMBERS = """() => { window.seen = new Set();
  const look = () => { seen.add([...document.querySelectorAll('.rr-number')].map(e => e.innerText).join());
    requestAnimationFrame(look) };
  look() }"""


class Hill:
    """The hill on screen, and all that the page sent to the server since it stood there."""

    def __init__(self, open_lab, size, motion="reduce"):
        self.lab, self.sent = open_lab(), []
        page = self.page = self.lab.page
        page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda _: self.sent.append("a message on the socket")),
        )
        page.on("request", lambda request: self.sent.append(request.url) if not font(request) else None)
        self.turn_to(size)
        page.emulate_media(reduced_motion=motion)
        self.lab.open(f"/estimators?{LINK}&part=hill")
        self.root = page.locator(".rr-hill")
        self.root.wait_for()
        assert self.sent
        self.sent.clear()

    def turn_to(self, size):
        self.size = size
        self.page.set_viewport_size(size)

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def share(self, answer):
        return self.lab.slider(f"Share: {SURVEY.answers[answer]}")

    @property
    def shown(self):
        """What the browser computed, at full precision."""
        told = self.root.evaluate("hill => ({...hill.dataset})")
        return {name: np.array(json.loads(value)) for name, value in told.items()}

    @property
    def words(self):
        return self.root.locator(".rr-result").inner_text(), self.root.locator(".rr-bound").inner_text()

    @property
    def dot(self):
        return self.root.evaluate(DOT)

    def fits(self):
        box = self.root.bounding_box()
        assert box["height"] <= (500 if self.size is PROJECTOR else 640)
        assert box["x"] + box["width"] <= self.size["width"]
        assert self.root.evaluate(UNREADABLE) == []
        assert self.root.locator(".rr-picture").evaluate(OUTSIDE) == []
        return box["height"]


def log_of(text):
    """The natural logarithm of a number in words, such as 1,200 or 4.1·10²⁸, and of the step of its last digit."""
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    if found := re.fullmatch(r"(\d\.\d)·10(\S+)", text):
        power = int(found[2].translate(digits)) * math.log(10)
        return math.log(float(found[1])) + power, math.log(0.1) + power
    number = float(text.replace(",", ""))
    step = 0.01 if "." in text else 10.0 ** (len(text.replace(",", "")) - 2)
    return math.log(number), math.log(step)


def tells(text, nats, up):
    """Whether a number in words is e to the power of ``nats``, rounded to its last digit; upwards where it bounds."""
    log, step = log_of(text)
    ratio, digit = (
        math.exp(nats - log),
        math.exp(step - log),
    )  # of the exact number, and of the digit, to that told
    assert (1 - digit <= ratio + 1e-6 and ratio <= 1 + 1e-9) if up else abs(1 - ratio) <= digit / 2 + 1e-6, (
        text
    )


def held_against_the_core(hill):
    """All that the browser computed is the core's, and what it says of it is so; gives shares and reports."""
    shown, (odds, bound) = hill.shown, hill.words
    shares, n = shown["shares"], int(shown["people"])
    step = next(step for step in SURVEY.steps if step.epsilon == shown["epsilon"])
    mechanism, reports = RandomizedResponse(5, step.epsilon), np.array(step.counts) / SURVEY.n
    best = mle_star(step.counts, mechanism)
    loss = negative_log_likelihood(reports, shares, mechanism)
    below = loss - negative_log_likelihood(reports, best, mechanism)
    gap = optimality_gap(step.counts, shares, mechanism)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1, **EXACT)
    assert float(shown["loss"]) == pytest.approx(loss, **EXACT)
    assert float(shown["depth"]) / n == pytest.approx(below, **EXACT)
    assert float(shown["certificate"]) == pytest.approx(gap, **EXACT)
    assert shown["factors"] == pytest.approx(update_factors(step.counts, shares, mechanism), **EXACT)
    assert math.log1p(gap) >= below - 1e-12
    assert hill.dot["line"] <= hill.dot["y"] + 1  # what could still be above is above
    texts = hill.root.locator(".rr-number").all_inner_texts()
    assert [float(text[:-1]) for text in texts] == pytest.approx(100 * shares, abs=0.0501)
    if "summit" in odds:
        assert shares == pytest.approx(best, **EXACT)
        assert abs(n * gap) < 1e-9
        assert "multiplies no bar by over 1, so no shares make these reports more likely" in bound
        return shares, step
    (factor,) = map(float, re.findall(r"no bar by over (\d+(?:\.\d+)?),", bound))
    assert -1e-9 <= factor - (1 + max(0, gap)) <= 1.01e-6  # rounded up: a guarantee
    for words, nats, up in ((odds, n * below, False), (bound, n * math.log1p(gap), True)):
        if "1%" in words:
            assert math.expm1(nats) < 0.0100001
        else:
            (number,) = re.findall(r"(\S+) times", words)
            tells(number, nats, up)
    return shares, step


def test_by_any_hand_the_browser_computes_what_the_core_does(open_lab):
    hill, dice = Hill(open_lab, PROJECTOR), random.Random(38)
    heights = {hill.fits()}
    assert held_against_the_core(hill)[0] == pytest.approx([0.2] * 5)
    for place in (*range(0, len(EPSILONS), 2), 3):  # the ends, and some from which it goes back
        hill.lab.slider(EPSILON).fill(str(place))
        hill.press(f"{dice.choice(PEOPLE):,}")
        held_against_the_core(hill)
        for answer in dice.sample(range(5), 3):
            before, _ = held_against_the_core(hill)
            value = dice.choice((0, 3, 20, 45, 60))
            hill.share(answer).fill(str(value))
            after, step = held_against_the_core(hill)
            assert hill.words[0].startswith("Your shares")
            assert after[answer] == pytest.approx(value / 100, **EXACT)
            others = np.arange(5) != answer
            rest = before[others] / before[others].sum()
            assert after[others] == pytest.approx((1 - after[answer]) * rest, **EXACT)
        mechanism, total = RandomizedResponse(5, step.epsilon), 0
        for name, steps in (("One step of IBU", 1), ("10 steps", 10), ("One step of IBU", 1)):
            before = hill.shown
            hill.press(name)
            after, _ = held_against_the_core(hill)
            assert after == pytest.approx(ibu(step.counts, mechanism, steps, before["shares"]), **EXACT)
            assert float(hill.shown["depth"]) <= float(before["depth"]) + 1e-9
            total += steps
            assert hill.words[0].startswith(f"IBU, after {total} step{'s' * (total > 1)}, makes")
            assert hill.root.locator(".rr-step").count() == total + 1
        stuck = any(after[i] == 0 < step.mle_star[i] for i in range(5))
        assert ("out of reach" in hill.root.locator(".rr-star").inner_text()) == stuck
        heights.add(hill.fits())
        hill.press("Go to the summit: MLE*")
        assert held_against_the_core(hill)[0] == pytest.approx(step.mle_star, **EXACT)
        assert "summit" in hill.words[0]
        heights.add(hill.fits())
        if dice.random() < 0.5:
            hill.press("Start again")
            assert held_against_the_core(hill)[0] == pytest.approx([0.2] * 5)
    assert len(heights) == 1
    assert hill.sent == []
    hill.lab.must_be_fine()


def test_a_ring_is_dragged_by_mouse_and_no_dial_of_the_page_moves_the_hill(open_lab):
    hill = Hill(open_lab, PROJECTOR)
    mouse, ring = hill.page.mouse, hill.share(2)
    ring.scroll_into_view_if_needed()
    before, box = hill.shown["shares"], ring.bounding_box()
    middle = box["y"] + 26
    mouse.move(box["x"] + 12 + (box["width"] - 24) / 3, middle)  # 20% of 60%
    mouse.down()
    mouse.move(box["x"] + box["width"], middle, steps=5)
    there, _ = held_against_the_core(hill)
    assert there[2] == pytest.approx(0.6, **EXACT)
    mouse.move(box["x"] + 12 + (box["width"] - 24) / 3, middle, steps=5)
    mouse.up()
    assert hill.shown["shares"] == pytest.approx(before, **EXACT)
    assert hill.sent == []
    hill.press("10 steps")
    before = hill.shown
    hill.lab.slide("Privacy ε")
    hill.page.get_by_text("No dial of this page moves them.").wait_for()
    assert all((hill.shown[name] == value).all() for name, value in before.items())


def test_with_more_people_the_same_shares_stand_deeper_and_the_hill_is_steeper(open_lab):
    hill = Hill(open_lab, PROJECTOR)
    hill.press("10 steps")
    seen = {}
    for people in PEOPLE:
        hill.press(f"{people:,}")
        held_against_the_core(hill)
        points = re.findall(r"[\d.]+,([\d.]+)", hill.root.locator(".rr-slope").get_attribute("d"))
        heights = np.array(points, dtype=float)
        seen[people] = float(hill.shown["depth"]), hill.dot["y"], np.mean(heights == heights.max())
    depths, dots, at_the_foot = zip(*(seen[people] for people in PEOPLE), strict=True)
    assert [depth / depths[0] for depth in depths] == pytest.approx([1, 20, 400])
    assert list(dots) == sorted(set(dots))
    assert (
        at_the_foot[0] < 0.1 < at_the_foot[1] < at_the_foot[2]
    )  # how much of the way is flat below the picture


def test_by_keyboard_alone_on_a_phone(open_lab):
    hill = Hill(open_lab, PHONE)
    keyboard, tab_to = hill.page.keyboard, hill.lab.tab_to
    heights = {hill.fits()}
    hill.share(0).focus()
    keyboard.press("ArrowRight")
    assert held_against_the_core(hill)[0] == pytest.approx([0.21] + 4 * [0.79 / 4], **EXACT)
    low = hill.dot
    tab_to("Share: Neighbour's paper")
    for _ in range(25):
        keyboard.press("ArrowRight")
    assert held_against_the_core(hill)[0][2] == pytest.approx(0.45, **EXACT)
    assert hill.dot["y"] < low["y"] - 20  # up
    assert hill.dot["x"] > low["x"] + 10  # and nearer to the summit
    tab_to("40,000")
    keyboard.press("Enter")
    tab_to(EPSILON)
    keyboard.press("ArrowRight")
    held_against_the_core(hill)
    assert hill.shown["epsilon"] == 1.5
    assert hill.shown["people"] == 40_000
    heights.add(hill.fits())
    for name in ("One step of IBU", "10 steps", "Go to the summit: MLE*"):
        tab_to(name)
        keyboard.press("Enter")
        held_against_the_core(hill)
        heights.add(hill.fits())
    assert "summit" in hill.words[0]
    assert len(heights) == 1
    assert hill.sent == []


def test_at_the_foot_of_the_steepest_hill_everything_still_fits_and_a_corner_is_never_left(open_lab):
    hill = Hill(open_lab, PHONE)
    for size in (PHONE, PROJECTOR):
        hill.turn_to(size)
        hill.press("Start again")
        heights = {hill.fits()}
        hill.lab.slider(EPSILON).fill("0")  # a bar reaches to 100% where MLE* has a large share
        hill.share(3).fill("100")
        assert held_against_the_core(hill)[0].tolist() == [0, 0, 0, 1, 0]
        hill.lab.slider(EPSILON).fill(str(len(EPSILONS) - 1))
        hill.press("40,000")
        for _ in range(6):
            hill.press("10 steps")
            shares, _ = held_against_the_core(hill)
            assert shares == pytest.approx([0, 0, 0, 1, 0], **EXACT)
            heights.add(hill.fits())
        assert "out of reach" in hill.root.locator(".rr-star").inner_text()
        assert len(heights) == 1


def test_a_walk_can_be_watched_and_ends_where_the_numbers_already_are(open_lab):
    hill = Hill(open_lab, PROJECTOR, motion="no-preference")
    hill.page.evaluate(NOTE_NUMBERS)
    hill.press("10 steps")
    ends = [f"{100 * share:.1f}%" for share in hill.shown["shares"]]
    hill.page.wait_for_function(
        "ends => [...document.querySelectorAll('.rr-number')].every((e, i) => e.innerText === ends[i])",
        arg=ends,
    )
    assert hill.page.evaluate("() => window.seen.size") > 2  # also between the start and the end
    held_against_the_core(hill)
