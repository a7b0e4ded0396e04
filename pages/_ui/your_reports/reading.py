"""From files, and what a person said about them, to reports in use."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from pages._ui import link, state
from pages._ui.work import work
from pages._ui.your_reports import kept, simulation
from pages._ui.your_reports.said import Said
from rr_core import typed
from rr_core.figures.labels import plain
from rr_core.figures.style import number
from rr_core.io import (
    AllSeen,
    Collected,
    Domain,
    OddNames,
    Reports,
    Size,
    Source,
    odd_names,
    read_list,
    read_reports,
    too_few,
    within,
)
from rr_core.io.csv_files import csv_bytes, csv_cell
from rr_core.limits import EPSILON_MAX
from rr_core.mechanism import RandomizedResponse
from rr_core.scenario import Draw

_MOST_NAMED = 3


class Unclear(ValueError):
    """What the person said is missing or impossible; one plain sentence."""


def reports_of(files: Sequence[Any], options: dict[str, Any]) -> tuple[Reports, str]:
    """The reports in the files, or those that are in use when there are no files, and what to call them.

    Raises:
        UnreadableFile: one plain sentence.
    """
    used = kept.used()
    if not files and used is not None:
        return used.reports, used.name
    about = (tuple(file.file_id for file in files), tuple(options.items()))
    reports = state.latest("reports", about, lambda: _read(files, options))
    names = ", ".join(plain(file.name) for file in files[:_MOST_NAMED])
    return reports, names + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")


def odd(reports: Reports, said: Said) -> OddNames:
    """The odd names, judged by as much as the person has said.

    Raises:
        UnreadableFile, WrongDomain: about the list of categories.
    """
    domain = _domain(said) or AllSeen()
    about = (_key(reports), said.domain, said.size, _list_key(said), said.privacy_kind, said.privacy)
    return state.latest("odd", about, lambda: odd_names(reports, domain, _any_mechanism(said)))


def collected(reports: Reports, said: Said) -> Collected:
    """The reports on their domain.

    Raises:
        UnreadableFile, WrongDomain, Unclear: one plain sentence each.
    """
    domain = _domain(said)
    if domain is None:
        raise Unclear(
            "Say which categories people could choose from: categories that nobody reported are part of the answer."
        )
    about = (_key(reports), said.domain, said.size, _list_key(said), said.names)
    return state.latest("collected", about, lambda: within(reports, domain, said.names))


def analyse(reports: Reports, said: Said, name: str) -> None:
    """Put the reports into use.

    Raises:
        UnreadableFile, WrongDomain, Unclear: one plain sentence each; nothing has changed then.
    """
    _privacy(said)
    counted = collected(reports, said)
    mechanism = mechanism_of(said, counted.k)
    said = dataclasses.replace(said, swapped=is_inverted(said, counted.k))
    known, domain = _any_mechanism(said), _domain(said)
    if known is not None and domain is not None:
        counted = dataclasses.replace(counted, too_few=too_few(reports, said.names, domain, known))
    if said.swapped:
        counted = _swapped(counted, said)
    simulation.start(kept.use(reports, counted, mechanism, said, name))


def simulate() -> None:
    """Put the simulated reports of the current scenario into use; a callback."""
    draw = _draw()
    source = Source("reports.csv", _csv(draw, _labels(draw)))
    reports = read_reports([source], layout="counts", category=0, count=1, has_header=True)
    said = Said(repr(draw.scenario.epsilon), domain="seen")
    name = "Simulated reports of the current scenario"
    simulation.start(kept.use(reports, within(reports, AllSeen()), draw.mechanism, said, name))


def simulated_csv() -> bytes:
    """The reports of the current scenario, as a practitioner would have collected them: without the truth."""
    draw = _draw()
    return _csv(draw, map(csv_cell, _labels(draw)))


def is_inverted(said: Said, k: int) -> bool:
    """Whether p is below one half with two categories: reports then name the other answer more often."""
    try:
        return said.privacy_kind == "p" and k == 2 and 0 < _privacy(said) < 0.5
    except Unclear:
        return False


def mechanism_of(said: Said, k: int) -> RandomizedResponse:
    """The randomized response that the person described.

    Raises:
        Unclear: missing or impossible; one plain sentence.
    """
    value = _privacy(said)
    if said.privacy_kind == "epsilon":
        return RandomizedResponse(k, value)
    if said.privacy_kind == "redraw":
        if not value < 1:
            raise Unclear(
                f"r = {number(value)} cannot be: the chance of a uniform redraw lies between 0 and 1."
            )
        return RandomizedResponse.from_redraw(k, value)
    if is_inverted(said, k):
        if not said.swapped:
            raise Unclear(
                f"p = {number(value)} is below 1/2: reports then name the other answer more often than the true one. "
                "Switch on “Swap the two answers”, or correct p."
            )
        return RandomizedResponse.from_p(2, 1 - value)
    if not 1 / k < value < 1:
        raise Unclear(
            f"p = {number(value)} cannot be: with K = {k:,} categories the chance of a true report lies between "
            f"1/K = {number(1 / k)} and 1."
        )
    return RandomizedResponse.from_p(k, value)


def _any_mechanism(said: Said) -> Callable[[int], RandomizedResponse] | None:
    """The mechanism for a number of categories; None when the privacy is not known yet. Unclear is a ValueError."""
    try:
        _privacy(said)
    except Unclear:
        return None
    swapping = dataclasses.replace(said, swapped=True)
    return lambda k: mechanism_of(swapping, k)


def _swapped(counted: Collected, said: Said) -> Collected:
    """Each of the two answers with the reports of the other."""
    one, other = (f"“{plain(label)}”" for label in counted.labels)
    note = (
        f"The answers {one} and {other} were swapped, because p = {number(_privacy(said))} is below 1/2: the reports "
        "of each are counted for the other."
    )
    counts = counted.counts[::-1].copy()
    counts.setflags(write=False)
    return dataclasses.replace(counted, counts=counts, notes=(*counted.notes, note))


def _draw() -> Draw:
    return work(link.current()).draw


def _labels(draw: Draw) -> Sequence[str]:
    return draw.population.labels or [str(i + 1) for i in range(draw.scenario.k)]


def _csv(draw: Draw, labels: Iterable[str]) -> bytes:
    return csv_bytes({"category": pa.array(labels), "count": pa.array(draw.counts)})


def _read(files: Sequence[Any], options: dict[str, Any]) -> Reports:
    bar = st.progress(0.0, "Reading the files…")

    def progress(fraction: float) -> bool:
        bar.progress(min(fraction, 1.0), f"Reading the files: {fraction:.0%}")
        return False

    try:
        return read_reports([Source(f.name, f.getbuffer()) for f in files], progress=progress, **options)
    finally:
        bar.empty()


def _key(reports: Reports) -> Hashable:
    return reports.sha256, reports.layout, reports.category_name, reports.count_name, reports.rows


def _list_key(said: Said) -> Hashable:
    file = st.session_state.get("_reports_list")
    return None if said.domain != "listed" else file.file_id if file else said.listed


def _domain(said: Said) -> Domain | None:
    """The domain, as far as the person has said it."""
    if said.domain == "seen":
        return AllSeen()
    if said.domain == "size" and said.size is not None:
        return Size(said.size)
    if said.domain == "listed":
        file = st.session_state.get("_reports_list")
        given = Source(file.name, file.getbuffer()) if file else said.listed
        return state.latest("list", _list_key(said), lambda: read_list(given))
    return None


def _privacy(said: Said) -> float:
    """The epsilon, p or redraw chance as a number."""
    if not said.privacy.strip():
        raise Unclear("Say how private the reports are: the ε (or the p, or the r) they were made with.")
    try:
        value = typed.number(said.privacy) if said.privacy_kind == "epsilon" else typed.chance(said.privacy)
    except ValueError as problem:
        raise Unclear(f"{problem}.") from None
    if value > EPSILON_MAX and said.privacy_kind == "epsilon":
        raise Unclear(f"ε = {number(value)} is too large: it can be up to {EPSILON_MAX:,g}.")
    return value
