"""The exact test and the exact intervals of two reports: by enumeration of all reports of few people. Tests against zero
under tables of chances, beside every collection that there can be."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rr_core.io import Source, read_reports
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols import Channel
from rr_core.protocols.channel_estimation import inv_channel
from rr_core.reports import fit_test
from rr_core.reports import intervals as module
from rr_core.reports.analysis import analyse
from rr_core.reports.intervals import fit_of_two, interval_of_two
from rr_core.reports.saddlepoint import _tails
from rr_core.reports.survey import Sample, analyse_groups

SHARED = Path(__file__).parents[3] / "shared"
CHANCES = [(0.25, 0.75), (1 / 6, 1.0), (0.0, 1 / 6), (0.8, 0.2), (0.45, 0.55)]


def laws(n, chances):
    """The truth's share and the law of the ones: for all given users, and for populations on a grid."""
    none, every = chances
    for people in range(n + 1):
        law = np.convolve(
            stats.binom.pmf(range(n - people + 1), n - people, none),
            stats.binom.pmf(range(people + 1), people, every),
        )
        yield "fixed", people / n, law
    for share in np.linspace(0, 1, 41):
        yield "sampled", share, stats.binom.pmf(range(n + 1), n, none + share * (every - none))


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("n", [1, 3, 8, 47])
def test_intervals_hold_the_truth_and_the_test_keeps_its_level_whatever_the_truth(n, chances):
    """Forced answers with few yes among them: the normal intervals held 89% to 92% there."""
    known = [*laws(n, chances)]
    for level in (0.9, 0.95, 0.99):
        limits = {
            users: np.array([interval_of_two(ones, n, chances, 1 - level, users) for ones in range(n + 1)])
            for users in ("fixed", "sampled")
        }
        for users, share, law in known:
            held = (limits[users][:, 0] <= share + 1e-9) & (share - 1e-9 <= limits[users][:, 1])
            assert law[held].sum() >= level - 1e-9
    fits = np.array([fit_of_two(ones, n, chances) for ones in range(n + 1)])
    assert ((fits >= 0) & (fits <= 1)).all()
    for _, _, law in known:
        for size in (0.01, 0.05, 0.2):
            assert law[fits <= size].sum() <= size * (1 + 1e-9)


@pytest.mark.parametrize("chances", CHANCES)
def test_the_p_value_is_the_largest_chance_of_no_better_a_fit_over_all_truths(chances):
    """And so no smaller one would keep its level."""
    n, (low, high) = 17, sorted(chances)

    def ratio(ones):
        best = min(max(ones / n, low), high)
        parts = ((ones, best), (n - ones, 1 - best))
        return sum(c * math.log(c / (n * m)) if m else math.inf for c, m in parts if c)

    known = [law for _, _, law in laws(n, chances)]
    for ones in range(n + 1):
        worse = [i for i in range(n + 1) if ratio(i) >= ratio(ones) - 1e-9]
        most = max(law[worse].sum() for law in known)
        assert fit_of_two(ones, n, chances) == pytest.approx(most, abs=1e-9)


def test_beyond_the_last_exact_number_of_users_the_limits_go_on(monkeypatch):
    for ones, chances in itertools.product((52_000, 30_000, 25_500), CHANCES[:3]):
        exact = interval_of_two(ones, 90_000, chances, 0.05, "fixed")
        monkeypatch.setattr(module, "MOST_EXACT", 10)
        near = interval_of_two(ones, 90_000, chances, 0.05, "fixed")
        monkeypatch.undo()
        width = exact[1] - exact[0]
        assert near == pytest.approx(exact, abs=0.02 * width + 1e-12)
        sampled = interval_of_two(ones, 90_000, chances, 0.05, "sampled")
        assert sampled[1] - sampled[0] >= width - 1e-9


def counts_of_case():
    if not SHARED.exists():
        pytest.skip("the folder of shared cases is missing")
    read = read_reports([Source("r.csv", (SHARED / "cases" / "warner_30_of_35.csv").read_bytes())])
    return dict(zip(read.labels, read.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("yes", "no", "p"), [(783, 217, 0.75), (30, 5, 0.7), (775, 225, 0.75), (20, 15, 0.7)]
)
def test_the_same_mechanism_gets_the_same_verdict_however_it_is_named(yes, no, p):
    if (yes, no) == (30, 5):
        assert counts_of_case() == {"yes": yes, "no": no}
    named = [
        fit_test([no, yes], RandomizedResponse.from_p(2, p), 100),
        analyse([no, yes], Channel.warner(p)),
        analyse([no, yes], Channel.forced_response([1 - p, 1 - p])),
        analyse([yes, no], Channel([[1 - p, p], [p, 1 - p]])),
    ]
    values = [named[0].p_value, *(found.fit.p_value for found in named[1:])]
    assert values == pytest.approx([values[0]] * 4, rel=1e-9)
    assert named[0].is_exact
    expected = stats.binom.sf(yes - 1, yes + no, p) + stats.binom.cdf(no, yes + no, p)
    assert values[0] == pytest.approx(expected if yes > p * (yes + no) else 1.0)
    assert named[0].rejects() == named[1].fit.rejected == (expected <= 0.05 and yes > p * (yes + no))
    for found in named[1:3]:
        outside = found.interval.low[1] > 1
        assert outside == (stats.binom.sf(yes - 1, yes + no, p) < 0.025)
        assert (found.interval.low < found.interval.high).all()


@pytest.mark.parametrize("counts", [[120, 60, 20], [160, 38, 2], [900, 50, 50]])
def test_k_rr_as_a_table_gets_the_verdict_of_k_rr(counts):
    q = 1 / 6
    usual = fit_test(counts, RandomizedResponse.from_p(3, 1 - 2 * q))
    found = analyse(counts, Channel.forced_response([q] * 3))
    exchanged = analyse(counts[::-1], Channel(Channel.forced_response([q] * 3).matrix[:, ::-1]))
    assert found.fit.rejected == exchanged.fit.rejected == usual.rejects()
    assert found.fit.p_value == exchanged.fit.p_value == usual.p_value
    assert found.fit.simulated == usual.done


def compositions(n, m):
    """All counts of n reports of m kinds."""
    if m == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, m - 1):
            yield (first, *rest)


