"""What the lab's pages say of a draw, against its numbers: over the corners of all controls and random scenarios.

Estimates, errors and their ranks are those of `rr_core.comparison`, which `tests.core.test_comparison` and the exact
arithmetic of `tests.core.exact` hold."""

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
from rr_core.figures.style import QUANTITIES, reading
from rr_core.figures.view import bars, curve, natural_order, rank_order
from rr_core.law import negative_chance, report_band
from rr_core.privacy import answer, posterior_of_reports
from rr_core.registry import VALID
from rr_core.rounding import percent
from rr_core.scenario import Draw
from rr_core.streams import Stream
from tests.app.opening import charts, opened
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import (
    corners,
    d3,
    is_negative,
    numbers,
    p_and_q,
    percents,
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


def near(true, digits=3):
    return lambda told: reads(told, true, digits)


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
@pytest.mark.parametrize(("k", "epsilon"), [(2, 20.0), (12, 1.0), (100_000, 0.01)])
def test_no_share_under_the_mouse_is_rounded_to_nothing_or_to_all(k, epsilon):
    seen = 0
    for s, n in ((5.0, 10**9), (0.0, 1)):
        draw = Scenario("zipf", k, s, epsilon, n, 3).draw()
        shares = compare(draw).estimates
        view = shown(k) if k <= 200 else curve(rank_order(draw.true_counts), "Rank")
        for figure in (
            estimates(shares, draw.theta, n, draw.mechanism, view),
            inv_with_negatives(shares["inv"], draw.theta, n, draw.mechanism, view),
            chance_against_users(n, draw.mechanism, 0.5),
        ):
            assert figure.layout.yaxis.tickformat == ",.6~p"
            for trace in figure.data:
                spec = re.search(r"%\{y:([^}]*)\}", trace.hovertemplate or "")
                for share in np.asarray(trace.y, float).tolist() if spec else ():
                    text = d3(spec[1], share)
                    assert (text == "0%") == (share == 0), (share, text)
                    assert (text == "100%") == (abs(share - 1) < 1e-13), (share, text)
                    assert percents(text.replace("-", "−")) == pytest.approx([share], rel=1e-5)
                    seen += 1
    assert seen > 100


def test_the_matrix_and_a_belief_call_nothing_certain():
    mechanism, prior, reports = RandomizedResponse(12, 20.0), np.full(12, 1 / 12), [3] * 20
    cells = np.asarray(channel(mechanism, list("abcdefghijkl")).data[0].text)
    assert set(cells.ravel()) == {percent(mechanism.p), percent(mechanism.q)}
    assert not {"0%", "100%"} & set(cells.ravel())
    beliefs = [posterior_of_reports(reports[:m], prior, mechanism) for m in (1, 20)]
    figure = belief(prior, beliefs, reports, 3, shown(12))
    assert "over 99.99999999%" in reading(figure)
    told = reading(figure) + "".join(text for trace in figure.data for _, text in trace.customdata)
    assert not re.search(r" 0%|100%", told)
    sure = np.eye(12)[3]
    assert "is the truth at 100%" in reading(belief(sure, [sure], [3], 3, shown(12)))


@recomputes(noisy_histogram)
def test_the_histogram_says_the_even_share_and_how_many_bars_are_in_their_band(many):
    for draw, _ in over_settings(many)[::2]:
        k, n, q = draw.scenario.k, draw.scenario.n, p_and_q(draw.scenario)[1]
        even, of_noise = near(n / k, 4), near(n * q)
        tells(reading(noisy_histogram(None, draw.counts, draw.mechanism, shown(min(k, 200)))), even, of_noise)
        view = shown(k) if k <= 200 else curve(rank_order(draw.true_counts), "Rank")
        text = reading(noisy_histogram(draw.true_counts, draw.counts, draw.mechanism, view))
        band = report_band(draw.true_counts, n, draw.mechanism)
        inside = int(((draw.counts >= band.low) & (draw.counts <= band.high)).sum())
        tells(text, even, *([inside, k, 0.95] if k <= 200 else [of_noise]))
        close = reading(
            noisy_histogram(draw.true_counts, draw.counts, draw.mechanism, shown(min(k, 200)), True)
        )
        drawn, highest = draw.true_counts[:200].max(), draw.counts.max()
        assert ("leave the picture" in close) == (drawn > 1.15 * highest)
        if "leave the picture" in close:
            tells(close.partition(" The true")[2], int(drawn))


@recomputes(chance_in_words)
def test_the_chance_that_an_empty_category_goes_negative(many):
    for i, (draw, _) in enumerate(over_settings(many)):
        n, q = draw.scenario.n, p_and_q(draw.scenario)[1]
        text = chance_in_words(n, float(negative_chance(n, draw.mechanism)))
        holds_as_share(percents(text)[0], float(stats.binom.cdf(math.ceil(n * q) - 1, n, q)))
        assert f"N = {n:,};" in text
        if i % 50 == 0:
            assert text == reading(chance_against_users(n, draw.mechanism, 0.5))


def test_negatives_to_expect_of_held_and_of_empty_categories():
    """Each number of the table; and fewer than all categories are not told as all."""
    for k, n, epsilon in ((2, 1, 20.0), (1000, 3, 20.0), (12, 2000, 1.0), (1_000_000, 10**4, 20.0)):
        found = [
            expected_negatives(Scenario("zipf", k, 5.0, epsilon, n, 5).draw(), times) for times in (1, 10)
        ]
        rows = [line.strip("| ").split(" | ") for line in more_users(found).splitlines()]
        assert rows[0][1:] == [f"N = {n:,}", f"N = {10 * n:,}"]
        for (label, *cells), kind in zip(rows[2:], ("held", "empty"), strict=False):
            of = getattr(found[0], f"of_{kind}")
            assert numbers(label) == [of]
            for cell, one in zip(cells, found, strict=True):
                expected = getattr(one, kind)
                assert (cell == "below 0.001") == (expected < 0.001)
                if cell != "below 0.001":
                    assert reads(numbers(cell)[0], expected)
                    assert (numbers(cell)[0] < of) == (expected < of)


@holds(
    "It is right on average, but a category that received fewer reports than the noise alone would bring comes out **below zero**."  # noqa: E501
)
@recomputes(inv_with_negatives, _of_estimates, nearest, without_towers)
def test_which_estimates_are_negative_set_to_zero_and_equal(many):
    said, names = set(), ("inv_n", "mle_star", "inv_p")
    for draw, result in over_settings(many):
        k, view = draw.scenario.k, shown(min(draw.scenario.k, 200))
        inv, about = result.estimates["inv"], (draw.scenario.n, draw.mechanism, view)
        below = int(is_negative(draw.counts, draw.scenario).sum())
        text = reading(inv_with_negatives(inv, draw.theta, *about))
        assert numbers(text)[:2] == [below, k] if below else "no negative share" in text
        text, _, leaves = reading(estimates(result.estimates, draw.theta, *about)).partition(" Inv leaves")
        if leaves:
            tells(leaves, near(inv.min()), near(inv.max()))
        zeros = [result.zeros[name] for name in names]
        apart = max(np.abs(result.estimates[name] - result.estimates["inv_n"]).max() for name in names)
        assert ("all four agree" in text) == (not below)
        if not below:
            assert max(apart, np.abs(inv - result.estimates["inv_n"]).max()) < 1e-9
            said.add("four")
        elif "the same" in text:
            assert apart < 1e-10
            assert numbers(text.partition(", and give ")[0]) == [k, zeros[0]]
            alone = zeros[0] == k - 1
            assert text.endswith(" the last one 100%." if alone else " the others the same shares.")
            said.add("three")
        else:
            assert apart > 1e-13
            hidden = reading(estimates(result.estimates, None, *about))
            assert hidden.startswith(
                f"Of {k:,} categories InvN sets {zeros[0]:,} to zero, MLE* {zeros[1]:,} and InvP"
            )
            closest, _, rest = text.partition(" Of ")
            assert numbers(rest) == [k, *zeros]
            off = {QUANTITIES[name].name: result.errors["tv"][name] for name in names}
            first, _, others = closest.partition(", off by ")
            best = set(off) if "all three" in closest else set(re.findall(r"InvN|InvP|MLE\*", first))
            assert all(reads(percents(closest)[0], off[one], 5 if len(best) == 3 else 3) for one in best)
            assert all(off[one] > min(off.values()) for one in off.keys() - best)
            told = re.findall(r"(?:(InvN|InvP|MLE\*) and )?(InvN|InvP|MLE\*) by ([^ ,]+?%)", others)
            assert {one for *who, _ in told for one in who if one} == off.keys() - best
            for *who, by in told:
                assert all(reads(percents(by)[0], off[one]) for one in who if one)
                assert by != others.partition("%")[0] + "%"
            said.add(f"{len(best)} nearest")
    assert said == {"four", "three", "1 nearest", "2 nearest", "3 nearest"}


def test_a_hidden_truth_is_not_told_by_who_is_nearest_and_towering_inv_leaves_the_picture():
    draw = Scenario("zipf", 1000, 1.5, 0.1, 1000, 1).draw()
    result = compare(draw)
    arguments = (draw.scenario.n, draw.mechanism, shown(200))
    hidden, seen = (estimates(result.estimates, theta, *arguments) for theta in (None, draw.theta))
    assert "closest" not in reading(hidden)
    assert reading(hidden).startswith("Of 1,000 categories")
    inv, highest = result.estimates["inv"], max(result.estimates[name].max() for name in VALID)
    for figure in (hidden, seen):
        low, high = figure.layout.yaxis.range
        assert low < 0 < highest < high < inv.max()
        assert "Inv leaves the picture" in reading(figure)
    assert without_towers({}, np.full(2, -200.0), 0.5) == " Inv leaves the picture: it is −20,000%."


@recomputes(_belief_reading, epsilon_cost)
def test_what_an_onlooker_believes_after_one_report_and_after_several(many):
    for i, (draw, _) in enumerate(over_settings(many)[::2]):
        scenario, prior = draw.scenario, draw.population.probabilities
        answers, truth = 1 + i % 20, i % scenario.k
        p, q = p_and_q(scenario)
        dice = (scenario.stream(Stream.ANSWERS, truth, j) for j in range(answers))
        reports = [answer(truth, draw.mechanism, one).report for one in dice]
        beliefs = [posterior_of_reports(reports[:m], prior, draw.mechanism) for m in sorted({1, answers})]
        for m, believed in zip(sorted({1, answers}), beliefs, strict=True):
            seen = np.bincount(reports[:m], minlength=scenario.k)
            weights = prior * (p**seen * q ** (m - seen))
            np.testing.assert_allclose(believed, weights / weights.sum(), rtol=1e-9, atol=1e-15)
        text = reading(belief(prior, beliefs, reports, truth, shown(scenario.k)))
        one = truth if answers > 1 else reports[0]
        told = [prior[one], *(believed[one] for believed in beliefs)]
        if "leaves" in text:
            assert abs(told[1] - told[0]) < 0.01 * told[0] + 1e-9
            told = told[1:]
        assert all(reads(*pair) for pair in zip(percents(text), told, strict=True)), (text, told)
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
    for draw, result in over_settings(many)[::2]:
        k, zeros = draw.scenario.k, result.zeros["mle_star"]
        caption = written(estimators_page.search_section, SimpleNamespace(draw=draw))
        if k > 50:
            tells(caption, 50)
            continue
        assert "up to" not in caption
        below = int(is_negative(draw.counts, draw.scenario).sum())
        text = _of_search(mle_search(draw.counts, draw.mechanism))
        assert ("none is struck out" in text) == (not below)
        tells(text, *([zeros, zeros] if below else []), k)
        if below:
            # The rule in words, step by step: the least reported goes, what is left sums to one again.
            left, (p, q) = sorted(draw.counts.tolist()), p_and_q(draw.scenario)
            while left[0] * (len(left) * q + p - q) < q * sum(left) * (1 - 1e-13):
                left = left[1:]
            assert k - len(left) == zeros
            assert ("1 step:" in text) == (zeros == 1)
        said.add((below > 0, zeros > below))
    assert said == {(False, False), (True, False), (True, True)}


@recomputes(noise_page.channel_section, noise_page.person_section)
def test_a_person_s_coin_has_the_chances_told_and_a_large_matrix_is_not_drawn(many, monkeypatch):
    monkeypatch.setattr(noise_page.chart, "show", lambda *_: None)
    monkeypatch.setattr(truth, "hidden", lambda: False)
    said = set()
    for i, (draw, _) in enumerate(over_settings(many)[::2]):
        k, category, times = draw.scenario.k, i % draw.scenario.k, 1 + i % 3
        results = SimpleNamespace(draw=draw, by_truth=rank_order(draw.true_counts))
        text = written(noise_page.channel_section, results)
        assert bool(text) == (k > noise_page.LARGEST_MATRIX)
        tells(text, *([noise_page.LARGEST_MATRIX, k] if text else []))
        monkeypatch.setattr(noise_page, "_pick_category", lambda _, category=category: category)
        text = written(noise_page.person_section, results, state={noise_page._ANSWERS: times})
        before = [int(one) - 1 for one in re.findall(r"\d+", text.partition("before: ")[2].partition(".")[0])]
        who, coin, report = re.sub(r"^\d\. ", "", text, flags=re.MULTILINE).splitlines()[:3]
        tells(who, category + 1)
        (p, q), kept, told = p_and_q(draw.scenario), "keep it" in coin, int(numbers(report)[0]) - 1
        holds_as_share(percents(coin)[0], p - q if kept else k * q)
        assert (", the truth" in report) == (told == category)
        assert told == category or not kept
        dice = (draw.scenario.stream(Stream.ANSWERS, category, j) for j in range(times))
        reports = [answer(category, draw.mechanism, one).report for one in dice]
        assert [*before[: times - 1], told] == reports
        said.add((kept, told == category))
    assert said == {(True, True), (False, True), (False, False)}


@recomputes(estimators_page.error_table)
def test_every_number_of_the_error_table(many, monkeypatch):
    """Of Inv and the three repairs: zeros, errors, likelihood; the certificate of MLE* is rounding."""
    metrics = {title: metric for metric, title in estimators_page._ROWS.items()} | {"NLL per report": "nll"}
    checked = 0
    for i, (draw, _) in enumerate(over_settings(many)[::6]):
        result, hidden = compare(draw, "population" if i % 2 else "users"), i % 7 == 0
        monkeypatch.setattr(truth, "hidden", lambda hidden=hidden: hidden)
        text = written(estimators_page.error_table, result, draw)
        certificate = numbers(text.partition("is above 1 (by ")[2].partition(", which")[0])[0]
        assert max(certificate, result.certificate) < 1e-9
        assert ("The truth is hidden." in text) == hidden == ("**Bold:**" not in text)
        assert ("of these very users" in text) == (not hidden and not i % 2)
        assert ("**Off by** is above 100% for Inv" in text) == (not hidden and result.errors["tv"]["inv"] > 1)
        errors = {title: result.errors[metric] for title, metric in metrics.items()}
        errors["Set to zero"] = result.zeros
        errors["… per category"] = {name: one / draw.scenario.k for name, one in result.errors["mse"].items()}
        rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
        for title, *cells in ([cell.strip() for cell in row] for row in rows):
            if title == "Error":
                assert [re.sub(r"[*\\ ]", "", one) for one in cells] == ["Inv", "InvN", "InvP", "MLE"]
                continue
            for name, cell in zip(("inv", "inv_n", "inv_p", "mle_star"), cells, strict=True):
                true = errors[title][name]
                if cell in ("–", "∞", "inf"):
                    assert title == "Set to zero" or not np.isfinite(true)
                elif "≈ 0" in cell:
                    assert abs(true) < 1e-9
                else:
                    told = (percents if "%" in cell else numbers)(cell)[0]
                    assert reads(told, true) or abs(told - true) < 1e-9, (
                        draw.scenario,
                        title,
                        name,
                        cell,
                        true,
                    )
                if "**" in cell:
                    assert name in result.best(metrics[title])
                checked += 1
    assert checked > 300


@recomputes("pages/noisy_histogram.py::<module>")
def test_a_new_draw_is_said_to_bring_other_users_where_it_does():
    """A table's own people stay: another seed brings noise alone. What is to be looked at is on the picture."""
    for dist, hidden in (("exam", False), ("zipf", True)):
        draw, new = (Scenario(dist, 12, 1.3, 1.0, 2000, seed).draw() for seed in (1, 2))
        assert (draw.counts != new.counts).any()
        link = f"dist={dist}&k=12&s=1.3&eps=1&n=2000&seed=1" + "&truth=hidden" * hidden
        page = opened("noisy_histogram", link)
        (text,) = [one.value for one in page.markdown if "**New draw** for" in one.value]
        others = (draw.true_counts != new.true_counts).any()
        assert ("other users and other noise:" if others else "for other noise:") in text
        names = str([trace.get("name") for trace in charts(page)[0]["data"]]).lower()
        assert ("truth is hidden" in text) == ("true" not in names) == hidden
        assert ("brown marks" in text) == ("expected" in names) == (not hidden)
