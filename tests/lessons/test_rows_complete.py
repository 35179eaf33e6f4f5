"""Every row of the texts that a lesson has belongs to a number that moves, and is not missing."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
# Rows by the text (first digit) and number, as the map of the texts gives them to the lessons.
ROWS = {
    "ar_fitting": "0-01 0-02 0-03 0-04 0-05 0-18 0-27 0-28 3-01 3-02 3-03",
    "text": "0-06 0-07 0-08 0-09 0-10 0-11 0-12 0-13 0-14 3-04 3-05 3-06 3-07 3-08 3-09 3-10",
    "language_models": "0-15 0-16 0-17 1-01 1-02 1-03 1-04 1-07 2-08 2-09 2-10",
    "recurrent": "0-19 0-20 0-21 0-22 0-23 0-24 0-26 1-08 1-09 1-10 1-11 1-13 1-14 1-15 1-16 1-17 "
    "1-18 1-19 1-20 1-21 1-22 1-41 2-11 2-13 3-11 3-12 3-13 3-14 3-16 3-21 3-22 3-23",
    "vanishing_gradients": "0-29 0-30 0-31 0-32 0-33 0-34 0-35 1-12 1-24 2-12 3-15 3-17 3-18",
    "gates": "0-36 0-37 0-38 0-39 0-40 1-23 1-25 1-26 1-27 1-28 3-19 3-20",
    "attention": "0-43 0-47 0-48 0-49 0-51 1-29 1-30 1-31 1-32 1-34 2-21 2-22 4-08 4-09 4-10 4-11 "
    "4-12 4-13 4-14 4-15 4-17 4-18 4-19",
    "positions": "0-44 1-35 1-36 2-20 4-22",
    "transformer": "0-45 0-46 0-50 0-52 0-54 0-55 0-56 0-57 0-58 0-59 0-60 0-61 1-33 2-19 2-23 "
    "2-24 2-25 2-26 4-16 4-20 4-21 4-23",
    "bert_accuracy": "0-68 0-72",
    "gpt": "1-37 1-38 1-39 2-27 4-24 4-27 4-28 4-29 4-30 4-31 4-32 4-33",
}


def rows_with_number(slug: str) -> set[str]:
    """Return the rows of a lesson's tests that have a number: entries of `ROWS`, or a test."""
    names = set()
    for path in sorted((FOLDER / slug).glob("test_rows*.py")):
        module = import_module(f"tests.lessons.{slug}.{path.stem}")
        names |= {number for name, row in module.ROWS.items() if row.moves
                  for number in re.findall(r"\b\d-\d\d\b", name)}  # fmt: skip
        names |= {"-".join(found.groups()) for name in vars(module)
                  if (found := re.fullmatch(r"test_row_(\d)_(\d\d)_moves", name))}  # fmt: skip
    return names


@pytest.mark.parametrize("slug", ROWS)
def test_every_row_has_number_that_moves(slug):
    assert set(ROWS[slug].split()) - rows_with_number(slug) == set()


def test_rows_of_ten_lessons_are_148():
    lists = [rows.split() for slug, rows in ROWS.items() if slug != "language_models"]
    assert sum(map(len, lists)) == len({row for rows in lists for row in rows}) == 148
