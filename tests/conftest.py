"""For all tests: one thread for each product of matrices, as on a server; the workers share the processors."""

import pytest
import scipy.linalg  # noqa: F401  Before the limit of its threads.
from threadpoolctl import threadpool_limits

from tests import MANY_EXAMPLES

threadpool_limits(1, "blas")


@pytest.fixture(params=[40, pytest.param(min(2_000, MANY_EXAMPLES), marks=pytest.mark.slow)])
def many(request: pytest.FixtureRequest) -> int:
    """How many random settings a sentence is computed anew for: 40 in the quick run, 2,000 in the slow one, or as many as
    RR_EXAMPLES says."""
    number: int = request.param
    return number
