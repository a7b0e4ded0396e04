"""Broken and hostile files of reports: each gets its sentence, or is read for what it is."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from rr_core.io import (
    AllSeen,
    Source,
    UnreadableFile,
    WrongDomain,
    decoding,
    read_reports,
    tables,
    within,
)
from rr_core.io import reports as module
from rr_core.io.decoding import megabytes
from tests.app.hostile_reports import CASES, GOOD, Hostile, to_parquet


def sentence(call: Any) -> str:
    """What is said to the person, after checking that it is fit for one."""
    with pytest.raises((UnreadableFile, WrongDomain)) as caught:
        call()
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 300
    assert not any(word in said for word in ("Error", "Arrow", "object", "None", "dtype"))
    return said


def complaint(*texts: str | bytes, **options: Any) -> str:
    files = [
        Source(f"{name}.csv", text.encode() if isinstance(text, str) else text)
        for name, text in zip("abc", texts, strict=False)
    ]
    return sentence(lambda: read_reports(files, **options))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_file_is_read_or_gets_its_sentence(case: Hostile) -> None:
    def use() -> Any:
        reports = read_reports(case.files, **case.options)
        return reports, within(reports, case.domain or AllSeen()) if len(reports.labels) > 1 else None

    assert bool(case.refused) != bool(case.counts)
    if case.refused:
        assert case.refused in sentence(use)
    else:
        reports, _ = use()
        assert dict(zip(reports.labels.tolist(), reports.counts.tolist(), strict=True)) == case.counts
        assert any(case.noted in note for note in reports.notes) or not case.noted


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("2.5", "Line 4: the count “2.5” is not a whole number. Reports are counted people"),
        ("-0.5", "Line 4: the count “-0.5” is negative. Counts must be 0 or more."),
        ("x", "Line 4: the count “x” is not a number. Write it with digits only, such as 1234."),
        ("", "Line 4 has no count."),
        ("inf", "Line 4: the count “inf” is not a finite number."),
        ("9007199254740994", "Line 4: the count “9007199254740994” is too large."),
    ],
)
def test_the_first_bad_count_and_its_line(cell: str, words: str) -> None:
    # A blank line and a row without a name are lines too; the number of the latter does not matter.
    text = f"category,count\n,x\n\nc,{cell}\nd,-7\n"
    assert complaint(text).startswith(words)
    assert complaint(GOOD, text).startswith(f"“b.csv”: {words}")
    table = to_parquet(category=["a", "c"], count=["1", cell])
    assert complaint(table).startswith(words.replace("Line 4", "Row 2"))


def test_limits_hold_for_all_files_together(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [Source("a.csv", GOOD.encode())] * 2
    for place, words in ((module, "are larger"), (decoding, "unpack to more")):
        name = "MAX_UPLOAD_BYTES" if place is module else "MAX_UNPACKED_BYTES"
        monkeypatch.setattr(place, name, 2 * len(GOOD))
        assert read_reports(files).total == 120
        monkeypatch.setattr(place, name, 2 * len(GOOD) - 1)
        limit = megabytes(2 * len(GOOD) - 1)
        assert f"The files {words} than {limit} together." in sentence(lambda: read_reports(files))
        monkeypatch.undo()


def test_the_total_is_exact_or_refused() -> None:
    half = f"category,count\na,{2**52}\nb,1\n"
    assert read_reports([Source("a.csv", half.encode())]).total == 2**52 + 1
    assert read_reports([Source("a.csv", f"{half}c,{2**52 - 1}\n".encode())]).total == 2**53
    assert complaint(f"{half}c,{2**52}\n").startswith("The counts add up to more than 9,007,199,254,740,992.")
    assert complaint(half, half).startswith("The counts add up to more than")


def test_number_of_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.MAX_CATEGORIES == 1_500_000
    names = [f"c{i}\n" for i in range(5)]
    monkeypatch.setattr(tables, "MAX_CATEGORIES", 5)
    assert len(read_reports([Source("a.csv", "".join(names).encode())]).labels) == 5
    assert "holds 6 different categories; at most 5" in complaint("".join(names) + "one more\n")
    assert "holds 6 different categories; at most 5" in complaint("".join(names), "one more\n")


def test_a_column_of_user_numbers_is_stopped_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CATEGORIES", 10)
    monkeypatch.setattr(tables, "_PENDING", 50)
    monkeypatch.setattr("rr_core.io.parquet._PIECE_ROWS", 30)
    heard: list[float] = []
    data = to_parquet(user=pa.array(range(3000)))
    said = sentence(
        lambda: read_reports([Source("a.parquet", data)], progress=lambda done: bool(heard.append(done)))
    )
    assert "holds more than 20 different values, and at most 10 categories can be used" in said


def test_programming_errors() -> None:
    with pytest.raises(ValueError, match="layout must be"):
        read_reports([Source("a.csv", GOOD.encode())], layout="wide")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="files must hold at least one"):
        read_reports([])
    assert complaint(GOOD, category="town").startswith("There is no column “town”.")


def test_files_of_different_shape() -> None:
    for first, second, words in (
        (
            "category,count\na,1\n",
            "count,category\n1,a\n",
            "its column 1 is called “count”, and in “a.csv” “category”.",
        ),
        ("report\nred\nblue\n", "red\nblue\n", "its column 1 is called “red”, and in “a.csv” “report”."),
        ("a,1\nb,2\n", "a\nb\n", "it has 1 column, and “a.csv” has 2."),
        (GOOD, "", "The file is empty."),
        ("a,1\nb,2\n", "category,count\na,1\n", "Line 1: the count “count” is not a number."),
    ):
        assert complaint(first, second).startswith(f"“b.csv”: {words}")
