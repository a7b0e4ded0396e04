"""Home: randomized response as a story, and where to go from there."""

import streamlit as st

from pages._ui import lesson, link, navigation
from pages._ui.frame import controls_for_all_pages, open_home

_IN_A_ROW = 3  # questions of the path

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


with st.container(key="path"):  # the end of the story, where its Skip leads
    with st.container(border=True):
        card("", navigation.START[1:])
    st.subheader("The path, question by question")
    for first in range(0, len(navigation.PATH), _IN_A_ROW):
        for place, entry in zip(st.columns(_IN_A_ROW, border=True), navigation.PATH[first:], strict=False):
            with place:
                card("", (entry,))
    groups = {"Your data": navigation.YOUR_DATA, "Go deeper": navigation.DEEPER}
    places = st.columns([len(entries) for entries in groups.values()], border=True)
    for place, (title, entries) in zip(places, groups.items(), strict=True):
        with place:
            card(title, entries)
st.caption("The address holds the scenario: copy it, and a class opens the same numbers.")
controls_for_all_pages()
