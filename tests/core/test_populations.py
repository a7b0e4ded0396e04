"""Populations: shapes for any K, and the published tables."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rr_core import Population, populations, zipf

KS = (2, 3, 5, 9, 10, 12, 1000, 1_500_000)


@pytest.mark.slow
@pytest.mark.parametrize("s", [0, 1, 2, 5])
@pytest.mark.parametrize("k", [2, 3, 50, 400])
def test_zipf_is_rank_to_the_minus_s(k, s):
    weights = [Fraction(1, rank**s) for rank in range(1, k + 1)]
    np.testing.assert_allclose(zipf(k, s), [float(w / sum(weights)) for w in weights], rtol=2e-14)


def test_zipf_takes_any_exponent():
    np.testing.assert_allclose(
        zipf(4, 0.5), np.arange(1, 5) ** -0.5 / math.fsum(np.arange(1, 5) ** -0.5), rtol=1e-14
    )
    assert zipf(3, 500)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", populations.SHAPES)
@pytest.mark.parametrize("k", KS)
def test_every_shape_is_a_distribution_at_every_k(shape, k):
    made = populations.build(shape, k, 1.3)
    assert made.k == k == made.probabilities.size
    assert math.fsum(made.probabilities) == pytest.approx(1, abs=1e-12)
    assert made.probabilities.min() >= 0
    assert not made.probabilities.flags.writeable
    assert made.counts is made.labels is made.total is None


def test_what_each_shape_promises():
    build = {name: populations.build(name, 100, 1.0).probabilities for name in populations.SHAPES}
    np.testing.assert_allclose(build["uniform"], 0.01)
    np.testing.assert_allclose(build["geometric"][10:] / build["geometric"][:-10], 0.5, rtol=1e-12)
    assert build["dominant"][0] == 0.8
    np.testing.assert_allclose(build["dominant"][1:], 0.2 / 99)
    assert build["step"][:20].sum() == pytest.approx(0.8)
    np.testing.assert_allclose(build["step"][20:], 0.2 / 80)
    humps = build["humps"]
    peaks = [i for i in range(1, 99) if humps[i] > humps[i - 1] and humps[i] >= humps[i + 1]]
    assert len(peaks) == 2
    assert humps[:48].sum() == pytest.approx(0.6, abs=0.02)
    np.testing.assert_allclose(populations.build("geometric", 5, 1.0).probabilities[1:] * 2,
                               populations.build("geometric", 5, 1.0).probabilities[:-1], rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    ("key", "k", "total", "first"),
    [
        ("exam", 12, 2_000, ("Copied", 611)),
        ("letters", 26, 935_819, ("a", 76_494)),
        ("schooling", 16, 32_561, ("HS-grad", 10_501)),
        ("work", 9, 32_561, ("Private", 22_696)),
    ],
)
def test_the_tables(key, k, total, first):
    made = populations.build(key, 7, 0.0)
    assert (made.k, made.total) == (k, total)
    assert (made.labels[0], made.counts[0]) == first
    assert len(set(made.labels)) == k
    np.testing.assert_allclose(made.probabilities, made.counts / total, rtol=1e-15)
    assert made.source
    assert not made.counts.flags.writeable


def test_letters_are_the_alphabet_and_e_leads():
    letters = populations.build("letters", 2, 0)
    assert "".join(letters.labels) == "abcdefghijklmnopqrstuvwxyz"
    assert letters.labels[int(letters.counts.argmax())] == "e"


def test_only_zipf_has_an_exponent():
    for name in populations.SHAPES:
        one, two = (populations.build(name, 7, s).probabilities for s in (1.0, 2.0))
        assert np.array_equal(one, two) == (name != "zipf"), name


def test_keys_tell_populations_apart():
    keys = [
        populations.build(name, k, s).key for name in populations.SHAPES for k in (5, 6) for s in (1.0, 2.0)
    ]
    assert len(set(keys)) == 2 * len(populations.SHAPES) + 2
    assert Population.from_weights([1, 2]).key == Population.from_weights(np.array([1, 2])).key
    different = [[1, 2], [2, 1], [1, 2, 0], [1.0, 2.0]]
    assert len({Population.from_weights(weights).key for weights in different}) == 4
    assert Population.from_weights([1, 2], ["a", "b"]).key != Population.from_weights([1, 2], ["a", "c"]).key


def test_a_population_from_counts_or_shares():
    people = Population.from_weights([3, 0, 1], ["x", "y", "z"], "a survey")
    assert (people.k, people.total, people.labels, people.source) == (3, 4, ("x", "y", "z"), "a survey")
    assert people.probabilities.tolist() == [0.75, 0, 0.25]
    shares = Population.from_weights([1.5, 0.5])
    assert (shares.total, shares.probabilities.tolist()) == (None, [0.75, 0.25])


def test_a_population_does_not_follow_its_source_array():
    weights = np.array([3, 1])
    made = Population.from_weights(weights)
    weights[:] = 99
    assert made.counts.tolist() == [3, 1]
    assert made.probabilities.tolist() == [0.75, 0.25]
