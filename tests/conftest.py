"""For all tests: one thread for each product of matrices, as on a server; the workers share the processors. Rooms are
kept in a temporary file, also by the servers that tests start."""

import sys
from collections.abc import Iterator

import pytest
import scipy.linalg  # noqa: F401  Before the limit of its threads.
from hypothesis import settings
from threadpoolctl import threadpool_limits

from tests import EXAMPLES
from tests.browser.server import ROOT, Started, started

threadpool_limits(1, "blas")
settings.register_profile("untimed", deadline=None)  # the machine's load is no fault of an example
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def rooms_beside_a_persons_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RR_ROOMS", str(tmp_path_factory.mktemp("rooms") / "rooms.sqlite"))
        yield


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """The app as the README starts it, on a server for all tests that need none of their own."""
    with started("app.py", ROOT, tmp_path_factory.mktemp("home")) as one:
        yield one


@pytest.fixture(autouse=True)
def main_script_stays() -> Iterator[None]:
    """Streamlit takes a page for the main script; a process that a later test starts would run it first."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(params=[pytest.param(min(2_000, max(50, EXAMPLES // 5)), marks=pytest.mark.slow)])
def many(request: pytest.FixtureRequest) -> int:
    """How many random settings a sentence is computed anew for: a fifth of RR_EXAMPLES, from 50 to 2,000. All
    sentences together take minutes, so they stand with the slow tests."""
    number: int = request.param
    return number
