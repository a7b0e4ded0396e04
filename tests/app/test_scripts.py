"""What the download buttons give: a script that prints the page's numbers, a table, a chart that opens offline."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from pages._ui.downloads import COLUMNS, chart_html, data_csv, script_text
from pages._ui.state import Origin
from pages._ui.upload import origin
from pages._ui.work import Work
from rr_core import Population, Scenario
from rr_core.comparison import compare
from rr_core.figures.inv_negatives import inv_with_negatives
from rr_core.figures.view import bars, natural_order
from rr_core.io import read_distribution
from rr_core.law import negatives
from rr_core.plain_text import csv_cell

ROOT = Path(__file__).parents[2]
NAMES = ["plain", "=1+1", 'say "hi", twice', "<b>bold</b>", "naïve 👩‍👧", "-5", "@cmd"]
ONLY_THE_CORE = (
    "import sys\n"
    "class Wall:\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name.partition('.')[0] in ('streamlit', 'plotly', 'pandas', 'pyarrow', 'pages'):\n"
    "            raise ImportError(name)\n"
    "sys.meta_path.insert(0, Wall())\n"
)


def printed(script: str, folder: Path, *, upload: bool = False) -> list[str]:
    """Lines that a script prints when it runs in ``folder`` with rr_core (and pyarrow for an upload) alone."""
    wall = ONLY_THE_CORE.replace("'pyarrow', ", "") if upload else ONLY_THE_CORE
    path = folder / "downloaded.py"
    path.write_text(script, "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", wall + "import runpy; runpy.run_path('downloaded.py')"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def check(lines: list[str], draw) -> None:
    """The printed numbers are those of the draw."""
    result, mechanism = compare(draw), draw.mechanism
    assert lines[0] == f"p = {mechanism.p:.10g}, q = {mechanism.q:.10g}"
    found = negatives(result.estimates["inv"], draw.true_counts, draw.mechanism)
    assert lines[1] == f"Inv: {found.count} negatives, sum {found.total:.10g}"
    text = "\n".join(lines)
    for metric, errors in result.errors.items():
        shown = re.search(rf"^{metric} (.*)$", text, re.MULTILINE)
        assert shown
        assert shown[1] == str({name: float(f"{error:.10g}") for name, error in errors.items()})
    start = lines.index("category,true,observed,inv,inv_n,inv_p,mle_star") + 1
    names = draw.population.labels or tuple(map(str, range(1, draw.scenario.k + 1)))
    for i, line in enumerate(lines[start : start + min(20, draw.scenario.k)]):
        assert line.startswith(names[i])
        cells = line.removeprefix(names[i] + ",").split(",")
        estimates = [float(result.estimates[name][i]) for name in COLUMNS[3:]]
        assert cells == [str(draw.true_counts[i]), str(draw.counts[i]), *map(str, estimates)]


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("zipf", 1000, 1.3, 2.0, 100_000, 7),
        Scenario("letters", 26, 1.0, 1.0986122886681098, 1000, 3),
    ],
    ids=lambda scenario: f"{scenario.dist}-{scenario.k}",
)
def test_script_prints_the_pages_numbers_with_the_core_alone(scenario, tmp_path):
    check(printed(script_text(scenario), tmp_path), scenario.draw())


@pytest.mark.slow
def test_script_of_an_upload_reads_the_table_beside_it(tmp_path):
    population = Population.from_weights([500, 300, 200, 90, 40, 7, 3], NAMES)
    with (tmp_path / "distribution.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("category", "count"), *zip(NAMES, population.counts, strict=True)])
    scenario = Scenario("upload", 7, 1.0, 2.0, 1140, 5)
    check(printed(script_text(scenario), tmp_path, upload=True), scenario.draw(population))
    # The table that the app gives is one, too; its names are plain where the categories' are.
    population = Population.from_weights([500, 300, 200], ["apple", "plum, dried", "fig"])
    scenario = Scenario("upload", 3, 1.0, 2.0, 1000, 5)
    data = data_csv(Work(scenario.draw(population)))
    assert tuple(next(csv.reader(io.StringIO(data.decode("ascii"))))) == COLUMNS
    (tmp_path / "distribution.csv").write_bytes(data)
    check(
        printed(script_text(scenario, Origin(count="true")), tmp_path, upload=True), scenario.draw(population)
    )


NAMED_NUMBERS = [
    ("früchte.csv", "Frucht;Anzahl\nÄpfel;4.425\nPflaumen;850\n Feigen ;1.050\n;7\nÄpfel;75\n", "file"),
    ("mine (1).tsv", "who\tn\na\t1 200\nb\t8\nitem 10\t5\nitem 2\t5\n", "name"),
    ("it's.csv", 'x,share\na,25%\nb,"70,5%"\nc,4.5%\n', "count"),
    ("ages.csv.gz", "age,people\n10,5\n9,7\n-1,9\n", "name"),
    ("table.parquet", "fruit,n\nplum,3\nfig,40\n", "file"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text", "order"), NAMED_NUMBERS, ids=[row[0] for row in NAMED_NUMBERS])
def test_script_of_an_upload_reads_the_file_by_its_own_name_and_columns(name, text, order, tmp_path):
    data = text.encode("utf-8-sig")
    if name.endswith(".gz"):
        data = gzip.compress(data)
    if name.endswith(".parquet"):
        out = io.BytesIO()
        pq.write_table(pa_csv.read_csv(io.BytesIO(text.encode())), out)
        data = out.getvalue()
    read = read_distribution(data, name, order=order)
    population = Population.from_weights(read.weights, list(read.labels))
    (tmp_path / name).write_bytes(data)
    scenario = Scenario("upload", read.k, 1.0, 2.0, 1140, 5)
    script = script_text(scenario, origin(read, name, order))
    check(printed(script, tmp_path, upload=True), scenario.draw(population))


@pytest.mark.slow
def test_script_of_an_upload_says_what_it_cannot_find(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\na,1\nb,2\n", "utf-8")
    script = script_text(Scenario("upload", 2, n=10), Origin("a.csv", "fruit", "y"))
    with pytest.raises(AssertionError, match="There is no column “fruit”"):
        printed(script, tmp_path, upload=True)


def test_data_csv_escapes_names_and_keeps_every_digit():
    population = Population.from_weights([500, 300, 200, 90, 40, 7, 3], NAMES)
    draw = Scenario("upload", 7, 1.0, 2.0, 1140, 5).draw(population)
    data = data_csv(Work(draw))
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
    inv = compare(draw).estimates["inv"]
    view = bars(natural_order(12), None, "Category")
    page = chart_html(inv_with_negatives(inv, draw.theta, 1000, draw.mechanism, view)).decode("utf-8")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)
    assert "Plotly.newPlot" in page
    assert "Inv (negatives hatched)" in page
    assert len(page) > 1_000_000  # Plotly itself is inside
