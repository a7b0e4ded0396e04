"""Small workbooks made by hand: what a spreadsheet writes, and what nobody should."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

Cell = str | float | bool | None
Rows = Sequence[Sequence[Cell]]

ANSWERS: Rows = [
    ["report", "region"],
    *([["bus", "north"]] * 3),
    *([["car", "south"]] * 4),
    ["on foot, with bag", 'the "east"'],
]
COUNTS = {"bus": 3, "car": 4, "on foot, with bag": 1}

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_MIME = "application/vnd.oasis.opendocument.spreadsheet"


def zipped(members: dict[str, bytes]) -> bytes:
    """A ZIP archive of these members and nothing else."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _excel_cell(place: str, cell: Cell) -> str:
    if cell is None:
        return f'<c r="{place}" s="0"/>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{_escaped(cell)}</t></is></c>'
    return f'<c r="{place}"><f>1*1</f><v>{cell!r}</v></c>'


def excel_rows(rows: Rows, above: int = 0) -> str:
    """The XML of rows, below so many empty ones."""
    return "".join(
        f'<row r="{i}">'
        + "".join(_excel_cell(f"{chr(65 + j)}{i}", cell) for j, cell in enumerate(row))
        + "</row>"
        for i, row in enumerate(rows, above + 1)
    )


def excel_parts(sheets: Mapping[str, str], hidden: Sequence[str] = ()) -> dict[str, bytes]:
    """The members of a workbook, of sheets by name as XML of their rows."""
    ids = list(enumerate(sheets, 1))
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}" state="{"hidden" if name in hidden else "visible"}"/>'
        for i, name in ids
    )
    related = "".join(
        f'<Relationship Id="rId{i}" Type="{_RELATED}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i, _ in ids
    )
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{_RELATED}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{related}</Relationships>',
        **{
            f"xl/worksheets/sheet{i}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{sheets[name]}</sheetData></worksheet>'
            for i, name in ids
        },
    }
    return {name: part.encode() for name, part in parts.items()}


def xlsx(*sheets: Rows, above: int = 0) -> bytes:
    """A workbook of sheets that are called Sheet1, Sheet2, …"""
    return zipped(excel_parts({f"Sheet{i}": excel_rows(rows, above) for i, rows in enumerate(sheets, 1)}))


def _open_cell(cell: Cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        value = f'boolean" office:boolean-value="{str(cell).lower()}'
    else:
        value = "string" if isinstance(cell, str) else f'float" office:value="{cell!r}'
    return f'<table:table-cell office:value-type="{value}"><text:p>{_escaped(str(cell))}</text:p></table:table-cell>'


def ods(*tables: Rows | str) -> bytes:
    """An OpenDocument spreadsheet of tables, each as rows or as XML, with the empty row that programs write below."""
    written = "".join(
        f'<table:table table:name="T{i}">'
        + (
            rows
            if isinstance(rows, str)
            else "".join(
                f"<table:table-row>{''.join(map(_open_cell, row))}</table:table-row>" for row in rows
            )
        )
        + '<table:table-row table:number-rows-repeated="1048000">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
        for i, rows in enumerate(tables, 1)
    )
    names = " ".join(f'xmlns:{one}="{_OPEN}:{one}:1.0"' for one in ("office", "table", "text"))
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet>{written}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", _MIME)
        archive.writestr("META-INF/manifest.xml", f'<manifest xmlns="{_OPEN}:manifest:1.0"/>')
        archive.writestr("content.xml", content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def xls(rows: Rows) -> bytes:
    """A workbook in Excel's old format: a stream of records in a small file system of sectors."""
    cells = [(i, j, cell) for i, row in enumerate(rows) for j, cell in enumerate(row)]
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 6)) + b"".join(
        _record(0x204, struct.pack("<HHHHB", i, j, 0, len(cell), 0) + cell.encode("latin-1"))
        if isinstance(cell, str)
        else _record(0x203, struct.pack("<HHHd", i, j, 0, cell or 0))
        for i, j, cell in cells
    )
    sheet += _record(0x0A, b"")
    head = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6))
    at = len(head) + 4 + 8 + len("Sheet1") + 4
    bound = _record(0x85, struct.pack("<IHBB", at, 0, len("Sheet1"), 0) + b"Sheet1")
    return ole("Workbook", head + bound + _record(0x0A, b"") + sheet)


def ole(name: str, stream: bytes) -> bytes:
    """The old file system of Office with one stream."""
    stream = stream.ljust(4096, b"\0")
    stream += bytes(-len(stream) % 512)
    sectors = len(stream) // 512
    end, free, table = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    fat = [table, end, *range(3, 2 + sectors), end]
    fat += [free] * (128 - len(fat))

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        letters = (name + "\0").encode("utf-16-le")
        tree = struct.pack("<BBIII", kind, 1, free, free, child)
        return (
            letters.ljust(64, b"\0")
            + struct.pack("<H", len(letters))
            + tree
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )

    directory = entry("Root Entry", 5, 1, end, 0) + entry(name, 2, free, 2, len(stream))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0, 0)
    header += struct.pack("<I", free) * 108
    return header + struct.pack("<128I", *fat) + directory.ljust(512, b"\0") + stream


def archive(members: Mapping[str, bytes], *, password: bool = False, method: int = 8) -> bytes:
    """A ZIP archive; with `password`, its members say that they have one."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    data = bytearray(made.getvalue())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while password and at >= 0:
            data[at + flags] |= 1
            at = data.find(signature, at + 1)
    return bytes(data)
