"""The analysis as one HTML file that opens offline, in a browser of its own or on paper."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jinja2 import Template
from markupsafe import Markup
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from pages._ui import downloads
from rr_core import reference
from rr_core.figures.reports import ESTIMATES
from rr_core.figures.style import reading
from rr_core.io import report_sentences as sentences
from rr_core.io.report_files import strict_json
from rr_core.io.report_results import Results
from rr_core.plain_text import plain
from rr_core.registry import LABELS
from rr_core.rounding import counted, number, p_value
from server import middleware

MOST_ROWS, FIRST_ROWS = 2000, 50
_LONGEST_NAME = 200


def html_report(
    results: Results,
    figures: Sequence[go.Figure],
    when: str,
    estimator: str | None = None,
    simultaneous: bool = False,
    compared: sentences.Compared | None = None,
) -> bytes:
    """A short report with its charts, and a table to sort and to search.

    The template escapes every word, those from a file too. The page allows itself no network and no script but its own
    two, by their digests: were a name to end up as markup in spite of that, it still could not run.
    By default the leading ``estimator`` is displayed; ``compared`` are the category and the group of the table of groups.
    """
    name = estimator or results.analysis.leading
    texts, values, titles = _cells(results, name, simultaneous)
    own_script = part("report.js")
    n, k, held = results.used.n, results.used.k, len(texts)
    fit_title = "Does this ε fit the data?" if results.used.k_rr else "Do the reports fit what was stated?"
    page = template().render(
        policy=Markup(_policy(get_plotlyjs(), own_script)),
        title=f"What {counted(n, 'report')} {'says' if n == 1 else 'say'} about {k:,} categories",
        when=f"Analysed on {when}. {plain(results.used.name, _LONGEST_NAME)}.",
        style=Markup(part("report.css")),
        analysed=sentences.data_and_mechanism(results),
        answer=sentences.answer(results, name, simultaneous=simultaneous),
        verdict=sentences.advice(results)[0],
        caveats=sentences.luck(results, simultaneous=simultaneous),
        charts=[(reading(figure), f"{figure.layout.height or 430:g}") for figure in figures],
        table_title=f"The {_order(results)} categories" if held < k else "The categories",
        table_note=_table_note(results, name, held, simultaneous),
        shown=f"{min(held, FIRST_ROWS):,}",
        among=f"the {held:,} {_order(results)} (of {k:,})" if held < k else f"{k:,}",
        titles=titles,
        rows=texts[:FIRST_ROWS],
        sections=[
            (fit_title, sentences.fit(results), None),
            ("Groups", sentences.groups(results), _by_group(results, compared, simultaneous=simultaneous)),
            ("Which estimator to report", sentences.advice(results), None),
            (
                "How to read the intervals",
                sentences.intervals(results, name, simultaneous=simultaneous),
                None,
            ),
        ],
        words=_words(results),
        left_out=sentences.left_out(results),
        settings=sentences.settings(results),
        data=Markup(_data(texts, values, figures)),
        plotly=Markup(_compressed_plotly()),
        script=Markup(own_script),
    )
    return page.encode()


def _words(results: Results) -> list[tuple[str, str]]:
    """What the estimates are, and a p-value, for a reader who does not have the page."""
    meanings = {term.title.replace("\\", ""): term.text for term in reference.entries("glossary", "term")}
    labels = [*(LABELS[name] for name in results.analysis.estimates), "p-value"]
    return [(label, meanings["Maximum likelihood" if label == "MLE" else label]) for label in labels]


@cache
def _compressed_plotly() -> str:
    """Plotly's script by gzip and base64: 2 MB in place of 5."""
    return base64.b64encode(middleware.plotly_compressed()).decode()


@cache
def template() -> Template:
    """The page; its scripts and its style are this project's own."""
    return downloads.template(part("report.html"))


def _order(results: Results) -> str:
    """Which categories come first."""
    return "most reported" if results.used.by_reports else "most frequent"


def _table_note(results: Results, name: str, held: int, simultaneous: bool) -> str:
    k = results.used.k
    scope = "for all categories at once" if simultaneous else "for each category alone"
    ends = ""
    if results.analysis.interval is not None:
        ends = (
            f"“from” and “to” end the {results.level:.0%} interval of Inv, {scope}, cut at 0 and 1 unless it lies wholly "
            "outside. "
        )
    rest = (
        f" Here are the {held:,} {_order(results)} of {k:,}; the CSV file holds the rest." if held < k else ""
    )
    people, of = "", "N"
    if results.used.weights and results.people is not None:
        of = f"the sum of the weights, {number(results.people, 12)}"
    if results.people is not None:
        people = f", people are shares by {ESTIMATES[name].name} times {of}"
    return f"Click a header to sort. {ends}Shares are in percent{people}.{rest}"


def _cells(
    results: Results, name: str, simultaneous: bool
) -> tuple[list[list[str]], list[list[float]], list[str]]:
    """Rows as texts, the same as numbers to sort by (without the name), and the titles."""
    chosen = results.order[:MOST_ROWS]
    columns = sentences.table_columns(results, name, chosen, simultaneous=simultaneous)
    texts = [_column(title, values) for title, values in columns.items()]
    values = [np.asarray(column, dtype=np.float64) for column in list(columns.values())[1:]]
    return [*map(list, zip(*texts, strict=True))], np.column_stack(values).tolist(), list(columns)


def _by_group(
    results: Results, compared: sentences.Compared | None, *, simultaneous: bool
) -> dict[str, Any] | None:
    """What is said of the table of groups, its titles and its rows as texts; None where there is none."""
    if results.survey is None or compared is None:
        return None
    columns = sentences.group_columns(results.survey, *compared, simultaneous=simultaneous)
    rows = zip(*(_column(title, values) for title, values in columns.items()), strict=True)
    return {
        "note": sentences.compared_groups(results.survey, compared, simultaneous=simultaneous),
        "titles": list(columns),
        "rows": [*rows],
    }


def _column(title: str, values: NDArray[Any]) -> list[str]:
    """The cells of one column as texts."""
    if title in ("Category", "Group"):
        return [plain(label, _LONGEST_NAME) for label in values]
    if values.dtype.kind == "b":
        return ["yes" if value else "no" for value in values]
    if values.dtype.kind in "iu" or title == "People":
        return [f"{round(float(value)):,}".replace("-", "−") for value in values]
    if title == sentences.P_VALUE:
        return ["" if np.isnan(value) else p_value(value) for value in values.tolist()]
    return ["" if np.isnan(value) else number(float(value), 4) for value in values]


def _data(texts: list[list[str]], values: list[list[float]], figures: Sequence[go.Figure]) -> str:
    """Texts, numbers and figures as JSON for the page's script; without ``<``, so that it cannot close its element."""
    pairs = [[name, numbers] for name, numbers in zip(texts, values, strict=True)]
    drawn = [json.loads(figure.to_json(validate=False)) for figure in figures]
    return strict_json({"rows": pairs, "figures": drawn}).replace("<", "\\u003c")


def _policy(*scripts: str) -> str:
    """The content security policy that allows these scripts, by their digests, and loads nothing."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def part(name: str) -> str:
    """One of the files that the report is put together from."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")
