"""Memory that is given back to the system between the steps of reading.

Arrow's own allocators keep what was freed, for each thread, and a file is read in steps that each need much for a
short time: kept memory would be counted several times. So the whole process uses the system's allocator for Arrow.
"""

from __future__ import annotations

import pyarrow as pa

pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """Return to the system what was freed, by NumPy too. Takes milliseconds: for the ends of long steps."""
    pa.system_memory_pool().release_unused()
