"""The table of results, column by column: what the page shows a part of, and the files hold whole. No Streamlit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages._ui.your_reports.results import Results
from rr_core.collected.intervals import Interval
from rr_core.comparison import ESTIMATORS, VALID
from rr_core.figures.style import QUANTITIES

Chosen = NDArray[np.intp] | slice
EVERY = slice(None)


def interval(found: Results, name: str, *, simultaneous: bool) -> Interval | None:
    """The interval of an estimator; None for the repaired ones before their simulations."""
    if name == "inv":
        return found.analysis.simultaneous if simultaneous else found.analysis.interval
    ready = found.sampled
    return None if ready is None else ready.interval(name, found.level, simultaneous)


def intervals(found: Results, name: str, *, simultaneous: bool) -> dict[str, Interval]:
    """The intervals of Inv and of an estimator that has some."""
    both = {key: interval(found, key, simultaneous=simultaneous) for key in ("inv", name)}
    return {key: limits for key, limits in both.items() if limits is not None}


def table(found: Results, chosen: Chosen = EVERY) -> dict[str, NDArray[Any]]:
    """Named columns of these categories (all of them by default), at full precision.

    Shares are those of the people behind the reports, ``people_`` columns are shares times N. ``_low`` and ``_high``
    end the interval of one category, ``_low_all`` and ``_high_all`` those that hold for all categories at once.
    """
    collected, analysis = found.used.collected, found.analysis
    columns: dict[str, NDArray[Any]] = {
        "category": collected.labels[chosen],
        "reports": collected.counts[chosen],
    }
    columns |= {name: analysis.estimates[name][chosen] for name in ESTIMATORS}
    for name in ("inv", *VALID):
        for ending, simultaneous in (("", False), ("_all", True)):
            limits = interval(found, name, simultaneous=simultaneous)
            if limits is not None:
                columns[f"{name}_low{ending}"] = limits.low[chosen]
                columns[f"{name}_high{ending}"] = limits.high[chosen]
    columns |= {f"people_{name}": analysis.estimates[name][chosen] * found.used.n for name in ESTIMATORS}
    columns["p_value"] = analysis.above.p_values[chosen]
    columns["p_holm"] = analysis.above.adjusted[chosen]
    columns["above_zero"] = analysis.above.above[chosen]
    return columns


def shown(
    found: Results, name: str, chosen: NDArray[np.intp], *, simultaneous: bool
) -> dict[str, NDArray[Any]]:
    """The columns on screen, shares in percent, for one estimator's interval."""
    collected, analysis = found.used.collected, found.analysis
    shares = {key: values[chosen] for key, values in analysis.estimates.items()}
    columns: dict[str, NDArray[Any]] = {
        "Category": collected.labels[chosen],
        "Reports": collected.counts[chosen],
        "Inv %": shares["inv"] * 100,
        "InvN %": shares["inv_n"] * 100,
        "InvP %": shares["inv_p"] * 100,
        "MLE* %": shares["mle_star"] * 100,
    }
    for key, limits in intervals(found, name, simultaneous=simultaneous).items():
        said = QUANTITIES[key].name
        columns |= {f"{said} from %": limits.low[chosen] * 100, f"{said} to %": limits.high[chosen] * 100}
    columns["People"] = shares[name] * found.used.n
    columns["Above zero?"] = analysis.above.above[chosen]
    columns["p (Holm)"] = analysis.above.adjusted[chosen]
    return columns
