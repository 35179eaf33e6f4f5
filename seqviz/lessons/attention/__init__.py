"""The lesson "Attention": its declaration, and a function for each bench."""

from seqviz.lessons.attention.lesson import (
    ablate,
    apart,
    bertviz,
    by_hand,
    features,
    lesson,
    mask,
    real,
    scale,
    trials,
)
