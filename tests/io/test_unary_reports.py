"""Reports of unary encoding from files: all three forms give the same counts, and what cannot be read is told."""

import io

import numpy as np
import pytest

from rr_core.io import Source, UnreadableFile
from rr_core.io import unary_reports as module
from rr_core.io.unary_reports import UnaryReports, read_unary
from rr_core.protocols import UnaryEncoding
from tests.io.reading import parquet, refused, source, table

BITS = UnaryEncoding(4, 1.0).randomize(np.repeat([0, 1, 2], [20, 12, 5]), 1)
NAMES = ["bus", "car", "train", "on foot"]


def named(read: UnaryReports) -> tuple[str, ...]:
    """Names of the columns that were read: of bits, or of bit strings, or of categories and their ones."""
    reports = read.reports
    ones = (f"{reports.count_name}",) if read.bits is None else ()
    return reports.columns or (reports.category_name, *ones)


def as_csv(bits, names=NAMES, separator=","):
    rows = [separator.join(map(str, row)) for row in bits.tolist()]
    return ("\n".join(([separator.join(names)] if names else []) + rows) + "\n").encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("commas.csv", as_csv(BITS)),
        ("semicolons.csv", as_csv(BITS, separator=";")),
        ("without.csv", as_csv(BITS, names=None)),
        ("numbers.parquet", parquet({name: BITS[:, i] for i, name in enumerate(NAMES)})),
        ("booleans.parquet", parquet({name: BITS[:, i].astype(bool) for i, name in enumerate(NAMES)})),
        ("strings.txt", "\n".join("".join(map(str, row)) for row in BITS.tolist()).encode()),
    ],
)
def test_every_form_of_bits_gives_the_same_counts(name, data):
    read = read_unary(Source(name, data))
    assert read.n == len(BITS)
    np.testing.assert_array_equal(read.support, BITS.sum(axis=0))
    assert read.bits is not None
    np.testing.assert_array_equal(read.times @ read.bits.astype(int), BITS.sum(axis=0))
    assert read.labels == (
        tuple(NAMES) if "commas" in name or "semi" in name or "parquet" in name else read.labels
    )


def test_too_many_bits_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_BITS_HELD", 100)
    for data in (as_csv(BITS), "\n".join(f"{i:010b}" for i in range(20)).encode()):
        with pytest.raises(UnreadableFile, match="more than 100 bits"):
            read_unary(Source("reports.csv", data))


def test_patterns_with_how_often_each_occurred():
    read = read_unary(Source("bits.csv", b"bus,car,train,count\n1,0,1,30\n0,1,0,20\n1,1,0,9\n"))
    assert (read.n, read.support.tolist(), read.times.tolist()) == (59, [39, 29, 30], [30, 20, 9])
    assert any("as often as its column “count” says" in note for note in read.reports.notes)
    # Years that are stated to be a header are names: there was "no column “2019”".
    years = source("2019,2020,2021\n1,0,0\n1,1,0\n0,0,0\n")
    read = read_unary(years, has_header=True)
    assert (read.labels, read.support.tolist()) == (("2019", "2020", "2021"), [2, 1, 0])
    assert read_unary(years, **read.reports.reading).support.tolist() == [2, 1, 0]
    people = read_unary(Source("bits.csv", b"bus,car,number\n1,0,3\n0,1,2\n1,0,9\n"))  # rows come again
    assert people.n == 3
    assert any("Not read" in note for note in people.reports.notes)


RNG = np.random.default_rng(8)
BIT = RNG.integers(0, 2, (300, 40))
STRINGS = ["".join(map(str, row[:12])) for row in BIT]


