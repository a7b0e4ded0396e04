"""Files made to take a reader's memory or time, or to be misread; and every reader on one of them.

``python -m tests.io.hostile_files FOLDER`` writes them all. None is kept: each is made in a second or two.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import pkgutil
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import rr_core.io
from rr_core.io import (
    AllSeen,
    Names,
    Source,
    UnreadableFile,
    WrongDomain,
    inspect_reports,
    read_reports,
    within,
)
from rr_core.io.decoding import _SAS
from tests.io import reading
from tests.io.workbook_files import ANSWERS, archive, excel_parts, xlsx, zipped

Reader = Callable[[bytes, str], Any]


def read_again(source: Source, read_people: Callable[..., Any]) -> Any:
    """A file of reports, row by row, with its last column for groups and for weights."""
    read = read_reports([source])
    last = inspect_reports(source).columns[-1]
    return [
        read_people(source, read, within(read, AllSeen()).labels, Names(), by, weights)
        for by, weights in (([last], None), ([], last))
    ]


def _found() -> dict[str, Reader]:
    """Every public function of `rr_core.io` that takes a stranger's file or text, each as a function of bytes and name.

    A file is a `Source`, several of them, or ``data: bytes`` with a ``name``; a text is the first argument of a function
    called ``read_…``.
    """
    found: dict[str, Reader] = {}
    for info in pkgutil.iter_modules(rr_core.io.__path__):
        module = importlib.import_module(f"rr_core.io.{info.name}")
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or function.__module__ != module.__name__ or name[0] == "_":
                continue
            about, key = inspect.signature(function).parameters, f"{info.name}.{name}"
            kinds = {one: str(parameter.annotation) for one, parameter in about.items()}
            needed = {"has_header": None} if "has_header" in kinds else {}
            first = next(iter(kinds), "")
            if kinds.get(first) == "Sequence[Source]":
                found[key] = lambda data, name, f=function: f([Source(name, data)])
                found[f"{key} of two"] = lambda data, name, f=function: f(
                    [Source(name, data), Source(name, data)]
                )
            elif key == "people.read_people":
                found[key] = lambda data, name, f=function: read_again(Source(name, data), f)
            elif key == "unary_reports.read_bit_columns":
                found[key] = lambda data, name, f=function: f(
                    Source(name, data), inspect_reports(Source(name, data)).columns
                )
            elif "Source" in kinds.get(first, ""):
                found[key] = lambda data, name, f=function: f(Source(name, data))
            elif kinds.get("data") == "bytes" and "name" in kinds:
                found[key] = lambda data, name, f=function, more=needed: f(
                    data=data,
                    name=name,
                    **{one: made() if callable(made) else made for one, made in more.items()},
                )
            if name.startswith("read") and kinds.get(first, "").startswith("str") and "data" not in kinds:
                found[f"{key} of text"] = lambda data, name, f=function: f(data.decode("utf-8", "replace"))
    return found


READERS = _found()

TABLE = b"category,count\nbus,3\ncar,4\n"


def parquet(table: pa.Table, **options: Any) -> bytes:
    """A Parquet file compressed by zstd."""
    return reading.parquet(table, **{"compression": "zstd", **options})


def wide() -> bytes:
    text = pa.array(["a" * 50_000_000])
    return parquet(pa.table({f"c{i}": text for i in range(20)}), use_dictionary=False, write_statistics=False)


def long() -> bytes:
    codes = pa.array(np.zeros(8_000_000, np.int8))
    category = pa.DictionaryArray.from_arrays(codes, pa.array(["x"]))
    return parquet(pa.table({"category": category, "count": pa.array(np.ones(8_000_000, np.int8))}))


def endings() -> bytes:
    """Long texts that differ in their ends alone, each written as what it adds to the one before."""
    table = pa.table({"category": ["b" * 1_000_000 + str(i) for i in range(400)]})
    return parquet(table, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY", write_statistics=False)


def small_parquet() -> bytes:
    return parquet(pa.table({"category": [f"name {i % 50}" for i in range(500)], "count": range(500)}))


def flipped(data: bytes, step: int) -> bytes:
    """One bit in so many bytes is wrong."""
    bad = bytearray(data)
    for at in range(4, len(bad) - 8, step):
        bad[at] ^= 1 << at % 8
    return bytes(bad)


def deep_schema() -> bytes:
    """A Parquet file of groups in groups, as Thrift's compact protocol writes it."""
    group, leaf = b"\x35\x00\x18\x01r\x15\x02\x00", b"\x15\x02\x25\x00\x18\x01x\x00"
    count, size = 100_001, b""
    while count:
        size += bytes([count & 127 | (128 if count > 127 else 0)])
        count >>= 7
    about = b"\x15\x02\x19\xfc" + size + group * 100_000 + leaf + b"\x16\x02\x19\x0c\x00"
    return b"PAR1" + about + struct.pack("<I", len(about)) + b"PAR1"


