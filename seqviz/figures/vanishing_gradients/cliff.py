"""The cliff of one recurrent unit: its error surface, and two descents that come to it."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import DescentPath, ErrorSurface
from seqviz.figures.vanishing_gradients.style import diamond, log10
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales


def cliff(
    ground: ErrorSurface,
    free: DescentPath,
    clipped: DescentPath,
    threshold: float,
    style: Style = STYLE,
) -> Figure:
    """Left: the error over (w, b) and both walks on it. Right: the error by update.

    free, clipped: from the same start, without and with gradients shortened to `threshold`. A
    walk that leaves the map is drawn up to its edge, and the update is named.
    """
    text, palette = style.text, style.palette
    spans = [[float(item[0]), float(item[-1])] for item in (ground.weight, ground.bias)]
    errors = log10(np.concatenate([free.error, clipped.error]))
    sheet = Sheet(style)
    left = sheet.panel(
        axes.axis(text("figure.weight_w"), range=spans[0], showgrid=False),
        axes.axis(text("figure.bias_b"), range=spans[1], showgrid=False),
        across=(0, 0.44),
    )
    left.cells(
        ground.error, text("figure.error_surface"), scales.unit_scale(0.0,
            float(ground.error.max())),
        x=ground.weight, y=ground.bias, hover="w = %{x:.2f}, b = %{y:.2f}: %{z:.3g}",
    )  # fmt: skip
    right = sheet.panel(
        axes.axis(text("figure.update"), range=[0, len(free.error)]),
        axes.decades(errors, text("figure.error_now")),
        across=(0.68, 1),
    )
    for name, entry, color, dash in (
        ("free", free, palette.rnn, "dash"),
        ("clipped", clipped, palette.prediction, "solid"),
    ):
        named = text(f"figure.descent_{name}")
        _walk(left, entry, spans, named, color, dash)
        right.line(np.arange(len(entry.error)), right.powers(log10(entry.error)), named, color,
                   width=2.4, dash=dash, legend=False)  # fmt: skip
    weight, bias = free.points[0].tolist()
    diamond(left, weight, bias, text("figure.start"), palette.highlight)
    return sheet.described(
        "alt.cliff",
        norm=free.largest_norm,
        update=free.steepest,
        step=free.longest_step,
        free=free.last_error,
        threshold=threshold,
        clipped=clipped.last_error,
    )


def _walk(
    panel: Panel,
    descent_path: DescentPath,
    spans: list[list[float]],
    name: str,
    color: str,
    dash: str,
) -> None:
    """The places within the map, on a pale edge that every color of the map leaves readable."""
    palette = panel.style.palette
    low, high = np.transpose(spans)
    outside = ((descent_path.points < low) | (descent_path.points > high)).any(axis=1)
    until = int(np.argmax(outside)) if outside.any() else len(descent_path.points)
    x, y = descent_path.points[: until + 1].T  # with the first that is out: the line leaves the map
    panel.line(x, y, "", "rgba(255,255,255,0.85)", width=5.5, hover=False, legend=False)
    panel.line(x, y, name, color, width=3, dash=dash, hover="w = %{x:.2f}, b = %{y:.2f}")
    if until < len(descent_path.points):
        panel.words(
            f"{name}: {panel.style.text('figure.leaves_map', update=until)}", 0.02, 0.02,
            xref="domain", yref="domain", xanchor="left", yanchor="bottom", size=12,
            color=palette.truth, bgcolor=palette.band,
        )  # fmt: skip
