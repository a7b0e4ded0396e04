"""Every control of the sidebar does something in the open view, or is grey and says why: on every page, in every part
that has a say in it, for every design and prior, and for one built-in sweep of each kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pages._ui import sidebar
from pages._ui.navigation import GROUPS
from pages._ui.protocols import channel
from rr_core import Scenario
from rr_core.populations import TABLES, UPLOAD
from rr_core.protocols import settings
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
# Choices within the parts of /protocols that may make a control idle.
CHOICES: dict[str, list[str]] = {
    "channel": [f"channel={design}" for design in settings.DESIGNS],
    "unary": [""],
    # Of very many categories nothing is drawn, and the shares matter only where Hadamard's blocks differ in size.
    "compare": ["", "truth=hidden", "k=4000&eps=0.5", "k=4001&eps=3"],
    "posterior": ["prior=jeffreys", "n=2000000"],
    "time": ["", "schemes=memoised", "truth=hidden"],
}


def own_table(rows: int) -> str:
    """A link to a table of chances of one's own, with so many rows."""
    chances = [".9", ".1", *["0"] * (rows - 2)]
    return "channel=own&matrix=" + ";".join(
        " ".join(chances[j - i] for j in range(rows)) for i in range(rows)
    )


def views() -> Iterator[tuple[str, str]]:
    """Every page with the query of every view in which other controls may be idle."""
    for name in ABOUT_SCENARIO:
        parts = parts_of(name) if name in ("geometry", "protocols") else [None]
        for part in parts:
            for choice in CHOICES[part] if name == "protocols" else [""]:
                yield name, "&".join(filter(None, (f"part={part}" if part else "", choice)))
    yield "plan", "part=estimators"
    yield "plan", "target=rmse&whose=sampled&guess=sidebar"
    yield "plan", "target=max&whose=sampled&guess=worst"
    yield from (("experiments", f"sweep={sweep}") for sweep in ("1a", "2a"))  # along N, along epsilon
    yield "protocols", own_table(2)
    yield "protocols", f"dist=exam&{own_table(13)}"  # more rows than the data have categories


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
    if name == "experiments" and not query:
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
    for part in CHOICES
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
    assert list(CHOICES) == parts_of("protocols")


@recomputes(sidebar.grey)
def test_the_number_of_categories_that_data_have_is_told(monkeypatch):
    for dist, table in [*TABLES.items(), (UPLOAD, TABLES["exam"])]:
        scenario = Scenario(dist, len(table.rows))
        monkeypatch.setattr(sidebar.link, "current", lambda scenario=scenario: scenario)
        tells(sidebar.grey({})["k"], len(table.rows))


@recomputes(channel._unused)
@pytest.mark.parametrize("rows", [2, 13])
def test_ones_own_table_fixes_the_number_of_categories(rows):
    page = opened("protocols", f"dist=zipf&k=3&{own_table(rows)}")
    assert grey(page)["k"] == f"Your table has {rows} rows."
    assert f"so K is {rows} here." in " ".join(one.value for one in page.main.markdown)


def test_a_number_of_categories_that_data_fix_says_so():
    reasons = grey(opened("noisy_histogram", "dist=exam"))
    assert reasons["k"] == "These data have 12 categories; choose Zipf to set K."
    assert "Zipf" in reasons["s"]
    assert "k" not in grey(opened("noisy_histogram", "dist=humps&k=12"))
