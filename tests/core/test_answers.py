"""`rr_core.analyse`: counts and answers of every kind, in one call."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rr_core
from rr_core import RandomizedResponse
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import analyse as analysed
from rr_core.script import VERSION

K_RR = RandomizedResponse(3, 2.0)
ANSWERS = ["b"] * 50 + ["a"] * 120 + ["c"] * 30
COUNTS = {"a": 120, "b": 50, "c": 30}
WANTED = analysed(list(COUNTS.values()), K_RR)


@pytest.mark.parametrize(
    "given",
    [
        COUNTS,
        pd.Series(COUNTS),
        list(COUNTS.values()),
        np.array(list(COUNTS.values())),
        ANSWERS,
        pd.Categorical(ANSWERS),
        pd.Series(pd.Categorical(ANSWERS)),
        pd.Series([*ANSWERS, None, float("nan")]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_counts_and_answers_are_the_same_reports(given):
    found = rr_core.analyse(given, K_RR)
    for name, estimate in WANTED.estimates.items():
        np.testing.assert_array_equal(found.estimates[name], estimate)
    if not isinstance(given, list | np.ndarray) or given is ANSWERS:
        assert found.categories == ("a", "b", "c")
    frame = found.frame()
    assert list(frame.columns[:5]) == ["category", "reports", "share", "low", "high"]
    assert frame["reports"].tolist() == [120, 50, 30]


def test_categories_that_nobody_reported_are_part_of_it_where_they_are_declared():
    series = pd.Series(pd.Categorical(["a", "b"] * 30, categories=["a", "b", "c"]))
    assert rr_core.analyse(series, K_RR).reports.tolist() == [[30, 30, 0]]
    assert rr_core.analyse(["a", "b"] * 30, K_RR, labels=["a", "b", "c"]).reports.tolist() == [[30, 30, 0]]
    assert rr_core.analyse([0, 1] * 30, K_RR, by=[1] * 60).reports.tolist() == [[30, 30, 0]]
    with pytest.raises(ValueError, match="labels must be the 3 reports"):
        rr_core.analyse(["a", "b"] * 30, K_RR)


def test_the_columns_of_a_table_have_an_order_that_nobody_guesses():
    warner = Channel.warner(0.7)
    with pytest.raises(ValueError, match="labels must name the reports in the order"):
        rr_core.analyse(["ja", "nein"] * 20, warner)
    found = rr_core.analyse(["ja", "nein", "ja"] * 20, warner, labels=["nein", "ja"])
    assert (found.categories, found.reports.tolist()) == (("nein", "ja"), [[20, 40]])
    found = rr_core.analyse([1, 0, 1] * 20, warner, by=["x", "y", "x"] * 20)
    assert found.reports.tolist() == [[0, 40], [20, 0]]
    other = rr_core.analyse({"red": 3, "black": 9}, warner, truths=["no", "yes"])
    assert other.columns()["reports"].tolist() == [-1, -1]


def test_groups_and_weights_leave_out_what_is_missing():
    by = ["x", None, "y", "x"]
    found = rr_core.analyse(["a", "b", "c", None], K_RR, by=by, labels="abc")
    assert (found.groups, found.reports.tolist()) == (("x", "y"), [[1, 0, 0], [0, 0, 1]])
    rng = np.random.default_rng(1)
    weights, units = rng.uniform(1, 3, 200), np.arange(200) // 4
    weighted = rr_core.analyse(ANSWERS, K_RR, weights=weights, units=units)
    shares = np.array([weights[np.array(ANSWERS) == name].sum() for name in "abc"]) / weights.sum()
    np.testing.assert_allclose(weighted.estimates["inv"], (shares - K_RR.q) / K_RR.keep, atol=1e-12)
    assert weighted.analyses[0].degrees_of_freedom == 49
    assert "design_effect" in weighted.frame()


def test_unary_encoding_takes_its_bits_with_their_names():
    protocol = UnaryEncoding(3, 1.5)
    reports = protocol.randomize(np.repeat([0, 1, 2], [60, 30, 10]), 2)
    bits = pd.DataFrame(reports, columns=["bus", "car", "train"])
    found = rr_core.analyse(bits, protocol)
    assert found.categories == ("bus", "car", "train")
    wanted = analysed(bits.sum().to_numpy(), protocol, n=100, bits=(bits.to_numpy(), np.ones(100)))
    np.testing.assert_array_equal(found.estimates["mle"], wanted.estimates["mle"])
    by_group = rr_core.analyse(bits, protocol, by=["x", "y"] * 50)
    assert by_group.reports.sum(axis=0).tolist() == bits.sum().tolist()
    weights, by = np.arange(1, 101) / 50, np.array(["x", "y", None, "x"] * 25)
    found = rr_core.analyse(bits, protocol, by=by, weights=weights, units=np.arange(100) // 4)
    for group, one in zip(found.groups, found.analyses, strict=True):
        mine = by == group
        shares = weights[mine] @ bits[mine].to_numpy() / weights[mine].sum()
        np.testing.assert_allclose(one.estimates["inv"], (shares - protocol.q) / protocol.keep, atol=1e-12)
        assert (one.n, one.degrees_of_freedom) == (mine.sum(), 24)
    with pytest.raises(ValueError, match="reports must be an array of 0 and 1"):
        rr_core.analyse(bits + 1, protocol)


def test_the_version_is_that_of_the_scripts():
    assert rr_core.__version__ == VERSION
