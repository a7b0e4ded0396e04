"""Parts of reading that once took long or much, or read wrongly. Whole files: test_hostile_bytes.py."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pyarrow as pa
import pytest

from rr_core.io import AllSeen, Size, labels, read_distribution, read_list, tables, text, within
from rr_core.io.text import open_text
from tests.io.hostile_files import parquet
from tests.io.reading import complaint, reports_of


def test_results_cannot_be_changed() -> None:
    """They are shared by all sessions."""
    reports = reports_of("a\nb\nb\n")
    made = [reports, read_distribution(b"a,1\nb,2\n", "a.csv", order="count")]
    made += [within(reports, domain) for domain in (AllSeen(), Size(9), read_list("b\nx"))]
    for result in made:
        arrays = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
        assert len(arrays) >= 2
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.total = 5


def test_a_small_text_leaves_nothing_of_python_to_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    # What another thread lets go of while the interpreter ends aborts the process: about one reading in 200 left
    # the handler of ragged lines to a thread of Arrow's, so that of 1,000 one in 150 runs would see none.
    last_holders = set[int]()
    monkeypatch.setattr(
        text._Ragged, "__del__", lambda _: last_holders.add(threading.get_ident()), raising=False
    )
    table = open_text(b"category,count\n" + b"".join(b"n%d,5\n" % i for i in range(8)), None)
    for _ in range(1000):
        for _piece in table.pieces((0, 1)):
            pass
    assert last_holders == {threading.get_ident()}


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
    rows = [b'"a\nb",1\n', b"c,2\n", b"\n", b",,\n", b" , ,\n", b'"d",3\n'] * 40
    data = b"name,count\n" + b"".join(rows)
    table = open_text(data, True)
    records = [line for line, fields in table._records() if not table._skips(fields)]
    assert [table.place(row) for row in range(len(records) - 1)] == records[1:]
    line, expected = 2, []
    for row in rows:
        expected += [line] if row.strip(b" ,\n") else []
        line += row.count(b"\n")
    assert records[1:] == expected
