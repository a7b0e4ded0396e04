"""The plan page: its answers are the core's, its settings come from the link, and its files say the same."""

from __future__ import annotations

import csv
import io
import itertools
import re
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

import pytest

from pages._ui.plan import sections
from pages._ui.plan.controls import map_ranges
from pages._ui.plan.sections import map_csv, summary
from rr_core import Scenario
from rr_core.metrics import WHOSE
from rr_core.plan import shuffling
from rr_core.plan.landscape import landscape, make_plan, rounded_up
from rr_core.plan.settings import PlanSettings
from rr_core.plan.solve import achieved, required_epsilon, required_n
from rr_core.plan.targets import KINDS, Guess, Target
from rr_core.populations import zipf
from rr_core.rounding import round_up
from rr_core.script import script
from rr_core.words import plan as sentences
from rr_core.words.plan import at_least, promise_text
from tests.app.experiments import values
from tests.app.opening import charts, checked, opened, widget
from tests.app.scripts import printed

LINK = "dist=zipf&k=40&s=1.2&eps=2&n=30000&seed=7"
SCENARIO = Scenario("zipf", 40, 1.2, 2.0, 30_000, 7)
VALUES = {"rmse": 0.7, "max": 2.5, "share": 2.0, "smallest": 1.5, "top": 3}


@cache
def theta():
    return SCENARIO.population().probabilities


def guess_in(page):
    return next(group for group in page.button_group if group.label == "Guess of the population")


def answer(page):
    """The bold sentence under the question."""
    (text,) = [one.value for one in page.markdown if one.value.startswith("##### ")]
    return text


def number_in(text, pattern):
    return float(re.search(pattern, text)[1].replace(",", ""))


def users_in(page):
    return number_in(answer(page), r"\*\*([\d,]+) users are enough")


def place_of(page, name):
    """Epsilon and N of a mark on the map."""
    (mark,) = [trace for trace in charts(page)[0]["data"] if trace["name"] == name]
    return values(mark["x"])[0], values(mark["y"])[0]


def target_of(kind):
    value = VALUES[kind] if kind == "top" else VALUES[kind] / 100
    return Target(kind, value, 0.9)


@pytest.mark.slow
def test_what_is_asked_is_answered_for_the_sidebar_and_can_be_put_there():
    """What each kind promises: tests/app/test_plan_answers.py."""
    asked = f"{LINK}&target=smallest&value=1.5&conf=90&whose=sampled"
    page = opened("plan", asked)
    goal, scenario = Target("rmse", VALUES["rmse"] / 100), Scenario("zipf", 12, 0.5, 3.0)
    checked(widget(page, "My goal").set_value("rmse").run())
    (box,) = [one for one in page.number_input if one.key and one.key.startswith("plan_value")]
    checked(box.set_value(VALUES["rmse"]).run())
    for label, value in (("Privacy ε", 3.0), ("Categories K", 12), ("Zipf exponent s", 0.5)):
        checked(widget(page, label).set_value(value).run())
    shares = scenario.population().probabilities
    users = required_n(goal, 12, 3.0, shares, users="sampled")
    assert users_in(page) == users
    assert place_of(page, "the plan") == (3.0, users)
    checked(widget(page, "Use this N").click().run())
    assert widget(page, "Users N").value == users_in(page) == users
    checked(page.selectbox(key="plan_find").set_value("eps").run())
    checked(widget(page, "Users N").set_value(500_000).run())
    shown = rounded_up(required_epsilon(goal, 12, 500_000, shares, users="sampled"))
    assert number_in(answer(page), r"\*\*ε = ([\d.]+) is enough") == shown
    checked(widget(page, "Use this ε").click().run())
    assert widget(page, "Privacy ε").value == shown
    page = opened("plan", f"{asked}&find=value")
    reached = achieved(target_of("smallest"), 40, 2.0, 30_000, theta(), users="sampled")
    said = number_in(answer(page), r"\*\*(?:at least )?([\d.]+)%") / 100
    assert reached * (1 - 1e-12) <= said <= 1.01 * reached


