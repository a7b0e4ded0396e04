"""The reports that a session has in use, and whether the panel to choose others is open.

Nothing of it leaves the session, and no shared cache holds any of it.
"""

from __future__ import annotations

import streamlit as st

from pages._ui.your_reports.results import Used
from pages._ui.your_reports.said import Said
from rr_core.io import Collected, Reports
from rr_core.mechanism import RandomizedResponse


def used() -> Used | None:
    found: Used | None = st.session_state.get("_reports_used")
    return found


def use(reports: Reports, collected: Collected, mechanism: RandomizedResponse, said: Said, name: str) -> Used:
    """Put reports into use and close the panel; what was in use before is forgotten only now."""
    before = used()
    now = Used(reports, collected, mechanism, said, name, before.key + 1 if before else 1)
    st.session_state["_reports_used"] = now
    close_panel()
    return now


def is_open() -> bool:
    """Whether the panel for files and settings is to be shown."""
    return used() is None or "_reports_open" in st.session_state


def open_panel() -> None:
    st.session_state["_reports_open"] = True


def close_panel() -> None:
    st.session_state.pop("_reports_open", None)
