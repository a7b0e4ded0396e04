"""Results that were measured or written once and are kept as files in this folder; each is read by the module that
explains it."""

from __future__ import annotations

import csv
import tomllib
from importlib import resources
from typing import Any


def read_csv(name: str) -> list[dict[str, str]]:
    """The rows of one of this folder's CSV files, each as a dictionary from column name to text."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def read_toml(name: str) -> dict[str, Any]:
    """What one of this folder's TOML files holds."""
    return tomllib.loads(resources.files(__name__).joinpath(name).read_text(encoding="utf-8"))
