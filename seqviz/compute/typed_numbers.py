"""The only parser of numbers and lists of numbers that users type.

It accepts the minus sign of the readouts, full-width digits, and points and separators of a Chinese
keyboard. It refuses ambiguous input instead of guessing. Number fields in the browser follow the
same rules for a single number in `assets/static/components/number_field.js`.
"""

from __future__ import annotations

import re
from math import isfinite

from seqviz.core.errors import UserError

_FORMS = {",": ",，﹐、﹑", ";": ";；﹔", "|": "|｜", "+": "+＋"}  # of the separators
_PLAIN: dict[int, int | str] = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
    **{ord(dash): "-" for dash in "‐‑‒–—―−﹘﹣"},
    **{ord(point): "." for point in "。｡"},  # typed by the period key of a Chinese keyboard
}
_UNSEEN = "\ufeff\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# No Chinese comma: it is never a decimal mark.
_BESIDE = re.compile(r"[^\s;；|｜，、]*,(?=[\d.．])[^\s;；|｜，、]*")


def normalize(text: str) -> str:
    """Return a number in plain keyboard characters, without invisible characters around it."""
    return text.strip().strip(_UNSEEN).strip().translate(_PLAIN)


def number(text: str) -> float:
    """Parse one finite number.

    Raises:
        ValueError: for anything else.

    >>> number("−０．５")
    -0.5
    """
    result = normalize(text)
    if not (_NUMBER.fullmatch(result) and isfinite(value := float(result))):
        raise ValueError(f"“{text[:20]}” is not a number.")
    return value


def cut(text: str, marks: str) -> list[str]:
    """Split a text at some of the separators ",;|+", in any form in which they are typed.

    Args:
        text: the text.
        marks: the separators, as in ",;".

    >>> cut("1 2，3、4；5", ",;")
    ['1 2', '3', '4', '5']
    """
    return re.split("[" + "".join(_FORMS[mark] for mark in marks) + "]", text)


def without_decimal_commas(text: str) -> str:
    """Return the text unchanged; raise an error for a comma directly before a digit.

    Raises:
        UserError: "comma" where the part can be one number or two ("0,5"); "commas" where it can be
            several numbers, or has thousands separators ("1,2,3", "1.5,2").
    """
    if not (beside := _BESIDE.search(text)):
        return text
    part = normalize(beside[0])
    point, apart = part.replace(",", "."), re.sub(",(?=[^ ])", ", ", part)
    if _NUMBER.fullmatch(point):
        sentence = f"“{part}” can be one number or two: write {point} or {apart}."
        raise UserError("comma", sentence, part=part[:20], point=point[:20], apart=apart[:20])
    sentence = f"“{part}” can be read in several ways: put a space behind each comma."
    raise UserError("commas", sentence, part=part[:20], apart=apart[:24])
