"""What a sweep shows, in sentences: the paper's claims beside it, its answer, and whether two runs agree.

All numbers and verdicts come from `rr_core.experiments`; here they are only put into words.
"""

from __future__ import annotations

import math

import numpy as np

from rr_core.data import read_toml
from rr_core.experiments import claims, ranking
from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import POINT, Cell
from rr_core.experiments.run import SweepResult
from rr_core.registry import LABELS, VALID
from rr_core.rounding import counted, number
from rr_core.words.phrases import (
    SYMBOLS,
    capital,
    cell_name,
    listed,
    minus,
    population_name,
    practically_equal,
    roughly,
    roughly_times,
    times,
)

WORDS = read_toml("experiments.toml")
_EQUAL = "The three are equal in every cell."

SHAPES_EXPLAINED = (
    f"not near uniform, and the squared shares sum to {claims.CONCENTRATED:g} or more (Zipf s = 2.5: 0.58; "
    "s = 1.3: 0.09 to 0.15)",
    f"as even as {claims.NEAR_UNIFORM:g} K or more equally common categories, by the same sum",
)
"""What "concentrated" and "near uniform" mean, within a sentence."""


def paper_says(claim: claims.PaperClaim) -> str:
    """The claim as a sentence, as the paper makes it of these populations."""
    found, key = claim.evidence, claim.key
    if isinstance(found, claims.BestOfPopulation) and key == "best_of_population":
        return f"{_population(found)}: {_expected(found)}."
    is_real = isinstance(found, claims.DistanceFromBest) and found.uploaded
    return str(WORDS["paper"]["close_real" if is_real else key])


def evidence(claim: claims.PaperClaim) -> str:
    """The numbers behind the verdict, in sentences."""
    found, count = claim.evidence, claim.count
    match found:
        case claims.Collections():
            return _of_collections(found, count)
        case claims.BestOfShape():
            assert count is not None
            return _of_shape(found, count)
        case claims.DistanceFromBest():
            return _of_closeness(found.standing)
        case claims.BestOfPopulation():
            assert count is not None
            if claim.key == "kosarak":
                return _surely_best("InvP", count) if count.total else _wins(found.standing)
            return _of_population(found, count)
        case (claims.HigherNll(), *_):
            return " ".join(_of_fit(one) for one in found if isinstance(one, claims.HigherNll))
        case (claims.Slopes(), *_):
            each = tuple(one for one in found if isinstance(one, claims.Slopes))
            return _of_growth(each, count) if count is not None else _of_fall(each)
    return "No cells of this sweep, or too few, bear on it."


def _of_collections(found: claims.Collections, count: ranking.Count | None) -> str:
    """In how many collections MLE* is the worst, and cells (``count``); without, where another fits better."""
    if count is not None:
        return (
            f"{_answers(count, 'MLE* is surely not the worst', 'it surely is')} In single collections it is the worst in "
            f"{_rate(found.against / found.total)} of {found.total:,}."
        )
    return (
        f"InvN or InvP had a lower one in {found.against:,.0f} of {counted(found.total, 'collection')}; in "
        f"{found.tied:,} all three tied. MLE* is the maximum likelihood, so this checks the computation more than the "
        "claim."
    )


def _of_shape(found: claims.BestOfShape, count: ranking.Count) -> str:
    name, rival = LABELS[found.estimator], LABELS[found.rival]
    text = (
        f"{_answers(count, f'{name} is surely best', 'surely another')} Against {rival} alone: surely better in "
        f"{found.against_rival.yes}, surely worse in {found.against_rival.no}."
    )
    if count.exceptions:
        users, budgets = ([getattr(cell, axis) for cell in count.exceptions] for axis in ("n", "epsilon"))
        text += (
            f" The exceptions lie at N = {_span(min(users), max(users), ',')} and "
            f"ε = {_span(min(budgets), max(budgets), 'g')}."
        )
    return text


def _of_fall(found: tuple[claims.Slopes, ...]) -> str:
    proof = (
        "Inv's is exactly a constant divided by N, and InvP is never farther from the truth than Inv: for these two it "
        "is a theorem. "
        if claims.is_proved(found)
        else ""
    )
    return f"{proof}Slopes between the two largest N, by the means, the middle one first: {_slopes(found)}."


