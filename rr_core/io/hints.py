"""What the cells of a column say about its use: numbers of people, codes of answers, bits, a name above them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

Row = Sequence[str]

PERSON_WORDS = frozenset(
    {
        *("user", "uid", "userid", "person", "respondent", "participant", "patient", "subject", "client"),
        *("device", "customer", "member", "employee", "student", "row", "index", "uuid", "guid", "imei"),
    }
)
"""Words in the name of a column that numbers people (or rows), one by one."""

WEIGHT_WORDS = frozenset({"weight", "weights", "wt", "wgt", "weighting", "fnlwgt"})
"""Words in the name of a column of survey weights."""

# Names that head a column of answers, and are hardly an answer among different ones.
_TITLES = frozenset(
    {
        *(
            "code",
            "codes",
            "icd",
            "icd9",
            "icd10",
            "icd-10",
            "icd11",
            "zip",
            "zipcode",
            "postcode",
            "plz",
            "url",
        ),
        *(
            "urls",
            "uri",
            "link",
            "domain",
            "website",
            "site",
            "host",
            "country",
            "city",
            "town",
            "county",
            "region",
        ),
        *("disease", "diagnosis", "product", "brand", "language", "browser", "query", "page", "id", "answer"),
        *(
            "response",
            "report",
            "output",
            "question",
            "type",
            "title",
            "date",
            "hash",
            "token",
            "sku",
            "isbn",
        ),
    }
)
_PLAIN_NAME = re.compile(r"[^\W\d_][\w \-]*")
_UNLIKE_A_NAME = (re.compile(r"\d"), re.compile(r"[./:@]"))
_SERIAL_LEAST, _MARKED = 8, 0.95
_UUID = re.compile(r"(?=.*\d)[0-9a-f]{8}[0-9a-f\-]{4,}|[0-9]{6,}", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,18}")
BITS_LEAST = 3
"""So many columns of 0 and 1 are the bits of unary encoding; fewer may be questions of their own."""


@dataclass(frozen=True)
class Hint:
    """What the first rows of a column look like.

    Attributes
    ----------
    differs
        All values different.
    numbers_people
        And counted from 0 or 1, or like a UUID: one row per person.
    repeats
        At most half as many values as rows: answers, rather than counts.
    bits
        Nothing but 0 and 1.
    """

    differs: bool = False
    numbers_people: bool = False
    repeats: bool = False
    bits: bool = False


def hints(rows: Sequence[Row], width: int) -> tuple[Hint, ...]:
    """A hint for each column."""
    return tuple(_hint([row[i].strip() for row in rows if i < len(row)]) for i in range(width))


def _hint(cells: list[str]) -> Hint:
    filled = [cell for cell in cells if cell]
    distinct = set(filled)
    if len(filled) < _SERIAL_LEAST:
        return Hint(bits=bool(filled) and distinct <= {"0", "1"})
    unlike = len(distinct) == len(filled)
    return Hint(
        differs=unlike,
        numbers_people=unlike and (_is_serial(filled) or all(map(_UUID.fullmatch, filled))),
        repeats=2 * len(distinct) <= len(filled),
        bits=distinct <= {"0", "1"},
    )


def _is_serial(cells: list[str]) -> bool:
    if not all(map(_WHOLE.fullmatch, cells)):
        return False
    numbers = sorted(map(int, cells))
    return numbers[0] <= 1 and numbers[-1] - numbers[0] == len(numbers) - 1


def is_title(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell heads the ones below, which hold it nowhere: by its word, or because all are unlike a name.

    Codes have digits, addresses have dots; "icd10" is a name all the same.
    """
    filled = [other for other in below if other]
    if cell in filled or not filled:
        return False
    if cell.casefold() in _TITLES:
        return True
    if len(filled) < 4 or not _PLAIN_NAME.fullmatch(cell):
        return False
    marked = max(
        sum(bool(mark.search(other)) for other in filled) for mark in _UNLIKE_A_NAME if not mark.search(cell)
    )
    return marked >= _MARKED * len(filled) or (cell.islower() and all(other.isupper() for other in filled))
