"""What the geometry page derives from a draw, each part computed when first asked for and then shared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from rr_core.collinearity import Collinearity, Theorem2, collinearity, theorem2
from rr_core.geometry.push_down import PushDown, push_down, push_down_candidates
from rr_core.geometry.replicates import Cloud, TruthPlace, simulate_clouds
from rr_core.geometry.simplex import three_categories
from rr_core.scenario import Draw


@dataclass(eq=False)
class DrawGeometry:
    """How the three repairs of a draw lie, and the same with three categories."""

    draw: Draw
    _clouds: dict[TruthPlace, dict[str, Cloud]] = field(default_factory=dict)
    _pushed: dict[tuple[int, bool], PushDown] = field(default_factory=dict)

    @cached_property
    def three(self) -> Draw:
        return three_categories(self.draw)

    @cached_property
    def collinearity(self) -> Collinearity:
        return collinearity(self.draw.counts, self.draw.mechanism)

    @cached_property
    def theorem2(self) -> Theorem2:
        return theorem2(self.draw.counts, self.draw.mechanism)

    @cached_property
    def push_down_candidates(self) -> list[int]:
        """Categories to push down, see `rr_core.geometry.push_down`."""
        categories: list[int] = push_down_candidates(self.draw.counts, self.draw.mechanism).tolist()
        return categories

    def clouds(self, where: TruthPlace) -> dict[str, Cloud]:
        if where not in self._clouds:
            self._clouds[where] = simulate_clouds(self.three, where)
        return self._clouds[where]

    def push_down(self, category: int, equalize: bool) -> PushDown:
        if (category, equalize) not in self._pushed:
            pushed = push_down(self.draw.counts, category, self.draw.mechanism, equalize=equalize)
            self._pushed[category, equalize] = pushed
        return self._pushed[category, equalize]
