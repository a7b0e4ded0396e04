"""The figures of Lopuhaä-Zwakenberg et al. and their sentences, against the numbers they speak of."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rr_core.experiments.protocol_claims import against_inv_p, sentences
from rr_core.experiments.protocols import ESTIMATES, JEFFREYS, Setting, measure, stored
from rr_core.figures.experiments_protocols import (
    FIGURE_NAMES,
    PROTOCOL_NAMES,
    error_curves,
    errors_in_words,
    evidence,
    look,
    panel_name,
    paper_says,
)
from rr_core.figures.style import QUANTITIES, for_a_room, reading
from tests.figures.samples import values
from tests.figures.test_every_figure import check
from tests.sentences import holds
from tests.sentences.spoken import numbers, reads

DRAWN = [
    (key, protocol, truth)
    for key, protocol, truth in product(FIGURE_NAMES, PROTOCOL_NAMES, ("fixed", "sampled"))
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


@pytest.mark.parametrize(("key", "protocol", "truth"), DRAWN)
def test_the_reading_tells_the_ratios_at_the_largest_epsilon(key, protocol, truth):
    rows = rows_of(key, protocol, truth)
    text = reading(curves_of(rows))
    largest = max(row.setting.epsilon for row in rows)
    assert text.startswith(f"At ε = {largest:g} the squared error of MLE{'*' * (protocol == 'k_rr')} is ")
    for row in rows:
        if row.setting.epsilon == largest:
            ratio = row.ratio("mle", "inv_p")[0]
            assert any(reads(number, ratio) for number in numbers(text)), (text, ratio)


def test_the_reading_counts_who_has_the_smallest_mean():
    rows = rows_of("5", "oue", "fixed")
    first = [min(ESTIMATES, key=lambda name: row.mean[name]) for row in rows]
    said = reading(curves_of(rows)).partition("Smallest mean error: ")[2]
    for name in ESTIMATES:
        assert (f"{look(name, 'oue').name} in {first.count(name)}" in said) == (first.count(name) > 0)


@holds(
    ", surely worse in {}",
)
@pytest.mark.parametrize(("key", "protocol", "truth"), DRAWN)
def test_the_reading_counts_where_maximum_likelihood_is_surely_better(key, protocol, truth):
    rows = rows_of(key, protocol, truth)
    found = against_inv_p(rows, stored())
    said = reading(curves_of(rows))
    assert f"Of {len(rows)} settings MLE" in said
    assert f"is surely better than InvP in {found.yes}" in said
    assert (f", surely worse in {found.no}. " in said) == (found.no > 0)


def test_estimates_look_as_everywhere():
    for name in ("inv", "inv_n", "inv_p"):
        assert look(name, "oue") is QUANTITIES[name]
    assert look("mle", "k_rr") is QUANTITIES["mle_star"]
    assert look("mle", "oue").name == "MLE"
    assert look("mle", "oue").colour == QUANTITIES["mle_star"].colour


@holds(
    "surely so",
)
def test_evidence_tells_the_counts_and_the_worst_setting():
    for one in sentences(stored()):
        said = evidence(one)
        assert said.startswith(f"Of {one.total} settings: ")
        for count, words in ((one.yes, "surely so"), (one.no, "surely not"), (one.undecided, "not settled")):
            assert (f"{words} in {count}" in said) == (count > 0)
        assert "nan" not in said
        assert paper_says(one).endswith(")")
        if one.key not in ("both_better", "both_better_real"):
            low, high = (row.ratio("mle", "inv_p")[0] for row in (one.lowest, one.highest))
            ends = numbers(said.partition("MLE/InvP: ")[2])[:2]
            assert reads(ends[0], low)
            assert reads(ends[1], high)
            worst = numbers(said.partition("; worst ")[2])[0]
            similar = one.key in ("rr_many", "ue_few", "rr_real")
            assert reads(worst, low if similar and 1 / low > high else high)


@pytest.mark.parametrize("protocol", PROTOCOL_NAMES)
def test_a_new_run_in_words(protocol):
    for row in measure(Setting(protocol, JEFFREYS, 4, 1.0, 60), 5):
        said = errors_in_words(row)
        told = numbers(said)
        assert "5 collections" in said
        for name in ESTIMATES:
            assert any(reads(number, row.mean[name]) for number in told)
        assert any(reads(number, row.ratio("mle", "inv_p")[0]) for number in told)
