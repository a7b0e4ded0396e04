"""Home: randomized response as a story in five steps, and where to go from there."""

import streamlit as st

from pages._ui import lesson, link, navigation
from pages._ui.frame import controls_for_all_pages, open_home

open_home()
lesson.draw()


def card(*entries: navigation.Entry) -> None:
    """Links to these pages, each with what it answers."""
    for entry in entries:
        navigation.link_to(entry.file, f"**{entry.label}**", entry.icon, link.current().to_query())
        st.caption(entry.answers)


with st.container(key="own_numbers"):  # the end of the story, where its Skip leads
    st.subheader("One path of five steps")
    steps = st.grid(2, border=True)
    for step in navigation.PATH:
        with steps.cell():
            card(*step)
    your_data, deeper = st.columns([1, 3], border=True)
    with your_data:
        st.markdown("**Your data**")
        card(*navigation.YOUR_DATA)
    with deeper:
        st.markdown("**Go deeper**")
        for column, entry in zip(st.columns(3), navigation.DEEPER, strict=True):
            with column:
                card(entry)
st.caption("The address holds the scenario: copy it, and a class opens the same numbers.")
controls_for_all_pages()
