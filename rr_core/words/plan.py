"""Numbers and targets of a plan in words; numbers are rounded in the direction that keeps the sentence true."""

from __future__ import annotations

import math
from typing import NamedTuple

from rr_core.metrics import Users
from rr_core.plan.bounds import BoundKey
from rr_core.plan.targets import KindKey, Target
from rr_core.protocols.laws import Key
from rr_core.rounding import number, percent, round_up

_NO_PROMISE = 0.005  # a chance of being right that rounds to 0%


class KindText(NamedTuple):
    """What one kind of target is called.

    Attributes:
        meaning: one sentence for a lay person.
        promised: the event whose probability is the confidence; empty when the target is an average.
    """

    meaning: str
    promised: str = ""


KIND_TEXTS: dict[KindKey, KindText] = {
    "rmse": KindText(
        "How far the estimate of one category typically is from its true share; a single one may be further off.",
    ),
    "max": KindText(
        "With the given probability, every category's estimate is at most this far from its true share: all of them "
        "within one point, say.",
        "no category is further off",
    ),
    "share": KindText(
        "With the given probability, the estimate of one category with this share is at most so far from it: the "
        "“within ±1 point” of surveys. Among many categories some other one may be further off.",
        "the estimate is no further off",
    ),
    "smallest": KindText(
        "A category with this share is found to be present with the given probability, while any empty one "
        "is called present in at most 5% of collections.",
        "a category this large is found",
    ),
    "top": KindText(
        "With the given probability, the largest categories come out in their true order and ahead of "
        "all others.",
        "the ranking is right",
    ),
}
PROTOCOL_NAMES: dict[Key, str] = {
    "rr": "k-RR",
    "subset": "Subset selection",
    "sue": "Symmetric unary encoding (basic RAPPOR)",
    "oue": "Optimised unary encoding",
    "olh": "Optimised local hashing",
    "hr": "Hadamard response",
}
_PAPER = "Lopuhaä-Zwakenberg et al. 2020"
_PRIOR = (
    "as N → ∞, any estimator on average over a continuous prior of the shares, with users drawn from them"
)


def protocol_in_a_sentence(key: Key) -> str:
    """The name of a protocol within a sentence; that of a person keeps its capital."""
    name = PROTOCOL_NAMES[key]
    return name if key == "hr" else name[0].lower() + name[1:]


class BoundText(NamedTuple):
    """What a bound is called, what it assumes, and where it comes from."""

    name: str
    assumes: str
    source: str


def bound_text(key: BoundKey, users: Users) -> BoundText:
    """The words of one row of `rr_core.plan.bounds.table` for these users."""
    sampled = users == "sampled"
    texts: dict[BoundKey, BoundText] = {
        "theorem": BoundText(
            "Lower bound, Theorem 4.5",
            f"any protocol; any unbiased estimator at every N; {_PRIOR}"
            if sampled
            else f"any protocol with K possible reports; {_PRIOR}; exponent corrected",
            f"{_PAPER}, eq. ({'59' if sampled else '60'})",
        ),
        "equal": BoundText(
            "Lower bound at equal shares",
            "any protocol with an unbiased estimator, at every N; equal shares",
            "Cramér–Rao inequality; Ye and Barg 2018",
        ),
        "limit": BoundText(
            "K/(N ε²)",
            "ε → 0 and N → ∞; hidden where a protocol is below it",
            f"{_PAPER}, Theorem 4.5 and Table 1",
        ),
        "attainable": BoundText(
            "Attainable 4K/(N ε²)",
            "ε → 0; hidden where no protocol here reaches it",
            f"{_PAPER}, Table 1",
        ),
        "known": BoundText(
            "Known before, K/(64 N ε²)",
            "the worst population; ε ≤ 1; N ε² ≥ K²",
            "Duchi, Jordan and Wainwright 2013, as quoted in Table 1",
        ),
        "binary": BoundText(
            "Exact for K = 2",
            "K = 2, Inv; any N" + (", equal shares" if sampled else ""),
            f"{_PAPER}, Proposition 4.6",
        ),
    }
    return texts[key]


def budget(epsilon: float) -> str:
    """An epsilon as text with ten digits, because rounding ln 3 to 1.1 would make other numbers false."""
    return f"{epsilon:.10g}"


def at_most(share: float, digits: int = 3) -> str:
    """A share in percent that is not rounded down: an error of 2.004% is "2.01%", not "2%"."""
    return percent(round_up(share, digits), digits)


def at_least(chance: float) -> str:
    """A probability in percent that is not rounded up: never 100%, which no number of random reports makes sure."""
    return percent(min(math.floor(chance * 1e4 * (1 + 1e-12)) / 1e4, 0.9999), 4)


def promise_text(target: Target) -> str:
    """What a target promises, as a clause that follows "so that"."""
    sure = at_least(target.confidence)
    if target.kind == "top":
        top = int(target.value)
        what = "the largest category comes out" if top == 1 else f"the {top} largest categories come out"
        how = "first" if top == 1 else "in their true order, ahead of all others,"
        return f"{what} {how} with probability {sure}"
    share = at_most(target.value, 6)  # as it is typed
    named = percent(target.share, 6)
    return {
        "rmse": f"the estimate of a category is typically at most {share} of users off",
        "max": f"with probability {sure} no category's estimate is more than {share} of users off",
        "share": f"with probability {sure} the estimate of a category that {named} of users have is at most {share} of "
        "users off",
        "smallest": f"a category that {share} of users have is told from an empty one with probability {sure}",
    }[target.kind]


def achieved_text(target: Target, value: float) -> str:
    """What the plan achieves where no target was requested, as a sentence with its number in bold."""
    sure = at_least(target.confidence)
    if target.kind == "top":
        top = int(target.value)
        if value < _NO_PROMISE:
            return "the bounds used here promise **nothing** about the ranking"
        what = (
            "the largest category is ranked first"
            if top == 1
            else f"the {top} largest categories are ranked right"
        )
        return f"{what} with probability **at least {at_least(value)}**"
    if target.kind == "smallest" and value > 1:
        return (
            f"the bounds used here promise **nothing**: not even that a category that all users have is told from an "
            f"empty one with probability {sure}"
        )
    share, named = at_most(value), percent(target.share, 6)
    least = "**all users**" if share == at_most(1.0) else f"**{share} of users** or more"
    return {
        "rmse": f"the estimate of a category is typically **{share} of users** off",
        "max": f"with probability {sure} no category's estimate is more than **{share} of users** off",
        "share": f"with probability {sure} the estimate of a category that {named} of users have is at most **{share} of "
        "users** off",
        "smallest": f"a category that {least} have is told from an empty one with probability {sure}",
    }[target.kind]


def users_text(n: float) -> str:
    """`number_of_users`, with their noun."""
    return f"{number_of_users(n)} user{'s' * (n != 1)}"


def number_of_users(n: float) -> str:
    """A number of users in words: all digits up to a billion, beyond it rounded up."""
    if n <= 1e9:
        return f"{n:,.0f}"
    return f"{number(round_up(n / 1e9, 3))} billion" if n < 1e12 else number(round_up(n, 3))
