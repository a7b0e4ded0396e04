"""The commands of a shell: what they print, what they refuse, and the small files that were read wrongly."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse, analyse
from rr_core import __main__ as command
from rr_core.__main__ import main
from rr_core.io import AllSeen, Size, report_sentences
from rr_core.io.report_files import json_file
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.designs import DESIGNS, kuk, unrelated
from rr_core.rounding import p_is
from rr_core.typed import chance
from tests.app.analysed import analysed
from tests.io.workbook_files import excel_parts, excel_rows, zipped
from tests.sentences import recomputes

ROOT = Path(__file__).parents[1]
CASES = ROOT.parent / "shared" / "cases"
FIRST = ["category", "reports", "share", "low", "high"]


def run(capsys, *words: object) -> tuple[list[dict[str, str]], str, int]:
    """Rows of the table, what is said beside it, and the exit status."""
    status = main(["analyse", *map(str, words)])
    out, err = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(out))), err, status


@pytest.mark.parametrize("by", [(), ("--by", "town")])
def test_what_is_printed_is_the_file_byte_for_byte(by, tmp_path, capfdbinary):
    """Standard output had other quotation marks, and True where the file has true. A byte-order mark, which Excel needs
    for "Ås", is in the file alone."""
    (tmp_path / "a.csv").write_text("answer,town\n" + "yes,Ås\nno,Ås\nyes,Rome\n" * 20)
    file = f"{tmp_path / 'a.csv'}"
    words = ["analyse", file, "--column", "answer", "--design", "warner", "--p", "0.7", *by]
    assert main(words) == 0
    printed = capfdbinary.readouterr().out
    assert main([*words, "--out", f"{tmp_path / 'out.csv'}"]) == 0
    assert (codecs.BOM_UTF8 if by else b"") + printed == (tmp_path / "out.csv").read_bytes()


def shares(rows: list[dict[str, str]], name: str = "share") -> dict[str, float]:
    return {row["category"]: round(100 * float(row[name]), 1) for row in rows}


@pytest.fixture
def survey(tmp_path) -> Path:
    rng = np.random.default_rng(1)
    file = tmp_path / "survey.csv"
    columns = zip(
        range(600),
        rng.choice(["north", "south"], 600).tolist(),
        rng.choice(["yes", "no"], 600).tolist(),
        rng.uniform(0.5, 2, 600).round(3).tolist(),
        strict=True,
    )
    lines = [",".join(map(str, row)) for row in columns]
    file.write_text("\n".join(["id,region,answer,weight", *lines]) + "\n")
    return file


CASE = {
    "warner_z_Pi.csv": ("warner --p 0.7 --column z", {"1": 45.0}),
    "warner_with_NA.csv": ("warner --p 0.7", {"N": 600}),
    "kuk_counts.csv": ("kuk --p 0.8 --p2 0.2 --draws 5", {"yes": 27.8}),
    "leading_zeros.csv": ("k_rr --epsilon 2 --merge", {"K": 5}),
    "total_ja.csv": ("k_rr --epsilon 2", {"K": 5, "Never": 44.4}),
    "reports.xlsx": ("k_rr --epsilon 2", {"K": 5, "N": 400}),
    "numpy_savetxt.txt": ("k_rr --epsilon 2 --list", {"K": 5, "N": 400}),
}
REFUSED = {
    "leading_zeros.csv": ("k_rr --epsilon 2", "“01” and “1” may be one answer: say --merge"),
    "typed_thousands.txt": ("warner --p 0.7", "write it without the comma: 1234."),
    "boolean_rappor_bits.csv": ("unary --epsilon 2", "one bit is Warner's design"),
    "redcap_checkbox.csv": ("k_rr --epsilon 2", "say --design unary"),
    "pivot_wide_counts.csv": ("k_rr --epsilon 2", "laid sideways"),
    "part-00001-7b1d-c000.csv": ("k_rr --epsilon 2", "say --no-header"),
}


@pytest.mark.parametrize("name", CASE)
def test_the_small_files_that_were_read_wrongly(name, capsys, tmp_path):
    """Where the shell has a say; all of them: tests/io/test_cases.py."""
    if not CASES.exists():
        pytest.skip("the folder of shared cases is missing")
    given, wanted = CASE[name]
    words = given.split()
    if words[-1] == "--list":
        (tmp_path / "list.txt").write_text("0\n1\n2\n3\n4\n")
        words = [*words, tmp_path / "list.txt"]
    rows, err, status = run(capsys, CASES / name, "--design", *words)
    assert status == 0, err
    assert list(rows[0])[:5] == FIRST
    for key, value in wanted.items():
        if key == "N":
            assert sum(int(row["reports"]) for row in rows) == value
        elif key == "K":
            assert len(rows) == value
        else:
            assert shares(rows)[key] == pytest.approx(value, abs=0.06)


@pytest.mark.parametrize("name", REFUSED)
def test_the_small_files_that_are_asked_about(name, capsys):
    if not CASES.exists():
        pytest.skip("the folder of shared cases is missing")
    words, says = REFUSED[name]
    rows, err, status = run(capsys, CASES / name, "--design", *words.split())
    assert (rows, status, err.count("\n")) == ([], 2, 1)
    assert says in err
    assert "above" not in err or name == "pivot_wide_counts.csv"


def test_several_answers_in_one_cell_are_asked_about(tmp_path, capsys):
    """Some of them were left out, for want of reports, and the others counted as categories."""
    names = {"a": 137, "b": 91, "c": 120, "a;b": 40, "b;c": 9}
    file = tmp_path / "a.csv"
    file.write_text("answer\n" + "".join(f"{name}\n" * n for name, n in names.items()))
    words = (file, "--design", "k_rr", "--epsilon", "2")
    rows, err, status = run(capsys, *words)
    assert (rows, status) == ([], 2)
    assert "Several answers in one cell have “a;b” (40), “b;c” (9), and a report" in err
    rows, err, _ = run(capsys, *words, "--leave-out", "a;b", "--leave-out", "b;c")
    assert {row["category"]: int(row["reports"]) for row in rows} == {"a": 137, "b": 91, "c": 120}
    assert all(f"Left out: “{one}”" in err for one in ("a;b", "b;c"))
    assert len(run(capsys, *words, "--keep", "a;b", "--keep", "b;c")[0]) == 5


@recomputes(command._counted_though)
def test_rows_of_a_table_of_counts_are_categories_however_few_they_have(tmp_path, capsys):
    """They were left out, and nothing spoke against the stated ε any more."""
    file = tmp_path / "a.csv"
    file.write_text("answer,n\nNever,520\nOnce,350\nMonthly,20\nWeekly,15\nDaily,10\n")
    rows, err, _ = run(capsys, file, "--design", "k_rr", "--epsilon", "2")
    assert [int(row["reports"]) for row in rows] == [520, 350, 20, 15, 10]
    assert err.startswith("The test rejects ε = 2")
    for name, number in (("Monthly", 20), ("Weekly", 15), ("Daily", 10)):
        assert f"“{name}” ({number}) is counted as a category, though it looks odd (too few reports)" in err


def test_an_interval_where_no_share_can_be_is_said(capsys):
    if not CASES.exists():
        pytest.skip("the folder of shared cases is missing")
    for design, says in (("k_rr", "that end at 0% or below"), ("warner", "that end at 0% or below")):
        rows, err, _ = run(capsys, CASES / "warner_30_of_35.csv", "--design", design, "--p", "0.7")
        assert all(float(row["low"]) < float(row["high"]) for row in rows)
        assert says in err


def test_rappor_of_both_coins_and_a_table_with_numbers_as_names(capsys, tmp_path):
    if not CASES.exists():
        pytest.skip("the folder of shared cases is missing")
    coins = ("--f", "0.5", "--p", "0.5", "--q", "0.75", "--reports", 3000)
    rows, err, status = run(capsys, CASES / "rappor_fpq_ones.csv", "--design", "unary", *coins)
    assert (status, err.count("\n")) == (0, 3)  # the result, the advice, the fit
    assert list(shares(rows, "inv").values()) == [45.7, 32.9, 15.3, 9.2, 24.9, -2.5]
    reports = tmp_path / "typed.csv"
    reports.write_text("answer,n\n1,1200\n2,2500\n3,3300\n")
    rows, err, status = run(capsys, reports, "--design", "table", "--table", CASES / "pram_numeric_names.csv")
    assert (status, [row["category"] for row in rows]) == (0, ["1", "2", "3"])


def test_groups_of_unary_encoding_come_with_counts_of_its_bits_but_not_of_its_ones(tmp_path, capsys):
    """With --count, bits that stand beside a group were said to be ones; and the number of ones was asked for before
    it was said that groups need bits."""
    file, words = tmp_path / "a.csv", ("--design", "unary", "--epsilon", "1", "--by", "region")
    file.write_text("bits,region,n\n010,north,20\n110,north,30\n010,south,20\n001,south,40\n")
    rows, err, status = run(capsys, file, *words, "--count", "n")
    assert (status, [row["reports"] for row in rows]) == (0, ["30", "50", "0", "0", "20", "40"]), err
    file.write_text("category,ones,region\nbus,20,north\ncar,30,north\nbus,20,south\ncar,40,south\n")
    _, err, status = run(capsys, file, *words)
    assert (status, err.startswith("A table of ones has neither groups nor weights:")) == (2, True)


def test_inclusion_probabilities_are_weights_upside_down(tmp_path, capsys):
    file = tmp_path / "a.csv"
    rng = np.random.default_rng(2)
    chances = rng.uniform(0.1, 0.9, 200)
    answers = rng.integers(0, 2, 200)
    pairs = zip(answers.tolist(), chances.tolist(), strict=True)
    lines = [f"{answer},{chance!r},{1 / chance!r}" for answer, chance in pairs]
    file.write_text("answer,pi,weight\n" + "\n".join(lines) + "\n")
    words, tables = (file, "--design", "warner", "--p", "0.7", "--column", "answer"), []
    assert "every person counts once" in run(capsys, *words)[1]
    for option, name in (("--inclusion", "pi"), ("--weights", "weight")):
        rows, said, _ = run(capsys, *words, option, name)
        assert "every person counts once" not in said
        tables.append(rows)
    np.testing.assert_allclose(*([float(row["inv"]) for row in rows] for rows in tables))


def test_files_by_the_end_of_their_name(survey, tmp_path, capsys):
    words = (survey, "--design", "forced", "--forced", "yes=1/6,no=0", "--column", "answer", "--out")
    for name in ("a.csv", "a.json"):
        rows, _, status = run(capsys, *words, tmp_path / name)
        assert (rows, status) == ([], 0)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["table"]["category"] == [row["category"] for row in rows]
    assert told["table"]["share"] == [float(row["share"]) for row in rows]
    settings = told["settings"]
    assert (settings["design"], settings["epsilon"], settings["n"]) == ("forced", None, 600)


@pytest.mark.parametrize(
    ("counts", "epsilon"),
    [
        ([520, 310, 270], 1.0),  # some shares stand out
        ([35, 33, 32], 0.5),  # none does
        ([520, 310, 0], 1.0),  # too few for this epsilon
    ],
)
def test_it_says_first_what_the_page_says_and_its_json_is_that_of_the_page(counts, epsilon, tmp_path, capsys):
    data = b"answer\n" + b"".join(f"{name}\n".encode() * n for name, n in zip("abc", counts, strict=True))
    (tmp_path / "a.csv").write_bytes(data)
    domain, among = AllSeen(), []
    if not counts[2]:
        domain, among = Size(3), ["--categories", 3]
    words = (tmp_path / "a.csv", "--design", "k_rr", "--epsilon", epsilon, *among)
    page = analysed([("a.csv", data)], domain, epsilon=epsilon, replicates=1000)
    _, err, _ = run(capsys, *words, "--out", tmp_path / "a.json")
    fit, advice = report_sentences.fit(page)[0], report_sentences.advice(page)[0]
    answer = f"{report_sentences.heading(page)} {report_sentences.answer(page)}"
    first = [fit, answer, advice] if page.rejects_epsilon else [answer, advice, fit]
    assert err.splitlines()[:3] == first
    assert page.rejects_epsilon == (not counts[2])
    told = json.loads((tmp_path / "a.json").read_text())
    wanted = json.loads(json_file(page, advice, told["analysed"]))
    assert told == wanted


def test_of_many_categories_the_headline_holds_for_all_and_the_table_names_the_columns(tmp_path, capsys):
    """The table's low and high are for one category each, and nothing said so."""
    (tmp_path / "a.csv").write_text("category,count\n" + "".join(f"c{i},{90 + i}\n" for i in range(60)))
    rows, err, _ = run(capsys, tmp_path / "a.csv", "--design", "k_rr", "--epsilon", "2")
    assert "interval of Inv that holds for all categories at once" in err
    assert "does not allow for that: take inv_low_all and inv_high_all." in err
    assert {"inv_low_all", "inv_high_all"} <= rows[0].keys()


