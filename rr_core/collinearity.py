"""Where InvP, MLE* and InvN lie: Theorem 2, and the wider rule of equal supports."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import EDGE, inv_n_rule, inv_p_rule, mle_rule
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, as_rows, profile, table_size

_ROUNDING = 1e-9  # of a residual, relative to the length; what differing supports do is far larger
_SMALLEST = 1e-15  # rounding of the estimates themselves
_Result = TypeVar("_Result", "Collinearity", "Theorem2")


@dataclass(frozen=True)
class Collinearity:
    """How the three repairs of one histogram lie; every field is an array when the input is a batch.

    Attributes:
        same_support: the three estimates are positive on the same categories.
        theorem2_holds: the conditions of Theorem 2 hold: exactly one entry of phi below q, and the second
            smallest at least (k q - smallest)/(k - 1).
        position: where MLE* projects on the line from InvP (0) to InvN (1); nan if those coincide.
        residual: Euclidean distance of MLE* from that line (from InvP if the two coincide).
        supports: (..., 3) number of positive categories of InvP, MLE*, InvN; never decreasing.
        length: Euclidean distance from InvP to InvN; exactly zero if they coincide.
        cut_off: whether Inv has a negative entry; otherwise all repairs equal Inv.
    """

    same_support: Any
    theorem2_holds: Any
    position: Any
    residual: Any
    supports: NDArray[np.int64]
    length: Any
    cut_off: Any

    @property
    def relative(self) -> Any:
        """Residual over length: distance from the line, relative to that from InvP to InvN; nan if those
        coincide."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.equal(self.length, 0), np.nan, np.divide(self.residual, self.length))[()]

    @property
    def on_line(self) -> Any:
        """Whether the three are collinear: by equal supports, or with a residual of at most rounding. True
        where all coincide."""
        return np.logical_or(
            self.same_support, self.residual <= np.maximum(_ROUNDING * self.length, _SMALLEST)
        )

    @property
    def t(self) -> Any:
        """1/position, the measured t of Theorem 2; infinite if MLE* projects on InvP."""
        with np.errstate(divide="ignore"):
            return np.divide(1.0, self.position)


@dataclass(frozen=True)
class Theorem2:
    """The two conditions of Theorem 2 and the numbers compared in them; every field is an array when the
    input is a batch.

    Attributes:
        smallest: phi_1, the smallest share of reports.
        first_condition: whether smallest < q.
        second: phi_2, the second smallest (equal to the smallest when two categories have it).
        threshold: (k q - phi_1)/(k - 1).
        second_condition: whether second >= threshold.
        t: (1 - phi_1)/(p - phi_1), by which InvN - InvP = t (MLE* - InvP) when both hold; nan unless the first
            does.
    """

    smallest: Any
    first_condition: Any
    second: Any
    threshold: Any
    second_condition: Any
    t: Any


def collinearity(histogram: ArrayLike, mechanism: RandomizedResponse) -> Collinearity:
    """Position of MLE* relative to InvP and InvN (Theorem 2 and its extension to equal supports).

    The supports are nested, supp(InvP) in supp(MLE*) in supp(InvN). When they are equal each estimate is
    alpha c + beta on the support and zero elsewhere, so the three are collinear and MLE* lies at
    position (1 + nu) (p - q)/Phi, where nu is minus the sum of the negatives of Inv and Phi the share of
    reports in the support. Theorem 2 is the case of one zero, where the position is 1/t = (p - v)/(1 - v).

    Args:
        histogram: (..., k) counts or frequencies, normalised inside.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> found = collinearity([6, 3, 2, 1], mechanism)
    >>> found.same_support, round(found.position, 6)
    (True, 0.555556)
    """
    levels, shape = _levels(histogram, mechanism)
    return _shaped(profile_collinearity(levels, mechanism), shape)


def theorem2(histogram: ArrayLike, mechanism: RandomizedResponse) -> Theorem2:
    """The conditions of Theorem 2 with the numbers on both sides, and its t.

    Arguments, shapes and errors as in `collinearity`. Which side is larger is decided on integers, so that
    equality counts as it should; the numbers are for reading.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> found = theorem2([6, 5, 4, 1], mechanism)
    >>> bool(found.first_condition and found.second_condition), round(found.t, 6)
    (True, 2.142857)
    """
    levels, shape = _levels(histogram, mechanism)
    return _shaped(_theorem2(levels, mechanism), shape)


