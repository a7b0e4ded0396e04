"""A plan in words, for the page and for the printed summary: its target, its answer, its price, other protocols, bounds
and shuffling. Numbers are rounded in the direction that keeps the sentence true."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rr_core.data import read_toml
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, N_MAX
from rr_core.metrics import Users
from rr_core.plan import bounds, protocol_choice
from rr_core.plan.bounds import BoundCurves, BoundKey
from rr_core.plan.landscape import Plan
from rr_core.plan.protocol_choice import Protocol
from rr_core.plan.shuffling import Shuffled
from rr_core.plan.targets import KindKey, Target
from rr_core.protocols.laws import Blocks, Key
from rr_core.rounding import number, percent, round_up
from rr_core.words.phrases import practically_equal, relative_users, table, times

_WORDS = read_toml("plan.toml")
FORMULAS, SHARE_FORMULAS = _WORDS["formulas"], _WORDS["share_formulas"]
_NO_PROMISE = 0.005  # a chance of being right that rounds to 0%
_INV_ONLY = "It is about **Inv**, the unbiased estimate; simulate the others below."
_RANDOMNESS = {
    "fixed": "The truth is that of the very people who report: only the noise is by chance.",
    "sampled": "The truth is that of the population that the users are drawn from: who is drawn is by chance, too.",
}
_BOUND_POINTS = 61
_FEW_USERS = 1000  # a sample of more has shares within some 3 points of the population's


class KindText(NamedTuple):
    """What one kind of target is called: its meaning in a sentence, the event whose probability is the confidence
    (empty when the target is an average), and which estimate it is about."""

    meaning: str
    promised: str = ""
    estimate: str = _INV_ONLY


KIND_TEXTS: dict[KindKey, KindText] = {key: KindText(**told) for key, told in _WORDS["kinds"].items()}


class ProtocolWords(NamedTuple):
    """What a protocol is called: in a corner of a picture and before the name, within a sentence, and on an axis of
    Plotly in two lines; and what a report of it is."""

    name: str
    short: str
    brief: str
    tick: str
    report: str


PROTOCOL_WORDS: dict[Key, ProtocolWords] = {
    key: ProtocolWords(**told) for key, told in _WORDS["protocols"].items()
}
PROMISES: dict[str, str] = _WORDS["promises"]


def protocol_in_a_sentence(key: Key) -> str:
    """The name of a protocol within a sentence; that of a person keeps its capital."""
    name = PROTOCOL_WORDS[key].name
    return name if key == "hr" else name[0].lower() + name[1:]


class BoundText(NamedTuple):
    """What a bound is called, what it assumes, and where it comes from."""

    name: str
    assumes: str
    source: str


def bound_text(key: BoundKey, users: Users) -> BoundText:
    """The words of one row of `rr_core.plan.bounds.table` for these users."""
    told = _WORDS["bounds"][key]
    return BoundText(**{name: text if isinstance(text, str) else text[users] for name, text in told.items()})


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


def answer(plan: Plan) -> str:
    """The answer as markdown."""
    settings, promised = plan.settings, promise_text(plan.settings.target)
    if plan.problem:
        return f"**No answer.** {plan.problem}"
    if settings.find == "n":
        are = "is" if plan.n == 1 else "are"
        return f"**{users_text(plan.n)} {are} enough** at ε = {budget(plan.epsilon)}, so that {promised}."
    if settings.find == "eps":
        return f"**ε = {budget(plan.epsilon)} is enough** with {users_text(plan.n)}, so that {promised}."
    return f"At ε = {budget(plan.epsilon)} and with {users_text(plan.n)}, {achieved_text(settings.target, plan.value)}."


def whose_shares(plan: Plan) -> str:
    """That few users are enough for their own shares only; "" where that is not the answer."""
    settings = plan.settings
    if plan.problem or settings.find != "n" or settings.users != "fixed" or plan.n >= _FEW_USERS:
        return ""
    return (
        f"That counts the noise of the reports alone: the shares are those of {users_text(plan.n)}. For the shares of "
        "the population that they come from, change **For whom?**."
    )


def meaning(plan: Plan) -> str:
    """What the target means, for which populations it is promised, and for which estimate; as markdown."""
    settings = plan.settings
    shares = (
        "any population at all"
        if settings.worst_case
        else "every population alike"
        if settings.kind in ("share", "smallest") or (settings.kind == "rmse" and settings.users == "fixed")
        else "the guessed population"
    )
    too_many = f" The app itself goes up to {N_MAX:,} users." if plan.n > N_MAX else ""
    kind = KIND_TEXTS[settings.kind]
    about = f"{_RANDOMNESS[settings.users]} {kind.estimate}{too_many}"
    return f"{kind.meaning} This is for K = {plan.k:,} and {shares}. {about}"


def price_sentence(plan: Plan) -> str:
    """The price of one step in a sentence, as markdown."""
    price = plan.price
    if price is None:
        return "No goal that can be asked for is reached here: there is none to keep with more privacy."
    if price.bits.size < 2:
        return f"Half of this ε is less than {EPSILON_APP_MIN:g}, the smallest that a plan can have."
    whole = np.flatnonzero(price.bits == 1)
    at = int(whole[0]) if whole.size else 1
    name = step_name(float(price.bits[at]), plan.epsilon)
    factor = float(price.times[at])
    cost = (
        "takes **more than 10¹² users** for the same goal"
        if not math.isfinite(factor)
        else "takes no more users for the same goal"
        if factor == 1
        else "takes hardly more users for the same goal"
        if practically_equal(factor)
        else f"takes **{number(factor)} times the users** for the same goal"
    )
    lower = number(round_up(float(price.epsilons[at]), 4), 4)
    step = (
        f"Dividing by {name.removeprefix('eᵋ ÷ ')} the factor by which a report may change an onlooker's odds"
    )
    return f"**{'Halving ε' if name == 'half of ε' else step}** ({name}, so ε = {lower}) {cost}."


def price_rows(plan: Plan) -> list[tuple[str, str, str, str]]:
    """For each step: name, epsilon, users, and their ratio to those needed at the plan's own; empty without a price."""
    if plan.price is None:
        return []
    price, cells = plan.price, []
    for bits, epsilon, users, factor in zip(
        price.bits, price.epsilons, price.users, price.times, strict=True
    ):
        reached = math.isfinite(users)
        cells.append(
            (
                step_name(float(bits), plan.epsilon),
                number(round_up(float(epsilon), 4), 4) if bits else budget(plan.epsilon),
                number_of_users(float(users)) if reached else "more than 10¹²",
                _times_text(float(factor)) if bits and math.isfinite(factor) else "–",
            )
        )
    return cells


