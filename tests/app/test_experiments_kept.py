"""What is worked out of a result is worked out once, and goes when the result goes."""

import gc

from pages._ui.experiments import runs as module
from pages._ui.experiments.runs import cached
from rr_core.experiments.grid import over
from tests.core.sweeps import made

CELLS = over(k=5, epsilon=(1, 2), n=10)


def test_made_once_for_each_result_and_matter():
    calls = []
    first, second = made(CELLS, []), made(CELLS, [])
    for result in (first, second, first):
        for what in ("a", "b", "a"):
            assert cached(result, what, lambda what=what: calls.append(what) or what) == what
    assert calls == ["a", "b", "a", "b"]


def test_nothing_outlives_its_result():
    gc.collect()
    before = len(module._CACHE)
    result = made(CELLS, [])
    cached(result, "a", lambda: [1])
    assert len(module._CACHE) == before + 1
    del result
    gc.collect()
    assert len(module._CACHE) == before
