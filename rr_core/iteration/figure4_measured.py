"""Figure 4 measured: iterations of IBU to each squared distance from MLE*, over 20 seeds; what the paper meant.

`python -m tests.benchmarks.figure4` computes the table anew. A number of iterations is the first one recorded at
which the distance holds, of a record with 200 in each decade: exact to 1.2 %.
"""

from __future__ import annotations

from dataclasses import dataclass

from rr_core.iteration.figure4 import EXPONENTS

SEEDS = range(1, 21)
DISTANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
PER_DECADE = 200
# Every seed of every setting is within the smallest distance by then.
LAST = 4_000_000


@dataclass(frozen=True)
class Measured:
    """One setting and one distance.

    Attributes:
        s, n, epsilon: the setting.
        distance: of ||theta_t - MLE*||^2.
        median, fewest, most: iterations, over the seeds; 0 where the uniform start is as near as that.
        certificate: median over the seeds of max_i m_i - 1 at that iteration, in nats per report.
    """

    s: float
    n: int
    epsilon: float
    distance: float
    median: float
    fewest: float
    most: float
    certificate: float


@dataclass(frozen=True)
class Claim:
    """What section 6.4 says IBU requires "to approach the exact value": ``iterations``, or more than those.
    It does not say at which s, and the figure shows two."""

    n: int
    epsilon: float
    words: str
    iterations: int
    more: bool = False


CLAIMS = (
    Claim(10_000, 1.0, "about 7000", 7_000),
    Claim(10_000, 0.5, "around 25000", 25_000),
    Claim(500_000, 1.0, "about 20000", 20_000),
    Claim(500_000, 0.5, "even 40000 iterations are not enough", 40_000, True),
)
# The squared distance at which all four are true, to within a sixth.
MEANT = 1e-3

# fmt: off
MEASURED = (
    Measured(0.01, 10000, 0.5, 0.01, 12590, 10593, 14962, 5.5e-05),
    Measured(0.01, 10000, 0.5, 0.001, 26156, 21135, 40738, 1.1e-05),
    Measured(0.01, 10000, 0.5, 0.0001, 51884, 39355, 124451, 1.7e-06),
    Measured(0.01, 10000, 0.5, 1e-05, 93350, 63096, 354813, 5e-07),
    Measured(0.01, 10000, 0.5, 1e-06, 141291, 90157, 803526, 1.4e-07),
    Measured(0.01, 10000, 1.0, 0.01, 3180, 2818, 3715, 0.00031),
    Measured(0.01, 10000, 1.0, 0.001, 7244, 6457, 9441, 4.7e-05),
    Measured(0.01, 10000, 1.0, 0.0001, 16037, 12735, 31989, 7.9e-06),
    Measured(0.01, 10000, 1.0, 1e-05, 32754, 21135, 102329, 1.7e-06),
    Measured(0.01, 10000, 1.0, 1e-06, 54661, 30903, 298538, 4.6e-07),
    Measured(0.01, 10000, 2.0, 0.01, 407, 359, 442, 0.0034),
    Measured(0.01, 10000, 2.0, 0.001, 1154, 1059, 1216, 0.00039),
    Measured(0.01, 10000, 2.0, 0.0001, 2708, 2291, 3388, 6.6e-05),
    Measured(0.01, 10000, 2.0, 1e-05, 6420, 4467, 9550, 9.8e-06),
    Measured(0.01, 10000, 2.0, 1e-06, 12808, 7413, 23174, 2.4e-06),
    Measured(0.01, 500000, 0.5, 0.01, 41687, 38459, 43152, 3.1e-05),
    Measured(0.01, 500000, 0.5, 0.001, 104155, 87096, 117490, 4.1e-06),
    Measured(0.01, 500000, 0.5, 0.0001, 239883, 190546, 281838, 7.6e-07),
    Measured(0.01, 500000, 0.5, 1e-05, 592253, 451856, 716143, 1.4e-07),
    Measured(0.01, 500000, 0.5, 1e-06, 1372484, 1011579, 1603245, 2.4e-08),
    Measured(0.01, 500000, 1.0, 0.01, 5623, 2884, 6607, 0.00023),
    Measured(0.01, 500000, 1.0, 0.001, 23174, 21627, 25119, 2.2e-05),
    Measured(0.01, 500000, 1.0, 0.0001, 55912, 50119, 60954, 3.9e-06),
    Measured(0.01, 500000, 1.0, 1e-05, 132589, 117490, 146218, 7.3e-07),
    Measured(0.01, 500000, 1.0, 1e-06, 301995, 275423, 363078, 1.3e-07),
    Measured(0.01, 500000, 2.0, 0.01, 0, 0, 0, 0.0012),
    Measured(0.01, 500000, 2.0, 0.001, 2344, 2188, 2399, 0.00028),
    Measured(0.01, 500000, 2.0, 0.0001, 7038, 6607, 7328, 3.1e-05),
    Measured(0.01, 500000, 2.0, 1e-05, 17179, 16032, 18836, 5.5e-06),
    Measured(0.01, 500000, 2.0, 1e-06, 40974, 36308, 46774, 1e-06),
    Measured(1.3, 10000, 0.5, 0.01, 12590, 7586, 16406, 5.7e-05),
    Measured(1.3, 10000, 0.5, 0.001, 27702, 13646, 36728, 8.9e-06),
    Measured(1.3, 10000, 0.5, 0.0001, 58547, 23442, 96605, 1.7e-06),
    Measured(1.3, 10000, 0.5, 1e-05, 109164, 39811, 237137, 3.6e-07),
    Measured(1.3, 10000, 0.5, 1e-06, 162192, 65313, 549541, 1e-07),
    Measured(1.3, 10000, 1.0, 0.01, 3162, 2692, 3467, 0.0003),
    Measured(1.3, 10000, 1.0, 0.001, 7162, 6095, 9016, 4.9e-05),
    Measured(1.3, 10000, 1.0, 0.0001, 14888, 11749, 30903, 1.1e-05),
    Measured(1.3, 10000, 1.0, 1e-05, 27558, 21135, 100000, 2.2e-06),
    Measured(1.3, 10000, 1.0, 1e-06, 43910, 31261, 285102, 6.4e-07),
    Measured(1.3, 10000, 2.0, 0.01, 378, 309, 437, 0.0039),
    Measured(1.3, 10000, 2.0, 0.001, 1023, 923, 1230, 0.00056),
    Measured(1.3, 10000, 2.0, 0.0001, 2317, 2089, 2951, 9e-05),
    Measured(1.3, 10000, 2.0, 1e-05, 5012, 4315, 9441, 1.7e-05),
    Measured(1.3, 10000, 2.0, 1e-06, 9606, 7161, 25704, 2.9e-06),
    Measured(1.3, 500000, 0.5, 0.01, 37369, 34674, 41687, 3.7e-05),
    Measured(1.3, 500000, 0.5, 0.001, 92263, 79433, 104713, 5.9e-06),
    Measured(1.3, 500000, 0.5, 0.0001, 210167, 162181, 272270, 1.1e-06),
    Measured(1.3, 500000, 0.5, 1e-05, 487040, 375837, 707946, 1.6e-07),
    Measured(1.3, 500000, 0.5, 1e-06, 1122093, 724436, 1621810, 2.5e-08),
    Measured(1.3, 500000, 1.0, 0.01, 5922, 5070, 6918, 0.00031),
    Measured(1.3, 500000, 1.0, 0.001, 20300, 19498, 21627, 3.7e-05),
    Measured(1.3, 500000, 1.0, 0.0001, 47863, 43152, 52481, 6.2e-06),
    Measured(1.3, 500000, 1.0, 1e-05, 114846, 93325, 130317, 1.1e-06),
    Measured(1.3, 500000, 1.0, 1e-06, 283470, 188365, 342768, 1.9e-07),
    Measured(1.3, 500000, 2.0, 0.01, 562, 537, 582, 0.003),
    Measured(1.3, 500000, 2.0, 0.001, 2006, 1928, 2042, 0.00056),
    Measured(1.3, 500000, 2.0, 0.0001, 5821, 5559, 6237, 7.7e-05),
    Measured(1.3, 500000, 2.0, 1e-05, 14125, 12589, 15849, 1.3e-05),
    Measured(1.3, 500000, 2.0, 1e-06, 33497, 28510, 40738, 2.4e-06),
)
# fmt: on

