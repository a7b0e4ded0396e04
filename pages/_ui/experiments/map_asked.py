"""Which plane of a sweep a person looks at, and how it stands in a link. No Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rr_core.experiments.grid import Sweep
from rr_core.experiments.winner_map import AxisValue, FixedAxis, FixedName, axis_value, fixed_axes, map_kinds
from rr_core.figures.experiments_names import METRIC_NAMES, population_name
from rr_core.figures.labels import plain

MAPS = {"eps-n": "ε × N", "eps-s": "ε × s", "n-k": "N × K", "n-s": "N × s", "k-n": "K × N", "s-n": "s × N"}
LABELS: dict[FixedName, str] = {
    "population": "Population",
    "k": "Categories K",
    "epsilon": "Privacy ε",
    "n": "Users N",
}
_AT: dict[FixedName, str] = {"population": "at_s", "k": "at_k", "epsilon": "at_eps", "n": "at_n"}
PARAMETERS = ("map", "metric", *_AT.values())
_LONGEST = 24
_METRICS = {name: names.of_cell for name, names in METRIC_NAMES.items()}


@dataclass(frozen=True)
class Asked:
    """What was chosen, as far as anything was; the values are kept for the planes that hold them fixed.

    Attributes:
        key: of `planes.KINDS`, or of its STRIPS.
        metric: of the sweep's.
        at: what to hold fixed.
    """

    key: str = ""
    metric: str = ""
    at: Mapping[FixedName, AxisValue] = field(default_factory=dict)

    def fixed_at(self, axis: FixedName, taken: AxisValue) -> Asked:
        return replace(self, at={**self.at, axis: taken})

    def fitted(self, sweep: Sweep) -> Asked:
        """With a plane and a metric that the sweep has; it must have a plane."""
        offered, metrics = map_kinds(sweep.cells), sweep.settings.metrics
        return replace(
            self,
            key=self.key if self.key in offered else offered[0],
            metric=self.metric if self.metric in metrics else metrics[0],
        )


def to_query(asked: Asked, taken: tuple[FixedAxis, ...]) -> dict[str, str | None]:
    """All parameters of a link; None for those that are not needed."""
    query: dict[str, str | None] = dict.fromkeys(PARAMETERS)
    query |= {"map": asked.key, "metric": asked.metric}
    return query | {_AT[one.axis]: as_text(one.taken) for one in taken if len(one.options) > 1}


def from_query(query: Mapping[str, str], sweep: Sweep) -> tuple[Asked, tuple[str, ...]]:
    """What a link asks of a sweep that has a plane, and one plain sentence for each value that it does not have."""
    at = {axis: _parsed(axis, query[name]) for axis, name in _AT.items() if name in query}
    wanted = Asked(query.get("map", "").strip().lower(), query.get("metric", "").strip().lower(), at)
    asked = wanted.fitted(sweep)
    notes = []
    for name, label, mine, theirs, known in (
        ("map", "map", asked.key, wanted.key, MAPS),
        ("metric", "error measure", asked.metric, wanted.metric, _METRICS),
    ):
        if name in query and mine != theirs:
            notes.append(_note(label, query[name], known[mine]))
    populations = names(sweep)
    notes += [
        _note(LABELS[one.axis], query[_AT[one.axis]], shown(one.axis, one.taken, populations))
        for one in fixed_axes(sweep.cells, asked.key, asked.at)
        if one.axis in at and at[one.axis] != one.taken
    ]
    return asked, tuple(notes)


def names(sweep: Sweep) -> dict[AxisValue, str]:
    """What each population of a sweep is called."""
    return {axis_value(cell, "population"): population_name(cell) for cell in sweep.cells}


def shown(axis: FixedName, taken: AxisValue, populations: Mapping[AxisValue, str]) -> str:
    """A value that is held fixed, as it is written on screen."""
    if axis == "population":
        return populations[taken]
    return f"{taken:g}" if axis == "epsilon" else f"{taken:,.0f}"


def as_text(taken: AxisValue) -> str:
    """The same as it is written in a link."""
    return taken if isinstance(taken, str) else f"{taken:.17g}" if taken % 1 else f"{taken:.0f}"


def _parsed(axis: FixedName, text: str) -> AxisValue:
    """A number where the text is one; of a population, in the one form that it has."""
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return f"{number:.12g}" if axis == "population" else number


def _note(label: str, text: str, used: str) -> str:
    return (
        f"The link's {label} “{plain(text, _LONGEST)}” is not in this sweep's map; “{used}” is used instead."
    )
