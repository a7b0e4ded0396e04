"""What the lab's pages say of a scenario, read back and held against plain computations: over the corners of all
controls and random scenarios."""

from __future__ import annotations

import math
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from pages._ui import estimators as estimators_page
from pages._ui import noisy_histogram as noise_page
from pages._ui import truth
from rr_core import Population, RandomizedResponse, Scenario
from rr_core.comparison import compare, expected_negatives
from rr_core.estimators import mle_search
from rr_core.figures.estimators import _reading as _of_estimates
from rr_core.figures.estimators import _search_reading as _of_search
from rr_core.figures.estimators import estimates, nearest, without_towers
from rr_core.figures.inv_negatives import (
    chance_against_users,
    chance_in_words,
    inv_with_negatives,
    more_users,
)
from rr_core.figures.noisy_histogram import (
    _belief_reading,
    belief,
    channel,
    epsilon_cost,
    likelier_truth,
    noisy_histogram,
    two_ways,
)
from rr_core.figures.style import reading
from rr_core.figures.view import bars, curve, natural_order, rank_order
from rr_core.law import negative_chance
from rr_core.privacy import answer, posterior_of_reports
from rr_core.registry import VALID
from rr_core.rounding import percent
from rr_core.scenario import Draw
from rr_core.streams import Stream
from tests.app.opening import charts, opened
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import (
    chances_below,
    clipped,
    corners,
    d3,
    inv,
    is_negative,
    mle,
    numbers,
    p_and_q,
    percents,
    projected,
    random_scenarios,
    reads,
    tells,
)


@cache
def over_settings(many):
    """Every corner and random scenarios, each with its draw and its estimates."""
    return [(draw, compare(draw)) for draw in map(Scenario.draw, [*corners(), *random_scenarios(many)])]


def shown(k):
    return bars(natural_order(k), None, "Category")


def _ends(counts, scenario):
    estimate = inv(counts, scenario)
    return estimate.min(), estimate.max()


def tv(a, b):
    return float(np.abs(a - b).sum() / 2)


def holds_as_share(shown, true):
    """A share as shown: three digits, and not all where it is short of all."""
    assert reads(shown, true), (shown, true)
    assert 1 - true > 1e-3 or 1 - true < 1e-11 or 0.4 < (1 - shown) / (1 - true) < 2.5, (shown, true)


@recomputes(likelier_truth, two_ways, channel)
def test_the_chances_of_the_truth_and_of_another_are_told(many):
    for scenario in [*corners(), *random_scenarios(many)]:
        (p, q), k, mechanism = p_and_q(scenario), scenario.k, scenario.mechanism
        text = likelier_truth(mechanism)
        times = numbers(text)[0]
        assert p / q <= times * (1 + 1e-12)  # rounded up
        assert times <= 1.011 * p / q
        assert times - 1 <= 1.12 * (p / q - 1)
        pairs = [percents(text)]
        if k <= noise_page.LARGEST_MATRIX:
            pairs.append(percents(reading(channel(mechanism, [str(i) for i in range(k)]))))
        for first, second in pairs:
            holds_as_share(first, p)
            assert reads(second, q) or q > 0.99 or abs(second - q) < 1e-14
        text = two_ways(mechanism)
        shown, (_, parts, same, others) = percents(text), numbers(text)[:4]
        assert parts == same
        assert others == k - 1
        assert parts / (parts + others) == pytest.approx(p, rel=0.011)
        holds_as_share(shown[0], p)
        for one, true in zip(shown, (p, p - q, q), strict=True):
            assert reads(one, true) or abs(one - true) < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("k", [2, 12, 100_000])
