"""Groups whose reports were made differently, taken together: their total, and whether all are alike.

Inv of all people is the sum of each group's own Inv times its part of the people. With a_g(j) what a report j of group g
adds to Inv, it is the mean of a_g(j) over the people: its variance is

- for the shares among these people, sum over g of (n_g/n)^2 Var_g, with Var_g that of the group's Inv;
- for those of the population that all of them are a random sample of, the mean of (a_g(j) - Inv)^2 divided by n: how many
  of the sample come from each group is luck, too. (With one design in all groups both are the variances that it has.)

With weights the second one is taken by linearisation, as in `rr_core.reports.survey`. InvN and InvP repair this Inv. A
maximum of the likelihood would need a rule that ties the groups together, so there is none.

Reports that were made differently differ also where the truths are alike, so it is Inv that is compared: the sum over
groups and categories of (Inv - mean)^2/Var, with the mean weighted by 1/Var, and Var that of the group's own design at
the shares that are common to all. Categories go together a little: as in `rr_core.reports.alike` the sum is taken to be
c times chi-squared of (g - 1) k/c degrees of freedom, which has its mean and variance. Of two categories it is Cochran's
test of homogeneity, and with one design Pearson's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core import typed
from rr_core._validate import Array
from rr_core.plain_text import plain
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, inv_covariance_channel
from rr_core.protocols.unary import UnaryEncoding
from rr_core.reports.alike import MOST_CELLS
from rr_core.reports.analysis import Analysis, ByGroup, Collecting, intervals_of_inv, variance_of_one
from rr_core.reports.designs import Missing, Unclear
from rr_core.reports.intervals import AboveZero, Test, upper_tail
from rr_core.reports.protocol_fit import LEAST_EXPECTED, drawn
from rr_core.reports.saddlepoint import chances_if_nobody
from rr_core.streams import Stream, generator

_MOST_NAMED = 3


@dataclass(frozen=True)
class Stated:
    """What was stated of the reports of each group: numbers, as they were written.

    Attributes:
        names: of the numbers, as a sentence has them: "column “eps”", or "ε".
        values: for each group and number the different texts that there are; "" where there is none.
    """

    names: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True)
class Varied:
    """Which numbers of a design differ by group, and where they stand.

    Attributes:
        keys: of the numbers.
        columns: one for each; none where they are in the table.
        table: a line for each group: its name, then its numbers.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    table: str = ""


