"""The one query that turns a log of reports into ``category,count``, where the log lives."""

from __future__ import annotations

import re

from rr_core.io.columns import WORDS

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r'"(?:[^"]|"")*"|[^."]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
_RESERVED = WORDS["sql"]


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
    source = ".".join(map(_sql, parts))
    name = _sql(column)
    return {
        "Standard SQL": (
            f'SELECT {name} AS category, COUNT(*) AS "count"\nFROM {source}\nGROUP BY {name}\nORDER BY 2 DESC;\n'
        ),
        "Spark (Python)": (
            "from pyspark.sql import functions as F\n\n"
            f"counted = spark.table({_python('.'.join(map(_spark, parts)))})"
            f'.groupBy(F.col({_python(_spark(column))}).alias("category")).count()\n'
            "(\n"
            '    counted.orderBy(F.desc("count"))\n'
            "    .coalesce(1)  # one file\n"
            "    .write.options(header=True, escape='\"')\n"
            '    .csv("category_count")\n'
            ")\n"
        ),
        "DuckDB": (
            "COPY (\n"
            f'    SELECT {name} AS category, COUNT(*) AS "count"\n'
            f"    FROM {source}\n"
            f"    GROUP BY {name}\n"
            "    ORDER BY 2 DESC\n"
            ") TO 'category_count.csv' (HEADER, DELIMITER ',');\n"
        ),
    }


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
