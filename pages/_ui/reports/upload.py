"""The panel for collected reports: how they were made, files or typed counts, columns, what has to be said of them, and
the button that analyses them; and the query that counts reports where they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages._ui import link, session_files
from pages._ui.downloads import button
from pages._ui.reports import by_group, designs, session
from pages._ui.reports.session import MADE
from pages._ui.upload import column_name, form, sheet_of
from rr_core.io import (
    BITS_LEAST,
    Preview,
    Reports,
    Source,
    UnreadableFile,
    WrongDomain,
    group_by,
    inspect_reports,
    rows_left_out,
)
from rr_core.io.people import People, is_inclusion_name, read_people
from rr_core.io.report_results import K_RR, ReportSettings, ReportsInUse
from rr_core.io.reports import OF_BIT_VECTORS, TWICE, read_again, read_typed, rivals
from rr_core.io.unary_reports import (
    NO_GROUPS_OF_ONES,
    BitColumns,
    OneBit,
    UnaryReports,
    bits_in,
    read_bit_columns,
    unary_of,
)
from rr_core.limits import TYPED_LETTERS_MAX
from rr_core.plain_text import markdown, plain, some
from rr_core.reports.designs import DESIGNS, WHICH, Missing, Unclear
from rr_core.rounding import counted as in_numbers
from server import sessions
from server.middleware import TEMPORARY

_LAYOUTS = {"values": "one report per row", "counts": "a count per category"}
_FIRST_ROWS, _MOST_COLUMNS = 3, 12
_FEWEST_BITS = 2
_TYPED = "typed here"
_LANGUAGES = {"Standard SQL": "sql", "Spark (Python)": "python", "DuckDB": "sql"}


class Beside(NamedTuple):
    """Columns beside the reports, by name: of groups, and of weights or (inverse) inclusion probabilities."""

    by: tuple[str, ...] = ()
    weights: str | None = None
    inverse: bool = False


NOTHING_BESIDE = Beside()


class Given(NamedTuple):
    """What was read: the reports, their name, and their bits; whether somebody gave the answers their order; the files,
    which are read again for the columns ``beside``; and ``columns`` that may say how the reports of a group were made."""

    reports: Reports
    name: str
    unary: UnaryReports | None = None
    in_order: bool = False
    read: session.Read = session.NOT_READ
    beside: Beside = NOTHING_BESIDE
    columns: Sequence[str] = ()


def panel() -> None:
    """The panel when it is open, else one line about the reports in use."""
    used = session.in_use()
    if used is None and session.was_let_go():
        st.warning(sessions.LET_GO, icon=":material/info:")
    # Each in a place of its own, of which the other is emptied at once: what was in a place before stays there until the
    # run ends, and the form would stand for seconds squeezed into the row of the line.
    if used is not None and not session.is_open():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(
                f"**{markdown(used.source, 300)}**: {in_numbers(used.n, 'report')}. They stay in this session: "
                "not kept, not logged.",
                width="content",
            )
            st.button("Other reports or settings", on_click=session.open_panel)
        st.empty()
        return
    st.empty()
    with st.container(border=True):
        _open_panel()
    if used is not None:
        st.caption("Below is the earlier result, until these reports are analysed.")


def _open_panel() -> None:
    used = session.in_use()
    design = DESIGNS[_choose()]
    st.markdown(
        f"{design.about}{design.file} Files are read for this session only: **not kept, not logged, not shown to "
        "anybody else**."
    )
    problem: Exception | None = None
    given: Given | None = None
    make: Callable[[], ReportsInUse] | None = None
    try:
        given = _given(design.key)
        if given is not None:
            before = used.settings if used else ReportSettings()
            vary = partial(by_group.choose, given.beside.by, given.columns)
            make = designs.entered(design, given.reports, given.unary, before, vary, in_order=given.in_order)
    except Missing as missing:
        problem = missing
        if f"{missing}":
            st.info(markdown(f"{missing}"))
    except (UnreadableFile, WrongDomain, Unclear, sessions.NoRoom) as error:
        problem = error
        _show_problem(f"{error}")
    with st.container(horizontal=True):
        pressed = given is not None and st.button(
            "Analyse these reports", type="primary", key="reports_analyse"
        )
        if used is not None:
            st.button("Cancel", on_click=session.cancel, key="reports_cancel")
    if pressed and given is not None:
        _analyse(make, problem, given)


def _analyse(make: Callable[[], ReportsInUse] | None, problem: Exception | None, given: Given) -> None:
    """Put the reports into use, or say why not."""
    if make is None:
        if isinstance(problem, Missing):
            _show_problem(f"{problem}" or "Something is still to be entered above.")
        return
    try:
        session.use(_with_people(make(), given), given.name, given.read)
    except (UnreadableFile, WrongDomain, Unclear, sessions.NoRoom) as error:
        _show_problem(f"{error}")
    else:
        st.rerun()


def _with_people(made: ReportsInUse, given: Given) -> ReportsInUse:
    """The same with the groups and weights of all people: from the file, or those in use where it is gone."""
    beside = given.beside
    if not (beside.by or beside.weights):
        return made
    labels, used, names = _labels(made), session.in_use(), made.settings.names
    stated = () if made.settings.varied is None else made.settings.varied.columns
    if given.read.files:
        files, sheet = given.read.files, given.reports.sheet
        ids = tuple(file.file_id for file in files)
        people: People = session_files.read_once(
            "people",
            (ids, sheet, beside, names, tuple(labels), made.unary is None, stated),
            files,
            lambda: partial(
                read_people,
                [Source(file.name, file.bytes(), sheet) for file in files],
                made.reports,
                labels,
                names,
                *beside[:2],
                inverse=beside.inverse,
                bits=made.unary is not None,
                stated=stated,
            ),
        )
    elif (
        used is None
        or used.people is None
        or _labels(used) != labels
        or used.settings.names != names
        or (stated and (used.settings.varied is None or used.settings.varied.columns != stated))
    ):
        if made.settings.varied is not None:
            raise Unclear("Names or columns are counted otherwise now: choose the file again for its groups.")
        note = "Groups and weights are left out, because names are counted otherwise now: choose the file again for them."
        collected = dataclasses.replace(made.collected, notes=(*made.collected.notes, note))
        return dataclasses.replace(made, collected=collected)
    else:
        people = used.people
    if made.settings.varied is not None:
        protocol, of_groups = by_group.made_by_group(made, people)
        made = dataclasses.replace(made, protocol=protocol, of_groups=of_groups)
    return made.with_people(people, *beside)


def _labels(made: ReportsInUse) -> list[str]:
    return [str(label) for label in made.collected.labels]


def _beside(
    files: Sequence[session_files.File], reports: Reports, in_use: ReportsInUse | None
) -> tuple[Beside, list[str]]:
    """Widgets for the columns of groups and of weights; returns them, and the columns that say neither."""
    before = NOTHING_BESIDE if in_use is None else Beside(in_use.by, in_use.weights, in_use.inverse)
    preview = preview_of(_largest(files), reports.has_header, sheet=reports.sheet)
    taken = (*reports.columns, reports.category_name, reports.count_name)
    others = [name for name in preview.columns if name not in taken]
    numeric = dict(zip(preview.columns, preview.numeric, strict=True))
    weighing = sorted(others, key=lambda name: not numeric[name])
    if not others:
        return NOTHING_BESIDE, []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = st.multiselect(
            "Compare groups (optional)",
            others,
            [name for name in before.by if name in others],
            format_func=lambda name: plain(name, 40),
            max_selections=3,
            placeholder="None",
            key=f"reports_by_{files[0].file_id}",
            help="A column that says who belongs together: region, wave, sex. Two or three are crossed.",
            width=330,
        )
        inverse, of_counts = False, reports.layout == "counts"
        weights = st.selectbox(
            "Survey weights (optional)",
            [None] if of_counts else [None, *weighing],
            1 + weighing.index(before.weights) if before.weights in weighing else 0,
            format_func=lambda name: "None: each counts once" if name is None else plain(name, 40),
            key=f"reports_weights_{files[0].file_id}_{reports.layout}",
            disabled=of_counts,
            help="A table of counts has no weights: they need one report per row."
            if of_counts
            else "For how many people of the population each one stands. Shares and intervals are then those of the "
            "population.",
            width=260,
        )
        if weights is not None:
            known = before.inverse if weights == before.weights else is_inclusion_name(weights)
            inverse = st.segmented_control(
                "It holds",
                [False, True],
                required=True,
                default=known,
                format_func={False: "Weights", True: "Inclusion probabilities"}.__getitem__,
                key=f"reports_inverse_{files[0].file_id}_{weights}",
                help="The chance that a person came into the sample, above 0 and up to 1: the weight is 1 divided by it.",
            )
    return Beside(tuple(by), weights, inverse), [name for name in others if name != weights]


def _choose() -> str:
    """Widgets for how the reports were made; returns a key of DESIGNS."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "How were the reports made?",
            list(DESIGNS),
            format_func=lambda key: DESIGNS[key].name,
            width=300,
            **MADE.widget_arguments("reports_made", MADE.current(), lambda key: key),
        )
        with st.popover("I don't know which"):
            _ask_which()
    return MADE.current()


