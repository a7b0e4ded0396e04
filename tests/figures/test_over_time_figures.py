"""The figures about reports on many days, against the numbers they speak of."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core.figures.over_time import NAMES, SCHEME_LOOKS, budget, errors, exposure
from rr_core.figures.style import QUANTITIES, for_a_room
from rr_core.ibu import log_spaced
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses, simulated_rmse
from tests.figures.test_every_figure import check

ENDS = [(2, 0.01, 1, 1), (12, 1.0, 2000, 30), (100, 20.0, 10**9, 365)]


def schemes(k, epsilon):
    return {key: Longitudinal(key, k, epsilon) for key in NAMES}


def test_every_scheme_has_a_name_and_a_look_of_its_own():
    assert set(NAMES) == set(SCHEMES) == set(SCHEME_LOOKS)
    for part in ("colour", "symbol", "dash"):
        assert len({getattr(look, part) for look in SCHEME_LOOKS.values()}) == len(SCHEMES)
    assert not {look.colour for look in SCHEME_LOOKS.values()} & {one.colour for one in QUANTITIES.values()}


@pytest.mark.parametrize(("k", "epsilon", "n", "t"), ENDS)
def test_figures_at_the_ends_are_valid_and_hold_all_days(k, epsilon, n, t):
    days, prior = log_spaced(t, 8)[1:], np.full(k, 1 / k)
    every, users = schemes(k, epsilon), np.bincount(np.arange(min(n, 1000)) % k, minlength=k)
    right = {key: guesses(scheme, prior, days, 50, 1).right for key, scheme in every.items()}
    spent = {key: scheme.epsilon_after(days) for key, scheme in every.items()}
    changing = {key: scheme.epsilon_any_changes(days, days - 1) for key, scheme in every.items()}
    formulas = {key: np.sqrt(scheme.variance(1 / k, n, days)) for key, scheme in every.items()}
    simulated = {key: simulated_rmse(scheme, users, days[-1:], 2, 1) for key, scheme in every.items()}
    for figure in (
        exposure(days, right, 1 / k),
        budget(days, spent),
        budget(days, changing, spent, t - 1),
        errors(days, formulas, days[-1:], simulated),
    ):
        check(for_a_room(figure))
        low, high = figure.layout.xaxis.range
        assert low < 0 <= np.log10(t) < high
        assert {1, t} <= set(figure.layout.xaxis.tickvals)
        if figure.layout.yaxis.type == "log":
            assert 2 <= len(figure.layout.yaxis.tickvals) <= 8
            drawn = np.concatenate([np.log10(trace.y[np.asarray(trace.y) > 0]) for trace in figure.data])
            low, high = figure.layout.yaxis.range
            assert low < drawn.min() <= drawn.max() < high


def test_a_budget_under_the_mouse_is_never_below_what_is_spent():
    days = np.array([1, 10, 30])
    schemes = {key: Longitudinal(key, 4, 1.5) for key in ("memoised", "rappor")}
    spent = {key: scheme.epsilon_any_changes(days, (days - 1) // 7) for key, scheme in schemes.items()}
    known = {key: scheme.epsilon_changing(days, 7) for key, scheme in schemes.items()}
    for trace in budget(days, spent, known, 4).data:
        for told, true in zip(trace.customdata, trace.y, strict=True):
            assert np.isnan(true) or float(told) >= true * (1 - 1e-12), (trace.name, told, true)


def test_an_axis_of_one_value_has_ticks():
    figure = budget([1], {"memoised": np.array([0.0123])})
    check(figure)
    assert len(figure.layout.yaxis.tickvals) >= 2
