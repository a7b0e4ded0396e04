"""What is said of a plan, at all ends and many random settings, against its numbers, and rounded to the side on which it
stays true. `tests.core.test_plan_*` have these numbers another way, in exact arithmetic where there is one."""

from __future__ import annotations

import itertools
import math
import re
from functools import cache

import numpy as np
import pytest

from rr_core import zipf
from rr_core.figures import plan_curves
from rr_core.figures import protocols as side_by_side
from rr_core.figures.plan_curves import error_and_bounds
from rr_core.figures.style import reading
from rr_core.plan import bounds, shuffling
from rr_core.plan.landscape import Plan, make_plan
from rr_core.plan.protocol_choice import single_epsilon, single_k
from rr_core.plan.settings import PlanSettings
from rr_core.plan.shuffling import shuffled
from rr_core.plan.solve import required_n
from rr_core.plan.targets import KINDS, Guess, Target
from rr_core.protocols import laws
from rr_core.words import plan as sentences
from rr_core.words.plan import (
    KIND_TEXTS,
    PROTOCOL_WORDS,
    at_least,
    at_most,
    bound_text,
    number_of_users,
    promise_text,
    protocol_in_a_sentence,
)
from tests.app.test_plan_answers import chances, unnoticed
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Up, tells


def test_every_kind_of_target_has_its_words():
    assert KIND_TEXTS.keys() == KINDS.keys()
    for key, kind in KINDS.items():
        assert KIND_TEXTS[key].meaning.endswith(".")
        assert bool(KIND_TEXTS[key].promised) == kind.has_confidence


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_every_bound_and_every_protocol_has_its_words(users):
    for bound in bounds.table(2, 1.0, 1e6, users):
        assert all(bound_text(bound.key, users))
    assert PROTOCOL_WORDS.keys() == set(laws.KEYS)


@pytest.mark.parametrize(
    ("words", "number", "shown"),
    [
        (at_least, 1.0, "99.99%"),
        (at_least, 0.93216, "93.21%"),
        (at_most, 0.02004, "2.01%"),
        (at_most, 0.02, "2%"),
        (at_most, 0.0, "0%"),
        (number_of_users, 999_999_999, "999,999,999"),
        (number_of_users, 1_000_000_001, "1.01 billion"),
    ],
)
def test_chances_are_rounded_down_errors_and_users_up(words, number, shown):
    assert words(number) == shown


def test_a_target_is_named_as_it_is_typed():
    assert "at most 2.004% of users" in promise_text(Target("rmse", 0.02004))
    assert "more than 0.123457% of" in promise_text(Target("max", 0.001234567))


# K, epsilon, N
CORNERS = list(itertools.product((2, 3, 1_500_000), (0.01, 1.0, 20.0), (1, 10**9)))


def places(many, most_k=1_500_000):
    """(K, epsilon, N): all ends, and random ones spread evenly over their logarithms."""
    rng = np.random.default_rng(11)
    yield from ((min(k, most_k), epsilon, n) for k, epsilon, n in CORNERS)
    for _ in range(many):
        k = int(np.exp(rng.uniform(np.log(2), np.log(most_k + 0.99))))
        yield k, round(float(np.exp(rng.uniform(np.log(0.01), np.log(20)))), 4), int(10 ** rng.uniform(0, 9))


@cache
def guess_of(k, worst):
    return Guess.of(k, None if worst else zipf(k, 1.5))


def planned(kind, k, epsilon, n, find="value", users="fixed", guess="sidebar", value=2.0, share=20.0):
    settings = PlanSettings(kind, 1 if kind == "top" else value, 95.0, find, guess, users, share)
    return make_plan(settings, k, epsilon, n, guess_of(k, settings.worst_case))


def plain_plan(k, epsilon, n, users="fixed"):
    """A plan as far as protocols, bounds and shuffling look at it."""
    return Plan(PlanSettings("rmse", find="value", users=users), k, epsilon, n, None, math.inf, "", None)


