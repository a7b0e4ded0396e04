"""The download row: data as CSV, the chart as interactive HTML, and a script that recomputes the page."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from pages._ui import link, session_files, truth
from pages._ui.draw_results import DrawResults
from rr_core.comparison import estimates_table
from rr_core.io.text import csv_bytes
from rr_core.plain_text import csv_columns
from rr_core.populations import UPLOAD
from rr_core.script import script
from server import sessions


def row(
    results: DrawResults,
    chart: go.Figure,
    name: str,
    data: Callable[[], bytes] | None = None,
    **settings: Any,
) -> None:
    """Draw the three download buttons: data, chart and script, each made when its button is pressed. ``data`` makes a
    CSV without the truth; by default it is `data_csv`, in whose place a button stands that reveals the truth while it
    is hidden. ``settings`` are what `rr_core.recompute` needs beside the link."""
    held, uploaded = session_files.uploaded(), []
    if held is not None and results.draw.scenario.dist == UPLOAD:
        uploaded, settings = [held.file_name], {"upload": held.reading, **settings}
    address = link.relative()
    with st.grid(3):
        if data is None and truth.hidden():
            truth.reveal_first_button(f"{name}_reveal")
        else:
            button("Download data (CSV)", data or partial(data_csv, results), f"{name}.csv", f"{name}_csv")
        button("Download chart (HTML)", lambda: chart_html(chart), f"{name}.html", f"{name}_html")
        button(
            "Download script (Python)",
            lambda: script(address, uploaded, **settings),
            f"{name}.py",
            f"{name}_py",
        )


def button(
    label: str,
    file: Callable[[], bytes | str],
    name: str,
    key: str | None = None,
    *,
    width: Any = "stretch",
    **how: Any,
) -> None:
    """A button for a file, made when it is pressed, without a rerun: the browser would look up one that is there before
    as soon as the button is drawn, in vain if the next run has no such button and ended first."""
    mime = mimetypes.guess_type(name)[0] or "application/octet-stream"

    def make() -> bytes:
        made = file()
        made = made.encode() if isinstance(made, str) else made
        sessions.keep_until_fetched(made, mime, name)
        return made

    st.download_button(label, make, name, mime, on_click="ignore", key=key, width=width, **how)


def data_csv(results: DrawResults) -> bytes:
    """One row per category at full precision; names cannot run as spreadsheet formulas."""
    draw, estimates = results.draw, results.comparison().estimates
    return csv_bytes(csv_columns(estimates_table(draw, estimates)))


def chart_html(chart: go.Figure) -> bytes:
    """The chart as a standalone HTML page that works offline, with hover and zoom."""
    light = go.Figure(chart).update_layout(template="plotly_white", title=None)
    page: str = light.to_html(include_plotlyjs=True, full_html=True, default_height="80vh")
    return page.encode()


class Section(NamedTuple):
    """A section of a printed page: a plain heading, markdown with bold words only, and a table of plain text."""

    heading: str
    text: str
    heads: Sequence[str] = ()
    rows: Iterable[Sequence[str]] = ()


def printed(
    title: str,
    heading: str,
    answer: str,
    meaning: str,
    sections: Sequence[Section],
    footer: str,
    settings: Iterable[Sequence[str]] = (),
) -> str:
    """A page to keep or to print, as one HTML file that loads nothing. ``answer`` (larger) and ``meaning`` are markdown
    with bold words only; all else is plain text, ``settings`` the rows of a table above the sections."""
    page = template(Path(__file__).with_name("printed.html").read_text("utf-8"), bold=_bold)
    return page.render(
        title=title,
        heading=heading,
        answer=answer,
        meaning=meaning,
        settings=settings,
        sections=sections,
        footer=footer,
    )


def _bold(markdown: str) -> Markup:
    """Markdown with bold words only, as HTML."""
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(markdown.replace("\\*", "*")))))


def template(text: str, **filters: Callable[[str], Markup]) -> Template:
    """A page to download. What is filled in is escaped, unless it is this project's own `Markup`."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return environment.from_string(text)
