"""The page's answer in one or two sentences, from sweeps made by hand."""

import math
from dataclasses import replace
from itertools import product

import pytest

from pages._ui.experiments.answer import sentence
from rr_core.comparison import VALID
from rr_core.experiments.grid import MAIN_GRID, PRESETS, Settings, over
from rr_core.experiments.storage import stored_result
from rr_core.experiments.winner_map import winner_map
from rr_core.figures.experiments_map import is_unsettled
from tests.core.sweeps import THREE, made

GRID = over(s=(1.0, 2.0), k=10, epsilon=(1, 2, 3), n=100)
LINE = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5, 6), n=100)
# Of InvN, InvP and MLE*: who is best; a win by a hair, two that share, and all three equal.
N, P, M, HAIR, SHARED, EQUAL = (1, 3, 2), (3, 1, 1.5), (2, 3, 1), (1, 1.01, 2), (3, 1, 1), (1, 1, 1)


def said(means, cells=GRID, error=0.1, settings=THREE, metric="mse"):
    return sentence(made(cells, means, error, settings), metric).replace("\\", "")


@pytest.mark.parametrize("lacking", [{"metrics": ("nll",)}, {"estimators": ("inv", "inv_n", "inv_p")}])
def test_nothing_is_said_where_something_is_lacking(lacking):
    settings = Settings(40, **{"estimators": VALID, "metrics": ("mse", "nll"), "bias": False} | lacking)
    assert said([N], settings=settings) == ""
    assert said([]) == ""


def test_what_is_settled_is_counted_and_the_rest_is_told():
    assert said([N, N, P, M, HAIR, EQUAL]) == (
        "**In short,** over all 2 populations: the smallest squared error on average is surely **InvN's in 2 settings, "
        "InvP's in 1, MLE*'s in 1**; in 1 the collections do not settle it, in 1 the three are equal. MLE* is "
        "**surely the worst in 1**, and its error is up to about **2 times** the smallest, typically about 2 times."
    )
    text = said([P] * 4 + [SHARED] + [(9, 1, 429.4)])
    assert "**InvP's in 5 settings, InvN's and MLE*'s in none**; in 1 two share it. MLE*" in text
    assert "about **400 times** the smallest, typically about 1.5 times." in text
    assert said([M] * 6).endswith("is surely **MLE*'s in 6 settings, InvN's and InvP's in none**.")
    assert ". MLE* is **surely the worst in none**, and its error is up to" in said([P] * 6)
    alone = said([M] * 5 + [(1, 1.01, 1)])  # best or shared, and nobody surely ahead of it
    assert alone.endswith("its error is nowhere surely above the smallest.")


def test_a_part_of_a_sweep_says_which():
    assert said([N, P]).startswith(
        "**In short,** of the 2 of 6 settings run so far: the smallest squared error"
    )
    assert said([N], LINE).startswith(
        "**In short,** of the 1 of 6 settings run so far: the smallest squared error on"
    )
    assert said([EQUAL] * 2) == (
        "**In short,** of the 2 of 6 settings run so far: in all 2 settings **the errors of the three are equal**."
    )


def test_where_all_coincide():
    assert said([EQUAL] * 6).endswith("in all 6 settings **the errors of the three are equal**.")
    assert (
        said([EQUAL], GRID[:1]) == "**In short:** in this one setting **the errors of the three are equal**."
    )


def test_one_setting():
    assert said([P], GRID[:1]) == (
        "**In short:** the smallest squared error on average is surely **InvP's**. MLE* is **surely not the worst**, "
        "and its error is about **1.5 times** the smallest."
    )
    assert said([(1, 2, 3)], GRID[:1]).endswith(
        "MLE* is **surely the worst**, and its error is about **3 times** the smallest."
    )


