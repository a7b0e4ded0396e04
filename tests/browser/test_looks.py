"""Every page, wide and narrow, dark and light: it keeps the scenario, fits, says little before it is unfolded, names its
charts and sets its formulas."""

from __future__ import annotations

from pages._ui.navigation import PATH
from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import PAGES, PHONE, PROJECTOR, QUESTIONS, SCENARIO_PAGES, WINDOW
from tests.browser.test_dials import must_stand_on_the_first_screen
from tests.browser.test_links import title
from tests.browser.test_reports import give

TOO_WIDE = """() => { const main = document.querySelector('[data-testid="stMain"]');
  return [document.documentElement, document.body, main].map(e => e.scrollWidth - e.clientWidth) }"""
UNNAMED = """() => [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
  .filter(c => c.getAttribute('role') !== 'figure' || (c.getAttribute('aria-label') || '').length < 20).length"""
NAMELESS = """() => [...document.querySelectorAll('button, a, input, [role=slider], [role=button]')]
  .filter(e => e.offsetParent && e.checkVisibility() && e.tabIndex >= 0 && !e.innerText.trim()
    && !e.getAttribute('aria-label')
    && !e.getAttribute('aria-labelledby') && !e.title && !(e.labels && e.labels.length))
  .map(e => e.outerHTML.slice(0, 160))"""
# Labels of one row that are not in line with each other.
ASKEW = """() => {
  const labels = [...document.querySelectorAll('[data-testid="stMain"] [data-testid="stWidgetLabel"]')]
    .filter(e => e.offsetParent && e.innerText.trim() && !e.closest('[data-testid="stCheckbox"]'));
  return labels.slice(1).map((e, i) => [labels[i], e])
    .filter(pair => { const off = Math.abs(pair[0].getBoundingClientRect().top - pair[1].getBoundingClientRect().top);
      return off > 1 && off < 24 }).map(pair => pair.map(e => e.innerText)) }"""
# Buttons whose words do not fit in one line.
CUT = """() => {
  const hides = e => e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible';
  return [...document.querySelectorAll('[data-testid="stMain"] button')]
    .filter(e => e.offsetParent && e.innerText.trim()
      && (e.offsetHeight > 48 || [e, ...e.querySelectorAll('*')].some(hides)))
    .map(e => e.innerText) }"""
# Contrasts by WCAG 2 of captions, axis titles and the words of primary buttons and of tags against what they stand on.
CONTRASTS = r"""() => {
  const parts = colour => colour.match(/[\d.]+/g).map(Number);
  const light = rgb => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => { const c = rgb[i] / 255;
    return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4) }, 0);
  const all = selector => [...document.querySelectorAll(selector)].filter(e => e.getBoundingClientRect().width);
  return Object.fromEntries(Object.entries({
    caption: '[data-testid="stMain"] [data-testid="stCaptionContainer"]',
    axis: '.js-plotly-plot .xtitle',
    button: '[data-testid="stBaseButton-primary"]:not(:disabled)',
    tag: '[data-testid="stMultiSelect"] [data-tag] [title]',
  }).map(([name, selector]) => [name, Math.min(...all(selector).map(e => {
    const style = getComputedStyle(e);
    const page = parts(getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor);
    const below = {button: e, tag: e.closest('[data-tag]')}[name];
    const ground = below ? parts(getComputedStyle(below).backgroundColor) : page;
    const ink = parts(name === 'axis' ? style.fill : style.color);
    const seen = [0, 1, 2].map(i => ink[i] * style.opacity + ground[i] * (1 - style.opacity));
    const [low, high] = [light(seen), light(ground)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05) }))])) }"""
# What is still folded, one press each; the sidebar has no formulas.
UNFOLD = """() => document.querySelectorAll('[data-testid="stMain"] details:not([open]) > summary')
  .forEach(fold => fold.click())"""
FOLDED = """() => document.querySelectorAll('[data-testid="stMain"] details:not([open])').length === 0"""
# Text of the page, tooltips and figures included, but for formulas that are set and what is meant as code.
LEFT = r"""() => {
  const raw = /\\[a-zA-Z,;!{}|\\[\]]|\$|[_^]\{/, found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, parent = text.parentElement;
    if (raw.test(text.data) && !parent.closest('.katex, code, pre, script, style, noscript'))
      found.push(text.data.trim().slice(0, 120));
  }
  const errors = [...document.querySelectorAll('.katex-error')].map(e => e.title + ': ' + e.textContent);
  return {raw: found, errors: errors, set: document.querySelectorAll('[data-testid="stMain"] .katex').length};
}"""


