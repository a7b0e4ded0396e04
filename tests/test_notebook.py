"""The notebook in `docs/` runs from top to bottom: on the file that it makes, and on a file of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rr_core import RandomizedResponse, mle_star

NOTEBOOK = Path(__file__).parents[1] / "docs" / "from_a_file.ipynb"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the notebook's cells leave behind when they run in a folder."""
    monkeypatch.chdir(folder)
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names


def test_the_notebook_runs_on_the_file_that_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = run(tmp_path, monkeypatch)
    printed = capsys.readouterr().out
    assert "32,561 reports of 16 categories" in printed
    assert names["found"].estimates["mle_star"].sum() == pytest.approx(1)
    assert len(names["figure"].data) == 5
    assert float(printed.partition("certificate of MLE*: ")[2].split()[0]) < 1e-12


def test_the_notebook_runs_on_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reports.csv").write_text(
        "answer\n" + "bus\n" * 60 + "car\n" * 30 + "NA\n" + "tram\n" * 25, "utf-8"
    )
    names = run(tmp_path, monkeypatch)
    assert names["collected"].labels.tolist() == ["bus", "car", "tram"]
    expected = mle_star([60, 30, 25], RandomizedResponse(3, 2.0))
    assert np.array_equal(names["found"].estimates["mle_star"], expected)


def test_the_notebook_holds_no_output_of_a_run() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
