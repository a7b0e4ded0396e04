"""What a person says about collected reports: how private they are, and what there was to choose from. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rr_core.io import AS_WRITTEN, Names

DomainKind = Literal["seen", "size", "listed"]
PrivacyKind = Literal["epsilon", "p", "redraw"]


@dataclass(frozen=True)
class Said:
    """What the person said; the panel starts from it when it is opened again.

    Attributes:
        privacy: as typed.
        privacy_kind: what that is: epsilon, p, or the chance of a uniform redraw.
        domain: how the categories are known.
        size: K, for "size".
        listed: the list as pasted, for "listed".
        names: what is done with single names.
        swapped: whether the two answers are exchanged (K = 2, p below one half).
    """

    privacy: str = ""
    privacy_kind: PrivacyKind = "epsilon"
    domain: DomainKind | None = None
    size: int | None = None
    listed: str = ""
    names: Names = AS_WRITTEN
    swapped: bool = False

    @property
    def privacy_is_p(self) -> bool:
        """Whether the mechanism was made from p, which is exact then."""
        return self.privacy_kind == "p"
