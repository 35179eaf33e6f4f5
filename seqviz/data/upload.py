"""CSV parser for uploaded series, with strict values and precise errors.

The entries are `parse`, `column` and `remarks`. Nothing is guessed that would change a number
silently: no encodings besides UTF-8 and UTF-16, no thousands separators, no filling of gaps.
Ambiguous input is rejected, or read with a remark on the interpretation.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from jaxtyping import Float

from seqviz.core import settings
from seqviz.data import time_steps
from seqviz.data.problems import DataError, Remark

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
# Signatures of binary files. They are never decompressed, so archive bombs are harmless.
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
# The mark may be a thousands separator: 1.132, but not 0.132, 1.13 or 1132.5.
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
# Zero-padded numbers, e.g. day and month or a clock: no evidence on decimal marks.
_PADDED = re.compile(r"^[+-]?0[0-9]", re.MULTILINE)
_WHOLE = re.compile(r"[+-]?[0-9]+")
# Full-width and typographic variants of ASCII characters.
_SAME = str.maketrans("０１２３４５６７８９．＋−－﹣–—‒‑‐", "0123456789.+--------")
_DECIMAL_COMMA = str.maketrans(",.", ".,")  # a point becomes a comma, which no number contains
_DELIMITERS = "\t;|,；，"  # the last two are on Chinese keyboards
_DECLARED = re.compile(rf'"?sep=([{re.escape(_DELIMITERS)}])"?[ \t;,]*(?:\r\n|\r|\n|\Z)', re.I)
_FEW = 7  # columns
_COUNTS = re.compile(r"\W*\d")  # starts like an amount in any unit
_CODES = re.compile(r"-?9{2,}(?:[.,](?:9+|0+))?")  # -99, -999.0, 9999.9: usual missing-value codes
_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", ".", "?"})
_INFINITE = frozenset({sign + word for sign in ("", "+", "-") for word in ("inf", "infinity", "∞")})

REMARK_CODES = (
    "two_columns", "three_decimals", "left_out", "unlike", "newest_first", "not_in_order",
    "doubled", "gaps", "unequal", "missing_code",
)  # fmt: skip
"""All codes of `remarks`."""


@dataclass(frozen=True)
class FileCell:
    """Cell of a file with its location.

    Attributes:
        row: 1-based row of the spreadsheet, header included.
        column: name of the column.
        text: content, possibly shortened.
    """

    row: int
    column: str
    text: str


@dataclass(frozen=True)
class FileTable:
    """Cells of a file as text.

    Attributes:
        names: unique names of the columns: from the header, or the letters A, B, C.
        numeric_columns: names of the columns in which at least half of the cells are numbers.
        cells: text by column and row, `cells[column][row]`, without the header.
        first_row: spreadsheet row of the first row in `cells`.
        separator: separator of cells.
        marks: example of a number for each decimal mark in the file.
        certain: marks that are unambiguously decimal.
        remarks: remarks on the whole file.
    """

    names: tuple[str, ...]
    numeric_columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    first_row: int
    separator: str = ","
    marks: Mapping[str, FileCell] = field(default_factory=dict)
    certain: frozenset[str] = frozenset()
    remarks: tuple[Remark, ...] = ()

    @property
    def decimal_mark(self) -> str:
        """Decimal mark of all numbers of the file; "" where both marks occur."""
        marks = self.certain or self.marks.keys()
        return "".join(marks) if len(marks) == 1 else "" if marks else "."


def parse(content: bytes) -> FileTable:
    """Read a CSV file.

    Cells are separated by commas, semicolons, tabs or |, or by the separator that a first line such
    as sep=; declares (row numbers are those of a spreadsheet, which does not show that line). The
    header row is optional. Blank lines at the start and the end are ignored; others are rows of
    missing values.

    A file has one decimal mark, point or comma. It is certain where a number rules out a thousands
    separator: 0.132, 1.13 and 1132.5 do, 1.132 does not. See `column`.

    Without a header, rows of two whole numbers such as 20,69 may be one number with a decimal
    comma. They are certainly two columns where the first counts, the second has a sign, or the
    second has cells of several lengths of which one ends in 0. Otherwise they are rejected where
    the second has a cell such as 05, or consists of single digits including 0; all others are read
    with a remark.

    Args:
        content: at most SEQVIZ_UPLOAD_MB (5 MB, 5 * 2^20 bytes) of UTF-8, with or without a byte
            order mark, or of UTF-16 with one.

    Raises:
        DataError: no other exception; code empty, too_large, not_csv, encoding, malformed,
            too_many_columns, too_long, title, ragged, decimal_comma, spaces or no_numeric_column.
    """
    limit = min(MAX_BYTES, int(2**20 * settings.value("SEQVIZ_UPLOAD_MB")))
    if len(content) > limit:
        raise DataError("too_large", size=len(content), limit=limit)
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            raise DataError("not_csv", kind=kind)
    text = _decode(content)
    declared = _DECLARED.match(text)
    text = text[declared.end() :] if declared else text
    delimiter = declared[1] if declared else _delimiter(text)
    rows, first_row = _rows(text, delimiter)
    remarks: tuple[Remark, ...] = ()
    if _is_header(rows[0]):
        header, rows, first_row = rows[0], rows[1:], first_row + 1
    else:
        header = [""] * len(rows[0])
        if delimiter == "," and not declared and '"' not in text:
            remarks = _decimals_or_columns(rows, first_row)
    if len(rows) > MAX_ROWS:
        raise DataError("too_long", limit=MAX_ROWS)
    names = _unique_names(header)
    cells = tuple(zip(*rows, strict=True)) or ((),) * len(names)
    numeric = tuple(
        name for name, texts in zip(names, cells, strict=True) if _mostly_numbers(texts)
    )
    table = FileTable(names, numeric, cells, first_row, delimiter, remarks=remarks)
    if (example := _unread(table)) is not None:
        code = "spaces" if _apart(example.text) else "no_numeric_column"
        text = printable(example.text, 40)
        raise DataError(code, row=example.row, column=example.column, text=text)
    marks, certain = _marks(table)
    return replace(table, marks=marks, certain=certain)


def column(table: FileTable, name: str) -> Float[np.ndarray, "time"]:
    """Return the values of one column as float64 in file order.

    Rows before its first and after its last value are left out.

    Numbers are read with the decimal mark of the file, where that is certain. A column in which
    every mark is followed by exactly three digits is rejected if other cells have no mark, as in
    980 and 1.132. If all cells have one, it is read with a remark where the mark is a point and the
    separator is no semicolon, or where the rest of the file makes the mark certain. A column whose
    mark differs from that of the file is rejected, too.

    Args:
        table: result of `parse`.
        name: one of `table.names`.

    Raises:
        DataError: code no_such_column, missing, not_a_number, extra_line, thousands, both_marks,
            several_series, infinite, too_short or constant; the first bad row is named.
    """
    if name not in table.names:
        raise DataError("no_such_column", column=printable(name, 60))
    texts, first = _filled(table, name)
    mark = _mark_of(table, name, texts, first)
    _refuse_series_in_turn(table, first, len(texts), name)
    values = np.empty(len(texts))
    for index, text in enumerate(texts):
        row = table.first_row + first + index
        lower = text.lower()
        if lower in _MISSING:
            raise DataError("missing", row=row, column=name)
        plain = text.translate(_DECIMAL_COMMA) if mark == "," else text
        if lower not in _INFINITE and not _NUMBER.fullmatch(plain):
            raise DataError(
                "extra_line" if _is_words(table, first + index) else "not_a_number",
                row=row, column=name, text=printable(text, 20),
            )  # fmt: skip
        value = float(lower.replace("∞", "inf") if lower in _INFINITE else plain)
        if abs(value) > LARGEST:
            raise DataError("infinite", row=row, column=name)
        values[index] = value
    if values.size < MIN_VALUES:
        raise DataError("too_short", column=name, found=values.size, limit=MIN_VALUES)
    if values.min() == values.max():
        raise DataError("constant", column=name)
    return values


def remarks(table: FileTable, name: str) -> tuple[Remark, ...]:
    """Return warnings about a column that `column` accepts; they change no value.

    The codes are `REMARK_CODES`; those from unlike to unequal concern the times of the rows
    (`seqviz.data.time_steps`). The details are those of a `DataError`.

    Args:
        table: result of `parse`.
        name: one of `table.names`.
    """
    texts, first = _filled(table, name)
    noted = list(table.remarks)
    if not any(_is_certain(text) for text in texts) and texts[0].strip("+-0123456789"):
        plain = table.separator == ";" or table.decimal_mark not in table.certain
        if plain and table.decimal_mark == ".":
            noted.append(
                Remark("three_decimals", row=table.first_row + first, column=name, text=texts[0])
            )
    rows = range(table.first_row, table.first_row + len(table.cells[0]))
    outside = [*rows[:first], *rows[first + len(texts) :]]
    if outside:
        noted.append(Remark("left_out", row=outside[0], last=outside[-1], column=name,
                            count=len(outside)))  # fmt: skip
    noted += _of_times(table, name, first, len(texts))
    noted += _of_codes(table, name, texts, first)
    return tuple(noted)


def likely(table: FileTable) -> int:
    """Return the index of the numeric column to preselect: the first one that does not count.

    A first column of years or row numbers rises by the same step throughout, or is the time. The
    first column with an error is preselected, too, so that the student sees the error.
    """
    times = time_steps.find(table.names, _plain_columns(table), _value)
    for index, name in enumerate(table.numeric_columns):
        if times is not None and name in times.columns:
            continue
        try:
            values = column(table, name)
        except DataError:
            return index
        if np.ptp(np.diff(values)) > 1e-9 * np.ptp(values):
            return index
    return 0


def printable(text: str, length: int) -> str:
    """Return text without control and formatting characters, truncated.

    Args:
        text: any text.
        length: maximum number of characters.
    """
    return "".join(character for character in text if character.isprintable())[:length]


def _decode(content: bytes) -> str:
    body, encoding = content, "utf-8"
    for mark, its_encoding in _MARKS.items():
        if content.startswith(mark):
            body, encoding = content[len(mark) :], its_encoding
    if encoding != "utf-8" and len(body) % 2:
        body = body.removesuffix(b"\x1a")
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as problem:
        before = body[: problem.start].decode(encoding, errors="replace")
        raise DataError("encoding", row=_row_at(before)) from None
    # DOS programs end files with 0x1A.
    text = text.rstrip("\x1a\r\n")
    # Zero characters indicate UTF-16 without a byte order mark, or a binary file.
    zero = text.find("\0")
    if zero >= 0:
        raise DataError("encoding", row=_row_at(text[:zero]))
    return text


def _row_at(before: str) -> int:
    """Return the row number of the character after `before`, by line ends of any system."""
    return before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


def _delimiter(text: str) -> str:
    """Return the separator that gives the first rows equally many cells, or a comma.

    Tab, semicolon and | are tried first: a comma in such rows is a decimal mark or part of a text.
    """

    def score(delimiter: str) -> tuple[bool, int]:
        widths = list(_first_widths(text, delimiter))
        cut = sum(width > 1 for width in widths)
        return cut > 0 and len(set(widths)) == 1, cut

    best = max(_DELIMITERS, key=score)
    if not score(best)[0]:  # | and Chinese marks occur in names more often than as separators
        best = max("\t;,", key=score)
    return best if score(best)[1] else ","


def _first_widths(text: str, delimiter: str) -> Iterator[int]:
    """Yield the number of cells of the first rows that are not blank, up to an unreadable one."""
    try:
        for _, record in islice(_records(text, delimiter), 30):
            if any(cell.strip() for cell in record):
                yield len(record)
    except DataError:
        return


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], int]:
    """Return the rows from the first to the last that is not blank, and the number of the first."""
    rows: list[list[str]] = []
    first_row = 0
    blank = 0
    for number, record in _records(text, delimiter):
        if not record or not any(cell.strip() for cell in record):
            blank += 1
            continue
        if not rows:
            if len(record) > MAX_COLUMNS:
                raise DataError(
                    "too_many_columns", row=number, found=len(record), limit=MAX_COLUMNS
                )
            first_row, blank = number, 0
        elif len(record) != len(rows[0]):
            raise _ragged(rows, record, number, delimiter)
        if len(rows) + blank > MAX_ROWS:  # allows one more, the header
            raise DataError("too_long", limit=MAX_ROWS)
        rows.extend([""] * len(record) for _ in range(blank))
        blank = 0
        rows.append(record)
    if not rows:
        raise DataError("empty")
    return rows, first_row


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield records with their spreadsheet row; line breaks inside quotes do not count."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for record in reader:
            number += 1
            yield number, record
    except csv.Error:
        raise DataError("malformed", row=number + 1) from None


def _ragged(rows: list[list[str]], record: list[str], number: int, delimiter: str) -> DataError:
    """Return the error for a row of another width than those above it."""
    above = rows[0]
    if len(record) > len(above) and all(map(_is_header, rows)):
        pair = [_plain(cell) for cell in record]
        if len(above) == 1 and delimiter == "," and len(pair) == 2 and _is_decimal(*pair):
            return DataError("decimal_comma", row=number, text=printable(",".join(record), 20))
        text = printable(next(cell.strip() for cell in above if cell.strip()), 40)
        return DataError("title", row=number, text=text)
    return DataError("ragged", row=number, expected=len(above), found=len(record))


def _is_header(row: list[str]) -> bool:
    """Return True where a row holds a name and no value."""
    texts = [_plain(cell) for cell in row]
    if any(_NUMBER_EITHER_MARK.fullmatch(text) or text.lower() in _INFINITE for text in texts):
        return False
    return any(text.lower() not in _MISSING for text in texts)


def _is_words(table: FileTable, row: int) -> bool:
    """Return True where the first row below the header holds names or units, too."""
    texts = [cells[row] for cells in table.cells]
    return row == 0 and _is_header(texts) and not any(map(str.isdigit, "".join(texts)))


def _is_decimal(integer: str, digits: str) -> bool:
    """Return True where two cells may be the two sides of a decimal comma."""
    return bool(_WHOLE.fullmatch(integer)) and digits.isdecimal() and digits.isascii()


def _decimals_or_columns(rows: list[list[str]], first_row: int) -> tuple[Remark, ...]:
    """Return a remark where commas may be decimal in a file of whole numbers without a header.

    Raises:
        DataError: they are probably decimal commas.
    """
    if len(rows[0]) > _FEW:  # a table of digits
        return ()
    columns = list(zip(*rows, strict=True))
    for start in (0, 1):  # pairs may follow a date or row number
        pairs = list(zip(columns[start::2], columns[start + 1 :: 2], strict=False))
        if not pairs or (len(columns) - start) % 2:
            continue
        verdicts = [_decimal_pair(*pair) for pair in pairs]
        if all(verdicts):
            text = printable(",".join(rows[0][start : start + 2]), 20)
            if "probable" in verdicts:
                raise DataError("decimal_comma", row=first_row, text=text)
            return (Remark("two_columns", row=first_row, text=text),)
    return ()


def _decimal_pair(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    """Return "probable" or "possible" where two columns may be one with decimal commas, else ""."""
    if not all(map(_is_decimal, left, right)):
        return ""
    full = np.array([float(text) for text in left])
    lengths = {len(digits) for digits in right}
    rounded = len(lengths) > 1 and any(len(d) > 1 and d[-1] == "0" for d in right)
    if len(full) < 3 or np.ptp(np.diff(full)) == 0 < np.ptp(full) or rounded:
        return ""
    padded = any(len(digits) > 1 and digits[0] == "0" for digits in right)
    return "probable" if padded or (lengths == {1} and "0" in right) else "possible"


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
    """Return the column letters of a spreadsheet: A ... Z, AA, AB, ..."""
    return (_letters(index // 26 - 1) if index >= 26 else "") + chr(ord("A") + index % 26)


def _plain(cell: str) -> str:
    """Return a cell stripped and with full-width digits and other minus signs in ASCII."""
    text = cell.strip()
    return text if text.isascii() else text.translate(_SAME)


def _plain_columns(table: FileTable, first: int = 0, end: int | None = None) -> list[list[str]]:
    """Return the cells of the columns that may hold the time."""
    return [[_plain(c) for c in cells[first:end]] for cells in table.cells[: time_steps.COLUMNS]]


def _value(text: str) -> float:
    """Return the number in a cell of a counting column, else nan."""
    plain = text.replace(",", ".")
    return float(plain) if _NUMBER.fullmatch(plain) else math.nan


def _filled(table: FileTable, name: str) -> tuple[list[str], int]:
    """Return the cells of a column from its first to its last value, and their start."""
    return _between_blanks(table.cells[table.names.index(name)])


def _between_blanks(cells: Sequence[str]) -> tuple[list[str], int]:
    texts = list(map(str.strip, cells))
    if not all(map(str.isascii, texts)):
        texts = list(map(_plain, texts))
    first, end = 0, len(texts)
    while first < end and texts[first].lower() in _MISSING:
        first += 1
    while first < end and texts[end - 1].lower() in _MISSING:
        end -= 1
    return (texts[first:end], first) if first < end else (texts, 0)


def _mostly_numbers(cells: Sequence[str]) -> bool:
    texts, _ = _between_blanks(cells)
    matches = sum(map(bool, map(_NUMBER_EITHER_MARK.fullmatch, texts)))
    return matches > 0 and 2 * matches >= len(texts)


def _unread(table: FileTable) -> FileCell | None:
    """Return a cell that explains why no column can be plotted; None where one can.

    The file is also rejected where all readable columns count rows and a later column is
    unreadable.
    """
    columns = _plain_columns(table)
    times = time_steps.find(table.names, columns, _value)
    counting = times.columns if times is not None else ()
    if any(name not in counting for name in table.numeric_columns):
        return None
    rows = len(table.cells[0])
    if not rows:
        return FileCell(table.first_row - 1, table.names[0], table.names[0])
    read = table.numeric_columns
    start = 1 + table.names.index(read[-1]) if read else 0
    others = [index for index, name in enumerate(table.names) if name not in counting]
    digits = {
        position: [row for row, cell in enumerate(table.cells[position]) if _COUNTS.match(cell)]
        for position in others
        if position >= start
    }
    location = max(digits, key=lambda position: len(digits[position]), default=0)
    if read and (not digits or 2 * len(digits[location]) < rows):
        return None
    row = digits[location][0] if digits.get(location) else 0
    return FileCell(
        table.first_row + row, table.names[location], table.cells[location][row].strip()
    )


def _apart(text: str) -> bool:
    """Return True where a cell holds several columns separated by spaces."""
    words = text.split()
    numbers = [word for word in words if _NUMBER_EITHER_MARK.fullmatch(_plain(word))]
    grouped = re.fullmatch(r"[+-]?\d{1,3}(?:\s\d{3})+(?:[.,]\d*)?", text)
    return len(words) > 1 and bool(numbers) and not grouped and numbers[-1] == words[-1]


def _is_certain(text: str) -> bool:
    """Return True where the mark of a number is unambiguously decimal."""
    return ("." in text or "," in text) and not _PERHAPS_THOUSANDS.fullmatch(text)


def _marks(table: FileTable) -> tuple[dict[str, FileCell], frozenset[str]]:
    """Return an example number for each decimal mark in the file, and the certain marks."""
    marks: dict[str, FileCell] = {}
    certain: set[str] = set()
    for name in table.numeric_columns:
        texts, first = _filled(table, name)
        full = "\n".join(texts)
        if _PADDED.search(full):
            continue
        for mark in {*full} & {*".,"} - certain:
            for row, text in enumerate(texts, table.first_row + first):
                if mark not in text or not _NUMBER_EITHER_MARK.fullmatch(text):
                    continue
                if mark not in marks or _is_certain(text):
                    marks[mark] = FileCell(row, name, printable(text, 20))
                if _is_certain(text):
                    certain.add(mark)
                    break
    return marks, frozenset(certain)


def _mark_of(table: FileTable, name: str, texts: list[str], first: int) -> str:
    """Return the decimal mark of a column, which is that of the file.

    Raises:
        DataError: the column has another mark, or the mark may separate thousands.
    """
    mark = table.decimal_mark
    numbers = [(i, t) for i, t in enumerate(texts) if _NUMBER_EITHER_MARK.fullmatch(t)]
    marked = [(i, text) for i, text in numbers if "." in text or "," in text]
    if not marked:
        return mark
    own = [text for _, text in marked if mark and mark in text]
    row, text = marked[0]
    here = {"row": table.first_row + first + row, "column": name, "text": printable(text, 20)}
    if not own:
        other = table.marks.get("," if "." in text else ".")
        if other is not None:
            raise DataError("both_marks", **here, other_row=other.row, other=other.text,
                              other_column=other.column)  # fmt: skip
        return mark
    if len(own) < len(marked) or any(map(_is_certain, own)):
        return mark
    committed = mark in table.certain or (mark == "." and table.separator != ";")
    if len(marked) < len(numbers) or not committed:
        full = text.replace(mark, "")
        raise DataError("thousands", **here, whole=full, longer=f"{text}0")
    return mark


def _refuse_series_in_turn(table: FileTable, first: int, count: int, name: str) -> None:
    """Raise DataError where several series follow each other in one column (long format).

    Examples are figures exported by this app, whose first column names the series, and tables by
    country, in which time starts again where the name changes.
    """
    end = first + count
    for index, labels in enumerate(table.cells[: time_steps.COLUMNS]):
        if table.names[index] in table.numeric_columns:
            continue
        own = labels[first:end]
        changes = [row for row in range(1, count) if own[row] != own[row - 1]]
        if not changes:
            continue
        if table.names[index] != "series":
            if len({*own}) <= len(changes) or 3 * len(changes) >= count:
                continue  # a label recurs, or nearly every row has its own
            times = time_steps.find(table.names, _plain_columns(table, first, end), _value, name)
            if times is None or table.names[index] in times.columns:
                continue
            back = {*(np.flatnonzero(np.diff(times.at) < 0) + 1).tolist()}
            if not back or back - {*changes}:
                continue
        row = changes[0]
        raise DataError(
            "several_series", column=table.names[index], row=table.first_row + first + row,
            text=printable(own[row - 1], 40), other=printable(own[row], 40),
        )  # fmt: skip


def _of_times(table: FileTable, name: str, first: int, count: int) -> Iterator[Remark]:
    """Yield remarks on deviations of the rows' times from equal forward steps."""
    times = time_steps.find(table.names, _plain_columns(table, first, first + count), _value, name)
    if times is None:
        return
    top = table.first_row + first

    def cell_text(row: int) -> str:
        return printable(times.texts[row], 30)

    for finding in time_steps.findings(times):
        yield Remark(
            finding.code, column=times.columns[0], row=top + finding.at, text=cell_text(finding.at),
            other_row=top + finding.reference, other=cell_text(finding.reference),
            count=finding.count, longest=cell_text(finding.more[0]),
            until=cell_text(finding.more[1]),
        )  # fmt: skip


def _of_codes(table: FileTable, name: str, texts: list[str], first: int) -> Iterator[Remark]:
    """Yield a remark on lowest or highest values that look like a missing-value code, e.g. -999.

    Such a value is farther from the others than these are from each other. Values that are not rows
    of nines must occur twice and be five times as far.
    """
    values = np.array([_value(text) for text in texts])
    for end in (np.nanmin(values), np.nanmax(values)):
        same = np.flatnonzero(values == end)
        rest = values[(values != end) & np.isfinite(values)]
        if len(rest) < MIN_VALUES // 2 or 2 * len(same) > len(values):
            continue
        code = bool(_CODES.fullmatch(texts[same[0]]))
        away, spread = float(np.abs(rest - end).min()), float(np.ptp(rest))
        if spread > 0 and ((code and away > spread) or (len(same) > 1 and away > 5 * spread)):
            yield Remark("missing_code", row=table.first_row + first + int(same[0]), column=name,
                         text=printable(texts[same[0]], 20), count=len(same))  # fmt: skip
