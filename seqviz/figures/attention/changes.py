"""What changes when heads are switched off or a mask is put on."""

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
_CROSSED, _NAMED = 16, 20  # tokens of a mask whose crosses, and whose names, find room


def head_switches(
    change: Change,
    off: Sequence[tuple[int, int]],
    mean: Change | None = None,
    style: Style = STYLE,
) -> Figure:
    """Left the switchboard of all heads, to be clicked; right what the change does.

    Of a decoder (which has candidates) the probabilities of the next token before and after; of an
    encoder how far each token's vector has moved (1 - cosine). off: (layer, head), each from 0.
    change: with the outputs of these heads at zero. mean: with their mean outputs in place of them,
    drawn beside.
    """
    text, palette = style.text, style.palette
    on = np.ones((change.text.layers, change.text.heads), np.uint8)
    for position in off:
        on[position] = 0
    sheet = Sheet(style)
    board = HeadGrid(sheet, *on.shape, across=_LEFT)
    board.cells(
        on,
        text("figure.head_on"),
        ColorScale([[0, palette.highlight], [1, palette.band]], 0, 1),
        bar=None,
        xgap=2,
        ygap=2,
        text=np.where(board.turned(on) == 1, "", "×"),
        texttemplate="%{text}",
        textfont={"size": 15 * style.scale, "color": palette.truth},
        hover=board.hover("figure.hover_switch"),
    )
    summary = (
        _next_tokens(sheet, change, mean) if change.candidates else _moved(sheet, change, mean)
    )
    switched = text("alt.switches", off=int((on == 0).sum()), all=on.size)
    return sheet.finish(f"{switched} {summary}")


def _next_tokens(sheet: Sheet, change: Change, mean: Change | None) -> str:
    """The likeliest next tokens before and after, in words as well."""
    text, palette = sheet.style.text, sheet.style.palette
    pieces, probabilities = change.candidates, change.probabilities
    names = [escape({"\t": "⇥"}.get(piece, piece.replace("\n", "⏎"))) for piece in pieces]
    sheet.page["bargap"] = 0.25
    panel = sheet.panel(
        axes.axis(
            text("figure.next_probability"),
            range=[0, 1.25 * float(probabilities.max(initial=1e-9))],
            nticks=5,
        ),
        axes.names(names, text("figure.next_token"), range=[len(names) + 0.6, 0.4]),
        across=_RIGHT,
    )
    series = [
        ("heads_all_on", probabilities[0], palette.baseline),
        ("heads_now" if mean is None else "heads_zero", probabilities[1], palette.prediction),
    ]
    if mean is not None:
        probability = dict(zip(mean.candidates, mean.probabilities[1], strict=True))
        values = np.array([probability.get(piece, np.nan) for piece in pieces])
        series.append(("heads_mean", values, palette.highlight))
    for name, values, color in series:
        panel.bars(
            np.arange(1, len(names) + 1),
            values,
            text(f"figure.{name}"),
            color,
            sideways=True,
            ends=["< 0.001" if v < 0.001 else number(v) for v in values],
            hover=False,
        )
    before, after = (int(row.argmax()) for row in probabilities)
    return text(
        "alt.next_tokens",
        before=pieces[before],
        p=probabilities[0, before],
        after=pieces[after],
        q=probabilities[1, after],
    )


def _moved(sheet: Sheet, change: Change, mean: Change | None) -> str:
    """How far each token's vector has moved, and in words which one has moved furthest."""
    text, moved, palette = sheet.style.text, change.moved, sheet.style.palette
    pieces, name = change.text.pieces[: len(moved)], text("figure.moved")
    series = [("heads_zero", moved, palette.prediction)]
    if mean is not None:
        series.append(("heads_mean", mean.moved, palette.highlight))
    reach = [0, 1.05 * max(0.01, *(float(values.max(initial=0)) for _, values, _ in series))]
    panel = sheet.panel(
        axes.axis(name, range=reach, nticks=5),
        axes.tokens(sheet.style, pieces, text("figure.token"), upright=True),
        across=_RIGHT,
    )
    for key, values, color in series:
        panel.bars(
            np.arange(1, len(values) + 1),
            values,
            name if mean is None else text(f"figure.{key}"),
            color,
            sideways=True,
            legend=mean is not None,
            hover="%{y}: %{x:.4f}" + (NAMED if mean is not None else ""),
        )
    furthest = int(np.argmax(moved)) if len(moved) else 0
    return text("alt.moved", most=pieces[furthest], value=moved[furthest])


def attention_mask(attention_map: AttentionMap, style: Style = STYLE) -> Figure:
    """Left who may look at whom, to be clicked (x key, y query); right one head under this mask."""
    text, palette = style.text, style.palette
    pieces, allowed = attention_map.text.pieces, attention_map.allowed
    keys = axes.tokens(style, pieces, text("figure.keys"), limit=_NAMED)
    queries = axes.tokens(style, pieces, text("figure.queries"), upright=True)
    sheet = Sheet(style)
    mask = sheet.panel(keys, queries, across=(0, 0.42), title=text("figure.who_may"))
    crosses: dict[str, Any] = {
        "text": np.where(allowed, "", "×"),
        "texttemplate": "%{text}",
        "textfont": {"size": 13 * style.scale, "color": palette.band},
    }
    mask.cells(
        allowed.astype(np.uint8),
        text("figure.allowed"),
        ColorScale([[0, palette.baseline], [1, palette.band]], 0, 1),
        bar=None,
        pick=True,
        xgap=1 if len(pieces) <= 64 else 0,
        ygap=1 if len(pieces) <= 64 else 0,
        hover=text("figure.hover_allowed", query="%{y}", key="%{x}"),
        **(crosses if len(pieces) <= _CROSSED else {}),
    )
    head = sheet.panel(
        keys,
        {**queries, "showticklabels": False, "title": {"text": ""}},  # as on the left
        across=(0.52, 0.94),
        title=text("figure.head_label", layer=attention_map.layer, head=attention_map.head),
    )
    head.weights(attention_map.weights, allowed, texttemplate=None)
    return sheet.described(
        "alt.permissions",
        tokens=len(pieces),
        share=100 * float(allowed.mean()),
        blind=int((~allowed).all(1).sum()),
        names={"x": pieces, "y": pieces, "x2": pieces, "y2": pieces},
        gap=0.2,
    )
