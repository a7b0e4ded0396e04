"""The part of the page of experiments about other protocols: figures and truths, links, verdicts, a new run, the file."""

from __future__ import annotations

import csv
import io

import pytest

from pages._ui.experiments import protocols
from pages._ui.experiments.protocols import SETTINGS, ProtocolSettings
from rr_core.experiments.protocols import columns, sentences, stored
from rr_core.figures.style import reading
from rr_core.words.experiments_protocols import lopuhaa_evidence, lopuhaa_says
from tests.app.experiments import words
from tests.app.opening import charts, checked, open_part, opened, widget
from tests.figures.test_experiments_protocols import curves_of

PART = "part=protocols"


@pytest.mark.parametrize(
    ("figure", "bits", "whose"),
    [("2", "oue", "fixed"), ("3", "rappor", "sampled"), ("5", "oue", "sampled"), ("more", "rappor", "fixed")],
)
def test_every_figure_with_every_truth(figure, bits, whose):
    page = opened("experiments", f"{PART}&fig={figure}&unary={bits}&against={whose}")
    rows = protocols._rows(ProtocolSettings(figure, whose, bits))
    assert reading(curves_of(rows)) in [chart["alt"] for chart in charts(page)]
    assert len({(row.setting.protocol, row.truth) for row in rows}) == 1
    both = figure in ("2", "3", "more")
    assert {row.truth for row in rows} == {whose if both else "fixed"}
    choices = [one.label for one in page.button_group]
    assert ("Compared with" in choices) == both
    assert ("Unary encoding" in choices) == (figure in ("3", "5", "more"))


def test_the_tab_opens_and_every_sentence_has_its_verdict_and_numbers():
    page = open_part(opened("experiments"), "experiments", "protocols")
    said = words(page)
    for one in sentences(stored()):
        assert f"| {lopuhaa_says(one)} | {protocols.with_symbol(one.verdict)} |" in said
        assert lopuhaa_evidence(one) in said


def test_a_link_carries_the_settings_and_what_is_wrong_is_told():
    assert set(SETTINGS.write(ProtocolSettings()).values()) == {None}
    chosen = ProtocolSettings("more", "sampled", "rappor", "ratio", "k_rr", 7, 0.5, 70)
    written = SETTINGS.write(chosen)
    assert SETTINGS.read(written) == (chosen, ())
    assert SETTINGS.read({}) is None
    settings, notes = SETTINGS.read({"fig": "6", "run_k": "1", "run_eps": "x", "unary": "olh"})
    assert settings == ProtocolSettings(k=2)
    assert len(notes) == 4


def test_a_new_run_is_simulated_and_told():
    page = opened("experiments", f"{PART}&by=sue&run_k=4&run_eps=1&run_n=60")
    checked(widget(page, "Simulate 100 collections").click().run())
    assert "from 100 collections" in words(page)
    assert "These people." in words(page)


def test_the_file_has_what_is_drawn():
    rows = protocols._rows(ProtocolSettings("5", encoding="rappor"))
    read = list(csv.DictReader(io.StringIO(protocols._csv(rows).decode("utf-8-sig"))))
    assert list(read[0]) == columns()
    assert [float(line["mle"]) for line in read] == [row.mean["mle"] for row in rows]
    assert {line["protocol"] for line in read} == {"sue"}
