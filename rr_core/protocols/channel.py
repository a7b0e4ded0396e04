"""Any finite channel: a matrix of the chances of each report given each truth, and well-known channels of surveys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.limits import EPSILON_MAX
from rr_core.mechanism import RandomizedResponse


@dataclass(frozen=True, eq=False)
class Channel:
    """A channel from k categories to m reports: PRAM, misclassification, Warner's design, forced response, and others.

    Args:
        matrix: (k, m), entry [x, y] = Pr(report = y | truth = x), k >= 2, m >= 1; rows sum to one (to 1e-9). It is
            copied, used as it is, and read-only.

    Raises:
        ValueError: naming the argument, its allowed range and what was received.

    >>> channel = Channel([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    >>> channel.k, channel.m, channel.identified, round(channel.epsilon, 4)  # log 7
    (2, 3, True, 1.9459)
    """

    matrix: Array

    def __post_init__(self) -> None:
        matrix = _validate.channel_matrix("matrix", self.matrix) + 0.0  # a copy, without negative zeros
        if len(matrix) < 2:
            raise ValueError(f"matrix must have k >= 2 rows, one per truth, got shape {matrix.shape}")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def warner(cls, p: float) -> Channel:
        """Warner's design (1965): with probability p a person answers the question "are you?", else "are you not?".

        Categories and reports: 0 = no, 1 = yes. It grants |log(p/(1 - p))|. The answer to either question tells
        nothing at p = 1/2, where the truth is not identified; below 1/2 a "yes" speaks for "no".

        Args:
            p: probability of the question itself, from 0 to 1.

        >>> Channel.warner(1 / 6).matrix.round(4).tolist()
        [[0.1667, 0.8333], [0.8333, 0.1667]]
        """
        p = _validate.within("p", p, 0, 1)
        return cls(np.array([[p, 1 - p], [1 - p, p]]))

    @classmethod
    def forced_response(cls, forced: ArrayLike) -> Channel:
        """Forced response: a device tells each person to report category i, whatever the truth, with probability
        forced_i, and else to report the truth.

        For a yes-no question: ``[Pr(forced no), Pr(forced yes)]``. Equal entries are k-RR. The truth is not identified
        when nobody is left to tell it.

        Args:
            forced: (k,) probabilities >= 0 with a sum of at most 1, k >= 2.

        >>> Channel.forced_response([1 / 6, 1 / 6]).matrix.round(4).tolist()
        [[0.8333, 0.1667], [0.1667, 0.8333]]
        """
        chances = _validate.numbers("forced", forced).astype(np.float64)
        with np.errstate(over="ignore"):
            total = chances.sum()
        if chances.ndim != 1 or chances.size < 2 or chances.min() < 0 or total > 1 + 1e-12:
            raise ValueError(
                "forced must be k >= 2 probabilities >= 0 with a sum of at most 1, "
                f"got shape {chances.shape} with sum {total:.9g}"
            )
        matrix = np.tile(chances, (chances.size, 1))
        free = 1 - total
        # What rounding leaves is nobody: then reports do not depend on the truth, exactly.
        np.fill_diagonal(matrix, chances + (free if free > chances.size * np.finfo(np.float64).eps else 0.0))
        return cls(matrix)

    @classmethod
    def forced_with_first(cls, k: int, forced: float, first: float) -> Channel:
        """`forced_response` where a part ``forced`` of all people has to give a fixed answer: the first category for the
        part ``first`` of them, each of the others for as many of the rest.

        >>> Channel.forced_with_first(3, 0.4, 0.5).matrix.round(6).tolist()
        [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]]
        """
        k = _validate.integer("k", k, 2)
        forced, first = _validate.within("forced", forced, 0, 1), _validate.within("first", first, 0, 1)
        chances = np.full(k, forced * (1 - first) / (k - 1))
        chances[0] = forced * first
        return cls.forced_response(chances)

    @classmethod
    def truncated_geometric(cls, k: int, epsilon_per_step: float) -> Channel:
        """Geometric noise on k ordered categories; a report beyond either end becomes that end (Ghosh, Roughgarden and
        Sundararajan 2012, https://doi.org/10.1137/09076828X).

        With a = exp(-epsilon_per_step), a report is j with probability a^|i-j| (1 - a)/(1 + a) between the ends, and
        a^|i-j|/(1 + a) at an end. Neighbouring categories differ by a factor of at most exp(epsilon_per_step) in the
        chance of each report; the two ends by (k - 1) times as much in the exponent, which is the ``epsilon`` that the
        channel grants over all.

        Args:
            k: number of categories, an integer >= 2.
            epsilon_per_step: from 1e-6 to 700/(k - 1).

        >>> channel = Channel.truncated_geometric(4, 0.5)
        >>> round(channel.epsilon_per_step, 9), round(channel.epsilon, 9)
        (0.5, 1.5)
        """
        k = _validate.integer("k", k, 2)
        step = _validate.epsilon(epsilon_per_step, "epsilon_per_step", high=EPSILON_MAX / (k - 1))
        a = np.exp(-step)
        steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        matrix = np.exp(-step * steps) / (1 + a)
        matrix[:, 1:-1] *= -np.expm1(-step)
        return cls(matrix)

    @classmethod
    def misclassification(cls, k: int, error: float) -> Channel:
        """Ordered categories, taken for a neighbour with probability ``error``: the one below or the one above as often,
        at an end the only one. It grants no epsilon for k >= 3: reports rule out distant truths.

        Args:
            k: number of categories, an integer >= 2.
            error: probability of a wrong report, from 0 to 1.

        >>> Channel.misclassification(3, 0.2).matrix.round(6).tolist()
        [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]
        """
        k, error = _validate.integer("k", k, 2), _validate.within("error", error, 0, 1)
        matrix = np.diag(np.full(k, 1 - error))
        inner = np.arange(1, k - 1)
        matrix[inner, inner - 1] = matrix[inner, inner + 1] = error / 2
        matrix[0, 1] = matrix[-1, -2] = error
        return cls(matrix)

    @classmethod
    def k_rr(cls, mechanism: RandomizedResponse) -> Channel:
        """k-ary randomized response as a matrix.

        >>> round(Channel.k_rr(RandomizedResponse(5, 1.5)).epsilon, 12)
        1.5
        """
        return cls(mechanism.matrix())

    @property
    def k(self) -> int:
        """Number of categories (rows)."""
        return len(self.matrix)

    @property
    def m(self) -> int:
        """Number of reports (columns)."""
        return int(self.matrix.shape[1])

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy that the channel grants, in nats: the largest, over the reports, of
        log(largest entry of the column / smallest entry). Infinite where an entry is 0 and another of its column is not.
        A column of zeros is a report that never occurs, and changes nothing."""
        columns = self.matrix[:, self.possible]
        return _log_ratio(columns.max(axis=0), columns.min(axis=0))

    @cached_property
    def epsilon_per_step(self) -> float:
        """As ``epsilon``, for two neighbouring categories only, where categories are ordered."""
        above, below = self.matrix[1:, self.possible], self.matrix[:-1, self.possible]
        either = np.maximum(above, below) > 0
        return _log_ratio(np.maximum(above, below)[either], np.minimum(above, below)[either])

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """(m,) whether each report can occur at all: its column has an entry above zero."""
        possible: NDArray[np.bool_] = self.matrix.max(axis=0) > 0
        return possible

    @cached_property
    def rank(self) -> int:
        """Rank of the matrix: singular values above max(k, m) * 2.2e-16 of the largest are counted."""
        values = self._singular_values
        return int((values > values[0] * max(self.matrix.shape) * np.finfo(np.float64).eps).sum())

    @property
    def identified(self) -> bool:
        """Whether the law of the reports determines the distribution of the truth: the rows are linearly independent,
        rank = k. Otherwise there is no unbiased estimate, and other distributions may be as likely as the one that `mle`
        finds."""
        return self.rank == self.k

    @property
    def condition_number(self) -> float:
        """Largest singular value divided by the k-th: by how much Inv can magnify a relative error of the report
        frequencies. Infinite where the truth is not identified."""
        return (
            float(self._singular_values[0] / self._singular_values[-1]) if self.identified else float("inf")
        )

    @cached_property
    def _singular_values(self) -> Array:
        return np.asarray(np.linalg.svd(self.matrix, compute_uv=False), dtype=np.float64)

    def expected(self, theta: ArrayLike) -> Array:
        """(..., m) expected report frequencies, theta times the matrix, for ``theta`` (..., k).

        >>> Channel([[0.9, 0.1], [0.2, 0.8]]).expected([0.5, 0.5]).round(6).tolist()
        [0.55, 0.45]
        """
        with np.errstate(over="ignore"):  # of what is no distribution
            expected: Array = _validate.vector("theta", theta, self.k) @ self.matrix
        return expected

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """One report per user.

        Args:
            values: the users' true categories, integers in 0..k-1, any shape.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 reports in 0..m-1, same shape.
        """
        rng = np.random.default_rng(rng)
        truths = _validate.categories("values", values, self.k)
        uniform = rng.random(truths.size)
        reports = np.empty(truths.size, dtype=np.int64)
        order = np.argsort(truths, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(truths.reshape(-1), minlength=self.k))
        for category, users in enumerate(np.split(order, ends[:-1])):
            if users.size:
                upto = np.cumsum(self.matrix[category])
                reports[users] = np.searchsorted(upto / upto[-1], uniform[users], side="right")
        return reports.reshape(truths.shape)

    def randomize_histogram(
        self, counts: ArrayLike, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """The histogram of everybody's reports, drawn from its exact law in O(k m) for any number of users.

        Args:
            counts: (..., k) true counts, whole numbers >= 0; leading axes are independent batches.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 (..., m) counts of reports, each row with the same total as the true counts.
        """
        rng = np.random.default_rng(rng)
        true_counts = sampling.whole_counts("counts", counts, self.k)
        rows = true_counts.reshape(-1, self.k)
        reports = np.zeros((len(rows), self.m), dtype=np.int64)
        for row, out in zip(rows, reports, strict=True):
            out[:] = sampling.sum_of_multinomials(row, self.matrix, rng)
        return reports.reshape(*true_counts.shape[:-1], self.m)


def _log_ratio(largest: Array, smallest: Array) -> float:
    """max log(largest/smallest); by log1p where the two are close, so that small values keep their digits."""
    with np.errstate(divide="ignore", over="ignore"):
        close = np.log1p((largest - smallest) / smallest)
        far = np.log(largest) - np.log(smallest)
    return float(np.where(largest < 2 * smallest, close, far).max())