def _of_growth(found: tuple[claims.Slopes, ...], count: ranking.Count) -> str:
    rest = ((count.no, "surely above"), (count.yes, "surely not"), (count.undecided, "not settled"))
    return (
        f"The paper's proof rests on a misprint: Inv's error grows like K² once K is well above eᵋ. Of "
        f"{counted(count.total, 'slope')} between the two largest K (1: in proportion), above "
        f"{1 + claims.SLOPE_TOLERANCE:g}: {', '.join(f'{words} in {number}' for number, words in rest if number)}. By "
        f"the means, the middle one first: {_slopes(found)}."
    )


def _slopes(found: tuple[claims.Slopes, ...]) -> str:
    """The median and the range of the slopes of every estimator, in words."""
    parts = []
    for one in found:
        low, middle, high = (minus(f"{slope:.2f}") for slope in np.quantile(one.last, (0, 0.5, 1)))
        spread = f" (from {low} to {high})" if len(one.groups) > 1 else ""
        parts.append(f"{LABELS[one.estimator]} {middle}{spread}")
    return ", ".join(parts)


def _rate(share: float) -> str:
    """A share of single collections as text; a collection with two worst estimators counts half for each."""
    if share == 0:
        return "none"
    if share < 1e-4:
        return "less than 0.01%"
    return f"{share:.2%}" if share == 1 or share <= 0.9999 else "more than 99.99%"


def _answers(count: ranking.Count, yes: str, no: str) -> str:
    """In how many cells the answer is yes, and in how many no."""
    if not count.total:
        cells = f"all {count.equal:,} cells" if count.equal > 1 else "the only cell"
        return f"The three are equal in {cells}."
    rest = ((count.no, no), (count.undecided, "it is too close to call"))
    parts = [
        f"In {count.yes} of {counted(count.total, 'cell')} {yes}",
        *(f"in {n} {what}" for n, what in rest if n),
    ]
    equal = f" In {count.equal} more the three are equal." if count.equal else ""
    return f"{', '.join(parts)}.{equal}"


def _span(low: float, high: float, form: str) -> str:
    first, last = format(low, form), format(high, form)
    return first if first == last else f"{first} to {last}"


def _population(found: claims.BestOfPopulation) -> str:
    """The population, and how the paper calls those of its shape."""
    cell, shape = found.cell.cell, found.shape
    called = WORDS["shapes"]["uploaded" if cell.uploaded else "simulated"][shape]
    if cell.dist == POINT:
        called = "drawn in the place of s = 5"
    return f"{capital(population_name(cell))}, {called}"


def _expected(found: claims.BestOfPopulation) -> str:
    if found.shape == "moderate":
        return str(WORDS["alternating"]["uploaded" if found.cell.cell.uploaded else "simulated"])
    return f"{'InvP' if found.shape == 'concentrated' else 'InvN'} is best"


def _of_population(found: claims.BestOfPopulation, count: ranking.Count) -> str:
    text = _wins(found.standing)
    if found.shape == "moderate":
        text += _alternating(count)
    elif count.total:
        text += f" {_surely_best('InvP' if found.shape == 'concentrated' else 'InvN', count)}"
    return text + _likeness(found.cell)


def _surely_best(name: str, count: ranking.Count) -> str:
    return f"{name} is best, alone or with another, in {count.yes}; surely not in {count.no}."


def _wins(stand: ranking.Standing) -> str:
    """In how many cells each estimator has significantly the smallest mean."""
    if not stand.n_different:
        return _EQUAL
    each = ", ".join(f"{LABELS[name]} in {wins}" for name, wins in stand.n_best.items())
    rest = [f"two share it in {stand.n_shared}"] if stand.n_shared else []
    rest += [f"too close to call in {stand.n_unsettled}"] if stand.n_unsettled else []
    equal = f" (in {stand.n_equal} more they are equal)" if stand.n_equal else ""
    return f"Smallest mean, in {counted(stand.n_different, 'cell')}{equal}: {', '.join([each, *rest])}."