def _ask_which() -> None:
    """Questions that lead to a design."""
    question, answers = WHICH
    while answers:
        answer = st.radio(question, [one[0] for one in answers], None, key=f"which_{question}")
        if answer is None:
            return
        question, *rest = next(after for said, *after in answers if said == answer)
        answers = rest[0] if rest else []
    at = question
    st.markdown(f"**{DESIGNS[at].name}.** {DESIGNS[at].about}")
    st.button(
        "Take this one", on_click=MADE.change, args=(at,), disabled=MADE.current() == at, key="which_take"
    )


def _given(made: str) -> Given | None:
    """Widgets for the reports; None as long as there are none."""
    used, (files, text) = session.in_use(), _files(made)
    alike = used is not None and (used.unary is None) == (made != "unary")
    if not (files or text.strip()):
        files = list(session.read_from().files)
    if files:  # with the columns of those in use the widgets begin
        same = alike and tuple(files) == session.read_from().files
        return _from_files(files, used if same else None, unary=made == "unary")
    if text.strip():
        read = read_typed(text)
        show_understood(read, None)
        return Given(read, _TYPED, None, True)
    if used is not None:
        return _again(used) if alike else None
    if not session.was_let_go():  # which the panel has said
        session_files.say_if_let_go()
    if session.HERE.current():
        st.warning(session.LOST, icon=":material/info:")
    return None


