"""k-ary randomized response: the channel, its two probabilities, and what it does to data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.limits import EPSILON_MAX, EPSILON_MIN


@dataclass(frozen=True)
class RandomizedResponse:
    """k-ary randomized response (k-RR, GRR, direct encoding) with privacy budget epsilon.

    A report equals the truth with probability p = e^eps/(e^eps + k - 1), and each other category with
    probability q = 1/(e^eps + k - 1); so p/q = e^eps, which is epsilon-local differential privacy
    (paper, eq. (1)). Equivalently the truth is kept with probability p - q and redrawn uniformly from
    all k categories otherwise.

    Args:
        k: number of categories, an integer >= 2.
        epsilon: privacy budget, 1e-6 <= epsilon <= 700 (natural logarithm; smaller is more private).

    Raises:
        ValueError: naming the argument, its allowed range and what was received.
    """

    k: int
    epsilon: float
    p: float = field(init=False, compare=False, repr=False)
    q: float = field(init=False, compare=False, repr=False)
    # The truth weight and the blur weight: (p - q) : q = e^eps - 1 : 1, scaled so that the larger is 1.
    # Formulas written with these two neither overflow nor cancel.
    truth: float = field(init=False, compare=False, repr=False)
    blur: float = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        k = _validate.integer("k", self.k, 2)
        epsilon = _validate.epsilon(self.epsilon)
        self._set(k=k, epsilon=epsilon)
        if epsilon <= math.log(2):
            self._set(truth=math.expm1(epsilon), blur=1.0)
        else:
            self._set(truth=1.0, blur=math.exp(-epsilon) / -math.expm1(-epsilon))
        total = self.truth + k * self.blur
        self._set(p=(self.truth + self.blur) / total, q=self.blur / total)

    @classmethod
    def from_p(cls, k: int, p: float) -> RandomizedResponse:
        """The mechanism that reports the truth with probability ``p``, where 1/k < p < 1.

        epsilon = log(p (k - 1)/(1 - p)). The ratio (p - q)/q = (k p - 1)/(1 - p) is taken in exact
        arithmetic, so that p barely above 1/k loses nothing.

        Raises:
            ValueError: also when p is so close to 1/k or to 1 that epsilon would not be from 1e-6 to 700, that is, below
                the p (a double) of epsilon = 1e-6 or above the one of epsilon = 700.
        """
        k = _validate.integer("k", k, 2)
        allowed = f"a number with 1/k = {1 / k:.6g} < p < 1"
        p = _validate.real("p", p, allowed)
        if not 1 / k < p < 1:
            raise ValueError(f"p must be {allowed}, got {p!r}")
        if not cls(k, EPSILON_MIN).p <= p <= cls(k, EPSILON_MAX).p:
            raise ValueError(_too_close("p", f"1/k = {1 / k:.6g}", p))
        exact = Fraction(p)
        ratio = (k * exact - 1) / (1 - exact)
        # At the two ends, p as a double may belong to an epsilon that is outside by rounding.
        made = cls(k, min(max(math.log1p(float(ratio)), EPSILON_MIN), EPSILON_MAX))
        one = Fraction(1)
        made._set(truth=float(min(ratio, one)), blur=float(min(1 / ratio, one)))
        made._set(p=p, q=float((1 - exact) / (k - 1)))
        return made

    @classmethod
    def from_redraw(cls, k: int, r: float) -> RandomizedResponse:
        """The mechanism that redraws uniformly from all k categories with probability ``r``, where 0 < r < 1.

        The truth is kept with probability p - q = 1 - r, so p = 1 - r + r/k, q = r/k and
        epsilon = log(1 + k (1 - r)/r). Surveys call it forced
        response; a blog post on k-RR calls r its p.

        Raises:
            ValueError: also when r is so close to 0 or to 1 that epsilon would not be from 1e-6 to 700.

        >>> round(RandomizedResponse.from_redraw(4, 0.5).epsilon, 4)  # log 5
        1.6094
        """
        k = _validate.integer("k", k, 2)
        r = _validate.fraction("r", r)
        epsilon = math.log1p(k * (1 - r) / r)
        if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
            raise ValueError(_too_close("r", "0", r))
        return cls(k, epsilon)

    def _set(self, **values: float) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def keep(self) -> float:
        """p - q, the probability that the truth is kept rather than redrawn; computed without cancellation."""
        return self.truth / (self.truth + self.k * self.blur)

    @property
    def log_q(self) -> float:
        """log q."""
        return -self.epsilon - math.log1p((self.k - 1) * math.exp(-self.epsilon))

    def matrix(self) -> Array:
        """(k, k) channel matrix: entry [x, y] is Pr(report = y | truth = x). Rows sum to one."""
        channel = np.full((self.k, self.k), self.q)
        np.fill_diagonal(channel, self.p)
        return channel

    def expected(self, theta: ArrayLike) -> Array:
        """Expected report frequencies q + (p - q) theta, same shape as ``theta`` (..., k)."""
        theta = _validate.vector("theta", theta, self.k)
        return self.q + self.keep * theta

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """One report per user.

        Args:
            values: the users' true categories, integers in 0..k-1, any shape.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 reports in 0..k-1, same shape.
        """
        rng = np.random.default_rng(rng)
        values = _validate.categories("values", values, self.k)
        redrawn = rng.integers(0, self.k, size=values.shape)
        return np.where(rng.random(values.shape) < self.keep, values, redrawn).astype(np.int64)

    def randomize_histogram(
        self, counts: ArrayLike, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """The histogram of everybody's reports, drawn from its exact law in O(k) for any number of users.

        Args:
            counts: (..., k) true counts, whole numbers >= 0; leading axes are independent batches.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 noisy counts, same shape, each row with the same total as the true counts.
        """
        true_counts = sampling.whole_counts("counts", counts, self.k)
        return sampling.noisy_histogram(true_counts, self.keep, np.random.default_rng(rng))


def _too_close(name: str, low: str, value: float) -> str:
    return (
        f"{name} must be far enough from {low} and from 1 that epsilon is a number from {EPSILON_MIN:g} to "
        f"{EPSILON_MAX:g}, got {value!r}"
    )
