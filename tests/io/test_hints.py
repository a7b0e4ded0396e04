"""What the cells of a column say: a header above codes, people numbered one by one, codes, bits and weights."""

from __future__ import annotations

import uuid
from itertools import product

import numpy as np
import pytest

from rr_core.io import (
    Source,
    UnreadableFile,
    inspect,
    inspect_reports,
    read_distribution,
    read_list,
    read_reports,
)
from rr_core.io.columns import COUNT_WORDS, detect_header
from tests.io.reading import parquet, preview_of, reports_of, table
from tests.sentences import holds

RNG = np.random.default_rng(4)
CODES = RNG.integers(1, 21, 3000)
UUIDS = [str(uuid.UUID(bytes=RNG.bytes(16), version=4)) for _ in range(300)]
ICD = [f"{letter}{i:02}.{i % 7}" for letter in "ABCDE" for i in range(8)]


HEADERS = [
    ["code", *(f"A{i:02}" for i in range(30))],
    ["icd10", *ICD],
    ["zip", *(f"D-{i:05}" for i in range(1000, 1030))],
    ["zip", *(f"{i:05}" for i in range(1000, 1030))],
    ["url", *(f"https://example.org/{i}" for i in range(20))],
    ["url", "example.org/a", "example.com", "example.net/b/c", "example.edu"],
    ["diagnosis", "flu", "gout", "measles", "asthma"],
    ["home page", "a.org", "b.org", "c.org", "d.org"],
    ["land", "DE", "FR", "US", "IT"],
]
VALUES = [
    ["A00", "A01", "A02", "B03"],
    ["flu", "gout", "measles", "asthma"],
    ["example.com", "example.org", "example.net", "example.edu"],
    ["country", "rock", "jazz", "country"],
    ["other", "A1", "other", "B2", "C3"],
    ["DE", "FR", "US", "IT"],
    ["x", "A1"],
]


def test_a_header_above_different_values_is_no_category_and_a_value_is_no_header():
    for rows in HEADERS:
        assert detect_header([[cell] for cell in rows]), rows[0]
        data = ("\n".join([*rows, rows[1]]) + "\n").encode()
        assert rows[0] not in reports_of(data).labels
        assert rows[0] not in read_distribution(data, "a.csv").labels
    for rows in VALUES:
        assert not detect_header([[cell] for cell in rows]), rows[0]


@pytest.mark.parametrize(
    "data",
    [
        table("age,people", range(17, 91), RNG.integers(0, 4, 74)),
        table("age,sick", range(17, 91), RNG.integers(100, 10_000, 74)),
        table("id,disease", range(1, 31), RNG.permutation(30) + 100),  # all different: counts
        table("zip,cases", range(10_000, 10_040), RNG.integers(0, 3, 40)),
        table("town,sick", [f"town {i}" for i in range(40)], RNG.integers(0, 3, 40)),
        table("item_id,count", range(1, 41), RNG.integers(0, 3, 40)),
        table(
            "year,sick", range(1950, 1990), RNG.integers(0, 3, 40)
        ),  # one after the other, but from no first
    ],
)
def test_counts_beside_categories_stay_counts(data):
    preview = preview_of(data)
    assert (preview.layout, preview.category, preview.count) == ("counts", 0, 1)
    assert inspect(data, "a.csv").layout == "counts"


def test_codes_in_parquet_are_seen_beyond_the_first_rows():
    codes = {"id": range(300), "disease": [*range(8), *CODES[8:300].tolist()]}
    source = Source("a.parquet", parquet(codes))
    preview = inspect_reports(source)
    assert (preview.layout, preview.category, len(preview.sample)) == ("values", 1, 8)
    assert read_reports([source]).total == 300


@holds(
    "Many columns hold nothing but 0 and 1: these look like reports of unary encoding, one column per category."
)
def test_bits_are_seen_column_by_column():
    bits = RNG.integers(0, 2, (50, 4))
    preview = preview_of(table("id,a,b,c,d", range(50), *bits.T))
    assert [hint.bits for hint in preview.hints] == [False, True, True, True, True]
    other = preview_of(table("id,a,b", range(50), *RNG.integers(0, 3, (2, 50))))
    assert not any(hint.bits for hint in other.hints)


