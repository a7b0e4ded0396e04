"""Any bytes, any change of a file and any options are answered at once: with what was read, or with a plain sentence.
Every reader on every hostile file, by a worker: an answer, a plain sentence, or the worker is ended and the next one
reads."""

from __future__ import annotations

import ast
import gzip
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import Population
from rr_core.experiments.grid import Cell, Settings, Sweep
from rr_core.experiments.run import run
from rr_core.io import (
    AllSeen,
    Size,
    Source,
    UnreadableFile,
    WrongDomain,
    experiments,
    inspect,
    inspect_reports,
    odd_names,
    read_distribution,
    read_list,
    read_reports,
    within,
)
from rr_core.io.decoding import unzipped
from rr_core.limits import READ_SECONDS_MAX
from server.jobs import Lost, Pool
from server.sessions import to_read
from tests import EXAMPLES, LENGTHY, SAME_EXAMPLES
from tests.io.hostile_files import BOMBS, LARGE, QUICK, READERS, answer, parquet, rows
from tests.io.reading import as_dict, is_plain
from tests.io.test_spreadsheets import FILES as WORKBOOKS
from tests.io.test_statistics_files import written_files
from tests.io.workbook_files import archive, zipped

SECONDS = 2.0
POPULATION = Population.from_weights([4, 1, 9])
SWEEP = run(
    Sweep((Cell(POPULATION.key, 3, 1.0, 14),), Settings(2, estimators=("inv",))),
    populations={POPULATION.key: POPULATION},
)
TEXT = 'category,count\nbus,1.200\n"car, red",800\ncafé,1\n,3\n\nbus,2\n'
NUMBERED = {"category": ["bus", "car", None, "café", "bus"], "count": [1, 2, 3, 4, 5]}
FILES = {
    "a.csv": TEXT.encode(),
    "b.csv": TEXT.replace(",", ";").replace("\n", "\r\n").encode("latin-1"),
    "c.tsv": TEXT.replace(",", "\t").encode("utf-16"),
    "d.txt": b"report\n" + b"bus\ncar\n bus\n\n" * 9,
    "e.csv": b"id,answer,bits\n" + b"".join(b"%d,a%d,%d\n" % (i, i % 3, i % 2) for i in range(30)),
    "f.parquet": parquet(pa.table(NUMBERED), compression="none"),
    "g.parquet": parquet(pa.table(NUMBERED), use_dictionary=False, column_encoding="PLAIN", compression="snappy"),
    "h.parquet": parquet(
        pa.table({"x": ["abc", "abd"] * 9, "y": [1.5, float("nan")] * 9}), use_dictionary=False, row_group_size=5,
        column_encoding={"x": "DELTA_BYTE_ARRAY", "y": "BYTE_STREAM_SPLIT"}, compression="none",
    ),
    "sweep.csv": experiments.csv_file(SWEEP),
    "sweep.parquet": experiments.parquet_file(SWEEP),
    **WORKBOOKS, **written_files(),
}  # fmt: skip
# What breaks readers: marks of other formats, half letters, quotations, other scripts' digits, numbers of many digits.
PIECES = [b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\x00", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
          b"\x80", b"\xed\xa0\x80", b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"{", b"[[", b"<html>", b"nan", b"-inf",
          b"1e308", b"9" * 400, b"1e-320", b"-0.0", b"%", b"1,234.5", b"=1+1", b"count", b"report",
          "٣²\u2212\u202f".encode(), "\U0001f600".encode(), b"\x1c\x1d\x1e\x1f", b"\x85", b"x" * 5000]  # fmt: skip
AT = st.integers(0, 2**20)


def _change(data: bytes, change: tuple[str, int, int, bytes]) -> bytes:
    kind, one, other, piece = change
    start = one % (len(data) + 1)
    stop = start + other % 40
    return {
        "bit": data[:start] + bytes(b ^ 1 << other % 8 for b in data[start : start + 1]) + data[start + 1 :],
        "byte from the end": data[: -1 - one % 40] + bytes([other % 256]) + data[len(data) - one % 40 :],
        "cut": data[:start],
        "out": data[:start] + data[stop:],
        "twice": data[:stop] + data[start:],
        "many": data[:start] + data[start:stop] * (other % 3000) + data[stop:],
        "in": data[:start] + piece + data[start:],
        "instead": data[:start] + piece + data[stop:],
    }[kind]


