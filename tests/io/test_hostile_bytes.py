"""Any bytes, any change of a file and any options are answered at once: with what was read, or with a plain sentence."""

from __future__ import annotations

import gzip
import time
import unicodedata
from collections.abc import Callable, Iterator
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
from server.jobs import Lost, Pool
from tests import EXAMPLES, SAME_EXAMPLES
from tests.io.hostile_files import READERS, parquet

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
    """A file that was fine, and was changed before or after it was compressed."""
    name = draw(st.sampled_from(sorted(FILES)))
    data = FILES[name]
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


POOL = Pool(2)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    for worker in POOL._idle:
        worker.end()


def answered(call: Callable[[], Any]) -> Any:
    """The answer, or None after a plain sentence, in time; also None where a changed Parquet file ended its worker."""
    try:
        answer, said, seconds = POOL.run(timed, call, look=lambda *_: None)
    except Lost:
        return None
    assert seconds < SECONDS
    assert 10 < len(said) < 700
    # Letters that are not yet in this Python's Unicode are no fault.
    assert not {unicodedata.category(letter) for letter in said} & {"Cc", "Cs", "Zl", "Zp"}
    assert said.endswith((".", "?"))
    return answer


def timed(call: Callable[[], Any]) -> tuple[Any, str, float]:
    """The answer (None where it is a sentence), the sentence, and the seconds of work."""
    began, answer, said = time.process_time(), None, "The file was read."
    try:
        answer = call()
    except (UnreadableFile, WrongDomain) as refusal:
        said = str(refusal)
    return answer, said, time.process_time() - began


def analysed(reports: Any) -> None:
    """What follows the reading takes whatever was read."""
    if reports is not None:
        assert reports.total == reports.counts.sum() > 0
        assert len({*reports.labels}) == len(reports.labels)
        for domain in (AllSeen(), Size(len(reports.labels) + 2)):
            answered(
                lambda domain=domain: within(reports, domain, odd_names(reports, domain).default_decisions())
            )


def checked(distribution: Any) -> None:
    """Labels are different and weights are weights."""
    if distribution is not None:
        assert len({*distribution.labels}) == distribution.k == len(distribution.weights) >= 2
        assert distribution.weights.min() >= 0 < distribution.weights.sum() < float("inf")


def any_bytes(data: st.DataObject) -> None:
    name, content = data.draw(NAMES), data.draw(BYTES)
    for read in READERS.values():
        answered(lambda read=read: read(content, name))


def any_change(data: st.DataObject) -> None:
    name, content = data.draw(changed_files())
    checked(answered(lambda: read_distribution(content, name)))
    analysed(answered(lambda: read_reports([Source(name, content)])))
    for read in READERS.values():
        answered(lambda read=read: read(content, name))


def any_options(data: st.DataObject) -> None:
    files = data.draw(
        st.lists(st.one_of(st.sampled_from(sorted(FILES.items())), changed_files()), min_size=1, max_size=3)
    )
    options, order = data.draw(OPTIONS), data.draw(st.sampled_from(["file", "count", "name"]))
    name, content = files[0]
    checked(answered(lambda: read_distribution(content, name, order=order, **options)))
    analysed(answered(lambda: read_reports([Source(*file) for file in files], **options)))
    answered(lambda: inspect(content, name, has_header=options["has_header"]))
    answered(lambda: inspect_reports(Source(name, memoryview(content)), has_header=options["has_header"]))


def any_list(data: st.DataObject) -> None:
    text = data.draw(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=20).map(
        lambda pieces: b"".join(pieces).decode("utf-8", "surrogateescape"))))  # fmt: skip
    listed = answered(lambda: read_list(text))
    if listed is not None:
        answered(lambda: within(read_reports([Source("a.txt", b"bus\ncar\n")]), listed))


PROPERTIES = {"bytes": any_bytes, "change": any_change, "options": any_options, "list": any_list}


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_reader_answers(name: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=SAME_EXAMPLES)
    @given(data=st.data())
    def tried(data: st.DataObject) -> None:
        PROPERTIES[name](data)

    tried()


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("性別\n" + "男\n" * 64 + "女\n" * 36, "shift_jis"),
        ("Stadt,Anzahl\nKöln,640\nMünchen,360\nGörlitz,50\nGürlitz,20\n", "cp850"),
        ("Stadt,Anzahl\nKöln,640\nMünchen,360\n", "cp437"),
        ("answer\ntäglich\nhäufig\n", "cp850"),
        ("réponse\ntrès souvent\nforêt\n", "cp850"),
        ("réponse\ntrès souvent\nforêt\n", "mac_roman"),
        ("Antwort\ntäglich\nzu Fuß\n", "mac_roman"),
        ("odpowiedź\nżółty\nśrednio\npóźniej\n", "cp1250"),
        ("odpowiedź\nżółty\nśrednio\npóźniej\n", "iso8859_2"),
        ("απάντηση\nναι\nόχι\nναι\n", "cp1253"),
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
