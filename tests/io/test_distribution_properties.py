"""What is written is what is read, for any table; and how long large ones take (printed)."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.io import UnreadableFile, inspect, read_distribution
from tests.io.test_distribution import parquet

# Labels that cleaning leaves alone: no control characters, no blanks at the ends.
LETTERS = st.characters(
    codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"
)
LABELS = st.text(LETTERS, min_size=1, max_size=20).filter(lambda label: label == label.strip())
COUNTS = st.dictionaries(LABELS, st.integers(0, 2**40), min_size=2, max_size=30).filter(
    lambda c: any(c.values())
)


def write(rows: list[list[Any]], separator: str, end: str, quoting: Any) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return sink.getvalue()


FORMS = {
    "separator": st.sampled_from(",;\t"),
    "end": st.sampled_from(["\n", "\r\n"]),
    "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    "codec": st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    "compress": st.booleans(),
}


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(COUNTS, st.booleans(), st.fixed_dictionaries(FORMS))
def test_counts_survive(counts: dict[str, int], header: bool, form: dict[str, Any]) -> None:
    rows: list[list[Any]] = [[label, count] for label, count in counts.items()]
    text = write([["category", "count"]] * header + rows, form["separator"], form["end"], form["quoting"])
    data = text.encode(form["codec"])
    data = gzip.compress(data) if form["compress"] else data
    try:
        preview = inspect(data, "a.csv")
    except UnreadableFile as error:
        # A label may imitate another kind of file at the very start; nothing else is excused.
        assert not header
        assert str(error).startswith("The content is")  # noqa: PT017
        return
    assert preview.separator == form["separator"]
    found = read_distribution(data, "a.csv", has_header=header, category=0, count=1)
    assert dict(zip(found.labels.tolist(), found.weights.tolist(), strict=True)) == counts
    assert found.labels.tolist() == list(counts)
    assert (found.total, found.dropped, found.merged) == (sum(counts.values()), (), 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(LABELS, min_size=1, max_size=40).filter(lambda v: len(set(v)) > 1), st.booleans())
def test_values_survive(values: list[str], as_parquet: bool) -> None:
    if as_parquet:
        data, name = parquet(pa.table({"v": values}), row_group_size=7), "a.parquet"
    else:
        data, name = write([["who"], *([v] for v in values)], ",", "\n", csv.QUOTE_ALL).encode(), "a.csv"
    found = read_distribution(data, name, layout="values", category=0, has_header=True)
    assert list(zip(found.labels.tolist(), found.weights.tolist(), strict=True)) == list(
        Counter(values).items()
    )


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(LABELS, st.floats(0, 1e6)), min_size=2, max_size=30, unique_by=lambda row: row[0]))
def test_shares_survive(rows: list[tuple[str, float]]) -> None:
    data = write([["category", "share"], *map(list, rows)], ",", "\n", csv.QUOTE_MINIMAL).encode()
    weights = np.array([weight for _, weight in rows])
    if not weights.any():
        with pytest.raises(UnreadableFile, match="zero"):
            read_distribution(data, "a.csv")
        return
    found = read_distribution(data, "a.csv")
    assert found.kind == "shares"
    np.testing.assert_allclose(
        found.weights, weights / weights.max() / (weights / weights.max()).sum(), rtol=1e-14
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=250)
@given(
    st.binary(max_size=200) | st.text(st.sampled_from('ab,;\t\n\r" 1.-eN\x00<{')).map(str.encode),
    st.booleans(),
)
def test_any_bytes_are_read_or_refused(data: bytes, is_text: bool) -> None:
    try:
        found = read_distribution(data, "a.csv" if is_text else "a.gz")
    except UnreadableFile as error:
        assert str(error).endswith(".")  # noqa: PT017
    else:
        assert found.k == len(set(found.labels.tolist())) >= 2
        assert all(label == label.strip() != "" for label in found.labels)
        assert found.weights.min() >= 0
        assert found.weights.sum() == pytest.approx(1 if found.kind == "shares" else found.total)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a,1", "b,2", "", "  ", ",", ",5", '"c\n\nd",3']), min_size=1, max_size=30))
def test_every_line_is_accounted_for(lines: list[str]) -> None:
    lines = ["a,1", "b,1", *lines]
    found = read_distribution("\n".join([*lines, ""]).encode(), "a.csv")
    assert found.rows + sum(dropped.rows for dropped in found.dropped) == len(lines)
    firsts = {dropped.reason: dropped.first_line for dropped in found.dropped}
    starts = [1 + sum(1 + line.count("\n") for line in lines[:i]) for i in range(len(lines))]
    blank = [start for start, line in zip(starts, lines, strict=True) if not line.strip()]
    nameless = [start for start, line in zip(starts, lines, strict=True) if line.startswith(",")]
    assert firsts.get("blank line") == (blank[0] if blank else None)
    assert firsts.get("no category name") == (nameless[0] if nameless else None)


@pytest.mark.slow
def test_one_and_a_half_million_categories() -> None:
    k = 1_500_000
    counts = np.random.default_rng(0).permutation(k)
    text = "category,count\n" + "".join(f"cat {i},{count}\n" for i, count in enumerate(counts))
    found = read_distribution(text.encode(), "a.csv", order="count")
    assert (found.k, found.total, found.weights[0]) == (k, k * (k - 1) // 2, k - 1)
    with pytest.raises(UnreadableFile, match="1,500,001 different categories"):
        read_distribution(f"{text}one more,1\n".encode(), "a.csv")
