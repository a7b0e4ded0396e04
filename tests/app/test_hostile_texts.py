"""Any text, in a link or typed into a box, is answered at once: with settings, or with a plain sentence."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pages._ui
from pages._ui import link
from pages._ui.experiments import winner_map
from pages._ui.experiments.controls import OWN_SWEEP
from pages._ui.experiments.settings import OWN, RefusedSettings, built_in
from pages._ui.frame import Parts
from pages._ui.geometry.triangle import PickedReports
from pages._ui.link import Binding
from rr_core import Scenario, typed
from rr_core.figures.view import find
from rr_core.geometry.simplex import parse_reports
from rr_core.ibu.engine import parse_weights
from rr_core.scenario import NUMBERS
from tests import EXAMPLES, SAME_EXAMPLES, is_of_libraries

_SECONDS = 2.0
_PAGES = Path(pages.__path__[0])
Reader = Callable[[Mapping[str, str]], Any]


def _calls(name: str, path: Path) -> list[ast.Call]:
    """The calls of a name, outside all functions and classes of a file."""
    inside = (ast.FunctionDef, ast.ClassDef)
    statements = [one for one in ast.parse(path.read_text()).body if not isinstance(one, inside)]
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return [
        n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name
    ]


def _bindings() -> dict[str, Binding[Any]]:
    """Every page's own settings by their key: those of the modules, and the parts that a page's file names."""
    names = [found.name for found in pkgutil.walk_packages(pages._ui.__path__, "pages._ui.")]
    found = [one for name in names for one in vars(importlib.import_module(name)).values()]
    for path in _PAGES.glob("*.py"):
        found += [Parts(*map(ast.literal_eval, call.args)).binding for call in _calls("Parts", path)]
    return {one.key: one for one in found if isinstance(one, Binding)}


_BINDINGS = _bindings()
_LINKS: dict[str, Reader] = {
    "scenario": Scenario.from_query,
    "what all pages carry": link._read,
    "map of main": lambda q: winner_map.from_query(
        q, built_in("main")
    ),  # read by the same function as the others
    **{key: binding.read for key, binding in _BINDINGS.items()},
}


class _Asked(Mapping[str, str]):
    """A link in which every parameter has the same text; it remembers which were read."""

    def __init__(self, text: str) -> None:
        self.text, self.names = text, set[str]()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self.text

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1


@cache
def _parameters(name: str) -> list[str]:
    """The parameters of a link that this reader reads; asked for while tests run, for the lesson's take it a second."""
    links = [_Asked("1"), _Asked(OWN)]
    for one in links:
        _LINKS[name](one)
    return sorted(links[0].names | links[1].names)


_BOXES: dict[str, Callable[[str], Any]] = {
    "number": typed.number,
    "chance": typed.chance,
    "three reports": parse_reports,
    "weights": lambda text: parse_weights(text, 3),
    "names": lambda text: find(text, ["Ann", "Bob", "²"], 3),
    "numbers of categories": lambda text: find(text, None, 3),
    **{field.name: field.entered for field in NUMBERS},
}
# These search for what they can, and refuse nothing.
_SEARCHES = ("names", "numbers of categories")
# What breaks readers of numbers and of lists: very long, nearly a number, another script's digits, patterns repeated.
_PIECES = ["9", "0", "1e", "e", "-", "+", ".", ",", ";", " ", "\u00a0", "\u202f", "/", "%", "_", "(", ")", "ln", "log",
           "nan", "inf", "x", " x", "²", "①", "٣", "\x00", "\ud800", "<b>", "=1+1", "1-9", "1-9 x2", "1-1e9 +1", "1/0",
           "12-²", "zipf", "point", "upload", "weights:"]  # fmt: skip
_REPEATED = st.tuples(st.sampled_from(_PIECES), st.sampled_from([1, 2, 40, 4_400, 8_000])).map(
    lambda p: p[0] * p[1]
)
_TEXTS = st.one_of(
    st.sampled_from(_PIECES),
    st.text(max_size=60),
    st.lists(_REPEATED, max_size=4).map("".join),
    st.floats().map(repr),
)
# Tried in every run: what some function of Python takes for a number and another one does not, or cannot hold.
_KNOWN = ("²", "①", "9" * 5000, "1/0", "12-²", "ln 0", "1e999", "nan", "\x00", "\ud800")


