"""The view of survey designs on the plan page: what it says, what it asks for, and that its link restores it."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from pages._ui.plan import sections
from rr_core.__main__ import main
from rr_core.figures.plan_curves import enough, others, people_against_share
from rr_core.figures.style import reading
from rr_core.plan.landscape import make_plan
from rr_core.plan.one_share import Goal, share_curve
from rr_core.plan.settings import GOALS, PlanSettings, ShareSettings
from rr_core.plan.targets import Guess
from rr_core.protocols import Channel
from rr_core.recompute import recompute
from rr_core.reports.designs import OF_ONE_SHARE, Missing, Unclear
from rr_core.words import plan as sentences
from rr_core.words.plan import SHARE_FORMULAS
from tests.app.opening import charts, checked, opened, widget
from tests.figures.test_every_figure import check
from tests.sentences import recomputes
from tests.sentences.spoken import tells

STATED = {
    "warner": {"p": "0.7"},
    "crosswise": {"p": "1/4"},
    "unrelated": {"p": "0.7", "prevalence": "25%"},
    "forced": {"no": "0", "yes": "1/6"},
    "kuk": {"p": "0.8", "p2": "0.2", "draws": "5"},
    "unary": {"epsilon": "ln 3"},
}
ASKED = {"half_width": "3%", "difference": "0.05", "power": "90%"}


def settings_of(design, goal, assumed="0.1"):
    return ShareSettings(design=design, goal=goal, assumed=assumed, **STATED[design], **ASKED)


def link_to(settings):
    query = {name: text for name, text in asdict(settings).items() if text}
    return {"part": "surveys", **query}


def view(settings):
    return opened("plan", "&".join(f"{name}={text}" for name, text in link_to(settings).items()))


def answer(page):
    """The bold sentence of the view; None where there is none."""
    bold = [one.value for one in page.markdown if one.value.startswith("##### ")]
    return bold[1] if len(bold) > 1 else None


def needed(p, goal, share):
    """People under Warner's design by the textbook's variance, before they are rounded up."""
    once = [at * (1 - at) + p * (1 - p) / (2 * p - 1) ** 2 for at in (share, share + goal.value)]
    if goal.kind == "half_width":
        return stats.norm.ppf(0.975) ** 2 * once[0] / goal.value**2
    return (stats.norm.ppf(0.975) + stats.norm.ppf(goal.power)) ** 2 * sum(once) / goal.value**2


warner, curve_of = cache(Channel.warner), cache(share_curve)


def random_plans(many):
    rng = np.random.default_rng(48)
    for kind in GOALS:
        for _ in range(max(many // 10, 5)):
            goal = Goal(kind, float(rng.choice([0.01, 0.03, 0.2])), float(rng.choice([0.8, 0.9, 0.95])))
            yield (
                float(rng.choice([0.1, 0.45, 0.7, 0.9])),
                goal,
                float(rng.choice([0.001, 0.02, 0.1, 0.6, 0.8])),
            )
    yield 0.5 + 1e-8, Goal("power"), 0.1
    yield 0.5 + 1e-8, Goal("half_width", 0.01), 0.1
    yield 0.5 + 1e-8, Goal("difference", 0.01), 0.1


def is_enough(p, goal, share):
    """Whether a number that is told is the least one that is enough; by the exact binomial, of up to 1,000 people."""

    def right(n):
        if goal.kind != "power":
            return n == max(np.ceil(needed(p, goal, share) - 1e-6), 1)
        few, (none, have) = int(n), sorted((p, 1 - p))
        m = none + share * (have - none)
        powers = [
            stats.binom.sf(stats.binom.isf(0.05, people, none), people, m)
            for people in (few - 1, few)
            if people
        ]
        return powers[-1] >= goal.power and (few > 1000 or few == 1 or powers[0] < goal.power)

    return right


@recomputes(enough)
def test_the_answer_is_the_textbooks(many):
    for p, goal, share in random_plans(many):
        text = enough(curve_of(warner(p), goal, share))
        if abs(p - 0.5) < 1e-6:
            assert "Not even a trillion" in text
            continue
        right = is_enough(p, goal, share)
        if goal.kind == "half_width":
            tells(text, right, share, 0.95, 100 * goal.value)
        elif goal.kind == "power":
            tells(text, right, share, goal.power, 0.05)
        else:
            tells(text, right, share, 100 * goal.value, goal.power)
            assert "in each group" in text


@recomputes(others, people_against_share)
def test_other_shares_are_told_as_well(many):
    for p, goal, share in random_plans(many):
        curve = curve_of(warner(p), goal, share)
        figure = people_against_share(curve)
        check(figure)
        text = others(curve)
        assert text in reading(figure)
        if abs(p - 0.5) < 1e-6:
            assert "more than a trillion" in reading(figure)
            continue
        most = 1 - goal.value if goal.kind == "difference" else 1.0
        expected = []
        for at in (share / 2, 2 * share):
            if at <= most:
                expected += [at, is_enough(p, goal, at)]
        if goal.kind != "power":
            # Of a parabola that is highest at a half, or of two that are so far apart.
            hardest = 0.5 if goal.kind == "half_width" else 0.5 - goal.value / 2
            expected += [is_enough(p, goal, hardest), hardest]
        tells(text, *expected)
        tells(reading(figure).removesuffix(text), share, is_enough(p, goal, share))
        assert ("in each group" in reading(figure)) == (goal.kind == "difference")


def test_the_button_of_the_plan_is_grey_beside_the_survey():
    """“Use this N” put k-RR's N into the sidebar, below a headline with another number."""
    for query, survey in ((link_to(settings_of("warner", "half_width")), True), ({"part": "surveys"}, False)):
        page = opened("plan", "&".join(f"{name}={text}" for name, text in query.items()))
        (button,) = [one for one in page.button if one.label == "Use this N"]
        assert button.disabled == survey
        assert ("of a survey that asks one question" in (button.help or "")) == survey


