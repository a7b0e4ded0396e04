"""One scenario per session, always in the address bar.

The session's scenario is the only truth. Widgets are drawn from it and change it in callbacks alone; the
address is written from it. The address has the say at three moments: the first run, the browser's Back or
Forward, and arriving on another page. (Bound widgets, ``bind="query-params"``, were tried: the Back button
then returns to a bare address, a value outside its range falls back without a word, and the two widgets of
one quantity fight over it.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui import state
from rr_core.populations import TABLES, UPLOAD
from rr_core.scenario import ALL_FIELDS, Scenario, other_k

_PARAMETERS = tuple(field.parameter for field in ALL_FIELDS)
_STALE_SECONDS = 2.0
STAYED = (
    "This link is about a file that stayed with its owner: uploaded files never leave the browser session "
    "they belong to. If you have the file, upload it below; until then the link's other settings are shown "
    "with a Zipf distribution."
)


@dataclass(slots=True)
class _Link:
    scenario: Scenario
    notes: tuple[str, ...] = ()
    page: str = ""
    before: Scenario | None = None  # what links already on screen may carry, just after a change
    changed: float = 0.0
    arrived: bool = False
    k_of_file: str = ""  # what the link said of a file that is not here yet
    own: dict[str, str | None] = field(default_factory=dict)


def _link() -> _Link:
    if "_link" not in st.session_state:
        st.session_state["_link"] = _Link(Scenario())
    link: _Link = st.session_state["_link"]
    return link


def current() -> Scenario:
    """The scenario of this session."""
    return _link().scenario


def page() -> str:
    """The address of the page on screen."""
    return _link().page


def arrived() -> bool:
    """Whether this run shows what an address says: a first run, another page, or Back and Forward."""
    return _link().arrived


def keep(parameter: str, text: str | None) -> None:
    """Have a parameter of the page's own in the address, or (None) not there; `write` puts it with the rest."""
    _link().own[parameter] = text


def change(**fields: Any) -> None:
    """Change the scenario; for widget callbacks."""
    link = _link()
    if fields.get("dist") in TABLES:
        fields["k"] = len(TABLES[fields["dist"]].rows)
    link.before, link.changed, link.notes = link.scenario, time.monotonic(), ()
    if fields.get("dist") == UPLOAD:
        note = other_k(link.k_of_file, fields["k"], "your file")
        link.notes, link.k_of_file = (note,) if note else (), ""
    link.scenario = replace(link.scenario, **fields)


def read(address: str) -> tuple[str, ...]:
    """Take the scenario from the link when the link has the say.

    Args:
        address: the page that is being opened.

    Returns:
        Plain sentences about values of the link that had to be changed.
    """
    first = "_link" not in st.session_state
    link = _link()
    query = _in_address()
    link.own.clear()
    link.arrived = first or _from_history() or address != link.page
    if query and link.arrived:
        scenario, notes = _read(query)
        # A click on a page link right behind a change (leaving a box commits it) carries the old scenario.
        outrun = scenario == link.before and time.monotonic() - link.changed < _STALE_SECONDS
        if first or _from_history() or not outrun:
            link.scenario, link.notes = scenario, notes
    link.page = address
    return link.notes


def write() -> None:
    """Put the scenario into the address when it is not there: one message, one history entry, no rerun."""
    address = st.query_params.to_dict()
    others = {name: text for name, text in address.items() if name not in _PARAMETERS}
    wanted = {**current().to_query(), **others, **_link().own}
    given = {name: text for name, text in wanted.items() if text is not None}
    if given != address:
        st.query_params.from_dict(given)


def _in_address() -> dict[str, str]:
    address = st.query_params.to_dict()
    return {name: address[name] for name in _PARAMETERS if name in address}


def _read(query: dict[str, str]) -> tuple[Scenario, tuple[str, ...]]:
    uploaded = state.uploaded()
    if uploaded is not None and query.get("dist") == UPLOAD:
        others = {name: text for name, text in query.items() if name != "k"}
        scenario, notes = Scenario.from_query(others)
        k = uploaded.population.k
        note = other_k(query.get("k", ""), k, "your file")
        return replace(scenario, k=k), (note, *notes) if note else notes
    scenario, notes = Scenario.from_query(query)
    if scenario.dist != UPLOAD:
        state.close_upload()
        return scenario, notes
    state.open_upload(keep_users="n" in query)
    _link().k_of_file = query.get("k", "")
    return replace(scenario, dist="zipf"), (STAYED, *notes)


def _from_history() -> bool:
    """Whether this run was started by the browser's Back or Forward (not public in Streamlit 1.67)."""
    context = get_script_run_ctx()
    return context is not None and bool(getattr(context, "is_history_navigation", False))
