"""The figures of Lopuhaä-Zwakenberg et al. and their sentences, against the numbers they speak of."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from rr_core.experiments.protocols import (
    ESTIMATES,
    JEFFREYS,
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


@pytest.mark.parametrize(("key", "protocol", "truth"), DRAWN)
def test_every_figure_is_valid_and_draws_its_numbers(key, protocol, truth):
    rows = rows_of(key, protocol, truth)
    panels = list(dict.fromkeys(panel_name(row.setting) for row in rows))
    for relative in (False, True):
        drawn = curves_of(rows, relative)
        check(for_a_room(drawn))
        assert [re.sub("</?b>", "", note.text) for note in drawn.layout.annotations] == panels
        for index, name in enumerate(panels):
            of = [row for row in rows if panel_name(row.setting) == name]
            expected = [[row.mean[estimate] for row in of] for estimate in ESTIMATES]
            if relative:
                expected = [[1.0] * len(of), [row.ratio("mle", "inv_p")[0] for row in of]]
            suffix = str(index + 1) if index else ""
            traces = [trace for trace in drawn.data if trace.xaxis == f"x{suffix}"]
            low, high = drawn.layout[f"yaxis{suffix}"].range
            for trace, numbers_of in zip(traces, expected, strict=True):
                np.testing.assert_allclose(values(trace), numbers_of, rtol=1e-12)
                np.testing.assert_array_equal(values(trace, "x"), [row.setting.epsilon for row in of])
                at = values(trace) if relative else np.log10(values(trace))
                assert low < at.min() <= at.max() < high


def test_estimates_look_as_everywhere():
    for name in ("inv", "inv_n", "inv_p"):
        assert look(name, "oue") == QUANTITIES[name]
    assert look("mle", "k_rr") == QUANTITIES["mle_star"]
    assert look("mle", "oue").name == "MLE"
    assert look("mle", "oue").colour == QUANTITIES["mle_star"].colour


@holds("surely so", ", surely worse in {}")
@recomputes(errors_in_words, lopuhaa_evidence, curves_in_words, _smallest)
def test_what_is_told_of_the_figures_is_so_in_their_errors():
    for one in sentences(stored()):
        _evidence_is_right(one, lopuhaa_evidence(one))
    for key, protocol, truth in DRAWN:
        rows = rows_of(key, protocol, truth)
        _reading_is_right(reading(curves_of(rows)), rows)
        text = errors_in_words(rows[0])
        tells(text, rows[0].collections, *rows[0].mean.values(), *rows[0].ratio("mle", "inv_p"))
        assert ("MLE*" in text) == (protocol == "k_rr")


def _evidence_is_right(one, text):
    pairs = [("inv_p", "inv"), ("mle", "inv")] if one.key.startswith("both_better") else [("mle", "inv_p")]
    lowest, highest = (max(row.ratio(*pair) for pair in pairs) for row in (one.lowest, one.highest))
    counts = {"surely so": one.count.yes, "surely not": one.count.no, "not settled": one.count.undecided}
    for words, count in counts.items():
        assert (f"{words} in {count}" in text) == bool(count), text
    is_similar = one.key in ("rr_many", "ue_few", "rr_real")  # the worst is the farther from 1
    worst, row = (lowest, one.lowest) if is_similar and 1 / lowest[0] > highest[0] else (highest, one.highest)
    expected = [
        one.count.total,
        *filter(None, counts.values()),
        *([one.already_from] if one.already_from else []),
    ]
    at = row.setting
    tells(text, *expected, lowest[0], highest[0], *worst, at.k, at.n, at.epsilon)
    assert text.endswith(f"{'these people' if row.truth == 'fixed' else 'their population'}.")


def _reading_is_right(text, rows):
    largest, against = max(row.setting.epsilon for row in rows), against_inv_p(rows, stored())
    by_size = len({row.setting.population for row in rows}) == 1
    expected = [largest]
    for row in rows:
        if row.setting.epsilon == largest:
            ratio = row.ratio("mle", "inv_p")[0]
            expected += [] if 0.9995 <= ratio < 1.005 else [ratio]
            expected += [row.setting.n] if by_size else []
    assert (", surely worse in " in text) == (against.no > 0)
    told, _, smallest = text.partition(" Smallest mean error: ")
    tells(told, *expected, against.total, against.yes, *filter(None, [against.no]))
    first = [min(row.mean, key=row.mean.__getitem__) for row in rows]
    counts = {look(name, rows[0].setting.protocol).name: first.count(name) for name in set(first)}
    assert {name: int(count) for name, count in re.findall(r"(\S+) in (\d+)", smallest)} == counts


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