def test_headline_summary_and_script_have_the_survey(monkeypatch):
    """The page's headline stayed that of k-RR, and no file had the survey's number."""
    page = view(settings_of("warner", "half_width"))
    bold = [one.value for one in page.markdown if one.value.startswith("##### ")]
    assert bold[0] == bold[1]
    assert "5,987 people are enough" in bold[0]
    stated = SimpleNamespace(current=lambda: settings_of("warner", "half_width"))
    monkeypatch.setattr(sections, "SHARE_SETTINGS", stated)
    monkeypatch.setattr(sections.session_files, "cached", lambda name, about, make: make())
    plan = make_plan(PlanSettings("rmse"), 12, 1.0, 2000, Guess.of(12, None))
    paper = sections.summary(plan, "Zipf", 1e-6, "2031-02-03", sections.survey_section())
    assert "A survey that asks one question: Warner" in paper
    assert "<b>5,987 people are enough.</b>" in paper
    assert ": 0.7.)" in paper
    link = "&".join(f"{name}={text}" for name, text in link_to(settings_of("warner", "half_width")).items())
    numbers = recompute(f"/plan?{link}").numbers
    (name,) = [one for one in numbers if one.startswith("one question")]
    assert numbers[name] == {"share": 0.1, "people": 5987.0}


@pytest.mark.parametrize(
    ("design", "goal"), [("warner", "half_width"), ("forced", "difference"), ("unary", "power")]
)
def test_a_link_restores_the_view_and_a_shell_has_the_same_numbers(design, goal, capsys):
    settings = settings_of(design, goal)
    page = view(settings)
    assert sections.SHARE_SETTINGS.read(link_to(settings)) == (settings, ())
    for one in (*settings.of_design, *settings.of_goal):
        (box,) = [box for box in page.text_input if box.label == one.label]
        assert box.value == getattr(settings, one.key)
    curve = share_curve(*settings.understood())
    assert answer(page) == f"##### {enough(curve)}"
    said = " ".join(one.value for one in page.markdown)
    assert sentences.PROMISES[goal] in said
    assert SHARE_FORMULAS.strip() in said
    assert ("binomial law" in said) == (goal == "power")
    drawn = next(chart for chart in charts(page) if "people needed" in str(chart["data"][0].get("name", "")))
    assert len(drawn["data"]) == 2
    words = ["plan", "--design", design, "--share", settings.assumed]
    stated = {"forced": "no=0,yes=1/6"} if design == "forced" else STATED[design]
    wanted = {"half_width": ["half_width"], "power": ["power"], "difference": ["difference", "power"]}[goal]
    for name, text in (*stated.items(), *((name, ASKED[name]) for name in wanted)):
        words += [f"--{name.replace('_', '-')}", text]
    assert main(words) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.split()]
    assert rows[0] == ["share", "people"]
    assert [float(cell) for cell in rows[1]] == [0.1, curve.needed]
    assert len(rows) == 2 + len(curve.others) + (curve.hardest is not None)


def test_nothing_is_computed_before_all_is_stated_and_an_example_can_be_tried():
    page = view(ShareSettings(design="kuk", goal="difference"))
    assert answer(page) is None
    assert "Fill in the boxes" in page.info[0].value
    widget(page, "Try an example").click()
    assert answer(checked(page.run())) is not None
    assert set(STATED) == {one.key for one in OF_ONE_SHARE}
    for design in STATED:
        example = sections._with_examples(ShareSettings(design=design, goal="difference"))
        assert share_curve(*example.understood()).needed > 0


def test_what_cannot_be_is_told_with_its_place():
    page = view(ShareSettings(p="0.7", assumed="many", half_width="0.03"))
    assert "Share of people that you expect to have it" in page.error[0].value
    assert answer(page) is None
    with pytest.raises(Unclear) as told:
        ShareSettings(goal="power", p="0.7", assumed="0.1", power="99.999%").understood()
    tells(f"{told.value}", 0.5, 0.9999)
    with pytest.raises(Unclear) as told:
        ShareSettings(goal="difference", p="0.7", assumed="0.9", difference="15%", power="0.8").understood()
    tells(f"{told.value}", 0.9, 15, 1.0)
    with pytest.raises(Missing):
        ShareSettings(p="0.7", assumed="0.1").understood()


REFUSED = {
    "": "--half-width H, or --power P",
    "--power 0.8 --half-width 0.03": "--half-width H, or --power P",
    "--power 0.8 --p 0.5": "nobody can estimate",
    "--power 0.8 --p 0.50000001": "Not even a trillion",
    "--power 120%": "120% is not between 0% and 100%.",
    "--half-width 3": "3 is not between 0 and 1; 3% is written 3% or 0.03.",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_shell_refuses_in_one_sentence(words, capsys):
    assert main(["plan", "--design", "warner", "--p", "0.7", "--share", "0.1", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert REFUSED[words] in err
    assert err.count("\n") == 1
