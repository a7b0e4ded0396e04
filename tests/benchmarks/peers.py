"""What a user might pick from PyPI for the same work. A peer that is missing, or that cannot do the size,
says so in the table instead of stopping it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rr_core import RandomizedResponse, ibu, inv, inv_n, inv_p

# multi-freq-ldpy's IBU holds a k x k matrix: 16 terabytes at the industrial size.
LARGEST_MATRIX_K = 2000
# Both packages randomize user by user in Python; more users than this only wait longer.
USERS_ONE_BY_ONE = 20_000
IBU_ITERATIONS = 20


@dataclass(frozen=True)
class Peer:
    """The same ``work`` by rr_core and by a peer. ``agreement`` is how far the two results may differ
    (relative to the largest entry), None where they are random."""

    work: str
    package: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    agreement: float | None = 1e-9


Maker = Callable[[np.ndarray, RandomizedResponse], Peer]


def inv_by_pure_ldp(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from pure_ldp.frequency_oracles.direct_encoding import DEServer

    categories, n = range(1, mechanism.k + 1), int(counts.sum())

    def theirs() -> np.ndarray:
        server = DEServer(mechanism.epsilon, mechanism.k)
        server.aggregated_data[:] = counts
        server.n = n
        return server.estimate_all(categories, suppress_warnings=True) / n

    return Peer("Inv", "pure-ldp", lambda: inv(counts, mechanism), theirs)


def inv_n_by_multi_freq_ldpy(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from multi_freq_ldpy.estimators.Histogram_estimator import MI

    n = int(counts.sum())
    return Peer(
        "InvN",
        "multi-freq-ldpy",
        lambda: inv_n(counts, mechanism),
        lambda: MI(counts, n, mechanism.p, mechanism.q),
    )


def inv_p_by_pure_ldp(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from pure_ldp.core.prob_simplex import project_probability_simplex

    phi = counts / counts.sum()
    return Peer(
        "InvP",
        "pure-ldp",
        lambda: inv_p(counts, mechanism),
        lambda: project_probability_simplex((phi - mechanism.q) / (mechanism.p - mechanism.q)),
    )


def inv_p_by_pyproximal(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from pyproximal import Simplex

    phi, projection = counts / counts.sum(), Simplex(mechanism.k, 1.0, xtol=1e-14)
    return Peer(
        "InvP",
        "pyproximal",
        lambda: inv_p(counts, mechanism),
        lambda: projection.prox((phi - mechanism.q) / (mechanism.p - mechanism.q), 1.0),
        agreement=1e-6,
    )


def ibu_by_multi_freq_ldpy(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from multi_freq_ldpy.estimators.Histogram_estimator import IBU

    k = min(mechanism.k, LARGEST_MATRIX_K)
    small = RandomizedResponse(k, mechanism.epsilon)
    fewer = counts[:k]
    phi, channel = fewer / fewer.sum(), small.matrix()
    return Peer(
        f"IBU, {IBU_ITERATIONS} iterations, K = {k:,} (its k × k matrix does not fit beyond)",
        "multi-freq-ldpy",
        lambda: ibu(fewer, small, IBU_ITERATIONS),
        lambda: IBU(k, channel, phi, IBU_ITERATIONS, 0.0, "max_abs"),
    )


def reports_by_pure_ldp(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(mechanism.epsilon, mechanism.k)
    users, mine = _users(counts), np.random.default_rng(0)
    ones = users + 1  # its categories start at 1
    return Peer(
        f"randomize {users.size:,} users (it goes one by one)",
        "pure-ldp",
        lambda: mechanism.randomize(users, mine),
        lambda: [client.privatise(user) for user in ones],
        agreement=None,
    )


def reports_by_multi_freq_ldpy(counts: np.ndarray, mechanism: RandomizedResponse) -> Peer:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    k = min(mechanism.k, LARGEST_MATRIX_K)
    small, mine = RandomizedResponse(k, mechanism.epsilon), np.random.default_rng(0)
    users = _users(counts[:k])
    return Peer(
        f"randomize {users.size:,} users, K = {k:,} (O(K) each in the peer)",
        "multi-freq-ldpy",
        lambda: small.randomize(users, mine),
        lambda: [GRR_Client(user, k, mechanism.epsilon) for user in users],
        agreement=None,
    )


MAKERS: tuple[Maker, ...] = (
    inv_by_pure_ldp,
    inv_n_by_multi_freq_ldpy,
    inv_p_by_pure_ldp,
    inv_p_by_pyproximal,
    ibu_by_multi_freq_ldpy,
    reports_by_pure_ldp,
    reports_by_multi_freq_ldpy,
)


def available(counts: np.ndarray, mechanism: RandomizedResponse) -> Iterator[Peer | str]:
    """Each peer, or one line that says why it cannot be timed."""
    for make in MAKERS:
        try:
            yield make(counts, mechanism)
        except ImportError as error:
            yield f"{make.__name__}: not usable here ({error}); see tests/benchmarks/requirements.txt"


def disagreement(peer: Peer) -> float | None:
    """Largest difference between the two results over the largest entry; None where they are random."""
    if peer.agreement is None:
        return None
    ours, theirs = np.asarray(peer.ours()), np.asarray(peer.theirs())
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


def _users(counts: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.choice(counts.size, size=USERS_ONE_BY_ONE, p=counts / counts.sum())
