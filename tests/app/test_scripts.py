"""What the download buttons give: a script that prints the page's numbers, a table, a chart that opens offline."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pages._ui.downloads import chart_html, data_csv
from pages._ui.draw_results import DrawResults
from pages._ui.ibu import results
from pages._ui.ibu.results import record_csv
from pages._ui.protocols import channel, over_time, posterior, unary
from pages._ui.upload import reading
from rr_core import Population, Scenario, parameters, recompute
from rr_core.comparison import compare
from rr_core.figures.inv_negatives import inv_with_negatives
from rr_core.figures.view import bars, natural_order
from rr_core.ibu import Start
from rr_core.io import read_distribution
from rr_core.io.channel_file import read_matrix
from rr_core.law import negatives
from rr_core.plain_text import csv_cell
from rr_core.protocols import UnaryEncoding
from rr_core.protocols.settings import (
    DESIGNS,
    DRAWS,
    SCHEMES_IN_ORDER,
    TIME_PARAMETERS,
    ChannelSettings,
    TimeSettings,
    write_channel,
)
from rr_core.recompute.pages import PAGES
from rr_core.registry import ESTIMATORS
from rr_core.script import script
from tests.app.opening import ROOT
from tests.app.scripts import all_printed, printed

COLUMNS = ("category", "true", "observed", *ESTIMATORS)
NAMES = ["plain", "=1+1", 'say "hi", twice', "<b>bold</b>", "naïve 👩‍👧", "-5", "@cmd"]


def rows_of(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file."""
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    return header, rows


def same_table(ours: bytes, pages: bytes) -> None:
    """Every number and name of the page's file is in ours, digit for digit as a double."""
    (header, mine), (other, theirs) = rows_of(ours), rows_of(pages)
    assert header == other
    assert len(mine) == len(theirs) > 0
    for one, two in zip(mine, theirs, strict=True):
        for a, b in zip(one, two, strict=True):
            assert a == b or float(a) == float(b) or (float(a) != float(a) and float(b) != float(b))


def check(lines: list[str], folder: Path, draw) -> None:
    """What a script printed and saved are the numbers of the draw."""
    result, mechanism = compare(draw), draw.mechanism
    found = negatives(result.estimates["inv"], draw.true_counts, draw.mechanism)
    for line in (
        f"p = {mechanism.p!r}",
        f"q = {mechanism.q!r}",
        f"negatives of Inv = {found.count}",
        f"their sum = {found.total!r}",
    ):
        assert line in lines
    for metric, errors in result.errors.items():
        start = lines.index(f"{metric}:") + 1
        below = dict(line.split() for line in lines[start : start + len(errors)])
        assert below == {name: repr(float(error)) for name, error in errors.items()}
    assert not any("{" in line for line in lines)
    same_table((folder / "recomputed.csv").read_bytes(), data_csv(DrawResults(draw)))


def link_to(page: str, scenario: Scenario, **own: str) -> str:
    return f"/{page}?{urlencode({**scenario.to_query(), **own})}"


EXAM = Scenario("exam", epsilon=1.0, n=2000, seed=3)
LARGE = Scenario("zipf", 300, 1.0, 1.0, 500, 3)
SMALL = Scenario("uniform", 2, n=500)


def channel_csv(settings: ChannelSettings, scenario: Scenario = EXAM, own: str | None = None) -> bytes:
    return channel._data_csv(channel._shown(DrawResults(scenario.draw()), settings, own and read_matrix(own)))


def unary_csv() -> bytes:
    return unary._data_csv(EXAM.draw(), unary._collect(EXAM.draw(), UnaryEncoding(12, 1.0, True)))


def posterior_csv(prior: float) -> bytes:
    return posterior._data_csv(EXAM.draw(), posterior._summarise(EXAM.draw(), prior, DRAWS))


def over_time_csv(scenario: Scenario, settings: TimeSettings) -> bytes:
    results = DrawResults(scenario.draw())
    return over_time._data_csv(settings, scenario, over_time._exposure(results, settings))


