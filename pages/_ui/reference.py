"""The parts of the reference page (glossary, questions, symbols, names, formulas, estimators compared, misprints,
sources): how each is shown, numbers filled into its texts, and the search across them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import methodcaller
from typing import Any

import streamlit as st

from pages._ui import guidance, link, navigation, widgets
from pages._ui.frame import part_in_link
from rr_core import reference
from rr_core.experiments.claims import CLOSE, best_when
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS
from rr_core.experiments.ranking import standing
from rr_core.experiments.storage import stored_result
from rr_core.plain_text import markdown
from rr_core.populations import TABLES
from rr_core.reference import Entry, Formula, Misprint
from rr_core.registry import REGISTRY
from rr_core.rounding import number, percent
from rr_core.scenario import PRESETS, WORST_AVERAGE
from rr_core.words.phrases import roughly_times, table

_PLACEHOLDER = re.compile(r"\{\{(\w+(?:\.\w+)*)(?::([^{}]+))?\}\}")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A Markdown table; a cell may hold anything but a vertical bar."""
    st.markdown(table(head, "l" * len(head), rows))


def show_entries(entries: Iterable[Entry]) -> None:
    """Entries one below the other."""
    st.markdown("\n\n".join(map(_as_markdown, entries)))


def _as_markdown(entry: Entry) -> str:
    # The dollars of a displayed formula must begin a line.
    between = "\n\n" if entry.text.startswith(("$$", "**")) else " — "
    return f"**{entry.title}**{between}{entry.text}"


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """The text with its placeholders filled: ``{{path}}`` is the value at a path of keys, attributes and places in
    ``numbers``: ``a.b.0``; ``{{path:format}}`` writes it in one of the formats below, which may be followed by its
    number of digits, or as Python's format specification says: ``{{path:percent 4}}``, ``{{path:,}}``."""
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


_FORMATS: Mapping[str, Callable[..., str]] = {
    "number": number,
    "percent": percent,
    "vector": lambda values: f"({', '.join(number(float(value)) for value in values)})",
    "times": roughly_times,
}


def symbol_entries() -> tuple[Entry, ...]:
    texts = reference.read("symbols")
    letters = (row for group in texts["group"] for row in group["symbols"])
    return (
        *(
            Entry(f"{row['letter']} · {row['code']}", row["meaning"], row.get("search", ""))
            for row in letters
        ),
        *(Entry(f"`{row['code']}`", f"{row['meaning']}.") for row in texts["other_names"]["objects"]),
    )


def show_symbols() -> None:
    texts = reference.read("symbols")
    for group in texts["group"]:
        st.subheader(group["name"])
        rows = [(row["letter"], row["code"], row["meaning"]) for row in group["symbols"]]
        show_table(("Symbol", "In code", "Meaning, unit, range"), rows)
    others = texts["other_names"]
    st.subheader(others["name"])
    show_table(("Name", "What it is"), [(f"`{row['code']}`", row["meaning"]) for row in others["objects"]])


def name_entries() -> tuple[Entry, ...]:
    letters = (
        Entry(row["letter"], f"here: {row['here']}; elsewhere: {row['elsewhere']}.")
        for row in reference.read("names")["letters"]
    )
    return (*reference.entries("names", "method"), *letters)


def show_names() -> None:
    st.subheader("Methods")
    show_entries(reference.entries("names", "method"))
    st.subheader("Letters that clash")
    texts = reference.read("names")
    show_table(
        ("Letter", "Here", "Elsewhere"),
        [(row["letter"], row["here"], row["elsewhere"].replace("|", "\\mid ")) for row in texts["letters"]],
    )
    st.caption(texts["note"])


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
    """Two columns, the left one first; one on a phone."""
    entries = glossary_entries()
    half = (len(entries) + 1) // 2
    for column, part in zip(st.columns(2, gap="large"), (entries[:half], entries[half:]), strict=True):
        with column:
            show_entries(part)


def question_entries() -> tuple[Entry, ...]:
    return tuple(question.entry for question in reference.questions())


def show_answers(entries: Iterable[Entry]) -> None:
    """These questions, each with its answer and a link to the page that shows it."""
    asked = {question.entry: question for question in reference.questions()}
    for question in map(asked.__getitem__, entries):
        st.markdown(f"**{question.entry.title}** {question.entry.text}")
        _link(navigation.BY_ADDRESS[question.page], question.seen, question.part)