def price_table(plan: Plan) -> str:
    """The steps as a markdown table."""
    return table(("Setting", "ε", "Users needed", "Compared to the first row"), "lrrr", price_rows(plan))


def step_name(bits: float, epsilon: float) -> str:
    """Display name of a step of ``bits`` towards more privacy; each bit halves eᵋ."""
    if bits == 0:
        return "ε of the plan"
    if math.isclose(bits, epsilon / 2 / math.log(2)):
        return "half of ε"
    return f"eᵋ ÷ {2**bits:g}"


def _times_text(factor: float) -> str:
    if factor == 1:
        return "the same"
    return "hardly more" if practically_equal(factor) else f"{number(factor)} times"


def compared_protocols(plan: Plan) -> tuple[Protocol, ...]:
    """The protocols with their mean errors over all categories."""
    return protocol_choice.compare(plan.k, plan.epsilon, plan.n, 1 / plan.k, plan.settings.users)


def protocol_sentence(plan: Plan) -> str:
    """Whether another protocol needs fewer users, and up to which K k-RR needs no more than any, as markdown."""
    rows = compared_protocols(plan)
    rr, best = rows[0], next(row for row in rows if row.best)
    name = protocol_in_a_sentence(best.key)
    factor = number(rr.users_relative, 4)
    verdict = (
        "**none of the six protocols below has a smaller error than k-RR**"
        if rr.best
        else f"**{name} has the smallest error of the six below**, but k-RR needs less than 0.1% more users"
        if factor == "1"
        else f"**{name} has the smallest error of the six below**; k-RR needs "
        f"**{factor} times its users** for the same error"
    )
    where = "Here" if plan.settings.users == "fixed" else "Here, when all shares are equal,"
    most, least = (math.floor(protocol_choice.single_k(plan.epsilon)), protocol_choice.single_epsilon(plan.k))
    from_epsilon = f"from ε = {number(round_up(least, 3))} on" if least > 0 else "at every ε"
    return (
        f"{where} {verdict}. At ε = {budget(plan.epsilon)} k-RR is as good as any of them up to K = {most:,}; with "
        f"K = {plan.k:,} it is so {from_epsilon}."
    )


def protocol_cells(row: Protocol) -> tuple[str, str, str, str]:
    """Name, RMSE, users relative to the best, and bits as sent and ideally coded."""
    words = PROTOCOL_WORDS[row.key]
    name = words.name
    if words.short != name:
        name = f"{words.short}: {protocol_in_a_sentence(row.key)}"
    users = "best" if row.best else relative_users(row.users_relative)
    return name, percent(row.rmse), users, f"{row.bits:,} ({number(row.coded_bits)})"


