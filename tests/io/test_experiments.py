"""Sweeps in files come back bit for bit, and damaged or foreign files get one plain sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core import Population
from rr_core.experiments import storage
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.io import UnreadableFile
from rr_core.io import experiments as files
from rr_core.registry import ESTIMATORS

UPLOAD = Population.from_weights([4, 1, 0, 9])
CELLS = (*over(s=(0.01, 2.5), k=6, epsilon=(0.1 + 0.2, 3), n=100), Cell(UPLOAD.key, 4, 2.0, 14))
WAYS = {
    "all": Settings(9),
    "few": Settings(9, estimators=("mle_star",), metrics=("nll",), bias=False, users="sampled", seed=4),
    "one seed": Settings(1, people="rounded"),
}
WRITERS = {"csv": files.csv_file, "parquet": files.parquet_file}


def computed(settings=WAYS["all"], cells=CELLS):
    return run(Sweep(cells, settings), populations={UPLOAD.key: UPLOAD})


RESULT = computed(Settings(3))
ROWS = len(ESTIMATORS) * len(CELLS)
CSV, PARQUET = files.csv_file(RESULT), files.parquet_file(RESULT)


@pytest.fixture(params=WRITERS, name="ending")
def an_ending(request):
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_there_and_back(way, ending):
    result = computed(WAYS[way])
    for done in (result.cells, result.cells[1:3]):
        part = SweepResult(result.sweep, done)
        data = WRITERS[ending](part)
        assert files.read(f"sweep.{ending}", data).same(part)
        assert files.read(f"sweep.{ending}.gz", gzip.compress(data)).same(part)
        assert files.read("sweep", data).same(part)
        whole = run(part.sweep, done=files.read("x", data), populations={UPLOAD.key: UPLOAD})
        assert whole.same(result)


def test_numbers_that_are_none_and_beyond_all(ending):
    odd = np.array(RESULT.cells[0].mean)
    odd[0, :4] = 0.0, 5e-324, 1e30, 0.1 + 0.2
    odd[-1, 0] = np.inf
    error = np.full_like(odd, np.nan)
    changed = replace(RESULT.cells[0], mean=odd, standard_error=error)
    result = SweepResult(RESULT.sweep, (changed, *RESULT.cells[1:]))
    assert files.read(f"a.{ending}", WRITERS[ending](result)).same(result)


def test_every_program_reads_the_csv():
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    columns = storage.to_columns(RESULT)
    assert header == [*columns, "sweep"]
    assert len(rows) == ROWS
    assert rows[0][-1] == json.dumps(storage.metadata(RESULT))
    assert [row[-1] for row in rows[1:]] == [""] * (len(rows) - 1)
    at = header.index("tv_q75")
    assert [float(row[at]) for row in rows] == columns["tv_q75"].tolist()
    assert not [cell for row in rows for cell in row if cell[:1] in "=+@" and cell]


def test_a_spreadsheet_may_have_saved_it():
    """Semicolons and decimal commas, a byte-order mark, another line end, rows in another order, a column more."""
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\r\n")
    writer.writerow([*header, "my note"])
    number = re.compile(r"-?\d+\.\d+(e-?\d+)?")
    for row in rows[::-1]:
        cells = [cell.replace(".", ",") if number.fullmatch(cell) else cell for cell in row]
        writer.writerow([*cells, "=1+1; hm"])
    for data in (out.getvalue().encode("utf-8-sig"), out.getvalue().encode("utf-16")):
        read = files.read("Kopie von sweep.csv", data)
        assert read.sweep.settings == RESULT.sweep.settings
        assert read.sweep.cells == CELLS[::-1]
        assert all(read.by_cell[cell].same(RESULT.by_cell[cell]) for cell in CELLS)


def changed(column, row, value):
    """The CSV with another text in one place."""
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    rows[row][header.index(column)] = value
    return written([header, *rows])


def written(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def without(column):
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    at = header.index(column)
    return written([[cell for i, cell in enumerate(row) if i != at] for row in (header, *rows)])


def about(**changes):
    return json.dumps(storage.metadata(RESULT) | changes)


LINES = CSV.split(b"\n")
BROKEN = {
    "empty": (b"", "The file is empty. Save it again where"),
    "blank": (b" \n\t ", "The file is empty. Save it again where"),
    "a picture": (b"\x89PNG\r\n\x1a\n0000", "The content is a picture (PNG), not a table"),
    "a workbook": (b"PK\x03\x04xl/" + bytes(100), "The workbook is damaged or cut short"),
    "binary": (bytes(range(256)) * 9, "not a text table"),
    "foreign": (b"category,count\na,1\nb,2\n", "not a sweep that was saved here: it has no column “sweep”"),
    "one word": (b"hello", "it has no column “sweep”"),
    "no settings": (changed("sweep", 0, ""), "settings of the sweep in the file are cut short"),
    "settings cut": (changed("sweep", 0, about()[:99]), "settings of the sweep in the file are cut short"),
    "settings of others": (changed("sweep", 0, "{}"), "settings must be those written with the table"),
    "settings too deep": (
        changed("sweep", 0, "[" * 10**5),
        "settings of the sweep in the file are cut short",
    ),
    "settings too long": (
        changed("sweep", 0, " " * (2 * 10**6 + 1)),
        "settings of the sweep in the file are cut short",
    ),
    "another format": (changed("sweep", 0, about(format=2)), "format must be 1, got 2"),
    "wrong settings": (changed("sweep", 0, about(settings={"seeds": 0})), "seeds must be an integer >= 1"),
    "one cell less": (
        b"\n".join([*LINES[: -1 - len(ESTIMATORS)], b""]),
        "rows for 5 cells, as many as were done, got 4",
    ),
    "half a cell": (
        b"\n".join([*LINES[:-3], b""]),
        "must have one row for each of inv, inv_n, inv_p, mle_star",
    ),
    "twice": (CSV + LINES[-2] + b"\n", "must have one row for each of inv"),
    "a line cut": (CSV[:-40], f"The file is cut short or was changed: line {ROWS + 1} has"),
    "a column less": (without("mse_q50"), "must have the column mse_q50, and 0 more"),
    "two of a name": (CSV.replace(b"mse_q25", b"mse_q50", 1), "Two columns are called “mse_q50”"),
    "text for a number": (changed("mse_mean", 6, "many"), "“mse_mean” holds “many” on line 8 where a number"),
    "nothing for a number": (changed("variance", 2, ""), "“variance” holds “” on line 4"),
    "half a person": (changed("n", 3, "100.5"), "n must be a column of whole numbers, got 100.5"),
    "beyond the range": (changed("epsilon", 3, "1e9"), "epsilon must be a number from 0.01 to 20"),
    "no population": (changed("dist", 3, "=cmd()"), "dist must be one of zipf"),
    "a long name": (changed("dist", 3, "weights:" + "a" * 500), "“dist” does not hold names of populations"),
    "no estimate": (changed("estimator", 3, "best"), "must have one row for each of inv"),
    "more than all": (changed("mse_best", 1, "4"), "mse_best must be from 0 to the number of seeds"),
    "too many rows": (CSV + LINES[-2].join([b"\n"] * 40_000), "at most 40,000 are read"),
    "a name without end": (b'"sweep,k' + b"a" * 200_000 + b"\n1,2\n", "it has no column “sweep”"),
    "a header alone": (LINES[0] + b"\n", "settings of the sweep in the file are cut short"),
    "too many columns": (b"sweep" + b",a" * 2000 + b"\n", "Two columns are called “a”"),
}


def parquet(columns=(), metadata=None, **options):
    """The Parquet file with other columns."""
    held = pq.read_table(pa.BufferReader(PARQUET))
    for name, values in dict(columns).items():
        if values is None:
            held = held.drop_columns([name])
        else:
            held = held.set_column(held.schema.names.index(name), name, values)
    out = io.BytesIO()
    about = {"sweep": about_text} if (about_text := metadata) is not None else held.schema.metadata
    pq.write_table(held.replace_schema_metadata(about), out, **options)
    return out.getvalue()


def claiming(rows):
    """A few bytes of Parquet with so many rows of one number, and a sweep's metadata."""
    out = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["zipf"]))
    schema = pa.table({"dist": column}).replace_schema_metadata({"sweep": about()})
    pq.write_table(schema, out, compression="zstd")
    return out.getvalue()


