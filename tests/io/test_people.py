"""Reports read again row by row, with groups and weights."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core.io import AS_WRITTEN, AllSeen, Names, Source, UnreadableFile, within
from rr_core.io.people import People, read_people
from rr_core.io.unary_reports import read_unary
from rr_core.reports.survey import MOST_GROUPS
from tests.io.reading import parquet, reports_of, source


def people(
    text: str | bytes, by=(), weights=None, names=AS_WRITTEN, name: str = "a.csv", inverse=False, **options
) -> People:
    """The people of a file of answers, or of counts where a column of counts is named."""
    layout = "counts" if "count" in options else "values"
    read = reports_of(text, name=name, category="answer", layout=layout, **options)
    labels = within(read, AllSeen(), names).labels.tolist()
    return read_people(source(text, name), read, labels, names, by, weights, inverse=inverse)


def as_rows(header: str, cells) -> str:
    """A line with yes and one with no for each of the cells beside them."""
    return f"{header}\n" + "".join(f'yes;"{cell}"\nno;"{cell}"\n' for cell in cells)


def test_columns_of_groups_are_crossed_and_rows_without_a_value_left_out():
    rows = "answer,town,sex\nyes,Oslo,f\nno,Oslo,m\nyes,,f\nno,Rome,f\nyes,Oslo,f\n"
    found = people(rows, ["town", "sex"])
    assert found.groups == ("Oslo, f", "Oslo, m", "Rome, f")
    assert found.tallies.counts.tolist() == [[2, 0], [0, 1], [0, 1]]
    assert found.notes == ("1 row left out: no value in the column “town, sex”.",)


def test_the_sums_of_all_people_do_not_depend_on_their_groups():
    """Sums of sums differed from them in their last digits."""
    dice = np.random.default_rng(1)
    cells = zip(dice.choice(["yes", "no"], 999), dice.choice([*"abc"], 999), dice.random(999), strict=True)
    rows = "answer,town,w\n" + "".join(f"{a},{b},{c}\n" for a, b, c in cells)
    groups, alone = people(rows, ["town"], "w").tallies, people(rows, weights="w").tallies
    np.testing.assert_array_equal(groups.together().weights, alone.weights)
    np.testing.assert_array_equal(groups.together().squares, alone.squares)
    some = people(rows + "yes,,0.5\n", ["town"], "w").tallies
    np.testing.assert_allclose(some.together().weights, alone.weights, rtol=1e-14)


@pytest.mark.parametrize("word", ["NA", "(blank)"])
def test_a_word_for_no_value_is_no_group(word):
    """“NA” was a group of that name, beside the rows with an empty cell, which were left out."""
    found = people(f"answer,town\nyes,Oslo\nno,Oslo\nyes,{word}\nyes,\nno,{word}\nno,Rome\nno,na\n", ["town"])
    assert (found.groups, found.tallies.counts.tolist()) == (("na", "Oslo", "Rome"), [[0, 1], [1, 1], [0, 1]])
    assert found.notes == (
        f"3 rows left out: no value in the column “town” (as “{word}” says: if that is a group, give it another name).",
    )


def test_names_of_groups_that_stand_once_above_empty_cells_are_refused():
    """As a spreadsheet saves merged cells: all but the first row of each group were left out."""
    for text, options in (
        ("region,answer,n\nNorth,yes,140\n,no,260\nSouth,yes,150\n,no,250\n", {"count": "n"}),
        ("region,answer\nNorth,yes\n,no\n,yes\nSouth,yes\n,no\n", {}),
    ):
        with pytest.raises(
            UnreadableFile, match=r"“region” each name stands in one row only, and [23] rows have"
        ):
            people(text, ["region"], **options)
    assert people("region,answer\nNorth,yes\n,no\nNorth,no\nSouth,no\n", ["region"]).groups == (
        "North",
        "South",
    )


def test_groups_that_may_be_one_are_told():
    """They were two groups, and nothing said so."""
    found = people("answer,town\nyes,Oslo\nno,oslo\nno,Rome\nyes,OSLO\n", ["town"])
    assert len(found.groups) == 4
    (said,) = found.notes
    assert said.startswith("Counted as different groups: “Oslo” and “oslo”; “Oslo” and “OSLO”. Write")


def test_names_are_decided_on_as_for_everybody():
    rows = "answer,town\nyes,A\nYES,A\nNA,A\nno,B\n"
    found = people(rows, ["town"], names=Names(("NA",), (("YES", "yes"),)))
    assert (found.groups, found.tallies.counts.tolist()) == (("A", "B"), [[2, 0], [0, 1]])


@pytest.mark.parametrize(
    "cells", ["1.5 0.25 - 0.3e0", "1.5 0.25 nan 0.3e0", "1,5 0,25 - 0,3", "1,5 0,25 NaN 0,3"]
)
def test_weights_are_numbers_and_who_has_none_is_left_out(cells):
    """Beside decimal commas an empty cell was refused, with the advice to leave it empty."""
    found = people(as_rows("answer;w", cells.replace("-", "").split(" ")), weights="w")
    np.testing.assert_allclose(found.tallies.weights, [[2.05, 2.05]])
    np.testing.assert_allclose(found.tallies.squares, [[1.5**2 + 0.25**2 + 0.3**2] * 2])
    assert found.tallies.counts.tolist() == [[3, 3]]
    assert found.notes == ("2 rows left out: no weight in the column “w”.",)


def test_points_between_thousands_of_weights_are_refused():
    """1.234 was a thousandth of what 1234 is, beside 950."""
    with pytest.raises(
        UnreadableFile, match=r"Line 3 has “1.234” in the column “w”, beside numbers that are much larger"
    ):
        people("answer;w\nyes;950\nno;1.234\nyes;2.000\nno;87\n", weights="w")
    for cells in (["1", "1.234", "2.667"], ["950", "1.5", "87"]):
        found = people(as_rows("answer;w", cells), weights="w")
        np.testing.assert_allclose(found.tallies.weights, [[sum(map(float, cells))] * 2])


def test_weights_of_parquet_are_read_as_they_are():
    rng, g = np.random.default_rng(1), np.arange(400) % 3
    weights, answers = rng.uniform(0, 3, 400), rng.choice(["a", "b"], 400)
    found = people(parquet({"answer": answers, "w": weights, "g": g}), ["g"], "w", name="a.parquet")
    assert found.groups == ("0", "1", "2")
    names = list(dict.fromkeys(answers.tolist()))
    wanted = [[weights[(g == group) & (answers == name)].sum() for name in names] for group in range(3)]
    np.testing.assert_allclose(found.tallies.weights, wanted)


def test_groups_stand_in_order_and_numbers_by_size():
    for written, wanted in (
        (["10", "9", "2.5"], ("2.5", "9", "10")),
        (["west", "East", "north"], ("East", "north", "west")),
        (["wave 10", "wave 9"], ("wave 9", "wave 10")),
        (["[20,30)", "[100,inf)", "[-5,0)", "[-10,-5)"], ("[-10,-5)", "[-5,0)", "[20,30)", "[100,inf)")),
        (["(1e+03,2e+03]", "(20, 100]", "(3.5, 20]"], ("(3.5, 20]", "(20, 100]", "(1e+03,2e+03]")),
    ):
        assert people(as_rows("answer;g", written), ["g"]).groups == wanted


def test_too_many_groups_and_none_are_refused():
    many = "".join(f"yes,{i}\nno,{i}\n" for i in range(MOST_GROUPS + 1))
    with pytest.raises(UnreadableFile, match="There are 201 groups in the column “g”, and at most 200"):
        people(f"answer,g\n{many}", ["g"])
    with pytest.raises(UnreadableFile, match="No report is left"):
        people("answer,g\nyes,\nno,\nyes,\n", ["g"])


def test_a_column_that_numbers_people_is_no_group_and_is_told_before_all_are_held():
    """With 1,600,000 of them it was said that reading takes too much memory, and to count the values first."""
    rows = "".join(f"{'yes' if i else 'no'},{i}\n" for i in range(10_001))
    with pytest.raises(UnreadableFile, match="The column “person” has more than 10,000 different values"):
        people(f"answer,person\n{rows}", ["person"])


def test_counts_have_groups():
    rows = "town,answer,n\nOslo,yes,30\nOslo,no,20\nRome,yes,5\nRome,no,45\n"
    found = people(rows, ["town"], count="n")
    assert (found.groups, found.tallies.counts.tolist()) == (("Oslo", "Rome"), [[30, 20], [5, 45]])
    with pytest.raises(UnreadableFile, match="no weights"):
        people("answer,n,w\nyes,3,1\nno,4,2\n", weights="w", count="n")


PI = {"weights": "w", "inverse": True}


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ("yes,1\nno,-2\n", {"weights": "w"}, "Line 3 has -2 in the column “w”, and weights are not below 0"),
        ("yes,high\nno,low\n", {"weights": "w"}, "Line 2 has “high” in the column “w”, which is no number"),
        ("yes,1\nno,often\n", {"weights": "w"}, "Line 3 has “often” in the column “w”"),
        ("yes,0.5\nno,0\n", PI, "Line 3 has .*, and inclusion probabilities lie above"),
        ("yes,0.5\nno,1.5\n", PI, "Line 3 has .*, and inclusion probabilities lie above"),
        ("yes,1\nno,2\nno,1\n", {"weights": "town"}, "There is no column “town”"),
        ("yes,1\nno,2\nno,1\n", {"by": ["answer"]}, "cannot be two things"),
        ("yes,1\nno,2\nno,1\n", {"by": ["w"], "weights": "w"}, "cannot be two things"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(rows, options, says):
    with pytest.raises(UnreadableFile, match=says):
        people(f"answer,w\n{rows}", **options)


def test_weights_of_0_and_inclusion_probabilities_in_percent_are_read():
    """Weights of 0 were taken without a word, and percentages refused."""
    found = people("answer,w\nyes,0\nno,1\nyes,2\nno,0\n", weights="w")
    assert found.tallies.counts.tolist() == [[2, 2]]
    assert found.notes == (
        "2 rows with weight 0 in the column “w”: they are among the reports, but not in the shares.",
    )
    for one, other in (("50%", "12.5%"), ("0.5", "0.125")):
        assert people(f"answer,w\nyes,{one}\nno,{other}\n", **PI).tallies.weights.tolist() == [[2.0, 8.0]]


BITS = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
TOWNS, CHANCES = ["b", "a", "b", "", "a", "a"], [0.5, 0.25, 0.1, 0.2, 1.0, 0.4]


@pytest.mark.parametrize("form", ["columns", "strings"])
def test_bits_have_groups_and_inclusion_probabilities(form):
    strings = ["".join(map(str, row)) for row in BITS.tolist()]
    reports = [",".join(row) if form == "columns" else row for row in strings]
    head = "bus,car,tram" if form == "columns" else "report"
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in zip(reports, TOWNS, CHANCES, strict=True))
    source = Source("a.csv", f"{head},town,Pi\n{rows}".encode())
    read = read_unary(source, apart=("town", "Pi"))
    np.testing.assert_array_equal(read.support, BITS.sum(axis=0))
    found = read_people(
        source, read.reports, read.labels, AS_WRITTEN, ["town"], "Pi", inverse=True, bits=True
    )
    assert (found.groups, found.notes) == (("a", "b"), ("1 row left out: no value in the column “town”.",))
    with_all = np.column_stack([BITS, np.ones(6, dtype=int)])
    for power, sums in ((0, found.tallies.counts), (1, found.tallies.weights), (2, found.tallies.squares)):
        each = np.array(CHANCES)[:, None] ** -power * with_all
        wanted = [each[[town == name for town in TOWNS]].sum(axis=0) for name in found.groups]
        np.testing.assert_allclose(sums, wanted)
    bits, weights = found.tallies.bits_of(1)  # both of b reported alike: one row
    assert (bits.tolist(), weights.tolist()) == ([[1, 0, 1]], [12.0])
    assert found.tallies.bits_of(None, weighted=False)[1].sum() == 5


def test_totals_of_groups_are_no_group():
    """They were said to be left out, but counted once more by group: 1,480 reports for 740."""
    rows = [("N", "yes", 120), ("N", "no", 200), ("S", "yes", 100), ("S", "no", 150)]
    rows += [("All regions", "yes", 220), ("All regions", "no", 350)]
    text = "region,sex,answer,n\n" + "".join(
        f"{region},{sex},{name},{times * n}\n"
        for sex, times in (("f", 1), ("m", 2), ("Total", 3))
        for region, name, n in rows
    )
    for by, groups in ((["region"], ("N", "S")), (["sex"], ("f", "m"))):
        found = people(text, by, count="n")
        assert (found.groups, found.tallies.counts.sum(), found.notes) == (groups, 1710, ())


def test_a_group_without_a_report_is_named():
    """It was dropped without a word."""
    rows = "town,answer,n\nOslo,yes,5\nOslo,no,7\nRome,yes,0\nRome,no,{}\n"
    found = people(rows.format(0), ["town"], count="n")
    assert found.groups == ("Oslo",)
    assert found.notes == ("Without a report, and left out of the groups: “Rome”.",)
    assert people(rows.format(1), ["town"], count="n").notes == ()
