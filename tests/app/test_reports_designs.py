"""Collected reports of other protocols on their page: every way of making them, files and typed numbers, broken ones, and
the script that repeats the analysis."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from pages._ui.reports import designs
from pages._ui.reports.sentences import fit_sentence
from rr_core.io import report_files
from rr_core.io.report_results import Results
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import analyse
from rr_core.reports.designs import DESIGNS, WHICH
from tests.app.opening import ROOT, charts, checked
from tests.app.test_reports_page import one, press, said

YES_NO = "yes, 640\nno, 360"
PROTOCOL = UnaryEncoding(3, 1.5)
BITS = PROTOCOL.randomize(np.repeat([0, 1, 2], [300, 150, 50]), 1)
CSV = "bus,car,train\n" + "".join(",".join(map(str, row)) + "\n" for row in BITS.tolist())


def opened(made: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "pages" / "your_reports.py"), default_timeout=60)
    page.query_params["made"] = made
    return checked(page.run())


def box_of(page: AppTest, key: str) -> Any:
    """The text box for a parameter of a design, or for typed counts; None where it is not on screen."""
    key = "reports_typed" if key == "typed" else f"design_{key}"
    return next((box for box in (*page.text_input, *page.text_area) if box.key == key), None)


def reopened(page: AppTest) -> AppTest:
    """With the panel for reports and settings."""
    buttons = [button for button in page.button if button.label == "Other reports or settings"]
    return checked(buttons[0].click().run()) if buttons else page


def entered(page: AppTest, **texts: str) -> AppTest:
    """With these texts in the panel, not analysed."""
    reopened(page)
    for key, text in texts.items():
        box_of(page, key).set_value(text)
        checked(page.run())
    return page


def analysed(page: AppTest) -> AppTest:
    buttons = [button for button in page.button if button.label == "Analyse these reports"]
    return checked(buttons[0].click().run()) if buttons else page


def typed(page: AppTest, **texts: str) -> AppTest:
    """With these texts in the panel, and analysed."""
    return analysed(entered(page, **texts))


def chosen(page: AppTest, kind: str, label: str, value: Any) -> AppTest:
    """With this value in a widget of the panel, and analysed."""
    one(getattr(reopened(page), kind), label).set_value(value)
    return analysed(checked(page.run()))


def held(page: AppTest) -> Results:
    """What is in use, analysed."""
    of_session = page.session_state["_held"]
    found = of_session.get("latest_analysis")[1]
    target = "users" if found.users == "fixed" else "population"
    return Results(of_session.get("reports_used"), found.level, target, found, None)


def given(page: AppTest, text: str, name: str = "reports.csv") -> AppTest:
    one(page.file_uploader, "Report files").set_value([(name, text.encode(), "text/csv")])
    return checked(page.run())


def shown(page: AppTest) -> dict[str, list[float]]:
    (table,) = [box.value for box in page.dataframe if "People" in box.value.columns]
    return table.to_dict("list")


def test_the_way_of_making_them_is_in_the_link_and_the_usual_one_changes_nothing():
    page = opened("k_rr")
    assert page.selectbox[0].value == "k_rr"
    assert "made" not in page.query_params
    page.selectbox[0].set_value("warner")
    checked(page.run())
    assert page.query_params["made"] in ("warner", ["warner"])
    assert "Warner" in page.selectbox[0].options[page.selectbox[0].index]


def test_warner():
    page = typed(opened("warner"), typed=YES_NO, p="0.2")
    found = analyse([360, 640], Channel.warner(0.2))
    assert (
        "“yes” has a share of 26.7% by Inv, about 267 of these 1,000 people; the 95% interval of Inv, cut at 0 and 1, is "
        "22.5% to 30.8%. MLE gives it 26.7%. That is more than chance alone would make it." in said(page)
    )
    assert shown(page)["Inv %"] == pytest.approx([26.6666667, 73.3333333])
    one(page.button_group, "Whose shares").set_value("population")
    checked(page.run())
    found = analyse([360, 640], Channel.warner(0.2), users="sampled")
    assert f"{100 * found.interval.low[1]:.3g}% to {100 * found.interval.high[1]:.3g}%" in said(page)
    assert "of these 1,000 people" not in said(page)
    chosen(page, "selectbox", "Which answer means yes?", "no")  # "no", for somebody who exchanged them
    assert "“no” has a share" in said(page)


def test_forced_answers():
    page = typed(opened("forced"), typed=YES_NO, forced_no="1/6", forced_yes="0")
    channel = Channel.forced_response([1 / 6, 0.0])
    assert shown(page)["MLE %"] == pytest.approx(
        sorted(100 * analyse([360, 640], channel).estimates["mle"], reverse=True)
    )
    assert "no ε: some reports rule truths out" in said(page)


def test_another_table_with_an_answer_that_nobody_gave():
    page = typed(opened("table"), typed=YES_NO, table="no yes maybe\n0.8 0.1 0.1\n0.1 0.7 0.2")
    assert "These reports hardly come from what is stated" in said(page)  # nobody said maybe
    found = analyse([360, 640, 0], Channel([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2]]))
    assert shown(page)["MLE %"] == pytest.approx(sorted(100 * found.estimates["mle"], reverse=True))


def test_a_wrong_table_is_told_above_the_answer():
    page = typed(opened("warner"), typed="yes, 995\nno, 5", p="1/4")
    assert "hardly come from what is stated" in page.error[0].value
    page = typed(page, p="1/400")
    assert not page.error
    assert "The test finds nothing against what is stated, at its threshold of 5%." in said(page)


@pytest.mark.parametrize("encoding", ["rappor", "oue"])
def test_bits_in_columns(encoding):
    page = typed(given(opened("unary"), CSV), epsilon="1.5")
    page = chosen(page, "button_group", "Encoding", encoding)
    protocol = UnaryEncoding(3, 1.5, encoding == "oue")
    found = analyse(BITS.sum(axis=0), protocol, n=500, bits=(BITS, np.ones(500)))
    order = np.argsort(-found.estimates["mle"])
    for name, key in (("Inv %", "inv"), ("InvN %", "inv_n"), ("InvP %", "inv_p"), ("MLE %", "mle")):
        assert shown(page)[name] == pytest.approx((100 * found.estimates[key][order]).tolist(), abs=1e-6)
    assert len(charts(page)) == 1


def test_bit_strings_and_the_number_of_ones_alone():
    strings = "".join("".join(map(str, row)) + "\n" for row in BITS.tolist())
    page = typed(given(opened("unary"), strings, "bits.txt"), epsilon="1.5")
    mle = shown(page)["MLE %"]
    ones = "category,ones\n" + "".join(f"{i + 1},{one}\n" for i, one in enumerate(BITS.sum(axis=0).tolist()))
    page = entered(given(opened("unary"), ones), epsilon="1.5")
    chosen(page, "number_input", "Reports N", 500)
    assert "MLE %" not in shown(page)
    assert "MLE needs the bits of every report" in said(page)
    assert shown(page)["InvP %"] == pytest.approx(mle, abs=5)
    chosen(page, "number_input", "Reports N", 10)
    assert "more than there are reports: mend N. What was shown before stays in use." in said(page)


@pytest.mark.parametrize(
    ("made", "texts", "sentence"),
    [
        (
            "warner",
            {"typed": "a, 1\nb, 2\nc, 3"},
            "there are two answers, yes and no; these reports have 3: a, b, c. Take what is neither out of the file.",
        ),
        ("forced", {"typed": "a, 1"}, "These reports have 1 answer; here there may be 2 to 12."),
        ("table", {"typed": YES_NO, "table": "1\n1"}, "The table has 1 column, the reports have 2 answers."),
        ("warner", {"typed": YES_NO, "p": "1.5"}, "1.5 cannot be: a chance lies between 0 and 1."),
        ("warner", {"typed": YES_NO, "p": "often"}, "“often” is not a number above 0"),
        ("warner", {"typed": "yes\nno"}, "Line 1 is “yes”: write one answer and its number in each line"),
        ("forced", {"typed": YES_NO, "forced_yes": "1/2", "forced_no": "1/2"}, "The chances sum to 1"),
        (
            "table",
            {"typed": YES_NO, "table": "1 0 0\n0 1 0\n0 0 1"},
            "The table has 3 columns, the reports have 2 answers.",
        ),
        (
            "table",
            {"typed": YES_NO, "table": "no maybe\n1 0\n0 1"},
            "The answer “yes” has no column in the table",
        ),
        ("table", {"typed": YES_NO, "table": "0.9 0.2\n0.5 0.5"}, "Row 1 sums to 1.1, not to 1"),
        (
            "table",
            {"typed": YES_NO, "table": "yes no\n1 0\n1 0"},
            "of these reports cannot come from this table",
        ),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(made, texts, sentence):
    page = typed(opened(made), **texts)
    (error,) = page.error
    assert sentence in error.value.replace("\\", "")
    assert "<" not in error.value.replace("\\<", "")


def test_what_is_still_to_be_entered_is_no_error_until_it_is_to_be_analysed():
    page = entered(opened("forced"), typed=YES_NO)
    assert not page.error
    assert [box.value.replace("\\", "") for box in page.info] == [
        "Say for each answer how often the die asked for it: 0 where it never did."
    ]
    assert "how often the die asked for it" in analysed(page).error[0].value
    page = entered(page, forced_yes="0", forced_no="2")
    assert "2 cannot be" in page.error[0].value
    assert not page.info


@pytest.mark.parametrize("as_stated", [True, False])
def test_an_interval_that_does_not_hold_the_estimate_says_so(as_stated):
    """With far too few ones Inv and its interval lie below zero; MLE cannot."""
    dice = np.random.default_rng(2)
    bits = (
        UnaryEncoding(6, 1.0).randomize(np.repeat(np.arange(6), [1000, 400, 300, 200, 100, 0]), dice)
        if as_stated
        else dice.random((2000, 6)) < 0.25
    )
    strings = "".join("".join(map(str, row)) + "\n" for row in np.asarray(bits, dtype=int).tolist())
    page = typed(given(opened("unary"), strings, "bits.txt"), epsilon="1")
    text = said(page)
    (estimate,) = re.findall(r"MLE gives it ([\d.]+)%", text)
    low, high = re.findall(r"interval of Inv[^%]*?(−?[\d.]+)% to (−?[\d.]+)%", text)[0]
    assert (float(low.replace("−", "-")) <= float(estimate) <= float(high.replace("−", "-"))) == as_stated
    assert ("outside that interval" in text) != as_stated


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bus,car\n" + "1,0\n" * 300 + "1,2\n", "Line 302 has “2” in the column “car”"),
        ("010\n01\n", "has 2 bits, the first one 3"),
        ("bus\ncar\nbus\n", "does not hold bit strings like 0110"),
    ],
)
def test_broken_files_of_bits(text, sentence):
    page = given(opened("unary"), text)
    assert sentence in said(page)


def test_a_table_that_tells_nothing_apart_has_no_inv():
    page = typed(opened("warner"), typed="yes, 500\nno, 500", p="1/2")
    assert "This table cannot tell the truths apart" in said(page)
    assert "Inv %" not in shown(page)


def test_names_from_a_file_are_shown_literally():
    page = typed(opened("table"), typed="**<b>x</b>**, 70\n=1+1, 30", table="0.9 0.1\n0.2 0.8")
    texts = "\n".join(box.value for box in (*page.markdown, *page.caption))
    assert "<b>" not in texts.replace("\\<b\\>", "")


@pytest.mark.parametrize("made", ["warner", "unary"])
def test_the_script_repeats_the_analysis(made, tmp_path):
    if made == "warner":
        page = typed(opened(made), typed=YES_NO, p="1/6")
        expected = (1000 * 0.64 / 1000 + 1 / 6 - 1) / (2 / 6 - 1)
    else:
        page = typed(given(opened(made), CSV), epsilon="1.5")
        (tmp_path / "reports.csv").write_text(CSV)
        expected = float(analyse(BITS.sum(axis=0), PROTOCOL, n=500).estimates["inv"][0])
    script = report_files.script(held(page))
    (tmp_path / "repeat.py").write_text(script)
    run = subprocess.run(
        [sys.executable, "repeat.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("reports = ")
    results = held(page)
    rows = list(csv.DictReader((tmp_path / "recomputed.csv").read_text().splitlines()))
    index = 1 if made == "warner" else 0
    assert float(rows[index]["inv"]) == pytest.approx(expected)
    files = ((tmp_path / "recomputed.csv").read_text(), report_files.csv_file(results).decode())
    mine, theirs = (list(csv.DictReader(file.splitlines())) for file in files)
    for row, other in zip(mine, theirs, strict=True):
        assert row.keys() == other.keys()
        for name, cell in row.items():
            if name in ("category", "above_zero"):
                assert cell.lower() == other[name].lower()
            else:
                assert float(cell) == float(other[name])


def test_every_design_can_be_chosen_and_says_what_it_is():
    for made, design in DESIGNS.items():
        assert design.about.split(".")[0].replace("*", "") in said(opened(made)).replace("*", "")
        assert made == "k_rr" or made in {*designs._COUNTED, "unary"}


SHARED = ROOT.parent / "shared"


def case(name: str) -> bytes:
    """A small file that was read wrongly; skipped where the folder as a whole is missing."""
    if not SHARED.exists():
        pytest.skip("the folder of shared cases is missing")
    return (SHARED / "cases" / name).read_bytes()


def uploaded(made: str, name: str, **texts: str) -> AppTest:
    page = opened(made)
    one(page.file_uploader, "Report files").set_value([(name, case(name), "text/csv")])
    return typed(checked(page.run()), **texts)


def test_reports_belong_to_columns_and_estimates_to_rows():
    """Columns in another order than the rows, and columns of other names, as many as rows."""
    page = typed(opened("table"), typed=YES_NO, table=",yes,no\nno,0.2,0.8\nyes,0.9,0.1")
    table = shown(page)
    assert dict(zip(table["Category"], table["Reports"], strict=True)) == {"yes": 640, "no": 360}
    page = typed(
        opened("table"), typed="x, 500\ny, 300\nz, 200", table=",x,y,z\nA,.8,.1,.1\nB,.1,.8,.1\nC,.1,.1,.8"
    )
    assert "Reports" not in shown(page)
    (other,) = [box.value.to_dict("list") for box in page.dataframe if "Report" in box.value.columns]
    assert other == {"Report": ["x", "y", "z"], "Reports": [500, 300, 200]}
    results = held(page)
    assert "reports={'x': 500, 'y': 300, 'z': 200}" in report_files.script(results)
    assert "names=['A', 'B', 'C']" in report_files.script(results)
    assert "reports" not in results.columns()
    assert [button.label for button in page.get("download_button")].count("Reports (CSV)") == 1


def test_nothing_is_computed_of_a_table_or_a_number_that_nobody_stated():
    page = typed(opened("table"), typed="x, 500\ny, 300\nz, 200")
    assert not charts(page)
    assert "Write the table, or choose a file" in page.info[0].value
    page = typed(page, table="0.9 0.2 0\n0.5 0.5 0\n0 0 1")
    assert not charts(page)
    assert "stays in use" not in said(page)
    page = typed(page, table="0.9 0.1 0\n0.1 0.8 0.1\n0 0.1 0.9")
    assert len(charts(page)) == 1
    page = typed(page, table="0.9 0.2 0\n0.5 0.5 0\n0 0 1")
    assert "What was shown before stays in use." in said(page)
    page = typed(page, table="")
    assert "Write the table" in page.error[0].value
    page = entered(given(opened("unary"), "category,ones\na,640\nb,400\nc,300\n"), epsilon="1")
    assert one(page.number_input, "Reports N").value is None
    assert not page.error
    assert not charts(page)
    assert "Say how many reports there are" in page.info[0].value


def test_all_people_may_have_sent_zeros_of_unary_encoding_but_no_collection_is_without_reports():
    zeros = "category,ones\na,0\nb,0\nc,0\n"
    page = typed(given(opened("unary"), zeros), epsilon="20")
    assert "Understood: 3 rows, 3 names, 0 ones" in said(page)
    page.segmented_control(key="design_encoding").set_value("oue")
    page = chosen(page, "number_input", "Reports N", 5)
    assert not page.error
    assert "The most frequent by MLE, “a” (and 2 more alike)" in said(page).replace("InvP", "MLE")
    assert len(charts(page)) == 1
    for made in ("warner", "forced", "table"):
        page = given(opened(made), "category,count\nyes,0\nno,0\n")
        assert "All counts in the column “count” are zero" in page.error[0].value


def test_an_interval_outside_0_to_100_percent_is_said_to_be_and_the_reports_are_doubted():
    page = typed(opened("warner"), typed="yes, 783\nno, 217", p="0.75")
    assert "the 95% interval of Inv lies wholly outside 0 to 100%, at 101% to 112%." in said(page)
    assert "come in at most 0.82% of collections" in page.error[0].value.replace("\\", "")
    page = uploaded("warner", "warner_30_of_35.csv", p="0.7")
    assert "hardly come from what is stated" in page.error[0].value
    assert "the 95% interval of Inv is 100% to 163%." in said(page)  # not cut to a point
    table = shown(page)
    assert all(low < high for low, high in zip(table["Interval from %"], table["to %"], strict=True))


@pytest.mark.parametrize(
    ("typed_reports", "words"),
    [
        ("a, 200\nb, 200\nc, 200", "The most frequent by MLE, “a” (and 2 more alike), has a share of 33.3%"),
        ("a, 250\nb, 250\nc, 100", "The most frequent by MLE, “a” (and 1 more alike),"),
        ("a, 250\nb, 200\nc, 100", "The most frequent by MLE, “a”, has"),
    ],
)
def test_none_of_equal_shares_is_called_the_most_frequent_alone(typed_reports, words):
    page = typed(opened("forced"), typed=typed_reports, forced_a="1/6", forced_b="1/6", forced_c="1/6")
    assert words in said(page)


def test_bits_that_are_all_zero_have_no_most_frequent_category():
    page = typed(given(opened("unary"), "a,b,c\n" + "0,0,0\n" * 50), epsilon="1")
    assert "The most frequent by MLE, “a” (and 2 more alike)" in said(page).replace("InvP", "MLE")


@pytest.mark.parametrize(
    ("made", "name", "texts", "expected"),
    [
        ("warner", "warner_with_NA.csv", {"p": "0.7"}, {"N": 600}),
        ("warner", "warner_yes_variants.csv", {"p": "0.7"}, {"answers": 2}),
        (
            "warner",
            "google_forms_warner.csv",
            {"p": "0.7"},
            {"column": "Is the card's statement true for you?"},
        ),
        ("warner", "warner_z_Pi.csv", {"p": "0.7"}, {"column": "z", "share": 45.0}),
        (
            "forced",
            "region_cross.csv",
            {"forced_yes": "0", "forced_no": "1/6"},
            {"column": "answer", "N": 800},
        ),
    ],
)
def test_files_of_other_designs_go_through_the_same_steps(made, name, texts, expected):
    """The columns have their boxes, what was understood is told, odd names are asked about."""
    page = uploaded(made, name)
    columns = [box for box in page.selectbox if box.label in ("Report column", "Category column")]
    assert len(columns) == 1
    if "column" in expected:  # whichever is suggested, another one can be chosen
        label = next(
            option for option in columns[0].options if expected["column"] in option.replace("\\", "")
        )
        columns[0].select(label)
        checked(page.run())
    assert any("Understood" in box.value for box in page.success)
    for box in page.multiselect:
        if box.label == "Count as another name":
            box.set_value(box.options)
            checked(page.run())
    page = typed(page, **texts)
    results = held(page)
    assert results.analysis.n == expected.get("N", results.analysis.n)
    assert results.analysis.k == expected.get("answers", 2)
    if "column" in expected:
        assert f"“{expected['column']}”" in results.used.source
    if "share" in expected:
        assert 100 * results.analysis.estimates["inv"][1] == pytest.approx(expected["share"], abs=0.05)
    assert results.used.source.split("”")[0] in said(page).replace("\\", "")
    assert repr(results.used.source) in report_files.script(results)
    assert results.used.stem == name.removesuffix(".csv")


def test_na_and_spellings_are_asked_about_first():
    page = uploaded("warner", "warner_with_NA.csv")
    assert [box.label for box in page.multiselect] == ["Leave out (not categories)"]
    page = uploaded("warner", "warner_yes_variants.csv")
    assert "Count as another name" in [box.label for box in page.multiselect]


def test_the_order_typed_is_kept():
    answers, table = case("typed_low_medium_high.txt").decode().split("\n\ntable:\n")
    found = held(typed(opened("table"), typed=answers, table=table))
    assert found.used.labels == ("low", "medium", "high")
    assert found.used.counts_by_category.tolist() == [500, 300, 200]
    assert (100 * found.analysis.estimates["inv"]).round(1).tolist() == [60.4, 16.7, 22.9]


def test_answers_without_an_order_need_names_above_the_columns():
    rows = "answer\n" + "low\n" * 20 + "high\n" * 30
    page = typed(given(opened("table"), rows), table="0.8 0.2\n0.1 0.9")
    assert "The answers come in no order" in page.error[0].value
    page = typed(page, table="high low\n0.8 0.2\n0.1 0.9")
    assert dict(zip(*(shown(page)[name] for name in ("Category", "Reports")), strict=True)) == {
        "high": 30,
        "low": 20,
    }


def test_thousands_typed_are_read():
    found = typed(opened("warner"), typed=case("typed_thousands.txt").decode(), p="0.7")
    results = held(found)
    assert results.analysis.n == 3579
    assert 100 * results.analysis.estimates["inv"][1] == pytest.approx(11.2, abs=0.05)


@pytest.mark.parametrize("text", ["yes, 0,234\nno, 0,766", "yes; 0,234\nno; 0,766"])
def test_shares_with_a_decimal_comma_are_no_thousands(text):
    page = typed(opened("warner"), typed=text)
    assert "0,234" in page.error[0].value
    assert not charts(page)


def test_a_table_with_numbers_as_names():
    page = typed(
        opened("table"), typed="1, 1200\n2, 2500\n3, 3300", table=case("pram_numeric_names.csv").decode()
    )
    assert not page.error
    found = held(page)
    assert found.used.labels == ("1", "2", "3")
    assert found.used.counts_by_category.tolist() == [1200, 2500, 3300]


def test_one_bit_leads_to_warner_with_the_file():
    page = uploaded("unary", "boolean_rappor_bits.csv")
    assert "one bit is Warner's design" in page.error[0].value
    one(page.button, "Go on with Warner's two questions").click()
    checked(page.run())
    assert page.query_params["made"] in ("warner", ["warner"])


def test_kuks_cards_through_a_table_with_numbers_as_names():
    """Five cards from a deck with 80% or 20% red ones: the likelihood on a fine grid, not by the estimator's route."""
    decks = np.array([stats.binom.pmf(np.arange(6), 5, red) for red in (0.2, 0.8)])
    table = "red,0,1,2,3,4,5\n" + "\n".join(
        ",".join([name, *map(repr, row)])
        for name, row in zip(("others", "carriers"), decks.tolist(), strict=True)
    )
    page = uploaded("table", "kuk_counts.csv", table=table)
    seen = np.array([254, 293, 146, 99, 124, 84])
    grid = np.linspace(0, 1, 100_001)
    likely = grid[
        (seen * np.log(np.outer(1 - grid, decks[0]) + np.outer(grid, decks[1]))).sum(axis=1).argmax()
    ]
    assert likely == pytest.approx(0.278, abs=5e-4)
    table = shown(page)
    assert table["Category"] == ["others", "carriers"]
    assert table["MLE %"] == pytest.approx([100 * (1 - likely), 100 * likely], abs=2e-3)
    (reports,) = [box.value.to_dict("list") for box in page.dataframe if "Report" in box.value.columns]
    assert dict(zip(reports["Report"], reports["Reports"], strict=True)) == dict(
        zip("012345", seen.tolist(), strict=True)
    )


