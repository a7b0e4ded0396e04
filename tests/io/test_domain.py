"""Reports on their domain: K, a list, or all seen; what is outside; and what is refused."""

from __future__ import annotations

import gzip

import pytest

from rr_core.io import (
    AllSeen,
    Domain,
    Reports,
    Size,
    Source,
    UnreadableFile,
    WrongDomain,
    read_list,
    within,
)
from rr_core.io import domain as domains
from tests.io.reading import pairs, reports_of


def reports(counts: dict[str, int], name: str = "category") -> Reports:
    text = f"{name},count\n" + "".join(f'"{label}",{count}\n' for label, count in counts.items())
    return reports_of(text, layout="counts", category=0, count=1, has_header=True)


def names(text: str | Source) -> list[str]:
    return list(read_list(text).labels)


def complaint(counts: dict[str, int], domain: Domain) -> str:
    with pytest.raises(WrongDomain) as caught:
        within(reports(counts), domain)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300
    return str(caught.value)


TOWNS = {"Rome": 5, "Oslo": 9, "Bern": 5, "Lima": 1}


def test_all_seen_and_size() -> None:
    found = within(reports(TOWNS), AllSeen())
    assert pairs(found) == list(TOWNS.items())
    assert (found.k, found.total, found.unreported) == (4, 20, 0)
    assert (found.outside, found.outside_total, found.notes) == ((), 0, ())
    assert within(reports({**TOWNS, "Nuuk": 0}), AllSeen()).unreported == 1
    found = within(reports(TOWNS), Size(6))
    assert pairs(found) == [*TOWNS.items(), ("not reported 1", 0), ("not reported 2", 0)]
    assert (found.k, found.total, found.unreported, found.outside) == (6, 20, 2, ())
    assert pairs(within(reports(TOWNS), Size(4))) == list(TOWNS.items())
    # Names that are made up clash with nobody's.
    taken = {"not reported 2": 3, "not reported": 4, "not reported 02": 1}
    found = within(reports(taken), Size(6))
    assert found.labels[3:].tolist() == ["not reported 1", "not reported 3", "not reported 4"]


def test_list() -> None:
    found = within(reports(TOWNS), read_list("Bern\nNuuk\nRome\n"))
    assert pairs(found) == [("Bern", 5), ("Nuuk", 0), ("Rome", 5)]
    assert (found.k, found.total, found.unreported) == (3, 10, 1)
    assert (found.outside, found.outside_total) == ((("Oslo", 9), ("Lima", 1)), 10)
    assert found.notes == ()
    found = within(reports({"a": 2, "b": 1, "c": 7, "d": 0, "e": 2, "f": 3}), read_list("f\ng"))
    assert found.outside == (("c", 7), ("a", 2), ("e", 2), ("b", 1))  # sorted, and nobody reported d


def test_domains_that_do_not_fit() -> None:
    for k in (1, 1_500_001):
        assert complaint(TOWNS, Size(k)) == f"K must be from 2 to 1,500,000, and K = {k:,} was given."
    for domain, words in (
        (Size(3), "The files hold 4 different categories, and K = 3 is smaller. Give K = 4 or more"),
        (
            read_list("Paris\nNuuk\nKyiv"),
            "The list shares no category with the reports: the list has “Paris”, “Nuuk”, the reports “Rome”,"
            " “Oslo”. Check that the list belongs to these reports.",
        ),
        (read_list("ROME\nOSLO"), "They differ in upper and lower case: write them alike."),
        (read_list("'Rome'\n*Oslo"), "They differ in case, accents, zeros or marks around the name"),
    ):
        assert words in complaint(TOWNS, domain)


def test_too_few_categories_or_reports() -> None:
    assert complaint({"a": 3}, AllSeen()).startswith(
        "Only one category is counted, and k-RR needs at least 2."
    )
    assert within(reports({"a": 3}), Size(2)).counts.tolist() == [3, 0]
    assert complaint({"a": 3, "b": 0}, read_list("b\nc")).startswith("No report is in a category on the list")


def test_what_differs_a_little_is_outside_and_pointed_out() -> None:
    for reported, listed_name, words in (
        ("rome", "Rome", "upper and lower case"),
        ("01", "1", "leading zeros"),
        ("Zürich", "Zurich", "accents"),
        ("Zu\u0308rich", "Zürich", "the way accents are stored"),
        ("(Rome)", "rome", "case, accents, zeros or marks around the name"),
        ("3.0", "3", "“.0” after the number"),
    ):
        found = within(reports({reported: 5, "Oslo": 2, "Lima": 1}), read_list(f"Oslo\n{listed_name}"))
        assert found.outside == ((reported, 5), ("Lima", 1))
        assert (found.outside_total, found.unreported) == (6, 1)
        (note,) = found.notes
        assert note.startswith(
            f"One label outside the list may be on it in another form, such as “{reported}”"
        )
        assert f"for “{listed_name}”, which differ in {words}." in note
    different = {"Rome": 1, "10": 2, "-": 3, "+": 4, "100": 5}
    assert within(reports(different), read_list("Rome\nRom\n1\n?\n*")).notes == ()


