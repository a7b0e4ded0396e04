"""Any number and any array given to a public function: an answer without NaN, or one sentence in a ValueError."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import rr_core
from rr_core import RandomizedResponse, Scenario, coupling, sampling
from rr_core.arrivals import first_reports
from rr_core.comparison import compare
from rr_core.confidence_sequence import anytime_intervals
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.protocols import Setting, measure
from rr_core.experiments.run import expected_seconds, run
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.geometry.replicates import count_alignment
from rr_core.ibu import Start, ibu_paths, iterates, log_spaced
from rr_core.ibu.convergence import compare_epsilons, compare_runs
from rr_core.ibu.costs import affordable_iterations, compare_costs, iterations_needed
from rr_core.ibu.path import checked_distribution
from rr_core.ibu.starts import START_KINDS
from rr_core.law import most_negative, negative_chance, negatives, report_band, report_distribution
from rr_core.lesson import lesson
from rr_core.plan import protocol_choice, shuffling, solve, tails
from rr_core.plan.landscape import landscape, price_per_bit, simulate_curve
from rr_core.plan.one_share import Goal, hardest_share, people_needed, share_curve
from rr_core.plan.targets import KINDS as KINDS_OF_TARGET
from rr_core.plan.targets import Guess, Target
from rr_core.populations import dominant, step, uniform
from rr_core.privacy import answer
from rr_core.protocols import (
    Channel,
    HadamardResponse,
    SubsetSelection,
    UnaryEncoding,
    information_bounds,
    inv,
    laws,
    merge_last,
    mle,
    mle_unary,
    optimality_gap_unary,
    posterior,
    posterior_mean,
    summarise_posterior,
    update_factors_unary,
)
from rr_core.protocols.collection import one_person
from rr_core.protocols.hadamard import inv_hadamard, mle_hadamard
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, reports_of, simulated_rmse
from rr_core.protocols.prior_choice import distance_to_mle
from rr_core.protocols.unary import checked_bits
from rr_core.repeats import repeat
from rr_core.reports import above_zero, fit_test, inv_interval, plausible_epsilon
from rr_core.reports.analysis import analyse
from rr_core.reports.intervals import Interval, extremes
from rr_core.reports.low_counts import floor, strays
from rr_core.reports.survey import analyse_groups
from rr_core.summaries import EmptyShare
from tests import EXAMPLES, SAME_EXAMPLES, is_of_libraries
from tests.core import found

SECONDS = 2.0
NUMBERS = [0, -0.0, 1, 2, 3, -1, 0.5, 1.0, 0.999, float("nan"), float("inf"), -float("inf"), 5e-324, 1e-320, 1e-12,
           1e16, 1.7e308, -1e308, 2**31, 2**53, 2**62, 2**63, 2**64, -(2**63), 10**400, -(10**400),
           True, False, np.True_, np.float32(0.1), np.int8(-1), np.uint64(2**63), Fraction(1, 3), 1j, "1",
           "", b"1", None, object(), [], {}, (), [1], np.array([]), np.array(1.0)]  # fmt: skip
ENTRIES = [0, 1, 2, 5, 9, 0.25, 0.5, 1e-320, 5e-324, 1e16, 1.7e308, 2**53, 2**62, 2**63, 10**400, float("nan"),
           float("inf"), -1, True, "a", None]  # fmt: skip
K = 3
MECHANISMS = [RandomizedResponse(K, epsilon) for epsilon in (1e-6, 0.5, 1.0, 20.0, 700.0)]

UNARY = UnaryEncoding(K, 1.0)
CHANNEL = Channel([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.2, 0.2, 0.6]])
OVER_TIME = [Longitudinal(key, K, 1.0) for key in SCHEMES]
SUBSET, HADAMARD = SubsetSelection(K, 1.0, 2), HadamardResponse(K, 1.0)

numbers = st.one_of(st.sampled_from(NUMBERS), st.integers(-9, 99), st.floats(), st.text(max_size=3))
# Of these any large one is an honest wish for much work, or for much memory.
few = numbers.filter(lambda value: not (isinstance(value, (int, float, np.number, Fraction)) and value > 64))
few_reports = st.lists(st.integers(0, 4), min_size=K, max_size=K)
mechanisms = st.sampled_from(MECHANISMS)
usual = st.lists(st.integers(0, 50), min_size=K, max_size=K).filter(any)
arrays = st.one_of(
    usual,
    st.just([[9, 0, 5], [1, 2, 3]]),
    st.lists(st.sampled_from(ENTRIES), min_size=K, max_size=K),
    st.lists(st.floats(0, allow_infinity=False), min_size=K, max_size=K),
    st.lists(st.sampled_from([0, 5e-324, 1e-300, 1.7e308, 2**62, 1]), min_size=K, max_size=K),
    st.lists(st.sampled_from(ENTRIES), max_size=5),
    st.lists(st.lists(st.sampled_from([0, 1, 2.5, 1.7e308, -1]), min_size=K, max_size=K), max_size=3),
    st.sampled_from([np.zeros((0, K)), np.zeros((2, 0, K)), np.zeros((K, 0)), np.ones((2, 2, K)), np.eye(K),
                     np.eye(K)[:, :2],
                     np.array([1, 2, 3], dtype=np.float16), np.array(["1", "2", "3"]), np.array([1, 2, 3], dtype="m8[s]"),
                     [[1, 2, 3], [1, 2]], {"a": 1}, "abc", b"abc", iter([1, 2, 3])]),
    numbers,
)  # fmt: skip
reports = st.one_of(
    st.lists(st.lists(st.sampled_from([0, 1]), min_size=K, max_size=K), min_size=1, max_size=9), arrays
)
shares = st.one_of(st.sampled_from([[0.2, 0.3, 0.5], [0, 0, 1], [5e-324, 0, 1.0], [1 / 3] * 3]), arrays)


@dataclasses.dataclass(frozen=True, eq=False)
class Usually:
    """An argument that is mostly a usual one, a value or drawn, and else a hostile one; ``plain`` is one usual value."""

    usual: Any
    hostile: st.SearchStrategy[Any]
    plain: Any = None

    @property
    def example(self) -> Any:
        return self.usual if self.plain is None else self.plain


DRAW = Scenario(k=K, n=200).draw()
PATH = rr_core.ibu_path([5, 0, 9], RandomizedResponse(K, 1.0), [0, 2])
SWEEP = run(Sweep(over(k=(K, 5), n=200, epsilon=1.0, s=(1.0, 2.0)), Settings(seeds=4)))
SURVEY = analyse_groups([[9, 0, 5], [1, 2, 3]], RandomizedResponse(K, 1.0), "abc", "xy")
TARGETS = {key: Target(key, kind.default) for key, kind in KINDS_OF_TARGET.items() if key != "top"}

MECHANISM = Usually(RandomizedResponse(K, 1.0), mechanisms)
COUNTS = Usually(usual, arrays, [12, 1, 7])
SHARES = Usually([0.2, 0.3, 0.5], shares)
BITS = Usually(np.eye(K, dtype=int), reports)
VALUES, MATRIX = Usually([0, 1, 2, 1], arrays), Usually(CHANNEL.matrix, arrays)
CATEGORIES, FEW_CATEGORIES = Usually(K, numbers), Usually(K, few)
EPSILON, LEVEL, SEED, USERS = (Usually(value, numbers) for value in (1.0, 0.9, 1, 200))
SMALL_COUNTS = Usually(usual, usual, [12, 1, 7])
FEW, DAYS = Usually(3, few), Usually([1, 2], arrays)
ITERATIONS = Usually([0, 2, 3], st.lists(few, max_size=3))
WHOSE = Usually(st.sampled_from(["fixed", "sampled"]), numbers, "fixed")
DIST, ALONG = Usually("zipf", numbers), Usually("epsilon", numbers)
KIND = Usually(st.sampled_from(list(KINDS_OF_TARGET)), numbers, "rmse")
TARGET = Usually(st.sampled_from(list(TARGETS.values())), numbers, TARGETS["rmse"])
GOAL_KINDS = ["half_width", "power", "difference"]
GOAL = Usually(Goal("difference", 0.3), numbers)
SCHEME = Usually(st.sampled_from(SCHEMES), numbers, "l_grr")
PROTOCOL = Usually(st.sampled_from(laws.KEYS), numbers, "rr")
OF_HADAMARD = Usually([9, 0, 5, 7][: HADAMARD.m], arrays)
METRIC = Usually("mse", numbers)
ONE_SHARE = Usually(0.25, numbers)
NUMBERS_OF_CATEGORIES = Usually([3, 5], arrays)
# Of what plan.tails takes, which is checked before.
MANY_USERS, PLANNED = Usually(200.0, st.floats(1, 1e12)), Usually(1.0, st.floats(0.01, 20))
FLAG = Usually(st.booleans(), st.booleans(), True)
DISTANCE = Usually(0.25, st.floats(1e-300, 1))
ANY_SHARE = Usually(st.floats(0, 1), st.floats(0, 1), 0.25)

# How an argument of this name is made: for every public function that has no entry of its own in CALLS.
BY_NAME = {
    "k": FEW_CATEGORIES,
    **dict.fromkeys(("epsilon", "epsilon0", "epsilon_per_step", "s"), EPSILON),
    **dict.fromkeys(("n",), USERS),
    **dict.fromkeys(("histogram", "counts", "true_counts", "support", "weights", "people"), COUNTS),
    **dict.fromkeys(("theta", "theta_hat", "prior", "estimate"), SHARES),
    **dict.fromkeys(
        ("level", "chance", "p", "r", "error", "delta", "tolerance", "forced", "first", "alpha"), LEVEL
    ),
    **dict.fromkeys(("x", "y", "share", "achieved", "theta_share", "product", "close"), ONE_SHARE),
    **dict.fromkeys(("draws", "replicates", "repeats", "times", "collections", "most", "d", "g"), FEW),
    **dict.fromkeys(("index", "category", "value", "truth", "report", "seed", "after"), SEED),
    **dict.fromkeys(("days", "t", "epsilons", "points", "bits", "ks"), DAYS),
    "values": VALUES,
    "reports": VALUES,
    "channel": MATRIX,
    "ones": SEED,
    "chances": Usually((0.25, 0.75), arrays),
    "shares": SHARES,
    "users": WHOSE,
    "iterations": ITERATIONS,
    "n_iterations": FEW,
    "start": Usually(None, shares),
    "q": Usually(0.4, numbers),
    "f": Usually(0.25, numbers),
    "squares": Usually(None, numbers),
    "along": ALONG,
    "key": PROTOCOL,
    "against": Usually("oue", numbers),
    "dist": DIST,
    "metric": METRIC,
    "fixed_value": EPSILON,
    "every": FEW,
    "target": Usually(0.5, numbers),
    "rng": 1,
    "name": "counts",
}
# Of these types some example will do.
BY_TYPE = {
    "RandomizedResponse": MECHANISM,
    "Channel": CHANNEL,
    "UnaryEncoding": UNARY,
    "SubsetSelection": SUBSET,
    "HadamardResponse": HADAMARD,
    "Target": TARGET,
    "Longitudinal": OVER_TIME[0],
    "Draw": DRAW,
    "IBUPath": PATH,
    "SweepResult": SWEEP,
}
# Whose methods are called.
INSTANCES = {
    "RandomizedResponse": RandomizedResponse(K, 1.0),
    "Channel": CHANNEL,
    "UnaryEncoding": UNARY,
    "SubsetSelection": SUBSET,
    "HadamardResponse": HADAMARD,
    "Comparison": compare(DRAW),
    "PushDown": push_down([50, 30, 20], 2, RandomizedResponse(K, 1.0)),
    "RunComparison": compare_epsilons(DRAW, [0.5, 1.0], 3),
    "IBUPath": PATH,
    "Guess": Guess.of(K, [0.2, 0.3, 0.5]),
    "Target": TARGETS["rmse"],
    "Support": laws.support("oue", K, 1.0),
    "FitTest": fit_test([5, 0, 9], RandomizedResponse(K, 1.0), 5),
    "EmptyShare": EmptyShare(1, 2, True),
    "Interval": Interval(np.array([-0.3, 0.1, 1.1]), np.array([-0.1, 0.4, 1.2]), 0.95, False),
}
# Called by this package alone, with what it has checked, counted or chosen before.
INSIDE = {
    *(
        "arrivals.moments",
        "comparison.exceeds_chance",
        "comparison.mean_rounding",
        "comparison.Comparison.zeroed",
        "lesson.scene.with_unit",
    ),
    *(
        "experiments.cell.rows_per_block",
        "simulate.rows_per_step",
        "simulate.last_of",
        "protocols.unary.row_blocks",
    ),
    *(f"simulate.{name}" for name in ("users_then_noise", "multinomial_reports", "rescaled_reports")),
    *(
        "simulate.kept_then_poisson",
        "simulate.Collector.draw",
        "simulate.Collector.sampler",
        "simulate.simulate",
    ),
    *(
        "sampling.poisson",
        "sampling.has_poisson_table",
        "sampling.uniform_multinomial",
        "sampling.noisy_histogram",
    ),
    *(
        "streams.key",
        "streams.generator",
        "scenario.Scenario.stream",
        "scenario.other_k",
        "ibu.path.BatchLevels.row",
    ),
    *("geometry.simplex.to_plane", "geometry.simplex.from_plane", "geometry.simplex.percents_at"),
    *(
        "geometry.simplex.slider_percent",
        "experiments.winner_map.WinnerMap.position",
        "reports.intervals.lower_tail",
    ),
    *(f"ibu.figure4.{name}" for name in ("scenarios", "run", "run_scenarios", "compare", "measurement")),
    *("ibu.figure4.first_indices_within", "ibu.figure4.iterations_to", "ibu.costs.time_iterations"),
    *("plan.solve.Channels.of", "plan.solve.has_whole_person", "estimators.rule"),
    "reports.measured.credible_coverage_of_large",
    *(
        "parameters.Number.parse",
        "parameters.Number.format",
        "parameters.Number.show",
        "parameters.parse_numbers",
    ),
    *("plain_text.plain", "ibu.starts.parse_weights"),  # of texts
    *("experiments.storage.from_columns", "scenario.Scenario.collect", "ibu.path.batch_levels"),
    *(
        "plan.settings.value_range",
        "plan.settings.PlanSettings.fitted",
        "plan.settings.PlanSettings.from_query",
    ),
    *(
        f"protocols.settings.{name}"
        for name in ("ChannelSettings.channel", "TimeSettings.first", "TimeSettings.scheme")
    ),
    *("plan.answer.make_plan", "plan.answer.rounded_up", "rounding.round_up", "rounding.round_down"),
    *("protocols.collection.users_in_rows", "plan.targets.Target.met_by"),
    *("reports.designs.unrelated", "reports.designs.kuk"),  # of parameters that are checked before
    "reports.designs.unary_encoding",  # of texts
    *(
        "reports.survey.Sample.tallies",
        "reports.survey.Tallies.in_order",
    ),  # of codes
    "repeats.largest_lead_of_chance",
}


def in_one_row(answer: Any) -> Any:
    """The answer about one histogram, where several of them are to be refused."""
    assert all(np.ndim(part) <= 1 for part in parts(answer))
    return answer


def at(epsilon: float) -> solve.Channels:
    return solve.Channels.of(K, [epsilon])


def ordered(one: float, two: float) -> tuple[float, float]:
    """Two shares that add up to one at most, the larger one first."""
    most = max(one + two, 1.0)
    return max(one, two) / most, min(one, two) / most


# Calls of what its signature does not tell. A name is that of the function; after a comma, of which of its uses.
SPECIAL: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mechanism.RandomizedResponse": (RandomizedResponse, (CATEGORIES, EPSILON)),
    "mechanism.RandomizedResponse.from_p": (RandomizedResponse.from_p, (CATEGORIES, LEVEL)),
    "mechanism.RandomizedResponse.from_redraw": (RandomizedResponse.from_redraw, (CATEGORIES, LEVEL)),
    "scenario.Scenario": (
        lambda dist, *others: Scenario(dist, *others).mechanism,
        (DIST, CATEGORIES, EPSILON, EPSILON, USERS, SEED),
    ),
    "scenario.Scenario, drawn": (
        lambda k, s, n: Scenario(k=k, s=s, n=n).draw().counts,
        (FEW_CATEGORIES, EPSILON, FEW),
    ),
    "ibu.path.log_spaced": (log_spaced, (USERS, FEW)),
    "ibu.starts.Start": (Start, (Usually("leaning", numbers), SEED, LEVEL, SEED)),
    "ibu.starts.Start.distribution": (
        lambda kind, weights, histogram: Start(kind, weights=weights).distribution(histogram),
        (Usually(st.sampled_from(list(START_KINDS)), numbers, "typed"), COUNTS, COUNTS),
    ),
    "protocols.over_time.Longitudinal": (
        lambda key, k, epsilon, first, g: Longitudinal(key, k, epsilon, first, g).variance(0.5, 10, [1, 9]),
        (SCHEME, CATEGORIES, EPSILON, Usually(st.sampled_from([None, 0.5]), numbers), Usually(None, numbers)),
    ),
    **{
        f"protocols.over_time.Longitudinal.{name}, {one.scheme}": (getattr(one, name), given)
        for one in OVER_TIME
        for name, given in (
            ("epsilon_after", (DAYS,)),
            ("epsilon_changing", (USERS, FEW)),
            ("epsilon_any_changes", (FEW, USERS)),
            ("variance", (SHARES, USERS, USERS)),
            ("estimate", (COUNTS, USERS)),
            ("log_likelihood", (Usually([1] * one.cells, arrays), USERS)),
            ("randomize_supports", (COUNTS, FEW, 1)),
        )
    },
    "protocols.over_time.guesses": (
        lambda key, prior, days, people: guesses(Longitudinal(key, K, 1.0), prior, days, people, 1).right,
        (SCHEME, SHARES, Usually([1, 2], few), FEW),
    ),
    "protocols.over_time.simulated_rmse": (
        lambda counts, days, repeats: simulated_rmse(Longitudinal("l_grr", K, 1.0), counts, days, repeats, 1),
        (SMALL_COUNTS, Usually([1, 2], few), FEW),
    ),
    "protocols.over_time.reports_of": (
        lambda key, value, days: reports_of(Longitudinal(key, K, 1.0), value, days, 1),
        (SCHEME, SEED, FEW),
    ),
    "ibu.engine.ibu, from a start": (
        lambda h, m, start: rr_core.ibu(h, m, 3, start),
        (COUNTS, MECHANISM, SHARES),
    ),
    "ibu.engine.ibu": (rr_core.ibu, (COUNTS, MECHANISM, FEW)),
    "ibu.engine.ibu_paths": (
        lambda h, m, i, start: ibu_paths(h, [m], i, start),
        (Usually([[5, 0, 9]], arrays), MECHANISM, ITERATIONS, Usually(None, shares)),
    ),
    "ibu.engine.iterates": (
        lambda last, since: [*iterates(PATH, last, since)],
        (Usually(3, few), Usually(None, few)),
    ),
    "ibu.convergence.compare_epsilons": (
        lambda epsilons, last: compare_epsilons(DRAW, epsilons, last),
        (DAYS, FEW),
    ),
    "ibu.convergence.compare_runs": (lambda last: compare_runs([DRAW], last), (FEW,)),
    "ibu.convergence.RunComparison.select": (
        INSTANCES["RunComparison"].select,
        (Usually(0, few), Usually(1, few)),
    ),
    "ibu.costs.compare_costs": (
        lambda h, m, tolerance: len(compare_costs(h, m, tolerance, budget=0.001)),
        (SMALL_COUNTS, MECHANISM, LEVEL),
    ),
    "ibu.costs.iterations_needed": (
        lambda h, m, tolerance: iterations_needed(h, m, tolerance, 0.01).iterations >= 0,
        (COUNTS, MECHANISM, LEVEL),
    ),
    "ibu.costs.affordable_iterations": (affordable_iterations, (COUNTS, USERS)),
    "arrivals.first_reports": (
        lambda counts, sizes: [*first_reports(counts, sizes, np.random.default_rng(1))],
        (COUNTS, Usually([1, 2], arrays)),
    ),
    "experiments.protocols.Setting": (
        Setting,
        (Usually("k_rr", numbers), Usually("uniform", numbers), CATEGORIES, EPSILON, USERS, WHOSE, EPSILON),
    ),
    "experiments.protocols.measure": (
        lambda collections, seed: measure(Setting("k_rr", "uniform", K, 1.0, 20), collections, seed),
        (FEW, SEED),
    ),
    "experiments.run.expected_seconds": (lambda workers: expected_seconds(SWEEP.sweep, workers), (SEED,)),
    "geometry.replicates.count_alignment": (lambda times: [*count_alignment(DRAW, times)], (FEW,)),
    "geometry.push_down.push_down, equalize": (
        lambda h, c, m: push_down(h, c, m, equalize=True),
        (SMALL_COUNTS, SEED, MECHANISM),
    ),
    "geometry.push_down.push_down": (push_down, (COUNTS, SEED, MECHANISM)),
    "geometry.push_down.push_down_candidates": (push_down_candidates, (COUNTS, MECHANISM, USERS)),
    "repeats.repeat": (lambda times: [*repeat(DRAW, times)][-1].done, (FEW,)),
    "lesson.lesson": (
        lambda epsilons, seed: lesson(epsilons, seed).true_counts,
        (Usually((1.0,), arrays), SEED),
    ),
    "law.report_distribution": (report_distribution, (FEW, FEW, MECHANISM)),
    "law.report_band": (report_band, (SMALL_COUNTS, Usually(200, few), MECHANISM, LEVEL)),
    "law.negative_chance": (negative_chance, (COUNTS, MECHANISM)),
    "law.most_negative": (most_negative, (COUNTS, MECHANISM)),
    "law.negatives": (negatives, (SHARES, COUNTS, MECHANISM)),
    "metrics.inv_variance": (rr_core.inv_variance, (SHARES, USERS, MECHANISM)),
    "confidence_sequence.anytime_intervals": (
        lambda counts, mechanism, level, tightest_at, bound: anytime_intervals(
            counts, mechanism, level=level, tightest_at=tightest_at, bound=bound
        ),
        (
            COUNTS,
            MECHANISM,
            LEVEL,
            USERS,
            Usually(st.sampled_from(["exact", "sub_gaussian"]), numbers, "exact"),
        ),
    ),
    "reports.intervals.above_zero": (
        lambda *given: in_one_row(above_zero(*given)),
        (COUNTS, MECHANISM, LEVEL),
    ),
    "reports.intervals.inv_interval": (
        lambda c, m, level, all_: inv_interval(c, m, level, simultaneous=all_),
        (COUNTS, MECHANISM, LEVEL, Usually(st.booleans(), st.booleans(), True)),
    ),
    "reports.intervals.extremes": (lambda *given: in_one_row(extremes(*given)), (COUNTS, MECHANISM)),
    "reports.low_counts.floor": (lambda *given: in_one_row(floor(*given)), (COUNTS, MECHANISM, LEVEL)),
    "reports.low_counts.strays": (
        lambda c, k, chance: strays(c, lambda k: RandomizedResponse(k, 1.0), k, chance),
        (COUNTS, Usually(None, numbers), LEVEL),
    ),
    "reports.epsilon_fit.fit_test": (
        lambda c, m, seed: fit_test(c, m, 5, seed=seed),
        (COUNTS, MECHANISM, SEED),
    ),
    "reports.epsilon_fit.fit_test, replicates": (fit_test, (SMALL_COUNTS, MECHANISM, FEW)),
    "reports.epsilon_fit.plausible_epsilon": (
        lambda c, k, level, above: plausible_epsilon(c, k, level, above=above, replicates=5),
        (COUNTS, FEW_CATEGORIES, LEVEL, Usually(0.5, numbers)),
    ),
    "reports.analysis.analyse": (
        lambda c, protocol, level, users, n: analyse(c, protocol, level, users, n=n),
        (COUNTS, Usually(st.sampled_from([*MECHANISMS, CHANNEL]), numbers, CHANNEL), LEVEL, WHOSE, USERS),
    ),
    "reports.analysis.analyse, unary": (
        lambda support, n, level, users, bits, occurrences: analyse(
            support, UNARY, level, users, n=n, bits=None if bits is None else (bits, occurrences)
        ),
        (COUNTS, USERS, LEVEL, WHOSE, Usually(None, reports), COUNTS),
    ),
    "reports.answers.analyse": (
        lambda c, design, level, by, weights, users: rr_core.analyse(
            c, design, level, by, weights, users=users
        ),
        (
            Usually(usual, arrays, [12, 1, 7]),
            Usually(st.sampled_from([*MECHANISMS, CHANNEL, UNARY]), numbers, CHANNEL),
            LEVEL,
            Usually(None, arrays),
            Usually(None, arrays),
            WHOSE,
        ),
    ),
    "reports.answers.analyse, answers": (
        lambda c, by, weights: rr_core.analyse(c, RandomizedResponse(K, 1.0), 0.9, by, weights, labels="012"),
        (Usually([0, 1, 2, 1], arrays), Usually([0, 1, 1, 0], arrays), Usually([1.0, 2.0, 3.0, 4.0], arrays)),
    ),
    "reports.survey.analyse_groups": (
        lambda c, design, level: analyse_groups(c, design, "abc", "xy", level),
        (
            Usually([[9, 0, 5], [1, 2, 3]], arrays),
            Usually(st.sampled_from([*MECHANISMS, CHANNEL]), st.just(CHANNEL), CHANNEL),
            LEVEL,
        ),
    ),
    "reports.survey.Survey.difference": (
        lambda one, other, level: SURVEY.difference(one, other, level),
        (Usually(0, numbers), Usually(1, numbers), LEVEL),
    ),
    "reports.analysis.analyse, bits": (
        lambda bits: analyse([1, 1, 1], UNARY, n=3, bits=bits),
        (Usually((np.eye(K, dtype=int), [1, 1, 1]), arrays),),
    ),
    "protocols.channel.Channel": (
        lambda matrix: [getattr(Channel(matrix), name) for name in ("rank", "epsilon", "condition_number")],
        (MATRIX,),
    ),
    "protocols.channel.Channel.forced_response": (
        lambda forced: Channel.forced_response(forced).matrix,
        (Usually([0.1, 0.2, 0.1], arrays),),
    ),
    "protocols.estimation.inv, channel": (lambda histogram: inv(histogram, CHANNEL), (COUNTS,)),
    "protocols.estimation.inv, subset": (
        lambda support, n: inv(support, SUBSET, n),
        (Usually([200, 150, 50], arrays), USERS),
    ),
    "protocols.estimation.inv, unary": (lambda support, n: inv(support, UNARY, n), (COUNTS, USERS)),
    "protocols.estimation.inv, hadamard": (lambda histogram: inv(histogram, HADAMARD), (OF_HADAMARD,)),
    "protocols.estimation.mle, channel": (
        lambda histogram, tolerance: mle(histogram, CHANNEL, tolerance),
        (COUNTS, EPSILON),
    ),
    "protocols.estimation.mle, unary": (lambda bits, tolerance: mle(bits, UNARY, tolerance), (BITS, EPSILON)),
    "protocols.estimation.mle, hadamard": (
        lambda histogram, t: mle(histogram, HADAMARD, t),
        (OF_HADAMARD, EPSILON),
    ),
    "protocols.hadamard.inv_hadamard": (lambda histogram: inv_hadamard(histogram, HADAMARD), (OF_HADAMARD,)),
    "protocols.hadamard.mle_hadamard": (lambda h, t: mle_hadamard(h, HADAMARD, t), (OF_HADAMARD, EPSILON)),
    "protocols.hadamard.HadamardResponse.support": (HADAMARD.support, (VALUES,)),
    "protocols.hadamard.HadamardResponse.histogram": (HADAMARD.histogram, (VALUES,)),
    "protocols.subset.SubsetSelection": (
        lambda k, e, d: SubsetSelection(k, e, d).q_star,
        (FEW_CATEGORIES, EPSILON, Usually(2, few)),
    ),
    "protocols.subset.SubsetSelection.support": (SUBSET.support, (Usually([[1, 1, 0], [0, 1, 1]], arrays),)),
    "protocols.unary.UnaryEncoding": (
        lambda k, e, o: [getattr(UnaryEncoding(k, e, o), name) for name in ("p", "q", "keep")],
        (FEW_CATEGORIES, EPSILON, Usually(st.booleans(), numbers, True)),
    ),
    "protocols.unary.UnaryEncoding.support": (UNARY.support, (BITS,)),
    "protocols.unary.checked_bits": (lambda bits: checked_bits("reports", bits, K), (BITS,)),
    "protocols.unary_estimation.mle_unary": (
        lambda bits, counts: mle_unary(bits, UNARY, counts=counts),
        (BITS, COUNTS),
    ),
    "protocols.unary_estimation.mle_unary, subset": (
        lambda sets, tolerance: mle_unary(sets, SUBSET, tolerance),
        (Usually([[1, 1, 0], [0, 1, 1]], arrays), LEVEL),
    ),
    "protocols.unary_estimation.update_factors_unary": (
        lambda bits, theta: update_factors_unary(bits, theta, UNARY),
        (BITS, SHARES),
    ),
    "protocols.unary_estimation.optimality_gap_unary": (
        lambda bits, theta: optimality_gap_unary(bits, theta, UNARY),
        (BITS, SHARES),
    ),
    "protocols.posterior.posterior": (
        lambda h, m, prior, draws: posterior(h, m, prior, draws, 1),
        (COUNTS, MECHANISM, COUNTS, FEW),
    ),
    "protocols.posterior.posterior_mean": (
        lambda h, m, prior, users: posterior_mean(h, m, prior, users=users),
        (COUNTS, MECHANISM, Usually([0.5, 1, 2], arrays), WHOSE),
    ),
    "protocols.posterior.summarise_posterior": (
        lambda h, m, prior, draws, users, level: summarise_posterior(
            h, m, prior, draws, 1, users=users, level=level
        ),
        (COUNTS, MECHANISM, EPSILON, FEW, WHOSE, LEVEL),
    ),
    "protocols.prior_choice.distance_to_mle": (
        lambda theta, m, sizes, priors: distance_to_mle(theta, m, sizes, priors, 1),
        (
            SHARES,
            Usually(RandomizedResponse(K, 1.0), st.just(RandomizedResponse(K, 2.0))),
            Usually([9, 20], st.lists(few, max_size=2)),
            Usually([0.5], st.lists(few, max_size=2)),
        ),
    ),
    "protocols.information_bounds.information_bounds": (
        lambda prior, users, draws: information_bounds(CHANNEL, prior, users=users, draws=draws, rng=1),
        (EPSILON, WHOSE, FEW),
    ),
    "protocols.collection.merge_last": (
        lambda counts, k: merge_last(counts, None, k),
        (COUNTS, Usually(2, numbers)),
    ),
    "privacy.answer": (lambda truth, m: answer(truth, m, 1), (SEED, MECHANISM)),
    "sampling.multinomial": (
        lambda n, weights: sampling.multinomial(n, weights, np.random.default_rng(1)),
        (USERS, COUNTS),
    ),
    "sampling.whole_counts": (lambda counts: sampling.whole_counts("counts", counts, K), (COUNTS,)),
    "sampling.one_collection": (lambda counts: sampling.one_collection("counts", counts, K), (COUNTS,)),
    "ibu.path.checked_distribution": (lambda values: checked_distribution("start", values, K), (SHARES,)),
    "coupling.multinomial": (
        lambda n, weights: coupling.multinomial(n, weights, np.array([0.3, 0.9, 0.6])),
        (USERS, COUNTS),
    ),
    "experiments.grid.Cell": (Cell, (DIST, CATEGORIES, EPSILON, USERS, EPSILON)),
    "experiments.grid.Cell.parse": (
        Cell.parse,
        (Usually("zipf k=3 s=1.0 epsilon=1.0 n=200", st.one_of(numbers, arrays)),),
    ),
    "experiments.grid.over": (
        lambda dist, s, k, epsilon, n: over(dist=dist, s=s, k=k, epsilon=epsilon, n=n),
        (DIST, EPSILON, CATEGORIES, Usually([0.5, 1.0], arrays), USERS),
    ),
    "experiments.grid.Settings": (
        Settings,
        (
            FEW,
            WHOSE,
            Usually("drawn", numbers),
            Usually(("inv",), arrays),
            Usually(("mse",), arrays),
            SEED,
            SEED,
        ),
    ),
    "experiments.grid.Sweep": (Sweep, (Usually((Cell("zipf", K, 1.0, 200),), arrays),)),
    "plan.one_share.Goal": (Goal, (Usually(st.sampled_from(GOAL_KINDS), numbers, "power"), LEVEL, LEVEL)),
    "plan.one_share.people_needed": (
        lambda goal, at, about: people_needed(CHANNEL, goal, at, about),
        (GOAL, Usually([0.1, 0.2], arrays), SEED),
    ),
    "plan.one_share.hardest_share": (lambda goal, about: hardest_share(CHANNEL, goal, about), (GOAL, SEED)),
    "plan.one_share.share_curve": (
        lambda goal, share: share_curve(Channel.warner(0.7), goal, share),
        (GOAL, ONE_SHARE),
    ),
    "plan.targets.Target": (Target, (KIND, EPSILON, LEVEL, LEVEL)),
    "plan.solve.shortfall_function": (
        lambda target, theta, users, n: solve.shortfall_function(
            target, solve.checked_guess(target, K, theta), users
        )(solve.Channels.of(K, [0.5, 1.0]), np.array([solve.checked_n(n), 9.0])),
        (TARGET, SHARES, WHOSE, USERS),
    ),
    "plan.solve.least_users": (
        lambda target, theta, users: solve.least_users(
            solve.shortfall_function(target, solve.checked_guess(target, K, theta), users),
            solve.Channels.of(K, [0.5, 1.0]),
        ),
        (TARGET, SHARES, WHOSE),
    ),
    "plan.solve.value_function": (
        lambda target, theta, users, n: solve.value_function(
            target, solve.checked_guess(target, K, theta), users
        )(solve.Channels.of(K, [0.5, 1.0]), np.array([solve.checked_n(n), 9.0]), 1e-6),
        (TARGET, SHARES, WHOSE, USERS),
    ),
    "plan.solve.checked_guess": (
        lambda target, theta: solve.checked_guess(target, K, theta),
        (TARGET, SHARES),
    ),
    "plan.targets.Guess.of": (Guess.of, (FEW_CATEGORIES, SHARES)),
    "plan.targets.Guess.levels": (INSTANCES["Guess"].levels, (Usually(0, few),)),
    "plan.protocol_choice.against_k": (
        protocol_choice.against_k,
        (NUMBERS_OF_CATEGORIES, FEW_CATEGORIES, EPSILON, USERS, WHOSE),
    ),
    "plan.landscape.simulate_curve": (
        simulate_curve,
        (FEW_CATEGORIES, SHARES, ALONG, Usually([1, 2], few), EPSILON, FEW),
    ),
    "plan.landscape.landscape": (
        lambda k, theta, epsilons, n: landscape(TARGETS["rmse"], k, theta, epsilons=epsilons, n=n),
        (FEW_CATEGORIES, SHARES, DAYS, DAYS),
    ),
    "plan.landscape.price_per_bit": (
        lambda target, k, epsilon, theta, users: price_per_bit(target, k, epsilon, theta, users=users),
        (TARGET, FEW_CATEGORIES, EPSILON, SHARES, WHOSE),
    ),
    "plan.landscape.price_per_bit, bits": (
        lambda bits: price_per_bit(TARGETS["rmse"], K, 1.0, [0.2, 0.3, 0.5], bits),
        (DAYS,),
    ),
    "plan.shuffling.users_for": (shuffling.users_for, (EPSILON, Usually(0.5, numbers), LEVEL)),
    "plan.shuffling.against_users": (shuffling.against_users, (DAYS, EPSILON, USERS, LEVEL)),
    "plan.tails.binomial_tail": (
        lambda n, m, distance: tails.binomial_tail(n, m, 1 - m, distance),
        (MANY_USERS, ANY_SHARE, DISTANCE),
    ),
    "plan.tails.binomial_at_least": (tails.binomial_at_least, (MANY_USERS, MANY_USERS, ANY_SHARE)),
    "plan.tails.detection_threshold": (
        lambda n, epsilon, level: tails.detection_threshold(n, at(epsilon).q, level),
        (MANY_USERS, PLANNED, Usually(0.1, st.floats(1e-12, 0.5))),
    ),
    "plan.tails.overtaken_sampled": (
        lambda n, epsilon, ahead, behind: tails.overtaken_sampled(
            n,
            *(at(epsilon).q + at(epsilon).keep * one for one in ordered(ahead, behind)),
            at(epsilon).keep * abs(ahead - behind),
        ),
        (MANY_USERS, PLANNED, ANY_SHARE, ANY_SHARE),
    ),
    "plan.tails.overtaken_fixed": (
        lambda n, epsilon, ahead, behind: tails.overtaken_fixed(
            n, at(epsilon).q, at(epsilon).keep, K - 2, *ordered(ahead, behind)
        ),
        (MANY_USERS, PLANNED, ANY_SHARE, ANY_SHARE),
    ),
    "plan.tails.fixed_users_tail": (
        lambda n, epsilon, share, distance, fine: tails.fixed_users_tail(
            n, share, *at(epsilon).chances, distance, fine=fine
        ),
        (
            MANY_USERS,
            PLANNED,
            ANY_SHARE,
            DISTANCE,
            Usually(st.booleans(), st.booleans(), True),
        ),
    ),
}


def derived(name: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call of a public function that its signature tells."""
    made: dict[str, Any] = {}
    for one in found.parameters(function):
        of_type = [value for key, value in BY_TYPE.items() if key in found.words(one)]
        if of_type:
            made[one.name] = of_type[0]
        elif one.name in BY_NAME:
            made[one.name] = BY_NAME[one.name]
        else:
            left_out = one.default is not one.empty and not found.words(one) & found.GIVEN
            assert left_out, (
                f"{name} takes {one.name}: give it a line in BY_NAME, or the function one in SPECIAL"
            )
    if "self" in inspect.signature(function).parameters:
        owner, method = name.split(".")[-2:]
        function = getattr(INSTANCES[owner], method)

    def call(*values: Any) -> Any:
        return function(**dict(zip(made, values, strict=True)))

    return call, tuple(made.values())


