"""The next token of a prompt that asks for a label: the likeliest tokens, and the labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.gpt.continuation import NextToken
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short

SHOWN = 8  # the likeliest tokens have a row, as all spellings of a label have
_LONGEST = 12  # characters of a token


def label_bars(next_token: NextToken, labels: Sequence[str], style: Style = STYLE) -> Figure:
    """A row for each of the likeliest tokens and of the labels (in color), one for all others."""
    text, palette = style.text, style.palette
    requests = [int(position) for label in labels for position in next_token.spelled(label)]
    rows = sorted({*range(min(SHOWN, len(next_token.ids))), *requests})
    names = [*(escape(short(next_token.pieces[row], _LONGEST)) for row in rows),
             text("figure.scores_others")]  # fmt: skip
    shares = 100 * np.append(
        next_token.chances[rows], max(1 - float(next_token.chances[rows].sum()), 0.0)
    )
    at = np.arange(1, len(names) + 1)
    is_label = np.array([*(row in requests for row in rows), False])
    sheet = Sheet(style, barmode="overlay")
    panel = sheet.panel(
        axes.axis(text("figure.scores_chance"), range=[0, 1.22 * shares.max()], nticks=7),
        axes.names(names, text("figure.scores_token"), range=[len(names) + 0.6, 0.4]),
    )
    for visible, name, color in (
        (~is_label, text("figure.labels_token"), palette.prediction),
        (is_label, text("figure.labels_label"), palette.highlight),
    ):
        panel.bars(
            at[visible], shares[visible], name, color, sideways=True, width=0.6,
            ends=[f"{share:.1f}%" for share in shares[visible]], hover="%{y}: %{x:.3g}%",
        )  # fmt: skip
    probabilities = (f"{escape(label)}: {percent(next_token.chance_of(label))}" for label in labels)
    return sheet.described(
        "alt.labels",
        names={"y": names},
        first=names[0],
        chance=float(next_token.chances[0]),
        labels="; ".join(probabilities),
    )
