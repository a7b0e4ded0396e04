"""Hide and reveal the truth in a browser: over pages, the address, a reload and Back."""

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
    whole, numbers = lab.figure("noisy_histogram"), lab.metrics()
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
    lab.slide("Privacy ε")
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    lab.reload()
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    assert legend(open_lab(lab.page.url), "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    must_be_on_the_first_screen(lab, "Reveal the truth")
    lab.press("Reveal the truth")
    assert "truth" not in lab.query
    assert legend(lab, "estimators")[0] == "Truth"
    lab.reload()
    assert legend(lab, "estimators")[0] == "Truth"
    lab.back()
    assert lab.query["truth"] == "hidden"
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
    lab.forward()
    assert legend(lab, "estimators")[0] == "Truth"
    lab.open(f"/noisy_histogram?{SCENARIO}")
    assert (lab.figure("noisy_histogram"), lab.metrics()) == (whole, numbers)


def test_hide_and_a_click_on_a_page_link_right_behind_it(open_lab):
    """The link that was clicked does not carry the setting yet."""
    lab = open_lab(f"/noisy_histogram?{SCENARIO}")
    lab.page.get_by_role("button", name="Hide the truth", exact=True).click()
    lab.go("Estimators")
    lab.page.wait_for_url(lambda url: "truth=hidden" in url)
    lab.settle()
    assert legend(lab, "estimators") == ["Inv", "InvN", "InvP", "MLE*"]
