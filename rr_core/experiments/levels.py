"""The profiles of a block of histograms, found together rather than row by row."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.profile import Profile
from rr_core.sampling import Counts

# Counts below this, or twice k, are tallied in a table; columns that reach higher are levels of their own.
_TABLE = 1024


class Levels(Profile):
    """A profile that several rules are found from: its running sums are worked out once."""

    @cached_property
    def sizes(self) -> Array:
        return super().sizes

    @cached_property
    def below(self) -> Array:
        return super().below

    @cached_property
    def totals(self) -> Array:
        return super().totals


def levels_of(rows: Counts) -> Levels:
    """Profile of every row of (rows, k) counts.

    Unlike `profile.profile` the rows share their levels, so a level that a row does not have stands there with
    multiplicity 0. No rule minds: at such a level every estimator's affine piece takes the value it would have.
    """
    k = rows.shape[-1]
    high = rows.max(axis=0) >= max(_TABLE, 2 * k)
    if not high.any():
        return Levels(*_tallied(rows))
    values: Array = rows[:, high].astype(np.float64)
    multiplicities = np.ones_like(values)
    if not high.all():
        low_values, low_multiplicities = _tallied(rows[:, ~high])
        values = np.concatenate([values, low_values], axis=-1)
        multiplicities = np.concatenate([multiplicities, low_multiplicities], axis=-1)
    order = np.argsort(-values, axis=-1)
    return Levels(
        np.take_along_axis(values, order, axis=-1), np.take_along_axis(multiplicities, order, axis=-1)
    )


def _tallied(rows: Counts) -> tuple[Array, Array]:
    """(rows, levels) each: the values that occur in any row, decreasing, and how often in this one."""
    least = int(rows.min())
    width = int(rows.max()) - least + 1
    start: NDArray[np.int64] = np.arange(len(rows), dtype=np.int64)[:, None] * width - least
    tally = np.bincount((rows + start).ravel(), minlength=len(rows) * width).reshape(len(rows), width)
    found = np.flatnonzero(tally.any(axis=0))[::-1]
    values = np.broadcast_to((found + least).astype(np.float64), (len(rows), found.size))
    return values, tally[:, found].astype(np.float64)
