"""What the sentences on a sweep count, over sweeps made at random, by hand from the definitions: a mean is surely
smaller by a t test, corrected for all tests of the sweep."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

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
from rr_core.experiments.ranking import Count, agreement, standing
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


class Known:
    """A sweep made at random, and what is so in it."""

    def __init__(self, rng, i):
        self.cells = GRIDS[("grid", "line", "users", "one")[i % 4]]
        done = int(rng.integers(1, len(self.cells) + 1)) if i % 3 else len(self.cells)
        self.error = float(rng.choice([1e-6, 0.02, 0.1, 5.0]))
        seeds = int(rng.choice([2, 40, 4800]))
        if i % 11 == 0:
            seeds, self.error = 1, math.nan
        self.means = [random_means(rng) for _ in range(done)]
        if i % 5 == 0:
            self.means = [(1.0, 3.0, 1.004 + 0.05 * (i % 2))] * done  # MLE* behind by next to nothing
        if i % 13 == 0:
            self.means = [(1.0, 1.0, 1.0)] * done
        if i % 17 == 0:
            self.means = [(1.0, 2.0, 3.0)] * done
        self.settings = replace(THREE, seeds=seeds)
        self.result = made(self.cells, self.means, self.error, self.settings)
        self.finished = done == len(self.cells)
        self.alone, self.shared, self.equal, self.open = dict.fromkeys(VALID, 0), 0, 0, 0
        self.behind, self.ratios = [], []
        for means, cell in zip(self.means, self.cells, strict=False):
            best, possible = meaning(means, self.error if seeds > 1 else 0.0, len(self.cells), seeds)
            if len(best) == 3:
                self.equal += 1
                continue
            least = min(means)
            ratio = 1.0 if 2 in best else means[2] / least if least else math.inf
            self.ratios.append(ratio)
            if 2 not in possible:
                self.behind.append((ratio, cell))
            if possible != best:
                self.open += 1
            elif len(best) == 2:
                self.shared += 1
            else:
                self.alone[VALID[best.pop()]] += 1
        self.different = done - self.equal
        self.done = done


@cache
def sweeps(many):
    rng = np.random.default_rng(30)
    return [Known(rng, i) for i in range(max(many, 120))]


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
    for known in sweeps(many):
        text = answer_text(known.result, "mse").replace("\\", "")
        head, rest = text.split(":", 1)
        total = len(known.cells)
        if not known.finished:
            tells(head, known.done, total)
        elif total == 1:
            assert head == "In this one setting"
        else:
            populations = len({cell.s for cell in known.cells})
            axis = {6: [6, 1.0, 6.0], 2: [2, 10, 10_000]}[total] if populations == 1 else [total, populations]
            tells(head, *axis)
        settled = known.shared + sum(known.alone.values())
        if not known.different:
            assert rest == " **the errors of the three are equal**."
            continue
        if not settled:
            seeds = known.settings.seeds
            if seeds == 1:
                assert rest == " one collection per setting cannot tell which estimate is best on average."
                continue
            several = [known.different] if known.different > 1 else []
            tells(rest, seeds, *several, *([known.equal] if known.equal else []))
            continue
        sentence = rest.split("MLE* is **")[0].split("MLE*'s error")[0].split(" Its error is")[0]
        if "smallest squared error at" in sentence or " at every " in sentence:
            _ranges_are_right(sentence, known)
        elif known.done > 1 or known.shared:
            for name, shown in SHOWN.items():
                of = re.search(rf"{re.escape(shown)} (?:has the smallest squared error )?in (\d+)", sentence)
                assert int(of[1]) if of else known.alone[name] == 0, text
            for count, pattern in (
                (known.shared, r"in (\d+) two share it"),
                (known.open, r"(\d+) (?:is|are) too close to call"),
                (known.equal, r"in (\d+) the three are equal"),
            ):
                of = re.search(pattern, sentence)
                assert (int(of[1]) if of else 0) == count, text
            assert "1 are" not in sentence
        else:
            (winner,) = (name for name, count in known.alone.items() if count)
            assert f"**{SHOWN[winner]} has the smallest squared error**" in sentence
        cost = rest[len(sentence) :]
        limit = stats.t.isf(0.05 / (2 * 3 * total), df=known.settings.seeds - 1) * known.error
        worst = [
            m
            for m in known.means
            if m[2] - max(m[:2]) > max(limit, 1e-9 * max(m[:2])) and len(set(np.round(m, 9))) > 1
        ]
        if known.alone["mle_star"] == known.different:
            assert cost == ""
            continue
        told_worst = re.search(r"\*\*(?:the worst in (\d+|none)|(not )?the worst)\*\*", cost)
        if told_worst and known.different > 1:
            assert (0 if told_worst[1] == "none" else int(told_worst[1])) == len(worst), text
        elif told_worst:
            assert (told_worst[2] is None) == bool(worst)
        _largest_is_right(cost, known)


def _ranges_are_right(sentence, known):
    """Each value of the axis is told under what holds there, and nowhere else."""
    axis = "epsilon" if len(known.cells) == 6 else "n"
    for part in re.split(r"; |, (?=Inv|MLE)", re.sub(r".*\*\*(.*)\*\*", r"\1", sentence)):
        names = {name for name, shown in SHOWN.items() if shown in part}
        for means, cell in zip(known.means, known.cells, strict=False):
            best, possible = meaning(means, known.error, len(known.cells), known.settings.seeds)
            value = getattr(cell, axis)
            inside = " at every " in part
            for place in re.findall(r"(?:ε|N) (?:=|≤|≥|from) [\d.,]+(?: to [\d.,]+)?", part):
                ends = numbers(place)
                inside |= (
                    ends[0] <= value <= ends[-1]
                    if "=" in place or "from" in place
                    else (value <= ends[0] if "≤" in place else value >= ends[0])
                )
            if not inside:
                continue
            if "too close" in part:
                assert possible != best, sentence
            elif "equal" in part:
                assert len(best) == 3, sentence
            else:
                assert {VALID[i] for i in best} == names, sentence
                assert possible == best, sentence


def _largest_is_right(text, known):
    """By how much MLE* is surely above the smallest, at most; and in the middle."""
    largest = max((ratio for ratio, _ in known.behind), default=None)
    assert ("nowhere surely above the smallest" in text) == (largest is None), text
    assert ("nowhere surely 0.5% above" in text) == (largest is not None and largest < 1.005), text
    told = re.search(r"(?:up to|is) (?:about )?\**([\d.,]+|infinitely many) times\** the smallest", text)
    if told and largest is not None:
        assert math.isinf(largest) if told[1].startswith("inf") else about(numbers(told[1])[0], largest), text
        assert ("leaving out what is too close" in text) == bool(known.open)
    usual = re.search(r"typically (?:about )?([\d.,]+) times", text)
    if usual:
        assert about(numbers(usual[1])[0], float(np.median(known.ratios))), text


@holds("MLE*’s is nowhere surely above it")
@recomputes(experiments_curves.curves_reading)
def test_the_curves_count_what_their_numbers_mean(many):
    for known in sweeps(many):
        drawn = select_curves(known.result, default_selection(known.result.sweep))
        if not drawn.n_completed or drawn.n_completed != known.done:
            continue
        text = experiments_curves.curves_reading(drawn)
        counts = [*known.alone.values(), *(one for one in (known.shared, known.open, known.equal) if one)]
        head, end = text.split(". MLE*’s", 1) if ". MLE*’s" in text else text.split(". The smallest is 0", 1)
        tells(head, *([known.done] if known.done > 1 else []), *counts)
        assert ("two share it" in head, "too close" in head, "all equal" in head) == tuple(
            map(bool, (known.shared, known.open, known.equal))
        )
        largest = max((ratio for ratio, _ in known.behind), default=1.0)
        if not known.behind:
            assert end == " is nowhere surely above it."
        elif largest < 1.005:
            assert end == " is nowhere surely 0.5% above it."
        elif math.isinf(largest):
            assert "where MLE*’s is not (" in end
        else:
            assert about(numbers(end)[0], largest), text
        choice = replace(drawn.selection, metric="nll", measure="excess")
        text = experiments_curves.curves_reading(select_curves(known.result, choice))
        # As `tests.core.sweeps` makes them: ten times the means, in the opposite order.
        above = [10 * max(mean[i] - mean[0] for mean in known.means) for i in (2, 1)]
        told = text[text.index("alone or shared") :]
        tells(told, *(1e-12 if one <= 1e-12 else one for one in above if one > 0))
        assert told.count("is the same") == sum(one <= 1e-12 for one in above)
        two = replace(THREE, estimators=("inv_n", "inv_p"))
        lacking = made(known.cells, [mean[:2] for mean in known.means], 0.1, two)
        drawn = select_curves(lacking, default_selection(lacking.sweep))
        tells(experiments_curves.curves_reading(drawn), known.done)


@recomputes(experiments_map.map_reading, experiments_map.hover_text)
def test_the_map_and_its_cells_count_what_their_numbers_mean(many):
    rng, cells = np.random.default_rng(32), over(s=1.0, k=10, epsilon=(1.0, 2.0, 3.0), n=(100, 1000))
    for i in range(many):
        error = float(rng.choice([1e-6, 0.1, 5.0]))
        means = [random_means(rng) for _ in range(i % 7)]
        if i % 11 == 0:
            means = [(1.0, 3.0, 1.0004)] * 6
        found = winner_map(made(cells, means, error), "eps-n", "mse", {})
        text = experiments_map.map_reading(found)
        if not means:
            tells(text, 1.0, 10, 6)
            continue
        lost, alone, shared, equal, hatched = [], dict.fromkeys(VALID, 0), 0, 0, 0
        for mean in means:
            best, possible = meaning(mean, error, 6)
            equal += len(best) == 3
            if len(best) < 3:
                lost += [mean[2] / min(mean) if min(mean) else math.inf] if 2 not in possible else []
                hatched += possible != best
                shared += possible == best and len(best) == 2
                if possible == best and len(best) == 1:
                    alone[VALID[best.pop()]] += 1
        counts = [
            alone["inv_p"],
            alone["inv_n"],
            alone["mle_star"],
            *(one for one in (shared, equal, hatched) if one),
        ]
        head, cost = text.split(". MLE* loses", 1)
        tells(head, 1.0, 10, len(means), *counts)
        assert ("run so far" in head) == (len(means) < 6)
        largest = max(lost, default=1.0)
        if not lost:
            assert cost == " in none of them."
        elif math.isinf(largest):
            tells(cost.replace("may be zero", ""), len(lost))
        elif largest < 1.005:
            tells(cost, len(lost), 0.5 / 100)
        else:
            assert numbers(cost)[0] == len(lost)
            assert about(numbers(cost)[1], largest), text
        for spot in found.map_cells:
            hover = experiments_map.hover_text(found, spot)
            if "not run yet" in hover:
                continue
            mean = means[cells.index(spot.cell)]
            _, ranks = hover.split("Best / worst of the ")
            assert ranks.startswith("40 collections:")
            # As `tests.core.sweeps` makes them: best in 0, 1, 2 of them, worst in 0, 10, 20, and four tied.
            assert "InvN 0 / 0, InvP 1 / 10, MLE* 2 / 20<br>all equal in 4" in ranks
            for name, value in zip(VALID, mean, strict=True):
                (shown,) = re.findall(
                    rf"<b>{re.escape(SHOWN[name])}</b> ([\d.]+)", hover[hover.index("Squared") :]
                )
                assert float(shown) == pytest.approx(value, rel=5.1e-4)


@recomputes(words.agreement_in_words, words._by_chance, words._by_ratio)
def test_two_runs_agree_as_far_as_their_numbers_do(many):
    rng, cells = np.random.default_rng(31), GRIDS["users"]
    for i in range(max(many, 60)):
        same = i % 3 == 0
        settings = replace(THREE, people="rounded") if same else THREE
        error = float(rng.choice([0.001, 0.1, 1.0]))
        first = made(cells, [tuple(1 + rng.random(3)) for _ in cells], error, settings)
        other = replace(
            settings, seed=2 if i % 2 else settings.seed, users="sampled" if i % 7 == 5 else settings.users
        )
        means = [tuple(1 + rng.random(3) * rng.choice([1, 30])) for _ in cells]
        if i % 4 == 0:
            means = [tuple(cell.mean[0] * (1 + 0.004 * rng.random(3))) for cell in first.cells]
        if i % 10 == 0:
            means, other = [tuple(cell.mean[0]) for cell in first.cells], settings
        second = made(cells, means, error, other)
        text = words.agreement_in_words(agreement(first, second, "mse"), first, second)
        a, b = (np.array([cell.mean[0] for cell in run.cells]) for run in (first, second))
        if i % 10 == 0:
            assert text.startswith(
                "**The same, bit for bit**: 2 cells in common, equal settings, equal numbers."
            )
            continue
        tells(text.split(". ")[0], 2, 6)
        rest = text.split("compared. ", 1)[1]
        if "standard errors" in rest:
            far = np.abs(a - b) / (error / 2 * math.sqrt(2))
            beyond = 6 * 2 * stats.t.sf(3, 78)
            place = rest[rest.index("(") : rest.index(")") + 1]
            largest = float(far.max())
            plain = rest.replace(place, "").replace(
                " Both see the same first 40 collections", " Both see the same"
            )
            tells(plain, largest, int((far > 3).sum()), 3, beyond)
            assert ("**1** is beyond" in rest) == (int((far > 3).sum()) == 1)
            cell, name = np.unravel_index(far.argmax(), far.shape)
            assert SHOWN[VALID[name]] in place
            assert f"N = {cells[cell].n:,}" in place
            assert ("Both see the same first 40 collections" in rest) == (other.seed == settings.seed)
            continue
        ratios = np.maximum(a, b) / np.minimum(a, b)
        assert ("fixed users and the other about their population" in rest) == (other.users != settings.users)
        if ratios.max() < 1.005:
            assert rest.endswith("here by less than 0.5%.")
            continue
        middle = float(np.median(ratios))
        place = rest[rest.index("(") : rest.index(")") + 1]
        cell, name = np.unravel_index(ratios.argmax(), ratios.shape)
        assert SHOWN[VALID[name]] in place
        assert f"N = {cells[cell].n:,}" in place
        plain = rest.replace(place, "")
        if middle < 1.005:
            tells(plain, float(ratios.max()), 1)
        else:
            tells(plain, float(ratios.max()), middle)
    once = replace(THREE, seeds=1)
    alone = (
        made(cells, [(1, 2, 3)] * 2, math.nan, once),
        made(cells, [(1, 2, 3)] * 2, math.nan, replace(once, seed=2)),
    )
    tells(words.agreement_in_words(agreement(*alone, "mse"), *alone), 2)
    apart = alone[0], made(over(k=3, epsilon=1, n=10), [(1, 2, 3)])
    assert "**no cell in common**" in words.agreement_in_words(agreement(*apart, "mse"), *apart)


def test_two_means_without_spread_that_differ_are_infinitely_far_apart():
    settings = replace(THREE, people="rounded")
    one, other = (
        made(GRIDS["one"], [means], 0.0, replace(settings, seed=seed))
        for seed, means in ((1, (1, 2, 3)), (2, (1, 2, 4)))
    )
    text = words.agreement_in_words(agreement(one, other, "mse"), one, other)
    assert "**infinitely many standard errors**" in text
    assert " inf " not in text
    assert "*inf " not in text


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "none"),
        (0.9999, "99.99%"),
        (0.99991, "more than 99.99%"),
        (1.0, "100.00%"),
        (1e-4, "0.01%"),
        (9e-5, "less than 0.01%"),
    ],
)
def test_a_rate_is_not_rounded_over_its_border(share, shown):
    assert words._rate(share) == shown


@holds("MLE*’s is nowhere surely 0.5% above it")
def test_hardly_behind_is_not_told_as_one_time():
    """InvN surely ahead of MLE*, by four in a thousand."""
    result = made(GRIDS["line"], [(1, 3, 1.004)] * 6)
    drawn = select_curves(result, default_selection(result.sweep))
    assert "MLE*’s is nowhere surely 0.5% above it" in experiments_curves.curves_reading(drawn)
    grid = over(s=1.0, k=10, epsilon=(1.0, 2.0), n=(100, 1000))
    found = winner_map(made(grid, [(1, 3, 1.0004)] * 4), "eps-n", "mse", {})
    assert "MLE* loses in 4, by less than 0.5% of the smallest error" in experiments_map.map_reading(found)
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
    for known in sweeps(many):
        if math.isnan(known.error):
            continue
        stand = standing(known.result, "mse", 1.5)
        text = words._wins(stand)
        rest = [one for one in (known.shared, known.open) if one]
        equal = [known.equal] if known.equal else []
        if not known.different:
            assert text == words._of_closeness(stand) == "The three are equal in every cell."
            continue
        tells(text, known.different, *equal, *known.alone.values(), *rest)
        close = words._of_closeness(stand)
        if not known.shared and not sum(known.alone.values()):
            assert close == "The collections settle in no cell which of the three is best."
            continue
        by_means = close[close.index("By the means") :]
        middle = float(np.median(known.ratios))
        near = sum(ratio <= 1.5 * (1 + 1e-9) for ratio in known.ratios)
        shown = [] if middle < 1.005 or math.isinf(middle) else [middle]
        tells(by_means, *shown, 1.5, near, known.different)
        assert ("hardly above" in by_means) == (middle < 1.005)
        largest = max((ratio for ratio, _ in known.behind), default=None)
        head = close[: close.index("By the means")]
        assert ("nowhere surely above the smallest. " in head) == (largest is None)
        assert ("by 0.5% or more" in head) == (largest is not None and largest < 1.005)
        if largest is not None and largest >= 1.005:
            assert ("infinitely" in head) == math.isinf(largest)
            assert math.isinf(largest) or about(numbers(head)[0], largest), head


@recomputes(words._of_collections, words._of_nll, words._likeness)
def test_single_collections_and_the_evenness_of_a_file_are_told(many):
    rng = np.random.default_rng(34)
    for i in range(many):
        total = int(10 ** rng.uniform(0, 6))
        worst = float(rng.choice([0, 0.5, total / 3 // 0.5 / 2, total]))
        found = Collections(total, min(worst, total), int(rng.integers(0, total + 1)))
        text = words._of_collections(found, Count(3, 1, 0, 0, ()))
        share = found.against / total
        rate = (
            []
            if share == 0
            else [lambda told, s=share: abs(told - s) <= 0.00005001 or told in (0.0001, 0.9999)]
        )
        tells(text, 3, 4, 1, *rate, total)
        assert ("in none of" in text) == (share == 0)
        fits = words._of_collections(Collections(total, float(i % 3), 1 % (total + 1)), None)
        tells(fits, i % 3, total, 1 % (total + 1))
        cell = made(GRIDS["one"], [(1, 2, 3)]).cells[0]
        even = float(rng.uniform(1 / cell.cell.k, 1))
        file = replace(cell, concentration=even, cell=replace(cell.cell, dist="weights:abc", s=0.0))
        said = words._likeness(file)
        tells(
            said.replace(
                " those of Zipf with 10,000 categories to 0.0001 (s = 0.01), 0.094 (s = 1.3) and 0.58 (s = 2.5).",
                "",
            ),
            even,
            CONCENTRATED,
            1 / even,
            NEAR_UNIFORM,
        )
    for s, told in ((0.01, 0.0001), (1.3, 0.094), (2.5, 0.58)):
        assert reads(told, float((zipf(10_000, s) ** 2).sum()), 2)
    for beaten in (0, 3):
        result = made(GRIDS["grid"], [(1, 2, 3)] * 6)
        result.cells[0].beaten.flags.writeable = True
        result.cells[0].beaten[1, 2] = beaten
        result = result if beaten else made(GRIDS["grid"], [(1, 2, 3)] * 6)
        text = words._of_nll(result)
        drawn = 6 * 40
        tells(text.split("MLE*", 1)[1], *([beaten, drawn, 6 * 5] if beaten else [drawn]))
    once = made(GRIDS["one"], [(1, 2, 3)], math.nan, replace(THREE, seeds=1))
    assert "**in the one collection**" in words._of_nll(once)


@recomputes(words._of_fall, words._of_growth)
def test_slopes_are_told_with_their_middle_and_ends(many):
    rng = np.random.default_rng(35)
    for _ in range(many):
        found, ends = [], []
        for name in ("inv", "inv_p", "mle_star"):
            last = np.round(rng.uniform(-2, 2.4, int(rng.integers(1, 5))), 3) + 0.0003
            found.append(Slopes("n", name, tuple(map(str, range(last.size))), last, last, 40))
            ordered = sorted(last)
            middle = (ordered[(last.size - 1) // 2] + ordered[last.size // 2]) / 2
            ends += [middle, *([ordered[0], ordered[-1]] if last.size > 1 else [])]
        shown = [lambda told, v=v: abs(told - v) <= 0.005001 for v in ends]
        fall = words._of_fall(tuple(found))
        tells(fall, *shown)
        assert "it is a theorem" in fall
        count = some_count(rng)
        total = count.yes + count.no + count.undecided
        growth = (
            words._of_growth(tuple(found), count)
            .replace("K² once", "K once")
            .replace("(1: in proportion)", "")
        )
        counts = [one for one in (count.no, count.yes, count.undecided) if one]
        tells(growth, total, 1.1, *counts, *shown)


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