def test_where_nothing_is_settled_nothing_more_is_said():
    once = replace(THREE, seeds=1)
    assert said([N] * 6, error=math.nan, settings=once) == (
        "**In short,** over all 2 populations: one collection per setting cannot tell which estimate is best on average."
    )
    assert said([N] * 6, LINE, 100) == (
        "**In short,** at 6 values of ε from 1 to 6: 40 collections per setting do not settle which estimate is best on "
        "average in any of 6 settings."
    )
    only = said([N, EQUAL], LINE[:2], 100)
    assert only.endswith("in the one setting where they differ (in 1 more the three are equal).")


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ([N, N, P, P, P, P], "surely **InvN's at ε ≤ 2, InvP's at ε ≥ 3**. MLE*"),
        (
            [N, HAIR, P, P, EQUAL, EQUAL],
            "InvN's at ε = 1, InvP's at ε from 3 to 4**; not settled at ε = 2; the three are",
        ),
        ([N, HAIR, P, P, EQUAL, EQUAL], "; the three are equal at ε ≥ 5. MLE*"),
        ([P] * 6, "surely **InvP's at every ε**. MLE*"),
        (
            [N, P, P, N, SHARED, P],
            "InvN's at ε = 1 and ε = 4, InvP's at ε from 2 to 3 and ε = 6, InvP's and MLE*'s at",
        ),
        (
            [N, P, N, P, N, P],
            "surely **InvN's in 3 settings, InvP's in 3, MLE*'s in none**. MLE*",
        ),  # too often
        (
            [N, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL],
            "surely **InvN's at ε = 1**; the three are equal at ε ≥ 2.",
        ),
    ],
)
def test_along_a_single_axis_it_says_which_at_which_values(means, words):
    text = said(means, LINE)
    if "settings" not in words:
        assert text.startswith(
            "**In short,** at 6 values of ε from 1 to 6: the smallest squared error on average is surely **I"
        )
    assert words in text


def test_the_cost_along_a_single_axis_has_its_place():
    text = said([N, N, P, P, P, (3, 1, 2.96)], LINE)
    assert text.endswith(
        "its error is up to about **3 times** the smallest (at ε = 6), typically about 1.8 times."
    )
    only = said([N] + [EQUAL] * 5, LINE)
    assert only.endswith(
        "MLE* is **surely not the worst**, and its error is about **2 times** the smallest (at ε = 1)."
    )
    many = said([N, P], over(k=10, epsilon=1, n=(100, 100_000)))
    assert "at 2 values of N from 100 to 100,000:" in many
    assert "InvN's at N = 100, InvP's at N = 100,000**" in many


def test_when_only_the_winner_is_settled_the_worst_is_not_spoken_of():
    """InvP and MLE* share the smallest error or are within noise of the largest."""
    text = said([(1, 2, 2.01)] * 6)
    assert ". MLE*'s error is up to about **2 times** the smallest, typically about 2 times." in text


def test_an_error_of_zero():
    assert "**infinitely many times** the smallest" in said([(0, 1, 2)] * 6)


def test_the_sentence_on_the_likelihood():
    assert said([N] * 6, metric="nll") == (
        "**In short,** over all 2 populations: MLE* has the lowest negative log-likelihood **in all 240 collections**, "
        "alone or tied, as the maximum likelihood must."
    )
    once = replace(THREE, seeds=1)
    assert "**in the one collection**" in said([N], GRID[:1], math.nan, once, "nll")


def test_another_one_with_a_lower_likelihood_is_told():
    result = made(GRID, [N] * 6)
    result.cells[0].beaten.flags.writeable = True
    result.cells[0].beaten[1, 2] = 3
    text = sentence(result, "nll")
    assert (
        "does **not always have the lowest** negative log-likelihood. InvN or InvP had a lower one in 3 of 240"
        in text
    )


def test_the_stored_main_grid_counts_what_the_map_does_not_hatch():
    result = stored_result(MAIN_GRID)
    spots = []
    for population, k in product(("0.01", "1.3", "2.5"), (50, 100, 1000, 5000)):
        spots += winner_map(result, "eps-n", "mse", {"population": population, "k": k}).spots
    won = [spot.lead.best for spot in spots if not is_unsettled(spot)]
    assert (
        f"over all 3 populations: the smallest squared error on average is surely **InvP's in {won.count(('inv_p',))} "
        f"settings, InvN's in {won.count(('inv_n',))}, MLE\\*'s in {won.count(('mle_star',))}**; in "
        f"{sum(map(is_unsettled, spots))} the collections do not settle it, in {won.count(VALID)} the three are equal."
    ) in sentence(result, "mse")
    assert len(spots) == 600
    assert "over all 5 populations" in sentence(stored_result(PRESETS["2a"].cells), "mse")


def test_a_ratio_that_is_no_difference_is_told_so():
    """InvN surely ahead of MLE*, by four in a thousand; and ahead by six."""
    assert said([(1, 3, 1.004)] * 6, error=1e-6).endswith(
        "its error is nowhere surely 0.5% above the smallest."
    )
    assert "up to about **1.01 times** the smallest" in said([(1, 3, 1.006)] * 6, error=1e-6)
