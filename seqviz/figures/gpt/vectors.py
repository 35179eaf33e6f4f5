"""Vectors of a text as a map."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.vectors import TextVectors
from seqviz.core.units import unbroken
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales

_MOST = 0.99  # share of the numbers within the scale: a few are far larger than the others


def vector_map(text_vectors: TextVectors, style: Style = STYLE) -> Figure:
    """Plot the vector of each token as a row of cells."""
    label, pieces = style.labels("figure.vectors_"), text_vectors.tokens.pieces
    shape = unbroken(f"1 × {len(pieces)} × {text_vectors.width}")
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.counted(text_vectors.width, label("entry")),
        axes.tokens(style, pieces, label("token"), upright=True),
    )
    vectors = text_vectors.vectors.astype(np.float32)
    panel.cells(
        vectors, label("value"), scales.signed(float(np.quantile(abs(vectors), _MOST))),
        x=np.arange(text_vectors.width), ygap=1, hover="%{y}, %{x}: <b>%{z:.4~g}</b>",
    )  # fmt: skip
    sheet.headline(label("shape", shape=shape))
    return sheet.described("alt.vectors", names={"y": list(pieces)}, shape=shape)
