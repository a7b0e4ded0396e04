"""Uploaded tables: what is written is what is read; what cannot be used gets a sentence that says what and where."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.io import (
    Distribution,
    Dropped,
    Source,
    UnreadableFile,
    decoding,
    inspect,
    read_distribution,
    read_reports,
    tables,
)
from tests import EXAMPLES
from tests.io.reading import pairs, parquet, refused


def read(text: str, name: str = "a.csv", **options: Any) -> Distribution:
    return read_distribution(text.encode(), name, **options)


ABC = [("a", 3), ("b", 0), ("c", 5)]


def test_values_from_a_chosen_column() -> None:
    survey = "id,sex,work\n1,F,Private\n2,M,?\n3,F,Private\n"
    preview = inspect(survey.encode(), "a.csv")
    assert (preview.layout, preview.category, preview.count) == ("values", 1, None)
    assert preview.numeric == (True, False, False)
    assert pairs(read(survey)) == [("F", 2), ("M", 1)]
    assert pairs(read(survey, category=" WORK ")) == [("Private", 2), ("?", 1)]
    assert pairs(read(survey, category=0, layout="values")) == [("1", 1), ("2", 1), ("3", 1)]


def test_columns_can_be_picked() -> None:
    text = "n,city,year,users\n7,Rome,2020,3\n8,Oslo,2020,4\n9,Rome,2021,5\n"
    found = read(text, category="city", count="users")
    assert pairs(found) == [("Rome", 8), ("Oslo", 4)]
    assert (found.rows, found.merged, found.category_name, found.count_name) == (3, 1, "city", "users")
    assert pairs(read(text, category=2, count=0)) == [("2020", 15), ("2021", 9)]
    assert pairs(read(text, count="users", category="n")) == [("7", 3), ("8", 4), ("9", 5)]
    assert inspect(text.encode(), "a.csv").count == 0


def test_orders() -> None:
    text = "b,2\nitem 10,7\nÉlan,2\nitem 2,7\na,0\n"
    assert [label for label, _ in pairs(read(text))] == ["b", "item 10", "Élan", "item 2", "a"]
    assert [label for label, _ in pairs(read(text, order="count"))] == ["item 10", "item 2", "b", "Élan", "a"]
    by_name = read(text, order="name")
    assert pairs(by_name) == [("a", 0), ("b", 2), ("Élan", 2), ("item 2", 7), ("item 10", 7)]
    numbers = read("10,1\n-9000,2\n9,3\n1.5,4\n", order="name")
    assert pairs(numbers) == [("-9000", 2), ("1.5", 4), ("9", 3), ("10", 1)]
    with pytest.raises(ValueError, match="order must be"):
        read("a,1\nb,2\n", order="random")
    with pytest.raises(ValueError, match="layout must be"):
        read("a,1\nb,2\n", layout="wide")
    shares = read("a,0.2\nb,0.5\nc,0.3\n", order="count")
    assert pairs(shares) == [("b", 0.5), ("c", 0.3), ("a", 0.2)]


def test_long_names_are_cut_and_stay_distinct() -> None:
    names = ["x" * 10_000, "x" * 10_001, "x" * 199 + "…", "y" * 200, "x" * 300]
    found = read("category,count\n" + "".join(f"{name},{i}\n" for i, name in enumerate(names, 1)))
    assert found.weights.tolist() == [1, 2, 3, 4, 5]
    assert len(set(found.labels)) == 5
    assert max(map(len, found.labels)) == 200
    assert found.labels[2:4].tolist() == names[2:4]
    assert found.notes == ("3 names longer than 200 characters were cut.",)


NAMES = ["category", "Chloé", "Jürgen"]
CYRILLIC, KANA = ["Ответ", "Никогда", "Раз в месяц"], ["回答", "はい", "わからない、時々"]
ENCODINGS = [
    # The header and the names, their codec, its name, and the word that shows whether that was right.
    *((NAMES, codec, "UTF-16", "") for codec in ("utf-16", "utf-16-le", "utf-16-be")),
    (NAMES, "utf-8", "UTF-8", ""),
    (NAMES, "utf-8-sig", "UTF-8 with BOM", ""),
    *((NAMES, codec, "Latin-1", "Chloé") for codec in ("latin-1", "cp1252")),
    (["category", "5 €", "œuf"], "cp1252", "Windows-1252", "€"),
    (["\ufeff名", "日本", "中国"], "utf-16-be", "UTF-16", ""),
    (["créée", "Œuvre", "Ääkkönen"], "cp1252", "Windows-1252", "créée"),
    # They were read as Latin-1: “Sýk sýk”, “idõ”, Íèêîãäà for Никогда, without a word.
    (["a", "Hiç", "Sık sık", "Her gün değil"], "cp1254", "Windows-1254", "Sık"),
    (["a", "Soha", "Ritkán", "Minden idő"], "cp1250", "Windows-1250", "idő"),
    (["válasz", "nem", "győr"], "cp1250", "Windows-1250", "győr"),  # “válasz” is right in either encoding
    (["a", "Ráðið", "Þú", "Ævi"], "latin-1", "Latin-1", "Ráðið"),
    (["a", "Mõnikord", "Üldse mitte", "Iga päev"], "latin-1", "Latin-1", "Mõnikord"),
    (["a", "août", "Réponse", "jamais"], "latin-1", "Latin-1", "août"),
    (CYRILLIC, "cp1251", "Windows-1251", "Ответ"),
    (["x", "Да", "НЕТ"], "cp1251", "Windows-1251", "Да"),
    (CYRILLIC, "koi8-r", "KOI8-R", "Ответ"),
    (CYRILLIC, "cp866", "DOS 866", "Ответ"),
    (CYRILLIC, "iso8859-5", "ISO 8859-5", "Ответ"),
    # It was refused; its letters have bytes of ASCII in them, as of bars.
    (KANA, "cp932", "Shift-JIS", "回答"),
]


@pytest.mark.parametrize("mark", [",", "|"])
@pytest.mark.parametrize(("names", "codec", "encoding", "shown"), ENCODINGS)
def test_letters_of_each_encoding_are_read(
    names: list[str], codec: str, encoding: str, shown: str, mark: str
) -> None:
    rows = [f"{name}{mark}{i + 4}" for i, name in enumerate(names[1:])]
    data = "\n".join([f"{names[0]}{mark}count", *rows, ""]).encode(codec)
    found = read_distribution(data, "a.csv")
    assert pairs(found) == [(name, i + 4) for i, name in enumerate(names[1:])]
    assert (found.category_name, inspect(data, "a.csv").encoding) == (names[0].lstrip("\ufeff"), encoding)
    guessed = f"The file is not in UTF-8: it was read as {encoding}, as in “{shown}”. If that is wrong,"
    assert [note.startswith(guessed) for note in found.notes] == ([True] if shown else [])


def test_labels() -> None:
    found = read('category,count\n"Paris, France",1\n"say ""hi""",2\n"two\nlines",3\n5" pipe,4\n')
    assert pairs(found) == [("Paris, France", 1), ('say "hi"', 2), ("two lines", 3), ('5" pipe', 4)]
    assert pairs(read('x\n"y\nz\nx\n', "a.txt")) == [("x", 2), ('"y', 1), ("z", 1)]
    for word in ("NA", "NaN", "null", "None", "?", "N/A", "inf", "true", "#N/A", "-", "01001"):
        assert pairs(read(f"category,count\n{word},3\nb,4\n")) == [(word, 3), ("b", 4)]
        assert pairs(read(f"category\n{word}\nb\nb\n", layout="values")) == [(word, 1), ("b", 2)]
    labels = ["<img src=x onerror=alert(1)>", "=1+1", "😀👩‍👧", "a\u202eb", "[x](http://e.org)", "$x$"]
    hostile = "category,count\n" + "".join(f"{label},{i}\n" for i, label in enumerate(labels, 1))
    assert read(hostile).labels.tolist() == labels
    # Control characters are removed and spaces trimmed.
    found = read("\u00a0a\x07b \x1b[0m,1\n b\tc\u0085d ,2\nab[0m,3\nab [0m,4\n")
    assert pairs(found) == [("ab [0m", 5), ("b c d", 2), ("ab[0m", 3)]


