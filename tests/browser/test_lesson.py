"""The story at the head of the home page: by mouse on a projector, by keyboard alone on a phone, and nothing is sent."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from rr_core import RandomizedResponse, inv_n, inv_p, mle_star, total_variation
from rr_core.lesson import EPSILONS, lesson
from tests.browser.expected import LINK
from tests.browser.lab import PHONE, PROJECTOR
from tests.sentences.spoken import tells

SURVEY = lesson()
TRUTH = [count / SURVEY.n for count in SURVEY.true_counts]
SOME = [(place, SURVEY.steps[place]) for place in (0, 4, 8)]  # with two, one and no bars below zero
EPSILON = "Privacy ε, in this story only"
# Text of the story in letters below 14 pixels, and what reaches beyond the story's edge.
UNREADABLE = """story => { const edge = story.getBoundingClientRect();
  const seen = [...story.querySelectorAll('*')].filter(e => e.checkVisibility());
  const small = e => e.innerText?.trim() && parseFloat(getComputedStyle(e).fontSize) < 14;
  const beyond = e => { const box = e.getBoundingClientRect();
    return box.left < edge.left || box.right > edge.right + 1 || box.bottom > edge.bottom };
  return seen.filter(e => small(e) || beyond(e)).map(e => e.outerHTML.slice(0, 120)) }"""


def all_sent(lab):
    """All that the page sends to the server from now on, but for its fonts, which come when they are first needed."""
    sent = []

    def ask(request):
        if request.resource_type != "font" or request.method != "GET" or "?" in request.url:
            sent.append(request.url)

    lab.page.on(
        "websocket", lambda socket: socket.on("framesent", lambda _: sent.append("a message on the socket"))
    )
    lab.page.on("request", ask)
    return sent


def opened(open_lab, viewport, motion="no-preference"):
    """The home page, and all that it sends to the server once it stands."""
    lab = open_lab(viewport=viewport)
    sent = all_sent(lab)
    lab.page.emulate_media(reduced_motion=motion)
    lab.open(f"/?{LINK}")
    lab.page.locator(".rr-question").wait_for()
    assert sent
    sent.clear()
    return lab, sent


def title(lab):
    return lab.page.locator(".rr-title").inner_text()


def fits(lab, size):
    box = lab.page.locator(".rr-story").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size["height"]
    assert box["x"] + box["width"] <= size["width"]
    assert lab.page.locator(".rr-story").evaluate(UNREADABLE) == []
    return box["height"]


def score(lab):
    """How far off, in per cent, the legend says that these are: your guess, the reports, the estimate."""
    words = lab.page.locator(".rr-legend").inner_text()
    return [
        int(re.search(rf"{name}: off by (\d+)%", words)[1]) for name in ("Your guess", "Reports", "Estimate")
    ]


def points(shares):
    return round(100 * total_variation(shares, TRUTH))


def in_per_cent(text):
    return float(text.removesuffix("%"))


def labelled(step, guessed):
    """Each bar's name and number in the last step."""
    reports = [count / SURVEY.n for count in step.counts]
    series = {"Truth": TRUTH, "Your guess": guessed, "Reports": reports, "Estimate": step.mle_star}
    return [
        [f"{name}: {rounded(shares[i])}%", f"{rounded(shares[i])}%"]
        for i in range(len(TRUTH))
        for name, shares in series.items()
    ]


def rounded(share):
    """Per cent, halves upwards, as a browser rounds."""
    return math.floor(100 * share + 0.5)


def moved_to(lab, name, part):
    """The shares, in per cent, when the slider of this name is at a part of its way."""
    lab.slider(name).fill(str(100 * part))
    texts = lab.page.locator(".rr-number").all_inner_texts()
    return pytest.approx([float(text.removesuffix("%").replace("−", "-")) for text in texts], abs=0.0501)


def said(lab):
    return f"{title(lab)} {lab.page.locator('.rr-words').inner_text()} {lab.page.locator('.rr-result').inner_text()}"


