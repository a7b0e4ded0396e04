"""Any number and any array given to a public function: an answer without NaN, or one sentence in a ValueError."""

from __future__ import annotations

import dataclasses
import math
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import rr_core
from rr_core import Population, RandomizedResponse, Scenario
from rr_core.collinearity import theorem2
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.ibu import Start, ibu_paths, iterates, log_spaced
from rr_core.law import (
    negative_chance,
    negative_chances,
    negatives,
    report_band,
    report_distribution,
    report_variance,
)
from rr_core.misprints import histogram_law, slope_of_inv, squared_error_of_inv
from rr_core.plan import bounds, protocols, shuffling, solve
from rr_core.plan.landscape import frontier, inv_curve, landscape, price_per_bit, simulate_curve
from rr_core.plan.targets import KINDS as KINDS_OF_TARGET
from rr_core.plan.targets import Target
from rr_core.privacy import posterior as belief
from rr_core.privacy import posterior_of_reports
from rr_core.protocols import (
    Channel,
    HadamardResponse,
    SubsetSelection,
    UnaryEncoding,
    collect,
    effective_sample_size,
    gibbs_chain,
    ibu_path_channel,
    information_bounds,
    inv,
    inv_covariance_channel,
    inv_n_unary,
    inv_p_unary,
    merge_last,
    mle,
    mle_unary,
    optimality_gap_channel,
    optimality_gap_unary,
    posterior,
    posterior_mean,
    split_r_hat,
    summarise_posterior,
    update_factors_channel,
    update_factors_unary,
)
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, simulated_rmse
from rr_core.reports import above_zero, analyse, fit_test, inv_interval, nearest, plausible_epsilon
from rr_core.reports.intervals import extremes, too_few_reports
from rr_core.reports.low_counts import floor, strays
from rr_core.reports.other_protocols import analyse_channel, analyse_unary
from tests import FEW_EXAMPLES, MANY_EXAMPLES, SAME_EXAMPLES, is_of_libraries

SECONDS = 2.0
NUMBERS = [0, -0.0, 1, 2, 3, -1, 0.5, 1.0, 0.999, float("nan"), float("inf"), -float("inf"), 5e-324, 1e-320, 1e-12,
           1e16, 1.7e308, -1e308, 2**31, 2**53, 2**62, 2**63, 2**64, -(2**63), 10**400, -(10**400),
           True, False, np.True_, np.float32(0.1), np.int8(-1), np.uint64(2**63), Fraction(1, 3), 1j, "1",
           "", b"1", None, object(), [], {}, (), [1], np.array([]), np.array(1.0)]  # fmt: skip
ENTRIES = [0, 1, 2, 5, 9, 0.25, 0.5, 1e-320, 5e-324, 1e16, 1.7e308, 2**53, 2**62, 2**63, 10**400, float("nan"),
           float("inf"), -1, True, "a", None]  # fmt: skip
K = 3
MECHANISMS = [
    RandomizedResponse(K, epsilon)
    for epsilon in (5e-324, 1e-308, 1e-200, 1e-60, 1e-12, 0.5, 1.0, 20.0, 700.0, 5000.0)
]

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
    """An argument that is mostly a usual one, a value or drawn, and else a hostile one."""

    usual: Any
    hostile: st.SearchStrategy[Any]


MECHANISM = Usually(RandomizedResponse(K, 1.0), mechanisms)
COUNTS, SHARES, BITS = (
    Usually(usual, arrays),
    Usually([0.2, 0.3, 0.5], shares),
    Usually(np.eye(K, dtype=int), reports),
)
VALUES, MATRIX = Usually([0, 1, 2, 1], arrays), Usually(CHANNEL.matrix, arrays)
CATEGORIES, FEW_CATEGORIES = Usually(K, numbers), Usually(K, few)
EPSILON, LEVEL, SEED, USERS = (Usually(value, numbers) for value in (1.0, 0.9, 1, 200))
SMALL_COUNTS = Usually(usual, usual)
FEW, DAYS = Usually(3, few), Usually([1, 2], arrays)
ITERATIONS = Usually([0, 2, 3], st.lists(few, max_size=3))
WHOSE = Usually(st.sampled_from(["fixed", "sampled"]), numbers)
DIST, ALONG = Usually("zipf", numbers), Usually("epsilon", numbers)
KIND = Usually(st.sampled_from(list(KINDS_OF_TARGET)), numbers)
TARGETS = {key: Target(key, kind.default) for key, kind in KINDS_OF_TARGET.items() if key != "top"}
SCHEME = Usually(st.sampled_from(SCHEMES), numbers)
PROTOCOL = Usually(st.sampled_from(protocols.KEYS), numbers)
OF_HADAMARD = Usually([9, 0, 5, 7][: HADAMARD.m], arrays)
CHAINS = Usually(np.random.default_rng(1).random((2, 9, K)), arrays)
PATH = rr_core.ibu_path([5, 0, 9], RandomizedResponse(K, 1.0), [0, 2])


