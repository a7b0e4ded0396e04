"""The part of the page of protocols about reports every day: the ends of every control, links, sentences, files."""

from __future__ import annotations

import numpy as np
import pytest

from pages._ui.protocols.over_time import SETTINGS
from rr_core.figures.over_time import NAMES
from rr_core.protocols.over_time import Longitudinal
from rr_core.protocols.settings import TimeSettings
from tests.app.opening import charts, checked, opened, widget
from tests.sentences import holds


@pytest.mark.parametrize("key", ["memoised", "l_grr"])
def test_each_scheme_by_itself(key):
    page = opened("protocols", f"part=time&dist=zipf&k=5&schemes={key}")
    assert {trace["name"] for trace in charts(page)[0]["data"]} == {NAMES[key], "Without reports"}
    steps = [one.label for one in page.slider if "One report" in one.label]
    assert bool(steps) == (key not in ("fresh", "memoised"))


def test_a_choice_is_in_the_link_and_the_default_is_not():
    assert set(SETTINGS.write(TimeSettings()).values()) == {None}
    written = SETTINGS.write(TimeSettings(("l_grr",), 90, 20.0, 7))
    assert written == {"schemes": "l_grr", "days": "90", "day": "20", "change": "7"}
    assert SETTINGS.read(written) == (TimeSettings(("l_grr",), 90, 20.0, 7), ())
    settings, notes = SETTINGS.read({"days": "0", "day": "100", "schemes": "daily", "change": "-1"})
    assert settings == TimeSettings(days=1, day=95)
    assert len(notes) == 4
    assert SETTINGS.read({"k": "5"}) is None


def test_controls_move_the_figure_and_the_last_scheme_stays():
    page = opened("protocols", "part=time&dist=zipf&k=5")
    page = checked(widget(page, "Days").set_value(7).run())
    assert "After 7 days" in charts(page)[0]["alt"]
    pills = next(one for one in page.get("button_group") if one.label == "Schemes")
    page = checked(pills.set_value([]).run())
    assert charts(page)[0]["data"]
    page = checked(widget(page, "A new value every … days (0: it stays)").set_value(1).run())
    text = charts(page)[1]["alt"]
    assert "up to 6 changes of value" in text
    assert "Memoised no limit" in text


@holds(
    "For RAPPOR and L-OSUE $f$ is this with $D = 2$ (RAPPOR: with half of each ε, and twice this $\\varepsilon_t$)."
)
@pytest.mark.parametrize(("scheme", "bits"), [("rappor", 2), ("l_osue", 1)])
def test_the_printed_formula_gives_the_budget_on_screen(scheme, bits):
    for epsilon, first in ((1.0, 0.5), (3.0, 0.4), (0.2, 0.1)):
        e, b = np.exp(epsilon / bits), np.exp(first / bits)
        f = 1 + (b - 1) * (e + 1) / (e - b)
        for t in (1, 2, 9):
            of_one = np.log((e * f**t + 1) / (f**t + e))
            assert Longitudinal(scheme, 5, epsilon, first).epsilon_after([t])[0] == pytest.approx(
                bits * of_one
            )
