"""The page about collected reports: from files, odd names and privacy to the answer; and hostile files."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.reports import k_rr, session, upload
from rr_core import RandomizedResponse
from rr_core.io import Listed, Size
from rr_core.io.report_results import ReportSettings
from rr_core.reports.analysis import analyse
from rr_core.reports.designs import DESIGNS, Unclear
from tests.app.hostile_reports import CASES, Hostile
from tests.app.opening import ROOT, charts, checked
from tests.app.reports import SEEN, answered, give, one, opened, press, said
from tests.io.test_odd_names import COUNTS as ILL_COUNTS
from tests.io.test_odd_names import ODD
from tests.sentences import holds, recomputes

LABELS = ["bus", "car", "train", "bicycle", "on foot", "<b>other</b>"]
USERS = np.array([900, 2100, 700, 300, 0, 0])
MECHANISM = RandomizedResponse(6, 2.0)
COUNTS = MECHANISM.randomize_histogram(USERS, 4)
TABLE = "category,count\n" + "".join(
    f"{label},{count}\n" for label, count in zip(LABELS, COUNTS, strict=True)
)
NEGATIVE = "category,count\na,1500\nb,1000\nc,565\nd,325\ne,310\nf,300\n"  # fewer than N q = 323 in two


@pytest.fixture(scope="module")
def finished() -> AppTest:
    """A page that has analysed the table, its simulations done."""
    return answered(give(opened(), ("travel.csv", TABLE)))


@pytest.mark.slow
def test_answer_table_and_verdict_are_those_of_the_core(finished):
    """The sentences themselves: tests/app/test_analysis_sentences.py."""
    found, text = analyse(COUNTS, MECHANISM), said(finished)
    assert (
        f"**4,000 reports, K = 6, ε = 2.** {int(found.above.above.sum())} of the 6 shares are larger" in text
    )
    table = finished.dataframe[0].value
    order = np.argsort(-COUNTS, kind="stable")
    assert list(table["Category"]) == [LABELS[i] for i in order]
    np.testing.assert_array_equal(table["Reports"], COUNTS[order])
    np.testing.assert_allclose(table["MLE* %"], 100 * found.estimates["mle_star"][order], rtol=1e-15)
    wrong = said(answered(give(opened(), ("travel.csv", TABLE)), privacy="0.9"))
    assert "The test rejects ε = 0.9" in wrong
    assert "To fit, ε must be at least about" in wrong


def test_of_many_categories_intervals_hold_for_all_at_once():
    """Of the 20 largest of 5,002 none of the intervals made for one category held its share."""
    rows = "category,count\n" + "".join(f"c{i},{90 + 7 * (i % 5)}\n" for i in range(51))
    page = answered(give(opened(), ("many.csv", rows)))
    assert one(page.button_group, "Intervals hold for").value == "All at once"
    assert "take those that hold for all at once" not in said(page)
    one(page.button_group, "Intervals hold for").set_value("Each category")
    assert "take those that hold for all at once" in said(checked(page.run()))


def test_reports_that_the_server_let_go_of_are_asked_for_again():
    page = answered(give(opened(), ("travel.csv", NEGATIVE)))
    page.session_state["_held"].let_go()
    assert "The server let go of your file" in said(checked(page.run()))
    again = answered(give(page, ("travel.csv", NEGATIVE)))
    assert "The server let go of your file" not in said(again)


@holds("The analysis needs only how often each category was reported.")
@pytest.mark.slow
def test_raw_rows_in_two_files_and_a_list_of_categories():
    rows = [label for label, count in zip(LABELS, COUNTS, strict=True) for _ in range(count)]
    page = give(
        opened(),
        ("monday.txt", "\n".join(["report", *rows[:1500]])),
        ("tuesday.txt", "\n".join(["report", *rows[1500:]])),
    )
    checked(one(page.radio, SEEN).set_value("listed").run())
    one(page.text_area, "or all categories here, one per line").set_value("\n".join([*LABELS[:5], "tram"]))
    answered(page, domain="listed")
    text = said(page)
    inside = int(COUNTS[:5].sum())
    assert f"**{inside:,} reports, K = 6, ε = 2.**" in text
    assert f"{COUNTS[5]:,} reports are left out" in text
    assert "other" in text


def test_what_is_missing_or_impossible_gets_its_sentence_and_settings_change_without_the_file():
    page = give(opened(), ("travel.csv", TABLE))
    for privacy, domain, sentence in (
        ("2", None, "Say which categories people could choose from"),
        ("", "seen", "Say how private the reports are"),
        ("two", "seen", "is not a number above 0"),
    ):
        answered(page, privacy, domain)
        assert sentence in page.error[0].value.replace("\\", "")
        assert not charts(page)
    answered(page, "ln 5")
    press(page, "Other reports or settings")
    assert one(page.text_input, "Value of ε").value == "ln 5"
    one(page.file_uploader, "Report files").set_value([])
    answered(page, "2")
    assert "4,000 reports, K = 6, ε = 2.**" in said(page)


def test_ticked_rows_and_searched_names_are_drawn(finished):
    one(finished.text_input, "Find categories").set_value("bus, train")
    page = checked(finished.run())
    assert list(page.dataframe[0].value["Category"]) == ["bus", "train"]
    one(page.text_input, "Find categories").set_value("nobody has this")
    assert "No category has such a name" in said(checked(page.run()))
    checked(one(page.text_input, "Find categories").set_value("").run())


def offer(page, case: Hostile) -> None:
    files = [(source.name, bytes(source.data), "") for source in case.files]
    checked(one(page.file_uploader, "Report files").set_value(files).run())
    if case.options:
        checked(one(page.selectbox, "The files have").set_value(case.options["layout"]).run())
    kind = {Size: "size", Listed: "listed"}.get(type(case.domain), "seen")
    for radio in page.radio:
        if radio.label == SEEN:
            radio.set_value(kind)
    checked(page.run())
    for box in page.number_input:
        box.set_value(case.domain.k)
    for box in page.text_area:
        if box.key == "reports_list":
            box.set_value("\n".join(case.domain.labels))
    for button in page.button:
        if button.label == "Analyse these reports":
            button.click()
    checked(page.run())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gzip bomb", "list of something else", "one column of counts"])
def test_refused_file_says_why_and_what_was_there_stays(name, finished):
    """Each kind once; the sentences themselves are those of tests/io/test_reports_rejections.py."""
    press(finished, "Other reports or settings")
    before = charts(finished)[0]
    offer(finished, CASES[name])
    (box,) = finished.error
    sentence = box.value.replace("\\", "").replace("\u2060", "")
    assert CASES[name].refused in sentence
    assert sentence.endswith("What was shown before stays in use.")
    assert said(finished).count("4,000 reports, K = 6") == 1
    assert charts(finished)[0] == before
    press(finished, "Cancel")
    assert charts(finished)[0] == before


def as_rows(counts):
    return "id,ill\n" + "".join(
        f"{i},{name}\n" for i, name in enumerate(name for name, count in counts.items() for _ in range(count))
    )


def prepared(text, privacy=None, domain="seen", kind=None, name="ills.csv"):
    """A page with this file and settings, before the button is pressed."""
    page = give(opened(), (name, text))
    if kind:
        checked(one(page.button_group, "Privacy given as").set_value(kind).run())
    if privacy:
        (box,) = [box for box in page.text_input if box.label.startswith("Value of")]
        box.set_value(privacy)
    if domain:
        one(page.radio, SEEN).set_value(domain)
    return checked(page.run())


def test_what_was_understood_stands_before_the_button():
    page = give(opened(), ("ills.csv", as_rows(ILL_COUNTS) + ",\n\n"))
    text = said(page)
    total = sum(ILL_COUNTS.values())
    assert f"Understood: {total:,} rows, 8 names, {total:,} reports, in the column “ill”." in text
    assert "Text in UTF-8, separated by comma, with a header." in text
    assert f"Left out: 1 row (no category name), the first in line {total + 2:,}." in text
    first = page.dataframe[0].value
    assert list(first.columns) == ["id", "ill"]
    assert first.iloc[0].tolist() == ["0", "influenza"]
    assert not charts(page)


def test_odd_names_are_named_before_anything_is_computed_and_epsilon_is_not_blamed():
    page = prepared(as_rows(ILL_COUNTS | ODD), "1")
    text = said(page)
    assert "8 names look odd" in text
    leave, twins = (
        one(page.multiselect, label) for label in ("Leave out (not categories)", "Count as another name")
    )
    assert (len(leave.value), len(twins.value)) == (5, 3)
    assert any("NA (41 reports): no answer" in option for option in leave.options)
    left = "left out: “NA” (41), “-” (9), “NaN” (6), “null” (3), “typo” (1)"
    assert f"{sum(ILL_COUNTS.values()) + 12:,} reports over K = 8 categories ({left}), at ε = 1" in text
    assert not charts(page)
    press(page, "Analyse these reports")
    text = said(page)
    assert f"**{sum(ILL_COUNTS.values()) + 12:,} reports, K = 8, ε = 1.**" in text
    assert "60 reports are left out, under names that are not counted as categories: NA" in text
    assert "12 reports of 3 names were counted under another name" in text
    press(page, "Other reports or settings")
    leave, twins = (
        one(page.multiselect, label) for label in ("Leave out (not categories)", "Count as another name")
    )
    leave.set_value([i for i in leave.value if "NA (" not in leave.options[i]])
    twins.set_value([])
    press(page, "Analyse these reports")
    # Now the names are what does not fit, and the verdict says so.
    assert "K = 12, ε = 1.**" in said(page)
    assert "The test rejects ε = 1: “NA” (41)" in said(page)
    assert "leave such names out" in said(page)


@holds(
    "Many columns hold nothing but 0 and 1: these look like reports of unary encoding, one column per category."
)
def test_bits_are_not_offered_as_reports():
    bits = np.random.default_rng(3).integers(0, 2, (40, 5))
    text = "a,b,c,d,e\n" + "".join(",".join(map(str, row)) + "\n" for row in bits)
    page = give(opened(), ("bits.csv", text))
    (warning,) = page.warning
    assert (
        "unary encoding, one column per category. Then choose “Unary encoding (RAPPOR)” above"
        in warning.value
    )
    assert DESIGNS["unary"].name == "Unary encoding (RAPPOR)"
    assert not [button for button in page.button if button.label == "Analyse these reports"]
    one(page.selectbox, "Report column").set_value(2)
    assert "2 names, 40 reports" in said(checked(page.run()))


def test_p_below_one_half_is_that_of_warners_two_questions():
    """62% say yes although only 20% have to: 0.3 · 0.2 + 0.7 · 0.8."""
    text = "answer\n" + "yes\n" * 620 + "no\n" * 380
    page = prepared(text, "0.3", kind="p, true report")
    press(page, "Analyse these reports")
    (box,) = page.error
    assert "p = 0.3 is below 1/2" in box.value.replace("\\", "")
    assert "Choose “Warner's two questions”" in box.value.replace("\\", "")
    checked(one(page.selectbox, "How were the reports made?").set_value("warner").run())
    checked(one(page.text_input, "Chance that a person was asked “Are you …?”").set_value("0.3").run())
    press(page, "Analyse these reports")
    shown = page.dataframe[0].value.set_index("Category")
    assert shown["Inv %"].to_dict() == pytest.approx({"no": 80.0, "yes": 20.0})


def test_the_chance_of_a_uniform_redraw():
    page = prepared(as_rows(ILL_COUNTS), "120%", kind="r, uniform redraw")
    assert "lies between 0 and 1" in press(page, "Analyse these reports").error[0].value
    one(page.text_input, "Value of r").set_value("25%")
    mechanism = RandomizedResponse.from_redraw(8, 0.25)
    press(checked(page.run()), "Analyse these reports")
    assert f"K = 8, ε = {mechanism.epsilon:.4g}.**" in said(page)
    press(page, "Other reports or settings")
    assert one(page.text_input, "Value of r").value == "25%"


def test_who_comes_back_to_a_session_that_ended_is_told_that_the_reports_are_gone():
    page = opened()
    assert "reports" not in page.query_params
    give(page, ("survey.csv", TABLE))
    checked(page.run())
    assert page.query_params["reports"] == "here"
    assert session.LOST not in said(page)
    after = AppTest.from_file(str(ROOT / "pages" / "your_reports.py"), default_timeout=60)
    after.query_params["reports"] = "here"
    assert session.LOST in said(checked(after.run()))
    assert "reports" not in after.query_params
    give(after, ("survey.csv", TABLE))
    assert session.LOST not in said(after)
    checked(after.run())
    assert after.query_params["reports"] == "here"


def test_privacy_beyond_the_range_of_epsilon_is_told():
    beyond = "is too close to an end of its range: ε would not lie between 1·10⁻⁶ and 700."
    for kind, typed, k, sentence in (
        ("epsilon", "700.5", 3, "ε = 700.5 is too large: it can be up to 700."),
        ("p", "0.2500001", 4, f"This p {beyond}"),
        ("redraw", "0.99999999", 4, f"This r {beyond}"),
    ):
        with pytest.raises(Unclear, match=re.escape(sentence)):
            k_rr.mechanism_of(ReportSettings(typed, privacy_kind=kind), k)


@recomputes(upload._pick_columns, of="^Several columns")
def test_another_file_starts_from_its_own_columns():
    """The column that was chosen of the first file stayed chosen, though in the second one of that name holds others."""
    first = "town,q1,q2\n" + "Oslo,yes,a\nRome,no,b\nOslo,no,a\n" * 40
    page = give(opened("warner"), ("first.csv", first))
    one(page.selectbox, "Report column").set_value(1)
    one(checked(page.run()).multiselect, "Compare groups (optional)").set_value(["town"])
    text = said(checked(page.run()))
    assert "Understood: 120 rows, 2 names, 120 reports, in the column “q1”." in text
    page = give(page, ("second.csv", first.replace("yes", "10").replace("no", "20")))
    assert one(page.selectbox, "Report column").value is None
    assert "Several columns may hold the reports" in said(page)
    one(page.selectbox, "Report column").set_value(2)
    assert one(checked(page.run()).multiselect, "Compare groups (optional)").value == []
    # Of two columns of names the first was taken, and its counts were those of the groups.
    page = give(page, ("crossed.csv", "sex,choice,n\nf,yes,70\nf,no,30\nm,yes,40\nm,no,60\n"))
    assert one(page.selectbox, "Category column").value is None
    assert "Several columns may hold the categories" in said(page)
    one(page.selectbox, "Category column").set_value(1)
    assert "200 reports, in the column “choice”, counted by “n”." in said(checked(page.run()))
