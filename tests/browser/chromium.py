"""Which Chromium the browser tests drive."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PLACES = (
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def installed(own: str = "") -> str | None:
    """Path of an installed Chromium, or of Playwright's ``own`` download, or None."""
    found = (*_PLACES, *filter(None, map(shutil.which, _COMMANDS)), own)
    return next((path for path in found if path and Path(path).is_file()), None)


def flags() -> list[str]:
    """Launch flags. Chromium refuses its sandbox to root, and to nobody else should it be switched off."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*FLAGS, "--no-sandbox"] if as_root else list(FLAGS)
