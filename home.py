"""Home: randomized response as a story, and where to go from there."""

import streamlit as st

from pages._ui import lesson, link, navigation
from pages._ui.frame import controls_for_all_pages, open_home

open_home()
lesson.draw()


def card(title: str, entries: tuple[navigation.Entry, ...]) -> None:
    """Links to these pages, side by side, each with what it answers."""
    if title:
        st.markdown(f"**{title}**")
    for column, entry in zip(st.columns(len(entries)), entries, strict=True):
        with column, st.container(gap="xsmall"):
            navigation.link_to(entry.file, f"**{entry.label}**", entry.icon, link.current().to_query())
            st.caption(entry.answers)


steps = [("", step) for step in navigation.PATH]
with st.container(key="path"):  # the end of the story, where its Skip leads
    with st.container(border=True):
        card("", navigation.START[1:])
    st.subheader("The path, question by question")
    for row in (
        steps[:2],
        steps[2:],
        [("Your data", navigation.YOUR_DATA), ("Go deeper", navigation.DEEPER)],
    ):
        places = st.columns([len(entries) for _, entries in row], border=True)
        for place, (title, entries) in zip(places, row, strict=True):
            with place:
                card(title, entries)
st.caption("The address holds the scenario: copy it, and a class opens the same numbers.")
controls_for_all_pages()
