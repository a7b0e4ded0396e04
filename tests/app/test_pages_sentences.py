"""What single controls and captions of the pages say of the scenario, of a plan and of what is looked up."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from pages._ui import film, long_run, reference, sidebar, truth
from pages._ui.draw_results import DrawResults
from pages._ui.plan import controls as plan_controls
from pages._ui.plan import sections
from rr_core import Scenario
from rr_core.plan.landscape import make_plan
from rr_core.plan.settings import PlanSettings
from rr_core.plan.targets import Guess
from rr_core.scenario import PRESETS
from tests.app.test_experiments_sentences import errors_of_ten
from tests.sentences import holds, recomputes
from tests.sentences.drawn import drawn, said, texts
from tests.sentences.spoken import numbers, tells

KINDS = ("rmse", "max", "share", "smallest", "top")


@recomputes(film._possible)
def test_films_are_made_for_so_many_categories(many):
    rng = np.random.default_rng(60)
    for k in [2, 100_000, 100_001, 1_500_000, *(10 ** rng.uniform(0.4, 6, many)).astype(int).tolist()]:
        results = SimpleNamespace(draw=SimpleNamespace(scenario=SimpleNamespace(k=k)))
        found: list[bool] = []
        (text,) = texts(drawn(lambda results=results, to=found: to.append(film._possible(results, "These."))))
        assert found == [k <= 100_000]
        tells(text, *([] if found[0] else [100_000, k]))
        assert text.startswith("These. ") == found[0]


@recomputes(long_run.stopped)
def test_what_was_stopped_is_told_with_how_far_it_came(many):
    rng = np.random.default_rng(61)
    for total in (10 ** rng.uniform(0, 7, many)).astype(int).tolist():
        done = int(rng.integers(0, total + 1))
        (text,) = texts(drawn(long_run.stopped, done, total, "collections"))
        tells(text, done, total)
        assert f"{total:,} {'collection' if total == 1 else 'collections'};" in text


@recomputes(truth.note)
def test_the_note_names_the_button_that_reveals(monkeypatch):
    monkeypatch.setattr(truth.link, "page", lambda: "estimators")
    for hidden in (True, False):
        monkeypatch.setattr(truth.link, "truth_is_hidden", lambda hidden=hidden: hidden)
        (button,) = (element.label for element in drawn(truth.draw_button))
        text = truth.note("the errors")
        assert text == "The truth is hidden. **Reveal the truth** in the sidebar shows the errors."
        assert (f"**{button}** in the sidebar" in text) == hidden


@recomputes(reference.search_results)
def test_a_search_counts_what_it_leaves_out():
    entries = {part.name: part.entries() for part in reference.PARTS.values()}
    plain = {
        name: [
            re.sub(r"[\\$*`{}]|mathrm|quad|text", "", " ".join(vars(one).values())).lower() for one in several
        ]
        for name, several in entries.items()
    }
    for query in ("a", "the", "n o", "xyzzy", "q*q", "epsilon", "share"):
        elements = list(texts(drawn(reference.search_results, query)))
        wanted = query.replace("*", "").split()
        hits = {
            name: sum(all(w in one for w in wanted) for one in several) for name, several in plain.items()
        }
        assert f"mention “{query}”" in elements[0]
        more = [text for text in elements if text.startswith("… and ")]
        left = [count - 30 for count in hits.values() if count > 30]
        assert sorted(numbers(text)[0] for text in more) == sorted(left)
        nothing = [text for text in elements if text.startswith("Nothing here says")]
        assert bool(nothing) == (not sum(hits.values()))
        assert {text for text in elements if text in hits} == {name for name, count in hits.items() if count}


@recomputes(sidebar._more)
def test_presets_are_what_their_names_and_reasons_say():
    text = said(drawn(sidebar._more, Scenario("zipf", 7, 1.0, 1.0, 100, 1), {}), "Scenarios worth starting")
    parts = text.partition("from: ")[2].removesuffix(".").split("; ")
    merged = [part for part in parts if ": " in part]
    assert len(merged) == len(PRESETS)
    symbols = {"K": "k", "ε": "epsilon", "s": "s", "N": "n"}
    for preset in PRESETS:
        start = text.index(f"{preset.name}: {preset.why}")
        told = text[start : start + len(preset.name) + len(preset.why) + 2]
        for symbol, shown in re.findall(r"\b([KεsN]) = (ln 3|[\d,.]*\d)", told):
            true = getattr(preset.scenario, symbols[symbol])
            number = math.log(3) if shown == "ln 3" else numbers(shown)[0]
            assert number == pytest.approx(true, rel=1e-12), told
    by_name = {preset.name: preset.scenario for preset in PRESETS}
    near = by_name["Paper: near uniform (s = 0.01)"]
    for name in ("Paper: moderate (s = 1.3)", "Paper: concentrated (s = 2.5)"):  # the same but for s
        assert replace(by_name[name], s=0.01) == near
    ten = by_name["Ten users: MLE* is worst"]
    assert ten.n == 10
    errors, _ = errors_of_ten()
    assert "by about 1%" in text
    assert 0.005 < errors[2] / max(errors[:2]) - 1 < 0.015
    # Nothing chosen, unless the scenario is one of them.
    first = drawn(sidebar._more, PRESETS[0].scenario, {}, state=(held := {}))
    assert first
    assert PRESETS[0].name in held.values()


def plans(many):
    """Plans for random questions, at the ends of what the app takes too."""
    rng = np.random.default_rng(63)
    for i in range(many):
        kind = ("rmse", "share", "smallest")[i // 3 % 3]
        epsilon, n = (
            round(float(np.exp(rng.uniform(np.log(0.01), np.log(20)))), 4),
            int(10 ** rng.uniform(0, 9)),
        )
        if i % 6 == 0:
            epsilon, n = (0.01, 20.0)[i % 4 // 2], (1, 10**9)[i % 12 // 6]
        value = float(f"{10 ** rng.uniform(-3, 1.5):.3g}")
        scenario = Scenario("zipf", int(np.exp(rng.uniform(np.log(2), np.log(200)))), 1.5, epsilon, n, i)
        asked = PlanSettings(kind, value, 95.0, ("n", "eps", "value")[i % 3], "worst", "fixed", 20.0)
        yield scenario, make_plan(asked, scenario.k, epsilon, n, Guess.of(scenario.k, None))


@recomputes(sections.use)
def test_a_plan_beyond_the_app_is_not_offered(many):
    beyond = set()
    for i, (_, plan) in enumerate(plans(many // 4)):
        of_survey = i % 5 == 4
        buttons = drawn(partial(sections.use, of_survey=of_survey), plan)
        assert len(buttons) == (plan.solved and plan.settings.find != "value")
        for button in buttons:
            too_many = plan.settings.find == "n" and plan.n > 10**9
            tells(button.help, *([10**9] if too_many and not of_survey else []))
            assert button.disabled == (too_many or of_survey)
            beyond.add(too_many)
    assert beyond == {True, False}
    assert Scenario("zipf", 2, 1.0, 1.0, 10**9, 1).n == 10**9
    with pytest.raises(ValueError, match="n must be"):
        Scenario("zipf", 2, 1.0, 1.0, 10**9 + 1, 1)


@holds(", the most users that the app has")
@recomputes(sections.simulated_errors)
def test_as_many_collections_are_simulated_as_is_said(many, monkeypatch):
    monkeypatch.setattr(long_run, "start_button", lambda *_: True)
    monkeypatch.setattr(long_run, "result", lambda *_: None)
    runs: list = []
    monkeypatch.setattr(long_run, "run_with_progress", lambda *given, **_: runs.append(given))
    for along in ("epsilon", "n"):
        monkeypatch.setattr(
            sections.st,
            "segmented_control",
            lambda label, *_, along=along, **__: along if "against" in label else "rmse",
        )
        for scenario, plan in plans(many // 8):
            text = said(
                drawn(sections.simulated_errors, DrawResults(scenario.draw()), plan), "no simple formula"
            )
            _, about, total, unit, run = runs.pop()
            points = np.array(about[3])
            times = run.args[5]
            n = min(plan.n, 10**9)
            tells(text.replace("N, ", ""), times, points.size, plan.epsilon, float(n))
            assert (total, unit) == (times * points.size, "simulated collections")
            assert ("around the plan (" in text) == (plan.n <= 10**9 and not plan.problem)
            assert ("the most users that the app has" in text) == (plan.n > 10**9)
            assert (plan.epsilon if along == "epsilon" else n) in points
            assert (np.diff(points) > 0).all()


@recomputes(plan_controls.controls, plan_controls._value_input)
def test_the_controls_of_a_plan_say_what_is_promised_and_what_may_be_typed():
    promised = {
        "max": "no category is further off",
        "share": "the estimate is no further off",
        "smallest": "a category this large is found",
        "top": "the ranking is right",
    }
    for kind in KINDS:
        for find in ("n", "eps", "value"):
            for k in (2, 3, 50, 51, 52, 1_500_000):
                asked = replace(PlanSettings().of_kind(kind), find=find).fitted(k)
                elements = drawn(plan_controls.controls, k, asked)
                text = said(elements, "Of what is promised")
                asks = kind != "rmse" and not (find == "value" and kind == "top")
                assert text == (f"Of what is promised: {promised[kind]}." if asks else "")
                fields = {element.label: element for element in elements}
                assert ("Probability, %" in fields) == asks
                if kind == "top":
                    field = fields["How many categories"]
                    tells(field.help, 50)
                    assert "and fewer than K" in field.help
                    assert (field.min, field.max) == (1, min(50, k - 1))
