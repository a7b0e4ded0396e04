"""Back, Forward, reload and a link typed in the same tab: one always sees the scenario one came from."""

from __future__ import annotations

from itertools import pairwise

from tests.browser.expected import LINK, QUERY, SIDEBAR
from tests.browser.lab import LEAD


def seen(lab, label):
    """What a person sees of the scenario on a page: sidebar, address, figure."""
    return lab.sidebar(), lab.path, lab.query, lab.figure(LEAD[label])


def test_back_and_forward_after_changed_widgets(open_lab):
    lab = open_lab(f"/estimators?{LINK}")
    views = [seen(lab, "Estimators")]
    lab.type("Seed", 8)
    views.append(seen(lab, "Estimators"))
    lab.slide("Privacy ε")
    views.append(seen(lab, "Estimators"))
    lab.press("New draw")
    views.append(seen(lab, "Estimators"))
    for one, other in pairwise(views):
        assert all(a != b for a, b in zip(one, other, strict=True) if a != "/estimators")
    for view in views[-2::-1]:
        lab.back()
        assert seen(lab, "Estimators") == view
    for view in views[1:]:
        lab.forward()
        assert seen(lab, "Estimators") == view


def test_back_and_forward_over_page_switches(open_lab):
    lab = open_lab(f"/noisy_histogram?{LINK}")
    lab.type("Seed", 8)
    first = seen(lab, "Noisy histogram")
    lab.go("Estimators")
    second = seen(lab, "Estimators")
    lab.type("Exact N", 4321)
    third = seen(lab, "Estimators")
    lab.go("Home")
    last = seen(lab, "Home")
    assert last[2] == {**QUERY, "seed": "8", "n": "4321"}
    for label, view in (("Estimators", third), ("Estimators", second), ("Noisy histogram", first)):
        lab.back()
        assert seen(lab, label) == view
    for label, view in (("Estimators", second), ("Estimators", third), ("Home", last)):
        lab.forward()
        assert seen(lab, label) == view


def test_back_from_the_page_without_a_scenario_and_reload(open_lab):
    lab = open_lab(f"/inv_negatives?{LINK}")
    lab.slide("Zipf exponent s")
    view = seen(lab, "Inv and its negatives")
    assert view[2] == {**QUERY, "s": "1.31"}
    lab.go("Reference")
    lab.back()
    assert seen(lab, "Inv and its negatives") == view
    lab.reload()
    assert seen(lab, "Inv and its negatives") == view


def test_link_typed_in_the_same_tab(open_lab):
    lab = open_lab("/estimators?dist=uniform&k=50&eps=1&n=1000&seed=3")
    lab.press("New draw")
    lab.open(f"/estimators?{LINK}")
    assert lab.query == QUERY
    assert lab.sidebar() == SIDEBAR
    lab.back()
    assert lab.query["seed"] == "4"
    assert lab.sidebar()["Distribution"] == "Uniform"


def test_a_change_and_a_click_on_a_page_link_right_behind_it(open_lab):
    """Leaving a box commits it; the link that was clicked still carries the old scenario."""
    lab = open_lab(f"/noisy_histogram?{LINK}")
    box = lab.page.get_by_role("spinbutton", name="Exact N", exact=True)
    box.fill("77777")
    lab.go("Estimators")
    lab.page.wait_for_url(lambda url: "n=77777" in url)
    lab.settle()
    assert lab.sidebar() == {**SIDEBAR, "Exact N": "77777", "Users N": "77,777"}
