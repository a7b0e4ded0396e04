"""A page stays open while the server is restarted: the first thing done on it afterwards is done."""

from __future__ import annotations

from tests.browser.lab import PATIENCE, Lab
from tests.browser.server import ROOT, free_port, started

_CONNECTED = """() => document.querySelector('[data-testid="stApp"]')
  .getAttribute('data-test-connection-state') === 'CONNECTED'"""
SCENARIO = "dist=zipf&s=1.5&k=20&eps=1&n=2000&seed=3"


def draws(lab: Lab) -> bool:
    lab.press("New draw")
    lab.page.wait_for_url(lambda url: "seed=4" in url)
    return "eps=1&" in lab.page.url


def slides(lab: Lab) -> bool:
    lab.slide("Privacy ε")
    lab.page.wait_for_url(lambda url: "eps=1&" not in url)
    lab.settle()
    query = lab.query
    lab.press("New draw")  # which does not do the first thing once more
    return lab.query == {**query, "seed": "4"} and query["seed"] == "3"


def chooses(lab: Lab) -> bool:
    lab.choose("Distribution", "Letters of Moby-Dick")
    lab.page.wait_for_url(lambda url: "dist=zipf" not in url)
    return "seed=3" in lab.page.url


def goes(lab: Lab) -> bool:
    lab.go("Estimators")
    return "seed=3" in lab.page.url


def test_the_first_thing_done_after_a_restart_is_done(profiles, tmp_path) -> None:
    """In four tabs, each of which does something else first."""
    port = free_port()
    with started("app.py", ROOT, tmp_path, port=port) as server:
        labs = {
            act: Lab(profiles(), server.address).open(f"/noisy_histogram?{SCENARIO}")
            for act in (draws, slides, chooses, goes)
        }
    with started("app.py", ROOT, tmp_path, port=port):
        for act, lab in labs.items():
            lab.page.bring_to_front()
            lab.page.wait_for_function(_CONNECTED, timeout=PATIENCE)
            assert act(lab), act.__name__
            lab.settle()
            assert lab.page.get_by_test_id("stException").count() == 0
            assert lab.chart("estimators" if act is goes else "noisy_histogram").count() == 1
            lab.page.close()
