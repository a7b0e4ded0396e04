"""A sweep of one's own, one's own histogram, results as files there and back, and runs side by side."""

from __future__ import annotations

from functools import cache

import numpy as np

from pages._ui.experiments import runs
from pages._ui.experiments.sweeps import CELLS
from rr_core.experiments.claims import figure_claims
from rr_core.experiments.grid import Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.experiments.storage import stored_result
from rr_core.figures.experiments_sentences import evidence
from rr_core.io import experiments as files
from tests.app.opening import charts, checked, opened, widget
from tests.app.sweeping import (
    CELLS_OF_OWN,
    OWN,
    SETTINGS,
    bring,
    may_run,
    own,
    press,
    seen,
    started,
    typed,
    values,
    words,
)

FRUIT = b"fruit,count\napple,40\nplum,20\nfig,10\npear,5\ndate,1\nkiwi,1\nlime,1\nsloe,1\n"


# A sweep of one's own


def test_a_wrong_value_is_refused_in_a_sentence():
    page = opened("experiments", OWN)
    assert "8 cells, 4 collections each" in words(page)
    for field, text, right, sentence in (
        ("Categories, values of K", "0, 5", "5,10", "Categories K goes from 2"),
        ("Privacy, values of ε", "10-1", "1,2", "runs downwards"),
        ("Populations", "upload", "1.3", "upload it first"),
        ("Users, values of N", "1-1000", "many", "4,000 cells"),
        ("Users, values of N", "many", "100,1000", "“many” cannot be read"),
    ):
        if text != "many":
            typed(page, field, text)
        (error,) = page.error
        assert sentence in error.value.replace("\\", "")
        assert not may_run(page)
        typed(page, field, right)
    assert not page.error
    assert may_run(page)


def test_what_is_typed_is_run_and_comes_back_by_link(house):
    page = opened("experiments", "sweep=own")
    typed(page, "Populations", "1.3")
    typed(page, "Categories, values of K", "5,10")
    typed(page, "Privacy, values of ε", "1-2")
    typed(page, "Users, values of N", "100, 1000")
    checked(widget(page, "Collections per cell").set_value(4).run())
    press(page, "Run")
    house.finish(0, seen(page).job)
    checked(page.run())
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


def test_figure_3_runs_on_ones_own_histogram_and_stays_there(house):
    page = with_fruit()
    assert "About your file fruit.csv: 10 cells, 20 collections in each" in words(page)
    press(page, "Run")
    house.gate(0, 10)
    stranger = opened("experiments", "sweep=3")
    house.finish(0, seen(page, "3").job)
    checked(page.run())
    result = seen(page, "3").result
    fruit = page.session_state["_upload"].population
    assert fruit.probabilities.tolist() == [count / 79 for count in (40, 20, 10, 5, 1, 1, 1, 1)]
    sweep = Sweep(
        over(dist=fruit.key, k=8, epsilon=range(1, 11), n=79),
        Settings(20, people="rounded", estimators=SETTINGS.estimators, bias=False),
    )
    assert result.same(run(sweep, populations={fruit.key: fruit}))
    for finding in figure_claims(result, "mse"):
        assert f"{finding.verdict}. {evidence(finding)}" in words(page)
    assert charts(page)
    assert not house.turns._finished
    checked(stranger.run())
    assert not charts(stranger)
    assert "fruit" not in words(stranger)
    assert not stranger.session_state["_exp_session"].runs


def shares_drawn(page):
    """The histogram beside the curves, as people of 79."""
    (one,) = [trace for trace in charts(page)[0]["data"] if trace["name"] == "Population"]
    return np.rint(values(one["y"]) * 79).tolist()


def test_a_saved_histogram_sweep_comes_back_with_and_without_the_histogram(house):
    page = press(with_fruit(), "Run")
    gate = house.gate(0, 10)
    for _ in range(4):
        gate.step()
    house.wait(lambda: len(seen(page, "3").result.cells) == 4)
    press(page, "Stop")
    data = files.parquet_file(seen(page, "3").result)
    stranger = bring(opened("experiments", "sweep=own"), "fruit.parquet", data)
    assert widget(stranger, "Sweep").value == "3"
    assert "Stopped after 4 of 10 cells" in words(stranger)
    assert shares_drawn(stranger) == []  # a file of results does not bring the histogram along
    assert "moderately concentrated: InvP and InvN alternate, as on ACSIncome" in words(stranger)
    assert widget(stranger, "Resume").disabled
    owner = bring(with_fruit(), "fruit.parquet", data)
    assert shares_drawn(owner) == [40, 20, 10, 5, 1, 1, 1, 1, 1]  # the last one to its far edge
    press(owner, "Resume")
    house.gate(1, 6)
    house.finish(1, seen(owner, "3").job)
    assert len(seen(owner, "3").result.cells) == 10


# Files


@cache
def part(done):
    return SweepResult(own().sweep, own().cells[:done])


