"""What a room's reports say, in the steps in which a teacher reveals it."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core import streams
from rr_core._validate import Array
from rr_core.confidence_sequence import TIGHTEST_AT, anytime_intervals
from rr_core.estimators import inv, inv_p
from rr_core.figures.estimators import GROUPED, estimate_bars, hover, truth_marks
from rr_core.figures.inv_negatives import inv_bars
from rr_core.figures.style import (
    COUNT,
    QUANTITIES,
    SHARE,
    axis,
    bar_trace,
    figure,
    interval_trace,
    mark_trace,
    share_format,
    whiskers,
)
from rr_core.figures.view import Bars, natural_order
from rr_core.law import below_zero
from rr_core.mechanism import RandomizedResponse
from rr_core.plain_text import plain
from rr_core.registry import ESTIMATORS, VALID
from rr_core.reports.intervals import Interval
from rr_core.rounding import between, counted, number, percent
from rr_core.sampling import noisy_histogram, one_collection, whole_users
from rr_core.streams import Stream
from rr_core.words.phrases import off_by

# What each step shows, from step 1 on.
STEPS = (
    "the guesses",
    "the reports",
    "Inv with its intervals",
    "the three repairs",
    "what more people would show",
)
_MORE = (10, 100)  # times as many people
_SEED = 0  # of the simulated people: a room looks the same whenever it is shown
_GUESSED = {"color": "#7A5195", "symbol": "diamond", "size": 14}
_LINE, _NARROW_LINE, _WIDE = 20, 12, 5  # letters of a line of an answer, for so many answers and for more
_TENTH = 10  # per cent: guesses are counted in tenths


@dataclass(frozen=True, eq=False)
class Asked:
    """A question of a room, and what came back: counts of reports and of raised hands by answer, and guesses of the
    share of the first answer, in per cent, in ascending order."""

    answers: Sequence[str]
    mechanism: RandomizedResponse
    counts: Sequence[int]
    guesses: Sequence[int] = ()
    hands: Sequence[int] | None = None

    @property
    def truth(self) -> Array | None:
        """(k,) the shares of the hands."""
        return None if self.hands is None else np.array(self.hands) / sum(self.hands)


def first_step(asked: Asked) -> int:
    """With what a reveal begins: the guesses, where there are any."""
    return 1 if asked.guesses else 2


def revealed(asked: Asked, step: int) -> go.Figure:
    """One of `STEPS`, from 1, of a question with at least one report; from the last one on it is the last one."""
    reports = one_collection("counts", asked.counts, asked.mechanism.k)
    view = Bars(natural_order(asked.mechanism.k), asked.answers, "Answer")
    draw = (_guesses, _reports, _inv, _repairs, _more_people)[
        min(max(step, first_step(asked)), len(STEPS)) - 1
    ]
    return draw(asked, reports, view)


def _guesses(asked: Asked, counts: NDArray[np.int64], view: Bars) -> go.Figure:
    tenths = np.minimum(np.array(asked.guesses) // _TENTH, 9)
    bars = bar_trace(
        "Guesses",
        np.arange(10) * _TENTH + _TENTH / 2,
        np.bincount(tenths, minlength=10),
        "around %{x}%<br>guesses: %{y}",
        marker={"color": _GUESSED["color"]},
    )
    x = axis(f"Guessed share of “{view.names[0]}” (%)", range=[-1, 101], dtick=_TENTH)
    y = _count_axis("Guesses (count)", int(np.bincount(tenths).max()))
    low, middle, high = _quartiles(asked)
    reading = (
        f"Guesses of how many per cent have “{view.names[0]}”, {len(asked.guesses):,} in all: the middle one is "
        f"{middle:.0f}%, the middle half {low:.0f}% to {high:.0f}%. Guesses are sent as they are, without a coin."
    )
    return figure([bars], x, y, reading, bargap=0.08)


def _quartiles(asked: Asked) -> tuple[float, float, float]:
    low, middle, high = np.quantile(asked.guesses, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


def _reports(asked: Asked, counts: NDArray[np.int64], view: Bars) -> go.Figure:
    n = int(counts.sum())
    bars = view.bars("Reports", counts, "reports: %{y:,}", marker={"color": QUANTITIES["observed"].colour})
    reading = (
        f"{counted(n, 'report')} as {'it' if n == 1 else 'they'} came, chance included: even an answer that nobody "
        f"has gets about {number(n * asked.mechanism.q)}."
    )
    y = _count_axis("Reports (count)", int(counts.max()))
    return figure([bars], _answers(view), y, reading, bargap=0.3)


def _inv(asked: Asked, counts: NDArray[np.int64], view: Bars) -> go.Figure:
    estimate = inv(counts, asked.mechanism)
    low, high = anytime_intervals(counts, asked.mechanism)
    bars = inv_bars(view, estimate, 0.56, -0.32)
    traces = [bars, _intervals(view.x + 0.33, low, high, view), *_beside(asked, view)]
    below = int(below_zero(estimate, asked.mechanism).sum())
    # Of the first answer, which is named before anybody reports: an interval of the largest share would hold less often.
    first = Interval(low, high, 0.95, simultaneous=False)
    if outside := first.wholly(0):
        sure = f"the 95% interval is {between(float(low[0]), float(high[0]))}{outside}, where no share can be"
    elif low[0] <= 0 and high[0] >= 1:
        sure = "too few to tell, with 95% confidence"
    else:
        ends = between(max(float(low[0]), 0.0), min(float(high[0]), 1.0))
        sure = f"with 95% confidence it is {ends}, whenever one stops counting"
    reading = (
        f"The chance taken away, “{view.names[0]}” comes out at {percent(float(estimate[0]))} of those who reported; "
        f"{sure}. Shares below zero: {below}."
    )
    return figure(traces, _answers(view), _share_axis(), reading, bargap=0.3)


def _repairs(asked: Asked, counts: NDArray[np.int64], view: Bars) -> go.Figure:
    by_name = {name: estimate(counts, asked.mechanism) for name, estimate in ESTIMATORS.items()}
    traces = estimate_bars(view, by_name, asked.truth)
    if below_zero(by_name["inv"], asked.mechanism).any():
        zeros = ", ".join(f"{QUANTITIES[name].name} {int((by_name[name] == 0).sum())}" for name in VALID)
        reading = f"Three ways to repair the negatives of Inv. Shares that each sets to zero: {zeros}."
    else:
        reading = "Inv has no negative here: InvN, InvP and MLE* leave it as it is."
    if asked.truth is not None:
        off = ", ".join(f"{QUANTITIES[name].name} {off_by(by_name[name], asked.truth)}" for name in VALID)
        reading += f" Of 100 people, in a wrong bar by the raised hands: {off}."
    return figure(traces, _answers(view), _share_axis(), reading, **GROUPED)


def _more_people(asked: Asked, counts: NDArray[np.int64], view: Bars) -> go.Figure:
    """The room, and simulated rooms of more people whose true shares are the InvP of this one."""
    n, mechanism = int(counts.sum()), asked.mechanism
    shares, rng = inv_p(counts, mechanism), streams.generator(_SEED, Stream.ROOM)
    rooms = [counts]
    rooms += [noisy_histogram(whole_users(shares, n * times), mechanism.keep, rng) for times in _MORE]
    traces, widths = [], []
    for place, (room, symbol) in enumerate(zip(rooms, ("circle", "diamond", "square"), strict=True)):
        size, x = int(room.sum()), view.x + 0.24 * (place - 1)
        # Of people who are simulated at once all are known beforehand; a room's own intervals are those of before.
        low, high = anytime_intervals(room, mechanism, tightest_at=size if place else TIGHTEST_AT)
        estimate = inv(room, mechanism)
        widths.append(percent(float((high.clip(0, 1) - low.clip(0, 1)).max())))
        points = view.marks(
            f"{counted(size, 'report')}{', simulated' if place else ''}",
            estimate,
            hover("Inv", estimate),
            x=x,
            marker={"color": QUANTITIES["inv"].colour, "symbol": symbol, "size": 10 + place},
        )
        traces += [{**_intervals(x, low, high, view), "showlegend": False}, points]
    reading = (
        f"If this room's InvP were the true shares of more people: intervals are up to {widths[0]} wide here, "
        f"{widths[1]} with {n * _MORE[0]:,} reports and {widths[2]} with {n * _MORE[1]:,}."
    )
    return figure([*traces, *_hands(asked, view)], _answers(view), _share_axis(), reading)


def _hands(asked: Asked, view: Bars) -> list[dict[str, Any]]:
    return [] if asked.truth is None else [{**truth_marks(view, asked.truth), "name": "Raised hands"}]


def _beside(asked: Asked, view: Bars) -> list[dict[str, Any]]:
    """What people thought before: the middle guess of the first answer, and the hands."""
    traces = _hands(asked, view)
    if asked.guesses:
        low, middle, high = (share / 100 for share in _quartiles(asked))
        guess = mark_trace(
            "Middle guess, and the middle half",
            [-0.42],
            [middle],
            f"middle guess: %{{y:{SHARE}}}",
            marker=_GUESSED,
            error_y=whiskers([middle - low], [high - middle], thickness=3),
        )
        traces.append(guess)
    return traces


def _intervals(x: NDArray[Any], low: Array, high: Array, view: Bars) -> dict[str, Any]:
    """Intervals as lines, cut to the shares that there can be."""
    ends = low.clip(0, 1), high.clip(0, 1)
    words = f"the interval ends at %{{y:{share_format(ends)}}}"
    # A colour that stands out from Inv's bars and from both backgrounds.
    return interval_trace("95% interval", x, ends, view.names, words, "#7A7A74", 3, (14, 3))


def _count_axis(title: str, most: int) -> dict[str, Any]:
    """An axis of whole numbers."""
    return axis(title, **COUNT, rangemode="tozero", **({"dtick": 1} if most < 8 else {}))


def _answers(view: Bars) -> dict[str, Any]:
    """The axis of the answers, which may be long: each in up to three lines."""
    letters = _LINE if view.categories.size <= _WIDE else _NARROW_LINE
    answers = [textwrap.wrap(plain(answer, 3 * letters), letters) for answer in view.labels or ()]
    lines = [[html.escape(line, quote=False) for line in answer[:3]] for answer in answers]
    return {**view.axis(), "ticktext": ["<br>".join(answer) for answer in lines]}


def _share_axis() -> dict[str, Any]:
    return axis("Share of those who reported", tickformat=SHARE, rangemode="tozero", zeroline=True)
