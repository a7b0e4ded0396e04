"""The examples in the docstrings of `rr_core` give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import rr_core

ROOT = Path(__file__).parents[2]


def test_every_example() -> None:
    tried = 0
    for path in sorted((ROOT / "rr_core").rglob("*.py")):
        if ">>> " not in path.read_text(encoding="utf-8"):
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
        failed, attempted = doctest.testmod(module)
        assert not failed, module.__name__
        tried += attempted
    assert tried > 150


def test_every_function_of_the_public_contract_has_an_example() -> None:
    for name in rr_core.__all__:
        public = getattr(rr_core, name)
        if callable(public) and not isinstance(public, type):
            assert ">>> " in (public.__doc__ or ""), name
