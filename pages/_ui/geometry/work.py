"""What the geometry page derives from a draw, each part computed when first asked for and then shared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from rr_core.collinearity import Collinearity, Theorem2, collinearity, theorem2
from rr_core.geometry.clouds import Cloud, Where, clouds
from rr_core.geometry.pushdown import PushDown, candidates, push_down
from rr_core.geometry.three import three_categories
from rr_core.scenario import Draw


@dataclass(eq=False)
class Geometry:
    """How the three repairs of a draw lie, and the same with three categories."""

    draw: Draw
    _clouds: dict[Where, dict[str, Cloud]] = field(default_factory=dict)
    _pushed: dict[tuple[int, bool], PushDown] = field(default_factory=dict)

    @cached_property
    def three(self) -> Draw:
        return three_categories(self.draw)

    @cached_property
    def place(self) -> Collinearity:
        return collinearity(self.draw.counts, self.draw.mechanism)

    @cached_property
    def conditions(self) -> Theorem2:
        return theorem2(self.draw.counts, self.draw.mechanism)

    @cached_property
    def candidates(self) -> list[int]:
        """Categories to push down, see `pushdown.candidates`."""
        found: list[int] = candidates(self.draw.counts, self.draw.mechanism).tolist()
        return found

    def clouds(self, where: Where) -> dict[str, Cloud]:
        if where not in self._clouds:
            self._clouds[where] = clouds(self.three, where)
        return self._clouds[where]

    def push_down(self, category: int, level: bool) -> PushDown:
        if (category, level) not in self._pushed:
            found = push_down(self.draw.counts, category, self.draw.mechanism, level=level)
            self._pushed[category, level] = found
        return self._pushed[category, level]