def number(text, pattern):
    """The number that a sentence gives, or None."""
    found = re.search(pattern, text)
    return found and float(found[1].replace(",", "").replace("billion", "e9").replace(" ", ""))


@recomputes(sentences.protocol_sentence, sentences.protocol_notes, sentences._hadamard_note)
def test_the_verdict_on_protocols_is_that_of_their_errors(many):
    assert len(PROTOCOL_WORDS) == 6  # as the sentences say
    for i, (k, epsilon, n) in enumerate(places(many)):
        users = ("fixed", "sampled")[i % 2]
        found = plain_plan(k, epsilon, n, users)
        rows = {row.key: row for row in sentences.compared_protocols(found)}
        (best,) = (row.key for row in rows.values() if row.best)
        said, times = sentences.protocol_sentence(found), []
        assert said.startswith("Here, when all shares are equal, " if users == "sampled" else "Here ")
        assert ("none of the six protocols below has a smaller error than k-RR" in said) == (best == "rr")
        if best != "rr":
            ratio = rows["rr"].users_relative
            assert f"**{protocol_in_a_sentence(best)} has the smallest error of the six below**" in said
            times = [0.1 / 100] if ratio < 1.0005 else [ratio]
            assert ("less than 0.1% more users" in said) == (ratio < 1.0005)
        most, least = math.floor(single_k(epsilon)), single_epsilon(k)
        tells(said, *times, epsilon, most, k, *([Up(least)] if least > 0 else []))
        subset, blocks = rows["subset"].law.subset_size, rows["hr"].law.blocks
        dealt = [] if blocks.number in (1, k) else [blocks.number]
        notes = sentences.protocol_notes(found)
        of_hadamard = blocks.number * blocks.size
        tells(notes.replace("with 1 category", "with 1"), epsilon, n, subset, of_hadamard, *dealt)
        assert ("that is k-RR" in notes) == (subset == 1)
        assert ("when all shares are equal" in notes) == (users == "sampled")
        assert ("averaged over all ways" in notes) == bool(dealt)


@holds(
    "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, may be nearer to the truth than any unbiased estimate.",  # noqa: E501
    "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares.",
    "At equal shares Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased estimate can have.",  # noqa: E501
)
@recomputes(sentences.bounds_sentence, plan_curves._bounds_reading)
def test_how_far_from_the_best_is_the_ratio_to_the_bound(many):
    seen = set()
    near = 40, round(math.log1p(740) / 2 - 0.003, 4), 10**6  # the smallest sets have one category
    for i, (k, epsilon, n) in enumerate([near, *places(many)]):
        curves = bounds.against_epsilon([epsilon], k, epsilon, n, ("fixed", "sampled")[i % 2])
        said, read = sentences.bounds_sentence(curves), plan_curves._bounds_reading(curves)
        ratio = curves.now / curves.floor
        if math.isnan(curves.floor):
            kind = "not drawn here", "a constant answer may be nearer"
        elif ratio <= 1 + 1e-9:
            kind = "Nothing is better here", "no protocol with an unbiased estimate can have less"
        elif ratio < 1.005:
            kind = "hardly more than", "hardly more than the least"
        else:
            kind = " times** the smallest squared error", " times the least"
            tells(said, ratio, ratio)
        assert kind[0] in said, (k, epsilon, n, said)
        # The error of sampled users depends on the shares: these numbers are of equal ones.
        assert "equal shares" in said
        assert read.startswith("With all shares equal, ")
        assert kind[1] in read, (k, epsilon, n, read)
        tells(read, epsilon, curves.now, *([ratio] if "times the least" in kind[1] else []))
        seen.add(kind[0])
    assert len(seen) == 4


