"""Uploaded tables: bytes in, a distribution over named categories out. No Streamlit here.

`inspect` shows what a file seems to be, `read_distribution` reads it, and `UnreadableFile` carries the one
sentence that tells a person what to mend. Files come from strangers: sizes are checked before anything is
unpacked, nothing in them is executed, and labels stay as they are written (`pages._ui.safe_text` makes them
safe where they are shown).
"""

from pages._ui.tables.content import EXTENSIONS
from pages._ui.tables.errors import UnreadableFile
from pages._ui.tables.reading import (
    MAX_CATEGORIES,
    MIN_CATEGORIES,
    Distribution,
    Dropped,
    Preview,
    inspect,
    read_distribution,
)

__all__ = [
    "EXTENSIONS",
    "MAX_CATEGORIES",
    "MIN_CATEGORIES",
    "Distribution",
    "Dropped",
    "Preview",
    "UnreadableFile",
    "inspect",
    "read_distribution",
]
