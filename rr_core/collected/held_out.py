"""Which estimate is nearest to the truth, by reports that were held out: no guess of the truth is needed.

A simulation at an estimate flatters the estimators that make flat estimates: under heavy noise MLE* is far flatter
than the truth. Reports that an estimate has not seen do not. Inv of these is unbiased for the truth and independent
of the estimate, so with v the estimated total variance of that Inv,

    ||estimate(A) - Inv(B)||^2 - v

is unbiased for the squared error of the estimate from the reports A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import streams
from rr_core._validate import Array
from rr_core.collected.advice import Ranking
from rr_core.collected.replicates import Progress, checked_plan
from rr_core.collected.reports import Counts, collected
from rr_core.comparison import RULES, TIE, VALID
from rr_core.errors import variance_at
from rr_core.estimators import inv
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import profile, table_size
from rr_core.streams import Stream

FOLDS = 5
_NAMES = ("inv", *VALID)


@dataclass(frozen=True)
class HeldOut(Ranking):
    """Squared errors (summed over categories) of the estimates from four fifths of the reports. They may fall below
    zero by chance; the standard errors are of how much larger than the best one's an estimator's error is, by the
    noise of all reports, and those within two of them are tied.

    Attributes:
        done: repetitions, each with every report held out once.
    """

    done: int


def held_out(
    counts: ArrayLike,
    mechanism: RandomizedResponse,
    repetitions: int = 20,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> HeldOut | None:
    """Measure the four estimators on reports that they have not seen.

    The reports are dealt into five parts at random. Each part is held out once, and the estimates from the other
    four are compared with Inv of it. O(k) per estimate.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        repetitions: how often the reports are dealt, an integer >= 1.
        seed: of the random streams, an integer >= 0.
        progress: called with the repetitions done; True asks to stop.

    Returns:
        None when there are too few reports to deal (fewer than 25), or it was stopped before the first repetition.

    Raises:
        ValueError: naming the argument.
    """
    checked = collected(counts, mechanism)
    repetitions, seed = checked_plan(repetitions, seed)
    n = int(checked.sum())
    if n < FOLDS**2:
        return None
    errors, moved, done = np.zeros(len(_NAMES)), np.zeros((len(_NAMES), mechanism.k)), 0
    for repetition in range(repetitions):
        if progress is not None and progress(repetition):
            break
        rng = streams.generator(seed, Stream.HELD_OUT, repetition)
        parts = [part for part in rng.multinomial(checked, [1 / FOLDS] * FOLDS).T if part.sum() > 1]
        for part in parts:
            error, estimates = _against(part, checked - part, mechanism)
            errors += error / len(parts)
            moved += estimates / len(parts)
        done += 1
    if not done:
        return None
    errors, moved = errors / done, moved / done
    return _compared(dict(zip(_NAMES, errors.tolist(), strict=True)), moved, n, mechanism, done)


def _against(part: Counts, rest: Counts, mechanism: RandomizedResponse) -> tuple[Array, Array]:
    """Estimated errors of the estimates from ``rest``, measured on ``part``, and the estimates: (4,) and (4, k)."""
    rows = rest[None]
    size = table_size(rows)
    levels = profile(rows, size)
    estimates = np.stack([RULES[name](levels, mechanism).apply(rows, size)[0] for name in _NAMES])
    total = float(part.sum())
    phi = part / total
    noise = (1 - float(phi @ phi)) / (total - 1) / mechanism.keep**2
    distances: Array = ((estimates - inv(part, mechanism)) ** 2).sum(axis=-1)
    return distances - noise, estimates


def _compared(
    means: dict[str, float], estimates: Array, n: int, mechanism: RandomizedResponse, done: int
) -> HeldOut:
    best = min(VALID, key=means.__getitem__)
    rows = dict(zip(_NAMES, estimates, strict=True))
    variance = variance_at(rows["mle_star"], n, mechanism, "sampled")
    # What is held out enters the difference of two errors as -2 (difference of the estimates) . (its noise).
    errors = {name: 2 * float(np.sqrt((rows[name] - rows[best]) ** 2 @ variance)) for name in _NAMES}
    slack = TIE * float(variance.sum())
    tied = tuple(name for name in VALID if means[name] - means[best] <= max(2 * errors[name], slack))
    return HeldOut(best, tied, means, errors, done)
