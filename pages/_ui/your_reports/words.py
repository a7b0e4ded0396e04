"""The analysis in words, for the page and the report. Plain text: names from files are shortened here, and made safe
where they are shown. No Streamlit."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from pages._ui.your_reports import rows
from pages._ui.your_reports.results import LEAST, Results
from rr_core.comparison import ESTIMATORS, VALID
from rr_core.figures.labels import plain
from rr_core.figures.style import QUANTITIES, number, percent, whole
from rr_core.io import FileRead
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.epsilon_fit import FitTest
from rr_core.reports.intervals import too_few_reports
from rr_core.reports.nearest_estimate import LEAST_NOISE, SAME_WITHIN, STANDARD_ERRORS

_DOMAINS = {
    "seen": "all of them are in the files",
    "size": "their number is known",
    "listed": "given as a list",
}
_FROM = {"epsilon": "", "p": " (from p)", "redraw": " (from the chance of a uniform redraw)"}
_MOST_NAMED = 50
LEAST_CHANCE = 1e-300  # chances below it are rounded to zero somewhere
MISFIT = 0.05  # p-value up to which the stated epsilon is said not to fit


def estimator(found: Results) -> str:
    """The one that the report leads with: the one that is advised, but Inv where no category is told from zero.

    The other three can then be far more even than the truth.
    """
    return "inv" if nothing_above(found) else found.analysis.nearest.preferred


def advised(found: Results) -> str | None:
    """The estimator that `advice` names first; None where ε is to be settled first."""
    return None if misfits(found) else estimator(found)


def nothing_above(found: Results) -> bool:
    """Whether not a single category is told from zero."""
    return not found.analysis.above.above.any()


def analysed(found: Results) -> str:
    """What it is about, in one sentence."""
    used, mechanism = found.used, found.used.mechanism
    report = "after the swap of the two answers a report is" if used.said.swapped else "a report was"
    return (
        f"{reports(used.n)} over K = {mechanism.k:,} categories, collected with k-ary randomized response at "
        f"ε = {number(mechanism.epsilon, 6)}: {report} the truth with probability p = {truthful(mechanism, 6)}, and "
        f"each other category with q = {number(mechanism.q, 6)}."
    )


def truthful(mechanism: RandomizedResponse, digits: int) -> str:
    """p as text; what is short of 1 by little is written as 1 less that."""
    short, said = (mechanism.k - 1) * mechanism.q, number(mechanism.p, digits)
    return f"1 − {number(short, digits)}" if said == "1" and short > 0 else said


def answer(found: Results, name: str | None = None, *, simultaneous: bool = False) -> str:
    """The result in a few sentences: by Inv, and by the named estimator, or `estimator` when none is named."""
    used, analysis, name = found.used, found.analysis, name or estimator(found)
    counts = used.collected.counts
    top = int(counts.argmax())
    also = int((counts == counts[top]).sum()) - 1
    equal = f" (and {also:,} more with as many reports)" if also else ""
    inv, share = (float(analysis.estimates[key][top]) for key in ("inv", name))
    limits = rows.interval(found, simultaneous=simultaneous)
    low, high = float(limits.low[top]), float(limits.high[top])
    counted = found.target == "users" and inv <= 1
    whose = f"these {used.n:,} people" if used.n > 1 else "1 person"
    people = f", about {whole(inv * used.n):,.0f} of {whose}" if counted else ""
    fits = "ε that was stated" + (" with these categories" if used.collected.too_few else "")
    most = "The most reported after the swap" if used.said.swapped else "The most reported"
    beyond = "" if low - SAME_WITHIN <= share <= high + SAME_WITHIN else ", outside that interval"
    return (
        f"Of {used.mechanism.k:,} categories {_told(int(analysis.above.above.sum()))}. {most}, "
        f"“{plain(used.collected.labels[top], 60)}”{equal}, has a share of {percent(inv)} by Inv{people}; the "
        f"{found.level:.0%} interval of Inv, cut at 0 and 1, is {percent(low)} to {percent(high)}."
        + (f" {QUANTITIES[name].name} gives it {percent(share)}{beyond}." if name != "inv" else "")
        + (f" But the test below rejects the {fits}." if misfits(found) else "")
        + (f" {outside(found)}: see below." if used.collected.outside_total else "")
    )


def _told(above: int) -> str:
    if above == 0:
        return "none is told from zero: chance alone could explain each of them"
    return f"{above:,} {'is' if above == 1 else 'are'} told from zero"


def outside(found: Results) -> str:
    """How many reports name a category outside the domain; the beginning of a sentence."""
    total = found.used.collected.outside_total
    return f"{_many(total, 'report is', 'reports are')} left out"


def tested(found: Results) -> FitTest | None:
    """The test of epsilon, when it was not stopped so early that it says nothing."""
    test = found.simulated.fit if found.simulated is not None else None
    return test if test is not None and test.done >= LEAST else None


def misfits(found: Results) -> bool:
    """Whether the test was made and rejects the stated epsilon."""
    test = tested(found)
    return test is not None and test.rejects(MISFIT)


def fit(found: Results) -> list[str]:
    """Whether the stated epsilon fits the reports."""
    epsilon = f"ε = {number(found.used.mechanism.epsilon, 4)}"
    test = tested(found)
    one_sided = (
        "The test sees one direction only. Clearly fewer reports than N·q somewhere, or more than N·p, speak for less "
        "noise than stated; an ε stated too large looks like a flatter population, and these reports cannot tell the two "
        "apart. It is the same test whether you want the shares of these people or of their population."
    )
    if test is None:
        run = found.simulated.fit if found.simulated is not None else None
        why = f"stopped after {run.done:,} of {run.requested:,}" if run is not None else "not run"
        return [f"Whether {epsilon} fits these reports was not tested: the simulations were {why}."]
    level = (
        f"A category that nobody has is expected to get N·q = {number(test.floor)} reports; the fewest collected are "
        f"{test.lowest:,}. The test: p-value {number(test.p_value)}, from {test.done:,} simulated "
        f"collections that do fit.{_extreme(test)}"
    )
    if test.dropped == 0:
        return [
            f"Nothing in these reports speaks against {epsilon}: some population explains every count exactly.",
            one_sided,
        ]
    if not misfits(found):
        return [f"The test finds nothing against {epsilon}.", level, one_sided]
    if test.extremes.too_many:
        counts = found.used.collected.counts
        top = plain(found.used.collected.labels[int(counts.argmax())], 60)
        said = (
            f"The test rejects {epsilon}: “{top}” got {counts.max():,} reports, and no category is expected to "
            f"get more than N·p = {number(test.ceiling, max(4, len(str(counts.max()))))}."
        )
        return [f"{said}{_plausible(found)}{_too_many(found)}", level, one_sided]
    said = f"The test rejects {epsilon}: {_low(found, test)}."
    if few := found.used.collected.too_few:
        listed = found.used.said.domain == "listed"
        said += (
            f" If people could not choose {'it' if len(few) == 1 else 'them'}, ε need not be wrong: "
            f"{'take such names off the list' if listed else 'leave such names out'} under “Other reports or settings”. "
            "If they could, the stated ε is hardly right."
        )
    return [f"{said}{_plausible(found)}{_too_many(found)}", level, one_sided]


def _extreme(test: FitTest) -> str:
    """How rare so many, or so few, reports are."""
    said = ""
    for beyond, amount, chance in (
        (test.extremes.too_many, "many", test.extremes.most),
        (test.extremes.too_few, "few", test.extremes.fewest),
    ):
        if beyond:
            most = number(chance) if chance >= LEAST_CHANCE else number(LEAST_CHANCE)
            said += f" That any category gets so {amount} has a chance of {most} at most, whatever the population."
    return said


def _low(found: Results, test: FitTest) -> str:
    """The categories that are to blame; a single one only where its own count is too low."""
    few = found.used.collected.too_few
    if not few and not test.extremes.too_few:
        return (
            "the least reported categories, taken together, got fewer reports than its noise would bring them"
        )
    named = ", ".join(f"“{plain(label)}” ({count:,})" for label, count in few[:5]) or "some category"
    return (
        f"{named}{f' and {len(few) - 5:,} more' if len(few) > 5 else ''} got clearly fewer reports than N·q"
    )


def _plausible(found: Results) -> str:
    plausible = found.simulated.plausible if found.simulated is not None else None
    if plausible is None:
        return ""
    if plausible.none:
        return f" No ε up to {number(plausible.low)} was found under which the reports are plausible."
    rough = "" if plausible.finished else " (roughly: the search was stopped)"
    return f" The reports are plausible under ε of about {number(plausible.low, 4)}{rough}."


def _too_many(found: Results) -> str:
    """A domain that is too large looks like an epsilon that is too small."""
    used, empty = found.used, found.used.collected.unreported
    if not empty or used.mechanism.k == 2 or too_few_reports(used.n, used.mechanism):
        return ""
    return f" Or K is too large: {_many(empty, 'category', 'categories')} got no report at all."


def advice(found: Results) -> list[str]:
    """Which estimate to report, how much nearer to the truth it is than the others, and how that is known."""
    compared = found.analysis.nearest
    if misfits(found):
        first = "the names and ε" if found.used.collected.too_few else "ε"
        return [f"Settle {first} first: under a wrong one no estimate can be trusted."]
    if len(compared.same) == len(ESTIMATORS):
        four = _listed(ESTIMATORS, "and")
        if found.analysis.estimates["inv"].min() >= 0:
            return [f"Nothing came out negative, so {four} are the same: there is nothing to choose."]
        return [f"{four} agree to twelve decimals: there is nothing to choose."]
    if nothing_above(found):
        return [
            "Report Inv with its intervals, or no table at all: no category is told from zero.",
            *_measured(found),
            "The other three can miss large shares by far under so much noise.",
        ]
    best, tied = compared.preferred, compared.tied
    others = [name for name in tied if name != best]
    same = [name for name in others if name in compared.same and best in compared.same]
    if len(same) == len(VALID) - 1:
        said = f"Report {_listed(VALID, 'or')}: the three are the same here."
    elif len(others) == len(VALID) - 1:
        said = f"Report any of {_listed(VALID, 'and')}: which is nearest to the truth cannot be told here."
    elif others:
        which = "which is the same here" if same else "which cannot be told from it here"
        said = f"Report {_listed([best], 'and')}, or {_listed(others, 'or')}, {which}."
    else:
        rest = [name for name in VALID if name != best]
        said = (
            f"Report {_listed([best], 'and')}: it is estimated to be nearer to the truth than {_listed(rest, 'and')}, by "
            f"more than {STANDARD_ERRORS} standard errors."
        )
    return [
        said,
        *_measured(found),
        "Inv alone is unbiased: report it where its negative shares do no harm, and where estimates are added up.",
    ]


def _measured(found: Results) -> list[str]:
    """What is known of the distances from the truth: of the estimates that are told to be farther, or why none can be."""
    compared = found.analysis.nearest
    if not all(isfinite(error) for error in compared.standard_errors.values()):
        floor = found.used.n * found.used.mechanism.q
        why = (
            f"a category that nobody has is expected to get fewer than {LEAST_NOISE:g} report (N·q)"
            if floor < LEAST_NOISE
            else "the noise is expected to put Inv farther from the truth than any two distributions are apart"
        )
        return [f"How far the estimates are from the truth cannot be compared: {why}."]
    more = ", ".join(
        f"{QUANTITIES[name].name} {number(compared.differences[name])} "
        f"(± {number(compared.standard_errors[name], 2)})"
        for name in VALID
        if name not in compared.tied
    )
    if not more:
        return []
    whose = "these people" if found.target == "users" else "their population"
    return [
        f"Squared distance from the shares of {whose}, summed over categories, beyond that of "
        f"{_listed([name for name in compared.same if name != 'inv'], 'and')}: {more}. Both are estimated from these "
        "reports (Stein's method): the difference, and its standard error after the ±."
    ]


def _listed(names: Iterable[str], last: str) -> str:
    *first, end = (QUANTITIES[name].name for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end


def intervals(found: Results, name: str, *, simultaneous: bool = False) -> list[str]:
    """How to read the intervals beside an estimate."""
    used, level = found.used, found.level
    whose = (
        "these very people" if found.target == "users" else "the population that these people were drawn from"
    )
    k = used.mechanism.k
    hold = (
        f"The {level:.0%} intervals of all categories together are meant to hold their shares in {level:.0%} of "
        "collections; the columns of the CSV with _all hold them, those without are meant for one category each."
        if simultaneous
        else f"Each {level:.0%} interval is meant to hold its own share in {level:.0%} of collections, or in more when "
        "the share is 0 or 1. The columns with _all of the CSV hold those that are meant for all categories at once."
    )
    said = [
        f"The truth meant here is the shares among {whose}. {hold}",
        "They are the intervals of Inv, from the law of the reports, cut at 0 and 1: one that lies wholly below 0 "
        f"becomes 0. {repaired()}",
        f"Above zero: an exact test of each category, corrected for all {k:,} by Holm's method. With probability "
        f"{1 - found.analysis.above.level:.0%} at least, no category that nobody has is called above zero.",
    ]
    if warning := moved(found, name, simultaneous=simultaneous):
        said.append(warning)
    return [*said, *few(found)]


def few(found: Results) -> list[str]:
    """A warning where there are so few reports that intervals cannot keep their level."""
    used = found.used
    if not too_few_reports(used.n, used.mechanism, found.level):
        return []
    return [
        f"A category that nobody has is expected to get only {number(used.n * used.mechanism.q)} reports (N·q): with so "
        "few, reports are a coarse scale, and intervals can hold the truth more or less often than they say."
    ]


def repaired() -> str:
    """Whose interval it is."""
    return "InvN, InvP and MLE* have no interval of their own here."


def moved(found: Results, name: str, *, simultaneous: bool = False) -> str:
    """A warning when estimates lie outside the interval of Inv: the repair moved them; else ""."""
    limits, estimate = rows.interval(found, simultaneous=simultaneous), found.analysis.estimates[name]
    missed = int(((estimate < limits.low - SAME_WITHIN) | (estimate > limits.high + SAME_WITHIN)).sum())
    if name == "inv" or not missed:
        return ""
    return (
        f"For {missed:,} of {found.used.mechanism.k:,} categories {QUANTITIES[name].name} lies outside the interval of "
        "Inv: the repair moved it that far. Where it matters, use Inv there."
    )


def settings(found: Results) -> list[tuple[str, str]]:
    """Name and value of each setting."""
    used, read, mechanism = found.used, found.used.reports, found.used.mechanism
    columns = [plain(name) for name in (read.category_name, read.count_name) if name is not None]
    said = [
        ("Reports (N)", f"{used.n:,}"),
        ("Categories (K)", f"{mechanism.k:,}: {_DOMAINS.get(used.said.domain or '', 'as read')}"),
        ("ε", f"{mechanism.epsilon!r}{_FROM[used.said.privacy_kind]}"),
        ("p, q after the swap" if used.said.swapped else "p, q", f"{mechanism.p!r}, {mechanism.q!r}"),
        ("Level of the intervals", f"{found.level:.0%}"),
        ("Shares of", "these people" if found.target == "users" else "their population"),
        ("Rows", "one report each" if read.layout == "values" else "a category and its count"),
        ("Columns", ", ".join(columns)),
    ]
    said += [
        (f"File {i}", f"{plain(file.name, 80)}: {file_read(file)}") for i, file in enumerate(read.files, 1)
    ]
    said.append(("SHA-256", read.sha256))
    if found.simulated is not None:
        test = found.simulated.fit
        said.append(("Simulated collections", f"{test.done:,} of {test.requested:,}, seed 0"))
    return said


def left_out(found: Results, *, named: bool = True) -> list[str]:
    """What of the files is not in the analysis, counted and (if wanted) named, and what was assumed."""
    read, collected = found.used.reports, found.used.collected
    said = [
        f"{_many(dropped.rows, 'row', 'rows')} ({dropped.reason}), the first in line {dropped.first_line:,}"
        + (f" of {plain(dropped.file, 80)}" if dropped.file else "")
        for dropped in read.dropped
    ]
    if collected.outside:
        said.append(
            f"Reports outside the domain: {collected.outside_total:,}, of "
            f"{_many(len(collected.outside), 'category', 'categories')}"
            + (f": {_outside_named(found)}" if named else "")
        )
    if read.merged:
        said.append(
            f"{_many(read.merged, 'row', 'rows')} of a category that came before: added to its first row"
        )
    if collected.unreported:
        said.append(
            f"{_many(collected.unreported, 'category', 'categories')} without a report: part of the analysis"
        )
    return [*said, *(plain(note, 400) for note in (*read.notes, *collected.notes))]


def _outside_named(found: Results) -> str:
    every = found.used.collected.outside
    named = ", ".join(f"“{plain(label)}” ({count:,})" for label, count in every[:_MOST_NAMED])
    more = len(every) - _MOST_NAMED
    return named + (f", and {more:,} more, all in the JSON file" if more > 0 else "")


def file_read(file: FileRead) -> str:
    """What one file held."""
    return f"{_many(file.rows, 'row', 'rows')}, {reports(file.reports)}"


def reports(amount: int) -> str:
    return _many(amount, "report", "reports")


def _many(number_: int, one: str, more: str) -> str:
    return f"{number_:,} {one if number_ == 1 else more}"
