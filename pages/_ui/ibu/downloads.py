"""Files about a run of IBU: its record as CSV, its film, and a script that runs it again."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go

from pages._ui import downloads
from pages._ui.work import Work
from rr_core.io.csv_files import csv_bytes
from rr_core.iteration.record import IBUPath
from rr_core.iteration.starts import Start


def row(work: Work, path: IBUPath, start: Start, film: go.Figure) -> None:
    """The download row of the page."""
    more = _SCRIPT.format(last=int(path.iterations[-1]), start=start)
    downloads.row(work, film, "ibu", partial(record_csv, path), more)


def record_csv(path: IBUPath) -> bytes:
    """One row per recorded iteration."""
    return csv_bytes(
        {
            "iteration": path.iterations,
            "squared_distance": path.squared_distance,
            "log_likelihood_gap": path.log_likelihood_gap,
            "certificate": path.certificate,
        }
    )


_SCRIPT = """
from rr_core import ibu_path
from rr_core.iteration.record import log_spaced
from rr_core.iteration.starts import Start

start = {start!r}
path = ibu_path(draw.counts, draw.mechanism, log_spaced({last}), start.distribution(draw.counts))
print("iteration,squared_distance,log_likelihood_gap,certificate")
for t in range(len(path.iterations)):
    measures = (path.squared_distance[t], path.log_likelihood_gap[t], path.certificate[t])
    print(path.iterations[t], *(f"{{float(value):.10g}}" for value in measures), sep=",")
"""
