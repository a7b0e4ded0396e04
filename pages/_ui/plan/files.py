"""The plan's files: the map as CSV and the lines of the script that work out the plan again. No Streamlit."""

from __future__ import annotations

import numpy as np

from pages._ui.csv_files import csv_bytes
from pages._ui.plan.planned import Planned
from rr_core.plan.landscape import Landscape


def map_csv(land: Landscape) -> bytes:
    """One row per cell of the map: epsilon, n, and what is achieved there, in the unit of the core."""
    epsilons, users = np.meshgrid(land.epsilons, land.users)
    return csv_bytes({"epsilon": epsilons.ravel(), "n": users.ravel(), "achieved": land.values.ravel()})


def script(found: Planned, delta: float) -> str:
    """Lines for the end of a script that has ``scenario`` and ``draw``."""
    asked = found.asked
    return _SCRIPT.format(
        target=asked.target,
        kept=found.target,
        guess="None  # the worst case" if asked.worst else "draw.population.probabilities",
        k=found.k,
        epsilon=found.epsilon,
        n=found.n,
        find=_FINDS[asked.find].format(epsilon=found.epsilon, n=found.n),
        users=asked.users,
        bits=None if found.price is None else found.price.bits.tolist(),
        delta=delta,
    )


_FINDS = {
    "n": 'print("users needed:", required_n(target, k, epsilon, theta, users=users))',
    "eps": 'print("epsilon needed:", required_epsilon(target, k, n, theta, users=users))',
    "value": "",
}
_SCRIPT = """
# The plan.
from rr_core.plan import bounds, protocols, shuffling
from rr_core.plan.landscape import price_per_bit
from rr_core.plan.solve import achieved, required_epsilon, required_n
from rr_core.plan.targets import Target

k, epsilon, n, users = {k}, {epsilon!r}, {n}, {users!r}
theta = {guess}
target = {target!r}
{find}
print(f"achieved: {{achieved(target, k, epsilon, n, theta, users=users):.10g}}")
kept, bits = {kept!r}, {bits!r}
if bits is not None:
    price = price_per_bit(kept, k, epsilon, theta, bits, users=users)
    for one, budget, needed in zip(price.bits, price.epsilons, price.users):
        print(f"{{one:.4g}} bits less, epsilon {{budget:.6g}}: {{needed:.0f}} users")
print(f"k-RR is better for K below {{protocols.flip_k(epsilon):.10g}}")
for row in protocols.compare(k, epsilon, n, 1 / k, users):
    print(f"{{row.key}}: rmse {{row.rmse:.10g}}, users {{row.users_relative:.10g}}, bits {{row.bits}}")
found = bounds.against_epsilon([epsilon], k, epsilon, n, users)
print(f"squared error of Inv {{found.now:.10g}}, lower bound at equal shares {{found.floor:.10g}}")
now = shuffling.shuffled(epsilon, n, {delta!r})
print(f"central epsilon {{now.epsilon:.10g}}, condition holds: {{now.holds}}")
"""
