"""How concentrated a population is, in the three words of the paper, which gives them no numbers: these are ours."""

from __future__ import annotations

from typing import Literal

from rr_core.experiments.cell import CellResult

Shape = Literal["concentrated", "moderate", "near uniform"]

# Sum of squared shares from which a population is concentrated, and the number of equally common categories with the
# same sum, as a share of k, from which it is near uniform. Of the paper's, Zipf s = 2.5 has a sum of 0.58, s = 1.3 one
# of 0.09 to 0.15, and s = 0.01 is as even as 0.9999 k equally common categories.
CONCENTRATED, NEAR_UNIFORM = 0.5, 0.9

EXPLAINED = (
    f"the squared shares sum to {CONCENTRATED:g} or more (Zipf s = 2.5: 0.58; s = 1.3: 0.09 to 0.15)",
    f"as even as {NEAR_UNIFORM:g} K or more equally common categories, by the same sum",
)


def shape_of(cell: CellResult) -> Shape:
    """By the sum of the squared shares alone, whatever the population is called."""
    if cell.concentration >= CONCENTRATED:
        return "concentrated"
    return "near uniform" if 1 / (cell.cell.k * cell.concentration) >= NEAR_UNIFORM else "moderate"
