"""WordPiece look-ups of one word, longest prefix first."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.wordpiece import INSIDE, PrefixLookups
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape

_NAMED = 18  # maximum number of rows with text
_LETTERS = 24  # maximum number of letters with ticks


def tried_prefixes(prefix_lookups: PrefixLookups, tries: int, style: Style = STYLE) -> Figure:
    """Plot one row for each look-up, as wide as its string; strings found are colored.

    Args:
        prefix_lookups: all look-ups of a word.
        tries: number of look-ups drawn.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.ladder_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    rows = [
        (rung.start, tried, rung.is_known and k == len(rung.tried))
        for rung in prefix_lookups.rungs
        for k, tried in enumerate(rung.tried, 1)
    ]
    size, count = max(1, len(prefix_lookups.word)), max(1, len(rows))
    few = count <= _NAMED
    numbers = list(range(1, count + 1))
    ticks = {"tickvals": numbers, "ticktext": list(map(str, numbers))} if few else {}
    y = axes.counted(count + 1, label("try"), upright=True)
    letters = [escape(item) if size <= _LETTERS else "" for item in prefix_lookups.word or " "]
    panel = sheet.panel(
        axes.axis(label("letters"), range=[-0.003 * size, 1.003 * size], showgrid=False,
                  tickvals=[k + 0.5 for k in range(size)], ticktext=letters, tickangle=0),
        {**y, "range": [count + 0.6, 0.4], **ticks},
    )  # fmt: skip
    created = rows[:tries]
    for in_vocabulary, key, color in ((False, "not", palette.grid), (True, "found", palette.band)):
        items = [(k, *row[:2]) for k, row in enumerate(created, 1) if row[2] is in_vocabulary]
        if not items:
            continue
        at, start, tried = zip(*items, strict=True)
        wide = [len(piece.removeprefix(INSIDE if s else "")) for _, s, piece in items]
        edge = {"color": palette.prediction, "width": 2} if in_vocabulary else None
        panel.bars(
            at, np.array(wide, float), label(key), color, sideways=True,
            base=np.array(start, float), width=0.84, edge=edge,
            customdata=[escape(piece) for piece in tried], hover="%{customdata}" + NAMED,
        )  # fmt: skip
        for (k, begin, piece), long in zip(items if few else (), wide, strict=few):
            words = f"<b>{escape(piece)}</b>" if in_vocabulary else escape(piece)
            panel.words(words, begin + long / 2, k, size=12,
                        color=palette.truth if in_vocabulary else palette.baseline)  # fmt: skip
    if not created:
        panel.unseen([0], [1], label("not"))
    return sheet.described("alt.prefixes", word=prefix_lookups.word, tries=len(created),
                           pieces=" ".join(prefix_lookups.pieces) or "–")  # fmt: skip
