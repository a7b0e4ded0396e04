"""Category names made safe and short for charts: names may come from a stranger's file."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Unicode's invisible direction marks, embeddings, overrides and isolates: any of them can make
# the text around a label read backwards. Joiners (U+200C, U+200D) stay: emoji, Persian and Hindi
# need them.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# C0 and C1 controls, Unicode's own line and paragraph separators, byte-order marks.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
# Half of a surrogate pair cannot be encoded as UTF-8, so it could not be sent to a browser.
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str, max_length: int = 40) -> str:
    """One line of text without control or direction characters, at most `max_length` long.

    Longer text is cut and ends in "…". Nothing is escaped: for `st.text`, or before `markdown`.

    Raises
    ------
    ValueError
        If `max_length` is below 1.
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    # Far more than is kept, so that a label of ten megabytes costs nothing.
    text = _BIDI.sub("", text[: 8 * max_length + 64])
    text = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text)).strip()
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def display(label: str, max_length: int = 40) -> str:
    """A label for Plotly text (ticks, hover, annotations): `plain`, with ``& < >`` escaped.

    Plotly reads a small HTML, links included, so escaping is what keeps a label a label. The length
    is counted before escaping: an entity is one character to the reader.
    """
    return html.escape(plain(label, max_length), quote=False)


def plain_names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories, cut and cleaned but not escaped: labels, or numbers counted from 1."""
    if labels is None:
        return [str(i + 1) for i in categories]
    return [plain(labels[i], longest) for i in categories]


def names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories as they may stand in a chart."""
    return [html.escape(name, quote=False) for name in plain_names(labels, categories, longest)]