def protocol_table(compared: tuple[Protocol, ...]) -> str:
    """The comparison as a markdown table."""
    rows = []
    for row in compared:
        name, *others = protocol_cells(row)
        rows.append((f"**{name}**" if row.best else name, *others))
    heads = "Protocol", "RMSE per category", "Users for the same error", "Bits per report (ideally coded)"
    return table(heads, "lrrr", rows)


def protocol_notes(plan: Plan) -> str:
    """The assumptions of the table of protocols, as markdown."""
    rows = {row.key: row for row in compared_protocols(plan)}
    size = rows["subset"].law.subset_size
    sets = (
        "Subset selection is best with 1 category per report here: that is k-RR."
        if size == 1
        else f"A report of subset selection names {size:,} categories here; a set that holds one's own category is eᵋ "
        "times as likely as one that does not."
    )
    equal = "" if plan.settings.users == "fixed" else ", when all shares are equal"
    return (
        f"At ε = {budget(plan.epsilon)} and N = {number_of_users(plan.n)}, over all categories{equal}. {sets} "
        "Unary encoding sends one bit per category; local hashing a short value, and which hash function was drawn. "
        f"{_hadamard_note(rows['hr'].law.blocks)}"
    )


def _hadamard_note(blocks: Blocks | None) -> str:
    """What a report of Hadamard response is, and over what its error is averaged."""
    assert blocks is not None
    numbers = f"A report of Hadamard response is one of {blocks.number * blocks.size:,} numbers here"
    if blocks.together in (0, 1):
        return f"{numbers}."
    return (
        f"{numbers}, in {blocks.number:,} blocks; its error is averaged over all ways to deal out the categories evenly "
        "among them."
    )


def bound_curves(plan: Plan) -> BoundCurves:
    """Error and bounds around the plan."""
    budgets = np.geomspace(EPSILON_APP_MIN, EPSILON_APP_MAX, _BOUND_POINTS)
    return bounds.against_epsilon(budgets, plan.k, plan.epsilon, plan.n, plan.settings.users)


def bounds_sentence(curves: BoundCurves) -> str:
    """The ratio of Inv's squared error to the bound on unbiased estimates at equal shares, as markdown."""
    if math.isnan(curves.floor):
        return (
            "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, "
            "may be nearer to the truth than any unbiased estimate."
        )
    ratio = curves.now / curves.floor
    if curves.is_optimal:
        return "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares."
    if practically_equal(ratio):
        return (
            "At equal shares Inv under k-RR has **hardly more than** the smallest squared error that any protocol with "
            "an unbiased estimate can have."
        )
    return (
        f"At equal shares Inv under k-RR has **{times(ratio)}** the smallest squared error that any protocol with an "
        f"unbiased estimate can have: **{times(ratio)} the users** for the same error."
    )


def bounds_table(curves: BoundCurves) -> str:
    """The bounds with what they assume, as a markdown table."""
    texts = [(row.kind, bound_text(row.key, curves.users)) for row in curves.bounds]
    rows = [(text.name, kind, text.assumes, text.source) for kind, text in texts]
    return (
        f"{table(('Bound', 'Kind', 'What it assumes', 'Source'), 'llll', rows)}\n\n{_WORDS['below_bounds']}"
    )


def shuffling_sentence(plan: Plan, now: Shuffled) -> str:
    """The guarantee after shuffling and its condition, as markdown."""
    condition = (
        f"Condition: N ≥ 16 ln(2/δ) eᵋ = {now.users_needed:,}; with N = {plan.n:,} it "
        f"**{'holds' if now.holds else 'does not hold'}**."
    )
    if not now.holds:
        return (
            "If somebody mixes all reports and removes who sent which, each report hides among the others. The bound "
            f"used here says nothing yet for so few users. {condition} The local ε = {budget(plan.epsilon)} still holds."
        )
    central = number(round_up(now.epsilon, 3))
    if now.epsilon >= plan.epsilon:
        return (
            "If somebody mixes all reports and removes who sent which, each report hides among the others. With so few "
            f"users the bound used here does not come below the local ε = {budget(plan.epsilon)}. {condition}"
        )
    return (
        "If somebody mixes all reports and removes who sent which, each report hides among the others. To whoever sees "
        f"only the mixed reports the collection is (ε, δ)-private with **central ε at most {central}** at δ "
        f"= {number(now.delta)}, rather than {budget(plan.epsilon)}. It is an upper bound (Feldman, McMillan and Talwar "
        f"2021): the true loss may be smaller. {condition}"
    )
