"""The part of a downloaded script that reads a person's own distribution again, by its name and columns."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Sequence

from pages._ui.state import Origin
from rr_core.io import Distribution, recompute


def origin(read: Distribution, file: str, order: str) -> Origin:
    """The origin of a distribution that was read from a file."""
    return Origin(file, read.category_name, read.count_name, read.kind == "shares", order, read.sha256)


def reader(of: Origin) -> str:
    """Python that makes ``draw`` from the person's file; names enter it as literals only."""
    parts = (
        recompute.text,
        recompute.records,
        recompute.named,
        recompute.parquet,
        recompute.decode,
        recompute.clean,
        numbers,
        ordered,
    )
    settings = (
        f"FILE = {of.file!r}  # it stayed with you: put it beside this script",
        f"CATEGORY: str = {of.category!r}",
        f"COUNT: str | None = {of.count!r}  # None: one person per row",
        f"SHARES = {of.shares}  # whether the numbers are shares even if all are whole",
        f"ORDER = {of.order!r}",
        f"SHA256 = {of.sha256!r}",
    )
    return _READER.format(
        settings="\n".join(settings), functions="\n\n".join(inspect.getsource(part) for part in parts)
    )


def numbers(cells: Sequence[str], shares: bool) -> list[float]:
    """Numbers as people write them: 1234, 1 234, 1,234, 1.234 (if all are so written), 0,25 and 25%."""
    plain = [re.sub(r"[ '\xa0\u2019\u202f]", "", cell.strip()).replace("\u2212", "-") for cell in cells]
    percent = any(cell.endswith("%") for cell in plain)
    plain = [cell.rstrip("%") for cell in plain]
    commas = [cell for cell in plain if "," in cell]
    groups = r"[+-]?[1-9]\d{0,2}(\.\d{3})+"
    if commas and all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", cell) for cell in commas):
        plain = [cell.replace(",", "") for cell in plain]
    elif commas:
        if any(re.fullmatch(groups + r",\d+", cell) for cell in plain):
            plain = [re.sub(r"\.", "", cell) if re.match(groups + "(,|$)", cell) else cell for cell in plain]
        plain = [cell.replace(",", ".") for cell in plain]
    elif not (shares or percent) and all(re.fullmatch(groups + r"|[+-]?\d{1,3}", cell) for cell in plain):
        plain = [cell.replace(".", "") for cell in plain]
    return list(map(float, plain))


def ordered(weights: dict[str, float], order: str) -> list[str]:
    """Names as in the file, by weight, or by name as a person files them."""
    names = list(weights)
    if order == "count":
        return sorted(names, key=lambda name: -weights[name])
    if order == "file":
        return names
    if all(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", name, re.ASCII) for name in names):
        return sorted(names, key=float)

    def key(name: str) -> str:
        bare = (mark for mark in unicodedata.normalize("NFKD", name) if unicodedata.category(mark) != "Mn")
        padded = re.sub(r"([0-9]+)", r"000000000000\1", "".join(bare).lower())
        return re.sub(r"0{0,12}([0-9]{12,})", r"\1", padded)

    return sorted(names, key=key)


_READER = """
import csv
import gzip
import hashlib
import io
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rr_core import Population

{settings}


{functions}

data = Path(FILE).read_bytes()
if SHA256 and hashlib.sha256(data).hexdigest() != SHA256:
    print("The bytes of", FILE, "are not those that the app saw: compare the numbers.", file=sys.stderr)
data = gzip.decompress(data) if data.startswith(b"\\x1f\\x8b") else data
columns, rows = parquet(data) if data.startswith(b"PAR1") else text(data)
if not {{CATEGORY, COUNT}} <= {{*columns, None}}:
    sys.exit(f"{{FILE}} has no columns {{CATEGORY!r}} and {{COUNT!r}}, but {{columns}}.")
pairs = [(clean(row[columns.index(CATEGORY)]), "1" if COUNT is None else row[columns.index(COUNT)]) for row in rows]
pairs = [(name, cell) for name, cell in pairs if name]
weights: dict[str, float] = {{}}
for (name, _), number in zip(pairs, numbers([cell for _, cell in pairs], SHARES)):
    weights[name] = weights.get(name, 0.0) + number
names = ordered(weights, ORDER)
values = np.array([weights[name] for name in names])
if SHARES or np.any(values % 1):
    values = values / values.max() / (values / values.max()).sum()
else:
    values = values.astype(np.int64)
draw = scenario.draw(Population.from_weights(values, names))"""
