"""What is said of a plan, at all ends and many random settings, against its meaning worked out another way: errors of
protocols from their definitions, users needed from variances; and rounded to the side on which it stays true."""

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
from tests.app.test_plan_answers import chances, rmse, unnoticed
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
    ("chance", "shown"), [(1.0, "99.99%"), (0.99999, "99.99%"), (0.93216, "93.21%"), (0.5, "50%")]
)
def test_chances_are_rounded_down(chance, shown):
    assert at_least(chance) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.02004, "2.01%"),
        (0.02, "2%"),
        (0.005, "0.5%"),
        (1.00001, "101%"),
        (0.0, "0%"),
        (9.991e-7, "0.0001%"),
    ],
)
def test_errors_are_rounded_up(share, shown):
    assert at_most(share) == shown


def test_users_are_not_rounded_down():
    assert number_of_users(999_999_999) == "999,999,999"
    assert number_of_users(1_000_000_001) == "1.01 billion"
    assert number_of_users(8_960_000_000) == "8.96 billion"


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


def hadamard(k, epsilon):
    """N times the mean squared error of Hadamard response, from the second moments of +1 in the set and -1 in the rest
    of the block; its blocks and their size."""
    most = 1
    while 2 * most < min(math.exp(epsilon), 2 * k):
        most *= 2
    size = 2
    while size - 1 < k / most:
        size *= 2
    count = math.ceil(k / (size - 1))
    total = size / 2 * math.expm1(epsilon) + count * size
    own, elsewhere = size / 2 * (math.exp(epsilon) + 1) / total, size / total
    less, more = divmod(k, count)[0], k % count
    pairs = (
        more * (less + 1) ** 2 + (count - more) * less**2
    )  # of a user's category and another, in one block
    second = (pairs * own + (k * k - pairs) * elsewhere) / k**2
    return second / (size / 2 * math.expm1(epsilon) / total) ** 2 - 1 / k, count, size


def subset_errors(k, epsilon, sizes):
    """N times the mean squared error per category of fixed users, of subsets of these sizes."""
    # With size 1 for many categories p - q is tiny: its own form keeps the digits.
    x = math.expm1(epsilon)
    total = sizes * x + k
    p, q = sizes * (x + 1) / total, sizes * ((sizes - 1) * x + k - 1) / (k - 1) / total
    keep = sizes * (k - sizes) / (k - 1) * x / total
    return (p * ((k - sizes) / total) / k + (1 - 1 / k) * q * (1 - q)) / keep**2


def pure_errors(epsilon, k):
    """The same of unary encoding and of the best local hashing."""
    half, power, x = math.exp(epsilon / 2), math.exp(epsilon), math.expm1(epsilon)
    made = {"sue": (half / (half + 1), 1 / (half + 1)), "oue": (0.5, 1 / (power + 1))}
    ranges = max(int(power) - 3, 2) + np.arange(8)
    hashed = [(power / (x + g), 1 / g) for g in ranges]
    errors = {
        name: (p * (1 - p) / k + (1 - 1 / k) * q * (1 - q)) / (p - q) ** 2 for name, (p, q) in made.items()
    }
    # The range is chosen for a category that nobody has.
    p, q = min(hashed, key=lambda one: one[1] * (1 - one[1]) / (one[0] - one[1]) ** 2)
    errors["olh"] = (p * (1 - p) / k + (1 - 1 / k) * q * (1 - q)) / (p - q) ** 2
    return errors


def errors_of_protocols(k, epsilon, users="fixed"):
    """Of all six by their keys, in `protocols.KEYS`' meaning; and the best sizes of subsets."""
    near = k / (math.exp(epsilon) + 1)
    sizes = np.unique(np.clip([*range(1, 50), *(int(near) + np.arange(-30, 30))], 1, k - 1)).astype(float)
    found = subset_errors(k, epsilon, sizes)
    errors = {"rr": float(subset_errors(k, epsilon, np.array([1.0]))[0]), "subset": float(found.min())}
    errors |= pure_errors(epsilon, k) | {"hr": hadamard(k, epsilon)[0]}
    luck = (1 - 1 / k) / k if users == "sampled" else 0.0
    return {key: error + luck for key, error in errors.items()}, set(sizes[found <= found.min() * (1 + 1e-9)])


