"""The sweeps that the page offers, a sweep as a person types it, and its parameters in a link. No Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from rr_core import limits, parameters
from rr_core.comparison import METRICS
from rr_core.experiments import grid
from rr_core.experiments.run import SweepResult, expected_seconds
from rr_core.limits import SWEEP_CELLS_MAX, SWEEP_SECONDS_MAX
from rr_core.metrics import WHOSE, Users
from rr_core.parameters import Choice, Number, NumberList, Parameter, RefusedSettings, Several, parse_numbers
from rr_core.populations import SHAPES, TABLES, UPLOAD, Population
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import NUMBERS, Scenario
from rr_core.words.phrases import duration

MAIN, HISTOGRAM, OWN = "main", "3", "own"

CELLS: Mapping[str, tuple[grid.Cell, ...]] = {
    MAIN: grid.MAIN_GRID,
    **{key: one.cells for key, one in grid.PAPER_FIGURES.items()},
}
TITLES: Mapping[str, str] = {
    MAIN: f"Main grid: {len(grid.MAIN_GRID)} settings",
    **{key: grid.PAPER_FIGURES[key].title for key in ("1a", "1b", "2a", "2b")},
    HISTOGRAM: "Figure 3: a real histogram",
    **{key: grid.PAPER_FIGURES[key].title for key in ("5", "6", "7", "8", "9", "10")},
    OWN: "Your own sweep",
}


def built_in(
    key: str, seeds: int = grid.MAIN_SETTINGS.seeds, seed: int = grid.MAIN_SETTINGS.seed
) -> grid.Sweep:
    """One of the sweeps with fixed cells, by its key."""
    return grid.Sweep(CELLS[key], replace(grid.MAIN_SETTINGS, seeds=seeds, seed=seed))


def sweep_key(sweep: grid.Sweep) -> str:
    """The key of the offered sweep that has exactly these cells; OWN when none has."""
    first = sweep.cells[0]
    if (first.uploaded or first.dist in TABLES) and sweep.cells == grid.over(
        dist=first.dist, k=first.k, epsilon=grid.EPSILONS, n=first.n
    ):
        return HISTOGRAM
    return next((key for key, cells in CELLS.items() if cells == sweep.cells), OWN)


SEEDS = Number("seeds", "seeds", "Collections per cell", limits.COLLECTIONS_MIN, limits.COLLECTIONS_MAX, True)
DRAW = Number("draw", "draw", "Seed of the sweep", limits.SEED_MIN, limits.SEED_MAX, True)
ESTIMATES = Several("estimators", "est", "estimates", tuple(ESTIMATORS))
ERRORS = Several("metrics", "met", "errors", METRICS)
# What may be typed among the exponents.
POPULATION_NAMES = (*(name for name in SHAPES if name != "zipf"), *TABLES, grid.POINT, UPLOAD)
_CLUSTER = "A cluster takes more; the README shows how."

_OF_SCENARIO = {field.name: field for field in NUMBERS}
_EXPONENTS = replace(_OF_SCENARIO["s"], label="Zipf exponents")


@dataclass(frozen=True)
class OwnSweep:
    """A sweep as it is typed: every combination of the values, an empty field being the sidebar's value; how they may
    be written: `rr_core.parameters.parse_numbers`."""

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

    def sweep(self, scenario: Scenario, uploaded: Population | None = None, workers: int = 1) -> grid.Sweep:
        """The sweep of these settings, cached; `RefusedSettings` says why there is none."""
        for chosen, what in ((self.estimators, "estimate"), (self.metrics, "error")):
            if not chosen:
                raise RefusedSettings(f"Choose at least one {what}.")
        upload = None if uploaded is None else _UploadKey(uploaded.key, uploaded.k)
        sweep, problem = _checked_sweep(self, scenario, upload, workers)
        if problem:
            raise RefusedSettings(problem)
        return sweep

    @property
    def settings(self) -> grid.Settings:
        return grid.Settings(
            self.seeds,
            users=self.users,
            estimators=self.estimators,
            metrics=self.metrics,
            bias=self.bias,
            seed=self.draw,
        )

    def to_query(self) -> dict[str, str]:
        """The query parameters of a link to this sweep; parameters with default values are left out."""
        usual = parameters.write(PARAMETERS, OwnSweep())
        query = parameters.write(PARAMETERS, self)
        return {name: text for name, text in query.items() if text != usual[name]}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[OwnSweep, tuple[str, ...]]:
        """The sweep of a link, and one plain sentence for each value that had to be changed."""
        return parameters.read(PARAMETERS, query, cls())


def _number_list(name: str, parameter: str, number: Number, names: tuple[str, ...] = ()) -> NumberList:
    return NumberList(name, parameter, number, SWEEP_CELLS_MAX, "the sidebar’s value", names)


_NOT_ONE = "The link's {label} “{text}” is not one of {options}. Instead: {default}."
# What a link to an own sweep carries, by field of `OwnSweep`; the defaults are that class's.
PARAMETERS: tuple[Parameter, ...] = (
    _number_list("populations", "pop", _EXPONENTS, POPULATION_NAMES),
    _number_list("ks", "ks", _OF_SCENARIO["k"]),
    _number_list("epsilons", "es", _OF_SCENARIO["epsilon"]),
    _number_list("ns", "ns", _OF_SCENARIO["n"]),
    SEEDS,
    DRAW,
    Choice("users", "users", "choice of users", WHOSE, _NOT_ONE),
    ESTIMATES,
    ERRORS,
    Choice("bias", "bv", "choice of bias and variance", {False: "no", True: "yes"}, _NOT_ONE),
)
# The sweep on screen.
SWEEP_PARAMETER = Choice(
    "sweep",
    "sweep",
    "sweep",
    TITLES,
    "The link's {label} “{text}” is not known here; “{used}” is shown instead.",
)


class _UploadKey(NamedTuple):
    """Key and K of an uploaded histogram. Shared caches may depend on these, but must hold none of its data."""

    key: str
    k: int


@lru_cache(maxsize=16)
def _checked_sweep(
    own_sweep: OwnSweep, scenario: Scenario, upload: _UploadKey | None, workers: int
) -> tuple[grid.Sweep, str]:
    """The sweep, and the sentence that says why it cannot be run ("" when it can)."""
    sweep = grid.Sweep(_cells(own_sweep, scenario, upload), own_sweep.settings)
    return sweep, why_too_large(sweep, workers)


def _cells(own_sweep: OwnSweep, scenario: Scenario, upload: _UploadKey | None) -> tuple[grid.Cell, ...]:
    populations = _populations(own_sweep.populations, scenario, upload)
    ks, epsilons, ns = (
        parse_numbers(text, _OF_SCENARIO[name], SWEEP_CELLS_MAX)[0] or (getattr(scenario, name),)
        for text, name in ((own_sweep.ks, "k"), (own_sweep.epsilons, "epsilon"), (own_sweep.ns, "n"))
    )
    sizes = [_sizes(dist, ks, upload) for dist, _ in populations]
    number = sum(map(len, sizes)) * len(epsilons) * len(ns)
    if number > SWEEP_CELLS_MAX:
        axes = {"populations": populations, "K": ks, "ε": epsilons, "N": ns}
        longest = max(axes, key=lambda name: len(axes[name]))
        raise RefusedSettings(
            f"These lists make {number:,} cells, and a run here takes at most {SWEEP_CELLS_MAX:,}: shorten the longest "
            f"list, {longest} with {len(axes[longest]):,} values. {_CLUSTER}"
        )
    return tuple(
        cell
        for (dist, s), at in zip(populations, sizes, strict=True)
        for cell in grid.over(dist=dist, s=s, k=at, epsilon=epsilons, n=[int(n) for n in ns])
    )


def why_too_large(sweep: grid.Sweep, workers: int, done: SweepResult | None = None) -> str:
    """One or two sentences when a sweep, one from a file too, is more than a run on this server may be; else empty.
    Memory is not asked for: a process holds one cell's collections at a time, and K is limited already."""
    left = len(sweep.cells) - (len(done.cells) if done else 0)
    if left > SWEEP_CELLS_MAX:
        return f"This sweep has {left:,} cells to do, and a run here takes at most {SWEEP_CELLS_MAX:,}. {_CLUSTER}"
    expected = expected_seconds(sweep, workers, done)
    if expected <= SWEEP_SECONDS_MAX:
        return ""
    largest = max(cell.k for cell in sweep.cells)
    more = ", or run fewer cells" if len(sweep.cells) > 1 else ""
    if any(cell.k < largest for cell in sweep.cells):
        more = f", or leave out K = {largest:,}"
    return (
        f"This sweep would take about {duration(expected)}, and a run here may take {duration(SWEEP_SECONDS_MAX)}: take "
        f"fewer than {sweep.settings.seeds:,} collections{more}. {_CLUSTER}"
    )