def test_rappor_with_both_coins():
    """Its ones fit no epsilon of the basic one: far too many in all."""
    page = uploaded("unary", "rappor_fpq_ones.csv")
    assert "Understood: 6 rows, 6 names, 10,596 ones" in said(page)
    one(page.number_input, "Reports N").set_value(3000)
    checked(page.run())
    for epsilon in ("0.1", "0.537", "2"):
        page = typed(page, epsilon=epsilon)
        assert "hardly come from what is stated" in page.error[0].value
        assert not page.success or "finds nothing" not in page.success[-1].value
    one(reopened(page).button_group, "Encoding").set_value("fpq")
    page = typed(checked(page.run()), f="0.5", p="0.5", q="0.75")
    assert not page.error
    found = held(page)
    assert (100 * found.analysis.estimates["inv"]).round(1).tolist() == [45.7, 32.9, 15.3, 9.2, 24.9, -2.5]
    assert typed(page, p="0.8").error[0].value.replace("\\", "").startswith("p = 0.8 and q = 0.75 cannot be")


@pytest.mark.parametrize(("name", "total"), [("total_ja.csv", "合計"), ("total_ru.csv", "Всего")])
def test_a_total_is_no_category_of_the_ones_either(name, total, tmp_path, monkeypatch):
    page = typed(uploaded("unary", name), epsilon="2")
    assert [box.label for box in page.multiselect] == ["Leave out (not categories)"]
    assert page.multiselect[0].options == [f"{total} (36,636 ones): the sum of the others"]
    chosen(page, "number_input", "Reports N", 20_000)
    assert sorted(shown(page)["Ones"], reverse=True) == [12345, 8001, 6200, 5100, 4990]
    text = said(page).replace("\\", "")
    assert f"36,636 ones are left out, under a name that is not counted as a category: {total}." in text
    found = held(page)
    repeated: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    exec(report_files.script(found), repeated)
    table = repeated["result"].table
    assert tuple(table["category"]) == found.used.labels
    np.testing.assert_array_equal(table["inv"], found.analysis.estimates["inv"])


