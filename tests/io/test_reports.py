"""Collected reports that can be read: layouts, several files, pieces, progress, what is left out."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rr_core.io import (
    Dropped,
    FileRead,
    Source,
    UnreadableFile,
    decoding,
    parquet,
    read_distribution,
    read_reports,
    tables,
    text,
)
from rr_core.io.columns import header_rows
from rr_core.io.reports import read_typed, rivals
from tests import EXAMPLES
from tests.io.reading import as_dict, complaint, pairs, preview_of, reports_of
from tests.io.reading import parquet as to_parquet
from tests.io.test_distribution import COUNTS, LABELS, write
from tests.io.workbook_files import archive


def a_column(values: Any, **options: Any) -> bytes:
    return to_parquet(values if isinstance(values, pa.Table) else {"report": values}, **options)


def test_files_of_different_formats_with_the_same_columns() -> None:
    found = read_reports(
        [
            Source("a.csv", b"user,report\n1,17\n2,18\n"),
            Source("b.parquet", a_column(pa.table({"user": [3, 4], "report": [17.0, 18.5]}))),
            Source("c.tsv.gz", gzip.compress("user\treport\n5\t17\n".encode("utf-16"))),
        ]
    )
    assert pairs(found) == [("17", 3), ("18", 1), ("18.5", 1)]
    assert [file.reports for file in found.files] == [2, 2, 1]
    first, second = "category,count\na,3\n,9\nb,1\na,1\n", "category,count\n\nc,3\na,1\n"
    found = reports_of(first, second)
    assert as_dict(found) == as_dict(reports_of(second, first)) == {"a": 5, "b": 1, "c": 3}
    assert found.files == (FileRead("a.csv", 3, 5), FileRead("b.csv", 2, 4))
    assert found.dropped == (Dropped("no category name", 1, 3, "a.csv"), Dropped("blank line", 1, 2, "b.csv"))
    digests = [hashlib.sha256(part.encode()).hexdigest() for part in (first, second)]
    assert found.sha256 == hashlib.sha256("".join(digests).encode()).hexdigest()


def test_the_same_bytes_twice_are_noted() -> None:
    found = reports_of("report\nred\nblue\nred\n", "report\nred\n", "report\nred\nblue\nred\n")
    assert found.total == 7
    twice = "and both were counted: if they hold the same people, take one away."
    assert found.notes == (f"“c.csv” has the same number of each report as “a.csv”, {twice}",)
    # Also where another column differs: a second file in place of one that was refused.
    rows = ["red", "blue", "red", "green"] * 25
    one, other = ("report,w\n" + "".join(f"{row},{w}\n" for row in rows) for w in ("high", "2"))
    found = reports_of(one, other.replace("green", "blue", 1), other)
    (told,) = (note for note in found.notes if "same number" in note)
    assert told.startswith("“c.csv” has the same number of each report as “a.csv”")


def test_a_header_is_the_same_for_all_files() -> None:
    found = reports_of("red\nred\n", "Report\nred\n")
    assert pairs(found) == [("red", 3), ("Report", 1)]
    assert "The first line of “b.csv” looks like a header" in found.notes[0]
    assert pairs(reports_of("town\nred\n", "town\nred\n", has_header=True)) == [("red", 2)]
    assert pairs(reports_of("town\nred\n", "town\nred\n", has_header=False)) == [("town", 2), ("red", 2)]


def test_rows_left_out_are_counted_and_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK", 32)
    body = "".join(f"{user},{report}\n" for user, report in enumerate("aabbaabbab" * 4))
    found = reports_of(f"user,report\n{body}\n7,\n8, \x07\n,\n9,a\n  \n\n")
    assert pairs(found) == [("a", 21), ("b", 20)]
    assert found.dropped == (Dropped("blank line", 3, 42), Dropped("no category name", 3, 43))
    assert reports_of("\n\nreport\nred\n\n  \nred\n").dropped == (Dropped("blank line", 4, 1),)
    assert reports_of("report\nred\n\n\n").dropped == (Dropped("blank line", 2, 3),)
    assert reports_of("report\nred\n\t\nred\n").dropped == (Dropped("blank line", 1, 3),)
    assert reports_of('report,x\n"red\n\nblue",1\n\n', layout="values").dropped == (
        Dropped("blank line", 1, 5),
    )


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK", 1 << 12)
    reports = b"report\n" + b"red\nblue\n" * 50_000
    files = [Source("a.csv", reports), Source("b.csv.gz", gzip.compress(reports)), Source("c.csv", reports)]
    heard: list[float] = []
    found = read_reports(files, progress=lambda done: bool(heard.append(done)))
    assert found.total == 300_000
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert 0 <= heard[0] < 0.1
    # The compressed file is small: the two others share nearly all of the bar, and each moves it.
    assert sum(0.2 < done < 0.45 for done in heard) > 5
    assert sum(0.7 < done < 0.95 for done in heard) > 5
    heard.clear()
    monkeypatch.setattr(decoding, "_CHUNK", 1 << 14)
    names = np.random.default_rng(1).integers(0, 2**40, 50_000).astype(str)  # which hardly shrink
    rows = "\n".join(["report", *names, *names]).encode()
    # Of these the bar stood at 0 until they were unpacked.
    for packed in (Source("a.zip", archive({"a.csv": rows})), Source("a.csv.gz", gzip.compress(rows))):
        assert read_reports([packed], progress=lambda done: bool(heard.append(done))).total == 100_000
        assert heard == sorted(heard)
        assert sum(0.02 < done < 0.28 for done in heard) > 5
        heard.clear()
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 10)
    source = Source("a.parquet", a_column(["red", "blue"] * 50))
    assert read_reports([source], progress=lambda done: bool(heard.append(done))).total == 100
    assert sum(0.3 < done < 0.99 for done in heard) >= 9


# Quotation marks change how a file is cut into pieces.
UNQUOTED = LABELS.filter(lambda label: not set(label) & set(',;"'))
PIECES = st.fixed_dictionaries(
    {"block": st.integers(200, 600), "rows": st.integers(1, 50), "pending": st.integers(0, 20)}
)


@pytest.mark.slow
@settings(deadline=None, max_examples=EXAMPLES // 4)
@given(
    st.sampled_from([LABELS, UNQUOTED]).flatmap(
        lambda labels: st.lists(st.lists(labels, min_size=1, max_size=60), min_size=1, max_size=3)
    ),
    PIECES,
    st.booleans(),
)
def test_pieces_of_any_size_are_a_counter(
    columns: list[list[str]], sizes: dict[str, int], as_parquet: bool
) -> None:
    quoted = any(set(label) & set(',;"') for column in columns for label in column)
    # Where all are lists of bits, these are read as bit strings.
    assume(not any(all(map(text._BIT_LIST.fullmatch, map(str.encode, column))) for column in columns))
    # A word above numbers alone may be a second header: that is refused in a sentence.
    assume(not any(header_rows([("who",), *((label,) for label in column)]) for column in columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK", sizes["block"])
        patch.setattr(parquet, "_PIECE_ROWS", sizes["rows"])
        patch.setattr(tables, "_PENDING", sizes["pending"])
        if as_parquet:
            files = [a_column(column, row_group_size=sizes["rows"] + 3) for column in columns]
        else:
            files = [
                write([["who"], *([v] for v in column)], ",", "\n", int(quoted)).encode()
                for column in columns
            ]
        found = reports_of(
            *files, name="a.parquet" if as_parquet else "csv", layout="values", category=0, has_header=True
        )
    assert pairs(found) == list(Counter(value for column in columns for value in column).items())
    assert [file.reports for file in found.files] == list(map(len, columns))


@settings(deadline=None, max_examples=EXAMPLES // 5)
@given(COUNTS, PIECES)
def test_tables_of_counts_are_read_as_a_distribution_is(
    counts: dict[str, int], sizes: dict[str, int]
) -> None:
    rows: list[list[Any]] = [[label, count] for label, count in counts.items()]
    data = write([["category", "count"], *rows, *rows], ",", "\n", 1).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK", sizes["block"])
        found = reports_of(data)
    expected = read_distribution(data, "a.csv")
    assert pairs(found) == list(zip(expected.labels.tolist(), expected.weights.tolist(), strict=True))
    assert (found.rows, found.merged, found.total) == (expected.rows, expected.merged, expected.total)


def test_bit_strings_among_answers_are_told() -> None:
    bits = {("0110", "1001", "0110"): True, ("[0 1 1]", "[1 0 0]", "[0 0 0]"): True}
    bits |= dict.fromkeys(
        [("0110", "100", "0110"), ("0", "1", "1"), ("0110", "0120", "0110"), ("0110", "0110")], False
    )
    for reports, odd in bits.items():
        notes = reports_of("\n".join(["report", *reports]), layout="values").notes
        assert any("unary encoding" in note for note in notes) is odd


def test_parquet_types() -> None:
    types: list[tuple[Any, list[str]]] = [
        ([17, None, 17], ["17"]),
        ([17.0, 2.5, float("nan")], ["17", "2.5"]),
        (["01001", "NA", "01001"], ["01001", "NA"]),
        ([True, False, True], ["true", "false"]),
        ([datetime.date(2020, 1, 2), None], ["2020-01-02"]),
        ([datetime.datetime(2020, 1, 2), None], ["2020-01-02"]),
        (
            [datetime.datetime(2020, 1, 2, 12), datetime.datetime(2020, 1, 2)],
            ["2020-01-02 12:00:00", "2020-01-02"],
        ),
        (pa.array(["y", None, "y"]).dictionary_encode(), ["y"]),
        (pa.DictionaryArray.from_arrays([2, 0, 2], ["x", "unused", "y"]), ["x", "unused", "y"]),  # declared
        (pa.array([b"y", b"x"]), ["y", "x"]),
        (pa.array(["y", "x"], pa.string_view()), ["y", "x"]),
    ]
    for (values, labels), group in itertools.product(types, (1, 100)):
        found = reports_of(a_column(values, row_group_size=group), name="a.parquet")
        assert found.labels.tolist() == labels
        assert found.rows + sum(dropped.rows for dropped in found.dropped) == len(values)
    frame = pd.DataFrame({"report": list("aba")})  # with the index that pandas adds
    found = reports_of(frame.to_parquet(), name="a.parquet", layout="values", category="report")
    assert pairs(found) == pairs(reports_of(frame.to_csv())) == [("a", 2), ("b", 1)]
    assert reports_of(memoryview(bytearray(b"red\nred\nblue\n"))).counts.tolist() == [2, 1]


QUALTRICS = (
    "StartDate,QID1,QID2\n"
    'Start Date,"Which, one\ndo you take?",Other?\n'
    '"{""ImportId"":""startDate"",""timeZone"":""Z""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2_TEXT""}"\n'
)


def test_what_qualtrics_and_survey_monkey_write_below_the_header_is_no_answer() -> None:
    text = f"{QUALTRICS}2026-01-01,bus,3\n2026-01-02,car,4\n2026-01-03,bus,\n\n2026-01-04,,1\n"
    for data in (text, text.encode("utf-16"), text.replace("\n", "\r\n")):
        found = reports_of(data, layout="values", category="QID1")
        assert pairs(found) == [("bus", 2), ("car", 1)]
        skipped = "The 2 lines below the header, which were written by the survey's program, were skipped."
        assert found.notes[-1] == skipped
        assert [one.first_line for one in found.dropped] == [8, 9]
    alone = "Q1\nWhich?\n" + '"{""ImportId"":""QID1""}"\n' + "bus\ncar\nbus\n"
    assert pairs(reports_of(alone)) == [("bus", 2), ("car", 1)]
    assert len(reports_of(alone, has_header=False).labels) == 5
    with pytest.raises(UnreadableFile, match="nothing below it"):
        reports_of(QUALTRICS)
    monkey = "Respondent ID,Do you?,Why?\n,Response,Open-Ended Response\n7,yes,a\n8,no,b\n"
    assert pairs(reports_of(monkey, layout="values", category=1)) == [("yes", 1), ("no", 1)]
    assert pairs(reports_of("report,Response\nResponse,Response\nx,y\n", layout="values", category=0))[0] == (
        "Response",
        1,
    )


def test_quotation_marks_behind_a_backslash_belong_to_the_text() -> None:
    """`"say \\"yes\\""` became `say \\yes\\""`."""
    data = 'id,answer\n1,"say \\"yes\\""\n2,"a \\\\ b"\n3,"say \\"yes\\""\n'
    found = reports_of(data, layout="values", category=1)
    assert pairs(found) == [('say "yes"', 2), ("a \\ b", 1)]
    assert "Quotation marks behind a backslash" in found.notes[0]
    for plainly in (
        'id,answer\n1,"C:\\"\n2,"C:\\"\n',
        'id,answer\n1,"{""a"": ""\\""b\\""""}"\n2,x\n',
        'a\n5\\"x\n',
    ):
        assert reports_of(plainly, layout="values", category=0).notes[:1] != found.notes[:1]
    assert pairs(reports_of('id,answer\n1,"C:\\"\n2,"C:\\"\n', layout="values", category=1)) == [("C:\\", 2)]


