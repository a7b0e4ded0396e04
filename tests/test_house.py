"""The house keeps its walls: who imports whom, lint and types."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "rr_core").rglob("*.py")]


def imported(path: Path) -> set[str]:
    """Dotted names of the modules a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def packages(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


def part(path: Path) -> str:
    """Which room a source file stands in."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "rr_core":
        return parts[1] if parts[1] in ("figures", "io") else "core"
    if parts[:3] == ("pages", "_ui", "tables"):
        return "tables"
    return "ui" if parts[:2] == ("pages", "_ui") else "page"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    outside = packages(path) - set(sys.stdlib_module_names)
    allowed = {
        "core": {"numpy", "scipy", "rr_core"},
        "figures": {"numpy", "scipy", "plotly", "rr_core"},
        "io": {"numpy", "pyarrow", "rr_core"},
        "tables": {"numpy", "pandas", "pyarrow", "rr_core", "pages"},
        "ui": {"streamlit", "loky", "numpy", "pandas", "pyarrow", "plotly", "rr_core", "pages"},
        "page": {"streamlit", "rr_core", "pages"},
    }[part(path)]
    assert outside <= allowed
    if part(path) in ("core", "io"):
        assert not any(name.startswith("rr_core.figures") for name in imported(path))


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
    ],
    ids=" ".join,
)
def test_lint_format_and_types_are_clean(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
