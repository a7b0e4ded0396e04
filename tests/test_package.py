"""`pip install .` gives `rr_core` as it stands here, with its data and without the app."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def named(lines: list[str]) -> dict[str, str]:
    """Package to version in lines as `name==1.2` or `name>=1.2`, perhaps for some systems alone."""
    return dict(re.findall(r"^([\w-]+)[=>]=([\d.]+)(?:;.*)?$", "\n".join(lines), flags=re.M))


def test_the_app_pins_what_the_package_asks_for() -> None:
    pins = named((ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines())
    extras = PROJECT["optional-dependencies"]
    asked = named([*PROJECT["dependencies"], *extras["figures"], *extras["io"], *extras["sweeps"]])
    of_pages = {"jinja2", "limits", "markupsafe", "segno", "sqlalchemy", "starlette", "streamlit"}
    of_pages |= {"threadpoolctl", "uvloop"}
    assert set(pins) == {*asked, *of_pages}
    for name, least in asked.items():
        assert [*map(int, pins[name].split("."))] >= [*map(int, least.split("."))]


def test_the_version_is_one_everywhere() -> None:
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_what_is_installed(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    app = {"app.py", "home.py", "pages", "server", "tests"}
    for name in ("pyproject.toml", "README.md", "LICENSE", "rr_core", *app):
        (source / name).symlink_to(ROOT / name)  # what building leaves behind stays out of the project
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    here = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "rr_core").rglob("*")
        if "__pycache__" not in path.parts
    }
    there = {str(path.relative_to(target)) for path in target.rglob("*") if "__pycache__" not in path.parts}
    assert {name for name in there if name.startswith("rr_core/")} == here
    assert not app & there
    code = (
        "import rr_core; print(rr_core.__file__, rr_core.mle_star([3, 1], rr_core.RandomizedResponse(2, 1)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith(str(target))