@pytest.mark.parametrize(
    ("answers", "p", "words"),
    [
        ("yes, 1000000\nno, 30", "0.999", "lies wholly outside 0 to 100%"),
        ("yes, 1000000\nno, 5", "1/6", "lies wholly outside 0 to 100%"),
        ("yes, 5\nno, 1", "1e-6", "the 95% interval of Inv, cut at 0 and 1, is 16.7% to 16.7%."),
    ],
)
def test_an_interval_reads_as_what_is_said_of_it(answers, p, words):
    """Its ends have as many digits as tell them apart, and from 100%."""
    page = typed(opened("warner"), typed=answers, p=p)
    text = said(page).replace("\\", "")
    assert words in text
    if "wholly" in words:
        (low, high) = re.findall(r"outside 0 to 100%, at (\S+)% to (\S+)%\.", text)[0]
        low, high = (float(end.replace("−", "-")) for end in (low, high))
        assert low < high
        assert low > 100 or high < 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("yes, 0\nno, 0", "All the numbers are zero: write how many people gave each answer."),
        ("yes, 40%\nno, 60%", "Line 1 has the share “40%”: write how many people gave that answer."),
    ],
)
def test_of_typed_numbers_no_column_is_named_that_is_not_on_screen(text, sentence):
    page = typed(opened("warner"), typed=text)
    assert sentence in said(page).replace("\\", "")
    assert "olumn" not in page.error[0].value


