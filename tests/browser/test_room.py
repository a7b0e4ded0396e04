"""A room in Chromium: phones, a control and a projector, from opening to the next question; and what a phone sends."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy import stats

from rr_core import RandomizedResponse
from rr_core.rounding import odds
from server.room.store import Store
from tests.browser.lab import CONTRASTS, Lab

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SMALL = {"viewport": {"width": 320, "height": 568}}
PROJECTOR = {"viewport": {"width": 1280, "height": 720}}


class Phone:
    """A phone in a room, with what it sent."""

    def __init__(self, lab: Lab, code: str) -> None:
        self.lab, self.page = lab, lab.page
        self.sent: list[tuple[str, dict]] = []
        self.page.on("request", self._note)
        self.page.goto(f"{lab.server}/r/{code}")
        self.page.locator("h1").wait_for()

    def _note(self, request) -> None:
        if request.method == "POST":
            self.sent.append((request.url, json.loads(request.post_data)))

    @property
    def title(self) -> str:
        return self.page.locator("h1").inner_text()

    @property
    def text(self) -> str:
        return self.page.locator("main").inner_text()

    def wait_for(self, title: str) -> None:
        self.page.locator("h1", has_text=title).wait_for()

    def flip(self, answer: str) -> str:
        """Pick an answer and flip the coin; what the phone is about to report."""
        self.page.get_by_label(answer, exact=True).check()
        self.page.get_by_role("button", name="Flip the coin").click()
        self.page.locator(".report").wait_for()  # until the coin has landed
        return self.page.locator(".report").inner_text()

    def send(self) -> None:
        self.page.get_by_role("button", name="Send", exact=True).click()
        self.wait_for("Thank you")

    def forgive(self, complaint: str) -> None:
        """Take out of what the browser complained of what belongs to the test."""
        assert [one for one in self.lab.said if complaint in one]
        self.lab.said[:] = [one for one in self.lab.said if complaint not in one]

    def fits(self) -> bool:
        """Whether nothing sticks out sideways."""
        return self.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def held() -> Iterator[Store]:
    """The rooms of the server."""
    with closing(Store(os.environ["RR_ROOMS"])) as one:
        yield one


@pytest.fixture
def code(held):
    """A room that needs no teacher's page."""
    return held.open_room("Did you have breakfast today?", ("Yes", "No"), 1.0)[0]


def press(lab, label):
    with lab.rerun():
        lab.page.get_by_role("button", name=label, exact=True).click(delay=60)


def code_of(lab):
    return re.fullmatch(r"[A-Z]{6}", lab.query["room"])[0]


def kept(lab, code):
    """What phones are told."""
    return lab.page.request.get(f"{lab.server}/r/{code}/now").json()


def test_a_button_that_goes_leaves_the_focus_to_the_next_and_is_not_pressed_twice(open_lab):
    """After “Open a room” and “Close” it fell to the body: a Tab more, and one was in the sidebar."""
    lab = open_lab("/room", **PROJECTOR)
    at = lab.page.get_by_role("button", name="Open a room", exact=True).bounding_box()
    for label, then in (
        ("Open a room", "Projector's page"),
        ("Close", "Open again"),
        ("Open again", "Close"),
    ):
        button = lab.page.get_by_role("button", name=label, exact=True)
        button.focus()
        with lab.rerun():
            button.press("Enter")
        expect(lab.page.locator(":focus")).to_contain_text(then)
    # Where the first button was, no second click deletes the room.
    lab.page.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    lab.settle()
    assert kept(lab, code_of(lab))["state"] == "open"


