"""Presenting in a browser: by keyboard alone, in large letters, over pages and links."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.expected import LINK, QUERY
from tests.browser.lab import BEGINNINGS, FOCUSED, PAGES, PHONE, PROJECTOR, QUESTIONS, SCENARIO_PAGES

SCENARIO = LINK.replace("k=1000", "k=12")
SHOWN = {**QUERY, "k": "12"}
PRESENTED = {**SHOWN, "present": "on"}

# What is on screen, and how large its letters are; raised and lowered ones belong to what they stand at.
LETTERS = """() => { const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, at = text.parentElement, style = getComputedStyle(at);
    if (!text.data.trim() || at.closest('style, script, title, tspan[dy]') || style.visibility !== 'visible') continue;
    const range = document.createRange();
    range.selectNode(text);
    const box = range.getBoundingClientRect();
    if (!box.width || !box.height || box.bottom <= 0 || box.top >= innerHeight) continue;
    const matrix = at.ownerSVGElement ? at.getScreenCTM() : {a: 1, b: 0};
    found.push([text.data.trim(), parseFloat(style.fontSize) * Math.hypot(matrix.a, matrix.b)]);
  }
  return found }"""
# How much of the figure and of its sentence is on screen, below the question and above the dials.
IN_SIGHT = """() => { const of = selector => document.querySelector(selector).getBoundingClientRect();
  const low = of('h1').top, high = of('[data-testid="stBottom"]').top;
  const part = box => Math.max(0, Math.min(box.bottom, high) - Math.max(box.top, low)) / box.height;
  return ['.svg-container', '[data-testid="stCaptionContainer"] p'].map(what => part(of('.st-key-lead ' + what))) }"""

# Buttons at the foot whose words do not fit into them, or that do not fit into the window.
CUT = """() => [...document.querySelectorAll('.st-key-present :is(button, button *)')].filter(
  b => b.scrollWidth > b.clientWidth + 1 && getComputedStyle(b).display !== 'inline'
    || b.getBoundingClientRect().right > innerWidth).map(b => b.innerText)"""


def letters(lab):
    found: list[tuple[str, float]] = lab.page.evaluate(LETTERS)
    return [(text, size) for text, size in found if text != "Skip to main content"]


def stops(lab, presses: int = 9):
    """What the Tab key reaches from the first dial on."""
    lab.page.locator(".st-key-foot").get_by_role("slider", name="Privacy ε").focus()
    reached = [lab.page.evaluate(FOCUSED)]
    for _ in range(presses):
        lab.page.keyboard.press("Tab")
        reached.append(lab.page.evaluate(FOCUSED))
    return reached


def press_at(lab, name: str, key: str) -> None:
    """Go to a control by the Tab key, from the first dial on, and press a key there."""
    reached = stops(lab)
    assert name in reached
    stops(lab, reached.index(name))
    with lab.rerun():
        lab.page.keyboard.press(key)


def test_a_lecture_by_keyboard_alone(open_lab):
    lab = open_lab(f"/noisy_histogram?{SCENARIO}", viewport=PROJECTOR)
    with lab.rerun():
        lab.page.keyboard.press("p")
    assert lab.query == PRESENTED
    first = lab.page.locator(".st-key-foot").get_by_role("slider", name="Privacy ε")
    expect(first).to_be_focused()
    assert lab.page.locator(".js-plotly-plot").count() == 1
    words = [text for text, _ in letters(lab)]
    assert QUESTIONS["Noisy histogram"] in words
    assert not [text for text in words if text in ("The path", "Home", "More", "Formulas", "Zoom to reports")]
    assert stops(lab)[:8] == [
        "Privacy ε", "Exact N", "Users N", "New draw", "Hide", "QR", "Exit", "Next",
    ]  # fmt: skip
    figure = lab.figure("noisy_histogram")
    press_at(lab, "Privacy ε", "ArrowRight")
    assert lab.figure("noisy_histogram") != figure
    figure = lab.figure("noisy_histogram")
    press_at(lab, "New draw", "Enter")
    assert lab.figure("noisy_histogram") != figure
    press_at(lab, "Hide", "Enter")
    assert (lab.query["truth"], lab.query["present"]) == ("hidden", "on")
    stops(lab, stops(lab).index("QR"))
    lab.page.keyboard.press("Enter")
    code = lab.page.get_by_role("img", name="QR code of this link")
    code.wait_for()
    assert code.bounding_box()["width"] > 380
    shared = lab.page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text()
    assert "truth=hidden" in shared
    assert "present" not in shared  # a class gets the whole page
    lab.page.keyboard.press("Escape")
    code.wait_for(state="detached")
    press_at(lab, "Next", "Enter")
    lab.page.wait_for_url(
        lambda url: "/inv_negatives" in url and "truth=hidden" in url and "present=on" in url
    )
    lab.settle()
    expect(first).to_be_focused()
    assert "Truth" not in [text for text, _ in letters(lab)]
    press_at(lab, "Reveal", "Enter")
    assert "Truth" in [text for text, _ in letters(lab)]
    press_at(lab, "Exact N", "Escape")
    assert "present" not in lab.query
    expect(lab.page.get_by_role("button", name="Present")).to_be_focused()


def test_from_the_back_of_the_room(open_lab):
    lab = open_lab(viewport=PROJECTOR)
    for label in SCENARIO_PAGES:
        if label in BEGINNINGS:
            lab.open(f"/{PAGES[label]}?{SCENARIO}&present=on")
        else:
            with lab.rerun():
                lab.page.get_by_role("link", name="Next").evaluate("link => link.click()")
            lab.page.wait_for_url(f"**/{PAGES[label]}?**")
            lab.settle()
        found = letters(lab)
        assert [one for one in found if one[1] < 22] == [], label
        assert {"New draw", "Exit", "Privacy ε", "Users N"} <= {text for text, _ in found}
        assert lab.page.evaluate("() => document.documentElement.scrollWidth") <= 1280
        assert min(lab.page.evaluate(IN_SIGHT)) > 0.99, label
        lab.must_be_fine()


def test_presented_on_a_phone_and_a_billion_users_are_read_whole_on_either_screen(open_lab):
    lab = open_lab("/noisy_histogram?n=1000000000&present=on", viewport=PROJECTOR)
    for size in (PROJECTOR, PHONE):
        lab.page.set_viewport_size(size)
        box = lab.page.locator(".st-key-foot").get_by_role("spinbutton", name="Exact N")
        assert box.input_value() == "1,000,000,000"
        assert box.evaluate("node => node.scrollWidth <= node.clientWidth")
    lab.turn_to(f"/estimators?{SCENARIO}&present=on")
    assert min(lab.page.evaluate(IN_SIGHT)) > 0.99
    assert min(size for _, size in letters(lab)) >= 14
    assert lab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert lab.page.evaluate(CUT) == []


def test_a_typed_p_is_a_letter_and_the_button_presents(open_lab):
    lab = open_lab(f"/estimators?{SCENARIO}")
    lab.page.get_by_role("spinbutton", name="Exact ε", exact=True).press("p")
    lab.page.wait_for_timeout(300)
    lab.settle()
    assert lab.query == SHOWN
    lab.page.keyboard.press("Escape")
    with lab.rerun():
        lab.page.get_by_role("button", name="Present", exact=True).click()
    assert lab.query == PRESENTED
    lab.press("Exit")
    assert lab.query == SHOWN
