"""Three simple position codes compared with sinusoids, and binary digits."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.simple import BASE, CODES, WIDTH, Demands
from seqviz.figures.positions.style import cells
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales

_LOOKS = {  # role of the color, dash and width; binary digits jump too often for a wide line
    "number": ("rnn", "dash", 2.4),
    "share": ("mlp", "dashdot", 2.4),
    "binary": ("gru", "solid", 1.2),
    "waves": ("prediction", "solid", 3.0),
}
_DEMANDS = ("norm", "drift", "step")


def code_demands(demands: Demands, style: Style = STYLE) -> Figure:
    """Plot three demands on a position code, one line a code, waves on top.

    Left: norm of the vectors, with a word's (dotted). Middle: their move when the text gets twice
    as long. Right: steps between neighboring positions.
    """
    label, sheet = style.labels("figure.pos_"), Sheet(style)
    sheet.legend(y=1.11)
    sheet.margin(t=72 * style.scale)
    x = axes.axis(label("position"), range=[-0.5, demands.length - 0.5])
    ranges = [axes.around(getattr(demands, demand), np.zeros(1)) for demand in _DEMANDS]
    panels = sheet.row(
        *((x, axes.axis(label(f"code_{demand}"), range=span, nticks=6))
          for demand, span in zip(_DEMANDS, ranges, strict=True)),
        gaps=(0.28, 0.36, 0.64, 0.72), titles=[label(f"demand_{demand}") for demand in _DEMANDS],
    )  # fmt: skip
    for panel, demand in zip(panels, _DEMANDS, strict=True):
        if demand == "norm":
            word = label("word_norm", width=WIDTH, norm=demands.word)
            panel.reference([0, demands.length - 1], [demands.word] * 2, word)
        for name in CODES:
            role, dash, width = _LOOKS[name]
            line = demands.of(name, demand)
            panel.line(
                np.arange(len(line)), line, label(f"code_{name}"), getattr(style.palette, role),
                width=width, dash=dash, group=name, hover=f"p = %{{x}}: %{{y:.3g}}{NAMED}",
            )  # fmt: skip
    return sheet.described("alt.pos_demands", demands=demands, gap=0.16,
                           number=float(demands.of("number", "norm")[-1]))  # fmt: skip


def digits_and_waves(
    binary: Float[np.ndarray, "position d_model"],
    sinusoids: Float[np.ndarray, "position d_model"],
    style: Style = STYLE,
) -> Figure:
    """Plot the binary digits of each position (top) and sines, fast to slow (bottom).

    There are as many rows as the last position has digits, the lowest digit on top; the period
    doubles from row to row.

    Args:
        binary: binary codes of the positions.
        sinusoids: sinusoidal encodings of the positions.
        style: language, theme and scale of the figure.
    """
    label, sheet, length = style.labels("figure.pos_"), Sheet(style), len(binary)
    rows = (length - 1).bit_length()
    x = axes.counted(length, label("position"), anchor="y2")
    upper: Panel | None = None
    for z, name, up, bar in (
        (binary[:, :rows], "digit", (0.52, 1), label("value")),
        (sinusoids[:, 0 : 2 * rows : 2], "sine_pair", (0, 0.48), None),
    ):
        y = axes.counted(z.shape[1], label(name, base=f"{BASE:g}"), upright=True)
        upper = sheet.panel(upper or x, y, up=up, across=(0, 0.93))
        cells(upper, z.T, label(f"{name}_value"), scales.signed(1.0), bar=bar,
              hover="p = %{x}, %{y}: <b>%{z:.3g}</b>")  # fmt: skip
    last = length - 1
    return sheet.described("alt.pos_digits", last=last, digits=np.binary_repr(last), rows=rows,
                           positions=length)  # fmt: skip
