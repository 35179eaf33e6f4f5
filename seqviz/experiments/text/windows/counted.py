"""Token frequencies of the bundled sentences, in training and held out."""

from __future__ import annotations

from seqviz.compute.text.windows.vocabulary import TokenFrequencies, counted, frequencies
from seqviz.data.reviews import characters_split


def of_bundled(level: str, clean: bool = True) -> TokenFrequencies:
    """Return the token frequencies in 95% of the sentences, and in the 5% held out.

    The sentences are reviews and editorials. The Time Machine, which the printed text counts, is a
    download and not bundled.

    Args:
        level: kind of the tokens, see `vocabulary.counted`.
        clean: True for cleaned text, see `vocabulary.counted`.
    """
    text, held = (counted(part, level, clean) for part in characters_split())
    return frequencies(text, held)
