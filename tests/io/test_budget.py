"""Small files that stand for very much: refused in a sentence or read, always with bounded memory."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core.io import UnreadableFile, inspect, read_distribution
from rr_core.io.budget import Budget
from rr_core.io.columns import column_names
from rr_core.io.parquet_pages import pages
from rr_core.io.text import open_text

READ = """
import sys
from rr_core.io import UnreadableFile, Source, inspect, read_distribution, read_reports
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024
data, idle = open(sys.argv[1], "rb").read(), peak()
name = sys.argv[1]
for read in (inspect, read_distribution, lambda data, name: read_reports([Source(name, data)])):
    try:
        read(data, name)
    except UnreadableFile as error:
        print(error, file=sys.stderr)
print(peak() - idle)
"""
MOST = 1024


def written(table: pa.Table, **options: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", **options)
    return sink.getvalue()


def wide() -> bytes:
    text = "a" * 50_000_000
    table = pa.table({f"c{i}": [text] for i in range(20)})
    return written(table, use_dictionary=False, write_statistics=False)


def long() -> bytes:
    codes = pa.array(np.zeros(100_000_000, np.int8))
    category = pa.DictionaryArray.from_arrays(codes, pa.array(["x"]))
    return written(pa.table({"category": category, "count": pa.array(np.ones(100_000_000, np.int8))}))


def prefixes() -> bytes:
    table = pa.table({"category": pa.array([b"b" * 1_000_000] * 900, pa.binary())})
    return written(table, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY", write_statistics=False)


def zipped() -> bytes:
    return gzip.compress(b"category,count\n" + b"a,1\n" * 50_000_000, 1)


@pytest.mark.parametrize(
    ("make", "ending"),
    [(wide, ".parquet"), (long, ".parquet"), (prefixes, ".parquet"), (zipped, ".csv.gz")],
)
def test_a_small_file_takes_at_most_a_gigabyte(
    make: Callable[[], bytes], ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"file{ending}"
    path.write_bytes(make())
    assert path.stat().st_size < 2_000_000
    done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) < MOST, done.stderr


def test_text_in_the_encoding_of_prefixes_is_read() -> None:
    table = pa.table({"category": ["ab", "abc", "b"], "count": [1, 2, 3]})
    encodings = {"category": "DELTA_BYTE_ARRAY", "count": "DELTA_BINARY_PACKED"}
    read = read_distribution(written(table, use_dictionary=False, column_encoding=encodings), "t.parquet")
    assert read.labels.tolist() == ["ab", "abc", "b"]
    assert read.weights.tolist() == [1, 2, 3]


def test_json_in_parquet_is_read_as_text() -> None:
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}', "2"]))
    read = read_distribution(written(pa.table({"category": texts, "count": [1, 3]})), "t.parquet")
    assert read.labels.tolist() == ['{"a":1}', "2"]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_tell_their_sizes_and_values(version: str) -> None:
    names = [f"name {i % 1000}" for i in range(50_000)]
    data = written(pa.table({"category": names}), data_page_version=version, data_page_size=1000)
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    found = list(pages(data, chunk))
    assert sum(page.values for page in found[1:]) == 50_000
    assert sum(page.size for page in found) <= chunk.total_uncompressed_size
    assert {page.encoding for page in found} <= {0, 2, 8}


def test_a_thousand_equal_names_are_numbered_at_once() -> None:
    began = time.monotonic()
    names = column_names(["n"] * 1000)
    assert time.monotonic() - began < 0.05
    assert names[:3] == ("n", "n (2)", "n (3)")
    assert column_names(["n", "n (2)", "n", "n"]) == ("n", "n (2)", "n (3)", "n (4)")


def test_a_bad_last_count_is_found_without_parsing_each_line_again() -> None:
    data = b"category,count\n" + b"".join(b"name%d,1\n" % (i % 1000) for i in range(3_000_000)) + b"z,oops\n"
    table = open_text(data, None)
    began = time.monotonic()
    assert table.place(3_000_000) == 3_000_002
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("blank", [b"\n", b",,\n", b" , ,\n", " , \u00a0, \n".encode(), b",\n"])
def test_the_line_of_a_row_counts_blank_lines_and_not_rows_of_blanks(blank: bytes) -> None:
    data = b"name,count\na,1\n" + blank + b"b,2\n" + blank + b"c,bad\n"
    table = open_text(data, True)
    rows = [line for line, fields in table._records() if not table._skips(fields)]
    assert [table.place(row) for row in range(len(rows) - 1)] == rows[1:]


def test_past_the_budget_a_sentence_says_what_to_do() -> None:
    with pytest.raises(UnreadableFile, match=r"unpack to more than 1 MB\. Count them first"):
        Budget(size=1 << 20).spend(2 << 20)
    with pytest.raises(UnreadableFile, match=r"takes more than 0 seconds\. Count the values first"):
        Budget(seconds=0.0).spend()


def test_long_texts_are_cut_in_the_sample_only() -> None:
    texts = ["a" * 5000, "b" * 5000]
    data = written(pa.table({"category": texts, "count": [1, 2]}))
    assert inspect(data, "t.parquet").columns == ("category", "count")
    assert len(read_distribution(data, "t.parquet").labels[0]) == 200
