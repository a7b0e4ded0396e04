"""The parts of a long page, as tabs below its main figure; the one on screen is in the link (``part``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from pages._ui.link import Binding, binding_of_choice
from rr_core.parameters import Choice


def part_in_link(page: str, names: Mapping[str, str]) -> Binding[str]:
    """The part of a page that is on screen, kept in its link as ``part``; without it the first one."""
    choice = Choice("part", "part", "part of the page", names)
    return binding_of_choice(f"_part_of_{page}", choice, next(iter(names)), stays=False)


def while_open(part: TabContainer, draw: Callable[..., object], *given: Any) -> None:
    """Draw what a part holds, but only while it is on screen."""
    if part.open:
        with part:
            draw(*given)


class Parts:
    """The parts of a page (its address), by their keys in a link; the first one opens with the page. ``binding`` is of
    the part on screen, for `frame.open_page`."""

    def __init__(self, page: str, names: Mapping[str, str]) -> None:
        self._page, self._names = page, names
        self.binding = part_in_link(page, names)

    def tabs(self) -> dict[str, TabContainer]:
        """Draw the tabs, and give the container of each part; the one on screen is ``open``."""
        keys = {name: key for key, name in self._names.items()}
        arguments = self.binding.widget_arguments(
            f"part_{self._page}", self._names[self.binding.current()], keys.__getitem__
        )
        del arguments["persist_state"]  # tabs have none, and are on screen whenever they are drawn
        return dict(zip(self._names, st.tabs(list(self._names.values()), **arguments), strict=True))
