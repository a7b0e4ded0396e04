"""The designs by which surveys randomize answers, by the names that people know: what each needs to be told, and the
table of chances that follows.

A design with a yes and a no has two truths, 0 = no and 1 = yes; its reports are two answers, or for Kuk's a number of red
cards. `of_yes_and_no`, `of_forced` and `of_table` put answers as they were read under such a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from rr_core import typed
from rr_core._validate import Array
from rr_core.data import read_toml
from rr_core.limits import EPSILON_MAX, EPSILON_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.plain_text import plain
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.rounding import counted, number

MOST_FORCED = 12  # answers that are entered one by one
UNREPORTED = "An answer without reports counts too: give a table of counts with a line for it, and 0."
MOST_DRAWS = 50
YES = frozenset(read_toml("words.toml")["yes"])
_LONGEST_NAME = 40
_WHOLE = re.compile(r"\d{1,15}(\.\d+)?(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


class Unclear(ValueError):
    """Something is impossible: ``str(error)`` is one plain sentence. Every function here that takes what was written
    may raise it."""


class Missing(Unclear):
    """Something is still to be told; ``str(error)`` says what, "" where it goes without saying."""


@dataclass(frozen=True)
class Parameter:
    """A number that a design needs.

    Attributes:
        key: its name in a script and in a shell.
        label: what is asked.
        like: an example.
        whole: whether it is a whole number from 1 up; else it is a chance between 0 and 1.
    """

    key: str
    label: str
    like: str
    whole: bool = False

    @property
    def example(self) -> str:
        """A number in place of one that differs by group: how reports are counted does not depend on it."""
        return self.like.partition(" or ")[0]


@dataclass(frozen=True)
class Design:
    """A way of randomizing answers.

    Attributes:
        key: its name in a link and in a shell.
        name: as people know it.
        about: what happens to a person, in one or two sentences of Markdown.
        source: who published it.
        parameters: what has to be told, in the order of ``chances``.
        chances: the (2, m) table of a design with a yes and a no, from its parameters; None for the others.
        positive: which of the two answers has to be pointed out; "" where there are none.
        truths: names of no and yes, where the answers are not these themselves.
        file: what a file of its reports looks like, where that has to be told.
    """

    key: str
    name: str
    about: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    chances: Callable[..., Channel] | None = None
    positive: str = ""
    truths: tuple[str, str] | None = None
    file: str = ""


@dataclass(frozen=True, eq=False)
class Counted:
    """Answers under the table of chances by which they were made.

    Attributes:
        truths: k names.
        reports: m names.
        counts: (m,) how many there are of each.
        channel: the (k, m) table.
        about: the truth that is asked for; None for the most frequent one.
        notes: a sentence for each thing that was understood.
    """

    truths: tuple[str, ...]
    reports: tuple[str, ...]
    counts: NDArray[np.int64]
    channel: Channel
    about: int | None = None
    notes: tuple[str, ...] = field(default=())


def unrelated(p: float, prevalence: float) -> Channel:
    """Unrelated question: with probability p the person answers the question that is asked for, else an innocent one, to
    which a share ``prevalence`` of people would say yes.

    >>> unrelated(0.7, 0.5).matrix.round(6).tolist()
    [[0.85, 0.15], [0.15, 0.85]]
    """
    return Channel.forced_response([(1 - p) * (1 - prevalence), (1 - p) * prevalence])


def kuk(p: float, p2: float, draws: int) -> Channel:
    """Kuk's cards: who has it draws ``draws`` cards from a deck of which a share p is red, the others from one with p2;
    the report is the number of red cards.

    >>> kuk(0.8, 0.2, 1).matrix.round(6).tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    red = np.arange(int(draws) + 1)
    return Channel(np.stack([scipy.stats.binom.pmf(red, int(draws), share) for share in (p2, p)]))


_CHANCES: Mapping[str, Callable[..., Channel]] = {
    "warner": Channel.warner,
    "crosswise": Channel.warner,
    "unrelated": unrelated,
    "kuk": kuk,
}


