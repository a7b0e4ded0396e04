"""What a sweep computes: its cells, how each is measured, and the grids of the paper as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np

from rr_core import _validate
from rr_core.comparison import METRICS
from rr_core.limits import SEED_MAX, SEED_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.populations import SHAPES, TABLES, Population, build
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import NUMBERS

# Everybody in one category: what the authors' code draws where their captions say s = 5.
POINT = "point"
_WEIGHTS = "weights:"  # how `Population.from_weights` starts its keys
_CHECKED = {number.name: number for number in NUMBERS}


@dataclass(frozen=True)
class Cell:
    """One point of a sweep. Two cells of the same content are equal and have the same ``key``.

    Attributes:
        dist: a key of `populations.SHAPES` or `TABLES`, "point", or the key of a `Population` made from weights,
            which is then passed along with the sweep.
        k: number of categories; set by the table itself where dist is a table.
        s: Zipf exponent; 0 for every dist but "zipf".

    Raises:
        ValueError: naming the argument; the ranges are those of module ``limits``.
    """

    dist: str
    k: int
    epsilon: float
    n: int
    s: float = 0.0

    def __post_init__(self) -> None:
        known_keys = (*SHAPES, *TABLES, POINT)
        if not (isinstance(self.dist, str) and (self.dist in known_keys or self.uploaded)):
            known = ", ".join(known_keys)
            raise ValueError(
                f"dist must be one of {known}, or the key of a population made from weights, "
                f"got {_validate.short(self.dist)}"
            )
        if self.dist in TABLES:
            object.__setattr__(self, "k", len(TABLES[self.dist].rows))
        if self.dist != "zipf":
            object.__setattr__(self, "s", 0.0)
        for name in ("k", "epsilon", "n", "s"):
            object.__setattr__(self, name, _CHECKED[name].checked(getattr(self, name)))

    @property
    def uploaded(self) -> bool:
        """Whether the population has to be passed along with the sweep."""
        return self.dist.startswith(_WEIGHTS)

    @property
    def source(self) -> str:
        """Canonical text of the population."""
        return f"{self.dist} k={self.k} s={self.s!r}"

    @property
    def key(self) -> str:
        """Canonical text of the cell; `parse` reads it back."""
        return f"{self.source} epsilon={self.epsilon!r} n={self.n}"

    @property
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(self.k, self.epsilon)

    @classmethod
    def parse(cls, key: str) -> Cell:
        """The cell with this key.

        Raises:
            ValueError: when the text is not a key.
        """
        if not isinstance(key, str):
            raise ValueError(f"key must be the key of a cell, got {_validate.short(key)}")
        dist, *pairs = key.split(" ")
        values = dict(pair.partition("=")[::2] for pair in pairs)
        try:
            return cls(dist, int(values["k"]), float(values["epsilon"]), int(values["n"]), float(values["s"]))
        except (KeyError, ValueError) as error:
            raise ValueError(f"key must be the key of a cell, got {_validate.short(key)}") from error

    def population(self, given: Mapping[str, Population]) -> Population:
        """The population of this cell; an uploaded one is looked up in ``given``, by its key."""
        if self.dist == POINT:
            shares = np.zeros(self.k)
            shares[0] = 1.0
            return Population(self.source, shares)
        if not self.uploaded:
            return build(self.dist, self.k, self.s)
        if self.dist not in given:
            raise ValueError(f"populations must hold {_validate.short(self.dist)}, which a cell asks for")
        population = given[self.dist]
        if population.k != self.k:
            raise ValueError(f"population must have k = {self.k} categories, got {population.k}")
        return population


@dataclass(frozen=True)
class Settings:
    """How every cell of a sweep is measured.

    Attributes:
        seeds: collections per cell. The first m of them are the same for every ``seeds`` >= m.
        users: "fixed", the same users report each time and errors are against their own shares (as in the paper's
            figures); "sampled", new users each time and errors are against the population.
        people: who the fixed users are: "drawn" once from the population, the same for every epsilon; or "rounded",
            N times each share in whole people. Where N is the total of a table of counts, its people themselves.
        estimators: which, of `registry.ESTIMATORS`; all see the same reports.
        metrics: which errors, of `comparison.METRICS`: "mse" (the sum over categories), "tv", "max", "nll" (nats per
            report).
        bias: whether squared bias and variance are worked out as well.
        seed: another whole number gives other users and other noise.

    Raises:
        ValueError: naming the argument.
    """

    seeds: int = 100
    users: Users = "fixed"
    people: Literal["drawn", "rounded"] = "drawn"
    estimators: tuple[str, ...] = tuple(ESTIMATORS)
    metrics: tuple[str, ...] = METRICS
    bias: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.bias, (bool, int, np.bool_)):
            raise ValueError(f"bias must be True or False, got {_validate.short(self.bias)}")
        object.__setattr__(self, "bias", bool(self.bias))
        object.__setattr__(self, "seeds", _validate.integer("seeds", self.seeds, 1))
        object.__setattr__(self, "seed", _validate.integer("seed", self.seed, SEED_MIN, SEED_MAX))
        for name, allowed in (("users", ("fixed", "sampled")), ("people", ("drawn", "rounded"))):
            _validate.one_of(name, getattr(self, name), allowed)
        for name, known in (("estimators", tuple(ESTIMATORS)), ("metrics", METRICS)):
            chosen = getattr(self, name)
            names = tuple(chosen) if np.iterable(chosen) else ()
            if not names or not all(isinstance(one, str) and one in known for one in names):
                raise ValueError(f"{name} must be some of {', '.join(known)}, got {_validate.short(chosen)}")
            # In the order of ``known``, so that equal choices are equal settings.
            object.__setattr__(self, name, tuple(one for one in known if one in names))


@dataclass(frozen=True)
class Sweep:
    """Cells, each once, and how they are measured."""

    cells: tuple[Cell, ...]
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        if not np.iterable(self.cells) or not all(isinstance(cell, Cell) for cell in self.cells):
            raise ValueError(f"cells must be a sequence of cells, got {_validate.short(self.cells)}")
        object.__setattr__(self, "cells", tuple(dict.fromkeys(self.cells)))


def over(
    *,
    dist: str | Sequence[str] = "zipf",
    s: float | Sequence[float] = 0.0,
    k: int | Sequence[int],
    epsilon: float | Sequence[float],
    n: int | Sequence[int],
) -> tuple[Cell, ...]:
    """Every combination of the values given, each cell once; dist varies slowest, then s, k, epsilon, n.

    >>> len(over(k=(5, 50), n=(1000, 10_000), epsilon=(1.0,), s=(1.3,)))
    4
    """
    dists = (dist,) if isinstance(dist, str) or not np.iterable(dist) else tuple(dist)
    given = {"s": s, "k": k, "epsilon": epsilon, "n": n}
    axes = [np.atleast_1d(_validate.as_array(name, axis)).tolist() for name, axis in given.items()]
    cells = (
        Cell(d, at_k, at_epsilon, at_n, at_s)
        for d, (at_s, at_k, at_epsilon, at_n) in product(dists, [*product(*axes)])
    )
    return tuple(dict.fromkeys(cells))


@dataclass(frozen=True)
class PaperFigure:
    """One of the paper's evaluations.

    Attributes:
        key, title: name in code and on the page.
        cells: what is computed.
        metric: the error that the paper draws; its "mse" is the mean over categories, ours divided by k.
        along: its horizontal axis.
    """

    key: str
    title: str
    cells: tuple[Cell, ...]
    metric: Literal["mse", "nll"]
    along: Literal["epsilon", "n"]


EXPONENTS = (0.01, 1.3, 2.5)
EPSILONS = tuple(float(epsilon) for epsilon in range(1, 11))
SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)
MAIN_GRID = over(s=EXPONENTS, k=(50, 100, 1000, 5000), epsilon=EPSILONS, n=SIZES)
# How the main grid is measured: the paper's number of collections, and the errors of its figures.
MAIN_SETTINGS = Settings(100, estimators=VALID, metrics=("mse", "nll"), bias=False)


def _spread_out(k: int, epsilon: float | tuple[float, ...], n: int | tuple[int, ...]) -> tuple[Cell, ...]:
    """The populations of Figures 1 and 2: three exponents in text and supplement, s = 5 in the captions, and the
    point mass that stands for it in the authors' code."""
    zipf = over(s=(*EXPONENTS, 5.0), k=k, epsilon=epsilon, n=n)
    return zipf + over(dist=POINT, k=k, epsilon=epsilon, n=n)


