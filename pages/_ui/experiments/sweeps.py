"""The sweeps that the page offers, by key. No Streamlit."""

from __future__ import annotations

from collections.abc import Mapping

from rr_core.experiments.grid import (
    EPSILONS,
    MAIN_GRID,
    MAIN_SETTINGS,
    PRESETS,
    Cell,
    Settings,
    Sweep,
    over,
)

MAIN, HISTOGRAM, OWN = "main", "3", "own"
_MOST_COLLECTIONS = 1000
COLLECTIONS = (1, _MOST_COLLECTIONS)

CELLS: Mapping[str, tuple[Cell, ...]] = {MAIN: MAIN_GRID, **{key: one.cells for key, one in PRESETS.items()}}
TITLES: Mapping[str, str] = {
    MAIN: f"Main grid: {len(MAIN_GRID)} settings",
    **{key: PRESETS[key].title for key in ("1a", "1b", "2a", "2b")},
    HISTOGRAM: "Figure 3: your own histogram",
    **{key: PRESETS[key].title for key in ("5", "6", "7", "8", "9", "10")},
    OWN: "Your own sweep",
}


def built_in(key: str, seeds: int = MAIN_SETTINGS.seeds, seed: int = MAIN_SETTINGS.seed) -> Sweep:
    """A sweep that needs nothing from a person."""
    settings = Settings(
        seeds,
        seed=seed,
        estimators=MAIN_SETTINGS.estimators,
        metrics=MAIN_SETTINGS.metrics,
        bias=MAIN_SETTINGS.bias,
    )
    return Sweep(CELLS[key], settings)


def key_of(sweep: Sweep) -> str:
    """Which of the offered sweeps has exactly these cells; OWN when none has."""
    first = sweep.cells[0]
    if first.uploaded and sweep.cells == over(dist=first.dist, k=first.k, epsilon=EPSILONS, n=first.n):
        return HISTOGRAM
    return next((key for key, cells in CELLS.items() if cells == sweep.cells), OWN)
