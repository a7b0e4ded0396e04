"""The lesson in Chromium: the first scene by mouse on a projector, each by touch on a phone, and each kind of question by
keyboard alone, with predictions that miss and that hit."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from rr_core.lesson import SCENES, SEED
from tests.browser.lab import PHONE, PROJECTOR
from tests.browser.test_lesson import UNREADABLE
from tests.core.test_scenes import predictions

# The names in pictures that are cut off, that meet another, or through which an upright line goes.
UNCLEAR = """scene => [...scene.querySelectorAll('.rr-shown svg')].flatMap(picture => {
  const names = [...picture.querySelectorAll('text')].map(one => [one.textContent, one.getBBox()]);
  const lines = [...picture.querySelectorAll('.rr-curve ~ .rr-until')].map(one => one.getBBox());
  const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
    && a.y + 8 < b.y + b.height && b.y + 8 < a.y + a.height;
  const cut = ({x, y, width, height}) => x < -1 || x + width > picture.clientWidth + 1
    || y + height > picture.clientHeight + 2;
  return names.filter(([, box], i) => cut(box) || names.slice(0, i).some(([, other]) => meet(box, other))
    || lines.some(({x, y, height}) => meet(box, {x, y, width: 1, height})))
    .map(([name]) => name) })"""


def fits(hand, size):
    """The scene, without scrolling, with nothing unreadable and nothing that reaches beyond it."""
    hand.look()
    box = hand.page.locator(".rr-scene").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]
    assert box["x"] + box["width"] <= size["width"]
    for look in (UNREADABLE, UNCLEAR):
        assert hand.page.locator(".rr-scene").evaluate(look) == []


# Fills in each of these places in turn: caption, the chances of the coin where it has some, and how the place is called.
ALONG = """(dial, places) => places.map(place => {
  const scene = dial.closest('.rr-scene');
  if (dial.value !== `${place}`) { dial.value = place; dial.dispatchEvent(new Event('input', {bubbles: true})) }
  const told = [...scene.querySelectorAll('.rr-zones p > b:first-of-type')].map(chance => chance.innerText);
  return [scene.querySelector('.rr-caption').innerText, told, dial.getAttribute('aria-valuetext')] })"""


class Mouse:
    """A visitor's way to use the widgets of a scene."""

    def __init__(self, lab):
        self.lab, self.page = lab, lab.page

    def look(self):
        """Before a measurement of what is seen; here it must be seen as it is."""

    def click(self, widget):
        widget.click()

    def press(self, name):
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def move(self, slider, value):
        slider.fill(str(value))

    def along(self, dial, places):
        """What is seen at each of so many places of the dial, as `ALONG`."""
        return dial.evaluate(ALONG, list(range(places)))

    def predict(self, question, said):
        """Make a prediction, as near to this one as the widgets come; what it is then."""
        if question.kind == "number":
            line = self.page.get_by_role("slider", name=question.text, exact=True)
            low, high = (float(line.get_attribute(end)) for end in ("min", "max"))
            part = (said[0] - question.low) / (question.high - question.low)
            self.move(line, round(low + part * (high - low)))
            told = self.page.locator(".rr-ask output").inner_text().split()[0].removesuffix(question.unit)
            return (int(told.replace(",", "").replace("−", "-")),)
        if question.kind == "choice":
            self.click(self.page.locator(".rr-ask label").nth(said[0]))
        elif question.kind == "order":
            for item in said:
                self.click(self.page.locator(".rr-ask .rr-choice button").nth(item))
        else:
            self.move(self.page.locator(".rr-scene .rr-track input").nth(2), min(50, said[2]))
            texts = self.page.locator(".rr-scene .rr-number").all_inner_texts()
            return tuple(int(text.removesuffix("%")) for text in texts)
        return said


class Finger(Mouse):
    def click(self, widget):
        widget.tap()


class Keys(Mouse):
    """Tab, Enter, the space bar and arrows."""

    def look(self):
        """Back to the top: Tab may have scrolled on its way past what stands below the scene."""
        self.page.get_by_test_id("stMain").evaluate("(main) => { main.scrollTop = 0; }")

    def reach(self, widget):
        """Press Tab until this widget has the focus; then backwards, if it stands before."""
        target = widget.element_handle()
        target.wait_for_element_state("enabled")
        for key in ["Tab"] * 15 + ["Shift+Tab"] * 40:
            if target.evaluate("(node) => node.contains(node.getRootNode().activeElement)"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"no way by Tab to {target.evaluate('(node) => node.outerHTML')}")

    def click(self, widget):
        radio = widget.locator("input[type=radio]")
        if radio.count():
            # Tab reaches the first of them; arrows go on from there.
            self.reach(self.page.locator(".rr-ask input[type=radio]").first)
            self.page.keyboard.press("Space")
            for _ in range(10):
                if radio.is_checked():
                    return
                self.page.keyboard.press("ArrowDown")
            raise AssertionError("no way by arrows to this choice")
        self.reach(widget)
        self.page.keyboard.press("Enter")

    def move(self, slider, value):
        self.reach(slider)
        steps = round((value - float(slider.input_value())) / float(slider.get_attribute("step") or 1))
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")

    def along(self, dial, places):
        seen = []
        for place in range(places):
            self.move(dial, place)
            seen += dial.evaluate(ALONG, [place])
        return seen