FOUND = found.public_functions()
WITH_ENTRY = {name.partition(",")[0] for name in SPECIAL}
CALLS = SPECIAL | {
    name: derived(name, function) for name, function in FOUND.items() if name not in WITH_ENTRY | INSIDE
}
# A likelihood can be zero, an epsilon plausible without an upper end, an error beyond the largest double.
INFINITE = {
    *("plan.solve.value_function", "plan.solve.shortfall_function"),
    "protocols.over_time.Longitudinal.epsilon_any_changes",
    "protocols.channel.Channel.expected",
    *(
        "plan.landscape.frontier",
        "plan.landscape.price_per_bit",
        "plan.landscape.landscape",
        "plan.solve.achieved",
    ),
    *(
        "protocols.channel_estimation.update_factors_channel",
        "protocols.channel_estimation.optimality_gap_channel",
    ),
    *(
        "protocols.channel.Channel",
        "protocols.channel.Channel.warner",
        "reports.epsilon_fit.plausible_epsilon",
        "reports.epsilon_fit.simulations",
    ),
    *(
        "metrics.inv_variance",
        "reports.nearest.nearest",
        "reports.analysis.analyse",
        "reports.answers.analyse",
        "reports.survey.analyse_groups",
    ),
}
# One collection has no standard error. Where InvP and InvN coincide there is no position between them; errors and
# likelihoods of what is no distribution are what they are, and their logarithms too.
UNDEFINED = {
    "ibu.convergence.settling_times",
    *("experiments.ranking.standing", "experiments.protocols.measure"),
    *("collinearity.theorem2", "collinearity.collinearity", "geometry.push_down.push_down"),
    *(
        "metrics.squared_error",
        "metrics.total_variation",
        "metrics.max_error",
        "metrics.negative_log_likelihood",
    ),
    *(
        "plan.bounds.against_epsilon",
        "ibu.convergence.compare_runs",
        "ibu.convergence.compare_epsilons",
        "ibu.convergence.RunComparison.select",
        "plan.landscape.simulate_curve",
    ),
}


