"""Any number and any array given to a public function: an answer without NaN, or one sentence in a ValueError."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import random
import re
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
from rr_core.comparison import EmptyShare, compare
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.protocols import Setting
from rr_core.experiments.run import expected_seconds, run
from rr_core.geometry.push_down import push_down
from rr_core.geometry.replicates import count_alignment
from rr_core.ibu import Start, ibu_paths, iterates
from rr_core.ibu.convergence import compare_epsilons, compare_runs
from rr_core.ibu.costs import compare_costs, iterations_needed
from rr_core.ibu.engine import START_KINDS
from rr_core.ibu.path import checked_distribution
from rr_core.lesson import lesson
from rr_core.plan import protocol_choice, solve, tails
from rr_core.plan.one_share import Goal
from rr_core.plan.targets import KINDS as KINDS_OF_TARGET
from rr_core.plan.targets import Guess, Target
from rr_core.protocols import Channel, HadamardResponse, SubsetSelection, UnaryEncoding, laws
from rr_core.protocols.over_time import SCHEMES, Longitudinal
from rr_core.protocols.unary import checked_bits
from rr_core.repeats import repeat
from rr_core.reports import above_zero, fit_test
from rr_core.reports.analysis import analyse
from rr_core.reports.intervals import Interval, extremes
from rr_core.reports.low_counts import floor, strays
from rr_core.reports.survey import analyse_groups
from tests import EXAMPLES, SAME_EXAMPLES, is_of_libraries
from tests.core import public_names

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
SETS = Usually([[1, 1, 0], [0, 1, 1]], arrays)
YES_OR_NO = Usually(truths := st.booleans(), truths, True)
PERHAPS = Usually(None, arrays)
DESIGN = Usually(st.sampled_from([*MECHANISMS, CHANNEL]), numbers, CHANNEL)
ANY_SCHEME = Usually(schemes := st.sampled_from(OVER_TIME), schemes, OVER_TIME[2])
# Of what plan.tails takes, which is checked before.
MANY_USERS, PLANNED = Usually(200.0, st.floats(1, 1e12)), Usually(1.0, st.floats(0.01, 20))
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
    **dict.fromkeys(("draws", "replicates", "repeats", "times", "collections", "most"), FEW),
    **dict.fromkeys(("category", "value", "truth", "report", "seed", "after", "about"), SEED),
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
    "start": Usually(None, shares, [0.2, 0.3, 0.5]),
    "goal": GOAL,
    **dict.fromkeys(("d", "g"), Usually(2, few)),
    "index": Usually(0, numbers),
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
    "Survey": SURVEY,
    "Interval": Interval(np.array([-0.3, 0.1, 1.1]), np.array([-0.1, 0.4, 1.2]), 0.95, False),
}
# Called by this package alone, with what it has checked, counted or chosen before.
INSIDE = {
    "arrivals.moments", "comparison.Comparison.zeroed", "comparison.exceeds_chance",
    "comparison.mean_rounding", "estimators.rule", "experiments.cell.rows_per_block",
    "experiments.storage.from_columns", "experiments.winner_map.WinnerMap.position",
    "geometry.simplex.from_plane", "geometry.simplex.percents_at", "geometry.simplex.slider_percent",
    "geometry.simplex.to_plane", "ibu.costs.time_iterations", "ibu.figure4.compare",
    "ibu.figure4.measurement", "ibu.figure4.scenarios", "ibu.path.BatchLevels.row",
    "ibu.path.batch_levels", "ibu.engine.parse_weights", "lesson.scene.with_unit", "parameters.Number.format",
    "parameters.Number.parse", "parameters.Number.show", "parameters.parse_numbers",
    "plain_text.markdown", "plain_text.plain", "plain_text.some",
    "plan.landscape.make_plan", "plan.landscape.rounded_up", "plan.settings.PlanSettings.fitted",
    "plan.settings.PlanSettings.from_query", "plan.settings.value_range", "plan.solve.Channels.of",
    "plan.solve.has_whole_person", "plan.targets.Target.met_by", "protocols.collection.users_in_rows",
    "protocols.settings.ChannelSettings.channel", "protocols.settings.TimeSettings.first",
    "protocols.settings.TimeSettings.scheme", "protocols.unary.row_blocks", "repeats.largest_lead_of_chance",
    "reports.analysis.of_ones",
    "reports.by_group.read_table", "reports.designs.k_rr", "reports.designs.kuk", "reports.designs.made_of",
    "reports.designs.unary_encoding", "reports.designs.unrelated",
    "reports.intervals.checked_counts",
    "reports.intervals.lower_tail", "reports.measured.credible_coverage_of_large", "reports.survey.Sample.tallies",
    "reports.survey.analyse_people",
    "reports.survey.Tallies.bits_of",
    "sampling.has_poisson_table", "sampling.noisy_histogram",
    "sampling.poisson", "sampling.uniform_multinomial", "scenario.Scenario.collect",
    "scenario.Scenario.stream", "scenario.other_k", "simulate.Collector.draw", "simulate.Collector.sampler",
    "simulate.kept_then_poisson", "simulate.last_of", "simulate.multinomial_reports",
    "simulate.rescaled_reports", "simulate.rows_per_step", "simulate.simulate", "simulate.users_then_noise",
    "streams.generator", "streams.key",
    "rounding.between", "rounding.counted", "rounding.factor", "rounding.number", "rounding.odds", "rounding.p_is",
    "rounding.p_of_file", "rounding.p_value", "rounding.percent", "rounding.round_down", "rounding.round_up",
    "rounding.upper",
}  # fmt: skip


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
    "scenario.Scenario": (
        lambda dist, *others: Scenario(dist, *others).mechanism,
        (DIST, CATEGORIES, EPSILON, EPSILON, USERS, SEED),
    ),
    "scenario.Scenario, drawn": (
        lambda k, s, n: Scenario(k=k, s=s, n=n).draw().counts,
        (FEW_CATEGORIES, EPSILON, FEW),
    ),
    "ibu.engine.Start": (Start, (Usually("leaning", numbers), SEED, LEVEL, SEED)),
    "ibu.engine.Start.distribution": (
        lambda kind, weights, histogram: Start(kind, weights=weights).distribution(histogram),
        (Usually(st.sampled_from(list(START_KINDS)), numbers, "typed"), COUNTS, COUNTS),
    ),
    "protocols.over_time.Longitudinal": (
        lambda key, k, epsilon, first, g: Longitudinal(key, k, epsilon, first, g).variance(0.5, 10, [1, 9]),
        (
            SCHEME,
            CATEGORIES,
            EPSILON,
            Usually(st.sampled_from([None, 0.5]), numbers, 0.5),
            Usually(None, numbers),
        ),
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
        )
    },
    "ibu.engine.ibu_paths": (
        lambda h, m, i, start: ibu_paths(h, [m], i, start),
        (Usually([[5, 0, 9]], arrays), MECHANISM, ITERATIONS, Usually(None, shares)),
    ),
    "ibu.engine.iterates": (
        lambda last, since: [*iterates(PATH, last, since)],
        (Usually(3, few), Usually(None, few)),
    ),
    "ibu.convergence.compare_runs": (lambda last: compare_runs([DRAW], last), (FEW,)),
    "ibu.costs.compare_costs": (
        lambda h, m, tolerance: len(compare_costs(h, m, tolerance, budget=0.001)),
        (SMALL_COUNTS, MECHANISM, LEVEL),
    ),
    "ibu.costs.iterations_needed": (
        lambda h, m, tolerance: iterations_needed(h, m, tolerance, 0.01).iterations >= 0,
        (COUNTS, MECHANISM, LEVEL),
    ),
    "arrivals.first_reports": (
        lambda counts, sizes: [*first_reports(counts, sizes, np.random.default_rng(1))],
        (COUNTS, Usually([1, 2], arrays)),
    ),
    "experiments.run.expected_seconds": (lambda workers: expected_seconds(SWEEP.sweep, workers), (SEED,)),
    "geometry.replicates.count_alignment": (lambda times: [*count_alignment(DRAW, times)], (FEW,)),
    "repeats.repeat": (lambda times: [*repeat(DRAW, times)][-1].done, (FEW,)),
    "lesson.lesson": (
        lambda epsilons, seed: lesson(epsilons, seed).true_counts,
        (Usually((1.0,), arrays), SEED),
    ),
    "reports.intervals.above_zero": (
        lambda *given: in_one_row(above_zero(*given)),
        (COUNTS, MECHANISM, LEVEL),
    ),
    "reports.intervals.extremes": (lambda *given: in_one_row(extremes(*given)), (COUNTS, MECHANISM)),
    "reports.low_counts.floor": (lambda *given: in_one_row(floor(*given)), (COUNTS, MECHANISM, LEVEL)),
    "reports.low_counts.strays": (
        lambda c, k, chance: strays(c, lambda k: RandomizedResponse(k, 1.0), k, chance),
        (COUNTS, Usually(None, numbers), LEVEL),
    ),
    "reports.analysis.analyse, unary": (
        lambda support, n, level, users, bits, occurrences: analyse(
            support, UNARY, level, users, n=n, bits=None if bits is None else (bits, occurrences)
        ),
        (COUNTS, USERS, LEVEL, WHOSE, Usually(None, reports), COUNTS),
    ),
    "reports.answers.analyse, answers": (
        lambda c, by, weights: rr_core.analyse(c, RandomizedResponse(K, 1.0), 0.9, by, weights, labels="012"),
        (Usually([0, 1, 2, 1], arrays), Usually([0, 1, 1, 0], arrays), Usually([1.0, 2.0, 3.0, 4.0], arrays)),
    ),
    "reports.analysis.analyse, bits": (
        lambda bits: analyse([1, 1, 1], UNARY, n=3, bits=bits),
        (Usually((np.eye(K, dtype=int), [1, 1, 1]), arrays),),
    ),
    "protocols.channel.Channel": (
        lambda matrix: [getattr(Channel(matrix), name) for name in ("rank", "epsilon", "condition_number")],
        (MATRIX,),
    ),
    "protocols.subset.SubsetSelection": (
        lambda k, e, d: SubsetSelection(k, e, d).q_star,
        (FEW_CATEGORIES, EPSILON, Usually(2, few)),
    ),
    "protocols.unary.UnaryEncoding": (
        lambda k, e, o: [getattr(UnaryEncoding(k, e, o), name) for name in ("p", "q", "keep")],
        (FEW_CATEGORIES, EPSILON, Usually(st.booleans(), numbers, True)),
    ),
    "protocols.unary.UnaryEncoding.rappor": (
        lambda k, f, p, q: UnaryEncoding.rappor(k, f=f, p=p, q=q).epsilon,
        (FEW_CATEGORIES, ONE_SHARE, ONE_SHARE, LEVEL),
    ),
    "protocols.unary.checked_bits": (lambda bits: checked_bits("reports", bits, K), (BITS,)),
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
    "experiments.grid.Cell.parse": (
        Cell.parse,
        (Usually("zipf k=3 s=1.0 epsilon=1.0 n=200", st.one_of(numbers, arrays)),),
    ),
    "experiments.grid.Sweep": (Sweep, (Usually((Cell("zipf", K, 1.0, 200),), arrays),)),
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
        (MANY_USERS, PLANNED, ANY_SHARE, DISTANCE, Usually(st.booleans(), st.booleans(), True)),
    ),
}


# Arguments of a function that are not made as BY_TYPE and BY_NAME say. A name is that of the function; after a comma, of
# which of its uses.
OWN: dict[str, dict[str, Any]] = {
    **{name: {"k": CATEGORIES} for name in ("mechanism.RandomizedResponse", "experiments.grid.Cell")},
    **{f"mechanism.RandomizedResponse.from_{way}": {"k": CATEGORIES} for way in ("p", "redraw")},
    "ibu.path.log_spaced": {"last": USERS, "per_decade": FEW},
    "ibu.convergence.compare_epsilons": {"iterations": FEW},
    "ibu.convergence.RunComparison.select": {"first": Usually(0, few), "end": Usually(1, few)},
    "ibu.costs.affordable_iterations": {"iterations": USERS},
    "experiments.protocols.Setting": {
        "protocol": Usually("k_rr", numbers),
        "population": DIST,
        "k": CATEGORIES,
    },
    "experiments.protocols.measure": {"setting": Setting("k_rr", "uniform", K, 1.0, 20), "people": None},
    "experiments.grid.over": {"k": CATEGORIES, "epsilon": Usually([0.5, 1.0], arrays)},
    "experiments.grid.Settings": {
        "seeds": FEW,
        "people": Usually("drawn", numbers),
        "estimators": Usually(("inv",), arrays),
        "metrics": Usually(("mse",), arrays),
        "bias": SEED,
    },
    "geometry.push_down.push_down": {},
    "geometry.push_down.push_down, equalize": {"histogram": SMALL_COUNTS, "equalize": True},
    "geometry.push_down.push_down_candidates": {"most": USERS},
    "law.report_distribution": {"t": FEW, "n": FEW},
    "law.report_band": {"true_counts": SMALL_COUNTS, "n": Usually(200, few)},
    **{f"law.{name}": {"n": COUNTS} for name in ("negative_chance", "most_negative")},
    "confidence_sequence.anytime_intervals": {"tightest_at": USERS},
    "reports.intervals.inv_interval": {"simultaneous": YES_OR_NO},
    "reports.epsilon_fit.fit_test": {"replicates": 5},
    "reports.epsilon_fit.fit_test, replicates": {"counts": SMALL_COUNTS},
    "reports.epsilon_fit.plausible_epsilon": {"above": Usually(0.5, numbers), "replicates": 5},
    "reports.analysis.analyse": {"protocol": DESIGN, "bits": None},
    "reports.answers.analyse": {
        "counts_or_series": COUNTS,
        "design": DESIGN,
        "by": PERHAPS,
        "weights": PERHAPS,
    },
    "reports.survey.analyse_groups": {
        **{"people": Usually([[9, 0, 5], [1, 2, 3]], arrays), "protocol": DESIGN},
        **{"categories": "abc", "groups": "xy", "order": None},
    },
    "reports.survey.Survey.difference": {"one": Usually(0, numbers), "other": Usually(1, numbers)},
    "reports.survey.Survey.differences": {"first": Usually(0, numbers)},
    "protocols.channel.Channel.forced_response": {"forced": Usually([0.1, 0.2, 0.1], arrays)},
    "protocols.estimation.inv, channel": {"observed": COUNTS, "protocol": CHANNEL, "n": None},
    "protocols.estimation.inv, subset": {"observed": Usually([200, 150, 50], arrays), "protocol": SUBSET},
    "protocols.estimation.inv, unary": {"observed": COUNTS, "protocol": UNARY},
    "protocols.estimation.inv, hadamard": {"observed": OF_HADAMARD, "protocol": HADAMARD, "n": None},
    "protocols.estimation.mle, channel": {"observed": COUNTS, "protocol": CHANNEL},
    "protocols.estimation.mle, unary": {"observed": BITS, "protocol": UNARY},
    "protocols.estimation.mle, hadamard": {"observed": OF_HADAMARD, "protocol": HADAMARD},
    **{f"protocols.hadamard.{name}_hadamard": {"histogram": OF_HADAMARD} for name in ("inv", "mle")},
    "protocols.subset.SubsetSelection.support": {"reports": SETS},
    "protocols.unary.UnaryEncoding.support": {"reports": BITS},
    "protocols.unary_estimation.mle_unary": {"reports": BITS},
    "protocols.unary_estimation.mle_unary, subset": {"reports": SETS, "protocol": SUBSET, "counts": None},
    **{
        f"protocols.unary_estimation.{name}_unary": {"reports": BITS}
        for name in ("update_factors", "optimality_gap")
    },
    "protocols.posterior.posterior": {"prior": COUNTS},
    "protocols.posterior.posterior_mean": {"prior": Usually([0.5, 1, 2], arrays)},
    "protocols.posterior.summarise_posterior": {"prior": EPSILON},
    "protocols.posterior.distance_to_mle": {
        "mechanism": RandomizedResponse(K, 1.0),
        "sizes": Usually([9, 20], st.lists(few, max_size=2)),
        "priors": Usually([0.5], st.lists(few, max_size=2)),
    },
    "protocols.information_bounds.information_bounds": {"prior": EPSILON},
    "protocols.collection.merge_rarest": {"labels": None, "k": Usually(2, numbers)},
    "protocols.over_time.guesses": {"scheme": ANY_SCHEME, "days": Usually([1, 2], few), "people": FEW},
    "protocols.over_time.simulated_rmse": {"true_counts": SMALL_COUNTS, "days": Usually([1, 2], few)},
    "protocols.over_time.reports_of": {"scheme": ANY_SCHEME, "days": FEW},
    "plan.one_share.Goal": {
        "kind": Usually(st.sampled_from(GOAL_KINDS), numbers, "power"),
        **dict.fromkeys(("value", "power"), LEVEL),
    },
    "plan.one_share.people_needed": {"channel": Channel.warner(0.7)},
    "plan.one_share.share_curve": {"channel": Channel.warner(0.7)},
    "plan.targets.Target": {"kind": KIND, "value": EPSILON, "confidence": LEVEL, "share": LEVEL},
    "plan.targets.Guess.levels": {"after": Usually(0, few)},
    "plan.protocol_choice.against_k": {"ks": NUMBERS_OF_CATEGORIES},
    "plan.landscape.simulate_curve": {"points": Usually([1, 2], few)},
    "plan.landscape.landscape": {"target": TARGETS["rmse"], "n": DAYS},
    "plan.shuffling.against_users": {"users": DAYS},
}


def derived(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call of a public function that its signature tells."""
    made: dict[str, Any] = {}
    own, (name, *_) = OWN.get(name, {}), name.split(",")
    function = FOUND[name]
    for one in public_names.parameters(function):
        of_type = [value for key, value in BY_TYPE.items() if key in public_names.words(one)]
        if one.name in own:
            made[one.name] = own[one.name]
        elif of_type:
            made[one.name] = of_type[0]
        elif one.name in BY_NAME:
            made[one.name] = BY_NAME[one.name]
        else:
            left_out = one.default is not one.empty and not public_names.words(one) & public_names.GIVEN
            assert left_out, f"{name} takes {one.name}: give it a line in BY_NAME, or the function one in OWN"
    if "self" in inspect.signature(function).parameters:
        owner, method = name.split(".")[-2:]
        function = getattr(INSTANCES[owner], method)

    def call(*values: Any) -> Any:
        return function(**dict(zip(made, values, strict=True)))

    return call, tuple(made.values())