@recomputes(sentences.protocol_sentence, sentences.protocol_notes, sentences._hadamard_note)
def test_the_verdict_on_protocols_is_that_of_their_definitions(many):
    assert len(PROTOCOL_WORDS) == 6  # as the sentences say
    for i, (k, epsilon, n) in enumerate(places(many)):
        users = ("fixed", "sampled")[i % 2]
        found = plain_plan(k, epsilon, n, users)
        errors, sizes = errors_of_protocols(k, epsilon, users)
        for row in sentences.compared_protocols(found):
            assert row.variance * n == pytest.approx(errors[row.key], rel=1e-6), (row.key, k, epsilon)
        best = min(errors, key=errors.__getitem__)
        ratio = errors["rr"] / errors[best]
        said = sentences.protocol_sentence(found)
        assert said.startswith("Here, when all shares are equal, " if users == "sampled" else "Here ")
        times = []
        if ratio < 1 + 1e-9:
            assert "none of the six protocols below has a smaller error than k-RR" in said
        else:
            assert best.startswith("subset")
            assert "**subset selection has the smallest error of the six below**" in said
            times = [0.1 / 100] if ratio < 1.0005 else [ratio]
            assert ("less than 0.1% more users" in said) == (ratio < 1.0005)
        # The borders: true on them and false beyond.
        tells(
            said, *times, epsilon, lambda told, e=epsilon: True, k, *([] if k <= 3 else [lambda told: True])
        )
        most, least = number(said, r"up to K = ([\d,]+)"), number(said, r"it is so from ε = ([\d.]+) on")
        edge = 2 * math.expm1(2 * epsilon)
        assert most * (most - 3) <= edge * (1 + 1e-9) + 1e-9
        assert (most + 1) * (most - 2) > edge * (1 - 1e-9)
        assert (least is None) == (k <= 3)
        assert least is None or 2 * math.expm1(2 * least) >= k * (k - 3) > 2 * math.expm1(2 * 0.98 * least)
        for told in (int(most), int(most) + 1):  # the errors themselves
            others, _ = errors_of_protocols(told, epsilon)
            if told < 10**6 and (told == most or (told + 1) * (told - 2) > edge * (1 + 1e-6)):
                as_good = others["rr"] <= min(others.values()) * (1 + 1e-9)
                assert as_good == (told == most), (told, epsilon)
        notes = sentences.protocol_notes(found)
        _, count, size = hadamard(k, epsilon)
        dealt = [] if count in (1, k) else [count]
        named = [1] if 1.0 in sizes else [lambda told, s=sizes: told in s]
        text = notes.replace("Subset selection is best with 1 category", "1 category")
        tells(text, epsilon, n, *named, count * size, *dealt)
        assert ("that is k-RR" in notes) == (1.0 in sizes)
        assert ("when all shares are equal" in notes) == (users == "sampled")
        assert ("averaged over all ways" in notes) == bool(dealt)


