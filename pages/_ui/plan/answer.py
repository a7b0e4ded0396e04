"""The answer in words, and the button that takes it over."""

from __future__ import annotations

import streamlit as st

from pages._ui import link
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import achieved, people, promise
from rr_core.limits import N_MAX


def show(found: Planned) -> None:
    """One bold answer, what it means, and a button to use it."""
    left, right = st.columns([6, 1], gap="small", vertical_alignment="center")
    with left:
        st.markdown(f"##### {sentence(found)}")
    with right:
        if found.found:
            _use(found)
    st.caption(meaning(found))


def sentence(found: Planned) -> str:
    """The answer as markdown."""
    asked = found.asked
    if found.problem:
        return f"**No answer.** {found.problem}"
    if asked.find == "n":
        return (
            f"**You need {people(found.n)} users** at ε = {found.epsilon:g}, so that {promise(asked.target)}."
        )
    if asked.find == "eps":
        return f"**You need ε = {found.epsilon:g}** with N = {people(found.n)} users, so that {promise(asked.target)}."
    return f"At ε = {found.epsilon:g} and N = {people(found.n)} users, {achieved(asked.target, found.value)}."


def meaning(found: Planned) -> str:
    """What the target means, for whom the promise is, and about which estimate; as markdown."""
    asked = found.asked
    shares = (
        "any population at all"
        if asked.worst
        else "every population alike"
        if asked.kind == "smallest" or (asked.kind == "rmse" and asked.users == "fixed")
        else "the guessed population"
    )
    too_many = f" The app itself goes up to {N_MAX:,} users." if found.n > N_MAX else ""
    luck = _LUCK if asked.users == "fixed" and asked.kind != "rmse" else ""
    return f"{asked.about.meaning} This is for K = {found.k:,} and {shares}. {_ABOUT[asked.kind]}{luck}{too_many}"


_INV = "It is about **Inv**, the unbiased estimate; InvP and MLE\\* usually do better, InvN not always."
_ABOUT = {
    "rmse": _INV,
    "max": _INV,
    "smallest": "The test looks at the numbers of reports, whatever the estimate.",
    "top": "All four estimates rank the categories alike.",
}

_LUCK = " The promise covers the luck of a sample too: for these people alone fewer users, or a smaller ε, may do."


def _use(found: Planned) -> None:
    if found.asked.find == "eps":
        st.button(
            "Use this ε", on_click=_change, args=("epsilon", found.epsilon), type="primary", width="stretch"
        )
        return
    too_many = found.n > N_MAX
    st.button(
        "Use this N",
        on_click=_change,
        args=("n", found.n),
        type="primary",
        width="stretch",
        disabled=too_many,
        help=f"The app goes up to {N_MAX:,} users." if too_many else None,
    )


def _change(field: str, value: float) -> None:
    link.change(**{field: value})
