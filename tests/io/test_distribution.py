"""Uploaded tables that can be read: formats, encodings, layouts, options."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core.io import Distribution, Dropped, inspect, read_distribution

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def read(text: str, name: str = "a.csv", **options: Any) -> Distribution:
    return read_distribution(text.encode(), name, **options)


def pairs(found: Distribution) -> list[tuple[str, Any]]:
    return list(zip(found.labels.tolist(), found.weights.tolist(), strict=True))


ABC = [("a", 3), ("b", 0), ("c", 5)]


def test_values_are_counted_in_order_of_appearance() -> None:
    found = read("colour\nred\nblue\nred\ngreen\nred\nblue\n", "a.txt")
    assert pairs(found) == [("red", 3), ("blue", 2), ("green", 1)]
    assert (found.kind, found.total, found.merged, found.category_name) == ("values", 6, 0, "colour")
    assert found.count_name is None
    assert "exactly once" in read("a\nb\nc\n").notes[0]


def test_values_from_a_chosen_column() -> None:
    survey = "id,sex,work\n1,F,Private\n2,M,?\n3,F,Private\n"
    preview = inspect(survey.encode(), "a.csv")
    assert (preview.layout, preview.category, preview.count) == ("values", 1, None)
    assert preview.numeric == (True, False, False)
    assert pairs(read(survey)) == [("F", 2), ("M", 1)]
    assert pairs(read(survey, category="work")) == [("Private", 2), ("?", 1)]
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
    shares = read("a,0.2\nb,0.5\nc,0.3\n", order="count")
    assert pairs(shares) == [("b", 0.5), ("c", 0.3), ("a", 0.2)]


def test_rows_left_out_are_reported() -> None:
    found = read("\ncategory,count\n\na,1\n  ,7\n,8\nb,2\n,\n   \n\na,4\n")
    assert pairs(found) == [("a", 5), ("b", 2)]
    assert found.dropped == (Dropped("blank line", 4, 1), Dropped("no category name", 3, 5))
    assert (found.rows, found.merged, found.total) == (3, 1, 7)
    quoted = read('category,count\n"a\n\nb",1\n\n"",5\nc,2\n')
    assert pairs(quoted) == [("a b", 1), ("c", 2)]
    assert quoted.dropped == (Dropped("blank line", 1, 5), Dropped("no category name", 1, 6))
    assert read("a\n\n  \nb\na\n").dropped == (Dropped("blank line", 2, 2),)


def test_long_names_are_cut_and_stay_distinct() -> None:
    names = ["x" * 10_000, "x" * 10_001, "x" * 199 + "…", "y" * 200, "x" * 300]
    found = read("category,count\n" + "".join(f"{name},{i}\n" for i, name in enumerate(names, 1)))
    assert found.weights.tolist() == [1, 2, 3, 4, 5]
    assert len(set(found.labels)) == 5
    assert max(map(len, found.labels)) == 200
    assert found.labels[2:4].tolist() == names[2:4]
    assert found.notes == ("3 names longer than 200 characters were cut.",)


def test_results_cannot_be_changed() -> None:
    for order in ("file", "count", "name"):
        found = read("a,1\nb,2\n", order=order)
        for array in (found.labels, found.weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.total = 5  # type: ignore[misc]


def test_text_forms() -> None:
    for separator, header, end, compress in product(
        ",;\t", (True, False), ("\n", "\r\n", "\r"), (bytes, gzip.compress)
    ):
        text = (
            ("category{}count\n" * header + "a{}3\nb{}0\nc{}5\n").replace("{}", separator).replace("\n", end)
        )
        data = compress(text.encode())
        found, preview = read_distribution(data, "table.csv"), inspect(data, "table.csv")
        assert pairs(found) == ABC
        assert (found.kind, found.total, found.rows, found.k) == ("counts", 8, 3, 3)
        assert (found.merged, found.dropped, found.notes) == (0, (), ())
        assert found.sha256 == hashlib.sha256(data).hexdigest()
        assert (preview.separator, preview.has_header) == (separator, header)
        assert preview.columns == (("category", "count") if header else ("Column 1", "Column 2"))
        assert (preview.layout, preview.category, preview.count) == ("counts", 0, 1)
        assert preview.sample == (("a", "3"), ("b", "0"), ("c", "5"))
        assert preview.compression == ("gzip" if compress is gzip.compress else None)
    for name in ("A.CSV", "a.tsv", "a.txt", "a.csv.gz", "a.b.csv", "dir/a.csv", "a.gz", "a"):
        assert pairs(read("a,3\nb,0\nc,5", name)) == ABC
    packed = gzip.compress(b"a,3\n") + gzip.compress(b"b,0\nc,5\n")  # two members are one file
    assert pairs(read_distribution(packed, "a.csv")) == ABC


def test_encodings() -> None:
    utf = dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "UTF-16") | {
        "utf-8": "UTF-8",
        "utf-8-sig": "UTF-8 with BOM",
    }
    for codec, named in {**utf, "latin-1": "Latin-1", "cp1252": "Latin-1"}.items():
        data = "category,count\nChloé,3\nJürgen,4\n".encode(codec)
        assert pairs(read_distribution(data, "a.csv")) == [("Chloé", 3), ("Jürgen", 4)]
        assert inspect(data, "a.csv").encoding == named
    windows = "category,count\n5 €,3\nœuf,4\n".encode("cp1252")
    assert pairs(read_distribution(windows, "a.csv")) == [("5 €", 3), ("œuf", 4)]
    assert inspect(windows, "a.csv").encoding == "Windows-1252"
    for data in (
        b"\xfe\xff" + "日本,3\n中国,4\n".encode("utf-16-be"),
        "日本,3\n中国,4\n".encode("utf-16-le"),
    ):
        assert pairs(read_distribution(data, "a.txt")) == [("日本", 3), ("中国", 4)]


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
    missing = pa.table({"c": [1.0, None, float("nan"), 2.0], "n": pa.array([1, 2, 3, 4], pa.uint64())})
    found = read_distribution(parquet(missing), "a.parquet", category="c", count="n")
    assert (pairs(found), found.dropped) == ([("1", 1), ("2", 4)], (Dropped("no category name", 2, 2),))
    counted = pd.Series(list("bbac")).value_counts().to_frame()
    assert pairs(read_distribution(counted.to_parquet(), "a.parquet")) == [("b", 2), ("a", 1), ("c", 1)]
    assert pairs(read(counted.to_csv())) == [("b", 2), ("a", 1), ("c", 1)]


def test_unknown_options_are_programming_errors() -> None:
    with pytest.raises(ValueError, match="layout must be"):
        read("a,1\nb,2\n", layout="wide")
    with pytest.raises(ValueError, match="order must be"):
        read("a,1\nb,2\n", order="random")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real histograms is not beside the project")
@pytest.mark.parametrize(
    ("name", "n", "k"),
    [
        ("adult_workclass", 32_561, 9),
        ("acs_pincp", 73_116, 5_002),
        ("first_names_us_2023", 3_297_246, 28_945),
    ],
)
def test_real_histograms(name: str, n: int, k: int) -> None:
    data = (SHARED / f"{name}.csv").read_bytes()
    found = read_distribution(data, f"{name}.csv")
    assert (found.total, found.k, found.kind, found.dropped, found.merged) == (n, k, "counts", (), 0)
    assert [f"{label},{count}" for label, count in pairs(found)] == data.decode().splitlines()[1:]
