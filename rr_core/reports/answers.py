"""Reports in memory, analysed in one call: answers or counts, of any design, by group and with weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rr_core import _validate
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.protocols.channel import Channel
from rr_core.protocols.unary import UnaryEncoding
from rr_core.reports.analysis import ByGroup, Collecting
from rr_core.reports.survey import Sample, Survey, analyse_groups, report_of_each


def analyse(
    counts_or_series: Any,
    design: Collecting | Mapping[Any, Collecting],
    level: float = 0.95,
    by: Any = None,
    weights: Any = None,
    *,
    labels: Sequence[Any] | None = None,
    truths: Sequence[Any] | None = None,
    users: Users = "fixed",
    strata: Any = None,
    units: Any = None,
) -> Survey:
    """What reports say: shares, intervals, tests; of all people together, or of each group.

    Args:
        counts_or_series: reports that are counted: numbers, in the order of the design, or a mapping or a pandas Series
            from names to numbers; or one report for each person: texts, a categorical Series, whole numbers together with
            ``by`` or ``weights``, or for `UnaryEncoding` an (n, k) array of 0 and 1.
        design: what made the reports; where that differs by group, a mapping from the names of groups to designs.
        level: probability of the intervals, between 0 and 1.
        by: (n,) the group of each person; rows with a missing one are left out, like missing reports.
        weights: (n,) the survey weight of each person. The truth is then that of their population.
        labels: names of the reports in the order of the design. Needed for texts under a `Channel`, whose columns have an
            order; else those that occur, sorted.
        truths: names of the categories, where they are others than the reports.
        users: "fixed" for the shares among these people, "sampled" for their population.
        strata, units: (n,) stratum and primary sampling unit of each person, for the variances with weights. A stratum of
            one unit is compared with all people, as R's survey does with ``lonely.psu = "adjust"``. A unit that was drawn
            with certainty is a stratum: its units are those that were drawn within it.

    Returns:
        `Survey`; its ``frame()`` is a pandas data frame.

    Raises:
        ValueError: naming the argument.

    >>> analyse({"no": 360, "yes": 640}, Channel.warner(0.2)).estimates["inv"].round(3).tolist()
    [0.733, 0.267]
    >>> found = analyse(["a", "b", "a", "c"] * 50, RandomizedResponse(3, 2.0), by=["x", "y"] * 100)
    >>> found.groups, found.categories
    (('x', 'y'), ('a', 'b', 'c'))
    >>> waves = {1: Channel.warner(0.75), 2: Channel.warner(1.0)}  # 50% and 25% have it
    >>> found = analyse([1, 0, 1, 0, 1, 0, 0, 0] * 50, waves, by=[1, 1, 1, 1, 2, 2, 2, 2] * 50)
    >>> found.together.estimates["inv"].round(3).tolist()
    [0.625, 0.375]
    """
    each = design if isinstance(design, Mapping) else None
    if each is not None:
        if by is None or not each:
            raise ValueError("design must be one where there is no by, got one for each group")
        design = next(iter(each.values()))
    if not isinstance(design, RandomizedResponse | Channel | UnaryEncoding):
        raise ValueError(
            f"design must be a RandomizedResponse, Channel or UnaryEncoding, got {_validate.short(design)}"
        )
    reports: NDArray[Any]
    if isinstance(design, UnaryEncoding):
        reports, names = _bits(counts_or_series, design, labels)
        there = np.ones(len(reports), dtype=bool)
    else:
        m = design.m if isinstance(design, Channel) else design.k
        names, counts = _counts(counts_or_series, m, by is None and weights is None)
        if counts is not None:
            if labels is not None:
                names = tuple(map(str, labels))
            names = names or tuple(map(str, range(m)))
            categories, order = _categories(names, truths, design)
            return analyse_groups(counts[None], design, categories, ("",), level, users, order)
        reports, names = _codes(counts_or_series, labels, m, ordered=isinstance(design, Channel))
        there = reports >= 0
    categories, order = _categories(names, truths, design)
    groups, n = None, len(reports)
    group_names: tuple[str, ...] = ("",)
    if by is not None:
        groups, found = _factorized("by", by, n)
        group_names, there = found, there & (groups >= 0)
    weight = None if weights is None else _validate.numbers("weights", weights).astype(np.float64)
    if weight is not None and (weight.shape != (n,) or weight.min(initial=0) < 0):
        raise ValueError(f"weights must have shape (n,) = ({n},) and be >= 0, got shape {weight.shape}")
    if weight is None and (strata is not None or units is not None):
        raise ValueError("strata and units need weights, got none")
    stratum, unit = (
        None if of is None else np.unique(_factorized(name, of, n)[0][there], return_inverse=True)[1]
        for name, of in (("strata", strata), ("units", units))
    )
    if groups is not None:
        seen = np.unique(groups[there])
        group_names = tuple(group_names[i] for i in seen.tolist())
        groups = np.searchsorted(seen, groups[there])
    sample = Sample(
        reports[there],
        groups,
        None if weight is None else weight[there],
        stratum,
        unit,
    )
    made = design if each is None else _of_groups(each, group_names)
    return analyse_groups(sample, made, categories, group_names, level, users, order)


def _of_groups(each: Mapping[Any, Collecting], groups: Sequence[str]) -> ByGroup:
    named = {_text(name): design for name, design in each.items()}
    for name in groups:
        if name not in named:
            raise ValueError(f"design must have one for each group, got none for {name!r}")
    return ByGroup([named[name] for name in groups])


def _categories(
    names: tuple[str, ...], truths: Sequence[Any] | None, design: Collecting
) -> tuple[tuple[str, ...], tuple[int, ...] | None]:
    """Names of the categories, and for each of them the report of the same name."""
    if truths is None:
        if len(names) == design.k:
            return names, tuple(range(design.k))
        return tuple(f"truth {i + 1}" for i in range(design.k)), None
    categories = tuple(map(str, truths))
    if len(categories) != design.k:
        raise ValueError(f"truths must be k = {design.k} names, got {len(categories)}")
    return categories, report_of_each(categories, names)


def _counts(given: Any, m: int, alone: bool) -> tuple[tuple[str, ...], NDArray[Any] | None]:
    """Names and numbers, where these are counts; None where they are one report a person."""
    index: Any = getattr(given, "index", None)
    if isinstance(given, Mapping):
        return _fitting(tuple(map(str, given)), np.array(list(given.values())), m)
    values = _validate.as_array("counts_or_series", given)
    numeric = values.dtype.kind in "iuf" or (
        values.shape == (m,)
        and all(isinstance(one, Number) and not isinstance(one, bool) for one in values.tolist())
    )
    named = numeric and alone and index is not None and not callable(index)
    if named and list(index) != [*range(len(index))]:  # which holds names, rather than positions
        return _fitting(tuple(map(str, index)), values, m)
    if not numeric or not alone:
        return (), None
    if values.shape != (m,):
        raise ValueError(
            f"counts_or_series must be {m} counts, or one report for each person as text, got numbers of shape "
            f"{values.shape}"
        )
    return (), values


def _fitting(names: tuple[str, ...], values: NDArray[Any], m: int) -> tuple[tuple[str, ...], NDArray[Any]]:
    if len(names) != m:
        raise ValueError(f"counts_or_series must have the {m} reports of the design, got {len(names)}")
    return names, values


def _factorized(name: str, given: Any, n: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Position of each value among the names, in order of first appearance; -1 where it is missing."""
    values = _validate.as_array(name, given).astype(object)
    if values.shape != (n,):
        raise ValueError(f"{name} must have shape (n,) = ({n},), got {values.shape}")
    texts = [None if value is None or value != value else _text(value) for value in values.tolist()]
    there = (text for text in texts if text is not None)
    places = {text: place for place, text in enumerate(dict.fromkeys(there))}
    codes = [-1 if text is None else places[text] for text in texts]
    return np.array(codes, dtype=np.int64), tuple(places)


