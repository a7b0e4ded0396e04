"""The analysis in words, for the page and the report. Plain text: names from files are shortened here, and made safe
where they are shown. No Streamlit."""

from __future__ import annotations

from pages._ui.your_reports import rows
from pages._ui.your_reports.results import LEAST, Results
from rr_core.collected.coverage import fall_short
from rr_core.collected.fit import FitTest
from rr_core.collected.held_out import FOLDS, HeldOut
from rr_core.collected.intervals import too_few
from rr_core.comparison import VALID
from rr_core.figures.labels import plain
from rr_core.figures.repeated import METRIC_TITLES
from rr_core.figures.style import QUANTITIES, number, percent

_DOMAINS = {
    "seen": "all of them are in the files",
    "size": "their number is known",
    "listed": "given as a list",
}
_FROM = {"epsilon": "", "p": " (from p)", "redraw": " (from the chance of a uniform redraw)"}
_MOST_NAMED = 50
HELD_OUT = "held_out"
MISFIT = 0.05  # p-value below which the stated epsilon is said not to fit


def estimator(found: Results) -> str:
    """The one that the report leads with: the best in simulation, else Inv, whose intervals need none.

    Inv leads too where no category is told from zero: MLE* can then be far more even than the truth, and simulations
    in which it is the truth favour the most even estimate.
    """
    return "inv" if found.sampled is None or nothing_above(found) else found.sampled.advice.preferred


def nothing_above(found: Results) -> bool:
    """Whether not a single category is told from zero."""
    return not found.analysis.above.above.any()


def analysed(found: Results) -> str:
    """What it is about, in one sentence."""
    used, mechanism = found.used, found.used.mechanism
    return (
        f"{used.n:,} reports over K = {mechanism.k:,} categories, collected with k-ary randomized response at "
        f"ε = {number(mechanism.epsilon, 6)}: a report was the truth with probability p = {number(mechanism.p, 6)}, and "
        f"each other category with q = {number(mechanism.q, 6)}."
    )


