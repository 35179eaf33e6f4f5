"""Attention maps as PNG images, with the color scale of heatmaps of weights."""

from __future__ import annotations

import base64
import io
from functools import cache

import numpy as np
from jaxtyping import Float, UInt8
from plotly.colors import sample_colorscale

from seqviz.plotting.style import WEIGHTS

_LEVELS = 256


@cache
def _palette() -> UInt8[np.ndarray, "level 3"]:
    shares = list(np.linspace(0, 1, _LEVELS - 1))
    colors = sample_colorscale(WEIGHTS, shares, colortype="tuple")
    return np.round(255 * np.array(colors)).astype(np.uint8)


def picture(
    tiles: Float[np.ndarray, "row column height width"],
    gap: int,
    minimum: int,
    maximum: float = 1.0,
) -> tuple[str, tuple[int, int]]:
    """Return attention maps as tiles of one PNG.

    Args:
        tiles: weights [row, column, height, width] in [0, maximum].
        gap: transparent pixels to the right of and below each tile.
        minimum: smallest size of a tile's longer side in pixels, reached by an integer zoom factor.
        maximum: upper end of the color scale.

    Returns:
        The PNG as a data URL, and height and width of one tile with its gap in pixels.
    """
    from PIL import Image  # a dependency of Streamlit, used by this figure only

    rows, columns, height, width = tiles.shape
    times = max(1, -(-minimum // max(height, width)))
    # Level 0 is transparent, for the gaps.
    levels = 1 + np.round(np.sqrt(np.clip(tiles / maximum, 0, 1)) * (_LEVELS - 2)).astype(np.uint8)
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