@holds("The bound used here says nothing yet for so few users.")
@recomputes(sentences.shuffling_sentence, plan_curves._shuffling_reading)
def test_what_shuffling_adds_is_the_theorem(many):
    edge = [(50, 0.01, n) for n in (200, 240, 300, 700)]  # it applies, but is no better than the local one
    for i, (k, epsilon, n) in enumerate([*edge, *places(many)]):
        delta = (1e-5, 1e-6, 1e-9)[i % 3]
        said = sentences.shuffling_sentence(plain_plan(k, epsilon, n), shuffled(epsilon, n, delta))
        read = plan_curves._shuffling_reading(shuffling.against_users([n], epsilon, n, delta))
        now = shuffled(epsilon, n, delta)
        assert ("**holds**" in said) == now.holds == ("does not apply" not in read)
        condition = said[said.index("Condition") :].replace("16 ln(2/δ)", "")
        tells(condition, now.users_needed, n, *([] if now.holds else [epsilon]))
        if not now.holds:
            tells(read, n, epsilon, now.users_needed)
            continue
        tells(read, n, Up(now.epsilon), delta, epsilon)
        assert ("does not come below" in said) == (now.epsilon >= epsilon)
        before = said[: said.index("Condition")].replace("(Feldman, McMillan and Talwar 2021)", "")
        tells(before, *([epsilon] if now.epsilon >= epsilon else [Up(now.epsilon), delta, epsilon]))


