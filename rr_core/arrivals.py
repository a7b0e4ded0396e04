"""A collection as it comes in: the first n of its N reports, for n from 1 to N.

Reports arrive in random order, so the first n of N are a sample without replacement: given all reports c, their histogram
is multivariate hypergeometric. It is drawn backwards, from all reports to fewer and fewer, each histogram from the one
after it: every one has the exact law, is a part of the next, and costs O(k) whatever n is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, limits
from rr_core._validate import Array
from rr_core.metrics import squared_error, total_variation
from rr_core.profile import profile, table_size
from rr_core.registry import RULES
from rr_core.sampling import Counts, whole_counts
from rr_core.scenario import Draw
from rr_core.streams import Stream

# Beyond, a hundred histograms and their estimates take longer than a page may.
LARGEST_K = 100_000
_PER_DECADE = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 50, 60, 70, 80, 90)
_SAMPLER_LIMIT = 10**9  # NumPy's takes fewer reports than this


def moments(n: int) -> NDArray[np.int64]:
    """Numbers of reports at which to look at a collection of ``n``: one by one up to 10, then in 15 round steps per
    power of ten, and ``n`` itself.

    >>> moments(45).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45]
    """
    n = _validate.integer("n", n, 1, limits.N_MAX)
    steps = [*range(1, 10)]
    steps += [step * 10**power for power in range(len(str(n)) - 1) for step in _PER_DECADE]
    return np.array([step for step in steps if step < n] + [n], dtype=np.int64)


def first_reports(counts: ArrayLike, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Counts]:
    """Histograms of the first reports of one collection that arrives in random order, from the last to the first.

    Args:
        counts: (k,) all reports per category, at most `limits.N_MAX` in all.
        sizes: how many of the reports have arrived, increasing, from 0 to their number.

    Yields:
        (k,) int64 histograms with the totals ``sizes``, the largest first; each is at most the one before it.

    Raises:
        ValueError: naming the argument when counts or sizes are out of range.

    >>> from rr_core.streams import Stream, generator
    >>> [part.tolist() for part in first_reports([3, 0, 2], [1, 2, 5], generator(1, Stream.ARRIVALS))]
    [[3, 0, 2], [0, 0, 2], [0, 0, 1]]
    """
    left = whole_counts("counts", counts, _validate.as_array("counts", counts).size).copy()
    left = _validate.one_row("counts", left)
    total = _validate.integer("the sum of counts", int(left.sum()), 0, limits.N_MAX)
    smaller = [_validate.integer("sizes", size, 0) for size in _validate.numbers("sizes", sizes).ravel()][
        ::-1
    ]
    if any(size >= before for before, size in zip([total + 1, *smaller], smaller, strict=False)):
        raise ValueError(f"sizes must increase, from 0 to at most {total}, got {_validate.short(sizes)}")
    for size in smaller:
        if size < left.sum() >= _SAMPLER_LIMIT:  # the last report goes by itself: then they are few enough
            left[np.searchsorted(np.cumsum(left), rng.integers(left.sum()), side="right")] -= 1
        if size < left.sum():
            left = rng.multivariate_hypergeometric(left, size, method="marginals")
        yield left.copy()


@dataclass(frozen=True, eq=False)
class ReportsSoFar:
    """Shares of the reports that have arrived, at several moments.

    Attributes:
        n: (f,) reports so far, increasing; the last is all of them.
        categories: (m,) whose shares these are.
        shares: (f, m) of the reports so far.
        distance: (f,) total variation between the shares of all k categories and the expected ones.
    """

    n: NDArray[np.int64]
    categories: NDArray[np.intp]
    shares: Array
    distance: Array


@dataclass(frozen=True, eq=False)
class EstimatesSoFar:
    """Estimates from the reports that have arrived, at several moments.

    Attributes:
        n: (f,) reports so far, increasing; the last is all of them.
        categories: (m,) whose estimates these are.
        estimates: (f, m) by estimator name.
        squared_error: (f,) by estimator name: squared distance to the truth, summed over all k categories.
    """

    n: NDArray[np.int64]
    categories: NDArray[np.intp]
    estimates: Mapping[str, Array]
    squared_error: Mapping[str, Array]


def follow_reports(draw: Draw, categories: NDArray[np.intp]) -> ReportsSoFar:
    """The shares of these categories (m,) among the reports of a draw as they come in.

    >>> from rr_core import Scenario
    >>> seen = follow_reports(Scenario(n=2000).draw(), np.arange(3))
    >>> seen.n[[0, -1]].tolist(), seen.shares.shape
    ([1, 2000], (45, 3))
    """
    n, parts = _arrivals(draw)
    expected = draw.mechanism.expected(draw.theta)
    shares = np.empty((n.size, categories.size))
    distance = np.empty(n.size)
    for i, part in parts:
        shares[i] = part[categories] / n[i]
        distance[i] = total_variation(part / n[i], expected)
    return ReportsSoFar(n, categories, shares, distance)


def follow_estimates(draw: Draw, truth: Array, categories: NDArray[np.intp]) -> EstimatesSoFar:
    """The four estimates of these categories (m,) from the reports of a draw as they come in; their errors are
    measured against ``truth`` (k,).

    >>> from rr_core import Scenario
    >>> draw = Scenario(n=2000).draw()
    >>> seen = follow_estimates(draw, draw.theta, np.arange(3))
    >>> seen.squared_error["mle_star"][[0, -1]].round(4).tolist()
    [1.1101, 0.0191]
    """
    n, parts = _arrivals(draw)
    estimates = {name: np.empty((n.size, categories.size)) for name in RULES}
    errors = {name: np.empty(n.size) for name in RULES}
    for i, part in parts:
        rows = part[None]
        size = table_size(rows)
        levels = profile(rows, size)
        for name, make in RULES.items():
            estimate = make(levels, draw.mechanism).apply(rows, size)[0]
            estimates[name][i] = estimate[categories]
            errors[name][i] = squared_error(estimate, truth)
    return EstimatesSoFar(n, categories, estimates, errors)


def _arrivals(draw: Draw) -> tuple[NDArray[np.int64], Iterator[tuple[int, Counts]]]:
    """The moments of a draw's collection, and its histograms with their place among them, the last first."""
    n = moments(draw.scenario.n)
    parts = first_reports(draw.counts, n.tolist(), draw.scenario.stream(Stream.ARRIVALS))
    return n, zip(range(n.size - 1, -1, -1), parts, strict=True)
