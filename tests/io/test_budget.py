"""What reading may cost is counted; the parts that count it. Whole files: test_hostile_files.py."""

from __future__ import annotations

import gzip
import io
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core import limits
from rr_core.io import UnreadableFile, decoding, inspect, labels, read_distribution, reports, tables, text
from rr_core.io import parquet as parquet_module
from rr_core.io.budget import Budget
from rr_core.io.columns import column_names
from rr_core.io.decoding import decode, gunzip
from rr_core.io.parquet_pages import chunks, pages
from rr_core.io.text import open_text
from tests.io.hostile_files import parquet


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


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_tell_their_sizes_and_values(version: str) -> None:
    names = [f"name {i % 1000}" for i in range(50_000)]
    data = parquet(pa.table({"category": names}), data_page_version=version, data_page_size=1000)
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    found = list(pages(data, chunks(data, lambda: None)[0][0]))
    assert sum(page.values for page in found[1:]) == 50_000
    assert sum(page.size for page in found) <= chunk.total_uncompressed_size
    assert {page.encoding for page in found} <= {0, 2, 8}


@pytest.mark.parametrize("dictionary", [True, False])
def test_the_description_says_what_pyarrow_says(dictionary: bool) -> None:
    table = pa.table(
        {"category": [f"n{i % 7}" for i in range(900)], "count": range(900), "share": [0.5] * 900}
    )
    data = parquet(table, row_group_size=200, use_dictionary=dictionary)
    about = pq.ParquetFile(io.BytesIO(data)).metadata
    found = chunks(data, lambda: None)
    assert [len(group) for group in found] == [3] * about.num_row_groups == [3] * 5
    for group, columns in enumerate(found):
        for index, chunk in enumerate(columns):
            column = about.row_group(group).column(index)
            begin = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
            assert (chunk.begin, chunk.values) == (begin, column.num_values)


def test_no_byte_of_a_description_ends_the_process() -> None:
    """pyarrow 26 ends it on a histogram of levels of the wrong length."""
    data = parquet(
        pa.table({"category": ["bus", "car", None, "bus"], "count": [1, 2, 3, 4]}), compression="none"
    )
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    read = 0
    for at in range(start, len(data) - 8):
        for other in (data[at] ^ 1, data[at] ^ 16, (data[at] + 32) % 256):
            changed = data[:at] + bytes([other]) + data[at + 1 :]
            try:
                read_distribution(changed, "changed.parquet")
            except UnreadableFile:
                continue
            read += 1
    assert read  # names and such may be any


def test_a_thousand_equal_names_are_numbered_at_once() -> None:
    began = time.thread_time()
    names = column_names(["n"] * 1000)
    assert time.thread_time() - began < 0.05
    assert names[:3] == ("n", "n (2)", "n (3)")
    assert column_names(["n", "n (2)", "n", "n"]) == ("n", "n (2)", "n (3)", "n (4)")


def test_a_bad_last_count_is_found_without_parsing_each_line_again() -> None:
    data = b"category,count\n" + b"".join(b"name%d,1\n" % (i % 1000) for i in range(3_000_000)) + b"z,oops\n"
    table = open_text(data, None)
    began = time.thread_time()
    assert table.place(3_000_000) == 3_000_002
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize("blank", [b"\n", b",,\n", b" , ,\n", " , \u00a0, \n".encode(), b",\n"])
def test_the_line_of_a_row_counts_blank_lines_and_not_rows_of_blanks(blank: bytes) -> None:
    data = b"name,count\na,1\n" + blank + b"b,2\n" + blank + b"c,bad\n"
    table = open_text(data, True)
    rows = [line for line, fields in table._records() if not table._skips(fields)]
    assert [table.place(row) for row in range(len(rows) - 1)] == rows[1:]


def test_past_the_budget_a_sentence_says_what_to_do() -> None:
    with pytest.raises(UnreadableFile, match=r"unpack to more than 1 MB\. Count the values first"):
        Budget(size=1 << 20).spend(2 << 20)
    with pytest.raises(UnreadableFile, match=r"takes more than 0 seconds\. Count the values first"):
        Budget(seconds=0.0).spend()
    with pytest.raises(UnreadableFile, match=r"more than 9 lines\. Leave lines out"):
        Budget(rows=9, advice="Leave lines out.").spend(rows=10)


def test_no_file_may_take_more_than_a_server_can_give() -> None:
    assert limits.READ_BYTES_MAX <= 2**31
    assert limits.READ_SECONDS_MAX <= 30


