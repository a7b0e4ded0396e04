"""Files: bytes in, numbers out, and back. Needs pyarrow; loads neither Streamlit nor Plotly.

`experiments` holds the files of sweeps; `content`, `text` and `parquet` read any table that a person may bring, and
`csv_files` writes CSV that no spreadsheet runs.
"""
