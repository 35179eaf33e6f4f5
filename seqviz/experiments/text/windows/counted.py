"""The bundled sentences as tokens by frequency, beside those that are held out."""

from __future__ import annotations

from seqviz.compute.text.windows.vocabulary import TokenFrequencies, counted, frequencies
from seqviz.data.reviews import characters_split


def of_bundled(level: str, clean: bool = True) -> TokenFrequencies:
    """Reviews and editorials, 95% of the sentences, and the 5% that are held out.

    The Time Machine, which the text counts, is a download and not bundled.
    """
    text, held = (counted(part, level, clean) for part in characters_split())
    return frequencies(text, held)
