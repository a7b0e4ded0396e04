"""Category names made safe and short for charts: names may come from a stranger's file."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rr_core.plain_text import plain


def display(label: str, max_length: int = 40) -> str:
    """A label for Plotly text (ticks, hover, annotations): `plain`, with ``& < >`` escaped.

    Plotly reads a small HTML, links included, so escaping is what keeps a label a label. The length
    is counted before escaping: an entity is one character to the reader.
    """
    return html.escape(plain(label, max_length), quote=False)


def plain_names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories, cut and cleaned but not escaped: labels, or numbers counted from 1."""
    if labels is None:
        return [str(i + 1) for i in categories]
    return [plain(labels[i], longest) for i in categories]


def names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories as they may stand in a chart."""
    return [html.escape(name, quote=False) for name in plain_names(labels, categories, longest)]