COUNTS_OF_TWO, ANSWERS = "answer,n\nyes,640\nno,360\n", "mode\n" + "bus\ncar\nbike\n" * 9
TWO, THREE = {"yes": 640, "no": 360}, {"bus": 9, "car": 9, "bike": 9}
# A title or a remark above a table or below it, as it is written there, and what is said of it.
ABOVE = [
    "Survey 2024,\n,\n",
    "Survey 2024\n\n",
    '"Survey 2024",\nby hand,\n,\n,\n',
    "Survey 2024, by town\n\n",
]
BELOW = [
    *("\nSource: own survey\n", ",\nSource: own survey,\n\nNote: by hand,\n"),
    *("\nSource: Ministry, 2024\n", "Source: Ministry, 2024\n"),  # whose year was a count
    # Without a blank line above it, it was refused as a row with too few fields.
    *("End of export\n", "(5 rows)\n", "*** End of report ***\n", "Generated 2026-03-01,\n"),
]
BELOW_ANSWERS = [
    *("\n72 responses\n", "\nEnd of export\n", "Source: Town hall, 2024\n"),
    *("End of export\n", "*** END OF FILE ***\n", "27 rows\n"),
]


@pytest.mark.parametrize(
    ("text", "counts", "note"),
    [
        *((above + COUNTS_OF_TWO, TWO, "Above the table: “Survey 2024") for above in ABOVE),
        *((COUNTS_OF_TWO + below, TWO, "Below the table: “") for below in BELOW),
        *((ANSWERS + below, THREE, f"Below the table: “{below.strip()}”.") for below in BELOW_ANSWERS),
        *((f"Survey 2024\n{gap}{ANSWERS}", THREE, "Above the table: “Survey 2024”.") for gap in ("", "\n")),
    ],
)
def test_what_stands_above_and_below_a_table_is_no_row_of_it(
    text: str, counts: dict[str, int], note: str
) -> None:
    """A title was the table, or the name below it a category; a remark was a report, or a row without a count."""
    for mark in ",;\t" if counts is TWO and "2024," not in text else ",":
        found = reports_of(text.replace(",", mark))
        assert as_dict(found) == counts
        assert found.dropped == () or not text.startswith("Survey")
        assert found.category_name in ("answer", "mode")
        assert found.notes[0].startswith(note)


