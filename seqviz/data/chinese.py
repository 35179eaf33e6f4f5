"""Bundled Chinese sentences: machine-translated reviews of hotels and products.

References:
    J. Kocoń, P. Miłkowski and K. Kanclerz (2021). MultiEmo: Multilingual, Multilevel, Multidomain
    Sentiment Analysis Corpus of Consumer Reviews. ICCS 2021. CC BY 4.0.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from dataclasses import dataclass
from functools import cache

import numpy as np

from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS

_SHA256 = "1fdb1d5033d166c57d9b1c47099d2a4f3da01c8c3a4bc1351ee6a45215d0062c"
_HELD_OUT = 800


@dataclass(frozen=True)
class BundledWords:
    """Coverage of the bundled part of jieba's dictionary, and its effect on held-out sentences.

    Attributes:
        words: number of bundled words.
        all_words: number of words of the complete dictionary.
        sentences: number of held-out sentences.
        alike: number of them that are segmented identically with both dictionaries.
        tags: number of characters with a tag in the held-out sentences.
        differ: number of these characters whose tags differ between the dictionaries.
    """

    words: int
    all_words: int
    sentences: int
    alike: int
    tags: int
    differ: int


@cache
def bundled_words() -> BundledWords:
    """Return the counts of `tools/bundle_vocabularies.py`, which reads the complete dictionary.

    Raises:
        UserError: "damaged": the file cannot be read.
    """
    path = ASSETS / "data" / "words_zh.json"
    try:
        return BundledWords(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        raise damaged(path) from None


@cache
def reviews_split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (train, held out): 4,000 and 800 sentences, in a fixed random order.

    Raises:
        UserError: "damaged": the checksum of the file is wrong.
    """
    path = ASSETS / "data" / "reviews_zh.xz"
    try:
        content = lzma.decompress(path.read_bytes())
    except (OSError, EOFError, lzma.LZMAError):
        content = b""
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise damaged(path)
    texts = content.decode("utf-16-le").split("\n")
    mixed = [texts[k] for k in np.random.RandomState(0).permutation(len(texts))]
    return tuple(mixed[_HELD_OUT:]), tuple(mixed[:_HELD_OUT])
