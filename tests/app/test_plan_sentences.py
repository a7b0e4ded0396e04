"""What the plan page says, over the corners of all ranges and many random settings, against its meaning worked out
another way: exact laws of the reports from `rr_core.law` and SciPy, errors of protocols from their definitions."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy import stats

from pages._ui.plan import sentences
from pages._ui.plan.results import make_plan
from pages._ui.plan.settings import PlanSettings
from rr_core import RandomizedResponse, zipf
from rr_core.figures.plan_curves import error_and_bounds
from rr_core.figures.plan_sentences import at_least
from rr_core.figures.style import reading
from rr_core.figures.wording import practically_equal
from rr_core.law import report_distribution
from rr_core.plan.shuffling import shuffled
from rr_core.plan.solve import required_n
from rr_core.plan.targets import Guess
from rr_core.sampling import whole_users
from tests.sentences import holds

CHANCE = np.random.default_rng(11)
KINDS = ("rmse", "max", "share", "smallest", "top")
# K, epsilon, N
CORNERS = list(itertools.product((2, 3, 1_500_000), (0.01, 1.0, 20.0), (1, 10**9)))
LOGS = zip(CHANCE.uniform(0, 5.8, 30), CHANCE.uniform(-2, 1.3, 30), CHANCE.uniform(0, 9, 30), strict=True)
RANDOM = [(int(2 * 10**k), round(float(10**epsilon), 4), int(10**n)) for k, epsilon, n in LOGS]


def planned(kind, k, epsilon, n, find="value", users="fixed", guess="sidebar", value=2.0, share=20.0):
    settings = PlanSettings(kind, 1 if kind == "top" else value, 95.0, find, guess, users, share)
    return make_plan(settings, k, epsilon, n, Guess.of(k, None if settings.worst_case else zipf(k, 1.5)))


def number(text, pattern):
    """The number that a sentence gives, or None."""
    found = re.search(pattern, text)
    return found and float(found[1].replace(",", "").replace("billion", "e9").replace(" ", ""))


def miss(kind, k, epsilon, n, value, users, share=0.2):
    """The chance to miss a target, by the exact laws of the reports, summed over the categories or pairs that could."""
    mechanism, shares = RandomizedResponse(k, epsilon), zipf(k, 1.5)
    if kind == "top":
        counts, levels = whole_users(shares, n), shares
        p, q = mechanism.p, mechanism.q
        mean = mechanism.keep * (levels[0] - levels[1:])
        if users == "fixed":
            people = counts / n
            mean = mechanism.keep * (people[0] - people[1:])
            own = p + q - mechanism.keep**2
            variance = (people[0] + people[1:]) * own + (1 - people[0] - people[1:]) * 2 * q
        else:
            variance = 2 * q + mechanism.keep * (levels[0] + levels[1:]) - mean**2
        return stats.norm.cdf((0.5 - n * mean) / np.sqrt(n * variance)).sum()
    if kind == "smallest":
        level, counts = 0.05 / k, itertools.count(int(n * mechanism.q))
        least = next(c for c in counts if stats.binom.sf(c - 1, n, mechanism.q) <= level)
        if users == "sampled":
            return stats.binom.cdf(least - 1, n, mechanism.q + mechanism.keep * value)
        first, law = report_distribution(math.ceil(value * n), n, mechanism)
        return law[: max(least - first, 0)].sum()
    people = [round(share * n)] if kind == "share" else whole_users(shares, n)
    total = 0.0
    for t, theta in zip(people, [share] if kind == "share" else shares, strict=True):
        # Of an average all that counts is the variance.
        room = n * mechanism.keep * value
        if users == "sampled":
            seen = mechanism.q + mechanism.keep * theta
            up, down = math.floor(n * seen + room), math.ceil(n * seen - room)
            total += stats.binom.sf(up, n, seen) + stats.binom.cdf(down - 1, n, seen)
            continue
        first, law = report_distribution(int(t), n, mechanism)
        off = np.abs(first + np.arange(law.size) - n * mechanism.q - mechanism.keep * t)
        total += law[off > room * (1 + 1e-9)].sum()
    return total / 2 if (kind, k) == ("max", 2) else total


CHECKED = [
    (2, 5.0, "fixed"),
    (2, 0.5, "sampled"),
    (5, 2.0, "fixed"),
    (25, 0.5, "fixed"),
    (25, 5.0, "sampled"),
]


@holds(
    "with probability {} the estimate of a category that {} of users have is at most {} of users off",
    "{} with probability **at least {}**",
    "with probability {} no category's estimate is more than {} of users off",
)
@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon", "users"), CHECKED)
@pytest.mark.parametrize("kind", ["max", "share", "smallest", "top"])
def test_the_users_that_are_enough_are_and_hardly_fewer_would_do(kind, k, epsilon, users):
    value = 0.05
    said = sentences.answer(planned(kind, k, epsilon, 1000, "n", users, value=100 * value))
    n = int(number(said, r"\*\*([\d,]+) users are enough"))
    # Whole people have the shares to within one, and the normal law of a difference is not exact.
    slack = 1.1 if kind == "top" else 1.03  # the normal law of a difference is not exact
    assert miss(kind, k, epsilon, n, value, users) <= 0.05 * slack
    if n > 200:
        fewer = 0.75 if kind == "smallest" else 0.85  # the threshold jumps by whole reports
        assert miss(kind, k, epsilon, int(fewer * n), value, users) > 0.05


@holds(
    "with probability {} the estimate of a category that {} of users have is at most **{} of users** off",
    "with probability {} no category's estimate is more than **{} of users** off",
)
@pytest.mark.parametrize(("k", "epsilon", "users"), CHECKED)
@pytest.mark.parametrize("kind", ["max", "share"])
def test_what_is_reachable_is_and_hardly_less_would_be(kind, k, epsilon, users):
    said = sentences.answer(planned(kind, k, epsilon, 3000, users=users))
    value = number(said, r"\*\*([\d.,]+)% of users\*\*") / 100
    assert miss(kind, k, epsilon, 3000, value, users) <= 0.05 * 1.02
    assert miss(kind, k, epsilon, 3000, 0.93 * value - 1 / 3000, users) > 0.05


def every(places=(*CORNERS, *RANDOM)):
    """(kind, K, epsilon, N, the rest of a question), in turn."""
    finds, guesses = itertools.cycle(("n", "eps", "value")), itertools.cycle(("sidebar", "worst"))
    whose = itertools.cycle("fs")
    for i, (k, epsilon, n) in enumerate(places):
        users = "fixed" if next(whose) == "f" else "sampled"
        if i % 4 == 3:
            next(whose)  # so that no two of them go together for ever
        yield KINDS[i % 5], k, epsilon, n, {"find": next(finds), "guess": next(guesses), "users": users}


@holds(
    "**nothing can be promised** about the ranking",
    "{} with probability **at least {}**",
    "the estimate of a category is typically **{} of users** off (RMSE)",
    "probability at least {}",
)
@pytest.mark.slow
@pytest.mark.parametrize("turn", range(2))
def test_every_answer_is_one_of_its_kinds_with_numbers_that_can_be_read(turn):
    places = [*CORNERS, *RANDOM][turn:] + [*CORNERS, *RANDOM][:turn]
    for kind, k, epsilon, n, rest in every(places):
        found = planned(kind, k, epsilon, n, **rest)
        said, meant = sentences.answer(found), sentences.meaning(found)
        assert not re.search(r"\bnan\b|\binf\b|None|  ", said + meant)
        assert ("**No answer.**" in said) == bool(found.problem)
        if found.problem:
            continue
        if rest["find"] == "n":
            shown = number(said, r"\*\*([\d.,]+(?: billion)?|10¹²) users? (?:is|are) enough")
            assert shown is None or shown >= found.n > 0.99 * shown - 1
        if rest["find"] == "eps":
            assert number(said, r"\*\*ε = ([\d.]+) is enough") == found.epsilon
        assert re.search(rf"(?<![\d,]){n:,} user", said) or rest["find"] == "n"
        if rest["find"] == "value" and kind in ("max", "share", "rmse"):
            shown = number(said, r"\*\*([\d.,]+)% of users")
            assert shown is None or found.value <= shown / 100 * (1 + 1e-9) <= found.value * 1.011
        promised = re.search(r"at least ([\d.]+)%", said)
        if promised:
            assert float(promised[1]) / 100 <= found.value
        worst = rest["guess"] == "worst" and kind != "top"
        assert ("any population at all" in meant) == worst
        assert ("only the noise is by chance" in meant) == (rest["users"] == "fixed")


def hadamard_error(k, power):
    """The same of Hadamard response, from the second moments of +1 in the set and -1 in the rest of the block."""
    most = 1
    while 2 * most < min(power, 2 * k):
        most *= 2
    size = 2
    while size - 1 < k / most:
        size *= 2
    count = math.ceil(k / (size - 1))
    total = size / 2 * (power - 1) + count * size
    own, elsewhere = size / 2 * (power + 1) / total, size / total
    pairs = sum(
        len(range(j, k, count)) ** 2 for j in range(count)
    )  # of a user's category and another, in one block
    second = (pairs * own + (k * k - pairs) * elsewhere) / k**2
    return second / (size / 2 * (power - 1) / total) ** 2 - 1 / k


def errors_of_protocols(k, epsilon):
    """N times the mean squared error per category of fixed users, from p* and q* of each definition."""
    power = math.exp(epsilon)
    half = math.exp(epsilon / 2)
    chances = {"sue": (half / (half + 1), 1 / (half + 1)), "oue": (0.5, 1 / (power + 1))}
    for d in range(1, min(k, 400)):
        p = d * power / (d * power + k - d)
        chances["rr" if d == 1 else f"subset {d}"] = p, (p * (d - 1) + (1 - p) * d) / (k - 1)
    for g in range(2, min(int(power) + 4, 3000)):
        chances[f"olh {g}"] = power / (power + g - 1), 1 / g
    made = {"hr": hadamard_error(k, power)}
    for name, (p, q) in chances.items():
        made[name] = (p * (1 - p) / k + (1 - 1 / k) * q * (1 - q)) / (p - q) ** 2
    return made


def test_the_verdict_on_protocols_is_that_of_their_definitions():
    for k, epsilon, n in [(k, e, n) for k, e, n in (*CORNERS, *RANDOM) if k <= 300 and e <= 8]:
        errors = errors_of_protocols(k, epsilon)
        row = sentences.compared_protocols(planned("rmse", k, epsilon, n))[-1]
        assert row.variance == pytest.approx(errors["hr"] / planned("rmse", k, epsilon, n).n, rel=1e-9)
        best = min(errors, key=errors.__getitem__)
        ratio = errors["rr"] / errors[best]
        said = sentences.protocol_sentence(planned("rmse", k, epsilon, n))
        if ratio < 1 + 1e-9:
            assert "none of the six protocols below has a smaller error than k-RR" in said
        else:
            assert best.startswith("subset")
            assert "**subset selection has the smallest error of the six below**" in said
            shown = number(said, r"needs \*\*([\d.,]+) times")
            assert (
                "less than 0.1% more users" in said
                if shown is None
                else shown == pytest.approx(ratio, rel=1e-3)
            )
        # The borders: true on them and false beyond.
        most, least = number(said, r"up to K = ([\d,]+)"), number(said, r"it is so from ε = ([\d.]+) on")
        edge = 2 * math.expm1(2 * epsilon)
        assert most * (most - 3) <= edge * (1 + 1e-9) + 1e-9
        assert (most + 1) * (most - 2) > edge * (1 - 1e-9)
        assert (least is None) == (k <= 3)
        assert least is None or 2 * math.expm1(2 * least) >= k * (k - 3) > 2 * math.expm1(2 * 0.98 * least)


@holds(
    "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, may be nearer to the truth than any unbiased estimate.",  # noqa: E501
    "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares.",
    "Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased estimate can have at equal shares.",  # noqa: E501
)
def test_how_far_from_the_best_is_the_least_over_all_sizes():
    for k, epsilon, n in [(k, e, n) for k, e, n in (*CORNERS, *RANDOM) if k <= 300]:
        for users in ("fixed", "sampled"):
            curves = sentences.bound_curves(planned("rmse", k, epsilon, n, users=users))
            said = sentences.bounds_sentence(curves)
            power, luck = math.exp(epsilon), (1 - 1 / k) * (users == "sampled")
            errors = []
            for d in range(1, k):
                p = d * power / (d * power + k - d)
                q = (p * (d - 1) + (1 - p) * d) / (k - 1)
                keep = d * (k - d) / (k - 1) * math.expm1(epsilon) / (d * power + k - d)
                errors.append(
                    k * (p * ((k - d) / (d * power + k - d)) / k + (1 - 1 / k) * q * (1 - q)) / keep**2
                )
            least, mine = min(errors) + luck, errors[0] + luck
            if least / n > 1 - 1 / k:
                assert "the bound at equal shares is not drawn here" in said
            elif mine / least < 1 + 1e-9:
                assert "Nothing is better here" in said
            elif practically_equal(mine / least):
                assert "hardly more than" in said
            else:
                assert number(said, r"has \*\*([\d.,]+) times") == pytest.approx(mine / least, rel=6e-3)


@holds(
    "The bound used here says nothing yet for so few users.",
)
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_what_shuffling_adds_is_the_theorem(delta):
    for k, epsilon, n in (*CORNERS, *RANDOM):
        found = planned("rmse", min(k, 50), epsilon, n)
        said = sentences.shuffling_sentence(found, shuffled(epsilon, n, delta))
        holds = epsilon <= math.log(n / (16 * math.log(2 / delta)))
        assert ("**holds**" in said) == holds
        clones = math.exp(epsilon) / n
        bound = math.log1p(
            math.tanh(epsilon / 2) * (8 * math.sqrt(clones * math.log(4 / delta)) + 8 * clones)
        )
        shown = number(said, r"at most ([\d.]+)\*\*")
        assert (shown is not None) == (holds and bound < epsilon) or "10⁻" in said
        assert shown is None or bound <= shown * (1 + 1e-9) <= bound * 1.011


def test_the_price_of_privacy_is_the_ratio_of_variances():
    for k, epsilon, n in (*CORNERS, *RANDOM):
        found = planned("rmse", min(k, 5000), epsilon, n)
        if found.price is None:
            continue
        k = found.k
        budgets = found.price.epsilons
        variance = [(math.exp(e) + k - 2 + (1 - 2 / k) * math.expm1(e)) / math.expm1(e) ** 2 for e in budgets]
        for row, now, times in zip(sentences.price_rows(found), variance, found.price.times, strict=True):
            if math.isfinite(times) and found.price.users[0] > 1000:
                assert times == pytest.approx(now / variance[0], rel=2e-3)
                assert (
                    row[0] == "the plan"
                    or number(row[3], r"([\d.,]+) times") is None
                    or (number(row[3], r"([\d.,]+) times") == pytest.approx(times, rel=6e-3))
                )
        said = sentences.price_sentence(found)
        assert ("out of reach" in said) == (
            found.price.bits.size > 1 and not math.isfinite(found.price.times[_step(found.price.bits)])
        )


def _step(bits):
    """The row that the sentence is about: one bit less, or what comes first."""
    whole = np.flatnonzero(bits == 1)
    return int(whole[0]) if whole.size else 1


@pytest.mark.slow
def test_what_fixed_users_have_is_whole_people():
    """A share that no number of them has is no answer, and every number with the share that is told is told."""
    for n, k, epsilon in ((3, 2, 9.0), (10, 5, 6.0), (37, 2, 9.0), (80, 12, 3.0), (300, 3, 1.0)):
        shown = (
            number(
                sentences.answer(planned("smallest", k, epsilon, n)), r"\*\*([\d.]+)% of users\*\* or more"
            )
            / 100
        )
        assert shown >= 1 / n
        assert miss("smallest", k, epsilon, n, shown, "fixed") <= 0.05
    for kind in ("share", "smallest"):
        for find in ("eps", "value") if kind == "share" else ("eps",):
            said = sentences.answer(planned(kind, 3, 9.0, 30, find, value=2.0, share=2.0))
            assert (
                said == "**No answer.** 2% of 30 users is less than one person: no category has this share."
            )
            assert "No answer" not in sentences.answer(
                planned("share", 3, 9.0, 30, find, "sampled", share=2.0, value=9.0)
            )
    assert planned("smallest", 3, 19.0, 30, "n", value=2.0).n == 50
    assert planned("share", 3, 19.0, 30, "n", value=50.0, share=2.0).n == 50


def test_few_users_are_enough_for_their_own_shares_only():
    few, population = (
        planned("rmse", 12, 10.0, 10**9, "n", users, value=0.5) for users in ("fixed", "sampled")
    )
    assert few.n < 10 < 1000 < population.n
    assert f"those of {few.n} users." in sentences.whose_shares(few)
    assert not sentences.whose_shares(population)
    assert not sentences.whose_shares(planned("rmse", 12, 1.0, 10**9, "n", value=0.5))


def test_an_epsilon_is_said_with_the_digits_that_matter():
    """At 1.09861, which is below ln 3, one user more would be needed."""
    said = sentences.answer(planned("rmse", 12, math.log(3), 1000, "n", value=0.1))
    users, epsilon = number(said, r"\*\*([\d,]+) users"), number(said, r"ε = ([\d.]+),")
    for shown, enough in ((epsilon, True), (1.09861, False)):
        odds = math.expm1(shown)
        assert (((odds + 11) / odds**2 + 10 / 12 / odds) / 1e-6 <= users + 0.01) == enough


def test_the_luck_of_a_sample_is_compared_at_equal_shares_and_says_so():
    for users, equal in (("fixed", False), ("sampled", True)):
        found = planned("rmse", 40, 2.0, 1000, users=users)
        said = sentences.protocol_sentence(found)
        assert ("when all shares are equal" in said) == equal
        uniform = make_plan(
            PlanSettings("rmse", users=users, find="value"), 40, 2.0, 1000, Guess.of(40, np.ones(40))
        )
        assert sentences.compared_protocols(found)[0].rmse == pytest.approx(uniform.value, rel=1e-12)


def test_hardly_more_users_are_not_the_same():
    near = 0.5 * math.log1p(40 * 37 / 2) - 1e-5  # where one category per report is as good as two
    rows = [
        sentences.protocol_cells(row)[2]
        for row in sentences.compared_protocols(planned("rmse", 40, near, 1000))
    ]
    assert rows[:2] == ["hardly more", "best"]
    assert (
        sentences.protocol_cells(sentences.compared_protocols(planned("rmse", 40, near + 0.1, 1000))[1])[2]
        == "the same"
    )


def test_where_equal_shares_bound_nothing_another_bound_may_still_be_drawn():
    """At K = 1,000, epsilon = 1 and N = 1,000 Theorem 4.5 is 0.339, below what a constant answer can have."""
    curves = sentences.bound_curves(planned("rmse", 1000, 1.0, 1000, users="sampled"))
    assert 1000 / 1000 / math.expm1(1.0) ** 2 < 1 - 1 / 1000 < curves.now
    for said in (sentences.bounds_sentence(curves), reading(error_and_bounds(curves))):
        assert not re.search("no bound says anything|bounds say nothing", said)
    # Among the lines that end is one whose assumption holds at every epsilon.
    assert "that of a lower bound where it is above 1 − 1/K" in sentences.bounds_table(curves)


def test_the_condition_of_shuffling_is_not_rounded():
    """Just below 16 ln(2/delta) e^20, where both would be 113 billion."""
    needed = math.ceil(16 * math.log(2e6) * math.exp(20))
    for n, met in ((needed - 3 * 10**8, False), (needed, True)):
        found = planned("rmse", 2, 20.0, n)
        said = sentences.shuffling_sentence(found, shuffled(20.0, n, 1e-6))
        assert f"= {needed:,}; with N = {n:,} it **{'holds' if met else 'does not hold'}**" in said


def test_near_the_smallest_epsilon_its_half_is_out_of_range():
    for epsilon, small in ((0.0199, True), (0.0201, False)):
        said = sentences.price_sentence(planned("rmse", 5, epsilon, 10**8))
        assert said.startswith("Half of this ε is less than 0.01") == small
        assert said.startswith("**Half the budget**") != small


def test_a_promised_probability_is_not_rounded_up_and_one_is_one():
    for sure, shown in ((95.126, "95.12%"), (99.99, "99.99%")):
        found = make_plan(PlanSettings("max", 5.0, sure), 5, 2.0, 1000, Guess.of(5, None))
        assert f"with probability {shown} no" in sentences.answer(found)
    assert (at_least(1 - 3e-13), at_least(1.0), at_least(0.95)) == ("99.99%", "100%", "95%")
    assert "**1 user is enough**" in sentences.answer(planned("rmse", 2, 20.0, 1, "n", value=100.0))
    # One of 101 is 0.990%, which 0.99% is less than.
    for n, share, whom in ((101, 0.99, "101 users"), (1, 20.0, "1 user")):
        said = sentences.answer(planned("share", 3, 9.0, n, "eps", share=share))
        assert said.startswith(f"**No answer.** {share:g}% of {whom} is less than one person")


def test_users_that_are_enough_by_being_whole_people_are_what_the_plan_needs():
    """51 and 49 of 100 are two apart; of 101 the same shares are no whole people, so more users may keep less."""
    settings, guess = PlanSettings("top", 1, 85.0, "value"), Guess.of(2, np.array([51.0, 49.0]))
    exact, more = (make_plan(settings, 2, 6.0, n, guess) for n in (100, 101))
    assert exact.value > 0.85 > more.value
    assert required_n(exact.target, 2, 6.0, guess) > 100
    assert exact.price.users[exact.price.bits == 0] == 100


@pytest.mark.parametrize(
    ("k", "epsilon", "blocks"), [(10, 0.01, 1), (10, 1.0, 2), (1_500_000, 20.0, 1_500_000)]
)
def test_hadamard_response_is_named_and_its_reports_counted(k, epsilon, blocks):
    found = planned("rmse", k, epsilon, 1000)
    row = sentences.compared_protocols(found)[-1]
    assert sentences.protocol_cells(row)[0] == "HR: Hadamard response"
    notes = sentences.protocol_notes(found)
    numbers = number(notes, r"one of ([\d,]+) numbers here")
    assert numbers == row.blocks.number * row.blocks.size
    assert row.bits == math.ceil(math.log2(numbers))
    assert row.blocks.number == blocks
    # Where every block has one category, or all, nothing is averaged.
    assert ("averaged" in notes) == (blocks == 2)