def _design(key: str, parameters: Sequence[Mapping[str, Any]] = (), **told: Any) -> Design:
    if "truths" in told:
        told["truths"] = tuple(told["truths"])
    return Design(
        key, parameters=tuple(Parameter(**one) for one in parameters), chances=_CHANCES.get(key), **told
    )


_WRITTEN = read_toml("designs.toml")
DESIGNS: Mapping[str, Design] = {one["key"]: _design(**one) for one in _WRITTEN["designs"]}
WHICH: list[Any] = _WRITTEN["which"]
"""A question and its answers, each a list: the answer, and the key of a design or the next question and its answers."""
ENCODINGS: Mapping[str, str] = {
    "rappor": "Symmetric (basic RAPPOR)",
    "oue": "Optimised (OUE)",
    "fpq": "RAPPOR with f, p, q",
}
_BUDGET = Parameter("epsilon", "ε of one report", "1.5 or ln 3")
_COINS = (Parameter("f", "f", "0.5"), Parameter("p", "p", "0.5"), Parameter("q", "q", "0.75"))
_FORCED = tuple(
    Parameter(answer, f"Chance that the die asked for a “{answer}”", "1/6 or 0") for answer in ("no", "yes")
)
# Designs of which a table for one share, yes or no, follows from numbers alone; of unary encoding that of one bit.
OF_ONE_SHARE = tuple(
    design for design in DESIGNS.values() if design.chances is not None or design.key in ("forced", "unary")
)


def parameter(asked: Parameter, text: str) -> float:
    """The number that was written for a parameter.

    Raises:
        Missing: nothing was written.
        Unclear: it is none that this parameter can have.
    """
    if not text.strip():
        raise Missing("")
    if asked.whole:
        if not text.strip().isdecimal() or not 1 <= int(text) <= MOST_DRAWS:
            raise Unclear(
                f"“{typed.shorten(text.strip())}” cannot be: write a whole number from 1 to {MOST_DRAWS}."
            )
        return int(text)
    return chance(text)


def numbers_of(design: Design, encoding: str = "rappor") -> tuple[Parameter, ...]:
    """The numbers that a design of one share needs; ``encoding``, a key of ENCODINGS, is that of unary encoding."""
    if design.key == "unary":
        return _COINS if encoding == "fpq" else (_BUDGET,)
    return _FORCED if design.key == "forced" else design.parameters


def table_of_one_share(design: Design, texts: Sequence[str], encoding: str = "rappor") -> Channel:
    """The table of chances of a design of one share: rows no and yes.

    Args:
        design: one of OF_ONE_SHARE.
        texts: its `numbers_of`, as written.
        encoding: of unary encoding, whose reports are one bit here.

    Raises:
        Missing, Unclear: one plain sentence.

    >>> table_of_one_share(DESIGNS["forced"], ["1/6", "1/6"]).matrix.round(4).tolist()
    [[0.8333, 0.1667], [0.1667, 0.8333]]
    """
    if design.key == "unary":
        bit = unary_encoding(2, encoding, texts)
        channel = Channel(np.array([[1 - bit.q, bit.q], [1 - bit.p, bit.p]]))
    else:
        channel = _table(design, texts)
    if not channel.identified:
        raise Unclear(
            "As stated, different shares give the same reports, so nobody can estimate them: check the chances."
        )
    return channel


def k_rr(k: int, kind: str, text: str) -> RandomizedResponse:
    """k-RR of k categories.

    Args:
        k: number of categories.
        kind: what the number is: "epsilon", "p" or "redraw".
        text: the number, as written.

    Raises:
        ValueError: one plain sentence.

    >>> k_rr(4, "redraw", "50%").p
    0.625
    """
    value = privacy(kind, text)
    if kind == "epsilon":
        return RandomizedResponse(k, value)
    if kind == "redraw" and value >= 1:
        raise Unclear(f"r = {number(value)} cannot be: the chance of a uniform redraw lies between 0 and 1.")
    if kind == "p" and k == 2 and value < 1 / 2:
        raise Unclear(
            f"p = {number(value)} is below 1/2: reports then name the other answer more often than the true one. Choose "
            f"“{DESIGNS['warner'].name}”, or correct p."
        )
    if kind == "p" and not 1 / k < value < 1:
        raise Unclear(
            f"p = {number(value)} cannot be: with K = {k:,} categories the chance of a true report lies between "
            f"1/K = {number(1 / k)} and 1."
        )
    try:
        return (RandomizedResponse.from_p if kind == "p" else RandomizedResponse.from_redraw)(k, value)
    except ValueError:
        raise Unclear(
            f"This {'p' if kind == 'p' else 'r'} is too close to an end of its range: ε would not lie between "
            f"{number(EPSILON_MIN)} and {EPSILON_MAX:g}."
        ) from None


