"""The paper's statements beside a run: from results made by hand, where the right answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from rr_core.experiments.findings import KOSARAK, findings
from rr_core.experiments.grid import POINT, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.populations import Population

SETTINGS = Settings(40, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse", "nll"), bias=False)
SHAPES = (0.01, 1.3, 2.5)


@pytest.fixture(scope="module")
def real():
    return run(Sweep(over(s=SHAPES, k=50, epsilon=2.0, n=(50, 100, 200, 400)), SETTINGS))


def made(real, means, error=1e-3, **changes):
    """Cells with these (InvN, InvP, MLE*) mean errors, the same standard error of every difference."""
    cells = []
    for cell, mean in zip(real.cells, means, strict=False):
        both = np.array([mean, mean], dtype=float)
        difference = both[:, :, None] - both[:, None, :]
        errors = np.full(difference.shape, float(error))
        cells.append(replace(cell, mean=both, difference=difference, difference_error=errors, **changes))
    return SweepResult(real.sweep, tuple(cells))


FLAT, PEAKED, EQUAL = (1, 3, 2), (3, 1, 2), (1, 1, 1)


def test_one_statement_per_population_then_two_about_mle_star(real):
    found = findings(made(real, [FLAT] * 4 + [FLAT, FLAT, PEAKED, PEAKED] + [PEAKED] * 4), "mse")
    assert [one.claim for one in found] == [
        "Zipf s = 0.01, near uniform: InvN is best.",
        "Zipf s = 1.3, moderately skewed: InvP and InvN alternate.",
        "Zipf s = 2.5, highly skewed: InvP is best.",
        "MLE* is never the worst of the three on average.",
        "MLE* stays close to the best.",
    ]
    assert [one.verdict for one in found] == ["holds", "holds", "holds", "holds", "does not hold"]
    assert found[0].found == (
        "Smallest mean in 4 cells: InvN in 4, InvP in 0, MLE* in 0. InvN is surely the best in 4, surely not in 0."
    )
    assert found[1].found.endswith(
        "InvN in 2, InvP in 2, MLE* in 0. Of the two, InvP is surely better in 2, InvN in 2."
    )
    assert (
        "up to 2 times the smallest (Zipf s = 0.01, K = 50, ε = 2, N = 50); 2 times in the middle"
        in found[4].found
    )
    assert found[4].found.endswith("at most 1.5 times in 0 of 12.")


@pytest.mark.parametrize(
    ("means", "error", "verdict"),
    [
        ([FLAT] * 4, 1e-3, "does not hold"),
        ([PEAKED] * 4, 1e-3, "does not hold"),
        ([FLAT, PEAKED] * 2, 1e-3, "holds"),
        ([FLAT] + [PEAKED] * 3, 1e-3, "holds"),
        ([FLAT, PEAKED] * 2, 10, "not contradicted"),
        ([EQUAL] * 4, 1e-3, "not tested"),
    ],
)
def test_whether_two_alternate(real, means, error, verdict):
    found = findings(made(real, [FLAT] * 4 + means, error), "mse")[1]
    assert found.verdict == verdict
    if error < 1 and EQUAL not in means:
        assert f"InvP is surely better in {means.count(PEAKED)}, InvN in {means.count(FLAT)}." in found.found


@pytest.mark.parametrize(
    ("means", "error", "verdict"),
    [
        ([FLAT] * 4, 1e-3, "holds"),
        ([FLAT] * 3 + [EQUAL], 1e-3, "holds"),
        ([FLAT] * 4, 10, "not contradicted"),
        ([FLAT] * 2 + [PEAKED] * 2, 1e-3, "depends"),
        ([PEAKED] * 4, 1e-3, "does not hold"),
        ([EQUAL] * 4, 1e-3, "not tested"),
    ],
)
def test_whether_one_is_best(real, means, error, verdict):
    found = findings(made(real, means, error), "mse")
    assert found[0].verdict == verdict
    if EQUAL in means[3:]:
        together = (
            "The three coincide in all 4"
            if means[0] == EQUAL
            else "3 cells (in 1 more they coincide): InvN in 3"
        )
        assert together in found[0].found


@pytest.mark.parametrize(
    ("ratios", "verdict", "words"),
    [
        (
            [1.0, 1.2, 1.5, 1.4],
            "holds",
            "up to 1.5 times the smallest (Zipf s = 0.01, K = 50, ε = 2, N = 200); 1.3 times",
        ),
        ([1.2, 1.2, 1.51, 1.4], "depends", "at most 1.5 times in 3 of 4"),
        (
            [3.0, 5.0, 93.0, 12345.6],
            "does not hold",
            "up to 12,346 times the smallest (Zipf s = 0.01, K = 50",
        ),
        ([1.2] * 9 + [2.0], "mostly holds", "at most 1.5 times in 9 of 10"),
    ],
)
def test_how_close_mle_star_is(real, ratios, verdict, words):
    found = findings(made(real, [(2e4, 1, ratio) for ratio in ratios]), "mse")[-1]
    assert found.verdict == verdict
    assert words in found.found


def test_an_error_of_zero_beside_one_that_is_not(real):
    found = findings(made(real, [(2, 0, 1)] + [EQUAL] * 3), "mse")[-1]
    assert "up to infinitely many times the smallest" in found.found
    assert found.found.endswith("in 0 of 1.")
    alike = findings(made(real, [EQUAL] * 4), "mse")[-1]
    assert (alike.verdict, alike.found) == ("not tested", "The three coincide in all cells.")


def test_mle_star_as_the_worst_is_said(real):
    assert findings(made(real, [(1, 2, 3)] * 4), "mse")[-2].verdict == "does not hold"


def test_of_the_likelihood(real):
    means = [(1.5, 1.25, 1), (1.1, 1.75, 1), EQUAL, EQUAL]
    lowest, poorer = findings(made(real, means), "nll")
    assert lowest.claim == "MLE* always has the lowest negative log-likelihood."
    assert lowest.verdict == "holds"
    assert poorer.verdict == "holds"
    assert (
        "InvN's is surely higher in 2 of 4, by up to 0.5 nats per report (Zipf s = 0.01, K = 50"
        in poorer.found
    )
    assert "ε = 2, N = 50). InvP's is surely higher in 2 of 4, by up to 0.75 nats" in poorer.found
    assert findings(made(real, [(2, 1, 1)] * 4), "nll")[1].verdict == "depends"
    assert findings(made(real, [EQUAL] * 3 + [(2, 2, 1)]), "nll")[1].verdict == "does not hold"


def test_a_point_mass_stands_for_the_captions_exponent():
    result = run(Sweep(over(dist=POINT, k=20, epsilon=1.0, n=100), SETTINGS))
    assert findings(result, "mse")[0].claim.endswith("drawn in the place of s = 5: InvP is best.")


@pytest.mark.parametrize(
    ("weights", "claim"),
    [
        ([900] + [1] * 99, "Your histogram, peaked as KOSARAK is said to be: InvP is best."),
        (np.arange(1, 101) ** 3, "Your histogram, moderate as ACSINCOME: InvP and InvN alternate."),
        ([5] * 100, "Your histogram, near uniform: InvN is best."),
        ([5] * KOSARAK, "Your histogram, peaked as KOSARAK is said to be: InvP is best."),
    ],
)
def test_a_histogram_of_ones_own(weights, claim):
    given = Population.from_weights(np.asarray(weights))
    cells = over(dist=given.key, k=given.k, epsilon=3.0, n=1000)
    found = findings(run(Sweep(cells, replace(SETTINGS, seeds=2)), populations={given.key: given}), "mse")
    assert found[0].claim == claim
    squared = float((given.probabilities**2).sum())
    assert f"squared shares sum to {squared:.2g};" in found[0].found


def test_the_yardstick_populations_are_described_right():
    """The sums of squares that stand in the sentence."""
    for s, said in ((0.01, 0.0001), (1.3, 0.094), (2.5, 0.58)):
        weights = np.arange(1, 10_001) ** -s
        assert ((weights / weights.sum()) ** 2).sum() == pytest.approx(said, rel=0.01)


def test_nothing_to_say(real):
    assert findings(SweepResult(real.sweep, ()), "mse") == ()
    assert findings(real, "tv") == ()
    two = run(
        Sweep(over(k=5, epsilon=1.0, n=20), Settings(3, estimators=("inv", "inv_p"), metrics=("mse", "tv")))
    )
    assert findings(two, "mse") == ()
    three = run(Sweep(over(k=5, epsilon=1.0, n=20), replace(SETTINGS, metrics=("tv",))))
    assert findings(three, "tv") == ()