def _from_files(
    files: Sequence[session_files.File], in_use: ReportsInUse | None, *, unary: bool
) -> Given | None:
    """Widgets for what the files hold; None as long as no column is chosen."""
    if unary and len(files) > 1:
        raise Unclear(
            "Reports of unary encoding are read from one file: take the others away, or put them together."
        )
    file, (sheet, before), bits, options = files[0], _sheet(files, in_use), None, dict[str, Any]()
    preview: Preview | None = None
    held = bits_in(preview_of(file, None, sheet=sheet)) if unary else None
    columns, counted = ((), None) if held is None else _bit_columns(held, file, before)
    if columns:
        bits = session_files.read_once(
            "unary",
            (file.file_id, sheet, columns, counted),
            [file],
            lambda: partial(read_bit_columns, Source(file.name, file.bytes(), sheet), columns, counted),
        )
        reports, name = bits.reports, plain(file.name)
    else:
        options, preview = _pick_columns(files, sheet, "one" if unary else "report", before)
        if options["category"] is None:
            return None
        reports, name = session.reports_of(files, options)
        if held is not None:
            bits = _bits(reports, held.in_words).noting(held.not_read(reports.category_name))
            reports = bits.reports
    understood, beside, others = st.container(), NOTHING_BESIDE, list[str]()
    if bits is None or bits.bits is not None:
        beside, others = _beside(files, reports, in_use)
    else:
        st.caption(NO_GROUPS_OF_ONES)
    with understood:
        show_understood(reports, preview, "one" if unary else "report", weighted=beside.weights is not None)
    read = session.Read(tuple(files), options)
    return Given(reports, name, bits, read=read, beside=beside, columns=others)


