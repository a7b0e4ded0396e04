"""For all tests: one thread for each product of matrices, as on a server; the workers share the processors."""

import scipy.linalg  # noqa: F401  Before the limit of its threads.
from threadpoolctl import threadpool_limits

threadpool_limits(1, "blas")
