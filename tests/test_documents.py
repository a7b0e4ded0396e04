"""The README, CONTRIBUTING.md and the pages in `docs/` say what the code does, and its notebook runs from top to
bottom."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pages._ui import navigation
from rr_core import RandomizedResponse, mle_star, reference
from rr_core.parameters import Choice, Number, NumberList, Several, Text
from rr_core.populations import DISTRIBUTIONS
from rr_core.scenario import NUMBERS, PARAMETERS
from tests.documents import DOCUMENTS, PAGES, ROOT

README, LINKS = DOCUMENTS["README.md"], DOCUMENTS["docs/links.md"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def first_words(document: str, row: str) -> list[str]:
    """What is in code type in the first column of the rows of a table that begin with this."""
    rows = re.findall(rf"^\| ({row}[^|]*) \|", document, flags=re.M)
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


def headings(document: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", document, flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_short_and_opens_with_a_sentence_a_picture_and_the_two_commands() -> None:
    assert len(README.splitlines()) <= 160
    positions = [README.index(text) for text in ("A dashboard to", "![", "streamlit run app.py", "-m pytest")]
    assert positions == sorted(positions)
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert picture is not None
    assert (ROOT / picture[1]).stat().st_size > 10_000


def test_every_page_is_listed_with_its_name_address_and_question_as_in_the_navigation() -> None:
    entries = navigation.BY_ADDRESS.values()
    assert [(entry.name, entry.address, entry.question) for entry in entries] == PAGES
    files = ("home.py", *(f"pages/{path.name}" for path in ROOT.glob("pages/[!_]*.py")))
    assert sorted(entry.file for entry in entries) == sorted(files)


def test_every_address_leads_to_a_page_and_to_a_part_of_it() -> None:
    for name, text in DOCUMENTS.items():
        for page, part in re.findall(r"`/([a-z]\w*)(?:\?part=(\w+))?`", text):
            code = (ROOT / "pages" / f"{page}.py").read_text(encoding="utf-8")
            sections = ROOT / "pages" / "_ui" / f"{page}.py"
            code += sections.read_text(encoding="utf-8") if sections.exists() else ""
            assert not part or f'"{part}": ' in code, f"{name}: /{page}?part={part}"


def test_the_questions_of_students_are_those_of_the_reference_and_lead_to_where_they_are_answered() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", DOCUMENTS["docs/student_questions.md"], flags=re.M)
    assert rows == [
        (
            str(i),
            f"{one.entry.title} | {one.entry.text} | {navigation.BY_ADDRESS[one.page].label}, {one.seen}",
        )
        for i, one in enumerate(reference.questions(), 1)
    ]
    for question in reference.questions():
        page = (ROOT / navigation.BY_ADDRESS[question.page].file).read_text(encoding="utf-8")
        named = re.search(r'tabs? "([^"]+)"', question.seen)
        if question.part:
            assert named is not None
            assert f'"{question.part}": "{named[1]}"' in page


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: field.name)
def test_ranges_of_the_link_parameters(field: object) -> None:
    row = next(line for line in LINKS.splitlines() if line.startswith(f"| `{field.parameter}` |"))  # type: ignore[attr-defined]
    assert f"{field.low:,g} to {field.high:,.12g} |" in row  # type: ignore[attr-defined]


def test_every_distribution_and_parameter_is_named() -> None:
    row = next(line for line in LINKS.splitlines() if line.startswith("| `dist` |"))
    assert set(re.findall(r"`(\w+)`", row)) == {"dist", *DISTRIBUTIONS}
    assert {field.parameter for field in PARAMETERS} <= set(first_words(LINKS, "`"))


def test_every_parameter_of_a_page_is_named() -> None:
    """`Number("delay", "wait", ...)` is called "wait" in a link; modules hold descriptions by themselves or in tuples."""
    described = set()
    for name in [name for name in sys.modules if name.startswith(("pages.", "rr_core."))]:
        for value in vars(sys.modules[name]).values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Number | Choice | Several | Text | NumberList):
                    described.add(one.parameter)
    assert described >= {"eps", "seeds", "pop", "target", "days", "ks"}
    assert described <= set(first_words(LINKS, "`"))


def test_the_python_example_runs() -> None:
    (example,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "negatives repaired" in done.stdout


def test_every_package_that_the_app_needs_has_its_reason() -> None:
    reasons = README.split("## Dependencies")[1].split("\n## ")[0].lower()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", reasons, flags=re.M)
    named = {package for packages, _ in rows for package in packages.split(", ")} - {"package"}
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert named == {pin.partition("==")[0] for pin in pins}


def test_the_files_they_point_to_exist() -> None:
    rooms = r"(?:rr_core|pages|server|tests|docs|\.streamlit|\.ci)/[\w./]*|app\.py|home\.py|[A-Z]+\.md"
    for document, text in DOCUMENTS.items():
        for name in re.findall(f"`({rooms})`", text):
            assert (ROOT / name).exists(), f"{document}: {name}"
    layout = README.split("## How the code is laid out")[1].split("```")[1]
    for line in layout.strip().splitlines():
        assert (ROOT / line.split()[0]).exists(), line


def test_links_lead_somewhere() -> None:
    for document, text in DOCUMENTS.items():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            path, _, anchor = target.partition("#")
            if not path.startswith("https:"):
                there = (ROOT / document).parent / path if path else ROOT / document
                assert there.exists(), f"{document}: {target}"
                assert not anchor or anchor in headings(there.read_text(encoding="utf-8")), (
                    f"{document}: {target}"
                )


def test_every_page_of_docs_is_within_reach_of_the_readme() -> None:
    for name in DOCUMENTS:
        assert name == "README.md" or f"]({name})" in README, name


def test_every_benchmark_is_listed() -> None:
    programs = {
        path.stem
        for path in ROOT.glob("tests/benchmarks/*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    listed = first_words(DOCUMENTS["docs/benchmarks.md"], "`")
    told = re.findall(r"^`(\w+) save", DOCUMENTS["docs/benchmarks.md"], flags=re.M)
    assert {name.partition(" ")[0] for name in (*listed, *told)} == programs


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -m1 -E '([^']+)' README.md", script)
    assert pattern is not None
    (command,) = [line for line in README.splitlines() if re.match(pattern[1], line)]
    assert command in blocks("sh")[1]
    assert command.endswith("-m pytest")


NOTEBOOK = Path(__file__).parents[1] / "docs" / "from_a_file.ipynb"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the notebook's cells leave behind when they run in a folder."""
    monkeypatch.chdir(folder)
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names


def test_the_notebook_runs_on_the_file_that_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = run(tmp_path, monkeypatch)
    printed = capsys.readouterr().out
    assert "32,561 reports of 16 categories" in printed
    assert names["found"].estimates["mle_star"].sum() == pytest.approx(1)
    assert len(names["figure"].data) == 5
    assert float(printed.partition("certificate of MLE*: ")[2].split()[0]) < 1e-12


def test_the_notebook_runs_on_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reports.csv").write_text(
        "answer\n" + "bus\n" * 60 + "car\n" * 30 + "NA\n" + "tram\n" * 25, "utf-8"
    )
    names = run(tmp_path, monkeypatch)
    assert names["collected"].labels.tolist() == ["bus", "car", "tram"]
    expected = mle_star([60, 30, 25], RandomizedResponse(3, 2.0))
    assert np.array_equal(names["found"].estimates["mle_star"], expected)


def test_the_notebook_holds_no_output_of_a_run() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
