"""Answers and their numbers as a person types them, one in each line."""

from __future__ import annotations

import csv
import io
import re

from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.reports import Reports, Source, read_reports
from rr_core.limits import TYPED_LETTERS_MAX

_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+", re.ASCII)  # 0,234 is a share
_LAST = re.compile(rf",\s+({_THOUSANDS.pattern})$", re.ASCII)  # "yes,640,360" may be two numbers
_LIKE = "write one answer and its number in each line, like: yes, 640."


def read_typed(text: str) -> Reports:
    """The reports in lines like "yes, 640", in the order given; an answer and its number may also be separated by
    semicolons or tabs, a number have commas between its thousands, and an answer with commas be in quotation marks.

    Raises:
        UnreadableFile: one plain sentence that names the line and what to mend; more than TYPED_LETTERS_MAX characters.

    >>> read = read_typed("yes, 1,234\\nno, 2,345")
    >>> read.labels.tolist(), read.counts.tolist()
    (['yes', 'no'], [1234, 2345])
    """
    if len(text) > TYPED_LETTERS_MAX:
        raise UnreadableFile(
            f"More than {TYPED_LETTERS_MAX:,} characters were typed. Give the numbers as a file."
        )
    separator = next((one for one in "\t;" if one in text), ",")
    rows = []
    for line, written in enumerate(text.splitlines(), 1):
        if written.strip():
            rows.append(_answer_and_number(written.strip(), separator, line))
    if not rows:
        raise UnreadableFile(f"There are no answers: {_LIKE}")
    if all(number.strip("0") == "" for _, number in rows):
        raise UnreadableFile("All the numbers are zero: write how many people gave each answer.")
    out = io.StringIO()
    csv.writer(out, delimiter="\t").writerows(rows)
    source = Source("typed.tsv", out.getvalue().encode("utf-8", "replace"))
    return read_reports([source], layout="counts", category=0, count=1, has_header=False)


def _answer_and_number(written: str, separator: str, line: int) -> tuple[str, str]:
    cut, thousands = written, ""
    if separator == "," and (found := _LAST.search(written)):
        cut, thousands = f"{written[: found.start()]},", found[1]
    try:
        cells = next(csv.reader([cut], delimiter=separator, skipinitialspace=True))
    except csv.Error:
        cells = [cut]
    answer, *rest = (cell.strip() for cell in cells)
    number = thousands or separator.join(rest)
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    if not rest or (thousands and rest != [""]) or not answer or separator in number or not number:
        raise UnreadableFile(f"Line {line:,} is {quote(written)}: {_LIKE}")
    if number.endswith("%"):
        raise UnreadableFile(
            f"Line {line:,} has the share {quote(number)}: write how many people gave that answer."
        )
    return answer, number
