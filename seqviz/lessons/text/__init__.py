"""The lesson "Text to numbers": its declaration, and each bench as a function."""

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
