"""The answer in words, and the button that takes it over."""

from __future__ import annotations

import streamlit as st

from pages._ui import link
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import achieved, promise, users
from rr_core.figures.plan_words import budget
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
        are = "is" if found.n == 1 else "are"
        return f"**{users(found.n)} {are} enough** at ε = {budget(found.epsilon)}, so that {promise(asked.target)}."
    if asked.find == "eps":
        return f"**ε = {budget(found.epsilon)} is enough** with {users(found.n)}, so that {promise(asked.target)}."
    return f"At ε = {budget(found.epsilon)} and with {users(found.n)}, {achieved(asked.target, found.value)}."


def meaning(found: Planned) -> str:
    """What the target means, for whom the promise is, and about which estimate; as markdown."""
    asked = found.asked
    shares = (
        "any population at all"
        if asked.worst
        else "every population alike"
        if asked.kind in ("share", "smallest") or (asked.kind == "rmse" and asked.users == "fixed")
        else "the guessed population"
    )
    too_many = f" The app itself goes up to {N_MAX:,} users." if found.n > N_MAX else ""
    about = f"{_WHOSE[asked.users]} {_ABOUT[asked.kind]}{too_many}"
    return f"{asked.about.meaning} This is for K = {found.k:,} and {shares}. {about}"


_INV = "It is about **Inv**, the unbiased estimate; simulate the others below."
_ABOUT = {
    "rmse": _INV,
    "max": _INV,
    "share": _INV,
    "smallest": "The test looks at the numbers of reports, whatever the estimate.",
    "top": "No estimate here changes the order that the reports give.",
}

_WHOSE = {
    "fixed": "The truth is that of the very people who report: only the noise is by chance.",
    "sampled": "The truth is that of the population that the users are drawn from: who is drawn is by chance, too.",
}


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
