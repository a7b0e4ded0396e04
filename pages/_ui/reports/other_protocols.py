"""Collected reports that k-RR did not make: how they were made, what they say, whether they fit, and files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from pages._ui import guidance, state
from pages._ui.figure_controls import row
from pages._ui.link import binding_of_choice
from pages._ui.reports import other_results, upload
from pages._ui.reports.other_results import Analysed
from pages._ui.reports.results import chosen_level_and_target, level_and_target
from pages._ui.reports.sentences import n_reports
from pages._ui.safe_text import markdown
from rr_core import typed
from rr_core.figures.style import number
from rr_core.figures.wording import counted
from rr_core.io import Reports, Source, UnreadableFile, WrongDomain
from rr_core.io.channel_file import MatrixFile, read_matrix, read_matrix_file
from rr_core.io.typed_counts import read_typed
from rr_core.io.unary_reports import BitColumns, OneBit, UnaryReports, bits_in, read_bit_columns, unary_of
from rr_core.limits import EPSILON_MAX, EPSILON_MIN
from rr_core.metrics import Users
from rr_core.parameters import Choice
from rr_core.plain_text import plain
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.protocols.collection import MOST_BITS
from rr_core.reports.other_protocols import OtherAnalysis, analyse_channel, analyse_unary
from rr_core.script import script
from server import sessions
from server.middleware import TEMPORARY

USUAL = "k_rr"
DESIGNS = {
    USUAL: "k-ary randomized response",
    "unary": "Unary encoding (RAPPOR)",
    "warner": "Warner's two questions",
    "forced": "Forced answers",
    "own": "Another table of chances",
}
_WHAT = {
    "unary": "One **bit** for each category: 1 for one's own, 0 for all others, then a coin flips some. The file has a "
    "**column of 0 and 1** for each category, or **bit strings** like 0110, or only the **number of ones** of each "
    "category. RAPPOR with a second coin (f, p and q) is another protocol, which is not read here.",
    "warner": "A coin picked which of two questions a person answered: “Are you …?” or “Are you not …?”.",
    "forced": "A die told some people to give a fixed answer, whatever the truth. The others told the truth.",
    "own": "For each truth, the chance of each report: PRAM, noise between neighbours, or any other.",
}
_MOST_FORCED = 12
_FEWEST_BITS = 2
_ZERO = re.compile(r"0+([.,]0*)?\s*%?|0+/\d+", re.ASCII)
_YES = {"yes", "y", "1", "true", "ja", "oui", "si", "sí", "sim", "tak"}
_LONGEST_TABLE, _LONGEST_COUNTS, _LONGEST_SENTENCE = 20_000, 20_000, 800
_TYPED = "typed here"
_NOTHING = "Nothing is computed yet."
_EXAMPLE = "0.8 0.1 0.1\n0.1 0.8 0.1\n0.1 0.1 0.8"


MADE = binding_of_choice("_reports_made", Choice("made", "made", "way of making reports", DESIGNS), USUAL)


class _Unclear(ValueError):
    """Something is impossible; ``str(error)`` is one plain sentence."""


class _Missing(_Unclear):
    """Something is still to be entered; ``str(error)`` says what, "" where it goes without saying."""


def choose() -> str:
    """Widget for how the reports were made; returns a key of DESIGNS."""
    st.selectbox(
        "How were the reports made?",
        list(DESIGNS),
        format_func=DESIGNS.__getitem__,
        width=300,
        **MADE.widget_arguments("reports_made", MADE.current(), lambda key: key),
    )
    return MADE.current()


def section(made: str) -> None:
    """All of the page for reports of such a protocol."""
    st.markdown(
        f"{_WHAT[made]} Files are read for this session only: **not kept, not logged, not shown to anybody else**."
    )
    about = st.container(border=True)
    place = st.container()
    controls = row()
    level, target = chosen_level_and_target()
    users: Users = "fixed" if target == "users" else "sampled"
    unused, analysed = "", None
    try:
        with about:
            analysed = _entered(made, level, users)
        if analysed.result.intervals is None:
            unused = "There are no intervals: this table cannot tell the truths apart."
    except _Missing as missing:  # nothing is computed of what was entered before
        unused = _NOTHING
        sessions.held().pop("other_reports")
        if f"{missing}":
            about.info(markdown(f"{missing}", _LONGEST_SENTENCE))
    except (UnreadableFile, _Unclear, sessions.NoRoom) as error:
        before: tuple[str, Analysed] | None = sessions.held().get("other_reports")
        kept = before[1] if before is not None and before[0] == made else None
        stays = "" if kept is None else " What you entered before stays in use."
        about.error(markdown(f"{error}{stays}", _LONGEST_SENTENCE), icon=":material/error:")
        analysed, unused = (
            kept,
            _NOTHING if kept is None else "What you entered before stays as it was computed.",
        )
    with controls:
        level_and_target(unused)
        guidance.words("Inv", "InvN", "InvP", "Maximum likelihood", "Certificate", "Confidence interval")
    if analysed is None:
        return
    sessions.held().put("other_reports", (made, analysed))
    with place:
        figure = other_results.answer(analysed)
    table, fit, files = st.tabs(["Table", "Does it fit?", "Files"])
    with table:
        other_results.table(analysed)
    with fit:
        other_results.fit(analysed)
    with files:
        other_results.downloads(analysed, figure)


def _entered(made: str, level: float, users: Users) -> Analysed:
    """Widgets for the reports and for how they were made; returns the analysis.

    Raises:
        UnreadableFile, _Unclear: one plain sentence.
        NoRoom: the server is short of memory.
    """
    if made == "unary":
        return _unary(level, users)
    left, right = st.columns(2, gap="large")
    with left:
        given = _reports()
    with right:
        way = _CHANNELS[made](given)

    def analyse() -> OtherAnalysis:
        try:
            return analyse_channel(way.counts, way.channel, level, users)
        except ValueError as problem:
            raise _Unclear(
                "Some of these reports cannot come from this table: it gives them no chance under any truth. Mend the "
                "table or the reports."
            ) from problem

    key = (made, way.channel.matrix.tobytes(), way.counts.tobytes(), level, users)
    result = state.cached("other_channel", key, analyse)
    held = dict(zip(way.reports, way.counts.tolist(), strict=True))
    again = script(
        f"/your_reports?made={made}",
        source=given.source,
        reports=held,
        names=list(way.truths),
        matrix=way.channel.matrix.tolist(),
        level=level,
        users=users,
    )
    # Where truths and reports are the same things, the reports stand beside the estimates, each at its own name.
    same = set(way.truths) == set(way.reports)
    return Analysed(
        way.truths,
        np.array([held[name] for name in way.truths]) if same else None,
        "Reports",
        result,
        given.notes,
        again,
        given.source,
        1 if made == "warner" else None,
        None if same else (way.reports, way.counts),
        users=users,
    )


@dataclass(frozen=True, eq=False)
class _Given:
    """The reports: names of the answers, their (m,) numbers, where they come from in words, whether the answers come in
    an order that somebody gave them, and a plain sentence for each thing that was understood."""

    labels: tuple[str, ...]
    counts: Any
    source: str
    in_order: bool
    notes: tuple[str, ...]


def _files() -> list[state.File]:
    """The uploader of all these ways, which keeps its files when another one is chosen."""
    st.file_uploader("Report files", accept_multiple_files=True, key="other_files", help=TEMPORARY)
    files = state.chosen_files("other_files")
    if not files:
        state.say_if_let_go()
    return files


def _reports() -> _Given:
    """Widgets for the reports, their columns and odd names."""
    files = _files()
    entered = st.text_area(
        "or type them: an answer and its number in each line",
        key="other_typed",
        placeholder="yes, 640\nno, 360",
        max_chars=_LONGEST_COUNTS,
        height=100,
        disabled=bool(files),
    )
    if files:
        found = upload.from_files(files)
        if found is None:
            raise _Missing("")
        read, name = found
        source = _source(read, name)
    elif entered.strip():
        read, source = read_typed(entered), _TYPED
        if read.notes or read.merged:
            upload.show_understood(read, None)
    else:
        raise _Missing("")
    try:
        left = upload.without_odd_names(read) if len(read.labels) > 1 else read
    except WrongDomain:
        raise _Unclear("Fewer than two answers are left: count one more of them.") from None
    labels, counts = tuple(map(str, left.labels)), left.counts
    in_order = read.layout == "counts"
    if (files or not in_order) and all(label.isdecimal() and len(label) < 19 for label in labels):
        order = sorted(range(len(labels)), key=lambda i: int(labels[i]))
        labels, counts, in_order = tuple(labels[i] for i in order), counts[order], True
    notes = () if left is read else left.notes
    out = int(read.counts.sum() - counts.sum())
    if out:
        notes += (f"{out:,} of {read.total:,} reports are left out.",)
    return _Given(labels, counts, source, in_order, notes)


def _source(read: Reports, name: str) -> str:
    """Where reports come from: which column of which file."""
    column = f"the column “{plain(read.category_name, 80)}” of {name}"
    return (
        column
        if read.count_name is None
        else f"{column}, counted by its column “{plain(read.count_name, 80)}”"
    )


@dataclass(frozen=True, eq=False)
class _Way:
    """How reports were made: k names of truths, m of reports with their (m,) numbers, and the channel."""

    truths: tuple[str, ...]
    reports: tuple[str, ...]
    counts: Any
    channel: Channel


def _warner(given: _Given) -> _Way:
    labels = given.labels
    if len(labels) != 2:
        raise _Unclear(f"Warner's design has two answers, yes and no; these reports have {len(labels):,}.")
    known = [i for i, label in enumerate(labels) if label.casefold() in _YES]
    yes = st.selectbox(
        "Which answer means yes?",
        labels,
        known[0] if len(known) == 1 else None,
        placeholder="Choose it",
        format_func=lambda label: plain(label, 40),
        key="other_yes",
        width=220,
    )
    text = st.text_input(
        "Chance that a person was asked “Are you …?”",
        key="other_p",
        placeholder="1/6 or 0.2",
        width=330,
        max_chars=typed.LONGEST,
    )
    if not text.strip():
        raise _Missing("")
    p = _chance(text)
    if yes is None:
        raise _Missing("Say which answer means yes.")
    order = [1 - labels.index(yes), labels.index(yes)]
    names = tuple(labels[i] for i in order)
    return _Way(names, names, given.counts[order], Channel.warner(p))


def _forced(given: _Given) -> _Way:
    labels = given.labels
    if not 2 <= len(labels) <= _MOST_FORCED:
        raise _Unclear(
            f"These reports have {counted(len(labels), 'answer')}; here there may be 2 to {_MOST_FORCED}. For more, "
            "choose “Another table of chances”."
        )
    st.caption("Chance that the die told a person to answer …")
    with st.container(horizontal=True):
        texts = [
            st.text_input(
                markdown(label, 30),
                key=f"other_forced_{label}",  # a chance stays with its answer
                placeholder="1/6 or 0",
                width=110,
                max_chars=typed.LONGEST,
            )
            for label in labels
        ]
    if not all(text.strip() for text in texts):
        raise _Missing("Say for each answer how often the die asked for it: 0 where it never did.")
    forced = [0.0 if _ZERO.fullmatch(text.strip()) else _chance(text) for text in texts]
    if sum(forced) >= 1:
        raise _Unclear(
            f"The chances sum to {number(sum(forced))}: below 1 there are people left to tell the truth."
        )
    return _Way(labels, labels, given.counts, Channel.forced_response(forced))


def _own(given: _Given) -> _Way:
    typed_here = st.container()  # a file takes its place
    st.file_uploader("or a file", type=["csv", "tsv", "txt", "gz"], key="other_matrix_file")
    files = state.chosen_files("other_matrix_file")
    text = typed_here.text_area(
        "A row for each truth, a column for each report",
        placeholder=_EXAMPLE,
        key="other_matrix",
        max_chars=_LONGEST_TABLE,
        height=100,
        disabled=bool(files),
        help="Numbers like 0.25, 25% or 1/4. A first line and a first column of names may be there.",
    )
    if files:
        file = files[0]
        read = state.read_once(
            "other_matrix", file.file_id, [file], lambda: partial(read_matrix_file, file.bytes(), file.name)
        )
    elif text.strip():
        read = read_matrix(text)
    else:
        raise _Missing("Write the table, or choose a file: the chance of each report, for each truth.")
    for note in read.notes:
        st.caption(markdown(note))
    counts, reports = _matched(given, read)
    channel = Channel(read.matrix)
    truths = read.truths
    if truths is None and channel.m == channel.k:
        truths = reports
        st.caption("The rows are taken to be truths of the same names, in the same order.")
    truths = truths or tuple(f"truth {i + 1}" for i in range(channel.k))
    return _Way(truths, reports, counts, channel)


def _matched(given: _Given, read: MatrixFile) -> tuple[Any, tuple[str, ...]]:
    """The number of reports of each column, and the columns' names."""
    labels, counts, m = given.labels, given.counts, read.matrix.shape[1]
    names = read.reports
    if (
        names is None
        and read.truths is not None
        and len(read.truths) == m
        and set(labels) <= set(read.truths)
    ):
        names = read.truths
        listed = ", ".join(plain(name, 20) for name in names[:_MOST_FORCED])
        st.caption(markdown(f"The columns are taken to be, as the rows: {listed}.", _LONGEST_SENTENCE))
    if names is None:
        if not given.in_order:
            raise _Unclear(
                "The answers come in no order: write their names above the columns of the table, so that each column has "
                "its own."
            )
        if len(labels) != m:
            raise _Unclear(
                f"The table has {counted(m, 'column')}, the reports have {counted(len(labels), 'answer')}. Write the "
                "names of the answers above the columns, so that answers nobody gave have theirs too."
            )
        listed = ", ".join(plain(label, 20) for label in labels[:_MOST_FORCED])
        st.caption(markdown(f"The columns are taken to be: {listed}.", _LONGEST_SENTENCE))
        return counts, labels
    held = dict(zip(labels, counts.tolist(), strict=True))
    unknown = [label for label in labels if label not in names]
    if unknown:
        raise _Unclear(
            f"The answer “{plain(unknown[0], 40)}” has no column in the table: name its column so, or mend the reports."
        )
    return np.array([held.get(name, 0) for name in names]), names


