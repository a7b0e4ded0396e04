"""Tests of rr_core, of the app, and of both in a browser.

RR_EXAMPLES is how many examples a property is tried with, 100 where it is not set. RR_LENGTHY=1 has every combination of
what else is tried in turns.
"""

import os
import re
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

EXAMPLES = int(os.environ.get("RR_EXAMPLES", "100"))
# Few are the same each time: such a run tells what a change broke, a long one looks for more.
SAME_EXAMPLES = EXAMPLES < 1000
LENGTHY = bool(os.environ.get("RR_LENGTHY"))

# How Python, NumPy and SciPy begin or word their own errors, which tell a person nothing; and those of unpacking.
_OF_LIBRARIES = re.compile(
    r"""invalid\ literal | could\ not\ convert | Exceeds\ the\ limit | cannot\ convert | math\ domain | out\ of\ range
    | null\ (character|byte) | codec\ can't | unsupported\ operand | not\ supported\ (between|for) | object\ of\ type
    | object\ (is\ not|cannot|does\ not) | cannot\ be\ interpreted | must\ be\ real\ number | required\ argument
    | (un)?expected\ keyword | ufunc | not\ be\ broadcast | mismatch | [Cc]annot\ (reshape|cast|be\ cast|do)
    | setting\ an\ array | not\ aligned | inhomogeneous | ambiguous | unhashable | values\ to\ unpack
    | reduction\ operation | empty\ sequence | iterable\ argument | matmul | negative\ dimensions | must\ be\ a\ string
    | low\ >=\ high | Maximum\ allowed | bad\ (character|escape) | unterminated | nothing\ to\ repeat
    | division\ by\ zero """,
    re.VERBOSE,
)


def is_of_libraries(sentence: str) -> bool:
    """Whether an error's text is one of Python, NumPy or SciPy rather than of this project."""
    return _OF_LIBRARIES.search(sentence) is not None


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a condition; it fails where that does not come true in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def missing(what: str) -> NoReturn:
    """Skip a test for want of a program or a package; on a build machine (CI=true) fail it."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI=true, and {what}", pytrace=False)
    pytest.skip(what)
