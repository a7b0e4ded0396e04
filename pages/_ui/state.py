"""What a session holds beside its scenario and its pages' settings: the uploaded file, whether the upload panel is open,
and what was computed of the upload. Widgets that show what is held.

Uploads live here and nowhere else, so that nothing of them outlives or leaves the session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

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
    upload: Uploaded | None = st.session_state.get("_upload")
    return upload


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


def shows(key: str, value: Any, take: Callable[[Any], None], *, keep_entry: bool = False) -> dict[str, Any]:
    """Arguments that make a widget show ``value``, and hand over what a person makes of it.

    The widget holds nothing itself: it forgets when its page is left. A choice that is taken back (None) is not handed
    over: it stays as it was. Of a list the order does not count. With ``keep_entry`` the widget goes on showing what was
    entered, so that it can be corrected.
    """
    held = st.session_state.get(key)
    same = set(held) == set(value) if isinstance(held, list) and isinstance(value, list) else held == value
    entered = keep_entry and key in st.session_state
    if not same and not entered:  # only then: writing the same value makes it bounce
        st.session_state[key] = value

    def changed() -> None:
        chosen = st.session_state.get(key)  # gone when a page switch overtook this change
        if chosen is not None:
            take(chosen)

    return {"key": key, "on_change": changed}
