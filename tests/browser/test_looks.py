"""Every page, wide and narrow, dark and light: it keeps the scenario, fits, says little before it is unfolded, and sets
its formulas."""

from __future__ import annotations

from pages._ui.navigation import PATH
from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import CONTRASTS, PAGES, PHONE, PROJECTOR, QUESTIONS, SCENARIO_PAGES
from tests.browser.test_dials import SEEN, must_stand_on_the_first_screen
from tests.browser.test_links import title
from tests.browser.test_reports import give

TOO_WIDE = """() => { const main = document.querySelector('[data-testid="stMain"]');
  return [document.documentElement, document.body, main].map(e => e.scrollWidth - e.clientWidth) }"""
NAMELESS = """() => [...document.querySelectorAll('button, a, input, [role=slider], [role=button]')]
  .filter(e => e.offsetParent && e.checkVisibility() && e.tabIndex >= 0 && !e.innerText.trim()
    && !e.getAttribute('aria-label')
    && !e.getAttribute('aria-labelledby') && !e.title && !(e.labels && e.labels.length))
  .map(e => e.outerHTML.slice(0, 160))"""
# Buttons whose words do not fit in one line.
CUT = """() => {
  const hides = e => e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible';
  return [...document.querySelectorAll('[data-testid="stMain"] button')]
    .filter(e => e.offsetParent && e.innerText.trim()
      && (e.offsetHeight > 48 || [e, ...e.querySelectorAll('*')].some(hides)))
    .map(e => e.innerText) }"""
# Captions, axis titles, and the words of primary buttons and of tags.
WORDS_ON_GROUND = """[data-testid="stMain"] [data-testid="stCaptionContainer"], .js-plotly-plot .xtitle,
  [data-testid="stBaseButton-primary"]:not(:disabled), [data-testid="stMultiSelect"] [data-tag] [title]"""
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


def test_every_page_keeps_the_scenario_fits_says_little_and_sets_its_formulas(open_lab):
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
            assert lab.page.evaluate(NAMELESS) == [], page
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
    lab.go("Reference")
    for part in ("Names", "Formulas", "Misprints", "Glossary"):
        lab.pick(part)
        assert formulas(lab)


def ground(lab):
    """The colour on which the page stands."""
    return lab.page.get_by_test_id("stApp").evaluate(GROUND)


def test_dark_and_light_are_different_charts_follow_and_words_stand_out_from_their_ground(open_lab):
    lab = open_lab(f"/ibu?{LINK}")
    light = ground(lab)
    rows = "".join(f"{'yes' if i % 3 else 'no'},{'north' if i % 2 else 'south'}\n" for i in range(60))
    for page in ("ibu", "your_reports"):
        if page == "your_reports":  # where a tag names what is chosen of several
            lab.turn_to("/your_reports")
            give(lab, "reports.csv", f"answer,region\n{rows}".encode())
            lab.choose("Compare groups (optional)", "region")
            assert lab.page.locator("[data-tag]").first.inner_text() == "region"
        for scheme in ("dark", "light"):
            lab.page.emulate_media(color_scheme=scheme)
            lab.page.wait_for_function(
                f"([light, is_light]) => (({GROUND})(document.querySelector('[data-testid=\"stApp\"]')) === light)"
                " === is_light",
                arg=[light, scheme == "light"],
            )
            lab.settle()
            if page == "ibu":
                chart = lab.page.locator(".js-plotly-plot .main-svg").first
                assert chart.evaluate("e => e.style.background") in (ground(lab), "rgba(0, 0, 0, 0)")
            contrasts = lab.page.evaluate(CONTRASTS, WORDS_ON_GROUND)
            assert contrasts
            assert [words for words, contrast in contrasts if contrast < 4.5] == [], (page, scheme)


NAMES_BELOW = """plot => [...plot.querySelectorAll('.xaxislayer-above .xtick text')].map(one =>
  [one.textContent, Number(/rotate\\(([^,]+),/.exec(one.getAttribute('transform'))?.[1] ?? 0)])"""
# Pairs of numbers in neighbouring cells that lie on one another.
RUN_INTO = """plot => { const boxes = [...plot.querySelectorAll('.heatmap-label text')].map(
    text => text.getBoundingClientRect()).filter(box => box.width);
  return boxes.filter((box, i) => boxes.slice(i + 1).some(
    other => Math.abs(box.top - other.top) < 3 && box.left < other.right && other.left < box.right)).length }"""


def test_names_choices_and_numbers_in_cells_can_be_read_on_a_phone(open_lab):
    lab = open_lab("/estimators?dist=schooling", viewport=PHONE)
    assert lab.page.evaluate(SEEN) > 0.9  # of the figure, on the first screen
    below = lab.chart("estimators").evaluate(NAMES_BELOW)
    assert {angle for _, angle in below} == {-45}  # not upright
    assert 5 <= len([name for name, _ in below if name]) <= 16
    assert max(len(name) for name, _ in below) <= 10
    lab.turn_to("/noisy_histogram?k=12")
    assert lab.page.evaluate(SEEN) > 0.9
    row = lab.page.locator(".st-key-figure_controls")
    assert row.evaluate("row => row.scrollWidth - row.clientWidth") <= 0
    lab.turn_to("/protocols?k=12")
    assert lab.page.locator(".st-key-channel_table .heatmap-label:visible").count() in (0, 12 * 12)
    assert lab.chart("channel_table").evaluate(RUN_INTO) == 0
