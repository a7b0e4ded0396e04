"""The download row: data as CSV, the chart as interactive HTML, and a script that recomputes the page."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from pyarrow import csv as arrow_csv

from pages._ui.safe_text import csv_cell
from pages._ui.work import Work
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario

COLUMNS = ("category", "true", "observed", "inv", "inv_n", "inv_p", "mle_star")


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
    files: tuple[tuple[str, Callable[[], bytes | str], str, str], ...] = (
        ("Download data (CSV)", data or partial(data_csv, work), "csv", "text/csv"),
        ("Download chart (HTML)", lambda: chart_html(chart), "html", "text/html"),
        (
            "Download script (Python)",
            lambda: joined(script_text(work.scenario), more, alone),
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
    names = pa.array(range(1, work.scenario.k + 1)) if labels is None else pa.array(map(csv_cell, labels))
    columns = [names, draw.true_counts, draw.counts, *(estimates[name] for name in COLUMNS[3:])]
    return csv_bytes(dict(zip(COLUMNS, map(pa.array, columns), strict=True)))


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """A CSV file of named columns, numbers at full precision."""
    table = pa.table(dict(columns))
    out = io.BytesIO()
    arrow_csv.write_csv(table, out, arrow_csv.WriteOptions(quoting_style="needed", quoting_header="needed"))
    return out.getvalue()


def chart_html(chart: go.Figure) -> bytes:
    """A page of its own that opens offline, with everything a person can hover and zoom."""
    light = go.Figure(chart).update_layout(template="plotly_white", title=None)
    page: str = light.to_html(include_plotlyjs=True, full_html=True, default_height="80vh")
    return page.encode()


def script_text(scenario: Scenario) -> str:
    """Python that prints this page's numbers with ``rr_core`` alone."""
    settings = (
        f"dist={scenario.dist!r}, k={scenario.k}, s={scenario.s!r}, epsilon={scenario.epsilon!r}, "
        f"n={scenario.n}, seed={scenario.seed}"
    )
    return _SCRIPT.format(settings=settings, draw=_UPLOADED if scenario.dist == UPLOAD else _BUILT_IN)


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
print("category,true,observed,inv,inv_n,inv_p,mle_star")
labels = draw.population.labels or range(1, scenario.k + 1)
for i, label in enumerate(labels):
    estimates = [float(result.estimates[name][i]) for name in ("inv", "inv_n", "inv_p", "mle_star")]
    print(label, int(draw.true_counts[i]), int(draw.counts[i]), *estimates, sep=",")
    if i == 19:
        print("... the first 20 of", scenario.k)
        break
'''
_BUILT_IN = "draw = scenario.draw()"
_UPLOADED = """
# The file stayed with you: a table with the columns category,count in the order used in the app. The
# data CSV downloaded from the app also works: set COUNT = "true".
import csv

from rr_core import Population

FILE, CATEGORY, COUNT = "distribution.csv", "category", "count"
with open(FILE, newline="", encoding="utf-8-sig") as file:
    rows = list(csv.DictReader(file))
numbers = [float(row[COUNT]) for row in rows]
weights = [int(number) for number in numbers] if all(n.is_integer() for n in numbers) else numbers
draw = scenario.draw(Population.from_weights(weights, [row[CATEGORY] for row in rows]))"""
