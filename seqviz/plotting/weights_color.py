"""Colors of attention weights: one scale for the mosaic, the maps and their color bars."""

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
    """Tiles side by side as one PNG (a data address), and the pixels of one tile with its gap.

    gap: transparent pixels on the right of and below each tile. minimum: each tile is enlarged, by
    a whole factor, to at least as many pixels. maximum: where the colors end.
    """
    from PIL import Image  # comes with Streamlit; needed for this figure only

    rows, columns, height, width = tiles.shape
    times = max(1, -(-minimum // max(height, width)))
    # One level is kept for the gaps, which let the page shine through.
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
