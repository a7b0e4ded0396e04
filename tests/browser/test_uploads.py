"""Uploaded distributions: real files on every page, hostile names, and the link of an upload."""

from __future__ import annotations

import csv
import io

from rr_core.plain_text import csv_cell
from rr_core.populations import UPLOAD
from tests.browser.files import HOSTILE, hostile_file, real_file
from tests.browser.lab import LEAD, SCENARIO_PAGES
from tests.browser.test_links import rows_of
from tests.sentences import holds

SMALL = b"fruit,count\napple,500\nplum,300\nfig,200\n"
MARKUP = """() => { const main = document.querySelector('[data-testid="stMain"]'); return [
  [...main.querySelectorAll('img, script, iframe, .katex')]
    .filter(e => !e.closest('[data-testid="stExpander"]') && !e.text?.includes('filmKeys')).length,
  [...document.querySelectorAll('a')].filter(a => /evil|javascript/.test(a.getAttribute('href') || '')).length,
  [...document.querySelectorAll('svg a')].filter(a => /evil|javascript/.test(a.outerHTML)).length ] }"""


def test_a_real_file_draws_on_the_pages(open_lab):
    name, k, people = "kosarak_first_item_100k.csv", 41_270, 100_000
    data = real_file(name)
    counts = {row["category"]: int(row["count"]) for row in csv.DictReader(io.StringIO(data.decode("utf-8")))}
    most = max(counts, key=counts.__getitem__)
    lab = open_lab("/noisy_histogram?seed=3&eps=4")
    lab.upload(name, data)
    assert f"{k:,} categories" in lab.words()
    assert lab.query["dist"] == "zipf"
    lab.press("Use this distribution")
    for label in ("Noisy histogram", "Geometry"):
        if label != "Noisy histogram":
            lab.go(label)
        side = lab.sidebar()
        assert [side[field] for field in ("Distribution", "Categories K")] == ["Your own file", str(k)]
        assert side.get("Exact N") == (None if "Exact N" in lab.greyed() else f"{people:,}")
        assert (lab.query["dist"], lab.query["k"], lab.query["seed"]) == (UPLOAD, str(k), "3")
        assert lab.chart(LEAD[label]).count() == 1
        assert name.removesuffix(".csv") in lab.words().replace("\\", "")
        if label == "Geometry":
            assert f"100%{most}" in lab.chart(LEAD[label]).inner_text().replace(" ", "")
        else:
            lab.pick("Most frequent")
            assert f'"{most}"' in lab.figure(LEAD[label])  # the names of the hover
            assert {row["category"]: int(row["true"]) for row in rows_of(lab)} == counts


@holds(
    "This link is about a file that stayed with its owner: uploaded files never leave the browser session they belong to."
)
def test_link_of_an_upload_says_that_the_file_stayed_and_offers_to_upload_it(open_lab):
    owner = open_lab("/noisy_histogram?seed=3&eps=4")
    owner.use("fruit.csv", SMALL)
    numbers, figure = owner.numbers(), owner.figure("noisy_histogram")
    other = open_lab(owner.page.url)
    (sentence,) = other.alerts()
    assert "file that stayed with its owner" in sentence
    assert "apple" not in other.page.content()
    other.use("fruit.csv", SMALL)
    assert other.query == owner.query
    assert (other.numbers(), other.figure("noisy_histogram")) == (numbers, figure)
    assert other.alerts() == []


def test_hostile_names_are_shown_as_they_are(open_lab):
    lab = open_lab("/noisy_histogram")
    lab.use("<b>evil</b> [x](http://evil.example).csv", hostile_file())
    assert "<b>evil</b>" in lab.words()
    for label in SCENARIO_PAGES:
        if label in ("Experiments", "Plan"):  # they show no category
            continue
        lab.go(label)
        assert lab.page.evaluate(MARKUP) == [0, 0, 0]
        drawn = lab.chart(LEAD[label]).inner_text()
        few = label == "Geometry"  # only three, at the corners of the triangle
        for start in ("<b>bold", "<img src") if few else ("<b>bold", "<img src", "=1+1", "👩‍👧", "very lo"):
            assert start in drawn  # names on the axis are cut
        hover = lab.figure(LEAD[label])
        assert few or "&lt;b&gt;bold&lt;/b&gt;" in hover
        assert "<b>" not in hover
    lab.go("Noisy histogram")
    lab.part("One person's report")
    assert HOSTILE[0] in lab.words()  # the most frequent one is chosen already
    for name in HOSTILE[7:11:3]:  # a picture and markup
        shown = " ".join(name.split())[:39]
        lab.page.get_by_role("combobox", name="A person whose truth is").click(delay=80)
        with lab.rerun():
            lab.page.get_by_role("option").filter(has_text=shown).first.click(delay=80)
        # a word joiner may keep an address from becoming a link
        assert shown in lab.words().replace("\u2060", "")
        assert lab.page.evaluate(MARKUP) == [0, 0, 0]
    lab.part("In numbers")
    rows = rows_of(lab)
    kept = [name.strip() if len(name.strip()) <= 200 else name.strip()[:199] + "…" for name in HOSTILE]
    assert [row["category"] for row in rows] == [csv_cell(name) for name in kept]
    assert not any(row["category"].startswith(("=", "+", "@")) for row in rows)