@pytest.mark.parametrize(
    "channel",
    [
        Channel.forced_response([1 / 6, 1 / 12, 1 / 4]),
        Channel.forced_response([0.2, 0.2, 0.2]),
        Channel.forced_response([1 / 6, 0, 0]),
        Channel.misclassification(3, 0.2),
        Channel([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]),
    ],
)
def test_the_fit_of_more_reports_keeps_its_level_among_few_people(channel):
    """All reports of nine people, for truths on a grid: those refused as impossible count as rejected."""
    seen = np.array(list(compositions(9, channel.m)))
    rejected = []
    for counts in seen:
        try:
            rejected.append(analyse(counts, channel).fit.rejected)
        except ValueError:
            rejected.append(True)
    for truth in compositions(5, channel.k):
        law = stats.multinomial.pmf(seen, 9, channel.expected(np.array(truth) / 5))
        assert law[rejected].sum() <= 0.05


TABLE = Channel([[0.9, 0.08, 0.02], [0.2, 0.75, 0.05], [0.15, 0.05, 0.8]])


@pytest.mark.parametrize("n", [5, 30])
def test_the_chance_is_near_that_of_all_collections_and_hardly_below_it(n):
    law = np.array([0.7, 0.3, 0.0]) @ TABLE.matrix
    added = inv_channel(np.eye(3), TABLE)[:, 2]
    counts = np.array(list(compositions(n, law.size)))
    chance = stats.multinomial.pmf(counts, n, law)
    sums, laws = counts @ added, law[None]
    for sought in np.unique(sums.round(9))[:: max(1, len(counts) // 40)]:
        exact = chance[sums >= sought - 1e-9].sum()
        told = _tails([(added[None], laws, n)], np.array([sought]))[0]
        if 1e-9 < exact < 0.1:
            assert 0.9 * exact < told < 10 * exact  # the span errs on the safe side


@pytest.mark.parametrize(
    ("channel", "counts"),
    [
        (Channel(RandomizedResponse(4, 1.5).matrix()), [60, 20, 12, 9]),
        (Channel.forced_response([0.1, 0.05, 0.2]), [50, 9, 30]),
        (Channel.warner(0.8), [70, 30]),
    ],
    ids=["k-RR", "forced", "Warner"],
)
def test_where_a_report_adds_one_of_two_numbers_it_is_the_binomial_one(channel, counts):
    n, others = sum(counts), [channel.matrix[(i + 1) % channel.k, i] for i in range(channel.k)]
    exact = stats.binom.sf(np.array(counts) - 1, n, others)
    np.testing.assert_allclose(analyse(counts, channel).above.p_values, exact, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_few_reports_no_category_is_called_above_zero_that_nobody_has_and_intervals_are_wide(weighted):
    """In at most 5% of collections, and 4 standard errors. (By the normal law it was 19 to 25%, and with weights
    intervals of all at once held in at most 18%.)"""
    rng, k, n, many, called, held = np.random.default_rng(5), 10, 200, 60, 0, 0
    channel = Channel(0.9 * np.eye(k) + 0.1 * rng.dirichlet(np.full(k, 0.5), k))
    truth = np.array([0.4, 0.3, 0.2, 0.1, *np.zeros(6)])
    for _ in range(many):
        reports = channel.randomize(rng.choice(k, n, p=truth), rng)
        weights = rng.uniform(0.5, 3, n) if weighted else None
        found = analyse_groups(Sample(reports, None, weights), channel, list("abcdefghij"), users="sampled")
        called += found.analyses[0].above.above[4:].any()
        limits = found.analyses[0].simultaneous
        held += ((limits.low <= truth + 1e-12) & (truth <= limits.high + 1e-12)).all()
    slack = 4 * math.sqrt(many * 0.95 * 0.05)
    assert called <= many * 0.05 + slack
    assert held >= many * 0.95 - slack
