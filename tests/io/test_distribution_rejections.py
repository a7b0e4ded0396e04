"""Files that cannot be used: each gets its own sentence, which says what, where and how to mend it."""

from __future__ import annotations

import gzip
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rr_core.io import UnreadableFile, content, distribution, parquet, read_distribution
from tests.io.test_distribution import parquet as to_parquet

GOOD = "category,count\na,1\nb,2\n"
TABLE = to_parquet(pa.table({"category": ["a", "b"] * 50, "count": range(100)}))


def complaint(data: str | bytes, name: str = "table.csv", **options: Any) -> str:
    """The sentence, after checking that it is fit for a person."""
    with pytest.raises(UnreadableFile) as caught:
        read_distribution(data.encode() if isinstance(data, str) else data, name, **options)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 260
    assert not any(word in sentence for word in ("Error", "Arrow", "object", "None", "dtype"))
    return sentence


BAD_COUNTS = {
    "is negative.": ("-2", "−2", "-0.5"),
    "is not a number.": ("ten", "0x10", "1_000", "1e", "12%", '"1,23,4"', "NA"),
    "is not a finite number.": ("NaN", "inf", "-Infinity", "1e999"),
    "is too large.": ("9007199254740993", "99999999999999999999"),
}


def test_first_bad_count() -> None:
    cells = [(cell, f"“{cell.strip(chr(34))}” {why}") for why, cells in BAD_COUNTS.items() for cell in cells]
    for cell, words in [*cells, ("z" * 1000, f"“{'z' * 39}…” is not a number.")]:
        # The blank line and the nameless row count as lines; the later bad count is not the one named.
        text = f"category,count\na,1\n\nb,{cell}\nc,3\nd,-7\n"
        assert complaint(text).startswith(f"Line 4: the count {words}")
        assert complaint(gzip.compress(text.replace("\n", "\r\n").encode("utf-16"))).startswith(
            f"Line 4: the count {words}"
        )
        assert complaint(text.removeprefix("category,count\n")).startswith(f"Line 3: the count {words}")
    assert complaint("category,count\na,1\n\nb,\n").startswith("Line 4 has no count.")


def test_line_numbers_count_quoted_line_breaks_and_dropped_rows() -> None:
    assert complaint('category,count\n"a\nb",1\n,x\n\n  \nc,-1\n').startswith("Line 7: the count “-1”")
    assert complaint('"category\nname",count\na,1\nb,-1\n').startswith("Line 4: the count “-1”")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, -3], "Row 2: the count “-3” is negative."),
        ([1.0, float("nan")], "Row 2: the count “NaN” is not a finite number."),
        ([1.0, float("inf")], "Row 2: the count “inf” is not a finite number."),
        ([1, None], "Row 2 has no count."),
        (["1", "x"], "Row 2: the count “x” is not a number."),
        ([True, False], "Row 1: the count “true” is not a number."),
        ([2**60, 1], "Row 1: the count “1152921504606846976” is too large."),
        (pa.array([2**64 - 1, 1], pa.uint64()), "Row 1: the count “18446744073709551615” is too large."),
    ],
)
def test_first_bad_count_in_parquet(numbers: Any, words: str) -> None:
    sentence = complaint(to_parquet(pa.table({"category": ["a", "b"], "count": numbers})), "a.parquet")
    assert sentence.startswith(words)


def test_wrong_columns() -> None:
    for options, words in (
        ({"category": "town"}, "There is no column “town”. The columns are “category”, “count”."),
        ({"count": "users"}, "There is no column “users”."),
        ({"category": 2}, "There is no column 3: the file has 2."),
        ({"count": -1}, "There is no column 0: the file has 2."),
        ({"category": "count", "count": "count"}, "The column “count” is chosen for both"),
        ({"count": "category"}, "Line 2: the count “a” is not a number."),
    ):
        assert complaint(GOOD, **options).startswith(words)


