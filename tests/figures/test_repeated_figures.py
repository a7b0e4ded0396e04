"""Figures of repeated collections show what the repeats hold."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

from rr_core import Scenario
from rr_core.comparison import RANKED, rounding
from rr_core.figures.estimators import (
    _mean_reading,
    _split_reading,
    _what_settles,
    _wins_reading,
    bias_and_variance,
    cost_of_the_advice,
    error_distribution,
    wins,
)
from rr_core.figures.style import QUANTITIES, reading
from rr_core.registry import ESTIMATORS, VALID
from rr_core.repeats import largest_lead_of_chance, repeat
from rr_core.words.phrases import METRIC_NAMES
from tests.figures.samples import named, repeats
from tests.sentences import holds, recomputes
from tests.sentences.spoken import corners, numbers, random_scenarios, reads, tells


@pytest.mark.parametrize("metric", RANKED)
def test_boxes_hold_the_errors_of_each_estimator(metric):
    result = repeats(200)
    figure = error_distribution(result, metric)
    for index, name in enumerate(ESTIMATORS):
        box = named(figure, QUANTITIES[name].name)
        finite = result.errors[metric][:, index]
        assert sorted(np.asarray(box.x, float)) == sorted(finite[np.isfinite(finite)])


@cache
def over_settings(many):
    """Repeated collections at the ends of the controls and at random settings: few, some, more."""
    settings = [*(one for one in corners() if one.k < 100), *random_scenarios(many, 40)]
    return [
        last(scenario, (12, 52, 5, 1, 200)[i % 20 % 5 if i % 20 < 5 else i % 2])
        for i, scenario in enumerate(settings)
    ]


def last(scenario, times):
    *_, result = repeat(scenario.draw(), times)
    return result


OF_VALID = [list(ESTIMATORS).index(name) for name in VALID]
NAMES = {QUANTITIES[name].name: i for i, name in enumerate(ESTIMATORS)}


@holds(
    "the smallest mean of the three valid estimators is {}'s or {}'s; {} cannot tell",
    "{} cannot tell whose mean is the smallest of the three valid estimators",
)
@recomputes(_mean_reading)
def test_a_smallest_mean_is_named_only_where_it_is_settled(many):
    for metric in RANKED:
        named_means(metric, over_settings(many))


def is_clear(metric, above, largest, far):
    """Whether an error is above the smallest, by more than shares that are off by ``far`` can make it, beyond chance."""
    if metric == "above":  # one collection settles it
        return (above > far * (np.sqrt(2 * np.maximum(above, 0)) + far)).any()
    rounded = far * (2 * np.sqrt(largest) if metric == "mse" else 1)
    return above.mean() > rounded and (np.ptp(above) == 0 or stats.ttest_1samp(above, 0).pvalue < 0.001)


def named_means(metric, results):
    said = set()
    for result in results:
        text, errors = reading(error_distribution(result, metric)), result.errors[metric]
        over = f"{result.done} collections" if result.done > 1 else "one collection"
        assert text.startswith(METRIC_NAMES[metric].title)
        assert over in text
        if "are equal" in text:
            assert (np.ptp(errors[:, OF_VALID], axis=1) <= 1e-13).all()
            continue
        head, _, tail = text.rpartition("(")
        for name, shown in zip(("InvN", "InvP", "MLE*"), numbers(tail), strict=True):
            assert reads(shown, errors[:, NAMES[name]].mean(), 4)
        least = errors[:, OF_VALID].mean(axis=0).argmin() + OF_VALID[0]
        if result.done < 10 and metric != "above":
            assert f"{over} cannot tell whose" in head
            continue
        excess = {i: errors[:, i] - errors[:, least] for i in (1, 2, 3)}
        clear, unclear = (
            {i for i, above in excess.items() if is_clear(metric, above, errors[:, OF_VALID].max(), far)}
            for far in (1e-13, 1e-15)  # a share is off by at most 1e-14
        )
        assert metric != "above" or "cannot tell" not in head  # MLE* has the smallest by definition
        named = {NAMES[name] for name in ("InvN", "InvP", "MLE*") if f"{name}'s" in head}
        named = named or {1, 2, 3}
        assert clear <= {1, 2, 3} - named <= unclear
        if clear:
            means = dict(zip((1, 2, 3), numbers(tail), strict=True))
            assert min(means[i] for i in named) < min(means[i] for i in clear), text
        said.add(len(named))
    assert said >= ({1, 2} if metric == "above" else {1, 3})


@holds(
    "Most often the best of the three was {}",
    "Who is most often the best of the three is not settled",
    "{} and {} were the best of the three equally often",
)
@recomputes(_wins_reading, _what_settles)
def test_a_most_frequent_winner_is_named_only_beyond_chance(many):
    for metric in RANKED:
        named_winners(metric, over_settings(many))


def named_winners(metric, results):
    for result in results:
        text, done = reading(wins(result, metric)), result.done
        errors = result.errors[metric][:, OF_VALID]
        slack = rounding(metric, {one: of_all[:, OF_VALID] for one, of_all in result.errors.items()})
        best = errors <= errors.min(axis=1, keepdims=True) + slack
        apart = ~best.all(axis=1)
        if "equal in all" in text:
            assert not apart.any()
            assert numbers(text) == ([] if done == 1 else [done])
            continue
        won = (best / best.sum(axis=1, keepdims=True))[apart].sum(axis=0)
        most = np.take_along_axis(slack, errors.argmax(axis=1)[:, None], axis=1)
        worst = errors >= errors.max(axis=1, keepdims=True) - most
        lost = (worst / worst.sum(axis=1, keepdims=True))[apart].sum(axis=0)
        wins_told, _, settles = text.partition(" (ties shared).")
        settles, _, lost_told = settles.rpartition(" MLE*")
        assert numbers(wins_told) == pytest.approx([*won, *([done] if done > 1 else [])], abs=1e-9), text
        assert numbers(lost_told) == pytest.approx([lost[2]], abs=1e-9), text
        if metric == "above":  # no estimator fits better than MLE*, so its wins are the most
            rivals = [name for name in ("InvN", "InvP") if won[NAMES[name] - 1] == won[2]]
            assert won[2] == won.max()
            assert len(rivals) < 2
            assert text.startswith(
                f"{rivals[0]} and MLE* were the best of the three equally often"
                if rivals
                else "Most often the best of the three was MLE*"
            ), text
            continue
        *_, second, first = sorted(won)
        needed = 3.2905 * np.sqrt(first + second)  # 0.1% of a normal law, on both sides
        if "is not settled" not in text:
            name = text.split(" was ")[1].split(":")[0]
            assert won[NAMES[name] - 1] == first
            assert first - second > needed
            assert done >= 10
            assert not settles
        elif "So few" in settles:
            assert done < 10 or needed >= done - 1
        else:
            assert first - second <= needed
            assert numbers(settles)[0] == np.floor(needed) + 1 <= done


@holds("So few collections cannot settle it.")
def test_a_lead_that_settles_it_comes_by_chance_once_in_a_thousand_times():
    for total in range(10, 2001):
        lead = np.floor(largest_lead_of_chance(total)) + 1
        most = np.ceil(
            (total + lead) / 2
        )  # of the first, of all wins, each of which is either's with chance 1/2
        assert 2 * stats.binom.sf(most - 1, total, 0.5) < 0.0014


@recomputes(_split_reading)
def test_bias_and_variance_are_said_as_they_are(many):
    for result in over_settings(many):
        text = reading(bias_and_variance(result))
        if result.done == 1:
            assert text == "One collection shows neither a bias nor a variance: both are about many."
            continue
        if not result.with_negatives:
            assert "No collection had a negative" in text
            continue
        spread = {
            name: (result.errors["mse"][:, i].mean() - result.bias2(name))
            for i, name in enumerate(ESTIMATORS)
        }
        shown = numbers(text)
        assert min(shown) >= 0
        expected = []
        for name in ("inv", *VALID):
            expected += [max(result.bias2(name), 0.0), spread[name]]
        for one, true in zip(shown, expected, strict=True):
            assert reads(one, true) or abs(one - true) < 1e-12


@pytest.mark.parametrize("epsilon", [8.0, 20.0])
def test_collections_that_are_all_the_same_have_no_variance(epsilon):
    """One user under a large epsilon: Inv is off by the same each time, and not by a variance."""
    result = last(Scenario("zipf", 2, 1.5, epsilon, 1, 5), 50)
    assert np.ptp(result.errors["mse"]) == result.errors["mse"][0, 0] > 0
    bias, variance, *rest = numbers(reading(bias_and_variance(result)))
    assert (variance, rest) == (0, [0] * 6)
    assert reads(bias, result.errors["mse"][0, 0])


def test_one_collection_shows_no_spread():
    result = last(Scenario("zipf", 12, 1.5, 1.0, 200, 3), 1)
    figure = bias_and_variance(result)
    assert "neither a bias nor a variance" in reading(figure)
    assert all(np.isnan(np.asarray(trace.x, float)).all() for trace in figure.data)
    assert "cannot tell" in reading(error_distribution(result, "mse"))
    assert "is not settled" in reading(wins(result, "mse"))


@recomputes(cost_of_the_advice)
def test_what_the_advice_costs_is_told_where_another_mean_is_surely_smaller(many):
    for metric in RANKED:
        costs_told(metric, over_settings(many))


def costs_told(metric, results):
    told = 0
    for result in results:
        text, means = cost_of_the_advice(result, metric), result.errors[metric][:, OF_VALID].mean(axis=0)
        if text:
            told += 1
            assert NAMES["InvP"] == 2
            tells(text, means[1] / means.min())
            assert f"smallest here, {('InvN', 'InvP', 'MLE*')[means.argmin()]}'s." in text
            assert "InvP" not in reading(error_distribution(result, metric)).partition("(")[0]
        else:
            equal = result.tied[metric] == result.done
            assert metric == "above" or equal or "inv_p" in result.least_mean(metric) or not means.min()
    assert (told > 0) == (metric != "above")
