"""What can be looked up: glossary, questions, symbols, names, formulas, estimators, misprints, sources.

The texts are in ``rr_core/data/reference/``, one TOML file per part, and are read here. All text is Markdown with LaTeX
between dollars. ``{{name}}`` or ``{{name:format}}`` stands for a number that is filled in when the text is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rr_core.data import read_toml

PARTS = ("glossary", "questions", "symbols", "names", "formulas", "estimators", "misprints", "sources")

_MARKUP = re.compile(r"[\\$*`{}]|mathrm|quad|text")
_PUNCTUATION = "?!,;:.\"'“”"
# Words of a question that do not say what it is about.
_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "am an and are at be by can could did do does for from have how if in is it its may much my of on or shall "
        "should so that the their there these they this to we what when where which who why will with would you your",
    )
)


@dataclass(frozen=True)
class Entry:
    """One thing to look up: what it is called, what there is to say, and other words by which readers search for it."""

    title: str
    text: str
    search: str = ""

    def matches(self, query: str) -> bool:
        """Whether every word of the query occurs in the entry; case, markup, punctuation and, beside other words, small
        ones (*the*, *should*, *what*) are ignored.

        >>> Entry("$φ_i$", "Share of the **reports**.", "phi").matches("what are the REPORTS phi?")
        True
        """
        everything = _MARKUP.sub("", f"{self.title} {self.text} {self.search}").casefold()
        words = [word.strip(_PUNCTUATION) for word in _MARKUP.sub("", query).casefold().split()]
        telling = [word for word in words if word not in _SMALL_WORDS]
        return all(word in everything for word in telling or words)

    def is_named(self, query: str) -> bool:
        """Whether the query is what the entry is called, or the beginning of it; case and markup are ignored.

        >>> Entry("Support", "Where a distribution is positive.").is_named("support")
        True
        """
        names = (_MARKUP.sub("", name).strip().casefold() for name in (*self.title.split("·"), self.search))
        wanted = " ".join(_MARKUP.sub("", query).casefold().split()).strip(_PUNCTUATION)
        return bool(wanted) and any(re.match(rf"{re.escape(wanted)}\b", name) for name in names)


@dataclass(frozen=True)
class Question:
    """A question that a student asks.

    Attributes:
        entry: the question, a short answer, and everyday words to find it by.
        page: address of the page that shows the answer, "" for home.
        seen: where on the page.
        part: the part of the page, as its link has it; "" for none.
    """

    entry: Entry
    page: str
    seen: str
    part: str = ""


@dataclass(frozen=True)
class Formula:
    """A formula.

    Attributes:
        name: what it is.
        latex: the formula, for display, in lines short enough for a phone.
        source: where it comes from.
        code: dotted names of what computes it.
        note: what its letters mean, or what to make of it.
    """

    name: str
    latex: str
    source: str
    code: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Misprint:
    """A slip in a source.

    Attributes:
        title: where it stands, or what it says.
        printed: what is printed.
        right: what is right.
        check: what a computation shows, with the names of its numbers ("numbers" of the same file) in double braces.
        tests: names of the tests that hold it.
    """

    title: str
    printed: str
    right: str
    check: str = ""
    tests: tuple[str, ...] = ()


@cache
def read(part: str) -> Mapping[str, Any]:
    """The file of one of `PARTS`, as TOML gives it; ``name`` and ``about`` are the part's name and what it holds.

    Raises:
        ValueError: when there is no such part.

    >>> read("glossary")["name"]
    'Glossary'
    """
    if part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    return read_toml(f"reference/{part}.toml")


def entries(part: str, kind: str) -> tuple[Entry, ...]:
    """The entries of one kind in a part: "method" in names, "best" in estimators, "term" in the glossary, "text" in
    sources."""
    return tuple(Entry(**row) for row in read(part)[kind])


def questions() -> tuple[Question, ...]:
    """The questions of a student, in the order of the path."""
    return tuple(
        Question(
            Entry(row["title"], row["text"], row["search"]), row["page"], row["seen"], row.get("part", "")
        )
        for row in read("questions")["question"]
    )


def formulas() -> dict[str, tuple[Formula, ...]]:
    """All formulas, by topic."""
    return {
        topic["name"]: tuple(Formula(**{**row, "code": tuple(row["code"])}) for row in topic["formula"])
        for topic in read("formulas")["topic"]
    }


def misprints() -> dict[str, tuple[Misprint, ...]]:
    """All misprints, by source."""
    return {
        source["name"]: tuple(
            Misprint(**{**row, "tests": tuple(row.get("tests", ()))}) for row in source["misprint"]
        )
        for source in read("misprints")["source"]
    }
