"""What a finished analysis is saved as: CSV, Parquet, JSON, and a report that opens offline."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs

from pages._ui.reports.html_report import _data, html_report, part, template
from rr_core.figures.reports import with_intervals
from rr_core.figures.style import reading
from rr_core.figures.view import bars
from rr_core.io import AllSeen, Size, read_list, report_files
from rr_core.io import report_sentences as sentences
from rr_core.io.report_results import Results
from rr_core.plain_text import csv_cell
from rr_core.rounding import p_value
from tests.app.analysed import COUNTS, HOSTILE, analysed, counts_csv, json_of, parquet_of
from tests.sentences import holds

WHEN = "2026-11-20 12:00 UTC"
LISTED = [label for label in HOSTILE if "\u2028" not in label]  # pasted lines cannot hold one


@cache
def hostile() -> Results:
    """Names of every bad kind, two of them outside the list, one with no report, and an epsilon that cannot be."""
    data = counts_csv().replace(b"category", b"<u>category</u>", 1) + b"\n" + b"<i>elsewhere</i>,12\n,3\n"
    listed = read_list("\n".join([*('"' + name.replace('"', '""') + '"' for name in LISTED), "nobody"]))
    return analysed([("re<b>ports.csv", data)], listed, epsilon=0.7, replicates=120, seek=True)


@cache
def plain(replicates: int = 0) -> Results:
    """Five categories that fit their epsilon."""
    data = counts_csv(["a", "b", "c", "d", "e"], [290, 250, 170, 150, 140])
    return analysed(
        [("reports.csv", data)], Size(5), p=0.4, target="population", level=0.9, replicates=replicates
    )


def columns_of(found: Results) -> dict[str, np.ndarray]:
    """The table of results as arrays."""
    kept = {name: getattr(values, "dtype", object) for name, values in found.columns().items()}
    return {name: np.array(values, dtype=kept[name]) for name, values in found.columns().items()}


def chart(found: Results):
    analysis = found.analysis
    view = bars(found.order[:20], found.used.collected.labels, "Categories")
    return with_intervals(
        analysis.estimates, "inv", analysis.interval, analysis.above.above, found.used.n, view
    )


def strictly(text: str | bytes):
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("found", [hostile, plain], ids=["hostile", "closed"])
def test_csv_keeps_every_digit_and_runs_no_formula(found):
    found = found()
    header, *lines = csv.reader(io.StringIO(report_files.csv_file(found).decode("utf-8-sig"), newline=""))
    expected, labels = columns_of(found), found.used.collected.labels
    if any(csv_cell(label) != label for label in labels):
        # The names as they are come last, in a form that no spreadsheet runs either.
        assert header.pop() == "category_json"
        assert [json.loads(line[-1]) for line in lines] == labels.tolist()
        assert all(line.pop().startswith('"') for line in lines)
    assert header == list(expected)
    columns = dict(zip(header, zip(*lines, strict=True), strict=True))
    assert list(columns.pop("category")) == [csv_cell(label) for label in labels]
    assert [word == "true" for word in columns.pop("above_zero")] == expected["above_zero"].tolist()
    assert list(columns.pop("estimate")) == [found.analysis.leading] * len(labels)
    for name, cells in columns.items():
        assert list(map(float, cells)) == expected[name].tolist(), name
    assert not any(line[0].lstrip()[:1] in set("=+@") for line in lines)


def test_parquet_has_names_as_they_are_and_all_settings():
    found = hostile()
    table = pq.read_table(io.BytesIO(parquet_of(found)))
    expected = columns_of(found)
    assert table.column_names == list(expected)
    assert table["category"].to_pylist() == [*LISTED, "nobody"]
    for name in table.column_names[1:]:
        assert table[name].to_pylist() == expected[name].tolist()
    about = {key.decode(): strictly(value) for key, value in table.schema.metadata.items()}
    everything = strictly(json_of(found, WHEN))
    assert about == {
        key: value for key, value in everything.items() if key not in ("analysed", "rows", "table")
    }


def test_json_says_all_there_is_to_say():
    found = hostile()
    told = strictly(json_of(found, WHEN))
    assert (told["analysed"], told["format"]) == (WHEN, 2)
    assert told["versions"]["numpy"] == np.__version__
    mechanism, of_line = found.used.protocol, COUNTS[HOSTILE.index("line\u2028separated")]
    n = sum(COUNTS) - of_line
    settings = told["settings"]
    assert [settings[name] for name in ("epsilon", "p", "q")] == [0.7, mechanism.p, mechanism.q]
    assert [settings[name] for name in ("k", "n", "level")] == [len(LISTED) + 1, n, 0.95]
    given_as = [settings[name] for name in ("privacy_given_as", "target", "domain")]
    assert given_as == ["epsilon", "users", "listed"]
    rows = {"name": "re<b>ports.csv", "rows": len(COUNTS) + 1, "reports": sum(COUNTS) + 12}
    assert (told["files"]["read"], told["files"]["sha256"]) == ([rows], found.used.reports.sha256)
    left_out = told["left_out"]
    assert [(row["reason"], row["rows"], row["first_line"]) for row in left_out["rows"]] == [
        ("blank line", 1, 17),
        ("no category name", 1, 19),
    ]
    outside = [("line\u2028separated", of_line), ("<i>elsewhere</i>", 12)]
    assert [(row["category"], row["reports"]) for row in left_out["outside_domain"]] == outside
    assert (left_out["reports_outside_domain"], left_out["categories_without_reports"]) == (of_line + 12, 1)
    assert told["simulations"] == {"seed": 0, "asked": 120, "done": 120}
    fit, plausible = told["fit"], told["plausible_epsilon"]
    assert fit["p_value"] == found.simulated.fit.p_value == 1 / 121
    assert fit["rejected"]
    assert plausible["low"] == found.simulated.plausible.low > 0.7
    assert plausible["high"] is None  # infinite
    assert told["advice"]["preferred"] is None  # epsilon is to be settled first
    assert told["advice"]["differences"] == found.analysis.nearest.differences
    assert told["advice"]["verdict"] == sentences.advice(found)[0]
    assert told["rows"] == {"held": len(LISTED) + 1, "of": len(LISTED) + 1}
    assert told["table"] == {name: values.tolist() for name, values in columns_of(found).items()}


def test_json_without_simulations_with_p_and_of_some_rows(monkeypatch):
    monkeypatch.setattr(report_files, "MOST_JSON_ROWS", 3)
    told = strictly(json_of(plain(), WHEN))
    assert [told[name] for name in ("simulations", "fit", "plausible_epsilon")] == [None] * 3
    assert [told["settings"][name] for name in ("privacy_given_as", "p", "target", "level")] == [
        *("p", 0.4, "population", 0.9)
    ]
    assert told["advice"]["preferred"] == plain().analysis.leading
    assert told["rows"] == {"held": 3, "of": 5}
    assert (told["table"]["category"], told["table"]["reports"]) == (["a", "b", "c"], [290, 250, 170])
    odd = {"a": np.array([1.0, np.nan, np.inf]), "b": (np.float64(-np.inf), 2)}
    assert strictly(report_files.strict_json(odd)) == {"a": [1.0, None, None], "b": [None, 2]}


class Page(HTMLParser):
    """Tags with their attributes, text by the element it stands in, and the table's cells."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.cells: list[str] = []
        self.words = ""
        self._open = ""
        self.feed(page.decode("utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open == "script":
            self.scripts[-1] += data
        elif self._open == "td":
            self.cells[-1] += data
        elif self._open != "style":
            self.words += data


@holds("This file holds everything it shows and loads nothing: it opens offline and sends nothing.")
def test_report_shows_names_literally_and_loads_nothing():
    found = hostile()
    page = Page(html_report(found, [chart(found), chart(found)], WHEN))
    ours = set(re.findall(r"<(\w+)", part("report.html"))) | {"figure", "figcaption", "td", "tr", "th"}
    ours |= {"ul", "li", "dt", "dd", "div", "button", "p"}
    assert {tag for tag, _ in page.tags} <= ours - {"a", "img", "link", "iframe"}
    for _, attributes in page.tags:
        assert not {"src", "href", "action", "srcdoc", "background", "poster"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"url\(|@import", part("report.css"))
    width = len(page.cells) // len(found.used.collected.labels)
    shown = [name for name in page.cells[::width] if name != "nobody"]
    most = [LISTED[i] for i in found.order if i < len(LISTED)]
    assert shown == most
    for words in (
        "re<b>ports.csv",
        "<u>category</u>, count",
        "<i>elsewhere</i>” (12)",
        "rejects the ε",
        WHEN,
    ):
        assert words in page.words
    assert page.words.count(reading(chart(found))) == 2


def test_reports_policy_lets_its_own_two_scripts_run_and_nothing_else():
    found = hostile()
    page = Page(html_report(found, [chart(found)], WHEN))
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = {name: rest for name, _, rest in (rule.strip().partition(" ") for rule in policy.split(";"))}
    assert rules["default-src"] == "'none'"
    assert not re.search(r"https?:|\*|unsafe-eval", policy)
    data, packed, own = page.scripts
    runs = [gzip.decompress(base64.b64decode(packed)).decode(), own]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in runs]
    assert rules["script-src"] == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert runs == [get_plotlyjs(), part("report.js")]
    assert len(packed) < 0.45 * len(runs[0])
    assert "<" not in data
    told = strictly(data)
    assert [row[0][0] for row in told["rows"]] == [([*LISTED, "nobody"])[i] for i in found.order]
    assert len(told["figures"]) == 1
    assert told["figures"][0]["layout"]["meta"]["reading"] == reading(chart(found))


def test_reports_table_says_what_the_page_says():
    found = plain(100)
    page = Page(html_report(found, [], WHEN))
    name = found.analysis.leading
    columns = sentences.table_columns(found, name, found.order, simultaneous=False)
    told = strictly(page.scripts[0])["rows"]
    assert "".join(f"{title}" for title in columns) in page.words.replace("\n", "")
    for i, (texts, values) in enumerate(told):
        assert texts == page.cells[i * len(columns) : (i + 1) * len(columns)]
        assert values == [float(column[i]) for column in list(columns.values())[1:]]
        row = dict(zip(columns, texts, strict=True))
        assert (row["Category"], row["Reports"]) == ("abcde"[i], str([290, 250, 170, 150, 140][i]))
        assert row["Above zero?"] == ("yes" if columns["Above zero?"][i] else "no")
        assert row[sentences.P_VALUE] == p_value(columns[sentences.P_VALUE][i])
        assert float(row["to %"]) == pytest.approx(columns["to %"][i], rel=6e-4)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_no_text_whatever_becomes_markup(texts):
    page = template()
    rows = "".join(page.blocks["table_rows"](page.new_context({"rows": [texts]}))).strip()
    page = Page(f"<table>{rows}</table><script>{_data([texts], [[1.0]], [])}</script>".encode())
    assert [tag for tag, _ in page.tags] == ["table", "tr", *["td"] * len(texts), "script"]
    assert page.cells == texts
    assert strictly(page.scripts[0])["rows"] == [[texts, [1.0]]]


def test_report_of_many_categories_holds_the_most_reported_and_says_so():
    counts = np.arange(2105, 0, -1)
    found = analysed([("big.csv", counts_csv([f"c{i}" for i in range(2105)], counts.tolist()))], AllSeen())
    page = Page(html_report(found, [], WHEN))
    told = strictly(page.scripts[0])["rows"]
    assert [row[0][0] for row in told] == [f"c{i}" for i in range(2000)]
    assert page.cells[:: len(told[0][0])] == [f"c{i}" for i in range(50)]
    assert "2,000 most reported of 2,105; the CSV file holds the rest" in page.words
    assert "50 shown of the 2,000 most reported (of 2,105)" in page.words
    assert "come out at the top by luck as well" in page.words


def test_every_file_names_the_interval_of_inv_whatever_is_chosen():
    found = hostile()
    limits = found.analysis.interval
    assert (limits.high < 0).any()  # an interval wholly below zero stays one
    outside = (limits.high <= 0) | (limits.low >= 1)
    low, high = (np.where(outside, ends, np.clip(ends, 0, 1)) for ends in (limits.low, limits.high))
    shown = sentences.table_columns(found, "mle_star", found.order, simultaneous=False)
    np.testing.assert_array_equal(shown["Interval from %"], 100 * low[found.order])
    np.testing.assert_array_equal(shown["to %"], 100 * high[found.order])
    page = Page(html_report(found, [], WHEN, estimator="mle_star"))
    assert "Interval from %" in page.words
    assert re.search(r"interval of Inv, [^.]*cut at 0 and 1", page.words)
    for columns in (columns_of(found), strictly(json_of(found, WHEN))["table"]):
        ends = [column for column in columns if "_low" in column or "_high" in column]
        assert all(column.startswith("inv_") for column in ends)
        np.testing.assert_array_equal(columns["inv_low_cut"], np.clip(limits.low, 0, 1))
        np.testing.assert_array_equal(columns["inv_high_cut"], np.clip(limits.high, 0, 1))
        np.testing.assert_array_equal(columns["inv_low"], limits.low)