_CHANNELS: dict[str, Callable[[_Given], _Way]] = {
    "warner": _warner,
    "forced": _forced,
    "own": _own,
}


def _chance(text: str) -> float:
    """The probability that was typed.

    Raises:
        _Unclear: it is none; one plain sentence.
    """
    try:
        value = typed.chance(text)
    except ValueError as problem:
        raise _Unclear(f"{problem}.") from None
    if value >= 1:
        raise _Unclear(f"{number(value)} cannot be: a chance lies between 0 and 1.")
    return value


def _unary(level: float, users: Users) -> Analysed:
    left, right = st.columns(2, gap="large")
    with left:
        files = _files()
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        encoding = st.segmented_control(
            "Encoding",
            ["rappor", "oue"],
            required=True,
            default="rappor",
            format_func={"rappor": "Symmetric (basic RAPPOR)", "oue": "Optimised (OUE)"}.__getitem__,
            key="other_encoding",
        )
        text = st.text_input("ε of one report", key="other_epsilon", placeholder="1.5 or ln 3", width=150)
    if not files:
        raise _Missing("")
    if len(files) > 1:
        raise _Unclear(
            "Reports of unary encoding are read from one file: take the others away, or put them together."
        )
    file = files[0]
    held = bits_in(upload.preview_of(file, None))
    with left:
        columns, counted = _bit_columns(held, file)
    if columns:
        read = state.read_once(
            "unary",
            (file.file_id, columns, counted),
            [file],
            lambda: partial(read_bit_columns, Source(file.name, file.bytes()), columns, counted),
        )
        named = ", ".join(f"“{plain(one, 40)}”" for one in read.columns[:_MOST_FORCED])
        more = len(read.columns) - _MOST_FORCED
        source = f"the columns {named}{f' and {more:,} more' if more > 0 else ''} of {plain(file.name, 80)}"
        left.success(
            markdown(
                f"Understood: {source}, a category each: K = {len(columns):,}. {n_reports(read.n or 0)}.",
                _LONGEST_SENTENCE,
            )
        )
        layout = "values" if counted is None else "counts"
        reading = {"layout": layout, "count": counted, "columns": columns}
    else:
        with left:
            found = upload.from_files(files, "one")
            if found is None:
                raise _Missing("")
            try:
                read = unary_of(found[0])
            except OneBit:
                st.button("Go on with Warner's two questions", on_click=MADE.change, args=("warner",))
                raise
            if read.bits is None:
                read = _settled(read, found[0])
        read = replace(read, notes=(*read.notes, *held.not_read(found[0].category_name)))
        source, reading = _source(*found), {**found[0].reading, "columns": ()}
    n = read.n
    if n is None:
        with right:
            n = st.number_input("Reports N", 1, None, None, key=f"other_n_{file.file_id}", width=200)
        if n is None:
            raise _Missing(
                "Say how many reports there are: what was read of the file is only the number of ones of each category."
            )
        if n < read.support.max():
            most = plain(read.labels[int(read.support.argmax())], 40)
            raise _Unclear(
                f"“{most}” has {int(read.support.max()):,} ones, more than there are reports: mend N."
            )
    if not text.strip():
        raise _Missing("Say how private the reports are: the ε of one report.")
    try:
        epsilon = typed.number(text)
    except ValueError as problem:
        raise _Unclear(f"{problem}.") from None
    try:
        protocol = UnaryEncoding(len(read.labels), epsilon, encoding == "oue")
    except ValueError:
        raise _Unclear(
            f"ε = {number(epsilon)} cannot be computed with: write one between {number(EPSILON_MIN)} and {EPSILON_MAX:g}."
        ) from None
    return _analysed_bits(read, int(n), protocol, level, users, file, source, reading)


