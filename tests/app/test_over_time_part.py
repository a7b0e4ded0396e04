"""The part of the page of protocols about reports every day: the ends of every control, links, sentences, files."""

from __future__ import annotations

import numpy as np
import pytest

from pages._ui.draw_results import DrawResults
from pages._ui.protocols import over_time
from pages._ui.protocols.over_time import SETTINGS
from rr_core import Scenario
from rr_core.figures.over_time import NAMES
from rr_core.protocols.over_time import Longitudinal
from rr_core.protocols.settings import TimeSettings
from tests.app.opening import charts, checked, opened, widget, words
from tests.sentences import holds


@pytest.mark.parametrize("key", NAMES)
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


def test_of_many_categories_the_hundred_most_common_are_shown():
    results = DrawResults(Scenario("zipf", 1000, 1.0, 1.0, 500, 3).draw())
    people, shares = over_time._people(results), np.sort(results.draw.population.probabilities)[::-1][:100]
    np.testing.assert_allclose(np.sort(people.prior)[::-1], shares / shares.sum())
    assert people.prior.sum() == pytest.approx(1)
    assert "Shown for the 100 most common of 1,000 categories" in words(
        opened("protocols", "part=time&dist=zipf&k=1000")
    )


def test_while_the_truth_is_hidden_nothing_depends_on_the_population():
    texts = [
        [chart["alt"] for chart in charts(opened("protocols", f"part=time&dist={dist}&truth=hidden"))]
        for dist in ("exam", "zipf&k=12&s=3")
    ]
    assert texts[0] == texts[1]


def test_the_sentence_about_one_person():
    """Its numbers: tests/sentences/test_protocols.py."""
    assert "are what they were before" in over_time._in_words(("a", "b"), (0, 0), 1, 1.0)
    assert "**3.77·10²⁶⁰**" in over_time._in_words(("a", "b"), (30, 0), 30, 20.0)
    same = over_time._in_words(("a", "b"), (1, 0), 1, 20.0)
    assert "rose by the factor **4.85·10⁸**" in same  # not above what memoised noise allows
    assert "at most eᵋ = **4.86·10⁸**" in same
    assert over_time._power(15 * np.log(10) - 1e-9) == "**1·10¹⁵**"
    assert "**1** time." in over_time._in_words(("a", "b"), (1, 0), 1, 1.0)
    assert "<i>" not in over_time._in_words(("<i>a</i>", "b"), (1, 2), 3, 1.0).replace("\\<", "")


def test_the_file_has_a_row_for_each_day_on_the_axis():
    results, settings = (
        DrawResults(Scenario("zipf", 4, 1.0, 1.0, 500, 3).draw()),
        TimeSettings(("fresh",), 10),
    )
    shown = over_time._exposure(results, settings)
    head, *rows = over_time._data_csv(settings, results.draw.scenario, shown).decode().splitlines()
    assert head == '"days","fresh_guessed_right","fresh_epsilon","fresh_rmse"'
    assert len(rows) == shown.days.size


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


def test_on_a_single_day_no_value_changes_and_the_control_for_it_is_grey():
    for days, grey in ((1, True), (2, False)):
        pages = [opened("protocols", f"part=time&days={days}&change={change}") for change in (0, 1)]
        alts = [[chart["alt"] for chart in charts(page)] for page in pages]
        (control,) = [one for one in pages[0].number_input if one.label.startswith("A new value every")]
        assert control.disabled == grey == (alts[0] == alts[1])
        assert (control.help == "On a single day no value changes.") == grey
