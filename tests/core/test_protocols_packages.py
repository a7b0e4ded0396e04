"""Subset selection and Hadamard response against other people's programs, those of tests/benchmarks/requirements.txt."""

from __future__ import annotations

import importlib
import math
import random
import warnings
from types import ModuleType

import numpy as np
import pytest

from rr_core.protocols import HadamardResponse, SubsetSelection, inv, laws
from tests import missing

# What they do in an outdated way is theirs.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def package(name: str) -> ModuleType:
    """The module; what it warns of on import is its own."""
    try:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore")
            patch.setenv("NUMBA_DISABLE_JIT", "1")  # to compile them takes longer than to run them
            return importlib.import_module(name)
    except ModuleNotFoundError as absent:
        missing(f"{absent.name} is not installed")


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.3), (7, 0.69), (20, 0.1), (100, 0.5)])
def test_pure_ldp_with_one_block_decodes_the_same_reports_to_the_same_estimate(k, epsilon):
    hadamard = package("pure_ldp.frequency_oracles.hadamard_response.internal.k2k_hadamard")
    theirs, ours = hadamard.Hadamard_Rand_high_priv(k, epsilon), HadamardResponse(k, epsilon)
    assert theirs.outsz == ours.m
    reports = ours.randomize(np.arange(2000) % k, 1)
    estimate = inv(ours.histogram(reports), ours)
    np.testing.assert_allclose(
        theirs.decode_string(reports.tolist(), iffast=0, normalization=-1), estimate, atol=1e-9
    )
    # And their reports have our law: the estimate from them is off by what the variance says.
    random.seed(k)
    sent = theirs.encode_string([0] * 4000)
    truth = np.eye(k)[0]
    z = (inv(ours.histogram(sent), ours) - truth) / np.sqrt(ours.variance(truth, 4000))
    assert np.abs(z).max() < 5


@pytest.mark.parametrize(("k", "epsilon"), [(14, 1.0), (28, 1.5), (112, 3.0)])
def test_pure_ldp_with_several_blocks_has_the_error_of_the_formula(k, epsilon):
    """Their program has B' blocks: k is chosen so that all are needed, and the two protocols are the same."""
    hadamard = package("pure_ldp.frequency_oracles.hadamard_response.internal.k2k_hadamard")
    random.seed(k)
    np.random.seed(k)  # noqa: NPY002
    theirs = hadamard.Hadamard_Rand_general_original(k, epsilon)
    count, size = laws.hadamard_blocks(k, epsilon)
    assert (theirs.part, theirs.partsz) == (count, size)
    n, batches = 200, 150
    errors = []
    for _ in range(batches):
        theirs.permute, theirs.reverse = hadamard.Random_Permutation(k)
        estimate = np.array(theirs.decode_string(theirs.encode_string([0] * n), iffast=0, normalization=-1))
        errors.append(np.mean((estimate - np.eye(k)[0]) ** 2))
    want = float(laws.support("hr", k, epsilon).mean_variance(k, n))
    assert abs(np.mean(errors) / want - 1) < 5 * np.std(errors) / want / math.sqrt(batches)


@pytest.mark.parametrize(("k", "epsilon"), [(4, 0.4), (10, 1.0), (60, 2.0)])
def test_multi_freq_ldpy_repairs_the_same_estimate(k, epsilon):
    """Its aggregator sets the negatives of Inv to zero and normalises; its d is k/(e^eps + 1) rounded."""
    theirs = package("multi_freq_ldpy.pure_frequency_oracles.SS")
    ours = SubsetSelection(k, epsilon, max(1, round(k / (math.exp(epsilon) + 1))))
    sets = ours.randomize(np.arange(3000) ** 2 % k, 2)
    named = np.nonzero(sets)[1].reshape(-1, ours.size)
    clipped = inv(ours.support(sets), ours, 3000).clip(0)
    np.testing.assert_allclose(theirs.SS_Aggregator_MI(named, k, epsilon), clipped / clipped.sum(), atol=1e-9)
    sent = np.zeros((3000, k), dtype=int)
    for row in sent:
        row[theirs.SS_Client(1, k, epsilon)] = 1
    truth = np.eye(k)[1]
    z = (inv(ours.support(sent), ours, 3000) - truth) / np.sqrt(ours.variance(truth, 3000))
    assert np.abs(z).max() < 5
