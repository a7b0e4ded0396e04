"""What a widget shows is what the picture is drawn from, on every way into a mode of the app and out of it."""

from __future__ import annotations

import re

from rr_core.populations import DISTRIBUTIONS
from tests.browser.lab import LEAD, PAGES, PHONE

ZIPF = "dist=zipf&k=25&s=1.3&eps=2&n=5000&seed=9"

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
# What the widgets of an open popover show.
IN_POPOVER = """() => [...document.querySelectorAll(
  '[data-testid="stPopoverBody"] :is(input, [aria-checked="true"])')].map(
  at => [at.getAttribute('aria-label') || at.closest('[role="radiogroup"]')?.getAttribute('aria-label'),
    at.value || at.innerText])"""
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
    address = re.sub("&(present|part)=[a-z]+", "", lab.page.url)  # which change no figure
    is_open = fresh.page.get_by_test_id("stApp").count()
    assert lab.figure(key) == (fresh.turn_to if is_open else fresh.open)(address).figure(key)


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


def test_a_page_is_left_as_it_was_and_one_key_on_a_dial_then_changes_that_dial_alone(open_lab):
    lab = open_lab(new=True)
    lab.page.add_init_script(WATCH)
    lab.open(f"/estimators?{ZIPF}")
    must_have_shown_nothing_else(lab)
    for way_in, way_out, key in (("key", "Escape", "ArrowRight"), ("button", "Exit", "ArrowLeft")):
        query, figure = lab.query, lab.figure(LEAD["Estimators"])
        enter(lab, way_in)
        lab.page.evaluate("() => { window.shown = {} }")
        leave(lab, way_out)
        assert lab.query == query, (way_in, way_out)
        must_have_shown_nothing_else(lab)
        must_show(lab, scenario_shown(query))
        assert lab.figure(LEAD["Estimators"]) == figure
        lab.slide("Privacy ε", key)
        assert lab.query["eps"] != query["eps"]
        assert lab.query == {**query, "eps": lab.query["eps"]}
        must_show(lab, scenario_shown(lab.query))


def test_back_reload_next_tabs_draws_and_a_hidden_truth_while_presenting(open_lab):
    lab, fresh = open_lab(f"/noisy_histogram?{ZIPF}&part=person"), open_lab()
    enter(lab, "key")
    lab.back()
    assert "present" not in lab.query
    must_agree(lab, fresh)
    lab.forward()
    lab.reload()
    must_agree(lab, fresh)
    leave(lab, "Escape")
    assert lab.query["part"] == "person"
    assert lab.page.get_by_role("tab", selected=True).inner_text() == "One person's report"
    enter(lab, "key")
    lab.press("New draw")
    with lab.rerun():
        lab.page.locator(".st-key-foot").get_by_role("slider", name="Users N").press("ArrowRight")
    must_agree(lab, fresh)
    with lab.rerun():
        lab.page.get_by_role("link", name="Next").click()
    lab.page.wait_for_url("**/inv_negatives?**")
    lab.settle()
    assert lab.page.evaluate(TOP) == 0
    lab.press("Hide")
    leave(lab, "Exit")
    must_agree(lab, fresh)
    lab.press("Reveal the truth")
    lab.back()
    assert lab.query["truth"] == "hidden"
    lab.reload()
    must_agree(lab, fresh)
    lab.press("Reset")
    must_agree(lab, fresh)


def test_a_popover_shows_what_holds_however_long_it_was_closed(open_lab):
    """The browser puts its widgets on screen when it is opened, runs after they were drawn."""
    lab = open_lab(f"/plan?{ZIPF}")

    def seen() -> list[list[list[str]]]:
        """What the page's own popover shows, and the sidebar's."""
        found = []
        for name in ("For whom?", "More"):
            lab.page.get_by_role("button", name=name).click(delay=80)
            lab.page.get_by_test_id("stPopoverBody").wait_for()
            lab.settle()
            found.append(lab.page.evaluate(IN_POPOVER))
            lab.page.keyboard.press("Escape")
            lab.page.get_by_test_id("stPopoverBody").wait_for(state="detached")
        return found

    first = seen()  # told in the run before
    assert all(first)
    lab.reload()
    query = lab.query
    for key in ("ArrowRight", "ArrowLeft"):
        lab.slide("Privacy ε", key)
    assert lab.query == query
    assert seen() == first


def test_a_new_draw_stays_after_its_seed_was_looked_at(open_lab):
    lab = open_lab(f"/noisy_histogram?{ZIPF}")
    lab.press("New draw")
    lab.more("Seed")
    assert lab.page.get_by_role("spinbutton", name="Seed", exact=True).input_value() == "10"
    lab.page.keyboard.press("Escape")
    lab.slide("Privacy ε")
    assert lab.query["seed"] == "10"


def test_a_page_opens_at_its_top(open_lab):
    """Also where the one before is not empty for a moment, as it is when both come at once."""
    lab = open_lab(f"/experiments?{ZIPF}", viewport=PHONE)
    lab.page.add_style_tag(content='[data-testid="stMainBlockContainer"] {min-height: 6000px}')
    link = lab.page.get_by_test_id("stMain").get_by_role("link", name=re.compile("^.*Next:")).first
    link.scroll_into_view_if_needed()
    lab.page.evaluate("() => document.querySelector('[data-testid=\"stMain\"]').scrollBy(0, 300)")
    assert lab.page.evaluate(TOP) > 0
    with lab.rerun():
        link.evaluate("link => link.click()")
    lab.page.wait_for_url(lambda url: not url.startswith(f"{lab.server}/experiments?"))
    lab.settle()
    assert lab.page.evaluate(TOP) == 0