def test_weights_are_not_used_and_said_so():
    answers = np.array(list("abcd"))[RNG.integers(0, 4, 60)]
    shares = [f"{value:.3f}" for value in RNG.random(60) + 0.01]
    for header in ("id,report,weight", "user,town,survey_weight", "id,disease,wgt"):
        found = reports_of(table(header, range(60), answers, shares))
        assert (found.layout, found.total, found.category_name) == ("values", 60, header.split(",")[1])
        assert f"The weights in the column “{header.split(',')[2]}” were not used" in found.notes[-1]
    two = reports_of(table("report,weight", answers, shares))
    assert (two.layout, two.total) == ("values", 60)
    assert "were not used" in two.notes[-1]
    counted = reports_of(table("town,n,weight", "abc", [5, 6, 7], [0.1, 0.2, 0.7]))
    assert (counted.layout, counted.total) == ("counts", 18)


def test_weights_as_counts_are_refused_with_a_word_on_weights_unless_they_are_people():
    data = table("town,weight", "abcd", [1.5, 2.25, 3, 4])
    with pytest.raises(
        UnreadableFile,
        match=r"“weight” holds weights, which are no numbers of people.*with the weights beside it",
    ):
        reports_of(data)
    people = reports_of(table("town,weight", "abcd", [1, 2, 3, 4]))
    assert people.total == 10
    assert people.notes == ("The whole numbers in the column “weight” were taken as counts of people.",)
    assert read_distribution(data, "a.csv").kind == "shares"  # of a population weights are shares


def test_german_thousands_group_all_digits_and_other_points_are_decimal():
    for cells in (["4.425", "3.850", "912"], ["1.234.567", "5"], ["4.425", "0"]):
        numbers = [int(cell.replace(".", "")) for cell in cells]
        data = table("Krankheit,Anzahl", "abc"[: len(cells)], cells)
        found, whole = reports_of(data), read_distribution(data, "a.csv")
        assert found.counts.tolist() == whole.weights.tolist() == numbers
        assert found.notes == (
            f"Points in the counts were read as thousands separators: {cells[0]} is {numbers[0]}.",
        )
        assert "thousands" in whole.notes[0]
    for cells in (["4.425", "3.85"], ["4.425", "1234"], ["0.425", "0.575"]):
        data = table("town,number", "ab", cells)
        with pytest.raises(UnreadableFile, match="is not a whole number"):
            reports_of(data)
        assert read_distribution(data, "a.csv").total == pytest.approx(sum(map(float, cells)))


def test_shares_have_decimal_points():
    read = read_distribution(table("town,percent", "abc", ["12.500", "37.500", "50"]), "a.csv")
    assert read.weights.tolist() == [0.125, 0.375, 0.5]


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["0,3", "0,7"], "Commas in the counts were read as decimal commas: 0,3 is 0.3."),
        (["12,5", "1.234,5"], "Commas in the counts were read as decimal commas: 12,5 is 12.5."),
        (["7", "2,345"], "Commas in the counts were read as thousands separators: 2,345 is 2345."),
        (["850", "1.200"], "Points in the counts were read as thousands separators: 1.200 is 1200."),
    ],
)
def test_a_note_on_separators_names_a_number_of_the_file(cells, note):
    data = "town;people\n" + "".join(f"{name};{cell}\n" for name, cell in zip("ab", cells, strict=True))
    assert read_distribution(data.encode(), "a.csv").notes[0] == note


YES = np.array(["no", "yes"])[RNG.integers(0, 2, 1000)]
THREE = np.array(list("abc"))[RNG.integers(0, 3, 500)]
MANY, SCORES = RNG.integers(1, 1500, 500), RNG.integers(1, 6, 500)
DAYS = (np.datetime64("2026-02-01T06:00") + np.arange(500) * np.timedelta64(7, "m")).astype(str)
SITES = [f"site{i}.org" for i in range(60)]


