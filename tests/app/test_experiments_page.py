"""The page of experiments: stored numbers at once, runs that are stopped and resumed, several sessions, own sweeps."""

from __future__ import annotations

import gc
import weakref
from functools import cache

import pytest

from pages._ui.experiments import runs
from pages._ui.experiments.settings import CELLS, TITLES
from rr_core.experiments.grid import Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.experiments.storage import stored_result
from rr_core.io import experiments as files
from server import sessions
from tests.app.experiments import (
    OWN,
    SETTINGS,
    assert_claims,
    bring,
    finished,
    kept,
    labels_of,
    may_run,
    own,
    press,
    seen,
    started,
    told,
    typed,
    values,
    words,
)
from tests.app.opening import charts, checked, opened, widget

# What was stored with the app


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1a", "main"])
def test_a_sweep_of_the_paper_opens_with_the_stored_numbers(key):
    """The numbers of its figures: tests/figures/test_experiments_map.py."""
    page, result = opened("experiments", f"sweep={key}"), stored_result(CELLS[key])
    assert widget(page, "Sweep").options == list(TITLES.values())
    assert widget(page, "Sweep").value == key
    assert "when this version was made" in words(page)
    assert f"{len(result.cells)} of {len(CELLS[key])} cells, 100 collections" in words(page)
    assert charts(page)
    assert_claims(page, result)
    assert "Resume" not in labels_of(page)
    assert not widget(page, "Run").disabled


def test_what_was_never_run_says_how_to():
    page = opened("experiments", "sweep=own")
    assert not charts(page)
    assert not widget(page, "Run").disabled
    page = opened("experiments", "sweep=3")
    assert not charts(page)
    assert "give it yours" in words(page)
    assert "Run" not in labels_of(page)
    press(page, "Choose a file")
    assert "Distribution file" in [one.label for one in page.file_uploader]


# Running


def test_run_stop_resume_is_the_same_as_in_one_go(house):
    page = started(house)
    assert widget(page, "Run").disabled
    assert "Resume" not in labels_of(page)
    gate = house.gate(0, 8)
    for _ in range(3):
        gate.step()
    house.wait(lambda: len(seen(page).result.cells) == 3)
    checked(page.run())
    (text,) = told(page)
    assert text.startswith("3 of 8 cells")
    assert page.get("progress")[0].proto.value == 37
    assert charts(page)  # of what is done so far
    job = seen(page).job
    press(page, "Stop")
    house.wait(lambda: job.is_over)
    checked(page.run())
    assert gate.ended
    assert all(future.cancelled() for future, _, _ in gate.waiting)
    assert told(page) == []
    assert "Stopped after 3 of 8 cells" in words(page)
    assert not widget(page, "Run").disabled
    press(page, "Resume")
    assert widget(page, "Run").disabled
    assert len(house.gate(1, 5).waiting) == 5
    finished(house, page, 1)
    assert seen(page).result.same(own())
    assert "Run here, 4 collections per cell, seed 1" in words(page)
    assert not {"Resume", "Stop"} & set(labels_of(page))
    assert_claims(page, own())


def test_one_run_at_a_time_whatever_is_pressed(house, monkeypatch):
    begin = runs.begin
    # A double press: both arrive before the button is disabled.
    monkeypatch.setattr(runs, "begin", lambda *asked: (begin(*asked), begin(*asked)))
    page = started(house)
    assert len(kept(page)) == 1
    assert len(house.queue._jobs) == 1
    assert not may_run(page)


@pytest.mark.slow
def test_a_run_goes_on_while_another_sweep_is_on_screen(house):
    page = started(house)
    checked(widget(page, "Sweep").set_value("1a").run())
    assert "Also under way: Your own sweep" in words(page)
    assert len(told(page)) == 1
    assert widget(page, "Run").disabled
    finished(house, page)
    assert "under way" not in words(page)
    assert not widget(page, "Run").disabled
    checked(widget(page, "Sweep").set_value("own").run())
    assert seen(page).result.same(own())
    assert charts(page)


