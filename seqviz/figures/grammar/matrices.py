"""A matrix of weights between tokens: its cells, and an axis that names the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.figures.grammar.style import Style
from seqviz.figures.grammar.tokens import token_axis
from seqviz.figures.grammar.weights_color import scale

_WRITTEN = 12  # tokens of a map whose numbers find room in the cells
NAMED_ROWS = 24  # tokens that find room beside a figure


def weight_cells(
    weights: Float[np.ndarray, "query key"],
    style: Style,
    allowed: Bool[np.ndarray, "query key"] | None = None,
) -> dict[str, Any]:
    """The cells of a map of weights, from 1 on both axes; numbers in them where they fit."""
    values = weights.astype(np.float32)
    if allowed is not None:
        values = np.where(allowed, values, np.float32(np.nan))
    queries, keys = values.shape
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(1, keys + 1),
        "y": np.arange(1, queries + 1),
        "z": values,
        "zmin": 0,
        "zmax": 1,
        "colorscale": scale(),
        "name": style.text("figure.weight"),
        "hoverongaps": False,
        "xgap": 1 if keys <= 64 else 0,
        "ygap": 1 if queries <= 64 else 0,
        "hovertemplate": style.text(
            "figure.hover_weight", query="%{y}", key="%{x}", weight="%{z:.4f}"
        )
        + "<extra></extra>",
    }
    if max(queries, keys) <= _WRITTEN:
        heat |= {"texttemplate": "%{z:.2f}", "textfont": {"size": 12 * style.scale}}
    return heat


def tokens_axis(
    style: Style,
    pieces: Sequence[str],
    title: str,
    upright: bool = False,
    most: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """An axis of tokens with its name; upright: the first token on top. most: see `token_axis`."""
    axis = token_axis(style, pieces, NAMED_ROWS if upright else most, **more)
    axis["title"] = {**axis["title"], "text": style.text(title)}
    if upright:
        axis |= {"range": [len(pieces) + 0.5, 0.5], "tickangle": 0}
    return axis
