"""What a person asks of a sweep of their own, and what a run on this server may take. No Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

from pages._ui.experiments.values import Refused, cut, numbers
from rr_core import limits
from rr_core.comparison import ESTIMATORS, METRICS, VALID
from rr_core.errors import Users
from rr_core.experiments.grid import EPSILONS, POINT, Cell, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, expected_seconds
from rr_core.figures.style import duration
from rr_core.populations import SHAPES, TABLES, UPLOAD, Population
from rr_core.scenario import FIELDS, Number, Scenario

MOST_CELLS, MOST_SECONDS = 2000, 1800.0
SEEDS = Number("seeds", "seeds", "Collections per cell", 1, 1000, True)
DRAW = Number("draw", "draw", "Seed of the sweep", limits.SEED_MIN, limits.SEED_MAX, True)
USERS: dict[Users, str] = {"fixed": "These people", "sampled": "Their population"}
# What may be typed among the exponents.
NAMES = (*(name for name in SHAPES if name != "zipf"), *TABLES, POINT, UPLOAD)
ELSEWHERE = "A cluster takes more; the README shows how."

_OF_SCENARIO = {field.name: field for field in FIELDS}
_EXPONENTS = replace(_OF_SCENARIO["s"], label="Zipf exponents")
_FIGURE3_SEEDS = 20


@dataclass(frozen=True)
class OwnSweep:
    """A sweep as it is typed: every combination of the values, an empty field being the sidebar's value.

    Attributes:
        populations: Zipf exponents, and names of NAMES.
        ks, epsilons, ns: values of K, epsilon and N; how they may be written: `values.numbers`.
        seeds: collections per cell.
        draw: the seed of the sweep.
        users, estimators, metrics, bias: as in `grid.Settings`.
    """

    populations: str = ""
    ks: str = ""
    epsilons: str = "1-10"
    ns: str = ""
    seeds: int = 100
    draw: int = 1
    users: Users = "fixed"
    estimators: tuple[str, ...] = VALID
    metrics: tuple[str, ...] = ("mse", "nll")
    bias: bool = False

    def sweep(self, scenario: Scenario, uploaded: Population | None = None, workers: int = 1) -> Sweep:
        """What is to be computed; the same question again costs nothing.

        Args:
            scenario: the sidebar's, for the fields left empty.
            uploaded: the person's own histogram, if there is one.
            workers: processes that share the work.

        Raises:
            Refused: with the sentence for the person: what cannot be read, or is more than a run here may be.
        """
        for chosen, what in ((self.estimators, "estimate"), (self.metrics, "error")):
            if not chosen:
                raise Refused(f"Choose at least one {what}.")
        sweep, problem = _weighed(self, scenario, _of(uploaded), workers)
        if problem:
            raise Refused(problem)
        return sweep

    def cells(self, scenario: Scenario, uploaded: Population | None = None) -> tuple[Cell, ...]:
        """Every combination; a population that comes with its own K takes no other.

        Raises:
            Refused: as `sweep`, for what is typed and for the number of cells.
        """
        return _cells(self, scenario, _of(uploaded))

    @property
    def settings(self) -> Settings:
        return Settings(
            self.seeds,
            users=self.users,
            estimators=self.estimators,
            metrics=self.metrics,
            bias=self.bias,
            seed=self.draw,
        )

    def to_query(self) -> dict[str, str]:
        """The parameters of a link to this question, without those that are as usual."""
        return {
            parameter: _text(getattr(self, name))
            for name, parameter in PARAMETERS.items()
            if getattr(self, name) != getattr(_USUAL, name)
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[OwnSweep, tuple[str, ...]]:
        """The question of a link, and one plain sentence for each value that had to be changed."""
        asked, notes = cls(), []
        for name, parameter in PARAMETERS.items():
            if parameter in query:
                value, note = _READERS[name](query[parameter], getattr(asked, name))
                changes: dict[str, Any] = {name: value}
                asked = replace(asked, **changes)
                notes += [note] if note else []
        return asked, tuple(notes)


PARAMETERS = dict(
    zip(
        (field.name for field in fields(OwnSweep)),
        ("pop", "ks", "es", "ns", "seeds", "draw", "users", "est", "met", "bv"),
        strict=True,
    )
)
_USUAL = OwnSweep()


class _Own(NamedTuple):
    """All that a sweep has to know of an uploaded histogram: what is kept for all must hold nothing of it."""

    key: str
    k: int


def _of(uploaded: Population | None) -> _Own | None:
    return None if uploaded is None else _Own(uploaded.key, uploaded.k)


@lru_cache(maxsize=16)
def _weighed(asked: OwnSweep, scenario: Scenario, own: _Own | None, workers: int) -> tuple[Sweep, str]:
    """The sweep, and what speaks against it."""
    sweep = Sweep(_cells(asked, scenario, own), asked.settings)
    return sweep, too_much(sweep, workers)


def _cells(asked: OwnSweep, scenario: Scenario, own: _Own | None) -> tuple[Cell, ...]:
    populations = _populations(asked.populations, scenario, own)
    ks, epsilons, ns = (
        _listed(text, name, scenario)
        for text, name in ((asked.ks, "k"), (asked.epsilons, "epsilon"), (asked.ns, "n"))
    )
    sizes = [_sizes(dist, ks, own) for dist, _ in populations]
    number = sum(map(len, sizes)) * len(epsilons) * len(ns)
    if number > MOST_CELLS:
        axes = {"populations": populations, "K": ks, "ε": epsilons, "N": ns}
        longest = max(axes, key=lambda name: len(axes[name]))
        raise Refused(
            f"These lists make {number:,} cells, and a run here takes at most {MOST_CELLS:,}: shorten the longest "
            f"list, {longest} with {len(axes[longest]):,} values. {ELSEWHERE}"
        )
    return tuple(
        cell
        for (dist, s), at in zip(populations, sizes, strict=True)
        for cell in over(dist=dist, s=s, k=at, epsilon=epsilons, n=[int(n) for n in ns])
    )


def too_much(sweep: Sweep, workers: int, done: SweepResult | None = None) -> str:
    """One or two sentences when a sweep, one from a file too, is more than a run on this server may be; else empty.

    Memory is not asked for: a process holds one cell's collections at a time, and K is limited already.
    """
    left = len(sweep.cells) - (len(done.cells) if done else 0)
    if left > MOST_CELLS:
        return (
            f"This sweep has {left:,} cells to do, and a run here takes at most {MOST_CELLS:,}. {ELSEWHERE}"
        )
    expected = expected_seconds(sweep, workers, done)
    if expected <= MOST_SECONDS:
        return ""
    largest = max(cell.k for cell in sweep.cells)
    return (
        f"This sweep would take about {duration(expected)}, and a run here may take {duration(MOST_SECONDS)}: take "
        f"fewer than {sweep.settings.seeds:,} collections, or leave out K = {largest:,}. {ELSEWHERE}"
    )


def figure3(population: Population, n: int = 10**6) -> Sweep:
    """The paper's Figure 3 on a person's own histogram, at its full K: epsilon 1 to 10, the people of the table.

    Args:
        population: the histogram.
        n: users, where it holds shares only. (More people than the app's limit count as that many.)
    """
    users = min(population.total or n, limits.N_MAX)
    cells = over(dist=population.key, k=population.k, epsilon=EPSILONS, n=users)
    return Sweep(cells, Settings(_FIGURE3_SEEDS, people="rounded", estimators=VALID, bias=False))


def _populations(text: str, scenario: Scenario, own: _Own | None) -> list[tuple[str, float]]:
    """(dist, s) of each."""
    exponents, named = numbers(text, _EXPONENTS, MOST_CELLS, NAMES)
    chosen = [("zipf", s) for s in exponents] + [(name, 0.0) for name in named]
    chosen = chosen or [(scenario.dist, scenario.s if scenario.dist == "zipf" else 0.0)]
    if (UPLOAD, 0.0) not in chosen:
        return chosen
    if own is None:
        raise Refused(
            f"“{UPLOAD}” stands for a histogram of your own: upload it first (in the sidebar, Distribution, Your own "
            "file)."
        )
    return [(own.key, 0.0) if dist == UPLOAD else (dist, s) for dist, s in chosen]


def _listed(text: str, name: str, scenario: Scenario) -> tuple[float, ...]:
    return numbers(text, _OF_SCENARIO[name], MOST_CELLS)[0] or (getattr(scenario, name),)


def _sizes(dist: str, ks: Sequence[float], own: _Own | None) -> tuple[int, ...]:
    """The K of a population's cells."""
    if dist in TABLES:
        return (len(TABLES[dist].rows),)
    if own is not None and dist == own.key:
        return (own.k,)
    return tuple(int(k) for k in ks)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


_Reader = Callable[[str, Any], tuple[Any, str]]


def _typed(field: Number, names: Sequence[str] = ()) -> _Reader:
    def read(text: str, usual: str) -> tuple[str, str]:
        try:
            numbers(text, field, MOST_CELLS, names)
        except Refused as problem:
            return usual, f"In the link: {problem} {_instead(usual or 'the sidebar’s value')}"
        return text, ""

    return read


def _some(label: str, known: Sequence[str]) -> _Reader:
    def read(text: str, usual: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        given = [word.strip().lower() for word in text.split(",")]
        if set(given) <= set(known):
            return tuple(name for name in known if name in given), ""
        return (
            usual,
            f"The link's {label} “{cut(text)}” are not among {', '.join(known)}. {_instead(', '.join(usual))}",
        )

    return read


def _one(label: str, known: Mapping[str, Any]) -> _Reader:
    def read(text: str, usual: Any) -> tuple[Any, str]:
        if (key := text.strip().lower()) in known:
            return known[key], ""
        return (
            usual,
            f"The link's {label} “{cut(text)}” is not one of {', '.join(known)}. {_instead(_text(usual))}",
        )

    return read


def _instead(usual: str) -> str:
    return f"Instead: {usual}."


_READERS: dict[str, _Reader] = {
    "populations": _typed(_EXPONENTS, NAMES),
    "ks": _typed(_OF_SCENARIO["k"]),
    "epsilons": _typed(_OF_SCENARIO["epsilon"]),
    "ns": _typed(_OF_SCENARIO["n"]),
    "seeds": SEEDS.parse,
    "draw": DRAW.parse,
    "users": _one("choice of users", {"fixed": "fixed", "sampled": "sampled"}),
    "estimators": _some("estimates", tuple(ESTIMATORS)),
    "metrics": _some("errors", METRICS),
    "bias": _one("choice of bias and variance", {"0": False, "1": True}),
}
