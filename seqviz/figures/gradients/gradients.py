"""Gradients through time: how far an error reaches, and every pair of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.bptt import FLOAT32, PairNorms, PairSpectrum, Reach, Spectrum
from seqviz.figures.grammar.decades import POWER, diverging, log_axis, powers, ticks_of_ten
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Palette, Style, axis_layout, finish, layout
from seqviz.text import from_log10, number

_STYLE = Style()
_WORDS_ON_AXIS = 40
_DEEPEST = 12  # decades that the colors of the heatmap tell apart


def color_of(cell: str, palette: Palette) -> str:
    """The color of a cell; the linear and the ReLU network are relatives of the RNN."""
    return str(getattr(palette, {"linear": "truth", "relu": "mlp"}.get(cell, cell)))


def gradient_reach(
    cells: Sequence[str],
    reaches: Sequence[Reach],
    spectrum: Spectrum,
    style: Style = _STYLE,
) -> Figure:
    """|dJ/dh_t| against t for several cells, with the two powers that bound and govern it.

    cells: their names, in the order of `reaches`. spectrum: of the recurrent matrix that all cells
    share; its lines start at the first cell's gradient at the last step. A diamond marks how far
    back a hundredth of the last step's error still arrives.
    """
    text, palette = style.text, style.palette
    last = max(len(r.norms.hidden) for r in reaches)
    data: list[dict[str, Any]] = []
    seen: list[np.ndarray] = []
    for cell, found in zip(cells, reaches, strict=True):
        color, name = color_of(cell, palette), text(f"option.{cell}")
        parts = [("h", found.norms.hidden, "solid")]
        if found.norms.cell_state is not None:
            parts.append(("c", found.norms.cell_state, "dash"))
        for part, log10, dash in parts:
            time = np.arange(1, len(log10) + 1)
            seen.append(log10)
            data.append(
                {
                    "type": "scatter",
                    "x": time,
                    "y": powers(log10),
                    "mode": "lines",
                    "name": f"{name}, {part}<sub>t</sub>" if len(parts) > 1 else name,
                    "line": {"color": color, "width": 2.6, "dash": dash},
                    "customdata": [from_log10(value) for value in log10],
                    "hovertemplate": "t = %{x}: %{customdata}<extra>%{fullData.name}</extra>",
                }
            )
        road = parts[-1][1]
        place = len(road) - found.horizon
        data.append(
            {
                "type": "scatter",
                "x": [place],
                "y": powers(road[place - 1 : place]),
                "mode": "markers",
                "name": text("figure.reaches", cell=name),
                "showlegend": False,
                "hoverinfo": "skip",
                "marker": {
                    "color": color,
                    "size": 12,
                    "symbol": "diamond",
                    "line": {"color": palette.truth, "width": 1.2},
                },
            }
        )
    time = np.arange(1, last + 1)
    start = float(reaches[0].norms.hidden[-1])
    shared = {"sigma_max": spectrum.sigma_max, "radius": spectrum.radius}
    for name, dash in (("sigma_max", "dash"), ("radius", "dot")):
        with np.errstate(divide="ignore"):
            line = start + (last - time) * np.log10(shared[name])
        data.append(
            {
                "type": "scatter",
                "x": time,
                "y": powers(line),
                "mode": "lines",
                "name": text(f"figure.power_{name}", value=number(shared[name])),
                "line": {"color": palette.baseline, "width": 1.8, "dash": dash},
                "hoverinfo": "skip",
            }
        )
    spec = layout(style)
    values = np.concatenate(seen)
    spec |= {
        "xaxis": _time_axis(style, last, reaches[0].labels),
        "yaxis": log_axis(style, values, text("figure.gradient_norm")),
        "shapes": [_limit(value, palette.grid) for value in FLOAT32],
    }
    spec["annotations"] = _limits(spec["yaxis"]["range"], style)
    first, end = reaches[0].norms.hidden[0], reaches[0].norms.hidden[-1]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.reach",
            cell=text(f"option.{cells[0]}"),
            last=last,
            end=from_log10(float(end)),
            first=from_log10(float(first)),
            horizons="; ".join(
                f"{text(f'option.{cell}')}: {found.horizon}"
                for cell, found in zip(cells, reaches, strict=True)
            ),
        ),
    )


def pair_map(
    pairs: PairNorms,
    chosen: PairSpectrum,
    earlier: int,
    later: int,
    cell: str,
    spectrum: Spectrum,
    style: Style = _STYLE,
) -> Figure:
    """Left: log10 of the norm of dh_tau/dh_t for all pairs. Right: one pair's singular values.

    chosen, earlier, later: the pair on the right and its steps, marked on the left.
    """
    text, palette = style.text, style.palette
    finite = pairs.log10[np.isfinite(pairs.log10)]
    limit = int(np.clip(np.ceil(np.abs(finite).max(initial=0)), 1, _DEEPEST))
    places, labels = ticks_of_ten(-limit, limit)
    steps = pairs.steps
    half = pairs.stride / 2
    index = np.arange(1, len(chosen.log10) + 1)
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": steps,
            "y": steps,
            "z": pairs.log10,
            "name": text("figure.pair_norm"),
            "meta": "pick",
            "zmin": -limit,
            "zmax": limit,
            "colorscale": diverging(style),
            "hoverongaps": False,
            "hovertemplate": f"t = %{{x}}, τ = %{{y}}: {POWER}<extra></extra>",
            "colorbar": {
                "title": {
                    "text": text("figure.pair_norm"),
                    "side": "right",
                    "font": {"size": 13 * style.scale},
                },
                "tickvals": places,
                "ticktext": labels,
                "thickness": 12,
                "outlinewidth": 0,
                "x": 0.545,
                "xpad": 0,
            },
        },
        {
            "type": "scatter",
            "x": [earlier],
            "y": [later],
            "mode": "markers",
            "showlegend": False,
            "hoverinfo": "skip",
            "marker": {
                "symbol": "square-open",
                "size": 13,
                "color": palette.truth,
                "line": {"width": 3, "color": palette.truth},
            },
        },
        {
            "type": "scatter",
            "x": index,
            "y": powers(chosen.log10),
            "xaxis": "x2",
            "yaxis": "y2",
            "mode": "markers",
            "name": text("figure.singular_values", earlier=earlier, later=later),
            "marker": {"color": color_of(cell, palette), "size": 8},
            "customdata": [from_log10(v) for v in chosen.log10],
            "hovertemplate": "%{x}: %{customdata}<extra></extra>",
        },
    ]
    shown = [chosen.log10]
    if cell in ("linear", "rnn", "relu"):
        for name, dash in (("sigma_max", "dash"), ("radius", "dot")):
            value = getattr(spectrum, name)
            level = (later - earlier) * float(np.log10(value)) if value > 0 else -np.inf
            shown.append(np.array([level]))
            data.append(
                {
                    "type": "scatter",
                    "x": [0.5, len(index) + 0.5],
                    "y": powers(np.full(2, level)),
                    "xaxis": "x2",
                    "yaxis": "y2",
                    "mode": "lines",
                    "name": text(f"figure.pair_{name}"),
                    "hoverinfo": "skip",
                    "line": {"color": palette.baseline, "width": 1.8, "dash": dash},
                }
            )
    edge = [float(steps[0] - half), float(steps[-1] + half)]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            domain=[0, 0.53],
            range=edge,
            title={"text": text("figure.earlier")},
            showgrid=False,
        ),
        "yaxis": axis_layout(
            style, range=edge, title={"text": text("figure.later")}, showgrid=False
        ),
        "xaxis2": axis_layout(
            style,
            domain=[0.77, 1],
            anchor="y2",
            range=[0.4, len(index) + 0.6],
            title={"text": text("figure.singular_index")},
        ),
        "yaxis2": log_axis(
            style, np.concatenate(shown), text("figure.singular_value"), anchor="x2"
        ),
    }
    spec["legend"] |= {"x": 1, "xanchor": "right"}
    corner = pairs.log10[-1, 0]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pairs",
            first=int(steps[0]),
            last=int(steps[-1]),
            corner=from_log10(float(corner)),
            earlier=earlier,
            later=later,
            largest=from_log10(float(chosen.log10[0])),
        ),
    )


def _time_axis(style: Style, last: int, labels: tuple[str, ...] | None) -> dict[str, Any]:
    """Steps, or the words that were read at them."""
    axis = axis_layout(style, title={"text": style.text("figure.steps")}, range=[0.5, last + 0.5])
    if labels and len(labels) <= _WORDS_ON_AXIS:
        axis |= {
            "tickvals": list(range(1, len(labels) + 1)),
            "ticktext": [_escaped(label) for label in labels],
            "title": {**axis["title"], "text": style.text("figure.words")},
        }
    return axis


def _escaped(word: str) -> str:
    """A student's word as plain text: Plotly reads tags in labels."""
    return word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _limit(log10: float, color: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 10**log10,
        "y1": 10**log10,
        "line": {"color": color, "width": 2},
        "layer": "below",
    }


def _limits(span: Sequence[float], style: Style) -> list[dict[str, Any]]:
    """Names of float32's ends, where the axis reaches them."""
    names = ("float32_largest", "float32_smallest")
    return [
        {
            "xref": "paper",
            "x": 0.005,
            "xanchor": "left",
            "y": log10,
            "yanchor": "bottom" if log10 < 0 else "top",
            "text": style.text(f"figure.{name}"),
            "showarrow": False,
            "font": {"color": style.palette.baseline, "size": 12 * style.scale},
        }
        for name, log10 in zip(names, FLOAT32, strict=True)
        if span[0] < log10 < span[1]
    ]
