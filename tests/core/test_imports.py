"""What an import loads, asked of a fresh interpreter: dependencies point one way."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_core_loads_no_interface_library():
    loaded = loaded_by("rr_core")
    assert "numpy" in loaded
    assert not loaded & {"streamlit", "plotly", "pandas", "pyarrow"}


def test_the_figures_load_no_streamlit():
    assert "streamlit" not in loaded_by("rr_core.figures")


@pytest.mark.parametrize("path", sorted((ROOT / "rr_core").rglob("*.py")), ids=lambda path: path.stem)
def test_no_core_module_imports_upwards(path):
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    imported = [
        line.split()[1] for line in lines if line.startswith(("import ", "from ")) and len(line.split()) > 1
    ]
    top = {name.partition(".")[0] for name in imported}
    assert not top & {"streamlit", "pages", "app"}
    if "figures" not in path.parts:
        assert not top & {"plotly", "pandas"}
        assert not any(name.startswith("rr_core.figures") for name in imported)


def test_what_the_readme_says_the_mathematics_imports():
    """Of other libraries; the figures import Plotly, too."""
    outside = {
        line.split()[1].partition(".")[0]
        for path in (ROOT / "rr_core").rglob("*.py")
        if "figures" not in path.parts
        for line in path.read_text("utf-8").splitlines()
        if line.lstrip().startswith(("import ", "from ")) and line.split()[1][0] != "."
    } - set(sys.stdlib_module_names)
    assert outside == {"numpy", "scipy", "rr_core"}
    assert "apart from figures/ it imports NumPy and SciPy only" in (ROOT / "README.md").read_text("utf-8")
