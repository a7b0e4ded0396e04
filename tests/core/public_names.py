"""Every public function, class and method of rr_core that takes numbers, found by import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import rr_core

# Arguments that anybody may hand over, and those checked before: with one of them a function is not for others.
GIVEN = {"ArrayLike", "int", "float", "Users"}
CHECKED = {"Array", "Counts", "NDArray", "Rows", "Bits", "Profile"}
# What these three rooms take are bytes and results, which have their own properties (tests/io, words and figures).
_ROOMS_APART = {"io", "words", "figures"}


def words(parameter: inspect.Parameter) -> set[str]:
    """The names in the annotation of a parameter, as it is written."""
    return set(re.findall(r"\w+", str(parameter.annotation)))


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What is to be given to a function: not the instance that it belongs to."""
    return [one for one in inspect.signature(function).parameters.values() if one.name != "self"]


def public_functions() -> dict[str, Callable[..., Any]]:
    """By name, with its module and class: what takes a number or an array that anybody may hand over."""
    return {
        name: function
        for module in _modules()
        for name, function in _callables(module)
        if _takes_what_is_given(function)
    }


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(rr_core.__path__, "rr_core."):
        rooms = found.name.split(".")[1:]
        if not any(room.startswith("_") for room in rooms) and rooms[0] not in _ROOMS_APART:
            yield importlib.import_module(found.name)


def _callables(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    at_home = module.__name__.removeprefix("rr_core.")
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(inspect.unwrap(value) if callable(value) else None):
            yield f"{at_home}.{name}", value
        if not inspect.isclass(value):
            continue
        if "__post_init__" in vars(value):  # a class without it holds what it is given
            yield f"{at_home}.{name}", value
        for method, held in vars(value).items():
            if not method.startswith("_") and (
                inspect.isfunction(held) or isinstance(held, classmethod | staticmethod)
            ):
                yield f"{at_home}.{name}.{method}", getattr(value, method)


def _takes_what_is_given(function: Callable[..., Any]) -> bool:
    each = [words(one) for one in parameters(function)]
    if any("ArrayLike" in names for names in each):
        return True
    return any(names & GIVEN for names in each) and not any(names & CHECKED for names in each)
