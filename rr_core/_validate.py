"""Argument checks shared by the public functions: each error names argument, range and value received."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core.limits import EPSILON_MAX, EPSILON_MIN

Array = NDArray[np.float64]
A = TypeVar("A", bound=NDArray[Any])

# Of these NumPy makes floats, or NaN, with no more than a warning.
_NO_NUMBERS = (type(None), str, bytes, complex, np.complexfloating, np.timedelta64, np.datetime64)


def short(value: Any) -> str:
    """What was received, short enough for one line of an error message."""
    try:
        plain = value.item() if isinstance(value, np.number) else value  # not np.int64(3)
        text = " ".join(repr(plain).split())  # an array's takes several lines
    except ValueError:  # Python writes no integer of more than some thousand digits
        text = "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """``value`` as an int, or ValueError. Booleans, non-integral floats, and what no double can hold are refused."""
    allowed = f"an integer >= {low}" if high is None else f"an integer from {low} to {short(high)}"
    try:
        number = int(_single(value))
        whole = number == value and np.isfinite(float(number))
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}, got {short(value)}")
    return number


def real(name: str, value: Any, allowed: str) -> float:
    """``value`` as a finite float, or ValueError saying what is ``allowed``."""
    try:
        number = float(_single(value))
        fine = np.isfinite(number)
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise ValueError(f"{name} must be {allowed}, got {short(value)}")
    return number


def epsilon(value: Any, name: str = "epsilon", high: float = EPSILON_MAX) -> float:
    """A privacy budget that a caller states, as a float from 1e-6 to ``high``, or ValueError."""
    return within(name, value, EPSILON_MIN, high)


def within(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float from ``low`` to ``high``, or ValueError."""
    allowed = f"a number from {low:g} to {high:g}"
    number = real(name, value, allowed)
    if not low <= number <= high:
        raise ValueError(f"{name} must be {allowed}, got {short(value)}")
    return number


def positive(name: str, value: Any) -> float:
    """``value`` as a float above 0, or ValueError."""
    number = real(name, value, "a number > 0")
    if number <= 0:
        raise ValueError(f"{name} must be a number > 0, got {short(value)}")
    return number


def _single(value: Any) -> Any:
    """The value, or TypeError for what Python or NumPy would make a number although it is not a single real one."""
    if isinstance(value, (*_NO_NUMBERS, bool, np.bool_, bytearray)) or np.iscomplexobj(value):
        raise TypeError
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind not in "iuf"):
        raise TypeError
    return value


def one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    """ValueError unless ``value`` is one of these texts."""
    known = tuple(allowed)
    if not isinstance(value, str) or value not in known:
        few = " or ".join(map(repr, known)) if len(known) == 2 else f"one of {', '.join(known)}"
        raise ValueError(f"{name} must be {few}, got {short(value)}")


def numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """A numeric array of any shape, all finite: int64 or float64, whatever the numbers were stored as.

    Sums of narrower integers would overflow, and differences of unsigned ones turn into large numbers.
    """
    given = as_array(name, values)
    kind = given.dtype.kind
    if kind in "bi" or (kind == "u" and given.max(initial=0) < 2**63):
        return given.astype(np.int64, copy=False)
    if kind not in "ufO":
        raise ValueError(f"{name} must be a numeric array, got dtype {given.dtype}")
    with np.errstate(over="ignore"):  # of numbers wider than float64
        array = _from_objects(name, given) if kind == "O" else given.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {_first(array, ~np.isfinite(array))}")
    return array


def vector(name: str, values: ArrayLike, k: int) -> NDArray[Any]:
    """A `numbers` whose last axis has length ``k``."""
    array = numbers(name, values)
    if array.ndim == 0 or array.shape[-1] != k:
        raise ValueError(f"{name} must have a last axis of length k = {k}, got shape {array.shape}")
    return array


def histogram(values: ArrayLike, k: int, name: str = "histogram") -> NDArray[Any]:
    """A non-negative ``vector`` with a positive total in each of its rows; float64 where k times an entry is above 2^53:
    no sum of the integers overflows, and each is the same in float64."""
    array = vector(name, values, k)
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must be non-negative (every entry >= 0), got {_first(array, array < 0)}")
    largest = array.max(axis=-1)
    if not (largest > 0).all():
        raise ValueError(f"{name} must have a positive total, got all zeros")
    if array.dtype == np.int64 and largest.max(initial=0) > 2**53 // k:
        return array.astype(np.float64)
    return array


