"""Errors and remarks about uploaded files, with codes for translation."""

from __future__ import annotations

_SENTENCES = {
    "empty": "The file is empty.",
    "too_large": "The file has {size} bytes; at most {limit} are read.",
    "not_csv": (
        "The file begins as a {kind} file does, whatever its name says. "
        "Save it as CSV in UTF-8 and load it again."
    ),
    "encoding": (
        "Row {row} is not UTF-8 text. Save the file as CSV in UTF-8 "
        "(in a spreadsheet: Save as, CSV UTF-8) and load it again."
    ),
    "malformed": (
        "Row {row} cannot be read: a quotation mark is misplaced or never closed, "
        "or a cell is longer than any number."
    ),
    "too_many_columns": "Row {row} has {found} columns; at most {limit} are read.",
    "too_long": "The file has more than {limit} rows of values.",
    "ragged": "Row {row} has {found} cells where the rows above have {expected}.",
    "title": (
        "The lines above row {row} ('{text}') have fewer cells and no numbers. "
        "Delete what is above the names of the columns."
    ),
    "decimal_comma": (
        "Row {row} reads '{text}': one number with a decimal comma, or two numbers? "
        "Write decimal points, or name the columns in the first line, separated by a comma."
    ),
    "spaces": (
        "Row {row} of column {column} reads '{text}': its columns are separated by spaces. "
        "Save the file with commas, semicolons or tabs between them."
    ),
    "no_numeric_column": (
        "There is no column of numbers to work with: row {row} of column {column} reads '{text}'. "
        "Units and thousands separators are not read."
    ),
    "no_such_column": "There is no column {column}.",
    "missing": "Row {row} has no value in column {column}.",
    "not_a_number": (
        "Row {row} of column {column} reads '{text}', which is not a number. "
        "Thousands separators are not read."
    ),
    "extra_line": (
        "Row {row} of column {column} reads '{text}', and the row has no number. "
        "Above the numbers only one line is read, the names of the columns: delete the others."
    ),
    "thousands": (
        "Row {row} of column {column} reads '{text}', and every mark in the column is followed by "
        "three digits: it may be a thousands separator. "
        "Write {whole} without it, or {longer} if it is a decimal mark."
    ),
    "both_marks": (
        "Row {row} of column {column} reads '{text}', and row {other_row} of column "
        "{other_column} '{other}': the numbers of the file have points and commas. "
        "Save it with one decimal mark and no thousands separators."
    ),
    "several_series": (
        "Column {column} names several series one below the other: '{text}' ends and '{other}' "
        "begins in row {row}. Keep the rows of one series."
    ),
    "infinite": "Row {row} of column {column} is infinite or larger than 1e100 in size.",
    "too_short": "Column {column} has {found} values; at least {limit} are needed.",
    "constant": "All values of column {column} are equal.",
}

PROBLEM_CODES: tuple[str, ...] = tuple(_SENTENCES)
"""All codes of `DataError`."""


class DataError(ValueError):
    """Problem that makes an uploaded file unusable, with its location.

    `str()` is one or two English sentences.

    Args:
        code: one of `PROBLEM_CODES`.
        **details: values of the fields of the sentence, also of its translation: `row` (1-based, as
            in a spreadsheet, header included), `column` (name), `text` (the cell, shortened),
            `kind`, `found`, `expected`, `size`, `limit`.

    Attributes:
        code: as given.
        details: as given.
    """

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(_SENTENCES[code].format(**details))
        self.code = code
        self.details = details


class Remark:
    """Warning about a file that can be used; its sentence is among the lesson's translations.

    Args:
        code: identifies the remark.
        **details: as in `DataError`.

    Attributes:
        code: as given.
        details: as given.
    """

    def __init__(self, code: str, **details: object) -> None:
        self.code = code
        self.details = details