def test_the_guess_can_be_chosen_where_the_plan_depends_on_it_and_only_there():
    shares = zipf(6, 1.2)
    for kind, users in itertools.product(KINDS, WHOSE):
        asked = replace(PlanSettings(users=users).of_kind(kind), find="value").fitted(6)
        worst = Guess.of(6, shares if KINDS[kind].needs_population else None)
        reached = [
            make_plan(replace(asked, guess=name), 6, 2.0, 300, guess).value
            for name, guess in (("sidebar", Guess.of(6, shares)), ("worst", worst))
        ]
        assert asked.needs_guess == (reached[0] != pytest.approx(reached[1], rel=1e-9)), (kind, users)
    for kind, users in (("rmse", "fixed"), ("rmse", "sampled")):
        page = opened("plan", f"{LINK}&target={kind}&whose={users}")
        assert guess_in(page).disabled == (users == "fixed")


def test_wrong_values_in_a_link_get_a_sentence_each_and_go_with_the_next_choice():
    page = opened("plan", f"{LINK}&target=foo&value=abc&conf=101&find=all&guess=b&whose=us&share=200")
    notes = [one.value.replace("\\", "") for one in page.warning]
    assert len(notes) == 7
    for words in (
        "“foo” is not known",
        "“abc”, which is not a number",
        "101, outside the range",
        "200, outside the range",
    ):
        assert any(words in note for note in notes)
    assert users_in(page) == required_n(Target("rmse", 0.005), 40, 2.0, theta())
    checked(page.selectbox(key="plan_find").set_value("eps").run())
    assert not page.warning


@pytest.mark.slow
def test_an_upload_is_the_population():
    page = opened("plan", f"{LINK}&target=top&value=2&find=value&eps=1")
    checked(widget(page, "Distribution").set_value("upload").run())
    data = b"fruit,count\n<b>plum</b>,300\napple,500\nfig,200\n"
    checked(page.file_uploader[0].set_value(("fruit.csv", data, "text/csv")).run())
    checked(widget(page, "Use this distribution").click().run())
    value = achieved(Target("top", 2), 3, 1.0, 1000, [500, 300, 200])
    assert f"at least {at_least(value)}" in answer(page)
    # What was worked out about it stays with this session.
    held = page.session_state["_held"]
    assert all(held.get(f"latest_plan_{part}") is not None for part in ("guess", "answer", "map", "border"))


@pytest.mark.slow
def test_simulation_runs_and_is_about_these_settings():
    page = opened("plan", "dist=zipf&k=12&s=1&eps=1&n=3000&find=value&seed=71&part=estimators")
    checked(widget(page, "Simulate").click().run())
    (curves,) = [one for one in charts(page) if "simulated collection" in one["alt"]]
    assert [trace["name"] for trace in curves["data"]][:4] == ["Inv, exact", "InvN", "InvP", "MLE*"]
    checked(page.button_group(key="plan_metric").set_value("tv").run())
    assert any("lowest total variation" in one["alt"] for one in charts(page))
    checked(widget(page, "New draw").click().run())
    assert not [one for one in charts(page) if "simulated collections" in one["alt"]]


def planned(**changes):
    settings = PlanSettings(**{"kind": "rmse", "value": 0.7, **changes})
    return make_plan(settings, 40, 2.0, 30_000, Guess.of(40, None if settings.worst_case else theta()))


def test_sections_are_about_the_plan():
    found = planned()
    page = opened("plan", f"{LINK}&target=rmse&value=0.7")
    text, lead = "\n".join(one.value for one in page.markdown), charts(page)[0]
    assert place_of(page, "you") == (2, 30_000)
    assert place_of(page, "the plan") == (2, found.n)
    assert f"{found.n:,}" in lead["alt"]
    assert all(len(chart["alt"]) > 40 for chart in charts(page))
    assert sentences.price_table(found) in text
    assert all(sentences.protocol_cells(row)[0] in text for row in sentences.compared_protocols(found))
    now = shuffling.shuffled(2.0, found.n, 1e-6)
    assert f"central ε at most {round_up(now.epsilon, 3):g}" in text


def test_settings_survive_a_link_and_numbers_stay_in_their_ranges():
    for settings in (
        PlanSettings("max", 0.125, 99.9, "eps", "worst", "sampled"),
        PlanSettings("top", 7, 80.0, "value"),
        PlanSettings("share", 1.5, 90.0, "n", share=12.5),
        PlanSettings("smallest", 1e-7, 50.0, "n", "sidebar", "sampled"),
    ):
        assert PlanSettings.from_query(settings.to_query(), 40) == (settings, ())
    for exact, shown in ((1.00001, 1.001), (1.0, 1.0), (0.0123456, 0.01235), (9.9999, 10.0), (19.9999, 20.0)):
        assert rounded_up(exact) == shown
    assert map_ranges((1.0, 2.0), (500, 10_000)) == ((0.1, 10.0), (100.0, 1e9))
    assert map_ranges((0.05, 2.0), (50, 10_000)) == ((0.01, 10.0), (1.0, 1e9))
    assert map_ranges((2.0, 12.0), (500, 2 * 10**9)) == ((0.1, 20.0), (100.0, 1e12))


