"""The downloaded script prints the app's numbers from the person's own files, with rr_core alone."""

from __future__ import annotations

import ast
import gzip
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core.io import (
    AllSeen,
    Domain,
    Listed,
    Names,
    Size,
    read_list,
    report_files,
)
from rr_core.io.report_results import Results
from rr_core.io.report_sentences import advice
from rr_core.recompute.result import plain, same_file
from tests.app.analysed import HOSTILE, analysed, counts_csv
from tests.app.opening import ROOT
from tests.app.scripts import all_printed
from tests.io.workbook_files import excel_parts, excel_rows, zipped


def check(lines: list[str], found: Results, folder: Path) -> None:
    """What a script printed is what the app holds, and the file that it saved the page's own."""
    mechanism, fit = found.used.protocol, found.simulated and found.simulated.fit
    for line in (
        "the files = as the app saw",
        f"K = {mechanism.k}",
        f"N = {found.used.n}",
        f"epsilon = {plain(mechanism.epsilon)}",
        f"left out with names outside the domain = {found.used.collected.outside_total}",
        f"advice = {' '.join(advice(found))}",
        f"({min(20, mechanism.k)} of {mechanism.k} rows)",
    ):
        assert line in lines
    told = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines if line.startswith("    "))
    assert told.get("p_value") == (repr(float(fit.p_value)) if fit else None)
    numbers = lines[: next(i for i, line in enumerate(lines) if line.startswith("category,"))]
    assert not any("{" in line for line in numbers)
    assert (folder / "recomputed.csv").read_bytes() == report_files.csv_file(found)


def check_all(folder: Path, *cases: tuple[Results, list[tuple[str, bytes]]]) -> list[list[str]]:
    """What the scripts of these results print beside their files, after it was compared with the page."""
    scripts = {}
    for number, (found, sources) in enumerate(cases):
        (own := folder / str(number)).mkdir()
        for name, data in sources:
            (own / name).write_bytes(data)
        scripts[own] = report_files.script(found)
    lines = all_printed(scripts, files=True)
    for one, own, (found, _) in zip(lines, scripts, cases, strict=True):
        check(one, found, own)
    return lines


def packed_parts() -> list[tuple[str, bytes]]:
    rng = np.random.default_rng(3)
    names = [" apple ", "pl\x07um", "", "\u00a0fig", "y" * 230, "y" * 240, "not reported 2"]
    cells = [f"{i}\t{names[rng.integers(0, len(names))]}\n" for i in range(400)]
    texts = ("user\treport\n" + "".join(part) for part in (cells[:150], cells[150:]))
    return [(f"part{i}.tsv.gz", gzip.compress(text.encode(), mtime=0)) for i, text in enumerate(texts)]


def as_parquet() -> bytes:
    values = pa.array(["b", None, "a", "b", " c", "c", "b"] * 7).dictionary_encode()
    out = io.BytesIO()
    pq.write_table(pa.table({"n": pa.array([3.0, 1.0, 0.0, 2.0, 5.0, 8.0, 1.0] * 7), "report": values}), out)
    return out.getvalue()


ODD = counts_csv(["=1+1", "Bus", "NA", "bus ", "car", "it's"], [300, 20, 41, 500, 400, 3])
# Files, the domain, and how they are analysed.
FILES: dict[str, tuple[list[tuple[str, bytes]], Domain, dict[str, Any]]] = {
    "counts with a list of hostile names": (
        [('it\'s "x" <b>.csv', counts_csv() + b"\nelsewhere,1\n")],
        Listed(np.array([*HOSTILE, "nobody"], dtype=object)),
        {"epsilon": 0.7, "replicates": 100, "seek": True},
    ),
    "rows in two packed files with K given": (
        packed_parts(),
        Size(26),
        {
            "p": 0.3,
            "level": 0.9,
            "target": "population",
            "replicates": 100,
            "layout": "values",
            "category": 1,
        },
    ),
    "parquet": (
        [("reports.parquet", as_parquet())],
        AllSeen(),
        {"layout": "counts", "category": "report", "count": "n"},
    ),
    "names left out and counted as others": (
        [("r.csv", ODD)],
        Size(7),
        {"names": Names(("NA", "it's"), (("Bus", "bus"),))},
    ),
    "a wrong epsilon": (
        [("r.csv", counts_csv([f"c{i}" for i in range(8)], [5000, 300, 10, 200, 20, 15, 12, 30]))],
        AllSeen(),
        {"replicates": 100},
    ),
}


