"""Files of SPSS, Stata and SAS: labels are the names, missing values are left out, and damage is one plain sentence."""

from __future__ import annotations

import datetime
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from rr_core import RandomizedResponse
from rr_core.io import Source, inspect, odd_names, read_distribution, read_reports, statistics_files
from rr_core.io.domain import AllSeen
from tests.io.reading import as_dict
from tests.io.reading import refused as refusal
from tests.io.workbook_files import archive

LABELS = {1: "Yes", 2: "No", 3: "Perhaps", 9: "Refused"}
TABLE = pd.DataFrame(
    {
        "answer": [1, 2, 2, 9, np.nan, 8, 1],
        "town": ["Rome", "Oslo", "", "NA", "Köln", "Oslo", "Rome"],
        "day": [datetime.date(2024, 12, 31)] * 7,
        "people": [1.5, 2, 3, 4, 5, 6, 7],
    }
)
ANSWERS = {"Yes": 2, "No": 2, "Perhaps": 0}
Write = Callable[[Any, str], None]


def write_sav(table: Any, path: str, **options: Any) -> None:
    pyreadstat.write_sav(
        table,
        path,
        variable_value_labels={"answer": LABELS},
        missing_ranges={"answer": [8, {"lo": 9, "hi": 10}], "town": ["NA"]},
        **options,
    )


def write_dta(table: Any, path: str, **options: Any) -> None:
    letters = table.assign(answer=[1, 2, 2, "a", np.nan, "b", 1])
    pyreadstat.write_dta(
        letters,
        path,
        variable_value_labels={"answer": {1: "Yes", 2: "No", 3: "Perhaps"}},
        missing_user_values={"answer": ["a", "b"]},
        **options,
    )


WRITERS: dict[str, Callable[[Any, str], None]] = {
    "a.sav": write_sav,
    "labelled.sav": lambda table, path: write_sav(
        table,
        path,
        column_labels={"answer": "Have you ever cheated in an exam?", "town": "T", "people": "Persons"},
        note=["First round.", "Second round."],
    ),
    "a.zsav": lambda table, path: write_sav(table, path, compress=True),
    "a.dta": write_dta,
    "old.dta": lambda table, path: write_dta(table, path, version=10),
}


@cache
def written_files() -> dict[str, bytes]:
    """One file of each format, with the same table."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            write(TABLE if "old" not in name else TABLE.replace("Köln", "Bonn"), f"{folder}/{name}")
            made[name] = Path(folder, name).read_bytes()
    return made


@pytest.fixture
def files() -> dict[str, bytes]:
    return written_files()


def read(data: bytes, name: str, **options: Any) -> Any:
    return read_reports([Source(name, data)], **options)


def refused(data: bytes, name: str) -> str:
    return refusal(lambda: read(data, name))


@pytest.mark.parametrize("name", WRITERS)
def test_labels_are_the_names_and_missing_values_are_left_out(name: str, files: dict[str, bytes]) -> None:
    data = files[name]
    reports = read(data, name, layout="values", category="answer")
    assert [*as_dict(reports).items()] == [*ANSWERS.items()]
    assert reports.notes == (
        "Of the rows left out, 2 have values in the column “answer” that the file declares as missing.",
        "The file declares 3 categories, of which “Perhaps” has no report: a category that people could choose counts all"
        " the same.",
    )
    assert [(drop.reason, drop.rows, drop.first_line) for drop in reports.dropped] == [
        ("no category name", 3, 4)
    ]
    (odd,) = odd_names(reports, AllSeen(), lambda k: RandomizedResponse(k, 1.0)).names
    assert (odd.label, odd.reason) == ("Perhaps", "declared by the file")
    found = read_distribution(data, name, layout="values", category="answer")
    assert as_dict(found) == {"Yes": 2, "No": 2}
    assert found.notes[0] == reports.notes[0]
    assert as_dict(read(archive({name: data}), "a.zip", layout="values", category="answer")) == ANSWERS


def test_levels_come_in_the_order_of_their_codes(tmp_path: Path) -> None:
    """They came in the order in which people happened to answer, or to be labelled."""
    path, levels = str(tmp_path / "a.sav"), {3: "high", 1: "low", 2: "medium"}
    pyreadstat.write_sav(pd.DataFrame({"answer": [3, 1, 3]}), path, variable_value_labels={"answer": levels})
    assert [*as_dict(read(Path(path).read_bytes(), "a.sav"))] == ["low", "medium", "high"]


@pytest.mark.parametrize("name", WRITERS)
def test_other_columns_are_as_they_are_shown(name: str, files: dict[str, bytes]) -> None:
    preview = inspect(files[name], name)
    assert preview.columns == ("answer", "town", "day", "people")
    assert preview.program == ("Stata file" if name.endswith(".dta") else "SPSS file")
    assert preview.numeric == (False, False, False, True)
    assert [row[2] for row in preview.sample] == ["2024-12-31"] * 7
    assert [row[3] for row in preview.sample] == ["1.5", "2", "3", "4", "5", "6", "7"]
    towns = read(files[name], name, layout="values", category="town")
    expected = (
        {"Rome": 2, "Oslo": 2, "Köln": 1} if name != "old.dta" else {"Rome": 2, "Oslo": 2, "Bonn": 1, "NA": 1}
    )
    if name == "a.dta":
        expected["NA"] = 1  # a word like any other
    assert as_dict(towns) == expected


def test_a_table_of_counts(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"town": [1.0, 2.0], "count": [30.0, 1e6]}), str(tmp_path / "a.sav"),
                         variable_value_labels={"town": {1: "Rome", 2: "Oslo"}, "count": {-9: "unknown"}},
                         missing_ranges={"count": [-9]})  # fmt: skip
    data = (tmp_path / "a.sav").read_bytes()
    assert as_dict(read(data, "a.sav")) == {"Rome": 30, "Oslo": 1_000_000}
    assert read_distribution(data, "a.sav").kind == "counts"


def test_too_much_and_nothing(
    tmp_path: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pyreadstat.write_sav(TABLE.iloc[:0][["people"]], str(tmp_path / "none.sav"))
    assert refused((tmp_path / "none.sav").read_bytes(), "a.sav").startswith("The SPSS file has no rows.")
    monkeypatch.setattr(statistics_files, "MAX_CELLS", 27)
    for name, data in files.items():
        assert "has more than 27 values" in refused(data, name)
    monkeypatch.setattr(statistics_files, "MAX_COLUMNS", 3)
    for name, data in files.items():
        assert "has 4 columns; at most 3 are read" in refused(data, name)


def test_what_is_no_such_file_gets_one_plain_sentence() -> None:
    for name, words in (("a.sav", "an SPSS file"), ("a.dta", "a Stata file"), ("a.sas7bdat", "a SAS file")):
        assert refused(b"town,count\na,1\n", name).startswith(
            f"The name ends in .{name.partition('.')[2]} but the content is not {words}."
        )
    sas = b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    for start, program in ((b"$FL2", "SPSS"), (b"$FL3", "SPSS"), (b"<stata_dta>", "Stata"), (sas, "SAS")):
        for seed in range(20):
            said = refused(start + random.Random(seed).randbytes(3000), "a.csv")
            assert said.startswith(f"The {program} file is damaged")


def test_a_list_of_variables_that_contradicts_itself_is_not_trusted(files: dict[str, bytes]) -> None:
    """The reader would write beyond its memory."""
    for name in ("a.sav", "a.zsav"):
        for width in (9, 200, 255):  # of a number's variable: letters that have no room
            bad = bytearray(files[name])
            bad[180] = width
            assert refused(bytes(bad), name).startswith("The SPSS file is damaged")
