"""Uploaded distributions: real files on every page, hostile names, and the link of an upload."""

from __future__ import annotations

import csv
import io
import re

import pytest

from rr_core.io.csv_files import csv_cell
from rr_core.populations import UPLOAD
from tests.browser.files import HOSTILE, hostile_file, real_file
from tests.browser.lab import LEAD, SCENARIO_PAGES

SMALL = b"fruit,count\napple,500\nplum,300\nfig,200\n"
MARKUP = """() => { const main = document.querySelector('[data-testid="stMain"]'); return [
  [...main.querySelectorAll('img, script, iframe, .katex')]
    .filter(e => !e.closest('[data-testid="stExpander"]') && !e.text?.includes('filmKeys')).length,
  [...document.querySelectorAll('a')].filter(a => /evil|javascript/.test(a.getAttribute('href') || '')).length,
  [...document.querySelectorAll('svg a')].filter(a => /evil|javascript/.test(a.outerHTML)).length ] }"""


def rows_of(lab):
    text = lab.download("Download data (CSV)").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("name", "k", "people", "top", "pages"),
    [
        ("kosarak_first_item_100k.csv", 41_270, 100_000, {"6": "18,5", "1": "7036"}, SCENARIO_PAGES),
        (
            "first_names_us_2023.csv",
            28_945,
            None,
            {"Liam": "20832", "Olivia": "15276"},
            ("Home", "Estimators"),
        ),
    ],
)
def test_real_file_draws_on_every_page(name, k, people, top, pages, open_lab):
    data = real_file(name)
    counts = {row["category"]: int(row["count"]) for row in csv.DictReader(io.StringIO(data.decode("utf-8")))}
    lab = open_lab("/?seed=3&eps=4")
    lab.upload(name, data)
    assert f"{k:,} categories" in lab.words()
    assert lab.query["dist"] == "zipf"
    lab.press("Use this distribution")
    for label in pages:
        if label != "Home":
            lab.go(label)
        side = lab.sidebar()
        assert (side["Distribution"], side["Categories K"]) == ("Your own file", str(k))
        assert side["Exact N"] == str(people or sum(counts.values()))
        assert (lab.query["dist"], lab.query["k"], lab.query["seed"]) == (UPLOAD, str(k), "3")
        assert lab.chart(LEAD[label]).count() == 1
        assert name.removesuffix(".csv") in lab.words().replace("\\", "")
        if label == "Experiments":
            run_figure_3(lab, k, people)
        if label in ("Home", "Experiments", "Plan"):  # no single category is shown there
            continue
        most = sorted(counts, key=counts.__getitem__, reverse=True)[0]
        if label == "Geometry":
            assert f"100% {most}" in lab.chart(LEAD[label]).inner_text()
        else:
            lab.pick("Most frequent")
            assert most in lab.layout(LEAD[label])["xaxis"]["ticktext"]
            assert f'"{most}"' in lab.figure(LEAD[label])  # the names of the hover
        rows = rows_of(lab)
        if label == "IBU → MLE*":  # its table is about iterations
            assert [int(row["iteration"]) for row in rows][-1] == 10_000
            continue
        assert [row["category"] for row in rows] == list(counts)
        assert [int(row["true"]) for row in rows] == list(counts.values())
        assert all(category in counts for category in top)


def run_figure_3(lab, k, people):
    """The paper's figure about real histograms, run on this one at its full size."""
    lab.choose("Sweep", "Figure 3: your own histogram")
    lab.page.get_by_role("button", name="Run", exact=True).click(delay=80)
    lab.page.get_by_text("Run here").first.wait_for(timeout=150_000)  # it gives way to other tests' browsers
    lab.settle()
    found = {row[0]: row[1] for row in lab.table() if row[0].startswith("MLE* ")}
    assert "MLE* is never the worst of the three on average." in found
    said = " ".join(found.values())
    assert re.search(rf"\(for your histogram, K = {k:,}, ε = \d+, N = {people:,}\)", said)
    assert re.search(r"In short.*InvN's at ε ≤ 2, InvP's at ε ≥ 3", lab.words())
    assert lab.query["sweep"] == "3"
    lab.choose("Sweep", "Main grid: 600 settings")


def test_link_of_an_upload_says_that_the_file_stayed_and_offers_to_upload_it(open_lab):
    owner = open_lab("/noisy_histogram?seed=3&eps=4")
    owner.use("fruit.csv", SMALL)
    owner.type("Exact N", 5000)
    numbers, figure = owner.numbers(), owner.figure("noisy_histogram")
    other = open_lab(owner.page.url, stranger=True)
    (sentence,) = other.alerts()
    assert "file that stayed with its owner" in sentence
    assert other.page.get_by_test_id("stFileUploader").count() == 1
    assert other.chart("noisy_histogram").count() == 1
    other.use("fruit.csv", SMALL)
    assert other.query == owner.query
    assert other.numbers() == numbers
    assert other.figure("noisy_histogram") == figure
    assert other.alerts() == []


