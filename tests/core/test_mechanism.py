"""The channel: its probabilities against exact arithmetic, and what it expects of data. One person's report: the coin
against the channel, the onlooker's belief against Bayes' rule by fractions."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse, zipf
from rr_core.limits import EPSILON_MAX, EPSILON_MIN
from rr_core.privacy import answer, posterior, posterior_of_reports
from tests.core import exact
from tests.core.histograms import EPSILONS, epsilons
from tests.sentences import holds

KS = (2, 3, 10, 1000, 1_500_000)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_probabilities_by_epsilon(epsilon):
    for k in KS:
        check_probabilities(k, epsilon)


def check_probabilities(k, epsilon):
    made, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    assert made.p == pytest.approx(float(channel.p), rel=4e-16)
    assert made.q == pytest.approx(float(channel.q), rel=1e-15)
    assert made.keep == pytest.approx(float(channel.keep), rel=1e-15)
    assert made.log_q == pytest.approx(-(epsilon + math.log1p((k - 1) * math.exp(-epsilon))), rel=1e-14)


@holds(
    "A report is at most $e^ε$ times likelier under one truth than under another: 2.72 times at $ε=1$, 1.11 times at $ε=0.1$.",  # noqa: E501
    "ε is the privacy: p/q = eᵋ, the smaller the more private.",
)
@given(st.integers(2, 2_000_000), epsilons)
def test_every_row_of_the_channel_is_a_distribution_with_ratio_e_to_the_epsilon(k, epsilon):
    made = RandomizedResponse(k, epsilon)
    assert made.p + (k - 1) * made.q == pytest.approx(1, rel=1e-14)
    assert made.keep + k * made.q == pytest.approx(1, rel=1e-14)
    assert math.log(made.p / made.q) == pytest.approx(epsilon, rel=1e-14, abs=1e-15)
    assert 2.71 < math.e <= 2.72
    assert 1.10 < math.exp(0.1) <= 1.11


@given(st.integers(2, 100_000), st.floats(1e-12, 1, exclude_max=True))
def test_probabilities_by_p(k, fraction):
    p = 1 / k + fraction * (1 - 1 / k)
    assume(RandomizedResponse(k, EPSILON_MIN).p < p < 1)
    made, channel = RandomizedResponse.from_p(k, p), exact.channel_from_p(k, p)
    assert made.p == p
    assert made.q == pytest.approx(float(channel.q), rel=1e-15)
    assert made.keep == pytest.approx(float(channel.keep), rel=1e-15)
    assert made.truth / made.blur == pytest.approx(float(channel.odds), rel=1e-15)
    assert made.epsilon == pytest.approx(math.log1p(float(channel.odds)), rel=1e-15)


def test_matrix_and_expectation_agree():
    rng = np.random.default_rng(0)
    for k, epsilon in ((2, 0.1), (5, 1.0), (40, 6.0), (3, 700.0)):
        made, theta = RandomizedResponse(k, epsilon), rng.dirichlet(np.ones(k), size=(2, 3))
        assert made.matrix().shape == (k, k)
        np.testing.assert_allclose(made.matrix().sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(made.expected(theta), theta @ made.matrix(), rtol=1e-14)


def test_mechanisms_survive_pickling():
    """Caches and worker processes pickle them, with the exact weights of from_p."""
    made = RandomizedResponse.from_p(9, 0.3)
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert (copy.p, copy.q, copy.truth, copy.blur) == (made.p, made.q, made.truth, made.blur)


@pytest.mark.parametrize("k", [2, 12, 1_500_000])
@pytest.mark.parametrize("r", [1e-12, 0.02, 0.5, 0.999, 1 - 2**-19])
def test_from_redraw_keeps_the_truth_or_draws_from_all(k, r):
    """With exact fractions: q = r/k and p = 1 - r + r/k."""
    made, exact = RandomizedResponse.from_redraw(k, r), Fraction(r)
    assert made.q == pytest.approx(float(exact / k), rel=1e-13)
    assert made.p == pytest.approx(float(1 - exact + exact / k), rel=1e-13)
    assert made.keep == pytest.approx(float(1 - exact), rel=1e-13, abs=1e-15)
    assert math.expm1(made.epsilon) == pytest.approx(float(k * (1 - exact) / exact), rel=1e-11)


@pytest.mark.parametrize("k", [2, 3, 1000, 1_500_000, 10**300])
def test_the_p_of_either_end_of_epsilon_is_taken_and_the_next_one_beyond_is_refused(k):
    for epsilon, beyond in ((EPSILON_MIN, 0), (EPSILON_MAX, 1)):
        p = RandomizedResponse(k, epsilon).p
        if p < 1:
            assert RandomizedResponse.from_p(k, p).epsilon == pytest.approx(epsilon, rel=1e-9)
            assert EPSILON_MIN <= RandomizedResponse.from_p(k, p).epsilon <= EPSILON_MAX
        if 1 / k < (p := math.nextafter(p, beyond)) < 1:
            with pytest.raises(ValueError, match=f"p must be far enough .* from 1e-06 to 700, got {p!r}$"):
                RandomizedResponse.from_p(k, p)


def test_the_largest_p_below_one_is_taken_at_every_k_of_the_app():
    for k in KS:
        p = math.nextafter(1, 0)
        assert RandomizedResponse.from_p(k, p).epsilon == pytest.approx(math.log((k - 1) * 2**53), rel=1e-12)


@pytest.mark.parametrize("r", [1e-300, 0.3, 1 - 1e-6])
def test_redraw_chances_of_any_size(r):
    exact = Fraction(r)
    made = RandomizedResponse.from_redraw(4, r)
    assert math.exp(made.epsilon) == pytest.approx(float(1 + 4 * (1 - exact) / exact), rel=1e-12)


@pytest.mark.parametrize("r", [5e-324, 1e-305, 1 - 1e-8, math.nextafter(1, 0)])
def test_redraw_chances_beyond_the_range_of_epsilon_are_refused(r):
    with pytest.raises(
        ValueError, match=f"r must be far enough from 0 and from 1 .* 1e-06 to 700, got {r!r}$"
    ):
        RandomizedResponse.from_redraw(4, r)


RUNS = 10_000


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon", "truth"), [(2, 0.3, 0), (5, 1.0, 4), (12, 2.5, 6)])
def test_answers_follow_their_row_of_the_channel_and_the_coin_its_chance(k, epsilon, truth):
    mechanism, rng = RandomizedResponse(k, epsilon), np.random.default_rng(1)
    answers = [answer(truth, mechanism, rng) for _ in range(RUNS)]
    seen = np.bincount([one.report for one in answers], minlength=k)
    channel = np.where(np.arange(k) == truth, mechanism.p, mechanism.q)
    assert stats.chisquare(seen, channel * RUNS).pvalue > 1e-6
    heads = sum(one.kept for one in answers)
    assert stats.binomtest(heads, RUNS, mechanism.p - mechanism.q).pvalue > 1e-6
    assert all(one.truth == truth for one in answers)
    assert all(one.report == truth for one in answers if one.kept)
    # Redrawn from all k categories, the truth included.
    redrawn = np.bincount([one.report for one in answers if not one.kept], minlength=k)
    assert stats.chisquare(redrawn).pvalue > 1e-6


def test_an_answer_depends_on_the_seed_alone():
    mechanism = RandomizedResponse(9, 0.5)
    assert answer(3, mechanism, 7) == answer(3, mechanism, np.random.default_rng(7))
    assert len({answer(3, mechanism, seed) for seed in range(40)}) > 5
    one = answer(np.int64(3), mechanism, 7)
    assert [type(x) for x in (one.truth, one.kept, one.report)] == [int, bool, int]


def bayes(report, prior, channel):
    """Pr(truth = x | report) in exact arithmetic."""
    joint = [Fraction(x) * (channel.p if i == report else channel.q) for i, x in enumerate(prior)]
    return [x / sum(joint) for x in joint]


def priors(k):
    rng = np.random.default_rng(k)
    return {
        "uniform": np.full(k, 1 / k),
        "zipf": zipf(k, 2.0),
        "random": rng.dirichlet(np.full(k, 0.3)),
        "with zeros": np.where(np.arange(k) % 2 == 0, 1.0, 0.0),
        "counts": rng.integers(1, 1000, k),
        "certain": np.eye(k)[0],
    }


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, math.log(3), 4.0, 40.0, 700.0])
@pytest.mark.parametrize("k", [2, 3, 40])
def test_the_belief_is_that_of_bayes_rule(k, epsilon):
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    for prior in priors(k).values():
        for report in {0, 1, k - 1}:
            belief = posterior(report, prior, mechanism)
            expected = [float(x) for x in bayes(report, prior.tolist(), channel)]
            np.testing.assert_allclose(belief, expected, rtol=1e-12, atol=1e-300)
            assert belief.sum() == pytest.approx(1, rel=1e-14)


@holds(
    "Nobody's odds between two answers move by more than $e^ε$, whatever they knew before.",
    "One report changes the odds between any two answers by at most eᵋ.",
    "The guarantee holds for every report, whatever an onlooker knows already.",
    "What an onlooker believes after seeing a report: the odds before, times at most $e^ε$.",
)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("k", [2, 3, 40])
def test_no_odds_change_by_more_than_e_to_the_epsilon_and_some_change_by_just_that(k, epsilon):
    mechanism, prior = RandomizedResponse(k, epsilon), zipf(k, 1.3)
    for report in (0, k - 1):
        moved = posterior(report, prior, mechanism) / prior
        change = moved[:, None] / moved  # of the odds of x against y
        assert change.max() == pytest.approx(math.exp(epsilon), rel=1e-12)
        assert change.min() == pytest.approx(math.exp(-epsilon), rel=1e-12)
        others = np.delete(np.arange(k), report)
        np.testing.assert_allclose(change[report, others], math.exp(epsilon), rtol=1e-12)
        np.testing.assert_allclose(change[np.ix_(others, others)], 1, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, math.log(3), 4.0, 40.0, 700.0])
@pytest.mark.parametrize("reports", [[], [0], [0, 1], [2, 2, 0], [1, 1, 1, 0, 0, 2, 2], [0] * 20])
def test_the_belief_after_several_reports_is_that_of_bayes_rule(reports, epsilon):
    """Each report is a draw of its own from the row of the truth: the chances multiply."""
    mechanism, channel = RandomizedResponse(3, epsilon), exact.channel_from_epsilon(3, epsilon)
    for prior in priors(3).values():
        joint = [Fraction(x) for x in prior.tolist()]
        for report in reports:
            joint = [x * (channel.p if i == report else channel.q) for i, x in enumerate(joint)]
        expected = [float(x / sum(joint)) for x in joint]
        belief = posterior_of_reports(reports, prior, mechanism)
        np.testing.assert_allclose(belief, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_several_reports_change_the_odds_by_at_most_their_epsilons_together_and_can_by_just_that(m):
    mechanism, prior = RandomizedResponse(4, 0.7), zipf(4, 1.3)
    rng = np.random.default_rng(m)
    largest = 0.0
    for reports in [[0] * m, *rng.integers(0, 4, (50, m)).tolist()]:
        moved = posterior_of_reports(reports, prior, mechanism) / prior
        largest = max(largest, float(moved.max() / moved.min()))
    assert largest == pytest.approx(math.exp(m * 0.7), rel=1e-12)


@holds(
    "Nobody in the population has what was reported: this report is noise for certain, and an onlooker's belief stays as it was."  # noqa: E501
)
def test_a_report_of_what_nobody_has_leaves_the_belief_as_it_was():
    for epsilon in (0.1, 20.0, 700.0):
        assert posterior(1, [1, 0], RandomizedResponse(2, epsilon)).tolist() == [1, 0]
        belief = posterior(2, [0.25, 0.75, 0], RandomizedResponse(3, epsilon))
        np.testing.assert_allclose(belief, [0.25, 0.75, 0], rtol=1e-15)
