"""The pages in the order of the navigation: one path of questions, and the rest. Links carry the scenario."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
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


_PATH = "The path"  # whose pages links call by their question
GROUPS = {
    group: tuple(Entry(**one, label=one["question" if group == _PATH else "name"]) for one in pages)
    for group, pages in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
START, PATH, YOUR_DATA, DEEPER = GROUPS.values()
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
