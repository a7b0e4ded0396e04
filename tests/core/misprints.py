"""The numbers that the reference page tells of the misprints, as they are stored."""

import json
from types import SimpleNamespace
from typing import Any

from rr_core import reference

# Of stored numbers, to nine digits.
STORED = 1e-8


def stored(name: str) -> Any:
    """The numbers of one check, as attributes."""
    numbers = json.dumps(reference.read("misprints")["numbers"][name])
    return json.loads(numbers, object_hook=lambda table: SimpleNamespace(**table))
