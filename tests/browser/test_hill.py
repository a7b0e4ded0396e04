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
from tests.browser.test_lesson import UNREADABLE, all_sent

SURVEY = lesson()
EPSILON = "Privacy ε, in this picture only"
PEOPLE = (100, 2000, 40_000)
EXACT = {"rel": 0, "abs": 1e-9}


class Hill:
    """The hill on screen, and all that the page sent to the server since it stood there."""

    def __init__(self, open_lab, size, motion="reduce"):
        self.size, self.lab = size, open_lab(viewport=size)
        self.page, self.sent = self.lab.page, all_sent(self.lab)
        self.page.emulate_media(reduced_motion=motion)
        self.lab.open(f"/estimators?{LINK}&part=hill")
        self.root = self.page.locator(".rr-hill")
        self.root.wait_for()
        assert self.sent
        self.sent.clear()

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

    def fits(self):
        box = self.root.bounding_box()
        assert box["height"] <= (500 if self.size is PROJECTOR else 640)
        assert box["x"] + box["width"] <= self.size["width"]
        assert self.root.evaluate(UNREADABLE) == []


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
    hill.fits()
    assert held_against_the_core(hill)[0] == pytest.approx([0.2] * 5)
    for place in (0, len(EPSILONS) - 1, 3):  # the ends, and the middle
        hill.lab.slider(EPSILON).fill(str(place))
        hill.press(f"{PEOPLE[place % 3]:,}")
        held_against_the_core(hill)
        for answer, value in zip(dice.sample(range(5), 3), (0, 45, 3), strict=True):
            before, _ = held_against_the_core(hill)
            hill.share(answer).fill(str(value))
            after, step = held_against_the_core(hill)
            assert hill.words[0].startswith("Your shares")
            assert after[answer] == pytest.approx(value / 100, **EXACT)
            others = np.arange(5) != answer
            rest = before[others] / before[others].sum()
            assert after[others] == pytest.approx((1 - after[answer]) * rest, **EXACT)
        mechanism, total = RandomizedResponse(5, step.epsilon), 0
        for name, steps in (("One step of IBU", 1), ("10 steps", 10)):
            before = hill.shown
            hill.press(name)
            after, _ = held_against_the_core(hill)
            assert after == pytest.approx(ibu(step.counts, mechanism, steps, before["shares"]), **EXACT)
            assert float(hill.shown["depth"]) <= float(before["depth"]) + 1e-9
            total += steps
            assert hill.words[0].startswith(f"IBU, after {total} step{'s' * (total > 1)}, makes")
        stuck = any(after[i] == 0 < step.mle_star[i] for i in range(5))
        assert ("out of reach" in hill.root.locator(".rr-star").inner_text()) == stuck
        hill.fits()
        hill.press("Go to the summit: MLE*")
        assert held_against_the_core(hill)[0] == pytest.approx(step.mle_star, **EXACT)
        assert "summit" in hill.words[0]
        hill.fits()
    hill.press("Start again")
    assert held_against_the_core(hill)[0] == pytest.approx([0.2] * 5)
    assert hill.sent == []


def test_a_ring_is_dragged_by_mouse_a_walk_is_watched_and_no_dial_of_the_page_moves_the_hill(open_lab):
    hill = Hill(open_lab, PROJECTOR, motion="no-preference")
    mouse, ring = hill.page.mouse, hill.share(2)
    ring.scroll_into_view_if_needed()
    before, box = hill.shown["shares"], ring.bounding_box()
    middle = box["y"] + 26
    mouse.move(box["x"] + 12 + (box["width"] - 24) / 3, middle)  # 20% of 60%
    mouse.down()
    mouse.move(box["x"] + box["width"], middle, steps=5)
    assert hill.shown["shares"][2] == pytest.approx(0.6, **EXACT)
    mouse.move(box["x"] + 12 + (box["width"] - 24) / 3, middle, steps=5)
    mouse.up()
    assert hill.shown["shares"] == pytest.approx(before, **EXACT)
    hill.press("10 steps")
    ends = [f"{100 * share:.1f}%" for share in hill.shown["shares"]]
    hill.page.wait_for_function(  # its numbers are at the end before the walk is
        "ends => [...document.querySelectorAll('.rr-number')].every((e, i) => e.innerText === ends[i])",
        arg=ends,
    )
    assert hill.sent == []
    before = hill.shown
    hill.lab.slide("Privacy ε")
    hill.page.get_by_text("No dial of this page moves them.").wait_for()
    assert all((hill.shown[name] == value).all() for name, value in before.items())


def test_by_keyboard_alone_on_a_phone(open_lab):
    hill = Hill(open_lab, PHONE)
    keyboard, tab_to = hill.page.keyboard, hill.lab.tab_to
    hill.fits()
    hill.share(0).focus()
    keyboard.press("ArrowRight")
    assert held_against_the_core(hill)[0] == pytest.approx([0.21] + 4 * [0.79 / 4], **EXACT)
    tab_to("Share: Neighbour's paper")
    for _ in range(25):
        keyboard.press("ArrowRight")
    assert held_against_the_core(hill)[0][2] == pytest.approx(0.45, **EXACT)
    tab_to("40,000")
    keyboard.press("Enter")
    tab_to(EPSILON)
    keyboard.press("ArrowRight")
    assert (hill.shown["epsilon"], hill.shown["people"]) == (1.5, 40_000)
    hill.fits()
    for name in ("One step of IBU", "10 steps", "Go to the summit: MLE*"):
        tab_to(name)
        keyboard.press("Enter")
        hill.fits()
    held_against_the_core(hill)
    assert "summit" in hill.words[0]
    # At the foot of the steepest hill everything still fits, and a corner is never left.
    hill.lab.slider(EPSILON).fill("0")  # a bar reaches to 100% where MLE* has a large share
    hill.share(3).fill("100")
    hill.lab.slider(EPSILON).fill(str(len(EPSILONS) - 1))
    for _ in range(2):
        hill.press("10 steps")
        shares, _ = held_against_the_core(hill)
        assert shares == pytest.approx([0, 0, 0, 1, 0], **EXACT)
        hill.fits()
    assert "out of reach" in hill.root.locator(".rr-star").inner_text()
    assert hill.sent == []
