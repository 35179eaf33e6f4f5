"""Protection against formula injection in exported tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # full-width in Asian Excel
_SEPARATORS = frozenset(";\t\r\n")  # separators of other programs
# Matches only from the start of a gap: retrying at each position of a long one would take hours.
_LATER = re.compile(rf"(?:;\s*|(?<!\s)\s+)(?=[{re.escape(''.join(_FORMULA))}])")
_NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?%?")


def no_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before each text that would run as a formula.

    Tokens, words and column names come from students. Numbers stay numbers.
    """
    from pandas.api.types import is_numeric_dtype  # slow to import, needed only here

    safe = frame.rename(columns=no_formula)
    for index, kind in enumerate(frame.dtypes):
        if not is_numeric_dtype(kind):
            safe.isetitem(index, frame.iloc[:, index].map(no_formula).to_list())
    return safe


def no_formula(cell: Any) -> Any:
    """Return a cell made safe, also where a spreadsheet would split it into several."""
    if not isinstance(cell, str) or len(cell) < 2 or _NUMBER.fullmatch(cell):
        return cell
    begun = "'" if cell.lstrip().startswith(_FORMULA) else ""
    return begun + _LATER.sub(_guarded, cell)


def _guarded(gap: re.Match[str]) -> str:
    return gap[0] + ("'" if _SEPARATORS & {*gap[0]} else "")
