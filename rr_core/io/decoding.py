"""From the bytes of an upload to what they really are: size, archives, real type, encoding; and the exceptions."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from rr_core.data import read_toml
from rr_core.limits import MAX_UPLOAD_BYTES
from rr_core.plain_text import plain

_SPREADSHEETS = ("xlsx", "xlsm", "xls", "ods")
EXTENSIONS = ("csv", "tsv", "txt", "parquet", *_SPREADSHEETS, "sav", "zsav", "dta", "sas7bdat", "gz", "zip")
"""What a file-upload widget should let people choose."""

MAX_UNPACKED_BYTES = MAX_UPLOAD_BYTES
"""The same limit after decompression: a bomb is a small file."""

COUNT_FIRST = "Count the values first and upload one line per category with its count."
DAMAGED = "The {what} is damaged or cut short. Save it again in the program it comes from, or upload the table as CSV."

_FOREIGN_CONTENT = (
    "The content is {}, not a table, whatever its name says. Export the table itself as CSV and upload that."
)
_UNKNOWN_ENCODING = (
    "The encoding of the text is not known, so letters would be lost or wrong. Save the table again in the encoding "
    "UTF-8 (Excel: “CSV UTF-8”)."
)
_EMPTY = "The file is empty. Upload a table with one line per category, or one value per line."
_CHUNK = 1 << 20
_GZIP, _PARQUET, _ZIP, _EMPTY_ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"PK\x05\x06"
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZIP_ENCRYPTED = 1  # a bit among a member's flags
# Excel's old format is a file system, as are old Word files and workbooks with a password; names in it are in UTF-16.
_OLE = b"\xd0\xcf\x11\xe0"
_OF_WORKBOOKS = tuple(name.encode("utf-16-le") for name in ("Workbook", "Book", "EncryptedPackage"))
_SPSS, _STATA = (b"$FL2", b"$FL3"), b"<stata_dta>"
_SAS = b"\x00" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
_OLD_STATA = re.compile(rb"[h-s][\x01\x02]")  # the version, and the order of bytes
_FILES = read_toml("files.toml")
_PROMISED: dict[str, str] = _FILES["promised"]
_FOREIGN = {bytes.fromhex(first): words for first, words in _FILES["foreign"].items()}
_HTML = re.compile(rb"\s*<(!doctype|html|head|body|meta|table|tr|\?xml)\b", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])')
# Control characters that no text file holds: C0 without tab, line feed, form feed, return.
_CONTROLS = bytes([*range(9), 11, *range(14, 32), 127])
# Bytes of letters beyond ASCII: of a language in Latin letters they stand alone within words, of others side by side.
_HIGH: Any = re.compile(rb"[\x80-\xff]+")
_FEWEST_HIGH, _MOSTLY = 4, 0.7
# Encodings of Cyrillic letters, and words as people write them: of KOI8-R, whose capitals are the small letters of
# Windows-1251, those in capitals are not looked for. In Russian, Ukrainian or Bulgarian two letters of three are among
# these; in Greek, or in another of these encodings, fewer than one.
_CYRILLIC = {"cp1251": "Windows-1251", "koi8_r": "KOI8-R", "cp866": "DOS 866", "iso8859_5": "ISO 8859-5"}
_CYRILLIC_WORD = r"\b(?![ъыь])[^\W\d_]?[а-яёіїєґ]+\b"
_OFTEN, _OFTEN_ENOUGH, _CLEARLY = re.compile("[оеаинтсрвлі]", re.IGNORECASE), 0.5, 0.1
_KANA, _HIRAGANA, _MOSTLY_KANA = re.compile("[ぁ-んァ-ヶ]"), re.compile("[ぁ-ん]"), 0.3
# Within a word of small letters, marks and capitals that are letters in encodings other than Windows-1252.
_NO_LETTER = re.compile("(?<=[a-zß-ÿ])([ŠŽŒŸ]|[‚ƒ„†‡ˆ‰‹˜›¡¢£¤¥¦§¨¬¯°±²³¶¸¹¼½¾¿](?=[a-zß-ÿ]))")
_OF_ALL_HIGH = 0.1
# Letters in whose place Czech, Hungarian and Turkish have another, and these.
_TELLING: Any = re.compile("|".join("ãåæèêìïðñòõøùûýþőűğışİŞ").encode())
_OF_A_WORD, _LONGEST_WORD = rb'[^\s,;|"]*', 40
# Letters of Latin-1 that show Turkish and Hungarian, beside one of others, and none of Icelandic, Portuguese or Estonian.
_BY_LETTERS = (
    ("cp1254", "Windows-1254", "[ðþýÐÞÝ]", "[çüÇÜ]", "[áéíóúæÁÉÍÓÚÆ]"),
    ("cp1250", "Windows-1250", "õ(?!e)", "[áéíóúÁÉÍÓÚ]", "[ãçäêÃÇÄÊ]"),
)
# The bytes on which Latin-1 (control characters) and Windows-1252 (quotes, the euro sign) differ.
_C1: Any = re.compile(rb"[\x80-\x9f]")


Tell = Callable[[float], object]
"""Told the part of a table, 0 to 1, that was read."""


class UnreadableFile(ValueError):
    """A file from which no distribution can be made. ``str(error)`` is one plain sentence, two at most, for a person
    who does not program: what is wrong, where, and how to mend it. It quotes the file, so show it as text and not as
    markdown."""


class NoRows(UnreadableFile):
    """A file without a row: of a folder that a program wrote in parts, one may be so."""


class WrongDomain(ValueError):
    """Reports and a domain that contradict each other; ``str(error)`` as of `UnreadableFile`."""


def quote(text: str, max_length: int = 40) -> str:
    """The offending text, shortened and in quotation marks."""
    return f"“{plain(text, max_length)}”"


def quoted(texts: Sequence[str], most: int = 3, max_length: int = 40) -> str:
    """The first of them in quotation marks, and "…" where there are more."""
    return ", ".join(quote(text, max_length) for text in texts[:most]) + (", …" if len(texts) > most else "")


@contextlib.contextmanager
def faults_as(sentence: str) -> Iterator[None]:
    """Whatever the reader of a format raises on a damaged file, which is nearly anything, as UnreadableFile."""
    try:
        yield
    except UnreadableFile:
        raise
    except MemoryError:
        raise UnreadableFile(
            f"Reading the file takes more memory than there is, or it is damaged. {COUNT_FIRST}"
        ) from None
    except Exception as error:
        raise UnreadableFile(sentence) from error


def megabytes(size: int) -> str:
    """A limit in words: ``200 MB``."""
    return f"{size / 2**20:,.0f} MB"


Kind = Literal["text", "parquet", "spreadsheet", "statistics"]
Compression = Literal["gzip", "zip"]


@dataclass(frozen=True)
class Decoded:
    """An upload that was unpacked: Parquet, or text in UTF-8 with ``\n`` line ends; before that a file still to be
    decoded.

    Attributes:
        encoding: of a text, as it was.
        program: that wrote a spreadsheet or a file of a statistics package, in words.
        separator, above: of such a text, what is between its cells, and how many rows are above its first line.
        missing: for each column of Parquet, the rows with a value that the file declares as missing.
        sheets: as in `rr_core.io.columns.Described`.
        notes: what was left in an archive or assumed.
    """

    data: bytes = field(repr=False)
    kind: Kind
    compression: Compression | None = None
    encoding: str | None = None
    notes: tuple[str, ...] = ()
    program: str = ""
    separator: str | None = None
    above: int = 0
    missing: tuple[int, ...] = ()
    sheets: tuple[str, ...] = ()


def unpack(data: bytes, name: str, tell: Tell = lambda _: None) -> Decoded:
    """Check size and name, decompress, find what the bytes are, and refuse what is no table; `tell` as in
    `unzipped`."""
    if len(data) > MAX_UPLOAD_BYTES:
        raise UnreadableFile(f"The file is larger than {megabytes(MAX_UPLOAD_BYTES)}. {COUNT_FIRST}")
    extension, notes = _extension(name), tuple[str, ...]()
    compression: Compression | None = None
    if data.startswith(_GZIP):
        data, compression = gunzip(data, tell=tell), "gzip"
    kind = _kind(data, extension)
    if kind is None and compression is None:
        data, extension, notes = _unzip(data, tell)
        compression, kind = "zip", _kind(data, extension)
    if not data or data.isspace():
        raise NoRows(_EMPTY)
    if kind is None or kind == "text":
        _refuse_foreign(data)
    if kind == "text" and extension in _PROMISED:
        raise UnreadableFile(
            f"The name ends in .{extension} but the content is not {_PROMISED[extension]}. Export it again, or rename"
            " it to .csv if it is a text table."
        )
    return Decoded(data, kind or "text", compression, notes=notes)


def gunzip(data: bytes, limit: int | None = None, tell: Tell = lambda _: None) -> bytes:
    """Decompress gzip in pieces, up to `limit` bytes (MAX_UNPACKED_BYTES); `tell` is told the part that is done."""
    limit = MAX_UNPACKED_BYTES if limit is None else limit
    packed, unpacked = io.BytesIO(data), io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            while piece := file.read(_CHUNK):
                unpacked.write(piece)
                tell(packed.tell() / len(data))
                if unpacked.tell() > limit:
                    raise UnreadableFile(f"The file unpacks to more than {megabytes(limit)}. {COUNT_FIRST}")
    except (EOFError, OSError, zlib.error) as error:
        wrong = "cut short" if isinstance(error, EOFError) else "damaged"
        raise UnreadableFile(
            f"The compressed file is {wrong}. Compress the table again, or upload it without compression."
        ) from None
    return unpacked.getvalue()


def decode(data: bytes) -> tuple[bytes, str]:
    """Text in whatever encoding -> UTF-8 with ``\n`` line ends, and the name of the encoding.

    Tried in this order: byte-order marks, UTF-16 without one (half of its bytes are NUL), UTF-8, Shift-JIS where there
    is kana, encodings of Cyrillic where most letters beyond ASCII stand side by side, Windows-1252 (called Latin-1
    when it makes no difference). In pieces: a str of 200 MB could take 800 MB. Refuses binary data, an unknown
    encoding, an empty text.
    """
    if data.startswith(codecs.BOM_UTF8):
        text, encoding = _recode(data, "utf-8-sig"), "UTF-8 with BOM"
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text, encoding = _recode(data, "utf-16"), "UTF-16"
    elif codec := _utf16_without_bom(data):
        text, encoding = _recode(data, codec), "UTF-16"
    else:
        text, encoding = _decode_bytes(data)
    if text is None or b"\x00" in text:
        raise UnreadableFile(
            "The file is not a text table (it holds binary data, or is damaged). Export it again as"
            " CSV in the encoding UTF-8."
        )
    if text.isspace() or not text:
        raise NoRows(_EMPTY)
    _refuse_foreign(text)
    return text, encoding


def _extension(name: str) -> str:
    """The extension that says what is inside, in lower case; "" when there is none."""
    path = PurePath(name.lower())
    if path.suffix == ".gz":
        path = path.with_suffix("")
    extension = path.suffix.lstrip(".")
    if extension and extension not in EXTENSIONS:
        raise UnreadableFile(
            f"Files like {quote(name)} cannot be read here. Save the table as CSV, as an Excel workbook (.xlsx) or as"
            " Parquet and upload that."
        )
    return extension


def _kind(data: bytes, extension: str) -> Kind | None:
    """What the bytes are; None for a ZIP archive that is no spreadsheet. Refuses other office documents."""
    if data.startswith(_PARQUET):
        return "parquet"
    is_old_stata = extension == "dta" and _OLD_STATA.match(data)
    if data.startswith((*_SPSS, _STATA, _SAS)) or is_old_stata:
        return "statistics"
    if data.startswith(_OLE) and (extension == "xls" or any(name in data for name in _OF_WORKBOOKS)):
        return "spreadsheet"
    if not data.startswith((_ZIP, _EMPTY_ZIP)):
        return "text"
    is_named_so = extension in _SPREADSHEETS or b"xl/" in data[:_CHUNK]
    names = _zipped(data, "workbook" if is_named_so else "ZIP archive").namelist()
    if "xl/workbook.xml" in names or (
        "content.xml" in names and b"opendocument.spreadsheet" in data[:_CHUNK]
    ):
        return "spreadsheet"
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise UnreadableFile(_FOREIGN_CONTENT.format("an office document"))
    return None


def unzipped(
    data: bytes, wanted: Callable[[str], bool], what: str, tell: Tell = lambda _: None
) -> dict[str, bytes]:
    """The members of a ZIP archive whose names are wanted, at most MAX_UNPACKED_BYTES together, counted while they
    unpack: what the archive says of their sizes is not relied on. `what` names the archive; `tell` is told the part
    that is done."""
    members, size = dict[str, bytes](), 0
    with _zipped(data, what) as archive, faults_as(DAMAGED.format(what=what)):
        chosen = [about for about in archive.infolist() if not about.is_dir() and wanted(about.filename)]
        stated = sum(about.file_size for about in chosen)
        for about in chosen:
            if about.flag_bits & _ZIP_ENCRYPTED:
                raise UnreadableFile(
                    f"The {what} is protected by a password. Unpack it and upload the table without one."
                )
            unpacked = io.BytesIO()
            with archive.open(about) as member:
                while piece := member.read(_CHUNK):
                    size += unpacked.write(piece)
                    if size > MAX_UNPACKED_BYTES:
                        raise UnreadableFile(
                            f"The {what} unpacks to more than {megabytes(MAX_UNPACKED_BYTES)}. {COUNT_FIRST}"
                        )
                    tell(min(1, size / max(1, stated)))
            members[about.filename] = unpacked.getvalue()
    return members


def _zipped(data: bytes, what: str) -> zipfile.ZipFile:
    """The archive, its list of members read."""
    with faults_as(DAMAGED.format(what=what)):
        archive = zipfile.ZipFile(io.BytesIO(data))
        if any(about.compress_type not in _ZIP_METHODS for about in archive.infolist()):
            raise UnreadableFile(
                f"The {what} is compressed in a way that is not read here. Unpack it and upload the table itself."
            )
        return archive


def _unzip(data: bytes, tell: Tell) -> tuple[bytes, str, tuple[str, ...]]:
    """The only table in a ZIP archive, the extension of its name, and notes on what else there is."""
    names, tables = _members(data)
    if len(tables) != 1:
        named = quoted([_file(name) for name in tables or names])
        raise UnreadableFile(
            f"The ZIP archive holds {len(tables):,} tables ({named}), and one is read at a time. Unpack it and upload the"
            " one you mean, or several with the same columns together."
            if tables
            else f"The ZIP archive holds no table{f' ({named})' if named else ''}. Pack one table in it, or upload the"
            " table itself."
        )
    (table,) = tables
    notes = [
        f"Of the ZIP archive, {quote(_file(table))} was read, and {quote(_file(name))} was not."
        for name in names
        if name != table
    ]
    members = unzipped(data, table.__eq__, "ZIP archive", tell)
    return members[table], _extension(_file(table)), tuple(notes[:3])


def _members(data: bytes) -> tuple[list[str], list[str]]:
    """The names in a ZIP archive of what a person put there, and of the tables among them."""
    names = [
        about.filename
        for about in _zipped(data, "ZIP archive").infolist()
        if not (
            about.is_dir() or about.filename.startswith("__MACOSX/") or _file(about.filename).startswith(".")
        )
    ]
    tables = [name for name in names if PurePath(name.lower()).suffix[1:] in EXTENSIONS]
    # A text beside a table tells of it.
    return names, [name for name in tables if not name.lower().endswith(".txt")] or tables


def parts_of_zip(data: bytes) -> dict[str, bytes]:
    """The tables in a ZIP archive of several, by name and in its order; else none."""
    if not data.startswith(_ZIP) or _kind(data, "") is not None:
        return {}
    tables = sorted(_members(data)[1])
    if len(tables) < 2:
        return {}
    return {
        _file(name): member
        for name, member in sorted(unzipped(data, tables.__contains__, "ZIP archive").items())
    }


def _file(name: str) -> str:
    """The name of a member of an archive, without its folders."""
    return name.rpartition("/")[2]


def _refuse_foreign(data: bytes) -> None:
    found = next((words for magic, words in _FOREIGN.items() if data.startswith(magic)), None)
    if data.startswith((_GZIP, _ZIP, _EMPTY_ZIP)):
        found = "a file that was compressed twice"
    elif data[257:262] == b"ustar":
        found = "a TAR archive"
    elif _HTML.match(data, 0, 1000):
        found = "a web page (HTML or XML)"
    elif _JSON.match(data, 0, 1000):
        found = "a JSON file"
    if found:
        raise UnreadableFile(_FOREIGN_CONTENT.format(found))


def _utf16_without_bom(data: bytes) -> str | None:
    """The UTF-16 codec that explains the NUL bytes, one unit in five at least, always on the same side; else None."""
    head = data[: min(len(data), 1 << 16) // 2 * 2]
    low, high = head[0::2].count(0), head[1::2].count(0)
    if max(low, high) < max(1, len(head) // 10) or min(low, high) * 4 > max(low, high):
        return None
    return "utf-16-le" if high > low else "utf-16-be"


def _recode(data: bytes, codec: str) -> bytes | None:
    """`data` as UTF-8 with ``\n`` line ends, or None when it is not valid in `codec`."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)(), translate=True)
    recoded = io.BytesIO()
    try:
        for start in range(0, len(data), _CHUNK):
            recoded.write(decoder.decode(data[start : start + _CHUNK]).encode())
        recoded.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        return None
    return recoded.getvalue()


