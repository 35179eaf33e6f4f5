"""The lesson "The Transformer block": its declaration, and each bench as a function."""

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
)
