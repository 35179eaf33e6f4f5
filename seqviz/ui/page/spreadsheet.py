"""Texts that a spreadsheet must not run: what students write may begin like a formula."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # the wide ones in Asian Excel
_SEPARATORS = frozenset(";\t\r\n")  # of others
# From where the gap begins: begun anew at each place of a long one it would take hours.
_LATER = re.compile(rf"(?:;\s*|(?<!\s)\s+)(?=[{re.escape(''.join(_FORMULA))}])")
_NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?%?")


def no_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each text that a spreadsheet would run as a formula.

    Texts come from students: tokens, words, names of columns. What is a number stays one.
    """
    from pandas.api.types import is_numeric_dtype  # slow to import, needed only here

    safe = frame.rename(columns=no_formula)
    for index, kind in enumerate(frame.dtypes):
        if not is_numeric_dtype(kind):
            safe.isetitem(index, frame.iloc[:, index].map(no_formula).to_list())
    return safe


def no_formula(cell: Any) -> Any:
    """One cell of such a table, also where a spreadsheet takes it for several."""
    if not isinstance(cell, str) or len(cell) < 2 or _NUMBER.fullmatch(cell):
        return cell
    begun = "'" if cell.lstrip().startswith(_FORMULA) else ""
    return begun + _LATER.sub(_guarded, cell)


def _guarded(gap: re.Match[str]) -> str:
    return gap[0] + ("'" if _SEPARATORS & {*gap[0]} else "")