def test_what_breaks_off_is_said_and_can_be_resumed(house, caplog):
    page = started(house)
    gate = house.gate(0, 8)
    gate.step()
    house.wait(lambda: len(seen(page).result.cells) == 1)
    gate.waiting.pop(0)[0].set_exception(MemoryError("no more"))
    house.wait(lambda: seen(page).job.is_over)
    checked(page.run())
    (box,) = page.error
    assert "broke off after 1 of 8 cells" in box.value
    press(page, "Resume")
    assert not page.error
    house.gate(1, 7)
    house.finish(1, seen(page).job)
    assert seen(page).result.same(own())
    assert "no more" in caplog.text


# A sweep of one's own


def test_a_wrong_value_is_refused_in_a_sentence():
    page = opened("experiments", OWN)
    assert "8 cells, 4 collections each" in words(page)
    for text, sentence in (("1-1000", "4,000 cells"), ("many", "“many” cannot be read")):
        typed(page, "Users, values of N", text)
        (error,) = page.error
        assert sentence in error.value.replace("\\", "")
        assert not may_run(page)
    typed(page, "Users, values of N", "100,1000")
    assert not page.error
    assert may_run(page)


FRUIT = b"fruit,count\napple,40\nplum,20\nfig,10\npear,5\ndate,1\nkiwi,1\nlime,1\nsloe,1\n"


@pytest.mark.slow
def test_what_is_typed_is_run_and_comes_back_by_link(house):
    page = opened("experiments", "sweep=own")
    typed(page, "Populations", "1.3")
    typed(page, "Categories, values of K", "5,10")
    typed(page, "Privacy, values of ε", "1-2")
    typed(page, "Users, values of N", "100, 1000")
    checked(widget(page, "Collections per cell").set_value(4).run())
    press(page, "Run")
    finished(house, page)
    assert seen(page).result.same(own())
    again = opened("experiments", "&".join(f"{name}={text}" for name, text in page.query_params.items()))
    assert [one.value for one in again.text_input] == ["1.3", "5,10", "1-2", "100, 1000"]
    assert widget(again, "Collections per cell").value == 4
    press(again, "Run")  # somebody had this very sweep computed
    assert charts(again) == charts(page)


# Figure 3


def with_fruit(query="sweep=3"):
    page = checked(widget(opened("experiments", query), "Distribution").set_value("upload").run())
    (panel,) = [one for one in page.file_uploader if one.label == "Distribution file"]
    checked(panel.set_value(("fruit.csv", FRUIT, "text/csv")).run())
    return press(page, "Use this distribution")


@pytest.mark.slow
def test_figure_3_runs_on_ones_own_histogram_and_stays_there(house):
    page = with_fruit()
    assert "About your file fruit.csv: 10 cells, 20 collections in each" in words(page)
    press(page, "Run")
    house.gate(0, 10)
    stranger = opened("experiments", "sweep=3")
    finished(house, page, key="3")
    result = seen(page, "3").result
    fruit = page.session_state["_held"].get("upload").population
    assert fruit.probabilities.tolist() == [count / 79 for count in (40, 20, 10, 5, 1, 1, 1, 1)]
    sweep = Sweep(
        over(dist=fruit.key, k=8, epsilon=range(1, 11), n=79),
        Settings(20, people="rounded", estimators=SETTINGS.estimators, bias=False),
    )
    assert result.same(run(sweep, populations={fruit.key: fruit}))
    assert charts(page)
    assert not house.queue._finished
    checked(stranger.run())
    assert not charts(stranger)
    assert "fruit" not in words(stranger)
    assert not kept(stranger)


@pytest.mark.slow
def test_a_saved_histogram_sweep_is_resumed_by_who_has_the_histogram(house):
    page = press(with_fruit(), "Run")
    gate = house.gate(0, 10)
    for _ in range(4):
        gate.step()
    house.wait(lambda: len(seen(page, "3").result.cells) == 4)
    press(page, "Stop")
    data = files.parquet_file(seen(page, "3").result)
    stranger = bring(opened("experiments", "sweep=own"), "fruit.parquet", data)
    assert "Stopped after 4 of 10 cells" in words(stranger)
    (drawn,) = [trace for trace in charts(stranger)[0]["data"] if trace["name"] == "Population"]
    assert values(drawn["y"]).size == 0  # a file of results does not bring the histogram along
    assert widget(stranger, "Resume").disabled
    owner = bring(with_fruit(), "fruit.parquet", data)
    press(owner, "Resume")
    house.gate(1, 6)
    house.finish(1, seen(owner, "3").job)
    assert len(seen(owner, "3").result.cells) == 10