CHANGES = st.tuples(
    st.sampled_from(["bit", "byte from the end", "cut", "out", "twice", "many", "in", "instead"]),
    AT,
    AT,
    st.sampled_from(PIECES),
)


@st.composite
def changed_files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file that was fine, and was changed before or after it was compressed, or in one part before it was packed."""
    name = draw(st.sampled_from(sorted(FILES)))
    data = FILES[name]
    if name.endswith((".xlsx", ".ods")) and draw(st.integers(0, 3)):
        parts = unzipped(data, lambda _: True, "workbook")
        part = draw(st.sampled_from(sorted(one for one in parts if parts[one] and one != "mimetype")))
        return name, zipped({**parts, part: _change(parts[part], draw(CHANGES))})
    for change in draw(st.lists(CHANGES, min_size=1, max_size=4)):
        data = _change(data, change)
    if draw(st.integers(0, 4)) == 0:
        name, data = f"{name}.gz", gzip.compress(data, 1)
        data = _change(data, draw(CHANGES)) if draw(st.booleans()) else data
    return name, data


NAMES = st.sampled_from(
    ["a.csv", "a.tsv", "a.txt", "a.parquet", "a.csv.gz", "a", "", ".gz", "a.xlsx", "=a.csv", "\ud800.csv"]
)
BYTES = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)), max_size=40).map(b"".join),
    st.text(max_size=200).map(lambda text: text.encode("utf-16", "surrogatepass")),
)
COLUMNS = st.one_of(
    st.none(), st.integers(-1, 3), st.integers(), st.booleans(), st.text(max_size=8),
    st.sampled_from(["category", "count", "COUNT ", "Column 1"]),
)  # fmt: skip
OPTIONS = st.fixed_dictionaries(
    {
        "layout": st.sampled_from([None, "counts", "values"]),
        "category": COLUMNS,
        "count": COLUMNS,
        "has_header": st.sampled_from([None, True, False]),
    }
)


def answered(pool: Pool, **calls: Callable[[], Any]) -> None:
    """Each call gives an answer or a plain sentence, in time, or ends its worker, as a changed Parquet file may: then
    each is tried alone, as the others are to answer."""
    try:
        told = pool.run(timed, calls, look=lambda *_: None)
    except Lost:
        if len(calls) > 1:
            for name, call in calls.items():
                answered(pool, **{name: call})
        return
    for name, (said, seconds) in told.items():
        assert seconds < SECONDS, name
        assert 10 < len(said) < 700
        # Letters that are not yet in this Python's Unicode are no fault.
        assert not {unicodedata.category(letter) for letter in said} & {"Cc", "Cs", "Zl", "Zp"}
        assert said.endswith((".", "?"))


def timed(calls: dict[str, Callable[[], Any]]) -> dict[str, tuple[str, float]]:
    """Of each call the sentence, and the seconds of work. All in one job: to hand one over costs more than most take."""
    told = {}
    for name, call in calls.items():
        began, said = time.process_time(), "The file was read."
        try:
            call()
        except (UnreadableFile, WrongDomain) as refusal:
            said = str(refusal)
        told[name] = said, time.process_time() - began
    return told


def analysed(files: list[tuple[str, bytes]], **options: Any) -> None:
    """What follows the reading takes whatever was read."""
    reports = read_reports([Source(*file) for file in files], **options)
    assert reports.total == reports.counts.sum() > 0
    assert len({*reports.labels}) == len(reports.labels)
    for domain in (Size(len(reports.labels) + 2), AllSeen()):
        within(reports, domain, odd_names(reports, domain).default_decisions())


def checked(name: str, content: bytes, **options: Any) -> None:
    """Labels are different and weights are weights."""
    distribution = read_distribution(content, name, **options)
    assert len({*distribution.labels}) == distribution.k == len(distribution.weights) >= 2
    assert distribution.weights.min() >= 0 < distribution.weights.sum() < float("inf")


def by_readers(names: Iterable[str], name: str, content: bytes) -> dict[str, Callable[[], Any]]:
    return {key: lambda read=READERS[key]: read(content, name) for key in names}


def any_bytes(data: st.DataObject, pool: Pool) -> None:
    answered(pool, **by_readers(READERS, data.draw(NAMES), data.draw(BYTES)))


def any_change(data: st.DataObject, pool: Pool) -> None:
    name, content = data.draw(changed_files())
    in_turns = list(READERS)[data.draw(st.integers(0, 2)) :: 3]
    answered(
        pool,
        **by_readers(in_turns, name, content),
        checked=lambda: checked(name, content),
        analysed=lambda: analysed([(name, content)]),
    )


def any_options(data: st.DataObject, pool: Pool) -> None:
    files = data.draw(
        st.lists(st.one_of(st.sampled_from(sorted(FILES.items())), changed_files()), min_size=1, max_size=3)
    )
    options, order = data.draw(OPTIONS), data.draw(st.sampled_from(["file", "count", "name"]))
    (name, content), has_header = files[0], options["has_header"]
    answered(
        pool,
        checked=lambda: checked(name, content, order=order, **options),
        analysed=lambda: analysed(files, **options),
        inspect=lambda: inspect(content, name, has_header=has_header),
        inspect_reports=lambda: inspect_reports(Source(name, memoryview(content)), has_header=has_header),
    )


def any_list(data: st.DataObject, pool: Pool) -> None:
    pieces = st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join)
    text = data.draw(
        st.one_of(st.text(max_size=200), pieces.map(lambda some: some.decode("utf-8", "replace")))
    )
    answered(pool, within=lambda: within(read_reports([Source("a.txt", b"bus\ncar\n")]), read_list(text)))


@pytest.mark.parametrize(
    ("tried", "part"),
    [*((one, 4) for one in (any_bytes, any_change, any_options, any_list)),
     pytest.param(any_change, 1, marks=pytest.mark.slow)],
)  # fmt: skip
def test_every_reader_answers(tried: Callable[[st.DataObject, Pool], None], part: int, pool: Pool) -> None:
    given_data = given(data=st.data())(lambda data: tried(data, pool))
    settings(max_examples=EXAMPLES // part, deadline=None, derandomize=SAME_EXAMPLES)(given_data)()


# A whole file of each format whose content is packed, or is no text; and how the sentence on one that is cut begins.
PACKED = {
    **WORKBOOKS,
    **written_files(),
    "a.csv.gz": gzip.compress(FILES["a.csv"]),
    "a.zip": archive({"a.csv": FILES["a.csv"]}),
    "f.parquet": FILES["f.parquet"],
}
CUT = {"a.csv.gz": "The compressed file is cut short", "f.parquet": "The Parquet file is cut short"}


def read_first_column(name: str, data: bytes) -> dict[str, Any]:
    return as_dict(read_reports([Source(name, data)], layout="values", category=0))


@pytest.mark.parametrize("name", PACKED)
def test_a_file_cut_anywhere_is_refused_or_what_is_missing_stood_below_the_rows(name: str) -> None:
    data = PACKED[name]
    for length in range(10, len(data), max(1, len(data) // 30)):
        try:
            found = read_first_column(name, data[:length])
        except UnreadableFile as error:
            said = str(error)
        else:
            assert name not in CUT
            assert sum(found.values()) == sum(read_first_column(name, data).values())
            continue
        assert is_plain(said)
        assert said.startswith(CUT.get(name, ""))


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("性別\n" + "男\n" * 64 + "女\n" * 36, "shift_jis"),
        ("Stadt,Anzahl\nKöln,640\nMünchen,360\nGörlitz,50\nGürlitz,20\n", "cp850"),
        ("Stadt,Anzahl\nKöln,640\nMünchen,360\n", "cp437"),
        ("réponse\ntrès souvent\nforêt\n", "mac_roman"),
        ("odpowiedź\nżółty\nśrednio\npóźniej\n", "iso8859_2"),
        ("απάντηση\nναι\nόχι\nναι\n", "cp1253"),
        ("М;2\nЖЕН;3\n", "cp866"),
        ("回答\n是\n否\n不知道\n", "gb18030"),
        ("응답\n예\n아니요\n모름\n", "euc_kr"),
        ("回答\nはい\nいいえ\n", "euc_jp"),
    ],
)
def test_letters_of_an_unknown_encoding_are_not_lost(text, codec):
    """女 vanished as a blank line, and Görlitz and Gürlitz became one city."""
    for read in (
        lambda data: read_reports([Source("a.csv", data)]),
        lambda data: read_distribution(data, "a.csv"),
    ):
        assert read(text.encode()).rows > 1
        with pytest.raises(
            UnreadableFile,
            match=r"encoding of the text is not known.*Save the table again in the encoding UTF-8",
        ):
            read(text.encode(codec))


ROOT = Path(__file__).parents[2]


def read(
    pool: Pool, name: str, data: bytes, *readers: str, seconds: float = READ_SECONDS_MAX
) -> list[str | None]:
    """What the readers say, within the memory and time that a page gives them; None of one that reads."""
    needed = to_read(name, len(data)) * (2 if any(reader.endswith("of two") for reader in readers) else 1)
    answers = pool.run(
        lambda: [answer(data, name, reader) for reader in readers],
        look=lambda *_: None,
        memory=needed,
        seconds=60.0,
    )
    for reader, (took, said) in zip(readers, answers, strict=True):
        assert took < seconds, (name, reader)
        assert said is None or is_plain(said), (name, reader, said)
    return [said for _, said in answers]


# The quick run has a few small ones, of each kind.
FEW = ("cut.parquet", "lists.parquet", "wrong sum.csv.gz", "nul.csv", "half a letter.csv", "digits.csv")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in QUICK]
)
def test_a_mistake_is_answered_at_once_by_every_reader(name: str, pool: Pool) -> None:
    readers = READERS if name in FEW or LENGTHY else list(READERS)[list(QUICK).index(name) % 9 :: 9]
    read(pool, name, QUICK[name](), *readers, seconds=2.0)


def in_turns(names: Iterable[str], readers: Iterable[str] = READERS) -> list[tuple[str, list[str]]]:
    """Each name with the readers that try its file: all, or a few in turns, such that each reader has its turn."""
    every, names = list(readers), list(names)
    return [(name, every if LENGTHY else every[i :: len(names)]) for i, name in enumerate(names)]


VERY_MUCH = BOMBS | LARGE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
@pytest.mark.parametrize(("name", "readers"), in_turns(VERY_MUCH))
def test_a_file_of_very_much_costs_no_more_than_a_worker(name: str, readers: list[str], pool: Pool) -> None:
    data = VERY_MUCH[name]()
    # Some of those whose turn it is never open a file of this kind.
    for reader in {*readers, "reports.read_reports"}:
        try:
            read(pool, name, data, reader)
        except Lost:
            mistake = b"category,count\na,1\nb,two\n"
            assert all(read(pool, "mistake.csv", mistake, "distribution.read_distribution"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "made", "reader"),
    [
        ("all categories.csv", lambda: rows(1_500_000), "distribution.read_distribution"),
        ("repeated names.csv", lambda: rows(50_000) + rows(50_000)[15:], "reports.read_reports"),
        ("answers.txt", lambda: b"town\n" + b"Rome\nOslo\n" * 500_000, "distribution.read_distribution"),
    ],
)
def test_a_large_honest_file_is_read_within_what_a_page_gives_it(
    name: str, made: Callable[[], bytes], reader: str, pool: Pool
) -> None:
    assert read(pool, name, made(), reader) == [None]


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
        text = path.read_text()
        if path.name not in ("decoding.py", "tables.py") and re.search(
            r"(?<!\.)\b(unpack|gunzip|decode)\b", text
        ):
            names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            assert not names & {"unpack", "gunzip", "decode"}, path
        if path.name != "decoding.py":
            assert not re.search(r"^\s*(import|from) (gzip|zlib|bz2|lzma|zipfile|tarfile)\b", text, re.M), (
                path
            )
    readers = {key.partition(" ")[0].rpartition(".")[2] for key in READERS}
    given = 0
    for path in (ROOT / "pages").rglob("*.py"):
        if not BYTES_OF_UPLOAD.search(path.read_text()):
            continue
        tree = ast.parse(path.read_text())
        jobs = [one for one in calls(tree) if ast.unparse(one.func) == "partial"]
        reading = [job for job in jobs if ast.unparse(job.args[0]).rpartition(".")[2] in readers]
        read = {one for job in reading for one in bytes_of_uploads(job)}
        left = [one.lineno for one in bytes_of_uploads(tree) if one not in read]
        assert not left, (path, left)
        given += len(read)
    assert given >= 8


BYTES_OF_UPLOAD = re.compile(r"\b(file\.bytes|one\.bytes|file\.getvalue)\b")


def calls(tree: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(tree) if isinstance(one, ast.Call)]


def bytes_of_uploads(tree: ast.AST) -> list[ast.Call]:
    return [one for one in calls(tree) if BYTES_OF_UPLOAD.fullmatch(ast.unparse(one.func))]
