"""Frequency estimation from k-ary randomized response: mechanism, estimators, errors and scenarios."""

from rr_core.collinearity import Collinearity, collinearity
from rr_core.errors import (
    inv_variance,
    max_error,
    negative_log_likelihood,
    squared_error,
    total_variation,
)
from rr_core.estimators import inv, inv_n, inv_p, mle_star
from rr_core.ibu import IBUPath, ibu, ibu_channel, ibu_path
from rr_core.mechanism import RandomizedResponse
from rr_core.optimality import optimality_gap, update_factors
from rr_core.populations import Population, zipf
from rr_core.scenario import PRESETS, Draw, Preset, Scenario

__all__ = [
    "PRESETS",
    "Collinearity",
    "Draw",
    "IBUPath",
    "Population",
    "Preset",
    "RandomizedResponse",
    "Scenario",
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
    "squared_error",
    "total_variation",
    "update_factors",
    "zipf",
]
