"""The checks of the misprints in words: each takes the computed numbers and says what they show."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rr_core.comparison import VALID
from rr_core.experiments.claims import best_when
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.ranking import standing
from rr_core.experiments.storage import stored_result
from rr_core.figures.style import QUANTITIES, number, percent
from rr_core.figures.wording import about
from rr_core.misprints import Checks, Worst, slope_of_inv
from rr_core.misprints_lopuhaa import Value
from rr_core.scenario import PRESETS, WORST_AVERAGE

_NAMES = {name: QUANTITIES[name].name.replace("*", "\\*") for name in VALID}
_PRESET = next(one.name for one in PRESETS if one.scenario == WORST_AVERAGE).replace("*", "\\*")


def variance(found: Checks) -> str:
    v = found.variance
    return (
        f"{v.draws:,} simulated collections ($K=5$, $ε=1$, 200 users: 120, 60, 20, 0, 0), variances summed: simulated "
        f"**{number(v.simulated, 3)}**, right formula **{number(v.corrected, 3)}**, as printed {number(v.printed, 3)}."
    )


def growth(found: Checks) -> str:
    low, high = 1000, 5000
    head = "| $K$ | simulated | right | printed |\n|--:|--:|--:|--:|\n"
    rows = (
        f"| {g.k:,} | {number(g.simulated)} | {number(g.corrected)} | {number(g.printed)} |"
        for g in found.growth
    )
    return (
        "$N\\cdot\\mathrm{MSE}/K$ of Inv at $ε=1$ with equal shares. It would stay put if the order were $K/N$; it grows "
        "like $K$.\n\n"
        + head
        + "\n".join(rows)
        + f"\n\nBetween $K$ = {low:,} and {high:,} the exact error grows with the "
        f"power {slope_of_inv((low, high), 1.0):.2f} of $K$.\n\n"
    )


def centre(found: Checks) -> str:
    c = found.centre
    return (
        f"{c.users:,} users in one of six categories, $ε=1$: it received {percent(c.own, 4)} of the reports, another "
        f"one {percent(c.other, 4)}. Right: $p$ = {percent(c.expected_own, 4)}, $q$ = {percent(c.expected_other, 4)}. "
        f"Printed: {percent(c.printed_own, 4)}, and the printed vector sums to {number(c.printed_sum)}, not 1."
    )


def threshold(found: Checks) -> str:
    t = found.threshold
    return (
        f"$φ$ = {_vector(t.phi)}, $p=1/2$, {t.zeros} zeros. At the largest dropped entry eq. (6) gives "
        f"{_vector(t.at_dropped)}, a negative; at the smallest kept one {_vector(t.at_kept)}, which is MLE\\*."
    )


def ties(found: Checks) -> str:
    t = found.threshold
    return (
        f"$φ$ = {_vector(t.phi)} with $p=1/2$ gives MLE\\* = {_vector(t.mle_star)}: the last two estimates are equal, "
        "their frequencies are not."
    )


def close(_: Checks) -> str:
    stand = standing(stored_result(MAIN_GRID), "mse")
    return (
        f"The main grid of */experiments*, {stand.n_completed} settings: its mean squared error is up to "
        f"**{about(stand.worst_ratio)}** the smallest, {about(stand.median_ratio)} in the middle setting, "
        f"and at most 1.5 times in {stand.n_close} of the {stand.n_different} where the three differ."
    )


def concentrated(_: Checks) -> str:
    count = best_when(stored_result(MAIN_GRID), "inv_p", "concentrated").count
    assert count is not None
    where = [cell.n for cell in count.exceptions]
    return (
        f"In */experiments*, Zipf with $s=2.5$: InvP is surely best in {count.yes} of {count.total} settings and surely "
        f"not in **{count.no}**, all of them with {min(where):,} to {max(where):,} users."
    )


def drift(found: Checks) -> str:
    d = found.drift
    return (
        f"At $K$ = {d.k:,} (166,450 users, Zipf 1.3, $ε=8$) the listing's estimate sums to 1 with an error of "
        f"{number(d.listing_sum, 2)}, ours {number(d.own_sum, 2)}; entries differ by up to {number(d.largest, 2)}. At "
        "$K$ = 1,423,000 the listing's sum is off by 3·10⁻⁹, entries by 5·10⁻¹¹."
    )


def worst(found: Checks) -> str:
    a = found.average
    errors = ", ".join(f"{_NAMES[name]} {number(error, 5)}" for name, error in a.errors.items())
    lines = "\n".join(f"- $ε$ = {w.epsilon:g}: {_one_in(w)}" for w in found.worst)
    return (
        f"Averages: {sum(a.true_counts)} fixed users with counts {_whole(a.true_counts)}, $ε={a.epsilon:g}$. All "
        f"{a.histograms} possible noisy histograms, each weighed by its exact chance, give mean squared errors "
        f"**{errors}**: MLE\\* is the worst. (Preset *{_PRESET}* in the sidebar.)\n\n"
        "Single collections: those with a negative Inv in which MLE\\* had the largest squared error of the three "
        "($K=5$, true shares uniform over the simplex, $N$ log-uniform from 10 to 100,000, error against the users' own "
        f"histogram):\n\n{lines}\n\n"
    )


def between(found: Checks) -> str:
    b = found.between
    errors = ", ".join(f"{_NAMES[name]} {number(error, 4)}" for name, error in b.errors.items())
    return (
        f"The scenario the app opens with ($K={b.scenario.k}$, $s={b.scenario.s:g}$, $ε={b.scenario.epsilon:g}$, "
        f"$N={b.scenario.n:,}$), {b.draws:,} simulated collections: {errors}. MLE\\*'s is below InvN's by "
        f"{b.distance[0]:.0f} standard errors of their difference, and below InvP's by {b.distance[1]:.0f}."
    )


def optimal(found: Checks) -> str:
    o = found.optimal
    return (
        f"$K={o.k}$, $ε={o.epsilon:g}$, where $3e^ε+2$ is {number(3 * math.exp(o.epsilon) + 2, 4)}. "
        f"$N\\cdot\\mathrm{{MSE}}$ is {number(o.rr, 4)} for RR and {number(o.subset_selection, 4)} for subsets of "
        f"{o.size} categories: RR needs **{number(o.rr / o.subset_selection)} times** the users."
    )


def drop(found: Checks) -> str:
    d = found.drop
    return (
        f"Counts {_whole(d.counts)}, $p=1/2$: $φ_1=φ_2$, yet $g(1)$ = {number(d.g[1])} and $g(2)$ = "
        f"{number(d.g[2])}, while $g(0)$ = {number(d.g[0])} is $g(1)$. MLE\\* drops {d.zeros}, although $φ_1=φ_2$."
    )


def one_zero(found: Checks) -> str:
    z = found.one_zero
    return (
        f"Counts (5, 3, 3, 1), $p=1/2$: the right sides give {_vector(z.right_sides[0])} and "
        f"{_vector(z.right_sides[1])}, which are InvN's and MLE\\*'s shares of the three categories "
        "kept, not of the one dropped."
    )


def shares(found: Checks) -> str:
    s = found.shares
    return (
        f"Share of the first of 10,000 categories: {percent(s[2.5])} at $s=2.5$, {percent(s[5.0])} at $s=5$, "
        f"{percent(s[math.inf])} in the code."
    )


def lopuhaa_algorithm(found: Checks) -> str:
    made = found.lopuhaa.algorithm
    return (
        f"Counts (6, 3, 2, 1), $e^ε=3$: as printed {_vector(made.printed)}, which is no distribution; right "
        f"{_vector(made.corrected)}."
    )


def lopuhaa_two_categories(found: Checks) -> str:
    made = found.lopuhaa.two_categories
    return (
        f"40 users, shares (0.7, 0.3), $ε=0.9$; exact mean over all reports: as printed {_vector(made.printed)}, "
        f"right {_vector(made.corrected)}."
    )


def lopuhaa_variance(found: Checks) -> str:
    return f"40 users, $ε=0.9$: {_value(found.lopuhaa.variance, 'simulated')}"


def lopuhaa_bound(found: Checks) -> str:
    b = found.lopuhaa.bound
    return (
        f"$a=b=3$, $ε=1$: eqs. (52) and (55) give **{number(b.corollary, 4)}**, the right bound "
        f"{number(b.corrected, 4)}, the printed exponent {number(b.printed, 4)}. And $n$: by eq. (66) the error of "
        f"{b.n:,} users with two categories is {number(b.error)}, where (60) as printed allows none below "
        f"{number(b.printed_error)}."
    )


def lopuhaa_any_case(found: Checks) -> str:
    c = found.lopuhaa.any_case
    return (
        f"$K=10$, $ε=1$, equal shares: whoever answers “equal shares” whatever was reported has "
        f"$N\\cdot\\mathrm{{MSE}}$ = {number(c.error)}; the bound of eq. (59) is {number(c.bound)}."
    )


def lopuhaa_posterior(found: Checks) -> str:
    v = found.lopuhaa.posterior
    return (
        "Reports (1, 1, 2) under a uniform prior, $a=2$, $ε=1$: the mass of the posterior as printed is "
        f"{number(v.printed)}, right {number(v.corrected)}."
    )


def lopuhaa_jeffreys(found: Checks) -> str:
    return f"Variance of one of ten shares by their eq. (79): {_value(found.lopuhaa.jeffreys, 'drawn from the prior')}"


def lopuhaa_summands(found: Checks) -> str:
    v = found.lopuhaa.summands
    return (
        "$a=2$, $b=3$, reports in equal parts: with twice the users, 6,000 instead of 3,000, the sum (100) has "
        f"**{number(v.found)} times** the terms. Right: {number(v.corrected)}; section 1: {number(v.printed)}."
    )


def blog(found: Checks) -> str:
    b = found.blog
    return (
        f"$K=10$, $ε=\\ln3$: chance of a redraw {percent(b.redraw)}, of the truth {percent(b.truth)}. A single report "
        f"debiases to {number(b.high)} for its category and {number(b.low)} for the others, as the blog prints."
    )


def poster(found: Checks) -> str:
    made = found.poster
    return f"On the same example as τ\\*: printed {_vector(made.printed)}, right {_vector(made.corrected)}."


def stopped(found: Checks) -> str:
    left = ", ".join(f"{percent(s.distance)} after {s.iterations:,}" for s in found.stopped)
    return (
        f"Reports exactly at their expectation, Zipf 1, $K=12$, $ε=1$. Share of the mass still in the wrong place: "
        f"{left} steps."
    )


def _one_in(found: Worst) -> str:
    if found.one_in is None:
        return f"in none of {found.negative:,}"
    return f"**1 in {found.one_in:,}** ({found.worst:,} of {found.negative:,})"


def _value(value: Value, found: str) -> str:
    return (
        f"{found} **{number(value.found)}**, right formula **{number(value.corrected)}**, as printed "
        f"{number(value.printed)}."
    )


def _whole(counts: Iterable[int]) -> str:
    return f"({', '.join(map(str, counts))})"


def _vector(values: Iterable[float]) -> str:
    return f"({', '.join(number(float(value)) for value in values)})"
