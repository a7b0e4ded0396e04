"""What a function cannot do beyond what is wrong everywhere (test_hostile_arguments.py, test_validation.py): arguments
that do not fit one another, and the ends of ranges. The sentence names the argument, what is allowed and what was
received."""

import math
from functools import partial

import numpy as np
import pytest

import rr_core
from rr_core import (
    Population,
    RandomizedResponse,
    Scenario,
    analyse,
    coupling,
    ibu_channel,
    ibu_path,
    inv_variance,
    zipf,
)
from rr_core.arrivals import first_reports
from rr_core.comparison import compare
from rr_core.confidence_sequence import anytime_intervals
from rr_core.experiments.grid import Cell, Settings
from rr_core.experiments.protocols import Setting
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.geometry.replicates import count_alignment
from rr_core.ibu import ibu_paths
from rr_core.ibu.convergence import first_reached, settling_times
from rr_core.ibu.engine import Start
from rr_core.law import negatives, report_band, report_distribution
from rr_core.plan import bounds, protocol_choice, shuffling
from rr_core.plan.landscape import simulate_curve
from rr_core.plan.one_share import Goal, people_needed
from rr_core.plan.solve import achieved, required_n
from rr_core.plan.targets import Guess, Target
from rr_core.populations import build
from rr_core.privacy import answer, posterior_of_reports
from rr_core.protocols import (
    Channel,
    HadamardResponse,
    Longitudinal,
    SubsetSelection,
    UnaryEncoding,
    guesses,
    information_bounds,
    inv,
    inv_covariance_channel,
    laws,
    mle,
    mle_unary,
    posterior,
    posterior_mean,
    update_factors_unary,
)
from rr_core.protocols.collection import one_person
from rr_core.protocols.posterior import LARGEST_EXACT_N, distance_to_mle
from rr_core.repeats import repeat
from rr_core.reports import inv_interval, plausible_epsilon
from rr_core.reports.analysis import analyse as analyse_one
from rr_core.reports.intervals import too_few_reports
from rr_core.reports.low_counts import strays
from rr_core.reports.survey import MOST_GROUPS, analyse_groups

THREE, SUBSET, HADAMARD, UNARY = (
    RandomizedResponse(3, 1.0),
    SubsetSelection(4, 1.0, 2),
    HadamardResponse(4, 1.0),
    UnaryEncoding(3, 1.0),
)
FRESH, WARNER = Longitudinal("fresh", 3, 1.0), Channel.warner(0.7)
RMSE = Target("rmse", 0.1)