@pytest.mark.parametrize(
    ("column", "data"),
    [
        ("disease", table("id,disease", range(1, 3001), CODES)),
        ("disease", table("id,disease", RNG.permutation(3000), CODES)),
        ("disease", table("disease,id", CODES, range(3000))),
        ("disease", table("user_id,disease", range(500, 506), [1, 2, 3, 1, 2, 7])),
        ("disease", table("token,disease", UUIDS, CODES[:300])),
        ("disease", table("ssn,disease", RNG.permutation(np.arange(10**8, 10**8 + 300)), CODES[:300])),
        ("age_group", table("patient,age_group,day", range(300), CODES[:300], CODES[300:600])),
        ("mark", table("matrikel,mark", [f"m{i:05}" for i in RNG.permutation(900)[:300]], SCORES[:300])),
        (
            "ward",
            table("interview,ward", [f"visit {i}" for i in range(300)], RNG.choice(["001", "01", "2"], 300)),
        ),
        # `participant number,answer` of 1,000 people gave 500,500 reports.
        ("answer", table("participant number,answer", range(1, 1001), YES)),
        ("answer", table("n,answer", RNG.permutation(1000) + 1, YES)),
        ("answer", table("case number,answer", range(1001, 2001), YES)),
        ("answer", table("phone_number,answer", RNG.permutation(10**6)[:1000], YES)),
        ("answer", table("n,answer,region", range(1, 1001), YES, RNG.permutation(YES))),
        ("answer", table("n,answer", range(1, 7), YES[:6])),
        ("code", table("code,id", MANY, range(1, 501))),
        ("code", table("id,code", range(1, 501), MANY)),
        ("answer", table("id,answer,number of children", range(500), THREE, RNG.integers(0, 5, 500))),
        # `date,rating` gave a category for each date.
        ("rating", table("pid,rating", [f"P{number:04}" for number in range(500)], SCORES)),
        ("rating", table("date,rating", DAYS, SCORES)),
    ],
)
def test_numbers_beside_people_rows_or_times_are_answers_and_no_counts(column: str, data: bytes) -> None:
    preview, rows = preview_of(data), data.count(b"\n") - 1
    assert (preview.layout, preview.columns[preview.category], preview.count) == ("values", column, None)
    for read in (reports_of(data), read_distribution(data, "a.csv")):
        assert (read.category_name, read.total) == (column, rows)


@pytest.mark.parametrize(
    ("column", "data"),
    [
        ("report number", table("user,report number", range(70, 82), [3, 5, 7] * 4)),
        ("reported", table("person,reported", range(70, 82), [3, 5, 7] * 4)),
        # Of many categories each may come once.
        ("report", table("report,platform", SITES, ["win", "mac"] * 30)),
        ("item", table("item,platform", SITES, ["win", "mac"] * 30)),
    ],
)
def test_a_column_that_is_called_so_holds_the_reports(column: str, data: bytes) -> None:
    found = reports_of(data)
    assert (found.layout, found.category_name, found.total) == ("values", column, data.count(b"\n") - 1)


