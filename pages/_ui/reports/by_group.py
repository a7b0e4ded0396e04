"""Numbers of a design that differ by group: in a column of the file, or in a small table that is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from rr_core.io.people import People
from rr_core.io.report_results import ReportsInUse
from rr_core.limits import TYPED_LETTERS_MAX
from rr_core.plain_text import plain
from rr_core.reports.analysis import ByGroup, Collecting
from rr_core.reports.by_group import Stated, Varied, designs_of, read_table
from rr_core.reports.designs import DESIGNS, ENCODINGS, Missing, Parameter, made_of, numbers_of

_HOW = {"same": "Yes", "column": "No: see a column", "table": "No: I type them"}
Vary = Callable[[Sequence[Parameter]], Varied | None]


def choose(
    by: Sequence[str], columns: Sequence[str], before: Varied | None, numbers: Sequence[Parameter]
) -> Varied | None:
    """Widgets for how the ``numbers`` of a design differ ``by`` group, in one of the ``columns`` or a small table; None
    where they are the same for all, and where there are no groups. Raises Missing."""
    if not by or not numbers:
        return None
    named = tuple(number.key for number in numbers)
    if before is not None and not {*before.keys} <= {*named}:
        before = None
    begun = "same" if before is None else "column" if before.columns else "table"
    how = st.segmented_control(
        "Made alike in all groups?",
        list(_HOW),
        required=True,
        default=begun,
        format_func=_HOW.__getitem__,
        key="reports_varied",
        help="Groups may have had another ε, or another chance: wave 1 at ε = 1, wave 2 at ε = 2. Each group is then "
        "estimated by its own, and all together by the sum of these.",
    )
    if how == "same":
        return None
    if how == "table":
        listed = "; ".join(f"{number.label[:1].lower()}{number.label[1:]}" for number in numbers)
        example = " ".join(number.example for number in numbers)
        text = st.text_area(
            f"A line for each group: its name, then {listed}",
            "" if before is None else before.table,
            key="reports_varied_table",
            placeholder="\n".join(f"{group} {example}" for group in ("north", "south")),
            max_chars=TYPED_LETTERS_MAX,
            height=100,
        )
        if not text.strip():
            raise Missing("Write a line for each group: its name, then its numbers.")
        return Varied(named, (), text)
    known = {} if before is None else dict(zip(before.keys, before.columns, strict=False))
    chosen = dict[str, str]()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for number in numbers:
            column = st.selectbox(
                f"Column of: {number.label}",
                columns,
                columns.index(known[number.key]) if known.get(number.key) in columns else None,
                placeholder="None: the same for all" if len(numbers) > 1 else "Choose a column",
                format_func=lambda name: plain(name, 40),
                key=f"reports_varied_{number.key}",
                width=330,
            )
            if column is not None:
                chosen[number.key] = column
    if not chosen:
        raise Missing("Choose the column that says how each group's reports were made.")
    return Varied(tuple(chosen), tuple(chosen.values()))


def made_by_group(
    made: ReportsInUse, people: People
) -> tuple[Collecting | ByGroup, tuple[tuple[str, str], ...]]:
    """What made the reports of each group, or of all where that is one, and in words each number that differs."""
    settings, reports = made.settings, [str(name) for name in made.collected.labels]
    varied, design = settings.varied, DESIGNS[settings.design]
    assert varied is not None
    told, encodings = dict(settings.stated), {name: key for key, name in ENCODINGS.items()}
    encoding = encodings.get(told.get("Encoding", ""), "rappor")
    numbers = numbers_of(design, encoding)
    if design.key == "forced":
        numbers = forced_numbers(reports)
    if varied.columns:
        names, values = tuple(f"column “{plain(name, 40)}”" for name in varied.columns), people.stated or ()
    else:
        names, values = (
            ("small table",) * len(varied.keys),
            read_table(varied.table, people.groups, len(varied.keys)),
        )

    def make(texts: Sequence[str]) -> Collecting:
        own = dict(zip(varied.keys, texts, strict=True))
        each = [own.get(number.key, told.get(number.label, "")) for number in numbers] or list(texts)
        return made_of(design, made.k, each, settings.privacy_kind, encoding)

    protocol = designs_of(people.groups, Stated(names, values), make)
    labels = {number.key: number.label for number in numbers} | {settings.privacy_kind: varied.keys[0]}
    words = tuple(
        (
            labels.get(key, key),
            "; ".join(
                f"{plain(group, 40)} {of_group[at][0]}"
                for group, of_group in zip(people.groups, values, strict=True)
            ),
        )
        for at, key in enumerate(varied.keys)
    )
    return protocol, words


def forced_numbers(labels: Sequence[str]) -> tuple[Parameter, ...]:
    """The number of each answer of which the die asked for some."""
    return tuple(Parameter(label, f"Forced to say {plain(label, 30)}", "1/6 or 0") for label in labels)
