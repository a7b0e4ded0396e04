"""Where InvP, MLE* and InvN lie: Theorem 2, and the wider rule of equal supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core.estimators import inv_n_rule, inv_p_rule, mle_rule
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, as_rows, profile, table_size


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
    """

    same_support: Any
    theorem2_holds: Any
    position: Any
    residual: Any
    supports: NDArray[np.int64]


def collinearity(histogram: ArrayLike, mechanism: RandomizedResponse) -> Collinearity:
    """Position of MLE* relative to InvP and InvN (Theorem 2 and its extension to equal supports).

    The supports are nested, supp(InvP) in supp(MLE*) in supp(InvN). When they are equal each estimate is
    alpha c + beta on the support and zero elsewhere, so the three are collinear and MLE* lies at
    position (1 + nu) (p - q)/Phi, where nu is minus the sum of the negatives of Inv and Phi the share of
    reports in the support. Theorem 2 is the case of one zero, where the position is 1/t = (p - v)/(1 - v).

    Args:
        histogram: (..., k) counts or frequencies, normalised inside.
        mechanism: the randomized response that produced the reports.

    Raises:
        ValueError: naming the argument.
    """
    checked = _validate.histogram(histogram, mechanism.k)
    rows = as_rows(checked)
    levels = profile(rows, table_size(rows))
    near, best, far = (make(levels, mechanism) for make in (inv_p_rule, mle_rule, inv_n_rule))
    supports = np.stack([near.support, best.support, far.support], axis=-1).astype(np.int64)
    same = supports[:, 0] == supports[:, 2]

    p, m, n = (rule.at(levels.values) for rule in (near, best, far))
    weight = levels.multiplicities
    length2 = (weight * (n - p) ** 2).sum(axis=-1)
    # InvN and InvP coincide when nothing was cut off, or when all that is left is equal.
    whole = (supports[:, 0] == mechanism.k) | (same & (levels.values[:, 0] == near.cut))
    apart = ~whole & (length2 > 0)
    safe = np.where(apart, length2, 1.0)
    projected = (weight * (m - p) * (n - p)).sum(axis=-1) / safe
    # (1 + nu) (p - q)/Phi, because InvN rises by 1/((1 + nu) (p - q) N) with every report.
    exact = 1 / (far.slope * best.kept_total)
    position = np.where(apart, np.where(same, exact, projected), np.nan)
    offset = m - p - np.where(apart, position, 0.0)[:, None] * (n - p)
    residual = np.sqrt((weight * offset**2).sum(axis=-1))

    shape = checked.shape[:-1]
    fields = {
        "same_support": same,
        "theorem2_holds": _theorem2(levels, mechanism),
        "position": position,
        "residual": residual,
    }
    if not shape:
        return Collinearity(**{name: field[0].item() for name, field in fields.items()}, supports=supports[0])
    reshaped = {name: field.reshape(shape) for name, field in fields.items()}
    return Collinearity(**reshaped, supports=supports.reshape(*shape, 3))


def _theorem2(levels: Profile, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
    """phi_1 < q and phi_2 >= (k q - phi_1)/(k - 1), multiplied out by N/q = N (truth + k blur)/blur."""
    k, truth, blur = mechanism.k, mechanism.truth, mechanism.blur
    smallest, tied = levels.values[:, -1], _tied_smallest(levels)
    larger = np.where(levels.values > smallest[:, None], levels.values, np.inf)
    second = np.where(tied, smallest, larger.min(axis=-1))
    unit = truth + k * blur
    total = levels.totals
    below = smallest * unit < total * blur
    enough = (second * (k - 1) + smallest) * unit >= k * total * blur
    result: NDArray[np.bool_] = below & enough
    return result


def _tied_smallest(levels: Profile) -> NDArray[np.bool_]:
    at_bottom = np.where(levels.values == levels.values[:, -1:], levels.multiplicities, 0)
    tied: NDArray[np.bool_] = at_bottom.sum(axis=-1) > 1
    return tied