def read_table(text: str, groups: Sequence[str], numbers: int) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The ``values`` of `Stated` for these groups, from a line for each: its name, then its numbers. Lines of other
    groups are passed over.

    Raises:
        Unclear: one plain sentence, which names the group.

    >>> read_table("wave 1  0.7\\nwave 2 = 60%", ["wave 1", "wave 2"], 1)
    ((('0.7',),), (('60%',),))
    """
    held: dict[str, list[str]] = {}
    longest_first = sorted(groups, key=len, reverse=True)
    for line in map(str.strip, text.splitlines()):
        group = next((one for one in longest_first if re.match(rf"{re.escape(one)}\s*[\s=:;]", line)), None)
        if group is None:
            continue
        of, rest = f"The group “{plain(group, 40)}”", line[len(group) :].lstrip(" \t=:;")
        words = [rest] if numbers == 1 else [word for word in re.split(r"\s*[;\s]\s*", rest) if word]
        if group in held:
            raise Unclear(f"{of} has two lines in the small table: take one away.")
        if len(words) != numbers:
            raise Unclear(f"{of} needs {numbers} numbers in the small table, and has {len(words)}.")
        held[group] = words
    return tuple(tuple((word,) for word in held.get(group, [""] * numbers)) for group in groups)


def designs_of(
    groups: Sequence[str], stated: Stated, make: Callable[[Sequence[str]], Collecting]
) -> ByGroup | Collecting:
    """The design of each group, or the one that all have.

    Args:
        groups: their names.
        stated: what was stated of each.
        make: the design that follows from a group's numbers, which may raise ValueError.

    Raises:
        Unclear: one plain sentence, which names the group.

    >>> stated = Stated(("ε",), ((("1",),), (("2", "2.0"),)))
    >>> from rr_core import RandomizedResponse
    >>> designs_of(["north", "south"], stated, lambda texts: RandomizedResponse(3, float(texts[0]))).epsilon
    2.0
    """
    made = [
        _of_group(f"The group “{plain(name, 40)}”", stated.names, values, make)
        for name, values in zip(groups, stated.values, strict=True)
    ]
    return made[0] if all(_same(one, made[0]) for one in made) else ByGroup(made)


def _of_group(
    group: str,
    names: Sequence[str],
    values: Sequence[Sequence[str]],
    make: Callable[[Sequence[str]], Collecting],
) -> Collecting:
    for name, texts in zip(names, values, strict=True):
        if not any(texts):
            raise Unclear(f"{group} has no value in the {name}: say how its reports were made.")
        if "" in texts:
            raise Unclear(
                f"{group} has rows without a value in the {name}: fill it in, or leave these rows out."
            )
        if len({_value(text) for text in texts}) > 1:
            several = " and ".join(f"“{typed.shorten(text)}”" for text in texts[:_MOST_NAMED])
            raise Unclear(
                f"{group} has {several} in the {name}, and its reports must be made alike: name that column as a group, "
                "too, or mend it."
            )
    try:
        design = make([texts[0] for texts in values])
    except Missing:
        raise Unclear(f"{group}: a number is missing; say how its reports were made.") from None
    except ValueError as problem:
        raise Unclear(f"{group}: {f'{problem}'.removesuffix('.')}.") from None
    if isinstance(design, Channel) and not design.identified:
        raise Unclear(
            f"{group}: as stated, different shares give the same reports, so nobody can estimate them; check its chances."
        )
    return design


def _value(text: str) -> float | str:
    try:
        return typed.chance(text)
    except ValueError:
        return text


def _same(one: Collecting, other: Collecting) -> bool:
    if isinstance(one, Channel) and isinstance(other, Channel):
        return np.array_equal(one.matrix, other.matrix)
    return one == other


def added_up(sums: Array, design: Collecting, centre: Array) -> Array:
    """(..., k) sums over people of what the report of each adds to Inv less ``centre`` (k,), times a weight.

    Args:
        sums: (..., m + 1) of these weights by report, or one, and of all people.
        design: of their group.
        centre: (k,) is subtracted.
    """
    if isinstance(design, Channel):
        return np.asarray(sums[..., :-1] @ (inv_channel(np.eye(design.m), design) - centre))
    return np.asarray((sums[..., :-1] - design.q * sums[..., -1:]) / design.keep - centre * sums[..., -1:])


def squared(sums: Array, design: Collecting, centre: Array) -> Array:
    """The same of its square."""
    if isinstance(design, Channel):
        return np.asarray(sums[..., :-1] @ (inv_channel(np.eye(design.m), design) - centre) ** 2)
    one, other = ((bit - design.q) / design.keep - centre for bit in (1, 0))
    return np.asarray(sums[..., :-1] * one**2 + (sums[..., -1:] - sums[..., :-1]) * other**2)


def repaired(inv: Array) -> dict[str, Array]:
    """(k,) Inv, and what InvN and InvP make of it.

    >>> {name: shares.round(3).tolist() for name, shares in repaired(np.array([1.0, 0.25, 0.0, -0.25])).items()}
    {'inv': [1.0, 0.25, 0.0, -0.25], 'inv_n': [0.8, 0.2, 0.0, 0.0], 'inv_p': [0.875, 0.125, 0.0, 0.0]}
    """
    positive = np.maximum(inv, 0.0)
    total = positive.sum()
    return {
        "inv": inv,
        "inv_n": positive / total if total > 0 else np.full(inv.size, 1 / inv.size),
        "inv_p": _projected(inv),
    }


def _projected(values: Array) -> Array:
    """(k,) the nearest distribution."""
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - 1) / np.arange(1, values.size + 1)
    shift = shifts[np.flatnonzero(falling > shifts)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))


def total(analyses: Sequence[Analysis], made: ByGroup) -> Analysis:
    """All groups together, without weights."""
    people = np.array([one.n for one in analyses])
    n, level, users = int(people.sum()), analyses[0].level, analyses[0].users
    few = any(one.few for one in analyses)
    part = people / n
    inv = part @ [one.estimates["inv"] for one in analyses]
    variance = part**2 @ [one.variance_of_inv() for one in analyses]
    if users == "sampled":
        pairs = zip(analyses, made.designs, strict=True)
        of_all = np.sum([squared(np.append(of.counts, of.n), one, inv) for of, one in pairs], axis=0) / n**2
        # Of few reports some who report rarely may not have been seen.
        variance = np.where((of_all > 0) & (not few), of_all, np.maximum(of_all, variance))
    counts = np.sum([one.counts for one in analyses], axis=0)
    above = AboveZero.of(*by_chance(analyses, made), level=1 - level)
    intervals = intervals_of_inv(inv, variance, level)
    return Analysis(counts, made, n, level, users, repaired(inv), *intervals, above, few)


def by_chance(analyses: Sequence[Analysis], made: ByGroup) -> tuple[Array, Test]:
    """(k,) chances of as many reports, or ones, of a category that nobody has, or under channels of an Inv so large. The
    people of each group report it with the q of that group: from 1 above its mean on, their sum is as large no more often
    than a binomial of as many people and the same mean (W. Hoeffding, Annals of Mathematical Statistics 27, 1956,
    theorem 5)."""
    if channels := [one for one in made.designs if isinstance(one, Channel)]:
        return chances_if_nobody(
            [one.counts for one in analyses], channels, [one.estimates["mle"] for one in analyses]
        )
    n = sum(one.n for one in analyses)
    mean = sum(one.n * getattr(of, "q", 0.0) for one, of in zip(analyses, made.designs, strict=True))
    ones = np.array([one.counts for one in analyses], dtype=float).sum(axis=0)
    return upper_tail(ones, n, mean / n), "binomial"


def alike_designs(
    inv: Array,
    n: NDArray[np.int64],
    made: ByGroup,
    variances: Array | None = None,
    of_sum: Callable[[Array], Array] | None = None,
    degrees_of_freedom: float = np.inf,
) -> tuple[float, int]:
    """The p-value that the truths of all groups are alike, and of how many simulated collections it is the share.

    Args:
        inv: (g, k) of each group.
        n: (g,) people.
        made: what made their reports.
        variances: (g, k) of Inv with weights, else None.
        of_sum: with weights the (k,) variance of the sum over groups of Inv times numbers (g, k).
        degrees_of_freedom: with weights those of the design.
    """
    g, k = inv.shape
    even = np.full(k, 1 / k)
    precision = n / [variance_of_one(even, design, "sampled").mean() for design in made.designs]
    theta = _projected(precision @ inv / precision.sum())
    of_one = np.array([variance_of_one(theta, design, "sampled") for design in made.designs])
    variance = of_one / n[:, None] if variances is None else variances
    some = np.asarray((variance > 0).all(axis=0))
    if not some.any():
        return 1.0, 0
    weight = 1 / variance[:, some]

    def statistic(inv: Array) -> Array:
        seen = inv[..., some]
        mean = (weight * seen).sum(axis=-2, keepdims=True) / weight.sum(axis=0)
        return np.asarray((weight * (seen - mean) ** 2).sum(axis=(-1, -2)))

    found, df = float(statistic(inv)), (g - 1) * int(some.sum())
    expected = min(
        float(_expected(design, theta, many)) for design, many in zip(made.designs, n, strict=True)
    )
    if variances is None and expected < LEAST_EXPECTED and inv.size <= MOST_CELLS:
        dice = generator(0, Stream.FIT, 1)
        groups = [*zip(made.designs, n.tolist(), strict=True)]

        def draw(many: int) -> Array:
            return statistic(
                np.stack([_drawn(one, theta, size, many, dice) for one, size in groups], axis=-2)
            )

        return drawn(found, inv.size, draw)
    parts = np.sqrt(weight / weight.sum(axis=0))
    free = df / (1 + _together(made.designs, theta, of_one, parts, some) / df)
    if of_sum is None:
        return float(special.chdtrc(free, found * free / df)), 0
    of_all = np.zeros((g, k))
    of_all[:, some] = weight
    mean = df + int(some.sum()) - float((of_sum(of_all)[some] / weight.sum(axis=0)).sum())
    return float(special.fdtrc(free, free * degrees_of_freedom, found / mean)) if mean > 0 else 1.0, 0


def _expected(design: Collecting, theta: Array, n: int) -> float:
    """The fewest reports of a kind that are expected of n people; of unary encoding ones, or zeros."""
    if isinstance(design, Channel):
        return float(n * (theta @ design.matrix)[design.possible].min())
    ones = design.q + design.keep * theta
    if isinstance(design, UnaryEncoding):
        return float(n * min(ones.min(), 1 - ones.max()))
    return float(n * ones.min())


def _drawn(design: Collecting, theta: Array, n: int, many: int, dice: np.random.Generator) -> Array:
    """(many, k) Inv of so many collections of n people."""
    if isinstance(design, Channel):
        return inv_channel(dice.multinomial(n, theta @ design.matrix, many), design)
    if isinstance(design, UnaryEncoding):
        seen = design.randomize_support(dice.multinomial(n, theta, many), dice)
    else:
        law = design.q + design.keep * theta
        seen = dice.multinomial(n, law / law.sum(), many)
    return np.asarray((seen / n - design.q) / design.keep)


def _together(
    designs: Sequence[Collecting], theta: Array, of_one: Array, parts: Array, some: NDArray[np.bool_]
) -> float:
    """How much the categories go together: the sum over pairs of them, and over pairs of groups, of the products of
    the entries of P_j and P_l and of the correlations of Inv in both groups, with P_j = 1 - u_j u_j' and u_j (g,) the
    roots of the groups' ``parts`` (g, k) in the mean of category j."""
    correlations, ones, going_together = [], [], []
    for design, variance in zip(designs, of_one, strict=True):
        if isinstance(design, Channel):
            spread = np.sqrt(variance[some])
            covariance = inv_covariance_channel(theta, 1, design, users="sampled")[np.ix_(some, some)]
            correlations.append(covariance / np.outer(spread, spread) * (1 - np.eye(spread.size)))
            continue
        ones.append(design.q + design.keep * theta[some])
        going_together.append(design.keep * theta[some] if isinstance(design, UnaryEncoding) else ones[-1])
    if correlations:
        pairs = 0.0
        for i, one in enumerate(correlations):
            for j, other in enumerate(correlations):
                entries = float(i == j) - parts[i] * parts[j]
                pairs += float(entries @ (one * other) @ entries)
        return pairs
    # Off the diagonal a correlation is -a_j a_l.
    seen, apart = np.array(going_together), np.array(ones) * (1 - np.array(ones))
    own = seen**2 / apart
    shared = parts * np.sqrt(own)
    whole = np.diag(own.sum(axis=1)) - shared @ shared.T
    crossed = (shared**2).sum(axis=0) ** 2 - (shared**4).sum(axis=0)
    return float((whole**2).sum() - (crossed + ((own - shared**2) ** 2).sum(axis=0)).sum())