def test_headers() -> None:
    without = ("a,1\nb,2\n", "red\nblue\nred\nblue\nblue\n", "17\n18\n17\n", "F,a\nM,b\nF,c\n")
    under = ("thing,users\na,1\nb,2\n", "category,count\na,x\nb,2\n", "colour\nred\nblue\nred\nblue\n")
    under += ("age\n17\n18\n17\n", "value\nred\nblue\n", "sex,work\nF,a\nM,b\n")
    for text in (*without, *under):
        assert inspect(text.encode(), "a.csv").has_header is (text in under), text
    assert pairs(read("a,3\nb,4\nc,5\n", has_header=True)) == [("b", 4), ("c", 5)]
    assert pairs(read("name\nx\nx\n", has_header=False)) == [("name", 1), ("x", 2)]
    assert inspect(b"a,3\nb,4\n", "a.csv", has_header=True).columns == ("a", "3")
    assert inspect(b"x,x,,x\na,b,c,4\n", "a.csv").columns == ("x", "x (2)", "Column 3", "x (3)")
    found = read(",,\n,,\ncategory,count,\na,1,\nb,2,\n")  # a spreadsheet's empty rows above
    assert (pairs(found), found.dropped) == ([("a", 1), ("b", 2)], (Dropped("blank line", 2, 1),))