def _bit_columns(held: BitColumns, file: state.File) -> tuple[tuple[str, ...], str | None]:
    """Widgets for the columns of 0 and 1 that are categories, and for the one that says how often each row occurred
    (None: once); no columns where the reports are in another form."""
    if not held.columns:
        return (), None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        in_columns = True
        if held.strings or held.counts:
            in_columns = st.selectbox(
                "The reports are in",
                [True, False],
                index=0 if held.suggested else 1,
                format_func={
                    True: "columns of 0 and 1",
                    False: "bit strings, or numbers of ones",
                }.__getitem__,
                key=f"other_form_{file.file_id}",
                width=230,
            )
        if not in_columns:
            return (), None
        about_person = st.multiselect(
            "Leave out (about the person)",
            held.columns,
            [name for name in held.columns if held.suggested and name not in held.suggested],
            format_func=lambda name: plain(name, 40),
            placeholder="None of these columns",
            help="A column of 0 and 1 may say something about the person, such as “female” or “consent”. Every one "
            "that is read is a category.",
            key=f"other_no_bits_{file.file_id}",
            width=330,
        )
        counted = None
        if held.counts:
            counted = st.selectbox(
                "Each row counts",
                [None, *held.counts],
                index=0 if held.count is None else 1 + held.counts.index(held.count),
                format_func=lambda name: "once" if name is None else f"as “{plain(name, 40)}” says",
                key=f"other_times_{file.file_id}",
                width=230,
            )
    columns = tuple(name for name in held.columns if name not in about_person)
    if len(columns) < _FEWEST_BITS:
        raise _Unclear("Fewer than two columns of 0 and 1 are left: leave out fewer.")
    return columns, counted


