"""How often the three repairs lie on one line, over many collections of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rr_core import _validate
from rr_core._validate import Array
from rr_core.collinearity import collinearity
from rr_core.scenario import Draw

# Categories worked on at once: some tens of milliseconds per step, so that a stop takes effect quickly.
_CELLS_PER_STEP = 400_000


@dataclass(eq=False)
class Alignment:
    """Results over ``done`` collections of one scenario; every collection is counted in exactly one of the four.

    Attributes:
        done: collections so far.
        untouched: Inv had no negative, so that there was nothing to repair.
        theorem2: the conditions of Theorem 2 held.
        wider: they did not, but the three supports were equal.
        neither: the supports differed.
        off: (neither,) distance of MLE* from the line, over the distance from InvP to InvN; 0 where it is rounding.
    """

    done: int = 0
    untouched: int = 0
    theorem2: int = 0
    wider: int = 0
    neither: int = 0
    off: Array = field(default_factory=lambda: np.empty(0))

    @property
    def n_off(self) -> int:
        """Number of collections off the line. Unequal supports may be on it too: all three repairs lie on one edge
        where InvN keeps two categories, and InvP is MLE* where both keep one."""
        return int((self.off > 0).sum())


def align(draw: Draw, times: int) -> Iterator[Alignment]:
    """Let the same users report ``times`` times over, yielding the growing result after each short step.

    Collection i is the one that `repeats.repeat` draws. Stop by not asking for the next item.

    Args:
        draw: the scenario's draw.
        times: how many collections, an integer >= 1.
    """
    times = _validate.integer("times", times, 1)
    result = Alignment()
    step = max(1, min(times, _CELLS_PER_STEP // draw.scenario.k))
    for first in range(0, times, step):
        _, reports = draw.repeat(first, min(step, times - first))
        place = collinearity(reports, draw.mechanism)
        # At equality in Theorem 2's second condition InvP has one more zero, and the theorem still holds.
        theorem2 = place.theorem2_holds
        wider = place.cut_off & ~theorem2 & place.same_support
        neither = place.cut_off & ~theorem2 & ~place.same_support
        result.done += len(reports)
        result.untouched += int((~place.cut_off).sum())
        result.theorem2 += int(theorem2.sum())
        result.wider += int(wider.sum())
        result.neither += int(neither.sum())
        result.off = np.concatenate([result.off, np.where(place.on_line, 0.0, place.relative)[neither]])
        yield result
