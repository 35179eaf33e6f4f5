"""Distribution of a next token before and after filters, and of a prompt for a label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from seqviz.compute.gpt.continuation import NextToken
from seqviz.compute.gpt.draw import foremost, probabilities
from seqviz.compute.gpt.filtered import Filtered
from seqviz.core.i18n import Text, percent
from seqviz.figures.gpt.beginning import beginning
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short

SHOWN = 12  # maximum number of tokens with a row
LABEL_ROWS = 8  # the same in `label_bars`; labels always have a row
_LONGEST = 12  # maximum number of characters of a token
_MARKS = ("line-ns", "diamond-tall-open", "circle-open", "triangle-up-open", "square-open",
          "x-thin")  # fmt: skip
_HIGH = 0.05  # share of the cumulative bar from which a token fits into its part
_OUTSIDE = -1.0  # height at which Plotly draws no text
_NONE = 1e-9  # percent: tolerance for rounding
_BEYOND = {"120": " "}  # the axis has room for the numbers of the bars, but a share ends at 100
_HOVER = "%{y}: %{x:.3g}%"


def next_token_bars(filtered: Filtered, style: Style = STYLE) -> Figure:
    """Plot probabilities of the likeliest tokens and all others (left), and their sum (right).

    Left: pale bars are the model's probabilities, dark ones those after all filters, which are
    sampled; other marks are probabilities after each filter on the way. A cut token keeps its pale
    bar, with a cross and the name of the filter. Right: the tokens stacked, and a triangle at the
    random number u.
    """
    label, palette = style.labels("figure.scores_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    visible = foremost(filtered.next_token.scores, SHOWN)
    ids = visible.tolist()
    names = [*_names(filtered.next_token.pieces[: len(ids)]), label("others")]
    before, after, *suffix = (
        _rows(each, visible)
        for each in (
            filtered.next_token.all_chances, filtered.chances,
            *(probabilities(scores) for _, scores in filtered.stages[:-1]),
        )
    )  # fmt: skip
    at, ends = np.arange(1, len(names) + 1), np.max([before, after, *suffix], 0)
    panel, cumulated = sheet.row(
        (axes.axis(label("chance"), range=[0, 1.22 * max(1.0, ends.max())], nticks=7,
                   labelalias=_BEYOND),
         axes.ranked(names, label("after_text", text=beginning(filtered.next_token.prompt)))),
        (axes.axis(label("draw"), range=[0.5, 1.6], showticklabels=False, showgrid=False,
                   zeroline=False),
         axes.axis(label("cumulated"), range=[0, 1], nticks=6, showgrid=False)),
        gaps=(0.68, 0.84),
    )  # fmt: skip
    panel.ranked_bars(before, label("before"), palette.band, width=0.86, hover=_HOVER)
    panel.ranked_bars(after, label("after"), palette.prediction, width=0.5, hover=_HOVER)
    chosen = [ids.index(filtered.token) if filtered.token in ids else len(ids)]
    panel.bars(at[chosen], after[chosen], label("drawn"), palette.highlight, sideways=True,
               width=0.5, hover=_HOVER)  # fmt: skip
    gone = _write_shares(panel, filtered, visible, after, ends)
    # Before traces that may be missing, because a trace keeps its index between updates.
    _draw_cumulated(cumulated, filtered)
    if gone:
        panel.points(before[gone], at[gone], label("cut"), palette.rnn, symbol="x-thin", size=8,
                     edge={"color": palette.rnn, "width": 2.2}, hover=False)  # fmt: skip
    for (name, _), rows, symbol in zip(filtered.stages[:-1], suffix, _MARKS, strict=False):
        panel.points(rows, at, label("behind", filter=label(name)), palette.truth, symbol=symbol,
                     size=9, edge={"color": palette.truth, "width": 1.8},
                     hover=_HOVER)  # fmt: skip
    values = {**filtered.summary(), "first": names[0], "before": before[0], "after": after[0]}
    return sheet.described("alt.next_token", names={"y": names}, gap=0.16, **values)


def filter_name(name: str, text: Text) -> str:
    """Return the reader's word for a filter of `filters.ORDER`."""
    return text(f"figure.scores_{name}")


