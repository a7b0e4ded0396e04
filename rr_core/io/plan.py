"""The map of a plan as CSV."""

from __future__ import annotations

import numpy as np

from rr_core.io.csv_files import csv_bytes
from rr_core.plan.landscape import Landscape
from rr_core.plan.targets import Target


def map_csv(landscape: Landscape, target: Target) -> bytes:
    """One row per cell of the map that is worked out, not interpolated: epsilon, how many users, and what is achieved
    there, with its unit, which quantity it is, and the probability that is promised for it (empty for an average)."""
    exact = ~landscape.interpolated
    epsilons, users = (axis[exact] for axis in np.meshgrid(landscape.epsilons, landscape.users))
    about = target.about
    named = f", {target.share:.10g} of users" if target.kind == "share" else ""
    promised = about.has_confidence and target.kind != "top"
    return csv_bytes(
        {
            "epsilon_nats": epsilons,
            "n_users": users,
            "achieved": landscape.values[exact],
            "unit": np.full(users.size, about.unit),
            "quantity": np.full(users.size, about.measure + named),
            "probability": np.full(users.size, target.confidence if promised else ""),
        }
    )