@pytest.mark.parametrize(
    "numbers",
    [
        RNG.integers(18, 90, 500),
        RNG.integers(1950, 2006, 500),
        RNG.integers(1, 9000, 500),
        RNG.integers(1, 5, 500),
        np.full(500, 2),
    ],
)
@pytest.mark.parametrize("name", ["age", "people in household"])
def test_numbers_beside_answers_that_come_again_are_no_counts_and_that_is_said(numbers, name):
    """`choice,age` of 500 people gave 27,086 reports."""
    said = f"Each row was counted once: the numbers in the column “{name}” were not taken for counts."
    for data in (table(f"choice,{name}", THREE, numbers), table(f"{name},choice", numbers, THREE)):
        found, whole = reports_of(data), read_distribution(data, "a.csv")
        assert (found.layout, found.category_name, found.total) == ("values", "choice", 500)
        assert (whole.category_name, whole.total) == ("choice", 500)
        assert found.notes == whole.notes == (said,)
    counted = reports_of(table("choice,count", THREE, np.full(500, 2)))
    assert (counted.total, counted.notes) == (1000, ())


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("city,report count", False),
        ("Row Labels,Count of answer", False),
        ("product,report frequency", False),
        ("mode,reported", True),
        ("mode,output", True),
    ],
)
def test_numbers_of_reports_beside_categories_are_counts(header, said):
    """`city,report count` gave 3 reports."""
    found = reports_of(table(header, "ABC", [640, 360, 360]))
    assert (found.total, found.labels.tolist(), found.count_name) == (1360, list("ABC"), header.split(",")[1])
    note = f"The numbers in the column “{header.split(',')[1]}” were taken for counts of reports."
    assert found.notes == ((note,) if said else ())


@pytest.mark.parametrize(
    ("header", "fastest"),
    [
        ("site,response,patients", 1),
        ("site,response,patients", 0),
        ("Region,Answer,Reports", 1),
        ("bezirk,antwort,anzahl", 1),
        ("wave,bezirk,antwort,menge", 2),
    ],
)
def test_the_numbers_of_a_cross_table_are_counts(header, fastest):
    """`site,response,patients` of 4 clinics and 3 answers gave 12 reports."""
    names = header.split(",")
    values = [[f"{name}{number}" for number in range(3)] for name in names[:-1]]
    cells = sorted(product(*values), key=lambda cell: (*cell[:fastest], *cell[fastest + 1 :], cell[fastest]))
    numbers = RNG.permutation(np.arange(100, 100 + len(cells)))
    found = reports_of(table(header, *zip(*cells, strict=True), numbers))
    assert (found.count_name, found.total) == (names[-1], numbers.sum())
    survey = table(header, *RNG.choice(np.array(cells), len(cells)).T, numbers)
    assert names[-1] in COUNT_WORDS | {"Reports"} or reports_of(survey).count_name is None


@pytest.mark.parametrize(
    ("header", "before"),
    [
        ("answer,percent,count", [64, 36]),
        ("Answer Choices,Response Percent,Response Count", ["64%", "36%"]),
        ("Answer,%,Count", ["64%", "36%"]),
        ("city,population,count", [60_000, 30_000]),
        ("answer,respondents,count", [1000, 1000]),
        ("answer,total,n", [1000, 1000]),
        ("answer,anteil in %,frequency", ["64%", "36%"]),
    ],
)
def test_the_column_called_count_is_taken_whatever_stands_before_it(header, before):
    """These were refused as shares, or the population was counted."""
    data = table(header, ["yes", "no"], before, [640, 360])
    for read in (reports_of(data), read_distribution(data, "a.csv")):
        assert (read.total, read.count_name) == (1000, header.split(",")[2])
    numbered = reports_of(table(f"#,{header}", [1, 2], ["yes", "no"], before, [640, 360]))
    assert (numbered.total, numbered.labels.tolist()) == (1000, ["yes", "no"])


