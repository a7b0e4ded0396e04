"""Any text, in a link or typed into a box, is answered at once: with settings, or with a plain sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages._ui.experiments.controls import OWN_SWEEP
from pages._ui.experiments.runs import SWEEP
from pages._ui.experiments.settings import RefusedSettings
from pages._ui.parts import part_in_link
from pages._ui.plan.settings import SETTINGS as PLAN
from rr_core import Scenario, typed
from rr_core.figures.view import find
from rr_core.geometry.simplex import parse_reports
from rr_core.ibu.starts import parse_weights
from rr_core.scenario import FIELDS
from tests import FEW_EXAMPLES, MANY_EXAMPLES

_SECONDS = 2.0
_LINKS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], Any]]] = {
    "scenario": (("dist", "k", "s", "eps", "n", "seed"), Scenario.from_query),
    "plan": (("target", "value", "conf", "share", "find", "guess", "whose"), PLAN.read),
    "own sweep": (("pop", "ks", "es", "ns", "seeds", "draw", "users", "est", "met", "bv"), OWN_SWEEP.read),
    "sweep": (("sweep",), SWEEP.read),
    "part": (("part",), part_in_link("plan", {"one": "First", "two": "Second"}).read),
}
_BOXES: dict[str, Callable[[str], Any]] = {
    "number": typed.number,
    "chance": typed.chance,
    "three reports": parse_reports,
    "weights": lambda text: parse_weights(text, 3),
    "names": lambda text: find(text, ["Ann", "Bob", "²"], 3),
    "numbers of categories": lambda text: find(text, None, 3),
    **{field.name: field.entered for field in FIELDS},
}
# What breaks readers of numbers and of lists: very long, nearly a number, another script's digits, patterns repeated.
_PIECES = ["9", "0", "1e", "e", "-", "+", ".", ",", ";", " ", "\u00a0", "\u202f", "/", "%", "_", "(", ")", "ln", "log",
           "nan", "inf", "x", " x", "²", "①", "٣", "\x00", "\ud800", "<b>", "=1+1", "1-9", "1-9 x2", "1-1e9 +1", "zipf",
           "point", "upload", "weights:"]  # fmt: skip
_REPEATED = st.tuples(st.sampled_from(_PIECES), st.sampled_from([1, 2, 40, 4_400, 8_000])).map(
    lambda p: p[0] * p[1]
)
_TEXTS = st.one_of(st.text(max_size=60), st.lists(_REPEATED, max_size=4).map("".join), st.floats().map(repr))


def answers(call: Callable[[Any], Any], given_to: Any) -> Any:
    """The answer, or None after a plain sentence; in time, by the processor's clock: machines of tests stall."""
    begin, answer, sentence = time.thread_time(), None, "an answer"
    try:
        answer = call(given_to)
    except (ValueError, RefusedSettings) as refusal:
        sentence = str(refusal)
    assert time.thread_time() - begin < _SECONDS
    assert 5 < len(sentence) < 600
    assert "\n" not in sentence
    return answer


def no_link_raises(name: str, data: st.DataObject) -> None:
    parameters, read = _LINKS[name]
    query = data.draw(st.dictionaries(st.sampled_from(parameters), _TEXTS))
    begin = time.thread_time()
    answer = read(query)
    assert time.thread_time() - begin < _SECONDS
    if answer is None:
        return
    _, notes = answer
    assert all(isinstance(note, str) and 10 < len(note) < 600 for note in notes)
    if name == "own sweep":
        answers(lambda own: own.sweep(Scenario()), answer[0])


@pytest.mark.parametrize("name", _LINKS)
@settings(max_examples=FEW_EXAMPLES, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_link_is_read_or_its_values_are_left_out_in_a_sentence(name, data):
    no_link_raises(name, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", _LINKS)
@settings(max_examples=MANY_EXAMPLES, deadline=None)
@given(data=st.data())
def test_many_links(name, data):
    no_link_raises(name, data)


@pytest.mark.parametrize("name", _BOXES)
def test_what_is_typed_is_taken_or_refused_in_a_sentence(name):
    # A search for names takes 30 ms, as its pattern may have 32,000 letters; every other box takes 1 ms.
    @settings(max_examples=60 if name == "names" else FEW_EXAMPLES, deadline=None, derandomize=True)
    @given(text=_TEXTS)
    def some(text):
        answers(_BOXES[name], text)

    some()


@pytest.mark.slow
# Hypothesis writes an example out that failed; the warning that it is long would be told in place of the failure.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("name", _BOXES)
@settings(max_examples=MANY_EXAMPLES, deadline=None)
@given(text=_TEXTS)
def test_much_is_typed(name, text):
    answers(_BOXES[name], text)
