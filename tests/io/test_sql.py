"""The GROUP BY that is offered runs, for any names, and its CSV is read as reports."""

from __future__ import annotations

import ast
import csv
import io
import itertools
import sqlite3
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core.io import group_by
from rr_core.io.sql import _RESERVED
from tests.io.reading import as_dict, reports_of

REPORTS = ["red", "blue", None, "red", 'say "hi", twice', "two\nlines", None, "red"]
# SQLite takes any text as a name except NUL.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    str.strip
)


def counted(table: str, column: str) -> list[tuple[Any, int]]:
    """The rows that the query returns for a table so called, which is made by hand."""
    base = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in (table, column)]
    base.execute(f"CREATE TABLE {quoted[0]} ({quoted[1]})")
    base.executemany(f"INSERT INTO {quoted[0]} VALUES (?)", [(report,) for report in REPORTS])
    answer = base.execute(group_by(table, column)["Standard SQL"])
    assert [field[0] for field in answer.description] == ["category", "count"]
    return answer.fetchall()


@given(NAMES)
def test_any_column_name_is_quoted_safely(column: str) -> None:
    assert dict(counted("reports", column)) == Counter(REPORTS)


def test_standard_sql_counts_the_most_frequent_first() -> None:
    columns = ("report", 'my "col', "Order", "1st", "a.b", "--", "x;", "a'b", "\\", *_RESERVED)
    for table, column in itertools.product(("reports", "group", "my log"), columns):
        rows = counted(table, column)
        assert dict(rows) == Counter(REPORTS)
        assert rows[0] == ("red", 3)
        assert [n for _, n in rows] == sorted((n for _, n in rows), reverse=True)
    made = group_by("lake.log", 'my "col')
    query = made["DuckDB"].split("COPY (")[1].split(") TO 'category_count.csv'")[0]
    assert query.split() == made["Standard SQL"].rstrip(";\n").split()


def test_the_csv_is_read_as_reports() -> None:
    csv.writer(sink := io.StringIO()).writerows([("category", "count"), *counted("reports", "report")])
    found = reports_of(sink.getvalue())
    assert as_dict(found) == {"red": 3, "blue": 1, 'say "hi", twice': 1, "two lines": 1}
    assert [dropped.reason for dropped in found.dropped] == ["no category name"]


def test_names_of_tables() -> None:
    for table, sql, spark in (
        ("lake.daily.reports", "lake.daily.reports", '"`lake`.`daily`.`reports`"'),
        ("lake.My Log", 'lake."My Log"', '"`lake`.`My Log`"'),
        ('lake."a.b"', 'lake."a.b"', '"`lake`.`a.b`"'),
        ('"a""b"', '"a""b"', "'`a\"b`'"),
        ('my "log', '"my ""log"', "'`my \"log`'"),
        ("a`b", '"a`b"', '"`a``b`"'),
    ):
        made = group_by(table, "report")
        assert f"FROM {sql}\n" in made["Standard SQL"]
        assert f"FROM {sql}\n" in made["DuckDB"]
        assert f"spark.table({spark})" in made["Spark (Python)"]
    for column in ('my "col', "a'b", "`tick`", "\\", "new\nline"):
        code = ast.parse(group_by("lake.log", column)["Spark (Python)"])
        texts = {one.value for one in ast.walk(code) if isinstance(one, ast.Constant)}
        assert "`" + column.replace("`", "``") + "`" in texts
    for table, column, words in (("", "a", "table"), (" ", "a", "table"), ("a", "b\0", "column")):
        with pytest.raises(ValueError, match=f"{words} must be a name"):
            group_by(table, column)