def test_no_share_under_the_mouse_is_rounded_to_nothing_or_to_all(k, epsilon):
    seen = 0
    for s, n in ((5.0, 10**9), (1.3, 10**6), (0.0, 1)):
        draw = Scenario("zipf", k, s, epsilon, n, 3).draw()
        result, view = compare(draw), shown(k) if k <= 200 else curve(rank_order(draw.true_counts), "Rank")
        mechanism = draw.mechanism
        drawn = [
            estimates(result.estimates, draw.theta, n, mechanism, view),
            inv_with_negatives(result.estimates["inv"], draw.theta, n, mechanism, view),
            chance_against_users(n, mechanism, 0.5),
        ]
        for figure in drawn:
            assert figure.layout.yaxis.tickformat == ",.6~p"
            for trace in figure.data:
                spec = re.search(r"%\{y:([^}]*)\}", trace.hovertemplate or "")
                for share in np.asarray(trace.y, float).tolist() if spec else ():
                    text = d3(spec[1], share)
                    (read,) = percents(text.replace("-", "−"))
                    assert (text == "0%") == (share == 0), (share, text)
                    assert (text == "100%") == (abs(share - 1) < 1e-13), (share, text)
                    assert read == pytest.approx(share, rel=1e-5)
                    seen += 1
    assert seen > 1000


@holds("**On average it pulls every bar towards the same height.")
@pytest.mark.parametrize("k", [2, 200])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_the_mean_report_bar_lies_between_its_true_bar_and_the_even_share(k, epsilon):
    draw = Scenario("zipf", k, 1.3, epsilon, 2000, 3).draw()
    reports = draw.mechanism.randomize_histogram(
        np.tile(draw.true_counts, (2000, 1)), np.random.default_rng(5)
    )
    mean, chance = reports.mean(axis=0), 5 * reports.std(axis=0) / math.sqrt(2000) + 0.01
    even, (p, q) = 2000 / k, p_and_q(draw.scenario)
    assert (mean >= np.minimum(draw.true_counts, even) - chance).all()
    assert (mean <= np.maximum(draw.true_counts, even) + chance).all()
    assert np.abs(mean - even - (p - q) * (draw.true_counts - even)).max() <= chance.max()


def test_what_was_seen_is_a_ring_about_the_exact_chance():
    """Both are at the same N, and near each other after many looks."""
    drawn = chance_against_users(2000, RandomizedResponse(12, 1.0), 0.5)
    *_, exact, seen = drawn.data
    for at, name in zip(drawn.layout.xaxis.tickvals, drawn.layout.xaxis.ticktext, strict=True):
        number, _, unit = name.partition(" ")
        assert at == int(number.replace(",", "")) * {"": 1, "million": 10**6, "billion": 10**9}[unit]
    assert seen.marker.symbol.endswith("-open")
    assert seen.marker.size > 2 * exact.marker.size


@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_the_matrix_and_a_belief_call_nothing_certain(epsilon):
    mechanism = RandomizedResponse(12, epsilon)
    cells = np.asarray(channel(mechanism, list("abcdefghijkl")).data[0].text)
    assert (np.diag(cells) == percent(mechanism.p)).all()
    assert set(cells.ravel()) == {percent(mechanism.p), percent(mechanism.q)}
    assert not {"0%", "100%"} & set(cells.ravel())
    prior, reports = np.full(12, 1 / 12), [3] * 20
    beliefs = [posterior_of_reports(reports[:m], prior, mechanism) for m in (1, 20)]
    figure = belief(prior, beliefs, reports, 3, shown(12))
    told = reading(figure) + "".join(text for trace in figure.data for _, text in trace.customdata)
    assert " 0%" not in told
    assert "100%" not in told
    assert ("over 99.99999999%" in reading(figure)) == (epsilon == 20)
    sure = np.eye(12)[3]
    assert "is the truth at 100%" in reading(belief(sure, [sure], [3], 3, shown(12)))


