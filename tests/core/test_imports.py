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


@pytest.mark.parametrize("package", ["figures", "io"])
def test_figures_and_files_load_no_streamlit(package):
    """Neither by their own import lines nor by those of what they import."""
    modules = [f"rr_core.{package}.{path.stem}" for path in (ROOT / "rr_core" / package).glob("[!_]*.py")]
    assert "streamlit" not in loaded_by(", ".join(modules))


def test_files_load_no_plotly():
    loaded = loaded_by("rr_core.io.experiments")
    assert "pyarrow" in loaded
    assert not loaded & {"streamlit", "plotly", "pandas"}


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
    """Of other libraries; the figures import Plotly, too, and io pyarrow."""
    outside = {
        line.split()[1].partition(".")[0]
        for path in (ROOT / "rr_core").rglob("*.py")
        if not {"figures", "io"} & set(path.parts)
        for line in path.read_text("utf-8").splitlines()
        if line.lstrip().startswith(("import ", "from ")) and line.split()[1][0] != "."
    } - set(sys.stdlib_module_names)
    assert outside == {"numpy", "scipy", "rr_core"}
    assert "apart from figures/ and io/ it imports NumPy and SciPy only" in (ROOT / "README.md").read_text(
        "utf-8"
    )