def label_bars(next_token: NextToken, labels: Sequence[str], style: Style = STYLE) -> Figure:
    """Plot the likeliest tokens and the labels (in color) as rows, and one for all others.

    Every spelling of a label has a row.

    Args:
        next_token: distribution of the next token.
        labels: labels to compare.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure."), style.palette
    requests = [int(rank) for word in labels for rank in next_token.spelled(word)]
    rows = sorted({*range(min(LABEL_ROWS, len(next_token.ids))), *requests})
    names = [*_names(next_token.pieces[row] for row in rows), label("scores_others")]
    shares = _rows(next_token.chances, rows)
    is_label = np.array([*(row in requests for row in rows), False])
    sheet = Sheet(style, barmode="overlay")
    panel = sheet.panel(
        axes.axis(
            label("scores_chance"), range=[0, 1.22 * shares.max()], nticks=7, labelalias=_BEYOND
        ),
        axes.ranked(names, label("scores_token")),
    )
    at = np.arange(1, len(names) + 1)
    styles = (("labels_token", palette.prediction), ("labels_label", palette.highlight))
    for (name, color), here in zip(styles, (~is_label, is_label), strict=True):
        panel.bars(at[here], shares[here], label(name), color, sideways=True, width=0.6,
                   ends=[f"{share:.1f}%" for share in shares[here]], hover=_HOVER)  # fmt: skip
    values = (f"{escape(word)}: {percent(next_token.chance_of(word))}" for word in labels)
    return sheet.described(
        "alt.labels", names={"y": names}, first=names[0], chance=float(next_token.chances[0]),
        labels="; ".join(values),
    )  # fmt: skip


def _names(pieces: Iterable[str]) -> list[str]:
    return [escape(short(piece, _LONGEST)) for piece in pieces]


def _rows(probability: np.ndarray, visible: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return percent of the visible tokens, and of all others together."""
    some = 100 * probability[visible]
    return np.append(some, max(100 - some.sum(), 0.0))


def _write_shares(
    panel: Panel, filtered: Filtered, visible: np.ndarray, after: np.ndarray, ends: np.ndarray
) -> list[int]:
    """Write each row's percent, or the filter that cuts it, and return the rows that are cut."""
    style, palette = panel.style, panel.style.palette
    cut = [filtered.cut_by(token) for token in visible.tolist()]
    others = ((name, _rows(probabilities(scores), visible)[-1]) for name, scores in filtered.stages)
    cut.append(next((name for name, rest in others if rest < _NONE), ""))
    for row, (name, share) in enumerate(zip(cut, after, strict=True)):
        panel.words(
            filter_name(name, style.text) if name else f"{share:.1f}%", ends[row], row + 1,
            xanchor="left", xshift=(20 if name else 4) * style.scale, size=12,
            color=palette.baseline if name else palette.prediction,
        )  # fmt: skip
    return [row for row, name in enumerate(cut) if name]


def _draw_cumulated(panel: Panel, filtered: Filtered) -> None:
    """Draw the tokens stacked from the likeliest up, the sampled one in color, and u."""
    label, palette = panel.style.labels("figure.scores_"), panel.style.palette
    low, high = filtered.ends
    ranked = foremost(filtered.scores, min(SHOWN, filtered.n_kept))
    parts = filtered.chances[ranked]
    starts = np.cumsum(parts) - parts
    rest = max(1.0 - float(parts.sum()), 0.0)
    parts, starts = np.append(parts, rest), np.append(starts, 1.0 - rest)
    panel.bars(
        np.ones(len(parts)), parts, label("parts"), [*[palette.band] * len(ranked), palette.grid],
        base=starts, width=0.9, edge={"color": palette.prediction, "width": 1}, legend=False,
        hover=False,
    )  # fmt: skip
    panel.bars([1], [high - low], label("drawn"), palette.highlight, base=[low], width=0.9,
               hover=False)  # fmt: skip
    existing = dict(zip(filtered.next_token.ids.tolist(), filtered.next_token.pieces, strict=True))
    # A fixed number, because dragging a slider updates these annotations in place.
    for index in range(SHOWN):
        token = int(ranked[index]) if index < len(ranked) else -1
        room = token in existing and parts[index] > _HIGH
        panel.words(
            escape(short(existing[token], _LONGEST)) if room else "", 1,
            float(starts[index] + parts[index] / 2) if room else _OUTSIDE,
            color=palette.truth, size=12, bgcolor=palette.band, borderpad=0,
        )  # fmt: skip
    panel.points([1.5], [filtered.u], label("u", u=filtered.u), palette.truth,
                 symbol="triangle-left", size=13, cliponaxis=False,
                 hover="u = %{y:.4f}")  # fmt: skip
