"""Odd names among collected reports: which are found, what is proposed, and what each decision does to the counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core.io import (
    AllSeen,
    Names,
    Size,
    WrongDomain,
    decisions_on,
    odd_names,
    read_distribution,
    read_list,
    too_few,
    within,
)
from rr_core.io.labels import difference
from tests import EXAMPLES
from tests.io.reading import as_dict, reports_of

ILLS = ["influenza", "common cold", "measles", "asthma", "migraine", "diabetes", "Café allergy", "gout"]
USERS = np.array([900, 600, 300, 150, 50, 0, 0, 0])
COUNTS = dict(zip(ILLS, RandomizedResponse(8, 1.0).randomize_histogram(USERS, 2).tolist(), strict=True))


def of(epsilon):
    return lambda k: RandomizedResponse(k, epsilon)


def rows(counts):
    """One report per row."""
    lines = [f'"{name}"' for name, count in counts.items() for _ in range(count)]
    return reports_of("\n".join(['"report"', *lines]), layout="values", has_header=True)


def table(counts):
    lines = [f'"{name}",{count}' for name, count in counts.items()]
    return reports_of("\n".join(["category,count", *lines]))


def found(reports, domain=None, epsilon=None):
    odd = odd_names(reports, domain or AllSeen(), None if epsilon is None else of(epsilon))
    return {one.label: one for one in odd.names}


ODD = {
    "NA": 41,
    "NaN": 6,
    "null": 3,
    "-": 9,
    "Influenza": 3,
    "common  cold": 5,
    "Cafe\u0301 allergy": 4,
    "typo": 1,
}


def test_a_file_with_odd_names_is_put_back_to_its_true_categories():
    """The same counts, K and N as without the odd rows; those that are one category in another form come back to it."""
    reports = rows(COUNTS | ODD)
    odd = odd_names(reports, AllSeen(), of(1.0))
    assert {one.label for one in odd.names} == set(ODD)
    assert all(one.by_default for one in odd.names)
    collected = within(reports, AllSeen(), odd.default_decisions())
    expected = dict(COUNTS)
    expected["influenza"] += 3
    expected["common cold"] += 5
    expected["Café allergy"] += 4
    assert as_dict(collected) == expected
    assert collected.outside == (("NA", 41), ("-", 9), ("NaN", 6), ("null", 3), ("typo", 1))
    assert collected.total + collected.outside_total == reports.total
    assert "12 reports of 3 names were counted under another name" in collected.notes[0]
    assert odd.level == pytest.approx(collected.total * RandomizedResponse(8, 1.0).q, rel=0.01)
    assert too_few(reports, odd.default_decisions(), AllSeen(), of(1.0)) == ()
    # As the file stands it has twice as many categories, and the floor is broken by names that are none.
    assert within(reports, AllSeen()).k == 16
    assert ("typo", 1) in too_few(reports, Names(), AllSeen(), of(1.0))


def test_what_may_be_an_answer_is_counted_unless_noise_alone_brings_more():
    for name in ("none", "?", "Na", "-99", "Sans réponse"):
        many = rows(COUNTS | {name: 300})
        assert not found(many)[name].by_default
        assert not found(many, epsilon=1.0)[name].by_default
        assert found(rows(COUNTS | {name: 3}), epsilon=1.0)[name].by_default


def test_a_row_of_a_table_is_a_category_however_few_reports_it_has():
    """A table of counts whose rows lie below the noise was cut to the others; and K was one less without a 0 in it."""
    few = {"d": 20, "e": 15}
    assert all(one.by_default for one in found(rows(COUNTS | few), epsilon=1.0).values())
    odd = found(table(COUNTS | few), epsilon=1.0)
    assert {(one.reason, one.by_default) for one in odd.values()} == {("too few reports", False)}
    for name in ("Missing", "System"):  # below the rows of those who answered
        assert found(table(COUNTS | {name: 3}), epsilon=1.0)[name].by_default
    with_none = table(COUNTS | {"scurvy": 0})
    for epsilon in (1.0, 6.0):
        decided = odd_names(with_none, AllSeen(), of(epsilon)).default_decisions()
        assert as_dict(within(with_none, AllSeen(), decided)) == COUNTS | {"scurvy": 0}


def test_a_total_is_left_out_of_a_table_of_counts_only():
    total = sum(COUNTS.values())
    for reports, settled in (
        (table(COUNTS | {"Total": total}), True),
        (table(COUNTS | {"Total": 200}), False),
    ):
        odd = found(reports)["Total"]
        assert (odd.reason, odd.by_default) == ("a total", settled)
    assert "Total" not in found(rows(COUNTS | {"Total": 300}))
    assert found(rows(COUNTS), epsilon=1.0) == found(table(COUNTS), epsilon=1.0) == {}
    reports = table(COUNTS | {"NA": 31, "Gesamt": total + 31, "Total": total})
    collected = within(reports, AllSeen(), odd_names(reports, AllSeen()).default_decisions())
    assert as_dict(collected) == COUNTS


def test_upper_and_lower_case_is_one_category_only_if_noise_alone_brings_more():
    few = rows(COUNTS | {"Gout": 2})
    many = rows(COUNTS | {"Gout": 260})
    assert found(few, epsilon=1.0)["Gout"].by_default
    assert not found(few)["Gout"].by_default  # without epsilon nobody can tell
    odd = found(many, epsilon=1.0)["gout"]
    assert (odd.twin, odd.by_default, odd.reason) == ("Gout", False, "nearly the same")
    both = dict.fromkeys("aAbBcC", 400)
    assert not any(one.by_default for one in found(rows(both), epsilon=1.0).values())


def test_forms_of_a_form_end_at_the_most_reported_name():
    reports = rows({"a": 90, "Rio\u0301": 4, "R\u00edo": 1, "RIO\u0301": 30, "ri\u00f3": 2, "rio\u0301": 200})
    odd = [one for one in odd_names(reports, AllSeen()).names if one.twin is not None]
    collected = within(reports, AllSeen(), decisions_on(odd))
    assert as_dict(collected) == {"a": 90, "rio\u0301": 236, "R\u00edo": 1}


def test_names_of_too_few_reports_are_counted_when_a_wrong_epsilon_explains_them_as_well():
    users = np.array([700, 500, 300, 200, 120, 80, 50, 30, 15, 5, 0, 0])
    counts = RandomizedResponse(12, 4.0).randomize_histogram(users, 1)
    reports = rows({f"ill {i}": int(count) for i, count in enumerate(counts)})
    odd = found(reports, epsilon=1.0)
    assert len(odd) == 6
    assert not any(one.by_default for one in odd.values())
    assert found(reports, epsilon=4.0) == {}


def test_what_is_on_a_list_is_a_category():
    reports = rows(
        COUNTS | {"NA": 300, "Influenza": 3, "Asthma ": 4, "caf\u00e9 allergy": 2, "cafe allergy": 5, "x": 2}
    )
    domain = read_list("\n".join([*ILLS, "NA", "scurvy"]))
    odd = odd_names(reports, domain, of(1.0))
    one = {name.label: (name.twin, name.by_default) for name in odd.names}
    assert one == {
        "Influenza": ("influenza", True),
        "Asthma": ("asthma", True),
        "café allergy": ("Café allergy", True),
        "cafe allergy": ("Café allergy", False),  # an accent may tell two names apart
    }
    assert odd.listed_too_few == (("scurvy", 0),)
    collected = within(reports, domain, odd.default_decisions())
    assert as_dict(collected) == COUNTS | {
        "NA": 300,
        "scurvy": 0,
        "influenza": COUNTS["influenza"] + 3,
        "asthma": COUNTS["asthma"] + 4,
        "Café allergy": COUNTS["Café allergy"] + 2,
    }
    assert dict(collected.outside) == {"cafe allergy": 5, "x": 2}
    assert too_few(reports, odd.default_decisions(), domain, of(1.0)) == (("scurvy", 0),)


def test_a_known_number_of_categories_stays():
    reports = rows(COUNTS | {"NA": 12, "typo": 1})
    odd = odd_names(reports, Size(9), of(1.0))
    assert {one.label for one in odd.names} == {"NA", "typo"}
    collected = within(reports, Size(9), odd.default_decisions())
    assert (collected.k, collected.unreported) == (9, 1)
    with pytest.raises(WrongDomain, match="K = 8 is smaller"):
        within(reports, Size(8))
    assert within(reports, Size(8), odd.default_decisions()).counts.tolist() == list(COUNTS.values())


def test_leaving_everything_out_is_refused():
    with pytest.raises(WrongDomain, match="Only one category is counted"):
        within(rows({"a": 5, "b": 6}), AllSeen(), Names(("a",)))
    with pytest.raises(WrongDomain, match="No report is left"):
        within(table({"a": 5, "b": 0}), Size(3), Names(("a",)))
    with pytest.raises(WrongDomain, match="No report is left"):
        within(rows({"a": 5, "b": 6}), AllSeen(), Names(("a", "b")))


LABELS = st.sampled_from(
    ["a", "A", "b ", "b", "Ä", "A\u0308", "ä", "NA", "-", "x  y", "x y", "7", "7.0", "Total"]
)


@pytest.mark.slow
@settings(deadline=None, max_examples=EXAMPLES // 4)
@given(
    st.dictionaries(LABELS, st.integers(1, 400), min_size=3), st.sampled_from([None, 0.5, 3.0]), st.booleans()
)
def test_every_report_is_counted_once_or_outside(counts, epsilon, as_table):
    reports = (table if as_table else rows)(counts)
    odd = odd_names(reports, AllSeen(), None if epsilon is None else of(epsilon))
    assert all(one.twin != one.label for one in odd.names)
    try:
        collected = within(reports, AllSeen(), odd.default_decisions())
    except WrongDomain:
        return  # one category is none
    assert collected.total + collected.outside_total == reports.total
    assert len(set(collected.labels)) == collected.k
    assert {label for label, _ in collected.outside} == set(odd.default_decisions().left_out)


SAME, NEARLY = "looks the same", "nearly the same"
NUMBER, DATE, ZEROS = "the way the number is written", "the way the date is written", "leading zeros"
TRUTH, MARKS = "the way true and false are written", "marks, or blanks around them"
TWO_FORMS = [
    ("Café", "Cafe\u0301", "the way accents are stored", SAME),
    ("on foot", "on\u00a0foot", "blanks or invisible marks", SAME),
    ("bus", "bu\u00ads", "blanks or invisible marks", SAME),
    ("13", "13.0", "“.0” after the number", SAME),
    ("13.0", "13.0\u200b", "blanks or invisible marks", SAME),
    ("fish", "ﬁsh", "the form of letters or digits", NEARLY),
    ("ABC", "ＡＢＣ", "the form of letters or digits", NEARLY),
    ("1", "①", "the form of letters or digits", NEARLY),
    # These were two categories, and nothing said so.
    ("Don't know it", "Don’t know it", MARKS, NEARLY),
    ("2-3 times", "2 – 3 times", MARKS, NEARLY),
    ("Often", "Often.", MARKS, NEARLY),
    # Among words numbers may be names.
    ("1", "01", ZEROS, NEARLY),
    ("2", "2.000e+00", NUMBER, NEARLY),
    ("0", "-0.0", NUMBER, NEARLY),
    ("2026-02-03", "3.2.2026", DATE, NEARLY),
    ("2026-02-13", "2026/02/13 00:00:00", DATE, NEARLY),
    ("2026-02-13", "2/13/2026", DATE, NEARLY),
]


@pytest.mark.parametrize(("one", "other", "words", "reason"), TWO_FORMS)
def test_two_forms_of_one_name_are_asked_about_or_counted_together(one, other, words, reason) -> None:
    assert difference(one, other) == words
    odd = found(rows({"a word": 90, one: 30, other: 20}))
    assert (odd[other].twin, odd[other].reason, one in odd) == (one, reason, False)
    if reason == SAME:
        assert odd[other].by_default
        assert found(rows({"a word": 90, one: 20, other: 30}))[one].twin == other
    elif words in (NUMBER, DATE, ZEROS, MARKS):
        assert not odd[other].by_default
    if words in (NUMBER, DATE, ZEROS):
        assert found(rows({one: 30, other: 20}))[other].by_default


@pytest.mark.parametrize(("one", "other"), [("true", "1"), ("FALSE", "0"), ("TRUE", "T")])
def test_true_and_false_are_so_in_any_form(one: str, other: str) -> None:
    odd = found(rows({one: 30, other: 20}))[other]
    assert (odd.twin, odd.reason, odd.by_default, difference(one, other)) == (one, NEARLY, True, TRUTH)
    assert found(rows({"true": 30, "1": 20, "2": 10})) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a007", "a7"), ("Zürich", "Zurich"), ("👨‍👧", "👨👧"), ("a-b", "a b"), ("1.0.0", "1"), ("1", "10"),
        ("3/2/2026", "2026-02-03"),  # or the second of March
        ("1e-400", "0"), ("9" * 30, "9" * 29 + "8"), ("1.0e99999999", "1"),
    ],
)  # fmt: skip
def test_what_is_not_the_same_is_not_asked_about(one: str, other: str) -> None:
    assert found(rows({one: 30, other: 20})) == {}


def test_words_for_no_answer_and_for_the_column_are_no_categories() -> None:
    for name in ("NA", "n/a", "nan", "NULL", "-", "—", "#N/A", "\\N", "."):
        for epsilon in (None, 1.0):
            odd = found(rows(COUNTS | {name: 300}), epsilon=epsilon)[name]
            assert (odd.reason, odd.twin, odd.by_default) == ("no answer", None, True)
    # The header of a second file among the rows was a category.
    odd = found(rows({"Yes": 40, "no": 45, "REPORT": 1}))["REPORT"]
    assert (odd.reason, odd.by_default) == ("the name of the column", True)
    assert not found(rows({"Yes": 40, "no": 45, "REPORT": 30}))["REPORT"].by_default
    assert found(table({"Yes": 40, "no": 45, "category": 1})) == {}


def test_decisions_lead_to_the_names_on_the_list_and_end() -> None:
    reports, domain = rows({"13.0": 50, "14.0": 30, "15": 20}), read_list("13\n14\n15")
    collected = within(reports, domain, odd_names(reports, domain).default_decisions())
    assert as_dict(collected) == {"13": 50, "14": 30, "15": 20}
    # Names counted as each other do not go round for ever.
    collected = within(rows({"a": 5, "b": 6, "c": 1}), AllSeen(), Names((), (("a", "b"), ("b", "a"))))
    assert collected.total == 12


def test_a_sum_is_the_total_at_an_end_and_asked_about_amid() -> None:
    for counts, settled in (
        ({"a": 50, "b": 30, "c": 20, "x": 100}, True),
        ({"x": 100, "a": 50, "b": 30, "c": 20}, True),
        ({"a": 50, "x": 100, "b": 30, "c": 20}, False),
        ({"a": 50, "b": 30, "x": 80}, False),  # of two others only
    ):
        odd = found(table(counts))
        assert {name: (one.reason, one.by_default) for name, one in odd.items()} == {
            "x": ("the sum of the others", settled)
        }
    assert found(table({"a": 50, "b": 50, "c": 0})) == {}
    assert found(table({"a": 50, "b": 30, "c": 20, "x": 99})) == {}


@pytest.mark.parametrize("word", ["all", "Gesamt:", "both sexes"])
@pytest.mark.parametrize("place", [0, 2])
def test_totals_of_groups_are_left_out_and_that_is_said(word: str, place: int) -> None:
    """`all,yes,12` and `all,no,14` were counted once more: 52 people for 26."""
    groups = ["m,yes,7\nm,no,5\n", "f,yes,5\nf,no,9\n"]
    groups.insert(place, f"{word},yes,12\n{word},no,14\n")
    text = "gender,answer,n\n" + "".join(groups)
    said = f"The rows with “{word}” in the column “gender” have the sums of the others, and were left out."
    found, whole = reports_of(text), read_distribution(text.encode(), "a.csv", category="answer", count="n")
    assert found.counts.tolist() == whole.weights.tolist() == [12, 14]
    assert (found.rows, whole.rows) == (4, 4)
    assert found.notes == whole.notes == (said,)


def test_rows_that_are_only_called_totals_or_only_are_the_sums_are_counted_and_told() -> None:
    not_sums = reports_of("gender,answer,n\nm,yes,7\nm,no,5\nf,yes,5\nf,no,9\nall,yes,13\nall,no,14\n")
    assert not_sums.total == 53
    assert not_sums.notes == (
        "The rows with “all” in the column “gender” are not the sums of the others, and were counted.",
    )
    rows = "n,yes,7\nn,no,5\ns,yes,5\ns,no,9\nw,yes,1\nw,no,1\nland,yes,13\nland,no,15\n"
    no_word = reports_of(f"region,answer,n\n{rows}")
    assert no_word.total == 56
    assert no_word.notes == (
        "The rows with “land” in the column “region” have the sums of the others: take them out if they are totals.",
    )
    assert reports_of("region,answer,n\nn,yes,7\nn,no,5\ns,yes,7\ns,no,5\n").notes == ()


MODES = "Motorised,370\n  Bus,160\n  Car,210\nActive,230\n  Bike,90\n  Walk,140\n"
PARTS = "a,137\nb,91\nc,41\n{},269\nMissing,12\nTotal,281\n"
NETS = "Base: all,600\n{},370\nBus,160\nTram,210\n{},230\nCar,90\nVan,140\n"
ANSWERS, SCORES = "yes,640\nno,360\n", "a,640\nb,500\nc,360\n"
# Rows of tables of counts, and those of them that are left out: everybody in sums was counted twice, or three times.
NO_CATEGORIES = [
    ("a,401\nb,277\nSubtotal,678\nc,122\nd,99\nTotal,899\n", ["Subtotal", "Total"]),
    ("a,401\nb,277\nSubtotal,677\nc,122\nd,99\nTotal,899\n", ["Total"]),  # without the sum it is asked about
    (
        "Total,72\nSubtotal public,30\nbus,21\ntrain,9\nSubtotal private,42\ncar,30\nbike,12\n",
        ["Subtotal public", "Subtotal private", "Total"],
    ),
    (MODES, ["Motorised", "Active"]),
    (f"{MODES}Total,600\n", ["Motorised", "Active", "Total"]),
    # A name that begins others: 2,060 people for 1,030.
    ("A: yes,640\nA: no,360\nA,1000\nB: yes,10\nB: no,20\nB,30\nC-3,4\nC,4\n", ["A", "B"]),
    (NETS.format("NET: public", "Net cars"), ["Base: all", "NET: public", "Net cars"]),
    (NETS.format("Top 2 box", "Bottom two box"), ["Base: all", "Top 2 box", "Bottom two box"]),
    *(
        (PARTS.format(name), [name, "Missing", "Total"])
        for name in ("Valid total", "Total respondents", "Base: all respondents", "Razem", "합계")
    ),
    # A total with a mark behind it; and an empty cell of a pivot table.
    *((f"{ANSWERS}{name},1000\n", [name]) for name in ("Total %", "Total (n)", "Total:", "Gesamtergebnis")),
    *((f"{ANSWERS}{name},7\n", [name]) for name in ("(leer)", "(vide)")),
    # A mean and an SD were categories, and beside them a total was one as well.
    (f"{SCORES}Total,1500\nMean,500\nSD,140\n", ["Total", "Mean", "SD"]),
    (f"{SCORES}Total,1500\nAverage,500\nStd dev,114\n", ["Total", "Average", "Std dev"]),
    (f"{SCORES}Mean:,500\n", ["Mean:"]),
    # What only looks like a sum or a mean.
    (f"{ANSWERS}Total %,100\n", []),
    ("bus,21\nSubtotal public,30\n", []),
    ("Motorised,370\nBus,160\nCar,210\nActive,231\nBike,90\nWalk,140\n", []),
    ("Net,371\nBus,160\nTram,210\nNetwork,370\n", []),
    *((f"{SCORES}{rest}\n", []) for rest in ("Mean,502\nSD,142", "SD,100", "Mean,500\nd,500")),
]
REASONS = {
    "Missing": "too few reports",
    **dict.fromkeys(("(leer)", "(vide)"), "no answer"),
    **dict.fromkeys(("Mean", "Mean:", "SD", "Average", "Std dev"), "a mean or SD"),
}


@pytest.mark.parametrize(("text", "left_out"), NO_CATEGORIES)
def test_rows_that_are_no_categories_are_left_out(text: str, left_out: list[str]) -> None:
    odd = odd_names(reports_of(f"mode,n\n{text}"), AllSeen(), of(1.5))
    assert sorted(odd.default_decisions().left_out) == sorted(left_out)
    reasons = {one.label: one.reason for one in odd.names if one.by_default}
    assert reasons == {name: REASONS.get(name, "a total") for name in left_out}


@pytest.mark.parametrize(
    "lists",
    [
        {"a;b": 200, "b;a": 3},
        {"a, b": 200},
        {"a;": 100, "b;": 100, "a;b;": 90},
        {"a and b": 120, "b und c": 9, "a/c": 60, "b & c": 3},
        {"a, b": 120, "b, d": 60, "c, d": 20},  # nobody ticked d alone
        {"a b": 120, "a c": 60, "b c": 3},  # Kobo's select_multiple
    ],
)
def test_lists_of_answers_are_left_out_together(lists: dict[str, int]) -> None:
    """Those with few reports were left out, and the others counted; not all marks between answers were known."""
    odd = found(rows({"a": 300, "b": 250, "c": 240} | lists), epsilon=1.0)
    several = {name for name, one in odd.items() if one.reason == "several answers"}
    assert several == {name for name in lists if name.strip("; ") not in "abc"}
    assert all(odd[name].by_default for name in several)


def test_a_name_of_two_words_is_no_list() -> None:
    for names in (
        ["New", "York", "New York"],
        ["Yes, once", "Yes, twice", "No"],
        ["Sand", "Land and sea", "Sea", "n/a b"],
        ["Yes, very", "Yes", "No, very", "No"],
    ):
        assert found(rows({name: 300 - 10 * i for i, name in enumerate(names)}), epsilon=1.0) == {}
