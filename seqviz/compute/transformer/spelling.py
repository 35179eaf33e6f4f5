"""Whole numbers and their words in English and Chinese: a small translation task."""

from __future__ import annotations

from seqviz.compute.typed_numbers import normalize
from seqviz.core.errors import UserError

LANGUAGES = ("english", "chinese")
MAX_NUMBER = 999
DIGITS = 3  # digits of the longest source
START, END, PAD = "<s>", "</s>", "<pad>"
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_CHINESE = "零一二三四五六七八九"
SOURCE = (PAD, *"0123456789")
VOCABULARY = {
    "english": (START, END, *_ONES, *_TENS, "hundred"),
    "chinese": (START, END, *_CHINESE, "十", "百"),
}
MAX_NUMBER_WORDS = {"english": 4, "chinese": 5}  # without the end token


def read(text: str) -> int:
    """Parse a number from 0 to 999 in digits.

    Raises:
        UserError: "no_number" for anything else.
    """
    digits = normalize(text)
    if not (digits.isascii() and digits.isdigit() and len(digits.lstrip("0")) <= DIGITS):
        raise UserError(
            "no_number", f"Write a whole number from 0 to {MAX_NUMBER}.", most=MAX_NUMBER
        )
    return int(digits)


def spoken(number: int, language: str = "english") -> tuple[str, ...]:
    """Return the words of a number from 0 to 999, without "and" and hyphens.

    Chinese as it is read out: a zero for missing tens, and 十 alone for 10 to 19.

    Args:
        number: the number.
        language: one of `LANGUAGES`.

    Raises:
        ValueError: number or language is out of range.

    >>> spoken(342), "".join(spoken(305, "chinese"))
    (('three', 'hundred', 'forty', 'two'), '三百零五')
    """
    if not 0 <= number <= MAX_NUMBER or language not in LANGUAGES:
        raise ValueError(
            f"No number from 0 to {MAX_NUMBER}, or no language: {number}, {language!r}."
        )
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    if language == "english":
        messages: tuple[str, ...] = (_ONES[hundreds], "hundred") if hundreds else ()
        if rest >= 20:
            messages += (_TENS[tens - 2], _ONES[ones]) if ones else (_TENS[tens - 2],)
        elif rest or not number:
            messages += (_ONES[rest],)
        return messages
    if not number:
        return ("零",)
    text = f"{_CHINESE[hundreds]}百" if hundreds else ""
    if tens:
        text += "十" if tens == 1 and not hundreds else f"{_CHINESE[tens]}十"
    elif hundreds and ones:
        text += "零"
    return tuple(text + (_CHINESE[ones] if ones else ""))
