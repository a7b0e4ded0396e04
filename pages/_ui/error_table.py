"""The errors of the estimators on one draw, with best and worst marked, and the certificate."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rr_core.comparison import ESTIMATORS, METRICS, Comparison, Target
from rr_core.figures.style import QUANTITIES

_TARGETS: dict[Target, str] = {
    "users": "these users' own histogram",
    "population": "the population they come from",
}
_COLUMNS = {
    "mse": "Squared error",
    "tv": "Total variation",
    "max": "Largest error",
    "nll": "NLL per report",
}


def pick_target() -> Target:
    """What the truth is: the users themselves, or the population they were drawn from."""
    chosen = st.segmented_control(
        "Truth, and what errors are measured against",
        list(_TARGETS),
        default="users",
        format_func=_TARGETS.__getitem__,
        key="target",
    )
    return chosen or "users"


def pick_zoom() -> bool:
    return bool(st.toggle("Zoom in near zero", key="estimators_zoom"))


def show(result: Comparison, k: int) -> None:
    """The table, what its marks mean, and what the errors are measured against."""
    table = pd.DataFrame(
        {
            "Estimator": [QUANTITIES[name].name for name in ESTIMATORS],
            **{_COLUMNS[metric]: [_cell(result, metric, name) for name in ESTIMATORS] for metric in METRICS},
            "Per category": [f"{result.errors['mse'][name] / k:.3g}" for name in ESTIMATORS],
            "Set to zero": [f"{result.zeros[name]:,}" if name != "inv" else "–" for name in ESTIMATORS],
        }
    ).set_index("Estimator")
    st.table(table)
    st.caption(
        f"Errors against {_TARGETS[result.target]}. ▲ best and ▼ worst of the three that are distributions; Inv may be "
        "negative and is shown for comparison. Squared error is summed over categories; “per category” is its mean, "
        "as in the paper's figures. NLL: negative log-likelihood in nats, lower fits better."
    )
    proof = f"max mᵢ − 1 = {result.certificate:.1e}".replace("e-", "·10^−").replace("e+", "·10^")
    st.markdown(
        f"**Is MLE\\* really the maximum likelihood?** Yes: its certificate is {proof}, and no distribution can be more "
        "likely by more than that (per report, in nats; zero up to rounding)."
    )


def _cell(result: Comparison, metric: str, name: str) -> str:
    mark = " ▲" if name in result.best(metric) else " ▼" if name in result.worst(metric) else ""
    return f"{result.errors[metric][name]:.4g}{mark if result.worst(metric) else ''}"