@recomputes(noisy_histogram)
def test_the_histogram_says_the_even_share_and_how_many_bars_are_in_their_band(many):
    checked = 0
    for draw, _ in over_settings(many):
        scenario, k, n = draw.scenario, draw.scenario.k, draw.scenario.n
        if k <= 200:
            text = reading(noisy_histogram(draw.true_counts, draw.counts, draw.mechanism, shown(k)))
            inside, drawn = numbers(text)[-3:-1]
            assert drawn == k
        else:
            view = curve(rank_order(draw.true_counts), "Rank")
            text = reading(noisy_histogram(draw.true_counts, draw.counts, draw.mechanism, view))
            assert reads(numbers(text)[1], n * p_and_q(scenario)[1])
        assert reads(numbers(text)[0], n / k, 4)
        alone = reading(noisy_histogram(None, draw.counts, draw.mechanism, shown(min(k, 200))))
        tells(alone, n / k, n * p_and_q(scenario)[1])
        near = reading(
            noisy_histogram(draw.true_counts, draw.counts, draw.mechanism, shown(min(k, 200)), True)
        )
        drawn, highest = draw.true_counts[:200].max(), draw.counts.max()
        assert ("leave the picture" in near) == (drawn > 1.15 * highest)
        if "leave the picture" in near:
            tells(near.partition(" The true")[2], int(drawn))
        if n <= 300 and k <= 50:
            checked += 1
            p, q = p_and_q(scenario)
            within = 0
            for t, c in zip(draw.true_counts.tolist(), draw.counts.tolist(), strict=True):
                law = np.convolve(
                    stats.binom.pmf(range(t + 1), t, p), stats.binom.pmf(range(n - t + 1), n - t, q)
                )
                upto = np.cumsum(law)
                within += (upto[c] >= 0.025 - 1e-12) and ((upto[c - 1] if c else 0) < 0.975 + 1e-12)
            assert inside == within
    assert checked > 30


@recomputes(chance_in_words)
def test_the_chance_that_an_empty_category_goes_negative(many):
    for i, (draw, _) in enumerate(over_settings(many)):
        scenario, mechanism = draw.scenario, draw.mechanism
        q = p_and_q(scenario)[1]
        text = chance_in_words(scenario.n, float(negative_chance(scenario.n, mechanism)))
        chance = stats.binom.cdf(math.ceil(scenario.n * q) - 1, scenario.n, q)
        holds_as_share(percents(text)[0], float(chance))
        assert f"N = {scenario.n:,};" in text
        if i % 50 == 0:
            assert text == reading(chance_against_users(scenario.n, mechanism, 0.5))


def test_negatives_to_expect_of_held_and_of_empty_categories(many):
    """Each number of the table, against sums over the binomials of every category, or where they have more than 300
    terms (so a variance above 120) against the plain normal law."""
    for i, draw in enumerate(map(Scenario.draw, [*corners(), *random_scenarios(many)][::2])):
        scenario, factors = draw.scenario, (1, 10) if i % 10 == 0 else (1,)
        held, empty = (draw.true_counts > 0).sum(), (draw.true_counts == 0).sum()
        rows = more_users([expected_negatives(draw, times) for times in factors]).splitlines()
        assert rows[0].strip("| ").split(" | ")[1:] == [f"N = {times * scenario.n:,}" for times in factors]
        kinds, how_often = np.unique(draw.true_counts, return_counts=True)
        of_both = [one for one in ((held, kinds > 0), (empty, kinds == 0)) if one[0]]
        for row, (of, among) in zip(rows[2:], of_both, strict=True):
            label, *cells = row.strip("| ").split(" | ")
            assert numbers(label)[0] == of
            for cell, times in zip(cells, factors, strict=True):
                chances, slacks = chances_below(kinds[among] * times, scenario.n * times, scenario)
                expected, slack = how_often[among] @ chances, how_often[among] @ slacks
                if cell == "below 0.001":
                    assert expected - slack < 0.001
                else:
                    off = abs(numbers(cell)[0] - expected)
                    assert off <= slack + 0.005 * expected + 1e-5, (scenario, row, expected)


def test_fewer_negatives_than_categories_are_not_said_to_be_all():
    for k, n, epsilon in ((2, 1, 20.0), (1000, 3, 20.0), (12, 5, 10.0), (1_000_000, 10**4, 20.0)):
        found = expected_negatives(Scenario("zipf", k, 5.0, epsilon, n, 5).draw())
        (label, cell) = more_users([found]).splitlines()[3].strip("| ").split(" | ")
        assert found.empty < found.of_empty
        assert numbers(label)[0] > numbers(cell)[0] == pytest.approx(found.empty, rel=0.005)


