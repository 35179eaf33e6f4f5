"""WordPiece's look-ups of one word, one below the other: the longest prefix first."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.wordpiece import INSIDE, PrefixLookups
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_NAMED = 18  # rows that find room for what was looked up
_LETTERS = 24  # of a word that find room in a row


def tried_prefixes(prefix_lookups: PrefixLookups, tries: int, style: Style = STYLE) -> Figure:
    """A row for each string that is looked up, as wide as it is; what is found has a color.

    tries: how many look-ups have been made; later ones are not drawn.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    rows = [
        (rung.start, tried, rung.is_known and k == len(rung.tried))
        for rung in prefix_lookups.rungs
        for k, tried in enumerate(rung.tried, 1)
    ]
    size, count = max(1, len(prefix_lookups.word)), max(1, len(rows))
    few = count <= _NAMED
    numbers = axes.counted(count + 1, text("figure.ladder_try"), upright=True)
    labels = {
        "tickvals": list(range(1, count + 1)),
        "ticktext": list(map(str, range(1, count + 1))),
    }
    panel = sheet.panel(
        axes.axis(
            text("figure.ladder_letters"),
            range=[-0.003 * size, 1.003 * size],
            showgrid=False,
            tickvals=[k + 0.5 for k in range(size)],
            ticktext=[escape(item) for item in prefix_lookups.word]
            if size <= _LETTERS
            else [""] * size,
            tickangle=0,
        ),
        {**numbers, "range": [count + 0.6, 0.4], **(labels if few else {})},
    )
    created = rows[:tries]
    for in_vocabulary, key, color in ((False, "figure.ladder_not", palette.grid),
                                 (True, "figure.ladder_found", palette.band)):  # fmt: skip
        at = [k for k, (_, _, here) in enumerate(created, 1) if here is in_vocabulary]
        if not at:
            continue
        start = np.array([created[k - 1][0] for k in at], float)
        wide = np.array([len(created[k - 1][1].removeprefix(INSIDE if s else "")) for k, s in
                         zip(at, start, strict=True)], float)  # fmt: skip
        edge = {"color": palette.prediction, "width": 2} if in_vocabulary else None
        panel.bars(at, wide, text(key), color, sideways=True, base=start, width=0.84, edge=edge,
                   customdata=[escape(created[k - 1][1]) for k in at],
                   hover="%{customdata}<extra>%{fullData.name}</extra>")  # fmt: skip
        if few:
            for k, left, long in zip(at, start, wide, strict=True):
                piece = created[k - 1][1]
                summary = f"<b>{escape(piece)}</b>" if in_vocabulary else escape(piece)
                panel.words(summary, left + long / 2, k, size=12,
                            color=palette.truth if in_vocabulary else palette.baseline)  # fmt: skip
    if not created:
        panel.unseen([0], [1], text("figure.ladder_not"))
    return sheet.described("alt.prefixes", word=prefix_lookups.word, tries=len(created),
                           pieces=" ".join(prefix_lookups.pieces) or "–")  # fmt: skip
