"""The files of the plan page: its map as CSV with units, a script that prints the plan, and a page of paper."""

from __future__ import annotations

import csv
import io
import itertools
import re

import pytest

from pages._ui.downloads import joined, script_text
from pages._ui.plan import downloads, sentences
from pages._ui.plan.downloads import summary
from pages._ui.plan.result import make_plan
from pages._ui.plan.settings import PlanSettings
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
@pytest.mark.parametrize(
    "changes",
    [
        {"guess": "worst", "users": "sampled"},
        {"kind": "share", "value": 2.0, "find": "eps"},
    ],
)
def test_script_prints_the_plan(changes, tmp_path):
    """The plan first, and nothing of the one draw that other pages are about."""
    found = planned(**changes)
    lines = printed(joined(script_text(SCENARIO), downloads.script(found, 1e-7), True), tmp_path)
    least = required_epsilon(found.settings.target, 40, 30_000, theta())
    said = {"n": f"The plan: {found.n:,} users", "eps": f"The plan: epsilon = {least!r:.11}"}
    assert lines[0].startswith(said[found.settings.find])
    assert lines[1] == f"epsilon = {found.epsilon}, N = {found.n:,} users, K = 40 categories"
    assert lines[2] == f"This is enough so that {promise_text(found.settings.target)}."
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


def test_summary_of_every_kind():
    for kind, find in itertools.product(KINDS, ("n", "value")):
        settings = PlanSettings(kind, VALUES[kind], 90.0, find)
        found = make_plan(settings, 40, 0.01 if kind == "smallest" else 2.0, 30, Guess.of(40, theta()))
        assert not re.search(r"\bnan\b|\binf\b|None", summary(found, "Zipf", 1e-6, "2031-02-03"))


@pytest.mark.parametrize(
    ("kind", "k", "epsilon", "value", "users"),
    [
        ("share", 1000, 0.081, 0.5, "fixed"),
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