@holds(
    "It is right on average, but a category that received fewer reports than the noise alone would bring comes out **below zero**."  # noqa: E501
)
@recomputes(inv_with_negatives, _of_estimates, nearest, without_towers)
def test_which_estimates_are_negative_set_to_zero_and_equal(many):
    said = set()
    for draw, result in over_settings(many):
        scenario, k, n = draw.scenario, draw.scenario.k, draw.scenario.n
        below = int(is_negative(draw.counts, scenario).sum())
        text = reading(
            inv_with_negatives(result.estimates["inv"], draw.theta, n, draw.mechanism, shown(min(k, 200)))
        )
        assert numbers(text)[:2] == [below, k] if below else "no negative share" in text
        figure = estimates(result.estimates, draw.theta, n, draw.mechanism, shown(min(k, 200)))
        text, _, leaves = reading(figure).partition(" Inv leaves")
        if leaves:
            tells(leaves, *(lambda told, end=end: reads(told, end) for end in _ends(draw.counts, scenario)))
        repairs = (
            clipped(draw.counts, scenario),
            mle(draw.counts, scenario)[0],
            projected(draw.counts, scenario)[0],
        )
        zeros = [int((one == 0).sum()) for one in repairs]
        apart = max(float(np.abs(a - repairs[0]).max()) for a in repairs)
        if "all four agree" in text:
            assert not below
            assert max(float(np.abs(one - result.estimates["inv"]).max()) for one in repairs) < 1e-9
            said.add("four")
        elif "the same" in text:
            assert below
            assert apart < 1e-10
            alone = zeros[0] == k - 1
            assert numbers(text.partition(", and give ")[0]) == [k, zeros[0]]
            assert text.endswith(" the last one 100%." if alone else " the others the same shares.")
            said.add("three alone" if alone else "three")
        else:
            assert below
            assert apart > 1e-13
            hidden = reading(estimates(result.estimates, None, n, draw.mechanism, shown(min(k, 200))))
            assert hidden.startswith(
                f"Of {k:,} categories InvN sets {zeros[0]:,} to zero, MLE* {zeros[1]:,} and InvP {zeros[2]:,};"
            )
            closest, _, rest = text.partition(" Of ")
            assert numbers(rest) == [k, *zeros]
            off = dict(zip(("InvN", "MLE*", "InvP"), (tv(one, draw.theta) for one in repairs), strict=True))
            least = min(off.values())
            if "all three" in closest:
                assert all(reads(percents(closest)[0], one, 5) for one in off.values())
                said.add("none is nearer")
            else:
                first, _, others = closest.partition(", off by ")
                best = re.findall(r"InvN|InvP|MLE\*", first)
                texts = {percent(round(one, 12)) for one in off.values()}
                enough = len(texts) == len({round(one, 12) for one in off.values()}) and least > 1e-6
                assert all(reads(percents(others)[0], off[one]) for one in best)
                assert all(off[one] > least for one in off.keys() - set(best))
                told = re.findall(r"(?:(InvN|InvP|MLE\*) and )?(InvN|InvP|MLE\*) by ([^ ,]+?%)", others)
                assert {one for *who, _ in told for one in who if one} == off.keys() - set(best)
                for *who, by in told:
                    assert all(reads(percents(by)[0], off[one]) for one in who if one)
                    assert by != others.partition("%")[0] + "%"
                    assert len(by) < 14
                if enough:  # in three digits those that differ differ
                    distances = [others.partition(",")[0], *(by for *_, by in told)]
                    assert max(map(len, distances)) == max(map(len, texts))
                said.add(f"{len(best)} nearest")
    assert said - {"three alone"} == {"four", "three", "1 nearest", "2 nearest", "none is nearer"}


def test_a_hidden_truth_is_not_told_by_who_is_nearest_and_towering_inv_leaves_the_picture():
    draw = Scenario("zipf", 1000, 1.5, 0.1, 1000, 1).draw()
    result = compare(draw)
    arguments = (draw.scenario.n, draw.mechanism, shown(200))
    hidden, seen = (estimates(result.estimates, theta, *arguments) for theta in (None, draw.theta))
    assert "closest" not in reading(hidden)
    assert reading(hidden).startswith("Of 1,000 categories")
    assert re.match(r"In this draw \S+ comes closest to the truth, off by [\d.]+%, ", reading(seen))
    inv, highest = result.estimates["inv"], max(result.estimates[name].max() for name in VALID)
    for figure in (hidden, seen):
        low, high = figure.layout.yaxis.range
        assert low < 0 < highest < high < inv.max()
        told = percents(reading(figure).partition("Inv leaves the picture: it goes from ")[2])
        assert reads(told[0], inv.min())
        assert reads(told[1], inv.max())
    assert without_towers({}, np.full(2, -200.0), 0.5) == " Inv leaves the picture: it is −20,000%."
    close = Scenario("zipf", 12, 1.5, 2.0, 10_000, 1).draw()
    figure = estimates(compare(close).estimates, close.theta, close.scenario.n, close.mechanism, shown(12))
    assert figure.layout.yaxis.range is None
    assert "leaves" not in reading(figure)


