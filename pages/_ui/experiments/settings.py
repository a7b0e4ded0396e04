"""The sweeps that the page offers, a sweep as a person types it, and its parameters in a link. No Streamlit."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from rr_core import limits, typed
from rr_core.comparison import METRICS
from rr_core.errors import Users
from rr_core.experiments.grid import (
    EPSILONS,
    MAIN_GRID,
    MAIN_SETTINGS,
    PAPER_FIGURES,
    POINT,
    Cell,
    Settings,
    Sweep,
    over,
)
from rr_core.experiments.run import SweepResult, expected_seconds
from rr_core.figures.style import duration
from rr_core.populations import SHAPES, TABLES, UPLOAD, Population
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import FIELDS, Number, Scenario

MAIN, HISTOGRAM, OWN = "main", "3", "own"
_MOST_COLLECTIONS = 1000
COLLECTIONS = (1, _MOST_COLLECTIONS)

CELLS: Mapping[str, tuple[Cell, ...]] = {
    MAIN: MAIN_GRID,
    **{key: one.cells for key, one in PAPER_FIGURES.items()},
}
TITLES: Mapping[str, str] = {
    MAIN: f"Main grid: {len(MAIN_GRID)} settings",
    **{key: PAPER_FIGURES[key].title for key in ("1a", "1b", "2a", "2b")},
    HISTOGRAM: "Figure 3: your own histogram",
    **{key: PAPER_FIGURES[key].title for key in ("5", "6", "7", "8", "9", "10")},
    OWN: "Your own sweep",
}


def built_in(key: str, seeds: int = MAIN_SETTINGS.seeds, seed: int = MAIN_SETTINGS.seed) -> Sweep:
    """A sweep that needs nothing from a person."""
    settings = Settings(
        seeds,
        seed=seed,
        estimators=MAIN_SETTINGS.estimators,
        metrics=MAIN_SETTINGS.metrics,
        bias=MAIN_SETTINGS.bias,
    )
    return Sweep(CELLS[key], settings)


def sweep_key(sweep: Sweep) -> str:
    """Which of the offered sweeps has exactly these cells; OWN when none has."""
    first = sweep.cells[0]
    if first.uploaded and sweep.cells == over(dist=first.dist, k=first.k, epsilon=EPSILONS, n=first.n):
        return HISTOGRAM
    return next((key for key, cells in CELLS.items() if cells == sweep.cells), OWN)


MOST_LETTERS = 300  # of one field
LIST_HELP = "Write values like 50, 100, 1000; or a range like 1-10, 0-2 +0.5, 100-1000000 x10 or 10^2-10^6."

_NUMBER = r"(?:\d{1,4}\^\d{1,2}|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,2})?|(?:ln|log)\(?\d+(?:\.\d+)?\)?)"
_ITEM = re.compile(
    rf"(?P<first>{_NUMBER})(?:(?:\.{{2,}}|[…–—-])(?P<last>{_NUMBER})(?:(?P<how>[x×*+])(?P<step>{_NUMBER}))?)?",
    re.ASCII | re.IGNORECASE,
)
# Where blanks belong to an item rather than between two.
_INNER_BLANKS = re.compile(r"\s*(\.{2,}|[…–—x×*+-])\s*(?=[\d.l])|(?<=ln)\s+|(?<=log)\s+", re.IGNORECASE)
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")  # where semicolons stand between the values
_THOUSANDS = re.compile(r"\d+,0\d\d(?!\d)")
_MOST_QUOTED = 24


class RefusedSettings(ValueError):
    """What was typed cannot be used. ``str(error)`` is one or two plain sentences; it quotes what was typed."""


def parse_numbers(
    text: str, field: Number, most: int, names: Container[str] = ()
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The values of a list and the names among them, each once, in the order they were typed.

    Args:
        text: "50, 100, 1000"; "1-10" or "1..10" is every whole number between, "0-1 +0.25" goes in steps,
            "100-1000000 x10" in factors, and "10^2..10^6" in powers. Between semicolons a comma is a decimal comma.
        field: label and range of the values.
        most: how many there may be.
        names: words that may stand among the numbers, in lower case.

    Raises:
        Refused: naming the field, what is allowed and what was typed.
    """
    if len(text) > MOST_LETTERS:
        raise RefusedSettings(
            f"{field.label}: at most {MOST_LETTERS} characters are read; write ranges, like 1-10."
        )
    if (large := _THOUSANDS.search(text)) and ";" not in text:
        plain = large[0].replace(",", "")
        raise RefusedSettings(
            f"{field.label}: a comma separates values; write “{shorten(large[0])}” as {shorten(plain)}."
        )
    found: dict[float, None] = {}
    named: dict[str, None] = {}
    for word in _words(text):
        item = _ITEM.fullmatch(word)
        if word.lower() in names:
            named[word.lower()] = None
        elif item is None:
            raise RefusedSettings(f"{field.label}: “{shorten(word)}” cannot be read. {LIST_HELP}")
        else:
            found.update(dict.fromkeys(_values(item, field, most)))
    if len(found) > most:
        raise RefusedSettings(
            f"{field.label}: {len(found):,} values are too many; at most {most:,} are taken."
        )
    return tuple(found), tuple(named)