PASTED = {
    "a\nb\nc": ["a", "b", "c"], "a\r\nb\r\n\r\n  c  \r\n": ["a", "b", "c"], "a, b,c": ["a", "b", "c"],
    "a;b, x;c": ["a", "b, x", "c"], "a\tb;c": ["a", "b;c"], '"Paris, France", Rome': ["Paris, France", "Rome"],
    '"say ""hi"""\nb': ['say "hi"', "b"], "'a', 'b'": ["a", "b"], "“a”\n“b”": ["a", "b"], "'a'\nb": ["'a'", "b"],
    '"a",\n"b",\n"c"': ["a", "b", "c"], "a,\nb": ["a", "b"], "a, x\nb": ["a, x", "b"], "b\na\nb\na\nb": ["b", "a"],
    "10\n9": ["10", "9"], "a\t5\nb\t6": ["a", "b"], "a\x07b\nc": ["ab", "c"], "x\ud800\ny": ["x?", "y"],
}  # fmt: skip
IN_FILES = [
    ("category\na\nb\n", "l.csv", False),
    ("a\nb\n", "l.txt", False),
    ("id,label,users\n1,a,5\n2,b,6\n", "l.csv", True),
    ("a;5\nb;6\n", "l.csv", True),
]


def test_lists_that_are_pasted_and_in_files() -> None:
    for text, expected in PASTED.items():
        assert names(text) == expected
    for data, name, has_columns in IN_FILES:
        for packed in (data.encode(), data.encode("utf-16"), gzip.compress(data.encode())):
            assert names(Source(name, packed)) == ["a", "b"]
        notes = read_list(Source(name, data.encode())).notes
        assert any("was read from the column" in note for note in notes) is has_columns


@pytest.mark.parametrize(
    "text", ["a, b", "a;b", "a\tb", '["a", "b"]', "['a', 'b',]", 'c("a", "b")', "{'a', 'b'}"]
)
def test_a_list_in_one_line_is_the_same_pasted_and_in_a_file(text: str) -> None:
    """In a file it had "a header line and nothing below it"; of a printed list the brackets were parts of names."""
    assert names(text) == names(Source("list.txt", text.encode())) == ["a", "b"]
    with pytest.raises(WrongDomain, match="one category only"):
        read_list(Source("list.txt", text[: text.index("a") + 1].lstrip("[{c('\"").encode()))


def test_notes_on_a_list() -> None:
    assert read_list("b\na\nb\na\nb").notes == ("3 repeated names on the list counted once.",)
    assert read_list("a\t5\nb\t6").notes == ("The list has several columns; the first was read.",)
    assert "“Category”, was read as a category" in read_list("Category\na\nb").notes[0]
    titled = within(reports({"Rome": 1}, name="town"), read_list("Town\nRome\nOslo"))
    assert "“Town”, is also the name of the column of reports" in titled.notes[0]
    assert within(reports({"Rome": 1, "town": 1}, name="town"), read_list("town\nRome")).notes == ()
    assert within(reports(TOWNS), read_list("Rome\nRome\nOslo")).notes == (
        "One repeated name on the list counted once.",
    )


def test_long_names_match_and_are_noted_where_they_may_not() -> None:
    long = {"x" * 300: 3, "y": 4}
    found = within(reports(long), read_list("y\n" + "x" * 300))
    assert found.counts.tolist() == [4, 3]
    assert found.notes == ("One name longer than 200 characters was cut.",)
    alike = within(reports(long), read_list("x" * 301 + "\n" + "x" * 300))
    assert "numbered in order of appearance" in alike.notes[0]


def test_lists_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("", "\n \n", "\t,,", '""\n""'):
        with pytest.raises(WrongDomain, match=r"The list of categories is empty\."):
            read_list(text)
    with pytest.raises(WrongDomain, match=r"one category only \(“a”\)"):
        read_list("a\na")
    with pytest.raises(WrongDomain, match="in which a name is far too long"):
        read_list("x" * 200_000 + ",b")
    with pytest.raises(UnreadableFile, match="a picture"):
        read_list(Source("l.csv", b"\x89PNG"))
    monkeypatch.setattr(domains, "K_MAX", 3)
    assert within(reports({"a": 3, "b": 1}), Size(3)).labels[-1] == "not reported 1"
    assert complaint({"a": 3, "b": 1}, Size(4)) == "K must be from 2 to 3, and K = 4 was given."
    assert len(names("a\nb\nc")) == 3
    with pytest.raises(WrongDomain, match="The list holds 4 categories; at most 3"):
        read_list("a\nb\nc\nd")