@recomputes(_belief_reading, epsilon_cost)
def test_what_an_onlooker_believes_after_one_report_and_after_several(many):
    for i, (draw, _) in enumerate(over_settings(many)[::2]):
        scenario, prior = draw.scenario, draw.population.probabilities
        p, q = p_and_q(scenario)
        answers, truth = 1 + i % 20, i % scenario.k
        reports = [
            answer(truth, draw.mechanism, scenario.stream(Stream.ANSWERS, truth, j)).report
            for j in range(answers)
        ]
        beliefs = [posterior_of_reports(reports[:m], prior, draw.mechanism) for m in sorted({1, answers})]
        text = reading(belief(prior, beliefs, reports, truth, shown(scenario.k)))

        def after(m, reports=reports, p=p, q=q, prior=prior, k=scenario.k):
            seen = np.bincount(reports[:m], minlength=k)
            weights = prior * (p**seen * q ** (m - seen))
            return weights / weights.sum()

        if answers > 1:
            told = [prior[truth], after(1)[truth], after(answers)[truth]]
            assert f"all {answers}." in text
        else:
            told = [prior[reports[0]], after(1)[reports[0]]]
            if "leaves" in text:
                assert abs(told[1] - told[0]) < 0.01 * told[0] + 1e-9
                told = told[1:]
        for shown_share, true in zip(percents(text), told, strict=True):
            assert reads(shown_share, true), (text, told)
        cost = numbers(epsilon_cost(scenario.epsilon, answers))
        limit = math.exp(max(answers, 2) * scenario.epsilon)  # one answer tells what a second would cost
        assert 1 - 1e-12 <= cost[-1] / limit <= 1.01
        if answers > 1:
            assert reads(cost[2], answers * scenario.epsilon, 4)
            assert cost[0] == cost[1] == answers


@holds(
    "Nobody in the population has what was reported: this report is noise for certain, and an onlooker's belief stays as it was."  # noqa: E501
)
def test_a_report_of_what_nobody_has_moves_no_belief():
    prior, mechanism = np.array([0.5, 0.5, 0.0]), RandomizedResponse(3, 1.0)
    text = reading(belief(prior, [posterior_of_reports([2], prior, mechanism)], [2], 0, shown(3)))
    assert "Nobody" in text
    assert "stays as it was" in text


def test_an_inv_of_exactly_zero_is_no_negative_in_any_sentence():
    """N q is one report: categories with one have an Inv of zero, of either sign in doubles."""
    mechanism, counts = RandomizedResponse(3, math.log(6)), np.array([6, 1, 1])
    users = np.array([8, 0, 0])
    scenario = Scenario("upload", 3, epsilon=math.log(6), n=8)
    result = compare(Draw(scenario, Population.from_weights(users), users, counts))
    assert "no negative" in reading(
        inv_with_negatives(result.estimates["inv"], users / 8, 8, mechanism, shown(3))
    )
    assert "all four agree" in reading(estimates(result.estimates, users / 8, 8, mechanism, shown(3)))


