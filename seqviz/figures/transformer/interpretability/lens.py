"""What a model would say after each layer: a table of tokens, and one of its columns as lines."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.fitted_lens import LENSES, TunedLens
from seqviz.compute.transformer.interpretability.lens import Lens
from seqviz.core.i18n import Text
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

_LEFT, _RIGHT = (0.0, 0.58), (0.78, 1.0)
_ROWS = 16  # that find room for words
_LETTERS, _WRITTEN = 7, 8  # letters of a token in a cell; tokens side by side that have room


def lens_table(
    lens: Lens, index: int, plain_one: Lens | None = None, style: Style = STYLE
) -> Figure:
    """Left the likeliest token after each layer at each place; right one place by layer.

    index: counted from the last token, which is 1; so is the x of the table. Where there are many
    layers every second one is in the table, the last among them. The lines: the probability of what
    the model says in the end, and how many bits the reading is away from that.
    """
    text, palette = style.text, style.palette
    count = len(lens.pieces)
    index = min(index, count)
    step = -(-(lens.rows - 1) // (_ROWS - 1))
    rows = list(range(lens.rows - 1, -1, -step))[::-1]
    names = [text("figure.lens_embedding") if row == 0 else str(row - 1) for row in rows]
    sheet = Sheet(style)
    pieces = [escape(short(piece, _LETTERS)) for piece in lens.pieces]
    table = sheet.panel(
        axes.axis(text("figure.lens_token"), range=[count + 0.5, 0.5], showgrid=False,
                  tickvals=list(range(count, 0, -1)), ticktext=pieces),
        axes.names(names, text("figure.lens_layer")),
        across=_LEFT,
    )  # fmt: skip
    visible = lens.probability[rows][:, ::-1].astype(np.float32)
    table.cells(
        visible, text("figure.lens_chance"), scales.tint(), x=np.arange(1, count + 1),
        pick=True, xgap=1, ygap=1,
        text=[[escape(short(lens.likeliest[row][k], _LETTERS)) for k in range(count - 1, -1, -1)]
              for row in rows],
        texttemplate="%{text}" if count <= _WRITTEN else None,
        textfont={"size": 12 * style.scale, "color": palette.truth},
        hover=text("figure.lens_hover", layer="%{y}", token="%{text}", chance="%{z:.3f}"),
    )  # fmt: skip
    table.outline(palette.highlight, column=index, width=3)
    column, layers = count - index, np.arange(lens.rows) - 1
    answer = lens.likeliest[-1][column]
    top = sheet.panel(
        axes.axis(text("figure.lens_layer"), range=[-1.5, lens.rows - 1.5], nticks=5),
        axes.axis(text("figure.lens_answer", token=escape(short(answer, _LETTERS))),
                  range=[-0.03, 1.03], nticks=3),
        across=_RIGHT, up=(0.6, 1.0),
    )  # fmt: skip
    after = lens if plain_one is None else plain_one
    if plain_one is not None:
        top.reference(layers, plain_one.answer[:, column], text("figure.lens_plain"))
    top.line(layers, lens.answer[:, column], text("figure.lens_answer_line"), palette.prediction,
             legend=False, hover="%{x}: %{y:.3f}")  # fmt: skip
    bits = lens.bits[:, column]
    maximum = max(1e-6, float(bits.max()), float(after.bits[:, column].max()))
    below = sheet.panel(
        axes.axis(text("figure.lens_layer"), range=[-1.5, lens.rows - 1.5], nticks=5),
        axes.axis(text("figure.lens_bits"), range=[0, 1.08 * maximum], nticks=3),
        across=_RIGHT, up=(0.0, 0.38),
    )  # fmt: skip
    if plain_one is not None:
        below.reference(layers, plain_one.bits[:, column], text("figure.lens_plain"), legend=False)
    below.line(layers, bits, text("figure.lens_bits_line"), palette.mlp, legend=False,
               hover="%{x}: %{y:.3g}")  # fmt: skip
    return sheet.described(
        "alt.lens",
        names={"x": list(lens.pieces[::-1]), "y": names},
        token=lens.pieces[column],
        answer=answer,
        chance=float(lens.probability[-1, column]),
        settled=row_name(lens.settled_layer(column), text),
        bits=float(bits[:-1].max(initial=0)),
    )


def lens_distance(tuned_lens: TunedLens, style: Style = STYLE) -> Figure:
    """How many bits both lenses are away from the end, by layer: means with their 95% interval."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    layers = np.arange(len(tuned_lens.shift)) - 1
    bits = {lens: tuned_lens.mean(lens) for lens in LENSES}
    ends = np.concatenate([item.ci for item in bits.values()])
    panel = sheet.panel(
        axes.axis(text("figure.lens_layer"), range=[-1.5, len(layers) - 1.5], nticks=8),
        axes.decades(np.log10(np.maximum(ends, 0.01)), text("figure.lens_mean_bits")),
    )
    for lens, color, dash in (
        ("plain", palette.mlp, "dash"), ("fitted", palette.prediction, "solid"),
    ):  # fmt: skip
        low, high = np.maximum(bits[lens].ci, 0.01)
        panel.band(layers, low, high, color)
        panel.line(layers, bits[lens].mean, text(f"figure.lens_{lens}"), color, dash=dash,
                   hover="%{x}: %{y:.3g}")  # fmt: skip
    panel.reference(layers[[0, -1]], [tuned_lens.alone] * 2, text("figure.lens_constant"))
    row = tuned_lens.furthest
    return sheet.described(
        "alt.lens_distance",
        constant=tuned_lens.alone,
        texts=tuned_lens.texts,
        layer=row_name(row, text),
        plain=tuned_lens.plain_most,
        fitted=tuned_lens.fitted_there,
    )


def row_name(row: int, text: Text) -> str:
    """What a row of a lens is called: 0 is the embedding, 1 the stream behind layer 0."""
    return (
        text("figure.lens_row_layer", layer=row - 1) if row else text("figure.lens_row_embedding")
    )
