"""What a sweep shows first: the map of who wins, where two axes vary and it is none of the paper's figures, or else the
curves; and the other one after it."""

from __future__ import annotations

from pages._ui import link
from pages._ui.experiments import curves, who_wins
from pages._ui.experiments.shown import Shown
from rr_core.experiments.winner_map import has_map
from rr_core.figures.experiments_map import why_no_map
from rr_core.scenario import Scenario


def show(shown: Shown, scenario: Scenario) -> None:
    (who_wins.section if _map_first(shown) else curves.lead)(shown, scenario)


def rest(shown: Shown, scenario: Scenario) -> None:
    """What comes after the first figure, with its part of the address."""
    (curves.lead if _map_first(shown) else who_wins.section)(shown, scenario)
    link.write()


def _map_first(shown: Shown) -> bool:
    sweep = shown.result.sweep
    return shown.preset is None and has_map(sweep.cells) and not why_no_map(sweep)