@recomputes(_of_search, estimators_page.search_section)
def test_the_search_sets_as_many_to_zero_as_it_says(many, monkeypatch):
    monkeypatch.setattr(estimators_page.film, "show", lambda *_: None)
    said = set()
    for draw, _ in over_settings(many):
        k = draw.scenario.k
        caption = written(estimators_page.search_section, SimpleNamespace(draw=draw))
        assert ("up to" in caption) == (k > 50)
        if k > 50:
            tells(caption, 50)
            continue
        found, zeros = (
            mle_search(draw.counts, draw.mechanism),
            int((mle(draw.counts, draw.scenario)[0] == 0).sum()),
        )
        text = _of_search(found).replace("MLE*", "")
        below = int(is_negative(draw.counts, draw.scenario).sum())
        assert ("none is struck out" in text) == (not below)
        if not below:
            tells(text, k)
        else:
            tells(text, zeros, zeros, k)
            # The rule in words, step by step: the least reported goes, what is left sums to one again.
            left, gone = sorted(draw.counts.tolist()), 0
            p, q = p_and_q(draw.scenario)
            while left[0] * (len(left) * q + p - q) < q * sum(left) * (1 - 1e-13):
                left, gone = left[1:], gone + 1
            assert gone == zeros
            assert ("1 step:" in text) == text.endswith("categories goes.") == (zeros == 1)
        said.add((below > 0, zeros > below))
    assert said == {(False, False), (True, False), (True, True)}


@recomputes(noise_page.channel_section, noise_page.person_section)
def test_a_person_s_coin_has_the_chances_told_and_a_large_matrix_is_not_drawn(many, monkeypatch):
    monkeypatch.setattr(noise_page.chart, "show", lambda *_: None)
    monkeypatch.setattr(truth, "hidden", lambda: False)
    said = set()
    for i, (draw, _) in enumerate(over_settings(many)):
        k = draw.scenario.k
        results = SimpleNamespace(draw=draw, by_truth=rank_order(draw.true_counts))
        if text := written(noise_page.channel_section, results):
            assert k > numbers(text)[0]
            tells(text, noise_page.LARGEST_MATRIX, k)
        else:
            assert k <= noise_page.LARGEST_MATRIX
        category, times = i % k, 1 + i % 3
        monkeypatch.setattr(noise_page, "_pick_category", lambda _, category=category: category)
        text = written(noise_page.person_section, results, state={noise_page._ANSWERS: times})
        text = text.partition("\n\n")[0] if times == 1 else text
        toss = re.sub(r"^\d\. ", "", text, flags=re.MULTILINE)
        p, q = p_and_q(draw.scenario)
        before = [int(one) - 1 for one in re.findall(r"\d+", toss.partition("before: ")[2].partition(".")[0])]
        who, coin, report = toss.splitlines()[:3]
        tells(who, category + 1)
        (chance,) = percents(coin)
        holds_as_share(chance, p - q if "keep it" in coin else k * q)
        told = int(numbers(report)[0]) - 1
        assert (", the truth" in report) == (told == category)
        assert len(before) == times - 1
        if "keep it" in coin:
            assert told == category
        reports = [
            answer(category, draw.mechanism, draw.scenario.stream(Stream.ANSWERS, category, j)).report
            for j in range(times)
        ]
        assert [*before, told] == reports
        said.add(("keep it" in coin, told == category))
    assert said == {(True, True), (False, True), (False, False)}