def parts(answer: Any) -> list[Any]:
    """The numbers and arrays in an answer."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return [part for field in dataclasses.fields(answer) for part in parts(getattr(answer, field.name))]
    if isinstance(answer, dict):
        return [part for value in answer.values() for part in parts(value)]
    if isinstance(answer, (list, tuple)):
        return [part for value in answer for part in parts(value)]
    return [answer] if isinstance(answer, (int, float, np.generic, np.ndarray)) else []


USUAL = 2 / 3  # of the arguments
# A failure names the function and its arguments; to shrink it would take minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)


def all_answer(data: st.DataObject) -> None:
    """Every function is called, with arguments from one pool, for drawing them takes longer than most calls. As each
    example is hundreds of calls, half as many examples are tried as of other properties."""
    pool = {kind: [data.draw(kind) for _ in range(4)] for kind in KINDS}
    dice = random.Random(data.draw(st.integers(0, 2**32)))

    def argument(one: Any) -> Any:
        if not isinstance(one, Usually):
            return one
        kind = one.usual if dice.random() < USUAL else one.hostile
        return dice.choice(pool[kind]) if isinstance(kind, st.SearchStrategy) else kind

    for name, (call, drawn) in CALLS.items():
        arguments = [argument(one) for one in drawn]
        try:
            answered(name, call, arguments)
        except Exception as failure:
            failure.add_note(f"{name} of {repr(arguments)[:2000]}")
            raise


KINDS = {
    kind: None
    for _, drawn in CALLS.values()
    for one in drawn
    if isinstance(one, Usually)
    for kind in (one.usual, one.hostile)
    if isinstance(kind, st.SearchStrategy)
}


def answered(name: str, call: Callable[..., Any], arguments: list[Any]) -> None:
    name, began = name.partition(",")[0], time.process_time()
    try:
        answer = call(*arguments)
    except ValueError as refusal:
        said = str(refusal)
        assert 10 < len(said) < 300
        assert "\n" not in said
        assert not is_of_libraries(said), said
    else:
        for part in map(np.asarray, parts(answer)):
            if part.dtype.kind == "f" and name not in UNDEFINED:
                assert not np.isnan(part).any()
                assert name in INFINITE or np.isfinite(part).all()
    assert time.process_time() - began < SECONDS


@settings(max_examples=EXAMPLES // 2, phases=PHASES, deadline=None, derandomize=SAME_EXAMPLES)
@given(data=st.data())
def test_an_answer_or_a_sentence(data: st.DataObject) -> None:
    all_answer(data)


def strided(array: np.ndarray) -> np.ndarray:
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def large(array: np.ndarray) -> list[int] | None:
    """Of counts: of others too large a number is an honest wish for much work."""
    return [int(one) << 63 for one in array] if array.ndim == 1 and array.max() > 5 else None


# Ways in which the same numbers may be stored.
STORED: dict[str, Callable[[np.ndarray], Any]] = {
    **{
        kind: lambda array, kind=kind: array.astype(kind)
        for kind in (
            "i1",
            "u1",
            "i2",
            "u2",
            "i4",
            "u4",
            "u8",
            ">i8",
            ">u2",
            "?",
            "f2",
            "f4",
            ">f4",
            ">f8",
            "g",
        )
    },
    "float64": lambda array: array.astype(np.float64),
    "list": lambda array: array.tolist(),
    "objects": lambda array: array.astype(object),
    "fractions": lambda array: array.astype(object) * Fraction(1),
    "Python integers beyond 2^63": lambda array: large(array),
    "read-only": read_only,
    "strided": strided,
    "Fortran": np.asfortranarray,
    "pandas": lambda array: {1: pd.Series, 2: pd.DataFrame}[array.ndim](array) if array.ndim < 3 else None,
    "pandas, Int64": lambda array: (
        pd.Series(array, dtype="Int64") if array.ndim == 1 and array.dtype.kind == "i" else None
    ),
}
# Whole numbers are a table of people, floats are shares; what takes a time; and what takes int64 alone, checked before.
OF_ITS_TYPE = {
    "populations.Population.from_weights",
    "ibu.costs.compare_costs",
    "ibu.costs.iterations_needed",
}


def outcome(call: Callable[..., Any], arguments: list[Any]) -> list[np.ndarray] | None:
    """The numbers of the answer; None where there is none."""
    try:
        return [np.asarray(part) for part in parts(call(*arguments))]
    except ValueError:
        return None


def plainly(array: np.ndarray) -> np.ndarray:
    """The same numbers as int64 or float64, as they are usually stored."""
    return array.astype(np.float64 if array.dtype.kind in "fO" else np.int64)


@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
def test_numbers_mean_the_same_however_they_are_stored(store: Callable[[np.ndarray], Any]) -> None:
    for name, (call, drawn) in CALLS.items():
        plain, stored, differ = [], [], False
        for one in drawn:
            given = one.example if isinstance(one, Usually) else one
            array = np.asarray(given) if isinstance(given, (list, np.ndarray)) else None
            kept = None if array is None else store(array)
            if kept is None or (np.asarray(kept).dtype.kind == "b" and not np.isin(array, (0, 1)).all()):
                plain.append(given)
                stored.append(given)
            else:
                plain.append(plainly(np.asarray(kept)))
                stored.append(kept)
                differ = True
        if not differ or name in OF_ITS_TYPE:
            continue
        expected, found_ = outcome(call, plain), outcome(call, stored)
        assert (expected is None) == (found_ is None), f"{name} of {stored}: only one of the two is refused"
        for one, other in zip(expected or [], found_ or [], strict=True):
            np.testing.assert_allclose(other, one, rtol=2e-12, atol=1e-300, err_msg=f"{name} of {stored}")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: analyse([1, 1, 1], UNARY, n=3, bits=[1]), "bits must be a pair"),
        (lambda: solve.required_n("rmse", 4, 1.0, [0.25] * 4), "target must be a Target, got 'rmse'"),
        (
            lambda: one_person([0, 0, 0], RandomizedResponse(K, 1.0), UNARY, 1),
            "true_counts must have a total >= 1, got all zeros",
        ),
        (
            lambda: protocol_choice.against_k([0, 3], 3, 1.0, 10),
            "ks must be an integer from 2 to 9007199254740992, got 0",
        ),
        (lambda: protocol_choice.against_k([2, 3], 0, 1.0, 10), "k must be an integer from 2 to"),
        (lambda: protocol_choice.against_epsilon([0], 3, 1.0, 10), "epsilons must be a number from"),
        (lambda: protocol_choice.against_epsilon([1.0], 0, 1.0, 10), "k must be an integer from 2 to"),
        *(
            (lambda make=make: make(0), "k must be an integer >= 2, got 0")
            for make in (uniform, dominant, step)
        ),
        *(
            (lambda error=error: error([float("nan"), 0.5], [0.5, 0.5]), "theta_hat must be finite, got nan")
            for error in (rr_core.squared_error, rr_core.total_variation, rr_core.max_error)
        ),
        (lambda: coupling.multinomial(3, [], np.array([])), "weights must have shape"),
        (lambda: Start("leaning").distribution([5]), "histogram must have shape"),
        (
            lambda: rr_core.inv(np.ma.masked_array([5, 1, 9], [0, 1, 0]), MECHANISM.usual),
            "histogram must be a numeric",
        ),
    ],
)
def test_what_broke_is_refused(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        call()


def test_every_public_function_is_called() -> None:
    assert WITH_ENTRY | set(CALLS) | INSIDE >= set(FOUND)
    assert not (INSIDE & (WITH_ENTRY | set(CALLS)))
    assert set(FOUND) >= INSIDE
    for name in WITH_ENTRY:  # some take what was checked, and are called all the same
        assert callable(pkgutil.resolve_name(f"rr_core.{name}"))


def test_as_many_days_of_as_many_users_as_there_may_be_are_drawn() -> None:
    """Their sum is beyond the largest integer of NumPy."""
    drawn = Longitudinal("fresh", K, 1.0).randomize_supports([2**62, 0, 0], 23, 1)
    assert (drawn.sum(axis=-1) == 2**62).all()


def test_an_integer_may_be_written_as_a_float_and_a_number_not_as_an_array() -> None:
    assert protocol_choice.compare(12.0, 1.0, 200) == protocol_choice.compare(12, 1.0, 200)
    with pytest.raises(ValueError, match="epsilon_first must be None for memoised"):
        Longitudinal("memoised", K, 1.0, np.array([]))  # type: ignore[arg-type]


def test_integers_that_no_double_holds_are_refused() -> None:
    for k in (10**400, 10**5000):
        with pytest.raises(
            ValueError, match=r"k must be an integer >= 2, got (1000|a number of thousands of digits)"
        ):
            RandomizedResponse(k, 1.0)
    with pytest.raises(ValueError, match="counts must add up to at most 2"):
        strays([2**63, 2**63], lambda k: RandomizedResponse(k, 1.0))
