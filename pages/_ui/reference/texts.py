"""Symbols, names, formulas, glossary and sources on screen; how entries are set out, and numbers filled into texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rr_core import reference
from rr_core.figures.style import number, percent
from rr_core.figures.wording import about
from rr_core.populations import TABLES
from rr_core.reference import Entry, Formula

_PLACEHOLDER = re.compile(r"\{\{(\w+(?:\.\w+)*)(?::([^{}]+))?\}\}")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A Markdown table; a cell may hold anything but a vertical bar."""
    lines = [head, [":--"] * len(head), *rows]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def show_in_two_columns(entries: Sequence[Entry]) -> None:
    """Down the left column, then down the right one; one below the other on a phone."""
    half = (len(entries) + 1) // 2
    for column, part in zip(st.columns(2, gap="large"), (entries[:half], entries[half:]), strict=True):
        with column:
            show_entries(part)


def show_entries(entries: Iterable[Entry]) -> None:
    """One entry below the other."""
    st.markdown("\n\n".join(map(_as_markdown, entries)))


def _as_markdown(entry: Entry) -> str:
    # The dollars of a displayed formula must begin a line.
    between = "\n\n" if entry.text.startswith("$$") else " — "
    return f"**{entry.title}**{between}{entry.text}"


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """The text with its placeholders filled.

    ``{{path}}`` is the value at a path of keys, attributes and places in ``numbers``: ``a.b.0``. ``{{path:format}}``
    writes it in one of the formats below, which may be followed by its number of digits, or as Python's format
    specification says: ``{{path:percent 4}}``, ``{{path:,}}``.

    Raises:
        KeyError, AttributeError, IndexError: when there is no such value.
    """
    return _PLACEHOLDER.sub(lambda found: _formatted(_at(numbers, found[1]), found[2] or ""), text)


def _at(values: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(values, Mapping):
            values = values[name]
        else:
            values = values[int(name)] if name.isdecimal() else getattr(values, name)
    return values


def _formatted(value: Any, wanted: str) -> str:
    name, _, digits = wanted.partition(" ")
    return (
        _FORMATS[name](value, *([int(digits)] if digits else []))
        if name in _FORMATS
        else format(value, wanted)
    )


def _vector(values: Iterable[float]) -> str:
    return f"({', '.join(number(float(value)) for value in values)})"


_FORMATS: Mapping[str, Callable[..., str]] = {
    "number": number,
    "percent": percent,
    "vector": _vector,
    "times": about,
}


def symbol_entries() -> tuple[Entry, ...]:
    letters = (symbol for group in reference.symbols().values() for symbol in group)
    objects = reference.read("symbols")["other_names"]["objects"]
    return (
        *(Entry(f"{symbol.letter} · {symbol.code}", symbol.meaning, symbol.search) for symbol in letters),
        *(Entry(f"`{row['code']}`", f"{row['meaning']}.") for row in objects),
    )


def show_symbols() -> None:
    for name, group in reference.symbols().items():
        st.subheader(name)
        show_table(
            ("Symbol", "In code", "Meaning, unit, range"), [(s.letter, s.code, s.meaning) for s in group]
        )
    others = reference.read("symbols")["other_names"]
    st.subheader(others["name"])
    show_table(("Name", "What it is"), [(f"`{row['code']}`", row["meaning"]) for row in others["objects"]])


def name_entries() -> tuple[Entry, ...]:
    letters = (
        Entry(row.letter, f"here: {row.here}; elsewhere: {row.elsewhere}.") for row in reference.letters()
    )
    return (*reference.entries("names", "method"), *letters)


def show_names() -> None:
    st.subheader("Methods")
    show_entries(reference.entries("names", "method"))
    st.subheader("Letters that clash")
    show_table(
        ("Letter", "Here", "Elsewhere"),
        [(row.letter, row.here, row.elsewhere.replace("|", "\\mid ")) for row in reference.letters()],
    )
    st.caption(reference.read("names")["note"])


def formula_entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(formula.name, _formula_text(formula), topic)
        for topic, formulas in reference.formulas().items()
        for formula in formulas
    )


def _formula_text(formula: Formula) -> str:
    """Everything but the formula's name."""
    code = ", ".join(f"`{name}`" for name in formula.code)
    lines = "\\begin{gathered}\n" + formula.latex + "\n\\end{gathered}"
    return f"$$\n{lines}\n$$\n\n{formula.note}\n\n:small[From: {formula.source}. In code: {code}.]"


def show_formulas() -> None:
    st.caption(reference.read("formulas")["note"])
    for topic, formulas in reference.formulas().items():
        with st.expander(f"**{topic.replace('*', chr(92) + '*')}**"):
            for formula in formulas:
                st.markdown(f"**{formula.name}**\n\n{_formula_text(formula)}")


def glossary_entries() -> tuple[Entry, ...]:
    return reference.entries("glossary", "term")


def show_glossary() -> None:
    show_in_two_columns(glossary_entries())


def source_entries() -> tuple[Entry, ...]:
    return (*reference.entries("sources", "text"), *_data_entries())


def _data_entries() -> tuple[Entry, ...]:
    """The populations that are published tables, with their sources."""
    return tuple(Entry(table.name, table.source, "data") for table in TABLES.values())


def show_sources() -> None:
    st.subheader("Texts")
    show_entries(reference.entries("sources", "text"))
    st.subheader("To copy")
    for citation in reference.read("sources")["citation"]:
        st.markdown(citation["heading"])
        st.code(citation["bibtex"], language="bibtex")
    st.subheader("Data in the app")
    show_entries(_data_entries())
    st.markdown(reference.read("sources")["data_note"])
