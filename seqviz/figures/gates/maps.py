"""All units of a network at once: one gate or state as a map, and how often gates are saturated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.figures.gates.traces import LOOKS
from seqviz.figures.grammar.decades import diverging
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import numbered, token_axis
from seqviz.text import number

_STYLE = Style()
_NAMED_UNITS = 24  # rows whose numbers find room beside them
_PER_DECADE = 4
_SHORTEST, _LONGEST = 0.1, 1000.0  # steps: what is beyond goes into the outer bins


def gate_map(
    values: Float[np.ndarray, "time unit"],
    order: Int[np.ndarray, "unit"],
    tokens: Sequence[str],
    name: str,
    signed: bool,
    unit: int,
    step: int,
    style: Style = _STYLE,
) -> Figure:
    """All units over all steps; a click gives the step (x) and the place of the unit (y), from 1.

    order: row r from the top is unit order[r], counted from 0. name: symbol of what is shown.
    signed: states on a scale symmetric about zero, which ends at 98 of 100 values where a few are
    far beyond; otherwise gates in [0, 1]. unit, step: those selected, from 1; they are outlined.
    """
    text, palette = style.text, style.palette
    steps, units = values.shape
    label = text(f"figure.gate_{name}")
    z = np.ascontiguousarray(values.T[order], np.float32)
    limit, beyond = _reach(z)
    ranks = [str(place + 1) for place in order]
    rank = int(np.flatnonzero(order == unit - 1)[0]) + 1
    chosen = number(float(values[step - 1, unit - 1]))
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(1, steps + 1),
        "y": np.arange(1, units + 1),
        "z": z,
        "name": label,
        "meta": "pick",
        "zmin": -limit if signed else 0,
        "zmax": limit if signed else 1,
        "colorscale": diverging(style) if signed else WEIGHTS,
        "hovertemplate": text(
            "figure.hover_cell", token="%{x}", step="%{x:d}", unit="%{y}", value="%{z:.3g}"
        )
        + "<extra></extra>",
        "colorbar": {
            "title": {"text": label, "side": "right", "font": {"size": 13 * style.scale}},
            "tickfont": {"size": 12 * style.scale},
            "thickness": 12,
            "outlinewidth": 0,
            "x": 1.03,
            "xpad": 0,
            **(_ends(limit) if signed and beyond else {}),
        },
    }
    rows = axis_layout(style, range=[units + 0.5, 0.5], showgrid=False)
    if units <= _NAMED_UNITS:
        rows |= {"tickvals": list(range(1, units + 1)), "ticktext": ranks}
        title = text("figure.units_in_order")
    else:
        rows |= numbered(units, ranks)
        title = text("figure.ranks")
    rows["title"] = {**rows["title"], "text": title}
    # White is seen on every color of a gate's scale; a state's neutral color is the page itself.
    edge = palette.truth if signed else "rgba(255,255,255,0.9)"
    spec = layout(style)
    spec |= {
        "xaxis": token_axis(style, tokens),
        "yaxis": rows,
        "shapes": [
            _outline(edge, "y", x0=0, x1=1, y0=rank - 0.5, y1=rank + 0.5),
            _outline(edge, "x", x0=step - 0.5, x1=step + 0.5, y0=0, y1=1),
        ],
        "annotations": [
            _pointer("▼", "x", style, x=step, y=1, yanchor="bottom", yshift=-3),
            _pointer("◀", "y", style, x=1, y=rank, xanchor="left", xshift=-2),
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": 1,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 16 * style.scale,
                "text": text("figure.chosen_cell", unit=unit, step=step, value=f"<b>{chosen}</b>"),
                "showarrow": False,
                "font": {"size": 14 * style.scale, "color": palette.truth},
            },
        ],
    }
    return finish(
        {"data": [heat], "layout": spec},
        text(
            "alt.gate_map",
            name=label,
            units=units,
            steps=steps,
            unit=unit,
            step=step,
            value=chosen,
            mean=number(float(values.mean())),
        ),
    )


def _reach(values: Float[np.ndarray, "unit time"]) -> tuple[float, bool]:
    """Where the color scale of states ends, and whether a few of them lie beyond it.

    One cell state that ran away would leave all others without color: where the largest is more
    than twice as large as 98 of 100, the scale ends there.
    """
    if not values.size:
        return 1.0, False
    largest, most = float(np.abs(values).max()), float(np.percentile(np.abs(values), 98))
    if largest > 2 * most > 0:
        return most, True
    return largest or 1.0, False


def _ends(limit: float) -> dict[str, Any]:
    """Ticks of a color bar whose ends stand for everything beyond."""
    places = [-limit, -limit / 2, 0.0, limit / 2, limit]
    labels = [number(place, 2) for place in places]
    return {"tickvals": places, "ticktext": [f"≤ {labels[0]}", *labels[1:4], f"≥ {labels[4]}"]}


def saturation(
    left: Mapping[str, Float[np.ndarray, "unit"]],
    right: Mapping[str, Float[np.ndarray, "unit"]],
    time_constants: Float[np.ndarray, "unit"],
    style: Style = _STYLE,
) -> Figure:
    """Left: how often each unit's gates are nearly shut and nearly open. Right: how long it keeps.

    left, right: for each gate (its symbol) the share of steps at which it is below 0.1 and above
    0.9. time_constants: in steps; those below 0.1 and from 1,000 on (infinite ones, too) are in the
    outer bins.
    """
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": [0, 1],
            "y": [1, 0],
            "mode": "lines",
            "name": text("figure.always_saturated"),
            "hoverinfo": "skip",
            "line": {"color": palette.baseline, "width": 1.6, "dash": "dot"},
        }
    ]
    for gate, shut in left.items():
        role, _, symbol = LOOKS[gate]
        units = np.arange(1, len(shut) + 1)
        data.append(
            {
                "type": "scatter",
                "x": shut,
                "y": right[gate],
                "mode": "markers",
                "name": text(f"figure.gate_{gate}"),
                "marker": {
                    "color": getattr(palette, role),
                    "symbol": symbol,
                    "size": 9,
                    "opacity": 0.75 if len(shut) < 64 else 0.5,
                },
                "customdata": units,
                "hovertemplate": text(
                    "figure.hover_saturation",
                    unit="%{customdata}",
                    shut="%{x:.1%}",
                    open="%{y:.1%}",
                )
                + "<extra>%{fullData.name}</extra>",
            }
        )
    counts, edges = _histogram(time_constants)
    names = [f"{number(low, 2)} – {number(high, 2)}" for low, high in pairwise(edges)]
    names[0], names[-1] = f"< {number(_SHORTEST, 1)}", f"≥ {number(_LONGEST, 1)}"
    data.append(
        {
            "type": "bar",
            "x": (edges[:-1] + edges[1:]) / 2,
            "y": counts,
            "width": np.diff(edges),
            "xaxis": "x2",
            "yaxis": "y2",
            "name": text("figure.time_constants"),
            "showlegend": False,
            "marker": {
                "color": [*[palette.prediction] * (len(counts) - 1), palette.highlight],
                "line": {"color": palette.band, "width": 1},
            },
            "text": names,
            "textposition": "none",
            "hovertemplate": text("figure.hover_bin", span="%{text}", count="%{y}")
            + "<extra></extra>",
        }
    )
    shares = {"range": [-0.04, 1.04], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    tens = [10.0**k for k in range(-1, 3)]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, domain=[0, 0.44], title={"text": text("figure.share_shut")}, **shares
        ),
        "yaxis": axis_layout(style, title={"text": text("figure.share_open")}, **shares),
        "xaxis2": axis_layout(
            style,
            domain=[0.6, 1],
            anchor="y2",
            type="log",
            title={"text": text("figure.time_constant_axis")},
            range=list(np.log10(edges[[0, -1]])),
            tickvals=[*tens, _LONGEST],
            ticktext=[*(f"{ten:g}" for ten in tens), f"≥ {number(_LONGEST, 1)}"],
            showgrid=False,
        ),
        "yaxis2": axis_layout(
            style,
            anchor="x2",
            title={"text": text("figure.unit_count")},
            rangemode="tozero",
            tickformat="d",
            **({"dtick": 1} if counts.max(initial=0) <= 5 else {}),
        ),
    }
    known = time_constants[~np.isnan(time_constants)]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.saturation",
            units=len(time_constants),
            gates="; ".join(
                text(
                    "figure.mean_shares",
                    gate=text(f"figure.gate_{gate}"),
                    shut=f"{100 * float(np.mean(shut)):.1f}",
                    open=f"{100 * float(np.mean(right[gate])):.1f}",
                )
                for gate, shut in left.items()
            ),
            median=number(float(np.median(known))) if known.size else "–",
            endless=int(counts[-1]),
        ),
    )


def _histogram(
    steps: Float[np.ndarray, "unit"],
) -> tuple[Int[np.ndarray, "bin"], Float[np.ndarray, "edge"]]:
    """Counts in bins of a quarter of a decade, with one bin for what lies beyond on either side."""
    low, high = np.log10(_SHORTEST), np.log10(_LONGEST)
    inner = np.logspace(low, high, round((high - low) * _PER_DECADE) + 1)
    places = np.searchsorted(inner, steps[~np.isnan(steps)], side="right")
    factor = 10 ** (1 / _PER_DECADE)
    return (
        np.bincount(places, minlength=len(inner) + 1),
        np.concatenate([[inner[0] / factor], inner, [inner[-1] * factor]]),
    )


def _outline(color: str, axis: str, **place: float) -> dict[str, Any]:
    """The selected row or column; `axis` is the one on which it has a place of its own."""
    return {
        "type": "rect",
        "xref": "x" if axis == "x" else "paper",
        "yref": "y" if axis == "y" else "paper",
        "line": {"color": color, "width": 1.5},
        **place,
    }


def _pointer(mark: str, axis: str, style: Style, **place: Any) -> dict[str, Any]:
    return {
        "xref": "x" if axis == "x" else "paper",
        "yref": "y" if axis == "y" else "paper",
        "text": mark,
        "showarrow": False,
        "font": {"size": 12 * style.scale, "color": style.palette.highlight},
        **place,
    }