def long_footer() -> bytes:
    return b"PAR1" + bytes(40_000_000) + struct.pack("<I", 40_000_000) + b"PAR1"


def rows(count: int, row: bytes = b"name %07d,1\n") -> bytes:
    return b"category,count\n" + b"".join(row % i for i in range(count))


QUICK: dict[str, Callable[[], bytes]] = {
    "cut.parquet": lambda: small_parquet()[:-9],
    "flipped.parquet": lambda: flipped(small_parquet(), 97),
    "very flipped.parquet": lambda: flipped(small_parquet(), 7),
    "zeros.parquet": lambda: b"PAR1" + bytes(5000) + small_parquet()[-200:],
    "deep schema.parquet": deep_schema,
    "html.parquet": lambda: parquet(pa.table({"<b>x</b>": ["a", "b"], '=HYPERLINK("x")': [1, 2]})),
    "lists.parquet": lambda: parquet(pa.table({"category": [[1], [2]], "count": [1, 2]})),
    "huge counts.parquet": lambda: parquet(
        pa.table({"category": ["a", "b"], "count": [1e308, float("nan")]})
    ),
    "equal names.csv": lambda: b",".join([b"name"] * 1000) + b"\n" + b",".join([b"1"] * 1000) + b"\n",
    "nested.csv.gz": lambda: gzip.compress(gzip.compress(gzip.compress(TABLE))),
    "cut.csv.gz": lambda: gzip.compress(TABLE * 1000)[:-12],
    "wrong sum.csv.gz": lambda: gzip.compress(TABLE)[:-8] + bytes(8),
    "rubbish behind.csv.gz": lambda: gzip.compress(TABLE) + b"rubbish",
    "archives.csv.gz": lambda: gzip.compress(b"") * 20_000 + gzip.compress(TABLE),
    "nul.csv": lambda: b"category,count\na\x00b,1\nc,2\n",
    "all nul.csv": lambda: bytes(1_000_000),
    "three marks.csv": lambda: b"\xef\xbb\xbf" * 3 + TABLE,
    "two marks.csv": lambda: b"\xff\xfe\xfe\xff" + TABLE.decode().encode("utf-16-le"),
    "half a letter.csv": lambda: b"\xff\xfe" + TABLE.decode().encode("utf-16-le") + b"\x3d\xd8",
    "half a unit.csv": lambda: TABLE.decode().encode("utf-16-be") + b"\x00",
    "a quotation.csv": lambda: b"category,count\na,1\n" + b'"b,2\n' * 1_000_001,
    "a quotation.txt": lambda: b'"' + b"a\n" * 1_000_000,
    "quotations.csv": lambda: b"category,count\n" + b'"a""b"c",1\n' * 100_000,
    "a line.csv": lambda: TABLE + b"x" * 10_000_000 + b",1\n",
    "a line.txt": lambda: b"a\nb\n" + b"x" * 10_000_000 + b"\n",
    "first line.csv": lambda: b"x" * 10_000_000 + b",1\n" + TABLE,
    "a line of fields.csv": lambda: TABLE + "😀,".encode() * 1_000_000,
    "fields.csv": lambda: b"," * 10_000_000 + b"\n",
    "blank lines.csv": lambda: TABLE + b"\n" * 1_000_000 + b"d,oops\n",
    "blank fields.csv": lambda: TABLE + b",,\n" * 40_000 + b"d,oops\n",
    "large.csv": lambda: b"category,count\na,1e308\nb,1e308\n",
    "digits.csv": lambda: b"category,count\na," + b"9" * 400 + b"\nb," + b"1" * 5000 + b"\n",
    "small.csv": lambda: b"category,count\na,1e-320\nb,-0.0\n",
    "exponents.csv": lambda: b"category,count\na,1e" + b"9" * 5000 + b"\nb,1\n",
    "formula.csv": lambda: b"=cmd|' /C calc'!A0,\"<img src=x onerror=alert(1)>\"\n=1+1,3\n@x,4\n",
    "bad at the end.csv": lambda: rows(200_000) + b"z,oops\n",
    "quoted, bad at the end.csv": lambda: rows(200_000, b'"a, %07d",1\n') + b'"z",oops\n',
    "not in Windows-1252.csv": lambda: b"a,1\n" * 2000 + b"\x80\x81" * 1_000_000,
    "equal beginnings.csv": lambda: b"value\n" + b"".join(b"x" * 300 + b"%05d\n" % i for i in range(20_000)),
    "returns.csv": lambda: b"category,count\r\r\n\ra,1\rb,2\r\n" * 3,
    "cut.xlsx": lambda: xlsx(ANSWERS)[:-30],
    "far cell.xlsx": lambda: zipped(
        excel_parts({"S": '<row><c r="A1"><v>1</v></c></row><row><c r="XFD1048576"><v>1</v></c></row>'})
    ),
    "zeros.xls": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000),
    "two.zip": lambda: archive({"a.csv": TABLE, "b.csv": TABLE}),
    "nested.zip": lambda: archive({"a.zip": archive({"a.csv": TABLE})}),
    "members.zip": lambda: archive({f"{i}.csv": b"" for i in range(11_000)}),
    "zeros.sav": lambda: b"$FL2" + bytes(5000),
    "zeros.dta": lambda: b"<stata_dta><header><release>118</release>" + bytes(5000),
    "zeros.sas7bdat": lambda: _SAS + bytes(5000),
}
"""Each is answered in a second or two, in little memory."""


