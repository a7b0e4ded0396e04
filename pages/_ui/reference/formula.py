"""One formula of the reference page: statement, source, place in the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """A formula that a reader can look up.

    Attributes:
        name: what it is.
        latex: the formula, for display, in lines short enough for a phone.
        source: where it comes from.
        code: dotted names of what computes it.
        note: what its letters mean, or what to make of it; markdown.
    """

    name: str
    latex: str
    source: str
    code: tuple[str, ...]
    note: str = ""

    @property
    def body(self) -> str:
        """Everything but the name, as markdown."""
        places = ", ".join(f"`{name}`" for name in self.code)
        lines = "\\begin{gathered}\n" + self.latex + "\n\\end{gathered}"
        return f"$$\n{lines}\n$$\n\n{self.note}\n\n:small[From: {self.source}. In code: {places}.]"
