"""The files of the plan page: its map as CSV with units, a script that prints the plan, and a page of paper."""

from __future__ import annotations

import csv
import io
import re

import pytest

from pages._ui.downloads import joined, script_text
from pages._ui.plan import downloads, sentences
from pages._ui.plan.downloads import summary
from pages._ui.plan.results import make_plan, plan_landscape
from pages._ui.plan.settings import PlanSettings
from pages._ui.work import Work
from rr_core import Scenario
from rr_core.figures.plan_sentences import promise_text
from rr_core.io.plan import map_csv
from rr_core.plan import shuffling
from rr_core.plan.landscape import landscape
from rr_core.plan.solve import achieved, required_epsilon
from rr_core.plan.targets import KINDS, Guess
from rr_core.populations import zipf
from tests.app.test_plan_page import SCENARIO, VALUES, planned, target_of, theta
from tests.app.test_scripts import printed


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
def test_the_map_of_the_largest_error_as_csv_is_worked_out_and_not_interpolated():
    """On the page's own map, corners included."""
    guess, settings = Guess.of(1000, zipf(1000, 1.0)), PlanSettings("max", 1.0)
    scenario = Scenario("zipf", 1000, 1.0, 2.0, 30_000, 7)
    land = plan_landscape(Work(scenario.draw()), make_plan(settings, 1000, 2.0, 30_000, guess))
    rows = list(csv.DictReader(io.StringIO(map_csv(land, settings.target).decode("utf-8-sig"))))
    assert len(rows) == 17**2
    for row in rows[:: len(rows) // 20] + rows[-17:]:
        n = float(row["n_users"])
        assert n == round(n)
        exact = achieved(settings.target, 1000, float(row["epsilon_nats"]), n, guess)
        assert exact * (1 - 1e-12) <= float(row["achieved"]) <= exact * (1 + 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"guess": "worst", "users": "sampled"},
        {"find": "eps"},
        {"find": "value"},
        {"kind": "share", "value": 2.0},
    ],
)
def test_script_prints_the_plan(changes, tmp_path):
    """The plan first, and nothing of the one draw that other pages are about."""
    found = planned(**changes)
    lines = printed(joined(script_text(SCENARIO), downloads.script(found, 1e-7), True), tmp_path)
    said = {
        "n": f"The plan: {found.n:,} users",
        "eps": f"The plan: epsilon = {required_epsilon(found.settings.target, 40, 30_000, theta())!r:.11}",
        "value": "The plan: both are given",
    }[found.settings.find]
    assert lines[0].startswith(said)
    assert lines[1] == f"epsilon = {found.epsilon}, N = {found.n:,} users, K = 40 categories"
    what = found.settings.find == "value" or promise_text(found.settings.target)
    assert what is True or lines[2] == f"This is enough so that {what}."
    about = found.settings.about
    assert f"reached, {about.measure}: {found.value:.10g} ({about.unit})" in lines
    assert not any(line.startswith(("category", "certificate", "mse")) for line in lines)
    for bits, users in zip(found.price.bits, found.price.users, strict=True):
        assert any(
            line.startswith(f"{bits:.4g} bits less") and f": {users:.0f} users" in line for line in lines
        )
    rows = {row.key: row for row in sentences.compared_protocols(found)}
    assert any(line.startswith(f"rr: rmse {rows['rr'].rmse:.10g}, users") for line in lines)
    now = shuffling.shuffled(found.epsilon, found.n, 1e-7)
    assert f"central epsilon {now.epsilon:.10g}, condition holds: {now.holds}" in lines


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("find", ["n", "value"])
def test_summary_of_every_kind(kind, find):
    settings = PlanSettings(kind, VALUES[kind], 90.0, find)
    found = make_plan(settings, 40, 0.01 if kind == "smallest" else 2.0, 30, Guess.of(40, theta()))
    page = summary(found, "Zipf", 1e-6, "2031-02-03")
    assert not re.search(r"\bnan\b|\binf\b|None", page)


@pytest.mark.parametrize(
    ("kind", "k", "epsilon", "value", "users"),
    [
        ("rmse", 100, 0.013, 1.0, "fixed"),
        ("share", 1000, 0.081, 0.5, "fixed"),
        ("max", 100, 0.552, 0.01, "sampled"),
        ("smallest", 100, 0.398, 0.05, "fixed"),
    ],
)
def test_the_users_of_a_large_plan_reach_what_it_promises(kind, k, epsilon, value, users):
    settings = PlanSettings(kind, value, users=users)
    found = make_plan(settings, k, epsilon, 1000, Guess.of(k, zipf(k, 1.0)))
    assert settings.target.met_by(found.value)
    about = KINDS[kind].measure
    assert f"<td>Reached by the plan</td><td>{value:g}% ({about})</td>" in summary(
        found, "Zipf", 1e-6, "2031-02-03"
    )
