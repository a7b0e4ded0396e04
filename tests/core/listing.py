"""The supplement's MLE and IBU (section A) in our own words, operation by operation.

An oracle for the tests; ``tests.benchmarks`` times the same loops.
"""

import numpy as np


def mle(phi, p):
    """Drop the smallest entries while their estimate would be negative, subtracting them one by one."""
    phi = np.asarray(phi, dtype=np.float64)
    k = len(phi)
    q = (1 - p) / (k - 1)
    order = np.argsort(phi)
    dropped, kept_mass = 0, 1.0
    while dropped < k and q * kept_mass > (1 - dropped * q) * phi[order[dropped]]:
        kept_mass -= phi[order[dropped]]
        dropped += 1
    scale = (p - q) * kept_mass / (1 - dropped * q)
    theta = np.zeros(k)
    theta[order[dropped:]] = phi[order[dropped:]] / scale - q / (p - q)
    return theta


def ibu_step(phi, p, theta):
    """One O(k) iteration, eq. (5)."""
    q = (1 - p) / (len(phi) - 1)
    ratio = phi / (q + (p - q) * theta)
    return theta * (q * np.sum(ratio) + (p - q) * ratio)


def ibu(phi, p, n_iterations):
    """``n_iterations`` of them from the uniform start, with what does not change taken out of the loop."""
    k = len(phi)
    q = (1 - p) / (k - 1)
    keep = p - q
    theta = np.ones(k) / k
    for _ in range(n_iterations):
        ratio = phi / (q + keep * theta)
        theta = theta * (q * np.sum(ratio) + keep * ratio)
    return theta