# Files


@cache
def part(done):
    return SweepResult(own().sweep, own().cells[:done])


@pytest.mark.slow
def test_a_saved_sweep_looks_the_same_in_another_session_and_a_broken_file_changes_nothing(house):
    first = finished(house, started(house))
    assert [one.label for one in first.get("download_button")] == ["Sweep (Parquet)", "Sweep (CSV)"]
    page = bring(opened("experiments", "sweep=3"), "kept.parquet", files.parquet_file(seen(first).result))
    assert widget(page, "Sweep").value == "own"
    assert "Opened from a file" in words(page)
    assert seen(page).result.same(own())
    before = charts(page)
    for name, data, sentence in (
        ("a.csv", b"fruit,count\napple,5\n", "not a sweep that was saved here"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40, "compressed file is damaged"),
    ):
        bring(page, name, data)
        (box,) = page.error
        assert sentence in box.value.replace("\\", "")
        assert "What was shown before stays" in box.value
        assert charts(page) == before
    bring(page, "part.parquet", files.parquet_file(part(5)))
    assert not page.error
    assert seen(page).result.same(part(5))


@pytest.mark.slow
def test_a_file_of_a_sweep_of_the_paper_goes_to_its_place_and_is_compared():
    stored = stored_result(CELLS["1a"])
    page = bring(opened("experiments", "sweep=own"), "1a.parquet", files.parquet_file(stored))
    assert widget(page, "Sweep").value == "1a"
    picker = widget(page, "Numbers from")
    assert picker.options == ["Stored: 100 collections, seed 1", "File 1: 1a.parquet"]
    assert picker.value == 1
    other = widget(page, "Compare with")
    checked(other.set_value(other.options[0]).run())
    assert "The same, bit for bit: 25 cells in common" in words(page)
    checked(picker.set_value(0).run())
    assert "when this version was made" in words(page)


# Side by side


@pytest.mark.slow
def test_only_so_many_runs_are_kept_and_one_under_way_is_never_dropped(house, monkeypatch):
    assert runs._MOST_RUNS == 8
    monkeypatch.setattr(runs, "_MOST_RUNS", 3)
    page = started(house)
    for number in range(1, 5):
        checked(widget(page, "Sweep").set_value("3").run())
        bring(page, f"{number}.csv", files.csv_file(part(number)))
    first, *others = kept(page)
    assert first.active
    assert [one.label for one in others] == ["File 4: 3.csv", "File 5: 4.csv"]
    assert "Also under way" in words(page)
    press(page, "Stop")
    assert not first.active


def test_a_sweep_that_a_session_lost_is_told(house):
    page = finished(house, started(house))
    assert page.query_params["run"] == "here"
    assert not page.warning
    address = "&".join(f"{name}={page.query_params[name]}" for name in page.query_params)
    after = opened("experiments", address)  # of the server after a restart, or of somebody else
    (note,) = after.warning
    assert runs.LOST in note.value.replace("\\", "")
    checked(widget(after, "Sweep").set_value("main").run())
    assert "run" not in after.query_params


def test_the_runs_of_a_session_count_and_may_be_let_go_of(house):
    page = started(house)
    held = page.session_state["_held"]
    held.let_go()
    checked(page.run())
    assert seen(page).active  # its processes go on
    finished(house, page)
    assert held.size == pytest.approx(sessions.size_of(kept(page)), rel=0.1)
    assert held.size > 1000
    run = weakref.ref(seen(page))
    house.queue._finished.clear()
    held.let_go()
    for _ in range(2):
        assert runs.LET_GO in words(checked(page.run()))
        assert not kept(page)
    gc.collect()
    assert run() is None
    press(page, "Run")
    assert runs.LET_GO not in words(checked(page.run()))


def test_a_server_takes_so_many_sweeps_and_no_more(house, monkeypatch):
    monkeypatch.setattr("server.sweeps._MOST_JOBS", 2)
    first, second = started(house), opened("experiments", "sweep=own&ks=7")
    press(second, "Run")
    third = opened("experiments", "sweep=own&ks=8")
    assert widget(third, "Run").disabled
    assert "takes no more for now" in words(third)
    assert len(house.queue._jobs) == 2
    house.finish(0, seen(first).job)
    checked(third.run())
    assert not widget(third, "Run").disabled
