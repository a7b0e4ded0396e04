"""The walls of the house: arrows point from pages to figures and files to the core, and nowhere else."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (
        *(ROOT / name for name in ("app.py", "home.py")),
        *(path for room in ("pages", "rr_core", "server") for path in (ROOT / room).rglob("*.py")),
    )
}
# A room, and the libraries and other rooms that its modules may import; a module belongs to the longest name that fits.
ROOMS = {
    "rr_core": {"numpy", "scipy", "rr_core.recompute"},
    # Reads files by `rr_core.io`, imported where a page is about a file.
    "rr_core.recompute": {"numpy", "rr_core", "rr_core.io"},
    # The commands of a shell read files, too.
    "rr_core.__main__": {"numpy", "rr_core", "rr_core.recompute", "rr_core.io"},
    "rr_core.words": {"numpy", "rr_core"},
    "rr_core.figures": {"numpy", "scipy", "plotly", "rr_core", "rr_core.words"},
    "rr_core.io": {"numpy", "pandas", "pyarrow", "pyreadstat", "python_calamine", "rr_core"},
    "pages": {"streamlit", "rr_core", "rr_core.words", "rr_core.figures", "pages._ui", "server"},
    "home": {"streamlit", "rr_core", "rr_core.words", "rr_core.figures", "pages._ui"},
    "app": {"streamlit", "server", "server.room"},
    "server.room": {"starlette", "sqlalchemy", "limits", "rr_core", "server"},
    "server": {"streamlit", "starlette", "loky", "threadpoolctl", "numpy", "pyarrow", "rr_core"},
    "pages._ui": {
        *("streamlit", "jinja2", "markupsafe", "numpy", "pandas", "pyarrow", "plotly", "segno"),
        *("rr_core", "rr_core.words", "rr_core.figures", "rr_core.io", "server", "server.room"),
    },
}

# A library that a module imports where it is there, in the function that needs it.
OPTIONAL = {"rr_core.reports.survey": {"pandas"}}
# A room, and one above it in the same storey.
BELOW = {"rr_core.protocols": "rr_core.plan"}


@cache
def nodes(module: str) -> list[ast.AST]:
    """All of a module's text, parsed."""
    return list(ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))))


@cache
def imports(module: str) -> set[str]:
    """Dotted names that a module imports anywhere in its text; of the project's own, modules and not what they define."""
    names = set()
    for node in nodes(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{module} imports relatively"
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & SOURCES.keys()
            names |= inner or {node.module}
    return names - {module}


def room(module: str) -> str | None:
    return max((name for name in ROOMS if f"{module}.".startswith(f"{name}.")), key=len, default=None)


def test_imports_point_one_way() -> None:
    wrong = []
    for module in SOURCES:
        here = room(module)
        assert here is not None
        for name in imports(module):
            top = name.partition(".")[0]
            allowed = ROOMS[here] | {here} | OPTIONAL.get(module, set())
            if top not in sys.stdlib_module_names and (room(name) or top) not in allowed:
                wrong.append(f"{module} imports {name}")
            below = next((lower for lower in BELOW if module.startswith(f"{lower}.")), "")
            if below and f"{name}.".startswith(f"{BELOW[below]}."):
                wrong.append(f"{module} imports {name}, which stands on it")
    assert not wrong


def test_a_run_ends_early_in_one_way() -> None:
    """`widgets.end_run`: after ``st.stop()`` alone, widgets that were not drawn come back with another value."""
    ends = {module for module, path in SOURCES.items() if "st.stop()\n" in path.read_text(encoding="utf-8")}
    assert ends == {"pages._ui.widgets"}


def name_of(call: ast.Call) -> str:
    """The name that is called, whatever it belongs to."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def test_nobody_changes_what_belongs_to_others() -> None:
    """No module assigns to an attribute of a module or class that it imports from elsewhere, or to one that it gets by
    name; none puts another module in the place of one."""
    wrong = []
    for module in SOURCES:
        foreign = {
            (alias.asname or alias.name).partition(".")[0]
            for node in nodes(module)
            if isinstance(node, ast.Import)
            or (isinstance(node, ast.ImportFrom) and room(f"{node.module}") is None)
            for alias in node.names
        }
        for node in nodes(module):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if name_of(node.value) == "import_module":
                    foreign |= {ast.unparse(target) for target in targets}
        for node in nodes(module):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                if ast.unparse(node.value) == "sys.modules":
                    wrong.append(f"{module}: {ast.unparse(node)}")
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                whose = ast.unparse(node.value).partition(".")[0]
                if whose in foreign:
                    wrong.append(f"{module}: {ast.unparse(node)}")
            elif isinstance(node, ast.Call) and name_of(node) == "setattr":
                wrong.append(f"{module}: {ast.unparse(node)}")
    assert not wrong


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {module: imports(module) & SOURCES.keys() for module in SOURCES}
    assert list(TopologicalSorter(graph).static_order())


def loaded_by(*stages: list[str]) -> list[set[str]]:
    """What has been loaded after each stage of imports in a fresh interpreter, also by others on the way."""
    lines = [f"import {', '.join(modules)}; print(*sys.modules)" for modules in stages]
    code = "\n".join(["import sys", *lines])
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return [set(line.split()) for line in run.stdout.splitlines()]


def of_room(*parts: str) -> list[str]:
    return [name for name in SOURCES if room(name) in parts]


def test_what_importing_whole_parts_loads() -> None:
    core, figures = of_room("rr_core", "rr_core.recompute", "rr_core.words"), of_room("rr_core.figures")
    alone, whole, drawn = loaded_by(["rr_core"], core, figures)
    (files,) = loaded_by(of_room("rr_core.io"))
    parts = {"rr_core.plan", "rr_core.protocols", "rr_core.reports", "rr_core.io", "rr_core.recompute.pages"}
    assert "numpy" in alone
    assert not alone & parts  # what single pages compute
    assert not whole & {"streamlit", "plotly", "pandas", "pyarrow", "loky"}
    assert not drawn & {"streamlit", "pandas", "pyarrow", "loky"}
    assert not files & {"streamlit", "plotly", "loky"}