def test_missing_columns() -> None:
    assert complaint("a\nb\n", layout="counts").startswith("The file has one column only (“Column 1”)")
    two = "colour,shade\nred,dark\nblue,light\n"
    assert "2 columns (“colour”, “shade”) and none of them holds numbers" in complaint(two)
    assert complaint(two, layout="counts").startswith("Line 2: the count “dark” is not a number")
    assert complaint("a,b,c\nd,e,f\n", layout="counts").startswith("No column of numbers was found among")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The file is empty."),
        (" \n\n\t", "The file is empty."),
        ("\ufeff", "The file is empty."),
        ("category,count\n", "The file has a header line and nothing below it."),
        ("category,count\na,5\n", "The column “category” holds one category only"),
        ("a\na\na\n", "The column “Column 1” holds one category only"),
        ("a,5\n a,6\n", "The column “Column 1” holds one category only"),
        ("category,count\n,5\n,6\n", "The column “category” is empty."),
        ("a,0\nb,0\n", "All numbers in the column “Column 2” are zero."),
        ("a,0.0\nb,0.0\n", "All numbers in the column “Column 2” are zero."),
        (f"a,{2**53}\nb,{2**53}\n", "The counts add up to more than 9,007,199,254,740,992."),
        (GOOD + "c,1,2\n", "Line 4 has 3 fields where the first line has 2: “c,1,2”. Put names"),
        (GOOD + "\n\nc\nd\n", "Line 6 has 1 field where the first line has 2: “c”. Every line"),
        (GOOD + '"c,1\nd,4\n', 'A quotation mark is opened on line 4 (“"c,1 d,4”) and never closed.'),
        (GOOD + '"c,1\n' + "d,4\n" * 2_000_000, "Line 4 is far too long for a table."),
        ("x" * 300_000 + ",1\n" + GOOD, "The first line is far too long for a table."),
        (",".join(map(str, range(1001))) + "\n", "The first line has 1,001 fields; at most 1,000 are read."),
        ("My table\n" + GOOD, "Line 2 has 2 fields where the first line has 1"),
    ],
)
def test_broken_text(text: str, words: str) -> None:
    assert complaint(text).startswith(words)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture (JPEG)"),
        (b"GIF89a\x01", "a picture (GIF)"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"PK\x03\x04\x14\x00[Content_Types].xml xl/workbook.xml", "an Excel workbook"),
        (b"PK\x03\x04\x14\x00readme", "a ZIP archive or an office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file"),
        (b"ARROW1\x00\x00", "a Feather file"),
        (b"x" * 257 + b"ustar\x00", "a TAR archive"),
        (gzip.compress(b"a,1\nb,2\n", mtime=0), "a file that was compressed twice"),
        (b"<!DOCTYPE html>\n<html><body>", "a web page"),
        (b"\n <HTML lang='en'>", "a web page"),
        ("\ufeff<?xml version='1.0'?>".encode(), "a web page"),
        ("<!doctype html>".encode("utf-16"), "a web page"),
        (b'{"a": 1, "b": 2}', "a JSON file"),
        (b'[{"category": "a"}]', "a JSON file"),
    ],
)
def test_other_files_under_a_table_name(data: bytes, words: str) -> None:
    for packed in (gzip.compress(data), *([] if "twice" in words else [data])):
        for name in ("a.csv", "a.tsv", "a.txt", "a.parquet"):
            sentence = complaint(packed, name)
            # Under .parquet, text is told apart only after decoding.
            assert sentence.startswith(f"The content is {words}") or (
                name == "a.parquet" and "the content is not Parquet" in sentence
            )
            if name == "a.csv":
                assert sentence.startswith(f"The content is {words}")


def test_binary_and_unsupported_extensions() -> None:
    binary = [b"a\x00b\x00\x00c", b"\x00" * 100, b"category,count\na,1\x00\nb,2\n", b"\xef\xbb\xbf\xff"]
    binary += [b"\xff\xfea", b"\xff\xfe\x00\xd8\x00\xd8", random.Random(1).randbytes(2000)]
    for data in (*binary, random.Random(2).randbytes(40).replace(b"\x00", b"\x01")):
        assert complaint(data).startswith("The file is not a text table")
    for name in ("a.xlsx", "a.json", "a.csv.zip", "a.tar.gz", "a.png", "a.csv.exe"):
        assert complaint(GOOD, name).startswith(f"Files like “{name}” cannot be read here.")