_BY_KEY = {(row.s, row.n, row.epsilon, row.distance): row for row in MEASURED}


def measured(s: float, n: int, epsilon: float, distance: float) -> Measured:
    """The row of one setting and one of DISTANCES; KeyError for any other."""
    return _BY_KEY[s, n, epsilon, distance]


def verdict() -> tuple[str, ...]:
    """What the table says about the paper's figures, in plain sentences."""
    far, near = (
        " and ".join(f"{measured(s, 10_000, 1.0, distance).median:,.0f}" for s in EXPONENTS)
        for distance in (1e-2, 1e-4)
    )
    widest, longest = measured(0.01, 10_000, 0.5, MEANT), measured(0.01, 500_000, 0.5, 1e-6)
    return (
        "The paper does not say how near counts as reached; at a squared distance of 0.001 from MLE* all four "
        "of its numbers hold to within a sixth, and its figure, on linear axes up to 0.12, hardly shows anything nearer.",
        f"Medians over {len(SEEDS)} seeds, for s = {EXPONENTS[0]:g} and s = {EXPONENTS[1]:g}: "
        + "; ".join(_beside(claim) for claim in CLAIMS)
        + ".",
        f"At a tenfold or a tenth of that distance they do not: n = 10,000 at ε = 1 takes {far} iterations "
        f"to 0.01, and {near} to 0.0001.",
        f"Draws differ: n = 10,000 at ε = 0.5 and s = 0.01 takes from {widest.fewest:,.0f} to {widest.most:,.0f}.",
        "There is no last iteration, only a distance one is content with: to 0.000001, n = 500,000 at ε = 0.5 "
        f"and s = 0.01 takes {longest.median:,.0f}, where MLE* takes none.",
    )


def _beside(claim: Claim) -> str:
    medians = " and ".join(f"{measured(s, claim.n, claim.epsilon, MEANT).median:,.0f}" for s in EXPONENTS)
    return f"n = {claim.n:,} at ε = {claim.epsilon:g} takes {medians} (paper: “{claim.words}”)"
