"""Broken and hostile files of reports: each gets its sentence, or is read for what it is."""

from __future__ import annotations

from typing import Any

import pytest

from rr_core.io import AllSeen, Source, decoding, inspect_reports, read_reports, within
from rr_core.io import reports as module
from rr_core.io.columns import header_rows
from rr_core.io.decoding import megabytes
from tests.app.hostile_reports import CASES, GOOD, Hostile
from tests.io.reading import as_dict, complaint, preview_of, refused, reports_of


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_file_is_read_or_gets_its_sentence(case: Hostile) -> None:
    def use() -> Any:
        reports = read_reports(case.files, **case.options)
        return reports, within(reports, case.domain or AllSeen()) if len(reports.labels) > 1 else None

    assert bool(case.refused) != bool(case.counts)
    if case.refused:
        assert case.refused in refused(use)
    else:
        reports, _ = use()
        assert as_dict(reports) == case.counts
        assert any(case.noted in note for note in reports.notes) or not case.noted


def test_limits_hold_for_all_files_together(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [Source("a.csv", GOOD.encode())] * 2
    for place, words in ((module, "are larger"), (decoding, "unpack to more")):
        name = "MAX_UPLOAD_BYTES" if place is module else "MAX_UNPACKED_BYTES"
        monkeypatch.setattr(place, name, 2 * len(GOOD))
        assert read_reports(files).total == 120
        monkeypatch.setattr(place, name, 2 * len(GOOD) - 1)
        limit = megabytes(2 * len(GOOD) - 1)
        assert f"The files {words} than {limit} together." in refused(lambda: read_reports(files))
        monkeypatch.undo()


def test_the_total_is_exact_or_refused() -> None:
    half = f"category,count\na,{2**52}\nb,1\n"
    assert reports_of(half).total == 2**52 + 1
    assert reports_of(f"{half}c,{2**52 - 1}\n").total == 2**53
    assert complaint(f"{half}c,{2**52}\n").startswith("The counts add up to more than 9,007,199,254,740,992.")
    assert complaint(half, half).startswith("The counts add up to more than")


DRAWN = {
    "psql": " answer | count \n--------+-------\n no     |   360\n yes    |   640\n(2 rows)\n\n",
    "MySQL": "+--------+----------+\n| answer | COUNT(*) |\n+--------+----------+\n| no     |      360 |\n"
    "| yes    |      640 |\n+--------+----------+\n2 rows in set (0.00 sec)\n",
    "Markdown": "| answer | count |\n|---|---:|\n| no | 360 |\n| yes | 640 |\n",
}
PRINTED = {
    "SQLite, columns": "answer  count(*)\n------  --------\nno      360     \nyes     640     \n",
    "pandas": "    answer    n\n0      yes  640\n1       no  360\n",
    "value_counts": "answer\nyes    640\nno     360\nName: count, dtype: int64\n",
    "polars": "shape: (2, 2)\n┌────────┬───────┐\n│ answer ┆ count │\n│ ---    ┆ ---   │\n│ str    ┆ u32   │\n"
    "╞════════╪═══════╡\n│ no     ┆ 360   │\n│ yes    ┆ 640   │\n└────────┴───────┘\n",
    "tibble": "# A tibble: 2 × 2\n  answer     n\n  <chr>  <int>\n1 no       360\n2 yes      640\n",
    "Stata": "      answer |      Freq.     Percent        Cum.\n------------+-----------------------------------\n"
    "          no |        360       36.00       36.00\n         yes |        640       64.00      100.00\n"
    "------------+-----------------------------------\n       Total |      1,000      100.00\n",
    "psql, one column": " answer \n--------\n yes\n no\n yes\n(3 rows)\n",
    "R": "\nyes  no \n640 360 \n",
    "assignments": "yes=640\nno = 360\n",
    "R, shares": "\n yes   no \n0.64 0.36 \n",
    "a series": "0    yes\n1     no\n2    yes\n      ... \nName: answer, Length: 900, dtype: object\n",
    "SAS": "      The FREQ Procedure\n\nanswer   Frequency   Percent\n----------------------------\n"
    "no            360     36.00\nyes           640     64.00\n",
    "LaTeX": "\\begin{tabular}{lr}\nAnswer & $n$ \\\\\nno & 360 \\\\\nyes & 640 \\\\\n\\end{tabular}\n",
    "a log": "10:00:01 INFO user=1 answer=yes\n10:00:02 INFO user=2 answer=no\n",
}


REFUSED = {
    # Each line was a report.
    "a table as a program prints it": [*PRINTED.values(), "- yes: 412\n- no: 588\n"],
    "one line in brackets": ["{'yes': 640, 'no': 360}", "Counter({'yes': 640, 'no': 360})", "[('yes', 640)]"],
    "If that is one number, write it without the comma": ["Never 1,234\nOnce 2,345\nOften 3,456\n"],
    # As programs save it under the name of an Excel file.
    "a web page": ['<meta charset="utf-8"><table>', "<tr><td>yes"],
    # The header was said to have too many fields.
    "“# inside” is a remark between the rows of the table: take it out.": [
        f"{above}answer,n\nyes,312\n# inside\nno,255\n# again\n"
        for above in ("# exported\n", "sep=,\n# exported\n", "\n# exported\n# twice\n")
    ],
    "This is a summary of columns (count, ": [
        ",answer\ncount,900\nunique,2\ntop,yes\nfreq,640\n",
        ",age\ncount,900.0\nmean,41.2\nstd,11.5\nmin,18.0\n25%,30\n50%,41\n75%,52\nmax,80\n",
        ",answer,age\ncount,900,900.0\nunique,2,\ntop,yes,\nfreq,640,\nmean,,41.2\nstd,,11.5\n",
    ],
    "This is code of R, as dput prints it, and no table": [
        'structure(list(answer = c("yes", "no", "no")), class = "data.frame", row.names = c(NA, \n-3L))\n',
        'structure(c(1L, 2L, 1L), levels = c("no", "yes"), class = "factor")\n',
    ],
    # It was asked which of the columns holds the reports.
    "The counts are laid sideways: ": [
        "wave,Never,Rarely,Often,Total\n1,412,288,150,850\n",
        ",no,yes,maybe\nn,360,640,99\n%,32.8,58.2,9.0\n",
    ],
    "The counts are laid sideways, below": ["0,1,2,3\n254,293,146,99\n"],
    "The file has one line, of 7 cells": ["1,1,2,3,4,1,3\n"],
    # As a spreadsheet saves merged cells: their people were left out, told as rows.
    "The column “answer” has no name in 2 of 4 rows with counts": [
        "answer,region,n\nyes,North,140\n,South,150\nno,North,260\n,South,250\n"
    ],
    "Line 4 has no count.": ["answer,n\nyes,137\nno,91\nmaybe,\n"],
    # Each line was a report; of two with yes and no, Warner's design asked which one means yes.
    "a name and a number in one cell, as “": [
        *("yes - 412\nno - 588\n", "412 yes\n588 no\n", "yes (n=412)\nno (n=588)\n"),
        *("answer\nbus 21\ncar 30\ntrain 19\n", "Never 137\n2-3 times 76\nWeekly 41\n"),
        *("42 18-24\n137 25-34\n7 65+\n", "Ja 12\nNein 40"),
    ],
    "a name and a number in one cell, as “no 332”": ["x Freq\nno 332\nmaybe 9\nyes 268\n"],
    "a name and a number in one cell, as “bus: 21 people”": [
        "bus: 21 people\ntram: 34 people\nwalk: 3 people\n"
    ],
    # 140 thousands were 140 reports.
    "by its name, and every report counts here": [
        f'answer,"{name}"\nbus,140\ncar,210\n'
        for name in ("people (in 1000)", "N (thousands)", "Tsd.", "n ('000)", "Millions")
    ],
    "“Anteil in %” holds shares": ["Antwort,Anteil in %\nyes,64\nno,36\n"],
    "holds shares": [
        "region,answer,share\n" + "".join(f"{'NS'[i % 2]},c{i},0.{10 + i}\n" for i in range(12))
    ],
    # What follows was one name, cut, and the reports in it were lost.
    'A quotation mark is opened on line 3 (“2,"no 3,yes 4,no”) and never': [
        'id,answer\n1,yes\n2,"no\n3,yes\n4,no\n'
    ],
}


# Of a second file, in which the numbers of the rows were six categories.
IN_ORDER = "".join(f"{i},{'yes' if i % 2 else 'no'}\n" for i in range(1, 7))
TURNED = "".join(f"{'yes' if i % 3 else 'no'},{i}\n" for i in range(1, 7))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            "category,count\na,1\n",
            "count,category\n1,a\n",
            "its column 1 is called “count”, and in “a.csv” “category”.",
        ),
        ("report\nred\nblue\n", "red\nblue\n", "its column 1 is called “red”, and in “a.csv” “report”."),
        ("a,1\nb,2\n", "a\nb\n", "it has 1 column, and “a.csv” has 2."),
        ("a,1\nb,2\n", "category,count\na,1\n", "Line 1: the count “count” is not a number."),
        (IN_ORDER, TURNED, "its columns of numbers are not those of “a.csv”"),
    ],
)
def test_a_file_of_another_shape_is_refused(first: str, second: str, words: str) -> None:
    assert complaint(first, second).startswith(f"“b.csv”: {words}")


