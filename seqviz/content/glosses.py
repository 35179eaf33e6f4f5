"""Word-by-word Chinese of the English sentences that text fields open with: `gloss`.

The models of these benches read English only, so the sentences stay English in every language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

from seqviz.core.paths import ASSETS


@cache
def glosses() -> Mapping[str, str]:
    """Return the Chinese of each sentence, by the sentence."""
    return tomllib.loads((ASSETS / "glossary" / "glosses.toml").read_text("utf-8"))


def gloss(sentence: str, lang: str) -> str:
    """Return a sentence word by word in the reader's language; "" where none is known or needed.

    Args:
        sentence: the sentence.
        lang: language code.
    """
    return glosses().get(sentence, "") if lang == "zh" else ""