def _bits(reports: Reports, in_words: str) -> UnaryReports:
    """The same as bits, as `unary_of` has it; of one bit for each person the way out is a button."""
    try:
        return unary_of(reports, in_words)
    except OneBit:
        st.button("Go on with Warner's two questions", on_click=MADE.change, args=("warner",))
        raise


def _again(used: ReportsInUse) -> Given:
    """The reports that are in use already."""
    show_understood(used.reports, None, "report" if used.unary is None else "one")
    if used.by or used.weights:
        kept = [f"Groups: {', '.join(used.by)}."] if used.by else []
        word = "Inclusion probabilities" if used.inverse else "Weights"
        kept += [f"{word}: {used.weights}."] if used.weights else []
        st.caption(markdown(" ".join(kept), 400))
    beside = Beside(used.by, used.weights, used.inverse)
    columns = () if used.settings.varied is None else used.settings.varied.columns
    return Given(used.reports, used.name, used.unary, used.name == _TYPED, beside=beside, columns=columns)


def _largest(files: Sequence[session_files.File]) -> session_files.File:
    """The file that shows what all are like: a part of a folder may be empty."""
    return max(files, key=lambda file: file.size)


def _sheet(
    files: Sequence[session_files.File], before: ReportsInUse | None
) -> tuple[str | None, Reports | None]:
    """Widget for the sheet of workbooks; returns it, and what was read of it before."""
    first, read = _largest(files), None if before is None else before.reports
    held = None if read is None else read.sheet
    sheet = sheet_of(preview_of(first, None), f"reports_sheet_{first.file_id}", held)
    return sheet, read if sheet == held else None


def _files(made: str) -> tuple[list[session_files.File], str]:
    """Widgets for files, typed counts, and simulated reports of k-RR; returns the files, and what was typed."""
    left, right = st.columns([3, 2])
    left.file_uploader("Report files", accept_multiple_files=True, key="reports_files", help=TEMPORARY)
    left.caption(
        "One report per row, or a category and its count. CSV, TSV, TXT, Excel, OpenDocument, SPSS, Stata, SAS or "
        "Parquet, also in GZIP or ZIP, several files of the same shape at once; up to 200 MB together."
        if made != "unary"
        else "One file: CSV, TSV, TXT, Excel, OpenDocument, SPSS, Stata, SAS or Parquet, also in GZIP or ZIP; up to "
        "200 MB."
    )
    files, text, used = session_files.chosen_files("reports_files"), "", session.in_use()
    if used is not None and session.read_from().files and not files:
        left.caption(f"In use: **{markdown(used.name, 300)}**. Another choice takes its place.")
    if made != "unary":
        text = right.text_area(
            "or type them: an answer and its number in each line",
            key="reports_typed",
            placeholder="yes, 640\nno, 360",
            max_chars=TYPED_LETTERS_MAX,
            height=100,
            disabled=bool(files),
        )
    if made == K_RR:
        scenario = link.current()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                "No file at hand? Simulated, of the other pages' scenario "
                f"(K = {scenario.k:,}, ε = {scenario.epsilon:g}, N = {scenario.n:,}):",
                width="content",
            )
            st.button("Use simulated reports", on_click=session.simulate)
            button("Download them as a file", session.simulated_csv, "reports.csv", width="content")
    return files, text


