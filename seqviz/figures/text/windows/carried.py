"""What a recurrent network pays for a character when its state is right, wrong, or empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.windows.carried import CONDITIONS, Carried
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, whisker
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

_LEFT, _RIGHT = (0.0, 0.45), (0.58, 1.0)
_ASIDE = 0.08
_DASH = {"sequential": "solid", "random": "dash", "reset": "dot"}
_SYMBOL = {"sequential": "circle", "random": "diamond", "reset": "square"}


def bits_by_window(result: Carried, length: int, style: Style = STYLE) -> Figure:
    """Left bits per character by the length of the windows, right by the place in a window.

    Whiskers: 95% interval over stretches of the text. The vertical line is the chosen length.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    lengths = result.lengths.tolist()
    names = [str(length) for length in lengths]
    top = 1.05 * float(np.nanmax(result.by_position[lengths.index(length)]))
    left = sheet.panel(
        axes.names(names, text("figure.carried_length")),
        axes.axis(text("figure.carried_bits"), range=[0, 1.08 * float(result.bits.max())]),
        across=_LEFT,
    )
    left.vertical(lengths.index(length) + 1, palette.highlight, width=1.5)
    right = sheet.panel(
        axes.axis(text("figure.carried_place", length=length), range=[0.5, length + 0.5]),
        axes.axis(text("figure.carried_bits"), range=[0, top]),
        across=_RIGHT,
    )
    steps = np.arange(1, length + 1)
    for k, condition in enumerate(CONDITIONS):
        color = {"sequential": palette.gru, "random": palette.rnn, "reset": palette.mlp}[condition]
        name = text(f"figure.carried_{condition}")
        at = np.arange(1, len(lengths) + 1) + _ASIDE * (k - 1)
        bits = stack(result.mean(length, condition) for length in lengths)
        line_style: dict[str, Any] = {
            "dash": _DASH[condition],
            "symbol": _SYMBOL[condition],
            "hover": "%{y:.2f}",
        }
        left.line(at, bits.mean, name, color, **line_style,
                  error_y=whisker(bits.mean, *bits.ci, color))  # fmt: skip
        right.line(
            steps,
            result.by_place(length, condition),
            name,
            color,
            legend=False,
            **{**line_style, "symbol": line_style["symbol"] if length <= 20 else None},
        )
    return sheet.described(
        "alt.carried",
        names={"x": names},
        length=length,
        sequential=result.mean(length, "sequential").mean,
        random=result.mean(length, "random").mean,
        reset=result.mean(length, "reset").mean,
    )


def carried_so_far(done: object, style: Style = STYLE) -> Figure:
    """How much of the text has been read."""
    return share_done(
        done, style, read="figure.carried_read", of="figure.permuted_all", alt="alt.windows_so_far"
    )