def one_row(name: str, array: A, axis: str = "k") -> A:
    """The array, checked to have one axis only, of length ``axis``."""
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape ({axis},) = ({array.shape[-1]},), got {array.shape}")
    return array


def fraction(name: str, value: Any) -> float:
    """A number above 0 and below 1."""
    allowed = f"a number with 0 < {name} < 1"
    number = real(name, value, allowed)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be {allowed}, got {number!r}")
    return number


def weights(values: ArrayLike, least: int = 1) -> NDArray[Any]:
    """One `histogram` of ``least`` entries or more, for the argument ``weights``."""
    found = as_array("weights", values)
    if found.ndim != 1 or found.size < least:
        raise ValueError(f"weights must have shape (k,) with k >= {least}, got {found.shape}")
    return histogram(found, found.size, "weights")


def categories(name: str, values: ArrayLike, k: int) -> NDArray[np.int64]:
    """An array of integers from 0 to k - 1, of any shape, as int64."""
    given = as_array(name, values)
    try:
        found = numbers(name, given)
        if given.dtype.kind == "b" or (found.dtype != np.int64 and (found != np.floor(found)).any()):
            raise ValueError
    except ValueError as error:
        raise ValueError(f"{name} must be integers from 0 to k - 1 = {k - 1}, got {short(values)}") from error
    if found.size and not (found.min() >= 0 and found.max() < k):
        raise ValueError(
            f"{name} must be integers from 0 to k - 1 = {k - 1}, got {found.min()} to {found.max()}"
        )
    return found.astype(np.int64, copy=False)


def channel_matrix(name: str, values: ArrayLike) -> Array:
    """A matrix of probabilities (one row per truth, one column per report) whose rows sum to one to 1e-9, as float64."""
    matrix = numbers(name, values).astype(np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(
            f"{name} must be a matrix, one row per truth and one column per report, got shape {matrix.shape}"
        )
    if matrix.min() < 0:
        raise ValueError(f"{name} must hold probabilities >= 0, got {_first(matrix, matrix < 0)}")
    with np.errstate(over="ignore"):
        sums, of_columns = matrix.sum(axis=1), matrix.sum(axis=0)
    if not np.allclose(sums, 1, rtol=0, atol=1e-9):
        transposed = np.allclose(of_columns, 1, rtol=0, atol=1e-9)
        raise ValueError(
            f"{name} must have rows that sum to 1, got sums from {sums.min():.9g} to {sums.max():.9g}"
            + ("; its columns do, so give the transpose" if transposed else "")
        )
    return matrix


def shares(weights: NDArray[Any]) -> Array:
    """The rows of a checked `histogram` divided by their sums, also where a sum is beyond the largest float or int64."""
    with np.errstate(over="ignore"):
        total = weights.sum(axis=-1, keepdims=True, dtype=np.float64)
    if not np.isfinite(total).all():
        weights = weights / weights.max(axis=-1, keepdims=True)
        total = weights.sum(axis=-1, keepdims=True)
    result: Array = weights / total
    return result


def as_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """An array of any type and shape, or ValueError for a nesting that has no shape, or masked entries."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must be a numeric array without masked entries")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a numeric array, got a ragged sequence") from error


def check_broadcast(**arrays: NDArray[Any]) -> None:
    """ValueError naming the arguments, unless their shapes fit together."""
    try:
        np.broadcast_shapes(*(one.shape for one in arrays.values()))
    except ValueError as error:
        shapes = " and ".join(str(one.shape) for one in arrays.values())
        raise ValueError(
            f"{' and '.join(arrays)} must have shapes that fit together, got {shapes}"
        ) from error


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    """Fractions, decimals and big integers become float64; text and nesting are refused."""
    try:
        if any(isinstance(value, _NO_NUMBERS) for value in array.flat):
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a numeric array, got dtype object") from error


def _first(array: NDArray[Any], where: NDArray[np.bool_]) -> str:
    position = np.unravel_index(int(np.argmax(where)), array.shape)
    index = ", ".join(str(int(i)) for i in position)
    return f"{array[position]} at index [{index}]"
