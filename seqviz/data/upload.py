"""Read a series from the CSV file of a student: strict about values, clear about what is wrong.

Nothing is guessed that would change a number silently: no encodings besides UTF-8 and UTF-16, no
thousands separators, no filling of gaps.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from jaxtyping import Float

from seqviz import settings
from seqviz.data.problems import DataProblem

MAX_BYTES = 5 * 2**20
MAX_ROWS = 20_000
MAX_COLUMNS = 200
MIN_VALUES = 30
LARGEST = 1e100  # sums of squares of larger values overflow

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# How files begin that are no text. Nothing here unpacks any of them, so none can be a bomb.
_BEGINNINGS = {
    b"PK\x03\x04": "ZIP or Excel",
    b"PK\x05\x06": "ZIP or Excel",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "Excel (xls)",
    b"\x1f\x8b": "GZIP",
    b"BZh91AY&SY": "BZIP2",
    b"\xfd7zXZ\x00": "XZ",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "RAR",
    b"%PDF-": "PDF",
    b"PAR1": "Parquet",
}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_EITHER_MARK = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", ".", "?"})
_INFINITE = frozenset({sign + word for sign in ("", "+", "-") for word in ("inf", "infinity", "∞")})


@dataclass(frozen=True)
class Table:
    """The cells of a file, as text.

    names: one per column, unique: the header's, or the spreadsheet's letters A, B, C.
    numeric_columns: names of the columns of which at least half of the cells are numbers.
    cells: text by column and row, `cells[column][row]`, without the header.
    first_row: the spreadsheet's number of the first row in cells.
    decimal_comma: whether a comma may be the decimal mark (semicolon-separated files).
    """

    names: tuple[str, ...]
    numeric_columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    first_row: int
    decimal_comma: bool


def parse(content: bytes) -> Table:
    """Read a CSV file.

    content: at most SEQVIZ_UPLOAD_MB (5 MB, 5 * 2^20 bytes) of UTF-8, with or without a byte order
    mark, or UTF-16 with one; separated by commas, semicolons or tabs; the header row is optional.
    Blank lines at the start and the end are ignored; in between they are rows of missing values.

    Raises DataProblem, and nothing else, with code empty, too_large, not_csv, encoding, malformed,
    too_many_columns, too_long, ragged or no_numeric_column.
    """
    limit = min(MAX_BYTES, int(2**20 * settings.value("SEQVIZ_UPLOAD_MB")))
    if len(content) > limit:
        raise DataProblem("too_large", size=len(content), limit=limit)
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            raise DataProblem("not_csv", kind=kind)
    text = _decode(content)
    delimiter = _delimiter(text)
    rows, first_row = _rows(text, delimiter)
    decimal_comma = delimiter == ";"
    number = _NUMBER_EITHER_MARK if decimal_comma else _NUMBER
    if _is_header(rows[0], number):
        header, rows, first_row = rows[0], rows[1:], first_row + 1
    else:
        header = [""] * len(rows[0])
    if len(rows) > MAX_ROWS:
        raise DataProblem("too_long", limit=MAX_ROWS)
    names = _unique_names(header)
    cells = tuple(zip(*rows, strict=True))
    numeric = tuple(
        name for name, texts in zip(names, cells, strict=False) if _mostly_numbers(texts, number)
    )
    if not numeric:
        raise DataProblem("no_numeric_column")
    return Table(names, numeric, cells, first_row, decimal_comma)


def column(table: Table, name: str) -> Float[np.ndarray, "time"]:
    """Values of one column as float64, shape (time,).

    name: one of table.names. In a semicolon-separated file the first cell with a comma or a point
    decides which of the two is the decimal mark of the column.

    Raises DataProblem with code no_such_column, missing, not_a_number, infinite, too_short or
    constant; the first bad row is named.
    """
    if name not in table.names:
        raise DataProblem("no_such_column", column=printable(name, 60))
    texts = [cell.strip() for cell in table.cells[table.names.index(name)]]
    mark = _decimal_mark(texts) if table.decimal_comma else "."
    values = np.empty(len(texts))
    for index, text in enumerate(texts):
        row = table.first_row + index
        lower = text.lower()
        if lower in _MISSING:
            raise DataProblem("missing", row=row, column=name)
        # With a decimal comma a point becomes a second comma, which no number has.
        plain = text.translate({ord(","): ".", ord("."): ","}) if mark == "," else text
        if lower not in _INFINITE and not _NUMBER.fullmatch(plain):
            raise DataProblem("not_a_number", row=row, column=name, text=printable(text, 20))
        value = math.inf if lower in _INFINITE else float(plain)
        if abs(value) > LARGEST:
            raise DataProblem("infinite", row=row, column=name)
        values[index] = value
    if values.size < MIN_VALUES:
        raise DataProblem("too_short", column=name, found=values.size, limit=MIN_VALUES)
    if values.min() == values.max():
        raise DataProblem("constant", column=name)
    return values


def likely(table: Table) -> int:
    """Which of the numeric columns is probably meant: the first that does not merely count.

    A first column of years or row numbers rises by the same step throughout.
    """
    for place, name in enumerate(table.numeric_columns):
        try:
            values = column(table, name)
        except DataProblem:
            return place  # a student who looks at it is told what is wrong
        if np.ptp(np.diff(values)) > 1e-9 * np.ptp(values):
            return place
    return 0


def printable(text: str, length: int) -> str:
    """Text without control and formatting characters, at most `length` characters."""
    return "".join(character for character in text if character.isprintable())[:length]


def _decode(content: bytes) -> str:
    body, encoding = content, "utf-8"
    for mark, its_encoding in _MARKS.items():
        if content.startswith(mark):
            body, encoding = content[len(mark) :], its_encoding
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as problem:
        before = body[: problem.start].decode(encoding, errors="replace")
        raise DataProblem("encoding", row=_row_at(before)) from None
    # A zero character is no text: UTF-16 without a mark, or a binary file.
    zero = text.find("\0")
    if zero >= 0:
        raise DataProblem("encoding", row=_row_at(text[:zero]))
    return text


def _row_at(before: str) -> int:
    """Row number of the character after `before`, by line ends of any system."""
    return before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


def _delimiter(text: str) -> str:
    """Separator that cuts the first rows into the same number of cells; a comma if none does.

    Tab and semicolon go first: a comma beside them is a decimal mark or part of a text.
    """

    def score(delimiter: str) -> tuple[bool, int]:
        widths = list(_first_widths(text, delimiter))
        cut = sum(width > 1 for width in widths)
        return cut > 0 and len(set(widths)) == 1, cut

    best = max("\t;,", key=score)
    return best if score(best)[1] else ","


def _first_widths(text: str, delimiter: str) -> Iterator[int]:
    """Cells in each of the first rows that are not blank, up to one that cannot be read."""
    try:
        for _, record in islice(_records(text, delimiter), 30):
            if any(cell.strip() for cell in record):
                yield len(record)
    except DataProblem:
        return


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], int]:
    """All rows between the first and the last that is not blank, and the number of the first."""
    rows: list[list[str]] = []
    first_row = 0
    blank = 0
    for number, record in _records(text, delimiter):
        if not record or not any(cell.strip() for cell in record):
            blank += 1
            continue
        if not rows:
            if len(record) > MAX_COLUMNS:
                raise DataProblem(
                    "too_many_columns", row=number, found=len(record), limit=MAX_COLUMNS
                )
            first_row, blank = number, 0
        elif len(record) != len(rows[0]):
            raise DataProblem("ragged", row=number, expected=len(rows[0]), found=len(record))
        if len(rows) + blank > MAX_ROWS:  # one more may be the header
            raise DataProblem("too_long", limit=MAX_ROWS)
        rows.extend([""] * len(record) for _ in range(blank))
        blank = 0
        rows.append(record)
    if not rows:
        raise DataProblem("empty")
    return rows, first_row


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Records with their spreadsheet row number: a line break inside quotes does not count."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for record in reader:
            number += 1
            yield number, record
    except csv.Error:
        raise DataProblem("malformed", row=number + 1) from None


def _is_header(row: list[str], number: re.Pattern[str]) -> bool:
    """Whether the first row holds a name and no value."""
    texts = [cell.strip() for cell in row]
    if any(number.fullmatch(text) or text.lower() in _INFINITE for text in texts):
        return False
    return any(text.lower() not in _MISSING for text in texts)


def _unique_names(header: list[str]) -> tuple[str, ...]:
    names: list[str] = []
    for index, cell in enumerate(header):
        letters = _letters(index)
        name = printable(cell.strip(), 60) or letters
        while name in names:
            name = f"{name} ({letters})"
        names.append(name)
    return tuple(names)


def _letters(index: int) -> str:
    """Column letters of a spreadsheet: A ... Z, AA, AB, ..."""
    return (_letters(index // 26 - 1) if index >= 26 else "") + chr(ord("A") + index % 26)


def _mostly_numbers(texts: tuple[str, ...], number: re.Pattern[str]) -> bool:
    matches = sum(1 for text in texts if number.fullmatch(text.strip()))
    return matches > 0 and 2 * matches >= len(texts)


def _decimal_mark(texts: list[str]) -> str:
    marked = (mark for text in texts if _NUMBER_EITHER_MARK.fullmatch(text) for mark in text)
    return next((mark for mark in marked if mark in ",."), ".")
