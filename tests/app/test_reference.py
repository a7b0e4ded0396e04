"""The reference page runs, and what it says about the code and the tests is true of the code and the tests."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import rr_core
from pages._ui.reference import PARTS, fill
from rr_core import reference
from rr_core.populations import zipf

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"`(rr_core(?:\.\w+)+)`")
TEST = re.compile(r"`(test_\w+)`")


def run(part="", **state):
    page = AppTest.from_file(str(ROOT / "pages" / "reference.py"), default_timeout=60)
    for key, value in state.items():
        page.session_state[key] = value
    if part:
        page.query_params["part"] = part
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


@pytest.mark.slow
@pytest.mark.parametrize("key", PARTS)
def test_every_part_shows_its_entries(parts, key):
    assert PARTS[key].name in parts[key]
    for entry in PARTS[key].entries():
        assert entry.title
        assert entry.text


@pytest.mark.parametrize("key", ["names", "formulas", "glossary", "sources"])
def test_what_can_be_found_is_what_is_shown(parts, key):
    for entry in PARTS[key].entries():
        if key != "names" or entry.title.startswith(("k-RR", "Inv", "MLE", "IBU")):
            assert entry.text in parts[key]


def test_names_in_code_type_are_those_of_the_texts(everything):
    """Which tests/core/test_reference.py looks up."""
    shown = set(CODE.findall(everything))
    assert len(shown) > 80
    assert {name for topic in reference.formulas().values() for one in topic for name in one.code} <= shown
    assert [name for name in rr_core.__all__ if f"rr_core.{name}" not in shown] == []
    cited = {name for source in reference.misprints().values() for one in source for name in one.tests}
    assert cited == set(TEST.findall(everything))


def test_every_misprint_says_what_is_printed_and_what_is_right(parts):
    for source, misprints in reference.misprints().items():
        assert source in parts["misprints"]
        for misprint in misprints:
            assert misprint.title in parts["misprints"]
            assert f"**Printed.** {misprint.printed}\n\n**Right.** {misprint.right}" in parts["misprints"]
    assert "nan" not in re.findall(r"\w+", parts["misprints"])


def test_no_placeholder_is_left(everything):
    assert "{{" not in everything


def test_placeholders_take_numbers_by_name():
    numbers = {"check": {"rows": [1234.5], "share": 0.12345}, "n": 1_000_000}
    assert (
        fill("{{n:,}} of {{check.rows.0:number 2}}: {{check.share:percent}}", numbers)
        == "1,000,000 of 1.2·10³: 12.3%"
    )
    assert fill(r"\frac{1}{2} of {{n}}", numbers) == r"\frac{1}{2} of 1000000"
    for wrong in ("{{m}}", "{{check.rows.1}}", "{{check.shares}}", "{{n.part}}"):
        with pytest.raises((KeyError, IndexError, AttributeError)):
            fill(wrong, numbers)


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


def test_an_unknown_part_in_a_link_is_one_sentence():
    page = run(part="letters")
    (note,) = page.warning
    assert "“letters” is not known here; “Symbols” is used" in note.value
    assert any(caption.value.startswith("**Symbols**") for caption in page.caption)


def test_choosing_a_part_leaves_the_search():
    page = run(reference_search="simplex")
    page.button_group(key="part").set_value("glossary").run()
    assert not page.exception
    assert page.text_input(key="reference_search").value == ""
    assert any("Toss a coin" in text for text in texts(page))


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
    texts_of = [one.right for source in reference.misprints().values() for one in source]
    (shares,) = [text for text in texts_of if "those of Zipf" in text]
    for s, quoted in ((1.3, "0.09"), (2.5, "0.58")):
        assert f"{(zipf(10_000, s) ** 2).sum():.2f}" == quoted
        assert f"{quoted} at $s={s}$" in shares
