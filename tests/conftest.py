"""For all tests: one thread for each product of matrices, as on a server; the workers share the processors."""

import pytest
import scipy.linalg  # noqa: F401  Before the limit of its threads.
from threadpoolctl import threadpool_limits

threadpool_limits(1, "blas")


@pytest.fixture(params=[100, pytest.param(2_000, marks=pytest.mark.slow)])
def many(request: pytest.FixtureRequest) -> int:
    """How many random settings a sentence is computed anew for: a few in the quick run, 2,000 in the slow one."""
    number: int = request.param
    return number
