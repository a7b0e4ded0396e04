"""Hiding the truth of the scenario, so that a class can guess first, and revealing it.

The setting belongs to the session: all pages share it, and their links carry it (``truth=hidden``), see `link`. While it
is on, a page passes no truth to its figures (`unless_hidden`), writes no number that depends on it (`text`), and has one
sentence in the place of a section that is about nothing else (`note`).
"""

from __future__ import annotations

from typing import TypeVar

import streamlit as st

from pages._ui import link

T = TypeVar("T")

# Addresses of the pages that show the truth of the scenario.
_SHOWN_ON = ("noisy_histogram", "inv_negatives", "estimators", "geometry", "ibu", "protocols")
# Those of them on which nothing is of the truth.
_WITHOUT_TRUTH = ("ibu",)


def hidden() -> bool:
    """Whether the truth is hidden in this session."""
    return link.truth_is_hidden()


def unless_hidden(value: T) -> T | None:
    """The value, or None while the truth is hidden."""
    return None if hidden() else value


def text(number: str) -> str:
    """A number that depends on the truth, as text; a word in its place while the truth is hidden."""
    return "hidden" if hidden() else number


def note(what: str = "this") -> str:
    """The sentence in the place of something that is about the truth alone."""
    return f"The truth is hidden. **Reveal the truth** in the sidebar shows {what}."


def unused_without(*fields: str) -> dict[str, str]:
    """Why these controls are grey while the truth is hidden, on a page that needs it for them; see `Page.controls`."""
    return dict.fromkeys(fields, "Nothing here depends on it while the truth is hidden.") if hidden() else {}


def draw_button(*, brief: bool = False) -> None:
    """Draw the button that hides the truth or reveals it, on pages that show it; ``brief``, in one word."""
    if link.page() in _SHOWN_ON and not (brief and link.page() in _WITHOUT_TRUTH):
        words, is_grey = "Reveal" if hidden() else "Hide", link.page() in _WITHOUT_TRUTH
        st.button(
            words if brief else f"{words} the truth",
            on_click=link.hide_truth,
            args=(not hidden(),),
            key=f"truth_{link.page()}",
            disabled=is_grey,
            help=None
            if brief  # before a class, where it would cover the sentence
            else "Nothing on this page shows the true counts."
            if is_grey
            else "For a class that guesses first: hides the true counts, and every number that depends on them, on all "
            "pages. The link says so, too.",
            width="stretch",
        )


def reveal_first_button(key: str) -> None:
    """Draw, in the place of a download whose file contains the truth, a button that reveals the truth."""
    st.button(
        "Data contain the truth: reveal",
        on_click=link.hide_truth,
        args=(False,),
        key=key,
        help="The file has a column with the true counts: reveal the truth, and it can be downloaded.",
        width="stretch",
    )
