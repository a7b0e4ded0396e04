"""Estimates, intervals and tests of fit for reports of other protocols: against published numbers, exact enumeration, and
simulation. Designs by their names: the tables of chances, against the published formulas; answers under them; what is
refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from rr_core.protocols import Channel, UnaryEncoding
from rr_core.protocols.channel_estimation import inv_channel, inv_covariance_channel
from rr_core.reports.analysis import analyse, variance_of_inv
from rr_core.reports.designs import (
    DESIGNS,
    MOST_DRAWS,
    Missing,
    Unclear,
    by_number,
    check_two,
    kuk,
    likely_yes,
    of_forced,
    of_table,
    of_yes_and_no,
    parameter,
    unrelated,
)
from rr_core.reports.protocol_fit import LEAST_EXPECTED, _chances_of_sums, fit_of_unary
from tests.core import exact
from tests.sentences import holds

CHANNELS = {
    "warner": Channel.warner(1 / 6),
    "forced": Channel.forced_response([1 / 6, 1 / 12, 1 / 4]),
    "more reports": Channel([[0.6, 0.2, 0.1, 0.1], [0.1, 0.5, 0.3, 0.1], [0.2, 0.1, 0.2, 0.5]]),
}


def test_warner_as_the_manual_of_the_r_package_rrreg_prints_it():
    """D. W. Heck, RRreg manual (2018): 1,000 people, p = 0.2: pi = 0.266667, standard error 0.025311, which divides by
    n - 1."""
    found = analyse([360, 640], Channel.warner(0.2), users="sampled")
    assert found.estimates["inv"][1] == pytest.approx(0.266667, abs=5e-7)
    assert found.interval is not None
    error = math.sqrt(
        inv_covariance_channel(found.estimates["mle"], 1000, Channel.warner(0.2), users="sampled")[1, 1]
    )
    half = (found.interval.high - found.interval.low)[1] / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * error, rel=0.03)  # exact beside normal limits
    assert error * math.sqrt(1000 / 999) == pytest.approx(0.025311, abs=5e-7)


@pytest.mark.parametrize("yes", [0, 12, 30, 48, 57, 60])
def test_warner_in_closed_form_exactly(yes):
    n, p = 60, Fraction(1, 6)
    share = (Fraction(yes, n) - (1 - p)) / (2 * p - 1)
    found = analyse([n - yes, yes], Channel.warner(1 / 6), users="fixed")
    assert found.estimates["inv"][1] == pytest.approx(float(share), abs=1e-12)
    assert found.estimates["mle"][1] == pytest.approx(float(min(max(share, 0), 1)), abs=1e-8)
    interval = found.interval
    assert (interval.low - 1e-12 <= found.estimates["inv"]).all()
    assert (found.estimates["inv"] <= interval.high + 1e-12).all()
    assert interval.low[0] == pytest.approx(1 - interval.high[1])
    assert (interval.high[1] < 0) == (stats.binom.sf(yes - 1, n, 5 / 6) < 0.025)
    assert found.epsilon == pytest.approx(math.log(5))


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("name", CHANNELS)
def test_mean_and_variance_of_inv_by_enumeration(name, users):
    """All reports of three people, two of them alike where there are two categories."""
    channel = CHANNELS[name]
    people = (1, 2) if channel.k == 2 else (1, 1, 1)
    theta = np.array(people) / 3
    rows = channel.matrix if users == "fixed" else np.tile(channel.expected(theta), (channel.k, 1))
    law = exact.histogram_law(people, rows.tolist())
    chances = np.array([*law.values()], dtype=float)
    estimates = np.array([analyse(counts, channel).estimates["inv"] for counts in law])
    np.testing.assert_allclose(chances @ estimates, theta, atol=1e-9)
    covariance = inv_covariance_channel(theta, 3, channel, users=users)
    np.testing.assert_allclose(chances @ estimates**2 - theta**2, np.diag(covariance), atol=1e-9)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize(
    "protocol",
    [CHANNELS["forced"], CHANNELS["more reports"], UnaryEncoding(5, 1.5), UnaryEncoding(5, 1.5, True)],
    ids=["forced", "more reports", "symmetric", "optimized"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(protocol, users):
    """(Those of two reports are exact: tests/core/test_reports_two_reports.py.)"""
    n, times, rng, k = 3000, 2000, np.random.default_rng(5), protocol.k
    theta = np.array([0.5, 0.3, 0.2, 0.0, 0.0] if k == 5 else [0.6, 0.3, 0.1])
    whole = np.round(n * theta).astype(int)
    people = np.tile(whole, (times, 1)) if users == "fixed" else rng.multinomial(n, theta, times)
    if isinstance(protocol, UnaryEncoding):
        reports = protocol.randomize_support(people, rng)
        found = (reports / n - protocol.q) / protocol.keep
    else:
        reports = protocol.randomize_histogram(people, rng)
        found = inv_channel(reports, protocol)
    spread = np.sqrt(variance_of_inv(found, n, protocol, users))
    off, slack = np.abs(found - theta) / spread, 5 * math.sqrt(0.95 * 0.05 / times)
    assert (np.abs((off <= stats.norm.isf(0.025)).mean(axis=0) - 0.95) < slack).all()
    assert (off <= stats.norm.isf(0.025 / k)).all(axis=1).mean() > 0.95 - slack
    one = analyse(reports[0], protocol, users=users, n=n)
    for interval, outside in ((one.interval, 0.025), (one.simultaneous, 0.025 / k)):
        half = stats.norm.isf(outside) * spread[0]
        np.testing.assert_allclose(
            [interval.low, interval.high], [found[0] - half, found[0] + half], rtol=1e-9, atol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "theta"), [("forced", (1, 0, 0)), ("more reports", (0.4, 0.3, 0.3))])
def test_the_fit_of_a_channel_is_seldom_small_when_the_channel_is_right(name, theta):
    channel, rng, times = CHANNELS[name], np.random.default_rng(7), 150
    small = sum(
        analyse(channel.randomize_histogram(rng.multinomial(500, theta), rng), channel).fit.p_value <= 0.05
        for _ in range(times)
    )
    assert small <= stats.binom.ppf(1 - 1e-6, times, 0.05)


def test_the_fit_of_a_channel_is_small_when_the_channel_is_wrong():
    rng = np.random.default_rng(8)
    counts = rng.multinomial(2000, [0.95, 0.05])  # nobody lied
    assert analyse(counts, Channel.warner(1 / 4)).fit.p_value < 1e-6
    assert analyse([100, 900, 900, 100], CHANNELS["more reports"]).fit.p_value < 1e-6  # outside all mixtures


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("counts", [(200, 0, 0), (100, 100, 0), (80, 70, 50)])
def test_the_fit_of_unary_encoding(optimized, counts):
    protocol, rng, times = UnaryEncoding(3, 1.0, optimized), np.random.default_rng(9), 1000
    n = sum(counts)
    supports = protocol.randomize_support(np.tile(counts, (times, 1)), rng)
    small = sum(fit_of_unary(support, protocol, n).rejected for support in supports)
    assert small <= stats.binom.ppf(1 - 1e-6, times, 0.05)
    other = UnaryEncoding(3, 1.0, not optimized)
    many = other.randomize_support([20 * count for count in counts], rng)
    assert analyse(many, protocol, n=20 * n).fit.p_value < 1e-6


@holds(
    "The test compares sums alone with what this way of asking allows, whatever the truth is: all ones together, and "
    "those of the categories with the fewest and the most.",
    "The test compares the ones with what this way of asking allows, whatever the truth is: all together, those of the "
    "categories with the fewest and the most, and how many of them each report has.",
)
def test_the_fit_of_bits_sees_how_the_ones_are_spread_over_the_reports():
    protocol = UnaryEncoding(2, 2.0)
    sums = analyse([50, 50], protocol, n=100)
    bits = analyse([50, 50], protocol, n=100, bits=(np.array([[1, 1], [0, 0]]), np.array([50, 50])))
    assert (sums.fit.tested, bits.fit.tested) == ("sums", "bits")
    assert not sums.fit.rejected
    # Both bits alike: p q + (1 - p)(1 - q), whatever the truth is.
    assert 1e-41 < (2 * protocol.q * (1 - protocol.q)) ** 100 < bits.fit.p_value < 1e-30
    # One report that cannot be, among many that are as they should: too few for groups of five.
    wide = UnaryEncoding(20, 8.0)
    reports = wide.randomize(np.zeros(200, dtype=np.int64), 3)
    reports[0] = 1
    seen = analyse(reports.sum(axis=0), wide, n=200, bits=(reports, np.ones(200, dtype=np.int64)))
    assert seen.fit.p_value < 1e-6


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize(("k", "n"), [(2, 40), (20, 1000)])
def test_the_fit_of_bits_is_seldom_small_when_the_encoding_is_right(k, n, optimized):
    rng, times, once = np.random.default_rng(12), 400, np.ones(n, dtype=np.int64)
    protocol, small = UnaryEncoding(k, 1.5, optimized), 0
    for truth in (np.zeros(n, dtype=np.int64), np.arange(n) % k):
        for _ in range(times // 2):
            reports = protocol.randomize(truth, rng)
            small += fit_of_unary(reports.sum(axis=0), protocol, n, (reports, once)).rejected
    assert small <= stats.binom.ppf(1 - 1e-6, times, 0.05)


@pytest.mark.parametrize("optimized", [False, True])
def test_the_total_of_few_ones_is_judged_exactly(optimized):
    """By the normal law one report in ten that had a second one was said to come in 1.1% of collections."""
    for k, n, epsilon in ((2, 3, 8.0), (5, 40, 6.0), (3, 1, 0.5), (4, 900, 20.0)):
        protocol = UnaryEncoding(k, epsilon, optimized)
        assert n * protocol.q < LEAST_EXPECTED
        each = [
            stats.binom(many, chance).pmf(range(many + 1))
            for many, chance in ((n, protocol.p), (n * (k - 1), protocol.q))
        ]
        law = np.convolve(*each)
        sides = np.minimum(law.cumsum(), law[::-1].cumsum()[::-1])
        totals = range(0, n * k + 1, max(1, n // 20))
        found = [_chances_of_sums(np.full(k, total / k), protocol, n)[0] for total in totals]
        np.testing.assert_allclose(found, np.minimum(2 * sides[totals], 1), rtol=1e-6, atol=1e-13)
    protocol = UnaryEncoding(2, 8.0)
    assert not analyse([3, 1], protocol, n=3).fit.rejected
    assert analyse([3, 3], protocol, n=3).fit.rejected


def test_the_bits_bring_the_mle_and_count_as_often_as_they_occurred():
    protocol = UnaryEncoding(3, 2.0)
    bits = protocol.randomize(np.repeat([0, 1, 2], [60, 30, 10]), 1)
    once = analyse(bits.sum(axis=0), protocol, n=100, bits=(bits, np.ones(100, dtype=np.int64)))
    kinds, times = np.unique(bits, axis=0, return_counts=True)
    together = analyse(bits.sum(axis=0), protocol, n=100, bits=(kinds, times))
    np.testing.assert_allclose(once.estimates["mle"], together.estimates["mle"], atol=1e-6)
    assert once.certificate <= 1e-9
    assert "mle" not in analyse(bits.sum(axis=0), protocol, n=100).estimates


def test_invariant_pram_leaves_the_expected_table_as_it_is_and_its_estimate_too():
    """The matrix that the R package sdcMicro documents: P with large diagonal entries, then the way back by Bayes' rule,
    mixed with doing nothing (P.-P. de Wolf, J. Gouweleeuw, P. Kooiman and L. Willenborg, 1998)."""
    people, alpha = np.array([5000, 3000, 2000]), 0.5
    first = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.075, 0.075, 0.85]])
    back = (first * people[:, None] / (people @ first)).T
    matrix = alpha * first @ back + (1 - alpha) * np.eye(3)
    np.testing.assert_allclose(people @ matrix, people)
    found = analyse(people, Channel(matrix))
    np.testing.assert_allclose(found.estimates["inv"], people / 10_000, atol=1e-12)
    np.testing.assert_allclose(found.estimates["mle"], people / 10_000, atol=1e-7)
    assert found.fit.p_value == pytest.approx(1.0)


COUNTS = np.array([640, 360])
YES_NO = ("yes", "no")


@pytest.mark.parametrize("p", [0.1, 1 / 6, 0.7])
def test_crosswise_is_warners_design_about_the_same(p):
    found = of_yes_and_no(DESIGNS["crosswise"], ("same", "other"), COUNTS, [p], "same")
    assert (found.truths, found.reports) == (("no", "yes"), ("other", "same"))
    assert found.counts.tolist() == [360, 640]
    share = analyse(found.counts, found.channel).estimates["inv"][1]
    assert share == pytest.approx((0.64 + p - 1) / (2 * p - 1))  # Yu, Tian and Tang 2008


@pytest.mark.parametrize(("p", "prevalence"), [(0.7, 0.25), (0.5, 1 / 6), (0.9, 0.5)])
def test_unrelated_question(p, prevalence):
    """Greenberg et al. 1969: the share is (lambda - (1 - p) prevalence)/p."""
    found = of_yes_and_no(DESIGNS["unrelated"], YES_NO, COUNTS, [p, prevalence], "yes")
    share = analyse(found.counts, found.channel).estimates["inv"][1]
    assert share == pytest.approx((0.64 - (1 - p) * prevalence) / p)
    assert unrelated(p, prevalence).matrix[1, 1] == pytest.approx(p + (1 - p) * prevalence)


@pytest.mark.parametrize(("p", "p2", "draws"), [(0.8, 0.2, 1), (0.7, 0.4, 5), (0.2, 0.9, 3)])
def test_kuks_mean_number_of_red_cards(p, p2, draws):
    """Kuk 1990: the share is (mean red cards/draws - p2)/(p - p2), when it is estimated from the mean; the table has that
    mean for every truth."""
    matrix = kuk(p, p2, draws).matrix
    np.testing.assert_allclose(matrix @ np.arange(draws + 1), [draws * p2, draws * p], rtol=1e-12)
    assert matrix.shape == (2, draws + 1)
    labels = tuple(str(i) for i in range(draws + 1))
    counts = np.arange(1, draws + 2)
    found = of_yes_and_no(DESIGNS["kuk"], labels[::-1], counts[::-1], [p, p2, draws], None)
    assert (found.truths, found.reports) == (("no", "yes"), labels)
    assert found.counts.tolist() == counts.tolist()


def test_red_cards_may_be_written_as_decimals():
    """“4.0” was no number of red cards."""
    design, values = DESIGNS["kuk"], [0.8, 0.2, 4]
    whole = of_yes_and_no(design, ("0", "1", "4"), np.array([5, 6, 7]), values, None)
    for labels in (("0.0", "1.0", "4.0"), ("0.000e+00", "1.000e+00", "4.000e+00")):
        labels, counts, in_order = by_number(labels, np.array([5, 6, 7]))
        found = of_yes_and_no(design, labels, counts, values, None)
        assert (in_order, found.counts.tolist()) == (True, whole.counts.tolist())
    twice = of_yes_and_no(design, ("1", "1.0"), np.array([5, 6]), values, None)
    assert twice.counts.tolist() == [0, 11, 0, 0, 0]


def test_one_card_of_kuk_is_warners_design_and_decks_that_are_alike_tell_nothing():
    np.testing.assert_allclose(kuk(0.7, 0.3, 1).matrix, Channel.warner(0.7).matrix)
    assert not kuk(0.5, 0.5, 4).identified


def test_rappor_with_both_coins_is_the_law_of_its_two_steps():
    """With f = 1/2 a bit is remembered right in 3 of 4 cases; a remembered one is sent with chance q, a zero with p."""
    p, q = 0.5, 0.75
    made = UnaryEncoding.rappor(2, 0.5, p, q)
    assert (made.p, made.q) == (0.75 * q + 0.25 * p, 0.25 * q + 0.75 * p)
    assert UnaryEncoding.rappor(4, 0.0, 0.25, 0.75).epsilon == pytest.approx(2 * math.log(3))


def test_a_table_with_names_takes_the_answers_in_any_order():
    matrix = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]])
    found = of_table(("b", "a"), COUNTS, matrix, ("x", "y"), ("a", "b", "c"))
    assert (found.counts.tolist(), found.truths) == ([360, 640, 0], ("x", "y"))
    found = of_table(("b", "a"), COUNTS, matrix[:, :2] / matrix[:, :2].sum(axis=1, keepdims=True), ("a", "b"))
    assert (found.counts.tolist(), found.reports) == ([360, 640], ("a", "b"))
    with pytest.raises(Unclear, match="come in no order"):
        of_table(("b", "a"), COUNTS, matrix)
    with pytest.raises(Unclear, match="has no column"):
        of_table(("b", "q"), COUNTS, matrix, None, ("a", "b", "c"))
    with pytest.raises(Unclear, match="The table has 3 columns, the reports have 2 answers"):
        of_table(("b", "a"), COUNTS, matrix, in_order=True)


def test_forced_answers():
    found = of_forced(YES_NO, COUNTS, ["1/6", "0 %"])
    np.testing.assert_allclose(found.channel.matrix, Channel.forced_response([1 / 6, 0.0]).matrix)
    assert found.about == 0  # those who have it, as in every design with a yes and a no
    assert of_forced(("Nein", "Ja"), COUNTS, ["0", "1/6"]).about == 1
    assert of_forced(("red", "blue"), COUNTS, ["0", "1/6"]).about is None
    assert of_forced(("no", "perhaps", "yes"), np.array([600, 40, 360]), ["0", "0", "1/6"]).about is None
    with pytest.raises(Unclear, match="sum to 1"):
        of_forced(YES_NO, COUNTS, ["1/2", "1/2"])
    with pytest.raises(Missing, match="how often the die"):
        of_forced(YES_NO, COUNTS, ["1/2", ""])
    with pytest.raises(Unclear, match="have 1 answer"):
        of_forced(("a",), COUNTS[:1], ["0"])


@pytest.mark.parametrize(
    ("key", "labels", "positive", "says"),
    [
        ("warner", ("a", "b", "c"), "a", "these reports have 3"),
        ("warner", YES_NO, None, "Say which answer means yes"),
        ("crosswise", YES_NO, None, "Say which answer means that both are the same"),
        ("warner", YES_NO, "maybe", "No answer is called “maybe”"),
        ("kuk", ("0", "red"), None, "“red” is no number of red cards among 3"),
        ("kuk", ("0", "4"), None, "“4” is no number of red cards among 3"),
    ],
)
def test_what_cannot_be_is_one_sentence(key, labels, positive, says):
    values = {"warner": [0.7], "crosswise": [0.3], "kuk": [0.8, 0.2, 3]}[key]
    with pytest.raises(Unclear, match=says):
        of_yes_and_no(DESIGNS[key], labels, np.ones(len(labels), dtype=np.int64), values, positive)


def test_parameters_are_chances_or_whole_numbers():
    p, draws = DESIGNS["warner"].parameters[0], DESIGNS["kuk"].parameters[2]
    assert (parameter(p, "1/6"), parameter(p, "25 %"), parameter(draws, " 5 ")) == (1 / 6, 0.25, 5)
    for asked, texts in ((p, ("1", "-1", "often")), (draws, ("2.5", f"{MOST_DRAWS + 1}", "0"))):
        for text in texts:
            with pytest.raises(Unclear):
                parameter(asked, text)
    with pytest.raises(Missing):
        parameter(p, " ")


def test_yes_is_known_in_several_languages_and_never_guessed():
    for yes, no in (("Ja", "Nein"), ("1", "0"), ("Sì", "No"), ("kyllä", "ei"), ("Да", "Нет")):
        assert likely_yes((yes, no)) == likely_yes((no, yes)) == yes
    assert [likely_yes(pair) for pair in (("1", "2"), ("yes", "Ja"), ("1.0", "2.0"))] == [None] * 3
    # As pandas writes bits beside an empty cell, and what is left of True, 1, False and 0 when they are put together.
    assert likely_yes(("0.0", "1.0")) == "1.0"
    assert likely_yes(("1", "False")) == "1"
    check_two(DESIGNS["warner"], YES_NO)
