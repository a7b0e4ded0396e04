"""Three categories: the smallest collection that can be drawn whole, and the reports that a person picks in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rr_core import typed
from rr_core._validate import Array, short
from rr_core.collinearity import Collinearity, collinearity
from rr_core.comparison import ESTIMATORS
from rr_core.mechanism import RandomizedResponse
from rr_core.populations import UPLOAD, Population
from rr_core.scenario import Draw

Reports = tuple[float, float, float]  # counts or shares

# Largest number a person may type; integers up to here are subtracted without rounding.
_LARGEST = 1e12
_NEGATIVE, _UNEVEN = 0.3, 0.2
_EXAMPLE = "for example 12, 5, 3 or 0.6 0.25 0.15"


def three_categories(draw: Draw) -> Draw:
    """The scenario with three categories: its own draw where it has three, else its three most frequent
    categories, alone.

    "Alone" means that N users are drawn from the population of those three, renormalised, and report among
    three categories with the scenario's epsilon; a population of two gets a third category that nobody has.
    The seed decides everything.

    Args:
        draw: the scenario's draw.

    Returns:
        A draw with k = 3. Its categories are in their own order when the scenario has three, else the most
        frequent comes first (ties in their own order).
    """
    population, scenario = draw.population, draw.scenario
    if population.k == 3:
        return draw
    largest = _largest(population.probabilities, min(3, population.k))
    shares = np.zeros(3)
    shares[: largest.size] = population.probabilities[largest]
    shares /= shares.sum()
    shares.flags.writeable = False
    labels = (*_names(population, largest), "(empty)")[:3]
    alone = Population(f"three:{population.key}", shares, labels, source=population.source)
    return replace(scenario, dist=UPLOAD, k=3).draw(alone)


def category_names(draw: Draw) -> tuple[str, ...]:
    """What to call the categories of a draw; numbered ones get the word before the number."""
    return _names(draw.population, np.arange(draw.scenario.k))


@dataclass(frozen=True, eq=False)
class Trio:
    """Three shares of reports, and what each estimator makes of them.

    Attributes:
        phi: (3,) observed frequencies.
        estimates: (3,) by estimator, Inv among them.
        place: how the three repairs lie.
        mechanism: the randomized response, k = 3.
    """

    phi: Array
    estimates: dict[str, Array]
    place: Collinearity
    mechanism: RandomizedResponse


def trio(reports: Reports | NDArray, mechanism: RandomizedResponse) -> Trio:
    """The four estimates of three counts or shares.

    Raises:
        ValueError: when ``reports`` is not a histogram over three categories.
    """
    histogram = np.asarray(reports)
    estimates = {name: estimator(histogram, mechanism) for name, estimator in ESTIMATORS.items()}
    return Trio(histogram / histogram.sum(), estimates, collinearity(histogram, mechanism), mechanism)


def parse_reports(text: str) -> Reports:
    """Three counts or shares that a person typed, separated by commas, spaces or semicolons; percent signs
    are allowed. Whole numbers stay whole.

    Raises:
        ValueError: one plain sentence for that person.
    """
    words = typed.words(text)
    if len(words) != 3:
        raise ValueError(f"Three numbers are needed, {_EXAMPLE}; this has {len(words)}.")
    first, second, third = (_number(word) for word in words)
    if first == second == third == 0:
        raise ValueError(
            "At least one of the three must be above zero: without reports there is no estimate."
        )
    return first, second, third


def slider_value(share: float) -> float:
    """A share as a slider in percent shows it."""
    return min(max(round(share * 100, 1), 0.0), 100.0)


def move_share(phi: Array, category: int, percents: float) -> Reports:
    """Shares in percent: those of ``phi`` (3,) with one set, and the other two rescaled in proportion (equal where
    both were zero)."""
    others = [i for i in range(3) if i != category]
    rest = float(phi[others].sum())
    moved = [0.0, 0.0, 0.0]
    moved[category] = percents
    for i in others:
        moved[i] = (100 - percents) * (float(phi[i]) / rest if rest > 0 else 0.5)
    return moved[0], moved[1], moved[2]


def with_a_negative(mechanism: RandomizedResponse) -> Reports:
    """Reports, in percent, of which Inv makes one negative share and two positive ones: where the repairs differ
    and lie on one line, at any epsilon.

    Args:
        mechanism: randomized response with k = 3.
    """
    # Inv of the third category; what it can be at least is -q/(p - q), for a category without reports.
    below = min(_NEGATIVE, 0.8 * mechanism.q / mechanism.keep)
    half = (1 + below) / 2
    raw = np.array([half + _UNEVEN, half - _UNEVEN, -below])
    first, second, third = np.round(100 * mechanism.expected(raw), 4).tolist()
    return first, second, third


def _names(population: Population, categories: NDArray[np.intp]) -> tuple[str, ...]:
    labels = population.labels
    return tuple(f"category {i + 1}" if labels is None else labels[i] for i in categories)


def _largest(values: Array, how_many: int) -> NDArray[np.intp]:
    """Positions of the largest values, largest first, ties in their own order; without sorting millions."""
    left, found = values.copy(), []
    for _ in range(how_many):
        found.append(int(left.argmax()))
        left[found[-1]] = -np.inf
    return np.array(found, dtype=np.intp)


def _number(word: str) -> float:
    try:
        value = float(word.replace("_", "x"))  # Python's 1_000 is not a number to a person
    except ValueError:
        raise ValueError(f"{short(word)} is not a number: please give three, {_EXAMPLE}.") from None
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{short(word)} is not possible here: each number must lie between 0 and 10¹².")
    return int(value) if value.is_integer() else value
