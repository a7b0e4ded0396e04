"""Collected reports in a browser: from the files to every download, hostile names, and a run that is stopped."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
from playwright.sync_api import expect

from rr_core import RandomizedResponse
from rr_core.plain_text import csv_cell
from rr_core.reports.analysis import analyse
from tests.browser.files import HOSTILE, hostile_file, real_file
from tests.browser.lab import PATIENCE, WINDOW
from tests.browser.server import ROOT
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
def test_from_a_real_file_to_every_download(open_lab, profiles, tmp_path):
    name = "adult_native_country.csv"
    labels, counts, mechanism = randomised(name)
    lab = open_lab("/your_reports")
    give(lab, name, as_csv(labels, counts))
    say(lab, "3", "All of them are in the files")
    lab.page.set_viewport_size({"width": 390, "height": 844})
    finish(lab, "Analyse these reports")
    assert lab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0  # the answer
    lab.page.set_viewport_size(WINDOW)
    found = analyse(counts, mechanism)
    assert f"{counts.sum():,} reports, K = {len(labels):,}, ε = 3" in lab.words()
    assert lab.chart("your_reports").count() == lab.chart("reports_floor").count() == 1
    turn_to(lab, "Does this ε fit?")
    assert "against ε = 3" in lab.words()
    turn_to(lab, "Files")

    table = list(csv.DictReader(io.StringIO(lab.download("Table (CSV)").decode("utf-8-sig"), newline="")))
    assert [row["category"] for row in table] == [csv_cell(label) for label in labels]
    for column in ("inv", "inv_n", "inv_p", "mle_star"):
        assert [float(row[column]) for row in table] == found.estimates[column].tolist()
    parquet = pq.read_table(io.BytesIO(lab.download("Table (Parquet)")))
    assert parquet["category"].to_pylist() == labels
    assert parquet["inv_high_all_cut"].to_numpy().tolist() == [
        float(row["inv_high_all_cut"]) for row in table
    ]
    facts = json.loads(lab.download("Everything (JSON)"))
    assert facts["settings"]["epsilon"] == EPSILON
    with lab.rerun():
        lab.page.get_by_role("radio", name="Their population").click(delay=80)
    other = json.loads(lab.download("Everything (JSON)"))
    assert other["settings"]["target"] == "population"
    assert other["fit"] == facts["fit"] is not None
    top = int(counts.argmax())

    report = tmp_path / "report.html"
    report.write_bytes(lab.download("Report (HTML)"))
    must_open_offline(report, profiles(), labels[top])

    (tmp_path / name).write_bytes(as_csv(labels, counts))
    assert not lab.page.get_by_text("Categories (TXT)").count()  # the script needs none
    (tmp_path / "recompute.py").write_bytes(lab.download("Script (Python)"))
    run = subprocess.run(
        [sys.executable, "recompute.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert f"{found.estimates['mle_star'][top]:.10g}"[:9] in run.stdout, run.stdout[:3000]


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


def nothing_came_alive(lab) -> None:
    """No name became a picture, a frame or a link."""
    main = lab.page.get_by_test_id("stMain")
    assert main.locator("img, iframe").count() == 0
    assert main.locator("a[href*=evil i], a[href*=javascript i]").count() == 0


def test_hostile_names_stay_names(open_lab):
    lab = open_lab("/your_reports")
    give(lab, "<b>evil</b> [x](http://evil.example).csv", hostile_file())
    say(lab, "ln 5", "All of them are in the files")
    lab.press("Analyse these reports")
    assert "<b>evil</b>" in lab.words()
    assert "<img src=x" in lab.words()  # the most reported one, in the answer
    nothing_came_alive(lab)
    turn_to(lab, "Files")
    rows = list(csv.DictReader(io.StringIO(lab.download("Table (CSV)").decode("utf-8-sig"), newline="")))
    assert not any(row["category"].startswith(("=", "+", "@")) for row in rows)
    assert len(rows) == len(HOSTILE)
    lab.press("Other reports or settings")
    before = lab.figure("your_reports")
    give(lab, "broken.csv", b"category,count\na,5\nb,-4\n")
    assert re.search(r"Line 3.*negative.*stays in use", " ".join(lab.alerts()), re.DOTALL)
    assert lab.figure("your_reports") == before


def test_stopped_simulations_are_kept_and_can_be_run_again(open_lab):
    lab = open_lab("/your_reports?dist=zipf&k=50000&s=1.1&eps=4&n=1000000&seed=3")
    lab.page.get_by_role("button", name="Use simulated reports", exact=True).click(delay=80)
    expect(lab.page.get_by_test_id("stProgress")).to_contain_text(
        re.compile(r"\d+ of 1,000 simulated"), timeout=PATIENCE
    )
    with lab.rerun():
        lab.page.locator(".st-key-your_reports_stop button").click(delay=80)
    assert lab.chart("your_reports").count() == 1
    assert lab.page.get_by_test_id("stProgress").count() == 0
    assert lab.page.get_by_role("button", name="Simulate 1,000 collections").count() == 1


def test_a_new_answer_is_in_sight_and_the_form_goes_at_once(open_lab):
    """The form stood faded, in columns one letter wide, as long as ε was tested, and the headline above the window."""
    rows = "answer\n" + "".join(f"{answer}\n" for answer in ("bus", "car", "train", "bus") * 200)
    lab = open_lab("/your_reports")
    give(lab, "rows.csv", rows.encode())
    say(lab, "1", "All of them are in the files")
    finish(lab, "Analyse these reports")
    lab.press("Other reports or settings")
    say(lab, "0.5", "All of them are in the files")
    lab.page.get_by_role("button", name="Analyse these reports").scroll_into_view_if_needed()
    lab.page.evaluate(_WATCH_WIDTH)
    with lab.rerun():
        lab.page.get_by_role("button", name="Analyse these reports").press("Enter")
    assert lab.page.evaluate("window.narrowest") > 250
    assert lab.page.locator("[class*=st-key-answer]").bounding_box()["y"] >= 0
    expect(lab.page.locator("[class*=st-key-answer]")).to_be_focused()
    lab.must_be_fine()


def test_after_a_result_the_form_opens_as_it_was_and_the_sheet_of_a_workbook_is_chosen(open_lab):
    """The browser shows a new uploader then; what the server holds of the file is read again."""
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
    lab.press("Analyse these reports")
    lab.press("Other reports or settings")
    assert "Understood: 240 rows" in lab.words()
    assert lab.page.get_by_text("town", exact=True).count()
    lab.press("Cancel")
    lab.page.get_by_role("tab", name="Groups").click(delay=80)
    assert "2 groups, by town." in lab.words()
    lab.must_be_fine()