def _decode_bytes(data: bytes) -> tuple[bytes | None, str]:
    """Text in UTF-8 or a one-byte encoding as UTF-8, with the name of the encoding; None for binary data."""
    if b"\r" not in data and data.isascii():
        return data, "UTF-8"
    if (text := _recode(data, "utf-8")) is not None:
        return text, "UTF-8"
    head = data[: 1 << 16]
    # Any bytes at all are "valid" Latin-1, so look for control characters: a compressed or random
    # file is one tenth of them, a text holds none.
    if len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 100:
        return None, ""
    if _is_japanese(head) and (text := _recode(data, "cp932")) is not None:
        return text, "Shift-JIS"
    if (beyond := _beyond_latin(data)) is not None:
        text = _recode(data, beyond) if beyond else None
        if text is None:
            raise UnreadableFile(_UNKNOWN_ENCODING)
        return text, _CYRILLIC[beyond]
    high = _HIGH.findall(head)
    if len(_NO_LETTER.findall(head.decode("cp1252", "replace"))) > _OF_ALL_HIGH * len(high):
        raise UnreadableFile(_UNKNOWN_ENCODING)
    latin = head.decode("latin-1")
    for codec, name, own, beside, foreign in _BY_LETTERS:
        if re.search(own, latin) and re.search(beside, latin) and not re.search(foreign, latin):
            return _recode(data, codec), name
    if not _C1.search(data):
        return _recode(data, "latin-1"), "Latin-1"
    text = _recode(data, "cp1252")
    if text is None:  # which has no letter for five bytes; DOS and Japanese, Chinese or Korean encodings do
        raise UnreadableFile(_UNKNOWN_ENCODING)
    return text, "Windows-1252"