def shorten(text: str) -> str:
    """The beginning of what was typed, for a sentence."""
    return text if len(text) <= _MOST_QUOTED else text[: _MOST_QUOTED - 1] + "…"


def _words(text: str) -> list[str]:
    text = _DECIMAL_COMMA.sub(".", text) if ";" in text else text
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_LOWERED), text)
    return [word for word in re.split(r"[\s,;]+", _INNER_BLANKS.sub(r"\1", text)) if word]


def _values(item: re.Match[str], field: Number, most: int) -> list[float]:
    """The values of one item."""
    found: list[float] = []
    for value in _range(item, field):
        if len(found) == most:
            raise RefusedSettings(
                f"{field.label}: “{shorten(item[0])}” has more than {most:,} values; take larger steps, "
                "like 100-1000000 x10."
            )
        found.append(_checked(value, field, item[0]))
    return found


def _range(item: re.Match[str], field: Number) -> Iterator[Fraction]:
    value = _number(item["first"])
    last = value if item["last"] is None else _number(item["last"])
    if last < value:
        raise RefusedSettings(
            f"{field.label}: “{shorten(item[0])}” runs downwards; write the smaller end first."
        )
    factor, step = _steps(item)
    if value * factor + step <= value:
        raise RefusedSettings(
            f"{field.label}: the steps of “{shorten(item[0])}” lead nowhere; write them like +0.5 or x10."
        )
    while value <= last:
        yield value
        value = value * factor + step


def _steps(item: re.Match[str]) -> tuple[Fraction, Fraction]:
    """By which factor a range goes on, and what is added then."""
    if item["how"]:
        step = _number(item["step"])
        return (Fraction(1), step) if item["how"] == "+" else (step, Fraction(0))
    (base, power, _), (other, also, _) = ((item[end] or "").partition("^") for end in ("first", "last"))
    if power and also and base == other:
        return Fraction(base), Fraction(0)
    return Fraction(1), Fraction(1)


def _number(text: str) -> Fraction:
    """Exact, so that ten steps of 0.1 end at 1."""
    base, power, exponent = text.partition("^")
    if power:
        return Fraction(int(base) ** int(exponent))
    try:
        return Fraction(typed.number(text)) if text[0] in "lL" else Fraction(text)
    except ValueError as error:  # the logarithm of something below 1
        raise RefusedSettings(f"{error}.") from None


def _checked(value: Fraction, field: Number, item: str) -> float:
    low, high = (Fraction(str(end)) for end in (field.low, field.high))  # 0.01 as it is written
    if not low <= value <= high:
        raise RefusedSettings(
            f"{field.label} goes from {field.show(field.low)} to {field.show(field.high)}, and “{shorten(item)}” leads "
            "beyond."
        )
    if field.whole and value.denominator != 1:
        raise RefusedSettings(f"{field.label} takes whole numbers, and “{shorten(item)}” is something else.")
    return int(value) if field.whole else float(value)


