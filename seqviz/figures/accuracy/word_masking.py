"""Sentiment under the knife: what is left of the answer as more and more words are masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.accuracy.findings import Knife, OwnKnife
from seqviz.compute.proportions import Proportion
from seqviz.figures.accuracy import parts
from seqviz.figures.accuracy.shares import answers_right, shares
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain

_STYLE = Style()
_ROLES = {  # of each order: role of its color, dash, marker
    "random": ("truth", "solid", "circle"),
    "attention": ("lstm", "dash", "diamond"),
    "gradient": ("rnn", "dashdot", "square"),
    "content": ("gru", "longdash", "triangle-up"),
    "function": ("mlp", "longdashdot", "star"),
}
_KEY = 46  # pixels of a line in the legend: its dashes must be told apart
_NAMED = 6  # masked words that the description names


def knife_view(
    found: Knife, order: str, share: float, baseline: Proportion, style: Style = _STYLE
) -> Figure:
    """Accuracy against the share of the words that are masked, a line for each order.

    order: the one that has its 95 % band. share: in percent; between two computed shares the line
    is read as it is drawn. baseline: the more frequent answer, always. Raises ValueError for an
    order that was not tried.
    """
    text, palette = style.text, style.palette
    chosen = _row(found.orders, order)
    x = 100 * found.shares
    seen = shares(answers_right(found.probability, found.positive))
    accuracy, low, high = seen.share, seen.low, seen.high
    hovers = seen.said(style)
    name = text(f"figure.acc_order_{order}")
    color = getattr(palette, _ROLES[order][0])
    data = [
        _line(
            x,
            accuracy[row],
            found.orders[row],
            row == chosen,
            style,
            customdata=hovers[row],
            hovertemplate="%{x:.0f} %: %{customdata}<extra>%{fullData.name}</extra>",
        )
        for row in _random_first(found.orders)
    ]
    data.append(parts.majority(baseline, [0, 100], style))
    data.append(parts.band(x, low[chosen], high[chosen], color))
    here, least, most = (_read(x, curve[chosen], share) for curve in (accuracy, low, high))
    data.append(_mark(share, here, name, color, style))
    ends = parts.fitted(accuracy, low[chosen], high[chosen], [100 * baseline.share], below=0.08)
    spec = layout(style)
    spec["legend"] |= {"itemwidth": _KEY}
    spec |= {
        "xaxis": axis_layout(
            style, range=[-1, 101], title={"text": text("figure.acc_masked_share")}
        ),
        "yaxis": parts.percent_axis(style, text("figure.acc_accuracy"), *ends),
        "shapes": [parts.upright(share, palette.highlight)],
        "annotations": [
            parts.reading(f"<b>{share:.0f} %: {_shown(here)} %</b>", share, 100, style),
            *([parts.majority_label(baseline, style)] if baseline.n else []),
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_knife",
            n=f"{len(found.positive):,}",
            share=f"{share:.0f}",
            order=name,
            here=_shown(here),
            low=_shown(least),
            high=_shown(most),
            others="; ".join(
                f"{text(f'figure.acc_order_{other}')}: {_shown(_read(x, line, share))} %"
                for other, line in zip(found.orders, accuracy, strict=True)
                if other != order
            )
            or text("figure.acc_none"),
            baseline=parts.percent(baseline.share),
        ),
    )


def own_knife_view(found: OwnKnife, order: str, masked: int, style: Style = _STYLE) -> Figure:
    """P(positive) of one sentence against the number of masked words, a line for each order.

    order: the emphasized one. masked: how many are masked now, marked on its line. Raises
    ValueError for an order that was not tried.
    """
    text, palette = style.text, style.palette
    chosen = _row(found.orders, order)
    count = len(found.words)
    masked = min(max(masked, 0), count)
    x = np.arange(count + 1)
    percent = 100 * found.probability
    name = text(f"figure.acc_order_{order}")
    gone = [
        [found.words[int(place)] for place in np.argsort(turns, kind="stable")]
        for turns in found.turns
    ]
    data = [
        _line(
            x,
            percent[row],
            found.orders[row],
            row == chosen,
            style,
            customdata=[
                text("figure.acc_nothing_masked"),
                *(text("figure.acc_last_masked", word=plain(word)) for word in gone[row]),
            ],
            hovertemplate="%{x}: %{y:.1f} % (%{customdata})<extra>%{fullData.name}</extra>",
        )
        for row in _random_first(found.orders)
    ]
    data.append(parts.dotted([0, max(count, 1)], [50, 50], text("figure.acc_undecided"), style))
    here = float(percent[chosen, masked])
    data.append(_mark(masked, here, name, getattr(palette, _ROLES[order][0]), style))
    room = 0.02 * max(count, 1)
    said = text("figure.acc_at_masked", masked=masked, percent=f"{here:.1f}")
    spec = layout(style)
    spec["legend"] |= {"itemwidth": _KEY}
    spec |= {
        "xaxis": axis_layout(
            style,
            range=[-room, max(count, 1) + room],
            tickformat="d",
            title={"text": text("figure.acc_words_masked")},
            **({"dtick": 1} if count <= 12 else {"nticks": 10}),
        ),
        "yaxis": parts.percent_axis(style, text("figure.acc_positive"), range=[-2, 116]),
        "shapes": [parts.upright(masked, palette.highlight)],
        "annotations": [
            parts.reading(said, masked, max(count, 1), style),
            parts.line_label(text("figure.acc_undecided"), 50, style, x=0),
        ],
    }
    first = ", ".join(gone[chosen][: min(masked, _NAMED)]) or text("figure.acc_none")
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_own_knife",
            words=count,
            start=f"{percent[chosen, 0]:.1f}",
            order=name,
            masked=masked,
            here=f"{here:.1f}",
            first=first + (" …" if masked > _NAMED else ""),
            end=f"{percent[chosen, -1]:.1f}",
        ),
    )


def _read(x: Float[np.ndarray, "share"], y: Float[np.ndarray, "share"], share: float) -> float:
    """The height of the line at `share`, as it is drawn: straight between two points."""
    return float(np.interp(share, x, y))


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"


def _row(orders: Sequence[str], order: str) -> int:
    if order not in orders:
        raise ValueError(f"The order {order!r} was not tried, only {', '.join(orders)}.")
    return list(orders).index(order)


def _random_first(orders: Sequence[str]) -> list[int]:
    """Rows as they are drawn: random words first, what all others are compared with."""
    return sorted(range(len(orders)), key=lambda row: orders[row] != "random")


def _line(
    x: np.ndarray,
    y: Float[np.ndarray, "point"],
    order: str,
    chosen: bool,
    style: Style,
    **more: Any,
) -> dict[str, Any]:
    role, dash, symbol = _ROLES[order]
    name, color = style.text(f"figure.acc_order_{order}"), getattr(style.palette, role)
    drawn = parts.line(x, y, name, color, dash, symbol, **more)
    drawn["line"]["width"] = 3.4 if chosen else 2
    return drawn


def _mark(x: float, y: float, name: str, color: str, style: Style) -> dict[str, Any]:
    """The point that is read off, ringed in the color of its line."""
    return {
        "type": "scatter",
        "x": [x],
        "y": [y],
        "mode": "markers",
        "name": style.text("figure.acc_chosen", name=name),
        "showlegend": False,
        "marker": {
            "size": 12,
            "color": style.palette.highlight,
            "line": {"color": color, "width": 2},
        },
        "hoverinfo": "skip",
    }
