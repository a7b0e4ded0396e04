"""The table of what maximum likelihood gains under unary encoding: complete, consistent, and measured again in small."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rr_core.protocols import UnaryEncoding
from rr_core.protocols.measured import mle_gains
from tests.benchmarks.unary_gain import CATEGORIES, EPSILONS, USERS_PER_CATEGORY, squared_errors


def test_every_setting_is_in_the_table_once():
    settings = [(gain.encoding, gain.k, gain.epsilon, gain.n // gain.k) for gain in mle_gains()]
    assert settings == list(itertools.product(("sue", "oue"), CATEGORIES, EPSILONS, USERS_PER_CATEGORY))


def test_ratios_are_those_of_the_errors():
    for gain in mle_gains():
        assert gain.ratio == pytest.approx(gain.mse_mle / gain.mse_inv_p, abs=1e-4)
        assert 0 < gain.error < 0.011
        assert gain.replicates >= 400


def test_what_the_table_shows():
    """As the docstring of the module has it."""
    for gain in mle_gains():
        if gain.epsilon == 0.5:
            assert abs(gain.ratio - 1) <= 0.0205
        if gain.epsilon == 4 and gain.n >= 10 * gain.k:
            assert 0.545 <= gain.ratio <= 0.875
            assert gain.ratio + 4 * gain.error < 1
        if gain.ratio - 4 * gain.error > 1.025:
            assert (gain.encoding, gain.n) == ("sue", 3 * gain.k)
    worst = max(mle_gains(), key=lambda gain: gain.ratio)
    assert worst.ratio == pytest.approx(1.05, abs=0.005)
    assert worst.ratio - 4 * worst.error > 1


@pytest.mark.parametrize("setting", [gain for gain in mle_gains() if gain.n <= 500][::4], ids=str)
def test_measured_again(setting):
    """Other replicates, fewer: within five standard errors of the difference."""
    protocol, replicates = UnaryEncoding(setting.k, setting.epsilon, setting.encoding == "oue"), 60
    errors = squared_errors(protocol, setting.n, replicates, 2)
    inv_p, maximum = errors.mean(axis=0)
    rest = errors[:, 1] - setting.ratio * errors[:, 0]
    error = np.hypot(rest.std(ddof=1) / np.sqrt(replicates) / inv_p, setting.error)
    assert abs(maximum / inv_p - setting.ratio) < 5 * error
