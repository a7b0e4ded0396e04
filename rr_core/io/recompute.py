"""Recomputes the table of collected reports from the files, with rr_core alone.

Run it where the files are, with the folder rr_core beside it or on Python's path. It prints the settings, the most
reported categories, the test of epsilon if the app had made it, and which estimate is nearest to the truth, where that
can be told. With --all it also writes results.csv, every category at full precision. Besides NumPy and
SciPy it needs pyarrow, which reads the files, and nothing else.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rr_core.io import (
    AllSeen,
    Domain,
    Listed,
    Names,
    Size,
    Source,
    UnreadableFile,
    WrongDomain,
    read_reports,
    within,
)
from rr_core.io.csv_files import csv_cell
from rr_core.mechanism import RandomizedResponse
from rr_core.registry import REGISTRY
from rr_core.reports import Analysis, analyse, fit_test, plausible_epsilon

# Settings, as they were in the app.
FILES: list[str] = ["reports.csv"]
HEADER: bool | None = None  # whether the first line names the columns; None: found out
CATEGORY: str = "category"  # the column of the reports; without a header "Column 1" and so on
COUNT: str | None = None  # the column of counts; None: one report per row
DOMAIN: Literal["seen", "size", "listed"] = "seen"
LISTED: list[str] | None = None  # all categories; None: one per line in categories.txt
LEFT_OUT: list[str] = []  # names that are no categories
COUNTED_AS: dict[str, str] = {}  # names whose reports are counted under another
SWAPPED: bool = False  # whether the reports of each of two answers are counted for the other
PRIVACY: float = 1.0
IS_P: bool = False  # whether that is p rather than epsilon
LEVEL: float = 0.95
USERS: Literal["fixed", "sampled"] = "fixed"
REPLICATES, SEED = 0, 0  # simulated collections for the test of epsilon; 0: none
SEARCH_EPSILON: bool = False  # whether to look for the smallest plausible epsilon
APP_K, APP_N = 2, 1  # what the app saw
APP_SHA256: str = ""
# End of the settings.

TOP = 20
NAMES = {entry.name: entry.label for entry in REGISTRY}


def main() -> None:
    """Read, compute, print."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        reports = read_reports(
            [Source(name, Path(name).read_bytes()) for name in FILES],
            layout="values" if COUNT is None else "counts",
            category=CATEGORY,
            count=COUNT,
            has_header=HEADER,
        )
        collected = within(reports, domain(), Names(tuple(LEFT_OUT), tuple(COUNTED_AS.items())))
    except (UnreadableFile, WrongDomain) as error:
        sys.exit(str(error))
    labels, counts = collected.labels.tolist(), collected.counts[:: -1 if SWAPPED else 1]
    k, n = collected.k, collected.total
    mechanism = RandomizedResponse.from_p(k, PRIVACY) if IS_P else RandomizedResponse(k, PRIVACY)
    print(f"K = {k}, N = {n}, epsilon = {mechanism.epsilon!r}, p = {mechanism.p!r}, q = {mechanism.q!r}")
    print(compared(k, n, reports.sha256))
    print(f"reports outside the domain, left out: {collected.outside_total}")

    found = analyse(counts, mechanism, LEVEL, users=USERS)
    columns = {"category": labels, **found.columns()}
    most = np.argsort(-counts, kind="stable")[:TOP]
    print(f"the {most.size} most reported of {k}:")
    write(sys.stdout, columns, most)
    print_nearest(found, rejected=print_fit(counts, mechanism))
    if "--all" in sys.argv[1:]:
        # Excel knows UTF-8 by its mark, and needs it only where there is more than ASCII.
        encoding = "utf-8" if "".join(labels).isascii() else "utf-8-sig"
        with open("results.csv", "w", newline="", encoding=encoding) as file:
            write(file, columns, range(k))
        print("wrote results.csv")


def domain() -> Domain:
    """The categories that there were to choose from."""
    if DOMAIN == "seen":
        return AllSeen()
    if DOMAIN == "size":
        return Size(APP_K)
    listed = LISTED
    if listed is None:
        listed = Path("categories.txt").read_text("utf-8").rstrip("\n").split("\n")
    return Listed(np.array(listed, dtype=object))


def compared(k: int, n: int, sha256: str) -> str:
    """Whether this is what the app saw."""
    if (k, n) != (APP_K, APP_N):
        return f"NOT WHAT THE APP SAW: it had K = {APP_K}, N = {APP_N}. The files or the categories differ."
    if sha256 != APP_SHA256:
        return "K and N are those that the app saw, but the bytes of the files are not: compare the numbers."
    return "The files, K and N are those that the app saw."


def print_fit(counts: NDArray[np.int64], mechanism: RandomizedResponse) -> bool:
    """Whether the stated epsilon is rejected, as far as the app tested it."""
    rejected = False
    if REPLICATES:
        tested = fit_test(counts, mechanism, REPLICATES, seed=SEED)
        print(
            f"fit: statistic = {tested.statistic!r}, p-value = {tested.p_value!r}, simulated = {tested.done}"
        )
        print(
            f"fit: N q = {tested.floor!r}, fewest reports = {tested.lowest}, categories below = {tested.below}"
        )
        print(f"fit: so few with a chance of at most = {tested.extremes.fewest!r}, N p = {tested.ceiling!r}")
        print(
            f"fit: most reports = {counts.max()}, so many with a chance of at most = {tested.extremes.most!r}"
        )
        rejected = tested.rejects(0.05)
        print(f"fit: the stated epsilon is {'rejected' if rejected else 'not rejected'}")
    if SEARCH_EPSILON:
        plausible = plausible_epsilon(counts, mechanism.k, above=mechanism.epsilon, seed=SEED)
        print(f"plausible epsilon: {'none up to' if plausible.none else 'at least'} {plausible.low!r}")
    return rejected


def print_nearest(found: Analysis, *, rejected: bool) -> None:
    """Which estimate is nearest to the truth, as far as it can be told."""
    if rejected:
        print("nearest to the truth: settle epsilon first")
        return
    compared = found.nearest
    nearest = " or ".join(NAMES[name] for name in compared.tied)
    if set(compared.tied) <= set(compared.same):
        print(f"nearest to the truth, as estimated: {nearest}")
    else:
        print(f"nearest to the truth, as estimated: {nearest}, which cannot be told")
    if len(compared.same) > 1:
        print(f"the same in every category: {', '.join(NAMES[name] for name in compared.same)}")
    if not found.above.above.any():
        print(
            "no share is larger than chance alone could make it: report Inv with its intervals, or no table at all"
        )
    print(f"estimated squared error beyond that of {NAMES[compared.best]}: {compared.differences}")
    print(f"standard errors of these: {compared.standard_errors}")


def write(file: Any, columns: dict[str, Any], chosen: Iterable[int]) -> None:
    """These rows as CSV, at full precision; no name can run as a formula in a spreadsheet."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    values = [column if isinstance(column, list) else column.tolist() for column in columns.values()]
    for i in chosen:
        label, *others = (column[i] for column in values)
        writer.writerow([csv_cell(label), *map(repr, others)])


if __name__ == "__main__":
    main()