@recomputes(estimators_page.error_table)
def test_every_number_of_the_error_table(many, monkeypatch):
    """Of Inv and the three repairs: zeros, errors, likelihood; the certificate of MLE* is rounding."""
    of_rows = (
        "Set to zero",
        estimators_page._ROWS["tv"],
        estimators_page._ROWS["max"],
        estimators_page._ROWS["mse"],
        "… per category",
        "NLL per report",
        estimators_page._ROWS["above"],
    )
    checked = 0
    for i, (draw, result) in enumerate(over_settings(many)[::3]):
        if i % 2:
            result = compare(draw, "population")
        monkeypatch.setattr(truth, "hidden", lambda i=i: i % 7 == 0)
        text = written(estimators_page.error_table, result, draw)
        rest = text.partition("\n\n")[2]
        scenario, k, n = draw.scenario, draw.scenario.k, draw.scenario.n
        p, q = p_and_q(scenario)
        target = draw.population.probabilities if i % 2 else draw.true_counts / n
        certificate = numbers(rest.partition("is above 1 (by ")[2].partition(", which")[0])
        best = mle(draw.counts, scenario)[0]
        share = draw.counts / n / (q + (p - q) * best)
        assert certificate[0] >= 0
        assert max(certificate[0], (q * share.sum() + (p - q) * share).max() - 1) < 1e-9
        assert ("The truth is hidden." in rest) == (i % 7 == 0)
        assert ("**Bold:**" in rest) == (i % 7 != 0)
        assert ("of these very users" in rest) == (i % 7 != 0 and not i % 2)
        raw = inv(draw.counts, scenario)
        above = i % 7 != 0 and np.abs(raw - target).sum() / 2 > 1
        assert ("**Off by** is above 100% for Inv" in rest) == above
        assert not above or (raw.min() < 0 and raw[raw > 0].sum() > 1)
        estimates_of = (
            inv(draw.counts, scenario),
            clipped(draw.counts, scenario),
            best,
            projected(draw.counts, scenario)[0],
        )
        heads, *rows = [
            line for line in text.splitlines() if line.startswith("|") and not line.startswith("|:")
        ]
        rows = [row for row in rows if row != heads]  # of the folded table, too
        columns = [re.sub(r"[*\\ ]", "", one) for one in heads.strip("|").split("|")[1:]]
        by_name = dict(zip(("Inv", "InvN", "MLE", "InvP"), estimates_of, strict=True))
        losses = {}
        for name, one in by_name.items():
            chance = q + (p - q) * one
            with np.errstate(divide="ignore", invalid="ignore"):
                losses[name] = float(-np.where(draw.counts > 0, draw.counts / n * np.log(chance), 0).sum())
        for row in rows:
            title, *cells = (one.strip() for one in row.strip("|").split("|"))
            assert title in of_rows
            for name, cell in zip(columns, cells, strict=True):
                one, shown_as = by_name[name], cell.replace("*", "")
                off = one - target
                true = {
                    "Set to zero": (one == 0).sum(),
                    of_rows[1]: np.abs(off).sum() / 2,
                    of_rows[2]: np.abs(off).max(),
                    of_rows[3]: off @ off,
                    of_rows[4]: off @ off / k,
                    of_rows[5]: losses[name],
                    of_rows[6]: losses[name] - losses["MLE"],
                }[title]
                if shown_as == "–" or shown_as in ("inf", "∞"):
                    assert shown_as == "–" if title == "Set to zero" else not np.isfinite(true)
                elif "≈ 0" in shown_as:
                    assert abs(true) < 1e-9
                else:
                    found = percents(shown_as)[0] if "%" in shown_as else numbers(shown_as)[0]
                    assert reads(found, true) or abs(found - true) < 1e-9, (scenario, title, name, cell, true)
                checked += 1
            if "**" in row:
                errors = [float(numbers(c.replace("*", ""))[0]) if "≈" not in c else 0.0 for c in cells[1:]]
                bold = [
                    float(numbers(c.replace("*", ""))[0]) if "≈" not in c else 0.0 for c in cells if "**" in c
                ]
                assert max(bold) <= min(errors) * (1 + 1e-6) + 1e-12
    assert checked > 600


@recomputes("pages/noisy_histogram.py::<module>")
def test_a_new_draw_is_said_to_bring_other_users_where_it_does():
    """A table's own people stay: another seed brings noise alone. What is to be looked at is on the picture."""
    for dist, n in (("exam", 2000), ("exam", 500), ("zipf", 2000)):
        draw, new = (Scenario(dist, 12, 1.3, 1.0, n, seed).draw() for seed in (1, 2))
        assert (draw.counts != new.counts).any()
        for hidden in (False, True) if dist == "zipf" else (False,):
            link = f"dist={dist}&k=12&s=1.3&eps=1&n={n}&seed=1" + "&truth=hidden" * hidden
            page = opened("noisy_histogram", link)
            (text,) = [one.value for one in page.markdown if "**New draw** for" in one.value]
            assert "for other users and other noise:" in text or "for other noise:" in text
            assert ("other users" in text) == (draw.true_counts != new.true_counts).any()
            names = {trace["name"] for trace in charts(page)[0]["data"] if "name" in trace}
            for words, colour in (("**Grey**", "truth"), ("brown marks", "expected")):
                there = any(
                    colour in name.lower() or ("true" in name.lower() and colour == "truth") for name in names
                )
                assert (words in text) == there == (not hidden), names