def _is_japanese(head: bytes) -> bool:
    """Whether a text is in Shift-JIS: it is where three letters of ten are kana, and some of them hiragana."""
    letters = re.sub(r"[\x00-\x7f]", "", head.decode("cp932", "ignore"))
    kana = len(_KANA.findall(letters))
    return kana >= max(_FEWEST_HIGH, _MOSTLY_KANA * len(letters)) and _HIRAGANA.search(letters) is not None


def _beyond_latin(data: bytes) -> str | None:
    """The encoding in which letters make Cyrillic words, "" where none does clearly; None where they are Latin."""
    first = _HIGH.search(data)
    runs = _HIGH.findall(data, first.start(), first.start() + _CHUNK) if first else []
    letters = sum(map(len, runs))
    if letters < _FEWEST_HIGH or sum(len(run) for run in runs if len(run) > 1) < _MOSTLY * letters:
        return None
    often = dict[str, float]()
    for codec in _CYRILLIC:
        capitals = r"|\b[А-ЯЁІЇЄҐ]+\b" if codec == "cp1251" else ""
        words = re.findall(_CYRILLIC_WORD + capitals, b" ".join(runs).decode(codec, "replace"))
        often[codec] = len(_OFTEN.findall(" ".join(words))) / letters
    best, next_best = sorted(often, key=lambda codec: -often[codec])[:2]
    return best if often[best] > max(_OFTEN_ENOUGH, often[next_best] + _CLEARLY) else ""


def encoding_note(text: bytes, encoding: str) -> tuple[str, ...]:
    """A sentence where the encoding was guessed, with the first word that shows whether it was right."""
    found = None if encoding.startswith("UTF") else _TELLING.search(text) or _HIGH.search(text)
    if found is None:
        return ()
    at = found.start()
    before = re.search(_OF_A_WORD + rb"\Z", text[max(at - _LONGEST_WORD, 0) : at])
    after = re.match(_OF_A_WORD, text[at : at + _LONGEST_WORD])
    word = b"".join(part[0] for part in (before, after) if part).decode("utf-8", "ignore")
    return (
        f"The file is not in UTF-8: it was read as {encoding}, as in {quote(word, 30)}. If that is "
        "wrong, save it again in UTF-8.",
    )
