r"""The same people report every day: what their reports reveal together, and how exact the estimates become.

Six schemes, for k categories. ``epsilon`` is the budget of the step that is done once for good (of every report, where
none is), ``epsilon_first`` that of a single report of the schemes with two steps.

fresh      k-RR with new noise every day
memoised   k-RR once for each value; the answer is remembered and sent again whenever the person has that value
l_grr      the remembered answer of k-RR goes through a second k-RR every day (L-GRR)
rappor     the remembered bits of symmetric unary encoding are flipped again every day (basic RAPPOR, L-SUE)
l_osue     the same, but the remembered bits are those of optimised unary encoding (L-OSUE)
loloha     everybody hashes the categories to g values by a function of their own, and L-GRR follows on these (LOLOHA)

The first step is the permanent, the second the instantaneous randomization. Sources: U. Erlingsson, V. Pihur and A.
Korolova, CCS 2014, https://doi.org/10.1145/2660267.2660348 (RAPPOR); H. H. Arcolezi, J.-F. Couchot, B. Al Bouna and X.
Xiao, arXiv:2111.04636 (L-GRR, L-OSUE); H. H. Arcolezi, C. Pinzón, C. Palamidessi and S. Gambs, EDBT 2023,
https://doi.org/10.48786/edbt.2023.44 (LOLOHA).

Write e = exp(epsilon), b = exp(epsilon_first), and f = p2/q2 for the odds of the second step. After a first step of k-RR
on D values (D = k, or g), reports of one day are k-RR at epsilon_first exactly when

    f - 1 = (b - 1) (e + D - 1)/(e - b).

The papers print f = (e b - 1)/(e - b), which is this for D = 2 only. With more values that leaves out the remembered
answers that are neither of the two compared, and one report grants less than epsilon_first: with k = 10, epsilon = 2 and
epsilon_first = 1 it grants 0.70. Nor is LOLOHA's printed best g the best for the f above: a day's reports are then local
hashing at epsilon_first, whose best g is about exp(epsilon_first) + 1 whatever epsilon is. For unary encoding the printed
formulas are right (D = 2; RAPPOR with half of each epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.limits import EPSILON_MIN
from rr_core.protocols.laws import K_MAX, Support, checked_theta, checked_users, hash_range, local_hashing
from rr_core.protocols.laws import support as support_of
from rr_core.sampling import Counts

Scheme = Literal["fresh", "memoised", "l_grr", "rappor", "l_osue", "loloha"]
SCHEMES: tuple[Scheme, ...] = ("fresh", "memoised", "l_grr", "rappor", "l_osue", "loloha")
_ONE_STEP = ("fresh", "memoised")
_ENCODING = {"rappor": "sue", "l_osue": "oue"}
_MOST_DAYS, _MOST_UNKNOWN_DAYS = 10**9, 10_000


class Second(NamedTuple):
    """The chances of the step that is done every day.

    Attributes:
        p: that a report has the value that is remembered.
        other: that it has another one, 1 - p.
        q: that it has one given other value.
        keep: p - q.
    """

    p: float
    other: float
    q: float
    keep: float


@dataclass(frozen=True)
class Longitudinal:
    """One scheme for reports of the same people on many days.

    Args:
        scheme: one of `SCHEMES`.
        k: number of categories, an integer >= 2.
        epsilon: budget in nats of every report (fresh), or of the remembered answer (all others), 1e-6 to 700.
        epsilon_first: budget of one report in a scheme of two steps, from 1e-6 and below ``epsilon``; None for half
            of it (``epsilon`` is at least 2e-6 then). The schemes of one step have none: there it is ``epsilon``.
        g: number of hash values of LOLOHA, an integer >= 2; None for the best one at ``epsilon_first``, at most k.

    Raises:
        ValueError: naming the argument, its allowed range and what was received.

    >>> scheme = Longitudinal("l_grr", 10, 2.0, 1.0)
    >>> scheme.epsilon_after([1, 2, 10]).round(3).tolist()
    [1.0, 1.753, 2.0]
    """

    scheme: Scheme
    k: int
    epsilon: float
    epsilon_first: float | None = None
    g: int | None = None

    def __post_init__(self) -> None:
        _validate.one_of("scheme", self.scheme, SCHEMES)
        object.__setattr__(self, "k", _validate.integer("k", self.k, 2, K_MAX))
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "epsilon_first", self._first())
        if self.scheme != "loloha":
            if self.g is not None:
                raise ValueError(f"g must be None but for loloha, got {_validate.short(self.g)}")
            return
        g = min(hash_range(self.first), self.k) if self.g is None else self.g
        object.__setattr__(self, "g", _validate.integer("g", g, 2, 2**53))

    def _first(self) -> float:
        if self.scheme in _ONE_STEP:
            if self.epsilon_first is not None:
                allowed = f"None for {self.scheme}"
                first = _validate.real("epsilon_first", self.epsilon_first, allowed)
                if first != self.epsilon:
                    raise ValueError(f"epsilon_first must be {allowed}, got {first!r}")
            return self.epsilon
        first = self.epsilon / 2 if self.epsilon_first is None else self.epsilon_first
        first = _validate.epsilon(first, "epsilon_first")
        if not first < self.epsilon:
            raise ValueError(
                f"epsilon_first must be a number from {EPSILON_MIN:g} and below epsilon = {self.epsilon:g}, got {first!r}"
            )
        return first

    @property
    def first(self) -> float:
        """``epsilon_first`` as a number."""
        assert self.epsilon_first is not None
        return self.epsilon_first

    @property
    def unary(self) -> bool:
        """Whether a report is one bit for each category."""
        return self.scheme in _ENCODING

    @property
    def cells(self) -> int:
        """Values that a report has: g for LOLOHA, else k (of unary encoding, bits)."""
        return self.g if self.g is not None else self.k

    @cached_property
    def daily(self) -> Support:
        """Law of the reports of one day: the one-time protocol at ``epsilon_first``."""
        return self._law(self.first)

    @cached_property
    def permanent(self) -> Support:
        """Law of the remembered answers: the one-time protocol at ``epsilon``. (Of fresh noise, which remembers
        nothing, the law of each report.)"""
        return self._law(self.epsilon)

    def _law(self, epsilon: float) -> Support:
        if self.g is not None:
            return local_hashing(epsilon, self.g)
        return support_of(
            "sue" if self.scheme == "rappor" else "oue" if self.unary else "rr", self.k, epsilon
        )

    @cached_property
    def log_odds(self) -> float:
        """log(p2/q2) of the second step, in nats: infinite where the remembered answer is sent as it is. Of fresh noise,
        whose only step is the daily one, ``epsilon``."""
        if self.scheme in _ONE_STEP:
            return self.epsilon if self.scheme == "fresh" else math.inf
        half = 0.5 if self.scheme == "rappor" else 1.0
        values = 2 if self.unary else self.cells
        ends, starts = half * self.epsilon, half * self.first
        # (b - 1)(e + D - 1)/(e - b), divided by b above and below.
        more = -math.expm1(-starts) * (math.exp(ends) + values - 1) / math.expm1(ends - starts)
        return math.log1p(more)

    @cached_property
    def second(self) -> Second:
        """The chances of the second step; of fresh noise, which has no first one, those of each report."""
        values = 2 if self.unary else self.cells
        low = math.exp(-self.log_odds)
        total = 1 + (values - 1) * low
        return Second(1 / total, (values - 1) * low / total, low / total, -math.expm1(-self.log_odds) / total)

    def epsilon_after(self, t: ArrayLike) -> Array:
        """Budget spent after t reports of one unchanging value: the largest log-ratio of the chances of any t reports
        under two values, in nats.

        Fresh: t epsilon. Memoised: epsilon. L-GRR and LOLOHA, with F = f^t and D = k or g values:
        log[(e F + D - 1)/(F + e + D - 2)], reached when all t reports have the same value. Unary encoding:
        log[(p1 F + 1 - p1)/(q1 F + 1 - q1)] + log[(q1 + (1 - q1) F)/(p1 + (1 - p1) F)], reached when one category's bit
        is one in all reports and another's in none. From epsilon_first at t = 1 the two-step schemes tend to epsilon.

        Args:
            t: numbers of reports, whole numbers from 0 to 10^9, any shape.

        >>> Longitudinal("fresh", 4, 1.0).epsilon_after([0, 1, 30]).tolist()
        [0.0, 1.0, 30.0]
        >>> Longitudinal("rappor", 4, 1.0).epsilon_after([1, 2, 30]).round(4).tolist()
        [0.5, 0.8015, 1.0]
        """
        days = _days(t)
        if self.scheme == "fresh":
            return np.asarray(self.epsilon * days)
        if self.scheme == "memoised":
            return np.where(days > 0, self.epsilon, 0.0)
        if not self.unary:
            inverse, missing = np.exp(-self.log_odds * days), -np.expm1(-self.log_odds * days)  # 1/F, 1 - 1/F
            odds = math.expm1(self.epsilon)
            ratio = odds * missing / (1 + (odds + self.cells - 1) * inverse)
            return np.asarray(np.log1p(ratio))
        ones, zeros = self._own(days)
        return np.asarray(ones + zeros)

    def epsilon_changing(self, t: ArrayLike, every: int = 1) -> Array:
        """Budget spent after t days by a person who takes a new value every few days, going through all of them in turn.

        Every remembered answer has a budget of its own, `epsilon_after` the number of its reports, and the budgets add
        up: at most k epsilon in the end, for LOLOHA g epsilon (its remembered answers belong to hash values; here the
        values in turn have different ones). Fresh: t epsilon. This is the budget of the values, for an onlooker who
        knows which days share a remembered answer: the largest log-ratio over all sequences of values that share it on
        these very days. To know on which days values change is not enough, as a value may come back: with k = 3 the
        memoised answers of (a, b, a) are never three different ones, and those of (a, b, c) may be.

        Args:
            t: numbers of days, whole numbers from 0 to 10^9, any shape.
            every: days that a value lasts, an integer >= 1.

        >>> Longitudinal("memoised", 4, 1.0).epsilon_changing([1, 3, 30]).tolist()
        [1.0, 3.0, 4.0]
        >>> Longitudinal("memoised", 4, 1.0).epsilon_changing([1, 3, 30], every=7).tolist()
        [1.0, 1.0, 4.0]
        """
        days, every = _days(t), _validate.integer("every", every, 1, _MOST_DAYS)
        if self.scheme == "fresh":
            return self.epsilon_after(days)
        values = float(min(self.cells, self.k))
        rounds, rest = np.divmod(days, every * values)
        whole, part = np.divmod(rest, every)
        past = rounds * every
        spent: Array = (
            whole * self.epsilon_after(past + every)
            + self.epsilon_after(past + part)
            + np.maximum(values - whole - 1, 0) * self.epsilon_after(past)
        )
        return spent

    def epsilon_any_changes(self, t: ArrayLike, changes: ArrayLike) -> Array:
        r"""Budget spent after t days whatever the person's values were, when they change at most so many times, for an
        onlooker who does not know on which days: an upper bound of the largest log-ratio of the chances of any t reports
        under any two such sequences of values, in nats.

        Fresh: t epsilon, exactly. Memoised: epsilon without a change or on a single day, and infinite otherwise, exactly:
        two different reports are impossible while a value stays. Without a change: `epsilon_after`, exactly. The others:
        the smaller of two bounds. Given the reports before it, a report has a mixture of laws of the second step, so that
        each after the first spends at most log f, f = p2/q2, for unary encoding k log f. And:

        Let A be the sets of days with one value in the one sequence, B those in the other, at most J = min(changes +
        1, t, number of values) each. The reports of a set depend on one remembered answer. Compare its law given the
        value with one law for all values, uniform answers (two steps of k-RR) or bits with chance q1 (unary
        encoding). A set of n days differs from it by g1(n) upwards and g0(n) downwards at most, g1(n) + g0(n) =
        `epsilon_after` n, together min(J g(t), t max g(n)/n). What is left are the same laws under the two
        partitions:

        Two steps of k-RR, N_m of the reports being m: a set with n_m of them has E f^n_m <= prod u(n_m), with
        u(n) = 1 + (f^n - 1)/D, for prod (1 + x) >= 1 + sum x; log u is convex with log u(0) = 0, so that all sets A
        together have at most prod u(N_m). And log E f^n_m is convex in n, so that all sets B have at least
        [sum f^(N_m/J)/D]^J. With M the largest N_m, the first is at most u(M)^[t/M] u(t mod M), and the sum at least
        f^(M/J) + (D - 1) f^((t - M)/(D - 1)/J).

        Unary encoding, for each of the k places, with s ones and z = t - s zeros: E b^s (1 - b)^z <= E b^s E (1 - b)^z,
        as one rises and the other falls with b; so all sets A have at most (q1 f^s + 1 - q1)(q1 + (1 - q1) f^z), and, as
        log E b^s (1 - b)^z is convex in (s, z), all sets B at least [q1 f^(s/J) + (1 - q1) f^(z/J)]^J.

        Args:
            t: numbers of days, whole numbers from 0 to 10,000.
            changes: largest numbers of changes, whole numbers >= 0; they broadcast.

        >>> Longitudinal("memoised", 4, 1.0).epsilon_any_changes([1, 2], 1).tolist()
        [1.0, inf]
        >>> Longitudinal("l_grr", 4, 1.0).epsilon_any_changes([1, 2, 30], [0, 1, 1]).round(3).tolist()
        [0.5, 1.499, 30.112]
        """
        days, moves = _days(t, most=_MOST_UNKNOWN_DAYS), _days(changes, name="changes")
        _validate.check_broadcast(t=days, changes=moves)
        days, moves = np.broadcast_arrays(days, moves)
        if self.scheme == "fresh":
            return self.epsilon_after(days)
        changing = (days > 1) & (moves > 0)
        spent = self.epsilon_after(days)
        if self.scheme == "memoised":
            return np.where(changing, np.inf, spent)
        found = [
            self._any_changes(int(day), move)
            for day, move in zip(days[changing], moves[changing], strict=True)
        ]
        spent[changing] = found
        return spent

    def _any_changes(self, t: int, changes: float) -> float:
        by_day = self.first + (t - 1) * self.log_odds * (self.k if self.unary else 1)
        sets = int(min(changes + 1, t, self.k, self.cells))
        days = np.arange(1, t + 1)
        upwards, downwards = self._own(days)
        own = sum(min(sets * one[-1], t * (one / days).max()) for one in (upwards, downwards))
        if self.unary:
            log_one, log_zero = math.log(self.permanent.q_star), math.log1p(-self.permanent.q_star)
            ones = np.arange(t + 1) * self.log_odds
            zeros = ones[::-1]
            apart = np.logaddexp(log_one + ones, log_zero) + np.logaddexp(log_one, log_zero + zeros)
            together = np.logaddexp(log_one + ones / sets, log_zero + zeros / sets)
            return min(float(own + self.k * (apart - sets * together).max()), by_day)
        values = self.cells
        log_others = math.log(values - 1)
        most = np.arange(-(-t // values), t + 1)
        powers = np.logaddexp(np.arange(t + 1) * self.log_odds, log_others) - math.log(values)
        apart = t // most * powers[most] + powers[t % most]
        rest = (t - most) / (values - 1)
        together = np.logaddexp(
            most * (self.log_odds / sets), log_others + rest * (self.log_odds / sets)
        ) - math.log(values)
        return min(float(own + (apart - sets * together).max()), by_day)

    def _own(self, days: NDArray) -> tuple[Array, Array]:
        """By how much, at most, the log of the chance of reports of so many days with one value is above, and below, that
        under the law for all values of `epsilon_any_changes`."""
        inverse, missing = np.exp(-self.log_odds * days), -np.expm1(-self.log_odds * days)  # 1/F, 1 - 1/F
        if self.unary:
            law = self.permanent
            return (
                np.log1p(law.keep * missing / (law.q_star + (1 - law.q_star) * inverse)),
                np.log1p(law.keep * missing / (law.rest + law.q_star + law.p_star * inverse)),
            )
        odds, values = math.expm1(self.epsilon), self.cells
        middle = math.log1p(odds / values)
        share = 1 / (1 + (values - 1) * inverse)  # F/(F + D - 1)
        return np.log1p(odds * share) - middle, middle - np.log1p(odds * share * inverse)

    def variance(self, theta: ArrayLike, n: ArrayLike, t: ArrayLike = 1) -> Array:
        """Variance of the estimate of one category's share, averaged over t days, for fixed users whose values stay.

        A remembered answer supports the category with probability A (p1 for its owners, q1 for others; LOLOHA: 1/g); a
        report then does with p2 or q2. Of one user's mean over t days the variance is
        A (1 - A)(p2 - q2)^2 + [A p2 (1 - p2) + (1 - A) q2 (1 - q2)]/t: the first term, the noise of what is remembered,
        does not average out. The estimate divides by p* - q* of the day's law.

        Args:
            theta: true share among the users, from 0 to 1.
            n: number of users, > 0.
            t: number of days, whole numbers >= 1. All three broadcast.

        >>> Longitudinal("fresh", 4, 1.0).variance(0.25, 1000, [1, 100]).round(6).tolist()
        [0.001889, 1.9e-05]
        >>> Longitudinal("memoised", 4, 1.0).variance(0.25, 1000, [1, 100]).round(6).tolist()
        [0.001889, 0.001889]
        """
        shares, users, days = checked_theta(theta), checked_users(n), _days(t, least=1)
        _validate.check_broadcast(theta=shares, n=users, t=days)
        if self.scheme == "fresh":
            return np.asarray(self.daily.variance(shares, users) / days)
        law, (p2, other, q2, keep2) = self.permanent, self.second
        noise = shares * 0.0
        for share, chance, complement in (
            (shares, law.p_star, law.rest + law.q_star),
            (1 - shares, law.q_star, 1 - law.q_star),
        ):
            remembered = chance * complement * keep2**2
            daily = chance * p2 * other + complement * q2 * (1 - q2)
            noise = noise + share * (remembered + daily / days)
        scaled = noise / self.daily.keep / self.daily.keep / users
        return np.asarray(scaled)

    def estimate(self, support: ArrayLike, n: int) -> Array:
        """Inv: (support/n - q*)/(p* - q*), unbiased for reports of any day, or their mean over days.

        Args:
            support: (..., k) number of supporting reports, from 0 to n; means over days may be fractions.
            n: number of users, an integer >= 1.

        >>> Longitudinal("rappor", 3, 2.0).estimate([700, 400, 370], 1000).round(4).tolist()
        [1.3166, 0.0917, -0.0308]
        """
        n = _validate.integer("n", n, 1, 2**61)
        held = _validate.vector("support", support, self.k)
        if held.size and (held.min() < 0 or held.max() > n):
            raise ValueError(f"support must be from 0 to n = {n}, got {held.min()} to {held.max()}")
        found: Array = (held / n - self.daily.q_star) / self.daily.keep
        return found

    def _sums(self, counts: Counts, lengths: NDArray[np.int64], rng: np.random.Generator) -> Counts:
        """(len(lengths), ..., k) supports, each added over so many days. Given what is remembered, the reports of several
        days are as many reports of one day."""
        second, law = self.second, self.permanent
        days = lengths.reshape(-1, *(1,) * counts.ndim)
        if self.unary or self.g is not None:
            total = counts.sum(axis=-1, keepdims=True)
            ones = rng.binomial(counts, law.p_star) + rng.binomial(total - counts, law.q_star)
            drawn: Counts = rng.binomial(days * ones, second.p) + rng.binomial(
                days * (total - ones), second.q
            )
            return drawn
        if self.scheme == "fresh":
            return sampling.noisy_histogram(days * counts, self.daily.keep, rng)
        remembered = sampling.noisy_histogram(counts, law.keep, rng)
        if self.scheme == "memoised":
            return days * remembered
        return sampling.noisy_histogram(days * remembered, second.keep, rng)

    def log_likelihood(self, counts: ArrayLike, t: ArrayLike) -> Array:
        """Log-likelihood of each value given one person's t reports, up to a constant: differences are exact log-odds.

        Fresh: epsilon times the number c of reports that say the value. Two steps of k-RR: log[S + (e - 1) f^c], with S
        the sum of f^c over all values that may be remembered. Unary encoding:
        the log-ratio of the value's own bits with a remembered bit that is one with probability p1, or q1.

        Args:
            counts: (..., cells) how many of the reports have each value; of unary encoding, ones in each place.
            t: number of reports, broadcasts against ``counts``.

        Returns:
            (..., cells): by category; for LOLOHA by hash value, which a category shares with all that hash alike.

        >>> Longitudinal("fresh", 3, 1.0).log_likelihood([3, 1, 0], 4).tolist()
        [3.0, 1.0, 0.0]
        """
        seen, reports = _validate.vector("counts", counts, self.cells), _days(t)
        _validate.check_broadcast(counts=seen, t=reports)
        if seen.size and (seen.min() < 0 or (seen > reports).any()):
            raise ValueError(f"counts must be from 0 to t, got {seen.min()} to {seen.max()}")
        if self.scheme == "fresh":
            return np.asarray(self.epsilon * seen)
        if self.scheme == "memoised":
            return np.where(seen > 0, self.epsilon, 0.0)
        if self.unary:
            tilt, law = (seen - reports / 2) * self.log_odds, self.permanent
            log_p, log_not_p = math.log(law.p_star), math.log(law.rest + law.q_star)
            log_q, log_not_q = math.log(law.q_star), math.log1p(-law.q_star)
            ratio: Array = np.logaddexp(log_p + tilt, log_not_p - tilt) - np.logaddexp(
                log_q + tilt, log_not_q - tilt
            )
            return ratio
        powers = seen * self.log_odds
        top = powers.max(axis=-1, keepdims=True)
        total = np.log(np.exp(powers - top).sum(axis=-1, keepdims=True))
        log_odds_less_one = self.epsilon + math.log(-math.expm1(-self.epsilon))
        found: Array = np.logaddexp(total, log_odds_less_one + powers - top)
        return found


class Guesses(NamedTuple):
    """How an onlooker fares.

    Attributes:
        right: (d,) expected share of the people whose value the onlooker guesses right after each number of days.
        error: (d,) its standard error, from the number of people simulated; zero where it is exact.
    """

    right: Array
    error: Array


def guesses(
    scheme: Longitudinal,
    prior: ArrayLike,
    days: ArrayLike,
    people: int,
    rng: np.random.Generator | int | None = None,
) -> Guesses:
    """How often the best guess of a person's unchanging value is right, after some numbers of days.

    The onlooker knows how common each value is, who sent which report, and (LOLOHA) everybody's hash function, and names
    the value with the largest posterior probability. The chance that this is right is the mean of that probability; it
    is averaged over people simulated day by day. Memoised: exact, the sum over reports y of max_x prior_x Pr(y | x).

    Args:
        scheme: how people report.
        prior: (k,) shares of the values, with a positive sum.
        days: (d,) numbers of days, whole numbers >= 0 in increasing order.
        people: number of people simulated, an integer >= 2.
        rng: a NumPy Generator (or a seed for one).

    Raises:
        ValueError: naming the argument.

    >>> found = guesses(Longitudinal("memoised", 2, 1.0), [0.5, 0.5], [1, 30], 100)
    >>> found.right.round(4).tolist()  # p
    [0.7311, 0.7311]
    """
    shares = _validate.one_row("prior", _validate.shares(_validate.histogram(prior, scheme.k)))
    grid = np.atleast_1d(_days(days))
    if grid.ndim != 1 or (np.diff(grid) < 0).any():
        raise ValueError("days must be whole numbers in increasing order")
    people = _validate.integer("people", people, 2, 10**7)
    if scheme.scheme == "memoised":
        one = _guessed_from_one(shares, scheme.permanent)
        return Guesses(np.where(grid > 0, one, shares.max()), np.zeros(grid.size))
    rng = np.random.default_rng(rng)
    values = np.searchsorted(np.cumsum(shares), (np.arange(people) + rng.random()) / people, side="right")
    values = np.minimum(values, np.flatnonzero(shares)[-1])
    right, error = np.empty(grid.size), np.empty(grid.size)
    with np.errstate(divide="ignore"):
        log_prior = np.log(shares)
    for i, (t, counts, hashes) in enumerate(_watched(scheme, values, grid, rng)):
        likelihood = scheme.log_likelihood(counts, t)
        if hashes is not None:
            likelihood = np.take_along_axis(likelihood, hashes, axis=-1)
        weights = log_prior + likelihood
        largest = 1 / np.exp(weights - weights.max(axis=-1, keepdims=True)).sum(axis=-1)
        right[i], error[i] = largest.mean(), largest.std() / math.sqrt(people)
    return Guesses(right, error)


def simulated_rmse(
    scheme: Longitudinal,
    true_counts: ArrayLike,
    days: ArrayLike,
    repeats: int,
    rng: np.random.Generator | int | None = None,
) -> Array:
    """(d,) root mean squared error per category of the estimates averaged over some numbers of days, simulated.

    Args:
        scheme: how people report.
        true_counts: (k,) fixed users, whose values stay.
        days: (d,) numbers of days, whole numbers >= 1 in increasing order.
        repeats: collections over all days, an integer >= 1; the error of the result is about 1/sqrt(2 repeats k) of it.
        rng: a NumPy Generator (or a seed for one).

    >>> simulated_rmse(Longitudinal("memoised", 2, 20.0), [70, 30], [1, 30], 5, 1).round(6).tolist()
    [0.0, 0.0]
    """
    grid = np.atleast_1d(_days(days, least=1))
    if grid.ndim != 1 or not grid.size or (np.diff(grid) < 0).any():
        raise ValueError("days must be whole numbers in increasing order, at least one")
    counts = sampling.whole_counts("true_counts", true_counts, scheme.k)
    repeats, n = _validate.integer("repeats", repeats, 1), int(counts.sum())
    if counts.ndim != 1 or not 0 < n * float(grid[-1]) < 2.0**61:
        raise ValueError(
            f"true_counts must be (k,) with 1 to 2^61 reports over all days, got {_validate.short(counts)}"
        )
    batch = np.broadcast_to(counts, (repeats, scheme.k))
    lengths = np.concatenate([grid[:1], grid[1:] - grid[:-1]]).astype(np.int64)
    sums = scheme._sums(batch, lengths, np.random.default_rng(rng))
    means = np.cumsum(sums, axis=0) / grid[:, None, None]
    squares = (scheme.estimate(means, n) - counts / n) ** 2
    found: Array = np.sqrt(squares.mean(axis=(1, 2)))
    return found


def reports_of(
    scheme: Longitudinal, value: int, days: int, rng: np.random.Generator | int | None = None
) -> NDArray[np.int64]:
    """(cells,) how many of the reports of one person of this value (0..k-1), one on each of some days, have each value;
    of unary encoding, ones in each place.

    >>> reports_of(Longitudinal("memoised", 4, 20.0), 2, 30, 1).tolist()
    [0, 0, 30, 0]
    """
    value, days = (
        _validate.integer("value", value, 0, scheme.k - 1),
        _validate.integer("days", days, 0, _MOST_DAYS),
    )
    rng, grid = np.random.default_rng(rng), np.array([float(days)])
    ((_, counts, _),) = _watched(scheme, np.array([value]), grid, rng)
    one: NDArray[np.int64] = counts[0]
    return one


def _watched(
    scheme: Longitudinal, values: NDArray[np.intp], grid: Array, rng: np.random.Generator
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64] | None]]:
    """For each number of days: it, the counts of each person's reports so far, and their hash functions (or None)."""
    people, cells = values.size, scheme.cells
    counts: NDArray[np.int64] = np.zeros((people, cells), dtype=np.int64)
    hashes, everyone, law = None, np.arange(people), scheme.permanent
    centre = values
    if scheme.g is not None:
        hashes = rng.integers(cells, size=(people, scheme.k))
        centre = hashes[everyone, values]
    if scheme.unary:
        chances = np.full((people, cells), law.q_star)
        chances[everyone, values] = law.p_star
        chances = np.where(rng.random(chances.shape) < chances, scheme.second.p, scheme.second.q)
    elif scheme.scheme != "fresh":
        # k-RR of epsilon on the cells: the truth with probability keep, else any of them.
        odds = math.expm1(scheme.epsilon)
        kept = rng.random(people) < odds / (odds + cells)
        centre = np.where(kept, centre, rng.integers(cells, size=people))
    before = 0
    for t in grid.astype(np.int64).tolist():
        more, before = t - before, t
        if more and scheme.unary:
            counts += rng.binomial(more, chances)
        elif more:
            agree = rng.binomial(more, scheme.second.keep, people)
            counts[everyone, centre] += agree
            counts += rng.multinomial(more - agree, np.full(cells, 1 / cells))
        yield t, counts, hashes


def _guessed_from_one(shares: Array, law: Support) -> float:
    """Share guessed right from one report of k-RR: the sum over y of max(p prior_y, q max of the others)."""
    largest = np.sort(shares)[-2:]
    others = np.where(shares == largest[1], largest[0], largest[1])
    return float(np.maximum(law.p_star * shares, law.q_star * others).sum())


def _days(t: ArrayLike, least: int = 0, most: int = _MOST_DAYS, name: str = "t") -> Array:
    days = _validate.numbers(name, t)
    if days.size and (days.min() < least or days.max() > most or (days != np.floor(days)).any()):
        top = "10^9" if most == _MOST_DAYS else f"{most:,}"
        raise ValueError(
            f"{name} must be whole numbers from {least} to {top}, got {days.min():.9g} to {days.max():.9g}"
        )
    return np.asarray(days, dtype=np.float64)