def _alternating(count: ranking.Count) -> str:
    if not count.total:
        return ""
    more = f" Of the two, InvP is surely better in {count.yes}, InvN in {count.no}."
    return f"{more} That they change places is not seen here." if bool(count.yes) != bool(count.no) else more


def _likeness(cell: CellResult) -> str:
    """For a histogram from outside, how concentrated it is beside the paper's populations."""
    if not cell.cell.uploaded:
        return ""
    return (
        f" Its squared shares sum to {cell.concentration:.2g} (from {claims.CONCENTRATED:g} on it is called concentrated "
        "here); those of Zipf with 10,000 categories to 0.0001 (s = 0.01), 0.094 (s = 1.3) and 0.58 (s = 2.5). It is as "
        f"even as {1 / cell.concentration:,.3g} equally common categories (near uniform: from {claims.NEAR_UNIFORM:g} K "
        "on)."
    )


def _of_closeness(stand: ranking.Standing) -> str:
    if not stand.n_different:
        return _EQUAL
    if not stand.n_settled:
        return "The collections settle in no cell which of the three is best."
    middle = "hardly above" if practically_equal(stand.median_ratio) else times(stand.median_ratio)
    near = (
        f"By the means it is {middle} the smallest in the middle cell, and at most {claims.CLOSE:g} times in "
        f"{stand.n_close} of {stand.n_different}."
    )
    largest = "Its mean error is nowhere surely above the smallest."
    if stand.worst_cell is not None:
        largest = (
            f"Its mean error is up to {roughly_times(stand.worst_ratio)} the smallest{where_settled(stand)} "
            f"(for {cell_name(stand.worst_cell)})."
        )
        if practically_equal(stand.worst_ratio):
            largest = "Its mean error is nowhere surely above the smallest by 0.5% or more."
    return f"{largest} {near}"


def where_settled(stand: ranking.Standing) -> str:
    """The words that restrict a largest ratio to the settled cells, where there are others; else ""."""
    return ", leaving out what is too close to call" if stand.n_unsettled else ""


def _of_fit(found: claims.HigherNll) -> str:
    sentence = f"{LABELS[found.estimator]}'s is surely higher in {found.n_higher} of {found.n_cells}"
    if found.cell is not None:
        sentence += f", by up to about {found.largest:.2g} nats per report (for {cell_name(found.cell)})"
    return f"{sentence}."


_MOST_RANGES = 5  # ranges of one axis that a sentence can hold


def answer_in_words(result: SweepResult, metric: str) -> str:
    """Which estimate has the smallest error in a sweep, and what MLE* costs, as markdown; empty where no cell is done,
    or one of the three valid estimates or the error was left out."""
    if not claims.has_errors(result, metric, *VALID):
        return ""
    return _of_nll(result) if metric == "nll" else _of_mse(result)


def _of_mse(result: SweepResult) -> str:
    stand, head = ranking.standing(result, "mse"), _head(result)
    if not stand.n_different:
        return f"{head} **the errors of the three are equal**."
    if not stand.n_settled:
        return f"{head} {_unsettled(result, stand)}"
    axis = ranking.varying_axis(result.sweep.cells)
    ranges = _ranges(result, axis) if axis else ""
    return f"{head} {ranges or _counts(stand)} {_cost(result, stand, axis)}".rstrip()


def _head(result: SweepResult) -> str:
    """The populations that the answer is about: all of the sweep, even if a figure shows some of them."""
    done, cells = len(result.cells), result.sweep.cells
    if not result.finished:
        return f"In the {done:,} of {counted(len(cells), 'setting')} run so far:"
    axis = ranking.varying_axis(cells)
    if axis:
        low, high = (_written(axis, end(getattr(cell, axis) for cell in cells)) for end in (min, max))
        return f"At all {len(cells)} values of {SYMBOLS[axis]} from {low} to {high}:"
    if len(cells) == 1:
        return "In this one setting:"
    populations = len({(cell.dist, cell.s) for cell in cells})
    return f"In all {len(cells):,} settings of this sweep ({counted(populations, 'population')}):"


