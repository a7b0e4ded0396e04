"""Collected reports in a browser: from a file to its downloads, hostile names, and the form that comes back."""

from __future__ import annotations

import csv
import io

import numpy as np
from playwright.sync_api import expect

from rr_core import RandomizedResponse
from rr_core.plain_text import csv_cell
from rr_core.reports.analysis import analyse
from tests.browser.files import HOSTILE, hostile_file, real_file
from tests.browser.lab import PATIENCE, PHONE, WINDOW
from tests.browser.test_uploads import MARKUP
from tests.io.workbook_files import excel_parts, excel_rows, zipped
from tests.sentences import holds

EPSILON = 3.0


def randomised(name: str) -> tuple[list[str], np.ndarray, RandomizedResponse]:
    """A real file's categories and the reports of its people."""
    rows = list(csv.DictReader(io.StringIO(real_file(name).decode("utf-8"))))
    mechanism = RandomizedResponse(len(rows), EPSILON)
    counts = mechanism.randomize_histogram([int(row["count"]) for row in rows], 8)
    return [row["category"] for row in rows], counts, mechanism


def as_csv(labels: list[str], counts: np.ndarray) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([("category", "count"), *zip(labels, counts.tolist(), strict=True)])
    return out.getvalue().encode("utf-8")


def give(lab, name: str, data: bytes) -> None:
    with lab.rerun():
        lab.page.locator(".st-key-reports_files input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": data}
        )


def say(lab, epsilon: str, domain: str) -> None:
    """Type the privacy and choose how the categories are known."""
    box = lab.page.get_by_role("textbox", name="Value of ε", exact=True)
    if box.input_value() != epsilon:
        box.fill(epsilon)
        with lab.rerun():
            box.press("Enter")
    choice = lab.page.get_by_role("radio", name=domain)
    if not choice.is_checked():
        with lab.rerun():
            choice.locator("xpath=ancestor::label").click(delay=80)


# The smallest width, in pixels, that the place for files has from now on.
_WATCH_WIDTH = """() => {
  window.narrowest = Infinity;
  const look = () => {
    const place = document.querySelector('.st-key-reports_files');
    if (place) window.narrowest = Math.min(window.narrowest, place.getBoundingClientRect().width);
    requestAnimationFrame(look);
  };
  look();
}"""


def turn_to(lab, tab: str) -> None:
    """Open a tab, which the page does not hear of."""
    lab.page.get_by_role("tab", name=tab).click(delay=80)


def finish(lab, button: str) -> None:
    """Press a button that starts simulations, and wait for their end: the page says what they say of epsilon."""
    lab.page.get_by_role("button", name=button, exact=True).click(delay=80)
    expect(lab.page.get_by_test_id("stAlert").filter(has_text="against ε")).to_be_attached(
        timeout=4 * PATIENCE
    )
    lab.settle()


@holds("This file holds everything it shows and loads nothing: it opens offline and sends nothing.")
def test_from_a_real_file_to_its_downloads(open_lab, profiles, tmp_path):
    """What the other files hold, and that the script runs: tests/app/test_reports_files.py and test_reports_script.py."""
    name = "adult_native_country.csv"
    labels, counts, mechanism = randomised(name)
    lab = open_lab("/your_reports")
    give(lab, name, as_csv(labels, counts))
    say(lab, "3", "All of them are in the files")
    lab.page.set_viewport_size(PHONE)
    finish(lab, "Analyse these reports")
    assert lab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0  # the answer
    lab.page.set_viewport_size(WINDOW)
    found = analyse(counts, mechanism)
    assert f"{counts.sum():,} reports, K = {len(labels):,}, ε = 3" in lab.words()
    assert lab.chart("your_reports").count() == lab.chart("reports_floor").count() == 1
    turn_to(lab, "Files")
    table = list(csv.DictReader(io.StringIO(lab.download("Table (CSV)").decode("utf-8-sig"), newline="")))
    assert [row["category"] for row in table] == [csv_cell(label) for label in labels]
    for column in ("inv", "inv_n", "inv_p", "mle_star"):
        assert [float(row[column]) for row in table] == found.estimates[column].tolist()
    report = tmp_path / "report.html"
    report.write_bytes(lab.download("Report (HTML)"))
    must_open_offline(report, profiles(), labels[int(counts.argmax())])


def must_open_offline(report, profile, word: str) -> None:
    """The report as a file, without a network: charts drawn, the word in its table, no complaint."""
    page, said = profile.new_page(), []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    profile.set_offline(True)
    try:
        page.goto(report.as_uri())
        expect(page.locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
        assert word in page.locator("table").first.inner_text()
    finally:
        profile.set_offline(False)
        page.close()
    assert said == []


def test_hostile_names_stay_names(open_lab):
    lab = open_lab("/your_reports")
    give(lab, "<b>evil</b> [x](http://evil.example).csv", hostile_file())
    say(lab, "ln 5", "All of them are in the files")
    lab.press("Analyse these reports")
    assert "<b>evil</b>" in lab.words()
    assert "<img src=x" in lab.words()  # the most reported one, in the answer
    assert lab.page.evaluate(MARKUP) == [0, 0, 0]
    turn_to(lab, "Files")
    rows = list(csv.DictReader(io.StringIO(lab.download("Table (CSV)").decode("utf-8-sig"), newline="")))
    assert not any(row["category"].startswith(("=", "+", "@")) for row in rows)
    assert len(rows) == len(HOSTILE)


def test_a_new_answer_is_in_sight_and_the_form_opens_as_it_was_with_the_sheet_of_a_workbook(open_lab):
    """The form stood faded, in columns one letter wide, as long as ε was tested, and the headline above the window.
    What the server holds of a file is read again: the browser shows a new uploader."""
    people = [[answer, town, 2.0] for answer in ("yes", "no", "no") for town in ("Oslo", "Rome")]
    rows = [["answer", "town", "weight"], *people * 40]
    book = zipped(
        excel_parts({"Info": excel_rows([["note"], *[["by phone"]] * 2]), "Data": excel_rows(rows)})
    )
    lab = open_lab("/your_reports?made=warner")
    give(lab, "two.xlsx", book)
    lab.choose("Sheet", "Data")
    box = lab.page.get_by_role("textbox", name="Chance that a person was asked")
    box.fill("0.7")
    with lab.rerun():
        box.press("Enter")
    lab.press("Analyse these reports")
    lab.press("Other reports or settings")
    assert "In use: two.xlsx" in lab.words()
    lab.choose("Compare groups (optional)", "town")
    lab.page.keyboard.press("Escape")
    lab.page.get_by_role("button", name="Analyse these reports").scroll_into_view_if_needed()
    lab.page.evaluate(_WATCH_WIDTH)
    with lab.rerun():
        lab.page.get_by_role("button", name="Analyse these reports").press("Enter")
    assert lab.page.evaluate("window.narrowest") > 250
    assert lab.page.locator("[class*=st-key-answer]").bounding_box()["y"] >= 0
    expect(lab.page.locator("[class*=st-key-answer]")).to_be_focused()
    turn_to(lab, "Groups")
    assert "2 groups, by town." in lab.words()
