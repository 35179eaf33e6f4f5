"""Bits per character of a recurrent network with a right, a wrong and an empty state."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.windows.carried import CONDITIONS, Carried
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

_LOOK = {  # role of the color, dash and marker of each condition
    "sequential": ("gru", "solid", "circle"), "random": ("rnn", "dash", "diamond"),
    "reset": ("mlp", "dot", "square"),
}  # fmt: skip
_MARKED = 20  # maximum number of positions with markers


def bits_by_window(result: Carried, length: int, style: Style = STYLE) -> Figure:
    """Plot bits per character by window length (left), and by position in a window (right).

    Whiskers: 95% intervals over stretches of the text. The vertical line is the chosen length.

    Args:
        result: bits by length, position and condition.
        length: chosen length.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.carried_"), style.palette
    sheet = Sheet(style)
    lengths = result.lengths.tolist()
    names, chosen = [str(length) for length in lengths], lengths.index(length)
    top = 1.05 * float(np.nanmax(result.by_position[chosen]))
    left, right = sheet.row(
        (axes.names(names, label("length")),
         axes.axis(label("bits"), range=[0, 1.08 * float(result.bits.max())])),
        (axes.axis(label("place", length=length), range=[0.5, length + 0.5]),
         axes.axis(label("bits"), range=[0, top])),
        gaps=(0.45, 0.58),
    )  # fmt: skip
    left.vertical(chosen + 1, palette.highlight, width=1.5)
    for k, condition in enumerate(CONDITIONS):
        role, dash, symbol = _LOOK[condition]
        name, color = label(condition), getattr(palette, role)
        bits = stack(result.mean(length, condition) for length in lengths)
        left.estimates(bits, name, color, dodge=(k, len(CONDITIONS)), dash=dash, symbol=symbol,
                       hover="%{y:.2f}")  # fmt: skip
        right.line(np.arange(1, length + 1), result.by_place(length, condition), name, color,
                   dash=dash, symbol=symbol if length <= _MARKED else None,
                   hover="%{y:.2f}")  # fmt: skip
    means: dict[str, Any] = {
        condition: result.mean(length, condition).mean for condition in CONDITIONS
    }
    return sheet.described("alt.carried", names={"x": names}, length=length, **means)


def carried_so_far(done: object, style: Style = STYLE) -> Figure:
    """Plot the share of the text read so far."""
    return share_done(
        done, style, read="figure.carried_read", of="figure.permuted_all", alt="alt.windows_so_far"
    )
