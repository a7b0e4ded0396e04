"""Reference: symbols, names, formulas, estimators compared, misprints, glossary, how to cite."""

import streamlit as st

from pages._ui.frame import open_reading
from pages._ui.reference import PART, pick, search_box, search_results

open_reading("reference", "What does this symbol, name or formula mean?", PART)

query = search_box()
part = pick()
if query:
    search_results(query)
else:
    st.caption(f"**{part.name}**: {part.about}.")
    part.show()
