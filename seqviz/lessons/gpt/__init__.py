"""The lesson "GPT and decoding": its declaration, and a function for each bench."""

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
