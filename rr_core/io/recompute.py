"""Recomputes the table of collected reports from the files, with rr_core alone.

Run it where the files are, with the folder rr_core beside it or on Python's path. It prints the settings, the most
reported categories, the test of epsilon if the app had made it, and which estimate is nearest to the truth, where that
can be told. With --all it also writes results.csv, every category at full precision. Besides NumPy and
SciPy it needs pyarrow, if a file is Parquet, and nothing else.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rr_core.mechanism import RandomizedResponse
from rr_core.reports import Analysis, analyse, fit_test, plausible_epsilon

# Settings, as they were in the app.
FILES: list[str] = ["reports.csv"]
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
LONGEST = 200
POINTS = r"([+-]?([1-9]\d{0,2}(\.\d{3})+|\d{1,3}))?"  # a count with a point before every three digits
SPACED = r"[+-]?\d{1,3}([ '\xa0\u2019\u202f]\d{3})+([.,]\d+)?"
WITH_COMMA = r"[+-]?[\d.]*,[\d,]*(\.\d+)?([eE][+-]?\d+)?"
NAMES = {"inv": "Inv", "inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}


def main() -> None:
    """Read, compute, print."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    files = [Path(name).read_bytes() for name in FILES]
    seen = renamed(reports(files))
    left_out = set(LEFT_OUT)
    labels = domain([label for label in seen if label not in left_out])
    counts = np.array([seen.get(label, 0) for label in labels], dtype=np.int64)[:: -1 if SWAPPED else 1]
    k, n = len(labels), int(counts.sum())
    mechanism = RandomizedResponse.from_p(k, PRIVACY) if IS_P else RandomizedResponse(k, PRIVACY)
    print(f"K = {k}, N = {n}, epsilon = {mechanism.epsilon!r}, p = {mechanism.p!r}, q = {mechanism.q!r}")
    print(compared(k, n, files))
    print(f"reports outside the domain, left out: {sum(seen.values()) - n}")

    found = analyse(counts, mechanism, LEVEL, users=USERS)
    columns = {"category": labels, **numbers(found)}
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


def compared(k: int, n: int, files: list[bytes]) -> str:
    """Whether this is what the app saw."""
    if (k, n) != (APP_K, APP_N):
        return f"NOT WHAT THE APP SAW: it had K = {APP_K}, N = {APP_N}. The files or the categories differ."
    digests = [hashlib.sha256(data).hexdigest() for data in files]
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    if digest != APP_SHA256:
        return "K and N are those that the app saw, but the bytes of the files are not: compare the numbers."
    return "The files, K and N are those that the app saw."


def numbers(found: Analysis) -> dict[str, Any]:
    """The columns of the table, (k,) each."""
    columns: dict[str, Any] = {"reports": found.counts, **found.estimates}
    for ending, interval in (("", found.interval), ("_all", found.simultaneous)):
        for kind, ends in (("", interval), ("_cut", interval.cut())):
            columns |= {f"inv_low{ending}{kind}": ends.low, f"inv_high{ending}{kind}": ends.high}
    columns |= {f"people_{name}": found.estimates[name] * found.n for name in NAMES}
    above = found.above
    return columns | {"p_value": above.p_values, "p_holm": above.adjusted, "above_zero": above.above}


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
        print("no category is told from zero: report Inv with its intervals, or no table at all")
    print(f"estimated squared error beyond that of {NAMES[compared.best]}: {compared.differences}")
    print(f"standard errors of these: {compared.standard_errors}")


def reports(files: Iterable[bytes]) -> dict[str, int]:
    """Reports of each label, in order of first appearance over all files."""
    tally: Counter[str] = Counter()
    for data in files:
        for written, count in read(data):
            tally[written] += count
    cleaned: Counter[str] = Counter()
    for written, count in tally.items():
        cleaned[clean(written)] += count
    del cleaned[""]
    return dict(zip(shorten(list(cleaned)), cleaned.values(), strict=True))


def renamed(seen: dict[str, int]) -> dict[str, int]:
    """The same with names counted as others, which may be counted as others in turn."""
    tally: Counter[str] = Counter()
    for written, count in seen.items():
        label, passed = written, {written}
        while COUNTED_AS.get(label, label) not in passed:
            label = COUNTED_AS[label]
            passed.add(label)
        tally[label] += count
    return dict(tally)


def domain(seen: list[str]) -> list[str]:
    """All K categories."""
    if DOMAIN == "listed":
        return (
            LISTED
            if LISTED is not None
            else Path("categories.txt").read_text("utf-8").rstrip("\n").split("\n")
        )
    if DOMAIN == "seen":
        return seen
    taken = set(seen)
    numbered = (f"not reported {i}" for i in itertools.count(1))
    missing = (name for name in numbered if name not in taken)
    return seen + list(itertools.islice(missing, max(APP_K - len(seen), 0)))