REFUSED = [
    # Settings and choices.
    (lambda: build("Zipf", 5, 1.0), "dist must be one of zipf, .*, got 'Zipf'"),
    (lambda: Scenario(k=1_500_001), "k must be .* to 1500000, got 1500001"),
    (lambda: Scenario(epsilon=21), "epsilon must be .* to 20, got 21"),
    (lambda: Scenario(seed=2**32), "seed must be .*, got 4294967296"),
    (lambda: Cell("pareto", 5, 1.0, 10), "dist must be one of zipf.*'pareto'"),
    (lambda: Cell.parse("zipf k=3 s=x epsilon=1.0 n=5"), "key must be the key of a cell, got"),
    (lambda: Settings(seeds=0), "seeds must be an integer >= 1, got 0"),
    (lambda: Settings(metrics=()), "metrics must be some of mse, tv, max, nll"),
    (lambda: Settings(estimators=("inv", "ibu")), "estimators must be some of inv, inv_n, inv_p, mle_star"),
    (lambda: Setting("olh", "uniform", 5, 1.0, 50), "protocol must be"),
    (lambda: Setting("oue", "work", 5, 1.0, 50, "fixed"), "k must be"),
    (lambda: compare(Scenario().draw(), "user"), "target must be 'users' or 'population', got 'user'"),
    (lambda: next(repeat(Scenario().draw(), 0)), "times must be an integer >= 1, got 0"),
    (lambda: Population.from_weights([1, 2], ["a"]), "labels must be k = 2 names, got 1"),
    (lambda: Population.from_weights([5]), r"weights must have shape \(k,\) with k >= 2"),
    (lambda: zipf(5, -0.5), r"s must be a number >= 0, got -0\.5"),
    (lambda: distance_to_mle([1, 1], RandomizedResponse(2, 1.0), [9], [0.0]), "prior must be"),
    (lambda: information_bounds(Channel.warner(0.5)), "channel must tell all k = 2 categories apart"),
    (lambda: information_bounds(WARNER, 0.0), r"prior must be a number from 0\.01"),
    (lambda: next(count_alignment(Scenario().draw(), 0)), "times must be an integer >= 1"),
    # One histogram.
    *((partial(distance, [0.5, 0.5], [0.2, 0.3, 0.5]), r"theta_hat must have a last axis of length k = 3, got")
      for distance in (rr_core.squared_error, rr_core.total_variation, rr_core.max_error)),
    (lambda: rr_core.squared_error([0.5, 0.5], 3.0), r"theta must have shape \(\.\.\., k\)"),
    (lambda: inv_variance([0.2, 0.3, 0.5], 0, THREE), "n must be a number > 0, got 0"),
    (lambda: inv_variance([0.2, 0.3, 0.5], 9, THREE, users="random"), "users must be 'fixed' or 'sampled', got 'random'"),
    *((partial(THREE.randomize, values), "values must be integers from 0 to k - 1")
      for values in ([0, 3], [0.5], [True])),
    (lambda: THREE.randomize_histogram([1.5, 2, 3]), "counts must be whole numbers"),
    (lambda: push_down_candidates(np.full((5, 3), 9), THREE), r"histogram must have shape \(k,\) = \(3,\), got \(5, 3\)"),
    (lambda: too_few_reports(9, THREE, 2), r"level must be a number with 0 < level < 1, got 2\.0"),
    *((partial(plausible_epsilon, [9, 1, 1, 1], 4, above=above), "above must be a number from 1e-06 to 700, got ")
      for above in (0, 700.1)),
    (lambda: one_person([0, 0, 0], THREE, UNARY, 1), "true_counts must have a total >= 1, got all zeros"),
    *((partial(coupling.multinomial, 3, weights, np.array([])), "weights must have") for weights in ([], [1, 2])),
    (lambda: rr_core.inv(np.ma.masked_array([5, 1, 9], [0, 1, 0]), THREE), "histogram must be a numeric"),
    (lambda: strays([2**63, 2**63], lambda k: THREE), "counts must add up to at most 2"),
    (lambda: push_down([3, 0, 1], 1, THREE), "category must be one that has reports"),
    (lambda: push_down([3, 0, 1], 3, THREE), "category must be an integer from 0 to 2"),
    (lambda: list(first_reports([3, 2], [2, 2], 1)), "sizes must increase"),
    (lambda: list(first_reports([3, 2], [6], 1)), "sizes must .* at most 5"),
    (lambda: list(first_reports([10**9, 1], [1], 1)), "the sum of counts"),
    (lambda: report_distribution(6, 5, THREE), "t must be an integer from 0 to 5, got 6"),
    (lambda: report_band([1, 6], 5, THREE), "true_counts must be whole numbers from 0 to 5, got 6"),
    (lambda: negatives([[1, 2]], [1, 1], THREE), r"estimate must have shape \(2,\) like true_counts, got \(1, 2\)"),
    (lambda: anytime_intervals([0, 0, 0], THREE), "counts must have a total >= 1, got all zeros"),
    (lambda: anytime_intervals([1, 2, 3], THREE, tightest_at=0), "tightest_at must be .* to 1000000000000000, got 0"),
    (lambda: inv_interval([[1, 2, 3]], THREE), "counts must have shape"),
    (lambda: answer(3, THREE, 0), "truth must be an integer from 0 to 2, got 3"),
    (lambda: posterior_of_reports([0], [0, 0, 0], THREE), "prior must be non-negative with a positive total"),
    (lambda: posterior([[1, 2, 3]], THREE), r"histogram must have shape \(k,\) = \(3,\), got \(1, 3\)"),
    (lambda: posterior([10**10, 2, 3], THREE), "histogram must have at most 1,000,000,000 reports"),
    (lambda: posterior([1, 2, 3], THREE, [1, 2]), "prior must be one number or k = 3 numbers from 0.01"),
    (lambda: posterior_mean([LARGEST_EXACT_N, 1, 0], THREE), "histogram must have at most 20,000 reports"),
    # IBU.
    (lambda: ibu_path([1, 2, 3], THREE, []), "iterations must name at least one iteration, got none"),
    (lambda: ibu_channel([1, 2], np.eye(2), 3, np.eye(2)), r"start must have shape \(k_in,\) = \(2,\), got \(2, 2\)"),
    (lambda: ibu_channel([1, 2], [[0.5, 0.6], [0.5, 0.5]], 3), "channel must have rows that sum to 1"),
    (lambda: ibu_paths([[1, 2, 3]], [], [1]), "mechanisms must be one or more with the same k, got k = none"),
    (lambda: ibu_paths([[1, 2, 3]], [THREE, RandomizedResponse(4, 1.0)], [1]), r"mechanisms must be .* k = \[3, 4\]"),
    (lambda: ibu_paths([[1, 2, 3]], [THREE] * 2, [1]), r"histograms must have one row of k = 3 .*, got shape \(1, 3\)"),
    (lambda: ibu_paths([[1, 2, 3]] * 2, [THREE] * 2, [1], np.full((3, 3), 1 / 3)), "start must have shape"),
    *((partial(call, ibu_path([[1, 2, 3]] * 2, THREE, [3]), 0.1), r"path must be that of one histogram .* \(2,\)")
      for call in (first_reached, settling_times)),
    (lambda: Start("middle"), "kind must be one of uniform"),
    (lambda: Start("reports").distribution([[1, 2]]), r"histogram must have shape \(k,\) with k >= 2, got \(1, 2\)"),
    *((partial(Start, mass=mass), "mass must be strictly between 0 and 1, got") for mass in (0.0, 1.0)),
    (lambda: Start("zero", 4).distribution([5, 0, 3, 2]), "category must be an integer from 0 to 3, got 4"),
    (lambda: Start("typed", weights=(1.0, 2.0)).distribution([5, 0, 3, 2]), ".* must have"),
    # Plans.
    (lambda: required_n("rmse", 4, 1.0, [0.25] * 4), "target must be a Target, got 'rmse'"),
    (lambda: protocol_choice.against_k([0, 3], 3, 1.0, 10), "ks must be an integer from 2 to 9007199254740992, got 0"),
    (lambda: protocol_choice.against_epsilon([0], 3, 1.0, 10), "epsilons must be a number from"),
    (lambda: Target("mse", 1), "kind must be one of rmse"),
    (lambda: Target("top", 2.5), "value must be an integer from 1 to 50"),
    (lambda: Target("max", 0.1, 1), r"confidence must be a number from 0\.5"),
    (lambda: achieved(RMSE, 3, 30, 10, None), r"epsilon must be a number from 0\.01 to 20"),
    *((partial(achieved, target, 3, 1, 10, None, users="new"), "users must be") for target in (RMSE, Target("max", 0.1))),
    (lambda: required_n(RMSE, 3, 1, [1, 2]), "histogram must have a last axis"),
    (lambda: required_n(Target("top", 3), 3, 1, [1, 2, 3]), "value must be below k = 3"),
    (lambda: required_n(Target("top", 2), 3, 1, None), "theta must be a population"),
    (lambda: Guess.of(3, Guess.of(4, np.ones(4))), "theta must be a guess of k = 3"),
    (lambda: Guess.of(3, None).levels(), ".*worst case"),
    (lambda: simulate_curve(3, [1, 2, 3], "k", [1], 1, 5), "along must be"),
    (lambda: people_needed(Channel.warner(0.5), Goal("half_width"), 0.1), ".*categories apart"),
    (lambda: people_needed(Channel(np.eye(3)), Goal("power"), 0.1), "channel must have k = 2 truths, got 3"),
    *((partial(people_needed, WARNER, goal, share), "shares must be")
      for goal, share in ((Goal("half_width"), 1.1), (Goal("power"), 0.0), (Goal("difference", 0.2), 0.81))),
    *((partial(Goal, **{"kind": "power", name: value}), f"{name} must be")
      for name, value in (("kind", "width"), ("value", 0.0), ("value", 1.0), ("power", 0.3), ("power", 1.0))),
    *((partial(shuffling.shuffled, 1.0, 10, delta), "delta must be a number with 0 < delta < 1") for delta in (0.0, 1.0)),
    (lambda: bounds.theorem(3, 1.0, 10, "all"), "users must be 'fixed' or 'sampled', got 'all'"),
    (lambda: bounds.protocol_error("grr", 3, 1.0, 1), "key must be one of"),
    (lambda: protocol_choice.compare(3, 1.0, 10, 1.5), r"theta_share must be a number from 0 to 1, got 1\.5"),
    # Protocols.
    (lambda: laws.support("grr", 3, 1.0), "key must be one of rr, subset, sue, oue, olh, hr, got 'grr'"),
    (lambda: laws.subsets(5, 1.0, 5), "d must be an integer from 1 to 4, got 5"),
    (lambda: laws.local_hashing(1.0, 1), "g must be an integer >= 2, got 1"),
    (lambda: SubsetSelection(4, 1.0, 4), "d must be an integer from 1 to 3, got 4"),
    (lambda: SUBSET.variance([0.5, -0.5], 1), r"theta must be shares from 0 to 1, got -0\.5 to 0\.5"),
    (lambda: SUBSET.randomize_support([10**13, 0, 0, 0]), "counts must add up to at most 1,000,000,000,000, got 10,0"),
    (lambda: SUBSET.support([1, 1, 0, 0]), r"reports must have shape \(n, k\)"),
    (lambda: SUBSET.support([[1, 1, 1, 0]]), "reports must have d = 2 ones .*, got a row with 3"),
    (lambda: inv([1, 1, 0, 0], SUBSET), "n must be the number of reports, above 0, .*, got None"),
    (lambda: inv([1, 3, 0, 0], SUBSET, 2), "observed must be from 0 to n = 2 .*, got 0 to 3"),
    (lambda: HADAMARD.histogram([99]), "reports must be integers"),
    (lambda: HADAMARD.randomize([4]), "values must be integers from 0 to k - 1 = 3"),
    (lambda: HADAMARD.variance([0.5, 0.5], 10), "theta must have a last axis of length k = 4"),
    (lambda: HadamardResponse(2, 1.0).variance([1.5, 0], 1), r"theta must be shares from 0 to 1, got 0 to 1\.5"),
    (lambda: inv([1, 2, 3], HADAMARD), "histogram must have a last axis of length"),
    (lambda: mle([[1] * 8] * 2, HADAMARD), r"histogram must have shape \(m,\) = \(8,\)"),
    (lambda: mle(np.ones(8192), HadamardResponse(6000, 1.0)), "histogram must have at most 20,000,000/k"),
    (lambda: UnaryEncoding(3, 1.0, 2), "optimized must be True or False, got 2"),
    (lambda: UNARY.randomize([[0]], 1), r"values must have shape \(n,\), got \(1, 1\)"),
    (lambda: UNARY.support([[0, 0.5, 1]]), r"reports must be an array of 0 and 1 .* got 0\.5 at index \[0, 1\]"),
    (lambda: UNARY.support(np.zeros((0, 3))), r"reports .* with n >= 1, got shape \(0, 3\)"),
    (lambda: inv([1, 1, 1], UNARY), "n must be the number of reports, an integer >= 1, .* got None"),
    (lambda: inv([1, 1, 4], UNARY, 3), "support must be whole numbers from 0 to n = 3, got 1 to 4"),
    (lambda: UNARY.inv_variance(1.5, 10), r"theta must be shares from 0 to 1, got 1\.5 to 1\.5"),
    (lambda: mle_unary([[1, 0, 1]], UNARY, counts=[0]), "counts must be n = 1 numbers >= 0 .*, got"),
    (lambda: mle_unary([[1, 0, 1]], UNARY, counts=[1, 2]), "counts must have a last axis of length"),
    (lambda: update_factors_unary([[1, 0, 1]], [0.5] * 3, UNARY), "theta must be a distribution"),
    (lambda: Channel([[0.9, 0.3], [0.1, 0.7]]), "matrix must have rows .* its columns do, so give the transpose"),
    (lambda: Channel(np.zeros((2, 0))), "matrix must be a matrix"),
    (lambda: Channel([[1.0]]), "matrix must have k >= 2 rows"),
    (lambda: Channel.warner(1.1), r"p must be a number from 0 to 1, got 1\.1"),
    *((partial(Channel.forced_response, forced), "forced must be k >= 2 probabilities")
      for forced in ([0.7, 0.6], [0.7])),
    (lambda: Channel.truncated_geometric(1001, 0.8), r"epsilon_per_step must be a number from 1e-06 to 0\.7, got 0\.8"),
    (lambda: WARNER.randomize([0, 2]), "values must be integers from 0 to k - 1 = 1, got 0 to 2"),
    (lambda: mle([[1, 2]], WARNER), r"histogram must have shape \(m,\) = \(2,\), got \(1, 2\)"),
    (lambda: mle([1, 2], WARNER, 0), "tolerance must be a number > 0, got 0"),
    *((partial(call, [1, 2], "warner"), "protocol must be a Channel.* or RandomizedResponse, got 'warner'")
      for call in (mle, inv)),
    (lambda: inv_covariance_channel([[0.5, 0.5]], 9, WARNER), r"theta must have shape \(k,\) = \(2,\)"),
    *((partial(call, Channel.warner(0.5)), "protocol must tell all k = 2 categories apart")
      for call in (partial(inv, [1, 2]), partial(inv_covariance_channel, [0.5, 0.5], 9))),
    # The same people every day.
    (lambda: Longitudinal("daily", 3, 1.0), "scheme must be"),
    *((partial(Longitudinal, key, 3, 1.0, first), "epsilon_first must be")
      for key, first in (("fresh", 0.5), ("l_grr", 1.0), ("l_grr", 0))),
    *((partial(Longitudinal, key, 3, 1.0, 0.5, g), "g must be") for key, g in (("l_grr", 2), ("loloha", 1))),
    (lambda: FRESH.epsilon_after(0.5), "t must be"),
    (lambda: FRESH.epsilon_changing(1, 0), "every must be"),
    (lambda: FRESH.epsilon_any_changes(10_001, 1), "t must be"),
    (lambda: FRESH.variance(2, 1), "theta must be"),
    (lambda: FRESH.estimate([1, 2, 3], 2), "support must be"),
    *((partial(FRESH.log_likelihood, counts, 2), "counts must") for counts in ([1, 2, 3], [1, 2])),
    (lambda: guesses(FRESH, [[1, 2, 3]], [1], 5), "prior must"),
    (lambda: guesses(FRESH, [1, 2, 3], [2, 1], 5), "days must"),
    # Reports.
    (lambda: analyse_one([1, 1, 1], UNARY, n=3, bits=[1]), "bits must be a pair"),
    (lambda: analyse([1, 2], THREE), "counts_or_series must be 3 counts"),
    (lambda: analyse({"a": 1, "b": 2}, THREE), ".* must .* the 3 reports of the design, got 2"),
    (lambda: analyse(["a", "b", "c"], THREE, by=["x"]), "by must have shape"),
    *((partial(analyse, ["a", "b", "c"], THREE, weights=weights), "weights must have shape")
      for weights in ([1.0], [-1] * 3)),
    (lambda: analyse(["a", "b", "c"], THREE, strata=["x"] * 3), "strata and units need weights"),
    (lambda: analyse([1, 2, 3], THREE, truths=["x"]), "truths must be k = 3 names"),
    (lambda: analyse([1, 2, 3], "warner"), "design must be"),
    (lambda: analyse_groups([[1, 2, 3], [0, 0, 0]], THREE, "abc", "xy"), ".* must have a report each"),
    (lambda: analyse_groups(np.ones((201, 3), dtype=int), THREE, "abc", tuple(map(str, range(201)))),
     f".*at most {MOST_GROUPS}"),
    *((partial(RandomizedResponse.from_redraw, 4, r), "r must be a number with 0 < r < 1") for r in (0.0, 1.0, math.nan)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said[:60] for _, said in REFUSED])
def test_it_is_refused_in_a_sentence_about_its_argument(call, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        call()
