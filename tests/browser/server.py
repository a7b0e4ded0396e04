"""The app as a server of its own: started on a free port of 127.0.0.1, stopped with everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import site
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_START_SECONDS = 60


@dataclass(frozen=True)
class Started:
    """A server of the app: its address, for example http://127.0.0.1:8601, its process, and its log."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path


@contextlib.contextmanager
def started(
    script: str,
    folder: Path,
    home: Path,
    *flags: str,
    port: int | None = None,
    by: Sequence[str] = ("-m", "streamlit", "run"),
    path: str = "",
    **environment: str,
) -> Iterator[Started]:
    """Run ``streamlit run script`` in ``folder``.

    Args:
        home: a folder to stand in for the person's own; the log goes there too.
        flags: more of the command line, which win over those that are given anyway.
        port: where it listens; a free one where there is none.
        by: what Python is told before the script; with nothing, it is run as a program.
        path: below which it serves, for example "/lab".
        environment: variables of its environment.
    """
    port = free_port() if port is None else port
    address = f"http://127.0.0.1:{port}{path}"
    own = {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUSERBASE": site.getuserbase()}
    (home / ".streamlit").mkdir(exist_ok=True)  # the command line is for `streamlit run` alone
    (home / ".streamlit" / "config.toml").write_text(
        f'[server]\nport = {port}\naddress = "127.0.0.1"\nheadless = true\nbaseUrlPath = "{path}"\n'
    )
    log_path = home / "server.log"
    with log_path.open("a") as log:
        server = subprocess.Popen(
            [sys.executable, *by, script, *flags],
            cwd=folder,
            env={**os.environ, **own, **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_healthy(server, address, log_path)
            yield Started(address, server, log_path)
        finally:
            _stop(server)


@contextlib.contextmanager
def serving(script: str, folder: Path, home: Path) -> Iterator[str]:
    """Run ``streamlit run script`` in ``folder`` and give its address; the others as in `started`."""
    with started(script, folder, home) as server:
        yield server.address


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_healthy(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Wait without opening a page: the first page that the server sees must be the test's own."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
            return
        time.sleep(0.1)
    raise RuntimeError(f"the app did not start at {address}; its log:\n{log.read_text('utf-8')}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and its children, by their process group where there is such a thing."""

    def end(hard: bool) -> None:
        if os.name == "posix":
            os.killpg(server.pid, signal.SIGKILL if hard else signal.SIGTERM)
        else:
            server.kill()

    with contextlib.suppress(ProcessLookupError):
        end(hard=False)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        end(hard=True)
        server.wait(10)
