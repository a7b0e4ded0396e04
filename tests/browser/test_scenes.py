"""The lesson in Chromium: each scene by mouse on a projector, by touch on a phone and by keyboard alone, with predictions
that miss and that hit."""

from __future__ import annotations

import itertools
import random

import pytest

from rr_core.lesson import SCENES, SEED
from tests.browser.lab import PHONE, PROJECTOR
from tests.browser.test_lesson import UNREADABLE
from tests.core.test_scenes import predictions


def fits(lab, size):
    """The scene, without scrolling, with nothing unreadable and nothing that reaches beyond it."""
    box = lab.page.locator(".rr-scene").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]
    assert box["x"] + box["width"] <= size["width"]
    assert lab.page.locator(".rr-scene").evaluate(UNREADABLE) == []


def scene_of(lab):
    return next(one for one in SCENES if one.title == lab.page.locator(".rr-title").inner_text())


def answered(lab, posed, said):
    """The two sentences are those of the prediction; the dial then moves picture and caption, to every place."""
    lab.page.locator('.rr-scene[data-answered="yes"]').wait_for()
    assert lab.page.locator(".rr-scene .rr-result").inner_text() == posed.after(said)
    caption = lab.page.locator(".rr-scene .rr-caption")
    dial = lab.page.get_by_role("slider", name=posed.dial, exact=True)
    for place, frame in enumerate(posed.frames):
        dial.fill(str(place))
        assert caption.inner_text() == frame.caption
        assert dial.get_attribute("aria-valuetext") == frame.value
    dial.fill(str(posed.first))


def say(lab, question, said):
    """Make a prediction with the scene's own widgets, as near to this one as they come; what it is then."""
    if question.kind == "number":
        line = lab.page.get_by_role("slider", name=question.text, exact=True)
        low, high = (float(line.get_attribute(end)) for end in ("min", "max"))
        part = (said[0] - question.low) / (question.high - question.low)
        line.fill(str(round(low + part * (high - low))))
        told = lab.page.locator(".rr-ask output").inner_text().removesuffix(question.unit)
        return (int(told.replace(",", "").replace("−", "-")),)
    if question.kind == "choice":
        lab.page.locator(".rr-ask label").nth(said[0]).click()
    elif question.kind == "order":
        for item in said[:-1]:
            lab.page.locator(".rr-ask .rr-choice button").nth(item).click()
        return said
    else:
        lab.page.locator(".rr-scene .rr-track input").nth(2).fill(str(min(50, said[2])))
        texts = lab.page.locator(".rr-scene .rr-number").all_inner_texts()
        return tuple(int(text.removesuffix("%")) for text in texts)
    return said


@pytest.mark.journey
def test_by_mouse_on_a_projector_with_predictions_that_miss_and_that_hit(open_lab):
    lab, received, rng = open_lab(), [], random.Random(5)
    lab.page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived",
            lambda data: received.append(bytes(data, "utf-8") if isinstance(data, str) else data),
        ),
    )
    lab.page.set_viewport_size(PROJECTOR)
    lab.page.emulate_media(reduced_motion="reduce")
    lab.open("/lesson?scene=1")
    draw = 0
    for number, about in enumerate(SCENES, 1):
        lab.page.get_by_text(f"Scene {number} of {len(SCENES)}", exact=True).wait_for()
        assert scene_of(lab) is about
        for hits in (False, True):
            posed = about.pose(SEED + draw)
            fits(lab, PROJECTOR)
            hidden = [frame.caption.encode() for frame in posed.frames]
            assert not [one for one in hidden if any(one in frame for frame in received)]
            assert lab.page.get_by_role("button", name="This is my prediction").is_disabled()
            wanted = posed.answer if hits else rng.choice(predictions(posed.question, rng))
            said = say(lab, posed.question, wanted)
            lab.page.get_by_role("button", name="This is my prediction").click()
            answered(lab, posed, said)
            fits(lab, PROJECTOR)
            assert lab.query[f"said_{about.key}"] == about.format(said)
            if not hits:
                lab.page.get_by_role("button", name="Other dice").click()
                lab.page.locator('.rr-scene[data-answered=""]').wait_for()
                draw += 1
                assert lab.query["draw"] == str(draw)
                assert f"said_{about.key}" not in lab.query
        if posed.climb:
            lab.page.get_by_role("button", name="Climb the hill yourself").click()
            lab.page.get_by_role("button", name="Go to the summit: MLE*").click()
            fits(lab, PROJECTOR)
            lab.page.get_by_role("button", name="Back to the scene").click()
            answered(lab, posed, said)
        lab.page.get_by_role("button", name="To the end" if number == len(SCENES) else "Next scene").click()
    lab.page.get_by_text(f"You predicted in {len(SCENES)} of {len(SCENES)} scenes.").wait_for()
    lab.page.reload()
    lab.page.get_by_text(f"You predicted in {len(SCENES)} of {len(SCENES)} scenes.").wait_for()


