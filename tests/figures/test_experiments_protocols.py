"""The figures of Lopuhaä-Zwakenberg et al. and their sentences, against the numbers they speak of."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from scipy import stats

from rr_core.experiments.protocols import (
    EPSILONS,
    ESTIMATES,
    JEFFREYS,
    PAIRS,
    Errors,
    Setting,
    against_inv_p,
    measure,
    sentences,
    stored,
)
from rr_core.figures.experiments_protocols import error_curves, look
from rr_core.figures.style import QUANTITIES, for_a_room, reading
from rr_core.words.experiments_protocols import (
    FIGURE_NAMES,
    LOPUHAA_PROTOCOL_NAMES,
    _smallest,
    curves_in_words,
    errors_in_words,
    lopuhaa_evidence,
    panel_name,
)
from tests.figures.samples import values
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.spoken import tells

DRAWN = [
    (key, protocol, truth)
    for key, protocol, truth in product(FIGURE_NAMES, LOPUHAA_PROTOCOL_NAMES, ("fixed", "sampled"))
    if any((row.setting.protocol, row.truth) == (protocol, truth) for row in stored()[key])
]


def curves_of(rows, relative=False):
    return error_curves(rows, against_inv_p(rows, stored()), relative)


def rows_of(key, protocol, truth):
    return [row for row in stored()[key] if (row.setting.protocol, row.truth) == (protocol, truth)]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(("key", "protocol", "truth"), DRAWN)
def test_every_figure_is_valid_and_draws_its_numbers(key, protocol, truth, relative):
    rows = rows_of(key, protocol, truth)
    drawn = curves_of(rows, relative)
    check(drawn)
    check(for_a_room(drawn))
    panels = list(dict.fromkeys(panel_name(row.setting) for row in rows))
    heads = [note.text.replace("<b>", "").replace("</b>", "") for note in drawn.layout.annotations]
    assert heads == panels
    assert len([trace for trace in drawn.data if trace.showlegend]) == (2 if relative else len(ESTIMATES))
    for index, name in enumerate(panels):
        of = [row for row in rows if panel_name(row.setting) == name]
        traces = [trace for trace in drawn.data if trace.xaxis == (f"x{index + 1}" if index else "x")]
        if relative:
            expected = [[1.0] * len(of), [row.ratio("mle", "inv_p")[0] for row in of]]
        else:
            expected = [[row.mean[estimate] for row in of] for estimate in ESTIMATES]
        assert len(traces) == len(expected)
        for trace, numbers_of in zip(traces, expected, strict=True):
            np.testing.assert_allclose(values(trace), numbers_of, rtol=1e-12)
            np.testing.assert_array_equal(values(trace, "x"), [row.setting.epsilon for row in of])
            axis = drawn.layout[f"yaxis{index + 1}" if index else "yaxis"]
            low, high = axis.range
            at = values(trace) if relative else np.log10(values(trace))
            assert low < at.min() <= at.max() < high


def test_estimates_look_as_everywhere():
    for name in ("inv", "inv_n", "inv_p"):
        assert look(name, "oue") == QUANTITIES[name]
    assert look("mle", "k_rr") == QUANTITIES["mle_star"]
    assert look("mle", "oue").name == "MLE"
    assert look("mle", "oue").colour == QUANTITIES["mle_star"].colour


class MadeUp:
    """The errors of all settings of the figures, made at random, collection by collection; and what is so in them."""

    def __init__(self, rng):
        settings = [(key, row.setting, row.truth) for key, rows in stored().items() for row in rows]
        times, wide = int(rng.choice([30, 100])), rng.choice([0.02, 0.3])
        level = np.exp(rng.normal(0, rng.choice([0.0, 0.05, 0.5]), (len(settings), 1, 4)))
        level *= [rng.choice([1.0, 3.0]), 1.0, rng.choice([1.0, 1.2]), rng.choice([0.8, 1.0, 1.003, 1.05])]
        if rng.random() < 0.5:  # better from some epsilon on
            late = np.array([setting.epsilon for _, setting, _ in settings]) > rng.choice([0.5, 1.1, 1.7])
            level[late, 0, 3] = level[late, 0, 2] * 0.6
        errors = level * np.exp(rng.normal(0, wide, (len(settings), times, 4)))
        self.wide = stats.t.isf(0.05 / (2 * 3 * len(settings)), df=times - 1)
        self.each, self.stored = {}, {key: [] for key in stored()}
        mean, spread = errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(times)
        for i, (key, setting, truth) in enumerate(settings):
            difference, difference_error = {}, {}
            for first, second in PAIRS:
                between = errors[i, :, ESTIMATES.index(first)] - errors[i, :, ESTIMATES.index(second)]
                difference[first, second] = float(between.mean())
                difference_error[first, second] = float(between.std(ddof=1) / np.sqrt(times))
            means, spreads = (dict(zip(ESTIMATES, one[i].tolist(), strict=True)) for one in (mean, spread))
            row = Errors(setting, truth, times, means, spreads, difference, difference_error)
            self.stored[key].append(row)
            self.each[id(row)] = dict(zip(ESTIMATES, errors[i].T, strict=True))

    def ratio(self, row, first, second):
        """Of mean errors, and its standard error: that of what is left of the one beside so many times the other."""
        one, other = self.each[id(row)][first], self.each[id(row)][second]
        ratio = one.mean() / other.mean()
        return ratio, (one - ratio * other).std(ddof=1) / np.sqrt(one.size) / other.mean()

    def lower(self, row, first="mle", second="inv_p"):
        """Whether the first is surely lower, surely not, or None."""
        between = self.each[id(row)][first] - self.each[id(row)][second]
        far = between.mean() / (between.std(ddof=1) / np.sqrt(between.size))
        return far < 0 if abs(far) > self.wide else None

    def similar(self, row):
        ratio, error = self.ratio(row, "mle", "inv_p")
        low, high = ratio - self.wide * error, ratio + self.wide * error
        if low >= 1 / 1.1 and high <= 1.1:
            return True
        return False if low > 1.1 or high < 1 / 1.1 else None

    def both_better(self, row):
        answers = {self.lower(row, name, "inv") for name in ("inv_p", "mle")}
        return False if False in answers else None if None in answers else True


def bears_on(key, made):
    """The settings that a sentence of the paper is about."""
    s = made.stored
    few, many = (
        {of: [row for row in rows if (row.setting.n == 10 * row.setting.k) == yes] for of, rows in s.items()}
        for yes in (True, False)
    )
    return {
        "both_better": [*s["2"], *s["3"]],
        "rr_many": many["2"],
        "rr_few": few["2"],
        "ue_many": [row for row in many["3"] if row.setting.epsilon > 1.5],
        "ue_few": few["3"],
        "both_better_real": [*s["4"], *s["5"]],
        "rr_real": s["4"],
        "ue_real": s["5"],
    }[key]


@holds("surely so", ", surely worse in {}")
@recomputes(errors_in_words, lopuhaa_evidence, curves_in_words, _smallest)
def test_what_is_told_of_the_figures_is_so_in_their_collections(many):
    rng = np.random.default_rng(40)
    for _ in range(2 + many // 50):
        made = MadeUp(rng)
        for one in sentences(made.stored):
            _evidence_is_right(one, made)
        for key, protocol, truth in DRAWN:
            rows = [r for r in made.stored[key] if (r.setting.protocol, r.truth) == (protocol, truth)]
            _reading_is_right(reading(error_curves(rows, against_inv_p(rows, made.stored))), rows, made)
            ratio = made.ratio(rows[0], "mle", "inv_p")
            means = [made.each[id(rows[0])][name].mean() for name in ("inv", "inv_n", "inv_p", "mle")]
            text = errors_in_words(rows[0])
            tells(text, rows[0].collections, *means, *ratio)
            assert ("MLE*" in text) == (protocol == "k_rr")


def _evidence_is_right(one, made):
    rows, text = bears_on(one.key, made), lopuhaa_evidence(one)
    both, similar = one.key.startswith("both_better"), one.key in ("rr_many", "ue_few", "rr_real")
    question = made.both_better if both else made.similar if similar else made.lower
    answers = [question(row) for row in rows]
    pairs = (("inv_p", "inv"), ("mle", "inv")) if both else (("mle", "inv_p"),)
    ratios = [max(made.ratio(row, *pair) for pair in pairs) for row in rows]
    worst = max(
        range(len(rows)), key=lambda i: max(ratios[i][0], 1 / ratios[i][0]) if similar else ratios[i][0]
    )
    counts = {"surely so": True, "surely not": False, "not settled": None}
    expected = [len(rows), *(answers.count(answer) for answer in counts.values() if answer in answers)]
    for words, answer in counts.items():
        assert (f"{words} in {answers.count(answer)}" in text) == (answer in answers), text
    if "It surely is from" in text:
        large = [row for row in made.stored["3"] if row.setting.n > 10 * row.setting.k]
        missing = [row.setting.epsilon for row in large if not made.lower(row)]
        assert one.key == "ue_many"
        expected += [min(e for e in EPSILONS if e > max(missing, default=0))]
    groups = {(row.setting.protocol, row.setting.population) for row in rows}
    so = {(r.setting.protocol, r.setting.population) for r, yes in zip(rows, answers, strict=True) if yes}
    exists = "For each data set and encoding there is one where it is." in text
    assert exists == (one.key == "ue_real" and so == groups), text
    at = rows[worst].setting
    found = [ratio for ratio, _ in ratios]
    tells(text, *expected, min(found), max(found), *ratios[worst], at.k, at.n, at.epsilon)
    assert text.endswith(f"{'these people' if rows[worst].truth == 'fixed' else 'their population'}.")
    assert ("Inv:" in text) == both


def _reading_is_right(text, rows, made):
    largest = max(row.setting.epsilon for row in rows)
    by_size = len({row.setting.population for row in rows}) == 1
    expected = [largest]
    for row in rows:
        if row.setting.epsilon == largest:
            ratio = made.ratio(row, "mle", "inv_p")[0]
            expected += [] if 0.9995 <= ratio < 1.005 else [ratio]
            expected += [row.setting.n] if by_size else []
    answers = [made.lower(row) for row in rows]
    assert (", surely worse in " in text) == (False in answers)
    expected += [len(rows), answers.count(True), *([answers.count(False)] if False in answers else [])]
    first = [min(ESTIMATES, key=lambda name: made.each[id(row)][name].mean()) for row in rows]
    smallest = text.partition("Smallest mean error: ")[2]
    names = {look(name, rows[0].setting.protocol).name: first.count(name) for name in ESTIMATES}
    told = {name: int(count) for name, count in re.findall(r"(\S+) in (\d+)", smallest)}
    assert told == {name: count for name, count in names.items() if count}
    tells(text.partition(" Smallest mean error")[0], *expected)


def test_no_setting_of_the_figures_has_two_smallest_errors():
    """Else one of them would be left out of the count of the smallest."""
    for rows in stored().values():
        for row in rows:
            first, second, *_ = sorted(row.mean.values())
            assert second > first * (1 + 1e-9)


@pytest.mark.parametrize("protocol", LOPUHAA_PROTOCOL_NAMES)
def test_a_new_run_is_told_in_words(protocol):
    for row in measure(Setting(protocol, JEFFREYS, 4, 1.0, 60), 5):
        tells(errors_in_words(row), 5, *(row.mean[name] for name in ESTIMATES), *row.ratio("mle", "inv_p"))
        assert "nan" not in errors_in_words(row)