@holds(
    "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, may be nearer to the truth than any unbiased estimate.",  # noqa: E501
    "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares.",
    "At equal shares Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased estimate can have.",  # noqa: E501
)
@recomputes(sentences.bounds_sentence, plan_curves._bounds_reading)
def test_how_far_from_the_best_is_the_least_over_all_sizes(many):
    """The Fisher information of the best protocol is that of subsets, of all sizes up to a thousand and next to the
    best."""
    said_ = set()
    near = 40, round(math.log1p(740) / 2 - 0.003, 4), 10**6  # the smallest sets have one category
    for k, epsilon, n in [near, *places(many)]:
        for users in ("fixed", "sampled"):
            curves = bounds.against_epsilon([epsilon], k, epsilon, n, users)
            said, read = sentences.bounds_sentence(curves), plan_curves._bounds_reading(curves)
            luck = (1 - 1 / k) * (users == "sampled")
            ideal = np.arange(-20, 21) + int(k / (math.exp(epsilon) + 1))
            errors = k * subset_errors(k, epsilon, np.unique(np.clip([*range(1, 1000), *ideal], 1, k - 1)))
            least, mine = errors.min() + luck, errors[0] + luck
            ratio = mine / least
            if least / n > 1 - 1 / k:
                kind = "nearer", "not drawn here", "a constant answer may be nearer"
            elif ratio < 1 + 1e-9:
                kind = "best", "Nothing is better here", "no protocol with an unbiased estimate can have less"
            elif ratio < 1.005:
                kind = "hardly", "hardly more than", "hardly more than the least"
            else:
                kind = "more", " times** the smallest squared error", " times the least"
                tells(said, ratio, ratio)
            assert kind[1] in said, (k, epsilon, n, said)
            # The error of sampled users depends on the shares: these numbers are of equal ones.
            assert "equal shares" in said
            assert read.startswith("With all shares equal, ")
            assert kind[2] in read, (k, epsilon, n, read)
            tells(read, epsilon, mine / n, *([ratio] if kind[0] == "more" else []))
            said_.add(kind[0])
    assert said_ == {"nearer", "best", "hardly", "more"}


@holds("The bound used here says nothing yet for so few users.")
@recomputes(sentences.shuffling_sentence, plan_curves._shuffling_reading)
def test_what_shuffling_adds_is_the_theorem(many):
    edge = [(50, 0.01, n) for n in (200, 240, 300, 700)]  # it applies, but is no better than the local one
    for i, (k, epsilon, n) in enumerate([*edge, *places(many)]):
        delta = (1e-5, 1e-6, 1e-9)[i % 3]
        said = sentences.shuffling_sentence(plain_plan(k, epsilon, n), shuffled(epsilon, n, delta))
        read = plan_curves._shuffling_reading(shuffling.against_users([n], epsilon, n, delta))
        least = 16 * math.log(2 / delta) * math.exp(epsilon)
        assert ("**holds**" in said) == (n >= least) == ("does not apply" not in read)
        clones = math.exp(epsilon) / n
        bound = math.log1p(
            math.tanh(epsilon / 2) * (8 * math.sqrt(clones * math.log(4 / delta)) + 8 * clones)
        )
        condition = said[said.index("Condition") :].replace("16 ln(2/δ)", "")
        needed = math.ceil(least)
        if n < least:
            tells(condition, needed, n, epsilon)
            tells(read, n, epsilon, needed)
            continue
        tells(condition, needed, n)
        tells(read, n, Up(min(bound, epsilon)), delta, epsilon)
        assert ("does not come below" in said) == (bound >= epsilon)
        before = said[: said.index("Condition")].replace("(Feldman, McMillan and Talwar 2021)", "")
        tells(before, *([epsilon] if bound >= epsilon else [Up(bound), delta, epsilon]))


