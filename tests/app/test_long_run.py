"""Work that takes seconds: a server does so many at a time, and who comes later waits for a place."""

from __future__ import annotations

import threading

from pages._ui import estimators, long_run
from server import sessions
from tests.app.opening import charts, checked, opened, widget


def test_a_run_waits_while_the_server_is_busy_and_gives_its_place_back(monkeypatch):
    places, freed, began = threading.BoundedSemaphore(1), [], []
    monkeypatch.setattr(long_run, "_PLACES", places)
    repeat = estimators.repeat

    def watched(*given):
        began.append(len(freed))
        return repeat(*given)

    def leave():
        freed.append(True)
        places.release()

    monkeypatch.setattr(estimators, "repeat", watched)
    page = opened("estimators", "part=repeat")
    places.acquire()  # somebody else's run
    threading.Timer(1.0, leave).start()
    checked(page.button_group(key="repeat_times").set_value(50).run())
    checked(widget(page, "Repeat").click().run())
    assert began == [1]  # not before the other one had ended
    assert len(charts(page)) == 4
    assert places.acquire(blocking=False)


def test_a_run_waits_for_room_and_says_when_there_is_none(monkeypatch):
    asked = []

    def no_room(size, **about):
        asked.append(size)
        raise sessions.NoRoom("There is no room.")

    page = opened("estimators", "dist=zipf&k=20&part=repeat")
    checked(page.button_group(key="repeat_times").set_value(50).run())
    monkeypatch.setattr(sessions, "room", no_room)
    checked(widget(page, "Repeat").click().run())
    assert asked == [20 * sessions.BYTES_PER_CATEGORY]
    assert "There is no room." in [box.value for box in page.warning]


def test_a_run_ends_when_its_visitor_has_left(monkeypatch):
    """Streamlit itself would run on for nobody."""
    now, steps = 0.0, []
    repeat = estimators.repeat

    def one_by_one(draw, times, target):
        nonlocal now
        for step in range(times):
            steps.append(step)
            now += long_run._GONE / 2
            yield next(repeat(draw, 1, target))

    monkeypatch.setattr(long_run.time, "monotonic", lambda: now)
    monkeypatch.setattr(sessions, "has_left", lambda session: len(steps) > 3)
    monkeypatch.setattr(estimators, "repeat", one_by_one)
    page = opened("estimators", "part=repeat")
    checked(page.button_group(key="repeat_times").set_value(50).run())
    checked(widget(page, "Repeat").click().run())
    assert len(steps) == 6  # three with a visitor, and until he was gone for more than _GONE


def test_a_run_that_fails_gives_its_place_back(monkeypatch):
    places = threading.BoundedSemaphore(1)
    monkeypatch.setattr(long_run, "_PLACES", places)
    monkeypatch.setattr(estimators, "repeat", lambda *given: 1 / 0)
    page = opened("estimators", "part=repeat")
    widget(page, "Repeat").click().run()
    assert page.exception
    assert places.acquire(blocking=False)


def test_a_long_run_of_many_categories_takes_no_place_of_the_others(monkeypatch):
    places, large = threading.BoundedSemaphore(1), threading.BoundedSemaphore(1)
    monkeypatch.setattr(long_run, "_PLACES", places)
    monkeypatch.setattr(long_run, "_LARGE_PLACE", large)
    taken = []
    repeat = estimators.repeat

    def watched(*given):
        free = [one.acquire(blocking=False) for one in (places, large)]
        taken.append(free)
        for one, was_free in zip((places, large), free, strict=True):
            if was_free:
                one.release()
        return repeat(*given)

    monkeypatch.setattr(estimators, "repeat", watched)
    for k in (50, 30_000):
        page = opened("estimators", f"dist=zipf&k={k}&part=repeat")
        checked(page.button_group(key="repeat_times").set_value(50).run())
        checked(widget(page, "Repeat").click().run())
    assert taken == [[False, True], [True, False]]
