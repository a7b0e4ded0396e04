"""No two purposes draw the same random numbers, of one seed or of two."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from rr_core import RandomizedResponse, inv
from rr_core.metrics import max_error
from rr_core.plan.landscape import simulate_curve
from rr_core.scenario import Scenario
from rr_core.streams import Stream

ROOT = Path(__file__).resolve().parents[2]
# How many numbers follow each purpose, and the smallest that the first of them takes.
FOLLOW = {
    Stream.USERS: (0, 0),
    Stream.NOISE: (0, 0),
    Stream.REPEATS: (1, 0),
    Stream.ANSWERS: (2, 0),
    Stream.EMPTY: (0, 0),
    Stream.CLOUDS: (1, 1),
    Stream.FLOOR: (0, 0),
    Stream.FIT: (1, 0),
    Stream.PLAN: (2, 0),
    Stream.START: (0, 0),
    Stream.ARRIVALS: (0, 0),
    Stream.CHANNEL: (0, 0),
    Stream.UNARY: (1, 0),
    Stream.EACH: (0, 0),
    Stream.POSTERIOR: (1, 0),
    Stream.BOUNDS: (0, 0),
    Stream.OVER_TIME: (2, 0),
    Stream.BY_PROTOCOL: (1, 0),
    Stream.LESSON: (2, 0),
    Stream.ROOM: (0, 0),
}
SEEDS = (0, 1, 2, 3, 5, 7, 2**32 - 1)


def test_no_two_purposes_can_have_one_key_whatever_the_seed_and_the_numbers():
    """As NumPy reads them they are of unlike length, or differ at a place where neither can be anything else."""
    assert set(FOLLOW) == set(Stream)
    assert len(Stream.__members__) == len(Stream)  # two names of one value would be one member
    for one, other in itertools.combinations(FOLLOW, 2):
        first, second = possible(one), possible(other)
        assert len(first) != len(second) or any(not a & b for a, b in zip(first, second, strict=True))


def possible(stream):
    """What may stand at each place after the seed: the number itself, or 0 and "more" for any number."""
    count, least = FOLLOW[stream]
    places = [{number} for number in stream.value]
    places += [{"more"} if place == 0 and least else {0, "more"} for place in range(count)]
    return places + [{0}] * (3 - len(places))


def test_nobody_else_makes_a_stream():
    """Only the table, and what takes a seed from its caller. (A sweep
    shuffles the order of its work by other means; no number depends on it.)"""
    allowed = {"streams.py", "mechanism.py", "privacy.py"}
    made = re.compile(r"default_rng\(|SeedSequence\(|RandomState\(")
    sources = [ROOT / "home.py", *(ROOT / "rr_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    makers = {path for path in sources if made.search(path.read_text(encoding="utf-8"))}
    protocols = ROOT / "rr_core" / "protocols"
    assert {path for path in makers if protocols not in path.parents} <= {
        ROOT / "rr_core" / name for name in allowed
    }


def test_a_plan_does_not_draw_what_its_scenario_draws():
    """Points 0, 1 and 2 of the curves once drew from the streams of the scenario's users, noise and first repeat."""
    seed, people, mechanism = 5, np.full(5, 100_000), RandomizedResponse(5, 1.0)
    curve = simulate_curve(5, np.ones(5), "epsilon", [1.0] * 3, 500_000, 1, seed=seed)
    errors = {}
    for name, key in (("scenario", lambda point: (seed, point)), ("plan", lambda point: (seed, 7, point))):
        rows = [
            mechanism.randomize_histogram(
                np.broadcast_to(people, (64, 5)), np.random.default_rng(key(point))
            )[0]
            for point in range(3)
        ]
        errors[name] = [max_error(inv(row, mechanism), np.full(5, 0.2)) for row in rows]
    assert curve.mean["max"]["inv"] == pytest.approx(errors["plan"], rel=1e-12)
    assert not np.isclose(curve.mean["max"]["inv"], errors["scenario"], rtol=1e-9).any()


def test_what_links_gave_they_give():
    """The numbers of the table are those of every link that people have."""
    for seed in SEEDS:
        scenario = Scenario(seed=seed)
        for stream, numbers, key in (
            (Stream.USERS, (), (seed, 0)),
            (Stream.NOISE, (), (seed, 1)),
            (Stream.REPEATS, (3,), (seed, 2, 3)),
            (Stream.ANSWERS, (4, 0), (seed, 3, 4, 0)),
            (Stream.EMPTY, (), (seed, 3, 0, 0, 0)),
            (Stream.CLOUDS, (2,), (seed, 3, 0, 0, 2)),
            (Stream.FIT, (1,), (seed, 5, 1)),
        ):
            assert scenario.stream(stream, *numbers).random() == np.random.default_rng(key).random()
