"""Uploading a distribution: choose a file, see what was understood, use it or not.

Until "Use this distribution" is pressed, the previous population stays. A file is read into counts once and
kept in this session only.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from pages._ui import link, session_files
from pages._ui.downloads import button
from rr_core import limits
from rr_core.io import (
    Distribution,
    Preview,
    UnreadableFile,
    inspect,
    read_distribution,
    rows_left_out,
    without,
)
from rr_core.plain_text import markdown, plain
from rr_core.populations import UPLOAD, Population
from rr_core.rounding import counted, number
from server import sessions
from server.middleware import TEMPORARY

EXAMPLE = "category,count\nbicycle,412\nbus,655\ncar,1730\non foot,238\ntrain,391\n"
_LAYOUTS = {"counts": "a count per category", "values": "one person per row"}
_COMPRESSED = {None: "", "gzip": ", gzipped", "zip": ", zipped"}
_ORDERS = {"file": "as in the file", "count": "largest first", "name": "by name"}


def panel() -> None:
    """The upload panel when it is open, else one line about the file in use."""
    held = session_files.uploaded()
    if held is not None and not session_files.upload_open():
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.caption(
            f"Your file **{markdown(held.file_name)}**: {markdown(held.understood)}. It stays in this session."
        )
        right.button("Another file", on_click=session_files.open_upload, width="stretch")
        return
    with st.container(border=True):
        _choose()


def _choose() -> None:
    st.subheader("Upload a distribution")
    st.markdown(
        "A table with a **category** and a **count** (or share) per row, or **one person per row**. CSV, TSV, "
        "TXT, Excel, OpenDocument, SPSS, Stata, SAS or Parquet, also in GZIP or ZIP; up to 1.5 million categories. "
        "The file is read for this session only: it is not kept, not logged and not shown to anybody else."
    )
    st.file_uploader("Distribution file", key="upload_file", help=TEMPORARY)
    files = session_files.chosen_files("upload_file")
    if not files:
        session_files.say_if_let_go()
        left, right, _ = st.columns([2, 1, 3])
        with left:
            button("Download an example file", lambda: EXAMPLE, "example.csv")
        right.button("Cancel", on_click=session_files.close_upload, width="stretch")
        return
    try:
        _confirm(files[0])
    except (UnreadableFile, sessions.NoRoom) as error:
        st.error(markdown(f"{error} What was shown before stays in use."), icon=":material/error:")
        st.button("Cancel", on_click=session_files.close_upload)


def _confirm(file: session_files.File) -> None:
    options, preview = _options(file)
    about = (file.file_id, *options.values())
    with st.spinner("Reading the file…"):
        read = session_files.read_once(
            "reading",
            about,
            [file],
            lambda: partial(read_distribution, file.bytes(), file.name, **options),
        )
    if read.sum_of_others is not None:
        leave_out = st.toggle(
            markdown(f"Leave out “{plain(read.sum_of_others)}”: its number is the sum of all others"),
            read.is_total,
            key=f"upload_total_{file.file_id}",
        )
        read = without(read, [read.sum_of_others] if leave_out else [])
    _understood(preview, read)
    left, right, _ = st.columns([2, 1, 3])
    left.button(
        "Use this distribution",
        type="primary",
        on_click=_use,
        args=(file.name, options["order"], read.left_out, options["sheet"]),
        width="stretch",
    )
    right.button("Cancel", on_click=session_files.close_upload, width="stretch")


def _preview(file: session_files.File, has_header: bool | None, sheet: str | None = None) -> Preview:
    return session_files.read_once(
        f"look_{has_header}",
        (file.file_id, sheet),
        [file],
        lambda: partial(inspect, file.bytes(), file.name, has_header=has_header, sheet=sheet),
    )


def _options(file: session_files.File) -> tuple[dict[str, Any], Preview]:
    """Widgets for how to read the file, at first as `inspect` suggests; `read_distribution`'s options, the preview."""
    preview = _preview(file, None)
    sheet = sheet_of(preview, f"upload_sheet_{file.file_id}")
    if sheet is not None:
        preview = _preview(file, None, sheet)
    has_header: bool | None = None
    if preview.has_header is not None:
        has_header = st.toggle("First row is a header", preview.has_header, key=f"upload_header_{sheet}")
        if has_header == preview.has_header:
            has_header = None  # the reader assumes it, and says so
        else:
            preview = _preview(file, has_header, sheet)
    columns = st.columns(4)
    positions = list(range(len(preview.columns)))
    layouts = list(_LAYOUTS)
    layout = columns[0].selectbox(
        "The file has",
        layouts,
        index=layouts.index(preview.layout),
        format_func=_LAYOUTS.__getitem__,
    )

    def column(place: Any, label: str, suggested: int) -> int:
        chosen: int = place.selectbox(
            label, positions, index=suggested, format_func=lambda i: column_name(preview, i)
        )
        return chosen

    options: dict[str, Any] = {"layout": layout, "has_header": has_header, "sheet": sheet}
    options["category"] = column(columns[1], "Category column", preview.category)
    if layout == "counts":
        suggested = preview.count if preview.count is not None else positions[-1]
        options["count"] = column(columns[2], "Count column", suggested)
    options["order"] = columns[3].selectbox(
        "Order of categories", list(_ORDERS), format_func=_ORDERS.__getitem__
    )
    return options, preview


