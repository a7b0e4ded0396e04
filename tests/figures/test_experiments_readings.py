"""What the sentences on a sweep count, over sweeps made at random. Their standing is worked out by hand once, from the
definition: a mean is surely smaller by a t test, corrected for all tests of the sweep."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pages._ui.experiments.results import answer_text
from rr_core import zipf
from rr_core.experiments.claims import (
    CONCENTRATED,
    KOSARAK,
    NEAR_UNIFORM,
    BestOfShape,
    Collections,
    Slopes,
)
from rr_core.experiments.curves import default_selection, select_curves
from rr_core.experiments.grid import Sweep, over
from rr_core.experiments.ranking import (
    Count,
    agreement,
    leader_intervals,
    leading,
    never_worst,
    standing,
    varying_axis,
)
from rr_core.experiments.winner_map import winner_map
from rr_core.figures import experiments_curves, experiments_map
from rr_core.figures.style import QUANTITIES
from rr_core.registry import VALID
from rr_core.words import experiments as words
from rr_core.words.experiments_protocols import _times_inv_p
from tests.core.sweeps import THREE, made
from tests.sentences import holds, recomputes
from tests.sentences.spoken import numbers, reads, tells
from tests.words.test_experiments import meaning, random_means

GRIDS = {
    "grid": over(s=(0.5, 2.5), k=10, epsilon=(1.0, 2.0, 3.0), n=100),
    "line": over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5, 6), n=100),
    "users": over(s=1.0, k=10, epsilon=1.0, n=(10, 10_000)),
    "one": over(s=1.0, k=10, epsilon=1.0, n=100),
}
SHOWN = {name: QUANTITIES[name].name for name in VALID}


@cache
def sweeps(many):
    """Sweeps made at random, of every shape, finished or not, and the mean errors of their cells."""
    rng, found = np.random.default_rng(30), []
    for i in range(max(many, 120)):
        cells = tuple(GRIDS.values())[i % 4]
        done = int(rng.integers(1, len(cells) + 1)) if i % 3 else len(cells)
        seeds, error = int(rng.choice([2, 40, 4800])), float(rng.choice([1e-6, 0.02, 0.1, 5.0]))
        if i % 11 == 0:
            seeds, error = 1, math.nan
        means = [random_means(rng) for _ in range(done)]
        for every, same in (
            (5, (1.0, 3.0, 1.004 + 0.05 * (i % 2))),
            (13, (1.0, 1.0, 1.0)),
            (17, (1.0, 2.0, 3.0)),
        ):
            if i % every == 0:  # MLE* behind by next to nothing; all equal; MLE* the worst everywhere
                means = [same] * done
        found.append((made(cells, means, error, replace(THREE, seeds=seeds)), means, error))
    return found


def test_the_standing_of_a_sweep_is_what_its_means_mean():
    for result, means, error in sweeps(120):
        cells, seeds = result.sweep.cells, result.sweep.settings.seeds
        stand = standing(result, "mse", 1.5)
        alone, shared, equal, ratios, behind = dict.fromkeys(VALID, 0), 0, 0, [], []
        for mean in means:
            best, possible = meaning(mean, error if seeds > 1 else 0.0, len(cells), seeds)
            if len(best) == 3:
                equal += 1
                continue
            ratios.append(1.0 if 2 in best else mean[2] / min(mean) if min(mean) else math.inf)
            if 2 not in possible:
                behind.append(ratios[-1])
            shared += possible == best and len(best) == 2
            if possible == best and len(best) == 1:
                alone[VALID[best.pop()]] += 1
        assert (dict(stand.n_best), stand.n_shared, stand.n_equal) == (alone, shared, equal)
        assert stand.worst_ratio == pytest.approx(max(behind, default=1.0))
        if ratios:
            assert stand.median_ratio == pytest.approx(float(np.median(ratios)))
            assert stand.n_close == sum(ratio <= 1.5 * (1 + 1e-9) for ratio in ratios)


def about(told, ratio):
    """A ratio of simulated means, told with one digit from 20 on, else with two; near 1 with three."""
    if math.isinf(ratio):
        return False
    if ratio < 1.05:
        return abs(told - ratio) <= 0.00501
    digit = 10 ** math.floor(math.log10(ratio))
    return abs(told - ratio) <= (0.5 if ratio >= 19.5 else 0.05) * digit * 1.001


@holds(
    "the worst in {}",
    "the worst in none",
    "the worst",
    "not the worst",
    "nowhere surely above the smallest",
    "nowhere surely 0.5% above the smallest",
    "typically {}, and up to {}",
)
@recomputes(words._of_mse, words._head, words._unsettled, words._ranges, words._counts, words._cost)
def test_the_answer_of_a_sweep_counts_what_its_numbers_mean(many):
    for result, means, _ in sweeps(many):
        text = answer_text(result, "mse").replace("\\", "")
        head, rest = text.split(":", 1)
        cells, stand = result.sweep.cells, standing(result, "mse")
        total, populations = len(cells), len({cell.s for cell in cells})
        if len(means) < total:
            tells(head, len(means), total)
        elif total == 1:
            assert head == "In this one setting"
        else:
            axis = {6: [6, 1.0, 6.0], 2: [2, 10, 10_000]}[total] if populations == 1 else [total, populations]
            tells(head, *axis)
        if not stand.n_different:
            assert rest == " **the errors of the three are equal**."
        elif not stand.n_settled and result.sweep.settings.seeds == 1:
            assert rest == " one collection per setting cannot tell which estimate is best on average."
        elif not stand.n_settled:
            several = [stand.n_different] if stand.n_different > 1 else []
            tells(rest, result.sweep.settings.seeds, *several, *([stand.n_equal] if stand.n_equal else []))
        else:
            sentence = rest.split("MLE* is **")[0].split("MLE*'s error")[0].split(" Its error is")[0]
            _winners_are_right(sentence, result, stand)
            _cost_is_right(rest[len(sentence) :], result, stand)


def _winners_are_right(sentence, result, stand):
    """The counts of a grid; each stretch of a single axis, under what holds there."""
    if "smallest squared error at" in sentence or " at every " in sentence:
        parts = re.split(r"; |, (?=Inv|MLE)", re.sub(r".*\*\*(.*)\*\*", r"\1", sentence))
        named = {frozenset(name for name in VALID if SHOWN[name] in part): part for part in parts}
        for interval in leader_intervals(result, "mse", varying_axis(result.sweep.cells)):
            words = {0: "too close", 3: "equal"}.get(len(interval.best))
            part = next(one for one in parts if words in one) if words else named[frozenset(interval.best)]
            ends = [] if interval.at_lower_end else [interval.first]
            ends += [] if interval.at_upper_end else [interval.last]
            assert set(ends) <= set(numbers(part)), sentence
    elif stand.n_completed > 1 or stand.n_shared:
        for name, shown in SHOWN.items():
            of = re.search(rf"{re.escape(shown)} (?:has the smallest squared error )?in (\d+)", sentence)
            assert (int(of[1]) if of else 0) == stand.n_best[name], sentence
        for count, pattern in (
            (stand.n_shared, r"in (\d+) two share it"),
            (stand.n_unsettled, r"(\d+) (?:is|are) too close to call"),
            (stand.n_equal, r"in (\d+) the three are equal"),
        ):
            of = re.search(pattern, sentence)
            assert (int(of[1]) if of else 0) == count, sentence
    else:
        (winner,) = (name for name, count in stand.n_best.items() if count)
        assert f"**{SHOWN[winner]} has the smallest squared error**" in sentence


def _cost_is_right(text, result, stand):
    """In how many cells MLE* is the worst; by how much it is surely above the smallest, at most, and in the middle."""
    assert (text == "") == (stand.n_best["mle_star"] == stand.n_different)
    n_worst = never_worst(result, "mse", "mle_star").no
    if told := re.search(r"\*\*(?:the worst in (\d+|none)|(not )?the worst)\*\*", text):
        if stand.n_different > 1:
            assert told[1] == (str(n_worst) if n_worst else "none"), text
        else:
            assert (told[2] is None) == bool(n_worst)
    if not text:
        return
    assert ("nowhere surely above the smallest" in text) == (stand.worst_cell is None), text
    is_hardly_behind = stand.worst_cell is not None and stand.worst_ratio < 1.005
    assert ("nowhere surely 0.5% above" in text) == is_hardly_behind, text
    if told := re.search(r"(?:up to|is) (?:about )?\**([\d.,]+|infinitely many) times\** the smallest", text):
        is_infinite = told[1].startswith("inf")
        assert (
            math.isinf(stand.worst_ratio) if is_infinite else about(numbers(told[1])[0], stand.worst_ratio)
        ), text
        assert ("leaving out what is too close" in text) == bool(stand.n_unsettled)
    if usual := re.search(r"typically (?:about )?([\d.,]+) times", text):
        assert about(numbers(usual[1])[0], stand.median_ratio), text


@holds("MLE*’s is nowhere surely above it", "MLE*’s is nowhere surely 0.5% above it")
@recomputes(experiments_curves.curves_reading)
def test_the_curves_count_what_their_numbers_mean(many):
    for result, means, _ in sweeps(many):
        drawn, stand = select_curves(result, default_selection(result.sweep)), standing(result, "mse")
        if drawn.n_completed != len(means):
            continue
        text = experiments_curves.curves_reading(drawn)
        rest = (stand.n_shared, stand.n_unsettled, stand.n_equal)
        head, end = text.split(". MLE*’s", 1) if ". MLE*’s" in text else text.split(". The smallest is 0", 1)
        tells(head, *([len(means)] if len(means) > 1 else []), *stand.n_best.values(), *filter(None, rest))
        assert ("two share it" in head, "too close" in head, "all equal" in head) == tuple(map(bool, rest))
        if stand.worst_cell is None:
            assert end == " is nowhere surely above it."
        elif stand.worst_ratio < 1.005:
            assert end == " is nowhere surely 0.5% above it."
        elif math.isinf(stand.worst_ratio):
            assert "where MLE*’s is not (" in end
        else:
            assert about(numbers(end)[0], stand.worst_ratio), text
        choice = replace(drawn.selection, metric="nll", measure="excess")
        text = experiments_curves.curves_reading(select_curves(result, choice))
        # As `tests.core.sweeps` makes them: ten times the means, in the opposite order.
        above = [10 * max(mean[i] - mean[0] for mean in means) for i in (2, 1)]
        told = text[text.index("alone or shared") :]
        tells(told, *(1e-12 if one <= 1e-12 else one for one in above if one > 0))
        assert told.count("is the same") == sum(one <= 1e-12 for one in above)
    two = replace(THREE, estimators=("inv_n", "inv_p"))
    lacking = made(GRIDS["grid"], [(1, 2)] * 6, 0.1, two)
    tells(experiments_curves.curves_reading(select_curves(lacking, default_selection(lacking.sweep))), 6)


@recomputes(experiments_map.map_reading, experiments_map.hover_text)
def test_the_map_and_its_cells_count_what_their_numbers_mean(many):
    rng, cells = np.random.default_rng(32), over(s=1.0, k=10, epsilon=(1.0, 2.0, 3.0), n=(100, 1000))
    for i in range(many):
        error, means = float(rng.choice([1e-6, 0.1, 5.0])), [random_means(rng) for _ in range(i % 7)]
        if i % 11 == 0:
            means = [(1.0, 3.0, 1.0004)] * 6
        result = made(cells, means, error)
        found, stand = winner_map(result, "eps-n", "mse", {}), standing(result, "mse")
        text = experiments_map.map_reading(found)
        if not means:
            tells(text, 1.0, 10, 6)
            continue
        counts = [stand.n_best[name] for name in ("inv_p", "inv_n", "mle_star")]
        counts += filter(None, (stand.n_shared, stand.n_equal, stand.n_unsettled))
        head, cost = text.split(". MLE* loses", 1)
        tells(head, 1.0, 10, len(means), *counts)
        assert ("run so far" in head) == (len(means) < 6)
        lost = sum(leading(result, cell, "mse").possible.count("mle_star") == 0 for cell in result.cells)
        if not lost:
            assert cost == " in none of them."
        elif math.isinf(stand.worst_ratio):
            tells(cost.replace("may be zero", ""), lost)
        elif stand.worst_ratio < 1.005:
            tells(cost, lost, 0.5 / 100)
        else:
            assert numbers(cost)[0] == lost
            assert about(numbers(cost)[1], stand.worst_ratio), text
        for spot in found.map_cells:
            hover = experiments_map.hover_text(found, spot)
            if "not run yet" in hover:
                continue
            # As `tests.core.sweeps` makes them: best in 0, 1, 2 of them, worst in 0, 10, 20, and four tied.
            ranks = "Best / worst of the 40 collections:<br>InvN 0 / 0, InvP 1 / 10, MLE* 2 / 20<br>all equal in 4"
            assert ranks in hover
            for name, value in zip(VALID, means[cells.index(spot.cell)], strict=True):
                shown = re.search(
                    rf"<b>{re.escape(SHOWN[name])}</b> ([\d.]+)", hover[hover.index("Squared") :]
                )
                assert float(shown[1]) == pytest.approx(value, rel=5.1e-4)


@recomputes(words.agreement_in_words, words._by_chance, words._by_ratio)
def test_two_runs_agree_as_far_as_their_numbers_do(many):
    """By chance where both are about the same users, else by ratios; `tests.core.test_experiments_ranking` has both."""
    rng, cells = np.random.default_rng(31), GRIDS["users"]
    for i in range(max(many, 60)):
        settings = replace(THREE, people="rounded") if i % 3 == 0 else THREE
        first = made(
            cells, [tuple(1 + rng.random(3)) for _ in cells], float(rng.choice([0.001, 0.1, 1.0])), settings
        )
        users = "sampled" if i % 7 == 5 else settings.users
        other = replace(settings, seed=2 if i % 2 else settings.seed, users=users)
        means = [tuple(1 + rng.random(3) * rng.choice([1, 30])) for _ in cells]
        if i % 4 == 0:
            means = [tuple(cell.mean[0] * (1 + 0.004 * rng.random(3))) for cell in first.cells]
        second = made(cells, means, 0.1, other)
        found = agreement(first, second, "mse")
        start, rest = words.agreement_in_words(found, first, second).split(" compared. ", 1)
        tells(start, 2, 6)
        place = rest[rest.index("(") : rest.index(")") + 1] if "(" in rest else ""
        plain = rest.replace(place, "") if place else rest
        if found.same_users:
            cell, name = found.difference_cell, found.difference_estimator
            few = [40] if found.same_collections else []
            tells(plain, found.largest_difference, found.n_beyond, 3, found.expected_beyond, *few)
        elif found.largest_ratio < 1.005:
            assert rest.endswith("here by less than 0.5%.")
            continue
        else:
            cell, name = found.ratio_cell, found.ratio_estimator
            tells(plain, found.largest_ratio, 1 if found.median_ratio < 1.005 else found.median_ratio)
        assert ("fixed users and the other about their population" in rest) == (other.users != settings.users)
        assert SHOWN[name] in place
        assert f"N = {cell.n:,}" in place
    same = made(cells, means, 0.1, other)
    assert words.agreement_in_words(agreement(second, same, "mse"), second, same).startswith(
        "**The same, bit for bit**"
    )
    once = replace(THREE, seeds=1)
    one, other = (made(cells, [(1, 2, 3)] * 2, math.nan, replace(once, seed=seed)) for seed in (1, 2))
    tells(words.agreement_in_words(agreement(one, other, "mse"), one, other), 2)
    apart = one, made(over(k=3, epsilon=1, n=10), [(1, 2, 3)])
    assert "**no cell in common**" in words.agreement_in_words(agreement(*apart, "mse"), *apart)
    rounded = replace(THREE, people="rounded")  # two means without spread that differ
    one, other = (made(GRIDS["one"], [(1, 2, 2 + seed)], 0.0, replace(rounded, seed=seed)) for seed in (1, 2))
    assert "**infinitely many standard errors**" in words.agreement_in_words(
        agreement(one, other, "mse"), one, other
    )


def test_a_rate_is_not_rounded_over_its_border_and_hardly_behind_is_not_one_time():
    rates = {
        0.0: "none",
        0.9999: "99.99%",
        0.99991: "more than 99.99%",
        1.0: "100.00%",
        9e-5: "less than 0.01%",
    }
    assert {share: words._rate(share) for share in rates} == rates
    assert _times_inv_p(1.0004) == "about the same as"
    assert _times_inv_p(1.006) == "1.01 times"


def some_count(rng, cells=()):
    yes, no, undecided, equal = (int(one) for one in rng.integers(0, 4, 4))
    return Count(yes, no, undecided, equal, tuple(cells[:no]))


@recomputes(words._answers, words._of_shape, words._surely_best, words._alternating)
def test_counts_behind_a_verdict_are_told_each_once(many):
    rng, cells = np.random.default_rng(33), over(s=1.0, k=10, epsilon=(0.5, 2.0, 8.0), n=(100, 10_000))
    for _ in range(many):
        count, against = some_count(rng, cells), some_count(rng)
        name, rival = ("inv_p", "inv_n") if rng.random() < 0.5 else ("inv_n", "inv_p")
        total = count.yes + count.no + count.undecided
        if not total and not count.equal:
            continue
        answers = [count.yes, total, *(one for one in (count.no, count.undecided, count.equal) if one)]
        if not total:
            answers = [count.equal] if count.equal > 1 else []
        text = words._answers(count, "it is so", "surely another")
        tells(text, *answers)
        assert (f"of {total} cell " in text) == (total == 1)
        shape = words._of_shape(BestOfShape(name, "moderate", rival, against), count)
        # Of the exceptions, the smallest and the largest N and epsilon.
        ends = []
        for values in ([cell.n for cell in count.exceptions], [cell.epsilon for cell in count.exceptions]):
            ends += sorted({min(values), max(values)}) if values else []
        tells(shape, *answers, against.yes, against.no, *ends)
        assert f"Against {QUANTITIES[rival].name} alone" in shape
        tells(words._surely_best("InvP", count), count.yes, count.no)
        alternate = words._alternating(count)
        tells(alternate, *([count.yes, count.no] if total else []))
        assert ("not seen here" in alternate) == (bool(count.yes) != bool(count.no))


@holds(
    "The collections settle in no cell which of the three is best.",
    "Its mean error is nowhere surely above the smallest.",
    "Its mean error is nowhere surely above the smallest by 0.5% or more.",
)
@recomputes(words._wins, words._of_closeness)
def test_wins_and_distances_are_those_of_the_sweep(many):
    for result, _, _ in sweeps(many):
        stand = standing(result, "mse", 1.5)
        text, close = words._wins(stand), words._of_closeness(stand)
        if not stand.n_different:
            assert text == close == "The three are equal in every cell."
            continue
        rest = filter(None, (stand.n_shared, stand.n_unsettled))
        tells(text, stand.n_different, *filter(None, [stand.n_equal]), *stand.n_best.values(), *rest)
        if not stand.n_settled:
            assert close == "The collections settle in no cell which of the three is best."
            continue
        head, by_means = close.split("By the means")
        middle = stand.median_ratio
        shown = [] if middle < 1.005 or math.isinf(middle) else [middle]
        tells(by_means, *shown, 1.5, stand.n_close, stand.n_different)
        assert ("hardly above" in by_means) == (middle < 1.005)
        assert ("nowhere surely above the smallest. " in head) == (stand.worst_cell is None)
        assert ("by 0.5% or more" in head) == (stand.worst_cell is not None and stand.worst_ratio < 1.005)
        if stand.worst_cell is not None and stand.worst_ratio >= 1.005:
            assert math.isinf(stand.worst_ratio) or about(numbers(head)[0], stand.worst_ratio), head


@recomputes(words._of_collections, words._of_nll, words._likeness)
def test_single_collections_and_the_evenness_of_a_file_are_told(many):
    rng, cell = np.random.default_rng(34), made(GRIDS["one"], [(1, 2, 3)]).cells[0]
    for i in range(many):
        total = int(10 ** rng.uniform(0, 6))
        worst = min(float(rng.choice([0, 0.5, total / 3 // 0.5 / 2, total])), total)
        text = words._of_collections(Collections(total, worst, total // 2), Count(3, 1, 0, 0, ()))
        rate = [lambda told, s=worst / total: abs(told - s) <= 0.00005001 or told in (0.0001, 0.9999)]
        tells(text, 3, 4, 1, *(rate if worst else []), total)
        assert ("in none of" in text) == (worst == 0)
        fits = words._of_collections(Collections(total, float(i % 3), total // 2), None)
        tells(fits, i % 3, total, total // 2)
        even = float(rng.uniform(1 / cell.cell.k, 1))
        file = replace(cell, concentration=even, cell=replace(cell.cell, dist="weights:abc", s=0.0))
        of_zipf = 10_000, 0.0001, 0.01, 0.094, 1.3, 0.58, 2.5
        tells(words._likeness(file), even, CONCENTRATED, *of_zipf, 1 / even, NEAR_UNIFORM)
    for s, told in ((0.01, 0.0001), (1.3, 0.094), (2.5, 0.58)):
        assert reads(told, float((zipf(10_000, s) ** 2).sum()), 2)
    result = made(GRIDS["grid"], [(1, 2, 3)] * 6)
    tells(words._of_nll(result).split("MLE*", 1)[1], 6 * 40)
    result.cells[0].beaten.flags.writeable = True
    result.cells[0].beaten[1, 2] = 3
    tells(words._of_nll(result).split("MLE*", 1)[1], 3, 6 * 40, 6 * 5)
    once = made(GRIDS["one"], [(1, 2, 3)], math.nan, replace(THREE, seeds=1))
    assert "**in the one collection**" in words._of_nll(once)


@recomputes(words._of_fall, words._of_growth)
def test_slopes_are_told_with_their_middle_and_ends(many):
    rng = np.random.default_rng(35)
    for _ in range(many):
        found, shown = [], []
        for name in ("inv", "inv_p", "mle_star"):
            last = np.round(rng.uniform(-2, 2.4, int(rng.integers(1, 5))), 3) + 0.0003
            found.append(Slopes("n", name, tuple(map(str, range(last.size))), last, last, 40))
            ends = [float(np.median(last)), *([last.min(), last.max()] if last.size > 1 else [])]
            shown += [lambda told, true=true: abs(told - true) <= 0.005001 for true in ends]
        tells(words._of_fall(tuple(found)), *shown)
        count = some_count(rng)
        growth = re.sub(r"K² once|\(1: in proportion\)", "", words._of_growth(tuple(found), count))
        parts = [one for one in (count.no, count.yes, count.undecided) if one]
        tells(growth, count.yes + count.no + count.undecided, 1.1, *parts, *shown)


@holds("The paper says of Kosarak, which has as many categories (41,270): InvP is best.")
def test_the_file_like_kosarak_has_as_many_categories_as_the_papers():
    tells(words.WORDS["paper"]["kosarak"], KOSARAK)


@recomputes(experiments_map.why_no_map)
def test_a_sweep_without_a_map_names_what_it_lacks():
    for lacking in ([], ["inv_p"], ["inv_n", "mle_star"]):
        settings = replace(THREE, estimators=tuple(name for name in ("inv", *VALID) if name not in lacking))
        cells = over(s=1.0, k=10, epsilon=(1.0, 2.0), n=(100, 1000))
        text = experiments_map.why_no_map(Sweep(cells, settings))
        assert bool(text) == bool(lacking)
        said = text.partition("was run without ")[2].removesuffix(".")
        assert {name for name in VALID if SHOWN[name] in said} == set(lacking)
