"""The words of a map of who wins: in its cells, in its hover boxes, and the sentence that reads it."""

from __future__ import annotations

import math

from rr_core.comparison import VALID
from rr_core.experiments.along import Axis
from rr_core.experiments.names import population_name
from rr_core.experiments.planes import Fixed, Plane, Spot
from rr_core.experiments.wording import about, counted
from rr_core.figures.repeated import METRIC_TITLES
from rr_core.figures.style import QUANTITIES, number

_ERRORS = {
    "mse": "mean squared error",
    "tv": "mean total variation",
    "max": "mean largest error",
    "nll": "mean negative log-likelihood",
}


def times(ratio: float) -> str:
    """A ratio of two errors as text; below 2, two digits of what it is above 1."""
    if math.isinf(ratio):
        return "∞×"
    if ratio < 2:
        return f"{1 + float(f'{ratio - 1:.2g}'):.12g}×"
    return f"{number(ratio, 3) if ratio < 100 or ratio >= 1e6 else format(ratio, ',.0f')}×"


def short(spot: Spot) -> str:
    """What is written in a cell that was run: the winner and its margin in two digits, who shares, or who may win."""
    lead = spot.lead
    if lead is None or lead.equal:
        return "equal"
    if unsettled(spot):
        return (
            "?"
            if len(lead.possible) == len(VALID)
            else "<br>".join(f"{one}?" for one in _names(lead.possible))
        )
    if len(lead.best) > 1:
        return "<br>".join(_names(lead.best))
    # No win by a hair is written as 1 times.
    by = "<1.05×" if lead.margin < 1.05 else times(float(f"{lead.margin:.2g}"))
    return f"{_names(lead.best)[0]}<br>{by.replace('<', '&lt;')}"


def unsettled(spot: Spot) -> bool:
    """Whether the three differ and the collections do not settle who wins."""
    return spot.lead is not None and not spot.lead.equal and not spot.lead.sure


def _names(names: tuple[str, ...]) -> list[str]:
    return [QUANTITIES[name].name for name in names]


def where(spot: Spot) -> str:
    """The cell, in two lines."""
    cell = spot.cell
    return f"ε = {cell.epsilon:g}, N = {cell.n:,}, K = {cell.k:,}<br>{_capital(population_name(cell))}"


def hover(plane: Plane, spot: Spot) -> str:
    """Everything that is known of a cell that was run, in lines short enough for a phone."""
    result = spot.result
    if result is None:
        return f"{where(spot)}<br>not run yet"
    lines = [*_verdict(spot), where(spot), f"{METRIC_TITLES[plane.metric]}:"]
    for error in spot.errors:
        spread = "" if math.isnan(error.standard_error) else f" ± {number(error.standard_error, 2)}"
        lines.append(f"<b>{QUANTITIES[error.estimator].name}</b> {number(error.mean, 4)}{spread}")
    if not math.isnan(spot.errors[0].standard_error):
        lines.append("(mean ± its standard error)")
    made = counted(result.seeds, "collection")
    lines.append(f"Best / worst of the {made}:")
    ranks = [error for error in spot.errors if error.estimator in VALID]
    lines.append(
        ", ".join(
            f"{QUANTITIES[one.estimator].name} {_count(one.best)} / {_count(one.worst)}" for one in ranks
        )
    )
    lines.append(f"all equal in {_count(spot.tied)}")
    if spot.lead is not None and "mle_star" not in spot.lead.possible:
        lines.append(f"MLE*'s error over the smallest: {times(spot.regret)}")
    return "<br>".join(lines)


def held(plane: Plane) -> str:
    """What a plane holds fixed, and the value of its only row."""
    if not plane.spots:
        return ""
    cell = plane.spots[0].cell
    words: dict[Fixed | Axis, str] = {
        "population": population_name(cell),
        "k": f"K = {cell.k:,}",
        "epsilon": f"ε = {cell.epsilon:g}",
        "n": f"N = {cell.n:,}",
    }
    row = (plane.kind.y,) if plane.strip else ()
    return ", ".join(words[name] for name in (*plane.kind.fixed, *row))


def reading(plane: Plane) -> str:
    """Counts of wins, and what MLE* costs where another wins."""
    done = plane.run
    fixed = _capital(held(plane))
    if not done:
        return f"{fixed}: none of the {counted(len(plane.spots), 'cell')} of this map has been run yet."
    leads = [spot.lead for spot in done if spot.lead is not None]
    alone = {name: sum(lead.sure and lead.best == (name,) for lead in leads) for name in VALID}
    of = counted(len(done), "cell")
    if len(done) < len(plane.spots):
        of = f"the {of} run so far"
    text = (
        f"{fixed}: of {of}, MLE* surely has the smallest {_ERRORS[plane.metric]} in {alone['mle_star']}, InvP in "
        f"{alone['inv_p']}, InvN in {alone['inv_n']}"
    )
    if shared := sum(lead.sure and len(lead.best) == 2 for lead in leads):
        text += f"; in {shared} two share it"
    if equal := sum(lead.equal for lead in leads):
        text += f"; in {equal} all three are equal"
    if hatched := sum(map(unsettled, done)):
        text += f"; in {hatched}, hatched, the collections do not settle it"
    return f"{text}; {_cost(done)}."


def _cost(done: tuple[Spot, ...]) -> str:
    lost = [spot.regret for spot in done if spot.lead is not None and "mle_star" not in spot.lead.possible]
    if not lost:
        return "MLE* is surely beaten in none"
    worst = max(lost)
    if math.isinf(worst):
        return f"MLE* is surely beaten in {len(lost)}, where the smallest error may be zero"
    return f"MLE* is surely beaten in {len(lost)}, where its error is up to {about(worst)} the smallest"


def _verdict(spot: Spot) -> list[str]:
    lead = spot.lead
    if lead is None or lead.equal:
        return ["<b>All three are equal</b>"]
    if not lead.sure:
        return [f"<b>Not settled: {' or '.join(_names(lead.possible))}</b>", "may have the smallest error"]
    verb = "has" if len(lead.best) == 1 else "share"
    first = f"<b>{' and '.join(_names(lead.best))} {verb} the smallest error</b>"
    return [first, f"the next one's is {times(lead.margin)} as large"]


def _count(seeds: float) -> str:
    return f"{seeds:,.1f}".removesuffix(".0")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