def _unsettled(result: SweepResult, stand: ranking.Standing) -> str:
    seeds = result.sweep.settings.seeds
    if seeds == 1:
        return "one collection per setting cannot tell which estimate is best on average."
    more = f" (in {stand.n_equal:,} more the three are equal)" if stand.n_equal else ""
    where = (
        f"any of {stand.n_different:,} settings"
        if stand.n_different > 1
        else "the one setting where they differ"
    )
    return (
        f"{seeds:,} collections per setting do not settle which estimate is best on average in {where}{more}."
    )


def _ranges(result: SweepResult, axis: ranking.SweepAxis) -> str:
    """Who is best at which values of the only axis; empty where it changes too often for a sentence."""
    found: dict[tuple[str, ...], list[str]] = {}
    for interval in ranking.leader_intervals(result, "mse", axis):
        found.setdefault(interval.best, []).append(_range(axis, interval))
    if sum(map(len, found.values())) > _MOST_RANGES:
        return ""
    leads = [names for names in found if 0 < len(names) < len(VALID)]
    has = f" {'has' if len(leads[0]) == 1 else 'share'} the smallest squared error"
    best = ", ".join(
        f"{' and '.join(LABELS[name] for name in names)}{has if names == leads[0] else ''} at {listed(found[names])}"
        for names in leads
    )
    rest = [f"too close to call at {listed(found[()])}"] if () in found else []
    rest += [f"the three are equal at {listed(found[VALID])}"] if VALID in found else []
    return f"on average **{best}**{''.join(f'; {one}' for one in rest)}."


def _range(axis: ranking.SweepAxis, interval: ranking.LeaderInterval) -> str:
    symbol, first, last = SYMBOLS[axis], _written(axis, interval.first), _written(axis, interval.last)
    if interval.at_lower_end and interval.at_upper_end:
        return f"every {symbol}"
    if first == last:
        return f"{symbol} = {first}"
    if interval.at_lower_end or interval.at_upper_end:
        return f"{symbol} ≤ {last}" if interval.at_lower_end else f"{symbol} ≥ {first}"
    return f"{symbol} from {first} to {last}"


def _counts(stand: ranking.Standing) -> str:
    wins = sorted(stand.n_best.items(), key=lambda pair: -pair[1])
    if stand.n_completed == 1 and not stand.n_shared:
        return f"on average **{LABELS[wins[0][0]]} has the smallest squared error**."
    each = [f"{LABELS[name]} in {count:,}" for name, count in wins if count]
    if each:
        each[0] = f"{LABELS[wins[0][0]]} has the smallest squared error in {counted(wins[0][1], 'setting')}"
    if never := [name for name, count in wins if not count]:
        each.append(f"{listed([LABELS[name] for name in never])} in none")
    rest = []
    if stand.n_shared:
        rest.append(f"in {stand.n_shared:,} two share it")
    if stand.n_unsettled:
        rest.append(f"{stand.n_unsettled:,} {'is' if stand.n_unsettled == 1 else 'are'} too close to call")
    if stand.n_equal:
        rest.append(f"in {stand.n_equal:,} the three are equal")
    more = f"; {', '.join(rest)}" if rest else ""
    return f"on average **{', '.join(each)}**{more}."


def _cost(result: SweepResult, stand: ranking.Standing, axis: ranking.SweepAxis | None) -> str:
    """Whether MLE* is ever the worst, and its error over the smallest; "" where it is surely the best."""
    if stand.n_best["mle_star"] == stand.n_different:
        return ""
    count, size = ranking.never_worst(result, "mse", "mle_star"), _size(stand, axis)
    if not count.yes and not count.no:
        return f"MLE*'s error is {size}."
    worst = f"the worst in {count.no:,}" if count.no else "the worst in none"
    if stand.n_different == 1:
        worst = "the worst" if count.no else "not the worst"
    open_ = f" ({count.undecided:,} too close to call)" if count.undecided else ""
    return f"MLE* is **{worst}**{open_}. Its error is {size}."