def answered(hand, posed, said):
    """The two sentences are those of the prediction; the dial then moves picture and caption, to every place."""
    page = hand.page
    page.locator('.rr-scene[data-answered="yes"]').wait_for()
    assert page.locator(".rr-scene .rr-result").inner_text() == posed.after(said)
    assert page.locator(".rr-scene .rr-asked").inner_text() == f"{posed.recall} {posed.question.text}"
    dial = page.get_by_role("slider", name=posed.dial, exact=True)
    for frame, (caption, chances, value) in zip(
        posed.frames, hand.along(dial, len(posed.frames)), strict=True
    ):
        assert (caption, value) == (frame.caption, frame.value)
        if frame.picture["kind"] == "people":
            told, accident, _ = (Decimal(text.removesuffix("%")) for text in chances)
            assert f"right with chance {told + accident}%" in caption
    hand.move(dial, posed.first)
    if posed.question.kind != "bars":
        mark = {"name": f"you: {posed.question.words(said)}", **posed.mark(said)}
        assert mark["name"] in page.locator(".rr-shown").text_content()
    else:
        assert "Your prediction" in page.locator(".rr-shown").text_content()


def walk(hand, size, seed, among, misses=()):
    """These scenes, the others before the last of them being skipped, with a prediction that hits or comes as near as the
    widgets do; in some, before that and with other dice, one that misses. Before a prediction nothing of the answer has
    been received."""
    lab, page, received, rng = hand.lab, hand.page, [], random.Random(seed)
    page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived",
            lambda data: received.append(bytes(data, "utf-8") if isinstance(data, str) else data),
        ),
    )
    page.emulate_media(reduced_motion="reduce")
    lab.open("/lesson?scene=1")
    draw, told, last = 0, set(), max(map(SCENES.index, among)) + 1
    for number, about in enumerate(SCENES[:last], 1):
        page.get_by_text(f"Scene {number} of {len(SCENES)}", exact=True).wait_for()
        assert page.locator(".rr-title").inner_text() == about.title
        if about not in among:
            hand.press("Skip")
            continue
        for hits in (False, True) if about in misses else (True,):
            posed = about.pose(SEED + draw)
            fits(hand, size)
            hidden = [frame.caption.encode() for frame in posed.frames]
            assert not [one for one in hidden if one not in told and any(one in frame for frame in received)]
            told.update(hidden)  # two draws may have one sentence in common
            assert page.get_by_role("button", name="This is my prediction").is_disabled()
            others = [one for one in predictions(posed.question, rng) if one != posed.answer]
            said = hand.predict(posed.question, posed.answer if hits else rng.choice(others))
            hand.press("This is my prediction")
            answered(hand, posed, said)
            fits(hand, size)
            assert lab.query[f"said_{about.key}"] == about.format(said)
            if not hits:
                hand.press("Try a new draw")
                page.locator('.rr-scene[data-answered=""]').wait_for()
                draw += 1
                assert lab.query["draw"] == str(draw)
                assert f"said_{about.key}" not in lab.query
        if posed.climb:
            hand.press("Climb the hill yourself")
            hand.press("Go to the summit: MLE*")
            fits(hand, size)
            hand.press("Back to the scene")
            answered(hand, posed, said)
        hand.press("To the end" if number == len(SCENES) else "Next scene")
    if last == len(SCENES):
        page.get_by_text(f"You predicted in {len(among)} of {len(SCENES)} scenes.").wait_for()
    else:
        page.get_by_text(f"Scene {last + 1} of {len(SCENES)}", exact=True).wait_for()


@pytest.mark.journey
def test_by_mouse_on_a_projector(open_lab):
    lab = open_lab(viewport=PROJECTOR)
    walk(Mouse(lab), PROJECTOR, 5, SCENES[:1], misses=SCENES[:1])
    lab.page.reload()
    lab.page.get_by_text(f"Scene 2 of {len(SCENES)}", exact=True).wait_for()
    # And a browser goes on where it was.
    lab.page.wait_for_function("() => localStorage.getItem('rr-lesson')?.includes('scene=2')")
    lab.open("/lesson")
    lab.page.get_by_role("link", name="Go on with scene 2").click()
    lab.page.get_by_text(f"Scene 2 of {len(SCENES)}", exact=True).wait_for()


def test_by_touch_on_a_phone(open_lab):
    lab = open_lab(new=True, has_touch=True, is_mobile=True, viewport=PHONE)
    walk(Finger(lab), PHONE, 6, SCENES, misses=SCENES[:1])


def test_by_keyboard_alone(open_lab):
    """The first scene of each kind of question."""
    kinds = {about.pose(SEED).question.kind: about for about in SCENES[::-1]}
    walk(Keys(open_lab(viewport=PROJECTOR)), PROJECTOR, 7, set(kinds.values()))
