"""Pages stay open while the server is killed and started anew: what was begun goes on, and what is done first is done."""

from __future__ import annotations

from tests.browser.lab import PATIENCE, PROJECTOR, Lab
from tests.browser.server import ROOT, free_port, started
from tests.browser.test_room import PHONE, Phone, code_of, kept, press

_CONNECTED = """() => document.querySelector('[data-testid="stApp"]')
  .getAttribute('data-test-connection-state') === 'CONNECTED'"""
SCENARIO = "dist=zipf&s=1.5&k=20&eps=1&n=2000&seed=3"


def slides(lab: Lab) -> None:
    lab.slide("Privacy ε")
    lab.page.wait_for_url(lambda url: "eps=1&" not in url)
    lab.settle()
    query = lab.query
    lab.press("New draw")  # which does not do the first thing once more
    assert query["seed"] == "3"
    assert lab.query == {**query, "seed": "4"}


def goes(lab: Lab) -> None:
    lab.go("Estimators")
    assert "seed=3" in lab.page.url


def test_after_the_server_was_killed_all_goes_on(profiles, tmp_path):
    """In two tabs, each of which does something else first; and in a room: the phone that could not send sends, and the
    projector counts on by itself. That what was thanked for is there: tests/server/test_room_requests.py."""
    port, rooms = free_port(), str(tmp_path / "rooms.sqlite")
    with started("app.py", ROOT, tmp_path, port=port, RR_ROOMS=rooms) as server:
        teacher, projector, *others = (Lab(profiles(), server.address) for _ in range(4))
        labs = dict(zip((slides, goes), others, strict=True))
        for lab in others:
            lab.open(f"/noisy_histogram?{SCENARIO}")
        teacher.page.set_viewport_size(PROJECTOR)
        teacher.open("/room").choose("Question", "Did you have breakfast today?")
        press(teacher, "Open a room")
        code = code_of(teacher)
        projector.open(f"/room?room={code}")
        phone = Phone(Lab(profiles(**PHONE), server.address), code)
        phone.flip("No")
        server.process.kill()
        server.process.wait()
        phone.page.get_by_role("button", name="Send", exact=True).click()
        phone.page.get_by_text("does not reach the server").wait_for()
    with started("app.py", ROOT, tmp_path, port=port, RR_ROOMS=rooms):
        phone.page.get_by_role("button", name="Send again").click()
        phone.wait_for("Thank you")
        projector.page.bring_to_front()
        projector.page.get_by_text("1 person has answered.").wait_for()
        teacher.page.bring_to_front()
        teacher.page.get_by_text("1 report").wait_for()
        press(teacher, "Close")
        # Its page also runs by itself.
        teacher.page.get_by_role("button", name="Open again", exact=True).wait_for()
        assert kept(teacher, code)["state"] == "closed"
        for act, lab in labs.items():
            lab.page.bring_to_front()
            lab.page.wait_for_function(_CONNECTED, timeout=PATIENCE)
            act(lab)
            lab.settle()
            assert lab.page.get_by_test_id("stException").count() == 0
            assert lab.chart("estimators" if act is goes else "noisy_histogram").count() == 1
        for lab in (teacher, projector, phone, *others):
            lab.page.close()
