"""What A. Lopuhaä-Zwakenberg et al. (2020) say of their Figures 2 to 5, held against the stored errors of these settings.

The verdicts are those of `rr_core.experiments.claims`. A setting answers yes or no where the collections settle it: by t
tests at `FAMILY_LEVEL` over all settings and pairs of estimates together (Bonferroni). "The same" and "similar", which
the paper gives no numbers, are here an error of at most `SIMILAR` times the other's, either way. "UE" is both encodings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from scipy import special

from rr_core.experiments.claims import Verdict, verdict_on
from rr_core.experiments.protocols import FEW_PER_CATEGORY, PAIRS, Errors, FigureKey
from rr_core.experiments.ranking import FAMILY_LEVEL, Count

SentenceKey = Literal[
    "both_better", "rr_many", "rr_few", "ue_many", "ue_few", "both_better_real", "rr_real", "ue_real"
]
SIMILAR = 1.1
FROM_EPSILON = 1.5  # above it, the paper says, maximum likelihood is better under unary encoding
_MLE = ("mle", "inv_p")
Stored = Mapping[FigureKey, Sequence[Errors]]


@dataclass(frozen=True)
class Sentence:
    """One sentence of the paper about its figures.

    Attributes:
        key: which one.
        verdict: what the stored errors say of it.
        yes, no, undecided: settings that agree with it, that contradict it, and that settle nothing.
        lowest, highest: settings with the smallest and the largest ratio of mean errors, MLE to InvP; for "both_better"
            and "both_better_real" of the worse of these two to Inv.
        already_from: of "ue_many" alone, the smallest epsilon from which on maximum likelihood is surely better in all
            settings of Figure 3 with many users, below `FROM_EPSILON` too; else None.
    """

    key: SentenceKey
    verdict: Verdict
    yes: int
    no: int
    undecided: int
    lowest: Errors
    highest: Errors
    already_from: float | None = None

    @property
    def total(self) -> int:
        """Number of settings that bear on it."""
        return self.yes + self.no + self.undecided


def sentences(stored: Stored) -> tuple[Sentence, ...]:
    """All sentences, in the order of the paper.

    Args:
        stored: errors of all settings of the figures, as `protocols.stored` returns them.
    """
    level = _level(stored)
    few = {key: [row for row in rows if _is_few(row)] for key, rows in stored.items()}
    many = {key: [row for row in rows if not _is_few(row)] for key, rows in stored.items()}
    large_epsilon = [row for row in many["3"] if row.setting.epsilon > FROM_EPSILON]
    return (
        _judged("both_better", [*stored["2"], *stored["3"]], level, _both_better),
        _judged("rr_many", many["2"], level, _similar),
        _judged("rr_few", few["2"], level, _lower),
        replace(
            _judged("ue_many", large_epsilon, level, _lower), already_from=_surely_from(many["3"], level)
        ),
        _judged("ue_few", few["3"], level, _similar),
        _judged("both_better_real", [*stored["4"], *stored["5"]], level, _both_better),
        _judged("rr_real", stored["4"], level, _similar),
        _can_be_lower("ue_real", stored["5"], level),
    )


def against_inv_p(rows: Sequence[Errors], stored: Stored) -> Count:
    """In how many of these settings maximum likelihood is surely better than InvP (yes), and surely worse (no).

    Args:
        rows: settings of the figures.
        stored: errors of all settings of the figures, over which the level of the tests is held.
    """
    return _count([_lower(row, _level(stored)) for row in rows])


Question = Callable[[Errors, float], bool | None]


def worse_of_both(row: Errors) -> float:
    """Mean error of InvP or of maximum likelihood, whichever is larger, divided by that of Inv."""
    return max(row.mean["inv_p"], row.mean["mle"]) / row.mean["inv"]


def _level(stored: Stored) -> float:
    """Level of a single one-sided test."""
    return FAMILY_LEVEL / (2 * len(PAIRS) * sum(len(rows) for rows in stored.values()))


def _count(answers: Sequence[bool | None]) -> Count:
    return Count(answers.count(True), answers.count(False), answers.count(None), 0, ())


def _is_few(row: Errors) -> bool:
    return row.setting.n <= FEW_PER_CATEGORY * row.setting.k


def _wide(row: Errors, level: float) -> float:
    """Critical value of a one-sided t test at this level, in standard errors."""
    return float(-special.stdtrit(row.collections - 1, level))


def _below(row: Errors, pair: tuple[str, str], level: float) -> bool | None:
    """Whether the first of two estimates has the smaller expected error."""
    difference, error = row.difference[pair], row.difference_error[pair]
    return difference < 0 if abs(difference) > _wide(row, level) * error else None


def _lower(row: Errors, level: float) -> bool | None:
    return _below(row, _MLE, level)


def _surely_from(rows: Sequence[Errors], level: float) -> float | None:
    """The smallest epsilon from which on maximum likelihood is surely better in all of these settings."""
    missing = [row.setting.epsilon for row in rows if not _lower(row, level)]
    beyond = [row.setting.epsilon for row in rows if row.setting.epsilon > max(missing, default=0.0)]
    return min(beyond, default=None)


def _both_better(row: Errors, level: float) -> bool | None:
    answers = [_below(row, (name, "inv"), level) for name in ("inv_p", "mle")]
    return False if False in answers else None if None in answers else True


def _similar(row: Errors, level: float) -> bool | None:
    ratio, error = row.ratio(*_MLE)
    low, high = ratio - _wide(row, level) * error, ratio + _wide(row, level) * error
    if low >= 1 / SIMILAR and high <= SIMILAR:
        return True
    return False if low > SIMILAR or high < 1 / SIMILAR else None


def _judged(key: SentenceKey, rows: Sequence[Errors], level: float, question: Question) -> Sentence:
    count = _count([question(row, level) for row in rows])
    return _sentence(key, verdict_on(count), count, rows, question is _both_better)


def _can_be_lower(key: SentenceKey, rows: Sequence[Errors], level: float) -> Sentence:
    """Whether there is, for each protocol and population, a setting where maximum likelihood has the smaller error."""
    answers = [_lower(row, level) for row in rows]
    by_group = groupby(sorted(zip(map(_group, rows), answers, strict=True), key=lambda pair: pair[0]), _first)
    found = [any(answer is True for _, answer in group) for _, group in by_group]
    return _sentence(key, verdict_on(_count(found)), _count(answers), rows, False)


def _group(row: Errors) -> tuple[str, str]:
    return row.setting.protocol, row.setting.population


def _first(pair: tuple[tuple[str, str], bool | None]) -> tuple[str, str]:
    return pair[0]


def _sentence(
    key: SentenceKey, verdict: Verdict, count: Count, rows: Iterable[Errors], both: bool
) -> Sentence:
    ordered = sorted(rows, key=worse_of_both if both else lambda row: row.ratio(*_MLE)[0])
    return Sentence(key, verdict, count.yes, count.no, count.undecided, ordered[0], ordered[-1])
