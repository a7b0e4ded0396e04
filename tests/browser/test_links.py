"""Links, Back and Forward: the first request to a fresh server, another tab, the way back over pages and widgets."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import numpy as np
import pytest

import rr_core
from tests.browser import expected
from tests.browser.expected import LINK, ORDER, QUERY, SIDEBAR
from tests.browser.lab import LABELS, LEAD, PAGES, QUESTIONS


def title(lab):
    return lab.page.get_by_role("heading", level=1).inner_text().strip()


def navigation(lab):
    return lab.page.get_by_test_id("stSidebar").get_by_role("link").all()


def rows_of(lab):
    text = lab.download("Download data (CSV)").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def seen(lab, label):
    """What a person sees of the scenario on a page: sidebar, address, figure."""
    return lab.sidebar(), lab.path, lab.query, lab.figure(LEAD[label])


@pytest.mark.journey
def test_a_deep_link_to_a_fresh_server_shows_its_page_and_gives_its_numbers_as_csv(fresh_server, open_lab):
    lab = open_lab(f"/estimators?{LINK}", on=fresh_server)
    assert title(lab) == QUESTIONS["Estimators"]
    assert [link.inner_text().strip().splitlines()[-1] for link in navigation(lab)] == list(LABELS.values())
    assert lab.sidebar() == SIDEBAR
    draw = expected.drawn()
    assert "InvN sets" in (lab.page.get_by_role("figure").first.get_attribute("aria-label") or "")
    assert (lab.path, lab.query, lab.alerts()) == ("/estimators", QUERY, [])
    rows = rows_of(lab)
    assert list(rows[0]) == ["category", "true", "observed", *ORDER]
    assert [row["category"] for row in rows] == list(map(str, range(1, 1001)))
    assert [int(row["true"]) for row in rows] == draw.true_counts.tolist()
    observed = np.array([int(row["observed"]) for row in rows])
    assert observed.tolist() == draw.counts.tolist()
    for name in ORDER:
        again = getattr(rr_core, name)(observed, rr_core.RandomizedResponse(1000, 2.0))
        assert [float(row[name]) for row in rows] == again.tolist()
    # The file is made when the button is pressed, so it must not be an earlier scenario's.
    lab.type("Categories K", 5)
    draw = rr_core.Scenario("zipf", 5, 1.3, 2.0, 100_000, 7).draw()
    assert [int(row["observed"]) for row in rows_of(lab)] == draw.counts.tolist()


def test_back_and_forward_over_widgets_tabs_and_pages_and_the_address_in_another_tab(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    views = [("Estimators", seen(lab, "Estimators"))]
    for label, change in (
        ("Estimators", lambda: lab.type("Seed", 9)),
        ("Noisy histogram", lambda: lab.go("Noisy histogram")),
        ("Noisy histogram", lambda: lab.part("One person's report")),
        ("Noisy histogram", lambda: lab.type("Exact N", 4321)),
    ):
        change()
        views.append((label, seen(lab, label)))
    for (_, one), (_, other) in pairwise(views):
        assert one[2:] != other[2:]
    label, last = views[-1]
    assert {name: last[2][name] for name in ("n", "seed", "part")} == {
        "n": "4321",
        "seed": "9",
        "part": "person",
    }
    other = open_lab(lab.page.url)
    assert seen(other, label) == last
    assert other.words() == lab.words()
    for one, view in views[-2::-1]:
        lab.back()
        assert seen(lab, one) == view
    lab.forward()
    assert seen(lab, views[1][0]) == views[1][1]
    lab.reload()
    assert seen(lab, views[1][0]) == views[1][1]
    lab.open(f"/estimators?{LINK}")  # typed in the same tab
    assert (lab.query, lab.sidebar()) == (QUERY, SIDEBAR)
    lab.back()
    assert seen(lab, views[1][0]) == views[1][1]


def test_a_page_without_a_scenario_hands_it_on(open_lab):
    lab = open_lab(f"/reference?{LINK}")
    assert (title(lab), lab.path, lab.query) == (QUESTIONS["Reference"], "/reference", QUERY)
    targets = dict(zip(PAGES, [link.evaluate("a => a.href") for link in navigation(lab)], strict=True))
    # Streamlit 1.67 writes Home's link as "?...", which a new tab opens as the current page.
    assert targets.pop("Home").endswith(LINK)
    assert targets == {label: f"{lab.server}/{PAGES[label]}?{LINK}" for label in targets}
    lab.go("Inv and its negatives")
    assert lab.sidebar() == SIDEBAR
    # The link to share is the address, with its QR code.
    lab.press("New draw")
    lab.more("Seed")
    part = lab.page.get_by_test_id("stPopoverBody")
    assert part.get_by_test_id("stCode").inner_text().strip() == lab.page.url
    box = part.get_by_alt_text("QR code of this link").bounding_box()
    assert min(box["width"], box["height"]) >= 200


def test_a_change_and_a_click_on_a_page_link_right_behind_it(open_lab):
    """Leaving a box commits it; the link that was clicked still carries the old scenario, or that the truth is shown."""
    lab = open_lab(f"/noisy_histogram?{LINK}")
    lab.page.get_by_role("spinbutton", name="Exact N", exact=True).fill("77777")
    lab.go("Estimators")
    lab.page.wait_for_url(lambda url: "n=77777" in url)
    lab.settle()
    assert lab.sidebar() == {**SIDEBAR, "Exact N": "77,777", "Users N": "77,777"}
    lab.page.get_by_role("button", name="Hide the truth", exact=True).click()
    lab.go("Noisy histogram")
    lab.page.wait_for_url(lambda url: "truth=hidden" in url)
