"""Collected reports that k-RR did not make: how they were made, what they say, whether they fit, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from pages._ui import guidance, memory, state
from pages._ui.figure_controls import row
from pages._ui.link import binding_of_choice
from pages._ui.on_the_way import TEMPORARY
from pages._ui.reports import other_results
from pages._ui.reports.other_results import Analysed
from pages._ui.reports.results import level_and_target
from pages._ui.safe_text import markdown
from rr_core import typed
from rr_core.figures.style import number
from rr_core.io import EXTENSIONS, Source, UnreadableFile, read_reports
from rr_core.io.channel_file import MatrixFile, read_matrix, read_matrix_file
from rr_core.io.unary_reports import UnaryReports, read_unary
from rr_core.metrics import Users
from rr_core.parameters import Choice
from rr_core.plain_text import plain
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.protocols.collection import MOST_BITS
from rr_core.reports.other_protocols import OtherAnalysis, analyse_channel, analyse_unary

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
    "category.",
    "warner": "A coin picked which of two questions a person answered: “Are you …?” or “Are you not …?”.",
    "forced": "A die told some people to give a fixed answer, whatever the truth. The others told the truth.",
    "own": "For each truth, the chance of each report: PRAM, noise between neighbours, or any other.",
}
_MOST_FORCED = 12
_LONGEST_TABLE, _LONGEST_COUNTS, _LONGEST_SENTENCE = 20_000, 20_000, 800
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
    with row():
        level, target = level_and_target()
        guidance.words("Inv", "InvN", "InvP", "Maximum likelihood", "Certificate", "Confidence interval")
    users: Users = "fixed" if target == "users" else "sampled"
    try:
        with about:
            analysed = _entered(made, level, users)
    except (UnreadableFile, _Unclear, memory.NoRoom) as error:
        before: tuple[str, Analysed] | None = memory.held().get("other_reports")
        kept = before[1] if before is not None and before[0] == made else None
        if f"{error}":
            stays = " The last reports that could be read stay in use." if kept else ""
            with about:
                sentence = markdown(f"{error}{stays}", _LONGEST_SENTENCE)
                if isinstance(error, _Missing):
                    st.info(sentence)
                else:
                    st.error(sentence, icon=":material/error:")
        if kept is None:
            return
        analysed = kept
    memory.held().put("other_reports", (made, analysed))
    with place:
        figure = other_results.answer(analysed, target)
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
        labels, counts, notes = _reports()
    with right:
        names, in_order, channel, code = _CHANNELS[made](labels, counts)

    def analyse() -> OtherAnalysis:
        try:
            return analyse_channel(in_order, channel, level, users)
        except ValueError as problem:
            raise _Unclear(
                "Some of these reports cannot come from this table: it gives them no chance under any truth. Mend the "
                "table or the reports."
            ) from problem

    key = (made, channel.matrix.tobytes(), in_order.tobytes(), level, users)
    result = state.cached("other_channel", key, analyse)
    script = _SCRIPT_OF_CHANNEL.format(
        counts=in_order.tolist(), code=code, level=level, users=users, names=list(names)
    )
    # Where truths and reports are the same things, the reports stand beside the estimates.
    shown = in_order if channel.m == channel.k else None
    asked = 1 if made == "warner" else None
    return Analysed(names, shown, "Reports", result, notes, script, asked)


def _reports() -> tuple[tuple[str, ...], Any, tuple[str, ...]]:
    """Widgets for the reports; returns the names of the answers, in order, and their numbers."""
    st.file_uploader("Report files", type=list(EXTENSIONS), key="other_files", help=TEMPORARY)
    files = state.chosen_files("other_files")
    if not files:
        state.say_if_let_go()
    entered = st.text_area(
        "or type them: an answer and its number in each line",
        key="other_typed",
        placeholder="yes, 640\nno, 360",
        max_chars=_LONGEST_COUNTS,
        height=100,
        disabled=bool(files),
    )
    if files:
        file = files[0]
        read = state.read_once(
            "other", file.file_id, [file], lambda: read_reports([Source(file.name, file.bytes())])
        )
    elif entered.strip() and not any(separator in entered.split("\n")[0] for separator in ",;\t"):
        raise _Unclear("Write an answer and its number in each line, like: yes, 640.")
    elif entered.strip():
        source = Source("typed.csv", entered.encode())
        read = read_reports([source], layout="counts", category=0, count=1, has_header=False)
    else:
        raise _Missing("")
    order = sorted(range(len(read.labels)), key=lambda i: _natural(str(read.labels[i])))
    return tuple(str(read.labels[i]) for i in order), read.counts[order], read.notes


def _natural(label: str) -> tuple[bool, int, str]:
    """Numbers by their size, then names."""
    whole_number = label.isdecimal() and len(label) < 19
    return not whole_number, int(label) if whole_number else 0, label


_OfChannel = tuple[tuple[str, ...], Any, Channel, str]


def _warner(labels: tuple[str, ...], counts: Any) -> _OfChannel:
    if len(labels) != 2:
        raise _Unclear(f"Warner's design has two answers, yes and no; these reports have {len(labels):,}.")
    likely = next((i for i, label in enumerate(labels) if label.casefold() in ("yes", "1", "true")), 1)
    yes = st.selectbox(
        "Which answer means yes?",
        range(2),
        likely,
        format_func=lambda i: plain(labels[i], 40),
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
    order = [1 - yes, yes]
    return tuple(labels[i] for i in order), counts[order], Channel.warner(p), f"Channel.warner({p!r})"


def _forced(labels: tuple[str, ...], counts: Any) -> _OfChannel:
    if not 2 <= len(labels) <= _MOST_FORCED:
        raise _Unclear(
            f"These reports have {len(labels):,} answers; here there may be 2 to {_MOST_FORCED}. For more, choose "
            "“Another table of chances”."
        )
    st.caption("Chance that the die told a person to answer …")
    with st.container(horizontal=True):
        texts = [
            st.text_input(
                markdown(label, 30),
                key=f"other_forced_{i}",
                placeholder="1/6 or 0",
                width=110,
                max_chars=typed.LONGEST,
            )
            for i, label in enumerate(labels)
        ]
    if not all(text.strip() for text in texts):
        raise _Missing("Say for each answer how often the die asked for it: 0 where it never did.")
    forced = [0.0 if text.strip() in ("0", "0%") else _chance(text) for text in texts]
    if sum(forced) >= 1:
        raise _Unclear(
            f"The chances sum to {number(sum(forced))}: below 1 there are people left to tell the truth."
        )
    return labels, counts, Channel.forced_response(forced), f"Channel.forced_response({forced!r})"


def _own(labels: tuple[str, ...], counts: Any) -> _OfChannel:
    text = st.text_area(
        "A row for each truth, a column for each report",
        _EXAMPLE,
        key="other_matrix",
        max_chars=_LONGEST_TABLE,
        height=100,
        help="Numbers like 0.25, 25% or 1/4. A first line and a first column of names may be there.",
    )
    st.file_uploader("or a file", type=["csv", "tsv", "txt", "gz"], key="other_matrix_file")
    files = state.chosen_files("other_matrix_file")
    if files:
        file = files[0]
        read = state.read_once(
            "other_matrix", file.file_id, [file], lambda: read_matrix_file(file.bytes(), file.name)
        )
    else:
        read = read_matrix(text)
    for note in read.notes:
        st.caption(markdown(note))
    in_order, reports = _matched(labels, counts, read)
    channel = Channel(read.matrix)
    square = channel.m == channel.k
    names = read.truths or (reports if square else tuple(f"truth {i + 1}" for i in range(channel.k)))
    return names, in_order, channel, f"Channel({read.matrix.tolist()})"


def _matched(labels: tuple[str, ...], counts: Any, read: MatrixFile) -> tuple[Any, tuple[str, ...]]:
    """The number of reports of each column, and the columns' names."""
    m = read.matrix.shape[1]
    if read.reports is None:
        if len(labels) != m:
            raise _Unclear(
                f"The table has {m:,} columns, the reports have {len(labels):,} answers. Write the names of the answers "
                "above the columns, so that answers nobody gave have theirs too."
            )
        listed = ", ".join(plain(label, 20) for label in labels[:_MOST_FORCED])
        st.caption(markdown(f"The columns are taken to be: {listed}.", _LONGEST_SENTENCE))
        return counts, labels
    held = dict(zip(labels, counts.tolist(), strict=True))
    unknown = [label for label in labels if label not in read.reports]
    if unknown:
        raise _Unclear(
            f"The answer “{plain(unknown[0], 40)}” has no column in the table: name its column so, or mend the reports."
        )
    return np.array([held.get(name, 0) for name in read.reports]), read.reports