def show_pages(entries: Iterable[Entry]) -> None:
    """Links to the pages of these questions."""
    questions = {entry.title for entry in entries}
    for page in navigation.BY_ADDRESS.values():
        if page.question in questions:
            _link(page, page.answers)


def _link(page: navigation.Entry, says: str, part: str = "") -> None:
    """A link to a page, or a part of it, and what is seen there."""
    query = link.current().to_query() | ({"part": part} if part else {})
    with st.container(gap=None):
        navigation.link_to(page.file, page.label, page.icon, query)
        st.caption(says)


def source_entries() -> tuple[Entry, ...]:
    return (*reference.entries("sources", "text"), *_data_entries())


def _data_entries() -> tuple[Entry, ...]:
    """The populations that are tables, with their sources."""
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


_NAMES = {entry.name: entry.label.replace("*", r"\*") for entry in REGISTRY} | {"ibu": "IBU"}


@cache
def _main_grid() -> dict[str, Any]:
    """Mean squared errors of the recorded runs of the paper's grid, by the names that the texts use for them."""
    grid = standing(stored_result(MAIN_GRID), "mse", CLOSE)
    return {
        "n_settings": len(MAIN_GRID),
        "n_apart": grid.n_different,
        "n_unsettled": grid.n_unsettled,
        "n_collections": MAIN_SETTINGS.seeds,
        "n_close": grid.n_close,
        "close": CLOSE,
        "typical_ratio": grid.median_ratio,
        "largest_ratio": grid.worst_ratio,
        "surely_best": grid.n_best,
    }


def when_best() -> tuple[Entry, ...]:
    """When each estimator is best, with the numbers of the paper's grid."""
    return tuple(
        replace(entry, text=fill(entry.text, _main_grid()))
        for entry in reference.entries("estimators", "best")
    )


_WHICH = Entry(
    guidance.QUESTION,
    guidance.WHICH,
    "what which one estimator estimate repair to choose take advice",
)


def estimator_entries() -> tuple[Entry, ...]:
    texts = reference.read("estimators")
    promises = (
        Entry(f"{name}: {row['promise'].lower()}?", row[key], "estimators compared")
        for row in texts["promises"]
        for key, name in _NAMES.items()
    )
    costs = (
        Entry(f"{row['estimator']}: cost, zeros", f"{row['time']}; zeros: {row['zeros']}.")
        for row in texts["costs"]
    )
    return (_WHICH, *when_best(), *promises, *costs)


def show_estimators() -> None:
    texts = reference.read("estimators")
    st.subheader(guidance.QUESTION)
    st.markdown(guidance.WHICH)
    st.subheader("What each promises")
    show_table(
        ("", *_NAMES.values()), [(row["promise"], *(row[key] for key in _NAMES)) for row in texts["promises"]]
    )
    st.markdown(texts["promises_note"])
    st.subheader("What it costs, and what it sets to zero")
    show_table(
        ("Estimator", "Time here", "Categories set to zero"),
        [(row["estimator"], row["time"], row["zeros"]) for row in texts["costs"]],
    )
    st.markdown(texts["costs_note"])
    st.subheader("When each is best")
    show_entries(when_best())
    st.caption(fill(texts["best_note"], _main_grid()))


@cache  # of the process: a visitor can empty those of Streamlit
def _misprint_numbers() -> dict[str, Any]:
    """The numbers that the texts on misprints refer to, by name; put together once for all sessions."""
    stored = reference.read("misprints")["numbers"]
    preset = next(one.name for one in PRESETS if one.scenario == WORST_AVERAGE)
    return {
        **stored,
        "worst_rates": [
            _rate(draws["n_worst"], draws["n_with_negatives"]) for draws in stored["worst_in_single_draws"]
        ],
        "main_grid": _main_grid(),
        "concentrated": _concentrated(),
        "preset": preset.replace("*", "\\*"),
    }


def _rate(n_worst: int, n_with_negatives: int) -> str:
    """How often MLE* was the worst of the three in a single collection with negatives."""
    if not n_worst:
        return f"in none of {n_with_negatives:,}"
    return f"**1 in {round(n_with_negatives / n_worst):,}** ({n_worst:,} of {n_with_negatives:,})"


def _concentrated() -> dict[str, int]:
    """How often InvP is best in the settings of the main grid with a concentrated population."""
    count = best_when(stored_result(MAIN_GRID), "inv_p", "concentrated").count
    assert count is not None
    users = [cell.n for cell in count.exceptions]
    return {
        "n_settings": count.total,
        "n_best": count.yes,
        "n_not_best": count.no,
        "fewest_users": min(users),
        "most_users": max(users),
    }