def test_upload_outlives_page_switches_and_other_distributions(open_lab):
    lab = open_lab("/inv_negatives?seed=3")
    lab.use("fruit.csv", SMALL)
    figure = lab.figure("inv_negatives")
    assert lab.layout("inv_negatives")["xaxis"]["ticktext"] == ["apple", "plum", "fig"]
    assert lab.query["n"] == "1000"
    lab.go("Estimators")
    lab.go("Reference")
    lab.go("Inv and its negatives")
    assert lab.figure("inv_negatives") == figure
    lab.choose("Distribution", "Uniform")
    assert lab.figure("inv_negatives") != figure
    lab.choose("Distribution", "Your own file")
    assert lab.figure("inv_negatives") == figure
    lab.choose("Distribution", "Uniform")
    lab.back()
    assert lab.figure("inv_negatives") == figure


def test_small_files_one_after_another(open_lab):
    lab = open_lab("/noisy_histogram")
    lab.choose("Distribution", "Your own file")
    example = lab.download("Download an example file")
    chooser = lab.page.locator('.st-key-upload_file input[type="file"]')
    chooser.set_input_files({"name": "answers.xlsx", "mimeType": "text/csv", "buffer": SMALL})
    lab.page.get_by_text("not allowed").wait_for()
    assert lab.page.get_by_role("button", name="Use this distribution").count() == 0
    lab.use("example.csv", example)
    assert lab.layout("noisy_histogram")["xaxis"]["ticktext"][0] == "bicycle"
    lab.press("Another file")
    lab.use("answers.txt", b"yes\nno\nyes\nyes\n")
    assert lab.query["k"] == "2"
    assert [(row["category"], row["true"]) for row in rows_of(lab)] == [("yes", "3"), ("no", "1")]
    lab.press("Another file")
    lab.upload("fruit.csv", b"fruit,count\nplum,300\nfig,200\napple,500\n")
    lab.choose("Order of categories", "by name")
    lab.press("Use this distribution")
    assert lab.layout("noisy_histogram")["xaxis"]["ticktext"] == ["apple", "fig", "plum"]
    lab.press("Another file")
    lab.upload("people.csv", b"name,town\nAnn,Oslo\nBob,Rome\nCid,Oslo\n")
    assert lab.alerts()  # what was understood: one person per row
    lab.choose("The file has", "a count per category")
    assert "number" in lab.alerts()[-1]
    lab.choose("The file has", "one person per row")
    lab.choose("Category column", "town")
    lab.press("Use this distribution")
    assert lab.query["k"] == "2"


def test_hostile_names_are_shown_as_they_are(open_lab):
    lab = open_lab("/noisy_histogram")
    lab.use("<b>evil</b> [x](http://evil.example).csv", hostile_file())
    assert "<b>evil</b>" in lab.words()
    for label in SCENARIO_PAGES:
        lab.go(label)
        assert lab.page.evaluate(MARKUP) == [0, 0, 0]
        if label in ("Experiments", "Plan"):  # they show no category
            continue
        drawn = lab.chart(LEAD[label]).inner_text()
        few = label == "Geometry"  # only three, at the corners of the triangle
        for start in ("<b>bold", "<img src") if few else ("<b>bold", "<img src", "=1+1", "👩‍👧", "very lo"):
            assert start in drawn  # names on the axis are cut
        hover = lab.figure(LEAD[label])
        assert few or "&lt;b&gt;bold&lt;/b&gt;" in hover
        assert "<b>" not in hover
        lab.must_be_fine()
    lab.go("Noisy histogram")
    assert HOSTILE[0] in lab.words()  # the most frequent one is chosen already
    for name in HOSTILE[1:12:3]:
        shown = " ".join(name.split())[:39]
        lab.page.get_by_role("combobox", name="A person whose truth is").click(delay=80)
        with lab.rerun():
            lab.page.get_by_role("option").filter(has_text=shown).first.click(delay=80)
        assert shown in lab.words().replace(
            "\u2060", ""
        )  # a word joiner may keep an address from becoming a link
        assert lab.page.evaluate(MARKUP) == [0, 0, 0]
    rows = rows_of(lab)
    kept = [name.strip() if len(name.strip()) <= 200 else name.strip()[:199] + "…" for name in HOSTILE]
    assert [row["category"] for row in rows] == [csv_cell(name) for name in kept]
    assert not any(row["category"].startswith(("=", "+", "@")) for row in rows)
