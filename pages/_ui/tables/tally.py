"""Counting the values of a column piece by piece, in memory for the distinct ones only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pages._ui.tables.labels import factorize
from rr_core.io.parquet import to_text

Counts = npt.NDArray[np.int64]

_PENDING = 1 << 20


@dataclass(frozen=True)
class Tallied:
    """Distinct names as they are written, in order of first appearance; for each its rows and its people."""

    names: Any
    rows: Counts
    people: Counts


class Tally:
    """Counts values that come in pieces.

    Each piece is reduced to its distinct values at once. These are united when enough of them wait: the work
    stays proportional to the rows, also when nearly all values differ.
    """

    def __init__(self) -> None:
        self._names: list[Any] = []
        self._rows: list[Counts] = []
        self._waiting = 0
        self._limit = _PENDING
        self.distinct = 0
        """Distinct values when they were last united."""

    def add(self, values: Any) -> None:
        """Count the values of one more Arrow array."""
        found = values.value_counts()
        self._names.append(to_text(found.field("values")))
        self._rows.append(found.field("counts").to_numpy())
        self._waiting += len(found)
        if self._waiting > self._limit:
            self.distinct = len(self.result().names)
            self._limit = 2 * self.distinct + _PENDING

    def result(self) -> Tallied:
        """What was counted so far."""
        names, codes = factorize(pa.chunked_array(self._names, pa.large_string()))
        rows = add_up(codes, np.concatenate([np.zeros(0, np.int64), *self._rows]), len(names))
        self._names, self._rows, self._waiting = [names], [rows], len(names)
        return Tallied(names, rows, rows)


def add_up(codes: npt.NDArray[Any], weights: Counts, k: int) -> Counts:
    """The sum of the weights of each code; exact, for sums below 2^53."""
    return np.bincount(codes, weights=weights, minlength=k).astype(np.int64)
