"""What is worked out of a result, kept as long as the result: it does not change, and the page runs again at every click.

Not a cache of Streamlit's: that one would outlive the session, and with it the result of an upload.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from rr_core.experiments.run import SweepResult

T = TypeVar("T")
_KEPT: WeakKeyDictionary[SweepResult, dict[Hashable, Any]] = WeakKeyDictionary()


def kept(result: SweepResult, what: Hashable, make: Callable[[], T]) -> T:
    """``make()`` of this result, or what it gave before; it must not hold the result itself."""
    held = _KEPT.setdefault(result, {})
    if what not in held:
        held[what] = make()
    found: T = held[what]
    return found
