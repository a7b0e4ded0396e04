"""Text from a stranger's file: as one line without invisible characters, as a cell that no spreadsheet runs, and as
markdown. Labels are kept as they are, and made safe at the moment they are shown: one function per place they go to. (For
charts: `rr_core.words.phrases`.)"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

# Unicode's invisible direction marks, embeddings, overrides and isolates: any of them can make
# the text around a label read backwards. Soft hyphens, and blanks and joints without a width. Joiners
# (U+200C, U+200D) stay: emoji, Persian and Hindi need them.
_INVISIBLE = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]")
# C0 and C1 controls, Unicode's own line and paragraph separators, byte-order marks.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
# Half of a surrogate pair cannot be encoded as UTF-8, so it could not be sent to a browser.
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# The first characters that make a spreadsheet evaluate a cell; the last four are the full-width
# forms, which some spreadsheets accept as well.
_FORMULA_START = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def plain(text: str, max_length: int = 40) -> str:
    """One line of text without control or direction characters, at most `max_length` long.

    Longer text is cut and ends in "…". Nothing is escaped: for `st.text`, or before `markdown`.

    Raises
    ------
    ValueError
        If `max_length` is below 1.

    >>> plain("one\\ntwo")
    'one two'
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    # Far more than is kept, so that a label of ten megabytes costs nothing.
    text = _INVISIBLE.sub("", text[: 8 * max_length + 64])
    text = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text)).strip()
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def some(texts: Sequence[str], most: int = 5) -> str:
    """The first of them, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def csv_cell(label: str) -> str:
    """A label for a CSV cell that no spreadsheet will run as a formula.

    Text whose first visible character is one of ``= + - @`` (or a tab or line break) gets an
    apostrophe in front; plain numbers such as -9000 are left alone. Quoting is the writer's work.

    >>> csv_cell("=1+1"), csv_cell("-5"), csv_cell("bus")
    ("'=1+1", '-5', 'bus')
    """
    if _PLAIN_NUMBER.fullmatch(label.strip()):
        return label
    starts_badly = label.startswith(_FORMULA_START) or label.lstrip().startswith(_FORMULA_START)
    return "'" + label if starts_badly else label


def csv_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table for a CSV file. Names in the first column, and of categories behind groups, become cells;
    where that changes one of them, there is an additional last column with the original names.

    These are JSON text: the quotation mark in front keeps a spreadsheet from running them, and any reader of JSON gives
    them back.

    >>> csv_columns({"category": ["=1+1", "bus"], "share": [0.25, 0.75]})["category_json"]
    ['"=1+1"', '"bus"']
    """
    made, first = dict(columns), next(iter(columns))
    for name in (first, "category") if first == "group" else (first,):
        labels = columns[name]
        if not len(labels) or not isinstance(labels[0], str):
            continue
        made[name] = list(map(csv_cell, labels))
        if not all(map(operator.eq, labels, made[name])):
            written = [json.dumps(label, ensure_ascii=False) for label in labels]
            made["group_json" if name == "group" else "category_json"] = written
    return made


# Where a bare address or mail address would be made a link, escaped or not: a joiner there breaks it.
_AUTOLINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=[.])|(?=@)", re.IGNORECASE)
_JOINER = "\u2060"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/])")


def markdown(text: str, max_length: int = 400) -> str:
    """Text for a Streamlit call that reads markdown (`st.error`, `st.caption`), shown literally.

    Every character that markdown, Streamlit's ``:colour[…]``, LaTeX or automatic links could act on
    is escaped. Error sentences of `rr_core.io` quote the file, so they need it.
    """
    return _MARKDOWN.sub(r"\\\1", _AUTOLINK.sub(_JOINER, plain(text, max_length)))


def starred(text: str) -> str:
    """Our own markdown with MLE* in it, whose asterisk must not begin italics."""
    return text.replace("MLE*", "MLE\\*")
