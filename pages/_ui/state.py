"""What a session holds beside its scenario: the uploaded file, and whether the upload panel is open.

Uploads live here and nowhere else, so that nothing of them outlives or leaves the session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from rr_core.populations import Population

T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """Where an uploaded distribution came from.

    Attributes:
        file: its name.
        category: the column of names; without a header "Column 1" and so on.
        count: the column of numbers; None when every row is one person.
        has_header: whether the first line names the columns; None: found out, or Parquet.
        order: of the categories: "file", "count" or "name".
        sha256: of the file, "" when that is not known.
    """

    file: str = "distribution.csv"
    category: str = "category"
    count: str | None = "count"
    has_header: bool | None = None
    order: str = "file"
    sha256: str = ""


@dataclass(frozen=True, eq=False)
class Uploaded:
    """A file in use: its population, what to call it, and how it was read."""

    population: Population
    file_name: str
    understood: str
    origin: Origin | None = None


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


def latest(name: str, about: Hashable, make: Callable[[], T]) -> T:
    """What was made last under this name, when it is about the same, or else made now: what a session keeps of
    its own upload, which no shared cache may hold."""
    held: tuple[Hashable, T] | None = st.session_state.get(f"_latest_{name}")
    if held is None or held[0] != about:
        held = (about, make())
        st.session_state[f"_latest_{name}"] = held
    return held[1]