def taken_away(lab, step):
    q = step.p - step.keep
    reports = [count / SURVEY.n for count in step.counts]
    for part in (0, 0.5, 1):
        assert moved_to(lab, "Take the crowd away", part) == [100 * (share - part * q) for share in reports]
    assert list(map(in_per_cent, re.findall(r"[\d.]+%", said(lab)))) == pytest.approx([100 * q], abs=0.0501)
    least, (crowd,) = (
        min(range(5), key=step.counts.__getitem__),
        re.findall(r"of all reports, ([\d.]+)\.", said(lab)),
    )
    assert float(crowd) == pytest.approx(q * SURVEY.n, abs=0.5)
    below = f"“{SURVEY.answers[least]}” got only {step.counts[least]}, so less than nothing is left."
    assert (below in said(lab)) == (min(step.inv) < 0) == (step.counts[least] < float(crowd))
    assert ("every answer got at least as many" in said(lab)) == (min(step.inv) >= 0)


@cache
def averages(epsilon, surveys=400):
    """How far off each repair is on average, in per cent, by other dice and survey by survey; and the standard error of
    the difference to the mean of 1,000 surveys."""
    rng, k, own = np.random.default_rng(5), len(TRUTH), math.exp(epsilon)
    chances = (np.ones((k, k)) + (own - 1) * np.eye(k)) / (own + k - 1)
    counts = sum(
        rng.multinomial(count, row, surveys) for count, row in zip(SURVEY.true_counts, chances, strict=True)
    )
    mechanism = RandomizedResponse(k, epsilon)
    repairs = (inv_n, inv_p, mle_star)
    off = 100 * np.array([total_variation(one(counts, mechanism), TRUTH) for one in repairs])
    return off.mean(axis=1), off.std(axis=1) * math.sqrt(1 / surveys + 1 / 1000)


def stretched(lab, step):
    assert moved_to(lab, "Stretch", 1) == [100 * share for share in step.inv]
    (times,) = re.findall(r"stretch it ([\d.e+]+) times", said(lab))
    assert float(times) == pytest.approx(1 / step.keep, rel=0.005)
    assert in_per_cent(re.findall(r"[\d.]+%", said(lab))[1]) == pytest.approx(100 * step.keep, abs=0.0501)
    number = sum(share < 0 for share in step.inv)
    assert ("No bar is", "One bar is", "Two bars are", "Three bars are", "Four bars are")[number] in said(lab)
    assert ("nothing has to be mended" in said(lab)) == (number == 0)


def mended(lab, step):
    told = re.search(r"average over 1,000 surveys ([\d.]+)%, ([\d.]+)%, ([\d.]+)%: ([^.]*)\.", said(lab))
    usual = np.array(told.groups()[:3], dtype=float)
    expected, error = averages(step.epsilon)
    assert np.all(np.abs(usual - expected) <= 5 * error + 0.05)
    apart, least = np.ptp(usual) >= 1, int(usual.argmin())
    assert (told[4] == f"{('InvN', 'InvP', 'MLE*')[least]} wins") == apart
    assert (told[4] == "no winner here") == (not apart and min(step.inv) < 0)
    assert (told[4] == "nothing to choose") == (not apart and min(step.inv) >= 0)
    for name, label in (("inv_n", "InvN"), ("inv_p", "InvP"), ("mle_star", "MLE*")):
        lab.page.get_by_role("button", name=label, exact=True).click()
        assert moved_to(lab, "Mend", 0) == [100 * share for share in step.inv]
        assert moved_to(lab, "Mend", 1) == [100 * share for share in getattr(step, name)]
        start = " is off by" if label == "InvN" else ""
        assert f"{label}{start} {points(getattr(step, name))}%" in said(lab)
        if min(step.inv) >= 0:
            assert "all three repairs leave Inv as it is" in said(lab)
            assert getattr(step, name) == pytest.approx(step.inv, abs=1e-12)
        elif label == "MLE*":
            # Which answers are struck out: those, and only those, with fewer reports than chance brings each that stays.
            gone = [i for i, share in enumerate(step.mle_star) if share == 0]
            stay = [i for i in range(5) if i not in gone]
            others = RandomizedResponse(len(stay), step.epsilon)
            chance = sum(step.counts[i] for i in stay) * others.q
            assert [i for i in range(5) if step.counts[i] < chance] == gone
            names = ", ".join(f"“{SURVEY.answers[i]}” ({step.counts[i]})" for i in gone)
            told = re.search(
                r"MLE\* strikes out (.*): fewer than the ([\d.]+) that chance brings each of (\d) answers in a "
                r"survey of the other ([\d,]+)\. Its Inv: take ([\d.]+) away, stretch ([\d.]+) times",
                said(lab),
            )
            assert told[1] == names
            assert max(step.counts[i] for i in gone) < float(told[2])
            rest = sum(step.counts[i] for i in stay)
            tells(" ".join(told.groups()[1:]), chance, len(stay), rest, chance, 1 / others.keep)
        elif label == "InvN":
            lost = np.subtract(step.inv, step.inv_n)
            assert ("the tallest bar loses most" in said(lab)) == (lost.argmax() == int(np.argmax(step.inv)))
        elif label == "InvP":
            gone = [share for share, stays in zip(step.inv, step.inv_p, strict=True) if not stays]
            stay = [share for share, stays in zip(step.inv, step.inv_p, strict=True) if stays]
            assert ("small bars come to zero first" in said(lab)) == (max(gone) < min(stay))
            lowered = {round(100 * (a - b), 1) for a, b in zip(step.inv, step.inv_p, strict=True) if b > 0}
            assert {in_per_cent(re.findall(r"by the same ([\d.]+) percentage", said(lab))[0])} == lowered


