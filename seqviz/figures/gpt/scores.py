"""A next token's distribution before and behind filters, and the number that draws from it."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.draw import foremost, probabilities
from seqviz.compute.gpt.filtered import Filtered
from seqviz.core.i18n import Text, number, percent
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short

SHOWN = 12  # the likeliest tokens that have a row
_LONGEST = 12  # characters of a token
_LEFT, _RIGHT = (0.0, 0.68), (0.84, 1.0)
_MARKS = (
    "line-ns",
    "diamond-tall-open",
    "circle-open",
    "triangle-up-open",
    "square-open",
    "x-thin",
)
_HIGH = 0.05  # of the cumulative bar: a token finds room in its part
_OUTSIDE = -1.0  # of it: where Plotly does not draw words
_NONE = 1e-9  # percent: what is left by rounding


def next_token_bars(filtered: Filtered, style: Style = STYLE) -> Figure:
    """Left a row for each of the likeliest tokens and one for all others; right their sum.

    Pale: the model's probability, dark: that behind all filters, which is drawn from; a mark is the
    probability behind a filter on the way. A cut token keeps its pale bar with a cross and the name
    of the filter. Right, the tokens on one another, and where u falls.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    visible = foremost(filtered.next_token.scores, SHOWN)
    pieces = [short(piece, _LONGEST) for piece in filtered.next_token.pieces[: len(visible)]]
    names = [*map(escape, pieces), text("figure.scores_others")]
    before = _rows(filtered.next_token.all_chances, visible)
    after = _rows(filtered.chances, visible)
    at = np.arange(1, len(names) + 1)
    suffix = [_rows(probabilities(scores), visible) for _, scores in filtered.stages[:-1]]
    top = max(1.0, *(rows.max() for rows in (before, after, *suffix)))
    panel = sheet.panel(
        axes.axis(text("figure.scores_chance"), range=[0, 1.22 * top], nticks=7),
        axes.names(names, text("figure.scores_token"), range=[len(names) + 0.6, 0.4]),
        across=_LEFT,
    )
    panel.bars(at, before, text("figure.scores_before"), palette.band, sideways=True, width=0.86,
               hover="%{y}: %{x:.3g}%")  # fmt: skip
    ids = visible.tolist()
    chosen = ids.index(filtered.token) if filtered.token in ids else len(ids)
    hover = "%{y}: %{x:.3g}%"
    panel.bars(at, after, text("figure.scores_after"), palette.prediction, sideways=True,
               width=0.5, hover=hover)  # fmt: skip
    panel.bars(at[[chosen]], after[[chosen]], text("figure.scores_drawn"), palette.highlight,
               sideways=True, width=0.5, hover=hover)  # fmt: skip
    ends = np.max([before, after, *suffix], 0)
    gone = _said(panel, filtered, visible.tolist(), after, ends)
    _cumulated(
        sheet, filtered
    )  # before what may be missing: a trace keeps its place from move to move
    if gone:
        panel.points(
            before[gone], np.array(gone) + 1, text("figure.scores_cut"), palette.rnn,
            symbol="x-thin", size=8, edge={"color": palette.rnn, "width": 2.2}, hover=False,
        )  # fmt: skip
    for (name, _), rows, symbol in zip(filtered.stages[:-1], suffix, _MARKS, strict=False):
        panel.points(
            rows, at,
            text("figure.scores_behind", filter=filter_name(name, text)), palette.truth,
            symbol=symbol, size=9, edge={"color": palette.truth, "width": 1.8},
            hover="%{y}: %{x:.3g}%",
        )  # fmt: skip
    return sheet.described(
        "alt.next_token",
        names={"y": names},
        gap=0.16,
        first=escape(pieces[0]),
        before=number(before[0]),
        after=number(after[0]),
        kept=f"{filtered.n_kept:,}",
        cut=percent(filtered.cut),
        u=f"{filtered.u:.3f}",
        low=f"{filtered.ends[0]:.3f}",
        high=f"{filtered.ends[1]:.3f}",
    )


def filter_name(name: str, text: Text) -> str:
    """The reader's word for a filter of `filters.ORDER`."""
    return text(f"figure.scores_{name}")


def _rows(probabilities: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Percent of the shown tokens, and of all others together."""
    some = 100 * probabilities[visible]
    return np.append(some, max(100 - some.sum(), 0.0))


def _said(
    panel: Panel, filtered: Filtered, ids: list[int], after: np.ndarray, ends: np.ndarray
) -> list[int]:
    """Beyond the last mark of each row its percent, or that it is cut and by what.

    Gives the rows that are cut.
    """
    text, palette = panel.style.text, panel.style.palette
    cut = [filtered.cut_by(token) for token in ids]
    visible = np.array(ids)
    others = ((name, _rows(probabilities(scores), visible)[-1]) for name, scores in filtered.stages)
    cut.append(next((name for name, left in others if left < _NONE), ""))
    gone = [row for row, name in enumerate(cut) if name]
    rows = [
        filter_name(name, text) if name else f"{share:.1f}%"
        for name, share in zip(cut, after, strict=True)
    ]
    for row, words in enumerate(rows):
        panel.words(
            words, ends[row], row + 1, xanchor="left",
            xshift=(20 if row in gone else 4) * panel.style.scale,
            color=palette.baseline if row in gone else palette.truth, size=12,
        )  # fmt: skip
    return gone


def _cumulated(sheet: Sheet, filtered: Filtered) -> None:
    """All tokens on one another, the likeliest at the bottom, the drawn one colored, and u."""
    text, palette = sheet.style.text, sheet.style.palette
    panel = sheet.panel(
        axes.axis(text("figure.scores_draw"), range=[0.5, 1.6], showticklabels=False,
                  showgrid=False, zeroline=False),
        axes.axis(text("figure.scores_cumulated"), range=[0, 1], nticks=6, showgrid=False),
        across=_RIGHT,
    )  # fmt: skip
    low, high = filtered.ends
    ranked = foremost(filtered.scores, min(SHOWN, filtered.n_kept))
    parts = filtered.chances[ranked]
    starts = np.cumsum(parts) - parts
    rest = max(1.0 - float(parts.sum()), 0.0)
    parts, starts = np.append(parts, rest), np.append(starts, 1.0 - rest)
    panel.bars(
        np.ones(len(parts)), parts, text("figure.scores_parts"),
        [*[palette.band] * len(ranked), palette.grid], base=starts, width=0.9,
        edge={"color": palette.prediction, "width": 1}, legend=False, hover=False,
    )  # fmt: skip
    panel.bars([1], [high - low], text("figure.scores_drawn"), palette.highlight,
               base=[low], width=0.9, legend=False, hover=False)  # fmt: skip
    existing = dict(zip(filtered.next_token.ids.tolist(), filtered.next_token.pieces, strict=True))
    for index in range(SHOWN):  # as many always: a hand that moves writes other words into them
        token = int(ranked[index]) if index < len(ranked) else -1
        room = token in existing and parts[index] > _HIGH
        panel.words(
            escape(short(existing[token], _LONGEST)) if room else "", 1,
            float(starts[index] + parts[index] / 2) if room else _OUTSIDE,
            color=palette.truth, size=12, bgcolor=palette.band, borderpad=0,
        )  # fmt: skip
    panel.points(
        [1.5], [filtered.u], text("figure.scores_u", u=f"{filtered.u:.3f}"), palette.truth,
        symbol="triangle-left", size=13, cliponaxis=False, hover="u = %{y:.4f}",
    )  # fmt: skip
