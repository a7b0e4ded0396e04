"""The analysis as one HTML file that opens offline, in a browser of its own or on paper."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from string import Template
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from pages._ui.your_reports import rows, words
from pages._ui.your_reports.files.facts import strict_json
from pages._ui.your_reports.results import Results
from rr_core.figures.labels import plain
from rr_core.figures.style import QUANTITIES, number, reading

MOST_ROWS, FIRST_ROWS = 2000, 50
_LONGEST_NAME = 200


def html_report(
    found: Results,
    figures: Sequence[go.Figure],
    when: str,
    *,
    estimator: str | None = None,
    simultaneous: bool = False,
) -> bytes:
    """A short report with its charts, and a table to sort and to search.

    Every word from a file is escaped. The file allows itself no network at all, and no script but its own two,
    by their digests: were a name to end up as markup in spite of that, it still could not run.

    Args:
        found: the results.
        figures: charts, each with its reading.
        when: date and time of the analysis.
        estimator: the one that is chosen; by default the one that is advised.
        simultaneous: whether the intervals are those of all categories at once.
    """
    name = estimator or words.estimator(found)
    texts, values, titles = _cells(found, name, simultaneous)
    own, plotly = part("report.js"), get_plotlyjs()
    total, held = found.used.mechanism.k, len(texts)
    page = Template(part("report.html")).substitute(
        policy=_policy(plotly, own),
        title=f"What {words.reports(found.used.n)} {'says' if found.used.n == 1 else 'say'} about {total:,} categories",
        when=_text(f"Analysed on {when}. {plain(found.used.name, _LONGEST_NAME)}."),
        style=part("report.css"),
        analysed=_text(words.analysed(found)),
        answer=_text(words.answer(found, name, simultaneous=simultaneous)),
        charts="\n".join(_chart(i, figure) for i, figure in enumerate(figures)),
        table_title="The most reported categories" if held < total else "The categories",
        table_note=_text(_table_note(found, name, held, simultaneous)),
        shown=f"{min(held, FIRST_ROWS):,} of {held:,} shown",
        head="".join(
            f'<th scope="col"><button type="button">{_text(title)}</button></th>' for title in titles
        ),
        rows="\n".join(_row(row) for row in texts[:FIRST_ROWS]),
        fit=_paragraphs(words.fit(found)),
        advice=_paragraphs(words.advice(found)),
        intervals=_paragraphs(words.intervals(found, name, simultaneous=simultaneous)),
        left_out=_list(words.left_out(found)),
        settings="\n".join(f"<dt>{_text(a)}</dt><dd>{_text(b)}</dd>" for a, b in words.settings(found)),
        data=_data(texts, values, figures),
        plotly=plotly,
        script=own,
    )
    return page.encode()


def _table_note(found: Results, name: str, held: int, simultaneous: bool) -> str:
    total = found.used.mechanism.k
    scope = "for all categories at once" if simultaneous else "for each category alone"
    ends = f"“from” and “to” end the {found.level:.0%} interval of Inv, {scope}, cut at 0 and 1. "
    rest = (
        f" Here are the {held:,} most reported of {total:,}; the CSV file holds the rest."
        if held < total
        else ""
    )
    people = f"people are shares by {QUANTITIES[name].name} times N"
    return f"Click a header to sort. {ends}Shares are in percent, {people}.{rest}"


def _cells(
    found: Results, name: str, simultaneous: bool
) -> tuple[list[list[str]], list[list[float]], list[str]]:
    """Rows as texts, the same as numbers to sort by (without the name), and the titles."""
    chosen = found.used.by_reports[:MOST_ROWS]
    columns = rows.shown(found, name, chosen, simultaneous=simultaneous)
    texts = [_column(title, values) for title, values in columns.items()]
    values = [np.asarray(column, dtype=np.float64) for column in list(columns.values())[1:]]
    return [*map(list, zip(*texts, strict=True))], np.column_stack(values).tolist(), list(columns)


def _column(title: str, values: NDArray[Any]) -> list[str]:
    if title == "Category":
        return [plain(label, _LONGEST_NAME) for label in values]
    if values.dtype.kind == "b":
        return ["yes" if value else "no" for value in values]
    if values.dtype.kind in "iu" or title == "People":
        return [f"{round(float(value)):,}".replace("-", "−") for value in values]
    if title == "p (Holm)":
        return [number(value, 4) if value > 0 else "< 10⁻³⁰⁰" for value in values.tolist()]
    return [number(float(value), 4) for value in values]


def _row(texts: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td>{_text(text)}</td>" for text in texts) + "</tr>"


def _chart(i: int, figure: go.Figure) -> str:
    said = _text(reading(figure))
    height = figure.layout.height or 430
    return (
        f'<figure><div class="chart" id="chart{i}" role="img" aria-label="{said}" style="height:{height:g}px"></div>'
        f"<figcaption>{said}</figcaption></figure>"
    )


def _data(texts: list[list[str]], values: list[list[float]], figures: Sequence[go.Figure]) -> str:
    """What the page's script reads. Without a single ``<`` nothing in it can end the element it stands in."""
    pairs = [[name, numbers] for name, numbers in zip(texts, values, strict=True)]
    drawn = [json.loads(figure.to_json(validate=False)) for figure in figures]
    return strict_json({"rows": pairs, "figures": drawn}).replace("<", "\\u003c")


def _policy(*scripts: str) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _paragraphs(sentences: Sequence[str]) -> str:
    return "\n".join(f"<p>{_text(sentence)}</p>" for sentence in sentences)


def _list(items: Sequence[str]) -> str:
    if not items:
        return "<p>Nothing.</p>"
    return "<ul>" + "\n".join(f"<li>{_text(item)}</li>" for item in items) + "</ul>"


def _text(words_: str) -> str:
    return html.escape(words_)


def part(name: str) -> str:
    """One of the files that the report is put together from."""
    return resources.files(__package__).joinpath("template", name).read_text("utf-8")
