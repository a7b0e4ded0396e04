"""Work that takes seconds: a server does so many at a time, and who comes later waits for a place."""

from __future__ import annotations

import threading

from pages._ui import estimators, long_run
from tests.app.opening import checked, opened, widget


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
    assert len(page.get("plotly_chart")) == 4
    assert places.acquire(blocking=False)


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
