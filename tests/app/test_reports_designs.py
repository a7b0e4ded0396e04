"""Collected reports of other protocols on their page: every way of making them, files and typed numbers, broken ones, and
the script that repeats the analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pages._ui.reports import designs
from rr_core.io import UnreadableFile, report_files
from rr_core.io.reports import read_typed
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import analyse
from rr_core.reports.designs import DESIGNS, WHICH
from tests.app.opening import charts, checked
from tests.app.reports import (
    BITS,
    CSV,
    PROTOCOL,
    YES_NO,
    analysed,
    box_of,
    case,
    chosen,
    entered,
    given,
    held,
    one,
    opened,
    press,
    reopened,
    said,
    same_files,
    shown,
    typed,
    uploaded,
)


def test_the_way_of_making_them_is_in_the_link_and_the_usual_one_changes_nothing():
    page = opened("k_rr")
    assert page.selectbox[0].value == "k_rr"
    assert "made" not in page.query_params
    checked(page.selectbox[0].set_value("warner").run())
    assert page.query_params["made"] in ("warner", ["warner"])
    assert "Warner" in page.selectbox[0].options[page.selectbox[0].index]


def test_warner(tmp_path):
    page = typed(opened("warner"), typed=YES_NO, p="0.2")
    same_files(held(page), tmp_path)
    assert (
        "“yes” has a share of 26.7% by Inv and by MLE, about 267 of these 1,000 people; the 95% interval of Inv is "
        "22.5% to 30.8%. That is more than chance alone would make it." in said(page)
    )
    checked(one(page.button_group, "Whose shares").set_value("population").run())
    found = analyse([360, 640], Channel.warner(0.2), users="sampled")
    assert f"{100 * found.interval.low[1]:.3g}% to {100 * found.interval.high[1]:.3g}%" in said(page)
    chosen(page, "selectbox", "Which answer means yes?", "no")  # "no", for somebody who exchanged them
    assert "“no” has a share" in said(page)


def test_a_wrong_table_is_told_above_the_answer():
    page = typed(opened("warner"), typed="yes, 995\nno, 5", p="1/4")
    assert "hardly come from what is stated" in page.error[0].value
    page = typed(page, p="1/400")
    assert not page.error


def test_bits_in_columns(tmp_path):
    page = typed(given(opened("unary"), CSV), epsilon="1.5")
    page = chosen(page, "button_group", "Encoding", "oue")
    found = analyse(BITS.sum(axis=0), UnaryEncoding(3, 1.5, True), n=500, bits=(BITS, np.ones(500)))
    order = np.argsort(-found.estimates["mle"])
    for name, key in (("Inv %", "inv"), ("InvP %", "inv_p"), ("MLE %", "mle")):
        assert shown(page)[name] == pytest.approx((100 * found.estimates[key][order]).tolist(), abs=1e-6)
    same_files(held(page), tmp_path, CSV)


def test_the_number_of_ones_alone_has_no_mle():
    ones = "category,ones\n" + "".join(f"{i + 1},{one}\n" for i, one in enumerate(BITS.sum(axis=0).tolist()))
    page = entered(given(opened("unary"), ones), epsilon="1.5")
    assert "To compare groups, analyse the rows of each group alone" in said(page)
    chosen(page, "number_input", "Reports N", 500)
    assert "MLE %" not in shown(page)
    assert "MLE needs the bits of every report" in said(page)
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
        ("table", {"typed": YES_NO, "table": "0.9 0.2\n0.5 0.5"}, "Row 1 sums to 1.1, not to 1"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(made, texts, sentence):
    """One of each kind; all: tests/core/test_reports_protocol_fit.py, and of the readers in tests/io."""
    page = typed(opened(made), **texts)
    (error,) = page.error
    assert sentence in error.value.replace("\\", "")
    assert "<" not in error.value.replace("\\<", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("yes, 0\nno, 0", "All the numbers are zero: write how many people gave each answer."),
        ("yes, 40%\nno, 60%", "Line 1 has the share “40%”: write how many people gave that answer."),
        ("yes, 0,234\nno, 0,766", "0,234"),
    ],
)
def test_typed_numbers_that_are_none_are_told_and_no_column_is_named(text, sentence):
    with pytest.raises(UnreadableFile) as told:
        read_typed(text)
    assert sentence in str(told.value)
    assert "olumn" not in str(told.value)


def test_what_is_still_to_be_entered_is_no_error_until_it_is_to_be_analysed():
    page = entered(opened("forced"), typed=YES_NO)
    assert not page.error
    assert [box.value.replace("\\", "") for box in page.info] == [
        "Say for each answer how often the die asked for it: 0 where it never did."
    ]
    assert "how often the die asked for it" in analysed(page).error[0].value
    page = entered(page, forced_yes="0", forced_no="2")
    assert "2 is not between 0 and 1" in page.error[0].value
    assert not page.info


def test_names_from_a_file_are_shown_literally():
    page = typed(opened("table"), typed="**<b>x</b>**, 70\n=1+1, 30", table="0.9 0.1\n0.2 0.8")
    texts = "\n".join(box.value for box in (*page.markdown, *page.caption))
    assert "<b>" not in texts.replace("\\<b\\>", "")


def test_every_design_can_be_chosen_and_says_what_it_is():
    for made, design in DESIGNS.items():
        assert design.about.split(".")[0].replace("*", "") in said(opened(made)).replace("*", "")
        assert made == "k_rr" or made in {*designs._COUNTED, "unary"}


def test_reports_belong_to_columns_and_estimates_to_rows():
    """Columns in another order than the rows, and columns of other names, as many as rows."""
    page = typed(opened("table"), typed=YES_NO, table=",yes,no\nno,0.2,0.8\nyes,0.9,0.1")
    table = shown(page)
    assert dict(zip(table["Category"], table["Reports"], strict=True)) == {"yes": 640, "no": 360}
    swapped = "x, 500\ny, 300\nz, 200"
    page = typed(opened("table"), typed=swapped, table=",x,y,z\nA,.8,.1,.1\nB,.1,.8,.1\nC,.1,.1,.8")
    results = held(page)
    assert "reports={'x': 500, 'y': 300, 'z': 200}" in report_files.script(results)
    assert "names=['A', 'B', 'C']" in report_files.script(results)
    assert results.columns()["reports"] == [None] * 3
    assert [button.label for button in page.get("download_button")].count("Reports (CSV)") == 1


def test_nothing_is_computed_of_a_table_or_a_number_that_nobody_stated():
    page = typed(opened("table"), typed="x, 500\ny, 300\nz, 200")
    assert not charts(page)
    assert "Write the table, or choose a file" in page.info[0].value
    page = typed(page, table="0.9 0.2 0\n0.5 0.5 0\n0 0 1")
    assert not charts(page)
    page = typed(page, table="0.9 0.1 0\n0.1 0.8 0.1\n0 0.1 0.9")
    assert len(charts(page)) == 1
    page = entered(given(opened("unary"), "category,ones\na,640\nb,400\nc,300\n"), epsilon="1")
    assert one(page.number_input, "Reports N").value is None
    assert not page.error
    assert not charts(page)
    assert "Say how many reports there are" in page.info[0].value


@pytest.mark.parametrize(
    ("made", "name", "texts", "column", "asked", "share"),
    [
        ("warner", "warner_with_NA.csv", {"p": "0.7"}, "answer", "Leave out (not categories)", None),
        ("warner", "warner_yes_variants.csv", {"p": "0.7"}, "answer", "Count as another name", None),
        ("warner", "warner_z_Pi.csv", {"p": "0.7"}, "z", "", 45.0),
        ("forced", "region_cross.csv", {"forced_yes": "0", "forced_no": "1/6"}, "answer", "", None),
    ],
)
def test_files_of_other_designs_go_through_the_same_steps(made, name, texts, column, asked, share):
    """The columns have their boxes, what was understood is told, odd names are asked about."""
    page = uploaded(made, name)
    (columns,) = [box for box in page.selectbox if box.label in ("Report column", "Category column")]
    # Whichever is suggested, another one can be chosen.
    columns.select(next(option for option in columns.options if column in option))
    checked(page.run())
    assert any("Understood" in box.value for box in page.success)
    odd = [box for box in page.multiselect if "groups" not in box.label]
    assert [box.label for box in odd] == ([asked] if asked else [])
    for box in odd:
        box.set_value(box.options)
    results = held(typed(checked(page.run()), **texts))
    assert (results.analysis.k, results.used.stem) == (2, name.removesuffix(".csv"))
    assert results.used.source.split("”")[0] in said(page)
    assert repr(results.used.source) in report_files.script(results)
    if share:
        assert 100 * results.analysis.estimates["inv"][1] == pytest.approx(share, abs=0.05)


def test_what_is_typed_keeps_its_order_its_thousands_and_numbers_as_names():
    answers, table = case("typed_low_medium_high.txt").decode().split("\n\ntable:\n")
    found = held(typed(opened("table"), typed=answers, table=table))
    assert found.used.labels == ("low", "medium", "high")
    assert found.used.counts_by_category.tolist() == [500, 300, 200]
    assert (100 * found.analysis.estimates["inv"]).round(1).tolist() == [60.4, 16.7, 22.9]
    results = held(typed(opened("warner"), typed=case("typed_thousands.txt").decode(), p="0.7"))
    assert results.analysis.n == 3579
    assert 100 * results.analysis.estimates["inv"][1] == pytest.approx(11.2, abs=0.05)
    numbers = case("pram_numeric_names.csv").decode()
    found = held(typed(opened("table"), typed="1, 1200\n2, 2500\n3, 3300", table=numbers))
    assert found.used.labels == ("1", "2", "3")
    assert found.used.counts_by_category.tolist() == [1200, 2500, 3300]


def test_one_bit_leads_to_warner_with_the_file():
    page = uploaded("unary", "boolean_rappor_bits.csv")
    assert "one bit is Warner's design" in page.error[0].value
    checked(one(page.button, "Go on with Warner's two questions").click().run())
    assert page.query_params["made"] in ("warner", ["warner"])


def test_rappor_with_both_coins():
    """Its ones fit no epsilon of the basic one: far too many in all."""
    page = uploaded("unary", "rappor_fpq_ones.csv")
    assert "Understood: 6 rows, 6 names, 10,596 ones" in said(page)
    checked(one(page.number_input, "Reports N").set_value(3000).run())
    page = typed(page, epsilon="0.537")
    assert "hardly come from what is stated" in page.error[0].value
    one(reopened(page).button_group, "Encoding").set_value("fpq")
    page = typed(checked(page.run()), f="0.5", p="0.5", q="0.75")
    assert not page.error
    found = held(page)
    assert (100 * found.analysis.estimates["inv"]).round(1).tolist() == [45.7, 32.9, 15.3, 9.2, 24.9, -2.5]
    assert typed(page, p="0.8").error[0].value.replace("\\", "").startswith("p = 0.8 and q = 0.75 cannot be")


def test_a_total_is_no_category_of_the_ones_either(tmp_path):
    page = typed(uploaded("unary", "total_ja.csv"), epsilon="2")
    assert not page.multiselect
    chosen(page, "number_input", "Reports N", 20_000)
    assert sorted(shown(page)["Ones"], reverse=True) == [12345, 8001, 6200, 5100, 4990]
    assert "“合計” (36,636) is a total and no category: it was left out." in said(page)
    same_files(held(page), tmp_path, case("total_ja.csv").decode(), "total_ja.csv")


def test_what_stays_in_use_is_told_of_those_it_was_worked_out_for():
    page = typed(opened("warner"), typed="yes, 60\nno, 40", p="0.9")
    assert "of these 100 people" in said(page)
    page = typed(page, p="2")
    assert "stays in use" in said(page)
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


def test_where_everybody_reports_alike_the_interval_still_has_a_width():
    """19 of "a" and one of "b" would report like this in one collection of five: 95% has to be in it."""
    found = analyse([20, 0, 0], Channel.forced_response([0.2, 0.0, 0.0]))
    low, high = found.interval.low, found.interval.high
    assert low[0] < 0.95 < high[0]
    assert (high - low > 0.01).all()


def of_columns(header: str, *columns: Any) -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def test_columns_of_0_and_1_about_the_person_can_be_left_out(tmp_path):
    """“female” was called the most frequent category, and nothing on the page could take it out."""
    text = of_columns("female,tall,bus,car,train", [1, 0] * 250, [1, 1, 0, 0] * 125, *BITS.T)
    page = entered(given(opened("unary"), text), epsilon="1.5")
    box = one(page.multiselect, "Leave out (about the person)")
    assert (box.options, box.value) == (["female", "tall", "bus", "car", "train"], ["female"])
    assert "“tall”, “bus”, “car”, “train”, a category each: K = 4. 500 reports." in said(page)
    box.set_value(["female", "tall"])
    found = held(analysed(checked(page.run())))
    assert found.used.labels == ("bus", "car", "train")
    wanted = analyse(BITS.sum(axis=0), PROTOCOL, n=500, bits=(BITS, np.ones(500)))
    np.testing.assert_allclose(found.analysis.estimates["mle"], wanted.estimates["mle"], atol=1e-8)
    same_files(found, tmp_path, text)


STRINGS = ["".join(map(str, row)) for row in BITS.tolist()]


def test_bit_strings_beside_columns_of_0_and_1_are_the_reports(tmp_path):
    """Shown: “Most frequent: urban, 78.8%”."""
    text = of_columns("new_client,urban,week,bits", [0, 1] * 250, [1, 1, 0, 1] * 125, [3] * 500, STRINGS)
    page = entered(given(opened("unary"), text), epsilon="1.5")
    assert one(page.selectbox, "The reports are in").value is False
    assert one(page.selectbox, "Report column").value == 3
    analysed(page)
    assert sorted(shown(page)["Ones"]) == sorted(BITS.sum(axis=0).tolist())
    same_files(held(page), tmp_path, text)
    page = entered(given(opened("unary"), text), epsilon="1.5")
    checked(one(page.selectbox, "The reports are in").set_value(True).run())
    one(page.selectbox, "Each row counts").set_value("week")
    analysed(checked(page.run()))
    assert sorted(shown(page)["Ones"]) == [750, 1125]


def test_questions_lead_to_every_design_by_its_name():
    def ends(answers):
        return {key for _, *on in answers for key in ([on[0]] if len(on) == 1 else ends(on[1]))}

    assert ends(WHICH[1]) == set(DESIGNS)
    page = opened("k_rr")
    for question, given_answer in (
        ("What did a person report?", "Yes or no"),
        ("What did chance decide?", "Whether the question was answered, or an innocent one"),
    ):
        checked(one(page.radio, question).set_value(given_answer).run())
    assert "Unrelated question." in said(page)
    press(page, "Take this one")
    assert page.query_params["made"] in ("unrelated", ["unrelated"])
    assert one(page.button, "Take this one").disabled
