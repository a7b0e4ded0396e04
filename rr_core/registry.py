"""Which estimators there are, and what tables, charts, files and sweeps need to know of each.

CONTRIBUTING.md says how to add one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.estimators import (
    RuleMaker,
    inv,
    inv_n,
    inv_n_rule,
    inv_p,
    inv_p_rule,
    inv_rule,
    mle_rule,
    mle_star,
)
from rr_core.mechanism import RandomizedResponse

Estimator = Callable[[ArrayLike, RandomizedResponse], Array]


@dataclass(frozen=True)
class Entry:
    """One estimator.

    Attributes:
        name: in code, files and links.
        label: on screen.
        estimate: from a histogram (..., k) and its mechanism to an estimate of the same shape.
        rule: the same as an affine rule on the profile of the counts.
        is_repair: whether it is one of the paper's three repairs of Inv.
        colour: of its traces, "#RRGGBB".
        marker: Plotly's name of its symbol.
        dash: Plotly's name of its line.
    """

    name: str
    label: str
    estimate: Estimator
    rule: RuleMaker
    is_repair: bool
    colour: str
    marker: str
    dash: str


# In the order in which they are shown. The colours are those of Okabe and Ito.
REGISTRY = (
    Entry("inv", "Inv", inv, inv_rule, False, "#D55E00", "triangle-down", "dot"),
    Entry("inv_n", "InvN", inv_n, inv_n_rule, True, "#E69F00", "diamond", "dash"),
    Entry("inv_p", "InvP", inv_p, inv_p_rule, True, "#0072B2", "triangle-up", "longdash"),
    Entry("mle_star", "MLE*", mle_star, mle_rule, True, "#009E73", "circle", "solid"),
)
ESTIMATORS = {entry.name: entry.estimate for entry in REGISTRY}
RULES = {entry.name: entry.rule for entry in REGISTRY}
# The paper's three valid ones: ranks, claims and advice are about these, and say "the three".
VALID = tuple(entry.name for entry in REGISTRY if entry.is_repair)
# On screen, of all designs: of others than k-RR the maximum of the likelihood has no closed form and no star.
LABELS = {**{entry.name: entry.label for entry in REGISTRY}, "mle": "MLE"}
