"""Workbooks and ZIP archives: the right counts, and one plain sentence where there is no table."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from rr_core.io import (
    Source,
    UnreadableFile,
    decoding,
    inspect,
    inspect_reports,
    read_distribution,
    read_list,
    read_reports,
    spreadsheets,
)
from rr_core.io.channel_file import read_matrix_file
from rr_core.io.spreadsheets import as_shown, read_sheet
from tests.io.reading import as_dict, preview_of
from tests.io.reading import refused as refusal
from tests.io.workbook_files import (
    ANSWERS,
    COUNTS,
    archive,
    excel_parts,
    excel_rows,
    ods,
    ole,
    xls,
    xlsx,
    zipped,
)

CSV = b"report,region\nbus,north\ncar,south\ncar,south\n"
TABLE = [["town", "people"], ["Rome", 1200.0], ["Oslo", 1.5], ["Bonn", 0.1 + 0.2]]
FILES = {"a.xlsx": xlsx(ANSWERS), "a.xlsm": xlsx(ANSWERS), "a.ods": ods(ANSWERS), "a.xls": xls(ANSWERS)}


def read(data: bytes, name: str = "a.xlsx", **options: Any) -> Any:
    return read_reports([Source(name, data)], **options)


def refused(data: bytes, name: str = "a.xlsx") -> str:
    refusal(lambda: read_distribution(data, name))
    return refusal(lambda: read(data, name))


@pytest.mark.parametrize("name", FILES)
def test_each_format_gives_the_right_counts(name: str) -> None:
    for called in (name, "a.csv", "a"):  # whatever its name says
        reports = read(FILES[name], called)
        assert as_dict(reports) == COUNTS
        assert (reports.category_name, reports.notes, reports.dropped) == ("report", (), ())
    distribution = read_distribution(FILES[name], name, category="region")
    assert distribution.labels.tolist() == ["north", "south", 'the "east"']
    assert distribution.weights.tolist() == [3, 4, 1]
    preview = inspect(FILES[name], name)
    assert preview.columns == ("report", "region")
    assert preview.program == ("OpenDocument spreadsheet" if name == "a.ods" else "Excel workbook")
    assert read(FILES[name], name, has_header=False).total == 9
    two = read_reports([Source("1.csv", CSV), Source(name, FILES[name])])
    assert as_dict(two) == {"bus": 4, "car": 6, "on foot, with bag": 1}
    assert [*read_list(Source(name, FILES[name])).labels] == [*COUNTS]


@pytest.mark.parametrize("make", [xlsx, ods])
def test_numbers_are_numbers_however_they_are_written(make: Callable[..., bytes]) -> None:
    matrix = [["truth", "yes", "no"], ["yes", 0.75, 0.25], ["no", 0.125, 0.875]]
    assert read_matrix_file(make(matrix), "a.xlsx").matrix.tolist() == [[0.75, 0.25], [0.125, 0.875]]
    found = read_distribution(make(TABLE), "a.xlsx")
    assert dict(zip(found.labels, found.weights * found.total, strict=True)) == pytest.approx(
        {"Rome": 1200, "Oslo": 1.5, "Bonn": 0.3}
    )
    # With three decimals it is no number of thousands.
    found = read_distribution(make([["town", "share"], ["Rome", 1.234], ["Oslo", 2.345]]), "a.xlsx")
    assert found.total == pytest.approx(3.579)
    with pytest.raises(UnreadableFile, match=r"^Row 7: the count “-3” is negative"):
        read_distribution(xlsx([*TABLE, ["Kiel", -3.0]], above=2), "a.xlsx")


def test_cells_are_as_they_are_shown() -> None:
    assert list(map(as_shown, (3.0, -0.5, 1e15, 1e300, float("nan"), None, "01"))) == [
        *("3", "-0.5", "1e+15", "1e+300", "", "", "01")
    ]
    day = datetime.datetime(2024, 12, 31, 8, 30)
    assert list(map(as_shown, (day, day.date(), day.time()))) == [
        *("2024-12-31 08:30:00", "2024-12-31", "08:30:00")
    ]
    for make in (xlsx, ods):
        assert (
            read_sheet(make([["a\tb", True], ["c\nd", False], ["e", 2.0]])).data
            == b"a b\tTRUE\nc d\tFALSE\ne\t2\n"
        )


@pytest.mark.parametrize("make", [xlsx, ods])
def test_what_is_empty_around_a_table_is_skipped(make: Callable[..., bytes]) -> None:
    nothing: list[None] = [None] * 4
    rows = [nothing, nothing, *([None, *row, None] for row in ANSWERS), nothing]
    reports = read(make(rows))
    assert as_dict(reports) == COUNTS
    assert (reports.dropped, reports.notes) == ((), ())
    titled = [["Survey of 2024", None], [None, None], *ANSWERS]
    assert as_dict(read(make(titled))) == COUNTS
    assert "Survey of 2024" in read(make(titled)).notes[0]


@pytest.mark.parametrize("above", [0, 3])
def test_a_cell_merged_over_rows_is_that_of_each(above: int) -> None:
    """The rows below the first were left out, and of each group only its first answer was counted."""
    rows = [
        [None, "region", "answer", "n"],
        [None, "North", "yes", 140],
        [None, None, "no", 260],
        [None, "South", "yes", 150],
        [None, None, "no", 250],
        [None, "once more", None, 12],
        [None, None, "no", None],
    ]
    merges = [("B", 2, 3), ("B", 4, 5), ("C", 5, 6), ("D", 6, 7)]
    cells = "".join(f'<mergeCell ref="{c}{a + above}:{c}{b + above}"/>' for c, a, b in merges)
    parts = excel_parts({"Sheet1": excel_rows(rows, above)})
    name = "xl/worksheets/sheet1.xml"
    below = f"</sheetData><mergeCells>{cells}</mergeCells>".encode()
    sheet = read_sheet(zipped({**parts, name: parts[name].replace(b"</sheetData>", below)}))
    assert [line.split("\t") for line in sheet.data.decode().splitlines()] == [
        ["region", "answer", "n"],
        ["North", "yes", "140"],
        ["North", "no", "260"],
        ["South", "yes", "150"],
        ["South", "no", "250"],
        ["once more", "no", "12"],
        ["", "no", ""],  # a number that is merged may be that of its rows together: it is not repeated
    ]
    assert sheet.notes == ("Merged cells, as that with “North”, were read as that in each of their rows.",)


def test_the_first_sheet_with_a_table_is_read_and_the_others_are_named() -> None:
    for make in (xlsx, ods):
        reports = read(make([["Only a title"]], [], ANSWERS, TABLE))
        assert as_dict(reports) == COUNTS
        name = "T3" if make is ods else "Sheet3"
        assert reports.notes == (
            f"The table was read from the sheet “{name}”; 2 other sheets were not read.",
        )
        assert read(make([], ANSWERS)).notes == ()
    sheets = {"lists": excel_rows(TABLE), "data": excel_rows(ANSWERS)}
    hidden = read(zipped(excel_parts(sheets, hidden=["lists"])))
    assert as_dict(hidden) == COUNTS
    remarks = [["The answers of spring."], ["Contact: the office"]]
    assert read(xlsx(remarks, ANSWERS)).total == 8
    assert read(xlsx(remarks, [["alone"]])).total == 2
    assert hidden.notes == ("The table was read from the sheet “data”; “lists” was not read.",)
    assert "no cells" in refused(xlsx([], []))
    assert "no cells" in refused(zipped(excel_parts({})))


def test_another_sheet_is_read_where_it_is_asked_for() -> None:
    data = zipped(
        excel_parts({"Info": excel_rows([["note"], *[["by phone"]] * 2]), "Data": excel_rows(ANSWERS)})
    )
    assert preview_of(data, name="a.xlsx").sheets == ("Info", "Data")
    source = Source("a.xlsx", data, "Data")
    assert inspect_reports(source).sheets == ("Data", "Info")
    reports = read_reports([source])
    assert (as_dict(reports), reports.notes, reports.reading["sheet"]) == (COUNTS, (), "Data")
    population = read_distribution(data, "a.xlsx", sheet="Data", layout="values", category="report")
    assert population.total == reports.total
    said = refusal(lambda: read_reports([Source("a.xlsx", data, "Dato")]))
    assert said.startswith("There is no sheet “Dato”. The sheets of the workbook are “Info”, “Data”")
    said = refusal(lambda: read(data, category="report"))
    assert "those of the sheet “Info”: “Data” may be the one to choose" in said
    assert read_reports([Source("a.csv", CSV, "Data")]).total == 3


def test_a_zip_archive_with_one_table_is_read() -> None:
    for name, data in {**FILES, "a.csv": CSV, "b/a.tsv": CSV.replace(b",", b"\t")}.items():
        packed = archive({f"__MACOSX/{name}": b"?", name: data, ".DS_Store": b"?"})
        assert read(packed, "a.zip").total == read(data, name.rpartition("/")[2]).total
    beside = read(archive({"data.csv": CSV, "readme.txt": b"about it"}), "a.zip")
    assert beside.total == 3
    assert beside.notes == ("Of the ZIP archive, “data.csv” was read, and “readme.txt” was not.",)
    assert inspect(archive({"a.csv": CSV}), "a.zip").compression == "zip"
    several = refused(archive({"a.csv": CSV, "b.csv": CSV}), "a.zip")
    assert several.startswith("The ZIP archive holds 2 tables (“a.csv”, “b.csv”), and one is read at a time.")
    assert "holds no table (“a.png”)" in refused(archive({"a.png": b"?"}), "a.zip")
    assert "holds no table." in refused(archive({}), "a.zip")
    assert "password" in refused(archive({"a.csv": CSV}, password=True), "a.zip")
    assert "not read here" in refused(archive({"a.csv": CSV}, method=zipfile.ZIP_LZMA), "a.zip")
    assert "compressed twice" in refused(archive({"a.zip": archive({"a.csv": CSV})}), "a.zip")


def with_size(data: bytes, size: int) -> bytes:
    """The archive with another size said of its first member, in both places."""
    lying = bytearray(data)
    lying[22:26] = size.to_bytes(4, "little")
    at = data.index(b"PK\x01\x02") + 24
    lying[at : at + 4] = size.to_bytes(4, "little")
    return bytes(lying)


def test_what_unpacks_to_too_much_is_refused_whatever_it_says_of_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "MAX_UNPACKED_BYTES", 3 << 20)
    bomb = archive({"a.csv": b"a,1\n" * 2_000_000})
    assert refused(bomb, "a.zip").startswith("The ZIP archive unpacks to more than 3 MB.")
    for size in (0, 100, 2**31):
        assert "more than 3 MB" in refused(with_size(bomb, size), "a.zip") or size < 2**31
    assert "more than 3 MB" in refused(xlsx([["a" * 4_000_000], ["b"]]))
    assert "more than 3 MB" in refused(ods([["a" * 4_000_000], ["b"]]), "a.ods")


FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
STYLED = excel_rows(ANSWERS) + '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
REPEATED = (
    '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16000"'
    ' office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row>'
)


def test_a_sheet_of_very_many_cells_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (zipped(excel_parts({"S": FAR})), ods(REPEATED)):
        assert refused(data).startswith("A sheet of the workbook spans more than 8,000,000 cells.")
    assert as_dict(read(zipped(excel_parts({"S": STYLED})))) == COUNTS  # cells without content are none
    monkeypatch.setattr(spreadsheets, "MAX_CELLS", 10)
    assert "spans more than 10 cells" in refused(FILES["a.xls"], "a.xls")
    assert read_sheet(xlsx([["a"], ["b"]])).above == 0


ENCRYPTED = {
    "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml": b"<encryption-data/>",
    "content.xml": b"?",
}
REFUSED: dict[str, tuple[bytes, str]] = {
    "locked.xlsx": (ole("EncryptedPackage", b"?"), "The workbook is protected by a password."),
    "locked.ods": (archive(ENCRYPTED, method=zipfile.ZIP_STORED), "The workbook is protected by a password."),
    "marked.xlsx": (
        archive(excel_parts({"S": FAR}), password=True),
        "The workbook is protected by a password.",
    ),
    "word.docx.csv": (
        archive({"[Content_Types].xml": b"", "word/document.xml": b""}),
        "The content is an office",
    ),
    "word.csv": (ole("WordDocument", b"?"), "The content is an old Excel or Word file"),
    "text.xlsx": (CSV, "The name ends in .xlsx but the content is not an Excel workbook."),
    "text.ods": (CSV, "The name ends in .ods but the content is not an OpenDocument spreadsheet."),
    "page.xls": (b"<html><table></table></html>", "The content is a web page"),
    "zeros.xlsx": (b"PK\x03\x04" + bytes(500), "The workbook is damaged or cut short."),
    "zeros.zip": (b"PK\x03\x04" + bytes(500), "The ZIP archive is damaged or cut short."),
    "zeros.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "The workbook is damaged or cut short."),
    "book.xlsb": (b"PK\x03\x04", "Files like “book.xlsb” cannot be read here."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_gets_one_plain_sentence(name: str) -> None:
    data, words = REFUSED[name]
    assert refused(data, name).startswith(words)


def test_dates_of_workbooks_are_dates() -> None:
    rows = "".join(
        f'<row r="{i}"><c r="A{i}" s="{i - 1}"><v>{day}</v></c></row>'
        for i, day in ((1, 45657), (2, 45657.5), (3, 45657))
    )
    formats = "".join(f'<xf numFmtId="{number}"/>' for number in (14, 22, 0))
    styles = f'<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>{formats}</cellXfs>'
    parts = excel_parts({"S": rows}) | {"xl/styles.xml": f"{styles}</styleSheet>".encode()}
    assert read_sheet(zipped(parts)).data == b"2024-12-31\n2024-12-31 12:00:00\n45657\n"
