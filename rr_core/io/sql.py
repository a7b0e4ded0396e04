"""The one query that turns a log of reports into ``category,count``, where the log lives."""

from __future__ import annotations

import re

from rr_core.data import read_toml
from rr_core.io.columns import WORDS

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r'"(?:[^"]|"")*"|[^."]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
_RESERVED = WORDS["sql"]
_QUERIES: dict[str, str] = read_toml("queries.toml")


def group_by(table: str, column: str) -> dict[str, str]:
    """Queries that count the reports in `column` of `table`, by the name of what runs them.

    Keys: "Standard SQL", "Spark (Python)", "DuckDB". The last two also write a CSV file. Missing reports (NULL) come
    out as one line without a category. Names are quoted only where they need it: a quoted name must match upper and
    lower case in many engines.

    Args:
        table: a name, with its schema before a dot if it has one. A dot inside a name needs double quotes around
            it.
        column: the name as it is; everything in it belongs to it.

    Raises:
        ValueError: an empty name, or one with a NUL character.
    """
    for argument, value in (("table", table), ("column", column)):
        if not value.strip() or "\0" in value:
            raise ValueError(f"{argument} must be a name without NUL characters, got {value!r}")
    parts = _parts(table.strip())
    names = {
        "name": _sql(column),
        "source": ".".join(map(_sql, parts)),
        "spark_table": _python(".".join(map(_spark, parts))),
        "spark_column": _python(_spark(column)),
    }
    return {runner: query.format(**names) for runner, query in _QUERIES.items()}


def _parts(table: str) -> list[str]:
    """The names in a dotted name, quotation marks removed. What is not so built is one name."""
    if not _DOTTED.fullmatch(table):
        return [table]
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in _PART.findall(table)]


def _sql(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _spark(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _python(text: str) -> str:
    """A Python literal in double quotes where that needs no escapes."""
    return f'"{text}"' if text.isprintable() and not set(text) & set('"\\') else repr(text)
