"""Work that takes seconds: a job with progress and Stop, whose result is kept, and whose end is told."""

from __future__ import annotations

import pytest

from pages._ui import estimators, long_run
from rr_core.repeats import repeat
from server import jobs, sessions
from tests.app.opening import charts, checked, opened, widget


@pytest.fixture(autouse=True)
def nothing_shared():
    sessions.SHARED.clear()


def start(query=""):
    """The page, whose next run repeats the draw."""
    page = opened("estimators", f"{query}&part=repeat")
    checked(page.button_group(key="repeat_times").set_value(50).run())
    widget(page, "Repeat").click()
    return page


def test_a_run_is_a_job_of_its_memory_with_low_priority_and_those_of_many_categories_come_one_by_one(
    monkeypatch,
):
    given = []
    run = jobs.run

    def watched(*args, memory, lane, **named):
        given.append((memory, lane))
        return run(*args, **named)

    monkeypatch.setattr(jobs, "run", watched)
    for k in (50, 30_000):
        page = checked(start(f"dist=zipf&k={k}").run())
        assert len(charts(page)) == 4
    assert given == [
        (50 * sessions.BYTES_PER_CATEGORY, "run"),
        (30_000 * sessions.BYTES_PER_CATEGORY, "large"),
    ]


def test_a_run_waits_for_room_and_says_when_there_is_none(monkeypatch):
    asked = []

    def no_room(size, **about):
        asked.append(size)
        raise sessions.NoRoom("There is no room.")

    page = start("dist=zipf&k=20")
    monkeypatch.setattr(sessions, "room", no_room)
    checked(page.run())
    assert asked == [20 * sessions.BYTES_PER_CATEGORY]
    assert "There is no room." in [box.value for box in page.warning]


def test_a_run_that_is_lost_is_told_and_can_be_started_again(monkeypatch):
    def lost(*args, **named):
        raise jobs.Lost("It broke off.")

    page = start()
    monkeypatch.setattr(jobs, "run", lost)
    checked(page.run())
    assert "It broke off." in [box.value for box in page.warning]
    monkeypatch.undo()
    checked(widget(page, "Repeat").click().run())
    assert len(charts(page)) == 4


def test_a_run_that_waits_takes_what_another_session_has_made_meanwhile(monkeypatch):
    """A class presses Repeat on one link: two runs at most, not a hundred."""
    checked(start("dist=zipf&k=20").run())
    ((key, result),) = [
        (key, found) for key, (found, _) in sessions.SHARED._results.items() if key[0] == "repeat"
    ]
    sessions.SHARED.clear()
    page = start("dist=zipf&k=20")

    def waits(work, look, **named):
        look(9, None)
        sessions.SHARED.put(key, result)
        look(9, None)
        raise AssertionError("it waited on")

    monkeypatch.setattr(jobs, "run", waits)
    assert len(charts(checked(page.run()))) == 4


def test_a_run_ends_when_its_visitor_has_left(monkeypatch):
    """Streamlit itself would run on for nobody."""
    now, steps = 0.0, []

    def one_by_one(draw, times, target):
        nonlocal now
        for step in range(times):
            steps.append(step)
            now += long_run._GONE / 2
            yield next(repeat(draw, 1, target))

    monkeypatch.setattr(long_run.time, "monotonic", lambda: now)
    monkeypatch.setattr(sessions, "has_left", lambda session: len(steps) > 3)
    monkeypatch.setattr(estimators, "repeat", one_by_one)
    checked(start().run())
    assert len(steps) == 6  # three with a visitor, and until he was gone for more than _GONE
    # a part of it is nobody else's
    assert not [key for key in sessions.SHARED._results if key[0] == "repeat"]
