"""Words from files, made safe to show and to save.

Labels come from strangers' files. They are kept as they are (`rr_core.io.labels` removes only control
characters) and made safe at the moment they are shown: one function per place they go to. Pure
functions, no Streamlit. What charts need is in `rr_core.figures.wording`, what CSV files need in `rr_core.io.text`.
"""

from __future__ import annotations

import re

from rr_core.plain_text import plain

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
