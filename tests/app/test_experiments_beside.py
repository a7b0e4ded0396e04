"""Two runs side by side, in words: by chance where it explains, by ratios where the users are others."""

from dataclasses import replace

import numpy as np
import pytest

from rr_core.experiments.agreement import agreement
from rr_core.experiments.grid import Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.figures.experiments_sentences import agreement_in_words
from tests.core.sweeps import THREE, made

CELLS = over(s=1.0, k=10, epsilon=(1, 2), n=100)
MEANS = [(1.0, 3.0, 2.0), (4.0, 2.0, 2.0)]
ROUNDED = replace(THREE, people="rounded")


def said(first, second, metric="mse"):
    return agreement_in_words(agreement(first, second, metric), first, second)


def of(means, settings, error=0.1, cells=CELLS):
    return made(cells, means, error, settings)


def test_other_users_are_told_in_ratios():
    text = said(of(MEANS, THREE), of([(1.1, 3.0, 2.0), (4.0, 2.0, 0.5)], replace(THREE, seed=2)))
    assert text == (
        "2 cells in common, 6 means compared. The two are about different users, drawn from the same populations, whose "
        "errors really differ. One mean is up to **4 times** the other (MLE\\*, Zipf s = 1, K = 10, ε = 2, N = 100); "
        "the middle ratio is 1."
    )
    assert "standard errors" not in text
    near = said(of(MEANS, THREE), of([(1.004, 3.0, 2.0), (4.0, 2.0, 2.0)], replace(THREE, seed=2)))
    assert near.endswith("whose errors really differ; here by less than 0.5%.")


def test_users_and_their_population_have_different_errors():
    text = said(of(MEANS, THREE), of([(2.0, 3.0, 2.0)], replace(THREE, users="sampled")))
    assert (
        "1 cell in common, 3 means compared. One is about fixed users and the other about their population"
        in text
    )
    assert "up to **2 times** the other (InvN," in text
    assert said(of(MEANS, THREE), of([(2.0, 6.0, 4.0)], replace(THREE, seed=2))).endswith(
        "; 2 times in the middle."
    )


def test_the_same_users_are_told_by_chance():
    """Half the standard error of a difference is that of a mean, so that of two independent ones is a 14th here."""
    text = said(of(MEANS, ROUNDED), of([(1.0, 3.0, 2.0), (4.0, 2.0, 3.0)], replace(ROUNDED, seed=2)))
    assert (
        "The largest difference is **14.1 standard errors** (MLE\\*, Zipf s = 1, K = 10, ε = 2, N = 100); **1** is "
        in text
    )
    assert "beyond 3, where chance alone would put about 0.0" in text
    assert "first" not in text
    none = said(of(MEANS, ROUNDED), of(MEANS, replace(ROUNDED, seed=2)))
    assert "**0** are beyond 3" in none


@pytest.mark.parametrize(("seeds", "same"), [(1, "first collection,"), (30, "first 30 collections,")])
def test_the_same_draws(seeds, same):
    text = said(of(MEANS, THREE), of(MEANS, replace(THREE, seeds=seeds)))
    assert f"Both see the same {same}" in text


def test_what_cannot_be_compared():
    other = of([(1, 2, 3)], THREE, cells=over(k=3, epsilon=1, n=10))
    assert "**no cell in common**" in said(of(MEANS, THREE), other)
    once = replace(THREE, seeds=1)
    text = said(of(MEANS[:1], once, np.nan), of(MEANS[:1], replace(once, seed=2), np.nan))
    assert text == (
        "1 cell in common, but no standard errors: with one collection per cell nothing can be compared."
    )
    equal = said(of(MEANS, THREE), of(MEANS, THREE))
    assert equal.startswith("**The same, bit for bit**: 2 cells in common")


def test_a_real_pair():
    settings = Settings(10, estimators=THREE.estimators, metrics=("mse",), bias=False)
    first, second = (run(Sweep(CELLS, replace(settings, seed=seed))) for seed in (1, 2))
    assert "different users" in said(first, second)
    part = SweepResult(second.sweep, second.cells[:1])
    assert said(first, part).startswith("1 cell in common, 3 means")
