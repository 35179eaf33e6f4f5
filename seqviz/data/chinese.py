"""Chinese sentences that come with the app: reviews of hotels and products, by machine translation.

J. Kocoń, P. Miłkowski and K. Kanclerz (2021). MultiEmo: Multilingual, Multilevel, Multidomain
Sentiment Analysis Corpus of Consumer Reviews. ICCS 2021. CC BY 4.0.
"""

from __future__ import annotations

import hashlib
import lzma
from functools import cache

import numpy as np

from seqviz.paths import ASSETS
from seqviz.refusal import damaged

_SHA256 = "1fdb1d5033d166c57d9b1c47099d2a4f3da01c8c3a4bc1351ee6a45215d0062c"
_HELD_OUT = 800


@cache
def reviews_split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(train, held out): 4,000 and 800 sentences, in a fixed random order.

    Raises Refusal("damaged") when the file is not the one that was bundled.
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
