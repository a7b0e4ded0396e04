"""The part of the page of experiments about other protocols: figures and truths, links, verdicts, a new run, the file."""

from __future__ import annotations

import csv
import io

import pytest

from pages._ui.experiments import protocols
from pages._ui.experiments.protocols import SETTINGS, ProtocolSettings
from rr_core.experiments.protocols import columns, sentences, stored
from rr_core.figures.style import reading
from rr_core.words.experiments_protocols import FIGURE_NAMES, lopuhaa_evidence, lopuhaa_says
from tests.app.experiments import words
from tests.app.opening import charts, checked, open_part, opened, widget
from tests.figures.test_experiments_protocols import curves_of

PART = "part=protocols"


def drawn(page):
    """The figure of this part, by its reading."""
    return [chart["alt"] for chart in charts(page)]


@pytest.mark.parametrize(
    ("figure", "bits", "whose"),
    [
        (figure, bits, whose)
        for i, figure in enumerate(FIGURE_NAMES)
        for bits, whose in [("oue", "fixed"), ("rappor", "sampled"), ("oue", "sampled")][i % 2 : i % 2 + 2]
    ],
)
def test_every_figure_with_every_truth(figure, bits, whose):
    page = opened("experiments", f"{PART}&fig={figure}&unary={bits}&against={whose}")
    rows = protocols._rows(ProtocolSettings(figure, whose, bits))
    assert reading(curves_of(rows)) in drawn(page)
    assert len({(row.setting.protocol, row.truth) for row in rows}) == 1
    both = figure in ("2", "3", "more")
    assert {row.truth for row in rows} == {whose if both else "fixed"}
    choices = [one.label for one in page.button_group]
    assert ("Compared with" in choices) == both
    assert ("Unary encoding" in choices) == (figure in ("3", "5", "more"))


@pytest.mark.parametrize("query", ["present=on", "truth=hidden", "sweep=2a", "sweep=own"])
def test_it_does_not_depend_on_the_rest_of_the_page(query):
    page = opened("experiments", f"{PART}&{query}")
    assert not page.error
    tables = ["Lopuhaä-Zwakenberg et al. say" in one.value for one in page.markdown]
    assert any(tables) == (query in ("truth=hidden", "sweep=2a"))


def test_the_tab_opens_and_every_sentence_has_its_verdict_and_numbers():
    page = open_part(opened("experiments"), "experiments", "protocols")
    said = words(page)
    for one in sentences(stored()):
        assert f"| {lopuhaa_says(one)} | {protocols.with_symbol(one.verdict)} |" in said
        assert lopuhaa_evidence(one) in said


def test_the_ratio_is_drawn_instead():
    page = opened("experiments", f"{PART}&fig=3&shown=ratio")
    (figure,) = [one for one in charts(page) if one["alt"] == reading(curves_of(protocols._rows(
        ProtocolSettings("3", shown="ratio"))))]  # fmt: skip
    assert {trace["name"] for trace in figure["data"]} == {"InvP", "MLE ÷ InvP, ±2 standard errors"}


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
