"""Geometry: where the three repairs lie, why MLE* is in the middle, and when they share a line."""

import streamlit as st

from pages._ui import downloads, guidance
from pages._ui.frame import Parts, open_page, while_open
from pages._ui.geometry import collinearity, triangle
from rr_core.words.phrases import FOLDED

PARTS = Parts(
    "geometry",
    {
        "why": "Why in the middle?",
        "line": "On one line?",
        "beyond": "Beyond Theorem 2",
        "bias": "The price: bias",
    },
)
page = open_page("geometry", triangle.PICKED, PARTS.binding)
st.markdown(
    "A point is three shares; a corner is 100% of one category. **Inv** lies outside when a share is negative; **InvN**, "
    "**InvP** and **MLE\\*** are three ways back in.\n\n"
    "**Try:** click near an edge to move the reports. Where is MLE\\* each time?"
)
figure, points, theta = triangle.section(page, PARTS.binding.current())
parts = PARTS.tabs()
with parts["why"]:
    triangle.why_section(points, theta, page.results.geometry.three)
    downloads.row(page.results, figure, "geometry")
while_open(parts["line"], collinearity.theorem_section, page.results)
while_open(parts["beyond"], collinearity.equal_supports_section, page.results)
while_open(parts["bias"], triangle.bias_section, page.results)

with st.expander("Formulas"):
    st.markdown(FOLDED["geometry"])

guidance.next_page()