@pytest.mark.parametrize(
    ("words", "text"), [(words, text) for words, texts in REFUSED.items() for text in texts]
)
def test_what_is_no_table_of_reports_is_refused_with_its_reason(words: str, text: str) -> None:
    assert words in complaint(text)


READ = {
    'id,size\n1,5"\n2,"6"\n3,5"\n4,5"\n': [3, 1],  # inches
    # As SQLite and NumPy write them.
    "no|360\nyes|640\n": [360, 640],
    "answer|n\nno|360\nyes|640\n": [360, 640],
    "0.000e+00 1.370e+02\n1.000e+00 9.100e+01\n2.000e+00 7.600e+01\n": [137, 91, 76],
    "ward 1,234\nward 2,345\nward 3,456\n": [234, 345, 456],
    "Never 1,234\nOnce 2,34\nOften 3,456\n": [234, 34, 456],
    "c(1)\nstructure(old)\n" * 3: [3, 3],
    "a,b,n\nx,7,3\n": [3],
    # Columns that a spreadsheet left empty do not count.
    "Antwort;Anzahl;;;\nja;40;;;\nnein;60;;;\n;;;;\n": [40, 60],
    "answer,n\nyes,140\nno,260\n,400\n": [140, 260],
    # Excel counts none of the empty cells it names.
    "Row Labels,Count of answer\nyes,137\nno,91\n(blank),\nGrand Total,228\n": [137, 91, 0, 228],
    # Digits of other scripts are numbers.
    "الجواب,العدد\nنعم,٣١٢\nلا,١٠٥\n": [312, 105],
    "الجواب,العدد\nنعم,３１２\nلا,１０５\n": [312, 105],
    "answer,Total (N=1 000)\nbus,140\ncar,210\n": [140, 210],
    # SPSS writes "Valid" once beside all names.
    ",,Frequency,Percent\nValid,Never,137,33.3\n,Once,91,22.1\n,Weekly,172,41.7\n,Total,400,97.1\n"
    "Missing,System,12,2.9\nTotal,,412,100.0\n": [137, 91, 172, 400],
    # Names that are a little like the lines that programs print.
    "report\n" + "other\nab 12\ncd 34\n" * 3: [3, 3, 3],
    "report\n" + "-\n--\n---\n+\n----\n" * 3: [3] * 5,
    "report\n10:00\n11:30\n": [1, 1],
    "report\n" + "COVID-19\nHIV-2\nHPV-16\n" * 3: [3, 3, 3],
    "report\nx.org?id=5\nx.org?id=6\n": [1, 1],
    "report\n" + "a|b\na|c\n" * 3: [3, 3],
    # A mean below scores was a count that is not whole.
    "score,n\n1,134\n2,256\nMean,1.66\nSD,0.48\n": [134, 256],
    # Of other remarks above a table than those with # the header was said to have too many fields.
    **{f"{mark} exported\n{mark} k = 2\nanswer,n\nno,360\nyes,640\n": [360, 640] for mark in ("%", "//")},
    "% who agree,n\nno,360\nyes,640\n": [360, 640],
    # Lines in quotation marks as a whole: each was a report.
    '"answer,n"\n"no,360"\n"""yes, sure"",640"\n': [360, 640],
    '"town"\n' + '"Boston, MA"\n"Reno, NV"\n' * 3: [3, 3],
}


