"""Results of a sweep as plain columns and back, for files; and the results of the paper's sweeps, stored with the app.

Nothing is lost on the way to columns and back.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core.experiments.cell import ARRAYS, QUANTILES, CellResult
from rr_core.experiments.grid import Cell, Settings, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.registry import VALID

# Increased whenever the meaning of a cell's numbers, or of a column, changes.
FORMAT = 1

_AXES = ("dist", "k", "s", "epsilon", "n")
_WHOLE = ("k", "n", "seeds")
_LARGEST_WHOLE = 2**53  # beyond it a double is no count
_LARGEST_ERROR = 1e30
Columns = dict[str, NDArray[Any]]
# Where the numbers of a column are: an attribute of `CellResult`, and an index into it; None stands for the row's
# estimator.
_Place = tuple[str, tuple[int | None, ...]]


def versions() -> dict[str, str]:
    """The versions that the numbers depend on, besides the settings."""
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


def to_columns(result: SweepResult) -> Columns:
    """One row per cell and estimator; columns of one length, by name.

    The cell (dist, k, s, epsilon, n, seeds, concentration), the estimator, then by metric: mean, standard error,
    quantiles, difference from each other estimator on the same reports with its standard error, counts of best, worst,
    beaten and tied collections; then bias2, variance, zeros, negatives. "mse" is the sum over categories;
    ``mse_per_category_mean`` is that mean divided by k. Empty (length 0) when no cell is done.
    """
    chosen, cells = result.sweep.settings, result.cells
    names = chosen.estimators
    kinds = {"dist": np.str_, "k": np.int64, "s": np.float64, "epsilon": np.float64, "n": np.int64}
    out: Columns = {
        axis: np.array([getattr(one.cell, axis) for one in cells], dtype=kinds[axis]) for axis in _AXES
    }
    out["seeds"] = np.array([one.seeds for one in cells], dtype=np.int64)
    out["concentration"] = np.array([one.concentration for one in cells], dtype=np.float64)
    out = {name: np.repeat(values, len(names)) for name, values in out.items()}
    out["estimator"] = np.tile(np.array(names, dtype=np.str_), len(cells))
    stacked = {
        name: np.array([getattr(one, name) for one in cells]).reshape(len(cells), *shape)
        for name, shape in _shapes(chosen).items()
    }
    for name, (attribute, place) in _places(chosen).items():
        values = stacked[attribute][_among_cells(place)]
        out[name] = values.ravel() if None in place else np.repeat(values, len(names))
    if "mse_mean" in out:
        out["mse_per_category_mean"] = out["mse_mean"] / out["k"]
    return out


def metadata(result: SweepResult) -> dict[str, Any]:
    """All that is needed to read the columns back, to go on with the sweep and to check it: plain values (JSON).

    The cells of a finished sweep are left out: its rows say them.
    """
    about = {
        "format": FORMAT,
        "settings": asdict(result.sweep.settings),
        "done": len(result.cells),
        "finished": result.finished,
        "versions": versions(),
    }
    return about if result.finished else about | {"cells": [cell.key for cell in result.sweep.cells]}


def required_columns(about: Mapping[str, Any] | str) -> tuple[str, ...]:
    """The columns that `from_columns` asks for, given the settings; it raises what `from_columns` would."""
    return (*_AXES, "seeds", "concentration", "estimator", *_places(_parse_metadata(about)[1]))


def from_columns(table: Mapping[str, ArrayLike], about: Mapping[str, Any] | str) -> SweepResult:
    """The result from its columns and settings (a dict, or its JSON text); rows in any order, other columns ignored.

    Where the settings do not list the cells, these are in the order of their first rows.

    Raises:
        ValueError: one sentence, when something is missing or does not fit.
    """
    listed, chosen, done = _parse_metadata(about)
    if missing := [name for name in required_columns(about) if name not in table]:
        raise ValueError(f"table must have the column {missing[0]}, and {len(missing) - 1} more are missing")
    rows: Columns = {name: _column(name, table[name]) for name in required_columns(about)}
    if len({len(values) for values in rows.values()}) > 1:
        raise ValueError("columns must be of one length, got several")
    found = _rows_by_cell(rows, chosen.estimators)
    if len(found) != done:
        raise ValueError(f"table must have rows for {done:,} cells, as many as were done, got {len(found):,}")
    sweep = Sweep(tuple(found) if listed is None else listed, chosen)
    if strange := set(found).difference(sweep.cells):
        raise ValueError(f"table must have rows for cells of the sweep alone, got {strange.pop().key}")
    return SweepResult(sweep, _results(sweep, rows, found))


def _parse_metadata(written: Mapping[str, Any] | str) -> tuple[tuple[Cell, ...] | None, Settings, int]:
    """The cells, if they are listed; how they were measured; and how many were done."""
    try:
        about = json.loads(written) if isinstance(written, str) else written
        if about["format"] != FORMAT:
            raise ValueError(f"format must be {FORMAT}, got {_validate.short(about['format'])}")
        cells = None if "cells" not in about else tuple(Cell.parse(key) for key in about["cells"])
        return cells, Settings(**about["settings"]), _validate.integer("done", about["done"], 0)
    except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(
            f"settings must be those written with the table, got {_validate.short(written)}"
        ) from error


def _places(chosen: Settings) -> dict[str, _Place]:
    places: dict[str, _Place] = {}
    for m, metric in enumerate(chosen.metrics):
        places[f"{metric}_mean"] = ("mean", (m, None))
        places[f"{metric}_standard_error"] = ("standard_error", (m, None))
        for i, level in enumerate(QUANTILES):
            places[f"{metric}_q{round(100 * level):02d}"] = ("quantiles", (i, m, None))
        for e, name in enumerate(chosen.estimators):
            places[f"{metric}_minus_{name}"] = ("difference", (m, None, e))
            places[f"{metric}_minus_{name}_standard_error"] = ("difference_error", (m, None, e))
        for count in ("best", "worst", "beaten"):
            places[f"{metric}_{count}"] = (count, (m, None))
        places[f"{metric}_tied"] = ("tied", (m,))
    return places | {name: (name, (None,)) for name in ("bias2", "variance", "zeros", "negatives")}


def _shapes(chosen: Settings) -> dict[str, tuple[int, ...]]:
    m, e = len(chosen.metrics), len(chosen.estimators)
    return {
        "mean": (m, e), "standard_error": (m, e), "quantiles": (len(QUANTILES), m, e), "difference": (m, e, e),
        "difference_error": (m, e, e), "best": (m, e), "worst": (m, e), "beaten": (m, e), "tied": (m,),
        "bias2": (e,), "variance": (e,), "zeros": (e,), "negatives": (e,),
    }  # fmt: skip


def _among_cells(place: tuple[int | None, ...]) -> tuple[int | slice, ...]:
    """The same place in an array whose first axis is the cells."""
    return (slice(None), *(slice(None) if p is None else p for p in place))


def _column(name: str, values: ArrayLike) -> NDArray[Any]:
    if name in ("dist", "estimator"):
        return np.asarray(values, dtype=np.str_)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a column of numbers, got {_validate.short(values)}") from error
    if name not in _WHOLE:
        return numbers
    odd = ~((numbers == np.floor(numbers)) & (np.abs(numbers) <= _LARGEST_WHOLE))
    if odd.any():
        raise ValueError(f"{name} must be a column of whole numbers, got {numbers[odd][0]:g}")
    return numbers.astype(np.int64)


def _rows_by_cell(rows: Columns, names: tuple[str, ...]) -> dict[Cell, list[int]]:
    """Where each cell's rows are, in the order of the estimators; cells in the order of their first rows."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for i, axes in enumerate(zip(*(rows[axis].tolist() for axis in _AXES), strict=True)):
        found.setdefault(axes, []).append(i)
    by_cell: dict[Cell, list[int]] = {}
    for (dist, k, s, epsilon, n), of_cell in found.items():
        by_cell.setdefault(Cell(dist, k, epsilon, n, s), []).extend(of_cell)
    for cell, of_cell in by_cell.items():
        estimators = rows["estimator"][of_cell].tolist()
        if sorted(estimators) != sorted(names):
            raise ValueError(f"table must have one row for each of {', '.join(names)} in {cell.key}")
        by_cell[cell] = [of_cell[estimators.index(name)] for name in names]
    return by_cell


