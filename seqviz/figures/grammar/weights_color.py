"""Colors of attention weights: one scale for the mosaic, the maps and their color bars."""

from __future__ import annotations

import base64
import io
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from plotly.colors import sample_colorscale

from seqviz.figures.grammar.style import WEIGHTS, Style

_STOPS = 33
_LEVELS = 256


@cache
def scale() -> list[list[Any]]:
    """Cividis over the square root of a weight, as a Plotly color scale over the weight itself.

    Most weights are small: one of 0.05 would be black beside one of 0.9, and it is often the one
    that carries the pattern.
    """
    shares = np.linspace(0, 1, _STOPS)
    return [
        [float(share**2), color]
        for share, color in zip(shares, sample_colorscale(WEIGHTS, list(shares)), strict=True)
    ]


def bar(style: Style, title: str, **more: Any) -> dict[str, Any]:
    """The color bar of weights from 0 to 1."""
    return {
        "title": {"text": title, "side": "right", "font": {"size": 13 * style.scale}},
        "tickfont": {"size": 12 * style.scale},
        "tickvals": [0, 0.05, 0.2, 0.5, 1],
        "ticktext": ["0", "0.05", "0.2", "0.5", "1"],
        "thickness": 12,
        "outlinewidth": 0,
        "xpad": 4,
        **more,
    }


def color_bar(style: Style, title: str, **more: Any) -> dict[str, Any]:
    """A slender color bar with its name."""
    return {
        "title": {"text": title, "side": "right", "font": {"size": 13 * style.scale}},
        "tickfont": {"size": 12 * style.scale},
        "thickness": 12,
        "outlinewidth": 0,
        "xpad": 4,
        **more,
    }


@cache
def _palette() -> UInt8[np.ndarray, "level 3"]:
    shares = list(np.linspace(0, 1, _LEVELS - 1))
    colors = sample_colorscale(WEIGHTS, shares, colortype="tuple")
    return np.round(255 * np.array(colors)).astype(np.uint8)


def picture(
    tiles: Float[np.ndarray, "row column height width"], gap: int, least: int
) -> tuple[str, tuple[int, int]]:
    """Tiles side by side as one PNG (a data address), and the pixels of one tile with its gap.

    gap: transparent pixels on the right of and below each tile. least: each tile is enlarged, by a
    whole factor, to at least as many pixels.
    """
    from PIL import Image  # comes with Streamlit; needed for this figure only

    rows, columns, height, width = tiles.shape
    times = max(1, -(-least // max(height, width)))
    # One level is kept for the gaps, which let the page shine through.
    levels = 1 + np.round(np.sqrt(np.clip(tiles, 0, 1)) * (_LEVELS - 2)).astype(np.uint8)
    levels = levels.repeat(times, 2).repeat(times, 3)
    levels = np.pad(levels, ((0, 0), (0, 0), (0, gap), (0, gap)))
    high, wide = levels.shape[2:]
    flat = levels.transpose(0, 2, 1, 3).reshape(rows * high, columns * wide)
    image = Image.fromarray(flat)
    image.putpalette(np.concatenate([np.zeros((1, 3), np.uint8), _palette()]).tobytes())
    buffer = io.BytesIO()
    image.save(buffer, "PNG", transparency=0, compress_level=6)
    written = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/png;base64,{written}", (high, wide)
