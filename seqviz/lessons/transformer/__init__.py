"""The lesson "The Transformer block": its declaration, and a function for each bench."""

from seqviz.lessons.transformer.lesson import (
    account,
    bill,
    depths,
    induction,
    lens,
    lesson,
    masks,
    norms,
    pair,
    remove,
    steps,
    stream,
)