def _bit_columns(
    held: BitColumns, file: session_files.File, before: Reports | None
) -> tuple[tuple[str, ...], str | None]:
    """Widgets for the columns of 0 and 1 that are categories, and the one that counts each row."""
    if not held.columns:
        return (), None
    categories, times, in_strings = held.suggested, held.count, not held.suggested
    if before is not None:
        in_strings = not before.columns
        categories, times = before.columns or categories, before.count_name
    with st.container(horizontal=True, vertical_alignment="bottom"):
        in_columns = True
        if held.strings or held.counts:
            in_columns = st.selectbox(
                "The reports are in",
                [True, False],
                index=int(in_strings),
                format_func={
                    True: "columns of 0 and 1",
                    False: "bit strings, or numbers of ones",
                }.__getitem__,
                key=f"design_form_{file.file_id}",
                width=230,
            )
        if not in_columns:
            return (), None
        about_person = st.multiselect(
            "Leave out (about the person)",
            held.columns,
            [name for name in held.columns if categories and name not in categories],
            format_func=lambda name: plain(name, 40),
            placeholder="None of these columns",
            help="A column of 0 and 1 may say something about the person, such as “female” or “consent”. Every one "
            "that is read is a category.",
            key=f"design_no_bits_{file.file_id}",
            width=330,
        )
        counted = None
        if held.counts:
            counted = st.selectbox(
                "Each row counts",
                [None, *held.counts],
                index=1 + held.counts.index(times) if times in held.counts else 0,
                format_func=lambda name: "once" if name is None else f"as “{plain(name, 40)}” says",
                key=f"design_times_{file.file_id}",
                width=230,
            )
    columns = tuple(name for name in held.columns if name not in about_person)
    if len(columns) < _FEWEST_BITS:
        raise Unclear("Fewer than two columns of 0 and 1 are left: leave out fewer.")
    return columns, counted


def _show_problem(problem: str) -> None:
    stays = " What was shown before stays in use." if session.in_use() is not None else ""
    st.error(markdown(f"{problem}{stays}"), icon=":material/error:")


def _pick_columns(
    files: Sequence[session_files.File], sheet: str | None, counted: str, before: Reports | None
) -> tuple[dict[str, Any], Preview]:
    """Widgets for the columns of the files: options for `read_reports`, and what the largest file seems to be. They
    begin with what was read ``before``; ``counted`` is what a table of counts holds the number of. The category is None
    as long as the person has not chosen one of several columns that may hold it."""
    first = _largest(files)
    preview, chosen = preview_of(first, None, counted, sheet), False
    if before is not None:
        if preview.has_header is not None:
            preview = preview_of(first, before.has_header, counted, sheet)
        preview, chosen = _as_before(preview, before), True
    has_header: bool | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layouts = list(_LAYOUTS)
        layout = st.selectbox(
            "The files have",
            layouts,
            index=layouts.index(preview.layout),
            format_func=_LAYOUTS.__getitem__,
            key=f"reports_layout_{first.file_id}_{sheet}",  # another file starts from what it seems to be
            width=230,
        )
        if preview.has_header is not None:
            has_header = st.toggle(
                "First row is a header", preview.has_header, key=f"reports_header_{first.file_id}_{sheet}"
            )
            if has_header != preview.has_header:
                preview, chosen = preview_of(first, has_header, counted, sheet), False
        options: dict[str, Any] = {"layout": layout, "has_header": has_header, "sheet": sheet}
        are_bits = (
            counted == "report"
            and layout == "values"
            and sum(hint.bits for hint in preview.hints) >= BITS_LEAST
        )
        unsure = not chosen and counted == "report" and layout == preview.layout and bool(rivals(preview))
        # Of another file, or of one that is read in another way, the choice is another.
        about = f"{first.file_id}_{sheet}_{layout}_{preview.has_header}"
        options["category"] = _column(
            "Report column" if layout == "values" else "Category column",
            None if unsure or (are_bits and not chosen) else preview.category,
            preview,
            about,
        )
        if layout == "counts":
            suggested = preview.count if preview.count is not None else len(preview.columns) - 1
            options["count"] = _column("Count column", suggested, preview, about)
    if unsure and not are_bits and options["category"] is None:
        held = "reports" if layout == "values" else "categories"
        st.info(f"Several columns may hold the {held}: choose the one that does.")
    if are_bits and not chosen:
        st.warning(
            "Many columns hold nothing but 0 and 1: these look like reports of unary encoding, one column per category. "
            "Then choose “Unary encoding (RAPPOR)” above; if they are separate yes-or-no questions, choose the column of "
            "one."
        )
    alone = len(files) == 1 and preview.has_header is not None
    if alone and preview_of(first, None, counted, sheet).has_header == preview.has_header:
        options["has_header"] = None  # the reader assumes it, and says so
    # Of N people all may have sent zeros, but a collection has a report.
    return options | {"all_zero": counted == "one"}, preview


