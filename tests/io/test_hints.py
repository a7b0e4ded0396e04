"""What the cells of a column say: a header above codes, people numbered one by one, codes, bits and weights."""

from __future__ import annotations

import uuid
from itertools import product

import numpy as np
import pytest

from rr_core.io import UnreadableFile, read_distribution
from rr_core.io.columns import COUNT_WORDS, detect_header
from tests.io.reading import preview_of, reports_of, table
from tests.sentences import holds

RNG = np.random.default_rng(4)
CODES = RNG.integers(1, 21, 3000)
UUIDS = [str(uuid.UUID(bytes=RNG.bytes(16), version=4)) for _ in range(300)]


HEADERS = [
    ["code", *(f"A{i:02}" for i in range(30))],
    ["zip", *(f"{i:05}" for i in range(1000, 1030))],
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
    for header in ("id,report,weight", "user,town,survey_weight"):
        found = reports_of(table(header, range(60), answers, shares))
        assert (found.layout, found.total, found.category_name) == ("values", 60, header.split(",")[1])
        assert f"The weights in the column “{header.split(',')[2]}” were not used" in found.notes[-1]
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


YES = np.array(["no", "yes"])[RNG.integers(0, 2, 500)]
THREE = np.array(list("abc"))[RNG.integers(0, 3, 500)]
MANY, SCORES = RNG.integers(1, 1500, 500), RNG.integers(1, 6, 500)
DAYS = (np.datetime64("2026-02-01T06:00") + np.arange(500) * np.timedelta64(7, "m")).astype(str)
SITES = [f"site{i}.org" for i in range(60)]


@pytest.mark.parametrize(
    ("column", "data"),
    [
        ("disease", table("id,disease", range(1, 3001), CODES)),
        ("disease", table("disease,id", CODES, range(3000))),
        ("disease", table("user_id,disease", range(500, 506), [1, 2, 3, 1, 2, 7])),
        ("disease", table("token,disease", UUIDS, CODES[:300])),
        ("age_group", table("patient,age_group,day", range(300), CODES[:300], CODES[300:600])),
        ("mark", table("matrikel,mark", [f"m{i:05}" for i in RNG.permutation(900)[:500]], SCORES)),
        # `participant number,answer` of 1,000 people gave 500,500 reports.
        ("answer", table("participant number,answer", range(1, 501), YES)),
        ("answer", table("n,answer", RNG.permutation(500) + 1, YES)),
        ("answer", table("phone_number,answer", RNG.permutation(10**6)[:500], YES)),
        ("answer", table("n,answer,region", range(1, 501), YES, RNG.permutation(YES))),
        ("answer", table("n,answer", range(1, 7), YES[:6])),
        ("code", table("code,id", MANY, range(1, 501))),
        ("answer", table("id,answer,number of children", range(500), THREE, RNG.integers(0, 5, 500))),
        # `date,rating` gave a category for each date.
        ("rating", table("pid,rating", [f"P{number:04}" for number in range(500)], SCORES)),
        ("rating", table("date,rating", DAYS, SCORES)),
        # One column of numbers holds the answers whatever its name: the reader broke off with an error of Python.
        *((name, table(name, [1, 2, 2] * 10)) for name in ("number of children", "%B", "share", "n")),
    ],
)
def test_numbers_beside_people_rows_or_times_are_answers_and_no_counts(column: str, data: bytes) -> None:
    preview, rows = preview_of(data), data.count(b"\n") - 1
    assert (preview.layout, preview.columns[preview.category], preview.count) == ("values", column, None)
    for read in (reports_of(data), read_distribution(data, "a.csv")):
        assert (read.category_name, read.total) == (column, rows)


SAME = ["2026-05-01"] * 60


@pytest.mark.parametrize(
    ("column", "data"),
    [
        ("report number", table("user,report number", range(70, 130), [3, 5, 7] * 20)),
        ("item", table("item,platform", SITES, ["win", "mac"] * 30)),  # of many categories each may come once
        # One value in all rows is no answer beside one that varies.
        ("q1", table("day,q1", SAME, ["bus", "car"] * 30)),
        ("q1", table("q1,region", ["bus", "car"] * 30, SAME)),
    ],
)
def test_the_column_of_reports_is_told_by_its_name_and_by_what_varies(column: str, data: bytes) -> None:
    found = reports_of(data)
    assert (found.layout, found.category_name, found.total) == ("values", column, 60)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("name,{}", "Person {i},{a}"),
        ("KEY,{},meta-instanceID", "uuid:{i},{a},uuid:{i}"),
        ("day,{}", "2024-01-{day},{a}"),
        ("Submission Date,{}", '"Mar {day}, 2026",{a}'),
        ("Fecha,{}", "{day} marzo 2026 10:{day},{a}"),
        ("Start time,{},end", "3/{day}/2024 10:{day}:00 AM,{a},10:{day}"),
        ("Email,Name,{}", "anonymous,,{a}"),
        ("First Name,Value,{}", ",1,{a}"),
        ("Response Type,{}", "completed,{a}"),
        ("Response ID,{}", "R_{i}x,{a}"),
        ("chance p,{}", "{p},{a}"),
    ],
)
@pytest.mark.parametrize("column", ["Did you cheat?", "answer"])
def test_what_survey_programs_write_beside_the_answers_is_not_taken_for_them(header, row, column):
    """Names, times and constants were; and with a chance in each row the file was refused."""
    rows = [
        row.format(i=i, a=("yes", "no", "no")[i % 3], day=f"{1 + i % 9:02}", p=(0.75, 0.6)[i % 2])
        for i in range(60)
    ]
    found = reports_of(header.format(column) + "\n" + "\n".join(rows) + "\n")
    assert (found.layout, found.category_name, found.counts.tolist()) == ("values", column, [20, 40])


