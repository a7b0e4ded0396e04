"""The answer of a plan, read back: what it promises, by the exact laws of the reports, and that hardly less would do."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import product

import numpy as np
from scipy import stats

from rr_core import zipf
from rr_core.plan import solve
from rr_core.plan.landscape import make_plan
from rr_core.plan.settings import PlanSettings
from rr_core.plan.targets import Guess
from rr_core.sampling import whole_users
from rr_core.words import plan as sentences
from tests.core.laws import law_of_steps
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Down, Up, percents, tells

KINDS = ("rmse", "max", "share", "smallest", "top")
FINDS, WHOSE = ("n", "eps", "value"), ("fixed", "sampled")
MOST_USERS = 10**12


@cache
def guess(k, worst):
    return Guess.of(k, None if worst else zipf(k, 1.5))


class Asked:
    """A question to the plan, its answer, and what is promised: the place, and how often it is missed there."""

    def __init__(self, kind, k, epsilon, n, find, users, worst, value, share, sure):
        self.kind, self.k, self.epsilon, self.n, self.find, self.users = kind, k, epsilon, n, find, users
        self.worst, self.value, self.share = worst and kind != "top", value, share / 100
        self.goal = value if kind == "top" else value / 100
        settings = PlanSettings(kind, value, sure, find, "worst" if worst else "sidebar", users, share)
        self.sure = sure / 100
        self.plan = make_plan(settings, k, epsilon, n, guess(k, self.worst))

    def missed(self, epsilon, n, goal):
        """How often the goal is missed, over how often it may be; of an average its ratio to the goal."""
        p, q, _ = chances(self.k, epsilon)
        if self.kind == "rmse":
            shares = np.full(self.k, 1 / self.k) if self.worst else guess(self.k, False).shares
            return rmse(self.k, epsilon, n, self.users, shares) / goal
        if self.kind == "top":
            return overtaken(guess(self.k, False).shares, int(goal), p, q, n, self.users) / (1 - self.sure)
        if self.kind == "smallest":
            return unnoticed(self.k, p, q, n, goal, self.users) / (1 - self.sure)
        if self.kind == "share":
            return one_off(self.share, p, q, n, goal, self.users) / (1 - self.sure)
        populations = [guess(self.k, False).shares]
        if self.worst:  # those that it is to hold for, too
            populations += [np.full(self.k, 1 / self.k), np.eye(self.k)[0]]
        return max(all_off(one, p, q, n, goal, self.users) for one in populations) / (1 - self.sure)


def chances(k, epsilon):
    total = math.expm1(epsilon) + k
    return math.exp(epsilon) / total, 1 / total, math.expm1(epsilon) / total


def rmse(k, epsilon, n, users, shares):
    """From the variance of a report of each user, or of each one drawn."""
    p, q, keep = chances(k, epsilon)
    if users == "sampled":
        seen = q + keep * shares
        return math.sqrt((seen * (1 - seen)).mean() / n) / keep
    return math.sqrt((p * (1 - p) / k + (1 - 1 / k) * q * (1 - q)) / n) / keep


def off(holders, p, q, n, room):
    """The chance that a category's reports are further than this from what is expected of these holders."""
    values, chance = law_of_steps((holders, p, 0.0), (n - holders, q, 0.0))
    return chance[np.abs(values - holders * p - (n - holders) * q) > room * (1 + 1e-9)].sum()


def one_off(share, p, q, n, goal, users):
    room = n * (p - q) * goal
    if users == "sampled":
        return off(n, q + (p - q) * share, 0.0, n, room)
    near = {max(math.floor(share * n + 1e-9), 1), max(math.ceil(share * n - 1e-9), 1)} if share else {0}
    return max(off(holders, p, q, n, room) for holders in near)


