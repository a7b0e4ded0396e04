"""Collected reports by group and with survey weights: from the file to the table of differences."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from pages._ui import session_files
from pages._ui.reports import results as shown
from pages._ui.reports.html_report import html_report
from rr_core import RandomizedResponse, analyse, rounding
from rr_core.__main__ import main
from rr_core.figures.reports import by_group
from rr_core.figures.style import QUANTITIES, reading
from rr_core.io import AllSeen, Names, Source, read_reports, report_files, within
from rr_core.io import report_sentences as sentences
from rr_core.io.people import read_people
from rr_core.io.report_results import ReportSettings, ReportsInUse, Results
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import ByGroup
from rr_core.reports.designs import DESIGNS, kuk, unrelated
from rr_core.reports.survey import Sample, analyse_groups
from rr_core.rounding import p_value
from rr_core.typed import chance
from tests.app.opening import charts, checked
from tests.app.reports import answered, give, given, held, one, opened, press, said, same_files
from tests.sentences import holds, recomputes
from tests.sentences.spoken import Up, tells

N = 900
DICE = np.random.default_rng(7)
REGION = DICE.choice(["north", "south", "west"], N)
ANSWER = np.where(DICE.random(N) < np.where(REGION == "north", 0.7, 0.4), "yes", "no")
WEIGHT = DICE.uniform(0.5, 2, N).round(3)
ROWS = "region,answer,weight\n" + "".join(
    f"{a},{b},{c}\n" for a, b, c in zip(REGION, ANSWER, WEIGHT.tolist(), strict=True)
)


def in_groups(made="warner", by=("region",), weights=None, rows=ROWS, page=None):
    page = given(opened(made), rows) if page is None else page
    one(page.selectbox, "Report column").set_value(rows.split("\n")[0].split(",").index("answer"))
    checked(page.run())
    if by:
        one(page.multiselect, "Compare groups (optional)").set_value(list(by))
    if weights:
        one(page.selectbox, "Survey weights (optional)").set_value(weights)
    checked(page.run())
    if made == "warner":
        (box,) = [box for box in page.text_input if box.key == "design_p"]
        box.set_value("0.8")
    else:
        one(page.text_input, "Value of ε").set_value("1.5")
        one(page.radio, "Which categories could people choose from?").set_value("seen")
    return press(checked(page.run()), "Analyse these reports")


def results_of(page):
    results = held(page)
    return results.used, results.analysis, results.survey


def test_groups_are_compared():
    page = in_groups()
    used, found, survey = results_of(page)
    counts = np.array([[((r == REGION) & (a == ANSWER)).sum() for a in ("no", "yes")] for r in survey.groups])
    assert survey.reports.tolist() == counts.tolist()
    np.testing.assert_array_equal(found.counts, counts.sum(axis=0))
    assert "3 groups, by region." in said(page)
    assert "The groups differ more than chance would make them" in said(page)
    assert survey.alike == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)
    (table,) = [box.value for box in page.dataframe if "Group" in box.value.columns]
    assert table["Reports"].tolist() == counts.sum(axis=1).tolist()
    first = one(page.selectbox, "Difference from")
    first.set_value(1)
    checked(page.run())
    (table,) = [box.value for box in page.dataframe if "Group" in box.value.columns]
    inv = [(row[1] / row.sum() - 0.2) / 0.6 for row in counts]
    np.testing.assert_allclose(
        table["Difference, points"][[0, 2]], 100 * np.array([inv[0] - inv[1], inv[2] - inv[1]])
    )
    one(page.selectbox, "Share of").set_value(0)
    before = table.to_csv()
    checked(page.run())
    (table,) = [box.value for box in page.dataframe if "Group" in box.value.columns]
    assert table.to_csv() != before
    assert used.by == ("region",)
    told = json.loads(report_files.json_file(held(page), "", "now"))["groups"]
    assert (told["names"], told["alike"]) == (list(survey.groups), survey.alike)
    assert told["table"]["reports"] == survey.reports.ravel().tolist()
    shown = sentences.group_columns(survey, 1, 2)
    report = html_report(held(page), [], "now", compared=(1, 2)).decode()
    assert "3 groups, by region." in report
    assert "The share of “yes”, and how far the groups are from “west” by Inv." in report
    rows = re.findall(r"<tr>(.*?)</tr>", report[report.index("3 groups, by region.") :])
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in rows[1:]]
    assert [row[0] for row in cells] == list(survey.groups)
    for j, (title, values) in enumerate(list(shown.items())[1:], 1):
        told = [row[j].replace("−", "-") for row in cells if row[j]]
        for cell, value in zip(
            told, values, strict=False
        ):  # “west” comes last, and has no difference from itself
            if "Holm" in title:
                assert cell.replace("&lt;", "<") == p_value(value)
            else:
                assert "·" in cell or float(cell) == pytest.approx(value, rel=1e-3)
        assert len(told) == (2 if "points" in title or "Holm" in title else 3)


@holds("No category has that name: type it as it stands in the table.")
def test_of_very_many_categories_one_with_few_reports_is_typed(monkeypatch):
    answers = [f"c{i}" for i in range(1001)]
    rows = "".join(f"{'north' if j % 2 else 'south'},{one}\n" for one in answers[:1000] for j in range(4))
    page = in_groups("k_rr", rows="region,answer\n" + rows + "north,c1000\nsouth,c1000\nnorth,c1000\n")
    box = one(page.selectbox, "Share of")
    assert box.help == "The first of the table; of another one type the name."
    assert (len(box.options), "c1000" in box.options) == (1000, False)
    results, warned = held(page), []
    monkeypatch.setattr(shown.st, "warning", warned.append)
    labels = results.used.labels
    assert labels[shown._picked(results, "c1000", 3)] == "c1000"
    assert labels[shown._picked(results, "C10", 3)] == "c10"  # a whole name before part of one
    assert (shown._picked(results, 7, 3), warned) == (7, [])
    assert shown._picked(results, "c2000", 3) == 3
    assert warned == ["No category has that name: type it as it stands in the table."]


def test_weights_that_are_used_are_not_said_to_be_unused():
    page = given(opened("warner"), ROWS)
    assert "The weights in the column “weight” were not used" in said(page)
    one(page.selectbox, "Survey weights (optional)").set_value("weight")
    assert "were not used" not in said(checked(page.run()))


def test_weights_that_cannot_serve_are_refused_in_words():
    """The choice of weights vanished where the column held text, and where the table was one of counts."""
    page = in_groups("k_rr", (), "weight", re.sub(r",[0-9.]+\n", ",high\n", ROWS))
    assert "Line 2 has “high” in the column “weight”, which is no number, as weights are" in said(page)
    page = given(opened(), "region,answer,count\nnorth,yes,30\nnorth,no,20\nsouth,yes,5\nsouth,no,45\n")
    box = one(page.selectbox, "Survey weights (optional)")
    assert box.disabled
    assert box.help == "A table of counts has no weights: they need one report per row."


@pytest.mark.parametrize("made", ["k_rr", "warner"])
def test_several_files_have_groups_and_weights(made, tmp_path):
    """Both choices vanished with a second file."""
    head, *lines = ROWS.splitlines(keepends=True)
    parts = {"a.csv": head + "".join(lines[:400]), "b.csv": head + "".join(lines[400:])}
    page = give(opened(made), *parts.items())
    page = in_groups(made, ("region",), "weight", page=page)
    wanted, found = held(in_groups(made, ("region",), "weight")), held(page)
    np.testing.assert_array_equal(found.survey.reports, wanted.survey.reports)
    np.testing.assert_allclose(found.analysis.estimates["inv"], wanted.analysis.estimates["inv"])
    for name, text in parts.items():
        (tmp_path / name).write_text(text, "utf-8")
    same_files(found, tmp_path)


def test_weights_that_say_proportions_only_make_no_people():
    rows = "region,answer,weight\n" + "".join(
        f"{a},{b},{c}\n" for a, b, c in zip(REGION, ANSWER, (WEIGHT / WEIGHT.sum()).tolist(), strict=True)
    )
    page = in_groups("k_rr", (), "weight", rows)
    assert not any("People" in box.value.columns for box in page.dataframe)


def test_who_has_no_weight_is_told_below_the_headline():
    page = in_groups("k_rr", (), "weight", ROWS + "west,yes,\nwest,no,0\n")
    told = [box.value for box in page.caption if "no weight in the column" in box.value]
    assert len(told) == 1
    assert "1 row with weight 0 in the column “weight”" in told[0]


def test_the_same_people_in_two_files_are_warned_of():
    page = give(opened(), ("a.csv", ROWS), ("b.csv", re.sub(r",[0-9.]+\n", ",1\n", ROWS)))
    one(page.selectbox, "Report column").set_value(1)
    (warning,) = checked(page.run()).warning
    assert "has the same number of each report as" in warning.value
    assert "take one away" in warning.value


def test_weights_are_those_of_the_population():
    page = in_groups("k_rr", (), "weight")
    used, found, groups = results_of(page)
    assert (used.weights, groups) == ("weight", None)
    # How many people that is, and by what they are weighted, was nowhere said, or by the number of reports.
    assert "900 reports weighted by “weight”, K = 2" in said(page)
    assert "900 reports weighted by “weight” over K = 2" in sentences.data_and_mechanism(held(page))
    (figure, *_) = charts(page)
    assert figure["layout"]["xaxis"]["title"]["text"].endswith(", weighted by “weight”")
    wanted_people = np.array(list(found.estimates["mle_star"])) * WEIGHT.sum()
    columns = held(page).columns()
    np.testing.assert_allclose(columns["people_mle_star"], wanted_people)
    order = held(page).order
    table = sentences.table_columns(held(page), "mle_star", order, simultaneous=False)
    assert table["People"].tolist() == np.floor(wanted_people[order] + 0.5).tolist()
    note = html_report(held(page), [], "today", "mle_star").decode()
    assert f"times the sum of the weights, {WEIGHT.sum():,.12g}" in note
    wanted = analyse_groups(
        Sample((ANSWER[0] == ANSWER).astype(int) ^ 1, None, WEIGHT), used.protocol, used.labels
    )
    np.testing.assert_allclose(found.estimates["inv"], wanted.estimates["inv"], atol=1e-12)
    row = one(page.button_group, "Whose shares")
    assert (row.disabled, row.value) == (True, "population")
    assert "To compare groups, press" in said(page)
    assert not any("were not used" in note for note in used.reports.notes)
    told = "".join(sentences.intervals(held(page), "inv"))
    assert "by linearisation with the weights" in told
    assert "an exact test of each category" in told
    p_value = stats.binom.sf((ANSWER == "yes").sum() - 1, N, used.protocol.q)
    assert found.above.p_values[used.labels.index("yes")] == pytest.approx(p_value, rel=1e-6)


BITS = UnaryEncoding(3, 1.5).randomize(DICE.choice(3, N, p=[0.6, 0.3, 0.1]), 4)
FORMS = {"columns": ("bus,car,train", ","), "strings": ("report", "")}


def of_bits(form, by=("region",), weights=None, inverse=False):
    """The page with reports of unary encoding, in columns of bits or as bit strings, by group and with weights."""
    head, between = FORMS[form]
    chance = (0.2 / WEIGHT).round(4)
    each = zip(BITS.tolist(), REGION, WEIGHT.tolist(), chance.tolist(), strict=True)
    rows = f"{head},region,weight,pi\n" + "".join(
        f"{between.join(map(str, a))},{b},{c},{d}\n" for a, b, c, d in each
    )
    page = given(opened("unary"), rows)
    one(page.multiselect, "Compare groups (optional)").set_value(list(by))
    if weights:
        one(page.selectbox, "Survey weights (optional)").set_value(weights)
        checked(page.run())
        holds = one(page.button_group, "It holds")
        assert holds.value == (weights == "pi")
        holds.set_value(inverse)
    checked(page.run())
    (box,) = [box for box in page.text_input if box.key == "design_epsilon"]
    box.set_value("1.5")
    return press(checked(page.run()), "Analyse these reports"), rows, chance


@pytest.mark.parametrize(
    ("form", "by", "weights"),
    [
        ("columns", ("region",), "weight"),
        ("strings", ("region",), "pi"),
        ("columns", ("region",), None),
        ("strings", (), "weight"),
    ],
)
def test_bits_have_groups_and_weights(form, by, weights, tmp_path):
    page, rows, chance = of_bits(form, by, weights, inverse=weights == "pi")
    used, found, survey = results_of(page)
    each = {"weight": WEIGHT, "pi": 1 / chance, None: np.ones(N)}[weights]
    shares = each @ BITS / each.sum()
    protocol = used.protocol
    np.testing.assert_allclose(found.estimates["inv"], (shares - protocol.q) / protocol.keep, atol=1e-9)
    assert (used.n, used.inverse, "mle" in found.estimates) == (N, weights == "pi", True)
    assert not any(note.startswith("Not read") for note in used.reports.notes)
    if by:
        assert "3 groups, by region." in said(page)
        assert survey.reports.tolist() == [
            BITS[name == REGION].sum(axis=0).tolist() for name in survey.groups
        ]
        (table,) = [box.value for box in page.dataframe if "Group" in box.value.columns]
        assert table["Reports"].tolist() == [(name == REGION).sum() for name in survey.groups]
        assert table["Difference, points"].notna().sum() == 2
        assert len(charts(page)) == 2
    if weights == "pi":
        assert ("Inclusion probabilities", "pi") in sentences.settings(held(page))
    same_files(held(page), tmp_path, rows)


def test_several_columns_are_crossed_and_rows_without_a_value_are_told():
    rows = "region,sex,answer\n" + "".join(
        f"{r},{'f' if i % 2 else 'm'},{a}\n" for i, (r, a) in enumerate(zip(REGION, ANSWER, strict=True))
    )
    page = in_groups(by=("region", "sex"), rows=rows + ",f,yes\n")
    used, _, groups = results_of(page)
    assert len(groups.groups) == 6
    assert used.n == N
    assert any(
        "1 row left out: no value in the column “region, sex”." in note for note in used.collected.notes
    )


TABLES = {
    "crosswise": Channel.warner(0.25),
    "unrelated": unrelated(0.7, 0.25),
    "kuk": kuk(0.8, 0.2, 3),
    "forced": Channel.forced_response([1 / 6, 1 / 12, 0.1]),
    "table": Channel([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]),
}


@pytest.mark.parametrize("made", TABLES)
def test_the_script_has_them_in_every_design(made, tmp_path):
    channel, dice = TABLES[made], np.random.default_rng(3)
    answers = [*map(str, range(channel.m))]
    cells = zip(
        dice.choice(["=north", "10", "9"], 400).tolist(),
        dice.choice([*answers, "NA"], 400).tolist(),
        WEIGHT[:400].tolist(),
        strict=True,
    )
    rows = "region,answer,weight\n" + "".join(f"{a},{b},{c}\n" for a, b, c in cells)
    file = Source("reports.csv", rows.encode())
    read, names = read_reports([file], category="answer", layout="values"), Names(("NA",))
    left = within(read, AllSeen(), names)
    place = [left.labels.tolist().index(answer) for answer in answers]
    people = read_people(file, read, answers, names, ["region"], "weight")
    collected = type(left)(left.labels[place], left.counts[place])
    truths = DESIGNS[made].truths if made in ("crosswise", "kuk") else None
    settings = ReportSettings(design=made, names=names)
    used = ReportsInUse(
        read,
        collected,
        channel,
        settings,
        "reports.csv",
        1,
        truths,
        people=people,
        by=("region",),
        weights="weight",
    )
    together = analyse_groups(people.tallies.together(), channel, used.labels).analyses[0]
    order = used.report_of_category
    survey = analyse_groups(people.tallies, channel, used.labels, people.groups, order=order)
    results = Results(used, 0.95, "population", together, None, survey)
    same_files(results, tmp_path, rows)
    assert "'=north" in (tmp_path / "recomputed_groups.csv").read_text()


def test_the_file_of_groups_and_the_picture():
    page = in_groups()
    results = held(page)
    rows = list(csv.DictReader(io.StringIO(report_files.groups_file(results).decode())))
    assert [row["group"] for row in rows] == [name for name in results.survey.groups for _ in range(2)]
    assert sum(int(row["reports"]) for row in rows) == N
    shown = sentences.group_columns(results.survey, 1, 0)
    for name, title in (("from_first", "Difference"), ("low", "from"), ("high", "to")):
        told = [100 * float(row[f"difference_{name}"] or "nan") for row in rows[1::2]]
        np.testing.assert_array_equal(told, shown[f"{title}, points"])
    corrected = [float(row["difference_p_holm"] or "nan") for row in rows[1::2]]
    np.testing.assert_array_equal(corrected, shown["p (Holm)"])
    assert not any("nan" in row.values() for row in rows)
    assert len(charts(page)) == 2
    offered = [button.label for button in page.get("download_button")]
    assert "Groups (CSV)" in offered
    assert "Categories (TXT)" not in offered


def told_of(survey, rejects=False):
    """What is said of these groups."""
    known = {"survey": survey, "used": type("Used", (), {"by": ("wave",)}), "rejects_epsilon": rejects}
    return sentences.groups(type("Results", (), {**known, "analysis": survey.analyses[0]}))


@recomputes(
    sentences.groups, sentences.compared_groups, sentences._unfit, by_group, of="^(?!Of the groups by)"
)
def test_what_is_said_of_groups_is_that_of_their_numbers(many):
    rng, seen = np.random.default_rng(8), set()
    channel = Channel.warner(0.8)
    for i in range(max(60, many // 10)):
        g = int(rng.integers(2, 9))
        sizes = rng.integers(5, 400 if i % 2 else 12, g)
        chances = rng.uniform(0.2, 0.8, g) if i % 3 else np.full(g, 0.5)
        yes = rng.binomial(sizes, chances)
        names = tuple(f"group {chr(97 + j)}" for j in range(g))
        survey = analyse_groups(np.stack([sizes - yes, yes], axis=1), channel, ("no", "yes"), names)
        said = told_of(survey)
        text = " ".join(line for line in said if "hardly come" not in line)
        few = [name for name, found in zip(names, survey.analyses, strict=True) if found.few]
        p_told = Up(survey.alike) if survey.alike >= 0.001 else 0.001
        told = [g, p_told, *([survey.alike_by_chance] if survey.alike_by_chance else [])]
        tells(text, *told, *([len(few) - 5] if len(few) > 5 else []))
        assert ("differ more than chance" in text) == (survey.alike <= 0.05)
        seen.add(("differ" in text, bool(survey.alike_by_chance)))
        first = int(rng.integers(g))
        compared = sentences.compared_groups(survey, (1, first))
        assert compared.startswith(
            f"The share of “yes”, and how far the groups are from “{names[first]}” by Inv. "
        )
        assert np.isnan(sentences.group_columns(survey, 1, first)["Difference, points"][first])
        assert all(name in text for name in few[:5])
        wrong = [
            name for name, found in zip(names, survey.analyses, strict=True) if found.fit.p_value <= 0.05
        ]
        (unfit,) = [line for line in said if "hardly come" in line] or [""]
        assert [name for name in names if f"“{name}”" in unfit] == wrong[:5]
        shares = [float(found.estimates["inv"][1]) for found in survey.analyses]
        tells(reading(by_group(survey, 1)), max(shares), min(shares))
        shown = sentences.group_columns(survey, 1, first)
        gaps = shown["Inv %"] - shown["Inv %"][first]  # the differences are those of the shares beside them
        np.testing.assert_allclose(
            np.delete(shown["Difference, points"], first), np.delete(gaps, first), atol=1e-9
        )
    assert len(seen) == 4
    no_inv = analyse_groups([[6, 4], [3, 7]], Channel.warner(0.5), ("no", "yes"), names[:2])
    assert sentences.compared_groups(no_inv, (1, 0)) == "The share of “yes”."
    assert "Difference, points" not in sentences.group_columns(no_inv, 1, 0)
    few_of_kind = analyse_groups(
        np.full((7, 4), 2), Channel(np.full((4, 4), 0.1) + 0.6 * np.eye(4)), "abcd", "ghijklm"
    )
    text = " ".join(told_of(few_of_kind))
    assert (
        "With few reports of some kind, so that intervals are rough: “g”, “h”, “i”, “j”, “k” and 2 more."
        in text
    )
    sizes = np.array([30_000, 22_000, 14_500, 7_300, 60_000, 5_000, 90_000, 4_000])
    chances = RandomizedResponse(5002, 2.0)
    counts = np.stack([rng.multinomial(n, np.full(5002, 1 / 5002)) for n in sizes])
    many_kinds = analyse_groups(counts, chances, [f"c{j}" for j in range(5002)], tuple("ghijklmn"))
    text = " ".join(told_of(many_kinds))
    smallest = {name: n / (np.exp(2.0) + 5001) for n, name in sorted(zip(sizes, "ghijklmn", strict=True))}
    named = ", ".join(f"{smallest[name]:.3g} in “{name}”" for name in [*smallest][:5])
    assert smallest["k"] > 10 > smallest["g"]  # k and m are large enough
    assert f"expected of a category that nobody has (N·q): {named} and 1 more." in text


@recomputes(sentences.groups, of="^Of the groups by")
def test_each_group_has_its_own_estimate_to_report():
    """Where one stands out in one group alone, its InvP and the others' Inv."""
    counts, faint = (
        np.array([[900, 600, 600], [34, 33, 32], [30, 33, 31], [990, 600, 600]]),
        RandomizedResponse(3, 0.3),
    )
    survey = analyse_groups(counts, faint, "abc", ("north", "east", "south", "west"))
    leads = [found.leading for found in survey.analyses]
    assert (leads[1], leads[2], leads[0] == leads[3]) == ("inv", "inv", True)
    (line,) = [text for text in told_of(survey) if "by themselves" in text]
    first = QUANTITIES[leads[0]].name
    assert line == (
        f"Of the groups by themselves, report {first} in “north”, “west”; Inv in “east”, “south”, where no share is "
        "larger than chance alone could make it."
    )
    assert survey.columns()["estimate"].tolist()[::3] == leads
    assert not any("by themselves" in text for text in told_of(survey, rejects=True))
    alike = analyse_groups(counts[[0, 3]], faint, "abc", ("north", "west"))
    assert not any("by themselves" in text for text in told_of(alike))


