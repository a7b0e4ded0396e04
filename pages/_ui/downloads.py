"""The download row: data as CSV, the chart as interactive HTML, and a script that recomputes the page."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from pages._ui import state
from pages._ui.state import Origin
from pages._ui.work import Work
from rr_core.io import recompute
from rr_core.io.csv_files import csv_bytes, csv_cell, untouched
from rr_core.populations import UPLOAD
from rr_core.registry import ESTIMATORS
from rr_core.scenario import Scenario

COLUMNS = ("category", "true", "observed", *ESTIMATORS)


def row(
    work: Work,
    chart: go.Figure,
    name: str,
    data: Callable[[], bytes] | None = None,
    more: str = "",
    alone: bool = False,
) -> None:
    """Three buttons; each file is made when its button is pressed, without a rerun.

    Args:
        work: what the page is about.
        chart: its main figure.
        name: of the files, without ending.
        data: makes the CSV; the estimates by category when None.
        more: lines at the end of the script, which has ``draw`` and ``result``.
        alone: whether these lines are all that it prints; it has ``draw`` then, and no ``result``.
    """
    held = state.uploaded()
    origin = None if held is None else held.origin
    files: tuple[tuple[str, Callable[[], bytes | str], str, str], ...] = (
        ("Download data (CSV)", data or partial(data_csv, work), "csv", "text/csv"),
        ("Download chart (HTML)", lambda: chart_html(chart), "html", "text/html"),
        (
            "Download script (Python)",
            lambda: joined(script_text(work.draw.scenario, origin), more, alone),
            "py",
            "text/x-python",
        ),
    )
    with st.container(horizontal=True):
        for label, make, ending, mime in files:
            st.download_button(
                label,
                make,
                f"{name}.{ending}",
                mime,
                on_click="ignore",
                key=f"{name}_{ending}",
                width="stretch",
            )


def data_csv(work: Work) -> bytes:
    """One row per category at full precision; names cannot run as spreadsheet formulas."""
    draw, estimates = work.draw, work.comparison().estimates
    labels = draw.population.labels
    names = [] if labels is None else [csv_cell(label) for label in labels]
    categories = names or range(1, work.draw.scenario.k + 1)
    columns = [categories, draw.true_counts, draw.counts, *(estimates[name] for name in COLUMNS[3:])]
    named = dict(zip(COLUMNS, map(pa.array, columns), strict=True))
    return csv_bytes(named | ({} if labels is None else untouched(labels, names)))


def chart_html(chart: go.Figure) -> bytes:
    """A page of its own that opens offline, with everything a person can hover and zoom."""
    light = go.Figure(chart).update_layout(template="plotly_white", title=None)
    page: str = light.to_html(include_plotlyjs=True, full_html=True, default_height="80vh")
    return page.encode()


def script_text(scenario: Scenario, origin: Origin | None = None) -> str:
    """Python that prints this page's numbers with ``rr_core`` alone; of an upload, from the file that it came from."""
    settings = (
        f"dist={scenario.dist!r}, k={scenario.k}, s={scenario.s!r}, epsilon={scenario.epsilon!r}, "
        f"n={scenario.n}, seed={scenario.seed}"
    )
    return _SCRIPT.format(
        settings=settings, draw=_reader(origin or Origin()) if scenario.dist == UPLOAD else _BUILT_IN
    )


def joined(script: str, more: str, alone: bool) -> str:
    """The script with more lines at its end, or (``alone``) from where it has ``draw``."""
    return (script.partition(_FROM_HERE)[0] + "\n" if alone else script) + more


_FROM_HERE = "result = compare("
_SCRIPT = '''"""Recomputes the numbers of one scenario. Run it from the folder that holds rr_core."""

from rr_core import Scenario
from rr_core.comparison import compare
from rr_core.law import negative_chance, negatives

scenario = Scenario({settings})
{draw}
result = compare(draw, "users")  # or "population"

print(f"p = {{draw.mechanism.p:.10g}}, q = {{draw.mechanism.q:.10g}}")
found = negatives(result.estimates["inv"], draw.true_counts, draw.mechanism)
print(f"Inv: {{found.count}} negatives, sum {{found.total:.10g}}")
print(f"chance that an empty category goes negative: {{float(negative_chance(scenario.n, draw.mechanism)):.10g}}")
for metric, errors in result.errors.items():
    print(metric, {{name: float(f"{{value:.10g}}") for name, value in errors.items()}})
print("certificate of MLE*:", result.certificate)
print("category", "true", "observed", *result.estimates, sep=",")
labels = draw.population.labels or range(1, scenario.k + 1)
for i, label in enumerate(labels):
    estimates = [float(estimate[i]) for estimate in result.estimates.values()]
    print(label, int(draw.true_counts[i]), int(draw.counts[i]), *estimates, sep=",")
    if i == 19:
        print("... the first 20 of", scenario.k)
        break
'''
_BUILT_IN = "draw = scenario.draw()"


def _reader(of: Origin) -> str:
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
