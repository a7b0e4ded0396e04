"""What holds the sentences that a reader of the app can meet. There are two kinds, both found in the source:

*Generated* sentences have gaps that numbers fill (`tests.sentences.source.generated`). Every function that makes one
needs a test that calls it at the ends of all settings and at random ones, reads the numbers back and holds them against
what they speak of: the numbers of the named tuple where a test of the core has these another way, else worked out anew::

    @recomputes(two_ways)
    def test_the_two_ways_in_which_a_report_is_true(many):
        for scenario in [*corners(), *random_scenarios(many)]:
            p, q = p_and_q(scenario)
            tells(two_ways(scenario.mechanism), p, p - q, q)

``many`` is 2,000 (100 in CI), in the slow run. While such a test runs it is noted which sentences of the function are
made: one that no setting brings about fails it.

*Fixed* general sentences (*always*, *never*, *at most* …) stand on the test that would fail if they were false::

    @holds("Its sum is 1, and over many tosses of the coin it is right on average.")
    def test_one_debiased_report_sums_to_one_and_is_right_on_average(): ...

or, with their source, in ``theorems.toml``. `tests.sentences.test_every_sentence` finds what nothing holds.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar

from tests.sentences.source import ROOT, Generated, generated_in

Test = TypeVar("Test", bound=Callable[..., None])
HELD: dict[str, list[str]] = {}  # sentence: tests
RECOMPUTED: dict[str, list[re.Pattern[str]]] = {}  # "file::function": which of its sentences


def holds(*sentences: str) -> Callable[[Test], Test]:
    """Mark a test as failing if one of these fixed sentences were false."""

    def mark(test: Test) -> Test:
        for sentence in sentences:
            HELD.setdefault(sentence, []).append(f"{test.__module__}::{test.__qualname__}")
        return test

    return mark


def recomputes(*functions: Callable[..., Any] | str, of: str = "") -> Callable[[Test], Test]:
    """Mark a test as reading back and computing anew the numbers of all sentences that these functions make.

    Args:
        functions: which make the sentences; ``"pages/ibu.py::<module>"`` for one that is not imported.
        of: a pattern, where the test is about those sentences only (as `generated` writes them) in which it is found.
    """
    places, pattern = (
        [function if isinstance(function, str) else place(function) for function in functions],
        re.compile(of),
    )

    def mark(test: Test) -> Test:
        for one in places:
            RECOMPUTED.setdefault(one, []).append(pattern)

        @functools.wraps(test)
        def run(*arguments: Any, **named: Any) -> None:
            files = dict.fromkeys(place.partition("::")[0] for place in places)
            several = (one for file in files for one in generated_in(file))
            awaited = [one for one in several if one.place in places and pattern.search(one.says)]
            assert {one.place for one in awaited} == set(places), f"no generated sentence in one of {places}"
            with _unmade(awaited) as unmade:
                test(*arguments, **named)
            assert not unmade, "never made in this test:\n" + "\n".join(
                f"{one.where}: {one.says}" for one in unmade
            )

        return run  # type: ignore[return-value]

    return mark


def place(function: Callable[..., Any]) -> str:
    """``file::name`` of a function, the outermost one where functions or a class surround it."""
    code = inspect.unwrap(getattr(function, "func", function)).__code__
    return f"{code.co_filename.removeprefix(f'{ROOT}/')}::{code.co_qualname.split('.')[0]}"


@contextmanager
def _unmade(awaited: list[Generated]) -> Iterator[dict[Generated, None]]:
    """The sentences not made so far, in order, which become fewer as their lines run, in whatever thread."""
    unmade = dict.fromkeys(awaited)
    on_lines: dict[str, dict[int, list[Generated]]] = {}
    for one in unmade:
        for number in range(one.line, one.end + 1):
            on_lines.setdefault(f"{ROOT}/{one.file}", {}).setdefault(number, []).append(one)
    before = sys.gettrace()

    @functools.cache
    def is_watched(code: CodeType) -> bool:
        return any(number in on_lines[code.co_filename] for *_, number in code.co_lines())

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            for one in on_lines[frame.f_code.co_filename].pop(frame.f_lineno, ()):
                unmade.pop(one, None)
        return line if unmade else None

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        if not unmade:
            sys.settrace(before)
            return None
        code = frame.f_code
        watched = code.co_filename in on_lines and is_watched(code)
        return line(frame, "line", argument) if watched else None

    sys.settrace(call)
    threading.settrace(call)
    try:
        yield unmade
    finally:
        sys.settrace(before)
        threading.settrace(before)