def test_an_epsilon_beyond_all_is_told_plainly():
    page = typed(given(opened("unary"), CSV), epsilon="701")
    assert "ε = 701 cannot be computed with: write one between 0.000001 and 700." in said(page).replace(
        "\\", ""
    )


@pytest.mark.parametrize("order", ["yes, 640\nno, 360", "no, 360\nyes, 640"])
def test_columns_without_names_are_those_of_the_rows_whatever_order_the_reports_come_in(order):
    page = typed(opened("table"), typed=order, table="no 0.8 0.2\nyes 0.3 0.7")
    assert dict(zip(shown(page)["Category"], shown(page)["MLE %"], strict=True))["yes"] == pytest.approx(88)


def test_the_same_answers_counted_in_a_file_or_row_by_row_are_in_one_order():
    """A file of counts may come by frequency, which is nobody's order."""
    rows, counts = "answer\n" + "2\n" * 500 + "1\n" * 300 + "3\n" * 200, "answer,n\n2,500\n1,300\n3,200\n"
    tables = [
        shown(typed(given(opened("table"), text), table="0.8 0.1 0.1\n0.1 0.8 0.1\n0.05 0.15 0.8"))
        for text in (rows, counts)
    ]
    assert tables[0] == tables[1]


def test_another_choice_among_the_odd_names_is_another_analysis():
    page = given(opened("unary"), "category,ones\nbus,640\ncar,400\nNA,333\n-,210\n")
    page = typed(page, epsilon="1")
    chosen(page, "number_input", "Reports N", 1000)
    for name in ("NA", "-"):
        (box,) = reopened(page).multiselect
        box.set_value([option for option in box.options if name in option])
        analysed(checked(page.run()))
        found = held(page)
        protocol = UnaryEncoding(3, 1.0)
        exact = (found.used.counts_by_category / 1000 - protocol.q) / (protocol.p - protocol.q)
        np.testing.assert_allclose(found.analysis.estimates["inv"], exact, rtol=1e-9)


