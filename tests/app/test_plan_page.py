"""The plan page: its answers are the core's, its settings come from the link, and its files say the same."""

from __future__ import annotations

import csv
import io
import itertools
import re
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

import numpy as np
import pytest

from pages._ui.plan.controls import map_ranges
from pages._ui.plan.sections import map_csv, replicates, simulated_points, summary
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
def test_each_kind_answers_a_question():
    """One is asked by hand, the others by a link."""
    for kind, find in (
        ("rmse", "n"),
        ("max", "eps"),
        ("share", "value"),
        ("smallest", "n"),
        ("top", "value"),
    ):
        target = target_of(kind)
        if kind == "max":
            page = opened("plan", f"{LINK}&target=rmse&value=0.7&conf=90")
            checked(widget(page, "My goal").set_value(kind).run())
            (box,) = [one for one in page.number_input if one.key and one.key.startswith("plan_value")]
            checked(box.set_value(VALUES[kind]).run())
            checked(page.selectbox(key="plan_find").set_value(find).run())
        else:
            page = opened("plan", f"{LINK}&target={kind}&value={VALUES[kind]}&conf=90&find={find}")
        if find == "n":
            assert users_in(page) == required_n(target, 40, 2.0, theta())
        elif find == "eps":
            shown = number_in(answer(page), r"\*\*ε = ([\d.]+) is enough")
            assert shown == rounded_up(required_epsilon(target, 40, 30_000, theta()))
            assert required_n(target, 40, shown, theta()) <= 30_000
        else:
            value = achieved(target, 40, 2.0, 30_000, theta())
            said = number_in(answer(page), r"\*\*(?:at least )?([\d.]+)%") / 100
            assert said == pytest.approx(value, rel=1e-2)
            assert said <= value if kind == "top" else said >= value * (1 - 1e-12)


@pytest.mark.slow
def test_the_answer_follows_the_sidebar_and_can_be_put_there():
    page, target = opened("plan", f"{LINK}&target=max&value=2.5"), Target("max", 0.025)
    for label, value, scenario in (
        ("Privacy ε", 3.0, Scenario("zipf", 40, 1.2, 3.0)),
        ("Categories K", 60, Scenario("zipf", 60, 1.2, 3.0)),
        ("Zipf exponent s", 0.5, Scenario("zipf", 60, 0.5, 3.0)),
    ):
        checked(widget(page, label).set_value(value).run())
        users = required_n(target, scenario.k, scenario.epsilon, scenario.population().probabilities)
        assert users_in(page) == users
        assert place_of(page, "the plan") == (scenario.epsilon, users)
    checked(widget(page, "Use this N").click().run())
    assert widget(page, "Users N").value == users_in(page) == users
    checked(page.selectbox(key="plan_find").set_value("eps").run())
    for n in (users, 500_000):
        checked(widget(page, "Users N").set_value(n).run())
        shown = rounded_up(required_epsilon(target, 60, n, scenario.population().probabilities))
        assert number_in(answer(page), r"\*\*ε = ([\d.]+) is enough") == shown
    checked(widget(page, "Use this ε").click().run())
    assert widget(page, "Privacy ε").value == shown


