"""The analysis in words and as a table, for the page, its report and the command. Plain text: names from files are
shortened here, and made safe where they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rr_core.data import read_toml
from rr_core.io import rows_left_out
from rr_core.io.report_results import Results
from rr_core.mechanism import RandomizedResponse
from rr_core.plain_text import plain, some
from rr_core.protocols import Channel
from rr_core.registry import LABELS, VALID
from rr_core.reports.analysis import ALIKE, Analysis, ByGroup
from rr_core.reports.designs import DESIGNS
from rr_core.reports.epsilon_fit import REJECTION_LEVEL, FitTest
from rr_core.reports.intervals import Test, too_few_reports
from rr_core.reports.nearest import LEAST_NOISE, SAME_WITHIN, STANDARD_ERRORS, Nearest
from rr_core.reports.protocol_fit import Fit, Tested
from rr_core.reports.survey import Survey
from rr_core.rounding import LEAST_CHANCE, between, counted, number, p_is, percent, round_up, whole

_WORDS = read_toml("reports.toml")
_DOMAINS: dict[str, str] = _WORDS["domains"]
_FROM = {"epsilon": "", "p": " (from p)", "redraw": " (from the chance of a uniform redraw)"}
_MOST_NAMED = 50
_DIGITS, _MOST_DIGITS = 6, 16  # of epsilon, p and q; p and q get as many as distinguish them
_MANY = 50  # categories, above which the largest are so by luck as well
INTERVAL, P_VALUE = "Interval", "p (Holm)"  # columns
Compared = tuple[int, int]  # a category, and the group that the others differ from
SCOPES = {  # of the intervals of shares in groups: whether they are simultaneous
    False: "Each interval is meant for its own number alone",
    True: "The intervals of shares are meant for all categories of one group at once, those of differences for one alone",
}
DIFFERENCES = (
    "; p is corrected, by Holm's method, for all differences of the table, so it may not be small where an interval "
    "leaves out 0."
)
_ABOVE_BY: dict[Test, str] = _WORDS["above_zero_by"]
_TESTED: dict[Tested, str] = _WORDS["tested"]


def data_and_mechanism(results: Results) -> str:
    """The data and the mechanism in one sentence."""
    used, mechanism = results.used, results.used.k_rr
    if mechanism is None:
        stated = "; ".join(f"{name.lower()}: {plain(value, 400)}" for name, value in used.stated)
        return (
            f"{counted(used.n, 'report')}{used.weighted_by} over K = {used.k:,} categories: "
            f"{DESIGNS[used.settings.design].name}{f' ({stated})' if stated else ''}, {granted(results)}."
        )
    digits = _DIGITS
    while digits < _MOST_DIGITS and number(mechanism.p, digits) == number(mechanism.q, digits):
        digits += 1
    return (
        f"{counted(used.n, 'report')}{used.weighted_by} over K = {mechanism.k:,} categories, collected with k-ary "
        f"randomized response at ε = {number(mechanism.epsilon, _DIGITS)}: a report was the truth with probability p = "
        f"{truthful(mechanism, digits)}, and each other category with q = {number(mechanism.q, digits)}."
    )


def truthful(mechanism: RandomizedResponse, digits: int) -> str:
    """p as text; a p that would round to 1 is written as 1 minus the difference."""
    short, text = (mechanism.k - 1) * mechanism.q, number(mechanism.p, digits)
    return f"1 − {number(short, digits)}" if text == "1" and short > 0 else text


def granted(results: Results) -> str:
    """The epsilon of the design, or that it has none."""
    epsilon, by_group = results.used.protocol.epsilon, isinstance(results.used.protocol, ByGroup)
    equals = "up to" if by_group else "="
    return f"ε {equals} {number(epsilon, 4)}" if isfinite(epsilon) else "no ε: some reports rule truths out"


def heading(results: Results) -> str:
    """How many reports of what: the number of categories, or the name of a design with a yes and a no."""
    used = results.used
    of = DESIGNS[used.settings.design].name if used.asks_yes_or_no else f"K = {used.k:,}"
    return f"{counted(used.n, 'report')}{used.weighted_by}, {of}, {granted(results)}."


def are_many(results: Results) -> bool:
    """Whether so many that the largest are so by luck as well: then intervals hold for all at once unasked."""
    return results.used.about is None and results.used.k > _MANY


def answer(results: Results, name: str | None = None, *, simultaneous: bool | None = None) -> str:
    """The result in a few sentences: by Inv, and by the named estimator (by default the leading one)."""
    used, analysis, name = results.used, results.analysis, name or results.analysis.leading
    if analysis.interval is None or analysis.simultaneous is None or analysis.above is None:
        return (
            "This table cannot tell the truths apart: other shares may explain the reports as well as MLE's. Nothing but "
            "another way of asking mends that."
        )
    # Of the largest, which chance alone could make: an interval made for one does not allow for the choice.
    drowned = not analysis.above.above.any() and used.about is None and not used.asks_yes_or_no
    at_once = drowned or (are_many(results) if simultaneous is None else simultaneous)
    limits = analysis.simultaneous if at_once else analysis.interval
    top, subject = _subject(results)
    inv, share = (float(analysis.estimates[key][top]) for key in ("inv", name))
    low, high = float(limits.low[top]), float(limits.high[top])
    said = " is"  # one that ends at 0 or 100% would be a point
    if low > 1 + SAME_WITHIN or high < -SAME_WITHIN:
        said = " lies wholly outside 0 to 100%, at"
    elif limits.is_cut(top):
        low, high, said = max(low, 0.0), min(high, 1.0), ", cut at 0 and 1, is"
    alike = name == "inv" or percent(share) == percent(inv)
    own = inv if alike else share
    counted = results.target == "users" and 0 <= own <= 1 and not drowned
    whose = f"these {used.n:,} people" if used.n > 1 else "1 person"
    people = f", about {number(whole(own * used.n))} of {whose}" if counted else ""
    fits = "ε that was stated" + (" with these categories" if used.collected.too_few else "")
    close, also, given = analysis.close, "", ""
    if alike:
        also = f"{'' if name == 'inv' else f' and by {LABELS[name]}'}{people}"
    else:
        beyond = "" if low - close <= share <= high + close else ", outside that interval"
        given = f" {LABELS[name]} gives it {percent(share)}{people}{beyond}."
    n = int(analysis.above.above.sum())
    are, them = ("is", "it") if n == 1 else ("are", "them")
    above = f"{n:,} of the {used.k:,} shares {are} larger than chance alone would make {them}. "
    if n == 0:
        above = f"None of the {used.k:,} shares is larger than chance alone could make it. "
    chance = ""
    if used.asks_yes_or_no:
        above, sure = "", analysis.above.above[top]
        chance = (
            " That is more than chance alone would make it."
            if sure
            else " Chance alone could make it that large."
        )
    return (
        f"{above}{subject} has a share of {percent(inv)} by Inv{also}; the {percent(results.level)} interval of "
        f"Inv{' that holds for all categories at once' if at_once else ''}{said} {between(low, high)}."
        + given
        + chance
        + (f" But the test of ε rejects the {fits}." if results.rejects_epsilon and used.k_rr else "")
        + (f" {outside_domain(results)}: see below." if used.collected.outside_total else "")
    )


def _subject(results: Results) -> tuple[int, str]:
    """The category that the answer is about, and the beginning of a sentence on it."""
    used, analysis = results.used, results.analysis
    if used.by_reports:
        counts = used.collected.counts
        top = int(counts.argmax())
        also = int((counts == counts[top]).sum()) - 1
        equal = f" (and {also:,} more with as many reports)" if also else ""
        return top, f"The most reported, “{plain(used.labels[top], 60)}”{equal},"
    if used.about is not None:
        return used.about, f"“{plain(used.labels[used.about], 60)}”"
    shares = analysis.estimates[analysis.leading]
    top = int(shares.argmax())
    also = int((shares >= shares[top] - ALIKE).sum()) - 1
    equal = f" (and {also:,} more alike)" if also else ""
    return (
        top,
        f"The most frequent by {LABELS[analysis.leading]}, “{plain(used.labels[top], 60)}”{equal},",
    )


def outside_domain(results: Results) -> str:
    """How many reports name a category outside the domain, and how many rows hold totals or means, which are no reports;
    the beginning of a sentence."""
    used, held = results.used, results.used.summaries
    total = sum(number for name, number in used.collected.outside if name not in held)
    left = [counted(total, used.counted[:-1])] if total or not held else []
    left += [f"{counted(rows, 'row')} of {what}" for what, rows in Counter(held.values()).items()]
    return f"{' and '.join(left)} {'is' if len(held) + total == 1 else 'are'} left out"


def fit(results: Results) -> list[str]:
    """The verdict on what was stated, for k-RR on its epsilon: whether the test of fit rejects it, and what that is."""
    if results.analysis.fit is not None:
        seen = "It sees a wrong table or a wrong ε only where they show: reports may fit a wrong one too."
        if results.analysis.fit.exact:
            seen = "Of two answers it sees only a share that comes out below 0 or above 100%."
        return [fit_sentence(results.analysis.fit), _TESTED[results.analysis.fit.tested], seen]
    if isinstance(results.used.protocol, ByGroup):
        return _fit_by_group(results)
    epsilon = f"ε = {number(results.used.protocol.epsilon, 4)}"
    test = results.epsilon_test
    one_sided = (
        "The test sees one direction only. Clearly fewer reports than N·q somewhere, or more than N·p, speak for less "
        "noise than stated; an ε stated too large looks like a flatter population, and these reports cannot tell the two "
        "apart. It is the same test whether you want the shares of these people or of their population."
    )
    if test is None:
        run = results.simulated.fit if results.simulated is not None else None
        why = f"stopped after {run.done:,} of {run.requested:,}" if run else "not run"
        return [f"Whether {epsilon} fits these reports was not tested: the simulations were {why}."]
    level = (
        f"A category that nobody has is expected to get N·q = {number(test.floor, 4)} "
        f"{'report' if number(test.floor, 4) == '1' else 'reports'}; the fewest collected are {test.lowest:,}. The test: "
        f"{p_is(test.p_value)}, "
        + ("exact." if test.is_exact else f"from {test.done:,} simulated collections that do fit.")
        + _extreme(test)
    )
    if test.dropped == 0:
        return [
            f"Nothing in these reports speaks against {epsilon}; too large an ε cannot be seen in them.",
            one_sided,
        ]
    if not results.rejects_epsilon:
        return [
            f"The test finds nothing against {epsilon}; too large an ε cannot be seen in the reports.",
            level,
            one_sided,
        ]
    if test.extremes.too_many:
        counts = results.used.collected.counts
        top = plain(results.used.collected.labels[int(counts.argmax())], 60)
        text = (
            f"The test rejects {epsilon}: “{top}” got {counts.max():,} reports, and no category is expected to "
            f"get more than N·p = {number(test.ceiling, max(4, len(str(counts.max()))))}."
        )
        return [f"{text}{_plausible(results)}{_empty_categories(results)}", level, one_sided]
    text = f"The test rejects {epsilon}: {_low(results, test)}."
    if few := results.used.collected.too_few:
        listed = results.used.settings.domain == "listed"
        text += (
            f" If people could not choose {'it' if len(few) == 1 else 'them'}, ε need not be wrong: "
            f"{'take such names off the list' if listed else 'leave such names out'} under “Other reports or settings”. "
            "If they could, the stated ε is hardly right."
        )
    return [f"{text}{_plausible(results)}{_empty_categories(results)}", level, one_sided]


def _fit_by_group(results: Results) -> list[str]:
    """Whether what was stated fits the reports of each group that has a design of its own."""
    survey = results.survey
    pairs = [] if survey is None else [*zip(survey.groups, survey.analyses, strict=True)]
    tested = [(name, found.fit) for name, found in pairs if found.fit is not None]
    if not tested:
        return [
            "Whether each group's ε fits its reports was not tested: that is done for reports of one ε. Analyse the "
            "reports of one group alone for it."
        ]
    return [
        _unfit(pairs)
        or f"The tests find nothing against what is stated of the {len(tested):,} groups, each at a threshold of "
        f"{REJECTION_LEVEL:.0%}.",
        _TESTED[tested[0][1].tested],
    ]


def _unfit(pairs: Iterable[tuple[str, Analysis]]) -> str:
    """The groups whose reports do not fit what was stated of them; "" where there are none."""
    rejected = [
        f"“{plain(name, 40)}” ({p_is(found.fit.p_value)})"
        for name, found in pairs
        if found.fit is not None and found.fit.rejected
    ]
    return (
        f"These reports hardly come from what is stated of their group: {some(rejected)}." if rejected else ""
    )


def fit_sentence(found: Fit) -> str:
    """The verdict of the test of fit: whether the reports hardly come from what is stated."""
    if not found.rejected:
        return (
            f"The test finds nothing against what is stated, at its threshold of {REJECTION_LEVEL:.0%} "
            f"({p_is(found.p_value)})."
        )
    # By a normal law or chi-squared it is no bound, but about that.
    often = "no more often than that" if found.exact else "about that often, or less"
    seen = f"whatever the truth, reports that fit as badly come {often}"
    if found.simulated:  # these reports are counted in
        seen = (
            f"of these reports and {found.simulated:,} collections simulated from their best fit, that share is as far "
            "from it"
        )
    return (
        f"These reports hardly come from what is stated ({p_is(found.p_value)}): {seen}. The estimates rest on a wrong "
        "table, a wrong ε, or answers that were not given as asked."
    )


def _extreme(test: FitTest) -> str:
    """How rare so many, or so few, reports are under the stated epsilon."""
    text = ""
    for beyond, amount, chance in (
        (test.extremes.too_many, "many", test.extremes.most),
        (test.extremes.too_few, "few", test.extremes.fewest),
    ):
        if beyond:
            most = number(round_up(max(chance, LEAST_CHANCE)))
            text += f" That any category gets so {amount} has a chance of {most} at most, whatever the population."
    return text


def _low(results: Results, test: FitTest) -> str:
    """The categories whose counts make the test reject; one category only where its own count is too low."""
    few = results.used.collected.too_few
    if not few and not test.extremes.too_few:
        return (
            "the least reported categories, taken together, got fewer reports than its noise would bring them"
        )
    named = some([f"“{plain(label)}” ({count:,})" for label, count in few]) or "some category"
    return f"{named} got clearly fewer reports than N·q"


def _plausible(results: Results) -> str:
    plausible = results.simulated.plausible if results.simulated is not None else None
    if plausible is None:
        return ""
    if plausible.none:
        return f" No ε up to {number(plausible.low)} was found that fits."
    rough = "" if plausible.finished else " (roughly: the search was stopped)"
    return f" To fit, ε must be at least about {number(plausible.low, 4)}{rough}."


def _empty_categories(results: Results) -> str:
    """A domain that is too large looks like an epsilon that is too small."""
    used, empty = results.used, results.used.collected.unreported
    if not empty or used.k == 2 or used.k_rr is None or too_few_reports(used.n, used.k_rr):
        return ""
    return f" Or K is too large: {counted(empty, 'category')} got no report at all."


def advice(results: Results) -> list[str]:
    """Which estimate to report, how much nearer to the truth it is than the others, and how that is known."""
    used, analysis = results.used, results.analysis
    compared, shares, best = analysis.nearest, analysis.estimates, analysis.leading
    if results.rejects_epsilon:
        of_k_rr = "the names and ε" if used.collected.too_few else "ε"
        first = of_k_rr if used.k_rr else "how these reports were made"
        return [f"Settle {first} first: until then no estimate can be trusted."]
    if analysis.interval is None:
        return [
            "Report none as the answer: MLE is one of the shares that explain these reports best, and there are more."
        ]
    if all(float(np.abs(shares["inv"] - other).max()) <= analysis.close for other in shares.values()):
        why = "Nothing came out negative, so " if shares["inv"].min() >= 0 else ""  # else by rounding alone
        which = "either" if len(shares) == 2 else "any of them"
        return [f"{why}{_listed(shares, 'and')} are the same: report {which}."]
    if analysis.drowned:
        repaired = _listed([name for name in shares if name != "inv"], "and")
        return [
            "Report Inv with its intervals, or no table at all: no share is larger than chance alone could make it.",
            *([] if compared is None else _distances(results, compared)),
            f"{repaired} can miss large shares by far under so much noise."
            + (" If you expect none to stand out, take InvN." if "inv_n" in shares else ""),
        ]
    if compared is None:
        why = "of all shares that are not negative and add up to 100%, those nearest to Inv"
        if best == "mle":
            why = "the shares under which these reports are most likely"
        return [f"Report {LABELS[best]}: {why}.", _UNBIASED]
    return _advice_of_k_rr(results, compared)


def _advice_of_k_rr(results: Results, compared: Nearest) -> list[str]:
    """The same where a share stands out, and the distances of the estimates from the truth are compared."""
    analysis, best = results.analysis, compared.preferred
    tied = compared.tied
    others = [name for name in tied if name != best]
    same = [name for name in others if name in compared.same and best in compared.same]
    if len(same) == len(VALID) - 1:
        text = f"Report {_listed(VALID, 'or')}: the three are the same here."
    elif len(others) == len(VALID) - 1:
        above = int(analysis.above.above.sum()) if analysis.above else 0
        stands = "share stands" if above == 1 else "shares stand"
        text = f"Report {LABELS[best]}: {above:,} {stands} out from the noise. {_WHERE_ONE_STANDS_OUT}"
    elif others:
        which = "which is the same here" if same else "which cannot be told from it here"
        text = f"Report {LABELS[best]}, or {_listed(others, 'or')}, {which}."
    else:
        rest = [name for name in VALID if name != best]
        text = (
            f"Report {LABELS[best]}: it is estimated to be nearer to the truth than {_listed(rest, 'and')}, by more than "
            f"{STANDARD_ERRORS} standard errors."
        )
    return [text, *_distances(results, compared), _UNBIASED]


_UNBIASED = (
    "Inv alone is unbiased: report it where its negative shares do no harm, and where estimates are added up."
)


def _distances(results: Results, compared: Nearest) -> list[str]:
    """Which estimates are significantly farther from the truth, or why none can be told to be."""
    if not compared.comparable:
        floor = results.used.n * results.used.k_rr.q if results.used.k_rr else inf
        why = "the noise is expected to put Inv farther from the truth than any two distributions are apart"
        if floor < LEAST_NOISE:
            why = f"a category that nobody has is expected to get fewer than {LEAST_NOISE:g} report (N·q)"
        return [f"How far the estimates are from the truth cannot be compared: {why}."]
    more = ", ".join(
        f"{LABELS[name]} {number(compared.differences[name])} (± {number(compared.standard_errors[name], 2)})"
        for name in VALID
        if name not in compared.tied
    )
    if not more:
        return []
    whose = "these people" if results.target == "users" else "their population"
    return [
        f"Squared distance from the shares of {whose}, summed over categories, beyond that of "
        f"{_listed([name for name in compared.same if name != 'inv'], 'and')}: {more}. Both are estimated from these "
        "reports (Stein's method): the difference, and its standard error after the ±."
    ]


# Those in which Holm's test finds a share above zero in nine of ten collections.
_WHERE_ONE_STANDS_OUT = (
    "Where one did, in 594 simulated settings, InvP's mean squared error was at most 1.3 times the smallest of the "
    "three repairs'; which of these is nearest to the truth here, these reports cannot tell."
)


def _listed(names: Iterable[str], last: str) -> str:
    *first, end = (LABELS[name] for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end


def intervals(results: Results, name: str, *, simultaneous: bool = False) -> list[str]:
    """How to read the intervals beside an estimate."""
    used, level = results.used, percent(results.level)
    users = results.target == "users"
    whose = "these very people" if users else "the population that these people were drawn from"
    law = "by linearisation with the weights" if used.weights else "from the law of the reports"
    k, analysis = used.k, results.analysis
    if analysis.interval is None or analysis.above is None:
        return ["There are no intervals: this table cannot tell the truths apart."]
    hold = (
        f"The {level} intervals of all categories together are meant to hold their shares in {level} of "
        "collections; the columns of the CSV with _all hold them, those without are meant for one category each."
        if simultaneous
        else f"Each {level} interval is meant to hold its own share in {level} of collections, or in more when "
        "the share is 0 or 1. The columns with _all of the CSV hold those that are meant for all categories at once."
    )
    lines = [
        f"The truth meant here is the shares among {whose}. {hold}",
        f"They are the intervals of Inv, {law}, cut at 0 and 1 unless they lie wholly outside. "
        f"{no_own_interval(results)}",
        f"Above zero: {_ABOVE_BY[analysis.above.test]} of each category, corrected for all {k:,} by Holm's method. With "
        f"probability {level} at least, no category that nobody has is called above zero.",
    ]
    return [*lines, *outside([analysis], [name], simultaneous=simultaneous), *few_reports(results)]


def outside(analyses: Sequence[Analysis], names: Sequence[str], *, simultaneous: bool = False) -> list[str]:
    """Where shares, by these estimators, lie outside the interval of Inv, and intervals outside 0 to 100%."""
    limits = [one.simultaneous if simultaneous else one.interval for one in analyses]
    lows, highs = ([getattr(one, end) for one in limits if one is not None] for end in ("low", "high"))
    if len(lows) < len(analyses):
        return []
    of_each = [one.estimates[name] for one, name in zip(analyses, names, strict=True)]
    shares = np.concatenate(of_each)
    moved = np.repeat(
        [name != "inv" for name in names], [one.size for one in of_each]
    )  # Inv is repaired by none
    low, high, close = np.concatenate(lows), np.concatenate(highs), analyses[0].close
    k, told = shares.size, list[str]()
    below, above = high <= 0, low >= 1  # which are not cut
    cut = int((((shares < -close) | (shares > 1 + close)) & ~below & ~above).sum())
    missed = int((moved & ((shares < low - close) | (shares > high + close)) & ~below & ~above).sum())
    apart = int(below.sum() + above.sum())
    if apart:
        told.append(
            f"Intervals of Inv that end at 0% or below, where no share can be: {below.sum():,} of {k:,}; that begin at "
            f"100% or above: {above.sum():,}. The table shows these as they are, and all others cut."
        )
    if missed:
        by = f" by {LABELS[names[0]]}" if len({*names}) == 1 else ""
        told.append(
            f"{missed:,} of {'the other ' if apart else ''}{k - apart:,} shares{by} lie outside the interval of Inv: the "
            "repair moved them that far. Where it matters and Inv is above zero, use Inv there."
        )
    if cut:
        told.append(
            f"{cut:,} of {k:,} shares by Inv lie outside 0 to 100% themselves, and their intervals are cut there: the "
            "columns inv_low and inv_high of the CSV have the whole ones."
        )
    return told


def luck(results: Results, *, simultaneous: bool) -> list[str]:
    """A warning where the largest of many shares may be so by chance."""
    if simultaneous or not are_many(results):
        return []
    return [
        "The largest of many come out at the top by luck as well, and an interval made for one category does not allow "
        "for that: take those that hold for all at once."
    ]


def few_reports(results: Results) -> list[str]:
    """A warning where there are so few reports that intervals cannot keep their level."""
    used = results.used
    if not results.analysis.few:
        return []
    if used.k_rr is None:
        return ["Few reports of some kind are expected: intervals and the test of fit are rough."]
    expected = number(used.n * used.k_rr.q)
    reports = "report" if expected == "1" else "reports"
    return [
        f"A category that nobody has is expected to get only {expected} {reports} (N·q): with so few, reports "
        "are a coarse scale, and intervals can hold the truth more or less often than they say."
    ]


def whose(results: Results) -> str:
    """A sentence on whom the intervals are for, where that is the people who reported; else ""."""
    if results.target != "users" or results.analysis.interval is None:
        return ""
    return (
        "These intervals are for the people who reported. If they are a random sample of a population, choose “Their "
        "population”: its intervals are wider."
    )


def no_own_interval(results: Results) -> str:
    """A sentence that the repaired estimates have no interval of their own."""
    repaired = [name for name in results.analysis.estimates if name != "inv"]
    have, their = ("has", "its") if len(repaired) == 1 else ("have", "their")
    return f"{_listed(repaired, 'and')} {have} no interval of {their} own here."


def settings(results: Results) -> list[tuple[str, str]]:
    """Name and value of each setting."""
    used, read, mechanism = results.used, results.used.reports, results.used.k_rr
    columns = [
        plain(name)
        for name in (*(read.columns or (read.category_name,)), read.count_name)
        if name is not None
    ]
    known = f": {_DOMAINS.get(used.settings.domain or '', 'as read')}" if mechanism else ""
    lines = [
        ("How they were made", DESIGNS[used.settings.design].name),
        ("Reports (N)", f"{used.n:,}"),
        ("Categories (K)", f"{used.k:,}{known}"),
        ("ε", f"{used.protocol.epsilon!r}{_FROM[used.settings.privacy_kind]}")
        if not isinstance(used.protocol, ByGroup)
        else ("Largest ε of a group", f"{used.protocol.epsilon!r}"),
        *((name, plain(value, 400)) for name, value in used.stated),
    ]
    if not isinstance(used.protocol, Channel | ByGroup):
        lines.append(("p, q", f"{used.protocol.p!r}, {used.protocol.q!r}"))
    lines += [
        ("Level of the intervals", percent(results.level)),
        ("Shares of", "these people" if results.target == "users" else "their population"),
        ("Rows", "one report each" if read.layout == "values" else "a category and its count"),
        ("Columns", ", ".join(columns)),
    ]
    lines += [
        (
            f"File {i}",
            f"{plain(file.name, 80)}: {counted(file.rows, 'row')}, {counted(file.reports, 'report')}",
        )
        for i, file in enumerate(read.files, 1)
    ]
    if used.weights:
        word = "Inclusion probabilities" if used.inverse else "Survey weights"
        lines.append((word, plain(used.weights, 80)))
    if used.by:
        lines.append(("Groups", ", ".join(plain(name, 80) for name in used.by)))
    lines.append(("SHA-256", read.sha256))
    if results.simulated is not None:
        test = results.simulated.fit
        lines.append(("Simulated collections", f"{test.done:,} of {test.requested:,}, seed 0"))
    return lines


def left_out(results: Results, *, named: bool = True) -> list[str]:
    """What of the files is not in the analysis, counted and (if wanted) named, and what their reader assumed."""
    read, collected = results.used.reports, results.used.collected
    lines = rows_left_out(read.dropped, read.merged)
    if collected.outside:
        every = [f"“{plain(label)}” ({count:,})" for label, count in collected.outside]
        more = ", all in the JSON file" if len(every) > _MOST_NAMED else ""
        lines.append(
            f"Outside the domain: {outside_domain(results)}"
            + (f": {some(every, _MOST_NAMED)}{more}" if named else "")
        )
    if collected.unreported:
        lines.append(f"{counted(collected.unreported, 'category')} without a report: part of the analysis")
    return [*lines, *(plain(note, 400) for note in (*read.notes, *collected.notes))]


def groups(results: Results) -> list[str]:
    """Whether the groups are alike."""
    survey = results.survey
    if survey is None:
        return []
    n = len(survey.groups)
    lines = [
        f"{n:,} {'group' if n == 1 else 'groups'}, by {', '.join(plain(name, 40) for name in results.used.by)}."
    ]
    if survey.alike is not None:
        how = f" (beside {survey.alike_by_chance:,} tables by chance)" if survey.alike_by_chance else ""
        if survey.alike <= REJECTION_LEVEL:
            lines.append(f"The groups differ more than chance would make them: {p_is(survey.alike)}{how}.")
        else:
            lines.append(f"Nothing speaks against all groups being alike: {p_is(survey.alike)}{how}.")
            lines.append("Differences as large as their intervals reach may be there all the same.")
    pairs = [*zip(survey.groups, survey.analyses, strict=True)]
    if survey.together is None and (unfit := _unfit(pairs)):  # else it has been said of the fit
        lines.append(unfit)
    reported = dict.fromkeys(one.leading for _, one in pairs)
    if {*reported} != {results.analysis.leading} and not results.rejects_epsilon:
        each = [
            f"{LABELS[name]} in {some([f'“{plain(group, 40)}”' for group, one in pairs if one.leading == name])}"
            + (", where no share is larger than chance alone could make it" if name == "inv" else "")
            for name in reported
        ]
        lines.append(f"Of the groups by themselves, report {'; '.join(each)}.")
    few = [(name, one) for name, one in pairs if one.few]
    if expected := {name: one.n * one.protocol.q for name, one in few if hasattr(one.protocol, "q")}:
        smallest = sorted(expected, key=expected.__getitem__)
        named = some([f"{number(expected[name])} in “{plain(name, 40)}”" for name in smallest])
        lines.append(
            f"Intervals are rough where so few reports are expected of a category that nobody has (N·q): {named}."
        )
    elif few:
        named = some([f"“{plain(name, 40)}”" for name, _ in few])
        lines.append(f"With few reports of some kind, so that intervals are rough: {named}.")
    return lines


def group_columns(
    survey: Survey, category: int, first: int, *, simultaneous: bool = False
) -> dict[str, NDArray[Any]]:
    """One category in all groups: reports, share by Inv (MLE where there is none), interval (of the category, or of all
    those of a group at once), and how it differs from the first group named (nan in the row of that one)."""
    analyses, gaps = survey.analyses, survey.differences(first)
    name = "inv" if "inv" in analyses[0].estimates else "mle"
    columns: dict[str, NDArray[Any]] = {
        "Group": np.array([plain(group, 80) for group in survey.groups], dtype=object),
        "Reports": np.array([one.n for one in analyses]),
        f"{LABELS[name]} %": np.array([100 * one.estimates[name][category] for one in analyses]),
    }
    limits = survey.intervals(simultaneous=simultaneous)
    if limits:
        columns[f"{INTERVAL} from %"] = np.array([100 * one.low[category] for one in limits])
        columns["to %"] = np.array([100 * one.high[category] for one in limits])
    if gaps:
        columns["Difference, points"] = 100 * gaps["from_first"][:, category]
        columns["from, points"], columns["to, points"] = (
            100 * gaps[end][:, category] for end in ("low", "high")
        )
        columns[P_VALUE] = gaps["p_holm"][:, category]
    return columns


def compared_groups(survey: Survey, compared: Compared, *, simultaneous: bool = False) -> str:
    """What `group_columns` holds."""
    of, first = plain(survey.categories[compared[0]], 60), plain(survey.groups[compared[1]], 60)
    if not survey.differences(compared[1]):
        return f"The share of “{of}”."
    return f"The share of “{of}”, and how far the groups are from “{first}” by Inv. {SCOPES[simultaneous]}{DIFFERENCES}"


def table_columns(
    results: Results, name: str, rows: NDArray[np.intp], *, simultaneous: bool
) -> dict[str, NDArray[Any]]:
    """The table on screen and in the report, for these categories: shares in percent, people by one estimator."""
    used, analysis = results.used, results.analysis
    shares = {key: values[rows] for key, values in analysis.estimates.items()}
    columns: dict[str, NDArray[Any]] = {"Category": np.array(used.labels, dtype=object)[rows]}
    if used.counts_by_category is not None:
        columns[used.counted.capitalize()] = used.counts_by_category[rows]
    columns |= {f"{LABELS[key]} %": share * 100 for key, share in shares.items()}
    limits = results.interval(simultaneous=simultaneous)
    if limits is not None:
        limits = limits.cut_unless_outside()
        columns[f"{INTERVAL} from %"] = limits.low[rows] * 100
        columns["to %"] = limits.high[rows] * 100
    if results.people is not None:
        columns["People"] = whole(shares[name] * results.people)
    if analysis.above is not None:
        columns["Above zero?"] = analysis.above.above[rows]
        columns[P_VALUE] = analysis.above.adjusted[rows]
    return columns
