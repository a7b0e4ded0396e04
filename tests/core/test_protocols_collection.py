"""One collection through a channel: its parts agree with the functions that they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse, ibu_channel, inv, mle_star, protocols
from rr_core.protocols import Channel, collect, ibu_path_channel, merge_rarest
from rr_core.protocols.collection import collect_unary, one_person
from rr_core.protocols.unary import UnaryEncoding, inv_unary
from tests.sentences import holds


def test_k_rr_as_a_channel_gives_the_estimates_of_k_rr():
    mechanism = RandomizedResponse(6, 1.2)
    found = collect(Channel.k_rr(mechanism), [400, 300, 200, 60, 30, 10], 4)
    assert found.counts.sum() == 1000
    np.testing.assert_allclose(found.inv, inv(found.counts, mechanism), atol=1e-12)
    np.testing.assert_allclose(found.mle.theta, mle_star(found.counts, mechanism), atol=1e-6)
    np.testing.assert_allclose(found.theta, [0.4, 0.3, 0.2, 0.06, 0.03, 0.01])
    np.testing.assert_allclose(found.phi, found.counts / 1000)
    # A channel that tells nothing has no unbiased estimate, and still a most likely one.
    blind = collect(Channel.warner(0.5), [70, 30], 1)
    assert blind.inv is None
    assert blind.mle.gap < 1e-9


def test_the_path_of_ibu_is_its_iterates():
    rng, numbers = np.random.default_rng(1), [0, 1, 2, 7, 200]
    channel = Channel(rng.dirichlet(np.ones(4), size=3))
    counts = rng.integers(1, 50, 4)
    wanted = [ibu_channel(counts, channel.matrix, iterations) for iterations in numbers]
    np.testing.assert_allclose(ibu_path_channel(counts, channel, numbers), wanted, rtol=1e-9, atol=1e-14)


def test_the_rarest_categories_are_merged():
    counts, names = merge_rarest([5, 9, 1, 2], ["a", "b", "c", "d"], 2, [0.3, 0.3, 0.2, 0.2])
    assert (counts.tolist(), names) == ([5, 12], ("a", "all others"))
    counts, names = merge_rarest([1, 2, 9, 3], ["a", "b", "c", "d"], 3, [1, 4, 9, 2])
    assert (counts.tolist(), names) == ([2, 9, 4], ("b", "c", "all others"))
    counts, names = merge_rarest([5, 9], None, 2, [0.5, 0.5])
    assert (counts.tolist(), names) == ([5, 9], None)


@holds("The most by which solving the equations of a channel can enlarge a relative error.")
@given(st.integers(0, 10_000))
def test_inv_enlarges_a_relative_error_at_most_by_the_condition_number(seed):
    """Also by least squares among shares with sum one, where there are more reports than truths."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    channel = Channel(rng.dirichlet(np.full(k + int(rng.integers(0, 4)), 0.5), size=k))
    theta = rng.dirichlet(np.full(k, 0.5))
    phi = channel.expected(theta)
    seen = rng.multinomial(100, phi) / 100
    off = np.linalg.norm(protocols.inv(seen, channel) - theta) / np.linalg.norm(theta)
    assert (
        off <= channel.condition_number * np.linalg.norm(seen - phi) / np.linalg.norm(phi) * (1 + 1e-6) + 1e-9
    )


@pytest.mark.parametrize("optimized", [False, True])
def test_estimates_of_a_collection_of_bits_are_those_of_its_support(optimized):
    protocol = UnaryEncoding(5, 1.5, optimized)
    found = collect_unary(protocol, [500, 300, 150, 40, 10], 1)
    np.testing.assert_array_equal(found.support, found.reports.sum(axis=0))
    by_hand = (found.support / 1000 - protocol.q) / (protocol.p - protocol.q)
    np.testing.assert_allclose(found.inv, by_hand, atol=1e-12)
    np.testing.assert_allclose(found.inv_n.sum(), 1)
    np.testing.assert_allclose(found.inv_p.sum(), 1)
    assert found.mle.gap <= 1e-6


def test_of_many_bits_the_sums_alone_are_drawn():
    found = collect_unary(UnaryEncoding(4, 1.0), [10**9, 0, 0, 0], 1)
    assert found.reports is None
    assert found.mle is None
    np.testing.assert_allclose(found.inv, [1, 0, 0, 0], atol=5e-4)


@holds(
    "Debiasing needs nothing but K, ε and the number of reports N, so it can be done once, on the counts: with $Y$ the reports of a category and $r = Kq$ the chance that k-RR draws a category at random,"  # noqa: E501
)
@given(st.integers(2, 6), st.floats(0.05, 5), st.integers(0, 100))
def test_debiasing_every_report_and_adding_is_adding_and_debiasing_once(k, epsilon, seed):
    mechanism, protocol = RandomizedResponse(k, epsilon), UnaryEncoding(k, epsilon)
    rng = np.random.default_rng(seed)
    values = rng.integers(0, k, 40)
    reports, bits = mechanism.randomize(values, rng), protocol.randomize(values, rng)
    one_by_one = inv(np.eye(k)[reports], mechanism).sum(axis=0) / 40
    counts = np.bincount(reports, minlength=k)
    np.testing.assert_allclose(one_by_one, inv(counts, mechanism), atol=1e-9)
    # The blog's form, with r the chance of a uniform redraw.
    r = k * mechanism.q
    np.testing.assert_allclose((counts - 40 * r / k) / (1 - r), 40 * one_by_one, rtol=1e-7, atol=1e-7)
    each = inv_unary(bits, protocol, 1).sum(axis=0) / 40
    np.testing.assert_allclose(each, inv_unary(bits.sum(axis=0), protocol, 40), atol=1e-9)


@holds("Its sum is 1, and over many tosses of the coin it is right on average.")
def test_one_debiased_report_sums_to_one_and_is_right_on_average():
    mechanism, protocol = RandomizedResponse(4, 1.0), UnaryEncoding(4, 1.0)
    people = [one_person([0, 0, 7, 0], mechanism, protocol, seed) for seed in range(1000)]
    assert {person.truth for person in people} == {2}
    debiased = np.array([person.debiased for person in people])
    np.testing.assert_allclose(debiased.sum(axis=1), 1, atol=1e-12)
    for values in (debiased, np.array([person.debiased_bits for person in people])):
        error = values.std(axis=0) / np.sqrt(len(people))
        assert (np.abs(values.mean(axis=0) - [0, 0, 1, 0]) < 4.5 * error).all()
    person = people[0]
    assert set(person.debiased_bits.round(9)) <= {round(person.one, 9), round(person.zero, 9)}