# What the page says before anything is unfolded, labels of its widgets included, figures and formulas not.
WORDS = r"""() => { const words = [];
  const read = node => {
    if (node.nodeType === Node.TEXT_NODE) {
      const parent = node.parentElement, box = parent.getBoundingClientRect();
      if (box.width > 1 && box.height > 1 && parent.checkVisibility({visibilityProperty: true}))
        words.push(...node.data.split(/\s+/).filter(word => /\p{L}{2}/u.test(word)));
    } else if (!node.matches?.('style, script, svg, .katex-mathml, [data-testid="stIconMaterial"]'))
      for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) read(child);
  };
  read(document.querySelector('[data-testid="stMain"]'));
  return words }"""
MOST_WORDS = 250
GROUND = "app => getComputedStyle(app).backgroundColor"


def formulas(lab):
    """How many formulas are set, once everything is unfolded and none is left raw."""
    lab.page.evaluate(UNFOLD)
    lab.page.wait_for_function(FOLDED)
    lab.settle()
    found = lab.page.evaluate(LEFT)
    assert (found["raw"], found["errors"]) == ([], []), lab.page.url
    return found["set"]


def test_every_page_keeps_the_scenario_fits_says_little_names_its_charts_and_sets_its_formulas(open_lab):
    lab, counted = open_lab(f"/?{LINK}", color_scheme="dark", viewport=PROJECTOR), {}
    lab.unfold_widgets()
    lab.type("Seed", 8)
    lab.page.keyboard.press("Escape")
    query, with_formulas = {**QUERY, "seed": "8"}, set()
    for label, page in PAGES.items():
        if label != "Home":
            lab.go(label)
        assert (title(lab), lab.path) == (QUESTIONS[label], f"/{page}")
        assert {name: lab.query.get(name) for name in query} == query  # a page may have more of its own
        if label in SCENARIO_PAGES:
            grey = lab.greyed()
            assert all(grey.values())
            assert lab.sidebar() == {name: value for name, value in SIDEBAR.items() if name not in grey}
        for size in (PROJECTOR, PHONE):
            lab.page.set_viewport_size(size)
            lab.settle()
            if label in SCENARIO_PAGES:
                must_stand_on_the_first_screen(lab)
            lab.must_be_fine()
            assert lab.page.evaluate(UNNAMED) == 0, page
            assert lab.page.evaluate(NAMELESS) == [], page
            assert lab.page.evaluate(ASKEW) == [], page
            assert lab.page.evaluate(CUT) == [], page
            if label in ("Home", "Lesson", *(entry.name for entry in PATH)):
                counted[label, size["width"]] = len(lab.page.evaluate(WORDS))
        assert lab.page.evaluate(TOO_WIDE) == [0, 0, 0], page
        lab.page.set_viewport_size(PROJECTOR)
        if formulas(lab):
            with_formulas.add(label)
    assert min(counted.values()) > 40, counted
    assert max(counted.values()) <= MOST_WORDS, counted
    assert with_formulas >= set(PAGES) - {"Home", "Lesson", "Experiments", "Your reports", "Room"}
    for part in ("Names", "Formulas", "Estimators", "Misprints", "Glossary"):
        lab.pick(part)
        assert formulas(lab)
    box = lab.page.get_by_role("textbox", name="Look up a word, a symbol or a question in all parts")
    box.fill("repeat")
    with lab.rerun():
        box.press("Enter")
    assert formulas(lab)
    lab.turn_to("/ibu?k=3&n=500&eps=1")  # with three categories IBU has its triangle too
    assert formulas(lab)


def test_dark_and_light_are_different_charts_follow_and_words_stand_out_from_their_ground(open_lab):
    lab = open_lab(f"/ibu?{LINK}")
    light = ground(lab)
    for dark in (False, True):
        if dark:
            turn_dark(lab, light)
        chart = lab.page.locator(".js-plotly-plot .main-svg").first
        assert chart.evaluate("e => e.style.background") in (ground(lab), "rgba(0, 0, 0, 0)")
        contrasts = lab.page.evaluate(CONTRASTS)
        assert min(contrasts.values()) >= 4.5, contrasts


def ground(lab):
    """The colour on which the page stands."""
    return lab.page.get_by_test_id("stApp").evaluate(GROUND)


def turn_dark(lab, light):
    """Have the browser prefer dark pages, and wait until this one has another ground than the light one's."""
    lab.page.emulate_media(color_scheme="dark")
    lab.page.wait_for_function(
        f"light => ({GROUND})(document.querySelector('[data-testid=\"stApp\"]')) !== light", arg=light
    )
    lab.settle()


