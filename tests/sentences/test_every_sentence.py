"""Every sentence of the app is held by something; see `tests.sentences`.

``python -m tests.sentences.test_every_sentence`` prints what is missing and what is stale.
"""

from __future__ import annotations

import importlib
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.sentences import HELD, RECOMPUTED, recomputes
from tests.sentences.source import ROOT, claims, generated
from tests.sentences.spoken import Down, Up, tells

# A theorem or a definition with its source; or why a general word claims nothing there.
TABLE = ROOT / "tests" / "sentences" / "theorems.toml"
NO_CLAIM = {
    "label": "the name of a control, a column, a mark or a figure's part",
    "instruction": "tells the reader what to do",
    "input": "says what this app takes or refuses; the code that does so is tested with its reader",
    "quotation": "says what a source claims, not that it is so",
    "definition": "says what a word means here",
    "fact on screen": "tells of this one result, with no general word about others; its numbers are tested",
}


def rows() -> list[dict[str, str]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))["claim"]


@cache
def collected() -> None:
    """Import every test that holds or recomputes a sentence."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "from tests.sentences import" in path.read_text(encoding="utf-8") and path != Path(__file__):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def not_held() -> list[str]:
    collected()
    listed = {*HELD, *(row["says"] for row in rows())}
    return [f"{claim.where}: {claim.says}" for claim in claims() if claim.says not in listed]


def not_recomputed() -> dict[str, list[str]]:
    """Sentences that no test computes anew, by their function."""
    collected()
    missing: dict[str, list[str]] = {}
    for one in generated():
        if not any(pattern.search(one.says) for pattern in RECOMPUTED.get(one.place, ())):
            missing.setdefault(one.place, []).append(f"{one.where}: {one.says}")
    return missing


def test_every_sentence_is_held_and_nothing_that_no_longer_stands_anywhere() -> None:
    """In one test: each process that looks reads all sources and imports all tests, which takes seconds."""
    missing = not_held()
    assert not missing, "held by no @holds and not in theorems.toml:\n" + "\n".join(missing)
    told = "\n".join(one for several in not_recomputed().values() for one in several)
    assert not told, "no @recomputes for:\n" + told
    said, made = {claim.says for claim in claims()}, {one.place for one in generated()}
    listed = [row["says"] for row in rows()]
    assert not [says for says in (*HELD, *listed) if says not in said]
    assert not [says for says in listed if listed.count(says) > 1]
    assert not set(RECOMPUTED) - made
    for row in rows():
        assert len({"theorem", "no_claim"} & set(row)) == 1, row
        assert len(row.get("theorem", "with a source")) > 8, row
        assert row.get("no_claim", "label") in NO_CLAIM, row


def test_a_sentence_that_no_setting_brings_about_fails_its_test() -> None:
    place = next(one.place for one in generated() if one.file.endswith("figures/inv_negatives.py"))
    try:
        silent = recomputes(place)(lambda: None)
        with pytest.raises(AssertionError, match="never made in this test"):
            silent()
    finally:
        RECOMPUTED[place].pop()


def test_numbers_are_told_as_they_are_rounded() -> None:
    tells("12.3% of 12,000 people, 2 of 3", 0.12345, 12_345.0, 2, 3)
    tells("at most 42.3, at least 42.2, 0, −1.2·10⁻¹⁶", Up(42.25), Down(42.25), 0.0, -1.23e-16)
    for text, expected in (
        ("12.4%", 0.12345),
        ("12,000", 12_345),
        ("at most 42.2", Up(42.25)),
        ("0%", 1e-5),
        ("1 of 2", 1.0),
        ("nothing", 1.0),
        ("100%", lambda share: share < 1),
    ):
        with pytest.raises(AssertionError):
            tells(text, expected)


if __name__ == "__main__":
    for one in not_held():
        print("not held:", one)
    for place, several in not_recomputed().items():
        print("not computed anew:", place, *several, sep="\n    ")
