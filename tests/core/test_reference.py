"""The texts of the reference are whole, and what they point at exists."""

import importlib
import re
from pathlib import Path

import pytest

import rr_core
from rr_core import reference
from rr_core.reference import Entry
from tests.sentences import holds

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "rr_core" / "data" / "reference"
CODE = re.compile(r"`(rr_core(?:\.\w+)+)`")


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


def test_every_part_is_one_file():
    assert {path.name for path in FOLDER.iterdir()} == {f"{part}.toml" for part in reference.PARTS}
    for part in reference.PARTS:
        assert reference.read(part)["name"]
        assert reference.read(part)["about"]
    with pytest.raises(ValueError, match=r"part must be one of glossary, .*, got 'words'"):
        reference.read("words")


def test_every_dotted_name_exists():
    """In any text, as code; and as the place of a formula."""
    names = {
        name
        for part in reference.PARTS
        for name in CODE.findall((FOLDER / f"{part}.toml").read_text("utf-8"))
    }
    names |= {row["code"] for row in reference.read("symbols")["other_names"]["objects"]}
    for formula in (formula for topic in reference.formulas().values() for formula in topic):
        assert formula.latex, formula.name
        assert formula.source, formula.name
        assert formula.code, formula.name
        names |= set(formula.code)
    assert len(names) > 80
    for name in names:
        assert resolve(name) is not None, name


@holds(
    "Tests of this project compute most numbers anew, those of large runs were measured once; names in code type are tests that hold the same."  # noqa: E501
)
def test_every_test_of_a_misprint_exists_and_every_test_of_the_misprints_is_named():
    named = {
        name for source in reference.misprints().values() for misprint in source for name in misprint.tests
    }
    defined = {
        path.name: set(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE))
        for path in (ROOT / "tests" / "core").glob("test_*.py")
    }
    assert len(named) >= 25
    assert named <= set().union(*defined.values())
    about_misprints = {
        name for file, names in defined.items() if file.startswith("test_misprints_") for name in names
    }
    # Properties of the corrected rule and of the checks, and misprints whose text names no test.
    assert about_misprints - named == {
        "test_the_drift_on_the_page_is_that_of_the_listing",
        "test_the_posters_formula_is_inv_not_the_mle",
        "test_mle_star_is_never_the_worst_on_equal_supports_nor_with_three_categories",
        "test_ibu_stopped_early_misses_the_truth_without_any_noise",
    }


def test_every_number_of_the_misprints_is_told_and_computed_anew_by_a_test():
    told = set()
    for source in reference.misprints().values():
        for misprint in source:
            told |= {path.partition(".")[0] for path in re.findall(r"\{\{([\w.]+)", misprint.check)}
    # What is not stored with the misprints is put in by the page.
    numbers = set(reference.read("misprints")["numbers"])
    assert told - {"worst_rates", "main_grid", "concentrated", "preset"} == numbers
    tests = [path.read_text("utf-8") for path in (ROOT / "tests" / "core").glob("test_misprints_*.py")]
    assert {name for text in tests for name in re.findall(r'stored\("(\w+)"\)', text)} == numbers


def test_no_title_stands_twice_and_no_text_is_empty():
    for part, kind in (
        ("names", "method"),
        ("estimators", "best"),
        ("glossary", "term"),
        ("sources", "text"),
    ):
        entries = reference.entries(part, kind)
        assert len({entry.title for entry in entries}) == len(entries)
        assert all(entry.title and entry.text for entry in entries)
    misprints = [misprint for source in reference.misprints().values() for misprint in source]
    assert len({misprint.title for misprint in misprints}) == len(misprints)
    assert all(misprint.printed and misprint.right for misprint in misprints)


def test_every_public_name_is_mentioned():
    text = "\n".join((FOLDER / f"{part}.toml").read_text("utf-8") for part in reference.PARTS)
    assert [name for name in rr_core.__all__ if not re.search(rf"\brr_core\.{name}\b", text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("share PHI", True),
        ("observed reports", True),
        ("share theta", False),  # every word is asked for,
        ("how much is the φ?", True),  # but for small ones,
        ("of", True),  # where there are others
        ("who", False),
    ],
)
def test_matching_ignores_markup_and_asks_for_every_word(text, found):
    assert Entry("$φ_i$ · `phi`", "Share of the **reports**.", "observed").matches(text) is found


# What a student may type who looks for one of the ten questions: three wordings each.
WORDINGS = {
    "What does ε do?": ("what does epsilon do", "small epsilon", "what is eps?"),
    "Does one report give a person away?": (
        "is my answer secret",
        "can someone see what I said",
        "am I safe",
    ),
    "What does the noise do to the histogram?": (
        "the noise",
        "why are the bars so flat?",
        "shape of the chart",
    ),
    "Why can an estimate be below zero?": ("negative", "why is a share below zero", "less than zero"),
    "Do more users cure the negatives?": ("how many people", "do the negatives go away", "a larger survey"),
    "What do InvN, InvP and MLE\\* do?": ("what does InvP do", "what is MLE*?", "compare estimators"),
    "Which should I use?": ("Which one should I choose?", "which repair is better", "what should I pick"),
    "Why is MLE\\* between the other two on a line?": ("in the middle", "straight line", "triangle"),
    "When may IBU stop?": ("when may it stop", "how long should it run", "how many iterations"),
    "What does a second answer of the same person cost?": ("twice", "what if I ask again", "more than once"),
}


def test_every_question_of_a_student_is_found_in_everyday_words_and_not_by_everything():
    questions = [question.entry for question in reference.questions()]
    assert [entry.title for entry in questions] == list(WORDINGS)
    for entry in questions:
        for wording in WORDINGS[entry.title]:
            found = [other for other in questions if other.matches(wording)]
            assert entry in found, wording
            assert len(found) <= 4, wording
