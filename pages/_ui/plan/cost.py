"""What more privacy costs, in users."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import people
from rr_core.figures.plan_words import budget, round_up
from rr_core.figures.style import number
from rr_core.figures.wording import alike
from rr_core.limits import EPSILON_APP_MIN

# Var(Inv) is about (e^eps + K)/(N e^(2 eps)) for fixed users; the luck of a sample and the other targets follow no such
# simple law.
_LARGER = " For a larger ε a bit costs about four times the users while e^ε is well below K, and twice the users beyond."


def section(found: Planned) -> None:
    """A table of the users needed with less epsilon."""
    st.subheader("What does more privacy cost?")
    st.markdown(words(found) if found.price is None else f"{words(found)}\n\n{table(found)}")


def rows(found: Planned) -> list[tuple[str, str, str, str]]:
    """(what, epsilon, users, times) of each step; nothing without a price."""
    if found.price is None:
        return []
    price, cells = found.price, []
    for bits, epsilon, users, times in zip(price.bits, price.epsilons, price.users, price.times, strict=True):
        reached = math.isfinite(users)
        cells.append(
            (
                step(float(bits), found.epsilon),
                number(round_up(float(epsilon), 4), 4),
                people(float(users)) if reached else "more than 10¹²",
                _more(float(times)) if bits and math.isfinite(times) else "–",
            )
        )
    return cells


def step(bits: float, epsilon: float) -> str:
    """What a number of bits less is called."""
    if bits == 0:
        return "the plan"
    if math.isclose(bits, epsilon / 2 / math.log(2)):
        return "half of ε"
    return "1 bit less" if bits == 1 else f"{bits:g} bits less"


def _more(times: float) -> str:
    return "hardly more" if alike(times) else f"{number(times)} times"


def words(found: Planned) -> str:
    """The price of one step in a sentence, as markdown."""
    price = found.price
    if price is None:
        return "There is no target met here that could be kept with more privacy."
    if price.bits.size < 2:
        return f"Half of this ε is less than {EPSILON_APP_MIN:g}, the smallest that a plan can have."
    whole = np.flatnonzero(price.bits == 1)
    at = int(whole[0]) if whole.size else 1
    name = step(float(price.bits[at]), found.epsilon)
    times = float(price.times[at])
    cost = (
        "puts the target out of reach"
        if not math.isfinite(times)
        else "takes hardly more users for the same target"
        if alike(times)
        else f"takes **{number(times)} times the users** for the same target"
    )
    lower = number(round_up(float(price.epsilons[at]), 4), 4)
    return (
        f"**{name[0].upper()}{name[1:]}** (ε = {lower} rather than {budget(found.epsilon)}) "
        f"{cost}. One bit less means that a report can shift an onlooker's odds by half as much: e^ε halves. While ε is "
        f"small the users grow as 1/ε².{_LARGER if (found.asked.kind, found.asked.users) == ('rmse', 'fixed') else ''}"
    )


def table(found: Planned) -> str:
    """The steps as a markdown table."""
    lines = ["| Privacy | ε | Users needed | Compared to the plan |", "|:--|--:|--:|--:|"]
    return "\n".join(lines + [f"| {' | '.join(cells)} |" for cells in rows(found)])