@pytest.mark.parametrize("row", ["\nno answer,9\n", "Ended,3\n", "End of term,3\n", "Source,2024\n"])
def test_a_row_with_its_count_is_no_remark(row: str) -> None:
    name, number = row.strip().split(",")
    assert as_dict(reports_of(COUNTS_OF_TWO + row)) == TWO | {name: int(number)}


@pytest.mark.parametrize("report", ["\nwalk\n", "no car\n", "\nbus\n\nno car\n", f"End\n{ANSWERS[5:]}"])
def test_a_report_below_a_blank_line_is_no_remark(report: str) -> None:
    assert reports_of(ANSWERS + report).total > 27


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((COUNTS_OF_TWO + row, "has no count") for row in ("\nmaybe,\n", "Source: own survey,\n")),
        (f"{COUNTS_OF_TWO}not sure\n", "1 field"),
        ("Survey 2024,\n,\nanswer,count\nyes,x\n", "Line 4: the count “x”"),
        ("mode,n (%)\nbus,31.2\ncar,68.8\n", "is not a whole number. Reports are counted people"),
        ("mode,respondents (%)\nbus,31\ncar,69\n", "holds shares by its name"),
        ("Filter,\n,\nanswer,\nyes,640\nno,360\n", "has no count"),  # no table ends below its header
    ],
)
def test_what_is_like_them_is_refused(text: str, words: str) -> None:
    assert words in complaint(text)


