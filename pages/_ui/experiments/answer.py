"""The page's answer in one or two sentences: which estimate to report, and what MLE* costs."""

from __future__ import annotations

import math
from collections.abc import Iterable

import streamlit as st

from pages._ui.experiments.kept import kept
from pages._ui.experiments.runs import Run
from pages._ui.safe_text import starred
from rr_core.comparison import VALID
from rr_core.experiments.along import Axis, Stretch, axis_of, stretches
from rr_core.experiments.claims import has, mle_lowest_nll
from rr_core.experiments.compared import never_worst
from rr_core.experiments.grid import PRESETS
from rr_core.experiments.names import SYMBOLS
from rr_core.experiments.run import SweepResult
from rr_core.experiments.standing import Standing, standing
from rr_core.experiments.wording import about, alike, counted, roughly
from rr_core.figures.style import QUANTITIES

_WHAT = (
    "Simulated collections, thousands of them: in every setting the same users report again and again, and **InvN**, "
    "**InvP** and **MLE\\*** estimate their shares from the same reports."
)
_MOST = 5  # ranges of one axis that a sentence can hold


def show(run: Run | None) -> None:
    """What the run on screen says, or else what the page is about."""
    said = sentence(run.result, _metric(run)) if run is not None and not run.active else ""
    st.markdown(said or _WHAT)


def sentence(result: SweepResult, metric: str) -> str:
    """Empty where the run cannot tell: no cell, or one of the three estimates or the error was left out."""
    if not has(result, metric, *VALID):
        return ""
    make = _of_nll if metric == "nll" else _of_mse
    return kept(result, ("answer", metric), lambda: starred(make(result)))


def _metric(run: Run) -> str:
    return PRESETS[run.key].metric if run.key in PRESETS else "mse"


def _of_mse(result: SweepResult) -> str:
    stand, head = standing(result, "mse"), _head(result)
    if not stand.apart:
        return f"{head} in {_every(stand.cells)} **the errors of the three are equal**."
    if not stand.settled:
        return f"{head} {_unsettled(result, stand)}"
    axis = axis_of(result.sweep.cells)
    ranges = _ranges(result, axis) if axis else ""
    return f"{head} {ranges or _counts(stand)} {_cost(result, stand, axis)}".rstrip()


def _head(result: SweepResult) -> str:
    """What the answer is about: all populations of the sweep, though a figure may show some."""
    done, cells = len(result.cells), result.sweep.cells
    if not result.finished:
        return f"**In short,** of the {done:,} of {counted(len(cells), 'setting')} run so far:"
    axis = axis_of(cells)
    if axis:
        low, high = (_value(axis, end(getattr(cell, axis) for cell in cells)) for end in (min, max))
        return f"**In short,** at {len(cells)} values of {SYMBOLS[axis]} from {low} to {high}:"
    populations = len({(cell.dist, cell.s) for cell in cells})
    return f"**In short,** over all {populations} populations:" if populations > 1 else "**In short:**"


def _every(cells: int) -> str:
    return f"all {cells:,} settings" if cells > 1 else "this one setting"


def _unsettled(result: SweepResult, stand: Standing) -> str:
    seeds = result.sweep.settings.seeds
    if seeds == 1:
        return "one collection per setting cannot tell which estimate is best on average."
    more = f" (in {stand.equal:,} more the three are equal)" if stand.equal else ""
    where = f"any of {stand.apart:,} settings" if stand.apart > 1 else "the one setting where they differ"
    return (
        f"{seeds} collections per setting do not settle which estimate is best on average in {where}{more}."
    )


def _ranges(result: SweepResult, axis: Axis) -> str:
    """Who is best at which values of the only axis; empty where it changes too often for a sentence."""
    found: dict[tuple[str, ...], list[str]] = {}
    for stretch in stretches(result, "mse", axis):
        found.setdefault(stretch.best, []).append(_range(axis, stretch))
    if sum(map(len, found.values())) > _MOST:
        return ""
    best = ", ".join(
        f"{' and '.join(_owners(names))} at {_and(at)}"
        for names, at in found.items()
        if 0 < len(names) < len(VALID)
    )
    rest = [f"not settled at {_and(found[()])}"] if () in found else []
    rest += [f"the three are equal at {_and(found[VALID])}"] if VALID in found else []
    return f"the smallest squared error on average is surely **{best}**{''.join(f'; {one}' for one in rest)}."


