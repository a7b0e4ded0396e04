"""nginx as in ``docs/nginx.conf.example``, before servers of the app."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests import missing
from tests.browser.server import ROOT, free_port

TEXT = (ROOT / "docs" / "nginx.conf.example").read_text(encoding="utf-8")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")


def heeded(text: str) -> str:
    """What nginx heeds: without comments."""
    return re.sub(r"^ *#.*\n", "", text, flags=re.M)


def configured(folder: Path, *apps: str) -> tuple[list[str], str, str]:
    """The example with a certificate and free ports, before one or two apps at these addresses, such as
    127.0.0.1:8501: the command that starts nginx, and its addresses for http and https."""
    if NGINX is None or OPENSSL is None:
        missing("nginx or openssl is not installed")
    subject = ["-subj", "/CN=class.example", "-keyout", str(folder / "privkey.pem")]
    made = [str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*made, "-out", str(folder / "fullchain.pem")], check=True, capture_output=True)
    site = heeded(TEXT.replace("#+ ", "") if len(apps) > 1 else TEXT)
    site = site.replace("/etc/letsencrypt/live/class.example", str(folder)).replace(
        "/var/log/nginx", str(folder)
    )
    for port, app in zip((8501, 8502), apps, strict=False):
        site = site.replace(f"127.0.0.1:{port}", app)
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    for port, address in zip(("80;", "443 "), addresses, strict=True):
        site = site.replace(f"listen {port}", f"listen {address}{port[-1]}")
    (folder / "site.conf").write_text(site, encoding="utf-8")
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{name}_temp_path {folder}/{name};" for name in kept)
    alone = f"pid {folder}/pid; daemon off; master_process off;"
    whole = f"{alone} events {{}} http {{ {folders} include {folder}/site.conf; }}"
    (folder / "nginx.conf").write_text(whole, encoding="utf-8")
    start = [str(NGINX), "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    return start, f"http://{addresses[0]}", f"https://{addresses[1]}"


@contextlib.contextmanager
def behind_nginx(folder: Path, *apps: str) -> Iterator[tuple[str, str]]:
    """Run nginx before these apps, as in `configured`: its addresses for http and https."""
    start, http, https = configured(folder, *apps)
    with subprocess.Popen(start, stderr=subprocess.DEVNULL) as nginx:
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(("127.0.0.1", int(https.rpartition(":")[2])), 1),
                ):
                    break
                time.sleep(0.1)
            yield http, https
        finally:
            nginx.terminate()