SPSS = "mode,,,\n,,Frequency,Percent\nValid,bus,40,40\n,car,50,50\n,Total,90,90\n"


def test_a_table_of_frequencies_by_spss_is_read() -> None:
    """Its title was called a second header; what it calls missing was counted as a category."""
    found = reports_of(SPSS)
    assert pairs(found) == [("bus", 40), ("car", 50), ("Total", 90)]
    assert found.notes == ("Above the table: “mode”. That was skipped.",)
    found = reports_of(f"{SPSS}Missing,99,6,6\n,System,4,4\nTotal,,100,100\n")
    assert pairs(found) == [("bus", 40), ("car", 50), ("Total", 90)]
    assert found.notes[1] == "The rows of “Missing” hold no answers, and were left out."
    # Which nothing says of a region.
    assert reports_of("region,answer,n\nMissing,yes,3\nMissing,no,2\n", category="answer").total == 5


@pytest.mark.parametrize(
    "names",
    [["yes", "no", "don't know"], ["18-24", "25-34", "65+"], ["bus 21", "bus 22", "4 x 4"], ["1", "7", "3"]],
)
@pytest.mark.parametrize("header", [None, "mode"])
def test_counts_before_the_names_as_uniq_writes_them_are_read(names: list[str], header: str | None) -> None:
    """They were refused; names like 18-24 were reports, each with its count."""
    counts = [42, 137, 7]
    lines = [f"{count:7} {name}\n" for name, count in zip(names, counts, strict=True)]
    lines += [f"{1:7} {header}\n"] if header else []
    found = reports_of("".join(lines), name="a.txt")
    assert (found.layout, pairs(found)) == ("counts", list(zip(names, counts, strict=True)))
    assert found.category_name == (header or "answer")
    assert found.notes[0].startswith("Each line begins with its count, as uniq -c writes it: 137 of “")
    again = reports_of("".join(lines), name="a.txt", **found.reading)
    assert pairs(again) == pairs(found)