@pytest.mark.parametrize("kind", ["max", "top"])
def test_map_as_csv(kind):
    target = target_of(kind)
    land = landscape(target, 40, theta(), epsilons=[0.5, 1, 2], n=[1000, 10_000])
    rows = list(csv.DictReader(io.StringIO(map_csv(land, target).decode("utf-8-sig"))))
    for row in rows:
        exact = achieved(target, 40, float(row["epsilon_nats"]), float(row["n_users"]), theta())
        assert float(row["achieved"]) == pytest.approx(exact, rel=1e-3)
        assert row["unit"] == ("probability" if kind == "top" else "share of users")
        assert row["quantity"].startswith(KINDS[kind].measure)
        assert row["probability"] == ("" if kind in ("rmse", "top") else "0.9")
    assert len(rows) == 6


@pytest.mark.slow
def test_script_prints_the_plan(tmp_path):
    """The plan, and nothing of the one draw that other pages are about."""
    found = planned(guess="worst", users="sampled", find="eps")
    query = urlencode({**SCENARIO.to_query(), **found.settings.to_query()})
    lines = printed(script(f"/plan?{query}", delta=1e-7), tmp_path)
    about, now = found.settings.about, shuffling.shuffled(found.epsilon, found.n, 1e-7)
    rr = next(row for row in sentences.compared_protocols(found) if row.key == "rr")
    for line in (
        "K = 40",
        f"epsilon = {found.epsilon!r}",
        f"N = {found.n}",
        f"reached, {about.measure} ({about.unit}) = {float(found.value)!r}",
        f"central epsilon after shuffling = {float(now.epsilon)!r}",
    ):
        assert line in lines
    assert lines[lines.index("rr:") + 1].split() == ["rmse", repr(float(rr.rmse))]
    assert not any(line.startswith(("category", "certificate", "mse")) for line in lines)
    saved = (tmp_path / "recomputed.csv").read_text().splitlines()[1:]
    price = found.price
    expected = zip(price.bits, price.epsilons, price.users, strict=True)
    assert [tuple(map(float, row.split(","))) for row in saved] == [
        tuple(map(float, row)) for row in expected
    ]


def test_summary_says_the_plan_and_needs_nothing_else():
    found = planned()
    page = summary(found, "<script>alert(1)</script> & Söhne", 1e-6, "2031-02-03")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; Söhne" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", page)
    assert f"<b>{found.n:,} users are enough</b>" in page
    assert promise_text(found.target).removeprefix("the ") in page
    for cells in [
        *sentences.price_rows(found),
        *(sentences.protocol_cells(row) for row in sentences.compared_protocols(found)),
    ]:
        assert all(f"<td>{cell}</td>" in page for cell in cells)
    assert "2031-02-03" in page
    assert "**" not in page
    assert "\\" not in page


def test_a_plan_has_any_number_of_categories_whatever_table_the_scenario_has():
    page = opened("plan", "dist=letters&eps=1&n=2000")
    k = widget(page, "Categories K")
    assert not k.disabled
    told = "With another K the plan is for a Zipf distribution."
    assert told in [caption.value for caption in page.sidebar.caption]
    before = users_in(page)
    checked(k.set_value(40).run())
    assert (widget(page, "Distribution").value, widget(page, "Categories K").value) == ("zipf", 40)
    assert told not in [caption.value for caption in page.sidebar.caption]
    assert users_in(page) > before


@pytest.mark.parametrize(
    ("find", "epsilon", "n", "task"),
    [
        ("eps", 2.0, 1, "take ten times as many users. Which"),
        ("value", 2.0, 10**9, "take a tenth of the users. How"),
        ("value", 2.0, 30_000, "take ten times as many users or a tenth of the users. How"),
        ("n", 0.01, 1000, "double ε. How"),
        ("n", 20.0, 1000, "halve ε. How"),
    ],
)
def test_what_is_to_be_tried_is_within_the_controls(find, epsilon, n, task):
    plan = make_plan(PlanSettings("rmse", 50, find=find), 40, epsilon, n, Guess.of(40, None))
    assert sections._task(plan).startswith(f"**Try:** {task}")
