"""Every general claim of the app (*always*, *never*, *on average*, *at most*, *best* …) is held by something.

The tables in ``tests/claims/*.toml``, one per topic, list them all. A row names the sentence as
`tests.claims.sentences` reads it, and one of:

    held_by = ["tests/core/test_law.py::test_name", …]   tests that fail if the claim is false
    theorem = "paper, Theorem 1"                          a theorem or a definition, with its source
    no_claim = "label"                                    the word claims nothing here: see NO_CLAIM

``python -m tests.test_claims`` prints the rows that are missing, ready to be completed, and the ones that are stale.
"""

from __future__ import annotations

import ast
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.claims.sentences import ROOT, claims, sentences, strings, texts

TABLES = sorted((ROOT / "tests" / "claims").glob("*.toml"))
NO_CLAIM = {
    "label": "the name of a control, a column, a mark or a figure's part",
    "instruction": "tells the reader what to do",
    "input": "says what this app takes or refuses; the code that does so is tested with its reader",
    "quotation": "says what a source claims, not that it is so",
    "definition": "says what a word means here",
    "fact on screen": "tells of this one result, with no general word about others; its numbers are tested",
}


def rows() -> list[tuple[Path, dict[str, Any]]]:
    return [
        (path, row)
        for path in TABLES
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("claim", [])
    ]


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_general_claim_is_held_by_something() -> None:
    listed = {row["says"] for _, row in rows()}
    missing = [f"{claim.where}: {claim.says}" for claim in claims() if claim.says not in listed]
    assert not missing, "not in tests/claims/*.toml:\n" + "\n".join(missing)


def test_no_row_is_about_a_sentence_that_is_gone_or_stands_twice() -> None:
    listed, said = [row["says"] for _, row in rows()], {claim.says for claim in claims()}
    assert not [says for says in listed if says not in said]
    assert not [says for says in set(listed) if listed.count(says) > 1]


def test_what_holds_a_claim_exists() -> None:
    for path, row in rows():
        where = f"{path.name}: {row['says']}"
        assert len({"held_by", "theorem", "no_claim"} & set(row)) == 1, where
        for test in row.get("held_by", ["::"]):
            file, _, name = test.partition("::")
            assert not file or (name.startswith("test_") and name in functions_of(file)), (
                f"{where}: no {test}"
            )
        assert len(row.get("theorem", "with a source")) > 8, where
        assert row.get("no_claim", "label") in NO_CLAIM, where


def test_the_reader_of_sentences_reads_whole_texts() -> None:
    source = '''
"""A docstring is never read."""
text = f"It is {'always' if x else f'never {y}'} so. " "A sentence in two parts is at most " + str(most) + " long."
raise ValueError("an exception is never read")
'''
    assert [text for _, text in strings(ast.parse(source))] == [
        "It is {} so. A sentence in two parts is at most {} long.",
        "always",
        "never {}",
    ]
    assert list(sentences("One. Two is best.\n- Three\nis it.")) == ["One.", "Two is best.", "Three is it."]


def test_the_reader_of_sentences_reads_data_files(tmp_path: Path) -> None:
    file = tmp_path / "texts.toml"
    entry = "text = 'At most {{a.b.0:number 4}} of $\\frac{1}{2}$.'\nmore = [{ x = 'It is best.' }]\n"
    file.write_text(f"name = 'Some'\n\n[[term]]\n{entry}", encoding="utf-8")
    assert list(texts(file)) == [(1, "Some"), (4, "At most {} of $\\frac{1}{2}$."), (5, "It is best.")]
    read = {claim.where.partition(":")[0] for claim in claims()}
    assert {f"rr_core/data/reference/{part}.toml" for part in ("glossary", "formulas", "misprints")} <= read


if __name__ == "__main__":
    listed = {row["says"] for _, row in rows()}
    said = {claim.says: claim.where for claim in claims()}
    for says, where in said.items():
        if says not in listed:
            print(f"# {where}\n[[claim]]\nsays = {json.dumps(says, ensure_ascii=False)}\nheld_by = []\n")
    for says in sorted(listed - set(said)):
        print(f"# stale: {says}")