def ibu_csv(start: Start) -> bytes:
    return record_csv(results._affordable_run(DrawResults(EXAM.draw()), start, 200))


OWN = "0.5 0.5; 0.1 0.9; 0.3 0.7"
NAMED = "=a 0.5 0.5; b 0.1 0.9"
LONGER = "; ".join(["0.5 0.5", "0.1 0.9"] * 7)  # than EXAM's categories
TIMES = TimeSettings(SCHEMES_IN_ORDER, 10, every=3)
# A page that has a script, its link, what the script is told beside, and the page's own file of the same numbers.
SCRIPTS: list[tuple[str, Scenario, dict[str, Any], dict[str, Any], Callable[[], bytes]]] = [
    *(
        (page, EXAM, {}, {}, lambda: data_csv(DrawResults(EXAM.draw())))
        for page in ("noisy_histogram", "inv_negatives", "estimators", "geometry")
    ),
    *(
        ("ibu", EXAM, {}, {"start": asdict(start), "iterations": 200}, partial(ibu_csv, start))
        for start in (Start(), Start("typed", weights=tuple(range(1, 13))))
    ),
    *(
        ("protocols/channel", EXAM, write_channel(one) or {"channel": "k_rr"}, {}, partial(channel_csv, one))
        for one in map(ChannelSettings, DESIGNS)
        if one.design != "own"
    ),
    *(
        (
            "protocols/channel",
            scenario,
            {"channel": "own", "matrix": own},
            {"matrix": read_matrix(own).matrix.tolist(), "names": read_matrix(own).truths},
            partial(channel_csv, ChannelSettings("own"), scenario, own),
        )
        for scenario, own in ((EXAM, OWN), (EXAM, LONGER), (LARGE, NAMED), (SMALL, OWN))
    ),
    ("protocols/unary", EXAM, {"bits": "oue"}, {}, unary_csv),
    ("protocols/posterior", EXAM, {}, {}, partial(posterior_csv, 0.5)),
    ("protocols/posterior", EXAM, {"prior": "own", "alpha": "3.25"}, {}, partial(posterior_csv, 3.25)),
    *(
        (
            "protocols/time",
            one,
            parameters.write(TIME_PARAMETERS, TIMES),
            {},
            partial(over_time_csv, one, TIMES),
        )
        for one in (EXAM, LARGE)
    ),
]


@pytest.mark.slow
def test_every_script_gives_the_numbers_of_the_pages_file(tmp_path):
    scripts = {}
    for number, (name, scenario, own, settings, _) in enumerate(SCRIPTS):
        page, _, part = name.partition("/")
        query = {one: text for one, text in own.items() if text is not None} | (
            {"part": part} if part else {}
        )
        scripts[tmp_path / str(number)] = script(link_to(page, scenario, **query), **settings)
    all_printed(scripts)
    for folder, (*_, data) in zip(scripts, SCRIPTS, strict=True):
        same_table((folder / "recomputed.csv").read_bytes(), data())


def test_no_page_has_a_script_without_a_test():
    """The plan's is in test_plan_page."""
    assert {name for name, *_ in SCRIPTS} | {"plan"} == set(PAGES)


def test_every_page_with_a_row_of_downloads_can_be_recomputed():
    pages = ROOT / "pages"
    offering = [path for path in pages.rglob("*.py") if "downloads.row(" in path.read_text("utf-8")]
    topics = {path.relative_to(pages).with_suffix("").as_posix().removeprefix("_ui/") for path in offering}
    assert {topic.partition("/")[0] for topic in topics} == {name.partition("/")[0] for name in PAGES}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("/reference", "has no numbers to compute again"),
        ("/estimators?eps=many", "which is not a number"),
        ("/your_reports?made=magic", "is no way of making reports"),
        ("/protocols?part=channel&channel=own", "pass it as matrix"),
        ("/estimators?dist=upload&k=3", "pass its file"),
    ],
)
def test_a_link_without_numbers_is_told_in_one_sentence(link, words):
    with pytest.raises(ValueError, match=words):
        recompute(link)


