"""What a sweep shows first: the paper's figure, or else the map of who wins; and the other one after it."""

from __future__ import annotations

from pages._ui.experiments import curves, who_wins
from pages._ui.experiments.shown import Shown
from rr_core.experiments.planes import reason_for_none
from rr_core.scenario import Scenario


def show(shown: Shown, scenario: Scenario) -> None:
    (who_wins.section if _map_first(shown) else curves.lead)(shown, scenario)


def rest(shown: Shown, scenario: Scenario) -> None:
    (curves.lead if _map_first(shown) else who_wins.section)(shown, scenario)


def _map_first(shown: Shown) -> bool:
    return shown.preset is None and not reason_for_none(shown.result.sweep)
