"""The lesson "GPT and decoding": its declaration, and each bench as a function."""

from seqviz.lessons.gpt.lesson import (
    again,
    cost,
    draws,
    futures,
    lesson,
    likely,
    scores,
    shots,
    steps,
)
