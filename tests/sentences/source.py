"""The sentences that a reader of the app can meet: those that numbers fill, and the fixed ones with a general word.

They are read off the source (Python, HTML, Markdown, TOML), so that a sentence counts whether or not some scenario
happens to show it. What an f-string, or a placeholder in double braces, fills in stands as ``{}``. Docstrings and the
texts of exceptions are left out.
"""

from __future__ import annotations

import ast
import html
import itertools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]

_WORDS = re.compile(
    r"\b(?:always|never|usual|usually|mostly|typically|generally|in general|often|rarely|seldom|on average|at most|"
    r"at least|about half|half of|best|most(?! (?:frequent|reported)\b)|worst|optimal|guarantee\w*|impossible|cannot|"
    r"whatever|however (?:many|much|few|large|small)|no matter|any number|tends? to|nearly|almost|surely|certain|"
    r"nobody(?! (?:has|had|reported|is there)\b)|unbiased|exactly|nothing|whenever|"
    r"no (?:estimator|estimate|protocol|distribution|report|category|other|one)|"
    r"the (?:more|larger|smaller|fewer|closer|nearer|higher|lower))\b",
    re.IGNORECASE,
)
# What says what a visitor's own file or entry is: held by the tests of its reader.
_OF_INPUT = ("rr_core/io/", "rr_core/parameters.py", "rr_core/scenario.py", "rr_core/typed.py")
_OF_ANALYSES = "rr_core/io/report_sentences.py"  # among the readers, but with numbers of its own
_PLACEHOLDER = re.compile(r"\{\{[\w.]+(?::[^{}]+)?\}\}")
_LETTERS, _END = re.compile(r"[A-Za-z]{2,}"), re.compile(r"[.?!:][\"”*)_]*$")
_PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?:(?=\*\*)|[-*|#>]|\d+\.)|\n(?=[a-z/]+: )")
_SENTENCE = re.compile(r"(?<=[.!?])[\"”*)]*\s+(?=[^a-z])")


@dataclass(frozen=True)
class Claim:
    """A fixed sentence with such a word, and where it stands."""

    says: str
    where: str


@cache
def claims() -> tuple[Claim, ...]:
    """Every fixed general claim of the app, in the order of the files."""
    found: dict[str, Claim] = {}
    for path in _sources():
        for line, text in texts(path):
            for sentence in sentences(text):
                if _WORDS.search(sentence) and " " in sentence and not _is_filled(path, sentence):
                    where = f"{path.relative_to(ROOT).as_posix()}:{line}"
                    found.setdefault(sentence, Claim(sentence, where))
    return tuple(found.values())


def _is_filled(path: Path, sentence: str) -> bool:
    return path.suffix == ".py" and _is_generated(sentence)


def _is_generated(sentence: str) -> bool:
    """A gap, a general word or three words, ended as a sentence is."""
    words = _WORDS.search(sentence) is not None or len(_LETTERS.findall(sentence)) >= 3
    return "{}" in sentence and words and _END.search(sentence) is not None


@dataclass(frozen=True)
class Generated:
    """A sentence with gaps, the outermost function that makes it (``<module>``: none), and its first and last line."""

    says: str
    file: str
    function: str
    line: int
    end: int

    @property
    def place(self) -> str:
        return f"{self.file}::{self.function}"

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


@cache
def generated() -> tuple[Generated, ...]:
    """Every generated sentence of the app, in the order of the files."""
    files = [path.relative_to(ROOT).as_posix() for path in _sources() if path.suffix == ".py"]
    read = [file for file in files if not file.startswith(_OF_INPUT) or file == _OF_ANALYSES]
    return tuple(itertools.chain.from_iterable(map(generated_in, read)))


@cache
def generated_in(file: str) -> tuple[Generated, ...]:
    """Those of one file."""
    return tuple(
        Generated(says, file, one.function, one.line, one.end)
        for one in strings_of(ROOT / file)
        for says in filter(_is_generated, sentences(one.text))
    )


def _sources() -> list[Path]:
    rooms = [ROOT / "pages", ROOT / "rr_core", ROOT / "server"]
    files = [
        path for room in rooms for path in room.rglob("*") if path.suffix in {".py", ".html", ".md", ".toml"}
    ]
    return [ROOT / "home.py", *sorted(files)]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from ((one.line, one.text) for one in strings_of(path))
    elif path.suffix == ".toml":
        for text in values(tomllib.loads(content)):
            line = content[: content.find(text.split("\n")[0])].count("\n") + 1
            yield line, _PLACEHOLDER.sub("{}", text)
    else:
        yield 1, html.unescape(re.sub(r"<(style|script).*?</\1>|<[^>]+>", "\n\n", content, flags=re.DOTALL))


def values(data: Any) -> Iterator[str]:
    """Every text among the values of a TOML file."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from values(value)


def sentences(text: str) -> Iterator[str]:
    """A text's sentences, each on one line; paragraphs and list items end one."""
    for paragraph in _PARAGRAPH.split(text):
        yield from (part.strip() for part in _SENTENCE.split(" ".join(paragraph.split())))


class Text(NamedTuple):
    """A text of a module, the outermost function or class around it (``<module>``: none), its first and last line."""

    text: str
    function: str
    line: int
    end: int


@cache
def strings_of(path: Path) -> tuple[Text, ...]:
    """Every text of a module; one that is put together from several is told once, whole."""
    found = []
    for statement in _without_docstring(ast.parse(path.read_text(encoding="utf-8"))):
        named = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Raise):
                continue
            text, inner = _text(node)
            if text is not None:
                assert isinstance(node, ast.expr)
                # What decorates a function stands above its first line.
                inside = named and node.lineno >= statement.lineno
                name = statement.name if inside else "<module>"
                found.append(Text(text, name, node.lineno, node.end_lineno or node.lineno))
            else:
                inner = _without_docstring(node)
            waiting += inner[::-1]
    return tuple(found)


def _without_docstring(node: ast.AST) -> list[ast.AST]:
    children = list(ast.iter_child_nodes(node))
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr):
        children.remove(node.body[0])
    return children


def _text(node: ast.AST) -> tuple[str | None, list[ast.AST]]:
    """The text that an expression makes, if it makes one, and the expressions that fill its gaps."""
    if isinstance(node, ast.Constant):
        return (node.value if isinstance(node.value, str) else None), []
    if isinstance(node, ast.FormattedValue):
        return "{}", [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part) for part in node.values]
        return "".join(text or "" for text, _ in parts), [gap for _, gaps in parts for gap in gaps]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        if left[0] is None and right[0] is None:
            return None, []
        sides = [
            (text, gaps) if text is not None else ("{}", [side])
            for (text, gaps), side in ((left, node.left), (right, node.right))
        ]
        return sides[0][0] + sides[1][0], [*sides[0][1], *sides[1][1]]
    return None, []
