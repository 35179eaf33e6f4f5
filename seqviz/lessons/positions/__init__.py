"""The lesson "Positions": its declaration, and a function for each bench."""

from seqviz.lessons.positions.lesson import (
    distance,
    effect,
    encoder,
    learned,
    lesson,
    schemes,
    simple,
    task,
    waves,
)
