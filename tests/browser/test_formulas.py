"""Every formula of every page is set as one: no TeX is left as text, and KaTeX complains about none."""

from __future__ import annotations

from tests.browser.lab import PAGES

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


def formulas(lab):
    """How many formulas are set, once everything is unfolded and none is left raw."""
    lab.page.evaluate(UNFOLD)
    lab.page.wait_for_function(FOLDED)
    lab.settle()
    found = lab.page.evaluate(LEFT)
    assert (found["raw"], found["errors"]) == ([], []), lab.page.url
    return found["set"]


def test_every_page_and_every_part_of_the_reference(open_lab):
    lab = open_lab("/?k=3&n=500&eps=1")  # with three categories IBU has its triangle too
    with_formulas = set()
    for label in PAGES:
        if label != "Home":
            lab.go(label)
        if formulas(lab):
            with_formulas.add(label)
    assert with_formulas >= set(PAGES) - {"Home", "Experiments", "Your reports"}
    for part in ("Names", "Formulas", "Estimators", "Misprints", "Glossary"):
        lab.pick(part)
        assert formulas(lab)
    box = lab.page.get_by_role("textbox", name="Look up a symbol, a name or a word in all parts")
    for wanted in ("repeat", "one line"):
        box.fill(wanted)
        with lab.rerun():
            box.press("Enter")
        assert formulas(lab)
