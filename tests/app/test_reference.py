"""The reference page runs, and what it says about the code and the tests is true of the code and the tests."""

import ast
import re
import textwrap

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.reference import PARTS
from rr_core import reference
from rr_core.populations import zipf
from rr_core.registry import ESTIMATORS, REGISTRY
from tests.app.opening import ROOT
from tests.sentences.source import texts as texts_of_file


def run(part="", **state):
    page = AppTest.from_file(str(ROOT / "pages" / "reference.py"), default_timeout=60)
    for key, value in state.items():
        page.session_state[key] = value
    if part:
        page.query_params["part"] = part
    page.run()
    assert not page.exception
    return page


def test_every_estimator_has_what_it_promises_costs_and_is_best_for():
    told, labels = reference.read("estimators"), {entry.label.replace("*", r"\*") for entry in REGISTRY}
    assert labels <= {row["estimator"] for row in told["costs"]}
    assert labels <= {row["title"] for row in told["best"]}
    assert all(row.keys() >= {"promise", *ESTIMATORS} for row in told["promises"])


def texts(page):
    """Everything in words on the page, folded or not."""
    elements = [
        *page.title,
        *page.header,
        *page.subheader,
        *page.markdown,
        *page.caption,
        *page.code,
        *page.info,
    ]
    return [element.value for element in elements] + [fold.label for fold in page.expander]


@pytest.fixture(scope="module")
def parts():
    """The words of every part, by its key."""
    return {key: "\n".join(texts(run(part=key))) for key in PARTS}


@pytest.fixture(scope="module")
def everything(parts):
    return "\n".join(parts.values())


def test_every_misprint_says_what_is_printed_and_what_is_right(parts):
    for source, misprints in reference.misprints().items():
        assert source in parts["misprints"]
        for misprint in misprints:
            assert misprint.title in parts["misprints"]
            assert f"**Printed.** {misprint.printed}\n\n**Right.** {misprint.right}" in parts["misprints"]
    assert "nan" not in re.findall(r"\w+", parts["misprints"])


def test_the_concentration_of_zipf_is_as_quoted():
    texts_of = [one.right for source in reference.misprints().values() for one in source]
    (shares,) = [text for text in texts_of if "those of Zipf" in text]
    for s, quoted in ((1.3, "0.09"), (2.5, "0.58")):
        assert f"{(zipf(10_000, s) ** 2).sum():.2f}" == quoted
        assert f"{quoted} at $s={s}$" in shares


def test_every_part_shows_its_entries_as_they_can_be_found(parts, everything):
    for key, part in PARTS.items():
        assert part.name in parts[key]
        for entry in part.entries():
            assert entry.title
            assert entry.text
            if key in ("formulas", "glossary", "sources"):
                assert entry.text in parts[key]
    assert "{{" not in everything  # no placeholder is left
    for line in everything.splitlines():
        assert line.count("$") % 2 == 0, line
        assert not re.search(r"MLE\*(?!\*)(?<!\\\*)", line.replace("\\*", "")), line
    # Reports are likely or not under a distribution, and data under a hypothesis; neither the other way round.
    assert not re.search(r"(?<!un)likel(y|ier|iest) (one|distribution|truth)\b", everything)


def test_search_finds_across_the_parts_and_leaves_with_a_choice():
    page = run()
    assert page.title[0].value == "What does this symbol, name or formula mean?"
    assert any(caption.value.startswith("**Glossary**") for caption in page.caption)
    for wanted, part, word in (
        ("norm-sub", "Names", "InvP"),
        ("eq. (64)", "Misprints", "called unbiased"),
    ):
        page.text_input(key="reference_search").set_value(wanted).run()
        assert part in [heading.value for heading in page.subheader]
        assert word in "\n".join(texts(page))
        assert [line for text in page.markdown for line in loose(text.value)] == []
        assert page.button_group(key="part").value is None  # no part is on screen, and none is lit
    page.button_group(key="part").set_value("symbols").run()  # the part from before the search
    assert page.text_input(key="reference_search").value == ""
    assert page.button_group(key="part").value == "symbols"
    page.text_input(key="reference_search").set_value("phi").run()
    page.button_group(key="part").set_value("glossary").run()
    assert not page.exception
    assert page.text_input(key="reference_search").value == ""
    assert any("Toss a coin" in text for text in texts(page))


def test_search_that_finds_nothing_says_so_and_shows_the_words_as_they_are():
    page = run(reference_search="<b>[zzz](http://x)")
    assert "Nothing here says" in page.info[0].value
    assert "<b>" not in page.info[0].value


def test_an_unknown_part_in_a_link_is_one_sentence():
    page = run(part="letters")
    (note,) = page.warning
    assert "“letters” is not known here; “Glossary” is used" in note.value
    assert any(caption.value.startswith("**Glossary**") for caption in page.caption)


# Displayed formulas are written so that the browser sets them: the dollars of one that spans lines stand on lines of
# their own, or markdown leaves the formula, and all that follows it, as text.

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
    for path in [ROOT / "home.py", *(ROOT / "pages").rglob("*.py")]:
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
        for line, text in texts_of_file(path):
            if "$$" in text:
                yield f"{path.relative_to(ROOT)}:{line}", text


def test_every_displayed_formula_of_the_sources_and_of_the_reference(everything):
    found = list(texts_with_formulas())
    assert len(found) >= 4
    assert [(where, loose(text)) for where, text in found if loose(text)] == []
    assert loose(everything) == []
