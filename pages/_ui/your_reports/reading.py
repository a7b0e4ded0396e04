"""From files, and what a person said about them, to reports in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from pages._ui import downloads, link, state
from pages._ui.safe_text import csv_cell
from pages._ui.tables import (
    AllSeen,
    Domain,
    Reports,
    Size,
    Source,
    read_list,
    read_reports,
    within,
)
from pages._ui.work import work
from pages._ui.your_reports import kept, simulation
from pages._ui.your_reports.said import Said
from rr_core import typed
from rr_core.figures.labels import plain
from rr_core.figures.style import number
from rr_core.limits import EPSILON_MAX
from rr_core.mechanism import RandomizedResponse
from rr_core.scenario import Draw

_MOST_NAMED = 3


class Unclear(ValueError):
    """What the person said is missing or impossible; one plain sentence."""


def analyse(files: Sequence[Any], options: dict[str, Any], said: Said) -> None:
    """Read the files (or take what was read last), and put the reports into use.

    Raises:
        UnreadableFile, WrongDomain, Unclear: one plain sentence each; nothing has changed then.
    """
    _privacy(said)
    domain = _domain(said)
    if files:
        about = (tuple(file.file_id for file in files), tuple(options.items()))
        reports = state.latest("reports", about, lambda: _read(files, options))
        names = ", ".join(plain(file.name) for file in files[:_MOST_NAMED])
        name = names + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")
    else:
        before = kept.used()
        if before is None:
            raise Unclear("There are no reports yet. Choose a file first.")
        reports, name = before.reports, before.name
    collected = within(reports, domain)
    used = kept.use(reports, collected, _mechanism(said, collected.k), said, name)
    simulation.start(used)


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


def _draw() -> Draw:
    return work(link.current()).draw


def _labels(draw: Draw) -> Sequence[str]:
    return draw.population.labels or [str(i + 1) for i in range(draw.scenario.k)]


def _csv(draw: Draw, labels: Iterable[str]) -> bytes:
    return downloads.csv_bytes({"category": pa.array(labels), "count": pa.array(draw.counts)})


def _read(files: Sequence[Any], options: dict[str, Any]) -> Reports:
    bar = st.progress(0.0, "Reading the files…")

    def progress(fraction: float) -> bool:
        bar.progress(min(fraction, 1.0), f"Reading the files: {fraction:.0%}")
        return False

    try:
        return read_reports([Source(f.name, f.getbuffer()) for f in files], progress=progress, **options)
    finally:
        bar.empty()


def _domain(said: Said) -> Domain:
    if said.domain == "seen":
        return AllSeen()
    if said.domain == "size" and said.size is not None:
        return Size(said.size)
    if said.domain == "listed":
        file: Source | None = st.session_state.get("_reports_list")
        return read_list(file or said.listed)
    raise Unclear(
        "Say which categories people could choose from: categories that nobody reported are part of the answer."
    )


def _privacy(said: Said) -> float:
    """The epsilon or p as a number."""
    if not said.privacy.strip():
        raise Unclear("Say how private the reports are: the ε (or the p) they were made with.")
    try:
        value = typed.number(said.privacy)
    except ValueError as problem:
        raise Unclear(f"{problem}.") from None
    if value > EPSILON_MAX and not said.privacy_is_p:
        raise Unclear(f"ε = {number(value)} is too large: it can be up to {EPSILON_MAX:,g}.")
    return value


def _mechanism(said: Said, k: int) -> RandomizedResponse:
    value = _privacy(said)
    if not said.privacy_is_p:
        return RandomizedResponse(k, value)
    if not 1 / k < value < 1:
        raise Unclear(
            f"p = {number(value)} cannot be: with K = {k:,} categories the chance of a true report lies between "
            f"1/K = {number(1 / k)} and 1."
        )
    return RandomizedResponse.from_p(k, value)