def test_truncated_gzip_at_every_length() -> None:
    packed = gzip.compress(GOOD.encode())
    assert read_distribution(packed, "a.csv.gz").k == 2
    for length in range(3, len(packed), 3):
        assert "compressed file is cut short" in complaint(packed[:length], "a.csv.gz")
    damaged = packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:]
    assert complaint(damaged).startswith("The compressed file is damaged.")


def test_gzip_bomb_is_stopped_early(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b"a,1\n" * 2_000_000)
    monkeypatch.setattr(content, "MAX_UNPACKED_BYTES", 3 << 20)
    assert complaint(bomb, "a.csv.gz").startswith("The file unpacks to more than 3 MB.")
    # At the limit itself a file is still read.
    assert len(content.gunzip(bomb, limit=8_000_000)) == 8_000_000
    with pytest.raises(UnreadableFile):
        content.gunzip(bomb, limit=7_999_999)


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MAX_UPLOAD_BYTES", len(GOOD))
    assert read_distribution(GOOD.encode(), "a.csv").k == 2
    assert complaint(GOOD + "\n").startswith("The file is larger than")


def test_number_of_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (distribution.MIN_CATEGORIES, distribution.MAX_CATEGORIES) == (2, 1_500_000)
    monkeypatch.setattr(distribution, "MAX_CATEGORIES", 5)
    for k in (2, 5):
        assert read_distribution("".join(f"c{i},1\n" for i in range(k)).encode(), "a.csv").k == k
    for k in (6, 100):
        text = "".join(f"c{i},1\n" for i in range(k))
        assert complaint(text).startswith(f"The column “Column 1” holds {k} different categories; at most 5")


def test_truncated_parquet_at_every_length() -> None:
    for length in range(4, len(TABLE), 21):
        assert complaint(TABLE[:length], "a.parquet").startswith("The Parquet file is cut short")


def test_damaged_parquet_never_escapes_as_another_error() -> None:
    chance = np.random.default_rng(5)
    refused = 0
    for _ in range(150):
        data = np.frombuffer(TABLE, np.uint8).copy()
        places = chance.integers(4, len(data) - 4, 6)
        data[places] = chance.integers(0, 256, 6)
        try:
            read_distribution(data.tobytes(), "a.parquet")
        except UnreadableFile as error:
            refused += "damaged" in str(error)
    assert refused > 25


def test_parquet_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = to_parquet(pa.table({"category": [["a"], ["b"]], "count": [1, 2]}))
    assert complaint(nested, "a.parquet").startswith("The column “category” holds lists or records")
    record = to_parquet(pa.table({"category": [{"x": 1}, {"x": 2}]}))
    assert complaint(record, "a.parquet").startswith("The column “category” holds lists or records")
    empty = to_parquet(pa.table({"category": pa.array([], pa.string())}))
    assert complaint(empty, "a.parquet").startswith("The Parquet file has no rows.")
    twice = to_parquet(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]))
    assert complaint(twice, "a.parquet").startswith("Two columns are called “x”.")
    binary = to_parquet(pa.table({"v": pa.array([b"\xff\xfe", b"\x00\xff"])}))
    assert "not text or numbers" in complaint(binary, "a.parquet")
    monkeypatch.setattr(parquet, "MAX_ROWS", 99)
    assert complaint(TABLE, "a.parquet").startswith("The Parquet file has more than 99 rows.")
    monkeypatch.setattr(parquet, "MAX_ROWS", 100)
    assert read_distribution(TABLE, "a.parquet").k == 2
    monkeypatch.setattr(parquet, "MAX_UNPACKED_BYTES", 10)
    assert "unpacks to more than" in complaint(TABLE, "a.parquet")


def test_parquet_text_that_is_not_utf8() -> None:
    # Its sample is fine; the damage is in the last row.
    good = ["a", "b"] * 20
    offsets = np.arange(42, dtype=np.int32)
    text = pa.StringArray.from_buffers(
        41, pa.py_buffer(offsets), pa.py_buffer("".join(good).encode() + b"\xff")
    )
    for options in ({"use_dictionary": True}, {"use_dictionary": False}):
        data = to_parquet(pa.table({"v": text}), **options)
        assert complaint(data, "a.parquet").startswith("The Parquet file is damaged")
    assert complaint(GOOD, "a.parquet").startswith(
        "The name ends in .parquet but the content is not Parquet."
    )