def privacy(kind: str, text: str) -> float:
    """The epsilon, p or chance of a redraw that was written.

    Raises:
        Missing: nothing was written.
        Unclear: it is none; one plain sentence.
    """
    if not text.strip():
        raise Missing("Say how private the reports are: the ε (or the p, or the r) they were made with.")
    try:
        value = typed.number(text) if kind == "epsilon" else typed.chance(text)
    except ValueError as problem:
        raise Unclear(f"{problem}.") from None
    if kind == "epsilon" and value > EPSILON_MAX:
        raise Unclear(f"ε = {number(value, 6)} is too large: it can be up to {EPSILON_MAX:,g}.")
    if kind == "epsilon" and value < EPSILON_MIN:
        raise Unclear(f"ε = {number(value)} is too small: it can be from {number(EPSILON_MIN)} up.")
    return value


def made_of(
    design: Design, k: int, texts: Sequence[str], kind: str = "epsilon", encoding: str = "rappor"
) -> RandomizedResponse | Channel | UnaryEncoding:
    """What made reports of k categories.

    Args:
        design: any but "table".
        k: number of categories.
        texts: its numbers, as written; of forced answers one for each answer.
        kind: of k-RR, what its number is.
        encoding: of unary encoding.

    Raises:
        ValueError: one plain sentence.

    >>> made_of(DESIGNS["warner"], 2, ["70%"]).matrix.round(6).tolist()
    [[0.7, 0.3], [0.3, 0.7]]
    """
    if design.key == "k_rr":
        return k_rr(k, kind, texts[0])
    if design.key == "unary":
        return unary_encoding(k, encoding, texts)
    return _table(design, texts)


def _table(design: Design, texts: Sequence[str]) -> Channel:
    """The table of chances that numbers make, as written; of forced answers one for each answer."""
    if design.chances is None:
        return of_forced([*map(str, range(len(texts)))], np.zeros(len(texts), dtype=np.int64), texts).channel
    return design.chances(*(labelled(one, text) for one, text in zip(design.parameters, texts, strict=True)))


def unary_encoding(k: int, encoding: str, texts: Sequence[str]) -> UnaryEncoding:
    """Unary encoding of k categories by its `numbers_of`, as written.

    Raises:
        Missing, Unclear: one plain sentence.
    """
    if not all(text.strip() for text in texts):
        raise Missing(
            "Say the chances f, p and q of RAPPOR's two coins."
            if encoding == "fpq"
            else "Say how private the reports are: the ε of one report."
        )
    if encoding == "fpq":
        f, p, q = (0.0 if is_zero(text) else chance(text) for text in texts)
        if not 0 < p < q:
            raise Unclear(
                f"p = {p:.3g} and q = {q:.3g} cannot be: a one is reported with chance q for a one, and with the smaller "
                "chance p for a zero."
            )
        return UnaryEncoding.rappor(k, f, p, q)
    return UnaryEncoding(k, privacy("epsilon", texts[0]), encoding == "oue")


def labelled(asked: Parameter, text: str) -> float:
    """`parameter`, whose sentence names what was asked."""
    try:
        return parameter(asked, text)
    except Missing:
        raise
    except Unclear as problem:
        raise Unclear(f"{asked.label}: {problem}") from None