def test_what_is_chosen_of_several_can_be_read_in_both_themes(open_lab):
    rows = "".join(f"{'yes' if i % 3 else 'no'},{'north' if i % 2 else 'south'}\n" for i in range(60))
    lab = open_lab("/your_reports")
    give(lab, "reports.csv", f"answer,region\n{rows}".encode())
    lab.choose("Compare groups (optional)", "region")
    assert lab.page.locator("[data-tag]").first.inner_text() == "region"
    assert 4.5 <= lab.page.evaluate(CONTRASTS)["tag"] < 22
    turn_dark(lab, ground(lab))
    assert 4.5 <= lab.page.evaluate(CONTRASTS)["tag"] < 22


NAMES_BELOW = """plot => [...plot.querySelectorAll('.xaxislayer-above .xtick text')].map(one =>
  [one.textContent, Number(/rotate\\(([^,]+),/.exec(one.getAttribute('transform'))?.[1] ?? 0)])"""


def test_names_of_categories_do_not_stand_upright_on_a_phone(open_lab):
    lab = open_lab("/estimators?dist=schooling", viewport=PHONE)
    narrow = [name for name, _ in lab.chart("estimators").evaluate(NAMES_BELOW) if name]
    assert {angle for _, angle in lab.chart("estimators").evaluate(NAMES_BELOW)} == {-45}
    assert 5 <= len(narrow) <= 16
    assert "Some-coll…" in narrow or "Bachelors" in narrow
    assert max(map(len, narrow)) <= 10
    lab.page.set_viewport_size(PROJECTOR)
    lab.settle()
    wide = [name for name, _ in lab.chart("estimators").evaluate(NAMES_BELOW)]
    assert len(wide) == 16
    assert "Some-college" in wide


# Pairs of numbers in neighbouring cells that lie on one another.
RUN_INTO = """plot => { const boxes = [...plot.querySelectorAll('.heatmap-label text')].map(
    text => text.getBoundingClientRect()).filter(box => box.width);
  return boxes.filter((box, i) => boxes.slice(i + 1).some(
    other => Math.abs(box.top - other.top) < 3 && box.left < other.right && other.left < box.right)).length }"""
COUNTS_AT_THE_LEFT = "plot => [...plot.querySelectorAll('.ytick text')].map(one => one.textContent)"


def test_counts_beside_a_figure_have_no_parts_of_millions(open_lab):
    lab = open_lab("/noisy_histogram")
    for n, ticks in (
        (1_000_000_000, ["0", "200M", "400M", "600M", "800M", "1B"]),
        (1_000_000, ["0", "200,000", "400,000", "600,000", "800,000", "1M"]),
    ):
        lab.turn_to(f"/noisy_histogram?k=2&s=5&eps=20&n={n}")
        shown = lab.chart("noisy_histogram").evaluate(COUNTS_AT_THE_LEFT)
        assert shown[: len(ticks)] == ticks[: len(shown)]
        assert len(shown) > 3


# Numbers of the lower axis that are turned, and how many there are.
UPRIGHT = """plot => { const ticks = [...plot.querySelectorAll('.xtick text')];
  return [ticks.filter(tick => /rotate\\((?!0[,)])/.test(tick.getAttribute('transform'))).length, ticks.length] }"""


def test_all_choices_above_a_figure_of_few_categories_are_seen_on_a_phone(open_lab):
    lab = open_lab("/noisy_histogram")
    for label in ("Noisy histogram", "Estimators", "Geometry", "IBU → MLE*"):
        lab.page.set_viewport_size(WINDOW)
        lab.go(label)
        lab.page.set_viewport_size(PHONE)
        lab.settle()
        must_stand_on_the_first_screen(lab)
        row = lab.page.locator(".st-key-figure_controls")
        assert row.evaluate("row => row.scrollWidth - row.clientWidth") <= 0, label
    lab.turn_to("/protocols?part=time")
    choices = lab.page.locator(".st-key-time_schemes [data-testid='stButtonGroup'] > div")
    assert choices.evaluate("row => row.scrollWidth - row.clientWidth") <= 0
    for k in (9, 12):  # numbers in cells do not run into one another
        lab.turn_to(f"/protocols?k={k}")
        assert lab.page.locator(".st-key-channel_table .heatmap-label:visible").count() in (0, k * k)
        assert lab.chart("channel_table").evaluate(RUN_INTO) == 0
    for k in (20, 100):
        lab.turn_to(f"/protocols?k={k}")
        assert lab.chart("channel_table").evaluate(UPRIGHT) == [0, 5]