FOUND = public_names.public_functions()
WITH_ENTRY = {name.partition(",")[0] for name in (*SPECIAL, *OWN)}
CALLS = SPECIAL | {
    name: derived(name) for name in (*OWN, *(one for one in FOUND if one not in WITH_ENTRY | INSIDE))
}
# A likelihood can be zero, an epsilon plausible without an upper end, an error beyond the largest double.
INFINITE = {
    "metrics.inv_variance", "plan.landscape.frontier", "plan.landscape.landscape",
    "plan.landscape.price_per_bit", "plan.solve.achieved", "plan.solve.shortfall_function",
    "plan.solve.value_function", "protocols.channel.Channel", "protocols.channel.Channel.expected",
    "protocols.channel.Channel.warner", "protocols.channel_estimation.optimality_gap_channel",
    "protocols.channel_estimation.update_factors_channel",
    "protocols.over_time.Longitudinal.epsilon_any_changes", "reports.analysis.analyse",
    "reports.answers.analyse", "reports.epsilon_fit.plausible_epsilon", "reports.epsilon_fit.simulations",
    "reports.nearest.nearest", "reports.survey.analyse_groups",
}  # fmt: skip
# One collection has no standard error. Where InvP and InvN coincide there is no position between them; errors and
# likelihoods of what is no distribution are what they are, and their logarithms too. No group differs from itself.
UNDEFINED = {
    "collinearity.collinearity", "collinearity.theorem2", "experiments.protocols.measure",
    "experiments.ranking.standing", "geometry.push_down.push_down", "ibu.convergence.RunComparison.select",
    "ibu.convergence.compare_epsilons", "ibu.convergence.compare_runs", "ibu.convergence.settling_times",
    "metrics.max_error", "metrics.negative_log_likelihood", "metrics.squared_error",
    "metrics.total_variation", "plan.bounds.against_epsilon", "plan.landscape.simulate_curve",
    "reports.survey.Survey.differences",
}  # fmt: skip


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
    example is hundreds of calls, a tenth as many examples are tried as of other properties."""
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


# It names the argument, what is allowed and what was received.
IS_REFUSAL = re.compile(r"(the )?(sum of )?\w+( and \w+)* must .+", re.ASCII)


def answered(name: str, call: Callable[..., Any], arguments: list[Any]) -> None:
    name, began = name.partition(",")[0], time.process_time()
    try:
        answer = call(*arguments)
    except ValueError as refusal:
        said = str(refusal)
        assert IS_REFUSAL.match(said), said
        assert len(said) < 300
        assert not is_of_libraries(said), said
    else:
        for part in map(np.asarray, parts(answer)):
            if part.dtype.kind == "f" and name not in UNDEFINED:
                assert not np.isnan(part).any()
                assert name in INFINITE or np.isfinite(part).all()
    assert time.process_time() - began < SECONDS


@settings(max_examples=EXAMPLES // 10, phases=PHASES, deadline=None, derandomize=SAME_EXAMPLES)
@given(data=st.data())
def test_an_answer_or_a_sentence(data: st.DataObject) -> None:
    all_answer(data)


# What takes numbers below zero: estimates that have them, and indices from the end.
SIGNED = {
    "experiments.grid.Settings", "experiments.ranking.standing",
    "geometry.push_down.PushDown.collinearity_at", "ibu.costs.affordable_iterations",
    "ibu.costs.records_per_decade", "ibu.path.IBUPath.estimate", "law.negatives",
    "mechanism.RandomizedResponse.expected", "metrics.inv_variance", "metrics.max_error",
    "metrics.negative_log_likelihood", "metrics.squared_error", "metrics.total_variation",
    "optimality.optimality_gap", "optimality.update_factors", "plan.landscape.price_per_bit",
    "protocols.channel.Channel.expected", "protocols.channel_estimation.inv_covariance_channel",
    "protocols.channel_estimation.optimality_gap_channel",
    "protocols.channel_estimation.update_factors_channel",
}  # fmt: skip
# Arguments that are of no account beside the others, and names of groups.
UNREAD = {("experiments.protocols.Setting", 6), ("reports.analysis.analyse", 4), ("reports.answers.analyse, answers", 1),
          ("reports.analysis.analyse, unary", 5)}  # fmt: skip


def test_a_text_a_nan_and_a_number_below_zero_are_refused_wherever_numbers_are_taken() -> None:
    for name, (call, drawn) in CALLS.items():
        function = name.partition(",")[0]
        examples = [one.example if isinstance(one, Usually) else one for one in drawn]
        if function.startswith("plan.tails."):  # of what is checked before
            continue
        call(*examples)
        for i, example in enumerate(examples):
            if not isinstance(drawn[i], Usually) or (name, i) in UNREAD or isinstance(example, bool):
                continue
            below = [] if function in SIGNED else [-1]
            if isinstance(example, list) and not isinstance(example[0], list):
                wrong: list[Any] = [[one] * len(example) for one in ["a", float("nan"), *below]]
            elif isinstance(example, (int, float)):
                wrong = ["1", float("nan"), *below]
            else:
                continue
            for one in wrong:
                given = [*examples[:i], one, *examples[i + 1 :]]
                assert is_refused(call, given), f"{name} takes {given}, with {one!r} as its argument {i}"


def is_refused(call: Callable[..., Any], arguments: list[Any]) -> bool:
    try:
        call(*arguments)
    except ValueError as refusal:
        return IS_REFUSAL.match(str(refusal)) is not None
    return False


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


# Ways in which the same numbers may be stored: of each kind the narrowest, the widest, and one in the other byte order.
STORED: dict[str, Callable[[np.ndarray], Any]] = {
    **{
        kind: lambda array, kind=kind: array.astype(kind)
        for kind in ["i1", "u1", "u8", ">i8", "?", "f2", ">f4", "g"]
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


PLAIN: dict[Any, list[np.ndarray] | None] = {}  # outcomes, which most ways of storing have in common


def plain_outcome(name: str, arguments: list[Any]) -> list[np.ndarray] | None:
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]  # the others are the same for all ways
    key = name, *((one.dtype.char, one.shape, one.tobytes()) for one in arrays)
    if key not in PLAIN:
        PLAIN[key] = outcome(CALLS[name][0], arguments)
    return PLAIN[key]


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
        expected, found_ = plain_outcome(name, plain), outcome(call, stored)
        assert (expected is None) == (found_ is None), f"{name} of {stored}: only one of the two is refused"
        for one, other in zip(expected or [], found_ or [], strict=True):
            np.testing.assert_allclose(other, one, rtol=2e-12, atol=1e-300, err_msg=f"{name} of {stored}")


def test_every_public_function_is_called() -> None:
    assert WITH_ENTRY | set(CALLS) | INSIDE >= set(FOUND)
    assert not (INSIDE & (WITH_ENTRY | set(CALLS)))
    assert set(FOUND) >= INSIDE
    for name in WITH_ENTRY:  # some take what was checked, and are called all the same
        assert callable(pkgutil.resolve_name(f"rr_core.{name}"))


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
