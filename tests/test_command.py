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
OF_CASES = pytest.mark.skipif(not CASES.exists(), reason="the folder of cases is not part of the project")
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
    rows = [f"{i},{'north' if i % 3 else 'south'},{'yes' if i % 2 else 'no'},1.5" for i in range(600)]
    (tmp_path / "survey.csv").write_text("\n".join(["id,region,answer,weight", *rows]) + "\n")
    return tmp_path / "survey.csv"


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


@OF_CASES
@pytest.mark.parametrize("name", CASE)
def test_the_small_files_that_were_read_wrongly(name, capsys, tmp_path):
    """Where the shell has a say; all of them: tests/io/test_cases.py."""
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


@OF_CASES
@pytest.mark.parametrize("name", REFUSED)
def test_the_small_files_that_are_asked_about(name, capsys):
    words, says = REFUSED[name]
    rows, err, status = run(capsys, CASES / name, "--design", *words.split())
    assert (rows, status, err.count("\n")) == ([], 2, 1)
    assert says in err
    assert "above" not in err or name == "pivot_wide_counts.csv"


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


@OF_CASES
def test_rappor_of_both_coins_and_a_table_with_numbers_as_names(capsys, tmp_path):
    coins = ("--f", "0.5", "--p", "0.5", "--q", "0.75", "--reports", 3000)
    rows, err, status = run(capsys, CASES / "rappor_fpq_ones.csv", "--design", "unary", *coins)
    assert (status, err.count("\n")) == (0, 4)  # the result, the advice, for whom it is, the fit
    assert list(shares(rows, "inv").values()) == [45.7, 32.9, 15.3, 9.2, 24.9, -2.5]
    # An interval where no share can be is said.
    rows, err, _ = run(capsys, CASES / "warner_30_of_35.csv", "--design", "warner", "--p", "0.7")
    assert all(float(row["low"]) < float(row["high"]) for row in rows)
    assert "that end at 0% or below" in err
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
    whose = report_sentences.whose(page).replace("choose “Their population”", "say --users sampled")
    said = [answer, advice, whose]
    assert err.splitlines()[:4] == ([fit, *said] if page.rejects_epsilon else [*said, fit])
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


LISTS = "answer\n" + "a\n" * 137 + "b\n" * 91 + "c\n" * 120 + "a;b\n" * 40 + "b;c\n" * 9
YEARS = "answer,2025,2026\nyes,140,150\nno,260,250\n"
CROSSED = "sex,choice,Freq\nf,bus,140\nf,car,260\nm,bus,150\nm,car,250\n"
MELTED = "answer,region,value\nyes,N,140\nno,N,260\nyes,S,150\nno,S,250\n"
TWICE = "answer\n" + "yes\nno\nYes\nno\n" * 20
ALIKE = "answer\n" + "yes\n" * 40
K_RR, WARNER, FORCED = "k_rr --epsilon 2", "warner --p 0.7", "forced --forced yes=1/6"
SEVERAL = "Several answers in one cell have “a;b” (40), “b;c” (9), and a report"
CHOICE, ALONE = "--column “sex” or --column “choice”.", "a table of counts with a line for it, and 0"


@pytest.mark.parametrize(
    ("text", "design", "says", "then", "reports"),
    [
        # Some of them were left out, for want of reports, and the others counted as categories.
        (LISTS, K_RR, SEVERAL, "--leave-out a;b --leave-out b;c", [137, 91, 120]),
        (LISTS, K_RR, SEVERAL, "--keep a;b --keep b;c", [137, 91, 120, 40, 9]),
        # Two years of counts were analysed as two reports.
        (YEARS, WARNER, "with --count NAME (“2025”, “2026”)", "--count 2026", [250, 150]),
        # The first column was taken; and with the other one named, each row was counted once.
        (CROSSED, K_RR, CHOICE, "--column choice", [290, 510]),
        (CROSSED, K_RR, CHOICE, "--by sex", [140, 260, 150, 250]),
        (CROSSED.replace("Freq", "patients"), K_RR, CHOICE, "--by sex --column choice", [140, 260, 150, 250]),
        (MELTED, WARNER, "or --count “value” if its numbers are counts.", "--count value", [510, 290]),
        # It was said to take what is neither yes nor no out of the file.
        (TWICE, WARNER, "may be one answer: say --merge", "--merge", [40, 40]),
        (TWICE, f"{WARNER} --no-merge", "Say --merge for two ways to write one answer.", "", []),
        (
            TWICE.replace("Yes", "unsure"),
            WARNER,
            "Say --leave-out NAME for what",
            "--leave-out unsure",
            [40, 20],
        ),
        # It was told of k-RR, and of a list.
        (ALIKE, WARNER, ALONE, "", []),
        (ALIKE, FORCED, ALONE, "", []),
    ],
)
def test_what_has_to_be_chosen_is_asked_by_the_name_of_its_option(
    text, design, says, then, reports, tmp_path, capsys
):
    (tmp_path / "a.csv").write_text(text)
    words = (tmp_path / "a.csv", "--design", *design.split())
    rows, err, status = run(capsys, *words)
    assert (rows, status, err.count("\n")) == ([], 2, 1)
    assert says in err
    if then:
        rows, err, status = run(capsys, *words, *then.split())
        assert (status, [int(row["reports"]) for row in rows]) == (0, reports), err


