"""Parts of reading that once took long or much, or read wrongly. Whole files: test_hostile_bytes.py."""

from __future__ import annotations

import csv
import io
import threading
import time

import pyarrow as pa
import pytest

from rr_core.io import inspect, labels, read_distribution, tables, text
from rr_core.io.columns import column_names
from rr_core.io.text import open_text
from tests.io.hostile_files import parquet
from tests.io.reading import complaint


def test_text_in_the_encoding_of_prefixes_is_read() -> None:
    table = pa.table({"category": ["ab", "abc", "b"], "count": [1, 2, 3]})
    encodings = {"category": "DELTA_BYTE_ARRAY", "count": "DELTA_BINARY_PACKED"}
    read = read_distribution(parquet(table, use_dictionary=False, column_encoding=encodings), "t.parquet")
    assert read.labels.tolist() == ["ab", "abc", "b"]
    assert read.weights.tolist() == [1, 2, 3]


def test_json_in_parquet_is_read_as_text() -> None:
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}', "2"]))
    read = read_distribution(parquet(pa.table({"category": texts, "count": [1, 3]})), "t.parquet")
    assert read.labels.tolist() == ['{"a":1}', "2"]


def test_a_thousand_equal_names_are_numbered_at_once() -> None:
    began = time.thread_time()
    names = column_names(["n"] * 1000)
    assert time.thread_time() - began < 0.05
    assert names[:3] == ("n", "n (2)", "n (3)")
    assert column_names(["n", "n (2)", "n", "n"]) == ("n", "n (2)", "n (3)", "n (4)")


def test_a_bad_last_count_is_found_without_parsing_each_line_again() -> None:
    data = b"category,count\n" + b"".join(b"name%d,1\n" % (i % 1000) for i in range(300_000)) + b"z,oops\n"
    table = open_text(data, None)
    began = time.thread_time()
    assert len(list(csv.reader(io.StringIO(data.decode())))) == 300_002
    parsed = time.thread_time()
    assert table.place(300_000) == 300_002
    assert time.thread_time() - parsed < 3 * (parsed - began)


@pytest.mark.parametrize("quote", [b"", b'"'])
def test_a_small_text_leaves_nothing_of_python_to_other_threads(
    monkeypatch: pytest.MonkeyPatch, quote: bytes
) -> None:
    # What another thread lets go of while the interpreter ends aborts the process: about one reading in 200 left
    # the handler of ragged lines to a thread of Arrow's, so that of 1,000 one in 150 runs would see none.
    last_holders = set[int]()
    monkeypatch.setattr(
        text._Ragged, "__del__", lambda _: last_holders.add(threading.get_ident()), raising=False
    )
    table = open_text(
        b"category,count\n" + b"".join(b"%bn%d%b,5\n" % (quote, i, quote) for i in range(8)), None
    )
    for _ in range(1000):
        for _piece in table.pieces((0, 1)):
            pass
    assert last_holders == {threading.get_ident()}


@pytest.mark.parametrize("blank", [b"\n", b",,\n", b" , ,\n", " , \u00a0, \n".encode(), b",\n"])
def test_the_line_of_a_row_counts_blank_lines_and_not_rows_of_blanks(blank: bytes) -> None:
    data = b"name,count\na,1\n" + blank + b"b,2\n" + blank + b"c,bad\n"
    table = open_text(data, True)
    rows = [line for line, fields in table._records() if not table._skips(fields)]
    assert [table.place(row) for row in range(len(rows) - 1)] == rows[1:]


def test_long_texts_are_cut_in_the_sample_only() -> None:
    texts = ["a" * 5000, "b" * 5000]
    data = parquet(pa.table({"category": texts, "count": [1, 2]}))
    assert inspect(data, "t.parquet").columns == ("category", "count")
    assert len(read_distribution(data, "t.parquet").labels[0]) == 200


def test_too_many_different_names_are_refused_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CATEGORIES", 100)
    monkeypatch.setattr(tables, "_PENDING", 50)
    monkeypatch.setattr(text, "_BLOCK", 200)
    monkeypatch.setattr("rr_core.io.parquet._PIECE_ROWS", 30)
    files = [b"".join(row % i for i in range(10_000)) for row in (b"name %d\n", b"name %d,1\n")]
    for data in (*files, parquet(pa.table({"user": range(10_000)}))):
        heard: list[float] = []
        said = complaint(data, progress=lambda done, heard=heard: bool(heard.append(done)))
        assert "more than 200 different values, and at most 100 categories" in said
        assert max(heard) < 0.5


def test_many_names_are_told_apart_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b", "a", "", "a", "c", "b", "ä", "c" * 300, "a"] * 3
    column = pa.chunked_array([names[:5], names[5:]], pa.large_string())
    few = labels.factorize(column)
    monkeypatch.setattr(labels, "_MANY", 1)
    monkeypatch.setattr(labels, "_SLICE", 4)
    many = labels.factorize(column)
    assert many[0].to_pylist() == few[0].to_pylist() == list(dict.fromkeys(names))
    assert many[1].tolist() == few[1].tolist()
    once = pa.chunked_array([["b", "a", "c"]], pa.string())
    assert labels.factorize(once)[0].to_pylist() == ["b", "a", "c"]


def test_the_line_of_a_row_among_quotations_is_found_in_stretches() -> None:
    rows = [b'"a\nb",1\n', b"c,2\n", b"\n", b",,\n", b'"d",3\n'] * 40
    data = b"name,count\n" + b"".join(rows)
    table = open_text(data, True)
    records = [line for line, fields in table._records() if not table._skips(fields)]
    assert [table.place(row) for row in range(len(records) - 1)] == records[1:]
    line, expected = 2, []
    for row in rows:
        expected += [line] if row.strip(b",\n") else []
        line += row.count(b"\n")
    assert records[1:] == expected
