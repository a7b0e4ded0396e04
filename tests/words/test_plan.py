"""Numbers of a plan in words, rounded to the side on which what is said stays true."""

from __future__ import annotations

import pytest

from rr_core.plan import bounds
from rr_core.plan.targets import KINDS, Target
from rr_core.protocols import laws
from rr_core.words.plan import (
    KIND_TEXTS,
    PROTOCOL_NAMES,
    at_least,
    at_most,
    bound_text,
    number_of_users,
    promise_text,
)


def test_every_kind_of_target_has_its_words():
    assert KIND_TEXTS.keys() == KINDS.keys()
    for key, kind in KINDS.items():
        assert KIND_TEXTS[key].meaning.endswith(".")
        assert bool(KIND_TEXTS[key].promised) == kind.has_confidence


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_every_bound_and_every_protocol_has_its_words(users):
    for bound in bounds.table(2, 1.0, 1e6, users):
        assert all(bound_text(bound.key, users))
    assert PROTOCOL_NAMES.keys() == set(laws.KEYS)


@pytest.mark.parametrize(
    ("chance", "shown"), [(1.0, "99.99%"), (0.99999, "99.99%"), (0.93216, "93.21%"), (0.5, "50%")]
)
def test_chances_are_rounded_down(chance, shown):
    assert at_least(chance) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.02004, "2.01%"),
        (0.02, "2%"),
        (0.005, "0.5%"),
        (1.00001, "101%"),
        (0.0, "0%"),
        (9.991e-7, "0.0001%"),
    ],
)
def test_errors_are_rounded_up(share, shown):
    assert at_most(share) == shown


def test_users_are_not_rounded_down():
    assert number_of_users(999_999_999) == "999,999,999"
    assert number_of_users(1_000_000_001) == "1.01 billion"
    assert number_of_users(8_960_000_000) == "8.96 billion"


def test_a_target_is_named_as_it_is_typed():
    assert "at most 2.004% of users" in promise_text(Target("rmse", 0.02004))
    assert "more than 0.123457% of" in promise_text(Target("max", 0.001234567))