def adds_up(lab, step):
    """Each chance of the coin is rounded, and they add up as they are written: all to 100, and two in the sentence."""
    told = [text.removesuffix("%") for text in lab.page.locator(".rr-zones b").all_inner_texts()]
    assert sum(map(Decimal, told)) == 100
    for text, exact in zip(told, (step.keep, step.p - step.keep, 1 - step.p), strict=True):
        assert float(text) == round(100 * exact, len(text.partition(".")[2]))
    sentence = lab.page.locator(".rr-result").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    both = sentence.split()[-1].removesuffix("%.")
    assert sentence.endswith(f" {told[0]}% + {told[1]}% = {both}%.")
    assert Decimal(told[0]) + Decimal(told[1]) == Decimal(both)
    assert float(both) == round(100 * step.p, len(both.partition(".")[2]))


def expected(step):
    return [points([count / SURVEY.n for count in step.counts]), points(step.mle_star)]


def test_by_mouse_on_a_projector(open_lab):
    lab, sent = opened(open_lab, PROJECTOR)
    following = lab.page.get_by_role("button", name="Next", exact=True)
    heights = {fits(lab, PROJECTOR)}
    assert following.is_disabled()
    assert lab.slider(EPSILON).count() == 0  # nothing depends on it yet
    lab.page.locator(".rr-question").get_by_text("Hidden notes", exact=True).click()
    following.click()
    assert title(lab) == "Let a coin decide"
    report, chance = lab.page.locator(".rr-report"), RandomizedResponse(5, 0.5).p
    for _ in range(4):
        lab.page.wait_for_function("() => document.querySelector('.rr-report').textContent")
        landed = lab.page.locator(".rr-coin").evaluate("coin => parseFloat(coin.style.left) / 100")
        assert (report.inner_text() == "Your report: Hidden notes") == (landed < chance)
        lab.page.get_by_role("button", name="Toss again").click()
    heights.add(fits(lab, PROJECTOR))
    for end in ("0%", "100%"):
        lab.page.locator(".rr-coin").evaluate("(coin, end) => { coin.style.left = end }", end)
        fits(lab, PROJECTOR)
    for place, step in enumerate(SURVEY.steps):
        lab.slider(EPSILON).fill(str(place))
        adds_up(lab, step)
    lab.slider(EPSILON).fill(str(EPSILONS.index(1)))
    following.click()
    lab.page.locator(".rr-sky").wait_for()
    lab.page.locator(".rr-sky").wait_for(state="detached")
    shown = lab.page.locator(".rr-number").all_inner_texts()
    counts = next(step.counts for step in SURVEY.steps if step.epsilon == 1)
    assert all(abs(int(text[:-1]) - count / 20) <= 0.5 for text, count in zip(shown, counts, strict=True))
    heights.add(fits(lab, PROJECTOR))
    following.click()
    guess = lab.slider("Your guess: Neighbour's paper")
    box = guess.bounding_box()
    lab.page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2)
    guessed = [int(text[:-1]) for text in lab.page.locator(".rr-number").all_inner_texts()]
    assert sum(guessed) == 100
    heights.add(fits(lab, PROJECTOR))
    following.click()
    for place, step in SOME:
        lab.slider(EPSILON).fill(str(place))
        assert lab.slider(EPSILON).get_attribute("aria-valuetext") == f"{step.epsilon:g}"
        assert score(lab)[1:] == expected(step)
        assert abs(score(lab)[0] - 100 * total_variation([share / 100 for share in guessed], TRUTH)) <= 0.5
        worse = "misleads even the estimate" in lab.page.locator(".rr-result").inner_text()
        assert worse == (score(lab)[2] > score(lab)[1])
        numbers = lab.page.locator(".rr-one").evaluate_all("all => all.map(e => [e.ariaLabel, e.innerText])")
        assert numbers == labelled(step, [share / 100 for share in guessed])
        heights.add(fits(lab, PROJECTOR))
    for walk in (taken_away, stretched, mended):
        following.click()
        for place, step in SOME:
            lab.slider(EPSILON).fill(str(place))
            walk(lab, step)
            heights.add(fits(lab, PROJECTOR))
    assert len(heights) == 1
    assert sent == []
    with lab.rerun():
        lab.page.get_by_role("link", name="See the noise on a whole histogram").click()
    assert lab.path == "/noisy_histogram"
    assert lab.query["seed"] == "7"
    lab.page.go_back()
    lab.page.get_by_text("Step 8 of 8", exact=True).wait_for()
    assert title(lab) == "Three repairs"
    assert lab.slider(EPSILON).get_attribute("aria-valuetext") == f"{SURVEY.steps[-1].epsilon:g}"