def known_texts(test: Callable[..., None]) -> Callable[..., None]:
    """The test of a ``text``, with those of _KNOWN as examples."""
    for text in _KNOWN:
        test = example(text=text)(test)
    return test


def plain(sentence: str) -> bool:
    """Whether a sentence is for a person: in one line, not too long, and not one of Python's own."""
    return 5 < len(sentence) < 600 and "\n" not in sentence and not is_of_libraries(sentence)


def answers(call: Callable[[Any], Any], given_to: Any, *, may_refuse: bool = True) -> Any:
    """The answer, or None after a plain sentence; in time, by the processor's clock: machines of tests stall."""
    begin, answer, sentence = time.thread_time(), None, "an answer"
    try:
        answer = call(given_to)
    except (ValueError, RefusedSettings) as refusal:
        assert may_refuse
        sentence = str(refusal)
    assert time.thread_time() - begin < _SECONDS
    assert plain(sentence), sentence[:600]
    return answer


def no_link_raises(name: str, query: dict[str, str]) -> None:
    begin = time.thread_time()
    answer = _LINKS[name](query)
    assert time.thread_time() - begin < _SECONDS
    if answer is None:
        return
    chosen, notes = answer
    if isinstance(chosen, PickedReports) and chosen.error:  # which geometry says beside the box
        notes = (*notes, chosen.error)
    for sentence in notes:
        assert isinstance(sentence, str)
        assert plain(sentence), sentence[:600]
    if name in _BINDINGS:
        written = _BINDINGS[name].write(chosen)
        assert all(text is None or isinstance(text, str) for text in written.values())
    if name == OWN_SWEEP.key:
        answers(lambda own: own.sweep(Scenario()), chosen)


def links(name: str) -> st.SearchStrategy[dict[str, str]]:
    """Links to one's own sweep, unless they say otherwise, as its settings are read there only."""
    drawn = st.dictionaries(st.sampled_from(_parameters(name)), _TEXTS)
    return drawn.map(lambda query: {"sweep": OWN, **query})


# Hypothesis writes an example out that failed; the warning that it is long would be told in place of the failure.
FAILURES_MAY_BE_LONG = pytest.mark.filterwarnings("ignore:Generating overly large repr")


def test_every_setting_of_every_page_is_tried() -> None:
    makers = ("Binding", "binding_of_choice", "binding_of_parameters", "part_in_link", "Parts")
    files = [_PAGES.parent / "home.py", *_PAGES.rglob("*.py")]
    assert sum(len(_calls(maker, path)) for maker in makers for path in files) == len(_BINDINGS)
    assert set(link._ON_EVERY_PAGE) <= set(_parameters("what all pages carry"))
    assert set(winner_map.PARAMETERS) <= set(_parameters("map of main"))
    assert all(map(_parameters, _LINKS))


@FAILURES_MAY_BE_LONG
@pytest.mark.parametrize("name", _LINKS)
def test_a_link_is_read_or_its_values_are_left_out_in_a_sentence(name):
    # All are read by the few classes of `rr_core.parameters`.
    @settings(max_examples=EXAMPLES // 4, deadline=None, derandomize=SAME_EXAMPLES)
    @given(query=links(name))
    def tried(query):
        no_link_raises(name, query)

    tried()
    for text in _KNOWN:
        for parameter in _parameters(name):
            no_link_raises(name, {"sweep": OWN, parameter: text})


@FAILURES_MAY_BE_LONG
@pytest.mark.parametrize("name", _BOXES)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=SAME_EXAMPLES)
@known_texts
@given(text=_TEXTS)
def test_what_is_typed_is_taken_or_refused_in_a_sentence(name, text):
    answers(_BOXES[name], text, may_refuse=name not in _SEARCHES)
