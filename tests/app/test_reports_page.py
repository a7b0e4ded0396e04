"""The page about collected reports: from files to answer, verdict and advice; what it says of hostile files."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rr_core import RandomizedResponse
from rr_core.io import Listed, Size
from rr_core.reports.analysis import analyse
from tests.app.hostile_reports import CASES, Hostile
from tests.app.opening import ROOT, charts, checked

LABELS = ["bus", "car", "train", "bicycle", "on foot", "<b>other</b>"]
USERS = np.array([900, 2100, 700, 300, 0, 0])
MECHANISM = RandomizedResponse(6, 2.0)
COUNTS = MECHANISM.randomize_histogram(USERS, 4)
TABLE = "category,count\n" + "".join(
    f"{label},{count}\n" for label, count in zip(LABELS, COUNTS, strict=True)
)
NEGATIVE = "category,count\na,1500\nb,1000\nc,565\nd,325\ne,310\nf,300\n"  # fewer than N q = 323 in two


def opened() -> AppTest:
    return checked(AppTest.from_file(str(ROOT / "pages" / "your_reports.py"), default_timeout=60).run())


def said(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.success, page.error, page.warning, page.info)
    return "\n".join(box.value for kind in kinds for box in kind).replace("\\", "")


def one(kind, label: str):
    (found,) = [widget for widget in kind if widget.label == label]
    return found


def press(page: AppTest, label: str) -> AppTest:
    return checked(one(page.button, label).click().run())


def give(page: AppTest, *files: tuple[str, str]) -> AppTest:
    uploads = [(name, text.encode(), "text/csv") for name, text in files]
    one(page.file_uploader, "Report files").set_value(uploads)
    return checked(page.run())


def analysed(page: AppTest, privacy: str = "2", domain: str = "seen") -> AppTest:
    one(page.text_input, "Value of ε").set_value(privacy)
    one(page.radio, "Which categories could people choose from?").set_value(domain)
    return press(page, "Analyse these reports")


@pytest.fixture(scope="module")
def finished() -> AppTest:
    """A page that has analysed the table, its simulations done."""
    return analysed(give(opened(), ("travel.csv", TABLE)))


@pytest.mark.slow
def test_answer_and_table_are_those_of_the_core(finished):
    found = analyse(COUNTS, MECHANISM)
    text = said(finished)
    assert f"**4,000 reports, K = 6, ε = 2.** Of 6 categories {int(found.above.above.sum())} are told" in text
    share = found.estimates["inv"].max()
    assert f"“car”, has a share of {share * 100:.3g}% by Inv, about {round(4000 * share):,} of these" in text
    assert f"MLE* gives it {found.estimates['mle_star'].max() * 100:.3g}%." in text
    table = finished.dataframe[0].value
    order = np.argsort(-COUNTS, kind="stable")
    assert list(table["Category"]) == [LABELS[i] for i in order]
    np.testing.assert_array_equal(table["Reports"], COUNTS[order])
    np.testing.assert_allclose(table["MLE* %"], 100 * found.estimates["mle_star"][order], rtol=1e-15)
    np.testing.assert_allclose(table["p (Holm)"], found.above.adjusted[order], rtol=1e-15)
    assert "there is nothing to choose" in text
    assert [len(chart["alt"]) > 40 for chart in charts(finished)] == [True, True]


@pytest.mark.slow
def test_right_epsilon_fits_and_a_wrong_one_does_not(finished):
    assert "speaks against ε = 2" in said(finished)
    wrong = analysed(give(opened(), ("travel.csv", TABLE)), privacy="0.9")
    text = said(wrong)
    assert "The test rejects ε = 0.9" in text
    assert "plausible under ε of" in text


@pytest.mark.slow
def test_neither_target_nor_level_drops_anything_that_was_computed():
    page = analysed(give(opened(), ("travel.csv", NEGATIVE)))
    one(page.button_group, "Estimator").set_value("inv_p")
    checked(page.run())
    before = said(page)
    assert "finds nothing against ε = 2" in before
    (simulated,) = page.session_state["_your_reports_result"][1:]
    for label, value in (("Whose shares", "population"), ("Confidence", 0.9), ("Whose shares", "users")):
        one(page.button_group, label).set_value(value)
        text = said(checked(page.run()))
        assert "finds nothing against ε = 2" in text
        assert "from 1,000 simulated collections" in text
        assert "InvP gives it" in text
        assert len(charts(page)) == 2
        assert not [button for button in page.button if button.label.startswith("Simulate ")]
        assert page.session_state["_your_reports_result"][1] is simulated


@pytest.mark.slow
def test_raw_rows_in_two_files_and_a_list_of_categories():
    rows = [label for label, count in zip(LABELS, COUNTS, strict=True) for _ in range(count)]
    page = give(
        opened(),
        ("monday.txt", "\n".join(["report", *rows[:1500]])),
        ("tuesday.txt", "\n".join(["report", *rows[1500:]])),
    )
    one(page.radio, "Which categories could people choose from?").set_value("listed")
    checked(page.run())
    one(page.text_area, "or all categories here, one per line").set_value("\n".join([*LABELS[:5], "tram"]))
    analysed(page, domain="listed")
    text = said(page)
    inside = int(COUNTS[:5].sum())
    assert f"**{inside:,} reports, K = 6, ε = 2.**" in text
    assert f"{COUNTS[5]:,} reports are left out" in text
    assert "other" in text


@pytest.mark.slow
def test_what_is_missing_or_impossible_gets_its_sentence_and_settings_change_without_the_file():
    page = give(opened(), ("travel.csv", TABLE))
    for privacy, domain, sentence in (
        ("2", None, "Say which categories people could choose from"),
        ("", "seen", "Say how private the reports are"),
        ("two", "seen", "is not a number above 0"),
        ("9999", "seen", "too large"),
    ):
        analysed(page, privacy, domain)
        assert sentence in "\n".join(box.value for box in page.error)
        assert not charts(page)
    analysed(page, "ln 5")
    press(page, "Other reports or settings")
    assert one(page.text_input, "Value of ε").value == "ln 5"
    one(page.file_uploader, "Report files").set_value([])
    analysed(page, "2")
    assert "4,000 reports, K = 6, ε = 2.**" in said(page)


@pytest.mark.slow
def test_p_instead_of_epsilon():
    page = give(opened(), ("travel.csv", TABLE))
    one(page.button_group, "Privacy given as").set_value("p, true report")
    checked(page.run())
    one(page.radio, "Which categories could people choose from?").set_value("seen")
    one(page.text_input, "Value of p").set_value("0.1")
    press(page, "Analyse these reports")
    assert "lies between 1/K" in "\n".join(box.value for box in page.error).replace("\\", "")
    for epsilon in (0.5, 2.0):  # p below and above one half
        one(page.text_input, "Value of p").set_value(repr(RandomizedResponse(6, epsilon).p))
        press(page, "Analyse these reports")
        assert f"K = 6, ε = {epsilon:g}.**" in said(page)
        press(page, "Other reports or settings")


def test_ticked_rows_and_searched_names_are_drawn(finished):
    one(finished.text_input, "Find categories").set_value("bus, train")
    page = checked(finished.run())
    assert list(page.dataframe[0].value["Category"]) == ["bus", "train"]
    one(page.text_input, "Find categories").set_value("nobody has this")
    assert "No category has such a name" in said(checked(page.run()))
    one(page.text_input, "Find categories").set_value("")
    checked(page.run())


def offer(page, case: Hostile) -> None:
    files = [(source.name, bytes(source.data), "") for source in case.files]
    one(page.file_uploader, "Report files").set_value(files)
    checked(page.run())
    if case.options:
        one(page.selectbox, "The files have").set_value(case.options["layout"])
        checked(page.run())
    kind = {Size: "size", Listed: "listed"}.get(type(case.domain), "seen")
    for radio in page.radio:
        radio.set_value(kind)
    checked(page.run())
    for box in page.number_input:
        box.set_value(case.domain.k)
    for box in page.text_area:
        box.set_value("\n".join(case.domain.labels))
    for button in page.button:
        if button.label == "Analyse these reports":
            button.click()
    checked(page.run())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["negative count", "gzip bomb", "two shapes", "list of something else", "one column of counts"]
)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["list in capitals", "mixed types", "markup", "emoji", "UTF-16", "very long names"]
)
def test_odd_but_good_file_is_read(name):
    page, case = press(opened(), "Use simulated reports"), CASES[name]
    assert "**2,000 reports, K = 12, ε = 1.**" in said(page)
    press(page, "Other reports or settings")
    offer(page, case)
    counts = case.mended or case.counts
    assert not page.error, page.error[0].value
    assert f"{sum(counts.values()):,} reports, K = {len(counts):,}" in said(page)
    shown = page.dataframe[0].value
    assert dict(zip(shown["Category"], shown["Reports"], strict=True)) == counts