@pytest.mark.parametrize(
    ("name", "numbers"), [("age", RNG.integers(18, 90, 500)), ("household", np.full(500, 2))]
)
def test_numbers_beside_answers_that_come_again_are_no_counts_and_that_is_said(name, numbers):
    """`choice,age` of 500 people gave 27,086 reports."""
    said = f"Each row was counted once: the numbers in the column “{name}” were not taken for counts."
    for data in (table(f"choice,{name}", THREE, numbers), table(f"{name},choice", numbers, THREE)):
        for read in (reports_of(data), read_distribution(data, "a.csv")):
            assert (read.category_name, read.total, read.notes) == ("choice", 500, (said,))
    counted = reports_of(table("choice,count", THREE, np.full(500, 2)))
    assert (counted.total, counted.notes) == (1000, ())
    # As pandas' melt writes a cross table: each count was a report.
    melted = reports_of("answer,region,value\nyes,N,140\nno,N,260\nyes,S,150\nno,S,250\n")
    assert melted.category_name == "answer"
    assert any("the numbers in the column “value” were not taken for counts" in note for note in melted.notes)


YES_NO, BOTH = ["yes", "no"], [640, 360]


@pytest.mark.parametrize(
    ("category", "count", "data"),
    [
        ("age", "people", table("age,people", range(17, 91), RNG.integers(0, 4, 74))),
        ("id", "disease", table("id,disease", range(1, 31), RNG.permutation(30) + 100)),  # all different
        ("zip", "cases", table("zip,cases", range(10_000, 10_040), RNG.integers(0, 3, 40))),
        ("item_id", "count", table("item_id,count", range(1, 41), RNG.integers(0, 3, 40))),
        ("year", "sick", table("year,sick", range(1950, 1990), RNG.integers(0, 3, 40))),  # from no first one
        # These were refused as shares, or the population was counted.
        ("answer", "count", table("answer,percent,count", YES_NO, [64, 36], BOTH)),
        (
            "Answer Choices",
            "Response Count",
            table("Answer Choices,Response Percent,Response Count", YES_NO, ["64%", "36%"], BOTH),
        ),
        ("city", "count", table("city,population,count", YES_NO, [60_000, 30_000], BOTH)),
        ("answer", "n", table("#,answer,total,n", [1, 2], YES_NO, [1000, 1000], BOTH)),
        ("answer", "frequency", table("answer,anteil in %,frequency", YES_NO, ["64%", "36%"], BOTH)),
        ("Verkehrsmittel", "Anzahl", b"Verkehrsmittel;Anzahl;Prozent\nBus;80;40\nRad;120;60\n"),
        # Numbers of the rows were the names.
        ("red", "Freq", b'"","red","Freq"\n"1","0",120\n"2","1",330\n"3","2",210\n'),
        # `city,report count` gave 3 reports.
        ("city", "report count", table("city,report count", "ABC", [640, 360, 360])),
        ("Row Labels", "Count of answer", table("Row Labels,Count of answer", "ABC", [640, 360, 360])),
        ("mode", "reported", table("mode,reported", "ABC", [640, 360, 360])),
    ],
)
def test_counts_beside_categories_are_counts(category, count, data):
    preview, numbers = preview_of(data), data.decode().replace(";", ",").split("\n")
    assert (preview.columns[preview.category], preview.columns[preview.count]) == (category, count)
    at = numbers[0].replace('"', "").split(",").index(count)
    total = sum(int(line.split(",")[at]) for line in numbers[1:] if line)
    for read in (reports_of(data), read_distribution(data, "a.csv")):
        assert (read.category_name, read.count_name, read.total) == (category, count, total)
    said = f"The numbers in the column “{count}” were taken for counts of reports."
    assert (said in reports_of(data).notes) == (count in ("disease", "sick", "reported"))  # by guess


