"""Results as columns: nothing is lost on the way to a file and back, and what does not fit is said."""

import csv
import io
import json

import numpy as np
import pytest

from rr_core import Population
from rr_core.experiments import table
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run

UPLOAD = Population.from_weights([4, 1, 0, 9])
CELLS = (*over(s=(0.01, 2.5), k=6, epsilon=(0.1 + 0.2, 3), n=100), Cell(UPLOAD.key, 4, 2.0, 14))
WAYS = {
    "all": Settings(9),
    "few": Settings(
        9, estimators=("inv_p", "mle_star"), metrics=("nll",), bias=False, users="sampled", seed=4
    ),
    "one seed": Settings(1, people="rounded"),
}


@pytest.fixture(params=WAYS, name="result")
def a_result(request):
    return run(Sweep(CELLS, WAYS[request.param]), populations={UPLOAD.key: UPLOAD})


def through_a_file(columns):
    """As text, the way a CSV file holds it: the shortest text that reads back to the same double."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    header, *rows = csv.reader(io.StringIO(text.getvalue()))
    kinds = {"i": int, "f": float, "U": str}
    return {name: [kinds[columns[name].dtype.kind](row[i]) for row in rows] for i, name in enumerate(header)}


def test_there_and_back(result):
    columns, about = table.columns(result), table.settings(result)
    assert table.read(columns, about).same(result)
    assert table.read(through_a_file(columns), json.dumps(about)).same(result)
    assert table.read(columns, json.loads(json.dumps(about))).sweep == result.sweep


def test_the_order_of_rows_does_not_matter(result):
    columns = table.columns(result)
    order = np.random.default_rng(0).permutation(len(columns["k"]))
    mixed = {name: values[order] for name, values in columns.items()} | {"note": ["x"] * len(order)}
    assert table.read(mixed, table.settings(result)).same(result)


def test_the_columns_say_what_they_are():
    settings = Settings(9)
    result = run(Sweep(CELLS, settings), populations={UPLOAD.key: UPLOAD})
    columns = table.columns(result)
    assert {len(values) for values in columns.values()} == {len(CELLS) * 4}
    assert columns["estimator"][:5].tolist() == ["inv", "inv_n", "inv_p", "mle_star", "inv"]
    assert columns["dist"][-1] == UPLOAD.key
    row = 4 + 2  # second cell, InvP
    cell = result.cells[1]
    assert (columns["k"][row], columns["n"][row], columns["seeds"][row]) == (6, 100, 9)
    assert (columns["epsilon"][row], columns["s"][row]) == (3.0, 0.01)
    assert columns["mse_mean"][row] == cell.mean[0, 2]
    assert columns["mse_per_category_mean"][row] == cell.mean[0, 2] / 6
    assert columns["nll_standard_error"][row] == cell.standard_error[3, 2]
    assert columns["tv_q05"][row] == cell.quantiles[0, 1, 2]
    assert columns["max_q95"][row] == cell.quantiles[4, 2, 2]
    assert columns["mse_minus_mle_star"][row] == cell.difference[0, 2, 3]
    assert columns["mse_minus_inv_n_standard_error"][row] == cell.difference_error[0, 2, 1]
    assert columns["nll_best"][row] == cell.best[3, 2]
    assert columns["nll_worst"][row] == cell.worst[3, 2]
    assert columns["nll_beaten"][row] == cell.beaten[3, 2]
    assert columns["mse_tied"][row] == cell.tied[0]
    for name in ("bias2", "variance", "zeros", "negatives"):
        assert columns[name][row] == getattr(cell, name)[2]
    assert columns["concentration"][row] == cell.concentration


def test_a_part_of_a_sweep_reads_back_and_goes_on():
    sweep = Sweep(CELLS[:4], Settings(9))
    whole = run(sweep)
    part = SweepResult(sweep, whole.cells[1:3])
    about = table.settings(part)
    assert about["finished"] is False
    read = table.read(table.columns(part), about)
    assert read.same(part)
    assert run(read.sweep, done=read).same(whole)
    nothing = SweepResult(sweep, ())
    assert table.read(table.columns(nothing), table.settings(nothing)).same(nothing)


def test_the_settings_name_the_versions():
    about = table.settings(run(Sweep(CELLS[:1], Settings(2))))
    assert about["finished"] is True
    assert about["versions"]["numpy"] == np.__version__
    assert set(about["versions"]) == {"python", "numpy", "scipy"}


def test_what_does_not_fit_is_said():
    result = run(Sweep(CELLS[:2], Settings(2)))
    columns, about = table.columns(result), table.settings(result)
    with pytest.raises(ValueError, match="table must have the column mse_q50, and 0 more are missing"):
        table.read({name: values for name, values in columns.items() if name != "mse_q50"}, about)
    with pytest.raises(
        ValueError, match="table must have one row for each of inv, inv_n, inv_p, mle_star in zipf"
    ):
        table.read({name: values[:-1] for name, values in columns.items()}, about)
    with pytest.raises(ValueError, match="format must be 1, got 0"):
        table.read(columns, about | {"format": 0})
    with pytest.raises(ValueError, match="settings must be those written with the table"):
        table.read(columns, {"format": 1})
    with pytest.raises(ValueError, match="settings must be those written with the table"):
        table.read(columns, about | {"settings": {"shape": 3}})
    with pytest.raises(ValueError, match="key must be the key of a cell, got 'zipf'"):
        table.read(columns, about | {"cells": ["zipf"]})
    with pytest.raises(ValueError, match="settings must be those written with the table, got 'no JSON'"):
        table.read(columns, "no JSON")
    with pytest.raises(ValueError, match="mse_mean must be a column of numbers"):
        table.read(columns | {"mse_mean": ["?"] * 8}, about)
    with pytest.raises(ValueError, match="columns must be of one length"):
        table.read(columns | {"mse_mean": columns["mse_mean"][1:]}, about)
