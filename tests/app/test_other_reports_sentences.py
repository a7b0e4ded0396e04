"""What is said of reports of other protocols, computed anew: every kind of them is found."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from pages._ui.reports import other_protocols, other_results
from pages._ui.reports.other_results import Analysed, answer_sentences, fit_sentence, interval_in_words
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.intervals import Interval
from rr_core.reports.other_protocols import analyse_channel, analyse_unary
from tests.app.hostile_reports import CASES
from tests.app.opening import charts, checked
from tests.app.test_reports_other_protocols import given, one, opened, said, typed
from tests.sentences import holds, recomputes
from tests.sentences.spoken import tells, value

DESIGNS = [made for made in other_protocols.DESIGNS if made != other_protocols.USUAL]


def warner(rng):
    p = float(rng.uniform(0.55, 0.95))
    return Channel.warner(p), int(10 ** rng.uniform(0, 5))


def forced(rng):
    return Channel.forced_response(rng.dirichlet(np.ones(4))[:3] * 0.9), int(10 ** rng.uniform(0, 4))


def own(rng):
    return Channel(rng.dirichlet(np.full(4, 2.0), size=3)), int(10 ** rng.uniform(0, 4))


def unary(rng):
    return UnaryEncoding(4, float(rng.uniform(0.1, 4)), bool(rng.integers(2))), int(10 ** rng.uniform(0, 4))


RANDOM = {"warner": warner, "forced": forced, "own": own, "unary": unary}


def test_every_kind_of_report_takes_part():
    assert set(RANDOM) == set(DESIGNS) == set(ENTERED)


def analysed_at_random(made, rng):
    """Reports of a random setting, one in two from another protocol than is stated."""
    protocol, n = RANDOM[made](rng)
    k = protocol.k
    theta = rng.dirichlet(np.ones(k)) if rng.random() < 0.7 else np.eye(k)[0]
    people, level = rng.multinomial(n, theta), float(rng.choice([0.9, 0.95, 0.99]))
    users = ("fixed", "sampled")[int(rng.integers(2))]
    wrong = rng.random() < 0.5
    if isinstance(protocol, UnaryEncoding):
        maker = UnaryEncoding(k, 4.0) if wrong else protocol
        support = maker.randomize_support(people, rng)
        return analyse_unary(support, protocol, n, level, users), support
    reports = rng.multinomial(n, np.eye(protocol.m)[0] if wrong else theta @ protocol.matrix)
    return analyse_channel(reports, protocol, level, users), reports


@recomputes(fit_sentence)
@holds(
    "whatever the truth, reports that fit as badly come in {} of collections",
    "at most",
    "of these reports and {} collections simulated from their best fit, {} are as far from it",
)
@pytest.mark.parametrize("made", DESIGNS)
def test_the_verdict_is_that_of_its_chance(made, many):
    rng = np.random.default_rng(31)
    seen = set()
    for _ in range(many):
        found, _ = analysed_at_random(made, rng)
        text = fit_sentence(found)
        seen.add(found.rejected)
        assert ("hardly come" in text) == (found.fit <= 0.05)
        if found.fit > 0.05:
            tells(text, 0.05)
        elif found.simulated:
            assert "of these reports and" in text  # which are counted in: so it is never 0%
            tells(text, found.simulated, found.fit)
            badly = found.fit * (1 + found.simulated)
            assert round(badly) >= 1
            assert badly == pytest.approx(round(badly))
        else:
            assert ("come in at most" in text) + ("come in about" in text) + (
                "come in less than" in text
            ) == 1
            assert "come in at most" not in text or found.exact
            told = value(re.findall(r"([\d.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)%", text)[0]) / 100
            assert told >= found.fit * (1 - 1e-9)  # a bound is rounded up
            assert told <= max(1.11 * found.fit, 1.0000001e-6)
    assert seen == {True, False}


@pytest.mark.parametrize("made", DESIGNS)
def test_the_answer_is_that_of_its_numbers(made, many):
    rng = np.random.default_rng(32)
    for _ in range(many):
        found, counts = analysed_at_random(made, rng)
        labels = tuple("abcdefgh"[: found.k])
        asked = 1 if made == "warner" else None
        text = answer_sentences(Analysed(labels, counts, "Reports", found, (), "", "typed", asked))
        assert text.startswith(f"**{found.n:,} report{'s' if found.n > 1 else ''}, K = {found.k}, ")
        share = found.estimates["mle"] if "mle" in found.estimates else found.estimates["inv_p"]
        first = asked if asked is not None else int(np.argmax(share))
        also = int((share > share[first] - 1e-6).sum()) - 1
        assert f"**{labels[first]}**" in text
        assert (f"and {also} more alike" in text) == (asked is None and also > 0)
        (told,) = re.findall(r"([\d.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)% of these people by", text)
        assert value(told) == pytest.approx(100 * share[first], rel=6e-3, abs=1e-6)
        low, high = found.intervals[0].low[first], found.intervals[0].high[first]
        assert ("lies wholly above 100%" in text) == (low > 1)
        assert ("lies wholly below 0%" in text) == (high < 0)
        assert (f"with {found.intervals[0].level:.0%} confidence") in text
        assert ("Few reports of some kind" in text) == found.few


def test_an_interval_is_cut_but_never_to_a_point():
    rng = np.random.default_rng(33)
    for _ in range(500):
        low = float(rng.choice([rng.uniform(-1, 1.5), 1.0]))
        high = low + float(rng.uniform(0.01, 1))
        share = float(np.clip(rng.uniform(low - 0.2, high + 0.2), 0, 1))
        text = interval_in_words(Interval(np.array([low]), np.array([high]), 0.95, False), 0, share)
        outside = low > 1 or high < 0
        ends = (low, high) if low >= 1 or high <= 0 else (max(low, 0), min(high, 1))
        assert not re.search(r"\b(100|0)% to \1%", text)
        told = [
            value(part)
            for part in re.search(r"(−?[\d.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)% to (−?[\d.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)%", text).groups()
        ]
        assert told == pytest.approx([100 * end for end in ends], rel=6e-3, abs=1e-9)
        assert ("does not hold it" in text) == (not outside and not low <= share <= high) or any(
            abs(share - end) < 0.01 for end in ends
        )
        assert ("lies wholly" in text) == outside


def test_a_rejected_two_report_design_has_the_chance_of_the_binomial_law():
    """By the law alone, not by the route of the analysis."""
    rng = np.random.default_rng(34)
    for _ in range(200):
        p, n = float(rng.uniform(0.55, 0.95)), int(rng.integers(10, 3000))
        yes = min(n, math.ceil(n * p + float(rng.uniform(2, 4)) * math.sqrt(n * p * (1 - p))))
        chance = stats.binom.sf(yes - 1, n, p)
        found = analyse_channel([n - yes, yes], Channel.warner(p))
        assert chance * (1 - 1e-9) <= found.fit <= 2 * chance
        assert found.rejected == ("hardly come" in fit_sentence(found))


ENTERED = {
    "warner": {"p": "0.7"},
    "forced": {},
    "own": {"matrix": "0.8 0.1 0.1\n0.1 0.8 0.1\n0.1 0.1 0.8"},
    "unary": {"epsilon": "1"},
}


@pytest.mark.parametrize("made", DESIGNS)
def test_hostile_files_are_read_or_refused_in_a_sentence(made):
    page = opened(made)
    for name, case in CASES.items():
        if len(case.files) > 1 or len(case.files[0].data) > 100_000:
            continue
        source = case.files[0]
        one(page.file_uploader, "Report files").set_value([(source.name, bytes(source.data), "text/csv")])
        checked(page.run())
        for key, text in ENTERED[made].items():
            boxes = [box for box in (*page.text_input, *page.text_area) if box.key == f"other_{key}"]
            if boxes and boxes[0].value != text:
                boxes[0].set_value(text)
                checked(page.run())
        told = [*page.error, *page.info, *page.success, *page.warning]
        assert told or charts(page), name
        assert all("Traceback" not in box.value and len(box.value) < 1500 for box in told), name


@recomputes(other_protocols._reports, other_protocols._matched, other_protocols.section)
def test_what_is_left_out_and_what_the_columns_are_is_told():
    page = given(opened("own"), "answer,n\nlow,50\nhigh,40\nNA,7\n")
    page = typed(page, matrix="0.8 0.2\n0.1 0.9")
    text = said(page).replace("\\", "")
    assert "7 of 97 reports are left out." in text
    assert "The columns are taken to be: low, high." in text
    page = typed(page, matrix="high 0.8 0.2\nlow 0.1 0.9")
    assert "The columns are taken to be, as the rows: high, low." in said(page).replace("\\", "")
    assert "Files are read for this session only" in text


@recomputes(other_results.table, other_protocols._analysed_bits)
def test_the_certificate_and_the_most_bits_are_those_of_the_analysis(monkeypatch):
    page = typed(given(opened("unary"), "a,b\n" + "1,0\n0,1\n1,1\n" * 20), epsilon="1")
    gap = page.session_state["_held"].get("other_reports")[1].result.certificate
    (told,) = re.findall(r"certificate is (\S+) nats per report", said(page).replace("\\", ""))
    assert value(told) == pytest.approx(gap, rel=0.06, abs=1e-300)
    monkeypatch.setattr(other_protocols, "MOST_BITS", 100)
    page = typed(given(opened("unary"), "a,b\n" + "1,0\n0,1\n1,1\n" * 20), epsilon="1")
    assert "worked out here for up to 100 bits" in said(page).replace("\\", "")
    assert page.session_state["_held"].get("other_reports")[1].result.certificate is None


@holds(
    "**This table cannot tell the truths apart**: other shares may explain the reports as well as MLE's.",
    "There are no intervals: this table cannot tell the truths apart.",
)
def test_a_table_that_cannot_tell_the_truths_apart_may_still_have_one_best():
    channel = Channel([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    assert not channel.identified
    for reports, unique in (([950, 50], True), ([900, 100], True), ([640, 360], False)):
        found = analyse_channel(reports, channel)
        log = [
            np.dot(reports, np.log(channel.expected(np.array([a, b, 100 - a - b]) / 100)))
            for a in range(101)
            for b in range(101 - a)
        ]
        best = np.dot(reports, np.log(channel.expected(found.estimates["mle"])))
        assert (sum(best - one < 1e-6 for one in log) == 1) == unique
        text = answer_sentences(Analysed(("a", "b", "c"), None, "Reports", found, (), "", "typed"))
        assert "other shares may explain" in text


@recomputes(other_protocols._settled)
def test_names_that_are_left_out_of_the_ones_are_told():
    page = given(opened("unary"), "name,ones\nA,30\na,5\nb,20\nc,9\nNA,4\n")
    page = typed(page, epsilon="1")
    for box in page.multiselect:
        box.set_value(list(range(len(box.options))))
    checked(page.run())
    one(page.number_input, "Reports N").set_value(100)
    checked(page.run())
    text = said(page).replace("\\", "")
    assert "Left out, for it is no category: “NA”." in text
    assert "The ones of 1 name were added to those of another spelling." in text
    found = page.session_state["_held"].get("other_reports")[1]
    assert dict(zip(found.labels, found.counts.tolist(), strict=True)) == {"A": 35, "b": 20, "c": 9}
