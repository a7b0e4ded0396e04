"""The sweep on screen: what every section of the page is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rr_core.experiments.grid import Preset
from rr_core.experiments.run import SweepResult
from rr_core.populations import Population


@dataclass(frozen=True, eq=False)
class Shown:
    """One sweep with what is known of it.

    Attributes:
        key: "main", a key of PRESETS, "3" or "own".
        name: as the page calls it.
        result: its cells that are done: all, some or none.
        preset: the figure of the paper that it repeats.
        populations: uploaded ones that its cells ask for, by key.
        origin: one sentence on where the numbers come from.
    """

    key: str
    name: str
    result: SweepResult
    preset: Preset | None
    populations: Mapping[str, Population]
    origin: str
