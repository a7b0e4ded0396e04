"""The figures about reports on many days, against the numbers they speak of."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core.figures.over_time import NAMES, SCHEME_LOOKS, budget, errors, exposure
from rr_core.figures.style import QUANTITIES, for_a_room, reading
from rr_core.ibu import log_spaced
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, simulated_rmse
from tests.figures.test_every_figure import check

ENDS = [
    (2, 0.01, 1, 1),
    (12, 1.0, 2000, 30),
    (100, 20.0, 10**9, 365),
    (2, 20.0, 10**9, 3),
]


def schemes(k, epsilon):
    return {key: Longitudinal(key, k, epsilon) for key in NAMES}


def test_every_scheme_has_a_name_and_a_look_of_its_own():
    assert set(NAMES) == set(SCHEMES) == set(SCHEME_LOOKS)
    for part in ("colour", "symbol", "dash"):
        assert len({getattr(look, part) for look in SCHEME_LOOKS.values()}) == len(SCHEMES)
    assert not {look.colour for look in SCHEME_LOOKS.values()} & {one.colour for one in QUANTITIES.values()}


@pytest.mark.parametrize(("k", "epsilon", "n", "t"), ENDS)
def test_figures_at_the_ends_are_valid_and_tell_their_last_day(k, epsilon, n, t):
    days, prior = log_spaced(t, 8)[1:], np.full(k, 1 / k)
    right = {key: guesses(scheme, prior, days, 50, 1).right for key, scheme in schemes(k, epsilon).items()}
    shown = exposure(days, right, 1 / k)
    check(shown)
    spent = {key: scheme.epsilon_after(days) for key, scheme in schemes(k, epsilon).items()}
    formulas = {key: np.sqrt(scheme.variance(1 / k, n, days)) for key, scheme in schemes(k, epsilon).items()}
    users = np.bincount(np.arange(min(n, 1000)) % k, minlength=k)
    simulated = {
        key: simulated_rmse(scheme, users, days[-1:], 2, 1) for key, scheme in schemes(k, epsilon).items()
    }
    for figure in (shown, budget(days, spent), errors(days, formulas, days[-1:], simulated)):
        check(for_a_room(figure))
        assert f"{t} day" in reading(figure)
        low, high = figure.layout.xaxis.range
        assert low < 0
        assert high > np.log10(t)
        assert {1, t} <= set(figure.layout.xaxis.tickvals)
    changing = {
        key: scheme.epsilon_any_changes(days, days - 1) for key, scheme in schemes(k, epsilon).items()
    }
    for figure in (
        budget(days, changing, spent, t - 1),
        budget(days, spent),
        errors(days, formulas, days[-1:], {}),
    ):
        check(figure)
        assert 2 <= len(figure.layout.yaxis.tickvals) <= 8
        drawn = np.concatenate([np.log10(trace.y[np.asarray(trace.y) > 0]) for trace in figure.data])
        low, high = figure.layout.yaxis.range
        assert low < drawn.min()
        assert drawn.max() < high


def test_a_budget_under_the_mouse_is_never_below_what_is_spent():
    days = np.array([1, 10, 30])
    schemes = {key: Longitudinal(key, 4, 1.5) for key in ("memoised", "rappor")}
    spent = {key: scheme.epsilon_any_changes(days, (days - 1) // 7) for key, scheme in schemes.items()}
    known = {key: scheme.epsilon_changing(days, 7) for key, scheme in schemes.items()}
    for trace in budget(days, spent, known, 4).data:
        for told, true in zip(trace.customdata, trace.y, strict=True):
            assert np.isnan(true) or float(told) >= true * (1 - 1e-12), (trace.name, told, true)


@pytest.mark.parametrize("low", [0.0123, 3.4, 0.04])
def test_an_axis_of_one_value_has_ticks(low):
    figure = budget([1], {"memoised": np.array([low])})
    check(figure)
    assert len(figure.layout.yaxis.tickvals) >= 2
