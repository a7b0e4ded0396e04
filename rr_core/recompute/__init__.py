"""What a page of the app shows, computed again from the page's link: what a downloaded script calls.

pages     the pages about a scenario
reports   the page about collected reports
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import parse_qsl, urlsplit

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
        """The numbers, one per line, and some rows of the table as CSV."""
        out = io.StringIO()
        first = range(min(TOP, self.n_rows)) if self.first is None else self.first
        self._write(out, first)
        numbers = "".join(f"{name} = {plain(value)}\n" for name, value in self.numbers.items())
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


def recompute(link: str, files: Sequence[str | Path] = (), **settings: Any) -> Recomputed:
    """The numbers of the page at this link.

    Args:
        link: address of a page with its parameters, from "/" on, or the whole address.
        files: paths of the person's own files: the distribution of "dist=upload", or the collected reports. Reading
            them needs pyarrow.
        settings: what is chosen on the page and not in its link: keyword arguments of the page's function in `pages` or
            `reports`; and "upload", how the distribution is read (arguments of `rr_core.io.read_distribution`).

    Raises:
        OSError: a file that is not there.
        ValueError: in one plain sentence: a link that has no numbers or a value that cannot be, or an unreadable file.

    >>> print(recompute("/estimators?dist=zipf&k=3&s=1&eps=2&n=1000&seed=5").table["mle_star"].round(3))
    [0.547 0.286 0.167]
    """
    address = urlsplit(link)
    page, query = address.path.strip("/").rpartition("/")[2], dict(parse_qsl(address.query))
    # Imported here: `import rr_core` need not load what all pages compute.
    if page == "your_reports":
        from rr_core.recompute.reports import of_reports

        return of_reports(query, files, **settings)
    from rr_core.recompute.pages import of_page

    return of_page(page, query, files, **settings)
