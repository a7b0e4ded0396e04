"""Broken and hostile files of reports, and what becomes of each: read, or refused with a sentence.

What is wrong with the bytes of any table is in `tests/io/test_distribution.py`.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rr_core.io import Domain, Size, Source, read_list


@dataclass(frozen=True)
class Hostile:
    """Files, and either `refused` (a part of the sentence) or the `counts` that are read.

    `mended` are the counts on the page, where odd names are settled first; else these are `counts`.
    `domain` is what a person says of them, `options` what they choose for `read_reports`, `noted` a part of a
    note.
    """

    files: tuple[Source, ...]
    refused: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    mended: dict[str, int] = field(default_factory=dict)
    noted: str = ""
    domain: Domain | None = None
    options: dict[str, Any] = field(default_factory=dict)


def one(data: str | bytes, name: str = "reports.csv", **rest: Any) -> Hostile:
    return Hostile((Source(name, data.encode() if isinstance(data, str) else data),), **rest)


def to_parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def listing(counts: dict[str, int]) -> str:
    """A table of counts whose names hold no separators, quotation marks or line ends."""
    return "category,count\n" + "".join(f"{name},{count}\n" for name, count in counts.items())


GOOD = "category,count\na,10\nb,20\nc,30\n"
MARKUP = {
    "<img src=x onerror=alert(1)>": 3,
    "<script>alert(1)</script>": 4,
    "[click](javascript:alert(1))": 5,
    "![pixel](http://example.org/x.png)": 6,
    "$\\alpha$ :red[x] `y` **z**": 7,
}
FORMULAS = {"=1+1": 3, "+1+1": 4, "-1+1": 5, "@SUM(1)": 6, "=cmd|' /C calc'!A0": 7}
# The last two are one letter to the eye, written in two ways.
EMOJI = {"😀": 3, "\U0001f469\u200d\U0001f467": 4, "🇫🇷": 5, "\u00e9": 6, "e\u0301": 7}
BACKWARDS = {"a\u202eb": 3, "\u2066c": 4}
# 52 members of 4 MB each: 208 MB in a file of some kilobytes.
BOMB = gzip.compress(b"a\n" * (2 << 20), mtime=0) * 52
PARQUET = to_parquet(report=["red", "blue"] * 500)

CASES: dict[str, Hostile] = {
    "K too small": one(GOOD, domain=Size(2), refused="hold 3 different categories, and K = 2 is smaller"),
    "list of something else": one(
        GOOD, domain=read_list("x\ny"), refused="the list has “x”, “y”, the reports “a”, “b”. Check"
    ),
    "list in capitals": one(
        GOOD,
        domain=read_list("A\nB"),
        refused="They differ in upper and lower case",
        mended={"A": 10, "B": 20},
    ),
    "mixed types": one(
        "report\n1\n2.5\ntrue\nNA\nred\n2020-01-02\n1\n",
        counts={"1": 2, "2.5": 1, "true": 1, "NA": 1, "red": 1, "2020-01-02": 1},
        mended={"1": 2, "2.5": 1, "true": 1, "red": 1, "2020-01-02": 1},
    ),
    "duplicated categories": one("category,count\na,1\n a ,2\nb,4\na,8\n", counts={"a": 11, "b": 4}),
    "markup": one(listing(MARKUP), counts=MARKUP),
    "formulas": one(listing(FORMULAS), counts=FORMULAS),
    "emoji": one(listing(EMOJI), counts=EMOJI, mended={**dict(list(EMOJI.items())[:3]), "e\u0301": 13}),
    "text that runs backwards": one(listing(BACKWARDS), counts=BACKWARDS),
    "terminal codes": one("report\nr\x1b[31med\nblue\n", counts={"r[31med": 1, "blue": 1}),
    "very long names": one(
        listing({"x" * 100_000: 1, "x" * 100_001: 2, "y": 3}),
        counts={"x" * 199 + "…": 1, "x" * 195 + "… (2)": 2, "y": 3},
        noted="2 names longer than 200 characters were cut.",
    ),
    "gzip bomb": one(BOMB, "reports.csv.gz", refused="unpacks to more than 200 MB"),
    "damaged Parquet": one(
        PARQUET[:4] + bytes(60) + PARQUET[64:], "reports.parquet", refused="Parquet file is damaged"
    ),
    "negative count": one(GOOD + "d,-4\n", refused="Line 5: the count “-4” is negative."),
    "fractional count": one(GOOD + "d,0.5\n", refused="Line 5: the count “0.5” is not a whole number."),
    "shares": one("category,share\na,1\nb,3\n", refused="The column “share” holds shares"),
    "counts all zero": one(
        "category,count\na,0\nb,0\n", refused="All counts in the column “count” are zero:"
    ),
    "two shapes": Hostile(
        (Source("monday.csv", GOOD.encode()), Source("tuesday.csv", b"day,category,count\n2,a,5\n")),
        refused="“tuesday.csv”: it has 3 columns, and “monday.csv” has 2.",
    ),
    "endless quotation": one(GOOD + '"d,1\n' + "e,1\n" * 50, refused="A quotation mark is opened on line 5"),
    "one column of counts": one("3\n4\n5\n", options={"layout": "counts"}, refused="one column only"),
    "UTF-16": one("report\nrød\nblå\nrød\n".encode("utf-16"), counts={"rød": 2, "blå": 1}),
    "bit vectors": one(
        "report\n010010\n110000\n010010\n", counts={"010010": 2, "110000": 1}, noted="unary encoding"
    ),
    "nothing but blanks": one("user,report\n1,\n2,  \n3,\n", refused="The column “report” is empty."),
}
