"""Logit lens: predictions after each layer as a table, and one position as lines."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.fitted_lens import LENSES, TunedLens
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.core.i18n import Text
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

_ROWS = 16  # maximum number of rows
# Maximum number of letters in a cell, and of columns of a table whose cells have text.
_LETTERS, _WRITTEN = 7, 8


def lens_table(
    lens: Lens, index: int, plain_one: Lens | None = None, style: Style = STYLE
) -> Figure:
    """Plot the likeliest token by layer and position (left), and one position by layer (right).

    Of many layers the table has every k-th, the last included. Right: the probability of the final
    prediction (top) and the distance from the final distribution in bits (bottom).

    Args:
        lens: predictions after each layer.
        index: position, counted from the last token (1); so is x of a click on the table.
        plain_one: plain lens for comparison (dotted).
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.lens_"), style.palette
    count = len(lens.pieces)
    index = min(index, count)
    step = -(-(lens.rows - 1) // (_ROWS - 1))
    rows = list(range(lens.rows - 1, -1, -step))[::-1]
    names = [label("embedding") if row == 0 else str(row - 1) for row in rows]
    sheet = Sheet(style)
    pieces = [escape(short(piece, _LETTERS)) for piece in lens.pieces]
    table = sheet.panel(
        axes.axis(label("token"), range=[count + 0.5, 0.5], showgrid=False,
                  tickvals=list(range(count, 0, -1)), ticktext=pieces),
        axes.names(names, label("layer")), across=(0.0, 0.58),
    )  # fmt: skip
    table.cells(
        lens.probability[rows][:, ::-1].astype(np.float32), label("chance"), scales.tint(),
        pick=True, xgap=1, ygap=1,
        text=[[escape(short(word, _LETTERS)) for word in lens.likeliest[row][::-1]]
              for row in rows],
        texttemplate="%{text}" if count <= _WRITTEN else None,
        textfont={"size": 12 * style.scale, "color": palette.truth},
        hover=label("hover", layer="%{y}", token="%{text}", chance="%{z:.3f}"),
    )  # fmt: skip
    table.outline(palette.highlight, column=index, width=3)
    column, layers = count - index, np.arange(lens.rows) - 1
    answer = escape(short(lens.likeliest[-1][column], _LETTERS))
    maximum = max(float(item.bits[:, column].max()) for item in (lens, plain_one or lens))
    x = axes.axis(label("layer"), range=[-1.5, lens.rows - 1.5], nticks=5)
    for quantity, y, up, color, hover in (
        ("answer", axes.axis(label("answer", token=answer), range=[-0.03, 1.03], nticks=3),
         (0.6, 1.0), palette.prediction, "%{x}: %{y:.3f}"),
        ("bits", axes.axis(label("bits"), range=[0, 1.08 * max(1e-6, maximum)], nticks=3),
         (0.0, 0.38), palette.mlp, "%{x}: %{y:.3g}"),
    ):  # fmt: skip
        panel = sheet.panel(x, y, across=(0.78, 1.0), up=up)
        if plain_one is not None:
            panel.reference(layers, getattr(plain_one, quantity)[:, column], label("plain"))
        panel.line(layers, getattr(lens, quantity)[:, column], label(f"{quantity}_line"), color,
                   legend=False, hover=hover)  # fmt: skip
    return sheet.described(
        "alt.lens", names={"x": list(lens.pieces[::-1]), "y": names},
        settled=row_name(lens.settled_layer(column), style.text), **lens.summary(column),
    )  # fmt: skip


def lens_distance(tuned_lens: TunedLens, style: Style = STYLE) -> Figure:
    """Plot the mean distance in bits of the plain and the fitted lens from the output, by layer.

    The y axis is logarithmic. The bands are 95% confidence intervals, cut below at 0.01 bits; a
    reference line marks the constant `tuned_lens.alone`.

    Args:
        tuned_lens: distances of both lenses.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.lens_"), style.palette
    sheet = Sheet(style)
    layers = np.arange(len(tuned_lens.shift)) - 1
    bits = {lens: tuned_lens.mean(lens) for lens in LENSES}
    ends = np.concatenate([item.ci for item in bits.values()])
    panel = sheet.panel(
        axes.axis(label("layer"), range=[-1.5, len(layers) - 1.5], nticks=8),
        axes.decades(np.log10(np.maximum(ends, 0.01)), label("mean_bits")),
    )
    for lens, color, dash in (
        ("plain", palette.mlp, "dash"), ("fitted", palette.prediction, "solid"),
    ):  # fmt: skip
        low, high = np.maximum(bits[lens].ci, 0.01)
        panel.band(layers, low, high, color)
        panel.line(layers, bits[lens].mean, label(lens), color, dash=dash,
                   hover="%{x}: %{y:.3g}")  # fmt: skip
    panel.reference(layers[[0, -1]], [tuned_lens.alone] * 2, label("constant"))
    layer = row_name(tuned_lens.furthest, style.text)
    return sheet.described("alt.lens_distance", layer=layer, **tuned_lens.summary())


def row_name(row: int, text: Text) -> str:
    """Return the name of a row: 0 is the embedding, 1 the residual stream after layer 0."""
    return text(f"figure.lens_row_{'layer' if row else 'embedding'}", layer=row - 1)