def _size(stand: ranking.Standing, axis: ranking.SweepAxis | None) -> str:
    if stand.worst_cell is None:
        return "nowhere surely above the smallest"
    if practically_equal(stand.worst_ratio):
        return "nowhere surely 0.5% above the smallest"
    prefix = "" if math.isinf(stand.worst_ratio) else "about "
    largest = f"{prefix}**{roughly(stand.worst_ratio)}** the smallest{where_settled(stand)}"
    if axis:
        largest += f" (at {SYMBOLS[axis]} = {_written(axis, getattr(stand.worst_cell, axis))})"
    if stand.n_different == 1:
        return largest
    usual = "hardly above it" if practically_equal(stand.median_ratio) else roughly_times(stand.median_ratio)
    return f"typically {usual}, and up to {largest}"


def _of_nll(result: SweepResult) -> str:
    """The answer for the negative log-likelihood, which compares single collections; so there is nothing to test."""
    claim, drawn = claims.mle_lowest_nll(result), sum(cell.seeds for cell in result.cells)
    if claim.verdict != "holds":
        return f"{_head(result)} MLE* does **not always have the lowest** negative log-likelihood. {evidence(claim)}"
    each = f"all {drawn:,} collections" if drawn > 1 else "the one collection"
    return (
        f"{_head(result)} MLE* has the lowest negative log-likelihood **in {each}**, alone or tied, as the maximum "
        "likelihood must."
    )


def _written(axis: ranking.SweepAxis, value: float) -> str:
    return f"{value:,.0f}" if axis in ("n", "k") else f"{value:g}"


def agreement_in_words(found: ranking.Agreement, first: SweepResult, second: SweepResult) -> str:
    """Whether two runs agree, in a few sentences."""
    if not found.n_common:
        return "The two runs have **no cell in common**: there is nothing to compare."
    shared = f"{counted(found.n_common, 'cell')} in common"
    if found.identical:
        return f"**The same, bit for bit**: {shared}, equal settings, equal numbers."
    if not found.n_compared:
        return f"{shared}, but no standard errors: with one collection per cell nothing can be compared."
    return f"{shared}, {counted(found.n_compared, 'mean')} compared. " + (
        _by_chance(found, first, second) if found.same_users else _by_ratio(found, first, second)
    )


def _by_chance(found: ranking.Agreement, first: SweepResult, second: SweepResult) -> str:
    largest = "infinitely many" if math.isinf(found.largest_difference) else number(found.largest_difference)
    text = (
        f"The largest difference is **{largest} standard errors**"
        f"{_place(found.difference_cell, found.difference_estimator)}; **{found.n_beyond:,}** "
        f"{'is' if found.n_beyond == 1 else 'are'} beyond {ranking.FAR_STANDARD_ERRORS:g}, where chance alone would put "
        f"about {number(found.expected_beyond, 2)}."
    )
    if not found.same_collections:
        return text
    few = min(one.sweep.settings.seeds for one in (first, second))
    same = f"first {few:,} collections" if few > 1 else "first collection"
    return f"{text} Both see the same {same}, so they should differ by less than chance would have it."


def _by_ratio(found: ranking.Agreement, first: SweepResult, second: SweepResult) -> str:
    """Agreement of two runs with different users, by the ratio of their means."""
    why = "The two are about different users, drawn from the same populations, whose errors really differ"
    if first.sweep.settings.users != second.sweep.settings.users:
        why = "One is about fixed users and the other about their population: these are different errors"
    if practically_equal(found.largest_ratio):
        return f"{why}; here by less than 0.5%."
    typical = (
        "the middle ratio is 1"
        if practically_equal(found.median_ratio)
        else f"{times(found.median_ratio)} in the middle"
    )
    return (
        f"{why}. One mean is up to **{times(found.largest_ratio)}** the other"
        f"{_place(found.ratio_cell, found.ratio_estimator)}; {typical}."
    )


def _place(cell: Cell | None, estimator: str) -> str:
    if cell is None:
        return ""
    return f" ({LABELS[estimator]}, {cell_name(cell)})"