MOST_CELLS, MOST_SECONDS = 2000, 1800.0
SEEDS = Number("seeds", "seeds", "Collections per cell", 1, 1000, True)
DRAW = Number("draw", "draw", "Seed of the sweep", limits.SEED_MIN, limits.SEED_MAX, True)
USERS_LABELS: dict[Users, str] = {"fixed": "These people", "sampled": "Their population"}
# What may be typed among the exponents.
POPULATION_NAMES = (*(name for name in SHAPES if name != "zipf"), *TABLES, POINT, UPLOAD)
_CLUSTER = "A cluster takes more; the README shows how."

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
                raise RefusedSettings(f"Choose at least one {what}.")
        sweep, problem = _checked_sweep(self, scenario, _upload_key(uploaded), workers)
        if problem:
            raise RefusedSettings(problem)
        return sweep

    def cells(self, scenario: Scenario, uploaded: Population | None = None) -> tuple[Cell, ...]:
        """Every combination; a population that comes with its own K takes no other.

        Raises:
            Refused: as `sweep`, for what is typed and for the number of cells.
        """
        return _cells(self, scenario, _upload_key(uploaded))

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
            parameter.name: _text(getattr(self, name))
            for name, parameter in _PARAMETERS.items()
            if getattr(self, name) != getattr(_DEFAULT, name)
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[OwnSweep, tuple[str, ...]]:
        """The question of a link, and one plain sentence for each value that had to be changed."""
        own_sweep, notes = cls(), []
        for name, parameter in _PARAMETERS.items():
            if parameter.name in query:
                value, note = parameter.read(query[parameter.name], getattr(own_sweep, name))
                changes: dict[str, Any] = {name: value}
                own_sweep = replace(own_sweep, **changes)
                notes += [note] if note else []
        return own_sweep, tuple(notes)


_DEFAULT = OwnSweep()


class _UploadKey(NamedTuple):
    """All that a sweep has to know of an uploaded histogram: what is kept for all must hold nothing of it."""

    key: str
    k: int


def _upload_key(uploaded: Population | None) -> _UploadKey | None:
    return None if uploaded is None else _UploadKey(uploaded.key, uploaded.k)


@lru_cache(maxsize=16)
def _checked_sweep(
    own_sweep: OwnSweep, scenario: Scenario, upload: _UploadKey | None, workers: int
) -> tuple[Sweep, str]:
    """The sweep, and what speaks against it."""
    sweep = Sweep(_cells(own_sweep, scenario, upload), own_sweep.settings)
    return sweep, why_too_large(sweep, workers)


def _cells(own_sweep: OwnSweep, scenario: Scenario, upload: _UploadKey | None) -> tuple[Cell, ...]:
    populations = _populations(own_sweep.populations, scenario, upload)
    ks, epsilons, ns = (
        _listed(text, name, scenario)
        for text, name in ((own_sweep.ks, "k"), (own_sweep.epsilons, "epsilon"), (own_sweep.ns, "n"))
    )
    sizes = [_sizes(dist, ks, upload) for dist, _ in populations]
    number = sum(map(len, sizes)) * len(epsilons) * len(ns)
    if number > MOST_CELLS:
        axes = {"populations": populations, "K": ks, "ε": epsilons, "N": ns}
        longest = max(axes, key=lambda name: len(axes[name]))
        raise RefusedSettings(
            f"These lists make {number:,} cells, and a run here takes at most {MOST_CELLS:,}: shorten the longest "
            f"list, {longest} with {len(axes[longest]):,} values. {_CLUSTER}"
        )
    return tuple(
        cell
        for (dist, s), at in zip(populations, sizes, strict=True)
        for cell in over(dist=dist, s=s, k=at, epsilon=epsilons, n=[int(n) for n in ns])
    )