def test_counts_behind_colons_are_read() -> None:
    """They were refused as lines that a program prints, where a name had a blank."""
    typed = "strongly disagree: 205\ndisagree: 310\nagree: 1200"
    for found in (reports_of(typed), read_typed(typed)):
        assert pairs(found) == [("strongly disagree", 205), ("disagree", 310), ("agree", 1200)]
    assert pairs(reports_of("yes: 412 (41%)\nno: 588 (59%)\n")) == [("yes", 412), ("no", 588)]
    assert read_typed("yes: 1,234\nno: 2,345").counts.tolist() == [1234, 2345]
    assert read_typed("Q1: yes, 64\nQ1: no, 36").labels.tolist() == ["Q1: yes", "Q1: no"]


BOTH, USE = {"bus": 1120, "car": 988}, {"Never": 22, "Seldom": 14, "Often": 8}
ROWS = "Never;22\nSeldom;14\nOften;8\n"
READ: dict[str, dict[str, int]] = {
    # The zero that a program writes above a series is no answer, and one among codes is.
    ",0\n0,yes\n1,no\n2,yes\n": {"yes": 2, "no": 1},
    "0\nyes\nno\nyes\n": {"yes": 2, "no": 1},
    "0\n1\n2\n1\n": {"0": 1, "1": 2, "2": 1},
    'answer\n"[0, 1]"\n"[1, 5]"\n"[0, 1]"\n': {"[0, 1]": 2, "[1, 5]": 1},  # no bits
    # Above the only cell titles were looked for: an IndexError.
    **{f"{start}0;\n": {"0": 1} for start in ("\n", "\n\n", ";\n")},
    # The shares were taken, and refused.
    **{f"mode;Anteil;{name}\nbus;31,2 %;1120\ncar;68,8 %;988\n": BOTH for name in ("Nennungen", "Fälle")},
    # Shares before counts were words, and each row one report; those behind counts were refused.
    **{
        f'answer,{name}\nbus,"{one}"\ncar,"{other}"\n': BOTH
        for name in ("all", "n (%)", "% (n)")
        for one, other in (("41.8% (1,120)", "58.2 % (988)"), ("1,120 (41.8%)", "988 (58.2 %)"))
    },
    # The separator that Excel says was the header.
    '# exported\nsep=;\nanswer;n\n"yes; once";3\nno;4\n': {"yes; once": 3, "no": 4},
    # Times, and names that come again, are no counts behind colons.
    "12:30\n12:45\n13:05\n12:30\n": {"12:30": 2, "12:45": 1, "13:05": 1},
    "a: 3\na: 4\nb: 3\na: 3\n": {"a: 3": 2, "a: 4": 1, "b: 3": 1},
    # What only looks like the lines of uniq: a list with numbers; and of two columns the first.
    "  1 yes\n  2 no\n  3 perhaps\n": {"1 yes": 1, "2 no": 1, "3 perhaps": 1},
    "     42 yes,north\n      7 no,south\n      1 answer,region\n": {"yes": 42, "no": 7},
    "     42 yes\n      7 no\n      3 \n": {"yes": 42, "no": 7},
    # “Häufigkeit” is how often, and is how many: its words were said to be no numbers.
    "id,Frequency\n1,Never\n2,Yearly\n3,Never\n": {"Never": 2, "Yearly": 1},
    "Nr,Häufigkeit\n1,Never\n2,Yearly\n3,Never\n": {"Never": 2, "Yearly": 1},
    **{
        f"{header}\n{ROWS}": USE
        for header in (
            *("Häufigkeit;Anzahl", "Answer;Interviews", "Antwort;Antworten", "Respuesta;Respuestas"),
            "a;Responses",
        )
    },
}