def chance(text: str) -> float:
    """The probability that was written, above 0 and below 1.

    Raises:
        Unclear: it is none; one plain sentence.
    """
    try:
        value = typed.chance(text)
    except ValueError as problem:
        raise Unclear(f"{problem}.") from None
    if value >= 1 and "%" in text:
        raise Unclear(f"{value:.4%} is not between 0% and 100%.".replace(".0000%", "%", 1))
    if value >= 1:
        percent = f"; {value:.4g}% is written {value:.4g}% or {value / 100:.4g}" if value < 100 else ""
        raise Unclear(f"{value:.4g} is not between 0 and 1{percent}.")
    return value


def likely_yes(labels: Sequence[str]) -> str | None:
    """The one answer that means yes in one of several languages; 1 does so beside 0 only: beside 2 it may be no."""
    plainly = [as_whole(label.casefold()) for label in labels]
    zero = not {"0", "false"}.isdisjoint(plainly)
    known = [label for label, one in zip(labels, plainly, strict=True) if one in YES and (one != "1" or zero)]
    return known[0] if len(known) == 1 else None


def as_whole(label: str) -> str:
    """A whole number as programs write it that make decimals of all numbers, "4.0" or "4.000e+00", without these."""
    return str(int(float(label))) if _WHOLE.fullmatch(label) and float(label) % 1 == 0 else label


def by_number(
    labels: tuple[str, ...], counts: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], bool]:
    """Answers and how many there are of each, by size where all are whole numbers; and whether they are."""
    sizes = [as_whole(label) for label in labels]
    if not all(size.isdecimal() and len(size) < 19 for size in sizes):
        return labels, counts, False
    order = sorted(range(len(labels)), key=lambda i: int(sizes[i]))
    return tuple(labels[i] for i in order), counts[order], True


def of_yes_and_no(
    design: Design,
    labels: Sequence[str],
    counts: NDArray[np.int64],
    values: Sequence[float],
    positive: str | None,
) -> Counted:
    """The answers of a design with a yes and a no.

    Args:
        design: one with ``chances``.
        labels, counts: the answers that were read, (m,), and how many there are of each.
        values: of its parameters.
        positive: the answer that ``design.positive`` asks for.

    Raises:
        Unclear: one plain sentence.
    """
    if design.chances is None:
        raise Unclear(f"{design.name} has more truths than yes and no.")
    channel = design.chances(*values)
    if not design.positive:
        numbers = tuple(map(str, range(channel.m)))
        if wrong := [label for label in labels if as_whole(label) not in numbers]:
            raise Unclear(
                f"The answer “{plain(wrong[0], _LONGEST_NAME)}” is no number of red cards among {channel.m - 1}: mend "
                "the reports, or the number of cards."
            )
        drawn = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(drawn, [int(as_whole(label)) for label in labels], counts)
        return Counted(design.truths or ("no", "yes"), numbers, drawn, channel, 1)
    check_two(design, labels)
    if positive is None:
        raise Missing(
            f"Say which answer means {'yes' if design.truths is None else 'that both are the same'}."
        )
    if positive not in labels:
        raise Unclear(
            f"No answer is called “{plain(positive, _LONGEST_NAME)}”: the answers are {_listed(labels)}."
        )
    at = list(labels).index(positive)
    order = [1 - at, at]
    names = labels[order[0]], labels[order[1]]
    return Counted(design.truths or names, names, counts[order], channel, 1)


def check_two(design: Design, labels: Sequence[str]) -> None:
    """Raise Unclear where there are not two answers."""
    if len(labels) != 2:
        of = "yes and no" if design.truths is None else "same and different"
        rest = "Take what is neither out of the file." if len(labels) > 2 else UNREPORTED
        if len(labels) > 2 == len({label.strip().casefold() for label in labels}):
            rest = "Count two ways to write one answer together, above."
        raise Unclear(
            f"{design.name}: there are two answers, {of}; these reports have {len(labels):,}: {_listed(labels)}. {rest}"
        )


