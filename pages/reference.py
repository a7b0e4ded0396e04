"""Reference: symbols, names, formulas, estimators compared, misprints, glossary, how to cite."""

import streamlit as st

from pages._ui.frame import open_reading
from pages._ui.reference import parts

open_reading("reference", "What does this symbol, name or formula mean?")

wanted = parts.ask()
part = parts.pick()
if wanted:
    parts.found(wanted)
else:
    st.caption(f"**{part.name}**: {part.promise}.")
    part.show()