def test_what_stays_in_use_is_told_of_those_it_was_worked_out_for():
    page = typed(opened("warner"), typed="yes, 60\nno, 40", p="0.9")
    assert "of these 100 people" in said(page)
    page = typed(page, p="2")
    assert "stays in use" in said(page).replace("\\", "")
    assert "of these 100 people" in said(page)
    page = analysed(checked(one(page.button, "Cancel").click().run()))
    assert not page.error
    assert box_of(reopened(page), "p").value == "0.9"


def test_which_answer_means_yes_is_asked_where_it_is_not_known():
    page = typed(opened("warner"), typed="a, 360\nb, 640", p="0.9")
    assert not page.dataframe
    chosen(page, "selectbox", "Which answer means yes?", "a")
    assert shown(page)["Category"]
    page = entered(opened("warner"), typed="n, 640\ny, 360", p="0.9")
    assert one(page.selectbox, "Which answer means yes?").value == "y"


@pytest.mark.parametrize("zero", ["0", "0.0", "0,00", "0 %", "0/6"])
def test_never_asked_for_may_be_written_in_any_way(zero):
    page = typed(opened("forced"), typed=YES_NO, forced_yes="1/6", forced_no=zero)
    assert not page.error


def test_where_everybody_reports_alike_the_interval_still_has_a_width():
    """19 of "a" and one of "b" would report like this in one collection of five: 95% has to be in it."""
    found = analyse([20, 0, 0], Channel.forced_response([0.2, 0.0, 0.0]))
    low, high = found.interval.low, found.interval.high
    assert low[0] < 0.95 < high[0]
    assert (high - low > 0.01).all()
    sure = analyse([20, 0, 0], Channel(np.eye(3)))  # without noise there is nothing to be unsure of
    np.testing.assert_allclose(sure.interval.high, sure.interval.low, atol=1e-9)


