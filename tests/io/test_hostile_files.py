"""Every reader on every hostile file: an answer or a plain sentence, in bounded memory and time."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests import LENGTHY
from tests.io.hostile_files import BOMBS, HUGE, LARGE, QUICK, READERS

ROOT = Path(__file__).parents[2]


def read_in_a_process_of_its_own(
    *paths: Path, readers: str = ",".join(READERS)
) -> tuple[int, list[tuple[str, str, float, str | None]]]:
    """Megabytes above those before, and the answers."""
    command = [sys.executable, "-W", "error", "-m", "tests.io.hostile_files", "--read", readers, *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for file, reader, _, said in found["answers"]:
        assert said is None or is_plain(said), (file, reader, said)
    return found["megabytes"], found["answers"]


def is_plain(said: str) -> bool:
    """Whether it reads as one or two sentences for a person."""
    return 20 < len(said) < 700 and said.isprintable() and said.endswith(".") and "Traceback" not in said


@pytest.mark.slow
def test_hostile_files_are_answered_at_once(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in QUICK]
    for path, make in zip(paths, QUICK.values(), strict=True):
        path.write_bytes(make())
    megabytes, answers = read_in_a_process_of_its_own(*paths)
    assert len(answers) == len(QUICK) * len(READERS)
    assert megabytes < 300
    assert [answer for answer in answers if answer[2] > 2.0] == []


def test_every_reader_is_found() -> None:
    taken = {
        "budget.decoded",
        "distribution.read_distribution",
        "experiments.read",
        "channel_file.read_matrix_file",
    }
    taken |= {"reports.read_reports of two", "unary_reports.read_unary", "domain.read_list of text"}
    assert taken <= set(READERS)


@pytest.mark.slow
def test_a_small_file_is_answered_at_once_by_every_reader(tmp_path: Path) -> None:
    """Of five million short lines one reader made five million lists: 2.5 GB, 56 seconds."""
    paths = [tmp_path / name for name in BOMBS]
    for path, make in zip(paths, BOMBS.values(), strict=True):
        path.write_bytes(make())
        assert path.stat().st_size < 20_100_000
    megabytes, answers = read_in_a_process_of_its_own(*paths)
    assert len(answers) == len(BOMBS) * len(READERS)
    assert megabytes < 800
    assert [answer for answer in answers if answer[2] > 5.0] == []


def test_nothing_but_the_budget_unpacks_or_decodes_an_upload() -> None:
    """Bytes become text in one place; a page gives those of an upload to readers that were found, and to nothing else."""
    for path in [*(ROOT / "rr_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        tree = ast.parse(path.read_text())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        modules = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        if path.name not in ("decoding.py", "budget.py"):
            assert not names & {"unpack", "gunzip", "decode"}, path
            assert not modules & {"gzip", "zlib", "bz2", "lzma", "zipfile", "tarfile"}, path
    readers = {key.partition(" ")[0].rpartition(".")[2] for key in READERS}
    given = []
    for path in (ROOT / "pages").rglob("*.py"):
        tree = ast.parse(path.read_text())
        for call in ast.walk(tree):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "bytes"
            ):
                around = _calls_around(tree, call)
                given.append((path.name, around))
                assert around & readers, (path, call.lineno)
    assert len(given) >= 7


def _calls_around(tree: ast.AST, inner: ast.AST) -> set[str]:
    """The names of the functions among whose arguments a node is."""
    return {
        ast.unparse(call.func).rpartition(".")[2]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and any(node is inner for node in ast.walk(call)) and call is not inner
    }


def very_much_takes_at_most_a_gigabyte(name: str, folder: Path, readers: str) -> None:
    path = folder / name
    path.write_bytes(LARGE[name]())
    assert path.stat().st_size < 2_000_000
    megabytes, answers = read_in_a_process_of_its_own(path, readers=readers)
    assert megabytes < 1024, answers
    assert [answer for answer in answers if answer[2] > 20.0] == []


@pytest.mark.parametrize("name", ["bomb.csv.gz"])
@pytest.mark.slow
def test_a_small_file_of_very_much_is_read_as_a_distribution(name: str, tmp_path: Path) -> None:
    very_much_takes_at_most_a_gigabyte(name, tmp_path, "distribution.read_distribution")


def in_turns(names: Iterable[str], readers: Iterable[str] = READERS) -> list[tuple[str, str]]:
    """Each name with the readers that try its file: all, or a few in turns, such that each reader has its turn."""
    every, names = list(readers), list(names)
    return [(name, ",".join(every if LENGTHY else every[i :: len(names)])) for i, name in enumerate(names)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "readers"), in_turns(LARGE))
def test_a_small_file_of_very_much_is_read_by_each_reader(name: str, readers: str, tmp_path: Path) -> None:
    very_much_takes_at_most_a_gigabyte(name, tmp_path, readers)


# They take minutes, some because they are refused only when their time is over.
FOR_MINUTES = ("archives.csv.gz", "blank fields.csv", "long names.txt", "names to clean.txt", "amounts.csv")
LARGEST = in_turns(name for name in HUGE if name not in FOR_MINUTES or LENGTHY)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "readers"), LARGEST)
def test_the_largest_files_take_at_most_a_gigabyte(name: str, readers: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(HUGE[name]())
    assert path.stat().st_size < 200 * 2**20
    megabytes, answers = read_in_a_process_of_its_own(path, readers=readers)
    assert megabytes < 1024, answers
    assert [answer for answer in answers if answer[2] > 40.0] == []


HONEST: dict[str, Callable[[], bytes]] = {
    "a million and a half categories.csv": lambda: (
        b"category,count\n" + b"".join(b"name-%010d,%d\n" % (i, i % 97 + 1) for i in range(1_500_000))
    ),
    "repeated names.csv": lambda: (
        b"category,count\n"
        + b"".join(b"category name %07d,%d\n" % (i % 200_000, i) for i in range(2_500_000))
    ),
    "answers.txt": lambda: b"answer\n" + b"".join(b"town %d\n" % (i * 7919 % 1000) for i in range(9_000_000)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "readers"),
    in_turns(HONEST, ["distribution.read_distribution", "reports.read_reports", "unary_reports.read_unary"]),
)
def test_an_honest_file_takes_few_times_its_size(name: str, readers: str, tmp_path: Path) -> None:
    """Three times, and what reading takes at all; the labels alone of a million and a half are 120 MB."""
    path = tmp_path / name
    path.write_bytes(HONEST[name]())
    megabytes, _ = read_in_a_process_of_its_own(path, readers=readers)
    assert megabytes < 3 * path.stat().st_size / 2**20 + 180
