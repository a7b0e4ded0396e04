"""Files to upload: real ones where they are there, broken ones, and one full of hostile names."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
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


def _parquet() -> bytes:
    out = io.BytesIO()
    rng = np.random.default_rng(1)
    pq.write_table(
        pa.table({"category": [f"c{i}" for i in range(500)], "count": rng.integers(1, 9, 500)}), out
    )
    return out.getvalue()


_PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
_GOOD = b"category,count\na,5\nb,7\n"

BROKEN = (
    Broken("negative", b"category,count\na,5\nb,-4\nc,2\n", ("Line 3", "“-4”", "negative")),
    Broken("not a number", b"category;count\na;5\nb;7\nc;many\n", ("Line 4", "“many”", "not a number")),
    Broken("NaN", b"category,count\na,5\nb,NaN\n", ("Line 3", "“NaN”", "not a finite number")),
    Broken("no count", b"category,count\na,5\nb,\nc,3\n", ("Line 3", "no count")),
    Broken("empty", b" \n\n", ("The file is empty",)),
    Broken("picture", _PNG, ("a picture (PNG)", "not a table")),
    Broken("workbook", b"PK\x03\x04....xl/workbook.xml", ("an Excel workbook", "Export the table itself")),
    Broken("cut Parquet", _parquet()[:-100], ("Parquet file is cut short",), "table.parquet"),
    Broken("not Parquet", _GOOD, ("content is not Parquet",), "table.parquet"),
    Broken("cut gzip", gzip.compress(_GOOD * 99)[:-20], ("compressed file is cut short",), "table.csv.gz"),
    Broken("one category", b"category,count\na,5\n", ("one category only", "at least 2")),
    Broken(
        "too many categories",
        "\n".join(map(str, range(1_500_001))).encode(),
        ("1,500,001 different categories", "at most 1,500,000"),
    ),
    Broken(
        "too large",
        gzip.compress(b"category,count\n" + b"a,1\n" * (55 << 20), 1),
        ("unpacks to more than 200 MB",),
        "table.csv.gz",
    ),
    Broken("ragged", b"category,count\na,5\nb,7,9\n", ("Line 3", "3 fields", "first line has 2")),
    Broken("open quotation", b'category,count\n"a,5\nb,7\n' + b"c,1\n" * 50, ("quotation mark", "line 2")),
    Broken("all zero", b"category,count\na,0\nb,0\n", ("zero", "above 0")),
    Broken("header only", b"category,count\n", ("header line and nothing below it",)),
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