def test_ways_of_writing_counts_and_shares() -> None:
    for (first, second), numbers, separator in (
        (("1e3", "2"), [1000, 2], ","),
        (("+5", "2.0"), [5, 2], ","),
        (("007", "-0"), [7, 0], ","),
        ((" 5 ", "1 234"), [5, 1234], ";"),
        (("1'234'567", "1\u202f000"), [1_234_567, 1000], ";"),
        (("1,234", "12"), [1234, 12], ";"),
        (('"1,234.0"', "1"), [1234, 1], ","),
        (("1.234,0", "2.000"), [1234, 2000], ";"),
        ((str(2**53 - 1), "1"), [2**53 - 1, 1], ","),
    ):
        found = read(f"a{separator}{first}\nb{separator}{second}\n", has_header=False)
        assert found.weights.dtype == np.int64
        assert found.weights.tolist() == numbers
    texts = ["a,0.25\nb,.75\n", "a;0,25\nb;0,75\n", "a\t0,250\tx\nb\t0,750\ty\n", "a,25%\nb,75 %\n"]
    texts += ["category,share\na,1\nb,3\n", "category,percent\na,25\nb,75\n", "a,2.5e-300\nb,7.5e-300\n"]
    for text in texts:
        found = read(text, count=1)
        assert (found.kind, found.weights.dtype) == ("shares", np.float64)
        np.testing.assert_allclose(found.weights, [0.25, 0.75], rtol=1e-15)
    assert read("a,0.25\nb,0.75\n").notes == ()
    rescaled = read("a,0.2\nb,0.6\n")
    assert rescaled.total == pytest.approx(0.8)
    assert "add up to 0.8" in rescaled.notes[0]
    assert "decimal commas" in read("a;0,2\nb;0,8\n").notes[0]
    assert "thousands" in read("a;1,200\nb;8\n").notes[0]


