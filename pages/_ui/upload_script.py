"""The part of a downloaded script that reads a person's own distribution again, by its name and columns."""

from __future__ import annotations

from pages._ui.state import Origin
from rr_core.io import Distribution


def origin(read: Distribution, file: str, order: str) -> Origin:
    """The origin of a distribution that was read from a file."""
    return Origin(file, read.category_name, read.count_name, read.has_header, order, read.sha256)


def reader(of: Origin) -> str:
    """Python that makes ``draw`` from the person's file; names enter it as literals only."""
    settings = (
        f"FILE = {of.file!r}  # it stayed with you: put it beside this script",
        f"CATEGORY: str = {of.category!r}",
        f"COUNT: str | None = {of.count!r}  # None: one person per row",
        f"HEADER: bool | None = {of.has_header}  # None: found out",
        f"ORDER = {of.order!r}",
        f"SHA256 = {of.sha256!r}",
    )
    return _READER.format(settings="\n".join(settings))


_READER = """
import sys
from pathlib import Path

from rr_core import Population
from rr_core.io import UnreadableFile, read_distribution  # needs pyarrow

{settings}

try:
    read = read_distribution(
        Path(FILE).read_bytes(),
        FILE,
        layout="values" if COUNT is None else "counts",
        category=CATEGORY,
        count=COUNT,
        has_header=HEADER,
        order=ORDER,
    )
except UnreadableFile as error:
    sys.exit(f"{{FILE}}: {{error}}")
if SHA256 and read.sha256 != SHA256:
    print("The bytes of", FILE, "are not those that the app saw: compare the numbers.", file=sys.stderr)
draw = scenario.draw(Population.from_weights(read.weights, list(read.labels)))"""