@pytest.mark.parametrize("text", READ)
def test_what_was_read_otherwise_is_read(text: str) -> None:
    assert as_dict(reports_of(text)) == READ[text]


SEXES = [f"{sex};{answer};{151 + 7 * i}" for i, sex in enumerate("wm") for answer in ("ja", "nein")]
MODES = [f"{group};{mode};{100 + 7 * i}" for i, mode in enumerate(("bus", "car", "bike")) for group in "ab"]
PEOPLE = [f"{9000 + 13 * i};{'yn'[i % 3 == 0]};0,{1 + i % 4}5;{60 + i % 7}" for i in range(40)]


@pytest.mark.parametrize(
    ("rows", "column", "asked"),
    [
        # A group was taken for the answers, without a question, in what R makes of a table.
        (["group;mode;Freq", *MODES], "group", (0, 1)),
        (["Geschlecht;Antwort;Anzahl", *SEXES], "Antwort", ()),
        # It was asked about chances and durations, beside the answers.
        (["ID;z;Pi;Duration (in seconds)", *PEOPLE], "z", ()),
    ],
)
def test_where_several_columns_may_hold_the_answers_it_is_asked(rows, column, asked) -> None:
    preview = preview_of("\n".join(rows))
    assert (rivals(preview), preview.columns[preview.category]) == (asked, column)
