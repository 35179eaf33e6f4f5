r"""Replacement of combining marks by a letter, for `\w` and `isalpha`.

Both count no mark as a letter: vowel signs of Hindi, Thai or Tamil, points of Hebrew, vowels of
Arabic, an accent after its letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

STAND_IN = "\u02d1"  # `re` and `str` take it for a letter; no text here contains it
_JOINERS = "\u200c\u200d"  # within words of Persian and of Indian languages


def plain_marks(pieces: Iterable[str]) -> list[str]:
    """Replace each mark that belongs to a letter by `STAND_IN` in consecutive pieces of a text.

    Each piece keeps its length, so a position in the result is a position in the text.

    >>> "".join(plain_marks("हिन्दी -\u0301"))
    'हˑनˑदˑ -́'
    """
    result, within = [], False
    for piece in pieces:
        signs = []
        for sign in piece:
            mark = unicodedata.category(sign)[0] == "M" or sign in _JOINERS
            within = (within and mark) or sign.isalnum()
            signs.append(STAND_IN if within and mark else sign)
        result.append("".join(signs))
    return result
