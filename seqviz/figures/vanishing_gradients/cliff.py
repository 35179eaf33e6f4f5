"""Error surface of one recurrent unit with two gradient descents that reach its cliff."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import DescentPath, ErrorSurface
from seqviz.figures.vanishing_gradients.style import diamond, log10
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales


def cliff(
    ground: ErrorSurface, free: DescentPath, clipped: DescentPath, threshold: float,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the error surface with two descents (left) and the error by update (right).

    A descent that leaves the map is drawn up to the first point outside; a note names the update.

    Args:
        ground: error over the weight w and the bias b.
        free: descent without clipping.
        clipped: descent from the same start with clipped gradients.
        threshold: largest gradient norm of `clipped`.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    spans = [[float(item[0]), float(item[-1])] for item in (ground.weight, ground.bias)]
    errors = log10(np.concatenate([free.error, clipped.error]))
    sheet = Sheet(style)
    left, right = sheet.row(
        (axes.axis(text("figure.weight_w"), range=spans[0], showgrid=False),
         axes.axis(text("figure.bias_b"), range=spans[1], showgrid=False)),
        (axes.axis(text("figure.update"), range=[0, len(free.error)]),
         axes.decades(errors, text("figure.error_now"))),
        gaps=(0.44, 0.68),
    )  # fmt: skip
    left.cells(
        ground.error, text("figure.error_surface"),
        scales.unit_scale(0.0, float(ground.error.max())),
        x=ground.weight, y=ground.bias, hover="w = %{x:.2f}, b = %{y:.2f}: %{z:.3g}",
    )  # fmt: skip
    right.replays()
    for name, entry, color, dash in (
        ("free", free, palette.rnn, "dash"),
        ("clipped", clipped, palette.prediction, "solid"),
    ):
        named = text(f"figure.descent_{name}")
        _walk(left, entry, spans, named, color, dash)
        right.line(np.arange(len(entry.error)), right.powers(log10(entry.error)), named, color,
                   width=2.4, dash=dash)  # fmt: skip
    weight, bias = free.points[0].tolist()
    diamond(left, weight, bias, text("figure.start"), palette.highlight)
    return sheet.described("alt.cliff", free=free, clipped=clipped, threshold=threshold)


def _walk(
    panel: Panel, descent_path: DescentPath, spans: list[list[float]], name: str, color: str,
    dash: str,
) -> None:  # fmt: skip
    """Draw a descent up to the edge of the map, over a pale line that keeps it readable."""
    palette = panel.style.palette
    low, high = np.transpose(spans)
    outside = ((descent_path.points < low) | (descent_path.points > high)).any(axis=1)
    until = int(np.argmax(outside)) if outside.any() else len(descent_path.points)
    x, y = descent_path.points[: until + 1].T  # includes the first point outside
    panel.line(x, y, "", "rgba(255,255,255,0.85)", width=5.5, hover=False, legend=False,
               meta="by_update")  # fmt: skip
    panel.line(x, y, name, color, width=3, dash=dash, hover="w = %{x:.2f}, b = %{y:.2f}",
               meta="by_update")  # fmt: skip
    if until < len(descent_path.points):
        panel.words(
            f"{name}: {panel.style.text('figure.leaves_map', update=until)}", 0.02, 0.02,
            xref="domain", yref="domain", xanchor="left", yanchor="bottom", size=12,
            color=palette.truth, bgcolor=palette.band,
        )  # fmt: skip
