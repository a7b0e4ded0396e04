"""The sweeps of the paper as they were when this version was made, so that they are there without computing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rr_core.experiments.grid import MAIN_GRID, PRESETS, Cell, Settings, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.experiments.summary import ARRAYS, CellResult
from rr_core.experiments.table import FORMAT, versions

FILE = Path(__file__).with_name("recorded.npz")
# All that is stored: the main grid and what the paper's figures have beyond it, each cell once.
CELLS = tuple(dict.fromkeys([*MAIN_GRID, *(cell for preset in PRESETS.values() for cell in preset.cells)]))


def recorded(cells: Iterable[Cell]) -> SweepResult:
    """The sweep over ``cells``, measured as `recorded_settings` says, with those of them done that are stored."""
    sweep, stored = Sweep(tuple(cells), recorded_settings()), _stored()
    return SweepResult(sweep, tuple(stored[cell] for cell in sweep.cells if cell in stored))


def recorded_settings() -> Settings:
    """How the stored cells were measured."""
    return Settings(**_about()["settings"])


def recorded_versions() -> Mapping[str, str]:
    """With which Python, NumPy and SciPy; others may change the last digits."""
    made: Mapping[str, str] = _about()["versions"]
    return made


def save(result: SweepResult, path: Path = FILE) -> None:
    """Store the cells of a result for `recorded`."""
    about = {"format": FORMAT, "settings": asdict(result.sweep.settings), "versions": versions()}
    arrays: dict[str, Any] = {
        name: np.stack([getattr(cell, name) for cell in result.cells]) for name in ARRAYS
    }
    arrays["cells"] = np.array([cell.cell.key.encode() for cell in result.cells])
    arrays["concentration"] = np.array([cell.concentration for cell in result.cells])
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


@cache
def _about() -> Mapping[str, Any]:
    with np.load(FILE) as file:
        about: Mapping[str, Any] = json.loads(str(file["about"]))
    return about


@cache
def _stored() -> Mapping[Cell, CellResult]:
    seeds = recorded_settings().seeds
    with np.load(FILE) as file:
        keys, concentration = file["cells"], file["concentration"]
        arrays = {name: file[name] for name in ARRAYS}
    cells = [Cell.parse(key.decode()) for key in keys.tolist()]
    return {
        cell: CellResult(
            cell=cell,
            seeds=seeds,
            concentration=float(concentration[i]),
            **{name: values[i] for name, values in arrays.items()},
        )
        for i, cell in enumerate(cells)
    }