@pytest.mark.parametrize(
    ("header", "columns", "labels"),
    [
        ("new_client,urban,bits", [*BIT[:, :2].T, STRINGS], tuple(map(str, range(1, 13)))),
        ("female,a,b,c,d", BIT[:, :5].T, tuple("abcd")),
        ("a,b,c,d,done", [*BIT[:, :4].T, [1] * 300], tuple("abcd")),
        ("male,female", BIT[:, :2].T, ("male", "female")),  # these are the categories
        ("batch,a,b,c", [[10, 11] * 150, *BIT[:, :3].T], tuple("abc")),  # 10 and 11 are no bit strings here
        # Numbers of persons are not how often their bits occurred.
        ("n,a,b,c", [range(1, 301), *BIT[:, :3].T], tuple("abc")),
        ("age,a,b,c", [RNG.integers(18, 80, 300), *BIT[:, :3].T], tuple("abc")),
        ("a,b,c,ones", [*BIT[:, :3].T, BIT[:, :3].sum(axis=1)], tuple("abc")),
    ],
)
def test_columns_about_the_person_are_no_categories(header, columns, labels):
    """“urban” was the most frequent category, with 78.8%."""
    data = table(header, *columns)
    read = read_unary(Source("a.csv", data))
    assert (read.labels, read.n) == (labels, 300)
    ones = BIT[:, : len(labels)] if header != "female,a,b,c,d" else BIT[:, 1:5]
    np.testing.assert_array_equal(read.support, ones.sum(axis=0))


def test_the_columns_of_bits_can_be_chosen():
    data = table("female,a,b,bits,users", *BIT[:, :3].T, STRINGS, [2] * 300)
    assert named(read_unary(Source("a.csv", data))) == ("bits",)
    read = read_unary(Source("a.csv", data), columns=["a", "b"])
    assert (read.labels, read.n, read.support.tolist()) == (("a", "b"), 300, BIT[:, 1:3].sum(axis=0).tolist())
    assert read.reports.notes == ("Not read: “female”, “bits”, “users”.",)
    read = read_unary(Source("a.csv", data), columns=["a", "b"], count="users")
    assert (read.n, read.reports.count_name) == (600, "users")
    np.testing.assert_array_equal(read.support, 2 * BIT[:, 1:3].sum(axis=0))
    ones = Source("a.csv", table("a,b,users", *BIT[:, 1:3].T, [2] * 300))
    assert read_unary(ones, layout="counts", category="a", count="users", columns=()).n is None
    for wrong, said in (
        ({"columns": ["a"]}, "two or more categories"),
        ({"columns": ["a", "c"]}, "no column “c”"),
        ({"columns": ["a", "b"], "count": "bits"}, "the count “.*” is not a number"),
    ):
        with pytest.raises(UnreadableFile, match=said):
            read_unary(Source("a.csv", data.replace(b"000", b"x00")), **wrong)
    nobody = Source("a.csv", table("a,b,users", *BIT[:, :2].T, [0] * 300))
    with pytest.raises(UnreadableFile, match="“users” are zero"):
        read_unary(nobody, columns=["a", "b"], count="users")


ORDER, PLACE, WEEKS = range(1, 301), ["N", "S", "N"] * 100, [1, 2, 3] * 100


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        # `id,bits` gave 300 names with 12,014,365,210,476 ones.
        ("bits,id", [STRINGS, ORDER]),
        ("id,bits", [ORDER, STRINGS]),
        ("timestamp,bits", [[f"2026-01-02 10:00:{i}" for i in range(300)], STRINGS]),
        ("region,bits", [PLACE, STRINGS]),
        ("device,bits,version", [[f"d{i}" for i in range(300)], STRINGS, WEEKS]),
        ("room,bits", [[101, 110] * 150, STRINGS]),  # the longer bit strings are the reports
        # A column `number` of 1 to 300 gave 45,150 reports; nor is the number of ones how often they occurred.
        ("number,bits", [ORDER, STRINGS]),
        ("bits,n", [STRINGS, ORDER]),
        ("people in household,bits", [RNG.integers(1, 7, 300), STRINGS]),
        ("bits,age", [STRINGS, RNG.integers(18, 80, 300)]),
        ("bits,ones", [STRINGS, [word.count("1") for word in STRINGS]]),
        ("bits,n", [STRINGS, [word.count("1") for word in STRINGS]]),
    ],
)
def test_bit_strings_are_seen_beside_anything_and_each_is_one_report(header, columns):
    read = read_unary(Source("a.csv", table(header, *columns)))
    assert (read.n, named(read)) == (300, ("bits",))
    np.testing.assert_array_equal(read.support, BIT[:, :12].sum(axis=0))


def test_of_two_columns_of_bit_strings_one_is_read_and_that_is_said():
    other = ["".join(map(str, row[12:24])) for row in BIT]
    read = read_unary(Source("a.csv", table("day1,day2", STRINGS, other)))
    assert (read.n, named(read)) == (300, ("day1",))
    assert read.reports.notes == ("Not read, though the column holds bit strings as well: “day2”.",)