NAMES = [f"name {i % 100:030}" for i in range(20_000)]
TABLE = pa.table({"category": NAMES, "count": [1] * 20_000})
FILES = {
    "t.csv": "\n".join(["category,count", *(f"{name},1" for name in NAMES)]).encode(),
    "t.parquet": parquet(TABLE, use_dictionary=False),
    "t.csv.gz": gzip.compress(b"category,count\n" + b"".join(b"%s,1\n" % name.encode() for name in NAMES)),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("reader", ["distribution", "reports"])
def test_every_reader_spends_what_it_decodes(name: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(files: int, size: int) -> int:
        """Bytes that reading took of a budget of so many."""
        made: list[Budget] = []

        def budget() -> Budget:
            made.append(Budget(size))
            return made[-1]

        for module in (tables, text, parquet_module, reports):
            monkeypatch.setattr(module, "Budget", budget)
        if reader == "distribution":
            assert read_distribution(FILES[name], name).weights.sum() == 20_000
        else:
            several = [reports.Source(f"{i}{name}", FILES[name]) for i in range(files)]
            found = reports.read_reports(several, layout="counts", category=0, count=1, has_header=True)
            assert found.counts.sum() == files * 20_000
        return sum(size - one._left for one in made)

    spent = read(1, 10**9)
    assert spent >= 8 * 20_000  # the counts alone
    with pytest.raises(UnreadableFile, match="unpack to more than"):
        read(1, spent - 1)
    if reader == "reports":  # files that are read together have one budget
        with pytest.raises(UnreadableFile, match=r"unpacks? to more than"):
            read(3, 2 * spent)


def test_long_texts_are_cut_in_the_sample_only() -> None:
    texts = ["a" * 5000, "b" * 5000]
    data = parquet(pa.table({"category": texts, "count": [1, 2]}))
    assert inspect(data, "t.parquet").columns == ("category", "count")
    assert len(read_distribution(data, "t.parquet").labels[0]) == 200


def test_the_clock_is_looked_at_in_every_step() -> None:
    """Each of these took one call of any length: archives in one file, decoding, lines that are left out."""
    over = Budget(seconds=-1.0)
    for work in (
        lambda: gunzip(gzip.compress(b"") * 1000, tick=over.heard()),
        lambda: gunzip(gzip.compress(b"a\n"), tick=over.heard()),
        lambda: decode("ä\n".encode("utf-16"), over.heard()),
        lambda: list(open_text(b"a,b\n1,2\n" + b",,\n" * 10, None, over).pieces([0])),
        lambda: open_text(b'a,b\n"1",2\n', None, over).place(1),
    ):
        with pytest.raises(UnreadableFile, match="takes more than"):
            work()


def test_too_many_different_names_are_refused_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CATEGORIES", 100)
    monkeypatch.setattr(tables, "_PENDING", 50)
    monkeypatch.setattr(text, "_BLOCK", 200)
    heard: list[float] = []
    for row in (b"name %d\n", b"name %d,1\n"):
        data = b"".join(row % i for i in range(10_000))
        heard.clear()
        with pytest.raises(
            UnreadableFile, match=r"more than 200 different values, and at most 100 categories"
        ):
            reports.read_reports(
                [reports.Source("a.csv", data)], progress=lambda done: bool(heard.append(done))
            )
        table = open_text(data, None)
        budget = table.budget
        left = budget._left
        with pytest.raises(UnreadableFile, match="more than 200 different values"):
            tables.number_columns(table, [0])
        assert left - budget._left < len(data) / 10


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


def test_names_that_are_too_large_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "NAMES_BYTES_MAX", 40)
    for letter, most in (("a", 40), ("\u4e00", 20), ("\U0001f600", 10)):
        for size in (most, most + 1):
            found = labels.factorize(pa.chunked_array([[letter * (size - 1), letter]], pa.large_string()))
            if size == most:
                assert len(labels.clean(*found).names) == 2
            else:
                with pytest.raises(UnreadableFile, match="names of the 2 categories are longer than"):
                    labels.clean(*found)


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


def test_a_text_that_grows_in_utf_8_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "READ_TEXT_BYTES_MAX", 1000)
    assert decode(b"\xe4" * 499 + b"\n")[1] == "Latin-1"
    with pytest.raises(UnreadableFile, match="in UTF-8"):
        decode(b"\xe4" * 501)


def test_a_description_larger_than_any_table_needs_is_refused() -> None:
    data = b"PAR1" + (40 << 20).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(UnreadableFile, match="takes 40 MB, and at most 2 MB are read"):
        inspect(data, "t.parquet")
