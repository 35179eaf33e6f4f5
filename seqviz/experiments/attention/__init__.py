"""Attention maps and head ablation of a pretrained model on a text."""

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
