"""`rr_core.ibu` is a function of the package `rr_core` and a package of its own: both can be imported, in any order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("IBUPath", "Progress", "ibu", "ibu_channel", "ibu_path", "ibu_paths", "iterates")
IMPORTS = (
    "from rr_core import ibu",
    f"from rr_core.ibu import {', '.join(NAMES)}",
    "import rr_core.ibu.convergence",
    "from rr_core.ibu import engine, figure4",
)
CHECKS = """
import pickle, sys, types
import rr_core
from rr_core import RandomizedResponse, ibu, ibu_path
from rr_core.ibu import figure4 as module
assert isinstance(rr_core.ibu, types.FunctionType) and rr_core.ibu is ibu is sys.modules["rr_core.ibu"].ibu
assert isinstance(module, types.ModuleType) and isinstance(sys.modules["rr_core.ibu"], types.ModuleType)
assert sum(ibu([5, 3, 1], RandomizedResponse(3, 1.0), 4)) > 0.999
path = pickle.loads(pickle.dumps(ibu_path([5, 3, 1], RandomizedResponse(3, 1.0), [4])))
assert type(path) is rr_core.IBUPath and pickle.loads(pickle.dumps(ibu)) is ibu
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", IMPORTS[1:3])
def test_the_function_and_the_package_in_a_fresh_interpreter(first: str) -> None:
    code = "\n".join([first, *(line for line in IMPORTS[::-1] if line != first), CHECKS])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
