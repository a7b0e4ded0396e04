"""Small files that were read wrongly, and the right answer of each: every file of the folder has a row here.

The folder is no part of the project; where it is missing as a whole these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rr_core import RandomizedResponse
from rr_core.estimators import mle_star
from rr_core.io import (
    AllSeen,
    Collected,
    Domain,
    Source,
    UnreadableFile,
    inspect,
    inspect_reports,
    odd_names,
    read_distribution,
    read_list,
    read_reports,
    within,
)
from rr_core.io.columns import BITS_LEAST
from tests.io.reading import as_dict, reports_of

FOLDER = Path(__file__).parents[3] / "shared" / "cases"
PAGE = "page"  # the answer is the page's, in tests/app
NEVER = {"Never": 137, "Once": 91, "2-3 times": 76, "Monthly": 55, "Weekly": 41}
LARGE = {"Never": 12345, "Once": 8001, "2-3 times": 6200, "Monthly": 5100, "Weekly": 4990}


def source(name: str) -> Source:
    return Source(name, (FOLDER / name).read_bytes())


def counted(*names: str, epsilon: float = 2.0, domain: Domain | None = None) -> tuple[Collected, Any, Any]:
    """The reports of these files with the decisions that are proposed, how they were read, and what looks odd."""
    reports = read_reports([source(name) for name in names])
    domain = domain or AllSeen()
    odd = odd_names(reports, domain, lambda k: RandomizedResponse(k, epsilon))
    return within(reports, domain, odd.default_decisions()), reports, odd


def a_total(name: str, label: str) -> None:
    found, _, odd = counted(name)
    (asked,) = odd.names
    assert (asked.label, asked.reports, asked.by_default) == (label, 36636, True)
    assert asked.reason in ("the sum of the others", "a total")
    assert as_dict(found) == LARGE
    never = mle_star(found.counts, RandomizedResponse(5, 2.0))[0]
    assert round(100 * never, 1) == 44.4


def a_total_of_a_distribution() -> None:
    read = read_distribution((FOLDER / "total_nl.csv").read_bytes(), "total_nl.csv")
    assert (read.sum_of_others, read.is_total, read.total) == ("Totaal", True, 2 * 36636)
    mended = read_distribution(
        (FOLDER / "total_nl.csv").read_bytes(), "total_nl.csv", leave_out=[read.sum_of_others]
    )
    assert (mended.total, mended.k, mended.left_out) == (36636, 5, ("Totaal",))
    a_total("total_nl.csv", "Totaal")


def leading_zeros() -> None:
    found, _, odd = counted("leading_zeros.csv")
    assert {one.label for one in odd.names} == {"01", "02", "03", "04", "05"}
    assert found.k == 5
    assert as_dict(found) == {"1": 137, "2": 91, "3": 76, "4": 55, "5": 41}


def truth_values() -> None:
    found, reports, odd = counted("bool_mix.csv", epsilon=1.0)
    assert len(reports.labels) == 8
    assert len(odd.names) == 6
    assert as_dict(found) == {"true": 130, "0": 170}


def an_empty_part() -> None:
    parts = [f"part-0000{i}-7b1d-c000.csv" for i in range(3)]
    for names in (parts, [parts[1], parts[0], parts[2]]):
        found, reports, _ = counted(*names)
        assert as_dict(found) == NEVER
        assert found.total == 400
        assert reports.notes == (f"“{parts[1]}” has no rows, and was skipped.",)
    with pytest.raises(UnreadableFile, match="a header line and nothing below it"):
        counted(parts[1], parts[1])


def sideways() -> None:
    said = "The counts are laid sideways: “Never”, “Once”, .* Turn the table"
    for read in (
        lambda: read_reports([source("pivot_wide_counts.csv")]),
        lambda: inspect_reports(source("pivot_wide_counts.csv")),
        lambda: read_distribution(bytes(source("pivot_wide_counts.csv").data), "pivot_wide_counts.csv"),
    ):
        with pytest.raises(UnreadableFile, match=said):
            read()


def excels_separator() -> None:
    assert as_dict(counted("sep_line.csv")[0]) == LARGE
    read = read_distribution(bytes(source("sep_line.csv").data), "sep_line.csv")
    assert as_dict(read) == LARGE
    assert (read.category_name, read.count_name) == ("Kategorie", "Anzahl")


def remarks_and_another_table() -> None:
    name = "comments_and_second_table.csv"
    found, reports, _ = counted(name)
    assert as_dict(found) == LARGE
    assert reports.notes == (
        "4 lines that begin with # above the table were skipped.",
        "Line 14 (“Day,Reports”), below a blank line, begins another table: it and what follows were not read. Take the"
        " blank line out if all of it is one table.",
    )
    (nameless,) = reports.dropped
    assert (nameless.rows, nameless.first_line) == (1, 12)
    assert (FOLDER / name).read_text().split("\n")[11] == ",36636"
    assert (FOLDER / name).read_text().split("\n")[13] == "Day,Reports"
    longer = b"Event name,Event count\nscroll,20144\nclick,9310\nopen,4127\n\nNth day,Event count\n"
    longer += b"".join(b"%04d,%d\n" % (day, 1180 + day) for day in range(28))
    assert reports_of(longer).labels.tolist() == ["scroll", "click", "open"]


def numpys_numbers() -> None:
    found, _, odd = counted("numpy_savetxt.txt", domain=read_list("0\n1\n2\n3\n4"))
    assert as_dict(found) == dict(zip("01234", NEVER.values(), strict=True))
    assert found.outside_total == 0
    assert all(one.by_default and float(one.label) == float(one.twin) for one in odd.names)


def declared_categories() -> None:
    found, reports, odd = counted("pq_pandas_cat_index.parquet")
    assert as_dict(found) == {**NEVER, "Daily": 0}
    (daily,) = odd.names
    assert (daily.label, daily.reason, daily.by_default) == ("Daily", "declared by the file", False)
    assert "declares 6 categories, of which “Daily” has no report" in reports.notes[0]


def ticked_boxes() -> None:
    name = "google_forms_checkbox.csv"
    assert inspect_reports(source(name)).category == 1
    assert inspect(bytes(source(name).data), name).category == 1
    _, reports, odd = counted(name)
    several = {label for label in reports.labels if ";" in label}
    assert {one.label for one in odd.names if one.reason == "several answers"} == several
    assert len(several) == 5


def bits() -> None:
    preview = inspect_reports(source("redcap_checkbox.csv"))
    assert preview.layout == "values"
    assert (
        sum(hint.bits for hint in preview.hints) >= BITS_LEAST
    )  # of which the page says "unary encoding, above"


def a_workbook() -> None:
    assert as_dict(counted("reports.xlsx")[0]) == NEVER
    read = read_distribution(bytes(source("reports.xlsx").data), "reports.xlsx")
    assert as_dict(read) == NEVER
    assert inspect_reports(source("reports.xlsx")).program == "Excel workbook"


def the_answer_column(name: str, column: str, counts: dict[str, int]) -> None:
    reports = read_reports([source(name)])
    assert reports.category_name == column
    assert inspect_reports(source(name)).columns[inspect_reports(source(name)).category] == column
    assert as_dict(reports) == counts


def both_at_once() -> None:
    found, _, odd = counted("warner_yes_variants.csv")
    assert as_dict(found) == {"yes": 230, "no": 370}
    assert all(one.twin for one in odd.names)


def missing_answers() -> None:
    found, _, odd = counted("warner_with_NA.csv")
    assert found.total == 600
    assert [(one.label, one.reports, one.reason) for one in odd.names] == [("NA", 9, "no answer")]


CASES: dict[str, Callable[[], None] | str] = {
    "typed_thousands.txt": PAGE,
    "typed_low_medium_high.txt": PAGE,
    "warner_z_Pi.csv": lambda: the_answer_column("warner_z_Pi.csv", "z", {"1": 60, "0": 65}),
    "google_forms_warner.csv": lambda: the_answer_column(
        "google_forms_warner.csv", "Is the card's statement true for you?", {"Yes": 120, "No": 180}
    ),
    "region_cross.csv": lambda: the_answer_column("region_cross.csv", "answer", {"yes": 280, "no": 520}),
    "warner_with_NA.csv": missing_answers,
    "warner_yes_variants.csv": both_at_once,
    "warner_30_of_35.csv": lambda: the_answer_column("warner_30_of_35.csv", "answer", {"yes": 30, "no": 5}),
    "kuk_counts.csv": lambda: the_answer_column(
        "kuk_counts.csv", "red", dict(zip("012345", (254, 293, 146, 99, 124, 84), strict=True))
    ),
    "pram_numeric_names.csv": PAGE,
    "boolean_rappor_bits.csv": PAGE,
    "rappor_fpq_ones.csv": PAGE,
    "redcap_checkbox.csv": bits,
    "total_ja.csv": lambda: a_total("total_ja.csv", "合計"),
    "total_ru.csv": lambda: a_total("total_ru.csv", "Всего"),
    "total_sum_only.csv": lambda: a_total("total_sum_only.csv", "All respondents"),
    "total_nl.csv": a_total_of_a_distribution,
    "leading_zeros.csv": leading_zeros,
    "bool_mix.csv": truth_values,
    "part-00000-7b1d-c000.csv": an_empty_part,
    "part-00001-7b1d-c000.csv": an_empty_part,
    "part-00002-7b1d-c000.csv": an_empty_part,
    "pivot_wide_counts.csv": sideways,
    "sep_line.csv": excels_separator,
    "comments_and_second_table.csv": remarks_and_another_table,
    "numpy_savetxt.txt": numpys_numbers,
    "pq_pandas_cat_index.parquet": declared_categories,
    "google_forms_checkbox.csv": ticked_boxes,
    "r_write_table.txt": lambda: the_answer_column(
        "r_write_table.txt",
        "x",
        {name: NEVER[name] for name in ("Once", "Weekly", "2-3 times", "Never", "Monthly")},
    ),
    "reports.xlsx": a_workbook,
}

pytestmark = pytest.mark.skipif(
    not FOLDER.parent.exists(), reason="the folder of cases is not part of the project"
)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case != PAGE])
def test_the_right_answer(name: str) -> None:
    case = CASES[name]
    assert callable(case)
    case()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case == PAGE])
def test_a_file_for_the_page_is_given_to_it_by_a_test(name: str) -> None:
    """A test among those of the app names the file."""
    files = (Path(__file__).parents[1] / "app").glob("test_*.py")
    assert any(f'"{name}"' in path.read_text("utf-8") for path in files)


def test_every_file_has_a_row() -> None:
    assert {path.name for path in FOLDER.iterdir()} - {"README.md"} == set(CASES)