def test_by_touch_on_a_phone(open_lab):
    lab, rng = open_lab(has_touch=True, is_mobile=True, viewport=PHONE), random.Random(6)
    lab.page.emulate_media(reduced_motion="reduce")
    lab.open("/lesson?scene=1")
    for number, about in enumerate(SCENES, 1):
        lab.page.get_by_text(f"Scene {number} of {len(SCENES)}", exact=True).wait_for()
        posed = about.pose(SEED)
        fits(lab, PHONE)
        said = say(lab, posed.question, rng.choice(predictions(posed.question, rng)))
        lab.page.get_by_role("button", name="This is my prediction").tap()
        answered(lab, posed, said)
        fits(lab, PHONE)
        if posed.climb:
            lab.page.get_by_role("button", name="Climb the hill yourself").tap()
            fits(lab, PHONE)
        lab.page.get_by_role("button", name="To the end" if number == len(SCENES) else "Next scene").tap()
    lab.page.get_by_text(f"You predicted in {len(SCENES)} of {len(SCENES)} scenes.").wait_for()


def test_by_keyboard_alone(open_lab):
    lab = open_lab()
    lab.page.set_viewport_size(PROJECTOR)
    lab.page.emulate_media(reduced_motion="reduce")
    lab.open("/lesson?scene=1")
    keyboard = lab.page.keyboard
    lab.page.locator(".rr-title").focus()

    def tab_to(name):
        for _ in range(40):
            keyboard.press("Tab")
            if name == lab.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
            ):
                return
        raise AssertionError(f"no way to {name} by Tab")

    for number, about in enumerate(SCENES, 1):
        lab.page.get_by_text(f"Scene {number} of {len(SCENES)}", exact=True).wait_for()
        lab.page.locator(".rr-title").focus()
        posed = about.pose(SEED)
        question = posed.question
        if question.kind == "number":
            tab_to(question.text)
            keyboard.press("Home")
            keyboard.press("ArrowRight")
        elif question.kind == "choice":
            keyboard.press("Tab")
            keyboard.press("Space")
        elif question.kind == "order":
            for item in question.items[:-1]:
                tab_to(item)
                keyboard.press("Enter")
        else:
            tab_to(f"Your prediction: {question.names[0]}")
            keyboard.press("End")
        tab_to("This is my prediction")
        keyboard.press("Enter")
        lab.page.locator('.rr-scene[data-answered="yes"]').wait_for()
        result = lab.page.locator(".rr-scene .rr-result").inner_text()
        text = lab.query[f"said_{about.key}"]
        assert result == posed.after(tuple(map(int, text.split("."))))
        tab_to(posed.dial)
        captions = set()
        keyboard.press("Home")
        for _ in itertools.repeat(None, len(posed.frames)):
            captions.add(lab.page.locator(".rr-scene .rr-caption").inner_text())
            keyboard.press("ArrowRight")
        assert captions == {frame.caption for frame in posed.frames}
        tab_to("To the end" if number == len(SCENES) else "Next scene")
        keyboard.press("Enter")
    lab.page.get_by_text(f"You predicted in {len(SCENES)} of {len(SCENES)} scenes.").wait_for()


def test_a_browser_goes_on_where_it_was(open_lab):
    lab = open_lab("/lesson?scene=1", stranger=True)
    assert not lab.page.get_by_text("Go on with scene").is_visible()
    for number in (2, 3):
        lab.page.get_by_role("button", name="Skip").click()
        lab.page.get_by_text(f"Scene {number} of {len(SCENES)}", exact=True).wait_for()
    lab.page.wait_for_function("() => localStorage.getItem('rr-lesson')?.includes('scene=3')")
    lab.open("/lesson")
    lab.page.get_by_role("link", name="Go on with scene 3").click()
    lab.page.get_by_text(f"Scene 3 of {len(SCENES)}", exact=True).wait_for()