def _text(value: Any) -> str:
    """The name of a value: 1.0 and 1 are one."""
    is_fraction = isinstance(value, Real) and not hasattr(value, "bit_length")
    whole = is_fraction and math.isfinite(value) and value == math.floor(value)
    return str(math.floor(value)) if whole else str(value)


def _codes(
    given: Any, labels: Sequence[Any] | None, m: int, *, ordered: bool
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Position of each report among the m of the design, -1 where it is missing, and their names."""
    declared = getattr(getattr(given, "cat", None), "categories", None)
    if labels is None and declared is not None:
        labels = list(declared)
    values = _validate.as_array("counts_or_series", given).astype(object)
    if values.ndim != 1:
        raise ValueError(f"counts_or_series must have one report for each person, got shape {values.shape}")
    codes, found = _factorized("counts_or_series", values, values.size)
    seen = {found[i] for i in np.unique(codes[codes >= 0]).tolist()}
    numbered = tuple(map(str, range(m)))
    if labels is not None:
        names = tuple(map(str, labels))
    elif seen <= set(numbered):
        names = numbered
    elif ordered:
        raise ValueError("labels must name the reports in the order of the design's columns, got none")
    else:
        names = tuple(sorted(seen))
    if len(names) != m or not seen <= set(names):
        raise ValueError(f"labels must be the {m} reports of the design, got {_validate.short(list(names))}")
    place = np.array([*(names.index(name) if name in names else -1 for name in found), -1], dtype=np.int64)
    return place[codes], names


def _bits(
    given: Any, design: UnaryEncoding, labels: Sequence[Any] | None
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The (n, k) reports and the names of their bits."""
    reports = _validate.as_array("counts_or_series", given)
    if reports.ndim != 2:
        raise ValueError(
            f"counts_or_series must be the reports, (n, k) of 0 and 1, got shape {reports.shape}"
        )
    columns = getattr(given, "columns", None)
    names = tuple(
        map(str, labels if labels is not None else columns if columns is not None else range(design.k))
    )
    if len(names) != design.k:
        raise ValueError(f"labels must be k = {design.k} names, got {len(names)}")
    return reports, names
