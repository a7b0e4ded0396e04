"""What the jobs of the tests do; workers import it."""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import import_module
from pathlib import Path


def loaded(names=()):
    """The modules of this process once it has loaded these, too."""
    for name in names:
        import_module(name)
    return set(sys.modules)


def niceness() -> int:
    """Of this thread."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def steps(number, progress):
    for step in range(1, number + 1):
        time.sleep(0.02)
        if progress(step):
            return "stopped", step
    return "finished", number


def much():
    return len(bytearray(2**30))


KEPT = []


def keeps(size):
    KEPT.append(b"x" * size)


def allocator():
    import pyarrow as pa

    return pa.default_memory_pool().backend_name


def threads_that_read():
    """How many of four threads read a small Parquet file."""
    import io
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table({"category": ["a", "b"] * 50_000}), sink)
    with ThreadPoolExecutor(4) as threads:
        rows = threads.map(lambda _: pq.read_table(pa.BufferReader(sink.getvalue())).num_rows, range(4))
    return sum(count == 100_000 for count in rows)


def death():
    os._exit(3)


def endless():
    while True:
        pass


def until(path):
    while not Path(path).exists():
        time.sleep(0.02)
