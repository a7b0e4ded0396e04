"""One more estimator is one more entry: tables, charts and files show it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
from dataclasses import replace
from rr_core import registry

twin = replace(registry.REGISTRY[1], name="twin", label="Twin", colour="#123456")
registry.REGISTRY += (twin,)
registry.ESTIMATORS["twin"], registry.RULES["twin"] = twin.estimate, twin.rule
registry.VALID += ("twin",)

from pages._ui import downloads, frame
from tests.app.opening import charts, opened

frame._HEAD_START = 0
page = opened("estimators", "k=12&n=500&seed=1")
table = next(block.value for block in page.markdown if "Squared error" in block.value)
assert "Twin" in table, table
assert "Twin" in {trace.get("name") for chart in charts(page) for trace in chart["data"]}
assert downloads.COLUMNS[-1] == "twin"
"""


@pytest.mark.slow
def test_one_entry_is_enough() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