BROKEN_PARQUET = {
    "cut": (lambda: PARQUET[:-9], "cut short"),
    "damaged": (lambda: PARQUET[:400] + bytes(300) + PARQUET[700:], "damaged"),
    "not Parquet": (lambda: CSV, "the content is not Parquet"),
    "no metadata": (lambda: parquet(metadata=""), "it has no “sweep” in its metadata"),
    "metadata cut": (lambda: parquet(metadata=about()[:70]), "settings of the sweep in the file are cut short"),
    "a column less": (lambda: parquet({"zeros": None}), "must have the column zeros"),
    "text": (lambda: parquet({"zeros": pa.array(["1"] * ROWS)}), "“zeros” does not hold numbers"),
    "truth": (lambda: parquet({"zeros": pa.array([True] * ROWS)}), "“zeros” does not hold numbers"),
    "lists": (lambda: parquet({"zeros": pa.array([[1]] * ROWS)}), "“zeros” does not hold numbers"),
    "holes": (lambda: parquet({"mse_mean": pa.array([None] * ROWS, pa.float64())}), "mse_mean must be a number"),
    "numbers for names": (lambda: parquet({"dist": pa.array([1] * ROWS)}), "does not hold names of pop"),
    "no names": (lambda: parquet({"dist": pa.array([None] * ROWS, pa.string())}), "dist must be one of zipf"),
    "a long name": (lambda: parquet({"dist": pa.array(["a" * 10**6] * ROWS)}), "does not hold names of populations"),
    "no rows": (lambda: claiming(0), "has no rows"),
    "a million rows": (lambda: claiming(10**6), "has 1,000,000 rows, and at most 40,000 are read"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("cases", "ending"), [(BROKEN, "csv"), (BROKEN_PARQUET, "parquet")], ids=["csv", "parquet"]
)
def test_a_broken_file_is_one_sentence(cases, ending):
    for case, (data, sentence) in cases.items():
        with pytest.raises(UnreadableFile) as told:
            files.read(f"sweep.{ending}", data() if callable(data) else data)
        assert sentence in str(told.value), case
        assert len(str(told.value)) < 420
        assert "\n" not in str(told.value)


def test_whole_numbers_and_decimals_are_numbers_too_and_other_columns_may_hold_anything():
    held = pq.read_table(pa.BufferReader(PARQUET))
    assert held.schema.metadata[b"sweep"].decode() == json.dumps(storage.metadata(RESULT))
    assert held.schema.names == list(storage.to_columns(RESULT))
    pq.write_table(held.append_column("notes", pa.array([{"a": [1]}] * ROWS)), out := io.BytesIO())
    assert files.read("a.parquet", out.getvalue()).same(RESULT)
    data = parquet(
        {"mse_tied": held["mse_tied"].cast(pa.decimal128(9, 2)), "n": held["n"].cast(pa.float32())}
    )
    assert files.read("a.parquet", data).same(RESULT)