@pytest.mark.parametrize(
    ("header", "fastest"),
    [
        ("site,response,patients", 1),
        ("site,response,patients", 0),
        ("Region,Answer,Reports", 1),
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


@pytest.mark.parametrize("first", ["", "category"])
def test_years_above_a_table_are_names_of_columns(first):
    """They were its first row."""
    found = reports_of(f"{first},2024,2025\nBus,80,81\nCar,100,110\n", count="2025")
    assert found.counts.tolist() == [81, 110]
    assert reports_of("answer,2025\nyes,140\nno,260\n", layout="counts").counts.tolist() == [140, 260]
    assert reports_of("report,3\nred,4\nblue,4\n", layout="counts").counts.tolist() == [3, 4, 4]


@pytest.mark.parametrize(
    ("first", "below"),
    [
        # It comes again below.
        ("Response", ["Response", "No response", "No response", "Partial response"]),
        ("Yes", ["yes", "no", "no"]),
        # It has the form of the others.
        ("65+", ["18-24", "25-44", "45-64"]),
        ("[0, 5)", ["[5, 10)", "[10, 20)"]),
        ("Other (please specify)", ["Bus", "Car", "Train"]),
        ("Other", ["Bus", "Car", "Train"]),
        ("I gave my answer", ["yes", "no", "I gave my answer"]),
    ],
)
def test_a_first_cell_like_the_reports_below_is_one(first: str, below: list[str]) -> None:
    """It was taken for the name of the column, and not counted."""
    text = "\n".join([f'"{cell}"' for cell in [first, *below * 9]]) + "\n"
    read = reports_of(text)
    assert (read.total, read.has_header) == (1 + 9 * len(below), False)
    said = (
        f"The first line, “{first}”, comes again below and was counted: switching “First row is a header” on"
    )
    assert any(note.startswith(said) for note in read.notes) == (first in ("Response", "Yes"))
    named = reports_of(text, has_header=True)  # as one says then
    assert (named.total, any("comes again" in note for note in named.notes)) == (9 * len(below), False)


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


@pytest.mark.parametrize(
    ("first", "guessed"), [("2-3 times", True), ("mode of travel", True), ("answer", False)]
)
def test_a_name_of_a_column_by_guess_is_told(first: str, guessed: bool) -> None:
    """A report that comes once, above the others, was lost without a word."""
    read = reports_of("\n".join([first, *["Never", "Once", "Weekly"] * 9, ""]))
    assert read.category_name == first
    assert any("was taken for the name of the column" in note for note in read.notes) == guessed


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
