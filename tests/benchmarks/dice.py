"""What coupling costs: ``python -m tests.benchmarks.dice``.

Users and noise from fixed uniform numbers (`rr_core.coupling`) against users and noise drawn afresh (`rr_core.sampling`),
and the first picture of a page with either: population, users, noise, comparison, and 0.3 s for the page. The two are
measured in turn; medians of the ratios. Exit status 1 when a first picture takes more than 1.5 times as long.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from rr_core import sampling
from rr_core.comparison import compare
from rr_core.populations import Population
from rr_core.scenario import Draw, Scenario
from rr_core.streams import Stream

BOUND = 1.5
PAGE = 0.3  # seconds of a page apart from its numbers

SCENARIOS = (
    Scenario("zipf", 200, 1.3, 1.0, 20_000, 5),
    Scenario("zipf", 10_000, 1.3, 4.0, 10**6, 5),
    Scenario("zipf", 10_000, 1.3, 4.0, 10**9, 5),
    Scenario("zipf", 1_423_000, 1.3, 8.0, 1_664_500, 5),
    Scenario("zipf", 1_500_000, 1.3, 8.0, 10**9, 5),
    Scenario("zipf", 1_500_000, 1.3, 14.0, 10**9, 5),
    Scenario("zipf", 1_500_000, 0.01, 8.0, 10**9, 5),
    Scenario("zipf", 1_500_000, 0.01, 14.0, 10**9, 5),
)


def plain(scenario: Scenario, population: Population) -> Draw:
    users = sampling.multinomial(scenario.n, population.probabilities, scenario.stream(Stream.USERS))
    reports = scenario.mechanism.randomize_histogram(users, scenario.stream(Stream.NOISE))
    return Draw(scenario, population, users, reports)


def seconds(make: Callable[[Scenario, Population], Draw], scenario: Scenario) -> tuple[float, float]:
    """Seconds for users and noise, and for the first picture."""
    start = time.perf_counter()
    population = scenario.population()
    ready = time.perf_counter()
    draw = make(scenario, population)
    drawn = time.perf_counter()
    compare(draw)
    return drawn - ready, time.perf_counter() - start + PAGE


def measure(rounds: int) -> bool:
    """Print a table; whether every first picture is quick enough."""
    print(f"{'K':>9} {'N':>13} {'s':>5} {'eps':>4}  {'users and noise':^26}  first picture")
    print(f"{'':35}{'plain':>9} {'coupled':>9} {'ratio':>6}  {'ratio':>6}")
    fine = True
    for scenario in SCENARIOS:
        pairs = []
        for _ in range(rounds + 1):
            before = seconds(plain, scenario)
            pairs.append((before, seconds(Scenario.draw, scenario)))
        del pairs[0]  # the first round loads code and memory
        ratios = [statistics.median(new[i] / old[i] for old, new in pairs) for i in range(2)]
        old, new = (1000 * statistics.median(pair[i][0] for pair in pairs) for i in range(2))
        print(
            f"{scenario.k:9,} {scenario.n:13,} {scenario.s:5} {scenario.epsilon:4}"
            f" {old:6.1f} ms {new:6.1f} ms {ratios[0]:6.2f}  {ratios[1]:6.2f}"
        )
        fine &= ratios[1] <= BOUND
    return fine


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    raise SystemExit(not measure(parser.parse_args().rounds))
