"""The pages in the order of the navigation: one path of questions, and the rest. Links carry the scenario."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages._ui import link


class Entry(NamedTuple):
    """A page of the app: its address, which is also its file's name, its name for documents, the question that is its
    title, the label of a link to it, and what one finds there, in a sentence."""

    address: str
    name: str
    question: str
    label: str
    icon: str
    answers: str

    @property
    def file(self) -> str:
        """The page's file, from the project's root on."""
        return f"pages/{self.address}.py" if self.address else "home.py"


def _step(address: str, name: str, question: str, icon: str, answers: str) -> Entry:
    """A page of the path: its links are worded by its question."""
    return Entry(address, name, question, question, icon, answers)


def _named(address: str, name: str, question: str, icon: str, answers: str) -> Entry:
    """A page that links call by its name."""
    return Entry(address, name, question, name, icon, answers)


START = (
    _named(
        "",
        "Home",
        "How can a survey learn the truth from answers that lie?",
        ":material/home:",
        "Randomized response as a story.",
    ),
    _named(
        "lesson",
        "Lesson",
        "What is a coin good for?",
        ":material/school:",
        "Ten scenes, three to five minutes each: predict first, then see.",
    ),
)
PATH = (
    _step(
        "noisy_histogram",
        "Noisy histogram",
        "What does the noise do?",
        ":material/bar_chart:",
        "What it does to a histogram, and what one report gives away.",
    ),
    _step(
        "inv_negatives",
        "Inv and its negatives",
        "Why negative shares?",
        ":material/trending_down:",
        "Why an estimate can fall below zero, and when more users cure it.",
    ),
    _step(
        "estimators",
        "Estimators",
        "Which repair should I use?",
        ":material/balance:",
        "Three repairs against the truth: one draw, then many.",
    ),
    _step(
        "geometry",
        "Geometry",
        "Where do the repairs lie?",
        ":material/change_history:",
        "When the three share a line, and which is in its middle.",
    ),
    _step(
        "ibu",
        "IBU → MLE*",
        "Can one get there by patience?",
        ":material/trending_up:",
        "How many steps it takes to the exact estimate, and when to stop.",
    ),
    _step(
        "plan",
        "Plan",
        "How many people do I need?",
        ":material/event_note:",
        "How many, at which ε; and whether another way of asking takes fewer.",
    ),
)
YOUR_DATA = (
    _named(
        "your_reports",
        "Your reports",
        "What do my collected reports say, and how sure is it?",
        ":material/upload_file:",
        "From collected reports to estimates, intervals and files.",
    ),
    _named(
        "room",
        "Room",
        "What does this room say?",
        ":material/groups:",
        "A survey of the people present, each by their own phone.",
    ),
)
DEEPER = (
    _named(
        "experiments",
        "Experiments",
        "Do the paper's claims hold, and which estimate wins where?",
        ":material/science:",
        "The paper's evaluation again: which estimate wins where.",
    ),
    _named(
        "protocols",
        "Protocols",
        "What if people report in another way?",
        ":material/alt_route:",
        "What changes when reports are made otherwise.",
    ),
    _named(
        "reference",
        "Reference",
        "What does this symbol, name or formula mean?",
        ":material/menu_book:",
        "What every symbol, name and formula means.",
    ),
)
GROUPS = {
    "Start": START,
    "The path": PATH,
    "Your data": YOUR_DATA,
    "Go deeper": DEEPER,
}
BY_ADDRESS = {entry.address: entry for group in GROUPS.values() for entry in group}


def draw() -> None:
    """Draw the navigation in the current container (the sidebar)."""
    query = link.current().to_query()
    for group, entries in GROUPS.items():
        st.caption(group)
        for entry in entries:
            link_to(entry.file, entry.label, entry.icon, query)


def link_to(path: str, label: str, icon: str, query: dict[str, str], tooltip: str | None = None) -> None:
    """Draw a link to a page that carries a scenario, and whether its truth is hidden. Nothing is drawn when a page is run
    on its own, without the others."""
    with suppress(StreamlitPageNotFoundError):
        carried = {**query, **link.manner_to_query()}
        st.page_link(path, label=label, icon=icon, query_params=carried, help=tooltip)