def test_a_saved_sweep_looks_the_same_in_another_session(house):
    first = started(house)
    house.finish(0, seen(first).job)
    checked(first.run())
    assert [one.label for one in first.get("download_button")] == ["Sweep (Parquet)", "Sweep (CSV)"]
    second = bring(opened("experiments", "sweep=3"), "kept.parquet", files.parquet_file(seen(first).result))
    assert widget(second, "Sweep").value == "own"
    assert "Opened from a file" in words(second)
    assert seen(second).result.same(own())
    assert [one["data"] for one in charts(second)] == [one["data"] for one in charts(first)]
    (uploader,) = second.file_uploader
    assert uploader.value is None  # ready for the next one


def test_a_part_that_was_saved_goes_on_elsewhere(house):
    page = bring(opened("experiments", "sweep=3"), "part.csv", files.csv_file(part(5)))
    assert "Stopped after 5 of 8 cells" in words(page)
    press(page, "Resume")
    assert len(house.gate(0, 3).waiting) == 3
    house.finish(0, seen(page).job)
    checked(page.run())
    assert seen(page).result.same(own())


def test_a_file_of_a_sweep_of_the_paper_goes_to_its_place():
    stored = stored_result(CELLS["1a"])
    page = bring(opened("experiments", "sweep=own"), "1a.parquet", files.parquet_file(stored))
    assert widget(page, "Sweep").value == "1a"
    assert page.query_params["sweep"] == "1a"
    picker = widget(page, "Numbers from")
    assert picker.options == ["Stored: 100 collections, seed 1", "File 1: 1a.parquet"]
    assert picker.value == 1
    other = widget(page, "Compare with")
    checked(other.set_value(other.options[0]).run())
    assert "The same, bit for bit: 25 cells in common" in words(page)
    assert charts(page)[0] == charts(opened("experiments", "sweep=1a"))[0]
    checked(picker.set_value(0).run())
    assert "when this version was made" in words(page)
    checked(widget(page, "Sweep").set_value("main").run())
    checked(widget(page, "Sweep").set_value("1a").run())
    assert widget(page, "Numbers from").value == 0


def test_a_broken_file_is_one_sentence_and_what_was_there_stays():
    page = opened("experiments", "sweep=1a")
    before = charts(page)
    nothing = files.parquet_file(SweepResult(Sweep(CELLS_OF_OWN), ()))
    for name, data, sentence in (
        ("a.csv", b" ", "The file is empty"),
        ("a.csv", b"fruit,count\napple,5\n", "not a sweep that was saved here"),
        ("a.parquet", nothing, "no rows"),
        ("a.csv.gz", b"\x1f\x8b\x08broken", "cut short"),
    ):
        bring(page, name, data)
        (box,) = page.error
        assert sentence in box.value.replace("\\", "")
        assert "What was shown before stays" in box.value
        assert charts(page) == before
        assert widget(page, "Sweep").value == "1a"
    bring(page, "part.parquet", files.parquet_file(part(5)))
    assert not page.error
    assert seen(page).result.same(part(5))


# Side by side


def test_an_equal_run_is_the_same_bit_for_bit_and_another_differs_by_chance(house):
    page = started(house)
    house.finish(0, seen(page).job)
    checked(page.run())
    assert "Run or open another sweep" in words(page)  # not with itself
    press(page, "Run")
    drawn = len(charts(page))
    checked(widget(page, "Compare with").set_value("Your own sweep · Run 1: 4 collections, seed 1").run())
    assert "The same, bit for bit: 8 cells in common" in words(page)
    assert len(charts(page)) == drawn + 2  # nothing before a run is chosen
    checked(widget(page, "Seed of the sweep").set_value(2).run())
    press(page, "Run")
    house.finish(1, seen(page).job)
    checked(page.run())
    picker = widget(page, "Compare with")
    titles = [f"Your own sweep · Run {number}: 4 collections, seed 1" for number in (2, 1)]
    assert picker.options == titles
    checked(picker.set_value(titles[0]).run())
    assert "different users" in words(page)
    assert " standard errors**" not in "".join(
        one.value for one in page.markdown
    )  # no yardstick for other users
    assert widget(page, "Numbers from").options[-1] == "Run 3: 4 collections, seed 2"


def test_a_run_that_measured_something_else_is_named_as_it_is():
    page = bring(opened("experiments", "sweep=3"), "all.csv", files.csv_file(own()))
    bring(page, "x [evil](http://evil.example).csv", files.csv_file(own(metrics=("tv",))))
    checked(widget(page, "Numbers from").set_value(0).run())
    picker = widget(page, "Compare with")
    checked(picker.set_value(picker.options[0]).run())
    (said,) = [one.value for one in page.caption if "did not measure" in one.value]
    assert "[evil](" not in said
    assert "[evil](" in said.replace("\\", "")


def test_only_so_many_runs_are_kept_and_one_under_way_is_never_dropped(house, monkeypatch):
    assert runs._MOST == 8
    monkeypatch.setattr(runs, "_MOST", 3)
    page = started(house)
    for number in range(1, 5):
        checked(widget(page, "Sweep").set_value("3").run())
        bring(page, f"{number}.csv", files.csv_file(part(number)))
    kept = page.session_state["_exp_session"].runs
    assert kept[0].active
    assert [one.label for one in kept[1:]] == ["File 4: 3.csv", "File 5: 4.csv"]
    assert "Also under way" in words(page)
    press(page, "Stop")
    assert not kept[0].active