def _settled(read: UnaryReports, ones: Reports) -> UnaryReports:
    """Widgets for the odd names among those of a table of ones; what is left.

    Raises:
        _Unclear: fewer than two categories are left.
    """
    try:
        left = upload.without_odd_names(ones, "one")
    except WrongDomain:
        raise _Unclear("Fewer than two categories are left: count one more of them.") from None
    out = tuple(f"“{plain(label, 40)}”" for label, _ in left.outside)
    merged = len(ones.labels) - len(left.labels) - len(out)
    notes = read.notes
    if out:
        why = "it is no category" if len(out) == 1 else "they are no categories"
        notes += (f"Left out, for {why}: {', '.join(out[:_MOST_FORCED])}.",)
    if merged:
        notes += (f"The ones of {counted(merged, 'name')} were added to those of another spelling.",)
    return replace(read, labels=tuple(map(str, left.labels)), support=left.counts, notes=notes)


def _analysed_bits(
    read: UnaryReports,
    n: int,
    protocol: UnaryEncoding,
    level: float,
    users: Users,
    file: state.File,
    source: str,
    reading: dict[str, Any],
) -> Analysed:
    notes = list(read.notes)
    bits = None
    if read.bits is None or read.times is None:
        notes.append("Only the ones of each category are known: MLE needs the bits of every report.")
    elif read.bits.size > MOST_BITS:
        notes.append(
            f"MLE is worked out here for up to {MOST_BITS:,} bits; the script that you can download does it for more."
        )
    else:
        bits = read.bits, read.times

    def analyse() -> OtherAnalysis:
        with sessions.room(
            sessions.BYTES_PER_CATEGORY * protocol.k + (0 if bits is None else 8 * bits[0].size)
        ):
            return analyse_unary(read.support, protocol, n, level, users, bits)

    key = (file.file_id, repr(reading), read.labels, read.support.tobytes(), protocol, n, level, users)
    result = state.cached("other_unary", key, analyse)
    ones = dict(zip(read.labels, read.support.tolist(), strict=True))
    again = script(
        "/your_reports?made=unary",
        [] if read.bits is None else [file.name],
        **({"ones": ones} if read.bits is None else {"reading": reading}),
        source=source,
        epsilon=protocol.epsilon,
        optimized=protocol.optimized,
        n=n,
        level=level,
        users=users,
    )
    return Analysed(read.labels, read.support, "Ones", result, tuple(notes), again, source, users=users)
