"""Computes the stored results anew: ``python -m tests.benchmarks.record [--write]``.

All cells of the main grid and of the paper's figures, over this machine's processes, beside what
rr_core/data/experiments.npz holds. ``--write`` puts the new numbers there. Exit status 1 when a number differs
from the stored one and is not written.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rr_core.experiments.cell import ARRAYS, CellResult
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS, PAPER_FIGURES, Sweep
from rr_core.experiments.run import SweepResult, run
from rr_core.experiments.storage import FORMAT, STORED_FILE, stored_metadata, stored_result, versions

# The main grid and what the paper's figures have beyond it, each cell once.
STORED_CELLS = tuple(
    dict.fromkeys([*MAIN_GRID, *(cell for preset in PAPER_FIGURES.values() for cell in preset.cells)])
)


def save_stored(result: SweepResult, path: Path = STORED_FILE) -> None:
    """Store the cells of a result for `stored_result`."""
    about = {"format": FORMAT, "settings": asdict(result.sweep.settings), "versions": versions()}
    arrays: dict[str, Any] = {
        name: np.stack([getattr(cell, name) for cell in result.cells]) for name in ARRAYS
    }
    arrays["cells"] = np.array([cell.cell.key.encode() for cell in result.cells])
    arrays["concentration"] = np.array([cell.concentration for cell in result.cells])
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


def computed() -> SweepResult:
    """All cells, at the lowest priority: others may be at work on this machine."""
    context = multiprocessing.get_context("spawn")
    lowest = (os.nice, (19,)) if hasattr(os, "nice") else (None, ())
    with ProcessPoolExecutor(mp_context=context, initializer=lowest[0], initargs=lowest[1]) as executor:
        return run(Sweep(STORED_CELLS, MAIN_SETTINGS), executor)


def distance(one: CellResult, other: CellResult) -> float:
    """The largest difference of two results of a cell, relative to the largest entry of each array."""
    apart = [0.0]
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        if a.shape != b.shape:
            return float("inf")  # of other estimators
        known = ~(np.isnan(a) & np.isnan(b))
        if known.any():
            apart.append(float(np.abs(a - b)[known].max() / max(float(np.abs(b[known]).max()), 1e-300)))
    return max(apart)


def main(arguments: list[str]) -> int:
    began = time.perf_counter()
    new = computed()
    print(f"{len(STORED_CELLS)} cells in {time.perf_counter() - began:.1f} s, with {versions()}.")
    changed = False
    if STORED_FILE.exists():
        old = stored_result(STORED_CELLS)
        both = [(cell, old.by_cell[cell.cell]) for cell in new.cells if cell.cell in old.by_cell]
        other = [distance(*pair) for pair in both if not pair[0].same(pair[1])]
        missing = len(STORED_CELLS) - len(both)
        changed = bool(other or missing or old.sweep.settings != MAIN_SETTINGS)
        print(f"Stored with {stored_metadata()['versions']}: {missing} cells missing, {len(other)} changed.")
        if other:
            print(f"Largest change: {max(other):.2g} of an array's largest entry.")
    if "--write" in arguments:
        save_stored(new)
        print(f"Written: {STORED_FILE.stat().st_size:,} bytes.")
        return 0
    return int(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