@pytest.mark.slow
def test_the_scripts_print_and_save_what_the_page_holds(tmp_path):
    cases = [(analysed(files, domain, **how), files) for files, domain, how in FILES.values()]
    for name, lines in zip(FILES, check_all(tmp_path, *cases), strict=True):
        said = next(line for line in lines if line.startswith("advice = "))
        assert name != "a wrong epsilon" or "Settle the names and ε first" in said
        assert not any(re.search(r"\binf\b|nan", line) for line in lines)


@pytest.mark.slow
def test_long_list_is_a_file_of_its_own_and_a_workbook_has_the_sheet_that_was_chosen(tmp_path):
    names = [f"c{i}" for i in range(200)] + ["=x\u2028y"]
    source = ("r.csv", counts_csv(names, range(201)))
    found = analysed([source], Listed(np.array(names, dtype=object)))
    script, listed = report_files.script(found), report_files.categories_file(found)
    assert listed.decode().split("\n") == [*names, ""]
    assert "listed='categories.txt',\n" in script
    assert report_files.list_is_a_file(found)
    for domain in (AllSeen(), Size(500), Listed(np.array(names[:200], dtype=object))):
        other = analysed([source], domain)
        assert not report_files.list_is_a_file(other)
        assert "categories.txt" not in report_files.script(other)
    assert "c150" not in script
    rows = [["answer"], *([name] for name in "abbc" * 30)]
    data = zipped(excel_parts({"Info": excel_rows([["note"], ["x"], ["x"]]), "Data": excel_rows(rows)}))
    of_sheet = analysed([("two.xlsx", data, "Data")], AllSeen(), epsilon=2.0)
    check_all(tmp_path, (found, [source, ("categories.txt", listed)]), (of_sheet, [("two.xlsx", data)]))


def test_script_holds_names_as_literals_only():
    listed = read_list("a\nb\nEND\"\"\"\n'''; import os\n# End of the settings.\nc")
    found = analysed([("r.csv", counts_csv(["a", "b"], [5, 6]))], listed)
    (call,) = [
        node
        for node in ast.walk(ast.parse(report_files.script(found)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rr_core.recompute"
    ]
    told = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    assert told["listed"] == list(listed.labels)
    assert told["replicates"] == 0


def test_other_reports_than_the_apps_are_pointed_out():
    assert same_file("the files", "x", "") == {}
    assert same_file("the files", "x", "x") == {"the files": "as the app saw"}
    assert same_file("the files", "y", "x")["the files"].startswith("NOT the bytes that the app saw")


def test_what_a_script_does_not_find_is_one_plain_sentence(tmp_path, monkeypatch):
    names = [f"c{i}" for i in range(201)]
    source = ("r.csv", counts_csv(names, range(201)))
    found = analysed([source], Listed(np.array(names, dtype=object)))
    script = tmp_path / "downloaded.py"
    script.write_text(report_files.script(found), "utf-8")
    blocked = "import runpy, sys; sys.modules['scipy'] = None; sys.path[0] = sys.argv[2]; runpy.run_path(sys.argv[1])"
    bring = "put the app's folder rr_core beside this, and install numpy, scipy, pyarrow."
    alone = f"No module named 'rr_core': {bring}\n"
    for words, says in (((script,), alone), (("-c", blocked, script, ROOT), bring)):
        run = subprocess.run([sys.executable, *map(str, words)], cwd=tmp_path, capture_output=True, text=True)
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
        assert says in run.stderr
    monkeypatch.chdir(tmp_path)
    absent = "There is no file {} in the folder where this runs: {}."
    for name, data, says in (
        ("", b"", absent.format("categories.txt", "the page gives it out among its Files")),
        ("categories.txt", report_files.categories_file(found), absent.format("r.csv", "put it there")),
        ("r.csv", b"a,b\n1,2\n2,3\n", "There is no column"),
    ):
        if name:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(SystemExit, match=re.escape(says)):
            exec(script.read_text("utf-8"), {})