def all_off(shares, p, q, n, goal, users):
    """Of all categories together at most; of two, the one is off as far as the other."""
    room = n * (p - q) * goal
    if users == "sampled":
        total = sum(off(n, q + (p - q) * share, 0.0, n, room) for share in shares)
    else:
        total = sum(off(holders, p, q, n, room) for holders in whole_users(shares, n))
    return total / 2 if len(shares) == 2 else total


def unnoticed(k, p, q, n, share, users):
    least = stats.binom.isf(0.05 / k, n, q) + 1
    if users == "sampled":
        return stats.binom.cdf(least - 1, n, min(q + (p - q) * share, 1.0))
    holders = math.ceil(share * n * (1 - 1e-9))
    values, chance = law_of_steps((holders, p, 0.0), (n - holders, q, 0.0))
    return chance[values < least].sum() if holders <= n else 1.0


def overtaken(shares, top, p, q, n, users):
    people, total = whole_users(shares, n), 0.0
    for i, j in [*((i, i + 1) for i in range(top - 1)), *((top - 1, j) for j in range(top, shares.size))]:
        if users == "sampled":
            steps = [(n, q + (p - q) * shares[i], q + (p - q) * shares[j])]
        else:
            steps = [(people[i], p, q), (people[j], q, p), (n - people[i] - people[j], q, q)]
        values, chance = law_of_steps(*steps)
        total += chance[values <= 0].sum()
    return total


