"""What leads a reader on: the answer to which estimate to use, and the link to the next page."""

import re

import numpy as np
import pytest

from pages._ui import guidance
from rr_core import reference
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.ranking import regret
from rr_core.experiments.storage import stored_result
from rr_core.figures.wording import roughly_times
from rr_core.registry import VALID
from tests.app.opening import ROOT, checked, opened
from tests.documents import ADDRESSES
from tests.sentences import holds


@pytest.fixture(scope="module")
def grid():
    return stored_result(MAIN_GRID)


@pytest.fixture(scope="module")
def ratios(grid):
    """Mean squared error over the smallest of the three, by estimator and setting."""
    return {name: np.array([regret(grid, cell, "mse", name) for cell in grid.cells]) for name in VALID}


@holds(
    "InvP is advised all the same where nobody knows the population: in the 600 settings of the main grid it was within "
    "1.5 times the smallest mean squared error most often (“Which should I use?” below).",
    "And on trial it was seldom far from the best: in 600 settings (page Experiments) its mean squared error was within "
    "1.5 times the smallest of the three **507** times, InvN's 368 times, MLE\\*'s 347 times.",
    "In doubt InvP: in 600 settings (page Experiments) it was within 1.5 times the best 507 times, InvN 368, MLE* 347.",
    "In doubt **InvP**; **InvN** if you expect all categories to be about equally common; **MLE\\*** for the best fit.",
)
def test_the_numbers_of_the_answer_are_those_of_the_main_grid(grid, ratios):
    text = guidance.WHICH
    within = {name: int((ratio <= 1.5).sum()) for name, ratio in ratios.items()}
    assert f"within 1.5 times the smallest of the three **{within['inv_p']}** times" in text
    assert f"InvN's {within['inv_n']} times, MLE\\*'s {within['mle_star']} times" in text
    assert within["inv_p"] == max(within.values())
    assert f"{len(grid.cells)} settings" in text
    largest = roughly_times(float(ratios["mle_star"].max())).removesuffix(" times")
    assert f"up to {largest} times" in text


@holds(
    "In doubt **InvP**; **InvN** if you expect all categories to be about equally common; **MLE\\*** for the best fit.",
)
def test_inv_n_is_the_smallest_where_the_population_is_nearly_uniform(grid, ratios):
    even = np.array([cell.cell.dist == "zipf" and cell.cell.s == 0.01 for cell in grid.cells])
    assert f"the smallest, {even.sum()} times of {even.sum()}" in guidance.WHICH
    assert ratios["inv_n"][even].max() < 1.001  # but for differences that nobody would see


def walked(address):
    """Addresses from this page on, from each to the next."""
    walk, page = [address], guidance.following(address)
    while page is not None:
        walk.append(page.address)
        page = guidance.following(page.address)
    return walk


def test_the_path_leads_from_home_to_data_of_ones_own_and_what_goes_deeper_leads_on_by_itself():
    path, deeper = walked(""), walked("experiments")
    assert [*path, "room", *deeper] == ADDRESSES
    assert (path[-1], deeper[-1]) == ("your_reports", "reference")
    for name in ADDRESSES[1:]:
        leads_on = "guidance.next_page()" in (ROOT / "pages" / f"{name}.py").read_text(encoding="utf-8")
        assert leads_on == (name not in (path[-1], "room", deeper[-1])), name


def test_a_page_ends_in_the_question_of_the_next_one():
    for name, question in (("inv_negatives", "Which repair should I use?"), ("plan", "Your reports")):
        page = checked(opened("").switch_page(f"pages/{name}.py").run())
        labels = [one.proto.label for one in page.main.get("page_link")]
        assert labels[-1] == f"**Next: {question}**"


def test_pages_without_a_scenario_are_those_that_cannot_be_presented():
    reading = {
        path.stem
        for path in (ROOT / "pages").glob("*.py")
        if "open_reading(" in path.read_text(encoding="utf-8")
    }
    assert reading == set(guidance._WITHOUT_SCENARIO)


def test_the_advice_stands_on_the_page_of_the_repairs_alone():
    for name in ADDRESSES:
        advised = "Which should I use?" in [one.label for one in opened(name).expander]
        assert advised == (name == "estimators"), name


def test_the_repairs_are_said_where_they_first_appear():
    for name in ("estimators", "geometry"):
        first = opened(name).markdown[0].value
        assert re.search(r"InvN.*InvP.*MLE", first, re.S)


def test_the_meaning_of_words_is_that_of_the_glossary():
    texts = {term.title: term.text for term in reference.entries("glossary", "term")}
    said = [block.value for block in opened("estimators").get("popover")[0].markdown]
    assert len(said) == 1
    for title in ("InvN", "MLE\\*", "Nat", "Certificate"):
        assert f"**{title}**: {texts[title]}" in said[0]
