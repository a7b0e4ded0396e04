"""Broken and hostile files on the page itself: each gets its sentence and loses nothing, or is read."""

from __future__ import annotations

import pytest

from rr_core.io import Listed, Size
from tests.app.hostile_reports import CASES, Hostile
from tests.app.opening import charts, checked
from tests.app.test_your_reports_page import TABLE, analysed, give, one, opened, press, said

REFUSED = {name: case for name, case in CASES.items() if case.refused and not case.mended}
READ = {name: case for name, case in CASES.items() if case.mended or not case.refused}


@pytest.fixture(scope="module")
def page():
    """A page with an analysis in use, its panel open."""
    return press(analysed(give(opened(), ("travel.csv", TABLE))), "Other reports or settings")


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


@pytest.mark.parametrize("name", REFUSED)
def test_refused_file_says_why_and_what_was_there_stays(name, page):
    before, answer = charts(page)[0], said(page).count("4,000 reports, K = 6")
    offer(page, REFUSED[name])
    (box,) = page.error
    sentence = box.value.replace("\\", "").replace("\u2060", "")
    assert REFUSED[name].refused in sentence
    assert sentence.endswith("What was shown before stays in use.")
    assert charts(page)[0] == before
    assert said(page).count("4,000 reports, K = 6") == answer == 1


@pytest.mark.parametrize("name", READ)
def test_odd_but_good_file_is_read(name):
    page, case = opened(), READ[name]
    one(page.button, "Use simulated reports").click()
    checked(page.run())
    press(page, "Other reports or settings")
    counts = case.mended or case.counts
    if len(counts) < 2 and case.domain is None:
        return  # one category is no domain: refused by the page, see the test of domains
    offer(page, case)
    total = sum(counts.values())
    assert not page.error, page.error[0].value
    if counts:
        assert f"{total:,} reports, K = {len(counts):,}" in said(page)
        shown = page.dataframe[0].value
        assert dict(zip(shown["Category"], shown["Reports"], strict=True)) == counts