def read(data: bytes) -> Iterator[tuple[str, int]]:
    """Category and number of reports of each row of one file."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    columns, rows = parquet(data) if data.startswith(b"PAR1") else text(data)
    missing = [name for name in (CATEGORY, COUNT) if name is not None and name not in columns]
    if missing:
        sys.exit(f"There is no column {missing[0]!r} in {columns!r}.")
    category = columns.index(CATEGORY)
    if COUNT is None:
        return ((row[category], 1) for row in rows)
    count = columns.index(COUNT)
    rows = list(rows)
    amounts = plain([row[count] for row in rows])
    pairs = zip(rows, amounts, strict=True)
    return ((row[category], whole(amount)) for row, amount in pairs if clean(row[category]))


def text(data: bytes) -> tuple[list[str], Iterable[list[str]]]:
    """Columns and rows of a text table: the separator is the one that finds the columns in every line."""
    content = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    for separator in ("\t", ";", ",", None):
        head = list(itertools.islice(records(content, separator), 1000))
        columns = named(head[0]) if head else []
        if separator is not None and (len(columns) < 2 or any(len(row) != len(columns) for row in head)):
            continue
        if CATEGORY in columns and (COUNT is None or COUNT in columns):
            return columns, itertools.islice(records(content, separator), 1, None)
        columns = named([""] * len(columns))
        if CATEGORY in columns and (COUNT is None or COUNT in columns):
            return columns, records(content, separator)
    return [], []


def records(content: str, separator: str | None) -> Iterator[list[str]]:
    """The rows that are not blank; without a separator every line is one cell."""
    if separator is None and content.count('"') % 2:
        rows: Iterator[list[str]] = ([line] for line in content.split("\n"))
    else:
        single = next(mark for mark in map(chr, range(1, 32)) if mark not in content and mark not in "\n\r")
        rows = csv.reader(io.StringIO(content, newline="\n"), delimiter=separator or single)
    return (row for row in rows if any(cell.strip() for cell in row))


def named(header: list[str]) -> list[str]:
    """Names of columns: empty ones get a number, repeated ones a counter."""
    names: list[str] = []
    for number, cell in enumerate(header, 1):
        name = stem = cell.strip() or f"Column {number}"
        for repeat in itertools.count(2):
            if name not in names:
                break
            name = f"{stem} ({repeat})"
        names.append(name)
    return names


def parquet(data: bytes) -> tuple[list[str], Iterable[list[str]]]:
    """Columns and rows of a Parquet table, every value as text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    def as_text(column: Any) -> list[str]:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        cells: list[str] = pc.fill_null(column.cast(pa.large_string()), "").to_pylist()
        return cells

    columns = [CATEGORY] if COUNT is None else [CATEGORY, COUNT]
    table = pq.read_table(io.BytesIO(data), columns=columns)
    if COUNT is not None and pa.types.is_decimal(table.column(COUNT).type):
        table = table.set_column(1, COUNT, table.column(COUNT).cast(pa.float64()))  # 5.000 is five
    return columns, map(list, zip(*(as_text(table.column(name)) for name in columns), strict=True))


def decode(data: bytes) -> str:
    """Text in UTF-8, UTF-16 or Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    if b"\0" in data[:1000]:
        return data.decode("utf-16-le" if data[1:1000:2].count(0) > data[:1000:2].count(0) else "utf-16-be")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def plain(cells: list[str]) -> list[str]:
    """Counts without marks between thousands. As in the app, what commas and points are shows in the whole column."""
    cells = [cell.strip().replace("\u2212", "-") for cell in cells]
    cells = [
        re.sub(r"[ '\xa0\u2019\u202f]", "", cell) if re.fullmatch(SPACED, cell) else cell for cell in cells
    ]
    commas = [cell for cell in cells if re.fullmatch(WITH_COMMA, cell)]
    if commas and all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", cell) for cell in commas):
        return [cell.replace(",", "") for cell in cells]
    if commas:
        grouped = r"[+-]?[1-9]\d{0,2}(\.\d{3})+"
        if any(re.fullmatch(grouped + r",\d+", cell) for cell in cells):
            cells = [
                cell.replace(".", "") if re.fullmatch(grouped + r"(,\d+)?", cell) else cell for cell in cells
            ]
        return [cell.replace(",", ".") for cell in cells]
    if all(re.fullmatch(POINTS, cell) for cell in cells):
        return [cell.replace(".", "") for cell in cells]
    return cells


def whole(cell: str) -> int:
    """A count."""
    number = float(cell)
    if not number.is_integer():
        sys.exit(f"The count {cell!r} is not a whole number.")
    return int(number)


def clean(cell: str) -> str:
    """A label without blanks around it and without control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "", re.sub(r"[\t\n\v\f\r\x85]+", " ", cell)).strip()


def shorten(labels: list[str]) -> list[str]:
    """Labels of at most LONGEST characters, numbered where the cut makes two equal."""
    taken, repeats = set(labels), Counter[str]()
    for i, label in enumerate(labels):
        if len(label) > LONGEST:
            stem = label[: LONGEST - 1]
            label = stem + "…"
            while label in taken:
                repeats[stem] = max(repeats[stem], 1) + 1
                ending = f"… ({repeats[stem]})"
                label = stem[: LONGEST - len(ending)] + ending
            taken.add(label)
            labels[i] = label
    return labels


def write(file: Any, columns: dict[str, Any], chosen: Iterable[int]) -> None:
    """These rows as CSV, at full precision; no name can run as a formula in a spreadsheet."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    values = [column if isinstance(column, list) else column.tolist() for column in columns.values()]
    for i in chosen:
        label, *others = (column[i] for column in values)
        writer.writerow([cell(label), *map(repr, others)])


def cell(label: str) -> str:
    """A label with an apostrophe in front where a spreadsheet would take it for a formula."""
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", label.strip(), re.ASCII):
        return label
    return "'" + label if label.lstrip().startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20")) else label


if __name__ == "__main__":
    main()
