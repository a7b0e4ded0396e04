"""Every control of the sidebar does something in the open view, or is grey and says why: on every page, in every part,
for every design, encoding, prior, scheme, target and built-in sweep."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pages._ui import sidebar
from pages._ui.experiments.settings import CELLS
from pages._ui.navigation import GROUPS
from pages._ui.protocols import channel, over_time
from rr_core import Scenario
from rr_core.metrics import Users
from rr_core.plan.targets import KINDS
from rr_core.populations import TABLES, UPLOAD
from rr_core.protocols import settings
from tests import LENGTHY
from tests.app.opening import ABOUT_SCENARIO, charts, components, dials, opened, parts_of
from tests.sentences import holds, recomputes
from tests.sentences.spoken import tells

BASE = {"dist": "zipf", "k": "12", "s": "1.5", "eps": "1", "n": "2000", "seed": "7"}
# Links that move one control: some move has to change the view. (Three shares of twelve are the same of nine.)
MOVES = {
    "k": ("9", "2"),
    "s": ("2.5", "0"),
    "epsilon": ("2", "0.1"),
    "n": ("500", "300000", "1"),
    "seed": ("8", "9"),
}
PARAMETER = {"epsilon": "eps"}


CHOICES: dict[tuple[str, str], list[str]] = {
    ("protocols", "channel"): [f"channel={design}" for design in settings.DESIGNS],
    ("protocols", "unary"): [f"bits={encoding}" for encoding in settings.ENCODINGS],
    ("protocols", "posterior"): [f"prior={prior}" for prior in settings.PRIOR_NAMES],
    ("protocols", "time"): [f"schemes={scheme}" for scheme in over_time.NAMES],
    ("protocols", "compare"): [""],
}


def views() -> Iterator[tuple[str, str]]:
    """Every page with the query of every view."""
    for name in ABOUT_SCENARIO:
        for part in PARTS[name]:
            for choice in CHOICES[name, part] if name == "protocols" else [""]:
                yield name, "&".join(filter(None, (f"part={part}" if part else "", choice)))
    plans = itertools.product(KINDS, Users.__args__, ("sidebar", "worst"))
    for i, (kind, users, guess) in enumerate(plans):  # in turns: each with each, but not all three
        if LENGTHY or i % 4 in (0, 3):
            yield "plan", f"target={kind}&whose={users}&guess={guess}"
    yield from (("experiments", f"sweep={sweep}") for sweep in CELLS)
    # A table with fewer rows than K, as many, and more.
    for rows in (2, 12, 13):
        chances = [".9", ".1", *["0"] * (rows - 2)]
        matrix = ";".join(" ".join(chances[j - i] for j in range(rows)) for i in range(rows))
        yield "protocols", f"channel=own&matrix={matrix}"
        yield "protocols", f"channel=own&dist=exam&matrix={matrix}"
    yield "protocols", "part=compare&truth=hidden"
    yield from (("protocols", f"part=compare&k={k}&eps={epsilon}") for k, epsilon in ((4000, 0.5), (4001, 3)))
    yield "protocols", "part=time&truth=hidden"
    yield "protocols", "part=posterior&n=2000000"


PARTS = {name: tuple(part or "" for part in parts_of(name)) for name in ABOUT_SCENARIO}
VIEWS = list(dict.fromkeys(views()))


def link(query: str, **moved: str) -> str:
    own = dict(pair.split("=") for pair in query.split("&") if pair)
    return "&".join(f"{name}={text}" for name, text in {**BASE, **own, **moved}.items())


def view(page: Any) -> tuple[Any, ...]:
    """What is on screen beside the sidebar."""
    main = page.main
    texts = [one.value for kind in (main.markdown, main.caption, main.info) for one in kind]
    figures = [json.dumps([one["data"], one["layout"], one["alt"]], sort_keys=True) for one in charts(page)]
    return texts, [one.value for one in main.metric], figures


def grey(page: Any) -> dict[str, str]:
    """Why each control that is grey is so, as it stands in the sidebar."""
    found = {one.dial["name"]: one.dial["off"] for one in dials(page) if one.dial["off"]}
    said = [one.value for one in page.sidebar.caption if one.value not in GROUPS]
    for name, label in (("k", "Categories K"), ("seed", "Seed")):
        (control,) = [one for one in page.sidebar.number_input if one.label == label]
        if control.disabled:
            found[name] = control.help or said[0]  # beside "Categories K" is no room for it
            assert found[name] in said
    (new,) = [one for one in page.sidebar.button if one.label == "New draw"]
    assert new.disabled == ("seed" in found)
    for _, data in components(page):  # beside the dials at the foot stands New draw as well
        assert data.get("still", found.get("seed", "")) == found.get("seed", "")
    return found


def check(name: str, query: str) -> None:
    if name == "experiments" and ("sweep=" not in query or query == "sweep=main"):
        # What its map holds fixed starts at the scenario, and then stands in the address.
        query += "&at_s=1.3&at_k=50"
    page = opened(name, link(query))
    shown, reasons = view(page), grey(page)
    assert all(reasons.values()), reasons
    for control, moves in MOVES.items():
        if name == "plan" and "estimators" in query and control in ("s", "seed"):
            continue  # what a simulation shows that is started by hand
        moved = [view(opened(name, link(query, **{PARAMETER.get(control, control): to}))) for to in moves[:1]]
        if moved[0] == shown and control not in reasons:
            moved += [
                view(opened(name, link(query, **{PARAMETER.get(control, control): to}))) for to in moves[1:]
            ]
        changes = any(one != shown for one in moved)
        assert changes == (control not in reasons), f"{control}: {reasons.get(control, 'nothing changes')}"


# The first view of each part of /protocols.
QUICK = [
    next(one for one in VIEWS if one[0] == "protocols" and f"part={part}" in one[1].split("&"))
    for part in PARTS["protocols"]
]


@holds(
    "Nothing is drawn for so many.",
    "Nothing is drawn for so many categories.",
    "Nothing here depends on it while the truth is hidden.",
)
@pytest.mark.parametrize(
    ("name", "query"), [pytest.param(*one, marks=() if one in QUICK else pytest.mark.slow) for one in VIEWS]
)
def test_every_control_does_something_or_says_why_not(name, query):
    check(name, query)


def test_every_choice_of_every_part_of_protocols_takes_part():
    assert {part for name, part in CHOICES if name == "protocols"} == set(PARTS["protocols"])


def test_the_first_view_of_protocols_uses_epsilon():
    assert "epsilon" not in grey(opened("protocols"))
    assert "unused" not in channel.CHANNELS[channel.options.ChannelSettings().design]


@recomputes(sidebar.grey)
def test_the_number_of_categories_that_data_have_is_told(monkeypatch):
    for dist, table in [*TABLES.items(), (UPLOAD, TABLES["exam"])]:
        scenario = Scenario(dist, len(table.rows))
        monkeypatch.setattr(sidebar.link, "current", lambda scenario=scenario: scenario)
        tells(sidebar.grey({})["k"], len(table.rows))


@recomputes(channel._unused)
@pytest.mark.parametrize("rows", [2, 3, 13])
def test_ones_own_table_fixes_the_number_of_categories(rows):
    matrix = ";".join(" ".join(str(int(i == j)) for j in range(rows)) for i in range(rows))
    page = opened("protocols", f"dist=zipf&k=3&channel=own&matrix={matrix}")
    assert grey(page)["k"] == f"Your table has {rows} rows."
    assert f"so K is {rows} here." in " ".join(one.value for one in page.main.markdown)


@pytest.mark.parametrize("name", [name for name in ABOUT_SCENARIO if name not in ("", "plan")])
def test_a_number_of_categories_that_data_fix_says_so(name):
    reasons = grey(opened(name, "dist=exam"))
    assert reasons["k"] == "These data have 12 categories; choose Zipf to set K."
    assert "Zipf" in reasons["s"]
    assert "k" not in grey(opened(name, "dist=humps&k=12")) or name == "experiments"
