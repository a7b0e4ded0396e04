"""Small files that were read wrongly, and the right answer of each: every file of the folder has a row here.

The folder is no part of the project; where it is missing as a whole these tests are skipped.
"""

from __future__ import annotations

from functools import partial
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


def total_of_rows(name: str, label: str) -> None:
    found, _, odd = counted(name)
    (asked,) = odd.names
    assert (asked.label, asked.reports, asked.by_default) == (label, 36636, True)
    assert asked.reason in ("the sum of the others", "a total")
    assert as_dict(found) == LARGE
    never = mle_star(found.counts, RandomizedResponse(5, 2.0))[0]
    assert round(100 * never, 1) == 44.4
    data = bytes(source(name).data)
    read = read_distribution(data, name)
    assert (read.sum_of_others, read.total) == (label, 2 * 36636)
    mended = read_distribution(data, name, leave_out=[label])
    assert (mended.total, mended.k, mended.left_out) == (36636, 5, (label,))


def mended_by_default(name: str, wanted: dict[str, int], odd_labels: int, **options: Any) -> None:
    """Names that are one answer in another form come back to it without a question."""
    found, _, odd = counted(name, **options)
    assert as_dict(found) == wanted
    assert len(odd.names) == odd_labels
    assert all(one.twin for one in odd.names)


def an_empty_part() -> None:
    parts = [f"part-0000{i}-7b1d-c000.csv" for i in range(3)]
    for names in (parts, [parts[1], parts[0], parts[2]]):
        found, reports, _ = counted(*names)
        assert as_dict(found) == NEVER
        assert reports.notes == (f"“{parts[1]}” has no rows, and was skipped.",)
    with pytest.raises(UnreadableFile, match="a header line and nothing below it"):
        counted(parts[1], parts[1])


def sideways() -> None:
    name = "pivot_wide_counts.csv"
    for read in (
        lambda: read_reports([source(name)]),
        lambda: inspect_reports(source(name)),
        lambda: read_distribution(bytes(source(name).data), name),
    ):
        with pytest.raises(UnreadableFile, match=r"The counts are laid sideways: “Never”, “Once”, .* Turn"):
            read()


def counts_of_both(name: str, wanted: dict[str, int], columns: tuple[str, str | None]) -> None:
    """Reports and a population alike."""
    read = read_distribution(bytes(source(name).data), name)
    assert as_dict(counted(name)[0]) == as_dict(read) == wanted
    assert (read.category_name, read.count_name) == columns


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
    lines = (FOLDER / name).read_text().split("\n")
    assert (lines[11], lines[13]) == (",36636", "Day,Reports")
    longer = b"Event name,Event count\nscroll,20144\nclick,9310\nopen,4127\n\nNth day,Event count\n"
    longer += b"".join(b"%04d,%d\n" % (day, 1180 + day) for day in range(28))
    assert reports_of(longer).labels.tolist() == ["scroll", "click", "open"]


def declared_categories() -> None:
    found, reports, odd = counted("pq_pandas_cat_index.parquet")
    assert as_dict(found) == {**NEVER, "Daily": 0}
    (daily,) = odd.names
    assert (daily.label, daily.reason, daily.by_default) == ("Daily", "declared by the file", False)
    assert "declares 6 categories, of which “Daily” has no report" in reports.notes[0]


def ticked_boxes() -> None:
    name = "google_forms_checkbox.csv"
    assert inspect_reports(source(name)).category == inspect(bytes(source(name).data), name).category == 1
    _, reports, odd = counted(name)
    several = {label for label in reports.labels if ";" in label}
    assert {one.label for one in odd.names if one.reason == "several answers"} == several
    assert len(several) == 5


def bits() -> None:
    preview = inspect_reports(source("redcap_checkbox.csv"))
    assert preview.layout == "values"
    # The page says of it: "unary encoding, above".
    assert sum(hint.bits for hint in preview.hints) >= BITS_LEAST


