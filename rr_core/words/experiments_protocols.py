"""Sentences on errors under k-RR and unary encoding, and on what Lopuhaä-Zwakenberg et al. say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rr_core.experiments.protocols import ESTIMATES, Errors, FigureKey, ProtocolKey, Sentence, Setting
from rr_core.experiments.ranking import Count
from rr_core.metrics import Users
from rr_core.populations import TABLES
from rr_core.registry import LABELS
from rr_core.rounding import counted, number
from rr_core.words.experiments import WORDS
from rr_core.words.phrases import listed

_LOPUHAA = WORDS["lopuhaa"]
LOPUHAA_PROTOCOL_NAMES: Mapping[ProtocolKey, str] = _LOPUHAA["protocols"]
FIGURE_NAMES: Mapping[FigureKey, str] = _LOPUHAA["figures"]
_POPULATIONS: Mapping[str, str] = _LOPUHAA["populations"] | {"work": TABLES["work"].name}
_OF_SIMILAR, _OF_BOTH = ("rr_many", "ue_few", "rr_real"), ("both_better", "both_better_real")
_EXISTS = " For each data set and encoding there is one where it is."
_SHORT: Mapping[ProtocolKey, str] = {"k_rr": "k-RR", "oue": "OUE", "sue": "SUE"}
_WHOSE: Mapping[Users, str] = {"fixed": "against these people", "sampled": "against their population"}


def estimate_name(name: str, protocol: ProtocolKey) -> str:
    """What an estimate is called; the maximum likelihood of unary encoding has no star."""
    return LABELS["mle_star" if (name, protocol) == ("mle", "k_rr") else name]


def panel_name(setting: Setting) -> str:
    """Population, K and N in a few words."""
    return f"{_POPULATIONS[setting.population]}, K = {setting.k:,}, N = {setting.n:,}"


def errors_in_words(row: Errors) -> str:
    """The errors of one setting, in one sentence."""
    ratio, error = row.ratio("mle", "inv_p")
    each = listed(
        [f"{estimate_name(name, row.setting.protocol)} {number(row.mean[name])}" for name in ESTIMATES]
    )
    return (
        f"Mean squared errors, summed over categories, from {counted(row.collections, 'collection')}: {each}. "
        f"{estimate_name('mle', row.setting.protocol)} divided by InvP: {_with_error(ratio, error)}."
    )


def lopuhaa_says(sentence: Sentence) -> str:
    """The sentence, in the words of the paper as far as they are short."""
    return str(_LOPUHAA["says"][sentence.key])


def lopuhaa_evidence(sentence: Sentence) -> str:
    """The numbers behind a verdict."""
    found = sentence.count
    parts = ((found.yes, "surely so"), (found.no, "surely not"), (found.undecided, "not settled"))
    told = ", ".join(f"{words} in {count}" for count, words in parts if count)
    ends = " to ".join(number(_ratio(sentence, row)[0]) for row in (sentence.lowest, sentence.highest))
    pair = "MLE/InvP"
    if sentence.key in _OF_BOTH:
        pair = "The larger of InvP and MLE, divided by Inv"
    row, low = sentence.highest, sentence.lowest  # of those that are to be similar, the farther from 1
    if sentence.key in _OF_SIMILAR and 1 / _ratio(sentence, low)[0] > _ratio(sentence, row)[0]:
        row = low
    one = row.setting
    at = f"{_SHORT[one.protocol]}, {panel_name(one)}, ε = {one.epsilon:g}, {_WHOSE[row.truth]}"
    worst = f"{_with_error(*_ratio(sentence, row))} for {at}"
    more = _EXISTS if sentence.key == "ue_real" and sentence.verdict == "holds" else ""
    if sentence.already_from is not None:
        more = f" It surely is from ε = {sentence.already_from:g} on."
    return f"Of {counted(found.total, 'setting')}: {told}.{more} {pair}: {ends}; worst {worst}."


def curves_in_words(panels: Sequence[Sequence[Errors]], against: Count) -> str:
    """MLE's error over InvP's at the largest epsilon of each panel, and how often each has the smallest mean."""
    last = [panel[-1] for panel in panels]
    by_size = len({row.setting.population for row in last}) == 1
    parts = []
    for row in last:
        population = _POPULATIONS[row.setting.population]
        of = f"with N = {row.setting.n:,}" if by_size else f"for {population[0].lower()}{population[1:]}"
        parts.append(f"{_times_inv_p(row.ratio('mle', 'inv_p')[0])} InvP’s {of}")
    name = estimate_name("mle", last[0].setting.protocol)
    worse = f", surely worse in {against.no}" if against.no else ""
    return (
        f"At ε = {last[0].setting.epsilon:g} the squared error of {name} is {listed(parts)}. "
        f"Of {counted(against.total, 'setting')} {name} is surely better than InvP in {against.yes}{worse}. "
        f"{_smallest([row for panel in panels for row in panel])}"
    )


def _times_inv_p(ratio: float) -> str:
    return "about the same as" if number(ratio) == "1" else f"{number(ratio)} times"


def _smallest(rows: Sequence[Errors]) -> str:
    first = [min(row.mean, key=row.mean.__getitem__) for row in rows]
    counts = sorted(((first.count(name), name) for name in set(first)), reverse=True)
    each = [f"{estimate_name(name, rows[0].setting.protocol)} in {count}" for count, name in counts]
    return f"Smallest mean error: {listed(each)}."


def _ratio(sentence: Sentence, row: Errors) -> tuple[float, float]:
    if sentence.key not in _OF_BOTH:
        return row.ratio("mle", "inv_p")
    return max(row.ratio("inv_p", "inv"), row.ratio("mle", "inv"))


def _with_error(ratio: float, error: float) -> str:
    return f"{number(ratio)} (± {number(error, 1)})"
