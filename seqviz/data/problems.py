"""What can be wrong with a file a student brings: a code to translate, and an English sentence."""

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
    "no_numeric_column": "No column consists of numbers.",
    "no_such_column": "There is no column {column}.",
    "missing": "Row {row} has no value in column {column}.",
    "not_a_number": (
        "Row {row} of column {column} reads '{text}', which is not a number. "
        "Thousands separators are not read."
    ),
    "infinite": "Row {row} of column {column} is infinite or larger than 1e100 in size.",
    "too_short": "Column {column} has {found} values; at least {limit} are needed.",
    "constant": "All values of column {column} are equal.",
}

PROBLEM_CODES: tuple[str, ...] = tuple(_SENTENCES)
"""Every code a `DataProblem` can carry."""


class DataProblem(ValueError):
    """A file that cannot be used, with the place and the reason.

    code: one of `PROBLEM_CODES`. details: the values the sentence is filled with, for translation:
    `row` (1-based, as a spreadsheet counts, header included), `column` (name), `text` (the cell,
    shortened), `kind`, `found`, `expected`, `size`, `limit`. str() is one or two English sentences.
    """

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(_SENTENCES[code].format(**details))
        self.code = code
        self.details = details