_CHANNELS: dict[str, Callable[[tuple[str, ...], Any], _OfChannel]] = {
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
        st.file_uploader("Report files", type=list(EXTENSIONS), key="other_unary_files", help=TEMPORARY)
        files = state.chosen_files("other_unary_files")
        if not files:
            state.say_if_let_go()
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        encoding = st.segmented_control(
            "Encoding",
            ["rappor", "oue"],
            default="rappor",
            format_func={"rappor": "Symmetric (basic RAPPOR)", "oue": "Optimised (OUE)"}.__getitem__,
            key="other_encoding",
        )
        text = st.text_input("ε of one report", key="other_epsilon", placeholder="1.5 or ln 3", width=150)
    if not files:
        raise _Missing("")
    file = files[0]
    read = state.read_once("unary", file.file_id, [file], lambda: read_unary(Source(file.name, file.bytes())))
    n = read.n
    if n is None:
        with right:
            n = int(
                st.number_input(
                    "Reports N", 1, None, max(int(read.support.max()), 1), key="other_n", width=200
                )
            )
        if n < read.support.max():
            most = plain(read.labels[int(read.support.argmax())], 40)
            raise _Unclear(
                f"“{most}” has {int(read.support.max()):,} ones, more than there are reports: mend N."
            )
    if not text.strip():
        raise _Missing("Say how private the reports are: the ε of one report.")
    try:
        protocol = UnaryEncoding(len(read.labels), typed.number(text), encoding == "oue")
    except ValueError as problem:
        raise _Unclear(f"{problem}.") from None
    return _analysed_bits(read, n, protocol, level, users, file)


def _analysed_bits(
    read: UnaryReports, n: int, protocol: UnaryEncoding, level: float, users: Users, file: state.File
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
        with memory.room(memory.BYTES_PER_CATEGORY * protocol.k + (0 if bits is None else 8 * bits[0].size)):
            return analyse_unary(read.support, protocol, n, level, users, bits)

    key = (file.file_id, protocol, n, level, users)
    result = state.cached("other_unary", key, analyse)
    script = _SCRIPT_OF_UNARY.format(
        file=file.name,
        k=protocol.k,
        epsilon=protocol.epsilon,
        optimized=protocol.optimized,
        n=n,
        level=level,
        users=users,
    )
    return Analysed(read.labels, read.support, "Ones", result, tuple(notes), script)


_PRINTED = """print("epsilon:", found.epsilon, "fit:", found.fit, "certificate:", found.certificate)
for i, name in enumerate(names):
    print(name, {key: float(values[i]) for key, values in found.estimates.items()})
    if found.intervals is not None:
        print("   interval of Inv:", float(found.intervals[0].low[i]), float(found.intervals[0].high[i]))
"""
_SCRIPT_OF_CHANNEL = '''"""Repeats the analysis of collected reports. Run it from the folder that holds rr_core."""

from rr_core.protocols import Channel
from rr_core.reports.other_protocols import analyse_channel

names = {names}
channel = {code}
found = analyse_channel({counts}, channel, level={level!r}, users={users!r})
''' + _PRINTED.replace("{", "{{").replace("}", "}}")
_SCRIPT_OF_UNARY = '''"""Repeats the analysis of collected reports. Run it from the folder that holds rr_core."""

from pathlib import Path

from rr_core.io import Source
from rr_core.io.unary_reports import read_unary  # needs pyarrow
from rr_core.protocols import UnaryEncoding
from rr_core.reports.other_protocols import analyse_unary

FILE = {file!r}  # it stayed with you: put it beside this script

read = read_unary(Source(FILE, Path(FILE).read_bytes()))
names, bits = read.labels, None if read.bits is None else (read.bits, read.times)
protocol = UnaryEncoding({k}, {epsilon!r}, optimized={optimized})
found = analyse_unary(read.support, protocol, {n}, level={level!r}, users={users!r}, bits=bits)
''' + _PRINTED.replace("{", "{{").replace("}", "}}")
