"""A sweep's results as plain columns and back, for files; nothing is lost on the way."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.experiments.grid import Cell, Settings, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.experiments.summary import QUANTILES, CellResult

# Raised when the numbers of a cell, or the columns, come to mean something else.
FORMAT = 1

_AXES = ("dist", "k", "s", "epsilon", "n")
Columns = dict[str, NDArray[Any]]


def versions() -> dict[str, str]:
    """What the numbers depend on besides the settings."""
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


def columns(result: SweepResult) -> Columns:
    """One row per cell and estimator; columns of one length, by name.

    The cell (dist, k, s, epsilon, n, seeds, concentration), the estimator, then by metric: mean, standard error,
    quantiles, difference from each other estimator on the same reports with its standard error, counts of best, worst,
    beaten and tied collections; then bias2, variance, zeros, negatives. "mse" is the sum over categories;
    ``mse_per_category_mean`` is that mean divided by k. Empty (length 0) when no cell is done.
    """
    names = result.sweep.settings.estimators
    rows = [(cell, index) for cell in result.cells for index in range(len(names))]
    out: Columns = {"dist": np.array([cell.cell.dist for cell, _ in rows], dtype=np.str_)}
    for axis, kind in (("k", np.int64), ("s", np.float64), ("epsilon", np.float64), ("n", np.int64)):
        out[axis] = np.array([getattr(cell.cell, axis) for cell, _ in rows], dtype=kind)
    out["seeds"] = np.array([cell.seeds for cell, _ in rows], dtype=np.int64)
    out["concentration"] = np.array([cell.concentration for cell, _ in rows], dtype=np.float64)
    out["estimator"] = np.array([names[index] for _, index in rows], dtype=np.str_)
    for name, (attribute, place) in _places(result.sweep.settings).items():
        values = [
            getattr(cell, attribute)[tuple(index if p is None else p for p in place)] for cell, index in rows
        ]
        out[name] = np.array(values, dtype=np.float64)
    if "mse_mean" in out:
        out["mse_per_category_mean"] = out["mse_mean"] / out["k"]
    return out


def settings(result: SweepResult) -> dict[str, Any]:
    """All that is needed to read the columns back, to go on with the sweep and to check it: plain values (JSON)."""
    return {
        "format": FORMAT,
        "settings": asdict(result.sweep.settings),
        "cells": [cell.key for cell in result.sweep.cells],
        "finished": result.finished,
        "versions": versions(),
    }


def read(table: Mapping[str, ArrayLike], about: Mapping[str, Any] | str) -> SweepResult:
    """The result from its columns and settings (a dict, or its JSON text); rows in any order, other columns ignored.

    Raises:
        ValueError: one sentence, when something is missing or does not fit.
    """
    sweep = _sweep(about)
    names, places = sweep.settings.estimators, _places(sweep.settings)
    missing = [name for name in (*_AXES, "seeds", "concentration", "estimator", *places) if name not in table]
    if missing:
        raise ValueError(f"table must have the column {missing[0]}, and {len(missing) - 1} more are missing")
    rows = {name: np.asarray(table[name]) for name in (*_AXES, "seeds", "concentration", "estimator")}
    numbers = {name: _numbers(name, table[name]) for name in places}
    if len({len(values) for values in (*rows.values(), *numbers.values())}) > 1:
        raise ValueError("columns must be of one length, got several")
    found: dict[Cell, dict[str, int]] = {}
    for i in range(len(rows["dist"])):
        cell = _cell({axis: rows[axis][i] for axis in _AXES})
        found.setdefault(cell, {})[str(rows["estimator"][i])] = i
    results = []
    for cell in sweep.cells:
        if cell not in found:
            continue
        if set(found[cell]) != set(names):
            raise ValueError(f"table must have one row for each of {', '.join(names)} in {cell.key}")
        order = [found[cell][name] for name in names]
        results.append(_result(cell, sweep.settings, rows, numbers, order))
    return SweepResult(sweep, tuple(results))


def _places(chosen: Settings) -> dict[str, tuple[str, tuple[int | None, ...]]]:
    """For each column: the attribute of a `CellResult`, and where in it; None stands for the row's estimator."""
    places: dict[str, tuple[str, tuple[int | None, ...]]] = {}
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


def _result(
    cell: Cell, chosen: Settings, rows: Columns, numbers: Mapping[str, Array], order: list[int]
) -> CellResult:
    m, e = len(chosen.metrics), len(chosen.estimators)
    shapes = {
        "mean": (m, e), "standard_error": (m, e), "quantiles": (len(QUANTILES), m, e), "difference": (m, e, e),
        "difference_error": (m, e, e), "best": (m, e), "worst": (m, e), "beaten": (m, e), "tied": (m,),
        "bias2": (e,), "variance": (e,), "zeros": (e,), "negatives": (e,),
    }  # fmt: skip
    arrays = {name: np.empty(shape) for name, shape in shapes.items()}
    for name, (attribute, place) in _places(chosen).items():
        for index, row in enumerate(order):
            arrays[attribute][tuple(index if p is None else p for p in place)] = numbers[name][row]
    seeds = _validate.integer("seeds", rows["seeds"][order[0]], 1)
    return CellResult(cell=cell, seeds=seeds, concentration=float(rows["concentration"][order[0]]), **arrays)


def _sweep(written: Mapping[str, Any] | str) -> Sweep:
    try:
        about = json.loads(written) if isinstance(written, str) else written
        if about["format"] != FORMAT:
            raise ValueError(f"format must be {FORMAT}, got {_validate.short(about['format'])}")
        return Sweep(tuple(Cell.parse(key) for key in about["cells"]), Settings(**about["settings"]))
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"settings must be those written with the table, got {_validate.short(written)}"
        ) from error


def _cell(values: Mapping[str, Any]) -> Cell:
    return Cell(
        str(values["dist"]), int(values["k"]), float(values["epsilon"]), int(values["n"]), float(values["s"])
    )


def _numbers(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a column of numbers, got {_validate.short(values)}") from error
