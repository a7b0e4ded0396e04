"""Reference: symbols, names, formulas, estimators compared, misprints, glossary, how to cite."""

import streamlit as st

from pages._ui.frame import open_reading
from pages._ui.reference import parts

open_reading("reference", "What does this symbol, name or formula mean?")

query = parts.search_box()
part = parts.pick()
if query:
    parts.search_results(query)
else:
    st.caption(f"**{part.name}**: {part.about}.")
    part.show()
