"""The page of protocols: every channel at the ends of its settings, links, tables of one's own, good and broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pages._ui.draw_results import DrawResults
from pages._ui.protocols import channel
from pages._ui.protocols.channel import SETTINGS
from rr_core import Scenario
from rr_core.protocols.settings import ChannelSettings
from rr_core.rounding import percent
from tests.app.opening import charts, checked, opened, words


@pytest.mark.parametrize(
    ("design", "scenario"),
    [
        ("geometric", "k=100&eps=1&n=1000"),
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


def test_data_have_no_truth():
    draw = Scenario("zipf", 3, 1.0, 1.0, 500, 3).draw()
    shown = channel._shown(DrawResults(draw), ChannelSettings("warner", p=50), None)
    assert channel._data_csv(shown).decode().splitlines()[0] == '"category","inv","mle"'


def test_long_names_stay_apart_in_the_data():
    names = tuple("a" * 45 + ending for ending in "xy")
    draw = Scenario("zipf", 3, 1.0, 1.0, 500, 3).draw()
    shown = channel._shown(DrawResults(draw), ChannelSettings("warner", p=50), None)
    saved = channel._data_csv(replace(shown, labels=names)).decode()
    assert all(name in saved for name in names)


def test_the_chances_beside_the_seed_say_that_they_are_those_of_k_rr():
    """Other chances of the page of protocols are called p and q, too: no report of Warner's is made with these."""
    page = opened("protocols", "channel=warner&dist=zipf&k=1000&eps=2")
    p, q = np.exp([2, 0]) / (np.exp(2) + 999)
    said = f"k-RR: p = {percent(p)} · q = {percent(q)} · eᵋ = {np.exp(2):.4g}"
    assert said in [one.value for one in page.caption]
