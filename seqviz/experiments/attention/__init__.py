"""Attention of a pretrained model over a text, and what depends on its heads."""

from seqviz.experiments.attention.weights import (
    AVERAGES,
    ablate,
    average,
    count,
    head,
    masked,
    mosaic,
    parts,
    tensor,
)