def test_a_chance_that_is_no_bound_is_told_as_about():
    found = analyse([273, 20], UnaryEncoding(2, 8.0), n=278)
    assert "come in about" in fit_sentence(found.fit)
    two = analyse([783, 217], Channel.warner(0.75))
    assert "come in at most" in fit_sentence(two.fit)


def test_bit_strings_with_their_numbers_are_reports():
    page = given(opened("unary"), "bits,n\n110,30\n010,20\n")
    text = said(page) + "".join(box.value for box in page.success)
    assert "50 reports" in text
    assert "say so where you are asked" not in text


def of_columns(header: str, *columns: Any) -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def repeated(page: AppTest, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> dict[str, Any]:
    """The columns that the page's script works out of the file."""
    (tmp_path / "reports.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(report_files.script(held(page)), found)
    columns: dict[str, Any] = found["result"].table
    return columns


def test_columns_of_0_and_1_about_the_person_can_be_left_out(tmp_path, monkeypatch):
    """“female” was called the most frequent category, and nothing on the page could take it out."""
    text = of_columns("female,tall,bus,car,train", [1, 0] * 250, [1, 1, 0, 0] * 125, *BITS.T)
    page = entered(given(opened("unary"), text), epsilon="1.5")
    box = one(page.multiselect, "Leave out (about the person)")
    assert (box.options, box.value) == (["female", "tall", "bus", "car", "train"], ["female"])
    assert "“tall”, “bus”, “car”, “train”, a category each: K = 4. 500 reports." in said(page)
    box.set_value(["female", "tall"])
    analysed(checked(page.run()))
    found = analyse(BITS.sum(axis=0), PROTOCOL, n=500, bits=(BITS, np.ones(500)))
    assert sorted(shown(page)["MLE %"]) == pytest.approx(sorted(100 * found.estimates["mle"]), abs=1e-6)
    again = repeated(page, tmp_path, monkeypatch, text)
    assert again["category"] == ("bus", "car", "train")
    np.testing.assert_array_equal(again["mle"], found.estimates["mle"])
    page = given(opened("unary"), text)
    one(page.multiselect, "Leave out (about the person)").set_value(["female", "tall", "bus", "car"])
    checked(page.run())
    assert "Fewer than two columns of 0 and 1 are left" in page.error[0].value


def test_bit_strings_beside_columns_of_0_and_1_are_the_reports(tmp_path, monkeypatch):
    """Shown: “Most frequent: urban, 78.8%”."""
    strings = ["".join(map(str, row)) for row in BITS.tolist()]
    text = of_columns("new_client,urban,week,bits", [0, 1] * 250, [1, 1, 0, 1] * 125, [3] * 500, strings)
    page = entered(given(opened("unary"), text), epsilon="1.5")
    assert one(page.selectbox, "The reports are in").value is False
    assert one(page.selectbox, "Report column").value == 3
    analysed(page)
    assert sorted(shown(page)["Ones"]) == sorted(BITS.sum(axis=0).tolist())
    again = repeated(page, tmp_path, monkeypatch, text)
    np.testing.assert_array_equal(again["ones"], BITS.sum(axis=0))
    page = entered(given(opened("unary"), text), epsilon="1.5")
    one(page.selectbox, "The reports are in").set_value(True)
    checked(page.run())
    assert one(page.selectbox, "Each row counts").value is None
    one(page.selectbox, "Each row counts").set_value("week")
    analysed(checked(page.run()))
    assert sorted(shown(page)["Ones"]) == [750, 1125]
    again = repeated(page, tmp_path, monkeypatch, text)
    assert again["ones"].tolist() == [750, 1125]


@pytest.mark.parametrize("header", ["id,bits", "bits,id"])
def test_bit_strings_beside_an_id_are_suggested(header):
    strings = ["".join(map(str, row)) for row in BITS.tolist()]
    columns = {"id": range(1, 501), "bits": strings}
    page = typed(
        given(opened("unary"), of_columns(header, *(columns[name] for name in header.split(",")))),
        epsilon="1.5",
    )
    assert not page.error
    assert sorted(shown(page)["Ones"]) == sorted(BITS.sum(axis=0).tolist())
    page = given(opened("unary"), of_columns(header, *(columns[name] for name in header.split(","))))
    one(page.selectbox, "Report column").set_value(header.split(",").index("id"))
    checked(page.run())
    assert "The column “id” does not hold bit strings like 0110" in page.error[0].value


def test_questions_lead_to_every_design_by_its_name():
    def ends(node):
        return {node} if isinstance(node, str) else {key for more in node.values() for key in ends(more)}

    assert ends(WHICH) == set(DESIGNS)
    page = opened("k_rr")
    for question, given_answer in (
        ("What did a person report?", "Yes or no"),
        ("What did chance decide?", "Whether the question was answered, or an innocent one"),
    ):
        one(page.radio, question).set_value(given_answer)
        checked(page.run())
    assert "Unrelated question." in said(page)
    press(page, "Take this one")
    assert page.query_params["made"] in ("unrelated", ["unrelated"])
    assert one(page.button, "Take this one").disabled
