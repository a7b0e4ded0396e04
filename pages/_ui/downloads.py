"""The download row: data as CSV, the chart as interactive HTML, and a script that recomputes the page."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import partial

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from pages._ui import state, truth
from pages._ui.state import Origin
from pages._ui.work import Work
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
    """Draw the three download buttons: data, chart and script. Each file is made when its button is pressed,
    without a rerun. While the truth is hidden, a button that reveals it stands in the place of data that contain it.

    Args:
        work: the draw on screen and what is computed from it.
        chart: its main figure.
        name: file name without its extension.
        data: returns the bytes of a CSV without the truth; by default `data_csv` of ``work``.
        more: Python code appended to the script, which defines ``draw`` and ``result``.
        alone: whether only the appended code prints; the script then defines ``draw`` but not ``result``.
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
    with st.grid(3):
        for label, make, ending, mime in files:
            if data is None and ending == "csv" and truth.hidden():
                truth.reveal_first_button(f"{name}_reveal")
                continue
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
    """The chart as a standalone HTML page that works offline, with hover and zoom."""
    light = go.Figure(chart).update_layout(template="plotly_white", title=None)
    page: str = light.to_html(include_plotlyjs=True, full_html=True, default_height="80vh")
    return page.encode()


def template(text: str, **filters: Callable[[str], Markup]) -> Template:
    """A page to download. What is filled in is escaped, unless it is this project's own `Markup`."""
    environment = Environment(
        autoescape=True,
        finalize=_escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return environment.from_string(text)


def _escaped(value: object) -> Markup:
    """The value as markup, escaped as by `html.escape`, so that files keep the bytes of earlier versions."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def script_text(scenario: Scenario, origin: Origin | None = None) -> str:
    """Python that recomputes this page's numbers with ``rr_core`` alone; for an upload it reads the uploaded
    file."""
    settings = (
        f"dist={scenario.dist!r}, k={scenario.k}, s={scenario.s!r}, epsilon={scenario.epsilon!r}, "
        f"n={scenario.n}, seed={scenario.seed}"
    )
    return _SCRIPT.format(
        settings=settings, draw=_reader(origin or Origin()) if scenario.dist == UPLOAD else _BUILT_IN
    )


def joined(script: str, more: str, alone: bool) -> str:
    """The script with ``more`` appended; with ``alone``, everything after the definition of ``draw`` is
    replaced by ``more``."""
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
    settings = (
        f"FILE = {of.file!r}  # it stayed with you: put it beside this script",
        f"CATEGORY: str = {of.category!r}",
        f"COUNT: str | None = {of.count!r}  # None: one person per row",
        f"HEADER: bool | None = {of.has_header}  # None: found out",
        f"ORDER = {of.order!r}",
        f"LEAVE_OUT: tuple[str, ...] = {of.leave_out!r}  # no categories: a total",
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
        leave_out=LEAVE_OUT,
    )
except UnreadableFile as error:
    sys.exit(f"{{FILE}}: {{error}}")
if SHA256 and read.sha256 != SHA256:
    print("The bytes of", FILE, "are not those that the app saw: compare the numbers.", file=sys.stderr)
draw = scenario.draw(Population.from_weights(read.weights, list(read.labels)))"""
