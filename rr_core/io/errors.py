"""The exceptions that a file or a domain can cause, and how text is quoted in their sentences."""

from __future__ import annotations

from rr_core.plain_text import plain


class UnreadableFile(ValueError):
    """A file from which no distribution can be made.

    ``str(error)`` is one plain sentence, two at most, for a person who does not program: what is
    wrong, where, and how to mend it. It quotes the file, so show it as text and not as markdown
    (the app escapes it).
    """


class WrongDomain(ValueError):
    """Reports and a domain that do not fit together.

    ``str(error)`` keeps the promise of `UnreadableFile`: one or two plain sentences, to be shown as text.
    """


def quote(text: str, max_length: int = 40) -> str:
    """The offending text, shortened and in quotation marks."""
    return f"“{plain(text, max_length)}”"


def megabytes(size: int) -> str:
    """A limit in words: ``200 MB``."""
    return f"{size / 2**20:,.0f} MB"