def why_too_large(sweep: Sweep, workers: int, done: SweepResult | None = None) -> str:
    """One or two sentences when a sweep, one from a file too, is more than a run on this server may be; else empty.

    Memory is not asked for: a process holds one cell's collections at a time, and K is limited already.
    """
    left = len(sweep.cells) - (len(done.cells) if done else 0)
    if left > MOST_CELLS:
        return f"This sweep has {left:,} cells to do, and a run here takes at most {MOST_CELLS:,}. {_CLUSTER}"
    expected = expected_seconds(sweep, workers, done)
    if expected <= MOST_SECONDS:
        return ""
    largest = max(cell.k for cell in sweep.cells)
    return (
        f"This sweep would take about {duration(expected)}, and a run here may take {duration(MOST_SECONDS)}: take "
        f"fewer than {sweep.settings.seeds:,} collections, or leave out K = {largest:,}. {_CLUSTER}"
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


def _populations(text: str, scenario: Scenario, upload: _UploadKey | None) -> list[tuple[str, float]]:
    """(dist, s) of each."""
    exponents, named = parse_numbers(text, _EXPONENTS, MOST_CELLS, POPULATION_NAMES)
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


def _listed(text: str, name: str, scenario: Scenario) -> tuple[float, ...]:
    return parse_numbers(text, _OF_SCENARIO[name], MOST_CELLS)[0] or (getattr(scenario, name),)


def _sizes(dist: str, ks: Sequence[float], upload: _UploadKey | None) -> tuple[int, ...]:
    """The K of a population's cells."""
    if dist in TABLES:
        return (len(TABLES[dist].rows),)
    if upload is not None and dist == upload.key:
        return (upload.k,)
    return tuple(int(k) for k in ks)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


_Reader = Callable[[str, Any], tuple[Any, str]]


def _typed(field: Number, names: Sequence[str] = ()) -> _Reader:
    def read(text: str, usual: str) -> tuple[str, str]:
        try:
            parse_numbers(text, field, MOST_CELLS, names)
        except RefusedSettings as problem:
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
            f"The link's {label} “{shorten(text)}” are not among {', '.join(known)}. {_instead(', '.join(usual))}",
        )

    return read


def _one(label: str, known: Mapping[str, Any]) -> _Reader:
    def read(text: str, usual: Any) -> tuple[Any, str]:
        if (key := text.strip().lower()) in known:
            return known[key], ""
        return (
            usual,
            f"The link's {label} “{shorten(text)}” is not one of {', '.join(known)}. {_instead(_text(usual))}",
        )

    return read


def _instead(usual: str) -> str:
    return f"Instead: {usual}."


class _Parameter(NamedTuple):
    """A parameter of a link: its name, and how its text becomes a value and, where it had to be changed, a sentence."""

    name: str
    read: _Reader


# By field of `OwnSweep`; the defaults are that class's.
_PARAMETERS = {
    "populations": _Parameter("pop", _typed(_EXPONENTS, POPULATION_NAMES)),
    "ks": _Parameter("ks", _typed(_OF_SCENARIO["k"])),
    "epsilons": _Parameter("es", _typed(_OF_SCENARIO["epsilon"])),
    "ns": _Parameter("ns", _typed(_OF_SCENARIO["n"])),
    "seeds": _Parameter("seeds", SEEDS.parse),
    "draw": _Parameter("draw", DRAW.parse),
    "users": _Parameter("users", _one("choice of users", {"fixed": "fixed", "sampled": "sampled"})),
    "estimators": _Parameter("est", _some("estimates", tuple(ESTIMATORS))),
    "metrics": _Parameter("met", _some("errors", METRICS)),
    "bias": _Parameter("bv", _one("choice of bias and variance", {"0": False, "1": True})),
}
PARAMETERS: Mapping[str, str] = {field: parameter.name for field, parameter in _PARAMETERS.items()}
"""The parameters of a link to an own sweep, by field of `OwnSweep`."""