def test_script_prints_the_pages_numbers_with_the_core_alone(tmp_path):
    scenario = Scenario("letters", 26, 1.0, 1.0986122886681098, 1000, 3)
    check(printed(script(link_to("estimators", scenario)), tmp_path), tmp_path, scenario.draw())


def of_upload(scenario: Scenario, name: str, **reading: Any) -> str:
    return script(link_to("estimators", scenario), [name], upload=reading)


def parquet(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


GIVEN = Scenario("upload", 3, 1.0, 2.0, 1000, 5).draw(
    Population.from_weights([500, 300, 200], ["apple", "plum, dried", "fig"])
)
UPLOADS: list[tuple[str, bytes, dict[str, Any]]] = [
    (
        "früchte.csv",
        "Frucht;Anzahl\nÄpfel;4.425\nPflaumen;850\n Feigen ;1.050\n;7\nÄpfel;75\n".encode("utf-8-sig"),
        {"order": "file"},
    ),
    ("it's.csv", b'x,share\na,25%\nb,"70,5%"\n=1+1,4.5%\n', {"order": "count"}),
    ("table.parquet", parquet(fruit=["plum", "<b>fig</b>"], n=[3, 40]), {"order": "file"}),
    # The app's own file, whose names are plain where the categories' are.
    ("distribution.csv", data_csv(DrawResults(GIVEN)), {"order": "file", "count": "true"}),
]


@pytest.mark.slow
def test_script_of_an_upload_reads_the_file_by_its_own_name_and_columns(tmp_path):
    scripts, draws = {}, []
    for name, data, how in UPLOADS:
        read = read_distribution(data, name, **how)
        population = Population.from_weights(read.weights, list(read.labels))
        folder = tmp_path / str(len(draws))
        folder.mkdir()
        (folder / name).write_bytes(data)
        scenario = Scenario("upload", read.k, 1.0, 2.0, 1140, 5)
        scripts[folder] = of_upload(scenario, name, **reading(read, how["order"]))
        draws.append(scenario.draw(population))
    for lines, folder, draw in zip(all_printed(scripts, files=True), scripts, draws, strict=True):
        check(lines, folder, draw)


@pytest.mark.slow
def test_script_of_an_upload_says_what_it_cannot_find(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\na,1\nb,2\n", "utf-8")
    text = of_upload(Scenario("upload", 2, n=10), "a.csv", category="fruit", count="y")
    with pytest.raises(AssertionError, match="There is no column “fruit”") as told:
        printed(text, tmp_path, files=True)
    assert "Traceback" not in str(told.value)


def test_data_csv_escapes_names_and_keeps_every_digit():
    population = Population.from_weights([500, 300, 200, 90, 40, 7, 3], NAMES)
    draw = Scenario("upload", 7, 1.0, 2.0, 1140, 5).draw(population)
    data = data_csv(DrawResults(draw))
    assert data.startswith(codecs.BOM_UTF8)  # Excel reads the names as they are
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert tuple(header) == (*COLUMNS, "category_json")
    assert [row[0] for row in rows] == [csv_cell(name) for name in NAMES]
    assert [json.loads(row[-1]) for row in rows] == NAMES
    assert all(row[-1].startswith('"') for row in rows)  # no formula there either
    assert [int(row[1]) for row in rows] == draw.true_counts.tolist()
    for column, name in enumerate(COLUMNS[3:], 3):
        assert [float(row[column]) for row in rows] == compare(draw).estimates[name].tolist()


def test_chart_html_needs_nothing_else():
    draw = Scenario().draw()
    view = bars(natural_order(12), None, "Category")
    figure = inv_with_negatives(compare(draw).estimates["inv"], draw.theta, 1000, draw.mechanism, view)
    page = chart_html(figure).decode("utf-8")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)
    assert "Plotly.newPlot" in page
    assert len(page) > 1_000_000  # Plotly itself is inside
