"""Reference: glossary, questions, symbols, names, formulas, estimators compared, misprints, how to cite."""

import streamlit as st

from pages._ui import reference
from pages._ui.frame import open_reading

open_reading("reference", reference.PART)

query = reference.search_box()
part = reference.pick(query)
if query:
    reference.search_results(query)
else:
    st.caption(f"**{part.name}**: {part.about}.")
    part.show()
