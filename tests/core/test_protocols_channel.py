"""Channels: what they grant, what they identify, how they randomize; against exact rationals and exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core.protocols import Channel
from tests.core import exact
from tests.core.laws import chi_square_p

SAMPLES = 20_000


@st.composite
def rational_rows(draw: st.DrawFn, k: int | None = None, m: int | None = None) -> list[list[Fraction]]:
    """The rows of a channel with k <= 4 truths and m <= 4 reports, as fractions; zeros and equal rows are common."""
    k = draw(st.integers(2, 4)) if k is None else k
    m = draw(st.integers(1, 4)) if m is None else m
    entries = st.lists(st.integers(0, 6), min_size=m, max_size=m).filter(any)
    rows = [draw(entries) for _ in range(k)]
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


def channel(rows: list[list[Fraction]]) -> Channel:
    return Channel(np.array(rows, dtype=float))


def rank(rows: list[list[Fraction]]) -> int:
    """By elimination."""
    left, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((row for row in left if row[column]), None)
        if pivot is not None:
            found += 1
            left.remove(pivot)
            left = [
                [a - row[column] / pivot[column] * b for a, b in zip(row, pivot, strict=True)] for row in left
            ]
    return found


@given(rational_rows())
def test_epsilon_is_the_largest_log_ratio_in_a_column(rows):
    made, largest = channel(rows), Fraction(1)
    for column in zip(*rows, strict=True):
        if min(column) == 0 < max(column):
            assert made.epsilon == math.inf
            return
        if max(column):
            largest = max(largest, max(column) / min(column))
    assert made.epsilon == pytest.approx(math.log(largest), rel=1e-12, abs=1e-15)


@given(rational_rows())
def test_rank_and_whether_the_truth_is_identified(rows):
    made = channel(rows)
    assert made.rank == rank(rows)
    assert made.identified == (rank(rows) == len(rows))
    assert math.isfinite(made.condition_number) == made.identified
    assert made.condition_number >= 1 - 1e-12


def test_properties_of_a_few_channels_by_hand():
    assert Channel([[0.75, 0.25, 0], [0.25, 0.75, 0]]).possible.tolist() == [True, True, False]
    assert Channel(np.eye(3)).condition_number == 1.0
    assert Channel.warner(0.75).condition_number == pytest.approx(2.0, rel=1e-12)
    of_three = Channel([[0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    assert of_three.epsilon_per_step == pytest.approx(math.log(2), rel=1e-14)
    assert Channel([[1, 0], [1, 0], [0, 1]]).epsilon_per_step == math.inf


def test_the_matrix_is_a_copy_that_cannot_be_changed():
    matrix = np.eye(2)
    made = Channel(matrix)
    matrix[:] = 0.5
    assert made.matrix.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        made.matrix[0, 0] = 0.5


@pytest.mark.parametrize(
    ("forced", "epsilon"),
    [
        ([1 / 6, 1 / 6], math.log(5)),
        ([0.1, 0.3], math.log(0.7 / 0.1)),  # a "no" is 0.7 likely given no, and 0.1 given yes
        ([0.0, 0.3], math.inf),
        ([0.4, 0.6], 0.0),
        ([0.1, 0.2, 0.3], math.log(0.5 / 0.1)),
    ],
)
def test_forced_response(forced, epsilon):
    made = Channel.forced_response(forced)
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12, abs=1e-12)
    told = 1 - sum(forced)
    np.testing.assert_allclose(made.matrix, told * np.eye(len(forced)) + np.tile(forced, (len(forced), 1)))
    assert made.identified == (told > 1e-9)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 20.0, 700.0])
def test_equal_forcing_and_randomized_response_are_one_channel(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    made = Channel.k_rr(mechanism)
    np.testing.assert_array_equal(made.matrix, mechanism.matrix())
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12)
    forced = Channel.forced_response(np.full(k, mechanism.q))
    np.testing.assert_allclose(forced.matrix, made.matrix, rtol=1e-12)
    theta = np.arange(k) / (k * (k - 1) / 2)
    np.testing.assert_allclose(made.expected(theta), mechanism.expected(theta), rtol=1e-12)


@pytest.mark.parametrize(("k", "step"), [(2, 0.5), (3, 1e-6), (4, 0.5), (50, 2.0), (8, 100.0)])
def test_truncated_geometric_noise(k, step):
    made = Channel.truncated_geometric(k, step)
    assert made.epsilon_per_step == pytest.approx(step, rel=1e-9)
    assert made.epsilon == pytest.approx((k - 1) * step, rel=1e-9)
    assert made.identified
    a = math.exp(-step)
    for truth in range(k):  # the noise is summed far beyond the ends
        law = np.zeros(k)
        for noise in range(-2000, 2001):
            law[min(max(truth + noise, 0), k - 1)] += (1 - a) / (1 + a) * a ** abs(noise)
        if step > 0.1:
            np.testing.assert_allclose(made.matrix[truth], law, rtol=1e-9, atol=1e-300)
    if k == 2:
        np.testing.assert_allclose(made.matrix, RandomizedResponse(2, step).matrix(), rtol=1e-12)


@pytest.mark.slow
@settings(max_examples=12)
@given(rational_rows(), st.data())
def test_randomize_histogram_has_its_exact_law(rows, data):
    """Every histogram of at most six reports, enumerated; p-values of 12 tests, all above 1e-4/12."""
    k = len(rows)
    people = data.draw(
        st.lists(st.integers(0, 6 // k + 1), min_size=k, max_size=k).filter(lambda c: 0 < sum(c) <= 6)
    )
    law = exact.histogram_law(people, rows)
    assert sum(law.values()) == 1
    made, rng = channel(rows), np.random.default_rng(7)
    drawn = made.randomize_histogram(np.tile(people, (SAMPLES // 4, 1)), rng)
    outcomes = {counts: number for number, counts in enumerate(law)}
    samples = np.array([outcomes[tuple(counts)] for counts in drawn.tolist()])
    if len(law) > 1:
        assert chi_square_p(samples, np.array([float(chance) for chance in law.values()])) > 1e-4 / 12


@pytest.mark.parametrize("shape", [(0,), (5,), (2, 3)])
def test_randomize_keeps_the_shape_and_takes_every_kind_of_integer(shape):
    made = Channel([[0.5, 0.25, 0.25], [0, 0.5, 0.5]])
    for kind in (np.int8, np.uint64, np.int64):
        reports = made.randomize(np.ones(shape, dtype=kind), 3)
        assert reports.shape == shape
        assert reports.dtype == np.int64
        assert (reports > 0).all()
    assert made.randomize([], 1).shape == (0,)


def test_randomize_has_its_law():
    rows = [[Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)], [Fraction(0), Fraction(1), 0, 0]]
    made = Channel(np.array(rows, dtype=float))
    values = np.tile([0, 0, 1], SAMPLES)
    reports = made.randomize(values, 11)
    assert (reports[values == 1] == 1).all()
    assert not (reports[values == 0] == 1).any()
    law = np.array([1 / 2, 0, 1 / 3, 1 / 6])
    assert chi_square_p(reports[values == 0], law) > 1e-4


def test_a_billion_users_and_batches():
    made = Channel([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    counts = np.array([[[10**9, 5 * 10**8]], [[0, 7]], [[0, 0]]])
    reports = made.randomize_histogram(counts, 1)
    assert reports.shape == (3, 1, 3)
    np.testing.assert_array_equal(reports.sum(axis=-1), counts.sum(axis=-1))
    expected = counts[0, 0] @ made.matrix
    assert (np.abs(reports[0, 0] - expected) < 6 * np.sqrt(expected)).all()


def test_more_entries_than_are_drawn_at_once():
    made = Channel(np.tile(np.arange(1, 1001) / 500_500, (1500, 1)))
    counts = np.full(1500, 1000)
    reports = made.randomize_histogram(counts, 1)
    assert reports.sum() == counts.sum()
    expected = counts @ made.matrix
    assert ((reports - expected) ** 2 / expected).sum() < 1000 + 6 * math.sqrt(2000)
