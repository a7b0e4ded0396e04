"""A server that has just been started, and several people who open different pages of it at the same moment."""

import ast
import json
import subprocess
import sys

import pytest

from tests.app.opening import ROOT

PAGES = [ROOT / "home.py", *sorted((ROOT / "pages").glob("[!_]*.py"))]
# Every page's imports in a thread of its own, all at once, with as many switches between them as can be.
TOGETHER = """
import ast, sys, threading
from pathlib import Path
import streamlit
sys.setswitchinterval(1e-4)
files, errors = [Path(name) for name in sys.argv[1:]], []
together = threading.Barrier(len(files))

def open_page(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    code = compile(tree, str(file), "exec")
    together.wait()
    try:
        exec(code, {})
    except BaseException as error:
        errors.append(f"{file.name}: {error!r}")

threads = [threading.Thread(target=open_page, args=(file,)) for file in files]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*errors, sep="\\n", end="")
"""


@pytest.mark.slow
def test_all_pages_can_be_opened_first_at_the_same_moment() -> None:
    """Without the order in `pages._ui` every second run fails."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TOGETHER, *map(str, PAGES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == ""


def test_every_page_imports_the_package_that_pages_share_before_anything_else_of_the_project() -> None:
    for page in PAGES:
        imports = [
            node
            for node in ast.parse(page.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom)
        ]
        assert imports[0].module == "pages._ui", page.name


OPENED = f"""
import gc, json, sys, pages._ui.frame
pandas = hasattr(sys.modules["pandas"], "Series")
import streamlit as st
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_info
page = AppTest.from_file({str(ROOT / "home.py")!r}, default_timeout=60).run()
frozen = gc.get_freeze_count()
st.cache_resource.clear()
page.run()
threads = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
print(json.dumps([pandas, threads, frozen, gc.get_freeze_count()]))
"""


def test_a_server_has_pandas_multiplies_matrices_in_one_thread_and_freezes_once_what_the_imports_made():
    """Pandas before any figure: Plotly asks for whatever there is, half imported by another session of a class that opens
    a link at once. And whoever sends clear_cache again and again would else have everything frozen that sessions hold:
    none of it would ever be freed."""
    run = subprocess.run([sys.executable, "-c", OPENED], cwd=ROOT, capture_output=True, text=True, check=True)
    pandas, threads, before, after = json.loads(run.stdout)
    assert pandas
    assert set(threads) == {1}
    assert 0 < after <= before
