"""How the three valid estimators stand over all cells of a sweep: who surely has the smallest mean error how often, and
how far MLE* is from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rr_core.comparison import TIE, VALID
from rr_core.experiments.compared import leading, regret
from rr_core.experiments.grid import Cell
from rr_core.experiments.run import SweepResult


@dataclass(frozen=True)
class Standing:
    """Counts of cells.

    Attributes:
        cells: that are done.
        sure: by estimator, where it alone has the smallest mean error and the seeds settle it.
        shared: where two have the same smallest one and the seeds settle it against the third.
        equal: where the mean errors of the three are equal; the rest is about the others.
        near: where MLE*'s mean error is at most ``close`` times the smallest, by the means.
        typical: MLE*'s mean error over the smallest in the middle cell, by the means; nan where none is apart.
        behind: where the seeds settle that MLE*'s is not the smallest.
        largest: its ratio to the smallest there, at most (infinite where the smallest is zero); 1 where there is none.
        where: the cell of the largest.
    """

    cells: int
    sure: Mapping[str, int]
    shared: int
    equal: int
    near: int
    typical: float
    behind: int
    largest: float
    where: Cell | None

    @property
    def apart(self) -> int:
        """Cells where the three differ."""
        return self.cells - self.equal

    @property
    def unsettled(self) -> int:
        """Those of them where the seeds do not tell who has the smallest mean error."""
        return self.apart - self.settled

    @property
    def settled(self) -> int:
        """Those of them where the seeds tell who has the smallest mean error."""
        return sum(self.sure.values()) + self.shared


def standing(result: SweepResult, metric: str, close: float = 1.5) -> Standing:
    """Over all cells that are done.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three.
    """
    found = [(cell, leading(result, cell, metric)) for cell in result.cells]
    apart = [(cell, lead) for cell, lead in found if not lead.equal]
    ratios = np.array([regret(result, cell, metric, "mle_star") for cell, _ in apart])
    behind = np.array(["mle_star" not in lead.possible for _, lead in apart], dtype=bool)
    most = int(np.where(behind, ratios, -np.inf).argmax()) if behind.any() else None
    return Standing(
        cells=len(found),
        sure={name: sum(lead.sure and lead.best == (name,) for _, lead in apart) for name in VALID},
        shared=sum(lead.sure and len(lead.best) == 2 for _, lead in apart),
        equal=len(found) - len(apart),
        near=int((ratios <= close * (1 + TIE)).sum()),
        typical=float(np.median(ratios)) if apart else np.nan,
        behind=int(behind.sum()),
        largest=1.0 if most is None else float(ratios[most]),
        where=None if most is None else apart[most][0].cell,
    )
