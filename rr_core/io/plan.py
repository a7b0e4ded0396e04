"""The files of a plan: its map as CSV, and a script that works it out again."""

from __future__ import annotations

import numpy as np

from rr_core.io.csv_files import csv_bytes
from rr_core.metrics import Users
from rr_core.plan.landscape import Landscape
from rr_core.plan.solve import Find
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


def script(
    target: Target,
    met_target: Target | None,
    k: int,
    epsilon: float,
    n: int,
    *,
    find: Find,
    users: Users,
    worst_case: bool,
    promise: str,
    bits: list[float] | None,
    delta: float,
) -> str:
    """Lines for a script that has ``draw``: they work out the plan again, and print it and what the page says of it.

    Args:
        target: the requested target.
        met_target: the target that the plan meets, for which the price is computed.
        k, epsilon, n: of the plan.
        find: which of N, epsilon and target is computed.
        users: whose shares are estimated.
        worst_case: whether the plan is for every population rather than that of ``draw``.
        promise: sentence printed after the computed number.
        bits: reductions of epsilon, for each of which the users needed are printed; None without a price.
        delta: of the shuffled guarantee.
    """
    return _SCRIPT.format(
        target=target,
        kept=met_target,
        guess="None  # the worst case" if worst_case else "draw.population.probabilities",
        k=k,
        epsilon=epsilon,
        n=n,
        find=_SOLVERS[find],
        promise=promise,
        users=users,
        bits=bits,
        delta=delta,
    )


_NEEDED = """needed = {solver} theta, users=users)
print("The plan:", needed.reason if isinstance(needed, Unreachable) else f"{shown}")"""
# rr_core gives an epsilon to all its digits; the page rounds it upwards to four, as ``epsilon`` is.
_SOLVERS: dict[Find, str] = {
    "n": _NEEDED.format(solver="required_n(target, k, epsilon,", shown="{needed:,} users"),
    "eps": _NEEDED.format(solver="required_epsilon(target, k, n,", shown="epsilon = {needed!r}"),
    "value": 'print("The plan: both are given")',
}
_SCRIPT = """
# The plan.
from rr_core.plan import bounds, protocol_choice, shuffling
from rr_core.plan.landscape import price_per_bit
from rr_core.plan.solve import Unreachable, achieved, required_epsilon, required_n
from rr_core.plan.targets import Target

k, epsilon, n, users = {k}, {epsilon!r}, {n}, {users!r}
theta = {guess}
target = {target!r}
{find}
print(f"epsilon = {{epsilon}}, N = {{n:,}} users, K = {{k:,}} categories")
print({promise!r})
reached = achieved(target, k, epsilon, n, theta, users=users)
print(f"reached, {{target.about.measure}}: {{reached:.10g}} ({{target.about.unit}})")
kept, bits = {kept!r}, {bits!r}
if bits is not None:
    price = price_per_bit(kept, k, epsilon, theta, bits, users=users)
    for one, budget, needed in zip(price.bits, price.epsilons, price.users):
        needed = needed if one else min(needed, n)
        print(f"{{one:.4g}} bits less, epsilon {{budget:.6g}}: {{needed:.0f}} users")
print(f"k-RR is as good as subset selection up to K = {{protocol_choice.single_k(epsilon):.10g}}")
for row in protocol_choice.compare(k, epsilon, n, 1 / k, users):
    print(f"{{row.key}}: rmse {{row.rmse:.10g}}, users {{row.users_relative:.10g}}, bits {{row.bits}}")
found = bounds.against_epsilon([epsilon], k, epsilon, n, users)
print(f"at equal shares: squared error of Inv {{found.now:.10g}}, lower bound {{found.floor:.10g}}")
now = shuffling.shuffled(epsilon, n, {delta!r})
print(f"central epsilon {{now.epsilon:.10g}}, condition holds: {{now.holds}}")
"""