@pytest.mark.parametrize("users", WHOSE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_the_guess_can_be_chosen_where_the_plan_depends_on_it_and_only_there(kind, users):
    asked = replace(PlanSettings(users=users).of_kind(kind), find="value")
    guesses = {"sidebar": Guess.of(40, theta()), "worst": Guess.of(40, None)}
    if KINDS[kind].needs_population:
        guesses["worst"] = guesses["sidebar"]
    reached = [
        make_plan(replace(asked, guess=name), 40, 2.0, 30_000, guess).value for name, guess in guesses.items()
    ]
    page = opened("plan", f"{LINK}&target={kind}&whose={users}")
    assert guess_in(page).disabled == (reached[0] == pytest.approx(reached[1], rel=1e-9))


def test_a_link_that_ranks_as_many_as_there_are_says_that_fewer_are_ranked():
    page = opened("plan", "dist=zipf&k=3&target=top&value=9")
    (note,) = page.warning
    assert (
        "number of categories is 9, outside the range from 1 to 2; 2 is used instead"
        in note.value.replace("\\", "")
    )
    assert widget(page, "How many categories").value == 2
    assert not opened("plan", "dist=zipf&k=3&target=top").warning  # nor of a default


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
    one = required_n(Target("rmse", 0.007), 40, 2 - np.log(2), theta())
    assert f"| eᵋ ÷ 2 | 1.307 | {one:,} | {one / found.n:.3g} times |" in text
    half = required_n(Target("rmse", 0.007), 40, 1.0, theta())
    assert f"| half of ε | 1 | {half:,} | {half / found.n:.3g} times |" in text
    rr = sentences.compared_protocols(found)[0]
    assert (
        f"**subset selection has the smallest error of the six below**; k-RR needs **{rr.users_relative:.4g} times"
        in text
    )
    assert "up to K = 11; with K = 40 it is so from ε = 3.31 on" in text
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
    for n in (1, 30_000, 10**9):
        budgets, users = simulated_points("epsilon", 20.0, n), simulated_points("n", 2.0, n)
        assert 20.0 in budgets
        assert (budgets <= 20).all()
        assert (np.diff(budgets) > 0).all()
        assert n in users
        assert users.min() >= 1
        assert users.max() <= 10**9
        assert (users == np.round(users)).all()
        assert simulated_points("epsilon", 0.01, n)[0] == 0.01
    assert [replicates(k) for k in (2, 10_000, 1_500_000)] == [400, 100, 4]


@pytest.mark.parametrize("kind", KINDS)
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
@pytest.mark.parametrize(
    "changes", [{"guess": "worst", "users": "sampled"}, {"kind": "share", "value": 2.0, "find": "eps"}]
)
def test_script_prints_the_plan(changes, tmp_path):
    """The plan, and nothing of the one draw that other pages are about."""
    found = planned(**changes)
    query = urlencode({**SCENARIO.to_query(), **found.settings.to_query()})
    lines = printed(script(f"/plan?{query}", delta=1e-7), tmp_path)
    about, rows = found.settings.about, sentences.compared_protocols(found)
    now = shuffling.shuffled(found.epsilon, found.n, 1e-7)
    rr = next(row for row in rows if row.key == "rr")
    for line in (
        "K = 40",
        f"epsilon = {found.epsilon!r}",
        f"N = {found.n}",
        f"reached, {about.measure} ({about.unit}) = {float(found.value)!r}",
        f"central epsilon after shuffling = {float(now.epsilon)!r}",
        f"its condition holds = {now.holds}",
    ):
        assert line in lines
    of_rr = lines.index("rr:") + 1
    assert [line.split()[0] for line in lines[of_rr : of_rr + 3]] == ["rmse", "users", "bits"]
    assert lines[of_rr].split()[1] == repr(float(rr.rmse))
    assert not any(line.startswith(("category", "certificate", "mse")) for line in lines)
    saved = (tmp_path / "recomputed.csv").read_text().splitlines()[1:]
    price = found.price
    expected = zip(price.bits, price.epsilons, price.users, strict=True)
    assert [tuple(map(float, row.split(","))) for row in saved] == [
        tuple(map(float, row)) for row in expected
    ]


def test_the_summary_tells_no_chance_as_certain():
    page = summary(
        make_plan(PlanSettings("rmse"), 12, 20.0, 2000, Guess.of(12, None)), "Zipf", 1e-6, "2031-02-03"
    )
    assert "(p = 99.999998%, q = 2.061·10⁻⁷%)" in page


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


def test_summary_of_every_kind():
    for kind, find in itertools.product(KINDS, ("n", "value")):
        settings = PlanSettings(kind, VALUES[kind], 90.0, find)
        found = make_plan(settings, 40, 0.01 if kind == "smallest" else 2.0, 30, Guess.of(40, theta()))
        assert not re.search(r"\bnan\b|\binf\b|None", summary(found, "Zipf", 1e-6, "2031-02-03"))


@pytest.mark.parametrize(
    ("kind", "k", "epsilon", "value", "users"),
    [("share", 1000, 0.081, 0.5, "fixed"), ("smallest", 100, 0.398, 0.05, "fixed")],
)
def test_the_users_of_a_large_plan_reach_what_it_promises(kind, k, epsilon, value, users):
    settings = PlanSettings(kind, value, users=users)
    found = make_plan(settings, k, epsilon, 1000, Guess.of(k, zipf(k, 1.0)))
    assert settings.target.met_by(found.value)
    about = KINDS[kind].measure
    assert f"<td>Reached by the plan</td><td>{value:g}% ({about})</td>" in summary(
        found, "Zipf", 1e-6, "2031-02-03"
    )


@pytest.mark.parametrize("table", ["exam", "letters"])
def test_a_plan_has_any_number_of_categories_whatever_table_the_scenario_has(table):
    page = opened("plan", f"dist={table}&eps=1&n=2000")
    k = widget(page, "Categories K")
    assert not k.disabled
    told = "With another K the plan is for a Zipf distribution."
    assert told in [caption.value for caption in page.sidebar.caption]
    assert not k.help  # its mark would break the label into two lines
    before = users_in(page)
    checked(k.set_value(40).run())
    assert (widget(page, "Distribution").value, widget(page, "Categories K").value) == ("zipf", 40)
    assert told not in [caption.value for caption in page.sidebar.caption]
    assert users_in(page) > before
    assert widget(opened("estimators", f"dist={table}"), "Categories K").disabled


@pytest.mark.parametrize(
    ("link", "task"),
    [
        ("n=1&find=eps", "take ten times as many users. Which"),
        ("n=1000000000&find=value", "take a tenth of the users. How"),
        ("n=30000&find=value", "take ten times as many users or a tenth of the users. How"),
        ("eps=0.01&find=n", "double ε. How"),
        ("eps=20&find=n", "halve ε. How"),
        ("eps=1&find=n", "double or halve ε. How"),
    ],
)
def test_what_is_to_be_tried_is_within_the_controls(link, task):
    page = opened(
        "plan", f"k=40&eps=2&target=rmse&value=50&{link}" if "eps" not in link else f"k=40&value=50&{link}"
    )
    (text,) = [one.value for one in page.markdown if one.value.startswith("**Try:**")]
    assert text.startswith(f"**Try:** {task}")