def test_inclusion_probabilities_are_weights_upside_down_and_the_level_is_told(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("answer,pi,weight\n" + "yes,0.4,2.5\nno,0.2,5\nno,0.25,4\n" * 20)
    words = (tmp_path / "a.csv", "--design", "warner", "--p", "0.7", "--column", "answer")
    shares_of, plain = [], run(capsys, *words)[0]
    for option, level in (("--inclusion pi", "0.95"), ("--weights weight", "0.975")):
        rows, said, _ = run(capsys, *words, *option.split(), "--level", level)
        assert f"the {100 * float(level):g}% interval" in said
        shares_of.append([float(row["inv"]) for row in rows])
    np.testing.assert_allclose(*shares_of)
    assert shares_of[0] != [float(row["inv"]) for row in plain]


def test_numbers_beside_answers_are_groups_or_weights_where_that_is_said(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("answer,n\n" + "yes,10\nno,9\nno,10\n" * 20)
    words = (tmp_path / "a.csv", "--design", "warner", "--p", "0.8", "--column", "answer")
    for option, reports in (("--by", ["20", "0", "20", "20"]), ("--weights", ["40", "20"])):
        assert [row["reports"] for row in run(capsys, *words, option, "n")[0]] == reports


@pytest.mark.parametrize(
    ("header", "design"), [("region,Never,Once,Weekly", K_RR), ("region,no,yes", WARNER)]
)
def test_a_cross_table_is_refused_with_its_groups_as_without(header, design, tmp_path, capsys):
    """By region it was two reports, whose answers were the numbers of its first column."""
    cells = [header.split(","), ["North", "201", "150", "120"], ["South", "188", "141", "131"]]
    (tmp_path / "a.csv").write_text("".join(",".join(row[: len(cells[0])]) + "\n" for row in cells))
    words = (tmp_path / "a.csv", "--design", *design.split())
    _, without, _ = run(capsys, *words)
    assert "In a cross table each is a group" in without
    assert run(capsys, *words, "--by", "region") == ([], without, 2)


def test_the_sheet_of_a_workbook_is_named(capsys, tmp_path):
    rows = [["answer"], *[[answer] for answer in ("yes", "no", "no")]]
    book = zipped(excel_parts({"Info": excel_rows([["note"], ["x"], ["x"]]), "Data": excel_rows(rows)}))
    (tmp_path / "two.xlsx").write_bytes(book)
    words = (tmp_path / "two.xlsx", "--design", "warner", "--p", "0.7", "--column", "answer")
    assert "“Data” may be the one to choose" in run(capsys, *words)[1]
    assert [row["reports"] for row in run(capsys, *words, "--sheet", "Data")[0]] == ["2", "1"]


def test_it_runs_as_a_module():
    words = ["-m", "rr_core", "recompute", "/estimators?k=3&n=1000"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stderr, bool(done.stdout)) == ("", True)


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


def test_a_name_in_other_characters_is_told_from_its_twin(tmp_path, capsys):
    """“Não” was said to be counted as “Não”."""
    file = tmp_path / "a.csv"
    file.write_text("resposta\n" + "N\u00e3o\nSim\n" * 20 + "Na\u0303o\n" * 5, "utf-8")
    rows, err, _ = run(capsys, file, "--design", "warner", "--p", "0.7", "--merge")
    assert {row["category"]: int(row["reports"]) for row in rows} == {"N\u00e3o": 25, "Sim": 20}
    assert "“Na\u0303o” is counted as “N\u00e3o”, the same in other characters." in err


@recomputes(command._Parser.error)
def test_a_command_that_cannot_be_read_ends_with_status_2_and_one_sentence(capsys):
    for words, about in (
        ([], "rr: the following arguments are required: command"),
        (["analyse", "a.csv"], "rr analyse: the following arguments are required: --design"),
        (
            ["plan", "--design", "guess", "--share", "0.1"],
            "rr plan: --design: invalid choice: 'guess' (choose ",
        ),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        said, way_out = capsys.readouterr().err.split("; ")
        assert said.startswith(about)
        assert way_out == f"{about.partition(':')[0]} --help lists what can be said.\n"


def test_a_design_may_be_written_as_people_write_it(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("yes\nno\n" * 9)
    for name in ("k-RR", "K_RR"):
        _, err, status = run(
            capsys, tmp_path / "a.csv", "--design", name, "--epsilon", "1", "--users", "sampled"
        )
        assert status == 0
        assert "the people who reported" not in err  # whose shares these are was said by the caller


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
    def said(file, *words):
        _, err, status = run(capsys, file, "--design", *words)
        assert status == 2
        return err

    empty, file, words = tmp_path / "empty", tmp_path / "a.csv", ("warner", "--p", "0.7")
    empty.mkdir()
    assert said(file, *words) == f"There is no file {file}.\n"
    assert (
        said(empty, *words) == f"The folder {empty} has no file in it (folders in it are not looked into).\n"
    )
    file.write_text("yes\nno\n" * 9)
    assert said(file, "table", "--table", empty) == f"{empty} is a folder: name the file in it.\n"
    monkeypatch.setattr(
        command, "_by_reports", lambda _: (_ for _ in ()).throw(ModuleNotFoundError(name="pyarrow"))
    )
    assert said(file, *words) == "Reading files needs pyarrow: pip install 'rr_core[io]'.\n"


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


YES = Fraction(640, 1000)
PUBLISHED = {  # the design's names in R and the number in its call; and the share of yes by its formula
    ("Warner|mirrored", "0.2"): (YES - Fraction(8, 10)) / (2 * Fraction(2, 10) - 1),
    ("Warner", "0.7"): (YES - Fraction(3, 10)) / (2 * Fraction(7, 10) - 1),
    ("Crosswise", "0.3"): (YES + Fraction(3, 10) - 1) / (2 * Fraction(3, 10) - 1),
    ("UQTknown|unrelated-known", "0.7"): (YES - Fraction(3, 10) * Fraction(1, 4)) / Fraction(7, 10),
    ("FR", "1/6"): (YES - Fraction(1, 12)) / (1 - Fraction(1, 6) - Fraction(1, 12)),
    ("forced-known", "2/3"): (YES - Fraction(1, 6)) / Fraction(2, 3),
    ("Kuk|disguised", "0.8"): (YES - Fraction(2, 10)) / (Fraction(8, 10) - Fraction(2, 10)),
    ("pram", "0.8"): (YES - Fraction(2, 10)) / (Fraction(9, 10) - Fraction(2, 10)),
}


def test_who_comes_from_r_finds_the_same_numbers(capsys, tmp_path):
    text, file = (ROOT / "docs" / "command_line.md").read_text("utf-8"), tmp_path / "answers.csv"
    calls = r"^\| (?:RRreg|rr|RRTCS|sdcMicro) `(.*)`.* \| `(--design .*)` \| (.*)% \|$"
    rows, seen = re.findall(calls, text, re.MULTILINE), set()
    assert len(rows) == 11
    (tmp_path / "pd.csv").write_text(",no,yes\nno,0.8,0.2\nyes,0.1,0.9\n")
    for call, words, share in rows:
        (key,) = (
            (name, number)
            for name, number in PUBLISHED
            if re.search(name, call) and re.search(rf"[ (]{number}\b", call)
        )
        seen.add(key)
        answers = ("1", "0") if "kuk" in words else ("yes", "no")
        file.write_text("answer\n" + f"{answers[0]}\n" * 640 + f"{answers[1]}\n" * 360)
        found, err, status = run(
            capsys, file, *shlex.split(words.replace("pd.csv", f"{tmp_path / 'pd.csv'}"))
        )
        assert status == 0, err
        (inv,) = [float(row["inv"]) for row in found if row["category"] == "yes"]
        assert inv == pytest.approx(float(PUBLISHED[key]), abs=1e-12), call
        assert share == f"{100 * inv:.1f}"
    assert seen == {*PUBLISHED}
    # The manual of RRreg gives a standard error, which the document quotes.
    found = analyse({"no": 360, "yes": 640}, Channel.warner(0.2), users="sampled")
    assert f"{float(found.analyses[0].variance_of_inv()[1]) ** 0.5:.4f}" == "0.0253"
    assert "0.0253" in text
    interval = found.analyses[0].interval
    assert f"{100 * interval.low[1]:.1f}% to {100 * interval.high[1]:.1f}%" in text


def test_the_documents_python_runs(capsys):
    text = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        exec(block, {})
    assert capsys.readouterr().out.count("alike: p = ") == len(blocks) == 2


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
    "k_rr by p": (
        "--p-by a",
        "--p first=0.7,second=3/4",
        ("0.7", "3/4"),
        lambda t: RandomizedResponse.from_p(2, t),
    ),
}


@pytest.mark.parametrize(
    ("design", "weighted"), [*((design, False) for design in BY_GROUP), ("warner", True), ("k_rr", True)]
)
def test_what_differs_by_group_is_a_column_or_a_small_table(design, weighted, capsys, tmp_path):
    """As from Python, by group, and all together."""
    columns, table, texts, make = BY_GROUP[design]
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
