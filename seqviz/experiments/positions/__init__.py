"""The position table of a pretrained model."""

from seqviz.experiments.positions.table import (
    reordered,
    review_lengths,
    table,
)
