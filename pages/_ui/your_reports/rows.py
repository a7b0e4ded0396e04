"""The table of results, column by column: what the page shows a part of, and the files hold whole. No Streamlit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages._ui.your_reports.results import Results
from rr_core.comparison import ESTIMATORS
from rr_core.figures.style import whole
from rr_core.reports.intervals import Interval

Chosen = NDArray[np.intp] | slice
EVERY = slice(None)
INTERVAL = "Interval of Inv (cut)"


def interval(found: Results, *, simultaneous: bool) -> Interval:
    """The interval of Inv for each share, cut to [0, 1]: the one that is shown beside every estimate."""
    return (found.analysis.simultaneous if simultaneous else found.analysis.interval).cut()


def table(found: Results, chosen: Chosen = EVERY) -> dict[str, NDArray[Any]]:
    """Named columns of these categories (all of them by default), at full precision.

    ``people_`` columns are shares times N. ``inv_low`` and ``inv_high`` end the interval of Inv for one category, the
    same with ``_all`` those that hold for all categories at once; with ``_cut`` they are cut to [0, 1]. The repaired
    estimates have no intervals of their own.
    """
    collected, analysis = found.used.collected, found.analysis
    columns: dict[str, NDArray[Any]] = {
        "category": collected.labels[chosen],
        "reports": collected.counts[chosen],
    }
    columns |= {name: analysis.estimates[name][chosen] for name in ESTIMATORS}
    for ending, limits in (("", analysis.interval), ("_all", analysis.simultaneous)):
        for kind, ends in (("", limits), ("_cut", limits.cut())):
            columns[f"inv_low{ending}{kind}"] = ends.low[chosen]
            columns[f"inv_high{ending}{kind}"] = ends.high[chosen]
    columns |= {f"people_{name}": analysis.estimates[name][chosen] * found.used.n for name in ESTIMATORS}
    columns["p_value"] = analysis.above.p_values[chosen]
    columns["p_holm"] = analysis.above.adjusted[chosen]
    columns["above_zero"] = analysis.above.above[chosen]
    return columns


def shown(
    found: Results, name: str, chosen: NDArray[np.intp], *, simultaneous: bool
) -> dict[str, NDArray[Any]]:
    """The columns on screen, shares in percent; people by one estimator."""
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
    limits = interval(found, simultaneous=simultaneous)
    columns[f"{INTERVAL} from %"] = limits.low[chosen] * 100
    columns["to %"] = limits.high[chosen] * 100
    columns["People"] = whole(shares[name] * found.used.n)
    columns["Above zero?"] = analysis.above.above[chosen]
    columns["p (Holm)"] = analysis.above.adjusted[chosen]
    return columns
