"""The lesson "Positions": its declaration, and each bench as a function."""

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
