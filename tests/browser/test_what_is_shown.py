"""What a widget shows is what the picture is drawn from, on every way into a mode of the app and out of it."""

from __future__ import annotations

import re
from itertools import cycle, product

import pytest

from rr_core.populations import DISTRIBUTIONS
from tests import LENGTHY
from tests.browser.lab import LABELS, LEAD, PAGES, PHONE, PROJECTOR, SCENARIO_PAGES

ZIPF = "dist=zipf&k=25&s=1.3&eps=2&n=5000&seed=9"
SCENARIOS = {
    "exam": "dist=exam&k=12&s=1.5&eps=1&n=2000&seed=3",
    "zipf": ZIPF,
    "many categories": "dist=zipf&k=20000&s=1.1&eps=3&n=1000000&seed=11",
}
WAYS = tuple(product(("key", "button"), ("Escape", "p", "Exit")))  # in, out

# Keeps all values that the scenario's widgets show, by label, from frame to frame.
WATCH = """(() => { window.shown = {};
  const look = () => {
    for (const box of document.querySelectorAll('[data-testid="stSidebar"] input')) {
      const label = box.getAttribute('aria-label');
      const value = box.type === 'range' ? box.getAttribute('aria-valuetext') : box.value;
      const values = window.shown[label] ??= [];
      if (!values.includes(value)) values.push(value);
    }
    requestAnimationFrame(look) };
  requestAnimationFrame(look) })()"""
# Where the title and the main figure stand, what of the plane the figure shows, and whether the page has a frame.
LOOKS = """() => { const box = at => { const b = at.getBoundingClientRect();
    return [b.x, b.y, b.width, b.height].map(Math.round) };
  const main = document.querySelector('[data-testid="stMain"]'), lead = document.querySelector('.st-key-lead');
  const layout = lead.querySelector('.js-plotly-plot')._fullLayout;
  return {title: box(document.querySelector('h1')), figure: box(lead.querySelector('.main-svg')),
    plot: box(lead.querySelector('.bglayer')),
    axes: ['xaxis', 'yaxis'].map(name => [layout[name].range, layout[name].domain]),
    frame: getComputedStyle(main, '::before').content, top: main.scrollTop} }"""
# What the widgets of an open popover show.
IN_POPOVER = """() => [...document.querySelectorAll(
  '[data-testid="stPopoverBody"] :is(input, [aria-checked="true"])')].map(
  at => [at.getAttribute('aria-label') || at.closest('[role="radiogroup"]')?.getAttribute('aria-label'),
    at.value || at.innerText])"""
# The main figure of a session that arrives at an address without "present" and "part", which change no figure.
FIGURES: dict[str, str] = {}
TOP = "() => document.querySelector('[data-testid=\"stMain\"]').scrollTop"


def scenario_shown(query: dict[str, str]) -> dict[str, str]:
    """What the sidebar has to show for an address."""
    epsilon, users = f"{float(query['eps']):g}", f"{int(query['n']):,}"
    exponent = dict.fromkeys(("Zipf exponent s", "Exact s"), f"{float(query['s']):g}")
    return {
        "Distribution": DISTRIBUTIONS[query["dist"]],
        "Categories K": query["k"],
        **(exponent if query["dist"] == "zipf" else {}),
        "Privacy ε": epsilon,
        "Exact ε": epsilon,
        "Users N": users,
        "Exact N": users,
    }


def at_the_foot(lab) -> dict[str, str]:
    sliders = lab.page.locator(".st-key-foot").get_by_role("slider").all()
    return {one.get_attribute("aria-label"): one.get_attribute("aria-valuetext") for one in sliders}


def must_show(lab, values: dict[str, str]) -> None:
    """The sidebar shows these, and no value but the reason where a dial does nothing on this view."""
    grey = lab.greyed()
    assert all(grey.values())
    assert lab.sidebar() == {name: value for name, value in values.items() if name not in grey}


def must_have_shown_nothing_else(lab) -> None:
    """In every frame since the watch began the widgets showed the address."""
    wanted = {name: [text] for name, text in scenario_shown(lab.query).items()}
    shown = lab.page.evaluate("() => window.shown")
    assert {name: values for name, values in shown.items() if name in wanted} == wanted


def must_agree(lab, fresh) -> None:
    """The widgets show the address, and the figure is that of a session which is opened at this address."""
    wanted = scenario_shown(lab.query)
    if "present" in lab.query:
        assert at_the_foot(lab) == {label: wanted[label] for label in ("Privacy ε", "Users N")}
    else:
        must_show(lab, wanted)
    key = LEAD[next(label for label, page in PAGES.items() if f"/{page}" == lab.path)]
    address = re.sub("&(present|part)=[a-z]+", "", lab.page.url)
    if address not in FIGURES:
        is_open = fresh.page.get_by_test_id("stApp").count()
        FIGURES[address] = (fresh.turn_to if is_open else fresh.open)(address).figure(key)
    assert lab.figure(key) == FIGURES[address]