def test_a_column_with_one_value_in_all_rows_is_not_the_answer_beside_one_that_varies():
    same, answers = ["2026-05-01"] * 40, ["bus", "car"] * 20
    for header, *columns in (("day,q1", same, answers), ("q1,region", answers, same)):
        read = reports_of(table(header, *columns))
        assert (read.category_name, read.labels.tolist()) == ("q1", ["bus", "car"])
    assert preview_of(table("q1,id", ["yes"] * 40, range(40))).category == 0


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("name,{}", "Person {i},{a}"),
        ("KEY,{},meta-instanceID", "uuid:{i},{a},uuid:{i}"),
        ("day,{}", "2024-01-{day},{a}"),
        ("Submission Date,{}", '"Mar {day}, 2026",{a}'),
        ("Fecha,{}", "{day} marzo 2026 10:{day},{a}"),
        ("Start time,{},end", "3/{day}/2024 10:{day}:00 AM,{a},10:{day}"),
        ("Name,{}", ",{a}"),
        ("Email,Name,{}", "anonymous,,{a}"),
        ("First Name,Value,{}", ",1,{a}"),
        ("Response Type,{}", "completed,{a}"),
        ("Response ID,{}", "R_{i}x,{a}"),
        ("p,{}", "0.75,{a}"),
        ("chance p,{}", "{p},{a}"),
    ],
)
@pytest.mark.parametrize("column", ["Did you cheat?", "choice", "answer"])
def test_what_survey_programs_write_beside_the_answers_is_not_taken_for_them(header, row, column):
    """Names, times and constants were; and with a chance in each row the file was refused."""
    rows = [
        row.format(i=i, a=("yes", "no", "no")[i % 3], day=f"{1 + i % 9:02}", p=(0.75, 0.6)[i % 2])
        for i in range(60)
    ]
    found = reports_of(header.format(column) + "\n" + "\n".join(rows) + "\n")
    assert (found.layout, found.category_name, found.counts.tolist()) == ("values", column, [20, 40])


def test_numbers_called_value_are_no_reports_beside_a_column_of_answers():
    """As pandas' melt writes a cross table: each count was a report."""
    found = reports_of("answer,region,value\nyes,N,140\nno,N,260\nyes,S,150\nno,S,250\n")
    assert found.category_name == "answer"
    assert any("the numbers in the column “value” were not taken for counts" in note for note in found.notes)


def test_names_and_counts_are_found_beside_the_names_of_rows():
    """The numbers of the rows were the names; and years above a table its first row."""
    found = reports_of('"","red","Freq"\n"1","0",120\n"2","1",330\n"3","2",210\n')
    assert (found.category_name, found.labels.tolist(), found.counts.tolist()) == (
        "red",
        ["0", "1", "2"],
        [120, 330, 210],
    )
    for first in ("category", ""):
        found = reports_of(f"{first},2024,2025\nBus,80,81\nCar,100,110\n", count="2025")
        assert found.counts.tolist() == [81, 110]
    found = reports_of("Verkehrsmittel;Anzahl;Prozent\nBus;80;40\nRad;120;60\n")
    assert (found.count_name, found.counts.tolist()) == ("Anzahl", [80, 120])


def test_a_word_for_counts_is_not_always_one():
    """N was a count beside S, a column called freq one of words; and n_children came before count."""
    text = "answer,N,S\nDaily,150,160\nWeekly,140,120\nMonthly,110,130\n"
    with pytest.raises(UnreadableFile, match=r"the column of counts \(“N”, “S”"):
        reports_of(text)
    assert reports_of(text.replace("S", "se")).count_name == "N"
    read = reports_of("t,freq\n" + "2026-03-01,Daily\n2026-03-02,Rarely\n2026-03-03,Daily;Rarely\n" * 9)
    assert (read.category_name, read.layout) == ("freq", "values")
    read = reports_of("n_children,count\n0,310\n1,260\n2,240\n3+,190\n")
    assert (read.count_name, read.labels.tolist()) == ("count", ["0", "1", "2", "3+"])


def test_a_name_behind_a_remarks_mark_is_no_remark():
    """As NumPy writes a header: the first column was called “# bus”."""
    for text in ("# bus,car\n1,0\n0,1\n1,1\n", "# answers of spring\n# bus,car\n1,0\n0,1\n1,1\n"):
        assert preview_of(text).columns == ("bus", "car")