def test_by_keyboard_on_a_phone_without_motion(open_lab):
    lab, sent = opened(open_lab, PHONE, "reduce")
    keyboard, tab_to = lab.page.keyboard, lab.tab_to

    def go_to(button, heading):
        tab_to(button)
        keyboard.press("Enter")
        assert title(lab) == heading
        return fits(lab, PHONE)

    lab.page.locator(".rr-title").focus()
    keyboard.press("Tab")
    keyboard.press("Space")
    go_to("Next", "Let a coin decide")
    tab_to("Toss again")
    places = set()
    for _ in range(12):  # without a long answer among them: once in 60 runs
        keyboard.press("Enter")
        places.add(lab.page.locator(".rr-strip").bounding_box()["y"])
    assert len(places) == 1  # the strip stays where it is
    go_to("Next", "2,000 people do the same")
    go_to("Next", "Guess the truth")
    go_to("Next", "Now the truth")
    # nobody is scored for bars that nobody moved
    assert "Your guess" not in lab.page.locator(".rr-legend").inner_text()
    go_to("Back", "Guess the truth")
    tab_to("Your guess: Neighbour's paper")
    keyboard.press("End")
    assert lab.page.locator(".rr-number").all_inner_texts()[2] == "50%"
    tab_to(EPSILON)
    keyboard.press("End")
    heights = {go_to("Next", "Now the truth")}
    assert score(lab)[1:] == expected(SURVEY.steps[-1])
    tab_to(EPSILON)
    keyboard.press("ArrowLeft")
    assert score(lab)[1:] == expected(SURVEY.steps[-2])
    keyboard.press("Home")
    assert score(lab)[1:] == expected(SURVEY.steps[0])
    for heading, hand in (
        ("How does the truth come back?", "Take the crowd away"),
        ("Stretch it to 100%", "Stretch"),
        ("Three repairs", "Mend"),
    ):
        heights.add(go_to("Next", heading))
        numbers = lab.page.locator(".rr-number").all_inner_texts()
        tab_to(hand)
        keyboard.press("Home")
        assert lab.page.locator(".rr-number").all_inner_texts() != numbers
    for place, _ in SOME:  # with many answers to name and with few
        lab.slider(EPSILON).fill(str(place))
        for label in ("InvN", "InvP", "MLE*"):
            lab.page.get_by_role("button", name=label, exact=True).click()
            heights.add(fits(lab, PHONE))
    assert len(heights) == 1  # the button stays under the thumb
    go_to("Again", "Would you say it aloud?")
    assert lab.page.get_by_role("radio", checked=True).count() == 0
    assert sent == []
