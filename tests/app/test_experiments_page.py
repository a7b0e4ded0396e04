"""The page of experiments: stored numbers at once, runs that are stopped and resumed, several sessions, own sweeps."""

from __future__ import annotations

import gc
import weakref
from functools import cache

import numpy as np
import pytest

from pages._ui.experiments import runs
from pages._ui.experiments.settings import CELLS, TITLES
from rr_core import reference
from rr_core.experiments.claims import figure_claims
from rr_core.experiments.grid import PAPER_FIGURES, Settings, Sweep, over
from rr_core.experiments.ranking import leading
from rr_core.experiments.run import SweepResult, run
from rr_core.experiments.storage import stored_result
from rr_core.experiments.winner_map import winner_map
from rr_core.io import experiments as files
from rr_core.words.experiments import evidence
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

NAMES = {"inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}


# What was stored with the app


@pytest.mark.slow
@pytest.mark.parametrize("key", ["1a", "2a"])
def test_a_figure_of_the_paper_opens_with_the_stored_numbers(key):
    page, result, preset = (
        opened("experiments", f"sweep={key}"),
        stored_result(CELLS[key]),
        PAPER_FIGURES[key],
    )
    cells, settings = len(result.cells), result.sweep.settings
    assert widget(page, "Sweep").value == key
    assert "when this version was made" in words(page)
    assert f"{cells} of {cells} cells, {settings.seeds:,} collections" in words(page)
    m = settings.metrics.index(preset.metric)
    groups = {}
    for one in result.cells:
        third = one.cell.n if preset.along == "epsilon" else one.cell.epsilon
        groups.setdefault((one.cell.dist, one.cell.s, one.cell.k, third), []).append(one)
    known = {
        NAMES[name]: [[c.mean[m, e] / c.cell.k for c in cells] for cells in groups.values()]
        for e, name in enumerate(settings.estimators)
    }
    drawn = [one for one in charts(page)[0]["data"] if one["name"] in known and len(values(one["x"])) > 1]
    assert len(drawn) >= 9
    for one in drawn:
        assert any(np.allclose(values(one["y"]), line, 1e-6, 0) for line in known[one["name"]]), one["name"]
    assert_claims(page, result)
    assert "Resume" not in labels_of(page)
    assert not widget(page, "Run").disabled


@pytest.mark.slow
def test_the_main_grid_opens_with_the_map_of_the_stored_numbers():
    page, result = opened("experiments"), stored_result(CELLS["main"])
    assert widget(page, "Sweep").options == list(TITLES.values())
    assert set(CELLS) | {"3", "own"} == set(TITLES)
    leads = [leading(result, one, "mse") for one in result.cells if (one.cell.s, one.cell.k) == (1.3, 50)]
    reading = charts(page)[0]["alt"]
    assert reading.startswith(f"Zipf s = 1.3, K = 50: of {len(leads)} cells, InvP has the smallest")
    for name, shown in NAMES.items():
        verb = "has the smallest mean squared error " * (shown == "InvP")
        assert f"{shown} {verb}in {sum(one.settled and one.best == (name,) for one in leads)}" in reading
    assert f"in {sum(lead.equal for lead in leads)} all are equal" in reading
    assert_claims(page, result)
    assert "600 of 600 cells, 100 collections in each" in words(page)


def test_what_the_paper_is_and_the_numbers_of_the_map_stand_on_the_page():
    page = opened("experiments", "dist=zipf&k=1000&s=1.3")
    (paper,) = (entry.text for entry in reference.entries("sources", "text") if entry.title == "The paper")
    assert "Pinzón" in paper
    assert "AAAI, 2026" in paper
    assert "(The paper introduced MLE\\*: Pinzón and others, AAAI 2026.)" in page.markdown[0].value
    (fold,) = [one for one in page.expander if one.label == "The map in numbers"]
    rows = [line.strip("| ").split(" | ") for line in fold.markdown[0].value.splitlines()]
    drawn = winner_map(stored_result(CELLS["main"]), "eps-n", "mse", {"population": "1.3", "k": 1000})
    assert rows[0] == [f"ε = {epsilon:g}" for epsilon in drawn.x]  # above nothing in the first column
    assert [row[0] for row in rows[2:]] == ["N = 10⁶", "N = 10⁵", "N = 10⁴", "N = 10³", "N = 10²"]
    for row, cells in zip(rows[:1:-1], drawn.rows, strict=True):
        for text, map_cell in zip(row[1:], cells, strict=True):
            lead = map_cell.leader
            if lead.settled and len(lead.best) == 1 and not lead.equal:
                name, ratio = text.replace("\\", "").partition(",")[0].split(" ")
                assert name == NAMES[lead.best[0]]
                assert float(ratio.rstrip("×")) == pytest.approx(lead.margin, rel=5e-3)


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


def test_an_unknown_sweep_in_a_link_is_one_sentence():
    page = opened("experiments", "sweep=figure99&map=n-k")
    (note,) = page.warning
    assert "“figure99” is not known here" in note.value
    assert widget(page, "Sweep").value == "main"
    assert page.query_params["sweep"] == "main"
    checked(widget(page, "Sweep").set_value("1a").run())
    assert not page.warning


@pytest.mark.slow
def test_numbers_of_collections_and_seeds_stay_and_are_run(house):
    page = opened("experiments", "sweep=1b")
    for seeds in (20, 30):  # each of them counts, not every other one
        checked(widget(page, "Collections per cell").set_value(seeds).run())
        assert widget(page, "Collections per cell").value == seeds
    checked(widget(page, "Seed of the run").set_value(9).run())
    for key in ("own", "1b"):
        checked(widget(page, "Sweep").set_value(key).run())
    assert (widget(page, "Collections per cell").value, widget(page, "Seed of the run").value) == (30, 9)
    press(page, "Run")
    assert seen(page, "1b").job.sweep == Sweep(
        CELLS["1b"], Settings(**{**vars(SETTINGS), "seeds": 30, "seed": 9})
    )


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
    assert job.state == "stopped"
    checked(page.run())
    assert gate.ended
    assert all(future.cancelled() for future, _, _ in gate.waiting)
    assert told(page) == []
    assert "Stopped after 3 of 8 cells" in words(page)
    assert "About Your own sweep: 3 of 8 cells" in words(page)
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
    assert charts(page)[0]["alt"] == charts(opened("experiments", "sweep=1a"))[0]["alt"]
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


# Several sessions


@pytest.mark.slow
def test_others_wait_with_their_place_told(house):
    first = started(house)
    second, third = (started(house, f"{OWN}&draw={draw}") for draw in (2, 3))
    house.gate(0, 8)
    assert told(second) == ["Waiting: 1 other run first; you are next."]
    assert told(third) == ["Waiting: 2 other runs first; yours is the second in the queue."]
    house.finish(0, seen(first).job)
    house.gate(1, 8)
    assert told(checked(third.run())) == ["Waiting: 1 other run first; you are next."]
    press(third, "Stop")
    assert "Stopped before the first cell was done" in words(third)
    assert "No cell of this sweep is computed yet" in words(third)
    house.finish(1, seen(second).job)
    assert len(house.gates) == 2
    assert seen(second).result.same(own(2))


@pytest.mark.slow
def test_what_others_run_is_told(house):
    started(house, "sweep=1a")
    house.gate(0, 25).step()
    house.wait(lambda: house.queue._jobs[0].result.cells)
    told_to = "being run on this server, with 100 collections and seed 1: 1 of 25 cells so far"
    assert told_to in words(opened("experiments", "sweep=1a"))
    assert "being run on this server" not in words(opened("experiments", "sweep=2a"))


def test_what_was_picked_above_the_curves_is_kept_for_each_sweep():
    page = opened("experiments", "sweep=1a")
    checked(page.button_group(key="exp_curves_shown_1a").set_value("sum").run())
    checked(page.button_group(key="exp_curves_populations_1a").set_value([("zipf", 5.0)]).run())
    title = charts(page)[0]["layout"]["yaxis"]["title"]["text"]
    assert title.startswith("MSE, summed")
    checked(widget(page, "Sweep").set_value("2a").run())
    assert charts(page)[0]["layout"]["yaxis"]["title"]["text"].startswith("MSE per category")
    checked(widget(page, "Sweep").set_value("1a").run())
    assert charts(page)[0]["layout"]["yaxis"]["title"]["text"] == title
    assert page.button_group(key="exp_curves_populations_1a").value == [("zipf", 5.0)]


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
    for finding in figure_claims(result, "mse"):
        assert f"{finding.verdict}. {evidence(finding)}" in words(page)
    assert charts(page)
    assert not house.queue._finished
    checked(stranger.run())
    assert not charts(stranger)
    assert "fruit" not in words(stranger)
    assert not kept(stranger)


@pytest.mark.slow
def test_figure_3_runs_on_a_table_of_the_app_without_a_file(house):
    page = opened("experiments", "sweep=3&dist=exam")
    assert "No file at hand?" in words(page)
    assert "Run" not in [one.label for one in page.button]  # that table is made up
    page = opened("experiments", "sweep=3&dist=work")
    assert "About Work class (census), chosen in the sidebar: 10 cells, 20 collections in each" in words(page)
    press(page, "Run")
    house.gate(0, 10)
    finished(house, page, key="3")
    sweep = Sweep(
        over(dist="work", k=9, epsilon=range(1, 11), n=32_561),
        Settings(20, people="rounded", estimators=SETTINGS.estimators, bias=False),
    )
    assert seen(page, "3").result.same(run(sweep))
    assert charts(page)


def shares_drawn(page):
    """The histogram beside the curves, as people of 79."""
    (one,) = [trace for trace in charts(page)[0]["data"] if trace["name"] == "Population"]
    return np.rint(values(one["y"]) * 79).tolist()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_saved_sweep_looks_the_same_in_another_session_and_a_broken_file_changes_nothing(house):
    first = finished(house, started(house))
    assert [one.label for one in first.get("download_button")] == ["Sweep (Parquet)", "Sweep (CSV)"]
    page = bring(opened("experiments", "sweep=3"), "kept.parquet", files.parquet_file(seen(first).result))
    assert widget(page, "Sweep").value == "own"
    assert "Opened from a file" in words(page)
    assert seen(page).result.same(own())
    assert [one["data"] for one in charts(page)] == [one["data"] for one in charts(first)]
    (uploader,) = page.file_uploader
    assert uploader.value is None  # ready for the next one
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


# Side by side


@pytest.mark.slow
def test_an_equal_run_is_the_same_bit_for_bit_and_another_differs_by_chance(house):
    page = finished(house, started(house))
    assert "Run or open another sweep" in words(page)  # not with itself
    press(page, "Run")
    drawn = len(charts(page))
    checked(widget(page, "Compare with").set_value("Your own sweep · Run 1: 4 collections, seed 1").run())
    assert "The same, bit for bit: 8 cells in common" in words(page)
    assert len(charts(page)) == drawn + 2  # nothing before a run is chosen
    checked(widget(page, "Seed of the sweep").set_value(2).run())
    press(page, "Run")
    finished(house, page, 1)
    picker = widget(page, "Compare with")
    titles = [f"Your own sweep · Run {number}: 4 collections, seed 1" for number in (2, 1)]
    assert picker.options == titles
    checked(picker.set_value(titles[0]).run())
    assert "different users" in words(page)
    # no yardstick for other users
    assert " standard errors**" not in "".join(one.value for one in page.markdown)
    assert widget(page, "Numbers from").options[-1] == "Run 3: 4 collections, seed 2"


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
