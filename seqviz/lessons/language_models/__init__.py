"""The lesson "Language models": its declaration, and a function for each bench."""

from seqviz.lessons.language_models.lesson import (
    counts,
    ladder,
    lesson,
    product,
    sides,
    windows,
    writing,
)
