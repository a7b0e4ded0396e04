"""What the plan's figures and its fixed parts say, read back and worked out another way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rr_core.figures import plan_curves, plan_map
from rr_core.figures.plan_curves import PROTOCOLS
from rr_core.figures.style import QUANTITIES, reading
from rr_core.plan import protocol_choice, solve
from rr_core.plan.landscape import SimulatedCurve
from rr_core.plan.targets import Guess, Target
from rr_core.registry import VALID
from rr_core.words import plan as sentences
from rr_core.words.phrases import METRIC_NAMES
from tests.app.test_plan_answers import Asked, rmse
from tests.sentences import recomputes
from tests.sentences.spoken import Down, Up, numbers, tells
from tests.words.test_plan import errors_of_protocols, places


def named_best(errors):
    least = min(errors.values())
    names = {"subset": "subset selection", "hr": "Hadamard response"}
    return [names.get(key, PROTOCOLS[key].name) for key, one in errors.items() if one <= least * (1 + 1e-9)]


@recomputes(plan_curves.rmse_against_k, plan_curves.rmse_against_epsilon)
def test_protocols_say_who_is_best_and_where_that_changes(many):
    for i, (k, epsilon, n) in enumerate(places(many // 2)):  # some 10 ms each
        users = ("fixed", "sampled")[i % 2]
        errors, _ = errors_of_protocols(k, epsilon, users)
        best, least = named_best(errors), math.sqrt(min(errors.values()) / n)
        rival = [] if "k-RR" in best else [math.sqrt(errors["rr"] / n)]
        along_k = protocol_choice.against_k([2, 3], k, epsilon, n, users)
        text = reading(plan_curves.rmse_against_k(along_k, epsilon)).replace("k-RR", "it")
        up_to, below = numbers(text)[-2:]
        tells(text, n, least, *rival, epsilon, None, None)
        have = "has" if len(best) == 1 else "have"
        assert f" {' and '.join(best)} {have} the smallest RMSE per category".replace("k-RR", "it") in text, (
            text
        )
        assert ("all shares equal" in text) == (users == "sampled")
        for most, rivals in ((up_to, ("subset",)), (below, ("oue",))):
            for at, better in ((int(most), True), (int(most) + 2, False)):
                if 2 <= at < 10**7:
                    others, _ = errors_of_protocols(at, epsilon)
                    slack = 1e-9 if better else -1e-9
                    assert all(others["rr"] <= others[key] * (1 + slack) for key in rivals) == better, (
                        at,
                        epsilon,
                    )
        along_epsilon = protocol_choice.against_epsilon([1.0], k, epsilon, n, users)
        text = reading(plan_curves.rmse_against_epsilon(along_epsilon, k)).replace("k-RR", "it")
        told = numbers(text)[3 + len(rival) :]
        tells(text, n, least, *rival, k, *(None for _ in told))
        reads = text[text.index("with ") :]
        borders = ["from ε" in reads, "above ε" in reads]
        assert reads.count("at every ε") == 2 - len(told) == 2 - sum(borders)
        for key, border in (("subset", borders[0]), ("oue", borders[1])):
            at = told.pop(0) if border else 0.01
            for here, better in ((at * (1 + 1e-9), True), (at * 0.98, False)) if border else ((at, True),):
                if here < 25:
                    others, _ = errors_of_protocols(k, here)
                    assert (others["rr"] <= others[key] * (1 + (1e-9 if better else -1e-9))) == better, (
                        k,
                        here,
                        key,
                    )


@recomputes(plan_curves._simulated_reading)
def test_no_order_is_told_that_chance_may_have_made(many):
    rng, said = np.random.default_rng(3), set()
    for i in range(many):
        along, metric = ("epsilon", "n")[i % 2], ("rmse", "max", "tv")[i % 3]
        runs, place, fixed = int(rng.choice([1, 2, 50, 4000])), (0.5, 100.0)[i % 2], (10**9, 0.01)[i % 2]
        means = rng.choice([0.1, 0.1 * (1 + 1e-12), 0.101, 0.2, 0.9, 0.0], 3)
        errors = np.full(3, math.nan) if runs == 1 else rng.choice([0.0, 0.001, 0.05], 3)
        raw = float(rng.choice([0.4, 3.0, 0.0]))
        mean = {name: np.array([v]) for name, v in zip(("inv", *VALID), (raw, *means), strict=True)}
        error = {name: np.array([v]) for name, v in zip(("inv", *VALID), (0.1, *errors), strict=True)}
        made = SimulatedCurve(
            along, np.array([place]), {metric: mean}, {metric: error}, np.array([runs]), runs, fixed
        )
        text = reading(plan_curves.error_curves(made, metric, None, place, None))
        first = int(np.argmin(means))
        apart = means - means[first] > 2 * np.hypot(errors, errors[first]) + 1e-9 * means[first]
        near = [i for i in range(3) if not apart[i]]
        equal = all(means[i] <= means[first] * (1 + 1e-9) for i in near)
        at = [place, int(fixed), runs] if along == "epsilon" else [int(place), fixed, runs]
        names = [QUANTITIES[VALID[i]].name for i in near]
        assert METRIC_NAMES[metric].in_text in text
        assert ("1 simulated collection," in text) == (runs == 1)
        if len(near) == 1:
            assert f"is that of {names[0]}:" in text
            tells(text, *at, means[first], *([means[first] / raw, raw] if raw else []))
            said.add("lowest")
        elif equal:
            assert f"{', '.join(names[:-1])} and {names[-1]} have the same" in text
            assert ("the lowest" in text) == (len(near) < 3)
            tells(text, *at, means[first])
            said.add("same")
        else:
            assert f"chance leaves open which of {', '.join(names[:-1])} and {names[-1]} has" in text
            tells(text, *at, raw, *means)
            said.add("open")
    assert said == {"lowest", "same", "open"}


@recomputes(plan_map._reading)
def test_the_map_says_where_the_goal_is_reached_and_where_one_is(many):
    rng = np.random.default_rng(4)
    kinds = ("rmse", "max", "share", "smallest", "top")
    for i in range(many):
        kind, sure = kinds[i % 5], float(rng.uniform(0.5, 0.9999))
        target = Target(kind, 3 if kind == "top" else float(10 ** rng.uniform(-5, 0)), sure)
        here = float(rng.uniform(0.01, 20)), int(10 ** rng.uniform(0, 9))
        plan = (float(rng.uniform(0.01, 20)), int(10 ** rng.uniform(0, 9))) if i % 3 else None
        most = 1e6
        users = np.array([np.inf, 10 ** rng.uniform(4, 8)])
        edge = None if i % 7 == 0 else plan_map.TargetFrontier(target, np.array([1.0, 2.0]), users)
        text = plan_map._reading(target, edge, most, here, plan, named=bool(i % 2))
        circle = [here[0], here[1]]
        if edge is None:
            assert text.startswith("The map shows what each ε and N reaches; the circle is")
            tells(text, *circle)
        elif users[1] > most * (1 + 1e-6):
            assert text.startswith("Nothing on this map is enough")
            tells(text, *circle)
        else:
            assert ("the star is the plan" in text) == (plan is not None)
            tells(text, Down(sure) if kind == "top" else Up(target.value), *(plan or circle))
        assert ("more likely to be right" in text) == (kind == "top")
        assert ("dotted lines" in text) == bool(i % 2)


@recomputes(sentences.meaning, sentences.whose_shares)
def test_which_populations_an_answer_is_about(many):
    rng = np.random.default_rng(5)
    for i in range(10 + many // 10):
        kind, users = ("rmse", "share", "smallest", "max", "top")[i % 5], ("fixed", "sampled")[i % 2]
        k, epsilon = int(rng.integers(3, 30)), float(rng.uniform(0.1, 6))
        value = 1.0 if kind == "top" else (0.001, 8.0)[i % 3 > 0]
        asked = Asked(
            kind, k, epsilon, 10**5, ("n", "value")[i % 4 > 2], users, i % 3 == 1, value, 20.0, 95.0
        )
        plan, text = asked.plan, sentences.meaning(asked.plan)
        told = text[text.index("This is for K") :]
        tells(told, k, *([10**9] if plan.n > 10**9 else []))
        worst = i % 3 == 1 and kind != "top"
        assert ("any population at all" in told) == worst
        assert ("only the noise is by chance" in told) == (users == "fixed")
        if kind == "rmse" and not worst:
            alike = rmse(k, 1.0, 1, users, np.eye(k)[0]) == pytest.approx(
                rmse(k, 1.0, 1, users, np.full(k, 1 / k))
            )
            assert ("every population alike" in told) == alike
        elif not worst:  # the others are about one category, or about all
            assert ("every population alike" in told) == (kind in ("share", "smallest"))
        few = sentences.whose_shares(plan)
        assert bool(few) == (not plan.problem and asked.find == "n" and users == "fixed" and plan.n < 1000)
        if few:
            tells(few, plan.n)
            assert ("1 user." in few) == (plan.n == 1)
    assert "those of 1 user." in sentences.whose_shares(
        Asked("rmse", 2, 20.0, 5, "n", "fixed", False, 100.0, 20.0, 95.0).plan
    )


@recomputes(solve.tie_reason)
def test_the_first_two_equal_categories_of_a_ranking_are_named(many):
    rng = np.random.default_rng(6)
    for _ in range(many):
        counts = np.sort(rng.integers(1, 12, rng.integers(2, 9)))[::-1]
        top = int(rng.integers(1, counts.size))
        text = solve.tie_reason(
            Target("top", top), Guess.of(counts.size, counts[rng.permutation(counts.size)])
        )
        equal = [i for i in range(top) if counts[i] == counts[i + 1]]
        assert bool(text) == bool(equal)
        if equal:
            tells(text, equal[0] + 1, equal[0] + 2)
