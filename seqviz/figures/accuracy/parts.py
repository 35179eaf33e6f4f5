"""What the figures about accuracy share: percent, 95 % intervals, the baseline, others' figures.

Every share comes with its n and its Wilson interval. x`end` and y`end` are a panel's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Real, Shaped

from seqviz.compute.proportions import Proportion
from seqviz.figures.grammar.line_ends import label, spread
from seqviz.figures.grammar.style import Style, axis_layout

_FAINT = 0.14  # opacity of a band: five of them over one another leave the lines readable
_HATCH = 6  # pixels between the strokes of a hatched bar


def percent(value: float) -> str:
    """A share of 1 as it stands on screen, without the sign: 0.6614 is "66.1", nan is "–"."""
    return "–" if np.isnan(value) else f"{100 * value:.1f}"


def said(found: Proportion, style: Style) -> str:
    """A proportion in words, for hover texts and descriptions: share, interval, n."""
    if not found.n:
        return style.text("figure.acc_none")
    return style.text(
        "figure.acc_said",
        share=percent(found.share),
        low=percent(found.low),
        high=percent(found.high),
        n=f"{found.n:,}",
    )


def on_axes(end: str) -> dict[str, str]:
    """Which axes a trace is drawn on."""
    return {"xaxis": f"x{end}", "yaxis": f"y{end}"} if end else {}


def band(
    x: Real[np.ndarray, "point"],
    low: Real[np.ndarray, "point"],
    high: Real[np.ndarray, "point"],
    color: str,
    end: str = "",
) -> dict[str, Any]:
    """The area between two lines, without a name: no data of its own. It skips points with nan."""
    known = np.isfinite(low) & np.isfinite(high)
    x, low, high = x[known], low[known], high[known]
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([low, high[::-1]]),
        **on_axes(end),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": color,
        "opacity": _FAINT,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def line(
    x: Shaped[np.ndarray, "point"],
    y: Real[np.ndarray, "point"],
    name: str,
    color: str,
    dash: str = "solid",
    symbol: str = "circle",
    end: str = "",
    **more: Any,
) -> dict[str, Any]:
    """A named line, with markers where there are few points: of one there is no line."""
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        **on_axes(end),
        "mode": "lines+markers" if len(x) <= 12 else "lines",
        "name": name,
        "line": {"color": color, "width": 2.6, "dash": dash},
        "marker": {"color": color, "size": 7, "symbol": symbol},
        "hovertemplate": "%{x}: %{y:.1f} %<extra>%{fullData.name}</extra>",
        **more,
    }


def whisker(
    low: Sequence[float], value: Sequence[float], high: Sequence[float], color: str
) -> dict[str, Any]:
    """error_x or error_y of values in percent whose interval runs from low to high."""
    middle = np.asarray(value, float)
    return {
        "type": "data",
        "array": np.asarray(high, float) - middle,
        "arrayminus": middle - np.asarray(low, float),
        "color": color,
        "thickness": 1.8,
        "width": 5,
    }


def bar(
    place: float,
    found: Proportion,
    name: str,
    color: str,
    style: Style,
    end: str = "",
    hatched: bool = False,
    sideways: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """One bar in percent with its interval as a whisker, at `place` of the axis of names.

    hatched: a figure from a text, not computed here (its interval, where n is known, follows from
    share and n); empty inside, so that it is not taken for ours.
    """
    value, low, high = (100 * share for share in (found.share, found.low, found.high))
    length, where = ("x", "y") if sideways else ("y", "x")
    marker: dict[str, Any] = {"color": color}
    if hatched:
        marker = {
            "color": "rgba(0,0,0,0)",
            "line": {"color": color, "width": 1.8},
            "pattern": {"shape": "/", "fgcolor": color, "size": _HATCH, "solidity": 0.2},
        }
    return {
        "type": "bar",
        "orientation": "h" if sideways else "v",
        length: [value],
        where: [place],
        **on_axes(end),
        "width": 0.62,
        "name": name,
        "showlegend": False,
        "marker": marker,
        f"error_{length}": whisker([low], [value], [high], style.palette.truth),
        "hovertemplate": f"{said(found, style)}<extra>%{{fullData.name}}</extra>",
        **more,
    }


def value_above(place: float, found: Proportion, style: Style, end: str = "") -> dict[str, Any]:
    """The share in bold above the whisker of an upright bar; that there is none, where n is 0."""
    known = found.n > 0
    return label(
        style,
        f"<b>{percent(found.share)}</b>" if known else style.text("figure.acc_none"),
        style.palette.truth,
        xref=f"x{end}",
        yref=f"y{end}",
        x=place,
        y=100 * found.high if known else 0,
        yanchor="bottom",
        yshift=2,
    )


def dotted(
    x: Sequence[float] | Shaped[np.ndarray, "point"],
    y: Sequence[float] | Shaped[np.ndarray, "point"],
    name: str,
    style: Style,
    end: str = "",
    **more: Any,
) -> dict[str, Any]:
    """A dotted reference line from end to end; `majority` is the usual one."""
    return {
        "type": "scatter",
        "x": list(x),
        "y": list(y),
        **on_axes(end),
        "mode": "lines",
        "name": name,
        "showlegend": False,
        "line": {"color": style.palette.baseline, "width": 2, "dash": "dot"},
        "hoverinfo": "skip",
        **more,
    }


def majority(
    found: Proportion, ends: Sequence[float], style: Style, end: str = "", upright: bool = False
) -> dict[str, Any]:
    """The accuracy of the answer that is most frequent in training, given always.

    ends: of the axis along which the line runs. upright: the line stands, the bars lie.
    """
    value = [100 * found.share] * 2
    x, y = (value, ends) if upright else (ends, value)
    return dotted(x, y, style.text("figure.acc_majority"), style, end)


def majority_label(
    found: Proportion, style: Style, end: str = "", above: bool = False, x: float = 1
) -> dict[str, Any]:
    """The words on that line, below or above it; x: share of the panel's width."""
    return line_label(
        style.text("figure.acc_majority_at", percent=percent(found.share)),
        100 * found.share,
        style,
        end,
        above,
        x,
    )


