"""What leads a reader on: the home page and the scenario that its links carry, the answer to which estimate to use, and
the link to the next page."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pages._ui import guidance, navigation
from rr_core import RandomizedResponse, inv_n, inv_p, mle_star, squared_error, zipf
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.ranking import regret
from rr_core.experiments.storage import stored_result
from rr_core.registry import VALID
from tests.app.opening import ROOT, charts, checked, dials, opened, widget
from tests.documents import ADDRESSES
from tests.sentences import holds, recomputes
from tests.sentences.spoken import tells


@pytest.fixture(scope="module")
def grid():
    return stored_result(MAIN_GRID)


@pytest.fixture(scope="module")
def ratios(grid):
    """Mean squared error over the smallest of the three, by estimator and setting."""
    return {name: np.array([regret(grid, cell, "mse", name) for cell in grid.cells]) for name in VALID}


@pytest.fixture(scope="module")
def drowned(grid):
    """Whether the most common category is below two standard errors of Inv for an empty one, by setting."""
    cells = [cell.cell for cell in grid.cells]
    return np.array(
        [zipf(one.k, one.s)[0] < 2 * error_of_nothing(one.k, one.epsilon, one.n) for one in cells]
    )


def error_of_nothing(k, epsilon, n):
    """Standard error of Inv for a category that nobody has, from its formula."""
    q = 1 / (np.exp(epsilon) + k - 1)
    return np.sqrt(q * (1 - q) / n) / (q * np.expm1(epsilon))


@holds(
    "- **A few stand out:** in all 376 such settings (page Experiments) InvP's mean squared error was at most 5.7 times "
    "the smallest of the three, in 367 at most 1.5 times; InvN's was up to 2,500 times it, MLE\\*'s up to 429 times."
)
def test_the_numbers_of_the_answer_are_those_of_the_main_grid(grid, ratios, drowned):
    even = np.array([cell.cell.s == 0.01 for cell in grid.cells])
    few, quiet = ~drowned & ~even, ~drowned & even
    assert (few.sum(), drowned.sum(), quiet.sum()) == (376, 124, 100)
    for name, most in {"inv_p": 5.7, "inv_n": 2500, "mle_star": 429}.items():
        assert (1 - 0.01) * most < ratios[name][few].max() <= most
    assert (ratios["inv_p"][few] <= 1.5).sum() == 367
    # what nobody would see
    assert max(ratios["inv_n"][drowned].max(), ratios["inv_n"][quiet].max()) < 1.00001
    assert 445 < ratios["inv_p"][drowned].max() <= 446
    assert max(ratios[name][quiet].max() for name in VALID) < 1.1
    for told in ("376", "at most 5.7 times", "124 of 124", "up to 446", "100 of 100"):
        assert told in guidance.WHICH


@holds(
    "**InvN** if none does: all are about equally common, or the noise drowns even the most common.",
    "InvN if none does: all are about equally common, or the noise drowns even the most common.",
)
def test_the_advice_is_right_in_surveys_simulated_at_both_ends():
    """Mean squared errors of 300 surveys each: where none stands out InvN's is the smallest, up to one per cent; where a
    few do, InvP's is never far above, and InvN's can be."""
    rng, cost, drowned = np.random.default_rng(51), [], 0
    for k, s, epsilon, n in itertools.product(
        (5, 12, 200), (0.0, 0.3, 1.0, 2.0, 3.0), (0.1, 0.5, 1.0, 5.0), (100, 2000, 100_000)
    ):
        mechanism, people = RandomizedResponse(k, epsilon), rng.multinomial(n, zipf(k, s))
        truth = people / n
        reports = mechanism.randomize_histogram(np.tile(people, (300, 1)), rng)
        of_n, of_p, of_mle = (
            squared_error(repair(reports, mechanism), truth).mean() for repair in (inv_n, inv_p, mle_star)
        )
        stands_out = truth.max() > 2 * error_of_nothing(k, epsilon, n)
        if s <= 0.3 or not stands_out:
            drowned += not stands_out
            assert of_n < 1.02 * min(of_p, of_mle), (k, s, epsilon, n)
        elif s >= 2:
            assert of_p < 1.6 * min(of_n, of_mle), (k, s, epsilon, n)
            cost.append(of_n / of_p)
    assert drowned > 30
    assert max(cost) > 20


@recomputes(guidance._noise_here)
def test_the_noise_here_is_told_with_the_share_that_stands_out_from_it(many):
    rng, seen = np.random.default_rng(38), set()
    for _ in range(max(many, 200)):
        k, epsilon, n = int(rng.integers(2, 2000)), float(rng.uniform(0.01, 20)), int(10 ** rng.uniform(0, 9))
        text, error = (
            guidance._noise_here(RandomizedResponse(k, epsilon), n),
            float(error_of_nothing(k, epsilon, n)),
        )
        kind = "drowned" if 2 * error >= 1 else "clear" if 2 * error < 1 / k else "between"
        tells(text, k, n, error, *([2 * error] if kind == "between" else []))
        assert ("no share can" in text) == (kind == "drowned")
        assert ("about equally common" in text) == (kind == "clear")
        seen.add(kind)
    assert seen == {"drowned", "clear", "between"}


def walked(address):
    """Addresses from this page on, from each to the next."""
    walk, page = [address], guidance.following(address)
    while page is not None:
        walk.append(page.address)
        page = guidance.following(page.address)
    return walk


def test_the_path_leads_from_home_to_data_of_ones_own_and_what_goes_deeper_leads_on_by_itself():
    path, deeper = walked(""), walked("experiments")
    assert [*path, "room", *deeper] == ADDRESSES
    assert (path[-1], deeper[-1]) == ("your_reports", "reference")
    for name in ADDRESSES[1:]:
        leads_on = "guidance.next_page()" in (ROOT / "pages" / f"{name}.py").read_text(encoding="utf-8")
        assert leads_on == (name not in (path[-1], "room", deeper[-1])), name


def test_pages_without_a_scenario_are_those_that_cannot_be_presented():
    reading = {
        path.stem
        for path in (ROOT / "pages").glob("*.py")
        if "open_reading(" in path.read_text(encoding="utf-8")
    }
    assert reading == set(guidance._WITHOUT_SCENARIO)


LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"


def links(page, where):
    """Labels and queries of the links to pages in a part of a page, in their order."""
    return [(one.proto.label, one.proto.query_string) for one in where.get("page_link")]


def test_home_has_a_card_for_every_page_with_its_sentence_and_the_controls_of_the_scenario_folded():
    page = opened("", LINK)
    cards = links(page, page.main)
    assert [label for label, _ in cards] == [
        f"**{navigation.BY_ADDRESS[address].label}**" for address in ADDRESSES[1:]
    ]
    said = [caption.value for caption in page.main.caption]
    assert all(navigation.BY_ADDRESS[address].answers in said for address in ADDRESSES[1:])
    (fold,) = page.sidebar.expander
    assert (fold.label, fold.proto.expanded) == ("Your own numbers", False)
    shown = [widget(fold, label).value for label in ("Distribution", "Categories K", "Seed")]
    assert shown == ["zipf", 50, 7]
    assert [dial.value for dial in dials(page)] == [1.3, 2.0, 3000]
    assert not any(dial.dial["off"] for dial in dials(page))
    assert {"New draw", "Reset"} == {one.label for one in fold.button}


def test_home_draws_nothing_of_the_scenario_and_carries_it_to_all_pages():
    page = opened("", LINK)
    assert charts(page) == []
    assert not page.metric
    for _, query in (*links(page, page.main), *links(page, page.sidebar)):
        assert query == LINK
    checked(widget(page, "Privacy ε").set_value(3.0).run())
    checked(widget(page, "New draw").click().run())
    for _, query in (*links(page, page.main), *links(page, page.sidebar)):
        assert query == LINK.replace("eps=2", "eps=3").replace("seed=7", "seed=8")


def test_home_is_not_presented():
    page = opened("", f"{LINK}&present=on")
    assert "present" not in page.query_params
    checked(dials(page)[0].tell("presents", {"on": True}))
    assert "present" not in page.query_params
    assert not any(one.label == "Exit" for one in page.button)
