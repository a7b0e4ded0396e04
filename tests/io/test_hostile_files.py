"""Every reader on every hostile file, by a worker: an answer, a plain sentence, or the worker is ended and the next one
reads; a mistake is always answered by a sentence of the reader."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rr_core.limits import READ_SECONDS_MAX
from server.jobs import Lost, Pool
from server.sessions import to_read
from tests import LENGTHY
from tests.io.hostile_files import BOMBS, HUGE, LARGE, QUICK, READERS, answer

ROOT = Path(__file__).parents[2]


def read(pool: Pool, name: str, data: bytes, reader: str, seconds: float = READ_SECONDS_MAX) -> str | None:
    """What the reader says, within the memory and time that a page gives it; None where it reads."""
    needed = to_read(name, len(data)) * (2 if reader.endswith("of two") else 1)
    took, said = pool.run(answer, data, name, reader, look=lambda *_: None, memory=needed, seconds=60.0)
    assert took < seconds, (name, reader)
    assert said is None or is_plain(said), (name, reader, said)
    return said


def is_plain(said: str) -> bool:
    """Whether it reads as one or two sentences for a person."""
    return 20 < len(said) < 700 and said.isprintable() and said.endswith(".") and "Traceback" not in said


# The quick run has a few small ones, of each kind.
FEW = ("cut.parquet", "lists.parquet", "wrong sum.csv.gz", "nul.csv", "half a letter.csv", "digits.csv")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in QUICK]
)
def test_a_mistake_is_answered_at_once_by_every_reader(name: str, pool: Pool) -> None:
    data = QUICK[name]()
    for reader in READERS if name in FEW or LENGTHY else list(READERS)[list(QUICK).index(name) % 6 :: 6]:
        read(pool, name, data, reader, 2.0)


def in_turns(names: Iterable[str], readers: Iterable[str] = READERS) -> list[tuple[str, list[str]]]:
    """Each name with the readers that try its file: all, or a few in turns, such that each reader has its turn."""
    every, names = list(readers), list(names)
    return [(name, every if LENGTHY else every[i :: len(names)]) for i, name in enumerate(names)]


VERY_MUCH = BOMBS | LARGE | (HUGE if LENGTHY else {})


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
@pytest.mark.parametrize(("name", "readers"), in_turns(VERY_MUCH))
def test_a_file_of_very_much_costs_no_more_than_a_worker(name: str, readers: list[str], pool: Pool) -> None:
    data = VERY_MUCH[name]()
    for reader in readers:
        try:
            read(pool, name, data, reader)
        except Lost:
            assert read(
                pool, "mistake.csv", b"category,count\na,1\nb,two\n", "distribution.read_distribution"
            )


HONEST: dict[str, Callable[[], bytes]] = {
    "a million and a half categories.csv": lambda: (
        b"category,count\n" + b"".join(b"name-%010d,%d\n" % (i, i % 97 + 1) for i in range(1_500_000))
    ),
    "repeated names.csv": lambda: (
        b"category,count\n"
        + b"".join(b"category name %07d,%d\n" % (i % 200_000, i) for i in range(1_000_000))
    ),
    "answers.txt": lambda: b"answer\n" + b"".join(b"town %d\n" % (i * 7919 % 1000) for i in range(3_000_000)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reader"),
    list(zip(HONEST, ["distribution.read_distribution", "reports.read_reports"] * 2, strict=False)),
)
def test_a_large_honest_file_is_read_within_what_a_page_gives_it(name: str, reader: str, pool: Pool) -> None:
    assert read(pool, name, HONEST[name](), reader) is None


def test_every_reader_is_found() -> None:
    taken = {
        "tables.decoded",
        "distribution.read_distribution",
        "experiments.read",
        "channel_file.read_matrix_file",
    }
    taken |= {"reports.read_reports of two", "unary_reports.read_unary", "domain.read_list of text"}
    assert taken <= set(READERS)


def test_nothing_but_decoding_unpacks_an_upload_and_pages_have_workers_read_it() -> None:
    """Bytes become text in one place; a page gives those of an upload to a job of a reader that was found."""
    for path in [*(ROOT / "rr_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        tree = ast.parse(path.read_text())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        modules = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        if path.name not in ("decoding.py", "tables.py"):
            assert not names & {"unpack", "gunzip", "decode"}, path
        if path.name != "decoding.py":
            assert not modules & {"gzip", "zlib", "bz2", "lzma", "zipfile", "tarfile"}, path
    readers = {key.partition(" ")[0].rpartition(".")[2] for key in READERS}
    given = 0
    for path in (ROOT / "pages").rglob("*.py"):
        tree = ast.parse(path.read_text())
        jobs = [one for one in calls(tree) if ast.unparse(one.func) == "partial"]
        reading = [job for job in jobs if ast.unparse(job.args[0]).rpartition(".")[2] in readers]
        read = {one for job in reading for one in bytes_of_uploads(job)}
        left = [one.lineno for one in bytes_of_uploads(tree) if one not in read]
        assert not left, (path, left)
        given += len(read)
    assert given >= 8


def calls(tree: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(tree) if isinstance(one, ast.Call)]


def bytes_of_uploads(tree: ast.AST) -> list[ast.Call]:
    asked = [one for one in calls(tree) if isinstance(one.func, ast.Attribute)]
    return [one for one in asked if ast.unparse(one.func) in ("file.bytes", "one.bytes", "file.getvalue")]
