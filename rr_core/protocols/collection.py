"""One collection through any channel: users, their reports, and what the estimates make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import sampling
from rr_core._validate import Array
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    ibu_gaps_channel,
    inv_channel,
    mle_channel,
)

OTHERS = "all others"
_ITERATIONS = np.unique(np.geomspace(1, 10_000, 60).astype(np.int64))


@dataclass(frozen=True, eq=False)
class ChannelCollection:
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
    def theta(self) -> Array:
        """(k,) shares of the users."""
        shares: Array = self.true_counts / self.true_counts.sum()
        return shares

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

    @cached_property
    def ibu_gaps(self) -> tuple[NDArray[np.int64], Array]:
        """Numbers of iterations up to 10,000, and the certificate of plain IBU after each."""
        return _ITERATIONS, ibu_gaps_channel(self.counts, self.channel, _ITERATIONS.tolist())


def collect(
    channel: Channel, true_counts: ArrayLike, rng: np.random.Generator | int | None = None
) -> ChannelCollection:
    """One collection from users with these true counts (k,).

    >>> collect(Channel.warner(0.8), [700, 300], 1).counts.sum()
    np.int64(1000)
    """
    users = sampling.whole_counts("true_counts", true_counts, channel.k)
    return ChannelCollection(channel, users, channel.randomize_histogram(users, rng))


def merge_last(
    counts: ArrayLike, labels: Sequence[str] | None, k: int
) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """The first k - 1 categories, and one last category of all others, as surveys do with the highest ages or incomes.

    Args:
        counts: (K,) whole numbers.
        labels: K names; None for numbers from 1.
        k: from 2 to K; at K nothing is merged.

    Returns:
        (k,) counts and k names; None where nothing was merged and there were none.

    >>> merge_last([5, 9, 1, 2], None, 3)
    (array([5, 9, 3]), ('1', '2', 'all others'))
    """
    users = np.asarray(counts, dtype=np.int64)
    if k == users.size:
        return users, None if labels is None else tuple(labels)
    names = [str(i + 1) for i in range(k - 1)] if labels is None else labels[: k - 1]
    return np.append(users[: k - 1], users[k - 1 :].sum()), (*names, OTHERS)
