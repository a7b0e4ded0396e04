"""The downloaded table recomputes to its own estimate columns, to the last digit."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import rr_core
from tests.browser.expected import LINK, ORDER, SCENARIO, drawn

COLUMNS = ["category", "true", "observed", *ORDER]


@pytest.mark.journey
def test_csv_recomputes_to_its_own_columns_and_follows_the_scenario(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    header, *rows = csv.reader(io.StringIO(lab.download("Download data (CSV)").decode("utf-8")))
    assert header == COLUMNS
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    assert columns["category"] == tuple(map(str, range(1, 1001)))
    true, observed = (np.array(columns[name], dtype=np.int64) for name in ("true", "observed"))
    assert true.sum() == observed.sum() == 100_000
    mechanism = rr_core.RandomizedResponse(1000, 2.0)
    for name in ORDER:
        again = getattr(rr_core, name)(observed, mechanism)
        assert [float(cell) for cell in columns[name]] == again.tolist()
    assert true.tolist() == drawn(SCENARIO).true_counts.tolist()
    assert observed.tolist() == drawn(SCENARIO).counts.tolist()
    # The file is made when the button is pressed, so it must not be an earlier scenario's.
    lab.type("Categories K", 5)
    lab.press("New draw")
    again = list(csv.DictReader(io.StringIO(lab.download("Download data (CSV)").decode("utf-8"))))
    draw = rr_core.Scenario("zipf", 5, 1.3, 2.0, 100_000, 8).draw()
    assert [int(row["observed"]) for row in again] == draw.counts.tolist()


def test_chart_and_script_downloads(open_lab):
    lab = open_lab(f"/inv_negatives?{LINK}")
    html = lab.download("Download chart (HTML)").decode("utf-8")
    assert "Inv below zero" in html
    assert 'src="http' not in html
    script = lab.download("Download script (Python)").decode("utf-8")
    assert "k=1000, s=1.3, epsilon=2.0, n=100000, seed=7" in script
    compile(script, "inv_negatives.py", "exec")