@pytest.mark.parametrize(("text", "counts"), READ.items())
def test_what_only_looks_broken_is_read(text: str, counts: list[int]) -> None:
    assert reports_of(text, name="a.txt").counts.tolist() == counts


def test_what_was_skipped_above_and_below_is_told() -> None:
    for text, note in (
        (
            "% exported\n% k = 2\nanswer,n\nno,360\nyes,640\n",
            "2 lines that begin with % above the table were skipped.",
        ),
        ("score,n\n1,134\n2,256\nMean,1.66\nSD,0.48\n", "Left out, as no numbers of people: “Mean”, “SD”."),
        (
            '"answer,n"\n"no,360"\n"yes,640"\n',
            "Each line was in quotation marks as a whole, which were taken away.",
        ),
    ):
        assert reports_of(text).notes == (note,)
    assert preview_of("# answers of spring\n# bus,car\n1,0\n0,1\n1,1\n").columns == ("bus", "car")
    with pytest.raises(ValueError, match="layout must be"):
        reports_of(GOOD, layout="wide")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="files must hold at least one"):
        read_reports([])


@pytest.mark.parametrize("text", DRAWN.values(), ids=DRAWN)
def test_a_table_that_is_drawn_with_bars_is_read(text: str) -> None:
    """It was refused as a printed one; the line of a bad count is that of the file."""
    read = reports_of(text, name="a.txt")
    assert as_dict(read) == {"no": 360, "yes": 640}
    line = 1 + text[: text.index("360")].count("\n")
    assert complaint(text.replace("360", "3x0")).startswith(f"Line {line}: the count “3x0” is not a number")


