"""Frequency estimation from k-ary randomized response: mechanism, estimators, errors and scenarios.

Sections, theorems and equations that docstrings name without a source are those of C. A. Pinzón, E. ElSalamouny,
L. Massot, A. Miller, H. H. Arcolezi and C. Palamidessi, "Estimating the True Distribution of Data Collected with
Randomized Response", AAAI 2026, arXiv:2601.08603, whose MLE* this is. A wrong argument of a public function raises a
`ValueError` that names the argument, what is allowed and what was received.

>>> mechanism = RandomizedResponse.from_p(4, 0.5)
>>> inv([6, 3, 2, 1], mechanism).tolist()
[1.0, 0.25, 0.0, -0.25]
>>> mle_star([6, 3, 2, 1], mechanism).round(6).tolist()
[0.833333, 0.166667, 0.0, 0.0]
"""

from typing import TYPE_CHECKING, Any

from rr_core.collinearity import Collinearity, collinearity
from rr_core.estimators import inv, inv_n, inv_p, mle_star
from rr_core.ibu import IBUPath, ibu, ibu_channel, ibu_path
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import (
    inv_variance,
    max_error,
    negative_log_likelihood,
    squared_error,
    total_variation,
)
from rr_core.optimality import optimality_gap, update_factors
from rr_core.populations import Population, zipf
from rr_core.recompute import recompute
from rr_core.scenario import PRESETS, Draw, Preset, Scenario
from rr_core.script import VERSION as __version__

if TYPE_CHECKING:
    from rr_core.reports.answers import analyse

__all__ = [
    "PRESETS",
    "Collinearity",
    "Draw",
    "IBUPath",
    "Population",
    "Preset",
    "RandomizedResponse",
    "Scenario",
    "__version__",
    "analyse",
    "collinearity",
    "ibu",
    "ibu_channel",
    "ibu_path",
    "inv",
    "inv_n",
    "inv_p",
    "inv_variance",
    "max_error",
    "mle_star",
    "negative_log_likelihood",
    "optimality_gap",
    "recompute",
    "squared_error",
    "total_variation",
    "update_factors",
    "zipf",
]


def __getattr__(name: str) -> Any:
    """`analyse` when it is first asked for: `import rr_core` need not load all that analyses reports."""
    if name == "analyse":
        from rr_core.reports.answers import analyse

        return analyse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
