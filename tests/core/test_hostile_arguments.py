"""Any number and any array given to a public function: an answer without NaN, or one sentence in a ValueError."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import rr_core
from rr_core import Population, RandomizedResponse, Scenario
from rr_core.collinearity import theorem2
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
from rr_core.plan import bounds, protocols
from rr_core.privacy import posterior as belief
from rr_core.privacy import posterior_of_reports
from rr_core.protocols import (
    Channel,
    HadamardResponse,
    SubsetSelection,
    UnaryEncoding,
    effective_sample_size,
    gibbs_chain,
    inv,
    inv_n_unary,
    inv_p_unary,
    mle,
    optimality_gap_channel,
    optimality_gap_unary,
    posterior,
    posterior_mean,
    split_r_hat,
)
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, simulated_rmse
from rr_core.reports import above_zero, analyse, fit_test, inv_interval, nearest, plausible_epsilon
from rr_core.reports.intervals import extremes
from rr_core.reports.low_counts import floor, strays
from tests import FEW_EXAMPLES, MANY_EXAMPLES

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
mechanisms = st.sampled_from(MECHANISMS)
usual = st.lists(st.integers(0, 50), min_size=K, max_size=K).filter(any)
arrays = st.one_of(
    usual,
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

CALLS: dict[str, tuple[Callable[..., Any], tuple[st.SearchStrategy[Any], ...]]] = {
    "RandomizedResponse": (RandomizedResponse, (numbers, numbers)),
    "from_p": (RandomizedResponse.from_p, (numbers, numbers)),
    "from_redraw": (RandomizedResponse.from_redraw, (numbers, numbers)),
    "expected": (RandomizedResponse.expected, (mechanisms, shares)),
    "randomize": (lambda m, values: m.randomize(values, 1), (mechanisms, arrays)),
    "randomize_histogram": (lambda m, counts: m.randomize_histogram(counts, 1), (mechanisms, arrays)),
    "zipf": (rr_core.zipf, (few, numbers)),
    "from_weights": (Population.from_weights, (arrays,)),
    "Scenario": (
        lambda k, s, epsilon, n, seed: Scenario(k=k, s=s, epsilon=epsilon, n=n, seed=seed),
        (numbers,) * 5,
    ),
    "draw": (lambda k, s, n: Scenario(k=k, s=s, n=n).draw().counts, (few, numbers, few)),
    "log_spaced": (log_spaced, (numbers, few)),
    "Start": (
        lambda category, mass: Start("point", category, mass).distribution([1, 2, 3]),
        (numbers, numbers),
    ),
    "inv_variance": (rr_core.inv_variance, (shares, numbers, mechanisms)),
    **{
        name: (getattr(rr_core, name), (arrays, mechanisms))
        for name in ("inv", "inv_n", "inv_p", "mle_star", "collinearity")
    },
    **{
        name: (getattr(rr_core, name), (arrays, shares, mechanisms))
        for name in ("negative_log_likelihood", "optimality_gap", "update_factors")
    },
    **{
        name: (getattr(rr_core, name), (shares, shares))
        for name in ("squared_error", "total_variation", "max_error")
    },
    "Longitudinal": (
        lambda key, k, epsilon, first, g: Longitudinal(key, k, epsilon, first, g).variance(0.5, 10, [1, 9]),
        (st.sampled_from(SCHEMES), *(numbers,) * 4),
    ),
    **{
        f"{name} of {one.scheme}": (getattr(one, name), given)
        for one in OVER_TIME
        for name, given in (
            ("epsilon_after", (st.one_of(numbers, arrays),)),
            ("epsilon_changing", (numbers, numbers)),
            ("variance", (shares, numbers, numbers)),
            ("estimate", (arrays, numbers)),
            ("log_likelihood", (arrays, numbers)),
            ("randomize_supports", (arrays, few)),
        )
    },
    "guesses": (
        lambda key, prior, days, people: guesses(Longitudinal(key, K, 1.0), prior, days, people, 1).right,
        (st.sampled_from(SCHEMES), shares, numbers, few),
    ),
    "simulated_rmse": (
        lambda counts, days, repeats: simulated_rmse(Longitudinal("l_grr", K, 1.0), counts, days, repeats, 1),
        (usual, few, few),
    ),
    "ibu": (rr_core.ibu, (arrays, mechanisms, few)),
    "ibu from a start": (lambda h, m, start: rr_core.ibu(h, m, 3, start), (arrays, mechanisms, shares)),
    "ibu_channel": (rr_core.ibu_channel, (arrays, st.one_of(st.just(np.eye(K)), arrays), few)),
    "ibu_path": (rr_core.ibu_path, (arrays, mechanisms, st.lists(few, max_size=3))),
    "ibu_paths": (
        lambda h, m, i: ibu_paths(h, [m], [1, 3], i),
        (arrays, mechanisms, st.one_of(st.none(), shares)),
    ),
    "iterates": (lambda h, m, last: [*iterates(rr_core.ibu_path(h, m, [2]), last)], (usual, mechanisms, few)),
    "above_zero": (above_zero, (arrays, mechanisms, numbers)),
    "analyse": (lambda c, m, level: analyse(c, m, level).columns(), (arrays, mechanisms, numbers)),
    "inv_interval": (
        lambda c, m, level, all_: inv_interval(c, m, level, simultaneous=all_),
        (arrays, mechanisms, numbers, st.booleans()),
    ),
    "nearest": (nearest, (arrays, mechanisms)),
    "fit_test": (lambda c, m, seed: fit_test(c, m, 5, seed=seed), (arrays, mechanisms, numbers)),
    "fit_test, replicates": (fit_test, (usual, mechanisms, few)),
    "plausible_epsilon": (
        lambda c, k, level, above: plausible_epsilon(c, k, level, above=above, replicates=5),
        (arrays, few, numbers, numbers),
    ),
    "Channel": (
        lambda matrix: [getattr(Channel(matrix), name) for name in ("rank", "epsilon", "condition_number")],
        (arrays,),
    ),
    "Channel.warner": (lambda p: Channel.warner(p).epsilon, (numbers,)),
    "Channel.forced_response": (lambda forced: Channel.forced_response(forced).matrix, (arrays,)),
    "Channel.truncated_geometric": (lambda k, e: Channel.truncated_geometric(k, e).matrix, (few, numbers)),
    "Channel.randomize": (lambda values: CHANNEL.randomize(values, 1), (arrays,)),
    "Channel.randomize_histogram": (lambda counts: CHANNEL.randomize_histogram(counts, 1), (arrays,)),
    "inv, channel": (lambda histogram: inv(histogram, CHANNEL), (arrays,)),
    "SubsetSelection": (lambda k, e, d: SubsetSelection(k, e, d).q_star, (few, numbers, few)),
    "SubsetSelection.randomize": (lambda values: SUBSET.randomize(values, 1), (arrays,)),
    "SubsetSelection.support": (SUBSET.support, (arrays,)),
    "SubsetSelection.randomize_support": (lambda counts: SUBSET.randomize_support(counts, 1), (arrays,)),
    "SubsetSelection.variance": (SUBSET.variance, (shares, numbers)),
    "inv, subset": (lambda support, n: inv(support, SUBSET, n), (arrays, numbers)),
    "HadamardResponse": (lambda k, e: HadamardResponse(k, e).p_star, (few, numbers)),
    "HadamardResponse.randomize": (lambda values: HADAMARD.randomize(values, 1), (arrays,)),
    "HadamardResponse.support": (HADAMARD.support, (arrays,)),
    "HadamardResponse.randomize_histogram": (lambda c: HADAMARD.randomize_histogram(c, 1), (arrays,)),
    "HadamardResponse.variance": (HADAMARD.variance, (shares, numbers)),
    "mle, hadamard": (lambda histogram, t: mle(histogram, HADAMARD, t), (arrays, numbers)),
    "inv, hadamard": (lambda histogram: inv(histogram, HADAMARD), (arrays,)),
    "mle, channel": (lambda histogram, tolerance: mle(histogram, CHANNEL, tolerance), (arrays, numbers)),
    "optimality_gap_channel": (lambda h, theta: optimality_gap_channel(h, theta, CHANNEL), (arrays, shares)),
    "UnaryEncoding": (
        lambda k, e, o: [getattr(UnaryEncoding(k, e, o), name) for name in ("p", "q", "keep")],
        (few, numbers, numbers),
    ),
    "UnaryEncoding.randomize": (lambda values: UNARY.randomize(values, 1), (arrays,)),
    "UnaryEncoding.support": (UNARY.support, (arrays,)),
    "UnaryEncoding.randomize_support": (lambda counts: UNARY.randomize_support(counts, 1), (arrays,)),
    "UnaryEncoding.inv_variance": (UNARY.inv_variance, (shares, numbers)),
    "inv, unary": (lambda support, n: inv(support, UNARY, n), (arrays, numbers)),
    "inv_n_unary": (lambda support, n: inv_n_unary(support, UNARY, n), (arrays, numbers)),
    "inv_p_unary": (lambda support, n: inv_p_unary(support, UNARY, n), (arrays, numbers)),
    "mle, unary": (lambda bits, tolerance: mle(bits, UNARY, tolerance), (reports, numbers)),
    "optimality_gap_unary": (lambda bits, theta: optimality_gap_unary(bits, theta, UNARY), (reports, shares)),
    "posterior": (
        lambda h, m, prior, draws: posterior(h, m, prior, draws, 1),
        (arrays, mechanisms, arrays, few),
    ),
    "posterior_mean": (posterior_mean, (arrays, mechanisms, arrays)),
    "gibbs_chain": (
        lambda h, m, start, burn_in: gibbs_chain(h, m, 0.5, 3, 1, burn_in=burn_in, start=start),
        (arrays, mechanisms, shares, few),
    ),
    "effective_sample_size": (effective_sample_size, (arrays,)),
    "split_r_hat": (split_r_hat, (arrays,)),
    "squared_error_of_inv": (squared_error_of_inv, (numbers, numbers)),
    "slope_of_inv": (
        lambda one, two, epsilon: slope_of_inv((one, two), epsilon),
        (numbers, numbers, numbers),
    ),
    "theorem2": (theorem2, (arrays, mechanisms)),
    "push_down": (push_down, (arrays, few, mechanisms)),
    "push_down, equalize": (lambda h, c, m: push_down(h, c, m, equalize=True), (usual, few, mechanisms)),
    "push_down_candidates": (push_down_candidates, (arrays, mechanisms, numbers)),
    "report_distribution": (report_distribution, (few, few, mechanisms)),
    "report_variance": (report_variance, (arrays, numbers, mechanisms)),
    "report_band": (report_band, (usual, few, mechanisms, numbers)),
    "negative_chance": (negative_chance, (arrays, mechanisms)),
    "negative_chances": (negative_chances, (arrays, numbers, mechanisms)),
    "negatives": (negatives, (shares, arrays, mechanisms)),
    "belief": (belief, (numbers, shares, mechanisms)),
    "posterior_of_reports": (posterior_of_reports, (arrays, shares, mechanisms)),
    "extremes": (extremes, (arrays, mechanisms)),
    "floor": (floor, (arrays, mechanisms, numbers)),
    "strays": (
        lambda c, chance: strays(c, lambda k: RandomizedResponse(k, 1.0), chance=chance),
        (arrays, numbers),
    ),
    "theorem": (bounds.theorem, (few, numbers, numbers)),
    "equal_shares": (bounds.equal_shares, (few, numbers, numbers)),
    "attainable": (bounds.attainable, (few, numbers, numbers)),
    "support": (
        protocols.support,
        (st.sampled_from(["rr", "subset", "sue", "oue", "olh", "hr", "no"]), few, numbers),
    ),
    "compare protocols": (protocols.compare, (few, numbers, numbers, numbers)),
    "histogram_law": (histogram_law, (st.lists(st.integers(0, 4), min_size=K, max_size=K), mechanisms)),
}
# A likelihood can be zero, an epsilon plausible without an upper end, an error beyond the largest double.
INFINITE = {
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


# How often each kind of argument occurs in one call at most.
MOST = {
    kind: max(drawn.count(kind) for _, drawn in CALLS.values())
    for _, drawn in CALLS.values()
    for kind in drawn
}


def all_answer(data: st.DataObject) -> None:
    """Every function is called with the same arguments, for drawing them takes longer than most calls."""
    pool = {kind: [data.draw(kind) for _ in range(most)] for kind, most in MOST.items()}
    for name, (call, drawn) in CALLS.items():
        note(name)
        place = {kind: iter(values) for kind, values in pool.items()}
        answered(name, call, [next(place[kind]) for kind in drawn])


def answered(name: str, call: Callable[..., Any], arguments: list[Any]) -> None:
    began = time.process_time()
    try:
        answer = call(*arguments)
    except (ValueError, TypeError) as refusal:
        said = str(refusal)
        assert 10 < len(said) < 300
        assert "\n" not in said
    else:
        for part in map(np.asarray, parts(answer)):
            if part.dtype.kind == "f" and name not in UNDEFINED:
                assert not np.isnan(part).any()
                assert name in INFINITE or np.isfinite(part).all()
    assert time.process_time() - began < SECONDS


@settings(max_examples=FEW_EXAMPLES)
@given(data=st.data())
def test_an_answer_or_a_sentence(data: st.DataObject) -> None:
    all_answer(data)


@pytest.mark.slow
@settings(max_examples=MANY_EXAMPLES)
@given(data=st.data())
def test_many_answers_or_sentences(data: st.DataObject) -> None:
    all_answer(data)


def test_integers_that_no_double_holds_are_refused() -> None:
    for k in (10**400, 10**5000):
        with pytest.raises(
            ValueError, match=r"k must be an integer >= 2, got (1000|a number of thousands of digits)"
        ):
            RandomizedResponse(k, 1.0)
    with pytest.raises(ValueError, match="two different integers"):
        slope_of_inv((3, 3), 1.0)
    histograms, chances = histogram_law(np.array([1, 0]), RandomizedResponse(2, 5000.0))
    assert histograms[chances > 0].tolist() == [[1, 0]]
    assert chances.sum() == 1.0