@pytest.mark.parametrize("written", [("5.0", "7.0"), ('"1,000"', '"2,000"'), ("1e3", "7")])
def test_how_often_a_row_occurred_is_read_as_any_other_count(written):
    """It was called something else than a whole number."""
    one, other = (float(number.strip('"').replace(",", "")) for number in written)
    read = read_unary(source(f"a,b,count\n0,1,{written[0]}\n1,1,{written[1]}\n"))
    assert (read.n, read.support.tolist()) == (one + other, [other, one + other])
    for bad, said in (("", "Line 3 has no count"), ("2.5", "not a whole number"), ("9e15", "add up to more")):
        with pytest.raises(UnreadableFile, match=said):
            read_unary(source(f"a,b,count\n0,1,9e15\n1,1,{bad}\n"))


def saved(form: str, mark: str) -> str:
    """Bits as `numpy.savetxt` writes them."""
    out = io.StringIO()
    np.savetxt(out, [[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]], fmt=form, delimiter=mark)
    return out.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "0 1 0 0\n1 1 0 0\n0 0 0 1\n0 1 0 0\n",
        "[0, 1, 0, 0]\n[1, 1, 0, 0]\n[0, 0, 0, 1]\n[0, 1, 0, 0]\n",
        'id,bits\n7,"[0, 1, 0, 0]"\n8,"[1, 1, 0, 0]"\n9,"[0, 0, 0, 1]"\n3,"[0, 1, 0, 0]"\n',
        "a b c d\n0 1 0 0\n1 1 0 0\n0 0 0 1\n0 1 0 0\n",
        *(saved(form, mark) for form in ("%.18e", "%.1f", "%.3e") for mark in " ,"),
    ],
)
def test_bits_as_programs_print_them_are_read(text: str) -> None:
    """Of the lists the first and the last bit were left out; those with blanks, or as NumPy saves them, were refused."""
    assert read_unary(Source("a.txt", text.encode())).support.tolist() == [1, 3, 0, 1]


def test_a_total_among_the_ones_is_no_category() -> None:
    """It was one, and had a share of 158%."""
    for name in ("Total respondents", "Gesamt", "N"):
        read = read_unary(source(f"category,ones\na,268\nb,198\nc,147\n{name},500\n"))
        assert (read.labels, read.support.tolist()) == (("a", "b", "c"), [268, 198, 147])
        assert read.reports.notes == (f"“{name}” (500) is a total and no category: it was left out.",)
    some = read_unary(source("category,ones\nall,100\nsome,198\nnone,147\n"))
    assert some.support.tolist() == [100, 198, 147]


ABC, BUSES, PLACES = ("A", "B", "C"), ("bus", "car"), ("1", "2", "3")
READ = [
    # The text, the names of its categories, its number of reports, and their ones.
    ("report,count\n010,30\n110,12\n000,5\n", PLACES, 47, [12, 42, 0]),
    (
        "bits,count\n0110,2\n1000,1\n0111,3\n",
        (*PLACES, "4"),
        6,
        [1, 5, 5, 3],
    ),  # counts, though the ones of some
    ("category,ones\nbus,412\ncar,655\n", BUSES, None, [412, 655]),
    ("category,ones,n\nbus,412,1000\ncar,655,1000\n", BUSES, None, [412, 655]),
    ("age,ones\n10,640\n11,400\n", ("10", "11"), None, [640, 400]),
    ("category,count\n0,300\n1,200\n", ("0", "1"), None, [300, 200]),
    # Ones that look like bits were three reports.
    *((f"item,{name}\nA,100\nB,110\nC,101\n", ABC, None, [100, 110, 101]) for name in ("ones", "support")),
    # Rows that come again were taken for one report each.
    ("region,bus,car,count\nN,1,0,30\nN,0,1,20\nS,1,0,9\nS,0,0,0\n", BUSES, 59, [39, 20]),
    ("bus,car\nTrue,False\nFALSE,TRUE\n", BUSES, 2, [1, 1]),
    # Beside columns of bits yes and no are another question.
    ("employed,bus,car\nYes,1,0\nNo,1,1\nNo,0,0\n", BUSES, 3, [2, 1]),
    # The words of a ticked box, as REDCap exports labels, were refused, with the words to write in their place.
    *(
        (f"Record ID,sex,A,B\n1,m,{zero},{one}\n2,w,{one},{one}\n3,w,{zero},{zero}\n", ABC[:2], 3, [1, 2])
        for one, zero in (*(("Checked", "Unchecked"), ("oui", "non"), ("Selected", "Not selected")),)
    ),
    # Numbers that a program gave to columns are names; 0 and 1 alone may be a report as well.
    ("0,1,2,3\n" + "1,0,0,1\n0,1,1,0\n" * 3, ("0", *PLACES), 6, [3, 3, 3, 3]),
    (",0,1,2\n0,1,0,0\n1,0,1,1\n2,1,1,1\n", ("0", "1", "2"), 3, [2, 2, 2]),
    ("0,1\n1,0\n1,1\n", ("Column 1", "Column 2"), 3, [2, 2]),
    ("1,0,0\n0,1,1\n", ("Column 1", "Column 2", "Column 3"), 2, [1, 1, 1]),
]


