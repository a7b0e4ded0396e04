"""The page of protocols: every channel at the ends of its settings, links, tables of one's own, good and broken."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pages._ui.draw_results import DrawResults
from pages._ui.protocols import channel, posterior
from pages._ui.protocols.channel import SETTINGS
from rr_core import Scenario
from rr_core.protocols.settings import ChannelSettings
from rr_core.rounding import percent
from tests.app.opening import charts, checked, opened, widget, words


@pytest.mark.parametrize(
    ("design", "scenario"),
    [
        ("forced", "k=2&eps=0.01&n=1"),
        ("warner&ask=50", "k=12&eps=20&n=1000000000"),
        ("geometric", "k=100&eps=1&n=1000"),
        ("errors&wrong=50", "k=2&eps=0.01&n=1"),
        ("own", "k=12&eps=20&n=1000000000"),
    ],
)
def test_every_closer_look_at_the_ends(design, scenario):
    page = opened("protocols", f"dist=zipf&{scenario}&channel={design}")
    (looks,) = [one for one in page.get("button_group") if one.label == "Look closer"]
    for look in looks.options:
        page = checked(look_closer(page, look))
        assert len(charts(page)) == 3 if look == "IBU" and "k=100" not in scenario else 2
    assert ("How good can it get?" in looks.options) == ("tells all" in words(page))


def look_closer(page, look):
    (looks,) = [one for one in page.get("button_group") if one.label == "Look closer"]
    return looks.set_value(look).run()


def test_a_choice_is_in_the_link_and_the_default_is_not():
    assert SETTINGS.write(ChannelSettings()) == {}
    assert SETTINGS.write(ChannelSettings("warner", p=20)) == {"channel": "warner", "ask": "20"}
    settings, notes = SETTINGS.read({"channel": "warner", "ask": "120"})
    assert settings.p == 100
    assert "outside the range" in notes[0]
    settings, notes = SETTINGS.read({"channel": "nobody's", "matrix": "1 2; 3"})
    assert settings == ChannelSettings()
    assert len(notes) == 2
    assert SETTINGS.read({"k": "5"}) is None
    # A link from when forced answers opened the page names its settings alone.
    assert SETTINGS.read({"forced": "30"}) == (ChannelSettings("forced", forced=30), ())


def test_a_link_opens_its_own_table_and_a_broken_one_is_told():
    page = opened("protocols", "channel=own&matrix=0.9 0.1;0.5 0.5")
    assert "The table has 2" in words(page)
    page = opened("protocols", "channel=own&matrix=0.9 0.1;0.5 0.6")
    assert "Row 2 sums to 1.1" in " ".join(one.value for one in page.warning).replace("\\", "")


@pytest.mark.parametrize(
    ("channel", "last", "others"),
    [
        ("warner", "not so", 11),
        ("own&matrix=0.9 0.1;0.5 0.5", "all others", 11),
        ("own&matrix=0.9 0.1 0;0.5 0.5 0;0 0 1", "all others", 10),
    ],
)
def test_merged_categories_have_the_name_that_stands_in_the_table(channel, last, others):
    page = opened("protocols", f"dist=exam&channel={channel}")
    assert f"the last, “{last}”, stands for the {others} rarest of them" in words(page)
    assert last in str(charts(page)[1]["layout"]["yaxis"]["ticktext"])


def test_a_broken_table_leaves_the_last_one_in_use():
    page = opened("protocols", "k=3&dist=zipf&channel=own&matrix=0.9 0.1 0;0 1 0;0 0.2 0.8")
    before = charts(page)[1]["data"]
    page = checked(page.text_area[0].set_value("0.9 0.1; 0.5").run())
    (error,) = page.error
    assert "row 2 has 1" in error.value
    assert charts(page)[1]["data"] == before


def test_a_file_is_read_and_a_broken_one_is_refused():
    page = opened("protocols", "k=3&dist=zipf&channel=own")
    data = b",a,b,c,d\nx,.7,.1,.1,.1\ny,.1,.7,.1,.1\n"
    page = checked(page.file_uploader[0].set_value(("m.csv", data, "text/csv")).run())
    assert "The table has 2" in words(page)
    assert "report “" not in words(page)
    page = checked(page.file_uploader[0].set_value(("m.csv", b"\x89PNG\r\n", "text/csv")).run())
    assert len(page.error) == 1
    assert "The table has 2" in words(page)


def test_labels_of_a_file_are_shown_as_text():
    evil = b",<b>a</b>,[x](http://x)\n![i](http://x),1,0\n<script>,0,1\n"
    page = opened("protocols", "k=3&dist=zipf&channel=own")
    page = checked(page.file_uploader[0].set_value(("m.csv", evil, "text/csv")).run())
    assert "<script>" not in str(charts(page))
    assert "![i](" not in words(page)


def test_a_channel_is_chosen_by_hand():
    page = opened("protocols", "k=5&dist=zipf")
    page = checked(widget(page, "Channel").set_value("warner").run())
    page = checked(widget(page, "Asked “Are you …?”, % of people").set_value(20.0).run())
    assert "ε = 1\\.39" in words(page)


def test_data_have_no_truth():
    draw = Scenario("zipf", 3, 1.0, 1.0, 500, 3).draw()
    shown = channel._shown(DrawResults(draw), ChannelSettings("warner", p=50), None)
    assert channel._data_csv(shown).decode().splitlines()[0] == '"category","inv","mle"'


@pytest.mark.parametrize(
    "scenario", ["k=1500000&eps=0.01&n=1000", "k=2&eps=20&n=1000000000", "k=60&eps=20&n=50"]
)
def test_the_posterior_is_drawn_of_so_many_or_says_of_how_many_it_is(scenario):
    page = opened("protocols", f"part=posterior&dist=zipf&{scenario}&prior=own&alpha=0.01")
    few = "k=60" in scenario
    assert len(charts(page)) == (3 if few else 0)
    assert [("up to 2,000 categories and 1,000,000 users" in one.value) for one in page.info] == [True] * (
        not few
    )


def test_a_prior_is_in_the_link_and_the_default_is_not():
    assert posterior.PRIOR.write(posterior.options.PriorSettings()) == {}
    assert posterior.PRIOR.write(posterior.options.PriorSettings("own", 3.0)) == {
        "prior": "own",
        "alpha": "3",
    }
    settings, notes = posterior.PRIOR.read({"prior": "own", "alpha": "1e9"})
    assert settings.own == 1000
    assert len(notes) == 1


def test_long_names_stay_apart_in_the_data_and_a_link_is_read_whole():
    names = tuple("a" * 45 + ending for ending in "xyz")
    draw = Scenario("zipf", 3, 1.0, 1.0, 500, 3).draw()
    shown = replace(
        channel._shown(DrawResults(draw), ChannelSettings("warner", p=50), None), labels=names[:2]
    )
    assert names[0] in channel._data_csv(shown).decode()
    assert names[1] in channel._data_csv(shown).decode()
    named = replace(draw, population=replace(draw.population, labels=names))
    found = SimpleNamespace(mean=[0.2] * 3, low=[0.1] * 3, high=[0.3] * 3)
    assert all(name in posterior._data_csv(named, found).decode() for name in names)
    long = "1 0; 0 1" + " " * 430
    assert channel._Matrix.parse(None, long, "usual") == (
        "usual",
        "The link's matrix was left out. It has more than 400 characters.",
    )


@pytest.mark.parametrize(
    ("name", "query", "whose"),
    [
        ("noisy_histogram", "", ""),
        *(("protocols", at, "k-RR: ") for at in ("channel=warner", "part=unary", "part=compare")),
    ],
)
def test_the_chances_beside_the_seed_say_that_they_are_those_of_k_rr_where_there_are_others(
    name, query, whose
):
    """Other chances of the page of protocols are called p and q, too: no report of Warner's is made with these."""
    page = opened(name, f"{query}&dist=zipf&k=1000&eps=2".strip("&"))
    p, q = np.exp([2, 0]) / (np.exp(2) + 999)
    said = f"{whose}p = {percent(p)} · q = {percent(q)} · eᵋ = {np.exp(2):.4g}"
    assert said in [one.value for one in page.caption]


def test_the_reports_through_a_table_of_k_rr_are_drawn_anew():
    draw = Scenario().draw()
    shown = channel._shown(DrawResults(draw), ChannelSettings("k_rr"), None)
    assert "with reports drawn anew" in channel.CHANNELS["k_rr"]["about"]
    assert (shown.collected.true_counts == draw.true_counts).all()
    assert (shown.collected.counts != draw.counts).any()