def enter(lab, way: str) -> None:
    with lab.rerun():
        if way == "key":
            lab.page.keyboard.press("p")
        else:
            lab.page.get_by_role("button", name="Present", exact=True).click(delay=80)
    assert lab.query["present"] == "on"


def leave(lab, way: str) -> None:
    if way == "Exit":
        lab.press("Exit")
    else:
        with lab.rerun():
            lab.page.keyboard.press(way)
    assert "present" not in lab.query


def present_and_leave(lab, label: str, ways) -> None:
    """By these ways in and out: nothing has changed, and one key on a dial then changes that dial alone."""
    for i, (way_in, way_out) in enumerate(ways):
        query, figure = lab.query, lab.figure(LEAD[label])
        enter(lab, way_in)
        lab.page.evaluate("() => { window.shown = {} }")
        leave(lab, way_out)
        assert lab.query == query, (way_in, way_out)
        must_have_shown_nothing_else(lab)
        must_show(lab, scenario_shown(query))
        assert lab.figure(LEAD[label]) == figure
        lab.slide("Privacy ε", ("ArrowRight", "ArrowLeft")[i % 2])
        assert lab.query["eps"] != query["eps"]
        assert lab.query == {**query, "eps": lab.query["eps"]}
        must_show(lab, scenario_shown(lab.query))


def test_every_page_is_left_as_it_was(open_lab):
    """From each scenario by each way in and out; by turns, on every second page, if it is not to take long."""
    lab = open_lab(new=True)
    lab.page.add_init_script(WATCH)
    every = product(SCENARIO_PAGES, SCENARIOS.values(), [WAYS])
    in_turns = zip(SCENARIO_PAGES[::2], cycle(SCENARIOS.values()), zip(WAYS), strict=False)
    for label, scenario, ways in every if LENGTHY else in_turns:
        lab.open(f"/{PAGES[label]}?{scenario}")
        must_have_shown_nothing_else(lab)
        present_and_leave(lab, label, ways)


def test_back_reload_next_tabs_draws_and_a_hidden_truth_while_presenting(open_lab):
    lab, fresh = open_lab(f"/noisy_histogram?{ZIPF}"), open_lab()
    enter(lab, "key")
    lab.back()
    must_agree(lab, fresh)
    lab.forward()
    must_agree(lab, fresh)
    lab.reload()
    must_agree(lab, fresh)
    leave(lab, "Escape")
    must_agree(lab, fresh)
    lab.part("One person's report")
    enter(lab, "key")
    leave(lab, "p")
    assert lab.query["part"] == "person"
    assert lab.page.get_by_role("tab", selected=True).inner_text() == "One person's report"
    must_agree(lab, fresh)
    enter(lab, "key")
    lab.press("New draw")
    with lab.rerun():
        lab.page.locator(".st-key-foot").get_by_role("slider", name="Users N").press("ArrowRight")
    must_agree(lab, fresh)
    with lab.rerun():
        lab.page.get_by_role("link", name="Next").click()
    lab.page.wait_for_url("**/inv_negatives?**")
    lab.settle()
    must_agree(lab, fresh)
    leave(lab, "Escape")
    must_agree(lab, fresh)
    enter(lab, "button")
    lab.press("Hide")
    leave(lab, "Exit")
    must_agree(lab, fresh)
    lab.press("Reveal the truth")
    must_agree(lab, fresh)
    lab.back()
    assert lab.query["truth"] == "hidden"
    lab.reload()
    must_agree(lab, fresh)
    lab.press("Reveal the truth")
    lab.page.get_by_role("button", name="Figure in full window", exact=True).press("Enter")
    with lab.rerun():
        lab.page.locator(".st-key-foot").get_by_role("slider", name="Privacy ε").press("ArrowLeft")
    lab.page.keyboard.press("Escape")
    must_agree(lab, fresh)
    lab.go("Geometry")
    must_agree(lab, fresh)
    enter(lab, "key")
    lab.back()
    lab.back()
    lab.settle()
    must_agree(lab, fresh)
    lab.press("Reset")
    must_agree(lab, fresh)
    enter(lab, "key")
    leave(lab, "p")
    must_agree(lab, fresh)