def _results(sweep: Sweep, rows: Columns, found: Mapping[Cell, list[int]]) -> tuple[CellResult, ...]:
    """The cells that were found, in the order of the sweep."""
    cells = [cell for cell in sweep.cells if cell in found]
    at = np.array([found[cell] for cell in cells], dtype=np.intp).reshape(
        len(cells), len(sweep.settings.estimators)
    )
    seeds, concentration = rows["seeds"], rows["concentration"]
    _must("seeds", (seeds == sweep.settings.seeds).all(), f"{sweep.settings.seeds}, as the settings say")
    _must("concentration", ((concentration > 0) & (concentration <= 1 + 1e-9)).all(), "above 0 and at most 1")
    stacked = {name: np.empty((len(cells), *shape)) for name, shape in _shapes(sweep.settings).items()}
    for name, (attribute, place) in _places(sweep.settings).items():
        _check(name, attribute, rows)
        stacked[attribute][_among_cells(place)] = rows[name][at if None in place else at[:, 0]]
    return tuple(
        CellResult(
            cell=cell,
            seeds=sweep.settings.seeds,
            concentration=float(concentration[at[i, 0]]),
            **{name: values[i] for name, values in stacked.items()},
        )
        for i, cell in enumerate(cells)
    )


def _check(name: str, attribute: str, rows: Columns) -> None:
    """Numbers that no sweep can give are refused before anything is worked out from them."""
    values = rows[name]
    if attribute == "mean":
        _must(name, not np.isnan(values).any(), "a number in every row")
    if attribute in ("mean", "standard_error", "quantiles"):
        _must(name, not (values < 0).any(), "0 or more")
    if attribute not in ("best", "worst", "beaten", "tied"):
        # Only an error by likelihood can be infinite; any other that large belongs to no estimate.
        sizes = np.abs(values[~np.isinf(values)] if name.startswith("nll") else values)
        _must(name, not (sizes > _LARGEST_ERROR).any(), f"{_LARGEST_ERROR:g} or less")
    if attribute in ("zeros", "negatives"):
        _must(name, ((values >= 0) & (values <= rows["k"])).all(), "from 0 to k")
    elif attribute in ("best", "worst", "beaten", "tied"):
        counted = (attribute == "tied") | np.isin(rows["estimator"], VALID)
        _must(
            name, ((values >= 0) & (values <= rows["seeds"]))[counted].all(), "from 0 to the number of seeds"
        )


def _must(name: str, fine: np.bool_ | bool, allowed: str) -> None:
    if not fine:
        raise ValueError(f"{name} must be {allowed}")


STORED_FILE = Path(__file__).parents[1] / "data" / "experiments.npz"


def stored_result(cells: Iterable[Cell]) -> SweepResult:
    """The sweep over ``cells``, measured as `stored_settings` says; its completed cells are those that are stored."""
    sweep, stored = Sweep(tuple(cells), stored_settings()), _stored_cells()
    return SweepResult(sweep, tuple(stored[cell] for cell in sweep.cells if cell in stored))


def stored_settings() -> Settings:
    """How the stored cells were measured."""
    return Settings(**stored_metadata()["settings"])


@cache
def stored_metadata() -> Mapping[str, Any]:
    """How the stored cells were measured, and with which versions; others may change the last digits."""
    with np.load(STORED_FILE) as file:
        about: Mapping[str, Any] = json.loads(str(file["about"]))
    return about


@cache
def _stored_cells() -> Mapping[Cell, CellResult]:
    seeds = stored_settings().seeds
    with np.load(STORED_FILE) as file:
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
