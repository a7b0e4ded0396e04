"""Reading ten million reports, against pyarrow's own read-and-count: ``python -m tests.benchmarks.reports``; and the
whole command with a column of groups and one of weights, beside pyarrow's own group-by.

Time is a ratio in one run, the two sides in turns. Memory is the peak of a fresh process that holds the bytes
of the upload and reads them. Exit status 1 when a bound is not met.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from rr_core.io import Source, read_reports
from tests.benchmarks.core import Ratio, judge, machine, table

RATIO_BOUND = 3
SECONDS_BOUND, GROUPED_BOUND = 20.0, 1e9  # of the command with groups and weights, and its bytes
MEMORY_BOUND = 1.5e9

_PEAK = """
import sys
from pathlib import Path
from rr_core.io import Source, read_reports
path = Path(sys.argv[1])
assert read_reports([Source(path.name, path.read_bytes())], layout=sys.argv[2]).total == int(sys.argv[3])
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(1024 * int(status["VmHWM"].split()[0]))
"""


_COMMAND = """
import os, sys, time
from pathlib import Path
from rr_core.__main__ import main
start = time.perf_counter()
out = ["--column", "answer", "--by", "region", "--weights", "weight", "--out", sys.argv[1] + ".out.csv"]
assert main(["analyse", sys.argv[1], "--design", "k_rr", "--epsilon", "2", *out]) == 0
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(time.perf_counter() - start, sum(os.times()[:2]), 1024 * int(status["VmHWM"].split()[0]))
"""


def grouped(folder: Path, rows: int) -> bool:
    """Print what the command takes with groups and weights, and pyarrow's group-by; whether both bounds are met."""
    dice, path = np.random.default_rng(2), folder / "survey.csv"
    columns = {
        name: pa.array([f"{name[0]}{i}" for i in range(k)]).take(pa.array(dice.integers(0, k, rows)))
        for name, k in (("region", 12), ("answer", 20))
    }
    _write_csv(pa.table({**columns, "weight": dice.uniform(0.5, 2, rows).round(2)}), path)
    run = [sys.executable, "-c", _COMMAND, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    seconds, busy, held = map(float, done.stdout.split())
    start, began = time.perf_counter(), sum(os.times()[:2])
    sums = arrow_csv.read_csv(path).group_by(["region", "answer"]).aggregate([("weight", "sum")])
    beside, busy_beside = time.perf_counter() - start, sum(os.times()[:2]) - began
    met = seconds <= SECONDS_BOUND and held <= GROUPED_BOUND
    print(
        f"\n{rows:,} rows with groups and weights ({path.stat().st_size / 1e6:,.0f} MB): {seconds:.1f} s "
        f"({busy:.1f} s of the processor) and {held / 1e6:,.0f} MB (at most {SECONDS_BOUND:g} s and "
        f"{GROUPED_BOUND / 1e6:,.0f} MB: {'yes' if met else 'NO'}); pyarrow alone, {sums.num_rows} sums: "
        f"{beside:.1f} s ({busy_beside:.1f} s)"
    )
    return met


def reports(k: int, rows: int, prefix: str) -> pa.Array:
    """Zipf-like reports on k categories, as text."""
    weights = 1 / np.arange(1, k + 1)
    codes = np.random.default_rng(0).choice(k, rows, p=weights / weights.sum()).astype(np.int32)
    names = pa.array([f"{prefix}{i:0{len(str(k))}d}" for i in range(k)])
    return pa.DictionaryArray.from_arrays(codes, names).dictionary_decode()


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """The cases by their names in words."""
    few, many = reports(100, rows, "c"), reports(40_000, rows, "item ")
    integers = pa.array(np.random.default_rng(1).integers(0, 1000, rows))
    paths = {
        "text, K = 100": folder / "few.csv",
        "text, K = 40,000": folder / "many.csv",
        "text, integers, K = 1,000": folder / "integers.csv",
        "text of 3 columns, K = 100": folder / "columns.csv",
        "gzip, K = 100": folder / "few.csv.gz",
        "Parquet with dictionary, K = 40,000": folder / "dictionary.parquet",
        "Parquet without, K = 100": folder / "plain.parquet",
    }
    for name, column in (("few", few), ("many", many), ("integers", integers)):
        _write_csv(pa.table({"report": column}), folder / f"{name}.csv")
    _write_csv(pa.table({"user": np.arange(rows), "report": few, "day": integers}), folder / "columns.csv")
    with gzip.open(folder / "few.csv.gz", "wb", compresslevel=1) as packed:
        packed.write((folder / "few.csv").read_bytes())
    pq.write_table(pa.table({"report": many}), folder / "dictionary.parquet")
    pq.write_table(pa.table({"report": few}), folder / "plain.parquet", use_dictionary=False)
    return paths


def _write_csv(columns: pa.Table, path: Path) -> None:
    arrow_csv.write_csv(columns, path, arrow_csv.WriteOptions(quoting_style="none"))


def ours(path: Path, data: bytes) -> Callable[[], object]:
    return lambda: read_reports([Source(path.name, data)], layout="values")


def pyarrows(path: Path, data: bytes) -> Callable[[], object]:
    """What a person who knows pyarrow writes."""
    if path.suffix == ".parquet":
        return lambda: pq.read_table(pa.BufferReader(data), columns=["report"])["report"].value_counts()

    def read_and_count() -> object:
        source: object = pa.BufferReader(data)
        if path.suffix == ".gz":
            source = pa.CompressedInputStream(source, "gzip")
        options = arrow_csv.ConvertOptions(include_columns=["report"])
        return arrow_csv.read_csv(source, convert_options=options)["report"].value_counts()

    return read_and_count


def peak(path: Path, rows: int) -> int:
    """The most memory, in bytes, that a fresh process needs (Linux; `ru_maxrss` would inherit ours)."""
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path), "values", str(rows)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def main(rows: int, rounds: int) -> int:
    print(machine(rounds))
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), rows)
        sizes = {what: path.stat().st_size for what, path in paths.items()}
        failed = judge(
            [
                Ratio(f"{what}: ours / pyarrow", ours(path, data), pyarrows(path, data), RATIO_BOUND, False)
                for what, path in paths.items()
                if (data := path.read_bytes())
            ],
            rounds,
        )
        peaks = {what: peak(path, rows) for what, path in paths.items()}
        failed += not grouped(Path(folder), rows)
    failed += sum(value > MEMORY_BOUND for value in peaks.values())
    lines = [
        (what, f"{sizes[what] / 1e6:,.0f}", f"{value / 1e6:,.0f}", "yes" if value <= MEMORY_BOUND else "NO")
        for what, value in peaks.items()
    ]
    print(
        f"\n{rows:,} rows; at most {MEMORY_BOUND / 1e6:,.0f} MB\n"
        + table(("Memory at its peak", "file, MB", "process, MB", "met"), lines)
    )
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows per file (default 10,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds per ratio (default 3)")
    arguments = parser.parse_args()
    sys.exit(main(arguments.rows, arguments.rounds))
