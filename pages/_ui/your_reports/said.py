"""What a person says about collected reports: how private they are, and what there was to choose from. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DomainKind = Literal["seen", "size", "listed"]


@dataclass(frozen=True)
class Said:
    """What the person said; the panel starts from it when it is opened again.

    Attributes:
        privacy: as typed.
        privacy_is_p: whether that is p rather than epsilon.
        domain: how the categories are known.
        size: K, for "size".
        listed: the list as pasted, for "listed".
    """

    privacy: str = ""
    privacy_is_p: bool = False
    domain: DomainKind | None = None
    size: int | None = None
    listed: str = ""