def profile_collinearity(levels: Profile, mechanism: RandomizedResponse) -> Collinearity:
    """`collinearity` of each row of a profile; fields of shape (rows,), supports (rows, 3)."""
    near, best, far = (make(levels, mechanism) for make in (inv_p_rule, mle_rule, inv_n_rule))
    supports = np.stack([near.support, best.support, far.support], axis=-1).astype(np.int64)
    same = supports[:, 0] == supports[:, 2]
    cut_off = _below_q(levels.values[:, -1], levels.totals, mechanism)

    p, m, n = (rule.at(levels.values) for rule in (near, best, far))
    weight = levels.multiplicities
    length2 = (weight * (n - p) ** 2).sum(axis=-1)
    # InvN and InvP coincide when nothing was cut off, or when all that is left is equal.
    apart = cut_off & ~(same & (levels.values[:, 0] == near.cut)) & (length2 > 0)
    safe = np.where(apart, length2, 1.0)
    projected = (weight * (m - p) * (n - p)).sum(axis=-1) / safe
    projected[np.abs(projected) < _ROUNDING] = 0.0  # MLE* is InvP
    # (1 + nu) (p - q)/Phi, because InvN rises by 1/((1 + nu) (p - q) N) with every report.
    exact = 1 / (far.slope * best.kept_total)
    position = np.where(apart, np.where(same, exact, projected), np.nan)
    offset = m - p - np.where(apart, position, 0.0)[:, None] * (n - p)
    residual = np.sqrt((weight * offset**2).sum(axis=-1))
    length = np.where(apart, np.sqrt(length2), 0.0)
    conditions = _theorem2(levels, mechanism)
    holds = conditions.first_condition & conditions.second_condition
    return Collinearity(same, holds, position, residual, supports, length, cut_off)


def _levels(histogram: ArrayLike, mechanism: RandomizedResponse) -> tuple[Profile, tuple[int, ...]]:
    checked = _validate.histogram(histogram, mechanism.k)
    rows = as_rows(checked)
    return profile(rows, table_size(rows)), checked.shape[:-1]


def _shaped(result: _Result, shape: tuple[int, ...]) -> _Result:
    """The result with its fields, (rows,), reshaped to the batch of the input; scalars for one histogram."""
    shaped: dict[str, Any] = {}
    for field in fields(result):
        values: NDArray[Any] = getattr(result, field.name)
        if not shape:
            shaped[field.name] = values[0].item() if values.ndim == 1 else values[0]
        else:
            shaped[field.name] = values.reshape(*shape, *values.shape[1:])
    return replace(result, **shaped)


def _theorem2(levels: Profile, mechanism: RandomizedResponse) -> Theorem2:
    """The conditions phi_1 < q and phi_2 >= (k q - phi_1)/(k - 1) of each row, multiplied by N (truth + k
    blur) to compare integers."""
    k, truth, blur = mechanism.k, mechanism.truth, mechanism.blur
    smallest = levels.values[:, -1]
    tied = np.where(levels.values == smallest[:, None], levels.multiplicities, 0).sum(axis=-1) > 1
    larger = np.where(levels.values > smallest[:, None], levels.values, np.inf)
    # Where every value is the same there is no larger one.
    second = np.where(tied, smallest, larger.min(axis=-1))
    total, unit = levels.totals, truth + k * blur
    both = second * (k - 1) + smallest
    enough = truth * both + k * blur * (both - total) >= -EDGE * truth * both
    needed = (k * blur * (total - smallest) - truth * smallest) / (k - 1) / unit / total
    below = _below_q(smallest, total, mechanism)
    room = truth * (total - smallest) + blur * (total - k * smallest)
    t = np.where(below, (total - smallest) * unit / np.where(below, room, 1.0), np.nan)
    return Theorem2(smallest / total, below, second / total, needed, enough, t)


def _below_q(values: Array, totals: Array, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
    """Whether values/totals < q, that is Inv < 0: integers are subtracted first, and a difference that is only
    rounding is none."""
    scaled = mechanism.truth * values + mechanism.blur * (mechanism.k * values - totals)
    below: NDArray[np.bool_] = scaled < -EDGE * mechanism.truth * values
    return below