def test_parquet() -> None:
    table = pa.table({"count": [3, 0, 5], "category": ["a", "b", "c"], "extra": [[1], [2], [3]]})
    for compression, pack, name in (
        ("none", bytes, "a.csv"),
        ("snappy", gzip.compress, "a.parquet"),
        ("zstd", bytes, "a.parquet"),
    ):
        data = pack(parquet(table, compression=compression))
        assert pairs(read_distribution(data, name, count="count", category="category")) == ABC
        preview = inspect(data, name)
        assert (preview.format, preview.encoding, preview.has_header) == ("parquet", None, None)
        assert (preview.layout, preview.category, preview.count) == ("counts", 1, 0)
        assert preview.sample[0] == ("3", "a", "…")
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}', "2"]))
    as_json = parquet({"category": texts, "count": [1, 3]})
    assert pairs(read_distribution(as_json, "a.parquet")) == [('{"a":1}', 1), ("2", 3)]


# Labels that cleaning leaves alone: no control characters, no blanks at the ends.
LETTERS = st.characters(
    codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"
)
LABELS = st.text(LETTERS, min_size=1, max_size=20).filter(lambda label: label == label.strip())
COUNTS = st.dictionaries(LABELS, st.integers(0, 2**40), min_size=2, max_size=30).filter(
    lambda c: any(c.values())
)


def write(rows: list[list[Any]], separator: str, end: str, quoting: Any) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return sink.getvalue()


FORMS = {
    "separator": st.sampled_from(",;\t"),
    "end": st.sampled_from(["\n", "\r\n", "\r"]),
    "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    "codec": st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    "compress": st.booleans(),
}


