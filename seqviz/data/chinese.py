"""Chinese sentences that come with the app: reviews of hotels and products, by machine translation.

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
    """The share of jieba's dictionary that is bundled, and what that changes on held-out sentences.

    words: bundled; all_words: of the whole dictionary. sentences, alike: held out, and of these cut
    into the same words with both. tags, differ: of their characters, and those that are others.
    """

    words: int
    all_words: int
    sentences: int
    alike: int
    tags: int
    differ: int


@cache
def bundled_words() -> BundledWords:
    """As `tools/bundle_vocabularies.py` has counted it, which reads the whole dictionary.

    Raises UserError("damaged") when the file cannot be read.
    """
    path = ASSETS / "data" / "words_zh.json"
    try:
        return BundledWords(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        raise damaged(path) from None


@cache
def reviews_split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(train, held out): 4,000 and 800 sentences, in a fixed random order.

    Raises UserError("damaged") when the file is not the one that was bundled.
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
