"""The README says what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rr_core.populations import DISTRIBUTIONS
from rr_core.scenario import ALL_FIELDS, FIELDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_it_opens_with_a_sentence_a_picture_and_the_two_commands() -> None:
    positions = [README.index(text) for text in ("A dashboard to", "![", "streamlit run app.py", "-m pytest")]
    assert positions == sorted(positions)
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert picture is not None
    assert (ROOT / picture[1]).stat().st_size > 10_000


def test_every_page_is_listed_with_its_address_and_its_question() -> None:
    for page in (ROOT / "pages").glob("[!_]*.py"):
        question = re.search(
            r'open_(?:page|reading)\(\s*"(\w+)",\s+"([^"]+)"', page.read_text(encoding="utf-8")
        )
        assert question is not None
        assert question[1] == page.stem
        assert f"`/{page.stem}`" in README


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_ranges_of_the_link_parameters(field: object) -> None:
    row = next(line for line in README.splitlines() if line.startswith(f"| `{field.parameter}` |"))  # type: ignore[attr-defined]
    assert f"{field.low:,g} to {field.high:,.12g} |" in row  # type: ignore[attr-defined]


def test_every_distribution_and_parameter_is_named() -> None:
    row = next(line for line in README.splitlines() if line.startswith("| `dist` |"))
    assert set(re.findall(r"`(\w+)`", row)) == {"dist", *DISTRIBUTIONS}
    assert {field.parameter for field in ALL_FIELDS} <= set(re.findall(r"\| `(\w+)` \|", README))


def test_the_python_example_runs() -> None:
    (example,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "negatives repaired" in done.stdout


def test_the_files_it_points_to_exist() -> None:
    text = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:rr_core|pages|tests|\.streamlit|[A-Z]+\.md)[\w./]*)`", text):
        assert (ROOT / name).exists(), name


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -m1 -E '([^']+)' README.md", script)
    assert pattern is not None
    (command,) = [line for line in README.splitlines() if re.match(pattern[1], line)]
    assert command in blocks("sh")[1]
    assert command.endswith("-m pytest")
