"""Hide and reveal the truth in a browser: over pages, a reload and Back; in a second tab: test_what_is_shown.py."""

from __future__ import annotations

from tests.browser.expected import LINK, QUERY
from tests.browser.lab import PROJECTOR

SCENARIO = LINK.replace("k=1000", "k=12")
SHOWN = {**QUERY, "k": "12"}
HIDDEN = {**SHOWN, "truth": "hidden"}


def legend(lab, key):
    """Names of what the main figure draws."""
    names: list[str] = lab.chart(key).evaluate("plot => plot.data.map(trace => trace.name)")
    return names


def must_be_on_the_first_screen(lab, button) -> None:
    box = lab.page.get_by_role("button", name=button, exact=True).bounding_box()
    assert box["y"] + box["height"] <= 720


def test_a_hidden_truth_stays_hidden_until_it_is_revealed(open_lab):
    lab = open_lab(f"/noisy_histogram?{SCENARIO}", viewport=PROJECTOR)
    must_be_on_the_first_screen(lab, "Hide the truth")
    lab.press("Hide the truth")
    assert lab.query == HIDDEN
    assert legend(lab, "noisy_histogram") == ["Observed reports"]
    assert [text.split()[-1] for text in lab.metrics()[1:]] == ["hidden"] * 3
    lab.press("New draw")
    assert lab.query == {**HIDDEN, "seed": "8"}
    lab.go("Estimators")
    assert lab.query == {**HIDDEN, "seed": "8"}
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    must_be_on_the_first_screen(lab, "Reveal the truth")
    lab.press("Reveal the truth")
    assert "truth" not in lab.query
    assert legend(lab, "estimators")[0] == "Truth"
    lab.back()
    assert lab.query["truth"] == "hidden"
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    lab.reload()
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