def _as_before(preview: Preview, before: Reports) -> Preview:
    """A preview that suggests the columns that were read before."""
    columns = preview.columns
    category = columns.index(before.category_name) if before.category_name in columns else preview.category
    count = columns.index(before.count_name) if before.count_name in columns else preview.count
    return dataclasses.replace(preview, layout=before.layout, category=category, count=count)


def preview_of(
    file: session_files.File, has_header: bool | None, counted: str = "report", sheet: str | None = None
) -> Preview:
    """What the file seems to be; where ones are ``counted``, with the column of bit strings, or of ones, suggested."""
    preview = session_files.read_once(
        f"preview_{has_header}",
        (file.file_id, sheet),
        [file],
        lambda: partial(inspect_reports, Source(file.name, file.bytes(), sheet), has_header=has_header),
    )
    if counted != "one":
        return preview
    choice = bits_in(preview).choice
    return dataclasses.replace(preview, layout=choice.layout, category=choice.category, count=choice.count)


def _column(label: str, suggested: int | None, preview: Preview, about: str) -> int | None:
    positions = list(range(len(preview.columns)))
    chosen: int | None = st.selectbox(
        label,
        positions,
        index=suggested,
        format_func=lambda i: column_name(preview, i),
        placeholder="Choose a column",
        key=f"reports_{label}_{about}",
        width=230,
    )
    return chosen


def show_understood(
    reports: Reports, preview: Preview | None, counted: str = "report", *, weighted: bool = False
) -> None:
    """Rows, names and reports, what was assumed, and the first rows."""
    of_bits = counted != "report" and all(
        set(label) <= {"0", "1"} and len(label) > 1 for label in reports.labels.tolist()
    )
    noun = counted if reports.layout == "counts" and not of_bits else "report"
    left, right = st.columns([3, 2])
    if reports.columns:
        columns = some([f"“{plain(one, 40)}”" for one in reports.columns], _MOST_COLUMNS)
        understood = (
            f"the columns {columns}, a category each: K = {len(reports.columns):,}. "
            f"{in_numbers(reports.total, 'report')}"
        )
    else:
        understood = (
            f"{in_numbers(reports.rows, 'row')}, {in_numbers(len(reports.labels), 'name')}, "
            f"{in_numbers(reports.total, noun)}"
        )
        if reports.has_header:  # else there was no choice
            understood += f", in the column “{plain(reports.category_name, 40)}”"
            understood += (
                "" if reports.count_name is None else f", counted by “{plain(reports.count_name, 40)}”"
            )
    left.success(markdown(f"Understood: {understood}.", 800))
    remarks = [] if preview is None else [f"{form(preview)}."]
    remarks += rows_left_out(reports.dropped, reports.merged)
    # That these are reports of unary encoding has been said where ones are counted.
    notes = read_again(reports.notes, weighted=True) if weighted else reports.notes
    for note in notes:
        if note.endswith(TWICE):
            left.warning(markdown(note))
        elif counted == "report" or note != OF_BIT_VECTORS:
            remarks.append(note)
    left.markdown("\n".join(f"- {markdown(remark)}" for remark in remarks))
    if preview is not None:
        heads = [plain(name) or f"column {i}" for i, name in enumerate(preview.columns, 1)]
        rows = [[plain(cell) for cell in row] for row in preview.sample[:_FIRST_ROWS]]
        right.dataframe(pd.DataFrame(rows, columns=heads), hide_index=True, width="content")


def warehouse_section() -> None:
    """Ask for the names of table and column, and show the query that turns any number of rows into a small table."""
    with st.expander("Too many reports for a file? Count them where they are"):
        st.markdown("The analysis needs only how often each category was reported. Upload what this gives:")
        with st.container(horizontal=True):
            table = st.text_input("Table", "reports", key="warehouse_table", width=220)
            column = st.text_input("Column", "report", key="warehouse_column", width=220)
        # A column may have blanks around its name, but needs more than blanks.
        queries = group_by(table.strip() or "reports", column if column.strip() else "report")
        for tab, (name, query) in zip(st.tabs(list(_LANGUAGES)), queries.items(), strict=True):
            tab.code(query, language=_LANGUAGES[name])
        st.caption("Spark writes a folder: upload the part-….csv in it.")
