"""The picture and the hand: dials that answer while the hand moves. What stands on the first screen: test_looks.py."""

from __future__ import annotations

from playwright.sync_api import expect
from plotly.offline import get_plotlyjs_version

from tests.app.opening import OF_A_DRAW
from tests.browser.expected import LINK, QUERY
from tests.browser.lab import (
    COUNT_FRAMES,
    FRAMES_COUNTED,
    PATIENCE,
    PHONE,
    PROJECTOR,
)

# The part of the main figure between the top of the window and what stands at its foot.
SEEN = """() => {
  const figure = document.querySelector('.st-key-lead .js-plotly-plot').getBoundingClientRect();
  const foot = document.querySelector('.st-key-foot').getBoundingClientRect();
  const end = foot.height ? foot.top : innerHeight;
  return Math.max(0, Math.min(figure.bottom, end) - Math.max(figure.top, 0)) / figure.height }"""


def dial(lab, name):
    """The dial beside the figure, or the one at the foot of a phone's window."""
    size = lab.page.viewport_size
    place = ".st-key-foot" if size["width"] < 640 else '[data-testid="stSidebar"]'
    return lab.page.locator(place).get_by_role("slider", name=name, exact=True)


def must_stand_on_the_first_screen(lab) -> None:
    """Most of the main figure and its dials, and on a projector all the controls."""
    size = lab.page.viewport_size
    assert lab.page.evaluate(SEEN) >= 2 / 3, lab.path
    grey = lab.greyed()  # in place of such a dial stands its reason
    for name in ("Privacy ε", "Users N"):
        if name in grey:
            assert not dial(lab, name).is_visible()
            continue
        box = dial(lab, name).bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"]
        assert box["width"] >= 120
    if size == PROJECTOR:
        hides = lab.path.strip("/") in OF_A_DRAW
        for name in ("New draw", "More", *["Hide the truth"] * hides):
            box = lab.page.get_by_role("button", name=name).bounding_box()
            assert box["y"] + box["height"] <= size["height"]
    else:  # a finger's width
        assert dial(lab, "Privacy ε").bounding_box()["height"] >= 36


