"""How the three valid estimators stand over all cells of a sweep: who has the smallest mean error how often, and how far
MLE* is from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rr_core.comparison import VALID
from rr_core.experiments.compared import leading, regret
from rr_core.experiments.grid import Cell
from rr_core.experiments.run import SweepResult


@dataclass(frozen=True)
class Standing:
    """Counts of cells.

    Attributes:
        cells: that are done.
        wins: by estimator, where it has the smallest mean error, settled or not; MLE* stands for those that it shares
            with.
        sure: by estimator, where it alone has the smallest one and the seeds settle it.
        shared: where two have the same smallest one and the seeds settle it against the third.
        equal: where the three coincide; the rest is about the others.
        near: where MLE*'s mean error is at most ``close`` times the smallest.
        typical, largest: MLE*'s mean error over the smallest, in the middle cell and at most (infinite where the smallest
            is zero); nan where the three coincide everywhere.
        where: the cell of the largest.
    """

    cells: int
    wins: Mapping[str, int]
    sure: Mapping[str, int]
    shared: int
    equal: int
    near: int
    typical: float
    largest: float
    where: Cell | None

    @property
    def apart(self) -> int:
        """Cells where the three differ."""
        return self.cells - self.equal

    @property
    def settled(self) -> int:
        """Those of them where the seeds tell who has the smallest mean error."""
        return sum(self.sure.values()) + self.shared


def standing(result: SweepResult, metric: str, close: float = 1.5) -> Standing:
    """Over all cells that are done.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three.
    """
    found = [(cell, *leading(result, cell, metric)) for cell in result.cells]
    apart = [cell for cell, won, _ in found if won.name is not None]
    ratios = np.array([regret(result, cell, metric, "mle_star") for cell in apart])
    most = int(ratios.argmax()) if apart else None
    return Standing(
        cells=len(found),
        wins={name: sum(won.name == name for _, won, _ in found) for name in VALID},
        sure={name: sum(won.sure and best == (name,) for _, won, best in found) for name in VALID},
        shared=sum(won.sure and len(best) == 2 for _, won, best in found),
        equal=len(found) - len(apart),
        near=int((ratios <= close).sum()),
        typical=float(np.median(ratios)) if apart else np.nan,
        largest=np.nan if most is None else float(ratios[most]),
        where=None if most is None else apart[most].cell,
    )