def long_header() -> bytes:
    """A gzip file whose header has a name of 5 MB."""
    return b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 5_000_000 + b"\0" + gzip.compress(TABLE)[10:]


BOMBS: dict[str, Callable[[], bytes]] = {
    "short lines.csv.gz": lambda: gzip.compress(b"0\n" * 1_500_000, 9),
    "short lines of two.csv.gz": lambda: gzip.compress(b"0 1\n" * 1_500_000, 9),
    "name in the header.csv.gz": long_header,
    "members.csv.gz": lambda: gzip.compress(b"a,1\n", mtime=0) * 50_000,
    "zeros.zip": lambda: archive({"a.csv": bytes(215_000_000)}),
    "zeros.xlsx": lambda: archive(
        excel_parts({"S": ""}) | {"xl/sharedStrings.xml": b"<sst>" + bytes(215_000_000)}
    ),
    "cells.xlsx": lambda: zipped(
        excel_parts({"S": '<row><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>' * 400_000})
    ),
    "one line.csv.gz": lambda: gzip.compress(b"1," * 10_000_000, 9),
    "quotations.csv.gz": lambda: gzip.compress(b"a,1\n" + b'"' * 9_999_999 + b"\n" + b'""",' * 500_000, 9),
    "a long number.csv": lambda: b"a,1e99999999\nb,1\n0.5,1e-99999999\n1/1e99999999,0\n",
}
"""Small files on which a reader took minutes, gigabytes, or both."""

LARGE: dict[str, Callable[[], bytes]] = {
    "wide.parquet": wide,
    "long.parquet": long,
    "endings.parquet": endings,
    "long footer.parquet.gz": lambda: gzip.compress(long_footer(), 1),
    "bomb.csv.gz": lambda: gzip.compress(b"category,count\n" + b"a,1\n" * 10_000_000, 1),
}
"""Small files of very much."""


def answer(data: bytes, name: str, reader: str) -> tuple[float, str | None]:
    """The seconds of work, and the reader's sentence; None: it was read."""
    began, said = time.process_time(), None
    try:
        READERS[reader](data, name)
    except (UnreadableFile, WrongDomain) as error:
        said = str(error)
    return time.process_time() - began, said