@recomputes(sentences._fit_by_group, sentences.compared_groups)
def test_what_is_said_of_the_fit_of_groups_with_designs_of_their_own(many):
    rng, seen = np.random.default_rng(9), set()
    for i in range(max(40, many // 20)):
        g = int(rng.integers(2, 9))
        designs = [Channel.forced_response([p, p]) for p in rng.uniform(0.05, 0.3, g)]
        sizes = rng.integers(200, 900, g)
        # Fewer of one answer than the die alone asked for: no truth explains that.
        few = rng.random(g) < (0.0 if i % 3 == 0 else 0.4 if i % 3 == 1 else 1.0)
        no = [
            int(n * design.matrix[1, 0] * (0.2 if is_few else 1.5))
            for n, design, is_few in zip(sizes, designs, few, strict=True)
        ]
        counts = np.column_stack([no, sizes - no])
        names = tuple(f"group {chr(97 + j)}" for j in range(g))
        survey = analyse_groups(counts, ByGroup(designs), ("no", "yes"), names)
        first, *_ = sentences._fit_by_group(type("Results", (), {"survey": survey}))
        wrong = []
        for name, design, (low, _), n in zip(names, designs, counts, sizes, strict=True):
            if stats.binom.cdf(low, n, design.matrix[1, 0]) * 2 <= 0.05:
                wrong.append((name, stats.binom.cdf(low, n, design.matrix[1, 0])))
        assert all((f"“{name}”" in first) == (name in [name for name, _ in wrong[:5]]) for name in names)
        assert ("hardly" in first) == bool(wrong)
        assert f"of the {g} groups" in first or wrong
        assert f"and {len(wrong) - 5} more" in first or len(wrong) <= 5
        seen.add((bool(wrong), len(wrong) > 5))
        told = sentences.compared_groups(survey, (1, 0))
        assert told.startswith("The share of “yes”, and how far the groups are from “group a” by Inv.")
    assert len(seen) == 3
    blind = analyse_groups(np.array([[5, 5], [4, 6]]), Channel.warner(0.5), ("no", "yes"), ("x", "y"))
    assert sentences.compared_groups(blind, (1, 0)) == "The share of “yes”."
    survey = analyse_groups(
        [[5, 5], [4, 6]], ByGroup([RandomizedResponse(2, e) for e in (1.0, 2.0)]), "ny", "xy"
    )
    assert "was not tested" in sentences._fit_by_group(type("Results", (), {"survey": survey}))[0]


def test_the_form_is_opened_as_it_was_left_with_its_file():
    page = in_groups()
    press(page, "Other reports or settings")
    assert "In use: **reports.csv**" in said(page)
    assert one(page.selectbox, "Report column").value == 1
    (box,) = page.multiselect
    assert box.value == ["region"]
    one(page.selectbox, "Survey weights (optional)").set_value("weight")
    used, found, groups = results_of(press(checked(page.run()), "Analyse these reports"))
    assert (used.by, used.weights) == (("region",), "weight")
    assert groups.reports.sum() == N
    wanted = WEIGHT[ANSWER == "yes"].sum() / WEIGHT.sum()
    assert found.estimates["inv"][1] == pytest.approx((wanted - 0.2) / 0.6)
    press(page, "Other reports or settings")
    assert one(page.selectbox, "Survey weights (optional)").value == "weight"
    (box,) = page.multiselect
    box.set_value([])
    one(page.selectbox, "Survey weights (optional)").select_index(0)
    used, _, groups = results_of(press(checked(page.run()), "Analyse these reports"))
    assert (used.people, used.by, used.weights, used.n) == (None, (), None, N)


def test_another_file_begins_without_the_groups_and_weights_of_the_one_before():
    page = in_groups(weights="weight")
    press(page, "Other reports or settings")
    given(page, ROWS.replace("north", "east"), "other.csv")
    checked(one(page.selectbox, "Report column").set_value(1).run())
    (box,) = page.multiselect
    assert (box.value, one(page.selectbox, "Survey weights (optional)").value) == ([], None)


def test_where_the_server_let_go_of_the_file_groups_stay_as_long_as_the_names_do(monkeypatch):
    rows = ROWS + "west,NA,1\n"
    page = in_groups("k_rr", rows=rows)
    before = results_of(page)[2]
    monkeypatch.setattr(session_files, "are_held", lambda files: not files)
    press(page, "Other reports or settings")
    assert "Groups: region." in said(page)
    used, _, groups = results_of(press(page, "Analyse these reports"))
    np.testing.assert_array_equal(groups.reports, before.reports)
    press(page, "Other reports or settings")
    (box,) = page.multiselect
    box.set_value([])
    used, found, groups = results_of(press(checked(page.run()), "Analyse these reports"))
    assert (used.people, used.by) == (None, ())
    assert any("Groups and weights are left out" in note for note in used.collected.notes)
    assert found.n == N + 1


BY = ("--by", "region")
BOTH = {
    "weights": ("k_rr", "--epsilon 1.5", (), "weight"),
    "groups": ("k_rr", "--epsilon 1.5", ("region",), None),
    "groups and weights": ("warner", "--p 0.8", ("region",), "weight"),
}


@pytest.mark.parametrize("name", BOTH)
def test_the_page_the_command_and_the_script_write_the_same_files(name, tmp_path):
    """With groups and weights the table of all people differed in last digits from that which the shell gives without
    groups: sums of sums."""
    made, stated, by, weights = BOTH[name]
    results, file, out = held(in_groups(made, by, weights)), tmp_path / "reports.csv", tmp_path / "out.csv"
    file.write_text(ROWS)
    words = ["analyse", f"{file}", "--column", "answer", "--design", made, *stated.split(), "--out", f"{out}"]
    words[2:2] = ["--weights", weights] if weights else []
    assert main([*words, *(BY if by else ())]) == 0
    page = report_files.groups_file if by else report_files.csv_file
    assert out.read_bytes() == page(results)
    assert main(words) == 0
    assert out.read_bytes() == report_files.csv_file(results)
    out = tmp_path / "out.json"
    assert main([*words[:-1], f"{out}", *(BY if by else ())]) == 0
    told, wanted = (json.loads(data) for data in (out.read_bytes(), report_files.json_file(results, "", "")))
    assert (told["table"], told.get("groups")) == (wanted["table"], wanted.get("groups"))
    first = ["category", "reports", "share", "low", "high", "estimate"]
    assert list(results.columns())[:6] == first
    assert ("design_effect" in results.columns()) == bool(weights)
    same_files(results, tmp_path)


def test_a_category_with_no_report_is_in_every_file_and_in_the_groups(tmp_path):
    """A line with 0 in a table of counts was left out."""
    counts = {"a": 300, "b": 250, "c": 200, "never": 0}
    rows = "town,answer,count\n" + "".join(
        f"{town},{name},{n}\n" for town in ("Oslo", "Rome") for name, n in counts.items()
    )
    page = given(opened(), rows)
    one(page.multiselect, "Compare groups (optional)").set_value(["town"])
    results = held(answered(checked(page.run()), "1"))
    assert results.used.labels == (*counts,)
    tables = {
        "CSV": list(csv.DictReader(io.StringIO(report_files.csv_file(results).decode()))),
        "Parquet": pq.read_table(io.BytesIO(report_files.parquet_file(results, ""))).to_pylist(),
        "groups": list(csv.DictReader(io.StringIO(report_files.groups_file(results).decode()))),
    }
    told = json.loads(report_files.json_file(results, "", "now"))
    for name, of in (("JSON", told["table"]), ("JSON, groups", told["groups"]["table"])):
        tables[name] = [dict(zip(of, row, strict=True)) for row in zip(*of.values(), strict=True)]
    for name, table in tables.items():
        ends = [(float(row["low"]), float(row["high"])) for row in table if row["category"] == "never"]
        assert len(ends) == (2 if "groups" in name else 1), name
        assert all(low < high for low, high in ends), name
    assert "never" in html_report(results, [], "now").decode()
    columns = sentences.group_columns(results.survey, list(counts).index("never"), 0)
    assert (columns["Interval from %"] < columns["to %"]).all()
    same_files(results, tmp_path, rows)


def test_no_p_is_told_as_0(tmp_path, capsys):
    """A table had 0, a file 0.0, and the command p = 1.2e-17."""
    rows = "town,answer,n\nOslo,yes,900000\nOslo,no,100000\nRome,yes,400000\nRome,no,600000\n"
    page = given(opened(), rows)
    one(page.multiselect, "Compare groups (optional)").set_value(["town"])
    page = answered(checked(page.run()), "1.5")
    results = held(page)
    assert results.survey.alike == 0
    assert "p < 0.001" in said(page)
    tables = [box.value["p (Holm)"].dropna() for box in page.dataframe if "p (Holm)" in box.value.columns]
    assert [table.tolist() for table in tables] == [["< 0.001", "< 0.001"], ["< 0.001"]]
    assert "<td>&lt; 0.001</td>" in html_report(results, [], "now").decode()
    files = (report_files.csv_file(results), report_files.groups_file(results))
    for row in (row for file in files for row in csv.DictReader(io.StringIO(file.decode()))):
        chances = [float(row[name]) for name in row if name.endswith(("p_value", "p_holm")) and row[name]]
        assert chances
        assert all(chance > 0 or math.isnan(chance) for chance in chances)
    told = json.loads(report_files.json_file(results, "", "now"))
    assert told["groups"]["alike"] == 1e-300
    same_files(results, tmp_path, rows)
    words = ["--column", "answer", "--count", "n", "--by", "town", "--epsilon", "1.5"]
    assert main(["analyse", str(tmp_path / "reports.csv"), "--design", "k_rr", *words]) == 0
    assert "The groups differ more than chance would make them: p < 0.001." in capsys.readouterr().err


def test_intervals_of_all_at_once_reach_the_groups():
    """Table, picture and report kept the intervals of each category."""
    page = in_groups("k_rr")
    shown = {}
    for scope in ("Each category", "All at once"):
        one(page.button_group, "Intervals hold for").set_value(scope)
        checked(page.run())
        survey, together = held(page).survey, scope == "All at once"
        (table,) = [box.value for box in page.dataframe if "Group" in box.value.columns]
        ends, top = [f.simultaneous if together else f.interval for f in survey.analyses], held(page).order[0]
        low, high = ([100 * getattr(end.cut(), name)[top] for end in ends] for name in ("low", "high"))
        np.testing.assert_allclose(table["Interval from %"], low)
        np.testing.assert_allclose(table["to %"], high)
        assert sentences.SCOPES[together] in said(page)
        assert sentences.SCOPES[not together] not in said(page)
        drawn = next(trace for trace in charts(page)[-1]["data"] if trace["name"] == "interval of Inv")
        report = html_report(held(page), [], "now", simultaneous=together, compared=(0, 0)).decode()
        assert sentences.SCOPES[together] in report
        shown[scope] = json.dumps(drawn["x"]), re.findall(r"<tr>(.*?)</tr>", report)
    assert all(a != b for a, b in zip(*shown.values(), strict=True))


OWN = {"north": "0.8", "south": "70%", "west": "3/4"}
HALF = {**OWN, "south": "1/2"}


def with_numbers(numbers=OWN):
    """The rows with another column: what was stated of the group of each."""
    head, *lines = ROWS.splitlines()
    return f"{head},p\n" + "".join(f"{line},{numbers[line.split(',')[0]]}\n" for line in lines)


def varied(made, how, by=("region",), weights=None, rows=None, table=None):
    """The page with reports whose numbers differ by group, in a column or in a small table."""
    page = given(opened(made), rows or with_numbers())
    one(page.selectbox, "Report column").set_value(1)
    checked(page.run())
    one(page.multiselect, "Compare groups (optional)").set_value(list(by))
    if weights:
        one(page.selectbox, "Survey weights (optional)").set_value(weights)
    checked(page.run())
    if made == "k_rr":
        one(page.button_group, "Privacy given as").set_value("p")
        one(page.radio, "Which categories could people choose from?").set_value("seen")
        checked(page.run())
    checked(one(page.button_group, "Made alike in all groups?").set_value(how).run())
    if how == "column":
        (box,) = [box for box in page.selectbox if box.label.startswith("Column of: ")]
        box.set_value("p")
    else:
        (box,) = [box for box in page.text_area if box.key == "reports_varied_table"]
        box.set_value("\n".join(f"{name} {text}" for name, text in OWN.items()) if table is None else table)
    return press(checked(page.run()), "Analyse these reports")


@pytest.mark.parametrize(
    ("made", "how", "weights"),
    [
        ("warner", "column", None),
        ("warner", "table", "weight"),
        ("k_rr", "column", "weight"),
        ("k_rr", "table", None),
    ],
)
def test_numbers_that_differ_by_group(made, how, weights, tmp_path):
    """As from Python; by the script the same files; in the files and in words what was stated of each group."""
    page = varied(made, how, weights=weights)
    used, found, survey = results_of(page)
    make = Channel.warner if made == "warner" else partial(RandomizedResponse.from_p, 2)
    wanted = analyse(
        ANSWER,
        {name: make(chance(text)) for name, text in OWN.items()},
        by=REGION,
        weights=WEIGHT if weights else None,
        labels=["no", "yes"],
    )
    place = [wanted.categories.index(name) for name in used.labels]
    for name, estimate in wanted.together.estimates.items():
        np.testing.assert_allclose(found.estimates[name], estimate[place], atol=1e-12)
    np.testing.assert_allclose(found.interval.low, wanted.together.interval.low[place], atol=1e-12)
    assert survey.alike == pytest.approx(wanted.alike)
    assert (
        f"ε up to {rounding.number(max(one.epsilon for one in wanted.together.protocol.designs), 4)}"
        in said(page)
    )
    assert "north 0.8; south 70%; west 3/4" in dict(used.stated).values()
    assert "north 0.8; south 70%; west 3/4" in sentences.data_and_mechanism(held(page))
    told = json.loads(report_files.json_file(held(page), "", "now"))["settings"]
    assert told["epsilon_by_group"] == {
        name: one.epsilon for name, one in zip(survey.groups, used.protocol.designs, strict=True)
    }
    html_report(held(page), [], "now", compared=(1, 2))
    same_files(held(page), tmp_path, with_numbers())


def test_the_choice_is_begun_as_it_was_left_and_one_number_for_all_is_one():
    page = varied("warner", "column")
    press(page, "Other reports or settings")
    assert one(page.button_group, "Made alike in all groups?").value == "column"
    (box,) = [box for box in page.selectbox if box.label.startswith("Column of: ")]
    assert box.value == "p"
    assert not [box for box in page.text_input if box.key == "design_p"]
    page = varied("warner", "table", table="north 0.7\nsouth=70%\nwest: 7/10")
    used, found, _ = results_of(page)
    assert isinstance(used.protocol, Channel)
    assert "mle" in found.estimates


@pytest.mark.parametrize(
    ("made", "how", "more", "says"),
    [
        (
            "warner",
            "table",
            {"table": "north 0.8\nnorth 0.7"},
            "The group “north” has two lines in the small table",
        ),
        ("k_rr", "column", {"rows": with_numbers(HALF)}, "The group “south”: p = "),
    ],
)
def test_what_is_stated_wrongly_of_a_group_is_said_with_its_name(made, how, more, says):
    """All that may be: tests/test_command.py."""
    page = varied(made, how, **more)
    (problem,) = [box.value.replace("\\", "") for box in page.error]
    assert problem.startswith(says), problem


def test_files_that_are_in_use_are_not_read_again_but_where_weights_made_their_notes():
    """With weights in use, a note that they were not used is gone; without them it is to be there again."""
    page = in_groups("k_rr", ())
    read = held(page).used.reports
    press(page, "Other reports or settings")
    assert held(press(page, "Analyse these reports")).used.reports.labels is read.labels
    page = in_groups("k_rr", (), "weight")
    told = "The weights in the column “weight” were not used"
    assert not any(note.startswith(told) for note in held(page).used.reports.notes)
    press(page, "Other reports or settings")
    one(page.selectbox, "Survey weights (optional)").select_index(0)
    page = press(checked(page.run()), "Analyse these reports")
    assert any(note.startswith(told) for note in held(page).used.reports.notes)


def test_more_than_three_files_are_counted():
    files = [(f"part {i}.csv", ROWS) for i in range(5)]
    page = give(opened(), *files[:3])
    one(page.selectbox, "Report column").set_value(1)
    assert held(answered(checked(page.run()), "1")).used.name == "part 0.csv, part 1.csv, part 2.csv"
    page = give(opened(), *files)
    one(page.selectbox, "Report column").set_value(1)
    name = held(answered(checked(page.run()), "1")).used.name
    assert name == "part 0.csv, part 1.csv, part 2.csv and 2 more"


NUMBERS = {
    # what is entered for all; the columns of what differs, for north, south and west; and the design that they make
    "unrelated": ({"prevalence": "1/4"}, {"p": ("0.7", "0.6", "80%")}, lambda p: unrelated(p, 0.25)),
    "kuk": ({"p": "0.8", "draws": "1"}, {"p2": ("0.1", "0.2", "0.25")}, lambda p2: kuk(0.8, p2, 1)),
    "forced": (
        {},
        {"0": ("0", "1/12", "0.1"), "1": ("1/6", "1/8", "0.2")},
        lambda *p: Channel.forced_response(p),
    ),
    "unary": ({}, {"epsilon": ("1", "1.5", "ln 3")}, lambda epsilon: UnaryEncoding(3, epsilon)),
}


@pytest.mark.parametrize("made", NUMBERS)
def test_numbers_differ_by_group_in_every_design(made, tmp_path):
    constants, columns, make = NUMBERS[made]
    dice = np.random.default_rng(11)
    head, cells = ["region"], [REGION.tolist()]
    if made == "unary":
        head, cells = [*head, "bus", "car", "train"], [*cells, *BITS.T.tolist()]
    else:
        said_of = dice.choice([0, 1], N, p=[0.45, 0.55])
        head, cells = [*head, "answer"], [*cells, said_of.tolist()]
    names = ("north", "south", "west")
    for key, texts in columns.items():
        of = dict(zip(names, texts, strict=True))
        head, cells = [*head, f"of {key}"], [*cells, [of[region] for region in REGION.tolist()]]
    rows = ",".join(head) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*cells, strict=True))
    page = given(opened(made), rows)
    if made != "unary":
        checked(one(page.selectbox, "Report column").set_value(1).run())
    one(page.multiselect, "Compare groups (optional)").set_value(["region"])
    checked(page.run())
    checked(one(page.button_group, "Made alike in all groups?").set_value("column").run())
    for key in columns:
        (box,) = [box for box in page.selectbox if box.key == f"reports_varied_{key}"]
        checked(box.set_value(f"of {key}").run())
    for key, text in constants.items():
        (box,) = [box for box in page.text_input if box.key == f"design_{key}"]
        checked(box.set_value(text).run())
    used, found, survey = results_of(press(page, "Analyse these reports"))

    def number(text):
        return {"ln 3": np.log(3), "0": 0.0}[text] if text in ("ln 3", "0") else chance(text)

    each = {name: make(*(number(texts[i]) for texts in columns.values())) for i, name in enumerate(names)}
    wanted = analyse(
        BITS if made == "unary" else said_of,
        each,
        by=REGION,
        labels=["bus", "car", "train"] if made == "unary" else None,
    )
    np.testing.assert_allclose(found.estimates["inv"], wanted.together.estimates["inv"], atol=1e-9)
    np.testing.assert_allclose(found.interval.low, wanted.together.interval.low, atol=1e-9)
    assert survey.alike == pytest.approx(wanted.alike, rel=1e-6)
    assert len(used.of_groups) == len(columns)
    same_files(held(page), tmp_path, rows)


def test_with_weights_the_largest_share_comes_first_not_the_most_reported():
    rows = "answer,weight\n" + "a,1\n" * 60 + "b,9\n" * 50 + "c,1\n" * 40
    results = held(in_groups("k_rr", (), "weight", rows=rows))
    assert [results.used.labels[i] for i in results.order] == ["b", "a", "c"]
    assert "“b”, has a share of" in sentences.answer(results)
    assert "most reported" not in html_report(results, [], "now").decode()
    results = held(in_groups("k_rr", (), rows=rows))
    assert [results.used.labels[i] for i in results.order] == ["a", "b", "c"]
    assert "The most reported, “a”, has" in sentences.answer(results)
