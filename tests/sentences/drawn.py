"""What a function of the page draws with Streamlit, without a page: cheap enough for many settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_TEXTS = ("body", "label", "help", "placeholder", "text")


def drawn(draw: Callable[..., Any], *arguments: Any, state: dict[str, Any] | None = None) -> list[Any]:
    """The elements that a function draws, one after the other, as Streamlit sends them to the browser; its widgets show
    their first value, and nobody presses a button.

    Args:
        draw: called with ``arguments``.
        state: of the session; empty when None.
    """
    found: list[Any] = []

    def note(to: DeltaGenerator, kind: str, element: Any, *_: Any, **__: Any) -> DeltaGenerator:
        found.append(element)
        return to

    held = {} if state is None else state
    logging.disable(logging.WARNING)  # that there is no page
    try:
        with (
            mock.patch.object(DeltaGenerator, "_enqueue", note),
            mock.patch.object(st, "session_state", held),
        ):
            draw(*arguments)
    finally:
        logging.disable(logging.NOTSET)
    return found


def written(draw: Callable[..., Any], *arguments: Any, state: dict[str, Any] | None = None) -> str:
    """The paragraphs that a function writes, as Markdown; arguments as in `drawn`."""
    elements = drawn(draw, *arguments, state=state)
    return "\n\n".join(element.body for element in elements if hasattr(element, "body"))


def texts(elements: list[Any]) -> Iterator[str]:
    """All that elements say, with their labels and what they say under the mouse, without the signs of Markdown."""
    for element in elements:
        for name in _TEXTS:
            text = getattr(element, name, "")
            if isinstance(text, str) and text:
                yield text.replace("\\", "").replace("**", "")


def said(elements: list[Any], words: str) -> str:
    """The one text in which these words stand; "" where there is none."""
    (*found,) = (text for text in texts(elements) if words in text)
    assert len(found) < 2, found
    return found[0] if found else ""