def test_the_figure_follows_the_hand_and_the_address_its_release(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    box = dial(lab, "Privacy ε").bounding_box()
    y, left, width = box["y"] + box["height"] / 2, box["x"], box["width"]
    entries = lab.page.evaluate("() => history.length")
    mouse = lab.page.mouse
    mouse.move(left + 0.7 * width, y)
    mouse.down()
    lab.page.wait_for_timeout(300)
    lab.page.evaluate(COUNT_FRAMES)
    for step in range(60):
        mouse.move(left + (0.7 - 0.004 * step) * width, y)
        lab.page.wait_for_timeout(30)
    seen = lab.page.evaluate(FRAMES_COUNTED)
    assert lab.query == QUERY  # not yet
    assert seen["pictures"] >= 5
    assert seen["blank"] <= 0.05 * seen["frames"]
    with lab.rerun():
        mouse.up()
    shown = dial(lab, "Privacy ε").get_attribute("aria-valuetext")
    lab.page.wait_for_url(lambda url: f"eps={shown}&" in url, timeout=PATIENCE)
    assert lab.sidebar()["Exact ε"] == shown
    assert lab.page.evaluate("() => history.length") == entries + 1
    lab.back()
    assert (lab.query, lab.sidebar()["Privacy ε"]) == (QUERY, "2")


def test_keys_pressed_fast_end_on_the_last_value_everywhere(open_lab):
    lab = open_lab("/estimators?eps=2")
    slider = dial(lab, "Privacy ε")
    slider.focus()
    with lab.rerun():
        for key in ["ArrowLeft"] * 12 + ["PageUp", "ArrowRight", "PageDown", "ArrowDown"]:
            lab.page.keyboard.press(key)
    lab.page.wait_for_url(lambda url: "eps=0.501" in url, timeout=PATIENCE)
    lab.settle()
    assert (lab.sidebar()["Privacy ε"], lab.sidebar()["Exact ε"]) == ("0.501", "0.501")
    own = (
        "plot => plot._fullLayout.yaxis.autorange"  # but for an axis that leaves the towers of a small ε out
    )
    for key, end, is_own in (("Home", "0.01", False), ("End", "20", True)):
        with lab.rerun():
            lab.page.keyboard.press(key)
        assert lab.sidebar()["Exact ε"] == lab.sidebar()["Privacy ε"] == lab.query["eps"] == end
        assert lab.chart("lead").evaluate(own) is is_own
    lab.type("Exact ε", 0.7)
    assert (lab.sidebar()["Privacy ε"], lab.query["eps"]) == ("0.7", "0.7")
    lab.slide("Privacy ε")
    assert lab.sidebar()["Exact ε"] == lab.sidebar()["Privacy ε"] == lab.query["eps"] == "0.708"


def test_the_figure_fills_the_window_with_its_dials_and_gives_it_back(open_lab):
    lab = open_lab(f"/estimators?{LINK}", viewport=PROJECTOR)
    before = lab.chart("lead").bounding_box()["height"]
    lab.page.get_by_role("button", name="Figure in full window").click()
    lab.page.wait_for_function("() => document.querySelector('.st-key-lead .main-svg').clientWidth > 1200")
    assert lab.chart("lead").bounding_box()["height"] > before
    assert lab.page.evaluate(SEEN) > 0.99
    lab.page.locator(".st-key-foot").get_by_role("slider", name="Privacy ε").focus()
    figure = lab.figure("lead")
    with lab.rerun():
        lab.page.keyboard.press("ArrowRight")
    assert lab.figure("lead") != figure
    assert lab.chart("lead").bounding_box()["width"] > 1200
    lab.page.keyboard.press("Escape")
    lab.page.wait_for_function("() => document.querySelector('.st-key-lead .main-svg').clientWidth < 1000")
    assert lab.page.get_by_role("button", name="New draw").is_visible()
    expect(lab.page.get_by_role("button", name="Figure in full window")).to_be_focused()


HIDDEN = "plot => plot.data.filter(t => t.visible === 'legendonly').map(t => t.name)"


def test_the_legend_answers_to_keys(open_lab):
    """Its names could be clicked, and no key reached them."""
    lab = open_lab("/estimators?k=12&eps=2&n=5000")
    boxes = lab.chart("lead").get_by_role("checkbox")
    names = [box.get_attribute("aria-label") for box in boxes.all()]
    assert names == ["Truth", "Inv", "InvN", "InvP", "MLE*"]
    for name, key in (("Inv", " "), ("Inv", "Enter"), ("MLE*", "Enter")):
        box = lab.chart("lead").get_by_role("checkbox", name=name, exact=True)
        shown = box.is_checked()
        box.focus()
        lab.page.keyboard.press(key)
        expect(box).to_be_checked(checked=not shown)
        expect(box).to_be_focused()
        assert (name in lab.chart("lead").evaluate(HIDDEN)) == shown
    lab.turn_to("/estimators?k=20000&eps=3&n=1000000")  # curves, each with its band
    for names in (["Inv", "MLE*"], ["MLE*"]):
        lab.chart("lead").get_by_role("checkbox", name="Inv", exact=True).press("Enter")
        assert list(dict.fromkeys(lab.chart("lead").evaluate(HIDDEN))) == names


def test_one_figure_stays_with_what_was_hidden_and_zoomed_into(open_lab):
    lab = open_lab(f"/estimators?{LINK.replace('k=1000', 'k=50')}")
    figure = lab.chart("lead")
    figure.evaluate("plot => { plot.seen = true }")
    figure.locator(".legendtoggle").first.click()
    # Plotly waits whether a second click follows.
    lab.page.wait_for_function(f"() => ({HIDDEN})(document.querySelector('.rr-figure')).join() === 'Truth'")
    figure.hover()
    lab.page.locator('.st-key-lead .modebar-btn[data-title="Zoom in"]').click()
    zoomed = "plot => plot._fullLayout.xaxis.range.map(Math.round).join()"
    shown, drawn = figure.evaluate(zoomed), lab.figure("lead")
    dial(lab, "Privacy ε").focus()
    for act in (lambda: lab.page.keyboard.press("ArrowRight"), lambda: lab.page.keyboard.press("p")):
        with lab.rerun():
            act()
        assert figure.evaluate("plot => plot.seen")
        assert figure.evaluate(HIDDEN) == ["Truth"]
    assert lab.figure("lead") != drawn
    assert figure.evaluate(zoomed) == shown != "-1,50"
    assert figure.get_attribute("aria-label") in lab.words()
    lab.page.emulate_media(color_scheme="dark")
    lab.page.wait_for_function(
        "() => document.querySelector('.rr-figure')._fullLayout.font.color === '#e6eaf1'"
    )


def test_on_a_phone_the_drawer_makes_way_for_the_page_chosen_there_and_a_new_draw_is_at_hand(open_lab):
    lab = open_lab(f"/noisy_histogram?{LINK}", viewport=PHONE)
    lab.page.get_by_test_id("stExpandSidebarButton").click()
    lab.page.get_by_test_id("stSidebarCollapseButton").wait_for()
    lab.go("Estimators")
    lab.page.get_by_test_id("stExpandSidebarButton").wait_for()
    with lab.rerun():
        lab.page.locator(".st-key-foot").get_by_role("button", name="New draw").click()
    lab.page.wait_for_function("() => new URL(location.href).searchParams.get('seed') === '8'")


THEIRS = """window.Plotly = {version: 'VERSION', purge() {}, newPlot(root) {
  root.on = () => {}; window.drawnByTheirs = true; return Promise.resolve() }}"""


def test_a_plotly_of_the_same_major_version_that_is_there_first_draws_the_figure(open_lab):
    """As Streamlit's own charts bring one: the page's, which takes a second, is not loaded too."""
    lab, asked = open_lab(new=True), []
    lab.page.add_init_script(THEIRS.replace("VERSION", f"{get_plotlyjs_version().split('.')[0]}.99.0"))
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.page.goto(f"{lab.server}/noisy_histogram?{QUERY}")
    lab.page.wait_for_function("() => window.drawnByTheirs", timeout=PATIENCE)
    assert not any("plotly.min.js" in address for address in asked)
