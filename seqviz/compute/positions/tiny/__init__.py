"""Does order matter? A tiny Transformer on five tasks, with each positional encoding.

Importing this package costs numpy only; torch is imported by the first training.
"""

from seqviz.compute.positions.tiny.results import TEST_SEQUENCES, OrderReport, OrderResult, Scores
from seqviz.compute.positions.tiny.settings import ENCODINGS, OrderSettings
from seqviz.compute.positions.tiny.tasks import (
    LETTERS,
    SLOT,
    TASKS,
    Examples,
    chance,
    draw,
    kinds,
    order_blind,
    right_answers,
    slots,
)
from seqviz.compute.positions.tiny.training import train

__all__ = [
    "ENCODINGS", "LETTERS", "SLOT", "TASKS", "TEST_SEQUENCES", "Examples", "OrderReport",
    "OrderResult", "OrderSettings", "Scores", "chance", "draw", "kinds", "order_blind",
    "right_answers", "slots", "train",
]  # fmt: skip
