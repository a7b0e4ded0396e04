"""Displayed formulas are written so that the browser sets them: the dollars of one that spans lines stand on lines of
their own, or markdown leaves the formula, and all that follows it, as text."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.reference import PARTS
from tests.app.opening import ROOT
from tests.claims.sentences import texts

ON_ONE_LINE = re.compile(r"\$\$[^$]+\$\$")
ESCAPED = re.compile(r"\\\$|`[^`]*`")


def loose(text):
    """Lines of markdown on which dollars do not begin and end a formula."""
    found, open_ = [], False
    for line in textwrap.dedent(text).splitlines():
        if line == "$$":
            open_ = not open_
            continue
        rest = ON_ONE_LINE.sub("", ESCAPED.sub("", line))
        if "$$" in rest:
            found.append(line)
    return [*found, "(never closed)"] if open_ else found


def texts_with_formulas():
    """Every string of the sources with a displayed formula, the parts of an f-string as one."""
    for path in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        inside = {id(part) for node in joined for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(p.value if isinstance(p, ast.Constant) else "x" for p in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                text = node.value
            else:
                continue
            if "$$" in text and text != "$$":
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text
    for path in (ROOT / "rr_core" / "data").rglob("*.toml"):
        for line, text in texts(path):
            if "$$" in text:
                yield f"{path.relative_to(ROOT)}:{line}", text


def test_the_check_sees_what_the_browser_does_not_set():
    assert loose("a\n\n$$\\theta_i \\leftarrow x,\nm_i.$$\n\nb")
    assert loose("**MSE** — $$\nx\n$$\n\nb")
    assert loose("$$\nx\n")
    assert not loose("a\n\n$$\nx\n$$\n\nb $y$")
    assert not loose("$$x = y$$")
    assert not loose("    a\n\n    $$\n    x\n    $$\n")


@pytest.mark.slow
def test_every_displayed_formula_of_the_sources():
    found = list(texts_with_formulas())
    assert len(found) >= 4
    assert [(where, loose(text)) for where, text in found if loose(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["repeat", "one line", "paper", "mse"])
def test_what_a_search_of_the_reference_shows(wanted):
    page = AppTest.from_file(str(ROOT / "pages" / "reference.py"), default_timeout=60)
    page.session_state["reference_search"] = wanted
    page.run()
    shown = [text.value for text in page.markdown]
    assert any("$$" in text for text in shown)
    assert [line for text in shown for line in loose(text)] == []


@pytest.mark.parametrize("key", PARTS)
def test_every_part_of_the_reference(key):
    page = AppTest.from_file(str(ROOT / "pages" / "reference.py"), default_timeout=60)
    page.query_params["part"] = key
    page.run()
    assert [line for text in page.markdown for line in loose(text.value)] == []