@settings(deadline=None, max_examples=EXAMPLES // 4)
@given(COUNTS, st.booleans(), st.fixed_dictionaries(FORMS))
def test_counts_survive(counts: dict[str, int], header: bool, form: dict[str, Any]) -> None:
    rows: list[list[Any]] = [[label, count] for label, count in counts.items()]
    text = write([["category", "count"]] * header + rows, form["separator"], form["end"], form["quoting"])
    data = text.encode(form["codec"])
    data = gzip.compress(data) if form["compress"] else data
    try:
        preview = inspect(data, "a.csv")
    except UnreadableFile as error:
        # A label may imitate another kind of file at the very start; nothing else is excused.
        assert not header
        assert str(error).startswith("The content is")  # noqa: PT017
        return
    assert preview.separator == form["separator"]
    assert preview.compression == ("gzip" if form["compress"] else None)
    found = read_distribution(data, "a.csv", has_header=header, category=0, count=1)
    assert dict(zip(found.labels.tolist(), found.weights.tolist(), strict=True)) == counts
    assert found.labels.tolist() == list(counts)
    assert (found.total, found.dropped, found.merged) == (sum(counts.values()), (), 0)
    assert found.sha256 == hashlib.sha256(data).hexdigest()


def test_names_of_files_do_not_matter_and_several_packed_members_are_one_file() -> None:
    for name in ("A.CSV", "a.tsv", "a.txt", "a.csv.gz", "dir/a.csv", "a.gz", "a"):
        assert pairs(read("a,3\nb,0\nc,5", name)) == ABC
    packed = gzip.compress(b"a,3\n") + gzip.compress(b"b,0\nc,5\n")
    assert pairs(read_distribution(packed, "a.csv")) == ABC


@settings(deadline=None, max_examples=EXAMPLES // 2)
@given(st.lists(st.sampled_from(["a,1", "b,2", "", "  ", ",", ",5", '"c\n\nd",3']), min_size=1, max_size=30))
def test_every_line_is_accounted_for(lines: list[str]) -> None:
    lines = ["a,1", "b,1", *lines]
    found = read_distribution("\n".join([*lines, ""]).encode(), "a.csv")
    assert found.rows + sum(dropped.rows for dropped in found.dropped) == len(lines)
    firsts = {dropped.reason: dropped.first_line for dropped in found.dropped}
    starts = [1 + sum(1 + line.count("\n") for line in lines[:i]) for i in range(len(lines))]
    blank = [start for start, line in zip(starts, lines, strict=True) if not line.strip()]
    nameless = [start for start, line in zip(starts, lines, strict=True) if line.startswith(",")]
    assert firsts.get("blank line") == (blank[0] if blank else None)
    assert firsts.get("no category name") == (nameless[0] if nameless else None)


GOOD = "category,count\na,1\nb,2\n"


def complaint(data: str | bytes, name: str = "table.csv", **options: Any) -> str:
    return refused(
        lambda: read_distribution(data.encode() if isinstance(data, str) else data, name, **options)
    )


READERS = {  # what a bad count is for both, and of people alone
    "a population": (read_distribution, {}),
    "reports": (
        lambda data, name: read_reports([Source(name, data)]),
        {"is not a whole number. Reports are counted people": ["2.5"]},
    ),
}
BAD_COUNTS = {
    "is negative.": ["-2", "−2", "-0.5"],
    "is not a number.": ["ten", "0x10", "1_000", "12%", '"1,23,4"', "NA"],
    "is not a finite number.": ["NaN", "-Infinity", "1e999"],
    "is too large.": ["9007199254740993", "99999999999999999999"],
}


@pytest.mark.parametrize("reader", READERS)
def test_the_first_bad_count_is_named_with_its_line(reader: str) -> None:
    read, more = READERS[reader]

    def said(data: str | bytes, name: str = "a.csv") -> str:
        return refused(lambda: read(data.encode() if isinstance(data, str) else data, name))

    cells = [
        (cell, f"“{cell.strip(chr(34))}” {why}")
        for why, cells in (BAD_COUNTS | more).items()
        for cell in cells
    ]
    for cell, words in [*cells, ("z" * 1000, f"“{'z' * 39}…” is not a number.")]:
        # The blank line counts as a line; the later bad count is not the one named.
        text = f"category,count\na,1\n\nb,{cell}\nc,3\nd,-7\n"
        assert said(text).startswith(f"Line 4: the count {words}")
        assert said(text.removeprefix("category,count\n")).startswith(f"Line 3: the count {words}")
        table = parquet({"category": ["a", "b"], "count": ["1", cell.strip('"')]})
        assert said(table, "a.parquet").startswith(f"Row 2: the count {words}")
    packed = gzip.compress(text.replace("\n", "\r\n").encode("utf-16"))
    assert said(packed).startswith(f"Line 4: the count {words}")
    assert said("category,count\na,1\n\nb,\n").startswith("Line 4 has no count.")
    for numbers, words in (
        ([1, -3], "Row 2: the count “-3” is negative."),
        ([1.0, float("nan")], "Row 2: the count “NaN” is not a finite number."),
        ([1, None], "Row 2 has no count."),
        ([True, False], "Row 1: the count “true” is not a number."),
        (pa.array([2**64 - 1, 1], pa.uint64()), "Row 1: the count “18446744073709551615” is too large."),
    ):
        assert said(parquet({"category": ["a", "b"], "count": numbers}), "a.parquet").startswith(words)


def test_line_numbers_count_quoted_line_breaks_and_dropped_rows() -> None:
    assert complaint('category,count\n"a\nb",1\n,x\n\n  \nc,-1\n').startswith("Line 7: the count “-1”")
    assert complaint('"category\nname",count\na,1\nb,-1\n').startswith("Line 4: the count “-1”")


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
        ("\ufeff", "The file is empty."),
        ("category,count\n", "The file has a header line and nothing below it."),
        ("category,count\na,5\n", "The column “category” holds one category only"),
        ("a,5\n a,6\n", "The column “Column 1” holds one category only"),
        ("category,count\n,5\n,6\n", "The column “category” is empty."),
        ("a,0.0\nb,0.0\n", "All numbers in the column “Column 2” are zero."),
        (f"a,{2**53}\nb,{2**53}\n", "The counts add up to more than 9,007,199,254,740,992."),
        (GOOD + "c,1,2\n", "Line 4 has 3 fields where the first line has 2: “c,1,2”. Put names"),
        (GOOD + "\n\nc\nd\n", "Line 6 has 1 field where the first line has 2: “c”. Every line"),
        (GOOD + '"c,1\nd,4\n', 'A quotation mark is opened on line 4 (“"c,1 d,4”) and never closed.'),
        (GOOD + '"c,1\n' + "d,4\n" * 2_000_000, 'A quotation mark is opened on line 4 (“"c,1 d,4 d,4'),
        (GOOD + "c" * 9_000_000 + ",1\n", "Line 4 is far too long for a table."),
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
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file"),
        (b"ARROW1\x00\x00", "a Feather file"),
        (b"x" * 257 + b"ustar\x00", "a TAR archive"),
        (gzip.compress(b"a,1\nb,2\n", mtime=0), "a file that was compressed twice"),
        (b"<!DOCTYPE html>\n<html><body>", "a web page"),
        (b"\n <HTML lang='en'>", "a web page"),
        ("\ufeff<?xml version='1.0'?>".encode(), "a web page"),
        ("<!doctype html>".encode("utf-16"), "a web page"),
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
    for name in ("a.xlsb", "a.json", "a.por", "a.tar.gz", "a.png", "a.csv.exe"):
        assert complaint(GOOD, name).startswith(f"Files like “{name}” cannot be read here.")


def test_what_is_too_large_is_refused_and_a_bomb_is_stopped_early(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b"a,1\n" * 2_000_000)
    monkeypatch.setattr(decoding, "MAX_UNPACKED_BYTES", 3 << 20)
    assert complaint(bomb, "a.csv.gz").startswith("The file unpacks to more than 3 MB.")
    monkeypatch.setattr(decoding, "MAX_UPLOAD_BYTES", len(GOOD))
    assert read_distribution(GOOD.encode(), "a.csv").k == 2
    assert complaint(GOOD + "\n").startswith("The file is larger than")
    # At the limit itself a file is still read.
    assert len(decoding.gunzip(bomb, limit=8_000_000)) == 8_000_000
    with pytest.raises(UnreadableFile):
        decoding.gunzip(bomb, limit=7_999_999)


@pytest.mark.parametrize("reader", READERS)
def test_number_of_categories(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (tables.MIN_CATEGORIES, tables.MAX_CATEGORIES) == (2, 1_500_000)
    monkeypatch.setattr(tables, "MAX_CATEGORIES", 5)
    read, text = READERS[reader][0], "".join(f"c{i},1\n" for i in range(6)).encode()
    assert len(read(text[:-5], "a.csv").labels) == 5
    said = refused(lambda: read(text, "a.csv"))
    assert said.startswith("The column “Column 1” holds 6 different categories; at most 5")


def test_parquet_shapes() -> None:
    nested = parquet(pa.table({"category": [["a"], ["b"]], "count": [1, 2]}))
    assert complaint(nested, "a.parquet").startswith("The column “category” holds lists or records")
    record = parquet(pa.table({"category": [{"x": 1}, {"x": 2}]}))
    assert complaint(record, "a.parquet").startswith("The column “category” holds lists or records")
    empty = parquet(pa.table({"category": pa.array([], pa.string())}))
    assert complaint(empty, "a.parquet").startswith("The Parquet file has no rows.")
    twice = parquet(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]))
    assert complaint(twice, "a.parquet").startswith("Two columns are called “x”.")
    binary = parquet(pa.table({"v": pa.array([b"\xff\xfe", b"\x00\xff"])}))
    assert "not text or numbers" in complaint(binary, "a.parquet")


def test_parquet_text_that_is_not_utf8() -> None:
    # Its sample is fine; the damage is in the last row.
    good = ["a", "b"] * 20
    offsets = np.arange(42, dtype=np.int32)
    text = pa.StringArray.from_buffers(
        41, pa.py_buffer(offsets), pa.py_buffer("".join(good).encode() + b"\xff")
    )
    for options in ({"use_dictionary": True}, {"use_dictionary": False}):
        data = parquet(pa.table({"v": text}), **options)
        assert complaint(data, "a.parquet").startswith("The Parquet file is damaged")
    assert complaint(GOOD, "a.parquet").startswith(
        "The name ends in .parquet but the content is not Parquet."
    )