def test_phones_a_control_and_a_projector_from_opening_to_the_next_question(open_lab):
    teacher = open_lab("/room", **PROJECTOR)
    teacher.choose("Question", "Did you have breakfast today?")
    press(teacher, "Open a room")
    code = code_of(teacher)
    projector = open_lab(f"/room?room={code}", **PROJECTOR)
    shown = projector.page.locator(".rr-code")
    assert shown.inner_text() == code
    assert shown.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 72
    assert teacher.query["key"] not in projector.page.content()
    assert projector.page.get_by_alt_text("QR code of the address to join").is_visible()

    phones = [Phone(open_lab(stranger=True, **PHONE), code) for _ in range(3)]
    touched, declining, reloading = phones
    for phone in phones:
        assert phone.title == "Did you have breakfast today?"
        assert phone.fits()
    report = touched.flip("Yes")
    assert not touched.sent  # the report is shown before it is sent
    touched.page.get_by_role("button", name="Send", exact=True).tap()
    touched.wait_for("Thank you")
    declining.flip("No")
    declining.page.get_by_role("button", name="Not me, thanks").tap()
    declining.wait_for("Nothing was sent")
    assert not declining.sent

    # Reloaded after the coin has fallen: it does not fall again, and the same report is sent once.
    before = reloading.flip("No")
    reloading.page.reload()
    assert reloading.page.locator(".report").inner_text() == before
    reloading.send()
    assert len(reloading.sent) == 1

    touched.page.get_by_role("slider").fill("70")
    touched.page.get_by_role("button", name="Send my guess").tap()
    touched.page.get_by_text("Your guess: 70 in 100.").wait_for()
    (address, first), (_, guess) = touched.sent
    assert urlsplit(address).path == f"/r/{code}/report"
    assert first.keys() == {"question", "report", "token"}
    assert ["Yes", "No"][first["report"]] == report
    assert guess["token"] != first["token"]

    projector.page.get_by_text("2 people have answered.").wait_for()
    teacher.page.get_by_text("2 reports, 1 guess ·").wait_for()
    press(teacher, "Close")
    late = Phone(open_lab(stranger=True, **PHONE), code)
    assert "takes no more reports" in late.text
    assert not touched.page.get_by_text("Estimated").count()
    for sentence in (
        "Guesses of how many per cent",
        "reports as they came",
        "The chance taken away",
        "negative",
    ):
        press(teacher, "Reveal")
        teacher.page.get_by_test_id("stCaptionContainer").get_by_text(sentence).first.wait_for()
        now = kept(teacher, code)
        assert now["state"] == "revealed"
        assert ("result" in now) == (sentence == "negative")  # InvP, when all have seen it
    projector.page.get_by_test_id("stCaptionContainer").get_by_text(sentence).first.wait_for()
    for phone in (touched, reloading, declining, late):
        phone.page.get_by_text("from 2 reports, each of which").wait_for(timeout=15_000)
        assert phone.fits()
        assert phone.page.get_by_role("link", name="See how it is done").get_attribute("href") == "/"

    teacher.page.get_by_text("The next question").click()
    teacher.settle()
    teacher.page.get_by_role("button", name="Next question", exact=True).scroll_into_view_if_needed()
    teacher.page.wait_for_timeout(500)  # until the fold is open
    press(teacher, "Next question")
    touched.page.get_by_role("button", name="Flip the coin").wait_for(timeout=15_000)
    assert "This question is asked again. Your earlier reports in this room count, too" in touched.text
    assert "7.39-fold" in touched.text  # e², rounded up
    assert "earlier reports" not in declining.text
    for phone in (*phones, late):
        phone.page.goto(f"{teacher.server}/_stcore/health")  # it would find no room any more
    press(teacher, "Delete")
    projector.page.get_by_text("This room has ended.").wait_for(timeout=15_000)


def test_by_keyboard_alone(open_lab, code):
    phone = Phone(open_lab(**SMALL), "")
    assert phone.title == "Join a room"
    phone.page.keyboard.type(code.lower())
    phone.page.keyboard.press("Enter")
    phone.wait_for("Did you have breakfast today?")
    keys = phone.page.keyboard

    def tab_to(name):
        for _ in range(20):
            keys.press("Tab")
            if (
                phone.page.evaluate("() => document.activeElement.textContent || document.activeElement.type")
                == name
            ):
                return
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("radio")
    keys.press("Space")
    tab_to("Flip the coin")
    keys.press("Enter")
    phone.page.locator(".report").wait_for()
    # what changed is read from its title
    assert phone.page.evaluate("() => document.activeElement.tagName") == "H1"
    tab_to("Send")
    keys.press("Enter")
    phone.wait_for("Thank you")
    tab_to("range")
    keys.press("ArrowRight")
    tab_to("Send my guess")
    keys.press("Enter")
    phone.page.get_by_text("Your guess: 51 in 100.").wait_for()
    assert phone.fits()


