"""The GROUP BY that is offered runs, for any names, and its CSV is read as reports."""

from __future__ import annotations

import csv
import io
import itertools
import sqlite3
import sys
from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.io import Source, group_by, read_reports
from rr_core.io.sql import _RESERVED

REPORTS = ["red", "blue", None, "red", 'say "hi", twice', "two\nlines", None, "red"]
# SQLite takes any text as a name except NUL.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    str.strip
)


def sqlite(table: str, column: str, query: str) -> list[tuple[Any, int]]:
    """The rows that the query returns for a table so called, written by hand."""
    base = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in (table, column)]
    base.execute(
        f"CREATE TABLE {quoted[0]} (other, {quoted[1]})"
        if column.lower() != "other"
        else f"CREATE TABLE {quoted[0]} ({quoted[1]})"
    )
    base.executemany(f"INSERT INTO {quoted[0]} ({quoted[1]}) VALUES (?)", [(report,) for report in REPORTS])
    answer = base.execute(query)
    assert [field[0] for field in answer.description] == ["category", "count"]
    return answer.fetchall()


@settings(deadline=None, max_examples=60)
@given(NAMES)
def test_any_column_name_is_quoted_safely(column: str) -> None:
    assert dict(sqlite("reports", column, group_by("reports", column)["Standard SQL"])) == Counter(REPORTS)


def test_the_word_list_is_what_sqlite_needs_quoted() -> None:
    for word in _RESERVED:
        assert f'"{word}"' in group_by("reports", word)["Standard SQL"]
        assert dict(sqlite("reports", word, group_by("reports", word)["Standard SQL"])) == Counter(REPORTS)


def test_the_csv_is_read_as_reports() -> None:
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(["category", "count"])
    writer.writerows(sqlite("reports", "report", group_by("reports", "report")["Standard SQL"]))
    found = read_reports([Source("category_count.csv", sink.getvalue().encode())])
    assert dict(zip(found.labels.tolist(), found.counts.tolist(), strict=True)) == {
        "red": 3,
        "blue": 1,
        'say "hi", twice': 1,
        "two lines": 1,
    }
    assert [dropped.reason for dropped in found.dropped] == ["no category name"]


class Frame:
    """As much of a Spark data frame as the snippet uses; it writes down what is asked of it."""

    def __init__(self, asked: list[tuple[str, Any]]) -> None:
        self.asked = asked

    @property
    def write(self) -> Frame:
        return self

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Frame:
            self.asked.append((name, arguments or options))
            return self

        return call


def test_standard_sql_counts() -> None:
    columns = ("report", 'my "col', "two words", "Order", "1st", "a.b", "é", "--", "x;", "a'b", "\\")
    for table, column in itertools.product(("reports", "group", "my log"), columns):
        rows = sqlite(table, column, group_by(table, column)["Standard SQL"])
        assert dict(rows) == Counter(REPORTS)
        assert rows[0] == ("red", 3)
        assert [n for _, n in rows] == sorted((n for _, n in rows), reverse=True)
    made = group_by("lake.log", 'my "col')
    query = made["DuckDB"].split("COPY (")[1].split(") TO 'category_count.csv'")[0]
    assert " ".join(query.split()) == " ".join(made["Standard SQL"].rstrip(";\n").split())


def test_table_names() -> None:
    for table, sql, spark in (
        ("reports", "reports", '"`reports`"'),
        ("lake.daily.reports", "lake.daily.reports", '"`lake`.`daily`.`reports`"'),
        ("lake.My Log", 'lake."My Log"', '"`lake`.`My Log`"'),
        ('lake."a.b"', 'lake."a.b"', '"`lake`.`a.b`"'),
        ('"a""b"', '"a""b"', "'`a\"b`'"),
        ('my "log', '"my ""log"', "'`my \"log`'"),
        ("a`b", '"a`b"', '"`a``b`"'),
        ("user", '"user"', '"`user`"'),
    ):
        made = group_by(table, "report")
        assert list(made) == ["Standard SQL", "Spark (Python)", "DuckDB"]
        assert f"FROM {sql}\n" in made["Standard SQL"]
        assert f"FROM {sql}\n" in made["DuckDB"]
        assert f"spark.table({spark})" in made["Spark (Python)"]
    for table, column, words in (
        ("", "a", "table"),
        (" ", "a", "table"),
        ("a", "", "column"),
        ("a", "b\0", "column"),
    ):
        with pytest.raises(ValueError, match=f"{words} must be a name"):
            group_by(table, column)


def test_spark_is_valid_python_and_asks_for_the_column(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("pyspark.sql")
    package.functions = SimpleNamespace(  # type: ignore[attr-defined]
        col=lambda name: SimpleNamespace(alias=lambda alias: (name, alias)), desc=lambda name: ("desc", name)
    )
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", package)
    for column in ("report", 'my "col', "a'b", "`tick`", "\\", "new\nline", "é"):
        asked: list[tuple[str, Any]] = []
        exec(group_by("lake.log", column)["Spark (Python)"], {"spark": Frame(asked)})
        assert asked == [
            ("table", ("`lake`.`log`",)),
            ("groupBy", (("`" + column.replace("`", "``") + "`", "category"),)),
            ("count", {}),
            ("orderBy", (("desc", "count"),)),
            ("coalesce", (1,)),
            ("options", {"header": True, "escape": '"'}),
            ("csv", ("category_count",)),
        ]
