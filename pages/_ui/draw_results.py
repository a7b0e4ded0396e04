"""What pages compute from the draw of a scenario: one session computes it, a whole class reads it.

Arrays are read-only and handed out as they are. Uploads are computed per session and never enter the shared
caches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeVar

import streamlit as st

from pages._ui import session_files
from rr_core.collinearity import Collinearity, Theorem2, collinearity, theorem2
from rr_core.comparison import (
    Comparison,
    EmptyShare,
    ExpectedNegatives,
    NoiseSummary,
    Target,
    compare,
    empty_negative_share,
    expected_negatives,
    noise_summary,
)
from rr_core.figures.view import Order, rank_order
from rr_core.geometry.push_down import PushDown, push_down, push_down_candidates
from rr_core.geometry.replicates import Cloud, TruthPlace, simulate_clouds
from rr_core.geometry.simplex import three_categories
from rr_core.populations import UPLOAD
from rr_core.scenario import Draw, Scenario
from server import sessions

T = TypeVar("T")
# A scenario of 1.5 million categories holds about 100 MB, one of 20,000 about 1 MB.
LARGE = 20_000
_HELD, _HELD_PER_CATEGORY = 50_000, 70  # bytes


@dataclass(eq=False)
class DrawGeometry:
    """Geometry of a draw's repairs, for all its categories and for three of them; each part on first use."""

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


@dataclass(eq=False)
class DrawResults:
    """The draw of a scenario, and what pages compute from it; each part is computed on first use."""

    draw: Draw
    _comparisons: dict[Target, Comparison] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_shared(self) -> bool:
        """Whether the results may be shared with other sessions; those on an upload may not."""
        return self.draw.scenario.dist != UPLOAD

    def once(
        self,
        name: str,
        about: Hashable,
        make: Callable[[], T],
        *,
        of: Literal["draw", "population"] = "draw",
        wait: str = "",
    ) -> T:
        """``make()``, computed once for all sessions; about an upload, for this session, until ``about`` differs.
        ``wait`` is what the page says meanwhile, if it takes long."""

        def waited() -> T:
            with st.spinner(wait) if wait else nullcontext():
                return make()

        population = self.draw.population.key
        whole = population if of == "population" else (self.draw.scenario, population)
        if self.is_shared:
            return sessions.SHARED.get((name, whole, about), waited)
        return session_files.cached(name, (whole, about), waited)

    def comparison(self, target: Target = "users") -> Comparison:
        with self._lock:  # ten who ask at once would make ten
            if target not in self._comparisons:
                self._comparisons[target] = compare(self.draw, target)
            return self._comparisons[target]

    @cached_property
    def noise(self) -> NoiseSummary:
        return noise_summary(self.draw)

    @cached_property
    def empty_share(self) -> EmptyShare:
        return empty_negative_share(self.draw)

    @cached_property
    def expected_negatives(self) -> tuple[ExpectedNegatives, ...]:
        """Expected numbers of negatives with these users, and with ten and a hundred times as many."""
        return tuple(expected_negatives(self.draw, times) for times in (1, 10, 100))

    @cached_property
    def by_truth(self) -> Order:
        """Categories from the most to the least frequent true count."""
        return rank_order(self.draw.true_counts)

    @cached_property
    def geometry(self) -> DrawGeometry:
        return DrawGeometry(self.draw)

    @cached_property
    def by_reports(self) -> Order:
        """Categories from the most to the least reported."""
        return rank_order(self.draw.counts)


def draw_results(scenario: Scenario) -> DrawResults:
    """The results of a scenario, shared by all sessions, or this session's own when it is about an uploaded file.
    `sessions.NoRoom` where the server has no memory left for them, or has let go of the file."""
    if scenario.dist == UPLOAD:
        return _own(scenario)
    return sessions.SHARED.get(
        ("draw_results", scenario), lambda: _make(scenario), _HELD + _HELD_PER_CATEGORY * scenario.k
    )


def _room(scenario: Scenario) -> AbstractContextManager[None]:
    """Room for the results of a large scenario."""
    return sessions.room(sessions.BYTES_PER_CATEGORY * scenario.k if scenario.k > LARGE else 0)


def _make(scenario: Scenario) -> DrawResults:
    said = st.spinner("Drawing the users and their reports…") if scenario.k > LARGE else nullcontext()
    with _room(scenario), said:
        alike = replace(scenario, epsilon=1.0)  # users do not depend on it
        return DrawResults(scenario.collect(sessions.SHARED.get(("users", alike), alike.users)))


def _own(scenario: Scenario) -> DrawResults:
    upload = session_files.uploaded()
    if upload is None:
        raise sessions.NoRoom(sessions.LET_GO)
    about = (scenario, upload.population.key)

    def make() -> DrawResults:
        with _room(scenario):
            return DrawResults(scenario.draw(upload.population))

    return session_files.cached("draw_results", about, make)