def the_answer_column(name: str, column: str, counts: dict[str, int]) -> None:
    reports, preview = read_reports([source(name)]), inspect_reports(source(name))
    assert reports.category_name == preview.columns[preview.category] == column
    assert as_dict(reports) == counts


def missing_answers() -> None:
    found, _, odd = counted("warner_with_NA.csv")
    assert found.total == 600
    assert [(one.label, one.reports, one.reason) for one in odd.names] == [("NA", 9, "no answer")]


LEVELS = dict(zip("12345", NEVER.values(), strict=True))
CARD = "Is the card's statement true for you?"
OF_R = {name: NEVER[name] for name in ("Once", "Weekly", "2-3 times", "Never", "Monthly")}
RED = dict(zip("012345", (254, 293, 146, 99, 124, 84), strict=True))
ZERO_TO_FOUR = dict(zip("01234", NEVER.values(), strict=True))
CASES: dict[str, tuple[Any, ...] | str] = {
    "typed_thousands.txt": PAGE,
    "typed_low_medium_high.txt": PAGE,
    "pram_numeric_names.csv": PAGE,
    "boolean_rappor_bits.csv": PAGE,
    "rappor_fpq_ones.csv": PAGE,
    "warner_z_Pi.csv": (the_answer_column, "z", {"1": 60, "0": 65}),
    "google_forms_warner.csv": (the_answer_column, CARD, {"Yes": 120, "No": 180}),
    "region_cross.csv": (the_answer_column, "answer", {"yes": 280, "no": 520}),
    "warner_30_of_35.csv": (the_answer_column, "answer", {"yes": 30, "no": 5}),
    "kuk_counts.csv": (the_answer_column, "red", RED),
    "r_write_table.txt": (the_answer_column, "x", OF_R),
    "total_ja.csv": (total_of_rows, "合計"),
    "total_ru.csv": (total_of_rows, "Всего"),
    "total_sum_only.csv": (total_of_rows, "All respondents"),
    "total_nl.csv": (total_of_rows, "Totaal"),
    "leading_zeros.csv": (mended_by_default, LEVELS, 5),
    "bool_mix.csv": (partial(mended_by_default, epsilon=1.0), {"true": 130, "0": 170}, 6),
    "warner_yes_variants.csv": (mended_by_default, {"yes": 230, "no": 370}, 2),
    "numpy_savetxt.txt": (partial(mended_by_default, domain=read_list("0\n1\n2\n3\n4")), ZERO_TO_FOUR, 5),
    "sep_line.csv": (counts_of_both, LARGE, ("Kategorie", "Anzahl")),
    "reports.xlsx": (counts_of_both, NEVER, ("report", None)),
    "warner_with_NA.csv": (missing_answers,),
    "redcap_checkbox.csv": (bits,),
    "pivot_wide_counts.csv": (sideways,),
    "comments_and_second_table.csv": (remarks_and_another_table,),
    "pq_pandas_cat_index.parquet": (declared_categories,),
    "google_forms_checkbox.csv": (ticked_boxes,),
    **{f"part-0000{i}-7b1d-c000.csv": (an_empty_part,) for i in range(3)},
}

pytestmark = pytest.mark.skipif(
    not FOLDER.parent.exists(), reason="the folder of cases is not part of the project"
)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case != PAGE])
def test_the_right_answer(name: str) -> None:
    check, *wanted = CASES[name]
    check(*([name, *wanted] if wanted else []))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case == PAGE])
def test_a_file_for_the_page_is_given_to_it_by_a_test(name: str) -> None:
    """A test among those of the app names the file."""
    files = (Path(__file__).parents[1] / "app").glob("test_*.py")
    assert any(f'"{name}"' in path.read_text("utf-8") for path in files)


def test_every_file_has_a_row() -> None:
    assert {path.name for path in FOLDER.iterdir()} - {"README.md"} == set(CASES)
