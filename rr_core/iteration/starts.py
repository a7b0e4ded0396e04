"""What earlier scripts import from here; it is in `rr_core.ibu`."""

from rr_core.ibu import Start

__all__ = ["Start"]