_ALONG_N = _spread_out(10_000, 4.0, SIZES)
_ALONG_EPSILON = _spread_out(10_000, EPSILONS, 10**6)
_LEVELS = {0.01: "near uniform", 1.3: "moderate", 2.5: "concentrated"}


def _supplement(number: int, s: float, metric: Literal["mse", "nll"]) -> PaperFigure:
    cells = over(s=s, k=(50, 100, 1000, 5000, 10_000), epsilon=(1.0, 2.0, 4.0, 10.0), n=SIZES)
    return PaperFigure(
        str(number), f"Figure {number}: {metric.upper()}, s = {s:g} ({_LEVELS[s]})", cells, metric, "n"
    )


PAPER_FIGURES: dict[str, PaperFigure] = {
    preset.key: preset
    for preset in (
        PaperFigure("1a", "Figure 1a: MSE along N", _ALONG_N, "mse", "n"),
        PaperFigure("1b", "Figure 1b: NLL along N", _ALONG_N, "nll", "n"),
        PaperFigure("2a", "Figure 2a: MSE along ε", _ALONG_EPSILON, "mse", "epsilon"),
        PaperFigure("2b", "Figure 2b: NLL along ε", _ALONG_EPSILON, "nll", "epsilon"),
        *(_supplement(5 + i, s, "mse") for i, s in enumerate(EXPONENTS)),
        *(_supplement(8 + i, s, "nll") for i, s in enumerate(EXPONENTS)),
    )
}
