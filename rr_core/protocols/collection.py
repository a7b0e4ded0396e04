"""One collection by any protocol: users, their reports, and what the estimates make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, estimators, sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    ibu_path_channel,
    inv_channel,
    mle_channel,
    optimality_gap_channel,
)
from rr_core.protocols.hadamard import HadamardResponse, inv_hadamard
from rr_core.protocols.information_bounds import InformationBounds, information_bounds
from rr_core.protocols.laws import Key
from rr_core.protocols.subset import SubsetSelection, inv_subset
from rr_core.protocols.unary import UnaryEncoding, inv_n_unary, inv_p_unary, inv_unary
from rr_core.protocols.unary_estimation import mle_unary
from rr_core.scenario import Draw
from rr_core.streams import Stream, generator

OTHERS = "all others"
_ENTRIES_OF_BOUNDS = 1_000_000
MOST_BITS = 2_000_000  # of unary encoding that are made and held
_UNARY_TOLERANCE = 1e-6  # nats per report
_ITERATIONS = np.append(0, np.unique(np.geomspace(1, 10_000, 60).astype(np.int64)))


@dataclass(frozen=True, eq=False)
class IBURecord:
    """IBU after some numbers of iterations.

    Attributes:
        iterations: (i,) from 0.
        thetas: (i, k) distributions.
        gaps: (i,) their certificates, in nats per report.
    """

    iterations: NDArray[np.int64]
    thetas: Array
    gaps: Array


class _Collection:
    """Users with their true categories."""

    true_counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        return int(self.true_counts.sum())

    @property
    def theta(self) -> Array:
        """(k,) shares of the users."""
        shares: Array = self.true_counts / self.n
        return shares


@dataclass(frozen=True, eq=False)
class ChannelCollection(_Collection):
    """Users with their true categories, and one histogram of their reports.

    Attributes:
        channel: that made the reports.
        true_counts: (k,) users by category.
        counts: (m,) reports.
    """

    channel: Channel
    true_counts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def phi(self) -> Array:
        """(m,) shares of the reports."""
        shares: Array = self.counts / self.counts.sum()
        return shares

    @cached_property
    def inv(self) -> Array | None:
        """(k,) the unbiased estimate; None where the channel does not identify the truth."""
        return inv_channel(self.counts, self.channel) if self.channel.identified else None

    @cached_property
    def mle(self) -> MaximumLikelihood:
        return mle_channel(self.counts, self.channel)

    def columns(self) -> dict[str, Any]:
        """(k,) estimates by name; "inv" is all None where there is none."""
        return {"inv": [None] * self.channel.k if self.inv is None else self.inv, "mle": self.mle.theta}

    @cached_property
    def bounds(self) -> InformationBounds:
        """How small the error of any estimate can be, where the channel identifies the truth: for the shares of the
        population, under Jeffreys' prior."""
        draws = max(200, min(2000, _ENTRIES_OF_BOUNDS // self.channel.k**2))
        return information_bounds(self.channel, draws=draws, rng=generator(0, Stream.BOUNDS))

    @cached_property
    def ibu(self) -> IBURecord:
        """Plain IBU from the uniform start, up to 10,000 iterations."""
        thetas = ibu_path_channel(self.counts, self.channel, _ITERATIONS.tolist())
        gaps = np.asarray(optimality_gap_channel(self.counts, thetas, self.channel))
        return IBURecord(_ITERATIONS, thetas, gaps)


def collect(
    channel: Channel, true_counts: ArrayLike, rng: np.random.Generator | int | None = None
) -> ChannelCollection:
    """One collection from users with these true counts (k,).

    >>> collect(Channel.warner(0.8), [700, 300], 1).counts.sum()
    np.int64(1000)
    """
    users = sampling.one_collection("true_counts", true_counts, channel.k)
    return ChannelCollection(channel, users, channel.randomize_histogram(users, rng))


def users_in_rows(
    draw: Draw, k: int, fixed: bool = False
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """(k,) users of the draw, the rarest categories merged; where data have fewer, or the channel has a ``fixed`` number
    of categories, a population of k categories. With their names, None for numbers."""
    scenario = draw.scenario
    if k <= scenario.k and (scenario.of_data or not fixed):
        return merge_rarest(draw.true_counts, draw.population.labels, k, draw.population.probabilities)
    shape = replace(scenario, dist="zipf", s=1.0) if scenario.of_data else scenario
    return replace(shape, k=k).users().counts, None


def merge_rarest(
    counts: ArrayLike, labels: Sequence[str] | None, k: int, shares: ArrayLike
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """The k - 1 most frequent categories in their order, and one last category of all others.

    Args:
        counts: (K,) whole numbers.
        labels: K names; None for numbers from 1.
        k: from 2 to K; at K nothing is merged.
        shares: (K,) how frequent each is; of equal ones the first are kept.

    Returns:
        (k,) counts and k names; None where nothing was merged and there were none.

    Raises:
        ValueError: naming the argument.

    >>> merge_rarest([5, 1, 9, 2], None, 3, [0.3, 0.1, 0.5, 0.1])
    (array([5, 9, 3]), ('1', '3', 'all others'))
    """
    size = _validate.as_array("counts", counts).size
    users = _validate.one_row("counts", sampling.whole_counts("counts", counts, size), "K")
    k = _validate.integer("k", k, 2, size)
    frequent = _validate.one_row("shares", _validate.histogram(shares, size, "shares"), "K")
    if k == size:
        return users, None if labels is None else tuple(labels)
    kept = np.sort(np.argsort(-frequent, kind="stable")[: k - 1])
    names = [str(i + 1) if labels is None else labels[i] for i in kept.tolist()]
    return np.append(users[kept], users.sum() - users[kept].sum()), (*names, OTHERS)


@dataclass(frozen=True, eq=False)
class UnaryCollection(_Collection):
    """Users with their true categories, and their reports by unary encoding.

    Attributes:
        protocol: the encoding.
        true_counts: (k,) users by category.
        support: (k,) how many reports have a one in each place.
        reports: (n, k) bits; None where they are too many to be held.
    """

    protocol: UnaryEncoding
    true_counts: NDArray[np.int64]
    support: NDArray[np.int64]
    reports: NDArray[np.uint8] | None

    @cached_property
    def inv(self) -> Array:
        return inv_unary(self.support, self.protocol, self.n)

    @cached_property
    def inv_n(self) -> Array:
        return inv_n_unary(self.support, self.protocol, self.n)

    @cached_property
    def inv_p(self) -> Array:
        return inv_p_unary(self.support, self.protocol, self.n)

    @cached_property
    def mle(self) -> MaximumLikelihood | None:
        """Of maximum likelihood, to a gap of 1e-6; None without the reports, whose sums are not enough for it."""
        return None if self.reports is None else mle_unary(self.reports, self.protocol, _UNARY_TOLERANCE)

    def columns(self) -> dict[str, Any]:
        """(k,) numbers of ones, and estimates by name; "mle" is all None where it was not computed."""
        mle = [None] * self.protocol.k if self.mle is None else self.mle.theta
        return {"ones": self.support, "inv": self.inv, "inv_n": self.inv_n, "inv_p": self.inv_p, "mle": mle}


def collect_unary(
    protocol: UnaryEncoding, true_counts: ArrayLike, rng: np.random.Generator | int | None = None
) -> UnaryCollection:
    """One collection from users with these true counts (k,). Up to MOST_BITS bits in all, every report is made; beyond,
    the support alone is drawn, from its exact law.

    >>> collect_unary(UnaryEncoding(3, 1.0), [700, 200, 100], 1).reports.shape
    (1000, 3)
    """
    users = sampling.one_collection("true_counts", true_counts, protocol.k)
    rng = np.random.default_rng(rng)
    if int(users.sum()) * protocol.k > MOST_BITS:
        return UnaryCollection(protocol, users, protocol.randomize_support(users, rng), None)
    reports = protocol.randomize(np.repeat(np.arange(protocol.k), users), rng)
    return UnaryCollection(protocol, users, protocol.support(reports), reports)


@dataclass(frozen=True, eq=False)
class OnePerson:
    """One person's reports by k-RR and by unary encoding, and each of them debiased: Inv of that single report.

    Attributes:
        truth: the person's category.
        debiased: (k,) of the report by k-RR.
        bits: (k,) as sent by unary encoding.
        debiased_bits: (k,) of them.
        one, zero: what a bit 1 and a bit 0 count as.
    """

    truth: int
    debiased: Array
    bits: NDArray[np.uint8]
    debiased_bits: Array
    one: float
    zero: float


def one_person(
    true_counts: ArrayLike,
    mechanism: RandomizedResponse,
    protocol: UnaryEncoding,
    rng: np.random.Generator | int | None = None,
) -> OnePerson:
    """The reports of a person drawn at random from users with these true counts (k,).

    >>> one_person([1] + [0] * 9, RandomizedResponse(10, np.log(3)), UnaryEncoding(10, 1.0), 1).debiased.round(1).tolist()
    [-0.5, -0.5, -0.5, -0.5, 5.5, -0.5, -0.5, -0.5, -0.5, -0.5]
    """
    users = sampling.one_collection("true_counts", true_counts, protocol.k)
    rng = np.random.default_rng(rng)
    truth = int(np.searchsorted(np.cumsum(users), rng.integers(int(users.sum())), side="right"))
    report = np.zeros(protocol.k)
    report[mechanism.randomize([truth], rng)[0]] = 1
    bits = protocol.randomize([truth], rng)[0]
    zero, one = (float(inv_unary(np.full(protocol.k, bit), protocol, 1)[0]) for bit in (0, 1))
    return OnePerson(truth, estimators.inv(report, mechanism), bits, inv_unary(bits, protocol, 1), one, zero)


def inv_by_each(
    true_counts: ArrayLike, epsilon: float, rng: np.random.Generator | int | None = None
) -> dict[Key, Array]:
    """Inv (k,) from one collection by each protocol that can be drawn, from users with these true counts (k,).

    >>> sorted(inv_by_each([700, 200, 100], 1.0, 1))
    ['hr', 'oue', 'rr', 'subset', 'sue']
    """
    size = _validate.as_array("true_counts", true_counts).size
    users = sampling.one_collection("true_counts", true_counts, size)
    k, n, rng = users.size, int(users.sum()), np.random.default_rng(rng)
    mechanism, subset, hadamard = (
        RandomizedResponse(k, epsilon),
        SubsetSelection(k, epsilon),
        HadamardResponse(k, epsilon),
    )
    symmetric, optimised = UnaryEncoding(k, epsilon), UnaryEncoding(k, epsilon, True)
    return {
        "rr": estimators.inv(mechanism.randomize_histogram(users, rng), mechanism),
        "subset": inv_subset(subset.randomize_support(users, rng), subset, n),
        "sue": inv_unary(symmetric.randomize_support(users, rng), symmetric, n),
        "oue": inv_unary(optimised.randomize_support(users, rng), optimised, n),
        "hr": inv_hadamard(hadamard.randomize_histogram(users, rng), hadamard),
    }
