"""Runs a downloaded script as a person would: in a folder, with rr_core alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.app.opening import ROOT

_WALL = """
import os, runpy, sys
class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {forbidden}:
            raise ImportError(name)
sys.meta_path.insert(0, Wall())
for folder in sys.argv[1:]:
    os.chdir(folder)
    runpy.run_path("downloaded.py", run_name="__main__")
    print(end="\f")
"""


def printed(script: str, folder: Path, *, files: bool = False) -> list[str]:
    """Lines that a script prints when it runs in ``folder`` with rr_core alone; to read files, with pyarrow."""
    (lines,) = all_printed({folder: script}, files=files)
    return lines


def all_printed(scripts: dict[Path, str], *, files: bool = False) -> list[list[str]]:
    """The lines of several scripts by their folders, one after another in one interpreter: to start one takes longer."""
    for folder, script in scripts.items():
        folder.mkdir(exist_ok=True)
        (folder / "downloaded.py").write_text(script, "utf-8")
    forbidden = {"streamlit", "plotly", "pandas", "pages", "tests"} | (set() if files else {"pyarrow"})
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", _WALL.format(forbidden=forbidden), *map(str, scripts)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [text.removesuffix("\n").split("\n") for text in run.stdout.split("\f")[:-1]]