@recomputes(sentences.price_sentence)
def test_the_price_of_privacy_is_told_as_it_was_worked_out(many):
    some = [(2, 0.0199, 10**8), (2, 0.02, 10**8), (3, 0.7, 10**9), *places(many // 4, 5000)]
    for i, (k, epsilon, n) in enumerate(some):
        value = float(f"{10.0 ** -(i % 6):.3g}") if i % 7 else 1e-7 * 100
        found = planned(
            "rmse", k, epsilon, n, ("value", "n")[i % 3 > 0], ("fixed", "sampled")[i % 2], value=value
        )
        said, price = sentences.price_sentence(found), found.price
        if price is None:
            assert bool(found.problem) or found.value > 1
            assert said.startswith("No goal that can be asked for is reached here")
            continue
        for row, lower, times in list(
            zip(sentences.price_rows(found), price.epsilons, price.times, strict=True)
        )[1:]:
            tells(row[1], Up(lower))
            if math.isinf(times):
                assert row[2:] == ("more than 10¹²", "–")
            elif times >= 1.005:
                tells(row[3], float(times))
            else:
                assert row[3] == ("the same" if times == 1 else "hardly more")
        if epsilon < 0.02 - 1e-12:
            assert said == "Half of this ε is less than 0.01, the smallest that a plan can have."
            continue
        at = list(price.bits).index(1) if 1 in price.bits else 1
        ratio, step = price.times[at], [] if "Halving ε" in said else [2, 2]
        assert ("more than 10¹² users" in said) == math.isinf(ratio)
        assert ("hardly more users" in said) == (1 < ratio < 1.005)
        assert ("no more users" in said) == (ratio == 1)
        more = [] if ratio < 1.005 else [None] if "10¹²" in said else [float(ratio)]
        tells(said, *step, Up(price.epsilons[at]), *more)


def test_the_rows_of_the_price_are_compared_to_the_first_whatever_the_plan_has():
    """A billion users are far more than 99.99% needs, the most that can be asked for; of two steps alike there is one."""
    found = planned("top", 12, 4.0, 10**9)
    first, second = sentences.price_rows(found)[:2]
    assert first[0] == "ε of the plan"
    assert number(first[2], r"(.+)") < 10_000 < found.n
    ratio = number(second[2], r"(.+)") / number(first[2], r"(.+)")
    assert second[3] == f"{ratio:.3g} times"
    assert "| Compared to the first row |" in sentences.price_table(found)
    # 2 ln 2 with the digits of a link: half of it is one bit less, but for 10^-10.
    rows = sentences.price_rows(planned("rmse", 5, 1.386294361, 10**8))
    assert [row[0] for row in rows] == ["ε of the plan", "half of ε"]
    assert rows[0][1] == "1.386294361"


@pytest.mark.slow
def test_what_fixed_users_have_is_whole_people():
    """A share that no number of them has is no answer, and every number with the share that is told is told."""
    for n, k, epsilon in ((3, 2, 9.0), (80, 12, 3.0)):
        answer = sentences.answer(planned("smallest", k, epsilon, n))
        shown = number(answer, r"\*\*([\d.]+)% of users\*\* or more") / 100
        assert shown >= 1 / n
        assert unnoticed(k, *chances(k, epsilon)[:2], n, shown, "fixed") <= 0.05
    assert planned("smallest", 3, 19.0, 30, "n", value=2.0).n == 50
    assert planned("share", 3, 19.0, 30, "n", value=50.0, share=2.0).n == 50


def test_an_epsilon_is_said_with_the_digits_that_matter():
    """At 1.09861, which is below ln 3, one user more would be needed."""
    said = sentences.answer(planned("rmse", 12, math.log(3), 1000, "n", value=0.1))
    users, epsilon = number(said, r"\*\*([\d,]+) users"), number(said, r"ε = ([\d.]+),")
    for shown, enough in ((epsilon, True), (1.09861, False)):
        odds = math.expm1(shown)
        assert (((odds + 11) / odds**2 + 10 / 12 / odds) / 1e-6 <= users + 0.01) == enough


def test_what_is_as_small_is_the_same_beside_the_plan_and_side_by_side():
    seen, near = set(), 0.5 * math.log1p(40 * 37 / 2) - 1e-5  # one category per report is as good as two
    for k, epsilon in ((3000, 1.0), (40_000, 3.0), (2, 1.0), (40, near), (40, near + 0.1)):
        rows = sentences.compared_protocols(planned("rmse", k, epsilon, 1000))
        users = {PROTOCOL_WORDS[row.key].name: sentences.protocol_cells(row)[2] for row in rows}
        lines = side_by_side.report_table(k, epsilon, 1000, None).splitlines()[2:]
        told = {line.split(" | ")[0].lstrip("| "): line.rstrip(" |").split(" | ")[-1] for line in lines}
        assert told == users
        read = reading(side_by_side.side_by_side(k, epsilon, 1000, {}, None)).partition(
            "smallest expected error"
        )
        best = [row.key for row in rows if users[PROTOCOL_WORDS[row.key].name] in ("best", "the same")]
        least = set(map(protocol_in_a_sentence, best))
        assert {
            protocol_in_a_sentence(row.key) for row in rows if protocol_in_a_sentence(row.key) in read[0]
        } == least
        hardly_more = users[PROTOCOL_WORDS["rr"].name] == "hardly more"
        assert ("k-RR needs hardly more users for the same." in read[2]) == hardly_more
        seen |= set(users.values())
    assert seen >= {"best", "the same", "hardly more"}


def test_where_equal_shares_bound_nothing_another_bound_may_still_be_drawn():
    """At K = 1,000, epsilon = 1 and N = 1,000 Theorem 4.5 is 0.339, below what a constant answer can have."""
    curves = sentences.bound_curves(planned("rmse", 1000, 1.0, 1000, users="sampled"))
    assert 1000 / 1000 / math.expm1(1.0) ** 2 < 1 - 1 / 1000 < curves.now
    for said in (sentences.bounds_sentence(curves), reading(error_and_bounds(curves))):
        assert not re.search("no bound says anything|bounds say nothing", said)
    # Among the lines that end is one whose assumption holds at every epsilon.
    assert "that of a lower bound where it is above 1 − 1/K" in sentences.bounds_table(curves)


def test_users_that_are_enough_by_being_whole_people_are_what_the_plan_needs():
    """51 and 49 of 100 are two apart; of 101 the same shares are no whole people, so more users may keep less."""
    settings, guess = PlanSettings("top", 1, 85.0, "value"), Guess.of(2, np.array([51.0, 49.0]))
    exact, more = (make_plan(settings, 2, 6.0, n, guess) for n in (100, 101))
    assert exact.value > 0.85 > more.value
    assert required_n(exact.target, 2, 6.0, guess) > 100
    assert exact.price.users[exact.price.bits == 0] == 100