def test_large_letters_on_a_narrow_screen_stay_inside_it_and_stand_out(open_lab, code):
    phone = Phone(open_lab(stranger=True, **SMALL), code)
    phone.page.add_style_tag(content="html { font-size: 200% }")
    for act in (None, lambda: phone.flip("Yes"), phone.send):
        if act:
            act()
        assert phone.fits(), phone.title
        for scheme in ("light", "dark"):
            phone.page.emulate_media(color_scheme=scheme)
            contrasts = phone.page.evaluate(CONTRASTS, "h1, p, label, button:enabled, summary, strong")
            assert len(contrasts) > 2
            assert [words for words, contrast in contrasts if contrast < 4.5] == [], scheme


def test_what_a_phone_sends_does_not_depend_on_the_true_answer(open_lab, code):
    """Every byte, for each true answer with the same report and token: request line, headers and body."""
    seen, stored = set(), set()
    for truth in ("Yes", "No"):
        phone = Phone(open_lab(stranger=True, **PHONE), code)
        phone.page.evaluate("() => { randomize = () => 1; token = () => 'the-same-token-of-all' }")
        requests = []
        phone.page.on("request", lambda request, to=requests: to.append(request))
        phone.flip(truth)
        stored.add(phone.page.evaluate("() => JSON.stringify(localStorage)"))
        phone.send()
        (request,) = [one for one in requests if one.method == "POST"]
        seen.add((request.url, json.dumps(request.all_headers(), sort_keys=True), request.post_data))
        assert {urlsplit(one.url).path for one in requests} <= {f"/r/{code}/report", f"/r/{code}/now"}
    assert len(seen) == 1
    assert len(stored) == 1
    assert kept(phone.lab, code)["state"] == "open"


def test_an_answer_that_is_lost_costs_no_second_report_where_the_phone_may_keep_nothing(open_lab, held, code):
    """Where the browser keeps no data of pages, the report is held as long as the page is open."""
    lab = open_lab(stranger=True, new=True, **PHONE)
    lab.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no') }})"
    )
    phone = Phone(lab, code)
    phone.flip("Yes")
    # The report is kept, and the answer lost on its way.
    phone.page.route("**/report", lambda route: (route.fetch(), route.abort()))
    phone.page.get_by_role("button", name="Send", exact=True).click()
    phone.page.get_by_text("does not reach the server").wait_for()
    phone.page.unroute("**/report")
    phone.page.get_by_role("button", name="Send again").click()
    phone.wait_for("Thank you")
    assert len({json.dumps(body) for _, body in phone.sent}) == 1
    assert held.room(code).result().now.n == 1
    held.set_open(code, False)
    held.reveal(code, 4)
    phone.page.get_by_text("from 1 report, which may be chance").wait_for()
    phone.forgive("ERR_FAILED")


def test_a_room_that_is_deleted_says_so_on_the_phone_until_it_is_brought_back(open_lab, held, code):
    phone = Phone(open_lab(stranger=True, **PHONE), code)
    deleted = held.delete(code)
    phone.page.get_by_text(f"There is no room {code}").wait_for(timeout=15_000)
    held.bring_back(deleted)
    phone.page.get_by_role("button", name="Flip the coin").wait_for(timeout=25_000)
    phone.forgive("404")


def test_the_law_of_the_phones_draws_is_that_of_randomized_response_and_what_it_gives_away_is_rounded_up(
    open_lab,
):
    """Chi-square over 20,000 draws in Chromium, in which no level below 10⁻⁶ is believed."""
    phone = Phone(open_lab(**PHONE), "")
    for k, epsilon in ((2, 0.5), (4, 1.0), (12, 3.0)):
        truth, mechanism = k - 1, RandomizedResponse(k, epsilon)
        drawn = phone.page.evaluate(
            "([truth, k, epsilon]) => Array.from({length: 20000}, () => randomize(truth, k, epsilon))",
            [truth, k, epsilon],
        )
        counts = np.bincount(drawn, minlength=k)
        expected = np.full(k, 20_000 * mechanism.q)
        expected[truth] = 20_000 * mechanism.p
        assert counts.size == k
        assert stats.chisquare(counts, expected).pvalue > 1e-6
        chance = phone.page.evaluate("([k, epsilon]) => chance_of_truth(k, epsilon)", [k, epsilon])
        assert chance == pytest.approx(mechanism.p, rel=1e-14)
    # What several answers give away together, in the words of the projector.
    epsilons = [*np.arange(1, 200) / 4, *np.random.default_rng(39).uniform(0.1, 100, 50)]
    told = phone.page.evaluate("epsilons => epsilons.map(fold)", epsilons)
    assert told == [odds(epsilon) for epsilon in epsilons]
