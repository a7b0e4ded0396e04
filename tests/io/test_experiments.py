"""Sweeps in files come back bit for bit, and damaged or foreign files get one plain sentence.

What the numbers of a sweep may be, once they are read: tests/core/test_experiments_storage.py.
"""

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
    "all": Settings(3),
    "few": Settings(3, estimators=("mle_star",), metrics=("nll",), bias=False, users="sampled", seed=4),
    "one seed": Settings(1, people="rounded"),
}
WRITERS = {"csv": files.csv_file, "parquet": files.parquet_file}


def computed(settings=WAYS["all"], cells=CELLS):
    return run(Sweep(cells, settings), populations={UPLOAD.key: UPLOAD})


RESULT = computed()
ROWS = len(ESTIMATORS) * len(CELLS)
CSV, PARQUET = files.csv_file(RESULT), files.parquet_file(RESULT)


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.slow) for way in ("all", "one seed")] + ["few"]
)
def test_there_and_back(way):
    result = computed(WAYS[way])
    part = SweepResult(result.sweep, result.cells[1:3])
    for ending, written in WRITERS.items():
        for done in (result, part):
            data = written(done)
            for name, packed in ((f"a.{ending}", data), (f"a.{ending}.gz", gzip.compress(data)), ("a", data)):
                assert files.read(name, packed).same(done)
        going_on = files.read("a", written(part))
        assert run(part.sweep, done=going_on, populations={UPLOAD.key: UPLOAD}).same(result)


@pytest.mark.parametrize("ending", WRITERS)
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


def written(rows, **options):
    out = io.StringIO()
    csv.writer(out, **{"lineterminator": "\n", **options}).writerows(rows)
    return out.getvalue()


def test_a_spreadsheet_may_have_saved_it():
    """Semicolons and decimal commas, a byte-order mark, another line end, rows in another order, a column more."""
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    number = re.compile(r"-?\d+\.\d+(e-?\d+)?")
    saved = [
        [*(cell.replace(".", ",") if number.fullmatch(cell) else cell for cell in row), "=1+1; hm"]
        for row in rows[::-1]
    ]
    text = written([[*header, "my note"], *saved], delimiter=";", lineterminator="\r\n")
    for encoding in ("utf-8-sig", "utf-16"):
        read = files.read("Kopie von sweep.csv", text.encode(encoding))
        assert read.sweep.settings == RESULT.sweep.settings
        assert read.sweep.cells == CELLS[::-1]
        assert all(read.by_cell[cell].same(RESULT.by_cell[cell]) for cell in CELLS)


def changed(column, row, value):
    """The CSV with another text in one place."""
    header, *rows = csv.reader(io.StringIO(CSV.decode()))
    rows[row][header.index(column)] = value
    return written([header, *rows]).encode()


LINES = CSV.split(b"\n")
SETTINGS = json.dumps(storage.metadata(RESULT))
NO_SETTINGS = "settings of the sweep in the file are cut short"
BROKEN = {
    "blank": (b" \n\t ", "The file is empty. Save it again where"),
    "a picture": (b"\x89PNG\r\n\x1a\n0000", "The content is a picture (PNG), not a table"),
    "foreign": (b"category,count\na,1\nb,2\n", "not a sweep that was saved here: it has no column “sweep”"),
    "a name without end": (b'"sweep,k' + b"a" * 200_000 + b"\n1,2\n", "it has no column “sweep”"),
    "a header alone": (LINES[0] + b"\n", NO_SETTINGS),
    "no settings": (changed("sweep", 0, ""), NO_SETTINGS),
    "settings cut": (changed("sweep", 0, SETTINGS[:99]), NO_SETTINGS),
    "settings too deep": (changed("sweep", 0, "[" * 10**5), NO_SETTINGS),
    "settings too long": (changed("sweep", 0, " " * (2 * 10**6 + 1)), NO_SETTINGS),
    "settings of others": (changed("sweep", 0, "{}"), "settings must be those written with the table"),
    "half a sweep": (b"\n".join([*LINES[:-3], b""]), "must have one row for each of inv, inv_n, inv_p"),
    "a line cut": (CSV[:-40], f"The file is cut short or was changed: line {ROWS + 1} has"),
    "two of a name": (CSV.replace(b"mse_q25", b"mse_q50", 1), "Two columns are called “mse_q50”"),
    "text for a number": (changed("mse_mean", 6, "many"), "“mse_mean” holds “many” on line 8 where a number"),
    "nothing for a number": (changed("variance", 2, ""), "“variance” holds “” on line 4"),
    "no population": (changed("dist", 3, "=cmd()"), "dist must be one of zipf"),
    "a long name": (changed("dist", 3, "weights:" + "a" * 500), "“dist” does not hold names of populations"),
    "too many rows": (CSV + LINES[-2].join([b"\n"] * 40_000), "at most 40,000 are read"),
}


def parquet(columns=(), metadata=None):
    """The Parquet file with other columns, or other metadata."""
    held = pq.read_table(pa.BufferReader(PARQUET))
    for name, values in dict(columns).items():
        held = held.set_column(held.schema.names.index(name), name, values)
    about = held.schema.metadata if metadata is None else {"sweep": metadata}
    pq.write_table(held.replace_schema_metadata(about), out := io.BytesIO())
    return out.getvalue()


def claiming(rows):
    """A few bytes of Parquet with so many rows of one number, and a sweep's metadata."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["zipf"]))
    schema = pa.table({"dist": column}).replace_schema_metadata({"sweep": SETTINGS})
    pq.write_table(schema, out := io.BytesIO(), compression="zstd")
    return out.getvalue()


NAMES_NO_NUMBERS = "does not hold names of populations"
BROKEN_PARQUET = {
    "damaged": (lambda: PARQUET[:400] + bytes(300) + PARQUET[700:], "damaged"),
    "not Parquet": (lambda: CSV, "the content is not Parquet"),
    "no metadata": (lambda: parquet(metadata=""), "it has no “sweep” in its metadata"),
    "metadata cut": (lambda: parquet(metadata=SETTINGS[:70]), NO_SETTINGS),
    "truth": (lambda: parquet({"zeros": pa.array([True] * ROWS)}), "“zeros” does not hold numbers"),
    "lists": (lambda: parquet({"zeros": pa.array([[1]] * ROWS)}), "“zeros” does not hold numbers"),
    "holes": (lambda: parquet({"mse_mean": pa.nulls(ROWS, pa.float64())}), "mse_mean must be a number"),
    "numbers for names": (lambda: parquet({"dist": pa.array([1] * ROWS)}), NAMES_NO_NUMBERS),
    "no names": (lambda: parquet({"dist": pa.nulls(ROWS, pa.string())}), "dist must be one of zipf"),
    "a long name": (lambda: parquet({"dist": pa.array(["a" * 10**6] * ROWS)}), NAMES_NO_NUMBERS),
    "no rows": (lambda: claiming(0), "has no rows"),
    "a million rows": (lambda: claiming(10**6), "has 1,000,000 rows, and at most 40,000 are read"),
}


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
    assert held.schema.metadata[b"sweep"].decode() == SETTINGS
    pq.write_table(held.append_column("notes", pa.array([{"a": [1]}] * ROWS)), out := io.BytesIO())
    assert files.read("a.parquet", out.getvalue()).same(RESULT)
    decimals, floats = held["mse_tied"].cast(pa.decimal128(9, 2)), held["n"].cast(pa.float32())
    assert files.read("a.parquet", parquet({"mse_tied": decimals, "n": floats})).same(RESULT)