def misprint_entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(misprint.title, f"printed: {misprint.printed} Right: {misprint.right}", f"misprint {source}")
        for source, misprints in reference.misprints().items()
        for misprint in misprints
    )


def show_misprints() -> None:
    numbers = _misprint_numbers()
    st.caption(reference.read("misprints")["note"])
    for source, misprints in reference.misprints().items():
        st.subheader(source)
        for misprint in misprints:
            with st.expander(misprint.title):
                st.markdown(_misprint_markdown(misprint, numbers))


def _misprint_markdown(misprint: Misprint, numbers: Mapping[str, Any]) -> str:
    lines = [f"**Printed.** {misprint.printed}", f"**Right.** {misprint.right}"]
    check = fill(misprint.check, numbers)
    if check.endswith("\n"):
        check += "\n"  # a table or a list ends at an empty line
    tests = " ".join(f"`{name}`" for name in misprint.tests)
    if check or tests:
        lines.append(f"**Check.** {check} {tests}")
    return "\n\n".join(lines)


_MOST_SHOWN = 30  # hits of one part
_SEARCH = "reference_search"


@dataclass(frozen=True)
class Part:
    """One part: its name, what it holds in a few words, how it is shown, what can be found in it, and how that is shown
    among other finds."""

    name: str
    about: str
    show: Callable[[], None]
    entries: Callable[[], tuple[Entry, ...]]
    show_found: Callable[[Sequence[Entry]], None] = show_entries


def _part(key: str, *shows: Callable[..., Any]) -> Part:
    return Part(reference.read(key)["name"], reference.read(key)["about"], *shows)


PARTS = {
    "glossary": _part("glossary", show_glossary, glossary_entries),
    "questions": _part("questions", lambda: show_answers(question_entries()), question_entries, show_answers),
    "symbols": _part("symbols", show_symbols, symbol_entries),
    "names": _part("names", show_names, name_entries),
    "formulas": _part("formulas", show_formulas, formula_entries),
    "estimators": _part("estimators", show_estimators, estimator_entries),
    "misprints": _part("misprints", show_misprints, misprint_entries),
    "sources": _part("sources", show_sources, source_entries),
}


# The key of the part on screen.
PART = part_in_link("reference", {key: part.name for key, part in PARTS.items()})


def pick(query: str) -> Part:
    """Widget that chooses the part to show, and ends the search; returns the part. While searching, none is lit."""

    def take(key: str) -> None:
        PART.change(key)
        st.session_state[_SEARCH] = ""

    st.pills(
        "Parts of the reference",
        list(PARTS),
        required=not query,
        format_func=lambda key: PARTS[key].name,
        label_visibility="collapsed",
        **widgets.widget_arguments("part", None if query else PART.current(), take),
    )
    return PARTS[PART.current()]


def search_box() -> str:
    """Widget for the search; returns the query, "" without one."""
    query: str = st.text_input(
        "Look up a word, a symbol or a question in all parts",
        placeholder="for instance: negative, which should I use, norm-sub, phi",
        key=_SEARCH,
        max_chars=60,
    )
    return query.strip()


def search_results(query: str) -> None:
    """All entries that match the query, grouped by part; what is called so comes first, then answers and pages."""
    st.caption(
        f"Entries that mention “{markdown(query)}”. Empty the box, or choose a part, to leave the search."
    )
    is_named = methodcaller("is_named", query)
    pages = tuple(Entry(page.question, page.answers) for page in navigation.BY_ADDRESS.values())
    searched = [(part.name, part.entries(), part.show_found) for part in PARTS.values()]
    answers = searched.pop(list(PARTS).index("questions"))
    finds = []
    for name, entries, show in (answers, ("Pages", pages, show_pages), *searched):
        if hits := [entry for entry in entries if entry.matches(query)]:
            finds.append((name, sorted(hits, key=is_named, reverse=True), show))
    for name, hits, show in sorted(finds, key=lambda find: not any(map(is_named, find[1]))):
        st.subheader(name)
        show(hits[:_MOST_SHOWN])
        if len(hits) > _MOST_SHOWN:
            st.caption(f"… and {len(hits) - _MOST_SHOWN} more: choose the part above to see them all.")
    if not finds:
        st.info(f"Nothing here says “{markdown(query)}”. Try a shorter word, or choose a part above.")