def line_label(
    words: str, at: float, style: Style, end: str = "", above: bool = False, x: float = 1
) -> dict[str, Any]:
    """Words on a reference line at the height `at`."""
    return label(
        style,
        words,
        style.palette.baseline,
        xref=f"x{end} domain",
        yref=f"y{end}",
        x=x,
        y=at,
        xanchor="right" if x > 0.5 else "left",
        yanchor="bottom" if above else "top",
        yshift=1 if above else -1,
    )


def percent_axis(
    style: Style, title: str, low: float = 0, high: float = 100, **more: Any
) -> dict[str, Any]:
    """An axis in percent from `low` to `high`; from 0 to 100 it has ticks at the quarters."""
    if (low, high) == (0, 100):
        more = {"range": [-2, 106], "tickvals": [0, 25, 50, 75, 100], **more}
    return axis_layout(style, **{"range": [low, high], **more}, title={"text": title})


def fitted(
    *values: Shaped[np.ndarray, "..."] | Sequence[float],
    least: float = 10,
    above: float = 0.12,
    below: float = 0.0,
) -> tuple[float, float]:
    """Ends of an axis in percent around these values, never beyond 0 and (but for words) 100.

    least: percent that it spans. above, below: room for words, as shares of what it spans.
    """
    flat = np.concatenate([np.ravel(np.asarray(value, float)) for value in values])
    seen = flat[np.isfinite(flat)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 100.0)
    short = max(0.0, least - (high - low)) / 2
    low, high = low - short, high + short
    low, high = max(low - 0.06 * (high - low), -1.0), min(high + 0.06 * (high - low), 101.0)
    return low - below * (high - low), high + above * (high - low)


def named_axis(style: Style, names: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """An axis of the places 1, 2, ... with these names (escaped by the caller)."""
    return axis_layout(
        style,
        range=[0.4, len(names) + 0.6],
        tickvals=list(range(1, len(names) + 1)),
        ticktext=list(names),
        tickangle=0,
        showgrid=False,
        title={"text": title},
        **more,
    )


def upright(at: float, color: str, end: str = "") -> dict[str, Any]:
    """The line through the place that the student has chosen; a shape, from bottom to top."""
    return {
        "type": "line",
        "xref": f"x{end}",
        "yref": f"y{end} domain",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"color": color, "width": 2},
    }


def at_ends(
    names: Sequence[str],
    colors: Sequence[str],
    heights: Sequence[float],
    x: float,
    ends: tuple[float, float],
    style: Style,
    end: str = "",
) -> list[dict[str, Any]]:
    """Names of lines at their right ends, apart from one another; of a line without an end none.

    heights: of the ends. x: where they are (log10 of it on a log axis). ends: of the vertical axis.
    """
    step = 0.062 * (ends[1] - ends[0]) * style.scale * 420 / style.height
    known = [place for place, height in enumerate(heights) if np.isfinite(height)]
    apart = spread([heights[place] for place in known], step, ends[1] - step / 2)
    floor = ends[0] + step / 2  # Plotly leaves out what stands below the axis, too
    for place in sorted(range(len(apart)), key=lambda place: apart[place]):
        apart[place] = max(apart[place], floor)
        floor = apart[place] + step
    return [
        label(
            style,
            names[place],
            colors[place],
            xref=f"x{end}",
            yref=f"y{end}",
            x=x,
            y=height,
            xanchor="left",
            xshift=6,
        )
        for place, height in zip(known, apart, strict=True)
    ]


def reading(words: str, x: float, last: float, style: Style) -> dict[str, Any]:
    """What is read off, at the top beside the upright line, on the side that has room."""
    right = x <= 0.7 * last
    return label(
        style,
        words,
        style.palette.truth,
        x=x,
        y=1,
        yref="y domain",
        xanchor="left" if right else "right",
        xshift=6 if right else -6,
        yanchor="top",
    )