def asked(many):
    """Ends, with the kinds that have a plain law for any K; and random ones with up to 20 categories, one for ten of
    ``many``, because an answer takes some 60 ms."""
    turn = 0
    for k, epsilon, n in product((2, 3), (0.01, 20.0), (1, 10**9)):
        for kind in ("rmse", "share", "smallest"):
            turn += 1
            yield Asked(kind, k, epsilon, n, FINDS[turn % 3], WHOSE[turn % 2], turn % 5 == 0, 5.0, 20.0, 95.0)
    yield Asked("rmse", 1_500_000, 0.01, 10**9, "value", "sampled", True, 5.0, 20.0, 95.0)
    yield Asked("smallest", 1_500_000, 20.0, 10**9, "n", "sampled", False, 5.0, 20.0, 95.0)
    yield Asked("rmse", 2, 20.0, 1, "n", "fixed", False, 100.0, 20.0, 95.0)
    yield Asked("rmse", 3, 0.01, 1000, "n", "fixed", False, 0.001, 20.0, 95.0)
    yield Asked("rmse", 3, 1.0, 1000, "eps", "sampled", False, 0.001, 20.0, 95.0)
    yield Asked("share", 3, 1.0, 10, "eps", "fixed", False, 5.0, 2.0, 95.0)
    yield Asked("top", 3, 0.01, 10, "value", "sampled", False, 1, 20.0, 95.0)
    yield Asked("top", 12, 1.8114, 27497, "value", "fixed", False, 2, 20.0, 95.0)  # all but certain
    # Whole people: a fraction of a person would be promised less, or more.
    yield Asked("max", 3, 0.5844, 1, "value", "fixed", False, 12.34, 20.0, 85.96)
    yield Asked("max", 5, 0.4244, 5, "eps", "fixed", False, 0.5679, 20.0, 76.04)
    rng = np.random.default_rng(12)
    for i in range(15 + many // 10):
        kind = KINDS[i % 5]
        k = int(np.exp(rng.uniform(np.log(3), np.log(20.9))))
        epsilon, n = (
            round(float(np.exp(rng.uniform(np.log(0.05), np.log(12)))), 4),
            int(10 ** rng.uniform(0, 6)),
        )
        value = float(rng.integers(1, 3)) if kind == "top" else float(f"{10 ** rng.uniform(-1, 1.7):.4g}")
        share, sure = float(f"{10 ** rng.uniform(-1, 2):.3g}"), float(f"{rng.uniform(50, 99.9):.4g}")
        users = WHOSE[rng.integers(2)]
        yield Asked(
            kind, k, epsilon, n, FINDS[rng.integers(3)], users, rng.random() < 0.3, value, share, sure
        )


def with_digits(text):
    """Numbers of users with all their digits: 8.96 billion, 10¹²; and numbers that are spelled out."""
    text = text.replace("**all users**", "**100% of users** or more")
    text = re.sub(r"([\d.]+) billion", lambda found: f"{float(found[1]) * 1e9:,.0f}", text)
    return re.sub(r"1·10¹²|10¹²", f"{MOST_USERS:,}", text)


@holds(
    "with probability {} the estimate of a category that {} of users have is at most {} of users off",
    "with probability {} no category's estimate is more than {} of users off",
    "with probability {} the estimate of a category that {} of users have is at most **{} of users** off",
    "with probability {} no category's estimate is more than **{} of users** off",
    "{} with probability **at least {}**",
    "the bounds used here promise **nothing** about the ranking",
    "the estimate of a category is typically **{} of users** off",
)
@recomputes(sentences.answer, solve.share_below_one_person, solve.required_n, solve.required_epsilon)
def test_what_is_promised_is_kept_and_hardly_less_would_do(many):
    tight = 0
    for one in asked(many):
        plan, said = one.plan, with_digits(sentences.answer(one.plan))
        assert not re.search(r"\bnan\b|\binf\b|None|  |\b1 users", said)
        if plan.problem:
            no_answer_is_right(one, said)
            continue
        sure, value, share = Down(one.sure), Up(one.goal), one.share
        users = plan.n if plan.n <= 1e9 else Up(plan.n)
        place = {"n": [users, plan.epsilon], "eps": [plan.epsilon, plan.n], "value": [plan.epsilon, plan.n]}[
            one.find
        ]
        hopeless = "promise **nothing**" in said
        reached = one.find == "value" and not hopeless and percents(said)[0 if one.kind == "smallest" else -1]
        if one.find == "value":
            value = reached
        promised = {
            "rmse": [value],
            "max": [sure, value],
            "share": [sure, share, value],
            "smallest": [value, sure],
            "top": [*([one.goal] if one.goal > 1 else []), reached if one.find == "value" else sure],
        }[one.kind]
        if hopeless:
            promised = [] if one.kind == "top" else [sure]
        tells(said.replace("largest categories", "largest"), *place, *promised)
        if one.k > 20 and one.kind in ("max", "top"):
            continue
        kept = 1 - 1e-6, 1 + 1e-6
        if one.find == "value" and one.kind == "top":
            right = 1 - one.missed(plan.epsilon, plan.n, one.goal) * (1 - one.sure)
            assert right >= reached * kept[0] if not hopeless else True, (said, right)
            continue
        if hopeless:
            assert one.missed(plan.epsilon, plan.n, 1.0) > 1, said
            continue
        goal = reached if one.find == "value" else one.goal
        ratio = one.missed(plan.epsilon, plan.n, goal)
        assert ratio <= kept[1], (said, one.k, one.users, one.worst, ratio)
        room = plan.n * chances(one.k, plan.epsilon)[2] * goal  # in reports, which are whole
        if one.find == "value" and not one.worst and (one.kind == "rmse" or room > 10):
            assert one.missed(plan.epsilon, plan.n, 0.8 * goal) > 1, said
            tight += 1
    assert tight > 3


def no_answer_is_right(one, said):
    if "less than one person" in said:
        share = one.share if one.kind == "share" else one.goal
        tells(said, share, one.n)
        assert one.users == "fixed"
        assert 0 < share * one.n < 1
    elif "trillion" in said:
        tells(said.replace(f" ({MOST_USERS:,})", ""), one.epsilon)
        if one.kind == "rmse":
            assert one.missed(one.epsilon, MOST_USERS, one.goal) > 1
    else:
        tells(said, one.n, 20)
        exact = one.kind == "rmse"
        assert ("not even" in said) == exact == ("bounds used" not in said)
        assert not exact or one.missed(20.0, one.n, one.goal) > 1, said
