"""A tiny Transformer trained on five order tasks, with each positional encoding.

Importing this package costs numpy only; torch is imported by the first training.
"""

from seqviz.compute.positions.tiny.results import TEST_SEQUENCES
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.compute.positions.tiny.tasks import TASKS
from seqviz.compute.positions.tiny.training import train
