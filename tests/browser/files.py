"""Files to upload: real ones where they are there, broken ones, and one full of hostile names."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.browser.server import ROOT

DATA = ROOT.parent / "shared" / "data"


def real_file(name: str) -> bytes:
    """A file of the folder ``../shared/data``, which is not part of the repository."""
    path: Path = DATA / name
    if not path.is_file():
        pytest.skip(f"../shared/data/{name} is not here")
    return path.read_bytes()


@dataclass(frozen=True)
class Broken:
    """A file that cannot be used, and what its sentence must say."""

    about: str
    data: bytes
    words: tuple[str, ...]
    name: str = "table.csv"


_GOOD = b"category,count\na,5\nb,7\n"
_PARQUET = io.BytesIO()
pq.write_table(pa.table({"category": ["a", "b"] * 50, "count": range(100)}), _PARQUET)

# One of each kind; tests/io goes through all sentences.
BROKEN = (
    Broken("negative", b"category,count\na,5\nb,-4\nc,2\n", ("Line 3", "“-4”", "negative")),
    Broken("picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ("a picture (PNG)", "not a table")),
    Broken("cut Parquet", _PARQUET.getvalue()[:-100], ("Parquet file is cut short",), "table.parquet"),
    Broken("cut gzip", gzip.compress(_GOOD * 99)[:-20], ("compressed file is cut short",), "table.csv.gz"),
    Broken(
        "too large",
        gzip.compress(b"a,1\n" * (1 << 20), mtime=0) * 55,
        ("unpacks to more than 200 MB",),
        "table.csv.gz",
    ),
)

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "<b>bold</b>",
    "=1+1",
    "+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "[click](http://evil.example)",
    "![pixel](http://evil.example/pixel.png)",
    "http://evil.example/auto",
    "$\\frac{1}{2}$",
    ":red[alarm] :material/home:",
    "**strong** _and_ `code`",
    "👩‍👧 family",
    "\u202egnp.exe",
    'say "hi", twice',
    "very long " * 60,
    "javascript:alert(3)",
    "&lt;b&gt;",
)


def hostile_file() -> bytes:
    """All hostile names with counts, the first ones the most frequent."""
    quoted = (label.replace('"', '""') for label in HOSTILE)
    rows = [f'"{label}",{5000 - 100 * i}' for i, label in enumerate(quoted)]
    return "\n".join(["category,count", *rows]).encode("utf-8")
