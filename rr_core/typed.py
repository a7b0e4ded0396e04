"""Numbers that a person typed in a row."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[\s,;/|]+")


def words(text: str) -> list[str]:
    """What stands between commas, spaces, semicolons, slashes or bars; percent signs are left out."""
    return [word for word in _SEPARATORS.split(text.replace("%", " ")) if word]
