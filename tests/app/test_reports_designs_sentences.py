"""What is said of reports of other protocols, computed anew: every kind of them is found."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from pages._ui.reports import designs, results, session, upload
from rr_core.io import Collected
from rr_core.io import report_sentences as sentences
from rr_core.io.report_results import ReportSettings, ReportsInUse, Results
from rr_core.io.report_sentences import advice, answer, few_reports, fit_sentence, granted
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import analyse
from rr_core.reports.designs import DESIGNS, kuk, of_table, unrelated
from tests.app.hostile_reports import CASES
from tests.app.opening import charts, checked
from tests.app.reports import (
    analysed,
    box_of,
    entered,
    given,
    held,
    one,
    opened,
    reopened,
    said,
    typed,
)
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Up, tells, value

MADE = [made for made in DESIGNS if made != "k_rr"]


def warner(rng):
    p = float(rng.uniform(0.55, 0.95))
    return Channel.warner(p), int(10 ** rng.uniform(0, 5))


def forced(rng):
    return Channel.forced_response(rng.dirichlet(np.ones(4))[:3] * 0.9), int(10 ** rng.uniform(0, 4))


def of_unrelated(rng):
    return unrelated(float(rng.uniform(0.3, 0.95)), float(rng.uniform(0.1, 0.9))), int(
        10 ** rng.uniform(0, 5)
    )


def of_kuk(rng):
    return kuk(0.8, float(rng.uniform(0.05, 0.6)), int(rng.integers(1, 6))), int(10 ** rng.uniform(0, 4))


def table(rng):
    return Channel(rng.dirichlet(np.full(4, 2.0), size=3)), int(10 ** rng.uniform(0, 4))


def unary(rng):
    return UnaryEncoding(4, float(rng.uniform(0.1, 4)), bool(rng.integers(2))), int(10 ** rng.uniform(0, 4))


RANDOM = {
    "warner": warner,
    "crosswise": warner,
    "unrelated": of_unrelated,
    "forced": forced,
    "kuk": of_kuk,
    "table": table,
    "unary": unary,
}


def test_every_kind_of_report_takes_part():
    assert set(RANDOM) == set(MADE)


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
        return analyse(support, protocol, level, users, n=n), support
    reports = rng.multinomial(n, np.eye(protocol.m)[0] if wrong else theta @ protocol.matrix)
    return analyse(reports, protocol, level, users), reports


def in_use(made, found, counts):
    """The same as the page holds it."""
    names = np.array([f"r{i}" for i in range(len(counts))], dtype=object)
    collected = Collected(names, np.asarray(counts))
    truths = None if isinstance(found.protocol, UnaryEncoding) else tuple("abcdefgh"[: found.k])
    about = 1 if DESIGNS[made].chances else None
    used = ReportsInUse(
        None, collected, found.protocol, ReportSettings(design=made), "", 1, truths, about, None, found.n
    )
    target = "users" if found.users == "fixed" else "population"
    return Results(used, found.level, target, found, None)


@recomputes(fit_sentence)
@holds(
    "whatever the truth, reports that fit as badly come {}",
    "no more often than that",
    "about that often, or less",
    "of these reports and {} collections simulated from their best fit, that share is as far from it",
)
@pytest.mark.parametrize("made", MADE)
def test_the_verdict_is_that_of_its_chance(made, many):
    rng = np.random.default_rng(31)
    seen = set()
    for _ in range(many):
        found, _ = analysed_at_random(made, rng)
        text = fit_sentence(found.fit)
        seen.add(found.fit.rejected)
        assert ("hardly come" in text) == (found.fit.p_value <= 0.05)
        if found.fit.p_value > 0.05:
            tells(text, 0.05, Up(found.fit.p_value))
        elif found.fit.simulated:
            assert "of these reports and" in text  # which are counted in: so it is never 0
            tells(text, Up(found.fit.p_value), found.fit.simulated)
            badly = found.fit.p_value * (1 + found.fit.simulated)
            assert round(badly) >= 1
            assert badly == pytest.approx(round(badly))
        else:
            # By a normal law it is no bound.
            assert ("no more often than that" if found.fit.exact else "about that often") in text
            tells(text, Up(found.fit.p_value) if found.fit.p_value >= 0.001 else 0.001)
            assert ("p < 0.001" in text) == (found.fit.p_value < 0.001)
    assert seen == {True, False}


NUMBER = r"(−?[\d.,·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)%"


@recomputes(answer, sentences.no_own_interval)
@pytest.mark.parametrize("made", MADE)
def test_the_answer_is_that_of_its_numbers(made, many):
    rng = np.random.default_rng(32)
    for _ in range(many):
        found, counts = analysed_at_random(made, rng)
        used = in_use(made, found, counts)
        text = answer(used)
        epsilon = granted(used)
        assert ("no ε" in epsilon) == math.isinf(found.epsilon)
        if found.interval is None:
            assert "cannot tell the truths apart" in text
            continue
        share = found.estimates["mle"] if "mle" in found.estimates else found.estimates["inv_p"]
        if found.k > 2 and not found.above.above.any():
            share = found.estimates["inv"]
        asked = 1 if DESIGNS[made].chances else None
        first = asked if asked is not None else int(np.argmax(share))
        also = int((share > share[first] - 1e-6).sum()) - 1
        assert f"“{used.used.labels[first]}”" in text
        assert (f"(and {also} more alike)" in text) == (asked is None and also > 0)
        above = int(found.above.above.sum())
        if asked is None:
            assert text.startswith(
                f"{above} of the {found.k} shares" if above else f"None of the {found.k} shares"
            )
        else:
            assert ("more than chance alone would make it" in text) == found.above.above[first]
            assert ("Chance alone could make it" in text) != found.above.above[first]
        inv = found.estimates["inv"][first]
        (told,) = re.findall(rf"has a share of {NUMBER} by Inv", text)
        assert value(told) == pytest.approx(100 * inv, rel=6e-3, abs=1e-6)
        drowned_all = found.k > 2 and not above  # then it is Inv that is reported, and nothing else is told
        again = [
            *re.findall(rf"(?:MLE|InvP) gives it {NUMBER}", text),
            *([told] if "by Inv and by" in text else []),
        ]
        assert len(again) == (not drowned_all)
        for other in again:
            assert value(other) == pytest.approx(100 * share[first], rel=6e-3, abs=1e-6)
        drowned = asked is None and not above
        assert ("holds for all categories at once" in text) == drowned
        limits = found.simultaneous if drowned else found.interval
        low, high = limits.low[first], limits.high[first]
        outside = low > 1 + 1e-12 or high < -1e-12
        assert ("lies wholly outside 0 to 100%" in text) == outside
        ends = (max(low, 0), min(high, 1)) if low < 1 and high > 0 else (low, high)
        ((*told,),) = re.findall(rf"interval of Inv.*? {NUMBER} to {NUMBER}\.", text)
        assert list(map(value, told)) == pytest.approx([100 * end for end in ends], rel=6e-3, abs=1e-9)
        if len(again) == 1 and "gives it" in text:
            held = ends[0] - 1e-6 <= share[first] <= ends[1] + 1e-6
            assert ("outside that interval" in text) == (not held)
        assert f"the {found.level:.0%} interval" in text
        assert bool(few_reports(used)) == found.few
        repaired = [
            name for name in ("InvN", "InvP", "MLE") if name.lower().replace("inv", "inv_") in found.estimates
        ]
        own = sentences.no_own_interval(used)
        assert all(name in own for name in repaired)
        assert ("have no interval" in own) == (len(repaired) > 1)


@recomputes(sentences.advice)
@holds(
    "Report none as the answer: MLE is one of the shares that explain these reports best, and there are more.",
    "Nothing came out negative, so",
    "the shares under which these reports are most likely",
)
def test_the_advice_follows_the_estimates(many):
    rng, seen = np.random.default_rng(35), set()
    for number in range(many * len(MADE)):
        made = MADE[number % len(MADE)]
        found, counts = analysed_at_random(made, rng)
        first = advice(in_use(made, found, counts))[0]
        seen.add(first.split()[0] + first.split()[1])
        if found.fit.p_value <= 0.05:
            assert first.startswith("Settle how")
            continue
        name = "mle" if "mle" in found.estimates else "inv_p"
        inv, other = found.estimates["inv"], found.estimates[name]
        assert ("no table at all" in first) == (
            found.k > 2 and not found.above.above.any() and "are the same" not in first
        )
        if "no table at all" in first:
            assert first.startswith("Report Inv with")
        elif "Nothing came out negative" in first:
            assert (inv >= 0).all()
            np.testing.assert_allclose(inv, other, atol=1e-6)
        elif name == "mle":
            assert "most likely" in first
            assert (inv < 0).any() or np.abs(inv - other).max() > 1e-7
        else:  # the projection: no other distribution is nearer to Inv
            assert "those nearest to Inv" in first
            for _ in range(5):
                another = rng.dirichlet(np.ones(found.k))
                assert np.square(another - inv).sum() >= np.square(other - inv).sum() - 1e-12
    assert seen == {"Settlehow", "Nothingcame", "ReportInv", "ReportMLE:", "ReportInvP:"}
    alike = analyse([500, 500], Channel.warner(0.5))
    assert advice(in_use("warner", alike, [500, 500]))[0].startswith("Report none")


@pytest.mark.parametrize(
    ("counts", "p", "words"),
    [
        ((5, 10**6), 1 / 6, "lies wholly outside 0 to 100%"),
        ((1, 5), 1e-6, "the 95% interval of Inv is 16.7% to 16.7%."),
    ],
)
def test_the_ends_of_an_interval_have_as_many_digits_as_tell_them_apart_and_from_100_percent(
    counts, p, words
):
    text = answer(in_use("warner", analyse(counts, Channel.warner(p)), counts))
    assert words in text
    if "wholly" in words:
        low, high = (value(end) for end in re.findall(r"outside 0 to 100%, at (\S+)% to (\S+)%\.", text)[0])
        assert low < high
        assert low > 100 or high < 0


def test_none_of_equal_shares_is_called_the_most_frequent_alone():
    for counts, also in (((250, 250, 100), " (and 1 more alike)"), ((250, 200, 100), "")):
        found = analyse(counts, Channel.forced_response([1 / 6] * 3))
        told = answer(in_use("forced", found, counts))
        assert f"The most frequent by MLE, “a”{also}, has a share of" in told
    zeros = analyse([0, 0, 0], UnaryEncoding(3, 1.0), n=50)
    assert "“r0” (and 2 more alike)" in answer(in_use("unary", zeros, [0, 0, 0]))


# Of each way in which designs take reports one, with what it is told.
ENTERED = {
    "kuk": {"p": "0.8", "p2": "0.2", "draws": "5"},
    "table": {"table": "0.8 0.1 0.1\n0.1 0.8 0.1\n0.1 0.1 0.8"},
    "unary": {"epsilon": "1"},
}


@pytest.mark.parametrize("made", ENTERED)
def test_hostile_files_are_read_or_refused_in_a_sentence(made):
    page = opened(made)
    for name, case in CASES.items():
        if len(case.files) > 1 or len(case.files[0].data) > 100_000:
            continue
        source = case.files[0]
        one(reopened(page).file_uploader, "Report files").set_value(
            [(source.name, bytes(source.data), "text/csv")]
        )
        checked(page.run())
        for key, text in ENTERED[made].items():
            box = box_of(page, key)
            if box is not None and box.value != text:
                box.set_value(text)
                checked(page.run())
        analysed(page)
        told = [*page.error, *page.info, *page.success, *page.warning]
        assert told or charts(page), name
        assert all("Traceback" not in box.value and len(box.value) < 1500 for box in told), name


@recomputes(upload._open_panel, upload.show_understood, of_table)
def test_what_is_left_out_and_what_the_columns_are_is_told():
    page = given(opened("table"), "answer,n\nlow,50\nhigh,40\nNA,7\n")
    page = entered(page, table="0.8 0.2\n0.1 0.9")
    text = said(page)
    assert "The columns are taken to be: low, high." in text
    assert "Files are read for this session only" in text
    bits = entered(given(opened("unary"), "bus,car\n1,0\n0,1\n"), epsilon="1")
    assert "Understood: the columns “bus”, “car”, a category each: K = 2. 2 reports." in said(bits)
    page = entered(page, table="high 0.8 0.2\nlow 0.1 0.9")
    assert "The columns are taken to be, as the rows: high, low." in said(page)
    assert "7 reports are left out" in said(analysed(page))


@recomputes(results._certificate, designs._unary)
def test_the_certificate_and_the_most_bits_are_those_of_the_analysis(monkeypatch):
    found, told = analyse([640, 360], Channel.warner(0.8)), list[str]()
    gaps = (0.0, 1e-15, 2e-5, 0.01)
    with monkeypatch.context() as patched:
        patched.setattr(results.st, "caption", told.append)
        for gap in gaps:
            results._certificate(in_use("warner", replace(found, certificate=gap), [640, 360]))
    assert told[0].endswith("no other shares make all these reports together more likely.")
    for text, gap in zip(told[1:], gaps[1:], strict=True):
        (times,) = re.findall(r"all these reports together more than ([\d.,]+) times as likely\.", text)
        assert math.exp(1000 * gap) <= float(times.replace(",", "")) <= math.exp(1000 * gap) * 1.01
    monkeypatch.setattr(designs, "MOST_BITS", 100)
    monkeypatch.setattr(session, "MOST_BITS", 100)
    page = typed(given(opened("unary"), "a,b\n" + "1,0\n0,1\n1,1\n" * 20), epsilon="1")
    assert "worked out here for up to 100 bits" in said(page)
    assert held(page).analysis.certificate is None


@holds(
    "This table cannot tell the truths apart: other shares may explain the reports as well as MLE's.",
    "There are no intervals: this table cannot tell the truths apart.",
)
def test_a_table_that_cannot_tell_the_truths_apart_may_still_have_one_best():
    channel = Channel([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    assert not channel.identified
    for reports, unique in (([950, 50], True), ([900, 100], True), ([640, 360], False)):
        found = analyse(reports, channel)
        log = [
            np.dot(reports, np.log(channel.expected(np.array([a, b, 100 - a - b]) / 100)))
            for a in range(101)
            for b in range(101 - a)
        ]
        best = np.dot(reports, np.log(channel.expected(found.estimates["mle"])))
        assert (sum(best - one < 1e-6 for one in log) == 1) == unique
        assert "other shares may explain" in answer(in_use("table", found, reports))
