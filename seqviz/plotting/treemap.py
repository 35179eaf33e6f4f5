"""A treemap of two levels: an area is a size, a column is a group, and a color is a kind of part.

Slice and dice (Shneiderman 1992): columns as wide as their groups, cut across as the parts ask. So
both sides of an area can be read off axes, and the order of groups and parts stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.plotting.panel import NAMED, Panel

_NAMED = 0.025  # share of the whole from which an area, and a column, has its words
_TINT = 0.4


def treemap(
    panel: Panel,
    sizes: Float[np.ndarray, "group part"],
    groups: Sequence[str],
    parts: Sequence[tuple[str, str]],
    words: Sequence[Sequence[str]],
) -> None:
    """Draw one on an axis from 0 to the sum of `sizes` (x) and one from 0 to 100% (y).

    parts: name and color of each. words: what stands in each area that has room for it, and on
    hover. What has no size is left out.
    """
    widths = sizes.sum(axis=1)
    starts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    heights = 100 * sizes / np.where(widths == 0, 1, widths)[:, None]
    floors = np.cumsum(heights, axis=1) - heights
    panel.sheet.page["barmode"] = "overlay"
    for at, (name, color) in enumerate(parts):
        there = np.flatnonzero(sizes[:, at])
        if not len(there):
            continue
        large = sizes[there, at] >= _NAMED * sizes.sum()
        labels = [words[group][at] for group in there.tolist()]
        panel.bars(
            starts[there], heights[there, at], name, color, base=floors[there, at],
            width=widths[there], offset=np.zeros(len(there)),
            marker={"color": color, "opacity": _TINT, "line": {"color": color, "width": 1}},
            customdata=labels,
            text=[item if fits else "" for item, fits in zip(labels, large, strict=True)],
            textposition="inside", insidetextanchor="middle", textangle=0,
            insidetextfont={"size": 13 * panel.style.scale, "color": panel.style.palette.truth},
            hover=f"%{{customdata}}{NAMED}",
        )  # fmt: skip
    for name, start, width in zip(groups, starts.tolist(), widths.tolist(), strict=True):
        if width >= 4 * _NAMED * widths.sum():
            panel.words(name, start + width / 2, 100, yanchor="bottom", yshift=1)