# Each has a popover of its own, and the sidebar's; the others have that alone.
@pytest.mark.parametrize("label", PAGES if LENGTHY else ("Plan",))
def test_a_popover_shows_what_holds_however_long_it_was_closed(open_lab, label):
    """The browser puts its widgets on screen when it is opened, runs after they were drawn."""
    lab = open_lab(f"/{PAGES[label]}?{ZIPF}")

    def seen() -> list[list[list[str]]]:
        found = []
        buttons = lab.page.locator('[data-testid="stPopoverButton"]:visible')
        for button in buttons.filter(has_not_text="What do the words mean?").all():
            button.click(delay=80)
            lab.page.get_by_test_id("stPopoverBody").wait_for()
            lab.settle()
            found.append(lab.page.evaluate(IN_POPOVER))
            lab.page.keyboard.press("Escape")
            lab.page.get_by_test_id("stPopoverBody").wait_for(state="detached")
        return found

    first = seen()  # told in the run before
    lab.reload()
    assert all(first)
    if label in SCENARIO_PAGES and (LENGTHY or label == "Plan"):
        query = lab.query
        for key in ("ArrowRight", "ArrowLeft"):
            lab.slide("Privacy ε", key)
        assert lab.query == query
    assert seen() == first


def test_a_new_draw_stays_after_its_seed_was_looked_at(open_lab):
    lab = open_lab(f"/noisy_histogram?{ZIPF}")
    for seed in (10, 11):
        lab.press("New draw")
        lab.slide("Privacy ε")
        assert lab.query["seed"] == str(seed)
        lab.more("Seed")
        assert lab.page.get_by_role("spinbutton", name="Seed", exact=True).input_value() == str(seed)
        lab.page.keyboard.press("Escape")
    lab.type("Seed", 10)
    assert lab.query["seed"] == "10"
    assert lab.page.get_by_role("spinbutton", name="Seed", exact=True).input_value() == "10"


@pytest.mark.parametrize("window", [PROJECTOR, PHONE], ids=["projector", "phone"])
def test_from_page_to_page_while_presenting_and_out_of_it_each_looks_as_opened_plainly(open_lab, window):
    """Over two of the pages on each screen, if it is not to take long."""
    path = SCENARIO_PAGES[: SCENARIO_PAGES.index("Plan") + 1]  # whose pages lead from one to the next
    pages = path if LENGTHY else path[:2] if window is PROJECTOR else path[-2:]
    lab, fresh = open_lab(f"/{PAGES[pages[0]]}?{ZIPF}&present=on", viewport=window), open_lab(viewport=window)
    for label in pages:
        leave(lab, "p")
        fresh.open(lab.page.url)
        assert lab.page.evaluate(LOOKS) == fresh.page.evaluate(LOOKS), label
        if label == pages[-1]:
            break
        with lab.rerun():  # the button is out of sight on a phone
            lab.page.keyboard.press("p")
        path = lab.path
        with lab.rerun():
            lab.page.get_by_role("link", name="Next").click()
        lab.page.wait_for_url(lambda url, at=path: not url.startswith(f"{lab.server}{at}?"))
        lab.settle()
        assert lab.page.evaluate(TOP) == 0


def test_a_key_that_presents_after_a_click_in_the_page_leaves_no_frame(open_lab):
    lab = open_lab(f"/noisy_histogram?{ZIPF}", viewport=PROJECTOR)
    lab.page.get_by_role("heading", level=1).click()
    before = lab.page.evaluate(LOOKS)
    assert before["frame"] == "none"
    for key in ("Escape", "p"):
        enter(lab, "key")
        assert lab.page.evaluate(LOOKS)["frame"] == "none"
        lab.page.locator(".st-key-lead .main-svg").first.click(position={"x": 300, "y": 200}, force=True)
        lab.page.keyboard.press("ArrowRight")
        assert lab.page.evaluate(LOOKS)["frame"] == "none"
        leave(lab, key)
        assert lab.page.evaluate(LOOKS) == before


WALKS = (("", "your_reports"), ("experiments", "reference"))


@pytest.mark.parametrize(("first", "last"), WALKS if LENGTHY else WALKS[1:])
@pytest.mark.parametrize("window", (PROJECTOR, PHONE) if LENGTHY else (PHONE,))
def test_a_page_opens_at_its_top(open_lab, window, first, last):
    """Also where the one before is not empty for a moment, as it is when both come at once."""
    lab = open_lab(f"/{first}?{ZIPF}", viewport=window)
    lab.page.add_style_tag(content='[data-testid="stMainBlockContainer"] {min-height: 6000px}')
    while lab.path != f"/{last}":
        path, name = lab.path, LABELS["Noisy histogram"] if lab.path == "/" else re.compile("^.*Next:")
        link = lab.page.get_by_test_id("stMain").get_by_role("link", name=name).first
        link.scroll_into_view_if_needed()
        lab.page.evaluate("() => document.querySelector('[data-testid=\"stMain\"]').scrollBy(0, 300)")
        assert lab.page.evaluate(TOP) > 0
        with lab.rerun():
            link.evaluate("link => link.click()")
        lab.page.wait_for_url(lambda url, at=path: not url.startswith(f"{lab.server}{at}?"))
        lab.settle()
        assert lab.page.evaluate(TOP) == 0, lab.path
