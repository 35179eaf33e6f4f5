"""Numbers and lists of numbers as somebody types them: the one reader of all of them.

The minus of the read-outs and full-width digits, points and marks of a Chinese keyboard are read as
what they stand for. What could be meant in two ways is refused: nothing is guessed. A single number
in a field of the browser is read by the same rules in `assets/static/components/number_field.js`.
"""

from __future__ import annotations

import re
from math import isfinite

from seqviz.core.errors import UserError

_FORMS = {",": ",，﹐、﹑", ";": ";；﹔", "|": "|｜", "+": "+＋"}  # of the marks between numbers
_PLAIN: dict[int, int | str] = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
    **{ord(dash): "-" for dash in "‐‑‒–—―−﹘﹣"},
    **{ord(point): "." for point in "。｡"},  # what the key of the point writes
}
_UNSEEN = "\ufeff\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# No Chinese comma: it is never a decimal mark.
_BESIDE = re.compile(r"[^\s;；|｜，、]*,(?=[\d.．])[^\s;；|｜，、]*")


def normalize(text: str) -> str:
    """A number with the signs of a plain keyboard, without what is unseen around it."""
    return text.strip().strip(_UNSEEN).strip().translate(_PLAIN)


def number(text: str) -> float:
    """One finite number. Raises ValueError for anything else.

    >>> number("−０．５")
    -0.5
    """
    result = normalize(text)
    if not (_NUMBER.fullmatch(result) and isfinite(value := float(result))):
        raise ValueError(f"“{text[:20]}” is not a number.")
    return value


def cut(text: str, marks: str) -> list[str]:
    """The parts of a text between some of the marks ",;|+", in whatever form these are typed.

    >>> cut("1 2，3、4；5", ",;")
    ['1 2', '3', '4', '5']
    """
    return re.split("[" + "".join(_FORMS[mark] for mark in marks) + "]", text)


def without_decimal_commas(text: str) -> str:
    """The text itself. Raises UserError("comma") or ("commas") for a comma right before a digit.

    "0,5" can be one number or two; "1,2,3" and "1.5,2" are several, or thousands.
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
