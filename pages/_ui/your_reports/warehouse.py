"""For reports that live in a warehouse: the one query that turns any number of rows into a small table."""

from __future__ import annotations

import streamlit as st

from rr_core.io import group_by

_LANGUAGES = {"Standard SQL": "sql", "Spark (Python)": "python", "DuckDB": "sql"}


def section() -> None:
    """Ask for the names of table and column, and show the query."""
    with st.expander("Too many reports for a file? Count them where they are"):
        st.markdown("The analysis needs only how often each category was reported. Upload what this gives:")
        with st.container(horizontal=True):
            table = st.text_input("Table", "reports", key="warehouse_table", width=220)
            column = st.text_input("Column", "report", key="warehouse_column", width=220)
        # A column may have blanks around its name, but needs more than blanks.
        queries = group_by(table.strip() or "reports", column if column.strip() else "report")
        for tab, (name, query) in zip(st.tabs(list(_LANGUAGES)), queries.items(), strict=True):
            tab.code(query, language=_LANGUAGES[name])
        st.caption("Spark writes a folder: upload the part-….csv in it.")
