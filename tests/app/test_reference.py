"""The reference page runs, and what it says about the code and the tests is true of the code and the tests."""

import importlib
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import rr_core
from pages._ui.reference.entries import Entry
from pages._ui.reference.formulas import TOPICS
from pages._ui.reference.misprints import MISPRINTS
from pages._ui.reference.parts import PARTS
from rr_core.populations import zipf

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"`(rr_core(?:\.\w+)+)`")
TEST = re.compile(r"`(test_\w+)`")


def run(**state):
    page = AppTest.from_file(str(ROOT / "pages" / "reference.py"), default_timeout=60)
    for key, value in state.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


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


def test_it_opens_on_the_symbols():
    page = run()
    assert page.title[0].value == "What does this symbol, name or formula mean?"
    assert any(caption.value.startswith("**Symbols**") for caption in page.caption)


@pytest.mark.parametrize("key", PARTS)
def test_every_part_shows_its_entries(parts, key):
    assert PARTS[key].name in parts[key]
    for entry in PARTS[key].entries():
        assert entry.title
        assert entry.body


@pytest.mark.parametrize("key", ["names", "formulas", "glossary", "sources"])
def test_what_can_be_found_is_what_is_shown(parts, key):
    for entry in PARTS[key].entries():
        if key != "names" or entry.title.startswith(("k-RR", "Inv", "MLE", "IBU")):
            assert entry.body in parts[key]


def resolve(name):
    """The object that a dotted name stands for: a module, or something inside one."""
    words = name.split(".")
    for cut in range(len(words), 0, -1):
        try:
            found = importlib.import_module(".".join(words[:cut]))
        except ModuleNotFoundError:
            continue
        for i, word in enumerate(words[cut:], cut):
            fields = getattr(found, "__dataclass_fields__", {})
            if not hasattr(found, word) and word in fields and i == len(words) - 1:
                return fields[word]
            found = getattr(found, word)
        return found
    raise ModuleNotFoundError(name)


def test_every_dotted_name_exists(everything):
    names = set(CODE.findall(everything))
    assert len(names) > 40
    for name in names:
        assert resolve(name) is not None, name


def test_every_public_name_is_mentioned(everything):
    mentioned = set(CODE.findall(everything))
    assert [name for name in rr_core.__all__ if f"rr_core.{name}" not in mentioned] == []


def test_every_formula_names_its_source_and_its_place():
    for formula in (f for formulas in TOPICS.values() for f in formulas):
        assert formula.source, formula.name
        assert formula.code, formula.name


def test_every_cited_test_exists(everything):
    defined = {
        name
        for path in (ROOT / "tests" / "core").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    cited = set(TEST.findall(everything))
    assert len(cited) >= 12
    assert cited <= defined


def test_every_numerical_misprint_test_is_cited(everything):
    """DESIGN section 8 is tests/core/test_misprints.py: the page leaves none of it out."""
    text = (ROOT / "tests" / "core" / "test_misprints.py").read_text("utf-8")
    # A property of the corrected rule, not a misprint.
    defined = set(re.findall(r"^def (test_\w+)", text, re.MULTILINE)) - {
        "test_the_published_drop_condition_is_exact_at_a_tie"
    }
    assert defined <= set(TEST.findall(everything))


def test_every_misprint_says_what_is_printed_and_what_is_right(parts):
    for misprint in MISPRINTS:
        assert misprint.title in parts["misprints"]
        assert misprint.printed in parts["misprints"]
        assert misprint.right in parts["misprints"]
    assert "nan" not in re.findall(r"\w+", parts["misprints"])


@pytest.mark.parametrize(
    ("wanted", "part", "word"),
    [
        ("norm-sub", "Names", "InvP"),
        ("phi", "Symbols", "c_i/N"),
        ("EPSILON", "Glossary", "dial between privacy"),
        ("eq. (64)", "Misprints", "called unbiased"),
        ("mle_star", "Formulas", "Closed form"),
        ("Warner", "Sources", "1965"),
    ],
)
def test_search_finds_across_the_parts(wanted, part, word):
    page = run(reference_search=wanted)
    assert part in [heading.value for heading in page.subheader]
    assert word in "\n".join(texts(page))


def test_search_that_finds_nothing_says_so_and_shows_the_words_as_they_are():
    page = run(reference_search="<b>[zzz](http://x)")
    assert "Nothing here says" in page.info[0].value
    assert "<b>" not in page.info[0].value


def test_choosing_a_part_leaves_the_search():
    page = run(reference_search="simplex")
    page.button_group(key="part").set_value("glossary").run()
    assert not page.exception
    assert page.text_input(key="reference_search").value == ""
    assert any("Toss a coin" in text for text in texts(page))


def test_matching_ignores_markup_and_asks_for_every_word():
    entry = Entry("$φ_i$ · `phi`", "Share of the **reports**.", "observed")
    assert entry.matches("share PHI")
    assert entry.matches("observed reports")
    assert not entry.matches("share theta")


def test_text_leaves_no_bare_asterisk_or_odd_dollar(everything):
    for line in everything.splitlines():
        assert line.count("$") % 2 == 0, line
        assert not re.search(r"MLE\*(?!\*)(?<!\\\*)", line.replace("\\*", "")), line


def test_no_truth_is_called_likely(everything):
    """Reports are likely or not under a distribution, and data under a hypothesis; neither the other way round."""
    assert not re.search(r"(?<!un)likel(y|ier|iest) (one|distribution|truth)\b", everything)
    assert "probably is" not in everything


def test_what_was_measured_once_is_not_said_to_be_computed_now(parts):
    (caption,) = [line for line in parts["misprints"].splitlines() if "`rr_core.misprints`" in line]
    assert "Most numbers are computed" in caption


def test_the_concentration_of_zipf_is_as_quoted():
    (shares,) = [m.right for m in MISPRINTS if "those of Zipf" in m.right]
    for s, quoted in ((1.3, "0.09"), (2.5, "0.58")):
        assert f"{(zipf(10_000, s) ** 2).sum():.2f}" == quoted
        assert f"{quoted} at $s={s}$" in shares
