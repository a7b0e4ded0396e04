"""Figures of repeated collections show what the repeats hold."""

from __future__ import annotations

from functools import cache
from itertools import chain, product

import numpy as np
import pytest
from scipy import stats

from rr_core import Scenario
from rr_core.comparison import RANKED
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
from tests.sentences.spoken import corners, near, numbers, random_scenarios, reads, tells


@pytest.mark.parametrize("metric", ["mse", "above"])
def test_boxes_hold_the_errors_of_each_estimator(metric):
    result = repeats(200)
    figure = error_distribution(result, metric)
    for index, name in enumerate(ESTIMATORS):
        box = named(figure, QUANTITIES[name].name)
        finite = result.errors[metric][:, index]
        assert sorted(np.asarray(box.x, float)) == sorted(finite[np.isfinite(finite)])


@cache
def over_settings(many):
    """Repeated collections at the ends of the controls and at random settings: one, few, some."""
    settings = [*[one for one in corners() if one.k < 100][::2], *random_scenarios(many // 2, 40)]
    return [last(scenario, (12, 52, 5, 1, 52)[i % 5]) for i, scenario in enumerate(settings)]


def last(scenario, times):
    *_, result = repeat(scenario.draw(), times)
    return result


OF_VALID = [list(ESTIMATORS).index(name) for name in VALID]


@holds(
    "the smallest mean of the three valid estimators is {}'s or {}'s; {} cannot tell",
    "{} cannot tell whose mean is the smallest of the three valid estimators",
)
@recomputes(_mean_reading)
def test_a_smallest_mean_is_named_only_where_it_is_settled(many):
    said = set()
    for metric, result in product(RANKED, over_settings(many)):
        text, errors = reading(error_distribution(result, metric)), result.errors[metric]
        over = f"{result.done} collections" if result.done > 1 else "one collection"
        assert text.startswith(METRIC_NAMES[metric].title)
        assert over in text
        if "are equal" in text:
            assert (np.ptp(errors[:, OF_VALID], axis=1) <= 1e-13).all()
            continue
        head, _, tail = text.rpartition("(")
        means = errors[:, OF_VALID].mean(axis=0)
        assert all(reads(told, mean, 4) for told, mean in zip(numbers(tail), means, strict=True))
        named = {name for name in VALID if f"{QUANTITIES[name].name}'s" in head} or {*VALID}
        assert named == {*result.least_mean(metric)}
        assert metric != "above" or "cannot tell" not in head  # MLE* has the smallest by definition
        if result.done < 10 and metric != "above":
            assert f"{over} cannot tell whose" in head
        said.add((metric == "above", len(named)))
    assert said >= {(True, 1), (True, 2), (False, 1), (False, 3)}


@holds(
    "Most often the best of the three was {}",
    "Who is most often the best of the three is not settled",
    "{} and {} were the best of the three equally often",
)
@recomputes(_wins_reading, _what_settles)
def test_a_most_frequent_winner_is_named_only_beyond_chance(many):
    for metric, result in product(RANKED, over_settings(many)):
        text, won = reading(wins(result, metric)), result.best[metric]
        if "equal in all" in text:
            assert result.tied[metric] == result.done
            tells(text, *([result.done] if result.done > 1 else []))
            continue
        won_told, _, settles = text.partition(" (ties shared).")
        settles, _, lost_told = settles.rpartition(" MLE*")
        done = [result.done] if result.done > 1 else []
        assert numbers(won_told) == pytest.approx([*won.values(), *done], abs=1e-9), text
        assert numbers(lost_told) == pytest.approx([result.worst[metric]["mle_star"]], abs=1e-9), text
        best = result.most_often_best(metric)
        if "is not settled" not in text:
            assert {name for name in VALID if QUANTITIES[name].name in text.partition(":")[0]} == {*best}
        elif "So few" not in settles:
            *_, second, first = sorted(won.values())
            needed = 3.2905 * np.sqrt(first + second)  # 0.1% of a normal law, on both sides
            assert first - second <= needed
            assert numbers(settles)[0] == np.floor(needed) + 1 <= result.done


@holds("So few collections cannot settle it.")
def test_a_lead_that_settles_it_comes_by_chance_once_in_a_thousand_times():
    for total in range(10, 2001):
        lead = np.floor(largest_lead_of_chance(total)) + 1
        most = np.ceil((total + lead) / 2)  # of all wins, each of which is either's with chance 1/2
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
        parts = ((max(result.bias2(name), 0.0), result.variance(name)) for name in ESTIMATORS)
        tells(text, *(near(true, 1e-12) for true in chain.from_iterable(parts)))


def test_collections_that_are_all_the_same_have_no_variance():
    """One user under a large epsilon: Inv is off by the same each time, and not by a variance."""
    result = last(Scenario("zipf", 2, 1.5, 20.0, 1, 5), 50)
    assert np.ptp(result.errors["mse"]) == result.errors["mse"][0, 0] > 0
    bias, variance, *rest = numbers(reading(bias_and_variance(result)))
    assert (variance, rest) == (0, [0] * 6)
    assert reads(bias, result.errors["mse"][0, 0])


def test_one_collection_shows_no_spread():
    figure = bias_and_variance(last(Scenario("zipf", 12, 1.5, 1.0, 200, 3), 1))
    assert "neither a bias nor a variance" in reading(figure)
    assert all(np.isnan(np.asarray(trace.x, float)).all() for trace in figure.data)


@recomputes(cost_of_the_advice)
def test_what_the_advice_costs_is_told_where_another_mean_is_surely_smaller(many):
    told = set()
    for metric, result in product(RANKED, over_settings(many)):
        text, means = cost_of_the_advice(result, metric), result.errors[metric][:, OF_VALID].mean(axis=0)
        if text:
            told.add(metric)
            tells(text, means[1] / means.min())
            assert f"smallest here, {('InvN', 'InvP', 'MLE*')[means.argmin()]}'s." in text
            assert "InvP" not in reading(error_distribution(result, metric)).partition("(")[0]
        else:
            equal = result.tied[metric] == result.done
            assert metric == "above" or equal or "inv_p" in result.least_mean(metric) or not means.min()
    assert told == {"mse", "tv", "max"}
