"""Text from a stranger's file as one line without invisible characters."""

from __future__ import annotations

import re

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

    >>> plain("one\\ntwo")
    'one two'
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    # Far more than is kept, so that a label of ten megabytes costs nothing.
    text = _BIDI.sub("", text[: 8 * max_length + 64])
    text = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text)).strip()
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"
