"""Token frequencies, unknown tokens, and one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.text.windows.vocabulary import LookupComparison, TokenFrequencies
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

RARE = (1, 2, 3, 5, 10, 20, 50, 100)  # minimum frequencies of a token with an id
_POINTS = 120  # maximum number of points of the curve, at equal steps of the log rank
_WRITTEN = 40  # maximum number of ids with names


def frequencies_by_rank(
    token_frequencies: TokenFrequencies, min_freq: int, style: Style = STYLE
) -> Figure:
    """Plot token frequencies by rank (left), and the share without an id by `min_freq` (right).

    Tokens left of the vertical line have an id.

    Args:
        token_frequencies: frequencies by token.
        min_freq: minimum frequency of a token with an id, one of `RARE`.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.counted_"), style.palette
    names, size = token_frequencies.names, token_frequencies.size(min_freq)
    ranks = np.unique(np.geomspace(1, len(names), _POINTS).round().astype(int))
    count, rare = token_frequencies.count[ranks - 1], [str(item) for item in RARE]
    sheet = Sheet(style)
    left, right = sheet.row(
        (axes.decades(np.log10(ranks), label("rank")),
         axes.decades(np.log10(count), label("count"))),
        (axes.names(rare, label("min")), axes.axis(label("unknown"), rangemode="tozero")),
        gaps=(0.45, 0.6),
    )  # fmt: skip
    left.line(
        ranks, count, label("token"), palette.truth, legend=False, hover="%{customdata}: %{y:,}",
        customdata=[escape(short(names[k - 1].replace(" ", "␣"))) for k in ranks],
    )  # fmt: skip
    if size > 1:
        left.vertical(size - 1, palette.highlight)
    right.vertical(RARE.index(min_freq) + 1, palette.highlight)
    for name, values, color, symbol in (
        ("held", token_frequencies.unknown_held, palette.rnn, "circle"),
        ("text", token_frequencies.unknown, palette.prediction, "diamond"),
    ):
        right.estimates([100 * values(item) for item in RARE], label(name), color, symbol=symbol,
                        hover="%{y:.2f}%")  # fmt: skip
    return sheet.described("alt.counted", names={"x2": rare}, **token_frequencies.summary(min_freq))


def one_hot_rows(
    lookup_comparison: LookupComparison, pieces: Sequence[str], names: Sequence[str], step: int,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot a one-hot vector for each token of a text (left), and the table row it reads (right).

    Args:
        lookup_comparison: one-hot vectors and rows.
        pieces: tokens of the text.
        names: tokens of the ids.
        step: outlined token, from 1.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.onehot_"), style.palette
    indexed, ids = lookup_comparison.indexed, np.arange(len(names))
    marked = [escape(short("␣" if name == " " else name, 9)) for name in names]
    rows = axes.tokens(style, ["␣" if piece == " " else piece for piece in pieces],
                       label("token"), upright=True, limit=30)  # fmt: skip
    few = {"tickvals": ids.tolist(), "ticktext": marked} if len(names) <= _WRITTEN else {}
    d = indexed.shape[1]
    sheet = Sheet(style)
    hot = sheet.panel(
        axes.axis(label("id"), range=[-0.5, len(names) - 0.5], showgrid=False, **few), rows,
        across=(0.0, 0.62),
    )  # fmt: skip
    hot.cells(lookup_comparison.hot, label("one"), scales.tint(), x=ids, bar=None,
              xgap=1 if few else 0, ygap=1, hover="%{y}: %{z:.0f}")  # fmt: skip
    beside = sheet.panel(
        axes.axis(label("row"), range=[0.5, d + 0.5], showgrid=False, dtick=max(1, d // 4),
                  tick0=1),
        axes.axis(range=rows["range"], showticklabels=False, showgrid=False), across=(0.72, 0.9),
    )  # fmt: skip
    beside.cells(indexed, label("value"), scales.signed(scales.largest(indexed)), xgap=1, ygap=1,
                 hover="%{z:.3f}")  # fmt: skip
    for panel in (hot, beside):
        panel.outline(palette.prediction, row=step)
    return sheet.described(
        "alt.onehot", tokens=len(pieces), size=len(names), token=escape(pieces[step - 1]),
        id=int(lookup_comparison.ids[step - 1]), difference=lookup_comparison.difference,
    )  # fmt: skip
