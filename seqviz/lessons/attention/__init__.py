"""The lesson "Attention": its declaration, and each bench as a function."""

from seqviz.lessons.attention.lesson import (
    ablate,
    apart,
    bertviz,
    by_hand,
    lesson,
    mask,
    real,
    scale,
    trials,
)