def answer(found: Results, name: str | None = None, *, simultaneous: bool = False) -> str:
    """The result in two sentences, and a third when epsilon does not fit; by `estimator` when no name is given."""
    used, analysis, name = found.used, found.analysis, name or estimator(found)
    top = int(used.collected.counts.argmax())
    share = float(analysis.estimates[name][top])
    ends = {
        key: f"{percent(float(limits.low[top]))} to {percent(float(limits.high[top]))}"
        for key, limits in rows.intervals(found, name, simultaneous=simultaneous).items()
    }
    inv = "" if name == "inv" else f"; of Inv {ends['inv']}, which holds the truth as often as it says"
    between = f" ({found.level:.0%} interval {ends[name]}{inv})" if name in ends else ""
    most = "The most reported after the swap" if used.said.swapped else "The most reported"
    return (
        f"Of {used.mechanism.k:,} categories {_told(int(analysis.above.above.sum()))}. {most}, "
        f"“{plain(used.collected.labels[top], 60)}”, has a share of {percent(share)}{between} by "
        f"{QUANTITIES[name].name}: about {round(share * used.n):,} people."
        + (" But these reports do not fit the ε that was stated: see below." if misfits(found) else "")
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
    return test is not None and test.p_value < MISFIT


def fit(found: Results) -> list[str]:
    """Whether the stated epsilon fits the reports."""
    epsilon = f"ε = {number(found.used.mechanism.epsilon, 4)}"
    test = tested(found)
    one_sided = (
        "The test sees one direction only. Fewer reports than N·q somewhere mean less noise than stated; an ε stated too "
        "large looks like a flatter population, and no data can tell."
    )
    if test is None:
        return [
            f"Whether {epsilon} fits these reports was not tested: the simulations were not run to their end."
        ]
    level = (
        f"A category that nobody has is expected to get N·q = {number(test.floor)} reports; the fewest collected are "
        f"{test.lowest:,}. The test: p-value {number(test.p_value)}, from {test.done:,} simulated "
        "collections that do fit."
    )
    if test.dropped == 0:
        return [
            f"Nothing in these reports speaks against {epsilon}: some population explains every count exactly.",
            one_sided,
        ]
    if not misfits(found):
        return [f"Nothing in these reports speaks against {epsilon}.", level, one_sided]
    said = f"These reports do not fit {epsilon}: {_low(found)} got fewer reports than its noise alone brings."
    if few := found.used.collected.too_few:
        said += (
            f" If people could not choose {'it' if len(few) == 1 else 'them'}, ε need not be wrong: leave such names "
            "out under “Other reports or settings”. If they could, the noise was weaker than stated."
        )
    return [f"{said}{_plausible(found)}{_too_many(found)}", level, one_sided]


def _low(found: Results) -> str:
    """The categories that are to blame, and what else they may be than categories."""
    few = found.used.collected.too_few
    if not few:
        return "some categories"
    named = ", ".join(f"“{plain(label)}” ({count:,})" for label, count in few[:5])
    return f"{named}{f' and {len(few) - 5:,} more' if len(few) > 5 else ''}"


def _plausible(found: Results) -> str:
    plausible = found.simulated.plausible if found.simulated is not None else None
    if plausible is None:
        return ""
    if plausible.none:
        return (
            f" No ε up to {number(plausible.low)} makes them plausible: they were hardly made by k-ary randomized "
            "response over these categories."
        )
    rough = "" if plausible.finished else " (roughly: the search was stopped)"
    return f" The reports are plausible under ε of {number(plausible.low, 4)} or more{rough}."


def _too_many(found: Results) -> str:
    """A domain that is too large looks like an epsilon that is too small."""
    used, empty = found.used, found.used.collected.unreported
    if not empty or too_few(used.n, used.mechanism):
        return ""
    return f" Or K is too large: {_many(empty, 'category', 'categories')} got no report at all."


def advice(found: Results, metric: str = HELD_OUT) -> list[str]:
    """Which estimator to report, and how that was measured: on reports held out, or by a simulated error."""
    sampled = found.sampled
    if sampled is None:
        return [
            "The estimators were not compared: that takes simulated collections. Inv is shown, which needs none."
        ]
    advised = sampled.advice if metric == HELD_OUT else sampled.advised(metric)
    least = advised.means[advised.best]
    if isinstance(advised, HeldOut):
        more = ", ".join(
            f"{QUANTITIES[name].name} {number(mean - least)} (± {number(2 * advised.standard_errors[name], 2)})"
            for name, mean in advised.means.items()
            if name != advised.best
        )
        measured = (
            "Measured on reports held out: each estimate was made from four fifths of the reports and compared with Inv "
            f"of the rest, which is unbiased, {FOLDS * advised.done:,} times. Squared error, summed over categories, "
            f"beyond that of {QUANTITIES[advised.best].name}: {more}."
        )
    else:
        means = ", ".join(f"{QUANTITIES[name].name} {number(mean)}" for name, mean in advised.means.items())
        title = METRIC_TITLES["mse" if metric == HELD_OUT else metric]
        measured = (
            f"Measured over the same {sampled.bootstrap.done:,} simulated collections, in which MLE* of these reports "
            f"was the truth: where the noise is heavy MLE* is too even, which flatters even estimates. {title}, mean: "
            f"{means}."
        )
    unbiased = "Inv alone is unbiased: report it where its negative shares do no harm, and where estimates are added up."
    if misfits(found):
        return ["Settle ε first: under a wrong one no estimate is right.", measured]
    if nothing_above(found):
        return [
            "Report Inv with its intervals, or no table at all: no category is told from zero.",
            measured,
            "The other three, and their intervals, can miss large shares by far under so much noise.",
        ]
    best = advised.preferred
    others = [QUANTITIES[name].name for name in advised.tied if name != best]
    if len(others) == len(VALID) - 1:
        said = "Report any of InvN, InvP and MLE*: their errors cannot be told apart here."
    elif others:
        said = f"Report {QUANTITIES[best].name}, or {others[0]}, whose error cannot be told from it here."
    else:
        said = (
            f"Report {QUANTITIES[best].name}: of the three estimates that are always distributions it came nearest to "
            "the truth."
        )
    return [said, measured, unbiased]


def intervals(found: Results) -> list[str]:
    """How to read the intervals."""
    used, level = found.used, found.level
    whose = (
        "these very people" if found.target == "users" else "the population that these people were drawn from"
    )
    said = [
        f"The truth meant here is the shares among {whose}. Each {level:.0%} interval is right for its own category in "
        f"{level:.0%} of collections: of {used.mechanism.k:,} such intervals some miss. The columns ending in _all of "
        "the CSV hold wider ones, which are right for all categories at once that often.",
        f"Intervals of Inv follow from the law of the reports. {repaired()}",
        f"Above zero: an exact test of each category, corrected for all {used.mechanism.k:,} by Holm's method. With "
        f"probability {1 - found.analysis.above.level:.0%} no category that nobody has is called above zero.",
    ]
    if warning := moved(found, estimator(found)):
        said.append(warning)
    return [*said, *few(found)]


def few(found: Results) -> list[str]:
    """A warning where there are so few reports that intervals cannot keep their level."""
    used = found.used
    if not too_few(used.n, used.mechanism, found.level):
        return []
    return [
        f"A category that nobody has is expected to get only {number(used.n * used.mechanism.q)} reports (N·q): with so "
        "few, reports are a coarse scale, and intervals can hold the truth more or less often than they say."
    ]


def repaired() -> str:
    """What the intervals of a repaired estimate are worth."""
    return (
        "The interval of Inv keeps its level. That of a repaired estimate knows nothing of what the repair did to these "
        "reports: where many shares are small it can miss most of the time (in a test it held the truth in "
        f"{fall_short().measured:.0f}% instead of 95%)."
    )


def moved(found: Results, name: str, *, simultaneous: bool = False) -> str:
    """A warning when the intervals of a repaired estimate do not even hold Inv where there surely is somebody; else "".

    Inv is unbiased: such a share was moved by the repair, and its interval does not show it. With many categories and
    much noise that happens to the largest shares too, of InvN and MLE* above all.
    """
    limits = rows.interval(found, name, simultaneous=simultaneous)
    if name == "inv" or limits is None:
        return ""
    said = QUANTITIES[name].name
    if nothing_above(found):
        return f"No category is told from zero: intervals of {said} can miss large shares by far. Use those of Inv."
    inv, above = found.analysis.estimates["inv"], found.analysis.above.above
    missed = int((above & ((inv < limits.low) | (inv > limits.high))).sum())
    if not missed:
        return ""
    return (
        f"For {missed:,} of the {_many(int(above.sum()), 'category', 'categories')} told from zero, the interval of "
        f"{said} does not hold Inv, which is unbiased: the repair moved these shares by more than their intervals admit. "
        "Use Inv there."
    )


def settings(found: Results) -> list[tuple[str, str]]:
    """Name and value of each setting."""
    used, reports, mechanism = found.used, found.used.reports, found.used.mechanism
    columns = [plain(name) for name in (reports.category_name, reports.count_name) if name is not None]
    said = [
        ("Reports (N)", f"{used.n:,}"),
        ("Categories (K)", f"{mechanism.k:,}: {_DOMAINS.get(used.said.domain or '', 'as read')}"),
        ("ε", f"{mechanism.epsilon!r}{_FROM[used.said.privacy_kind]}"),
        ("p, q", f"{mechanism.p!r}, {mechanism.q!r}"),
        ("Level of the intervals", f"{found.level:.0%}"),
        ("Shares of", "these people" if found.target == "users" else "their population"),
        ("Rows", "one report each" if reports.layout == "values" else "a category and its count"),
        ("Columns", ", ".join(columns)),
    ]
    said += [
        (f"File {i}", f"{plain(file.name, 80)}: {file.rows:,} rows, {file.reports:,} reports")
        for i, file in enumerate(reports.files, 1)
    ]
    said.append(("SHA-256", reports.sha256))
    if found.simulated is not None:
        sampled = found.simulated.bootstrap
        said.append(("Simulated collections", f"{sampled.done:,} of {sampled.asked:,}, seed 0"))
    return said


def left_out(found: Results, *, named: bool = True) -> list[str]:
    """What of the files is not in the analysis, counted and (if wanted) named, and what was assumed."""
    reports, collected = found.used.reports, found.used.collected
    said = [
        f"{_many(dropped.rows, 'row', 'rows')} ({dropped.reason}), the first in line {dropped.first_line:,}"
        + (f" of {plain(dropped.file, 80)}" if dropped.file else "")
        for dropped in reports.dropped
    ]
    if collected.outside:
        said.append(
            f"Reports outside the domain: {collected.outside_total:,}, of "
            f"{_many(len(collected.outside), 'category', 'categories')}"
            + (f": {_outside_named(found)}" if named else "")
        )
    if reports.merged:
        said.append(
            f"{_many(reports.merged, 'row', 'rows')} of a category that came before: added to its first row"
        )
    if collected.unreported:
        said.append(
            f"{_many(collected.unreported, 'category', 'categories')} without a report: part of the analysis"
        )
    return [*said, *(plain(note, 400) for note in (*reports.notes, *collected.notes))]


def _outside_named(found: Results) -> str:
    every = found.used.collected.outside
    named = ", ".join(f"“{plain(label)}” ({count:,})" for label, count in every[:_MOST_NAMED])
    more = len(every) - _MOST_NAMED
    return named + (f", and {more:,} more, all in the JSON file" if more > 0 else "")


def _many(number_: int, one: str, more: str) -> str:
    return f"{number_:,} {one if number_ == 1 else more}"