def test_names_that_are_there_once_beside_numbers_are_refused() -> None:
    said = complaint("answer,2025,2026\nyes,140,150\nno,260,250\n")
    assert "the column of counts (“2025”, “2026”). In a cross table each is a" in said
    assert "write a line for each name and group. If none holds counts" in said
    said = complaint("yes, 1,234\nno, 2,345\n")
    assert said.endswith("If 1,234 is one number, write it without the comma: 1234.")
    for text in ("id,answer\n7,yes\n9,no\n", "answer,age,n\nyes,1.5,1\nno,2.5,1\n"):
        assert reports_of(text).total == 2


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Survey,,\nQ1,region,n\nanswer,where,people\nNever,Oslo,120\nOften,Oslo,80\nNever,Rome,13\n", 3),
        ("answer,North,,South,\n,n,%,n,%\nyes,140,0.35,150,0.375\nno,260,0.65,250,0.625\n", 2),
        ("Q1,Q2\nHow often?,Where?\n" + "Never,Oslo\nOften,Rome\nOften,Oslo\n" * 20, 2),
    ],
)
def test_several_header_rows_are_named(text, number):
    """The second one was a report, or which column holds the reports was asked by numbers in place of names."""
    for read in (inspect_reports, lambda source: read_reports([source])):
        said = refused(lambda read=read: read(Source("a.csv", text.encode())))
        assert f"The table has {number} header rows, from “" in said
        assert "Keep one of them, in which each column has its own name" in said


@pytest.mark.parametrize(
    "text",
    [
        "answer,n\nNever,NA\nOften,80\nDaily,30\n",
        "Never,120\nOften,eighty\nDaily,30\nOnce,40\n",
        "answer,where\nRarely,Rome\n" + "Never,Oslo\nOften,Rome\nOften,Oslo\n" * 20,
    ],
)
def test_one_header_row_is_one(text):
    assert header_rows([line.split(",") for line in text.splitlines()]) == 0


def test_one_number_beside_all_shares_is_no_count() -> None:
    """Of 448 people each answer had 448 reports."""
    text = "answer,share,N\nbus,0.3125,448\ncar,0.46875,448\ntrain,0.21875,448\n"
    assert complaint(text).startswith(
        "The column “N” has the same number in each row, beside the shares in “share”"
    )
    alike = reports_of(text.replace("share", "remark"), category="answer", count="N")
    assert alike.counts.tolist() == [448, 448, 448]


def test_of_two_columns_of_one_name_it_is_told_which_was_read() -> None:
    files = [Source("a.csv", b"answer,answer\nyes,a\nyes,b\nno,a\n")]
    read = read_reports(files, layout="values", category="answer")
    assert "Of the columns called “answer” the first was read; the next is “answer (2)”." in read.notes
    assert read_reports(files, layout="values", category="answer (2)").labels.tolist() == ["a", "b"]