def figure3(population: Population, n: int = 10**6) -> grid.Sweep:
    """The paper's Figure 3 on a person's own histogram, or on a table of this app, at its full K: epsilon 1 to 10, the
    people of the table; ``n`` users, where it holds shares only. (More than the app's limit count as that many.)"""
    users = min(population.total or n, limits.N_MAX)
    cells = grid.over(dist=population.key, k=population.k, epsilon=grid.EPSILONS, n=users)
    return grid.Sweep(cells, grid.Settings(20, people="rounded", estimators=VALID, bias=False))


def _populations(text: str, scenario: Scenario, upload: _UploadKey | None) -> list[tuple[str, float]]:
    """(dist, s) of each."""
    exponents, named = parse_numbers(text, _EXPONENTS, SWEEP_CELLS_MAX, POPULATION_NAMES)
    chosen = [("zipf", s) for s in exponents] + [(name, 0.0) for name in named]
    chosen = chosen or [(scenario.dist, scenario.s if scenario.dist == "zipf" else 0.0)]
    if (UPLOAD, 0.0) not in chosen:
        return chosen
    if upload is None:
        raise RefusedSettings(
            f"“{UPLOAD}” stands for a histogram of your own: upload it first (in the sidebar, Distribution, Your own "
            "file)."
        )
    return [(upload.key, 0.0) if dist == UPLOAD else (dist, s) for dist, s in chosen]


def _sizes(dist: str, ks: Sequence[float], upload: _UploadKey | None) -> tuple[int, ...]:
    """The values of K that a population is combined with."""
    if dist in TABLES:
        return (len(TABLES[dist].rows),)
    if upload is not None and dist == upload.key:
        return (upload.k,)
    return tuple(int(k) for k in ks)