def in_one_row(answer: Any) -> Any:
    """The answer about one histogram, where several of them are to be refused."""
    assert all(np.ndim(part) <= 1 for part in parts(answer))
    return answer


CALLS: dict[str, tuple[Callable[..., Any], tuple[Usually, ...]]] = {
    "RandomizedResponse": (RandomizedResponse, (CATEGORIES, EPSILON)),
    "from_p": (RandomizedResponse.from_p, (CATEGORIES, LEVEL)),
    "from_redraw": (RandomizedResponse.from_redraw, (CATEGORIES, LEVEL)),
    "expected": (RandomizedResponse.expected, (MECHANISM, SHARES)),
    "randomize": (lambda m, values: m.randomize(values, 1), (MECHANISM, VALUES)),
    "randomize_histogram": (lambda m, counts: m.randomize_histogram(counts, 1), (MECHANISM, COUNTS)),
    "zipf": (rr_core.zipf, (FEW_CATEGORIES, EPSILON)),
    "from_weights": (Population.from_weights, (COUNTS,)),
    "Scenario": (
        lambda dist, *others: Scenario(dist, *others).mechanism,
        (DIST, CATEGORIES, EPSILON, EPSILON, USERS, SEED),
    ),
    "draw": (lambda k, s, n: Scenario(k=k, s=s, n=n).draw().counts, (FEW_CATEGORIES, EPSILON, FEW)),
    "log_spaced": (log_spaced, (USERS, FEW)),
    "Start": (
        lambda *fields: Start(*fields).distribution([1, 2, 3]),
        (Usually("leaning", numbers), SEED, LEVEL),
    ),
    "inv_variance": (rr_core.inv_variance, (SHARES, USERS, MECHANISM)),
    **{
        name: (getattr(rr_core, name), (COUNTS, MECHANISM))
        for name in ("inv", "inv_n", "inv_p", "mle_star", "collinearity")
    },
    **{
        name: (getattr(rr_core, name), (COUNTS, SHARES, MECHANISM))
        for name in ("negative_log_likelihood", "optimality_gap", "update_factors")
    },
    **{
        name: (getattr(rr_core, name), (SHARES, SHARES))
        for name in ("squared_error", "total_variation", "max_error")
    },
    "Longitudinal": (
        lambda key, k, epsilon, first, g: Longitudinal(key, k, epsilon, first, g).variance(0.5, 10, [1, 9]),
        (SCHEME, CATEGORIES, EPSILON, Usually(st.sampled_from([None, 0.5]), numbers), Usually(None, numbers)),
    ),
    **{
        f"{name} of {one.scheme}": (getattr(one, name), given)
        for one in OVER_TIME
        for name, given in (
            ("epsilon_after", (DAYS,)),
            ("epsilon_changing", (USERS, FEW)),
            ("epsilon_any_changes", (FEW, USERS)),
            ("variance", (SHARES, USERS, USERS)),
            ("estimate", (COUNTS, USERS)),
            ("log_likelihood", (Usually([1] * one.cells, arrays), USERS)),
            ("randomize_supports", (COUNTS, FEW)),
        )
    },
    "guesses": (
        lambda key, prior, days, people: guesses(Longitudinal(key, K, 1.0), prior, days, people, 1).right,
        (SCHEME, SHARES, Usually([1, 2], few), FEW),
    ),
    "simulated_rmse": (
        lambda counts, days, repeats: simulated_rmse(Longitudinal("l_grr", K, 1.0), counts, days, repeats, 1),
        (SMALL_COUNTS, Usually([1, 2], few), FEW),
    ),
    "ibu": (rr_core.ibu, (COUNTS, MECHANISM, FEW)),
    "ibu from a start": (lambda h, m, start: rr_core.ibu(h, m, 3, start), (COUNTS, MECHANISM, SHARES)),
    "ibu_channel": (rr_core.ibu_channel, (COUNTS, MATRIX, FEW)),
    "ibu_path": (rr_core.ibu_path, (COUNTS, MECHANISM, ITERATIONS)),
    "ibu_paths": (
        lambda h, m, i, start: ibu_paths(h, [m], i, start),
        (Usually([[5, 0, 9]], arrays), MECHANISM, ITERATIONS, Usually(None, shares)),
    ),
    "iterates": (
        lambda last, since: [*iterates(PATH, last, since)],
        (Usually(3, few), Usually(None, few)),
    ),
    "above_zero": (lambda *given: in_one_row(above_zero(*given)), (COUNTS, MECHANISM, LEVEL)),
    "analyse": (lambda c, m, level: analyse(c, m, level).columns(), (COUNTS, MECHANISM, LEVEL)),
    "inv_interval": (
        lambda c, m, level, all_: inv_interval(c, m, level, simultaneous=all_),
        (COUNTS, MECHANISM, LEVEL, Usually(st.booleans(), st.booleans())),
    ),
    "nearest": (nearest, (COUNTS, MECHANISM)),
    "fit_test": (lambda c, m, seed: fit_test(c, m, 5, seed=seed), (COUNTS, MECHANISM, SEED)),
    "fit_test, replicates": (fit_test, (SMALL_COUNTS, MECHANISM, FEW)),
    "plausible_epsilon": (
        lambda c, k, level, above: plausible_epsilon(c, k, level, above=above, replicates=5),
        (COUNTS, FEW_CATEGORIES, LEVEL, Usually(0.5, numbers)),
    ),
    "Channel": (
        lambda matrix: [getattr(Channel(matrix), name) for name in ("rank", "epsilon", "condition_number")],
        (MATRIX,),
    ),
    "Channel.warner": (lambda p: Channel.warner(p).epsilon, (LEVEL,)),
    "Channel.forced_response": (
        lambda forced: Channel.forced_response(forced).matrix,
        (Usually([0.1, 0.2, 0.1], arrays),),
    ),
    "Channel.truncated_geometric": (
        lambda k, e: Channel.truncated_geometric(k, e).matrix,
        (FEW_CATEGORIES, EPSILON),
    ),
    "Channel.randomize": (lambda values: CHANNEL.randomize(values, 1), (VALUES,)),
    "Channel.randomize_histogram": (lambda counts: CHANNEL.randomize_histogram(counts, 1), (COUNTS,)),
    "inv, channel": (lambda histogram: inv(histogram, CHANNEL), (COUNTS,)),
    "SubsetSelection": (
        lambda k, e, d: SubsetSelection(k, e, d).q_star,
        (FEW_CATEGORIES, EPSILON, Usually(2, few)),
    ),
    "SubsetSelection.randomize": (lambda values: SUBSET.randomize(values, 1), (VALUES,)),
    "SubsetSelection.support": (SUBSET.support, (Usually([[1, 1, 0], [0, 1, 1]], arrays),)),
    "SubsetSelection.randomize_support": (lambda counts: SUBSET.randomize_support(counts, 1), (COUNTS,)),
    "SubsetSelection.variance": (SUBSET.variance, (SHARES, USERS)),
    "inv, subset": (lambda support, n: inv(support, SUBSET, n), (Usually([200, 150, 50], arrays), USERS)),
    "HadamardResponse": (lambda k, e: HadamardResponse(k, e).p_star, (FEW_CATEGORIES, EPSILON)),
    "HadamardResponse.randomize": (lambda values: HADAMARD.randomize(values, 1), (VALUES,)),
    "HadamardResponse.support": (HADAMARD.support, (VALUES,)),
    "HadamardResponse.randomize_histogram": (lambda c: HADAMARD.randomize_histogram(c, 1), (COUNTS,)),
    "HadamardResponse.variance": (HADAMARD.variance, (SHARES, USERS)),
    "mle, hadamard": (lambda histogram, t: mle(histogram, HADAMARD, t), (OF_HADAMARD, EPSILON)),
    "inv, hadamard": (lambda histogram: inv(histogram, HADAMARD), (OF_HADAMARD,)),
    "mle, channel": (lambda histogram, tolerance: mle(histogram, CHANNEL, tolerance), (COUNTS, EPSILON)),
    "optimality_gap_channel": (lambda h, theta: optimality_gap_channel(h, theta, CHANNEL), (COUNTS, SHARES)),
    "UnaryEncoding": (
        lambda k, e, o: [getattr(UnaryEncoding(k, e, o), name) for name in ("p", "q", "keep")],
        (FEW_CATEGORIES, EPSILON, Usually(st.booleans(), numbers)),
    ),
    "UnaryEncoding.randomize": (lambda values: UNARY.randomize(values, 1), (VALUES,)),
    "UnaryEncoding.support": (UNARY.support, (BITS,)),
    "UnaryEncoding.randomize_support": (lambda counts: UNARY.randomize_support(counts, 1), (COUNTS,)),
    "UnaryEncoding.inv_variance": (UNARY.inv_variance, (SHARES, USERS)),
    "inv, unary": (lambda support, n: inv(support, UNARY, n), (COUNTS, USERS)),
    "inv_n_unary": (lambda support, n: inv_n_unary(support, UNARY, n), (COUNTS, USERS)),
    "inv_p_unary": (lambda support, n: inv_p_unary(support, UNARY, n), (COUNTS, USERS)),
    "mle, unary": (lambda bits, tolerance: mle(bits, UNARY, tolerance), (BITS, EPSILON)),
    "optimality_gap_unary": (lambda bits, theta: optimality_gap_unary(bits, theta, UNARY), (BITS, SHARES)),
    "posterior": (
        lambda h, m, prior, draws: posterior(h, m, prior, draws, 1),
        (COUNTS, MECHANISM, COUNTS, FEW),
    ),
    "posterior_mean": (posterior_mean, (COUNTS, MECHANISM, Usually([0.5, 1, 2], arrays))),
    "gibbs_chain": (
        lambda h, m, start, burn_in: gibbs_chain(h, m, 0.5, 3, 1, burn_in=burn_in, start=start),
        (COUNTS, MECHANISM, SHARES, FEW),
    ),
    "effective_sample_size": (effective_sample_size, (CHAINS,)),
    "split_r_hat": (split_r_hat, (CHAINS,)),
    "squared_error_of_inv": (squared_error_of_inv, (CATEGORIES, EPSILON)),
    "slope_of_inv": (
        lambda one, two, epsilon: slope_of_inv((one, two), epsilon),
        (CATEGORIES, USERS, EPSILON),
    ),
    "theorem2": (theorem2, (COUNTS, MECHANISM)),
    "push_down": (push_down, (COUNTS, SEED, MECHANISM)),
    "push_down, equalize": (
        lambda h, c, m: push_down(h, c, m, equalize=True),
        (SMALL_COUNTS, SEED, MECHANISM),
    ),
    "push_down_candidates": (push_down_candidates, (COUNTS, MECHANISM, USERS)),
    "report_distribution": (report_distribution, (FEW, FEW, MECHANISM)),
    "report_variance": (report_variance, (COUNTS, USERS, MECHANISM)),
    "report_band": (report_band, (SMALL_COUNTS, Usually(200, few), MECHANISM, LEVEL)),
    "negative_chance": (negative_chance, (COUNTS, MECHANISM)),
    "negative_chances": (negative_chances, (COUNTS, USERS, MECHANISM)),
    "negatives": (negatives, (SHARES, COUNTS, MECHANISM)),
    "belief": (belief, (SEED, SHARES, MECHANISM)),
    "posterior_of_reports": (posterior_of_reports, (VALUES, SHARES, MECHANISM)),
    "extremes": (lambda *given: in_one_row(extremes(*given)), (COUNTS, MECHANISM)),
    "floor": (lambda *given: in_one_row(floor(*given)), (COUNTS, MECHANISM, LEVEL)),
    "strays": (
        lambda c, k, chance: strays(c, lambda k: RandomizedResponse(k, 1.0), k, chance),
        (COUNTS, Usually(None, numbers), LEVEL),
    ),
    "theorem": (bounds.theorem, (FEW_CATEGORIES, EPSILON, USERS)),
    "equal_shares": (bounds.equal_shares, (FEW_CATEGORIES, EPSILON, USERS)),
    "attainable": (bounds.attainable, (FEW_CATEGORIES, EPSILON, USERS)),
    "support": (
        protocols.support,
        (PROTOCOL, FEW_CATEGORIES, EPSILON),
    ),
    "compare protocols": (protocols.compare, (FEW_CATEGORIES, EPSILON, USERS, LEVEL)),
    "collect": (lambda counts: collect(CHANNEL, counts, 1).counts, (COUNTS,)),
    "merge_last": (lambda counts, k: merge_last(counts, None, k), (COUNTS, Usually(2, numbers))),
    "ibu_path_channel": (lambda h, i: ibu_path_channel(h, CHANNEL, i), (COUNTS, ITERATIONS)),
    "information_bounds": (
        lambda prior, users, draws: information_bounds(CHANNEL, prior, users=users, draws=draws, rng=1),
        (EPSILON, WHOSE, FEW),
    ),
    "inv_covariance_channel": (
        lambda theta, n, users: inv_covariance_channel(theta, n, CHANNEL, users=users),
        (SHARES, USERS, WHOSE),
    ),
    "update_factors_channel": (lambda h, theta: update_factors_channel(h, theta, CHANNEL), (COUNTS, SHARES)),
    "update_factors_unary": (lambda bits, theta: update_factors_unary(bits, theta, UNARY), (BITS, SHARES)),
    "mle_unary": (lambda bits, counts: mle_unary(bits, UNARY, counts=counts), (BITS, COUNTS)),
    "summarise_posterior": (
        lambda h, m, prior, draws, users, level: summarise_posterior(
            h, m, prior, draws, 1, users=users, level=level
        ),
        (COUNTS, MECHANISM, EPSILON, FEW, WHOSE, LEVEL),
    ),
    "too_few_reports": (too_few_reports, (USERS, MECHANISM, LEVEL)),
    "analyse_channel": (
        lambda counts, level, users: analyse_channel(counts, CHANNEL, level, users),
        (COUNTS, LEVEL, WHOSE),
    ),
    "analyse_unary": (
        lambda support, n, level, users: analyse_unary(support, UNARY, n, level, users),
        (COUNTS, USERS, LEVEL, WHOSE),
    ),
    "Cell": (Cell, (DIST, CATEGORIES, EPSILON, USERS, EPSILON)),
    "Cell.parse": (Cell.parse, (Usually("zipf k=3 s=1.0 epsilon=1.0 n=200", st.one_of(numbers, arrays)),)),
    "over": (
        lambda dist, s, k, epsilon, n: over(dist=dist, s=s, k=k, epsilon=epsilon, n=n),
        (DIST, EPSILON, CATEGORIES, Usually([0.5, 1.0], arrays), USERS),
    ),
    "Settings": (
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
    "Sweep": (Sweep, (Usually((Cell("zipf", K, 1.0, 200),), arrays),)),
    "Target": (Target, (KIND, EPSILON, LEVEL, LEVEL)),
    **{
        name: (
            lambda kind, k, one, theta, users, solved=solved: solved(
                TARGETS[kind], k, one, theta, users=users
            ),
            (Usually(st.sampled_from(list(TARGETS)), st.just("rmse")), FEW_CATEGORIES, one, SHARES, WHOSE),
        )
        for name, solved, one in (
            ("required_n", solve.required_n, EPSILON),
            ("required_epsilon", solve.required_epsilon, USERS),
            ("frontier", lambda target, k, e, theta, users: frontier(target, k, theta, e, users=users), DAYS),
            ("price_per_bit", price_per_bit, EPSILON),
        )
    },
    "achieved": (
        lambda kind, k, epsilon, n, theta, users: solve.achieved(
            TARGETS[kind], k, epsilon, n, theta, users=users
        ),
        (
            Usually(st.sampled_from(list(TARGETS)), st.just("rmse")),
            *(FEW_CATEGORIES, EPSILON, USERS, SHARES, WHOSE),
        ),
    ),
    "landscape": (
        lambda k, theta, epsilons, n: landscape(TARGETS["rmse"], k, theta, epsilons=epsilons, n=n),
        (FEW_CATEGORIES, SHARES, DAYS, DAYS),
    ),
    "inv_curve": (inv_curve, (FEW_CATEGORIES, SHARES, ALONG, DAYS, EPSILON)),
    "simulate_curve": (simulate_curve, (FEW_CATEGORIES, SHARES, ALONG, Usually([1, 2], few), EPSILON, FEW)),
    "shuffled": (shuffling.shuffled, (EPSILON, USERS, LEVEL)),
    "central_epsilon": (shuffling.central_epsilon, (EPSILON, DAYS, LEVEL)),
    "users_needed": (shuffling.users_needed, (EPSILON, LEVEL)),
    "users_for": (shuffling.users_for, (EPSILON, Usually(0.5, numbers), LEVEL)),
    "against_users": (shuffling.against_users, (DAYS, EPSILON, USERS, LEVEL)),
    "protocol_error": (bounds.protocol_error, (PROTOCOL, FEW_CATEGORIES, EPSILON, DAYS, WHOSE)),
    "binary": (bounds.binary, (EPSILON, DAYS, WHOSE, Usually(0.25, numbers))),
    "bounds.table": (bounds.table, (FEW_CATEGORIES, DAYS, USERS, WHOSE)),
    "against_epsilon": (bounds.against_epsilon, (DAYS, FEW_CATEGORIES, EPSILON, USERS, WHOSE)),
    "histogram_law": (histogram_law, (Usually(few_reports, few_reports), MECHANISM)),
}
# A likelihood can be zero, an epsilon plausible without an upper end, an error beyond the largest double.
INFINITE = {
    *("analyse_channel", "frontier", "price_per_bit", "landscape", "achieved", "update_factors_channel"),
    *("Channel", "Channel.warner", "optimality_gap_channel"),
    *("plausible_epsilon", "squared_error_of_inv", "inv_variance", "nearest"),
}
# Where InvP and InvN coincide there is no position between them; errors and likelihoods of what is no distribution are
# what they are, and their logarithms too.
UNDEFINED = {
    "theorem2",
    "push_down",
    "push_down, equalize",
    "collinearity",
    "squared_error",
    "total_variation",
    "max_error",
    "negative_log_likelihood",
    "slope_of_inv",
    "against_epsilon",
    "simulate_curve",
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
    """Every function is called, with arguments from one pool, for drawing them takes longer than most calls."""
    pool = {kind: [data.draw(kind) for _ in range(4)] for kind in KINDS}
    dice = random.Random(data.draw(st.integers(0, 2**32)))

    def argument(one: Usually) -> Any:
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
    for kind in (one.usual, one.hostile)
    if isinstance(kind, st.SearchStrategy)
}


def answered(name: str, call: Callable[..., Any], arguments: list[Any]) -> None:
    began = time.process_time()
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


@settings(max_examples=FEW_EXAMPLES, phases=PHASES, deadline=None, derandomize=True)
@given(data=st.data())
def test_an_answer_or_a_sentence(data: st.DataObject) -> None:
    all_answer(data)


@pytest.mark.slow
@settings(max_examples=MANY_EXAMPLES, phases=PHASES, deadline=None, derandomize=SAME_EXAMPLES)
@given(data=st.data())
def test_many_answers_or_sentences(data: st.DataObject) -> None:
    all_answer(data)


def test_errors_too_small_for_a_double_have_their_slope() -> None:
    """(k - 1) (k + 2 (e^eps - 1)) / (e^eps - 1)^2 grows with k - 1 alone where e^eps is very large."""
    for epsilon in (1.0, 5.0, 300.0):
        errors = [squared_error_of_inv(k, epsilon) for k in (1000, 5000)]
        assert slope_of_inv((1000, 5000), epsilon) == pytest.approx(
            math.log(errors[1] / errors[0]) / math.log(5)
        )
    assert slope_of_inv((1000, 5000), 1000.0) == pytest.approx(math.log(4999 / 999) / math.log(5))


def test_as_many_days_of_as_many_users_as_there_may_be_are_drawn() -> None:
    """Their sum is beyond the largest integer of NumPy."""
    drawn = Longitudinal("fresh", K, 1.0).randomize_supports([2**62, 0, 0], 23, 1)
    assert (drawn.sum(axis=-1) == 2**62).all()


def test_an_integer_may_be_written_as_a_float_and_a_number_not_as_an_array() -> None:
    assert protocols.compare(12.0, 1.0, 200) == protocols.compare(12, 1.0, 200)
    with pytest.raises(ValueError, match="epsilon_first must be None for memoised"):
        Longitudinal("memoised", K, 1.0, np.array([]))  # type: ignore[arg-type]


def test_integers_that_no_double_holds_are_refused() -> None:
    for k in (10**400, 10**5000):
        with pytest.raises(
            ValueError, match=r"k must be an integer >= 2, got (1000|a number of thousands of digits)"
        ):
            RandomizedResponse(k, 1.0)
    with pytest.raises(ValueError, match="two different integers"):
        slope_of_inv((3, 3), 1.0)
    with pytest.raises(ValueError, match="counts must add up to at most 2"):
        strays([2**63, 2**63], lambda k: RandomizedResponse(k, 1.0))
    histograms, chances = histogram_law(np.array([1, 0]), RandomizedResponse(2, 5000.0))
    assert histograms[chances > 0].tolist() == [[1, 0]]
    assert chances.sum() == 1.0