@pytest.mark.parametrize(("text", "labels", "n", "ones"), READ)
def test_bits_and_their_numbers_are_read(text, labels, n, ones) -> None:
    read = read_unary(source(text))
    assert (read.labels, read.n, read.support.tolist()) == (labels, n, ones)


IN_WORDS = "where unary encoding has 1 and 0: write"
REFUSED = [
    ("bus,car\n" + "1,0\n" * 2000 + "1,2\n", "Line 2,002 has “2” in the column “car”"),
    ("bus,car\n" + "1,0\n" * 2000 + "1,\n", "Line 2,002 has nothing in the column “car”"),
    ("a,b,c\n1,0,NA\n0,1,0\n1,1,1\n", "“NA” in the column “c”"),
    ("010\n110\n01\n", "The report “01” has 2 bits, the first one 3"),
    ("bus\ncar\nbus\n", "does not hold bit strings like 0110"),
    ("category,ones\nbus,412\n", "one row only"),
    ("clicked\n1\n0\n1\n", "one bit is Warner's design"),
    ("", "empty"),
    ("bits\n0 1 0 0\n1 1 0 0\n0 0 0 1\n0 1 0 0\n", "have blanks between them: write them without, like 0110"),
    # As Excel saves bit strings: with counts each was a category.
    ("bits,count\n110,5\n1000,7\n1,3\n", "takes the zeros at their beginning away"),
    ("A,B,C,N\n300,200,100,1000\n", ""),  # 100 was the bits of 1,000 reports
    ("bus,car\n1\n0,1\n", ""),  # a short line among the first ones ended in an IndexError
    ("a,b\n\n1", ""),
    ("sex,town\nm,Oslo\nw,Rome\n", ""),
    ("a,b\nx,\n,y\n", ""),
    # Words in place of bits: the column “submitdate” was named, or that it holds no bit strings.
    (
        "id,submitdate,lang,a[1],a[2],a[3]\n1,2026-03-01,en,Y,,\n2,2026-03-02,en,Y,Y,\n3,2026-03-02,en,Y,,\n",
        f"The column “a[1]” holds “Y” and empty cells, {IN_WORDS} 1 for “Y” and 0 in empty cells, in every such column.",
    ),
    (
        "Record ID,sex,A,B\n1,m,Off,On\n2,w,On,On\n3,w,Off,Off\n",
        f"The column “A” holds “Off” and “On”, {IN_WORDS} 1 for yes and 0 for no, in every such column.",
    ),
    (
        "id,Bus,Car\n1,Bus,\n2,Bus,Car\n3,,Car\n",
        f"The column “Bus” holds “Bus” and empty cells, {IN_WORDS} 1 for “Bus” and 0 in empty cells, in every such",
    ),
    (
        "a,b,c\n1,-1,1\n-1,-1,1\n1,1,-1\n",
        f"The column “a” holds “1” and “-1”, {IN_WORDS} 1 for yes and 0 for no, in every such column.",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_cannot_be_read_is_told_in_one_sentence(text: str, said: str) -> None:
    told = refused(lambda: read_unary(source(text)))
    assert said in told
    assert "takes the zeros" not in told or "takes the zeros" in said
    assert "in every such column" not in told or "in every such" in said
