"""Populations to estimate: shapes for any k, and a few small tables with names, published or made up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.data import read_toml


@dataclass(frozen=True, eq=False)
class Population:
    """A distribution over k categories, with the names and the people behind it where they are known.

    Attributes:
        key: unique identifier; equal keys mean equal contents.
        probabilities: (k,) shares, summing to one; read-only.
        labels: the k category names, or None when they are the ranks 1..k.
        counts: (k,) the people themselves when the source is a table of counts, else None; read-only.
        source: where it comes from, one line.
    """

    key: str
    probabilities: Array
    labels: tuple[str, ...] | None = None
    counts: NDArray[np.int64] | None = None
    source: str = ""

    @property
    def k(self) -> int:
        return len(self.probabilities)

    @property
    def total(self) -> int | None:
        """Number of people in the table of counts, or None when only shares are known."""
        return None if self.counts is None else int(self.counts.sum())

    @classmethod
    def from_weights(
        cls, weights: ArrayLike, labels: Sequence[str] | None = None, source: str = ""
    ) -> Population:
        """A population from counts (integers) or shares (anything non-negative), at least two entries.

        Raises:
            ValueError: when the weights are not a (k,) histogram or the labels are not k names.
        """
        shares = frozen(_validate.shares(_validate.weights(weights, 2)))
        array = _validate.numbers("weights", weights)
        if labels is not None and len(labels) != array.size:
            raise ValueError(f"labels must be k = {array.size} names, got {len(labels)}")
        names = None if labels is None else tuple(labels)
        whole = array.dtype == np.int64 and array.sum(dtype=np.float64) <= 2.0**62
        counts = frozen(array.astype(np.int64)) if whole else None
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes())
        digest.update("\x00".join(names or ()).encode("utf-8", "surrogatepass"))
        return cls(f"weights:{digest.hexdigest()}", shares, names, counts, source)


def zipf(k: int, s: float) -> Array:
    """Zipf's law: (k,) probabilities proportional to rank^-s, rank = 1..k.

    Args:
        k: number of categories, an integer >= 2.
        s: exponent >= 0; 0 is uniform, larger is more concentrated.

    Raises:
        ValueError: naming the argument.

    >>> zipf(4, 1.0).round(4).tolist()
    [0.48, 0.24, 0.16, 0.12]
    """
    k = _validate.integer("k", k, 2)
    s = _validate.real("s", s, "a number >= 0")
    if s < 0:
        raise ValueError(f"s must be a number >= 0, got {s!r}")
    weights = np.arange(1, k + 1, dtype=np.float64) ** -s
    return _validate.shares(weights)


def uniform(k: int) -> Array:
    """(k,) equal probabilities.

    >>> uniform(4).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    k = _validate.integer("k", k, 2)
    return np.full(k, 1 / k)


def geometric(k: int) -> Array:
    """(k,) probabilities that halve every tenth of the categories (every category below k = 10).

    >>> geometric(4).round(4).tolist()
    [0.5333, 0.2667, 0.1333, 0.0667]
    """
    k = _validate.integer("k", k, 2)
    return _validate.shares(np.exp2(-np.arange(k) / max(k / 10, 1)))


def two_humps(k: int) -> Array:
    """(k,) two bell shapes: 60% around a quarter of the way, 40%, wider, around seven tenths.

    >>> two_humps(5).round(4).tolist()
    [0.0689, 0.5301, 0.0438, 0.3147, 0.0426]
    """
    k = _validate.integer("k", k, 2)
    x = (np.arange(k) + 0.5) / k
    left, right = (np.exp(-0.5 * ((x - at) / width) ** 2) for at, width in ((0.25, 0.07), (0.7, 0.1)))
    return _validate.shares(0.6 * _validate.shares(left) + 0.4 * _validate.shares(right))


def dominant(k: int) -> Array:
    """(k,) the first category holds 80%; the others share the rest equally.

    >>> dominant(5).round(6).tolist()
    [0.8, 0.05, 0.05, 0.05, 0.05]
    """
    k = _validate.integer("k", k, 2)
    weights = np.full(k, 0.2 / (k - 1))
    weights[0] = 0.8
    return weights


def step(k: int) -> Array:
    """(k,) the first fifth of the categories (at least one) holds 80%, equally; the others hold 20%.

    >>> step(5).round(6).tolist()
    [0.8, 0.05, 0.05, 0.05, 0.05]
    """
    k = _validate.integer("k", k, 2)
    top = max(k // 5, 1)
    weights = np.full(k, 0.2 / (k - top))
    weights[:top] = 0.8 / top
    return weights


@dataclass(frozen=True)
class Shape:
    """A family of populations that exists for every k; ``build(k, s)`` gives the probabilities. Only
    Zipf depends on s."""

    name: str
    build: Callable[[int, float], Array]


SHAPES: dict[str, Shape] = {
    "zipf": Shape("Zipf", zipf),
    "uniform": Shape("Uniform", lambda k, s: uniform(k)),
    "geometric": Shape("Geometric", lambda k, s: geometric(k)),
    "humps": Shape("Two humps", lambda k, s: two_humps(k)),
    "dominant": Shape("One large category", lambda k, s: dominant(k)),
    "step": Shape("Step", lambda k, s: step(k)),
}


@dataclass(frozen=True)
class Table:
    """A small table of counts with names.

    Attributes:
        name: on screen.
        rows: name and count of each category.
        source: where the counts come from, one line.
        is_real: whether somebody counted them: `/experiments` then offers them for Figure 3, which is about real data.
    """

    name: str
    rows: tuple[tuple[str, int], ...]
    source: str
    is_real: bool = False

    def population(self, key: str) -> Population:
        labels, counts = zip(*self.rows, strict=True)
        array = np.array(counts, dtype=np.int64)
        shares = frozen(_validate.shares(array))
        return Population(key, shares, tuple(labels), frozen(array), self.source)


TABLES: dict[str, Table] = {
    key: Table(**{**told, "rows": tuple(map(tuple, told["rows"]))})
    for key, told in read_toml("tables.toml").items()
}

UPLOAD = "upload"
DISTRIBUTIONS: dict[str, str] = {
    **{key: table.name for key, table in TABLES.items()},
    **{key: shape.name for key, shape in SHAPES.items()},
    UPLOAD: "Your own file",
}


def build(dist: str, k: int, s: float) -> Population:
    """The population called ``dist`` (a key of SHAPES or TABLES); tables ignore k and s.

    Raises:
        ValueError: for an unknown name.

    >>> build("zipf", 4, 1.0).k
    4
    """
    _validate.one_of("dist", dist, (*SHAPES, *TABLES))
    if dist in TABLES:
        return TABLES[dist].population(dist)
    k, s = _validate.integer("k", k, 2), _validate.real("s", s, "a number >= 0")
    shape = SHAPES[dist]
    key = f"{dist}:{k}:{s!r}" if dist == "zipf" else f"{dist}:{k}"
    return Population(key, frozen(shape.build(k, s)), source=shape.name)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, read-only from now on."""
    array.flags.writeable = False
    return array
