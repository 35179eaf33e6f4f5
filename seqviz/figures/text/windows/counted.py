"""Tokens by frequency, what a vocabulary leaves out, and a token as a one-hot vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.text.windows.vocabulary import LookupComparison, TokenFrequencies
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

RARE = (1, 2, 3, 5, 10, 20, 50, 100)  # from how often on a token has an id
_POINTS = 120  # of the curve: ranks at equal steps of their logarithm
_LEFT, _RIGHT = (0.0, 0.45), (0.6, 1.0)
_HOT, _ROWS = (0.0, 0.62), (0.72, 0.9)
_WRITTEN = 40  # ids whose names find room


def frequencies_by_rank(
    token_frequencies: TokenFrequencies, min_freq: int, style: Style = STYLE
) -> Figure:
    """Left how often the tokens come, by rank; right the share without an id, by `min_freq`.

    Left of the vertical line are the tokens that have an id.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    retained = token_frequencies.size(min_freq) - 1
    ranks = np.unique(np.geomspace(1, len(token_frequencies.names), _POINTS).round().astype(int))
    count = token_frequencies.count[ranks - 1]
    left = sheet.panel(
        axes.decades(np.log10(ranks), text("figure.counted_rank")),
        axes.decades(np.log10(count), text("figure.counted_count")),
        across=_LEFT,
    )
    left.line(
        ranks,
        count,
        text("figure.counted_token"),
        palette.truth,
        legend=False,
        customdata=[escape(short(token_frequencies.names[k - 1].replace(" ", "␣"))) for k in ranks],
        hover="%{customdata}: %{y:,}",
    )
    if retained:
        left.vertical(retained, palette.highlight)
    right = sheet.panel(
        axes.names([str(item) for item in RARE], text("figure.counted_min")),
        axes.axis(text("figure.counted_unknown"), rangemode="tozero"),
        across=_RIGHT,
    )
    right.vertical(RARE.index(min_freq) + 1, palette.highlight)
    at = np.arange(1, len(RARE) + 1)
    for what, values, color, symbol in (
        ("held", token_frequencies.unknown_held, palette.rnn, "circle"),
        ("text", token_frequencies.unknown, palette.prediction, "diamond"),
    ):
        right.line(at, [100 * values(item) for item in RARE], text(f"figure.counted_{what}"), color,
                   symbol=symbol, hover="%{y:.2f}%")  # fmt: skip
    return sheet.described(
        "alt.counted",
        names={"x2": [str(item) for item in RARE]},
        tokens=len(token_frequencies.names),
        size=token_frequencies.size(min_freq),
        min_freq=min_freq,
        unknown=token_frequencies.unknown_held(min_freq),
    )


def one_hot_rows(
    lookup_comparison: LookupComparison,
    pieces: Sequence[str],
    names: Sequence[str],
    step: int,
    style: Style = STYLE,
) -> Figure:
    """Left a one-hot vector for each token of a text, right the row of the table that it reads.

    pieces: the tokens; names: those of the ids. step: of the outlined token, from 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    marked = [escape(short("␣" if name == " " else name, 9)) for name in names]
    rows = axes.tokens(style, ["␣" if piece == " " else piece for piece in pieces],
                       text("figure.onehot_token"), upright=True, limit=30)  # fmt: skip
    ids = np.arange(len(names))
    few = {"tickvals": ids.tolist(), "ticktext": marked} if len(names) <= _WRITTEN else {}
    hot = sheet.panel(
        axes.axis(text("figure.onehot_id"), range=[-0.5, len(names) - 0.5], showgrid=False, **few),
        rows, across=_HOT,
    )  # fmt: skip
    hot.cells(lookup_comparison.hot, text("figure.onehot_one"), scales.tint(), x=ids, bar=None,
              xgap=1 if few else 0, ygap=1, hover="%{y}: %{z:.0f}")  # fmt: skip
    hot.outline(palette.prediction, row=step)
    d = lookup_comparison.indexed.shape[1]
    beside = sheet.panel(
        axes.axis(text("figure.onehot_row"), range=[0.5, d + 0.5], showgrid=False,
                  dtick=max(1, d // 4), tick0=1),
        axes.axis(range=rows["range"], showticklabels=False, showgrid=False), across=_ROWS,
    )  # fmt: skip
    beside.cells(lookup_comparison.indexed, text("figure.onehot_value"),
                 scales.signed(scales.largest(lookup_comparison.indexed)), xgap=1, ygap=1,
                 hover="%{z:.3f}")  # fmt: skip
    beside.outline(palette.prediction, row=step)
    return sheet.described(
        "alt.onehot",
        tokens=len(pieces),
        size=len(names),
        token=escape(pieces[step - 1]),
        id=int(lookup_comparison.ids[step - 1]),
        difference=lookup_comparison.difference,
    )
