"""Files: bytes in, numbers out, and back. Needs pyarrow, python-calamine and pyreadstat; loads no Streamlit or Plotly.

`inspect` shows what a file seems to be, `read_distribution` reads it as the truth of a population, and `read_reports`
reads one or more files as collected reports, in which `odd_names` finds names that are hardly categories, and which
`within` puts on their domain. `experiments` holds the files of sweeps, `text` writes CSV that no spreadsheet runs.

A table may be text, Parquet, a spreadsheet (`spreadsheets`), a file of SPSS, Stata or SAS (`statistics_files`), or the
only one in a ZIP archive; all that follows is the same code.

`UnreadableFile` and `WrongDomain` carry the one sentence that tells a person what to mend. Files come from strangers:
sizes are checked before anything is unpacked, nothing in them is executed, and labels stay as they are written, to be
made safe where they are shown.
"""

from rr_core.io.columns import BITS_LEAST
from rr_core.io.decoding import EXTENSIONS, UnreadableFile, WrongDomain
from rr_core.io.distribution import (
    Distribution,
    Preview,
    inspect,
    read_distribution,
    without,
)
from rr_core.io.domain import (
    AS_WRITTEN,
    AllSeen,
    Collected,
    Domain,
    Listed,
    Names,
    Size,
    read_list,
    within,
)
from rr_core.io.odd_names import Odd, OddNames, decisions_on, odd_names, too_few
from rr_core.io.reports import FileRead, Reports, Source, inspect_reports, read_reports
from rr_core.io.sql import group_by
from rr_core.io.tables import MAX_CATEGORIES, MIN_CATEGORIES, Dropped, rows_left_out

__all__ = [
    "AS_WRITTEN",
    "BITS_LEAST",
    "EXTENSIONS",
    "MAX_CATEGORIES",
    "MIN_CATEGORIES",
    "AllSeen",
    "Collected",
    "Distribution",
    "Domain",
    "Dropped",
    "FileRead",
    "Listed",
    "Names",
    "Odd",
    "OddNames",
    "Preview",
    "Reports",
    "Size",
    "Source",
    "UnreadableFile",
    "WrongDomain",
    "decisions_on",
    "group_by",
    "inspect",
    "inspect_reports",
    "odd_names",
    "read_distribution",
    "read_list",
    "read_reports",
    "rows_left_out",
    "too_few",
    "within",
    "without",
]