def of_forced(labels: Sequence[str], counts: NDArray[np.int64], texts: Sequence[str]) -> Counted:
    """Answers of which the die asked for some.

    Args:
        labels, counts: as in `of_yes_and_no`.
        texts: the chance that it asked for each, as written: 0 where it never did.

    Raises:
        Unclear: one plain sentence.
    """
    check_few(labels)
    if not all(text.strip() for text in texts):
        raise Missing("Say for each answer how often the die asked for it: 0 where it never did.")
    forced = [0.0 if is_zero(text) else chance(text) for text in texts]
    if sum(forced) >= 1:
        raise Unclear(
            f"The chances sum to {sum(forced):.4g}: below 1 there are people left to tell the truth."
        )
    names, yes = tuple(labels), likely_yes(labels) if len(labels) == 2 else None
    about = None if yes is None else names.index(yes)
    return _possible(Counted(names, names, counts, Channel.forced_response(forced), about))


def check_few(labels: Sequence[str]) -> None:
    """Raise Unclear where there are too many answers, or too few, to ask for the chance of each."""
    if not 2 <= len(labels) <= MOST_FORCED:
        one = len(labels) == 1
        rest = UNREPORTED if one else "For more, choose “Another table of chances”."
        raise Unclear(
            f"These reports have {'1 answer' if one else f'{len(labels):,} answers'}; here there may be 2 to "
            f"{MOST_FORCED}. {rest}"
        )


def is_zero(text: str) -> bool:
    """Whether a chance was written that is 0, as 0, 0.0, 0% or 0/6 are."""
    digits = text.strip().rstrip("% \u00a0\u202f").partition("/")[0].replace(",", ".")
    return digits.replace(".", "", 1).isdecimal() and float(digits) == 0


def of_table(
    labels: Sequence[str],
    counts: NDArray[np.int64],
    matrix: Array,
    truths: Sequence[str] | None = None,
    reports: Sequence[str] | None = None,
    *,
    in_order: bool = False,
) -> Counted:
    """Answers under a table of chances.

    Args:
        labels, counts: as in `of_yes_and_no`.
        matrix: (k, m) chances.
        truths, reports: names of its rows and columns, where it has them.
        in_order: whether the answers come in an order that somebody gave them, which then is that of the columns.

    Raises:
        Unclear: one plain sentence.
    """
    channel, notes = Channel(matrix), list[str]()
    m, names = channel.m, reports
    if names is None and truths is not None and len(truths) == m and set(labels) <= set(truths):
        names = truths
        notes.append(f"The columns are taken to be, as the rows: {_listed(names)}.")
    if names is None:
        if not in_order:
            raise Unclear(
                "The answers come in no order: write their names above the columns of the table, so that each column has "
                "its own."
            )
        if len(labels) != m:
            raise Unclear(
                f"The table has {counted(m, 'column')}, the reports have {counted(len(labels), 'answer')}. Write the "
                "names of the answers above the columns, so that answers nobody gave have theirs too."
            )
        names = labels
        notes.append(f"The columns are taken to be: {_listed(labels)}.")
    unknown = [label for label in labels if label not in names]
    if unknown:
        raise Unclear(
            f"The answer “{plain(unknown[0], _LONGEST_NAME)}” has no column in the table: name its column so, or mend "
            "the reports."
        )
    if truths is None and channel.m == channel.k:
        truths = names
        notes.append("The rows are taken to be truths of the same names, in the same order.")
    truths = truths or tuple(f"truth {i + 1}" for i in range(channel.k))
    held = dict(zip(labels, counts.tolist(), strict=True))
    each = np.array([held.get(name, 0) for name in names], dtype=np.int64)
    return _possible(Counted(tuple(truths), tuple(names), each, channel, None, tuple(notes)))


def _possible(counted: Counted) -> Counted:
    """The same, or Unclear where the table cannot have made these reports."""
    if counted.counts[~counted.channel.possible].any():
        raise Unclear(
            "Some of these reports cannot come from this table: it gives them no chance under any truth. Mend the table "
            "or the reports."
        )
    return counted


def _listed(names: Sequence[str]) -> str:
    return ", ".join(plain(name, 20) for name in names[:MOST_FORCED])