def _range(axis: Axis, stretch: Stretch) -> str:
    symbol, first, last = SYMBOLS[axis], _value(axis, stretch.first), _value(axis, stretch.last)
    if stretch.opens and stretch.closes:
        return f"every {symbol}"
    if first == last:
        return f"{symbol} = {first}"
    if stretch.opens or stretch.closes:
        return f"{symbol} ≤ {last}" if stretch.opens else f"{symbol} ≥ {first}"
    return f"{symbol} from {first} to {last}"


def _counts(stand: Standing) -> str:
    """In how many settings each is best."""
    wins = sorted(stand.sure.items(), key=lambda pair: -pair[1])
    if stand.cells == 1 and not stand.shared:
        return f"the smallest squared error on average is surely **{_owners(wins[0][:1])[0]}**."
    each = [f"{_owners((name,))[0]} in {count:,}" for name, count in wins if count]
    if each:
        each[0] += " setting" if wins[0][1] == 1 else " settings"
    if never := [name for name, count in wins if not count]:
        each.append(f"{_and(_owners(never))} in none")
    rest = []
    if stand.shared:
        rest.append(f"in {stand.shared:,} two share it")
    if stand.unsettled:
        rest.append(f"in {stand.unsettled:,} the collections do not settle it")
    if stand.equal:
        rest.append(f"in {stand.equal:,} the three are equal")
    more = f"; {', '.join(rest)}" if rest else ""
    return f"the smallest squared error on average is surely **{', '.join(each)}**{more}."


def _cost(result: SweepResult, stand: Standing, axis: Axis | None) -> str:
    """How MLE* does, where the three differ; nothing where it is surely the best throughout."""
    if stand.sure["mle_star"] == stand.apart:
        return ""
    count, size = never_worst(result, "mse", "mle_star"), _size(stand, axis)
    if not count.yes and not count.no:
        return f"MLE*'s error is {size}."
    worst = f"surely the worst in {count.no:,}" if count.no else "surely the worst in none"
    if stand.apart == 1:
        worst = "surely the worst" if count.no else "surely not the worst"
    open_ = f" ({count.unsure:,} not settled)" if count.unsure else ""
    return f"MLE* is **{worst}**{open_}, and its error is {size}."


def _size(stand: Standing, axis: Axis | None) -> str:
    """MLE*'s error over the smallest."""
    if stand.where is None:
        return "nowhere surely above the smallest"
    if alike(stand.largest):
        return "nowhere surely 0.5% above the smallest"
    prefix = "" if math.isinf(stand.largest) else "about "
    largest = f"{prefix}**{roughly(stand.largest)}** the smallest"
    if axis:
        largest += f" (at {SYMBOLS[axis]} = {_value(axis, getattr(stand.where, axis))})"
    if stand.apart == 1:
        return largest
    usual = "hardly above it" if alike(stand.typical) else about(stand.typical)
    return f"up to {largest}, typically {usual}"


def _of_nll(result: SweepResult) -> str:
    """In single collections: there is nothing to settle."""
    claim, drawn = mle_lowest_nll(result), sum(cell.seeds for cell in result.cells)
    if claim.verdict != "holds":
        return f"{_head(result)} MLE* does **not always have the lowest** negative log-likelihood. {claim.evidence}"
    each = f"all {drawn:,} collections" if drawn > 1 else "the one collection"
    return (
        f"{_head(result)} MLE* has the lowest negative log-likelihood **in {each}**, alone or tied, as the maximum "
        "likelihood must."
    )


def _owners(names: Iterable[str]) -> list[str]:
    return [f"{QUANTITIES[name].name}'s" for name in names]


def _and(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _value(axis: Axis, value: float) -> str:
    return f"{value:,.0f}" if axis in ("n", "k") else f"{value:g}"
