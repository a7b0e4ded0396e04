"""What a session holds beside its scenario: the uploaded file, and whether the upload panel is open.

Uploads live here and nowhere else, so that nothing of them outlives or leaves the session.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rr_core.populations import Population


@dataclass(frozen=True, eq=False)
class Uploaded:
    """A file in use: its population, and what to call it."""

    population: Population
    file_name: str
    understood: str


def uploaded() -> Uploaded | None:
    found: Uploaded | None = st.session_state.get("_upload")
    return found


def use(upload: Uploaded) -> None:
    st.session_state["_upload"] = upload
    close_upload()


def open_upload(*, keep_users: bool = False) -> None:
    """Show the upload panel; ``keep_users``: accepting a file leaves N alone, because a link gave it."""
    st.session_state["_upload_open"] = "keep" if keep_users else "set"


def close_upload() -> None:
    st.session_state.pop("_upload_open", None)


def upload_open() -> bool:
    return "_upload_open" in st.session_state


def keeps_users() -> bool:
    return st.session_state.get("_upload_open") == "keep"