@recomputes(sentences.price_sentence)
def test_the_price_of_privacy_is_the_ratio_of_variances(many):
    """Of the typical error, whose users are the mean squared error of one over that asked for."""
    for i, (k, epsilon, n) in enumerate(
        [(2, 0.0199, 10**8), (2, 0.02, 10**8), (3, 0.7, 10**9), *places(many // 4, 5000)]
    ):
        users = ("fixed", "sampled")[i % 2]
        value = float(f"{10.0 ** -(i % 6):.3g}") if i % 7 else 1e-7 * 100
        found = planned("rmse", k, epsilon, n, ("value", "n")[i % 3 > 0], users, value=value)
        said = sentences.price_sentence(found)
        if found.price is None:
            assert bool(found.problem) or found.value > 1
            assert (
                said
                == "No goal that can be asked for is reached here: there is none to keep with more privacy."
            )
            continue
        shares = guess_of(k, False).shares

        def needed(e, k=k, users=users, shares=shares, goal=found.target.value):
            return max(math.ceil((rmse(k, e, 1, users, shares) / goal) ** 2 * (1 - 1e-9)), 1)

        start = needed(epsilon)
        assert start == pytest.approx(found.n, rel=1e-7)
        lower = [epsilon / 2, *(epsilon - bits * math.log(2) for bits in (1, 2, 3))]
        price = found.price
        for row, users_, times in zip(
            sentences.price_rows(found)[1:], price.users[1:], price.times[1:], strict=True
        ):
            at = min(lower, key=lambda e, row=row: abs(e - number(row[1], r"(\S+)")))
            tells(row[1], Up(at))
            if math.isinf(users_):
                assert needed(at) > 10**12
                assert row[2:] == ("more than 10¹²", "–")
                continue
            assert users_ == pytest.approx(needed(at), rel=1e-7, abs=1)
            assert (row[3] == "the same") == (users_ == price.users[0])
            assert (row[3] == "hardly more") == (price.users[0] < users_ < 1.005 * start)
            if "times" in row[3]:
                tells(row[3], float(times))
        if epsilon < 0.02 - 1e-12:
            assert said == "Half of this ε is less than 0.01, the smallest that a plan can have."
            continue
        at = lower[1] if lower[1] >= 0.01 else lower[0]
        ratio = needed(at) / start
        step = [2, 2] if at == lower[1] and "eᵋ" in said else []
        assert ("Halving ε" in said) != bool(step)
        assert ("more than 10¹² users" in said) == (needed(at) > 10**12)
        assert ("hardly more users" in said) == (1 < ratio < 1.005)
        assert ("no more users" in said) == (ratio == 1)
        more = [] if ratio < 1.005 else [None] if "10¹²" in said else [ratio]
        tells(said, *step, Up(at), *more)


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
    for n, k, epsilon in ((3, 2, 9.0), (10, 5, 6.0), (37, 2, 9.0), (80, 12, 3.0), (300, 3, 1.0)):
        shown = (
            number(
                sentences.answer(planned("smallest", k, epsilon, n)), r"\*\*([\d.]+)% of users\*\* or more"
            )
            / 100
        )
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
    rng, seen = np.random.default_rng(14), set()
    near = 0.5 * math.log1p(40 * 37 / 2) - 1e-5  # where one category per report is as good as two
    settings = [(3000, 1.0), (40_000, 3.0), (40, 3.6), (2, 1.0), (40, near), (40, near + 0.1)]
    settings += [(int(2 * 10 ** rng.uniform(0, 5)), rng.uniform(0.1, 12)) for _ in range(50)]
    for k, epsilon in settings:
        rows = sentences.compared_protocols(planned("rmse", k, epsilon, 1000))
        cells = {PROTOCOL_WORDS[row.key].name: sentences.protocol_cells(row) for row in rows}
        lines = side_by_side.report_table(k, epsilon, 1000, None).splitlines()[2:]
        told = {line.split(" | ")[0].lstrip("| "): line.rstrip(" |").split(" | ")[-1] for line in lines}
        assert told == {name: users for name, (_, _, users, _) in cells.items()}
        expected = side_by_side.expected_errors(k, epsilon, 1000, None)
        read = side_by_side._reading(sorted(expected, key=expected.__getitem__), expected, k, epsilon)
        least = {name for name, (_, _, users, _) in cells.items() if users in ("best", "the same")}
        within = {PROTOCOL_WORDS[row.key].name: protocol_in_a_sentence(row.key) for row in rows}
        named = read.partition("smallest expected error")[0]
        assert {name for name in cells if within[name] in named} == least
        # Equal as printed.
        assert {cells[name][1] for name in least} == {re.search("error, ([^;]+?%)", read)[1]}
        hardly_more = cells[PROTOCOL_WORDS["rr"].name][2] == "hardly more"
        assert ("k-RR needs hardly more users for the same." in read) == hardly_more
        seen |= {users for _, _, users, _ in cells.values()}
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
