"""A count pushed down, level by level, is what the estimators say of the full histogram."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, Scenario, collinearity, inv_n, inv_p, mle_star
from rr_core.geometry.push_down import push_down, push_down_candidates
from tests.core.histograms import counts, everyday_epsilons


def by_hand(histogram, category, count):
    """The full histogram in which the category has ``count`` reports, the rest going to the most reported other."""
    pushed = np.array(histogram, dtype=float)
    others = [i for i in range(len(pushed)) if i != category]
    most = max(others, key=lambda i: pushed[i])
    pushed[most] += pushed[category] - count
    pushed[category] = count
    return pushed


def levelled(histogram, mechanism):
    """Every category that InvP drops given the average of those."""
    spread = np.array(histogram, dtype=float)
    dropped = inv_p(histogram, mechanism) == 0
    if dropped.any():
        spread[dropped] = spread[dropped].mean()
    return spread


def check(found, histogram, category, mechanism):
    for index, count in enumerate(found.counts):
        full = by_hand(histogram, category, count)
        alone, here = collinearity(full, mechanism), found.collinearity_at(index)
        np.testing.assert_array_equal(here.supports, alone.supports)
        assert here.same_support == alone.same_support
        assert here.residual == pytest.approx(alone.residual, rel=1e-6, abs=1e-11)
        if alone.length > 1e-6:
            assert here.length == pytest.approx(alone.length, rel=1e-9)
            assert here.position == pytest.approx(alone.position, rel=1e-6, abs=1e-9)
        estimates = (make(full, mechanism)[category] for make in (inv_p, mle_star, inv_n))
        assert found.positive[index].tolist() == [share > 0 for share in estimates]


@pytest.mark.slow
@settings(max_examples=25)
@given(counts(max_k=9, largest=300), everyday_epsilons, st.data())
def test_every_count_agrees_with_the_full_histogram(histogram, epsilon, data):
    category = data.draw(st.sampled_from([i for i, count in enumerate(histogram) if count]))
    mechanism = RandomizedResponse(len(histogram), epsilon)
    check(push_down(histogram, category, mechanism), histogram, category, mechanism)


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("k", [40, 3000])
def test_many_categories_with_shared_counts(k, level):
    draw = Scenario("zipf", k, 1.1, 2.0, 20 * k, 6).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=level)
    start = levelled(draw.counts, draw.mechanism) if level else draw.counts
    check(found, start, category, draw.mechanism)


def test_the_most_reported_category_can_be_pushed_below_the_second():
    histogram, mechanism = [50, 30, 20, 4], RandomizedResponse(4, 1.0)
    check(push_down(histogram, 0, mechanism), histogram, 0, mechanism)


def test_levelled_it_begins_on_the_line_with_inv_p_unmoved_and_leaves_it():
    draw = Scenario("zipf", 500, 1.3, 1.0, 10_000, 1).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    raw = push_down(draw.counts, category, draw.mechanism)
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    start = found.collinearity_at(-1)
    assert not raw.collinearity_at(-1).same_support
    assert start.same_support
    assert start.residual < 1e-12
    assert start.supports[0] == raw.collinearity_at(-1).supports[0]
    spread = levelled(draw.counts, draw.mechanism)
    np.testing.assert_allclose(
        inv_p(spread, draw.mechanism), inv_p(draw.counts, draw.mechanism), rtol=1e-9, atol=1e-12
    )
    off = found.collinearity.residual / found.collinearity.length
    assert off.max() > 0.01
    assert (off[found.positive.all(axis=1)] < 1e-9).all()


def test_inv_p_drops_it_first_and_inv_n_last_and_the_zone_between_is_tried_closely():
    draw = Scenario("zipf", 12, 4.0, 1.0, 2_000_000, 0).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    assert found.counts[0] == 0
    assert found.counts[-1] == draw.counts[category]
    assert (np.diff(found.counts) > 0).all()
    assert len(found.counts) <= 200
    starts = [int(kept.argmax()) for kept in found.positive.T]
    assert starts[2] <= starts[1] <= starts[0]
    disputed = found.positive.any(axis=1) & ~found.positive.all(axis=1)
    assert disputed.sum() >= 30


def test_candidates_are_kept_by_all_and_have_the_fewest_reports():
    draw = Scenario("zipf", 2000, 1.1, 3.0, 40_000, 2).draw()
    chosen = push_down_candidates(draw.counts, draw.mechanism, most=10)
    kept = np.flatnonzero(inv_p(draw.counts, draw.mechanism) > 0)
    expected = kept[np.argsort(draw.counts[kept], kind="stable")][:10]
    np.testing.assert_array_equal(chosen, expected)
    few = push_down_candidates([9, 1, 0, 8], RandomizedResponse(4, 1.0))
    assert few.tolist() == [3, 0]
    tiny = push_down_candidates(np.array([9, 1, 0, 8]) * 1e-200, RandomizedResponse(4, 1.0))
    assert tiny.tolist() == [3, 0]


def test_a_single_report_moves_to_another_category():
    found = push_down([0, 1], 1, RandomizedResponse(2, 1.0))
    assert found.counts.tolist() == [0, 1]
    assert found.collinearity.length.tolist() == [0, 0]
