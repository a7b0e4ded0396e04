"""All that a reader of the numbers must know beside them: settings, versions, what was read and what was left out."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np

from pages._ui.your_reports.results import Results
from pages._ui.your_reports.words import advice, advised, misfits, tested
from rr_core.reports.epsilon_fit import FitTest

FORMAT = 2
SEED = 0  # of every simulation behind the page


def facts(found: Results) -> dict[str, Any]:
    """Everything but the table, as plain values that JSON can hold.

    Each part has a name of its own; one whose simulations were not run is None.
    """
    simulated, compared = found.simulated, found.analysis.nearest
    return {
        "format": FORMAT,
        "versions": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
        },
        "settings": _settings(found),
        "files": _files(found),
        "left_out": _left_out(found),
        "notes": [*found.used.reports.notes, *found.used.collected.notes],
        "simulations": None
        if simulated is None
        else {"seed": SEED, "asked": simulated.fit.requested, "done": simulated.fit.done},
        "fit": None
        if simulated is None
        else {**_fit(simulated.fit), "rejected": misfits(found) if tested(found) else None},
        "plausible_epsilon": None
        if simulated is None or simulated.plausible is None
        else asdict(simulated.plausible),
        "advice": {"verdict": advice(found)[0], "preferred": advised(found), **asdict(compared)},
        "intervals": (
            "inv_low and inv_high end the interval of Inv, those with _all the one for all categories at once; with _cut "
            "they are cut at 0 and 1. The repaired estimates have no intervals of their own."
        ),
    }


def strict_json(value: Any, indent: int | None = None) -> str:
    """JSON that every reader takes: numbers that are not finite become null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent)


def _settings(found: Results) -> dict[str, Any]:
    used, mechanism = found.used, found.used.mechanism
    return {
        "epsilon": mechanism.epsilon,
        "p": mechanism.p,
        "q": mechanism.q,
        "privacy_given_as": used.said.privacy_kind,
        "k": mechanism.k,
        "n": used.n,
        "level": found.level,
        "target": found.target,
        "domain": used.said.domain,
        "counted_as": dict(used.said.names.counted_as),
        "swapped": used.said.swapped,
        "test_level": found.analysis.above.level,
    }


def _files(found: Results) -> dict[str, Any]:
    reports = found.used.reports
    return {
        "name": found.used.name,
        "layout": reports.layout,
        "category_column": reports.category_name,
        "count_column": reports.count_name,
        "sha256": reports.sha256,
        "read": [{"name": file.name, "rows": file.rows, "reports": file.reports} for file in reports.files],
        "merged_rows": reports.merged,
    }


def _left_out(found: Results) -> dict[str, Any]:
    collected = found.used.collected
    return {
        "rows": [asdict(dropped) for dropped in found.used.reports.dropped],
        "reports_outside_domain": collected.outside_total,
        "outside_domain": [{"category": label, "reports": count} for label, count in collected.outside],
        "categories_without_reports": collected.unreported,
    }


def _fit(test: FitTest) -> dict[str, Any]:
    return {
        "statistic": test.statistic,
        "dropped": test.dropped,
        "score": test.score,
        "p_value": test.p_value,
        "asked": test.requested,
        "done": test.done,
        "floor": test.floor,
        "lowest": test.lowest,
        "below": test.below,
        "ceiling": test.ceiling,
        "extremes": asdict(test.extremes),
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind != "f" or bool(np.isfinite(value).all())
        return value.tolist() if plain else _finite(value.tolist())
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