@pytest.mark.parametrize("header", ["number of children", "%B", "people in household", "share", "n"])
def test_one_column_of_numbers_holds_the_answers_whatever_its_name(header):
    """Where it may have been called a count, the reader broke off with an error of Python."""
    found = reports_of(f"{header}\n" + "1\n2\n2\n" * 10)
    assert (found.layout, found.category_name, found.counts.tolist()) == ("values", header, [10, 20])
    assert reports_of(f"{header}\n1\n2\n").total == 2
    assert read_list(Source("a.csv", f"{header}\n1\n2\n".encode())).labels.tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("Report", ["Report"] * 12 + ["Do not report"] * 21 + ["Call police"] * 8),
        ("Response", ["Response"] * 8 + ["No response"] * 14 + ["Partial response"] * 7),
        ("Yes", ["yes"] * 23 + ["no"] * 36),
    ],
)
def test_a_first_cell_that_comes_again_below_is_a_report(first: str, others: list[str]) -> None:
    """It was taken for the name of the column, and not counted."""
    read = reports_of("\n".join([first, *others]) + "\n")
    assert (read.total, read.has_header) == (1 + len(others), False)
    (note,) = (note for note in read.notes if "comes again" in note)
    assert note == (
        f"The first line, “{first}”, comes again below and was counted: switching “First row is a header” on takes it "
        "for the name of the column."
    )
    again = reports_of("\n".join([first, *others, ""]), has_header=True)  # as one says then
    assert (again.total, any("comes again" in note for note in again.notes)) == (len(others), False)


def test_the_header_of_a_second_file_below_the_first_is_a_header_still() -> None:
    rows = ["bus"] * 21 + ["car"] * 30 + ["train"] * 9
    read = reports_of("\n".join(["answer", *rows, "answer", *rows]) + "\n")
    assert (read.has_header, read.category_name) == (True, "answer")


@pytest.mark.parametrize(
    ("first", "below"),
    [
        ("65+", ["18-24", "25-44", "45-64"]),
        ("< 18", ["18 to 24", "25 to 44", "65+"]),
        ("[0, 5)", ["[5, 10)", "[10, 20)"]),
        ("Other (please specify)", ["Bus", "Car", "Train"]),
        ("Other", ["Bus", "Car", "Train"]),
    ],
)
def test_a_first_cell_of_the_form_of_reports_is_one(first: str, below: list[str]) -> None:
    """It was taken for the name of the column, and not counted."""
    read = reports_of("\n".join([f'"{cell}"' for cell in [first, *below * 9]]) + "\n")
    assert (read.total, read.has_header) == (1 + 9 * len(below), False)


@pytest.mark.parametrize(
    ("first", "guessed"),
    [("2-3 times", True), ("65+", True), ("mode of travel", True), ("answer", False), ("Your answer", False)],
)
def test_a_name_of_a_column_by_guess_is_told(first: str, guessed: bool) -> None:
    """A report that comes once, above the others, was lost without a word."""
    data = "\n".join([first, *["Never", "Once", "Weekly"] * 9, ""]).encode()
    note = (
        f"The first line, “{first}”, was taken for the name of the column: switching “First row is a header” off counts "
        "it."
    )
    for read in (reports_of(data), read_distribution(data, "a.csv")):
        assert (read.category_name, note in read.notes) == (first, guessed)
    assert note not in reports_of(data, has_header=True).notes
    assert not any("switching" in note for note in read_list(Source("a.csv", data)).notes)
    assert reports_of(data, has_header=False).total == 28


def test_numbers_that_were_not_taken_for_counts_are_told_of_three_columns() -> None:
    """Each row of a table of groups in no order, without a header, was counted once, without a word."""
    rows = "North;ja;14\nNorth;nein;26\nSouth;nein;31\nSouth;ja;9\n"
    read = reports_of(rows, category=1)
    assert read.counts.tolist() == [2, 2]
    assert read.notes[0] == (
        "Each row was counted once: the numbers in the column “Column 3” were not taken for counts. If they are, choose "
        "“a count per category”, and the column of counts “Column 3”."
    )
    counted = reports_of(rows, category=1, count="Column 3")
    assert (counted.counts.tolist(), any("counted once" in note for note in counted.notes)) == (
        [23, 57],
        False,
    )
    survey = "".join(f"{('N', 'S')[i % 2]},{('yes', 'no')[i % 3 > 0]},{18 + i % 9}\n" for i in range(60))
    assert reports_of(f"region,answer,age\n{survey}").notes == ()
