"""Uploaded tables: bytes in, numbers over named categories out. No Streamlit here.

`inspect` shows what a file seems to be, `read_distribution` reads it as the truth of a population, and
`read_reports` reads one or more files as collected reports, in which `odd_names` finds names that are hardly
categories, and which `within` puts on their domain.
`UnreadableFile` and `WrongDomain` carry the one sentence that tells a person what to mend. Files come from
strangers: sizes are checked before anything is unpacked, nothing in them is executed, and labels stay as they
are written (`pages._ui.safe_text` makes them safe where they are shown).
"""

from pages._ui.tables.collected import Source, inspect_reports, read_reports
from pages._ui.tables.domain import (
    AS_WRITTEN,
    AllSeen,
    Collected,
    Domain,
    Names,
    Size,
    within,
)
from pages._ui.tables.listed import Listed, read_list
from pages._ui.tables.odd_names import Odd, OddNames, decided, odd_names, too_few
from pages._ui.tables.progress import Stopped
from pages._ui.tables.reading import (
    MAX_CATEGORIES,
    MIN_CATEGORIES,
    Distribution,
    Dropped,
    Preview,
    inspect,
    read_distribution,
)
from pages._ui.tables.snippets import group_by
from pages._ui.tables.uniting import FileRead, Reports
from rr_core.io.content import EXTENSIONS
from rr_core.io.errors import UnreadableFile, WrongDomain
from rr_core.io.hints import BITS_LEAST

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
    "Stopped",
    "UnreadableFile",
    "WrongDomain",
    "decided",
    "group_by",
    "inspect",
    "inspect_reports",
    "odd_names",
    "read_distribution",
    "read_list",
    "read_reports",
    "too_few",
    "within",
]
