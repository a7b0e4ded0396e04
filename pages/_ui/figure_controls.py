"""The row of widgets above the main figure, and those of it that choose which categories the figure shows.

A browser needs longer for such a row than for the figure. So while a hand moves a dial, the row stays on screen as it is
and the values of its widgets are read; it is drawn again when the hand rests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from pages._ui import dials, link, truth
from pages._ui.draw_results import DrawResults
from rr_core.figures.arrivals import drawn_categories
from rr_core.figures.view import (
    LONGEST_SEARCH,
    MOST_BARS,
    Bars,
    Order,
    View,
    bars,
    curve,
    find,
    natural_order,
)

_ALL, _TOP, _CHOSEN = "All, by rank", "Most frequent", "By name"


@dataclass(slots=True)
class _Row:
    """The row of this run, whether it waits for the hand to rest, and what waits."""

    container: Any
    waits: bool
    waiting: list[Callable[[], Any]] = field(default_factory=list)


def row() -> Any:
    """A new row; call `widget`, `note` and `place` inside it."""
    container = st.container(key="figure_controls", horizontal=True, vertical_alignment="bottom", gap="small")
    drawn = st.session_state.get("_row_drawn") == link.page()
    st.session_state["_row"] = _Row(container, waits=drawn and dials.moving())
    return container


def widget(kind: Callable[..., Any], *given: Any, key: str, **settings: Any) -> Any:
    """A widget of the row: ``kind(*given, key=key, **settings)``, and its value."""
    draw = partial(kind, *given, key=key, **settings)
    held: _Row | None = st.session_state.get("_row")
    if held is None or not held.waits or key not in st.session_state:
        return draw()
    held.waiting.append(draw)
    return st.session_state[key]


def note(text: str) -> None:
    """A line of small words in the row."""
    place(partial(st.caption, text))


def place(draw: Callable[[], Any]) -> None:
    """Something else in the row, drawn by a call whose result nobody needs."""
    held: _Row | None = st.session_state.get("_row")
    if held is not None and held.waits:
        held.waiting.append(draw)
    else:
        draw()


def draw_waiting() -> None:
    """Draw what waited in the row of this run, if there is one."""
    held: _Row | None = st.session_state.pop("_row", None)
    st.session_state["_row_drawn"] = link.page()
    if held is not None and held.waiting:
        with held.container:
            for draw in held.waiting:
                draw()


def pick_view(results: DrawResults, *, by_reports: bool = False) -> View:
    """The view of this scenario's categories, with up to two widgets to choose it in the row above the figure. They are
    ranked by true count, or by reports, as always while the truth is hidden."""
    k, labels = results.draw.scenario.k, results.draw.population.labels
    if k <= MOST_BARS:
        return bars(natural_order(k), labels, "Category")
    choice = widget(
        st.segmented_control, "Show", [_ALL, _TOP, _CHOSEN], required=True, default=_ALL, key="view_shown"
    )
    if choice == _TOP:
        most = widget(st.slider, "How many categories", 5, MOST_BARS, 30, key="view_most", width=260)
        order, which = most_frequent(results, by_reports=by_reports)
        return bars(order, labels, f"The {most} {which}", most)
    if choice == _CHOSEN:
        wanted = widget(
            st.text_input,
            "Names or numbers, separated by commas",
            key="view_names",
            placeholder="1, 2, 17",
            width=300,
            max_chars=LONGEST_SEARCH,
        )
        chosen = find(wanted, labels, k)
        if chosen.size:
            return bars(chosen, labels, "Chosen categories")
        if wanted:
            note("No category has such a name: all are shown.")
    if by_reports or truth.hidden():
        return curve(results.by_reports, "Rank by reports received (log scale)")
    return curve(results.by_truth, "Rank by true count (log scale)")


def zoom(name: str, label: str = "Zoom in near zero", *, on: bool = False) -> bool:
    """A toggle above the figure; its state is kept per page and per kind of figure."""
    return bool(widget(st.toggle, label, on, key=f"zoom_{name}_{'on' if on else 'off'}"))


def most_frequent_bars(results: DrawResults) -> Bars:
    """All categories where they are few enough for a film, else the most frequent ones."""
    order, which = most_frequent(results)
    return drawn_categories(order, results.draw.population.labels, which)


def most_frequent(results: DrawResults, *, by_reports: bool = False) -> tuple[Order, str]:
    """Categories from the most frequent one on, by true count, or by reports as in `pick_view`; and the words for the
    first of them."""
    if by_reports or truth.hidden():
        return results.by_reports, "most reported categories"
    return results.by_truth, "most frequent categories (true counts)"