def test_the_way_out_that_the_page_names_is_an_option(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("answer\n" + "a\n" * 500 + "b\n" * 500 + "oops\n" * 2)
    words = (tmp_path / "a.csv", "--design", "k_rr", "--epsilon", "1")
    _, err, _ = run(capsys, *words, "--keep", "oops")
    assert "The test rejects ε = 1: “oops” (2) got clearly fewer reports" in err
    assert "ε need not be wrong: say --leave-out NAME for such names. If they could" in err
    (tmp_path / "list.txt").write_text("a\nb\noops\n")
    _, err, _ = run(capsys, *words, "--list", tmp_path / "list.txt")
    assert "ε need not be wrong: take such names off the list. If they could" in err
    _, err, _ = run(capsys, *words, "--leave-out", "oops")
    assert "2 reports are left out: see below.\n" in err
    assert err.index("see below") < err.index("Left out: “oops” (2)")


def test_a_level_is_told_with_all_its_digits(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("yes\nno\n" * 50)
    for level, says in (("0.95", "the 95% interval"), ("0.975", "the 97.5% interval")):
        _, err, _ = run(capsys, tmp_path / "a.csv", "--design", "warner", "--p", "0.8", "--level", level)
        assert says in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("k_rr", "--epsilon E, --p P or --redraw R"),
        ("warner --p 0.5 --column answer", "different shares give the same reports"),
        ("k_rr --epsilon 2 --p 0.5", "one of them"),
        ("k_rr --epsilon often", "“often” is not a number above 0"),
        ("k_rr --epsilon 2000", "ε = 2,000 is too large: it can be up to 700."),
        ("warner", "Warner's two questions: say --p"),
        ("warner --p 2", "2 is not between 0 and 1; 2% is written 2% or 0.02"),
        ("warner --p 0.7 --yes maybe", "No answer is called “maybe”"),
        ("crosswise --p 0.2", "Say it with --yes"),
        ("unrelated --p 0.7", "say --prevalence"),
        ("kuk --p 0.7 --p2 0.2 --draws 3", "is no number of red cards"),
        ("forced", "--forced"),
        ("forced --forced yes", "is no name with its value"),
        ("forced --forced ja=1/6,nein=0", "No answer is called “ja”, they are "),
        ("warner --p 0.7 --draws 3", "--draws belongs to --design kuk, not to warner"),
        ("table --epsilon 2", "--epsilon belongs to --design k_rr or unary, not to table"),
        ("unary --epsilon 2 --merge", "--merge belongs to --design k_rr or warner or "),
        ("kuk --p 0.7 --yes yes", "--yes belongs to --design warner or crosswise or "),
        ("k_rr --epsilon 2 --keep maybe", "--keep “maybe”: the reports have no such"),
        ("k_rr --epsilon 2 --by id", "There are 600 groups in the column “id”"),
        ("table", "--table FILE"),
        ("table --table nowhere.csv", "There is no file nowhere.csv."),
        ("k_rr --epsilon 2 --by town", "There is no column “town”"),
        ("k_rr --epsilon 2 --weights region", "has “"),
        ("k_rr --epsilon 2 --by answer", "cannot be two things"),
        ("k_rr --epsilon 2 --out a.xlsx", "ends in .csv or .json"),
        ("k_rr --epsilon 2 --level 95", "between 0 and 1"),
        ("unary --epsilon 2", "holds one bit for each person, and one bit is Warner's"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_status_2(words, says, survey, capsys):
    status = main(["analyse", str(survey), "--column", "answer", "--design", *words.split()])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert err.endswith((".\n", "…\n"))


def test_names_that_are_there_once_beside_numbers_are_no_reports(tmp_path, capsys):
    """Two years of counts were analysed as two reports."""
    file, words = tmp_path / "years.csv", ("--design", "warner", "--p", "0.7")
    file.write_text("answer,2025,2026\nyes,140,150\nno,260,250\n")
    for more in ([], ["--column", "answer"]):
        rows, err, status = run(capsys, file, *words, *more)
        assert (rows, status, err.count("\n")) == ([], 2, 1)
        assert "say which column has the counts with --count NAME (“2025”, “2026”)" in err
    rows, err, status = run(capsys, file, *words, "--count", "2026")
    assert (status, [row["reports"] for row in rows]) == (0, ["250", "150"])


@pytest.mark.parametrize(
    ("header", "design"),
    [("Never,Once,Weekly", "--epsilon 2"), ("no,yes", "--epsilon 2"), ("no,yes", "--p 0.7")],
)
def test_a_cross_table_is_refused_with_its_groups_as_without(header, design, tmp_path, capsys):
    """By region it was two reports, whose answers were the numbers of its first column."""
    file = tmp_path / "cross.csv"
    rows = [["region", *header.split(",")], ["North", "201", "150", "120"], ["South", "188", "141", "131"]]
    file.write_text("".join(",".join(row[: len(rows[0])]) + "\n" for row in rows))
    words = (file, "--design", "k_rr" if "eps" in design else "warner", *design.split())
    _, without, _ = run(capsys, *words)
    assert "In a cross table each is a group" in without
    assert run(capsys, *words, "--by", "region") == ([], without, 2)


def test_a_third_answer_is_named_and_can_be_left_out(tmp_path, capsys):
    file, words = tmp_path / "three.csv", ("--design", "warner", "--p", "0.7")
    file.write_text("answer\n" + "yes\nno\nno\nunsure\n" * 20)
    rows, err, status = run(capsys, file, *words)
    assert (rows, status) == ([], 2)
    assert err.endswith("these reports have 3: yes, no, unsure. Say --leave-out NAME for what is neither.\n")
    rows, err, status = run(capsys, file, *words, "--leave-out", "unsure")
    assert (status, [row["reports"] for row in rows]) == (0, ["40", "20"])


@recomputes(command._read_from)
def test_the_column_that_was_read_is_told_where_nobody_named_it(tmp_path, capsys):
    """Of thousands of categories the reports may look like numbers, and the groups like reports."""
    file, dice = tmp_path / "a.csv", np.random.default_rng(3)
    rows = zip(dice.choice(["north", "south"], 400), range(400), dice.integers(0, 10**6, 400), strict=True)
    file.write_text("region,weight,income\n" + "".join(f"{a},{b + 0.5},{c}\n" for a, b, c in rows))
    words = (file, "--design", "k_rr", "--epsilon", "2")
    _, err, _ = run(capsys, *words)
    told = "The reports were read from the column “region”, not from “weight”, “income”: else say --column.\n"
    assert told in err
    _, err, _ = run(capsys, *words, "--column", "region")
    assert "say --column" not in err
    file.write_text("answer\nyes\nno\nno\n")
    _, err, _ = run(capsys, *words)
    assert "say --column" not in err


def test_columns_are_named_where_one_has_to_be_chosen(tmp_path, capsys):
    file = tmp_path / "two.csv"
    file.write_text("first,second\n" + "yes,a\nno,b\n" * 30)
    rows, err, status = run(capsys, file, "--design", "k_rr", "--epsilon", "1")
    assert (rows, status) == ([], 2)
    assert "--column “first” or --column “second”" in err


def test_the_column_of_names_in_a_table_of_counts_is_asked_for_and_kept(tmp_path, capsys):
    """The first of two was taken; and with the other one named, each row was counted once."""
    file = tmp_path / "a.csv"
    for names, header, count in (
        (["sex", "choice"], "", "Freq"),
        (["Var1", "Var2"], '"",', "Freq"),
        (["Bezirk", "Wahl"], "", "Anzahl"),
        (["site", "mode"], "", "patients"),
        (["Region", "Choice"], "", "Reports"),
    ):
        rows = [("f", "bus", 140), ("f", "car", 260), ("m", "bus", 150), ("m", "car", 250)]
        lines = [f"{i},{row[0]},{row[1]},{row[2]}"[0 if header else 2 :] for i, row in enumerate(rows, 1)]
        file.write_text("\n".join([f"{header}{','.join(names)},{count}", *lines, ""]))
        words = (file, "--design", "k_rr", "--epsilon", "2")
        _, err, status = run(capsys, *words)
        assert status == 2
        assert f"say which one, with --column “{names[0]}” or --column “{names[1]}”." in err
        rows, _, _ = run(capsys, *words, "--column", names[1])
        assert {row["category"]: int(row["reports"]) for row in rows} == {"bus": 290, "car": 510}
        for more in ((), ("--column", names[1])):  # what says of whom is no report
            rows, _, _ = run(capsys, *words, "--by", names[0], *more)
            assert [int(row["reports"]) for row in rows] == [140, 260, 150, 250]


def test_a_name_in_other_characters_is_told_from_its_twin(tmp_path, capsys):
    """“Não” was said to be counted as “Não”."""
    file = tmp_path / "a.csv"
    file.write_text("resposta\n" + "N\u00e3o\nSim\n" * 20 + "Na\u0303o\n" * 5, "utf-8")
    rows, err, _ = run(capsys, file, "--design", "warner", "--p", "0.7", "--merge")
    assert {row["category"]: int(row["reports"]) for row in rows} == {"N\u00e3o": 25, "Sim": 20}
    assert "“Na\u0303o” is counted as “N\u00e3o”, the same in other characters." in err


def test_numbers_called_value_are_asked_about(tmp_path, capsys):
    """As pandas' melt writes a cross table."""
    file = tmp_path / "a.csv"
    file.write_text("answer,region,value\nyes,N,140\nno,N,260\nyes,S,150\nno,S,250\n")
    words = (file, "--design", "warner", "--p", "0.7")
    _, err, status = run(capsys, *words)
    assert (status, "or --count “value” if its numbers are counts." in err) == (2, True)
    rows, _, _ = run(capsys, *words, "--count", "value")
    assert {row["category"]: int(row["reports"]) for row in rows} == {"yes": 290, "no": 510}


def test_no_command_and_no_design_end_with_status_2(capsys):
    for words in ([], ["analyse", "a.csv"], ["analyse", "a.csv", "--design", "guess"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2


@pytest.mark.parametrize("words", [["analyse", "--help"], ["recompute", "/estimators?k=3&n=1000"]])
def test_it_runs_as_a_module(words):
    done = subprocess.run(
        [sys.executable, "-m", "rr_core", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout


def test_every_design_is_in_the_document():
    text = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    assert all(f"`{key}`" in text for key in DESIGNS)


def test_what_the_tests_find_is_said(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("answer,n,town\nyes,990,Oslo\nno,10,Oslo\nyes,6,Rome\nno,5,Rome\n")
    words = (file, "--design", "k_rr", "--p", "0.7", "--column", "answer", "--count", "n")
    _, err, _ = run(capsys, *words)
    p_value = stats.binom.sf(995, 1011, 0.7) + stats.binom.cdf(15, 1011, 0.7)
    assert p_value < 1e-20
    assert "The test rejects ε = 0.8473: “yes” got 996 reports" in err
    _, err, _ = run(capsys, *words[:1], "--design", "warner", *words[3:], "--by", "town")
    assert "These reports hardly come from what is stated of their group: “Oslo” (p < 0.001)." in err
    _, err, _ = run(capsys, *words, "--by", "town")
    (told,) = re.findall(
        r"The groups differ more than chance would make them: (p .*) \(beside 2,000 tables by chance\)\.\n",
        err,
    )
    answers = ["yes"] * 990 + ["no"] * 10 + ["yes"] * 6 + ["no"] * 5
    wanted = analyse(answers, RandomizedResponse.from_p(2, 0.7), by=["O"] * 1000 + ["R"] * 11)
    assert told == p_is(wanted.alike)


@recomputes(command._left_out)
def test_what_is_left_out_or_merged_is_named(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("answer\n" + "yes\nYes\nno\nNA\n" * 20)
    _, err, _ = run(capsys, file, "--design", "warner", "--p", "0.7", "--merge")
    assert "Left out: “NA” (20): no answer." in err
    assert "“yes” is counted as “Yes”." in err or "“Yes” is counted as “yes”." in err
    file.write_text("answer,n\nyes,40\nno,60\n,5\nyes,3\n")
    _, err, _ = run(capsys, file, "--design", "warner", "--p", "0.7")
    assert err.endswith(
        "Left out: 1 row (no category name), the first in line 4.\n"
        "1 row of a category that came before: added to its first row.\n"
    )
    file.write_text("answer,pi\n" + "yes,0.4\nno,0.2\nno,0.25\n,0.5\n" * 20)
    _, err, _ = run(capsys, file, "--design", "warner", "--p", "0.7", "--inclusion", "pi")
    assert err.endswith("Left out: 20 rows (no category name), the first in line 5.\n")
    assert "not used" not in err


@recomputes(command._sentence)
def test_what_is_missing_is_named(tmp_path, capsys, monkeypatch):
    _, err, status = run(capsys, tmp_path / "nothing.csv", "--design", "warner", "--p", "0.7")
    assert (status, err) == (2, f"There is no file {tmp_path / 'nothing.csv'}.\n")
    _, err, status = run(capsys, tmp_path, "--design", "warner", "--p", "0.7")
    assert (status, err) == (
        2,
        f"The folder {tmp_path} has no file in it (folders in it are not looked into).\n",
    )
    (tmp_path / "a.csv").write_text("yes\nno\n" * 9)
    words = ("--design", "table", "--table", tmp_path)
    _, err, status = run(capsys, tmp_path / "a.csv", *words)
    assert (status, err) == (2, f"{tmp_path} is a folder: name the file in it.\n")
    monkeypatch.setattr(
        command, "_by_reports", lambda _: (_ for _ in ()).throw(ModuleNotFoundError(name="pyarrow"))
    )
    _, err, status = run(capsys, "a.csv", "--design", "warner", "--p", "0.7")
    assert (status, err) == (2, "Reading files needs pyarrow: pip install 'rr_core[io]'.\n")


@recomputes(command._reported)
def test_a_table_that_is_turned_and_reports_that_are_no_categories_are_told(tmp_path, capsys):
    file, table = tmp_path / "a.csv", tmp_path / "table.csv"
    file.write_text("answer,n\nyes,60\nno,40\n")
    table.write_text("0.9,0.3\n0.1,0.7\n")
    rows, err, _ = run(capsys, file, "--design", "table", "--table", table)
    assert "Its columns sum to one, not its rows, so rows and columns were swapped" in err
    assert float(rows[0]["inv"]) == pytest.approx((0.6 - 0.3) / 0.6)
    assert "is empty" not in err
    file.write_text("answer,n\nsame,60\ndifferent,40\n")
    rows, err, _ = run(capsys, file, "--design", "crosswise", "--p", "0.2", "--yes", "same")
    assert [row["reports"] for row in rows] == ["", ""]
    assert "is empty, for these categories are not what people reported: different (40), same (60)." in err


def test_a_column_of_groups_or_weights_holds_no_counts(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("answer,n\n" + "yes,10\nno,9\nno,10\n" * 20)
    words = (file, "--design", "warner", "--p", "0.8", "--column", "answer")
    rows, _, status = run(capsys, *words, "--by", "n")
    assert (status, [(row["group"], row["reports"]) for row in rows]) == (
        0,
        [("9", "20"), ("9", "0"), ("10", "20"), ("10", "20")],
    )
    rows, _, status = run(capsys, *words, "--weights", "n")
    assert (status, [row["reports"] for row in rows]) == (0, ["40", "20"])


def test_the_parts_in_a_folder_or_an_archive_are_one_table(tmp_path, capsys):
    folder, archive = tmp_path / "parts", tmp_path / "parts.zip"
    folder.mkdir()
    parts = {
        "part-000.csv": "answer,town\n",
        "part-001.csv": "answer,town\n" + "yes,Rome\nno,Oslo\n" * 20,
        "part-002.csv": "answer,town\n" + "yes,Oslo\nyes,Rome\n" * 20,
    }
    for name, text in parts.items():
        (folder / name).write_text(text)
    for mark in ("_SUCCESS", ".part-001.csv.crc"):
        (folder / mark).write_text("")
    archive.write_bytes(zipped({f"parts/{name}": text.encode() for name, text in parts.items()}))
    whole = tmp_path / "whole.csv"
    whole.write_text("answer,town\n" + "".join(text.partition("\n")[2] for text in parts.values()))
    words = ("--design", "warner", "--p", "0.8", "--column", "answer", "--by", "town")
    wanted = run(capsys, whole, *words)[0]
    assert {row["group"] for row in wanted} == {"Oslo", "Rome"}
    for path in (folder, archive):
        rows, err, status = run(capsys, path, *words)
        assert (rows, status) == (wanted, 0)
        assert "“part-000.csv” has no rows, and was skipped." in err
    (folder / "part-003.csv").write_text("reply\nyes\n")
    _, err, status = run(capsys, folder, *words)
    assert (status, err.count("\n")) == (2, 1)
    assert "“part-003.csv”" in err
    _, err, status = run(capsys, folder, "--design", "unary", "--epsilon", "1")
    assert (status, "is read from one file" in err) == (2, True)


def test_a_shell_has_no_buttons(tmp_path, capsys):
    file = tmp_path / "a.csv"
    for content, says in ((b"", "The file is empty. Give a table"), (b"answer\n", "or say --no-header.")):
        file.write_bytes(content)
        _, err, status = run(capsys, file, "--design", "warner", "--p", "0.7")
        assert (status, says in err) == (2, True), err
    file.write_text("7\n8\n" * 20)
    rows = run(capsys, file, "--design", "k_rr", "--epsilon", "1", "--header")[0]
    assert sum(int(row["reports"]) for row in rows) == 39
    file.write_text("0\n1\n" * 20)
    for chances in ("0=0.1,1=0.25", "0=0,1,1=0,25"):  # with decimal commas
        rows = run(capsys, file, "--design", "forced", "--forced", chances)[0]
        assert [float(row["inv"]) for row in rows] == pytest.approx([0.4 / 0.65, 0.25 / 0.65])
    file.write_text("".join(f"a{i}\n" for i in range(13)) * 9)
    _, err, status = run(capsys, file, "--design", "forced", "--forced", "a1=1/6")
    assert (status, err.endswith("For more, say --design table.\n")) == (2, True)


def test_what_the_document_says_of_the_manual_of_rrreg():
    found = analyse({"no": 360, "yes": 640}, Channel.warner(0.2), users="sampled")
    text = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    assert round(float(found.estimates["inv"][1]), 4) == 0.2667
    assert f"{float(found.analyses[0].variance_of_inv()[1]) ** 0.5:.4f}" == "0.0253"
    assert "0.0253" in text
    interval = found.analyses[0].interval
    assert f"{100 * interval.low[1]:.1f}% to {100 * interval.high[1]:.1f}%" in text


YES = Fraction(640, 1000)
PUBLISHED = {  # the share of yes by the formula of each design
    "Warner|0.2": (YES - Fraction(8, 10)) / (2 * Fraction(2, 10) - 1),
    "mirrored|0.2": (YES - Fraction(8, 10)) / (2 * Fraction(2, 10) - 1),
    "Warner|0.7": (YES - Fraction(3, 10)) / (2 * Fraction(7, 10) - 1),
    "Crosswise|0.3": (YES + Fraction(3, 10) - 1) / (2 * Fraction(3, 10) - 1),
    "UQTknown|0.7": (YES - Fraction(3, 10) * Fraction(1, 4)) / Fraction(7, 10),
    "unrelated-known|0.7": (YES - Fraction(3, 10) * Fraction(1, 4)) / Fraction(7, 10),
    "FR|1/6": (YES - Fraction(1, 12)) / (1 - Fraction(1, 6) - Fraction(1, 12)),
    "forced-known|2/3": (YES - Fraction(1, 6)) / Fraction(2, 3),
    "Kuk|0.8": (YES - Fraction(2, 10)) / (Fraction(8, 10) - Fraction(2, 10)),
    "disguised|0.8": (YES - Fraction(2, 10)) / (Fraction(8, 10) - Fraction(2, 10)),
    "pram|0.8": (YES - Fraction(2, 10)) / (Fraction(9, 10) - Fraction(2, 10)),
}


def test_who_comes_from_r_finds_the_same_numbers(capsys, tmp_path):
    text = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (?:RRreg|rr|RRTCS|sdcMicro) `(.*)`.* \| `(--design .*)` \| (.*)% \|$", text, re.MULTILINE
    )
    assert len(rows) == len(PUBLISHED)
    (tmp_path / "pd.csv").write_text("0.8,0.2\n0.1,0.9\n")
    for (call, words, share), (key, wanted) in zip(rows, [*_in_order(rows)], strict=True):
        name, number = key.split("|")
        assert name in call, (call, key)
        assert number in call, (call, key)
        file, answers = tmp_path / "answers.csv", ("1", "0") if "kuk" in words else ("yes", "no")
        file.write_text("answer\n" + f"{answers[0]}\n" * 640 + f"{answers[1]}\n" * 360)
        if "table" in words:
            (tmp_path / "pd.csv").write_text(",no,yes\nno,0.8,0.2\nyes,0.1,0.9\n")
        given = [word.replace("pd.csv", str(tmp_path / "pd.csv")) for word in shlex.split(words)]
        found, err, status = run(capsys, file, *given)
        assert status == 0, err
        (inv,) = [float(row["inv"]) for row in found if row["category"] == "yes"]
        assert inv == pytest.approx(float(wanted), abs=1e-12), call
        assert share == f"{100 * inv:.1f}"


def _in_order(rows):
    """For each call of R the entry of `PUBLISHED` that is its."""
    for call, _, _ in rows:
        yield next(
            (key, value)
            for key, value in PUBLISHED.items()
            if key.split("|")[0] in call and re.search(rf"[ (]{key.split('|')[1]}\b", call)
        )


def test_the_documents_python_runs(capsys):
    text = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        exec(block, {})
    assert capsys.readouterr().out.count("alike: p = ") == len(blocks) == 2


def test_the_sheet_of_a_workbook_is_named(capsys, tmp_path):
    rows = [["answer", "town"], *([answer, town] for answer in ("yes", "no", "no") for town in ("a", "b"))]
    book = zipped(excel_parts({"Info": excel_rows([["note"], ["x"], ["x"]]), "Data": excel_rows(rows)}))
    (tmp_path / "two.xlsx").write_bytes(book)
    words = (tmp_path / "two.xlsx", "--design", "warner", "--p", "0.7", "--column", "answer", "--by", "town")
    _, err, status = run(capsys, *words)
    assert (status, "“Data” may be the one to choose" in err) == (2, True)
    found, _, status = run(capsys, *words, "--sheet", "Data")
    assert (status, [row["reports"] for row in found]) == (0, ["2", "1", "2", "1"])
    _, err, status = run(capsys, *words, "--sheet", "Dato")
    assert (status, "There is no sheet “Dato”" in err) == (2, True)


def test_an_answer_that_nobody_gave_has_its_row_in_all_groups(tmp_path, capsys):
    """Its name was refused by --forced, and left out of a table of counts."""
    file = tmp_path / "a.csv"
    file.write_text("town,answer\n" + "Oslo,yes\nOslo,no\nRome,yes\n" * 90)
    words = ["--column", "answer", "--by", "town", "--design", "forced"]
    rows, *_ = run(capsys, file, *words, "--forced", "yes=1/6,no=1/6,none=1/6")
    assert [(row["group"], row["category"]) for row in rows] == [
        (town, answer) for town in ("Oslo", "Rome") for answer in ("yes", "no", "none")
    ]
    assert all(float(row["low"]) < float(row["high"]) for row in rows if row["category"] == "none")
    assert [row["reports"] for row in rows if row["category"] == "none"] == ["0", "0"]
    file.write_text("answer,n\nyes,300\nno,250\nperhaps,200\nnone,0\n")
    rows, *_ = run(capsys, file, "--design", "k_rr", "--epsilon", "1")
    assert [row["category"] for row in rows] == ["yes", "no", "perhaps", "none"]


def test_two_ways_to_write_one_answer_are_told_from_a_third_one(tmp_path, capsys):
    """It was said to take what is neither yes nor no out of the file."""
    file = tmp_path / "a.csv"
    file.write_text("answer\n" + "yes\nno\nYes\nno\n" * 20)
    words = (file, "--design", "warner", "--p", "0.7")
    rows, err, status = run(capsys, *words)
    assert (rows, status) == ([], 2)
    assert re.search("“(Yes|yes)” and “(Yes|yes)” may be one answer: say --merge .* or --no-merge", err)
    assert len(run(capsys, file, "--design", "k_rr", "--epsilon", "1", "--no-merge")[0]) == 3
    _, err, status = run(capsys, *words, "--no-merge")
    assert status == 2
    assert "these reports have 3: yes, no, Yes. Say --merge for two ways to write one answer." in err
    rows, _, status = run(capsys, *words, "--merge")
    assert (status, [row["reports"] for row in rows]) == (0, ["40", "40"])


def test_one_answer_alone_is_told_how_to_count_the_other(tmp_path, capsys):
    """It was told of k-RR, and of a list."""
    file = tmp_path / "a.csv"
    file.write_text("answer\n" + "yes\n" * 40)
    for design in (["warner", "--p", "0.7"], ["forced", "--forced", "yes=1/6"]):
        _, err, status = run(capsys, file, "--design", *design)
        assert status == 2
        assert "a table of counts with a line for it, and 0" in err
    file.write_text("answer,n\nyes,40\nno,0\n")
    rows, *_ = run(capsys, file, "--design", "warner", "--p", "0.7")
    assert [row["reports"] for row in rows] == ["0", "40"]


WAVES = np.repeat(["first", "second"], [400, 600])
BY_GROUP = {  # columns, a small table, the numbers of both waves, and the design that they make
    "warner": ("--p-by a", "--p first=0.7,second=60%", ("0.7", "60%"), Channel.warner),
    "crosswise": ("--p-by a", "--p second=1/5,first=0.25", ("0.25", "1/5"), Channel.warner),
    "unrelated": (
        "--p-by a --prevalence 0.25",
        "--p first=0.7,second=0.6 --prevalence first=0.25,second=0.25",
        ("0.7", "0.6"),
        lambda t: unrelated(t, 0.25),
    ),
    "kuk": (
        "--p2-by a --p 0.8 --draws 1",
        "--p2 first=0.1,second=0.2 --p 0.8 --draws 1",
        ("0.1", "0.2"),
        lambda t: kuk(0.8, t, 1),
    ),
    "forced": ("--forced-by 1=a", None, ("1/6", "0.25"), lambda t: Channel.forced_response([0, t])),
    "table": (None, "--table first={}/one.csv,second={}/two.csv", ("0.7", "0.6"), Channel.warner),
    "k_rr": ("--epsilon-by a", "--epsilon first=1,second=2", ("1", "2"), lambda t: RandomizedResponse(2, t)),
}


@pytest.mark.parametrize(
    ("design", "weighted"),
    [*((design, False) for design in (*BY_GROUP, "k_rr by p")), ("warner", True), ("k_rr", True)],
)
def test_what_differs_by_group_is_a_column_or_a_small_table(design, weighted, capsys, tmp_path):
    """As from Python, by group, and all together."""
    case = BY_GROUP.get(design, BY_GROUP["k_rr"])
    columns, table, texts, make = case
    if design == "k_rr by p":
        columns, table, texts = "--p-by a", "--p first=0.7,second=3/4", ("0.7", "3/4")
        make = lambda t: RandomizedResponse.from_p(2, t)  # noqa: E731
    dice, file = np.random.default_rng(2), tmp_path / "waves.csv"
    said, weights = dice.choice([0, 1], 1000, p=[0.45, 0.55]), dice.uniform(0.5, 2, 1000).round(3)
    of_wave = dict(zip(("first", "second"), texts, strict=True))
    rows = zip(WAVES, said, [of_wave[wave] for wave in WAVES], weights, strict=True)
    file.write_text("wave,answer,a,weight\n" + "".join(f"{w},{s},{a},{c}\n" for w, s, a, c in rows))
    for name, p in zip(("one", "two"), (0.7, 0.6), strict=True):
        (tmp_path / f"{name}.csv").write_text(f"{p},{1 - p}\n{1 - p},{p}\n")
    words = [file, "--design", design.partition(" ")[0], "--column", "answer"]
    words += ["--weights", "weight"] if weighted else []
    words += ["--yes", "1"] if design in ("warner", "crosswise", "unrelated") else []
    number = {name: chance(text) for name, text in of_wave.items()}
    wanted = analyse(
        said.astype(str),
        {name: make(value) for name, value in number.items()},
        by=WAVES,
        weights=weights if weighted else None,
        labels=["0", "1"],
        truths=["no", "yes"] if DESIGNS.get(words[2]) and DESIGNS[words[2]].truths else None,
    )
    for stated in filter(None, (columns, table)):
        stated = stated.format(*[tmp_path] * 2).split()
        rows, err, status = run(capsys, *words, *stated, "--by", "wave")
        assert status == 0, err
        for name in ("inv", "inv_low", "inv_high", "difference_p_holm"):
            told = [float(row[name] or "nan") for row in rows]
            np.testing.assert_allclose(told, wanted.columns()[name], rtol=1e-12)
        assert f"{p_is(wanted.alike)}.\n" in err[err.index("2 groups, by wave.") :]
    if columns is not None:
        rows, err, status = run(capsys, *words, *columns.split(), "--out", tmp_path / "all.json")
        assert status == 0, err
        told = json.loads((tmp_path / "all.json").read_text())
        for name, values in wanted.of_all().columns().items():
            if np.asarray(values).dtype.kind == "f":
                np.testing.assert_allclose(told["table"][name], values, rtol=1e-12)
        told = told["settings"]
        assert told["n"] == 1000
        granted = [make(value).epsilon for value in number.values()]
        granted = [value if np.isfinite(value) else None for value in granted]
        assert sorted(told["epsilon_by_group"].values(), key=str) == sorted(granted, key=str)


def test_the_small_table_has_crossed_groups(capsys, tmp_path):
    dice, file = np.random.default_rng(4), tmp_path / "a.csv"
    groups = [(town, sex) for town in ("north", "south") for sex in "fm"]
    file.write_text(
        "town,sex,answer\n"
        + "".join(f"{t},{s},{a}\n" for t, s in groups for a in dice.choice(["yes", "no"], 50))
    )
    table = "north, f=0.7,north, m=0,8,south, f=3/4,south, m=60%"
    words = (file, "--design", "warner", "--column", "answer", "--by", "town", "--by", "sex", "--p", table)
    rows, err, status = run(capsys, *words)
    assert status == 0, err
    for row, p in zip(rows[1::2], (0.7, 0.8, 0.75, 0.6), strict=True):
        assert float(row["inv"]) == pytest.approx((int(row["reports"]) / 50 - 1 + p) / (2 * p - 1))


def test_bits_of_waves_with_another_epsilon(capsys, tmp_path):
    dice, file = np.random.default_rng(3), tmp_path / "bits.csv"
    made = {"first": UnaryEncoding(3, 1.5), "second": UnaryEncoding(3, 2.5)}
    bits = np.concatenate(
        [made[w].randomize(dice.choice(3, n), dice) for w, n in (("first", 400), ("second", 600))]
    )
    rows = zip(bits.tolist(), WAVES, np.repeat(["1.5", "2.5"], [400, 600]), strict=True)
    file.write_text(
        "a,b,c,wave,eps\n" + "".join(f"{','.join(map(str, row))},{w},{e}\n" for row, w, e in rows)
    )
    wanted = analyse(bits, made, by=WAVES, labels="abc")
    for stated in (["--epsilon-by", "eps"], ["--epsilon", "first=1.5,second=2.5"]):
        rows, err, status = run(capsys, file, "--design", "unary", *stated, "--by", "wave")
        assert status == 0, err
        np.testing.assert_allclose([float(row["mle"]) for row in rows], wanted.columns()["mle"], atol=1e-6)
    rows, _, _ = run(capsys, file, "--design", "unary", "--epsilon-by", "eps")
    np.testing.assert_allclose(
        [float(row["inv"]) for row in rows], wanted.together.estimates["inv"], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--p-by p --by wave", "The group “2” has “0.7” and “0.6” in the column “p”"),
        ("--p-by hole --by wave", "The group “1” has rows without a value in the column “hole”"),
        ("--p-by empty --by wave", "The group “2” has no value in the column “empty”"),
        ("--p-by half --by wave", "The group “2”: as stated, different shares give the same"),
        ("--p-by word --by wave", "The group “2”: Chance that a person was asked “Are you …?”: “often”"),
        ("--p 1=0.7 --by wave", "The group “2” has no value in the option --p"),
        ("--p 1=0.7,2=0.6", "name their column with --by"),
        ("--p 0.7 --p-by p", "say the same thing: leave one out"),
        ("--p-by answer --by wave", "cannot be two things"),
    ],
)
def test_what_is_stated_wrongly_of_a_group_is_one_sentence_that_names_it(words, says, capsys, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(
        "wave,answer,p,hole,empty,half,word\n"
        + "1,yes,0.7,,0.7,0.7,0.7\n1,no,0.7,0.7,0.7,0.7,0.7\n" * 9
        + "2,yes,0.7,0.6,,1/2,often\n2,no,0.6,0.6,,1/2,often\n" * 9
    )
    rows, err, status = run(capsys, file, "--design", "warner", "--column", "answer", *words.split())
    assert (rows, status, err.count("\n")) == ([], 2, 1)
    assert says in err
    rows, err, status = run(
        capsys, file, "--design", "k_rr", "--epsilon-by", "p", "--p-by", "p", "--column", "answer"
    )
    assert (status, err) == (
        2,
        "Say how private the reports are: --epsilon E, --p P or --redraw R, one of them.\n",
    )
    file.write_text("wave,answer,eps\n1,yes,1\n2,no,1e-7\n1,no,1\n")
    rows, err, status = run(
        capsys, file, "--design", "k_rr", "--epsilon-by", "eps", "--by", "wave", "--column", "answer"
    )
    assert err == "The group “2”: ε = 1·10⁻⁷ is too small: it can be from 1·10⁻⁶ up.\n"