def sheet_of(preview: Preview, key: str, before: str | None = None) -> str | None:
    """Widget for the sheet of a workbook that has several; None for the one that is read unasked."""
    if len(preview.sheets) < 2:
        return None
    chosen: str = st.selectbox(
        "Sheet",
        preview.sheets,
        preview.sheets.index(before) if before in preview.sheets else 0,
        format_func=lambda name: plain(name, 40),
        key=key,
        width=230,
    )
    return None if chosen == preview.sheets[0] else chosen


def column_name(preview: Preview, position: int) -> str:
    """Display name of a column: its header, or its number from 1."""
    return preview.columns[position] or f"column {position + 1}"


def _understood(preview: Preview, read: Distribution) -> None:
    people = f"{number(read.total, 6)} in all" if read.kind == "shares" else _people(read.total)
    st.success(markdown(f"Understood: {counted(read.rows, 'row')}, {read.k:,} categories, {people}."))
    remarks = [f"{form(preview)}.", *rows_left_out(read.dropped, read.merged)]
    remarks += [f"Left out: “{plain(name)}”, the sum of all others." for name in read.left_out]
    if read.kind != "shares" and read.total > limits.N_MAX and not session_files.keeps_users():
        remarks.append(f"N is limited to {limits.N_MAX:,}: that many users will be drawn from the shares.")
    st.markdown("\n".join(f"- {markdown(remark)}" for remark in (*remarks, *read.notes)))
    pairs = zip(read.labels[:5], read.weights[:5], strict=True)
    st.text(
        "First categories:  "
        + "  ·  ".join(
            f"{plain(label)}: {number(weight, 6) if read.kind == 'shares' else f'{weight:,}'}"
            for label, weight in pairs
        )
    )


def _people(amount: float) -> str:
    return f"{amount:,} {'person' if amount == 1 else 'people'}"


def form(preview: Preview) -> str:
    """Encoding, separator, header and compression, in words."""
    separators = {",": "comma", ";": "semicolon", "\t": "tab", " ": "blank"}
    if preview.format == "parquet":
        return preview.program or "Parquet table"
    parts = [preview.program or f"Text in {preview.encoding}"]
    if preview.separator is not None and not preview.program:
        parts.append(f"separated by {separators.get(preview.separator, preview.separator)}")
    parts.append("with a header" if preview.has_header else "without a header")
    return ", ".join(parts) + _COMPRESSED[preview.compression]


def _use(name: str, order: str, leave_out: tuple[str, ...], sheet: str | None) -> None:
    latest = session_files.latest("reading")
    if latest is None:  # let go of since the page was drawn: it is read again
        return
    read: Distribution = without(latest[0], leave_out)
    labels = [str(label) for label in read.labels]
    population = Population.from_weights(read.weights, labels, source=name)
    people = "shares only" if population.total is None else _people(population.total)
    changes: dict[str, Any] = {"dist": UPLOAD, "k": population.k}
    if population.total is not None and not session_files.keeps_users():
        changes["n"] = min(population.total, limits.N_MAX)
    understood = f"{population.k:,} categories, {people}"
    session_files.use(session_files.Uploaded(population, name, understood, reading(read, order, sheet)))
    session_files.forget("reading")
    link.change(**changes)


def reading(read: Distribution, order: str, sheet: str | None = None) -> dict[str, Any]:
    """How a distribution was read from its file, as in `session_files.Uploaded`."""
    return {
        "layout": "values" if read.count_name is None else "counts",
        "category": read.category_name,
        "count": read.count_name,
        "has_header": read.has_header,
        "order": order,
        "leave_out": read.left_out,
        "sha256": read.sha256,
        **({} if sheet is None else {"sheet": sheet}),
    }
