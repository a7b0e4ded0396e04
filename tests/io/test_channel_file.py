"""A channel's matrix from a file: every way it is written, and one sentence for what cannot be one."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from rr_core.io import UnreadableFile
from rr_core.io.channel_file import MOST_COLUMNS, MOST_ROWS, read_matrix, read_matrix_file
from rr_core.protocols import Channel
from tests.io.reading import refused

TWO = [[0.75, 0.25], [0.125, 0.875]]
YES_NO = ("yes", "no")


@pytest.mark.parametrize(
    ("text", "truths", "reports"),
    [
        ("\ufeff0.75;0.25\r\n0.125;0.875", None, None),
        ("0,75\t0,25\n\n0,125\t0,875\n", None, None),
        ("75,25,\n12.5,87.5,", None, None),
        ('"0.75","0.25"\n"1/8","7/8"', None, None),
        (",yes,no\na,0.75,0.25\nb,0.125,0.875", ("a", "b"), YES_NO),
        ("truth,yes,no\na,0.75,0.25\nb,0.125,0.875", ("a", "b"), YES_NO),
        ("yes,no\n0.75,0.25\n0.125,0.875", None, YES_NO),
        ("yes,0.75,0.25\nno,0.125,0.875", YES_NO, None),
        ('"very  good" "no"\n"very  good" 0.75 0.25\n"no" 0.125 0.875', *[("very  good", "no")] * 2),  # R
        ("yes: 0.75 0.25\nno: 0.125 0.875", YES_NO, None),
        ("very good: 3/4 1/4\nno: 12.5% 87.5%", ("very good", "no"), None),
        ("yes, no\nyes: 0.75, 0.25\nno: 0.125, 0.875", YES_NO, YES_NO),
        ('"a: b",0.75,0.25\nc,0.125,0.875', ("a: b", "c"), None),
        ("\tyes\tno\nyes\t0.75\t0.25\nno\t0.125\t0.875", YES_NO, YES_NO),
        ("0.75|0.25\n0.125|0.875", None, None),
        ("|t|yes|no|\n|---|:--|--:|\n|yes|0.75|0.25|\n|no|0.125|0.875|", YES_NO, YES_NO),  # Markdown
        ("[[0.75, 0.25],\n [0.125, 0.875]]", None, None),
        ("[0.75, 0.25], [0.125, 0.875]", None, None),
        ("np.array([[0.75 0.25]\n [0.125\n  0.875]])", None, None),
        ("a: ¾ 1⁄4\nb: ⅛ ⅞", ("a", "b"), None),
        ("75%, 25%\n12,5%, 87,5%", None, None),
        ("sehr gut, nein\nsehr gut, 0,75, 0,25\nnein, 0,125, 0,875", *[("sehr gut", "nein")] * 2),
        ("0.75, 0.25;\n0.125, 0.875", None, None),  # MATLAB
        ("report  yes     no\ntruth\nyes    0.75   0.25\nno    0.125  0.875", YES_NO, YES_NO),  # pandas
    ],
)
def test_tables_are_read_however_programs_and_people_set_them(text, truths, reports):
    """Names kept their quotation marks and colons, and bars, brackets and fractions gave a false sentence."""
    read = read_matrix(text)
    assert read.matrix.tolist() == TWO
    assert (read.truths, read.reports) == (truths, reports)


PRAM = [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0.1, 0.9]]
ONE_TO_THREE = ("1", "2", "3")
TENTHS = [[0.9, 0.1], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("text", "truths", "reports", "matrix"),
    [
        ("state,1,2,3\n1,0.9,0.1,0\n2,0.1,0.8,0.1\n3,0,0.1,0.9\n", ONE_TO_THREE, ONE_TO_THREE, PRAM),
        ("1,2,3\n0.9,0.1,0\n0.1,0.8,0.1\n0,0.1,0.9\n", None, ONE_TO_THREE, PRAM),
        ("1,0.9,0.1,0\n2,0.1,0.8,0.1\n3,0,0.1,0.9\n", ONE_TO_THREE, None, PRAM),
        # As R prints a matrix and a table.
        ("   [,1] [,2] [,3]\n[1,] 0.9 0.1 0\n[2,] 0.1 0.8 0.1\n[3,] 0 0.1 0.9", *[ONE_TO_THREE] * 2, PRAM),
        (
            "     report\ntruth   1   2   3\n    1 0.9 0.1 0.0\n    2 0.1 0.8 0.1\n    3 0 0.1 0.9",
            *[ONE_TO_THREE] * 2,
            PRAM,
        ),
        # Names that nearly make a sum are names.
        ('"","yes","no"\n"0","70","30"\n"1","20","80"', ("0", "1"), YES_NO, [[0.7, 0.3], [0.2, 0.8]]),
        # Columns that sum exactly go before rows that nearly do.
        ("no yes\n0.9 0.085\n0.1 0.915", ("no", "yes"), None, [[0.9, 0.1], [0.085, 0.915]]),
        # 0 and 1 are names above a square table, and else chances.
        ("0,1\n0.9,0.1\n0.2,0.8", None, ("0", "1"), TENTHS),
        ("0,1\n1,0", None, None, [[0, 1], [1, 0]]),
        ("1,0,0\n0,1,0\n0,0,1", None, None, np.eye(3).tolist()),
        ("18 65+; 0.9 0.1; 0.2 0.8", None, ("18", "65+"), TENTHS),
        # Decimal commas in any line.
        ("0,8 0,2\n0 1", None, None, [[0.8, 0.2], [0, 1]]),
        ("1 0\n0,2 0,8", None, None, [[1, 0], [0.2, 0.8]]),
    ],
)
def test_what_are_names_is_told_by_the_sums(text, truths, reports, matrix):
    read = read_matrix(text)
    assert (read.truths, read.reports) == (truths, reports)
    np.testing.assert_allclose(read.matrix, matrix)
    numbered = reports is not None and all(map(str.isdigit, reports))
    assert any("read as names" in note for note in read.notes) == numbered


def test_what_was_changed_is_told():
    assert read_matrix("0.5,0.5\n0.25,0.75").notes == ()
    (percents,) = read_matrix("60,40\n10,90").notes
    assert "percent" in percents
    (rounded,) = read_matrix("0.333,0.333,0.333\n0.1,0.1,0.8").notes
    assert "0.999" in rounded
    swapped = read_matrix(",a,b\nx,0.5,0.25\ny,0.5,0.75")
    assert swapped.matrix.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert (swapped.truths, swapped.reports) == (("a", "b"), ("x", "y"))
    assert "swapped" in swapped.notes[0]
    assert sum("divided" in note for note in read_matrix("70.5 30\n20 80").notes) == 1
    assert "as the chances of a truth" in read_matrix("0 1\n0.5 0.5\n0.2 0.8\n0.1 0.9").notes[0]


def test_files_are_unpacked_and_decoded():
    text = ";größe;übrige\nklein;0,5;0,5\ngroß;0,25;0,75\n"
    for data in (text.encode(), text.encode("cp1252"), text.encode("utf-16"), gzip.compress(text.encode())):
        read = read_matrix_file(data, "matrix.csv" if data[:2] != b"\x1f\x8b" else "matrix.csv.gz")
        assert read.truths == ("klein", "groß")
        assert read.reports == ("größe", "übrige")
        assert Channel(read.matrix).identified
    with pytest.raises(UnreadableFile, match="text file"):
        read_matrix_file(b"PAR1" + bytes(40) + b"PAR1", "matrix.parquet")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no numbers"),
        ("0.5,0.5", "at least two rows"),
        ("0.5,0.5\n0.5", "row 2 has 1"),
        ("0.9,0.1\n0.5,0.6", "Row 2 sums to 1.1"),
        ("0.9,0.1\n-0.5,1.5", "“-0.5”"),
        ("0.9,0.1\n0.5,many", "“many”"),
        ("0.9,0.1\n0.5,nan", "“nan”"),
        ("0.9,0.1\n0.5,1/0", "“1/0”"),
        ("a,b,c,d\n0.5,0.5\n0.5,0.5", "names 4 reports"),
        ("a,a\n0.5,0.5\n0.5,0.5", "Two columns are called “a”"),
        ("x,0.5,0.5\nx,0.5,0.5", "Two rows are called “x”"),
        ("\n".join(["1,0"] * (MOST_ROWS + 1)), f"at most {MOST_ROWS} truths"),
        ("\n".join([",".join(["0"] * (MOST_COLUMNS + 1))] * 2), f"{MOST_COLUMNS} reports"),
        # A first row with a misprint is no line of names.
        ("nan 0.5; 0.5 0.5", "Line 1, column 1 has “nan”"),
        ("0.7 - 0.3; 0.2 0.8", "Line 1, column 2 has “-”"),
        ("0.8O 0.1 0.1; 0.2 0.3 0.5; 0.1 0.1 0.8", "Line 1, column 1 has “0.8O”"),
        # A table without its numbers.
        ("yes\nno", "no numbers beside the names"),
        ("(0.5, 0.5)\n(0.1, 0.9)", "and below the first line, which was read as names, is one"),
        ("{0.5,0.5},{0.1,0.9}", "and below the first line, which was read as names, is none"),
        # A line shorter by one is no names where it holds chances, or where they stand before it.
        ("0.5 0.5\n0.2 0.8 0\n0.3 0.7 0", "The first row has 2 numbers, row 2 has 3"),
        ("1 0\n0.2 0.8 0", "The first row has 2 numbers, row 2 has 3"),
        ("1\n0.2 0.8\n0.3 0.7", "names 1 report, but the rows have 2 numbers:"),
        ("1\n0.2 0.8 0\n0.3 0.7", "The first row has 1 number, row 2 has 3"),
    ],
)
def test_what_is_no_matrix_gets_one_sentence(text, words):
    assert words in refused(lambda: read_matrix(text))
