"""The lesson "Gates": its declaration, and a function for each bench."""

from seqviz.lessons.gates.lesson import (
    agree,
    conventions,
    force,
    learn,
    lesson,
    meaning,
    single_gate,
    size,
    watch,
)
from seqviz.lessons.gates.trained_network import PROSE, SECOND
