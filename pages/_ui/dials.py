"""Dials for epsilon, N and the Zipf exponent that move the figure while the hand moves.

A component of our own, since Streamlit's sliders answer on release only. The browser sends a move when the page has
answered the last one, so that one run at most is under way for each person. While the hand moves, a run draws the main
figure and the dials and then waits for the next move (`wait_for_the_hand`), so that the rest of the page is computed, and
the address written, when the hand rests.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import streamlit as st

from pages._ui import link
from pages._ui.component import component, told
from rr_core import limits
from rr_core.parameters import Number
from rr_core.scenario import NUMBERS

_LONGEST = 40  # characters of a typed number
# In seconds: without a move after which the hand counts as resting; between two looks for a move.
_PATIENCE, _LOOK = 0.4, 0.01
_LONGEST_HOLD = 30.0  # seconds; a browser that is gone never says that its hand has let go
_RATIOS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


class _Dial(NamedTuple):
    """A quantity with a dial: its field, stops in increasing order, help, and the meaning of its two ends."""

    field: Number
    exact: str
    stops: list[float]
    help: str
    ends: tuple[str, str] = ("", "")


_FIELDS = {one.name: one for one in NUMBERS}
_DIALS = {
    "s": _Dial(
        _FIELDS["s"],
        "Exact s",
        [i / 20 for i in range(101)],
        "The share of rank r is proportional to 1/rˢ: 0 is uniform, larger is more concentrated.",
    ),
    # About twenty steps per factor of ten, to three digits: 0.01 ... 20.
    "epsilon": _Dial(
        _FIELDS["epsilon"],
        "Exact ε",
        [float(f"{10 ** (i / 20):.3g}") for i in range(-40, 27)],
        "One report changes the odds between any two answers by at most eᵋ. Also called "
        "privacy budget: what the reports of one person spend adds up.",
        ("← more private", "more accurate →"),
    ),
    "n": _Dial(
        _FIELDS["n"],
        "Exact N",
        sorted({round(ratio * 10**power) for power in range(9) for ratio in _RATIOS} | {limits.N_MAX}),
        "How many people report, one report each.",
    ),
}

_component = component("dials", '<div class="rr-dials"></div>')


@dataclass(slots=True)
class _Hand:
    """When a hand on a dial last moved it, minus infinity once it has let go; the key of the dials that it is on; by key
    of the dials the number of the last move; what was typed and refused."""

    moved: float = -math.inf
    on: str = ""
    answered: dict[str, int] = field(default_factory=dict)
    error: tuple[str, str] = ("", "")  # name of the dial, one plain sentence


def _hand() -> _Hand:
    if "_hand" not in st.session_state:
        st.session_state["_hand"] = _Hand()
    hand: _Hand = st.session_state["_hand"]
    return hand


def draw(key: str, *names: str, grey: Mapping[str, str], compact: bool = False, figure: bool = True) -> None:
    """Draw the dials of some fields of the scenario: "epsilon", "n", "s". ``grey`` says why one cannot be moved (of the
    seed: its button); ``compact`` is the row at the foot of the window; ``figure`` is whether the page has a figure of
    the scenario, which can fill the window and be presented."""
    hand, scenario = _hand(), link.current()
    dials = []
    for name in names:
        dial = _DIALS[name]
        dials.append(
            {
                "name": name,
                "label": dial.field.label,
                "exact": dial.exact,
                "stops": dial.stops,
                "help": dial.help,
                "ends": dial.ends,
                "whole": dial.field.whole,
                "value": getattr(scenario, name),
                "off": grey.get(name, ""),
                "error": hand.error[1] if hand.error[0] == name else "",
            }
        )
    _component(
        key=key,
        data={
            "dials": dials,
            "answered": hand.answered.get(key, 0),
            "compact": compact,
            "figure": figure,
            "presenting": link.presenting(),
            "still": grey.get("seed", ""),
        },
        on_moved_change=partial(_moved, key),
        on_presents_change=partial(_presents, key),
        on_draws_change=link.new_draw,
    )


def moving() -> bool:
    """Whether a hand is on a dial of this session."""
    return time.monotonic() - _hand().moved < _LONGEST_HOLD


def can_wait(key: str) -> bool:
    """Whether the dials of this key stay as they are for now, for a hand is on others."""
    return moving() and _hand().on != key


def wait_for_the_hand() -> None:
    """While a hand moves a dial: end this run at its next move; go on once the hand has rested for a moment."""
    if not moving():
        return
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        time.sleep(_LOOK)
        look()


def look() -> None:
    """End this run if it has been overtaken: Streamlit does that where the session's state is read."""
    _hand()


def _presents(key: str) -> None:
    event = told(key).get("presents")
    if isinstance(event, dict):
        link.present(event.get("on") is True)


def _moved(key: str) -> None:
    move = told(key).get("moved")
    if not isinstance(move, dict) or move.get("name") not in _DIALS:
        return
    hand, name = _hand(), str(move["name"])
    number = move.get("number")
    hand.on, hand.answered[key] = key, number if isinstance(number, int) else 0
    hand.moved = time.monotonic() if move.get("moving") is True else -math.inf
    try:
        value = _DIALS[name].field.entered(str(move.get("text", "")).strip()[:_LONGEST])
    except ValueError as problem:
        hand.error, hand.moved = (name, str(problem)), -math.inf
        return
    hand.error = ("", "")
    if value != getattr(link.current(), name):
        link.change(**{name: value})
