"""The grouped navigation: every page that exists, with its icon. Links carry the scenario."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages._ui import link

# page file, label, icon, what it answers
LAB = [
    (
        "pages/noisy_histogram.py",
        "Noisy histogram",
        ":material/bar_chart:",
        "What the noise does to a histogram, and what one report gives away.",
    ),
    (
        "pages/inv_negatives.py",
        "Inv and its negatives",
        ":material/trending_down:",
        "Why the unbiased estimate can fall below zero, and when more users cure it.",
    ),
    (
        "pages/estimators.py",
        "Estimators",
        ":material/balance:",
        "Three repairs against the truth, on one draw and over many.",
    ),
    (
        "pages/geometry.py",
        "Geometry",
        ":material/change_history:",
        "Where the three repairs lie, when they share a line, and who is in the middle of it.",
    ),
    (
        "pages/ibu.py",
        "IBU → MLE*",
        ":material/trending_up:",
        "How many steps the iterative estimate takes towards the exact one, and how to know when to stop.",
    ),
    (
        "pages/experiments.py",
        "Experiments",
        ":material/science:",
        "The paper's evaluation run again: which estimate wins where, and which claims hold.",
    ),
    (
        "pages/protocols.py",
        "Protocols",
        ":material/alt_route:",
        "What changes when reports are made in another way than by k-RR.",
    ),
]
PRACTICE = [
    (
        "pages/plan.py",
        "Plan",
        ":material/event_note:",
        "How many people, and how much privacy, a survey needs; and whether it should be RR at all.",
    ),
    (
        "pages/your_reports.py",
        "Your reports",
        ":material/upload_file:",
        "Reports that were collected: estimates, intervals, a test of ε, and files to take along.",
    ),
]
READ = [
    (
        "pages/reference.py",
        "Reference",
        ":material/menu_book:",
        "What every symbol, name and formula means, and where it comes from.",
    ),
]
# Pages that show no scenario: presenting passes them by.
WITHOUT_SCENARIO = ("pages/your_reports.py", "pages/reference.py")
_GROUPS = {
    "": [("home.py", "Home", ":material/home:")],
    "Lab": [entry[:3] for entry in LAB],
    "Practice": [entry[:3] for entry in PRACTICE],
    "Read": [entry[:3] for entry in READ],
}


def draw() -> None:
    """Draw the navigation in the current container (the sidebar)."""
    query = link.current().to_query()
    for group, entries in _GROUPS.items():
        if group:
            st.caption(group)
        for path, label, icon in entries:
            link_to(path, label, icon, query)


def link_to(path: str, label: str, icon: str, query: dict[str, str], tooltip: str | None = None) -> None:
    """Draw a link to a page that carries a scenario, and whether its truth is hidden. Nothing is drawn when a page is run
    on its own, without the others."""
    with suppress(StreamlitPageNotFoundError):
        carried = {**query, **link.manner_to_query()}
        st.page_link(path, label=label, icon=icon, query_params=carried, help=tooltip)
