"""What a reader can look up, and how several are set out. All text is markdown with LaTeX in dollars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

_MARKUP = re.compile(r"[\\$*`{}]|mathrm|quad|text")


@dataclass(frozen=True)
class Entry:
    """One thing to look up: what it is called, what there is to say, and other words readers try."""

    title: str
    body: str
    words: str = ""

    def matches(self, wanted: str) -> bool:
        """Whether every word of ``wanted`` occurs, ignoring case and markup."""
        text = _MARKUP.sub("", f"{self.title} {self.body} {self.words}").casefold()
        return all(word in text for word in _MARKUP.sub("", wanted).casefold().split())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A markdown table; a cell may hold anything but a vertical bar."""
    lines = [head, [":--"] * len(head), *rows]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def in_two_columns(entries: Sequence[Entry]) -> None:
    """Down the left column, then down the right one; one below the other on a phone."""
    half = (len(entries) + 1) // 2
    for column, part in zip(st.columns(2, gap="large"), (entries[:half], entries[half:]), strict=True):
        with column:
            stacked(part)


def stacked(entries: Iterable[Entry]) -> None:
    """One entry below the other."""
    st.markdown("\n\n".join(map(_as_markdown, entries)))


def _as_markdown(entry: Entry) -> str:
    # The dollars of a displayed formula must begin a line.
    between = "\n\n" if entry.body.startswith("$$") else " — "
    return f"**{entry.title}**{between}{entry.body}"
