"""Two-level treemap: columns are groups, areas are sizes, colors are kinds of parts.

It is a slice-and-dice layout: columns are as wide as their groups and are divided by their parts.
Both sides of an area can be read off axes, and the order of groups and parts is kept.

References:
    Shneiderman, 1992.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.plotting.panel import NAMED, Panel

_NAMED = 0.025  # smallest share of the total with a label
_TINT = 0.4


def treemap(
    panel: Panel,
    sizes: Float[np.ndarray, "group part"],
    groups: Sequence[str],
    parts: Sequence[tuple[str, str]],
    words: Sequence[Sequence[str]],
) -> None:
    """Draw a treemap on axes from 0 to the sum of `sizes` (x) and from 0 to 100% (y).

    Args:
        panel: panel to draw on.
        sizes: size of each part; parts of size 0 are omitted.
        groups: names of the columns.
        parts: name and CSS color of each kind of part.
        words: label of each part, shape (group, part), shown where it fits, and on hover.
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
