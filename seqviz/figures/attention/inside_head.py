"""Computation inside one head: products of a query with the keys, scores and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.attention.results import HeadParts
from seqviz.core.i18n import number
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, scales
from seqviz.plotting.tokens import numbered

_WRITTEN = 16  # maximum number of tokens with numbers at the bars
_GAPS = (0.3, 0.33, 0.63, 0.67, 0.8, 0.84, 0.97)
_HEIGHT, _GAP = 0.19, 0.08  # of the panels from scores to weights
_LAST = {"weight": "weights", "value": "carried"}


def query_key_products(
    head_parts: HeadParts, query: int, key: int, by: str = "weight", style: Style = STYLE
) -> Figure:
    """Plot from left to right the query and all keys, their products by entry, scores, weights.

    The first row of the left panel is the query's vector. A row of products sums to the score
    before division. A click on a row chooses the key (y).

    Args:
        head_parts: intermediate results of the head.
        query: query, from 1; the last token where there are fewer.
        key: key, likewise.
        by: "weight", or "value" for weights times the norms of the values.
        style: language, theme and scale of the figure.
    """
    text, pieces, last = style.text, head_parts.text.pieces, _LAST[by]
    tokens, d_k = head_parts.keys.shape
    query, key = min(query, tokens), min(key, tokens)
    q = head_parts.queries[query - 1].astype(np.float64)
    terms = q * head_parts.keys.astype(np.float64)
    names = [text(f"figure.parts_{part}") for part in ("keys", "products", "scaled", last)]
    stages = [
        np.where(head_parts.allowed[query - 1], values[query - 1], np.nan).astype(float)
        for values in (head_parts.scaled, getattr(head_parts, last))
    ]
    ticks = sorted({1, max(1, d_k // 2), d_k})
    entries = axes.axis(
        text("figure.entry"), range=[0.5, d_k + 0.5], tickvals=ticks, showgrid=False
    )
    along = [
        _along(*item) for item in zip(stages, (names[2], text(f"figure.axis_{last}")), strict=True)
    ]
    rows = _rows(head_parts, query, style)
    # On a phone each panel has its own labels; only the first panel has a row for the query.
    own = ["", *rows["ticktext"][1:]]
    others = {**rows, "ticktext": own, "showticklabels": False, "title": {"text": ""}}
    sheet = Sheet(style)
    vectors, products, *bars = sheet.row(
        (entries, rows), (entries, others), *((axis, others) for axis in along),
        gaps=_GAPS, titles=names,
    )  # fmt: skip
    # The query's row stands above the keys with a gap of half a row, where 0 is on the axis.
    _entries(vectors, np.vstack([q, head_parts.keys]), names[0], key, first=0)
    vectors.horizontal(0.5, style.palette.truth, width=1.5, layer="above")
    _entries(products, terms, names[1], key)
    for panel, row, name in zip(bars, stages, names[2:], strict=True):
        written = [number(v) for v in row] if tokens <= _WRITTEN else None
        _bars(panel, row, name, key, written, sideways=True)
    return sheet.described(
        f"alt.products{'' if by == 'weight' else '_carried'}", query=pieces[query - 1],
        key=pieces[key - 1], d_k=d_k, score=terms[key - 1].sum(), scaled=stages[0][key - 1],
        weight=stages[1][key - 1],
    )  # fmt: skip


def _along(row: np.ndarray, title: str) -> dict[str, Any]:
    """Return the axis of horizontal bars, with room for their numbers."""
    low, high = np.nanmin(row, initial=0), np.nanmax(np.abs(row), initial=0) or 1.0
    return axes.axis(
        title, range=[low - 0.5 * high if low < 0 else 0, 1.5 * high], nticks=3, showgrid=False
    )


def _rows(head_parts: HeadParts, query: int, style: Style) -> dict[str, Any]:
    """Return the axis with the query in row 0 and the keys from row 1 on."""
    pieces = head_parts.text.pieces
    labels = [f"<b>{escape(pieces[query - 1])}</b> q", *map(escape, pieces)]
    named: dict[str, Any] = {"tickvals": list(range(len(labels))), "ticktext": labels}
    if len(pieces) > axes.NAMED_ROWS:
        named = numbered(len(pieces), labels[1:])
        named["tickvals"] = [0, *named["tickvals"]]
        named["ticktext"] = [labels[0], *named["ticktext"]]
    title, span = style.text("figure.keys"), [len(pieces) + 0.5, -0.5]
    return axes.axis(title, range=span, showgrid=False, **named)


def _entries(panel: Panel, z: np.ndarray, name: str, key: int, first: int = 1) -> None:
    """Draw vectors as rows from `first` on, with an outline around the row of the chosen key."""
    anchor = {"key": "%{y}", "entry": "%{x}", "value": "%{z:.4f}"}
    panel.cells(
        z.astype(np.float32), name, scales.signed(float(np.percentile(np.abs(z), 99)) or 1.0),
        y=np.arange(first, first + len(z)), bar=None, pick=True,
        hover=panel.style.text("figure.hover_entry", **anchor) + NAMED,
    )  # fmt: skip
    panel.outline(panel.style.palette.highlight, row=key)


def _bars(
    panel: Panel, values: np.ndarray, name: str, key: int, written: Sequence[str] | None,
    sideways: bool = False, **more: Any,
) -> None:  # fmt: skip
    """Draw a bar with its number for each key; that of the chosen key is highlighted."""
    colors = [panel.style.palette.prediction] * len(values)
    colors[key - 1] = panel.style.palette.highlight
    at, length = ("y", "x") if sideways else ("x", "y")
    hover = panel.style.text("figure.hover_bar", key=f"%{{{at}}}", value=f"%{{{length}:.4f}}")
    draw = panel.ranked_bars if sideways else panel.token_bars
    draw(
        values, name, colors, ends=written, ends_size=11, legend=False, hover=hover + NAMED, **more
    )


def scores_to_weights(
    head_parts: HeadParts, query: int, key: int, by: str = "weight", style: Style = STYLE
) -> Figure:
    """Plot one query's scores from top to bottom: q·k, divided, masked, after the softmax.

    A click on a bar chooses the key (x).

    Args:
        head_parts: intermediate results of the head.
        query: query, from 1; the last token where there are fewer.
        key: key, likewise.
        by: "weight", or "value" to replace the panel of divided scores by one of weights times the
            norms of the values at the bottom.
        style: language, theme and scale of the figure.
    """
    text, pieces = style.text, head_parts.text.pieces
    query, key = min(query, len(pieces)), min(key, len(pieces))
    at, few = query - 1, len(pieces) <= _WRITTEN
    names = ["scores", "scaled", "masked", "weights"]
    if by == "value":  # replaces a stage, because five panels would be too low
        names = ["scores", "masked", "weights", "carried"]
    stages = {name: getattr(head_parts, name)[at].astype(float) for name in names}
    # Numbers that do not fit are left out, because they would overlap on a phone.
    sheet = Sheet(style, uniformtext={"minsize": 10 * style.scale, "mode": "hide"})
    x: Any = axes.tokens(style, pieces, text("figure.keys"), anchor=f"y{len(stages)}")
    for row, (stage, values) in enumerate(stages.items()):
        top = 1 - row * (_HEIGHT + _GAP)
        panel = sheet.panel(x, _upright(stage, values, style), up=(max(0.0, top - _HEIGHT), top))
        x = panel
        name = text(f"figure.parts_{stage}")
        small = "< 0.001" if stage in _LAST.values() else None
        written = [
            "−∞" if not np.isfinite(v) else small if small and 0 < v < 0.001 else number(v)
            for v in values
        ]
        _bars(panel, values, name, key, written if few else None, pick=True,
              textangle=0, constraintext="outside")  # fmt: skip
        panel.title(name, xref="paper")
        for position in 1 + np.flatnonzero(~np.isfinite(values)) if few else ():
            panel.words("−∞", int(position), 0, yanchor="bottom", size=11,
                        color=style.palette.baseline)  # fmt: skip
    of_query = text("figure.of_query", query=escape(pieces[at]), at=query)
    sheet.words(of_query, 1, 1, xanchor="right", yanchor="bottom", yshift=10 * style.scale, size=14)
    best = int(np.argmax(stages["weights"]))
    score, scaled, weight = (
        getattr(head_parts, name)[at, key - 1] for name in ("scores", "scaled", "weights")
    )
    return sheet.described(
        "alt.chain", names={"x": pieces}, query=pieces[at], key=pieces[key - 1], score=score,
        scaled=scaled, weight=weight, best=pieces[best], most=stages["weights"][best],
    )  # fmt: skip


def _upright(stage: str, values: np.ndarray, style: Style) -> dict[str, Any]:
    """Return the axis of a stage, with a line at zero and room for the numbers at the bars."""
    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=0)), float(finite.max(initial=0))
    reach = (high - low) or 1.0
    return axes.axis(
        style.text(f"figure.axis_{stage}"), nticks=3, zeroline=True,
        range=[low - (0.35 * reach if low < 0 else 0), high + 0.4 * reach],
        zerolinecolor=style.palette.baseline,
    )  # fmt: skip
