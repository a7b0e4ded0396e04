"""What the misprints of the sources change, in numbers: one check per misprint.

`CHECKS` names them all. A check takes no argument, uses a fixed seed, costs milliseconds and returns a small record: what
the formula gives as printed, what it gives corrected, and what a simulation or an exact enumeration gives. The sentences
that carry these numbers are in ``rr_core/data/reference/misprints.toml``, where they name them as here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rr_core.misprints import lopuhaa
from rr_core.misprints.paper import (
    EXAMPLE_COUNTS,
    blog_example,
    centre_of_reports,
    drop_condition,
    error_growth,
    histogram_law,
    largest_shares,
    listing_drift,
    mle_star_not_between,
    mle_threshold,
    poster_formula,
    slope_of_inv,
    squared_error_of_inv,
    stopped_ibu,
    subset_selection,
    theorem_8,
    variance_of_inv,
    worst_average,
    worst_in_single_draws,
)

__all__ = [
    "CHECKS",
    "EXAMPLE_COUNTS",
    "all_checks",
    "histogram_law",
    "slope_of_inv",
    "squared_error_of_inv",
    "worst_average",
]

CHECKS: Mapping[str, Callable[[], Any]] = {
    "variance_of_inv": variance_of_inv,
    "error_growth": error_growth,
    "centre_of_reports": centre_of_reports,
    "mle_threshold": mle_threshold,
    "drop_condition": drop_condition,
    "theorem_8": theorem_8,
    "listing_drift": listing_drift,
    "largest_shares": largest_shares,
    "poster_formula": poster_formula,
    "blog_example": blog_example,
    "subset_selection": subset_selection,
    "worst_in_single_draws": worst_in_single_draws,
    "worst_average": worst_average,
    "mle_star_not_between": mle_star_not_between,
    "stopped_ibu": stopped_ibu,
    "lopuhaa_algorithm_1": lopuhaa.algorithm_1,
    "lopuhaa_equation_64": lopuhaa.equation_64,
    "lopuhaa_equations_72_to_75": lopuhaa.equations_72_to_75,
    "lopuhaa_equation_60": lopuhaa.equation_60,
    "lopuhaa_any_case": lopuhaa.any_case,
    "lopuhaa_equation_88": lopuhaa.equation_88,
    "lopuhaa_jeffreys_prior": lopuhaa.jeffreys_prior,
    "lopuhaa_summands": lopuhaa.summands,
}


def all_checks() -> dict[str, Any]:
    """The record of every check, by its name in `CHECKS`: about half a second of work."""
    return {name: check() for name, check in CHECKS.items()}
