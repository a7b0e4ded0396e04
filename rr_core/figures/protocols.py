"""Protocols side by side: the error that each may be expected to have, and the one it has in this draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.plan_curves import PROTOCOLS
from rr_core.figures.plan_sentences import PROTOCOL_NAMES, protocol_in_a_sentence
from rr_core.figures.style import QUANTITIES, RIM, SHARE, axis, figure, percent
from rr_core.figures.traces import bar_trace, mark_trace
from rr_core.figures.wording import as_small, listed, relative_users, table
from rr_core.protocols import HadamardResponse
from rr_core.protocols.laws import KEYS, Key, support

_TICKS: dict[Key, str] = {
    "rr": "k-RR",
    "subset": "Subset<br>selection",
    "sue": "Symmetric<br>unary enc.",
    "oue": "Optimised<br>unary enc.",
    "olh": "Optimised<br>local hashing",
    "hr": "Hadamard<br>response",
}


def side_by_side(k: int, epsilon: float, n: int, inv: Mapping[Key, Array], truth: Array | None) -> go.Figure:
    """RMSE per category of Inv by each protocol, from the smallest expected one.

    Args:
        k, epsilon, n: categories, privacy budget, users.
        inv: (k,) Inv from one collection by each protocol; those without one have no mark.
        truth: (k,) shares of the users; without it (None) there are no marks.
    """
    expected = expected_errors(k, epsilon, n, truth)
    keys = sorted(expected, key=expected.__getitem__)
    names = [PROTOCOL_NAMES[key] for key in keys]
    traces = [
        bar_trace(
            "Expected",
            np.array([expected[key] for key in keys]),
            names,
            "%{y}: %{x:.4~p} expected",
            orientation="h",
            marker={"color": [PROTOCOLS[key].colour for key in keys]},
            showlegend=False,
        )
    ]
    if truth is not None and inv:
        drawn = [key for key in keys if key in inv]
        traces.append(
            mark_trace(
                "In this draw",
                np.array([float(np.sqrt(((inv[key] - truth) ** 2).mean())) for key in drawn]),
                [PROTOCOL_NAMES[key] for key in drawn],
                "%{y}: %{x:.4~p} in this draw",
                marker={
                    "color": QUANTITIES["truth"].colour,
                    "symbol": "diamond",
                    "size": 13,
                    "line": {"width": 2, "color": RIM},
                },
            )
        )
    x = axis("RMSE per category of Inv", tickformat=SHARE, rangemode="tozero")
    ticks = {"tickmode": "array", "tickvals": names, "ticktext": [_TICKS[key] for key in keys]}
    y = axis("Protocol", autorange="reversed", automargin=True, **ticks)
    return figure(traces, x, y, _reading(keys, expected, k, epsilon), bargap=0.35)


def expected_errors(k: int, epsilon: float, n: int, truth: Array | None) -> dict[Key, float]:
    """RMSE per category of Inv, for the shares of the users themselves, by protocol.

    Only that of Hadamard response depends on the shares, if its blocks have different numbers of categories. Without the
    shares (None) it is the mean over all ways to deal out the categories to the blocks.
    """
    variances = {key: float(support(key, k, epsilon).mean_variance(k, n)) for key in KEYS}
    if truth is not None:
        variances["hr"] = float(HadamardResponse(k, epsilon).variance(truth, n).mean())
    return {key: float(np.sqrt(variance)) for key, variance in variances.items()}


def _reading(keys: Sequence[Key], expected: Mapping[Key, float], k: int, epsilon: float) -> str:
    least, where = expected[keys[0]], f"At K = {k:,} and ε = {epsilon:g}"
    same = [key for key in keys if as_small((expected[key] / least) ** 2)]
    names = listed([protocol_in_a_sentence(key) for key in same])
    has = f"has the smallest expected error, {percent(least)}"
    if same == ["rr"]:
        return f"{where} k-RR {has}."
    if "rr" in same:
        return f"{where} {names} share the smallest expected error, {percent(least)}."
    has = has if len(same) == 1 else has.replace("has", "have", 1)
    users = relative_users((expected["rr"] / least) ** 2)
    needs = "but k-RR needs hardly more" if users == "hardly more" else f"k-RR needs {users} the"
    return f"{where} {names} {has}; {needs} users for the same."


def report_table(k: int, epsilon: float, n: int, truth: Array | None) -> str:
    """What a report is and costs, as a markdown table; arguments as of `expected_errors`."""
    expected = expected_errors(k, epsilon, n, truth)
    best = min(expected, key=expected.__getitem__)
    whats = {
        "rr": "one category",
        "subset": "a set of categories",
        "sue": "a bit for each category",
        "oue": "a bit for each category",
        "olh": "a hash function and a hashed value",
        "hr": "a column of a table of +1 and −1, in which each category owns a row",
    }
    rows = []
    for key in KEYS:
        users = "best" if key == best else relative_users((expected[key] / expected[best]) ** 2)
        rows.append((PROTOCOL_NAMES[key], whats[key], f"{support(key, k, epsilon).bits(k):,}", users))
    return table(("Protocol", "A report is", "Bits", "Users for the same error"), "llrr", rows)
