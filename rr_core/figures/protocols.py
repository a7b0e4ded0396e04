"""Protocols side by side: the error that each may be expected to have, and the one it has in this draw. The posterior of
k-RR: its mean and intervals beside MLE*, its way to MLE* as users grow, and priors that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.figures.estimators import hover
from rr_core.figures.plan_curves import PROTOCOLS
from rr_core.figures.view import Bars
from rr_core.metrics import total_variation
from rr_core.protocols import HadamardResponse, PosteriorSummary
from rr_core.protocols.laws import KEYS, Key, support
from rr_core.protocols.posterior import DRAWS, PriorError
from rr_core.rounding import counted, number, percent
from rr_core.words.phrases import as_small, listed, off_by, relative_users, table
from rr_core.words.plan import PROTOCOL_WORDS, protocol_in_a_sentence


def side_by_side(k: int, epsilon: float, n: int, inv: Mapping[Key, Array], truth: Array | None) -> go.Figure:
    """RMSE per category of Inv by each protocol, from the smallest expected one; with marks for Inv (k,) from one
    collection by those that have it, if the users' shares ``truth`` are given."""
    expected = expected_errors(k, epsilon, n, truth)
    keys = sorted(expected, key=expected.__getitem__)
    names = [PROTOCOL_WORDS[key].name for key in keys]
    traces = [
        style.bar_trace(
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
            style.mark_trace(
                "In this draw",
                np.array([float(np.sqrt(((inv[key] - truth) ** 2).mean())) for key in drawn]),
                [PROTOCOL_WORDS[key].name for key in drawn],
                "%{y}: %{x:.4~p} in this draw",
                marker={
                    "color": style.QUANTITIES["truth"].colour,
                    "symbol": "diamond",
                    "size": 13,
                    "line": {"width": 2, "color": style.RIM},
                },
            )
        )
    x = style.axis("RMSE per category of Inv", tickformat=style.SHARE, rangemode="tozero")
    texts = [PROTOCOL_WORDS[key].tick for key in keys]
    ticks = {"tickmode": "array", "tickvals": names, "ticktext": texts}
    y = style.axis("Protocol", autorange="reversed", automargin=True, **ticks)
    return style.figure(traces, x, y, _reading(keys, expected, k, epsilon), bargap=0.35)


def expected_errors(k: int, epsilon: float, n: int, truth: Array | None) -> dict[Key, float]:
    """RMSE per category of Inv, for the shares of the users, by protocol. Only that of Hadamard response depends on
    them, if its blocks have different numbers of categories; without them it is the mean over all ways to deal these
    out."""
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
    rows = []
    for key in KEYS:
        users = "best" if key == best else relative_users((expected[key] / expected[best]) ** 2)
        words, bits = PROTOCOL_WORDS[key], support(key, k, epsilon).bits(k)
        rows.append((words.name, words.report, f"{bits:,}", users))
    return table(("Protocol", "A report is", "Bits", "Users for the same error"), "llrr", rows)


_POSTERIOR, _MLE, _TRUTH = (style.QUANTITIES[name] for name in ("posterior", "mle_star", "truth"))
_SURE = 2.0  # standard errors


def posterior_intervals(
    found: PosteriorSummary, estimates: Mapping[str, Array], truth: Array | None, view: Bars
) -> go.Figure:
    """The posterior mean with its credible intervals beside MLE* (k,), by category, and the population's shares."""
    mean, low, high = (view.pick(values) for values in (found.mean, found.low, found.high))
    best = estimates["mle_star"]
    traces = [
        view.marks(
            f"{_POSTERIOR.name}, {percent(found.level)} credible",
            mean,
            hover("posterior mean", found.mean),
            error_y=style.whiskers(mean - low, high - mean, color=_POSTERIOR.colour, thickness=2.5),
            marker=_POSTERIOR.marker(11),
        ),
        view.marks("MLE*", view.pick(best), hover("MLE*", best), marker=_MLE.marker(8), x=view.x + 0.22),
    ]
    if truth is not None:
        marker = {"color": _TRUTH.colour}
        traces.insert(0, view.bars("Truth", view.pick(truth), hover("truth", truth), marker=marker))
    y = style.axis("Share of the population", tickformat=style.SHARE, rangemode="tozero")
    return style.figure(
        traces,
        view.axis(),
        y,
        _posterior_reading(found, estimates, truth),
        bargap=0.3,
        hovermode=view.hovermode,
    )


def _posterior_reading(found: PosteriorSummary, estimates: Mapping[str, Array], truth: Array | None) -> str:
    k = found.mean.size
    widest = int((found.high - found.low).argmax())
    width = percent(float(found.high[widest] - found.low[widest]))
    if truth is None:
        away = percent(total_variation(found.mean, estimates["mle_star"]), 2)
        return f"The posterior mean differs from MLE* by about {away}; the widest of the {k:,} intervals is {width} wide."
    holds = int(((found.low <= truth) & (truth <= found.high)).sum())
    off = {name: off_by(values, truth) for name, values in estimates.items()}
    about = percent(total_variation(found.mean, truth), 2)  # of a mean of draws
    return (
        f"In this draw the posterior mean is off by about {about} from the population, MLE* by {off['mle_star']} "
        f"and InvP by {off['inv_p']}; {holds:,} of {counted(k, 'interval')} hold{'s' * (holds == 1)} the truth."
    )


def towards_mle(sizes: Sequence[int], distances: Mapping[str, Array]) -> go.Figure:
    """Distance between the mean of DRAWS draws and MLE* against the number of users, one line a prior."""
    dashes = ("solid", "dash", "dot")
    traces = [
        style.line_trace(
            name,
            np.array(sizes),
            values,
            f"N = %{{x:,}}, {name}: %{{y:.3~p}}",
            mode="lines+markers",
            line={"color": _POSTERIOR.colour, "dash": dash, "width": 3},
            marker={"size": 7},
        )
        for (name, values), dash in zip(distances.items(), dashes, strict=False)
    ]
    name, values = next(iter(distances.items()))
    reading = (
        f"With a prior of {name} the mean of {DRAWS} draws from the posterior and MLE* differ by "
        f"{percent(float(values[0]))} at N = {sizes[0]:,} and by {percent(float(values[-1]))} at N = {sizes[-1]:,}."
    )
    x = style.axis("Users N (logarithmic)", type="log", dtick=1, exponentformat="power")
    y = style.axis("Total variation to MLE* (logarithmic)", type="log", tickformat=".3~p")
    return style.figure(traces, x, y, reading, height=380)


def wrong_priors(rows: Sequence[PriorError]) -> go.Figure:
    """Mean squared errors against the distribution that truths come from, for one prior."""
    names = {
        "posterior": _POSTERIOR,
        **{name: style.QUANTITIES[name] for name in ("inv_n", "inv_p", "mle_star")},
    }
    x = np.array([row.truth for row in rows])
    traces = [
        style.line_trace(
            quantity.name,
            x,
            np.array([row.errors[name] for row in rows]),
            f"a = %{{x}}: {quantity.name} %{{y:.4~g}}",
            mode="lines+markers",
            error_y={
                "type": "data",
                "array": np.array([_SURE * row.spread[name] for row in rows]),
                "color": quantity.colour,
                "thickness": 1.5,
            },
            line=quantity.line(3 if name == "posterior" else 2),
            marker={"symbol": quantity.symbol, "size": 8},
        )
        for name, quantity in names.items()
    ]
    prior = rows[0].prior
    best = [row.truth for row in rows if min(row.errors, key=row.errors.__getitem__) == "posterior"]
    first = rows[0]
    reading = (
        f"K = {first.k}, ε = {first.epsilon:g}, N = {first.n:,}: with a prior of {prior:g} the posterior mean has the "
        f"smallest mean squared error of the four where truths come from {_parameters(best)}."
    )
    xaxis = style.axis("Parameter a of the truths (large: equal shares)", type="log", dtick=1)
    y = style.axis("Mean squared error (logarithmic)", type="log", exponentformat="power")
    return style.figure(
        traces,
        xaxis,
        y,
        reading,
        height=400,
        shapes=[style.upright(prior, color=_TRUTH.colour, dash="dot", width=2)],
    )


def _parameters(values: Sequence[float]) -> str:
    if not values:
        return "none of these"
    return f"a = {listed([number(value) for value in values])}"
