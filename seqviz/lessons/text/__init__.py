"""The lesson "Text to numbers": its declaration, and a function for each bench."""

from seqviz.lessons.text.lesson import (
    cutters,
    ids,
    lesson,
    merges,
    neighbors,
    prefixes,
    reading,
    windows,
    word_vectors,
)
