"""The lesson "Gates": its declaration, and each bench as a function."""

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
