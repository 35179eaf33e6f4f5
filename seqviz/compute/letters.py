"""Letters with the marks that belong to them, which `\\w` and `isalpha` take for no letters.

Vowel signs of Hindi, Thai or Tamil, points of Hebrew, vowels of Arabic, accents beside a letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

STAND_IN = "\u02d1"  # a letter to `re` and `str`, which no text here has
_JOINERS = "\u200c\u200d"  # within words of Persian and of Indian languages


def plain_marks(pieces: Iterable[str]) -> list[str]:
    """Pieces that follow each other, with `STAND_IN` for each mark that belongs to a letter.

    None becomes shorter or longer, so places found in them are places of the text.

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
