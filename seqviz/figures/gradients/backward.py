"""The backward pass taken apart: the paths of equation 44, one step after another, as LaTeX."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bptt import Paths, Recursion
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def path_bars(found: Paths, printed: bool = False, style: Style = _STYLE) -> Figure:
    """One bar for each error: its share of the gradient at t, measured along the gradient.

    The shares add up to the length of the gradient; the line is their running sum, the dotted one
    the length that autograd finds. printed: the index as the text prints it, too.
    """
    text, palette = style.text, style.palette
    count = len(found.terms)
    later = np.arange(found.moment, found.moment + count)
    shares = found.along(found.terms)
    length = float(np.linalg.norm(found.autograd))
    kinds = [("figure.share", shares, palette.prediction, "")]
    if printed:
        kinds.append(("figure.share_printed", found.along(found.printed), palette.rnn, "/"))
    data: list[dict[str, Any]] = []
    for name, values, color, pattern in kinds:
        data.append(
            {
                "type": "bar",
                "x": later,
                "y": values,
                "name": text(name),
                "marker": {
                    "color": color,
                    "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": palette.grid},
                },
                "hovertemplate": "τ = %{x}: %{y:.3g}<extra>%{fullData.name}</extra>",
            }
        )
        data.append(
            {
                "type": "scatter",
                "x": later,
                "y": np.cumsum(values),
                "mode": "lines+markers",
                "name": text(name + "_sum"),
                "line": {
                    "color": color,
                    "width": 2,
                    "shape": "hv",
                    "dash": "dash" if pattern else "solid",
                },
                "marker": {"size": 6},
                "hovertemplate": "τ ≤ %{x}: %{y:.3g}<extra>%{fullData.name}</extra>",
            }
        )
    data.append(
        {
            "type": "scatter",
            "x": [later[0] - 0.6, later[-1] + 0.6],
            "y": [length, length],
            "mode": "lines",
            "name": text("figure.autograd", value=number(length)),
            "line": {"color": palette.truth, "width": 2, "dash": "dot"},
            "hoverinfo": "skip",
        }
    )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            title={"text": text("figure.error_of_step")},
            range=[later[0] - 0.6, later[-1] + 0.6],
            dtick=1 if count <= 20 else None,
        ),
        "yaxis": axis_layout(style, title={"text": text("figure.share_axis")}, zeroline=True,
                             zerolinecolor=palette.baseline),
    }  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.paths",
            t=found.moment,
            last=int(later[-1]),
            nearest=number(float(shares[0])),
            farthest=number(float(shares[-1])),
            total=number(float(shares.sum())),
            autograd=number(length),
        ),
    )


def unrolled_graph(found: Recursion, taken: int, style: Style = _STYLE) -> Figure:
    """The unrolled network with the gradient as far as it has come back, `taken` steps.

    Below each state that has been reached: the length of dJ/dh_t. Above each output: its residual
    dJ/dyhat_t. The arrow just taken is highlighted.
    """
    text, palette = style.text, style.palette
    last = len(found.total)
    reached = last - taken + 1  # the earliest state whose gradient is known (none: last + 1)
    time = list(range(1, last + 1))
    sizes = np.linalg.norm(found.total, axis=1)
    known = [t >= reached for t in time]
    fills = [
        palette.highlight if t == reached else palette.band if t > reached else palette.grid
        for t in time
    ]
    data = [
        {
            "type": "scatter",
            "x": time,
            "y": np.zeros(last),
            "mode": "markers+text",
            "name": text("figure.gradient_length"),
            "marker": {"size": 46 * style.scale, "color": fills},
            "text": [f"h<sub>{t}</sub>" for t in time],
            "textfont": {
                "size": 17 * style.scale,
                "color": ["#11161D" if t == reached else palette.truth for t in time],
            },
            "customdata": [
                number(size) if k else "?" for size, k in zip(sizes, known, strict=True)
            ],
            "hovertemplate": "‖∂J/∂h<sub>%{x}</sub>‖ = %{customdata}<extra></extra>",
            "showlegend": False,
        },
        {
            "type": "scatter",
            "x": time,
            "y": np.ones(last),
            "mode": "markers+text",
            "name": text("figure.residual"),
            "marker": {"size": 34 * style.scale, "color": palette.band, "symbol": "square"},
            "text": [f"ŷ<sub>{t}</sub>" for t in time],
            "textfont": {"size": 14 * style.scale, "color": palette.truth},
            "customdata": [number(float(r[0])) for r in found.residuals],
            "hovertemplate": "∂J/∂ŷ<sub>%{x}</sub> = %{customdata}<extra></extra>",
            "showlegend": False,
        },
    ]
    arrows = [_arrow(t, 0.0, t + 1, 0.0, palette.baseline, 1.6, 0.09) for t in time[:-1]]
    for t in time:
        color = palette.rnn if t >= reached else palette.grid
        arrows.append(_arrow(t, 1.0, t, 0.0, color, 3 if t == reached else 1.8, 0.0, gap=0.2))
        if t >= reached and t < last:
            width = 4 if t == reached else 2.4
            arrows.append(_arrow(t + 1, 0.0, t, 0.0, palette.rnn, width, -0.11))
    labels = [
        _label(t, -0.42, f"<b>{number(sizes[t - 1])}</b>", style) for t in time if t >= reached
    ] + [_label(t, 1.36, number(float(found.residuals[t - 1, 0])), style) for t in time]
    labels += [
        _label(0.35, y, text(key), style, "right")
        for y, key in ((1.36, "figure.residual"), (-0.42, "figure.gradient_length"))
    ]
    spec = layout(style)
    spec |= {
        "xaxis": {"visible": False, "range": [-0.75, last + 0.5]},
        "yaxis": {"visible": False, "range": [-0.75, 1.6]},
        "annotations": [*arrows, *labels],
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.recursion",
            last=last,
            taken=taken,
            known="; ".join(f"t = {t}: {number(sizes[t - 1])}" for t in time[::-1] if t >= reached)
            or "–",
        ),
    )


def _arrow(
    x0: float, y0: float, x1: float, y1: float, color: str, width: float, lift: float,
    gap: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """An arrow between two nodes, `lift` above the line that joins them."""
    along = 0.26 if y0 == y1 else 0.0
    sign = 1 if x1 > x0 else -1
    return {
        "x": x1 - sign * along,
        "y": y1 + lift + gap,
        "ax": x0 + sign * along,
        "ay": y0 + lift - gap,
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "text": "",
        "showarrow": True,
        "arrowhead": 2,
        "arrowwidth": width,
        "arrowcolor": color,
    }


def _label(x: float, y: float, words: str, style: Style, side: str = "center") -> dict[str, Any]:
    return {
        "x": x,
        "y": y,
        "xanchor": side,
        "text": words,
        "showarrow": False,
        "font": {"size": 13 * style.scale, "color": style.palette.truth},
    }


def recursion_step(found: Recursion, t: int) -> str:
    """dJ/dh_t = (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_yh^T dJ/dyhat_t with all its numbers.

    t counts from 1; at the last step only the second term is there.
    """
    output = (
        rf"\underbrace{{{_matrix(found.readout.T)}}}_{{W_{{yh}}^\top}}"
        rf"\underbrace{{({_number(found.residuals[t - 1, 0])})}}"
        rf"_{{\partial J/\partial\hat y_{t}}}"
    )
    carried = ""
    if t < len(found.total):
        carried = (
            rf"\underbrace{{{_matrix(found.jacobian[t - 1].T)}}}"
            rf"_{{(\partial h_{t + 1}/\partial h_{t})^\top}}"
            rf"\underbrace{{{_matrix(found.total[t][:, None])}}}"
            rf"_{{\partial J/\partial h_{t + 1}}} + "
        )
    ending = _matrix(found.total[t - 1][:, None])
    return rf"\frac{{\partial J}}{{\partial h_{t}}} = {carried}{output} = {ending}"


def _matrix(values: np.ndarray) -> str:
    rows = r"\\".join("&".join(_number(v) for v in row) for row in values)
    return rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"


def _number(value: float) -> str:
    """The digits that a screen shows, in LaTeX."""
    mantissa, _, power = number(float(value)).replace("−", "-").partition(" × 10")
    return rf"{mantissa}\cdot 10^{{{power.translate(_PLAIN)}}}" if power else mantissa
