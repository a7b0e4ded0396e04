"""The numbers of a page, printed and saved."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from rr_core.plain_text import csv_columns

TOP = 20  # rows printed


@dataclass(frozen=True, eq=False)
class Recomputed:
    """The numbers of a page.

    Attributes:
        numbers: by what they are.
        table: columns of equal length by name, as in the page's file of data.
        first: rows to print; None for the first TOP.
        groups: the table of all groups, as in the page's file of groups; None where there are none.
    """

    numbers: Mapping[str, Any]
    table: Mapping[str, Any]
    first: Sequence[int] | None = None
    groups: Mapping[str, Any] | None = None

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.table.values())))

    def __str__(self) -> str:
        """The numbers, one per line, and some rows of the table as CSV; several numbers of one thing below its name."""
        out = io.StringIO()
        first = range(min(TOP, self.n_rows)) if self.first is None else self.first
        self._write(out, first)
        numbers = "".join(f"{line}\n" for name, value in self.numbers.items() for line in _lines(name, value))
        return f"{numbers}{out.getvalue()}({len(first)} of {self.n_rows} rows)"

    def save(self, path: str | Path) -> None:
        """Write the whole table as CSV, at full precision; no name can run as a formula in a spreadsheet.

        The table of groups becomes a second file: beside "a.csv" it is "a_groups.csv".
        """
        path = Path(path)
        if self.groups is not None:
            Recomputed({}, self.groups).save(path.with_stem(f"{path.stem}_groups"))
        try:
            from rr_core.io.text import csv_bytes  # the page's own, to the byte
        except ImportError:  # without pyarrow
            # Excel knows UTF-8 by its mark, and needs it only where there is more than ASCII.
            ascii_only = all(map(str.isascii, map(str, self.table.get("category", ()))))
            with open(path, "w", newline="", encoding="utf-8" if ascii_only else "utf-8-sig") as file:
                self.write(file)
        else:
            path.write_bytes(csv_bytes(csv_columns(self.table)))

    def write(self, out: TextIO) -> None:
        """Write the whole table as CSV to a file that is open."""
        self._write(out, range(self.n_rows))

    def _write(self, out: TextIO, rows: Iterable[int]) -> None:
        columns = csv_columns({name: plain(column) for name, column in self.table.items()})
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([column[i] for column in columns.values()] for i in rows)


def _lines(name: str, value: Any) -> list[str]:
    """A number with its name; of a mapping its names and numbers, indented and in two columns."""
    if not isinstance(value, Mapping):
        return [f"{name} = {plain(value)}"]
    parts = dict(_flat(value))
    width = max(map(len, parts), default=0)
    return [f"{name}:", *(f"    {part:<{width}}  {number}" for part, number in parts.items())]


def _flat(parts: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in parts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{under}{name}, ")
        else:
            yield f"{under}{name}", plain(value)


def same_file(name: str, sha256: str, of_app: str) -> dict[str, str]:
    """Whether the bytes are those that the app saw; nothing where ``of_app`` is "", for nobody knows."""
    told = "as the app saw" if sha256 == of_app else "NOT the bytes that the app saw: compare the numbers."
    return {name: told} if of_app else {}


def plain(value: Any) -> Any:
    """The same as Python's own numbers, whose text has every digit."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return value
