"""Effects of switching heads off and of a changed mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.attention.results import AttentionMap, Change
from seqviz.core.i18n import number
from seqviz.figures.attention.head_grid import HeadGrid
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.plotting.scales import ColorScale

_LEFT, _RIGHT = (0, 0.44), (0.68, 1)
_CROSSED, _NAMED = 16, 20  # maximum number of tokens with crosses, and with names


def head_switches(
    change: Change,
    off: Sequence[tuple[int, int]],
    mean: Change | None = None,
    style: Style = STYLE,
) -> Figure:
    """Plot a clickable grid of all heads (left) and the effect of switching some off (right).

    Right, for a decoder (which has candidates): the probabilities of the next token before and
    after; for an encoder: the distance (1 - cosine) that each token's vector has moved.

    Args:
        change: effect with the outputs of these heads set to zero.
        off: (layer, head) of each head, from 0.
        mean: effect with their mean outputs instead (mean ablation), drawn beside it.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    on = np.ones((change.text.layers, change.text.heads), np.uint8)
    for position in off:
        on[position] = 0
    sheet = Sheet(style)
    board = HeadGrid(sheet, *on.shape, across=_LEFT)
    board.cells(
        on, text("figure.head_on"), ColorScale([[0, palette.highlight], [1, palette.band]], 0, 1),
        bar=None, xgap=2, ygap=2, hover=board.hover("figure.hover_switch"),
        text=np.where(board.turned(on) == 1, "", "×"), texttemplate="%{text}",
        textfont={"size": 15 * style.scale, "color": palette.truth},
    )  # fmt: skip
    switched = text("alt.switches", off=int((on == 0).sum()), all=on.size)
    effect = _next_tokens if change.candidates else _moved
    return sheet.finish(f"{switched} {effect(sheet, change, mean)}")


def _next_tokens(sheet: Sheet, change: Change, mean: Change | None) -> str:
    """Draw the likeliest next tokens before and after, and return the alternative text."""
    text, palette = sheet.style.text, sheet.style.palette
    pieces, probabilities = change.candidates, change.probabilities
    names = [escape({"\t": "⇥"}.get(piece, piece.replace("\n", "⏎"))) for piece in pieces]
    sheet.page["bargap"] = 0.25
    reach = [0, 1.25 * float(probabilities.max(initial=1e-9))]
    panel = sheet.panel(
        axes.axis(text("figure.next_probability"), range=reach, nticks=5),
        axes.ranked(names, text("figure.next_token")), across=_RIGHT,
    )  # fmt: skip
    series = [
        ("heads_all_on", probabilities[0], palette.baseline),
        ("heads_now" if mean is None else "heads_zero", probabilities[1], palette.prediction),
    ]
    if mean is not None:
        probability = dict(zip(mean.candidates, mean.probabilities[1], strict=True))
        values = np.array([probability.get(piece, np.nan) for piece in pieces])
        series.append(("heads_mean", values, palette.highlight))
    for name, values, color in series:
        panel.ranked_bars(values, text(f"figure.{name}"), color, hover=False,
                          ends=["< 0.001" if v < 0.001 else number(v) for v in values])  # fmt: skip
    (before, after), (p, q) = change.likeliest, probabilities.max(1)
    return text("alt.next_tokens", before=before, p=p, after=after, q=q)


def _moved(sheet: Sheet, change: Change, mean: Change | None) -> str:
    """Draw the distance that each token's vector has moved, and return the alternative text."""
    text, moved, palette = sheet.style.text, change.moved, sheet.style.palette
    pieces, name = change.text.pieces[: len(moved)], text("figure.moved")
    series = [("heads_zero", moved, palette.prediction)]
    if mean is not None:
        series.append(("heads_mean", mean.moved, palette.highlight))
    reach = [0, 1.05 * max(0.01, *(float(values.max(initial=0)) for _, values, _ in series))]
    panel = sheet.panel(
        axes.axis(name, range=reach, nticks=5),
        axes.tokens(sheet.style, pieces, text("figure.token"), upright=True), across=_RIGHT,
    )  # fmt: skip
    several = mean is not None
    for key, values, color in series:
        panel.ranked_bars(values, text(f"figure.{key}") if several else name, color, legend=several,
                          hover="%{y}: %{x:.4f}" + (NAMED if several else ""))  # fmt: skip
    return text("alt.moved", most=change.furthest_piece, value=moved.max())


def attention_mask(attention_map: AttentionMap, style: Style = STYLE) -> Figure:
    """Plot a clickable attention mask (left) and one head under this mask (right).

    Columns are keys, rows are queries.
    """
    text, palette = style.text, style.palette
    pieces, allowed = attention_map.text.pieces, attention_map.allowed
    keys = axes.tokens(style, pieces, text("figure.keys"), limit=_NAMED)
    queries = axes.tokens(style, pieces, text("figure.queries"), upright=True)
    sheet = Sheet(style)
    others = {**queries, "showticklabels": False, "title": {"text": ""}}  # named on the left
    title = text("figure.head_label", layer=attention_map.layer, head=attention_map.head)
    mask, head = sheet.row((keys, queries), (keys, others), gaps=(0.42, 0.52, 0.94),
                           titles=(text("figure.who_may"), title))  # fmt: skip
    gap = 1 if len(pieces) <= 64 else 0
    crosses: dict[str, Any] = {"text": np.where(allowed, "", "×"), "texttemplate": "%{text}",
               "textfont": {"size": 13 * style.scale, "color": palette.band}}  # fmt: skip
    mask.cells(
        allowed.astype(np.uint8), text("figure.allowed"),
        ColorScale([[0, palette.baseline], [1, palette.band]], 0, 1), bar=None, pick=True,
        xgap=gap, ygap=gap, hover=text("figure.hover_allowed", query="%{y}", key="%{x}"),
        **(crosses if len(pieces) <= _CROSSED else {}),
    )  # fmt: skip
    head.weights(attention_map.weights, allowed, texttemplate=None)
    return sheet.described(
        "alt.permissions", names=dict.fromkeys(("x", "y", "x2", "y2"), pieces), gap=0.2,
        tokens=len(pieces), share=attention_map.share_allowed,
        blind=int((~allowed).all(1).sum()),
    )  # fmt: skip
