"""What scaling does to the softmax as queries and keys become longer."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from seqviz.compute.attention.saturation import Saturation
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
QUANTITIES = ("entropy", "largest", "gradient", "variance")
_TAG = re.compile(r"<[^>]+>")
_TICKS = [4**k for k in range(6)]
_BASE = 64  # d_k of the base Transformer (Vaswani et al. 2017)
# For each scaling: key of its words, role of its color, dash, width.
_LOOKS = {
    "none": ("none", "truth", "solid", 3.0),
    "d_k": ("by_d_k", "prediction", "solid", 3.0),
    "d": ("by_d", "baseline", "dash", 2.2),
}


def saturation_lines(found: Saturation, quantity: str, style: Style = _STYLE) -> Figure:
    """One line a scaling over d_k (log axis).

    quantity: "entropy" of the weights with the most that it can be, "largest" weight, "gradient",
    the mean norm of the softmax's Jacobian, or "variance" of what enters the softmax, on a log
    axis, with the theory's. A line stands at d_k = 64.
    Raises ValueError for another quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"The quantity is one of {', '.join(QUANTITIES)}, not {quantity!r}.")
    text, palette = style.text, style.palette
    values = getattr(found, quantity)
    name = text(f"figure.attention_scale_{quantity}")
    data: list[dict[str, Any]] = []
    for scaling, line in zip(found.scalings, values, strict=True):
        words, role, dash, width = _LOOKS[scaling]
        data.append(
            {
                "type": "scatter",
                "x": found.d_k,
                "y": line,
                "mode": "lines",
                "name": text(f"figure.attention_scale_{words}"),
                "line": {"color": getattr(palette, role), "width": width, "dash": dash},
                "hovertemplate": "d<sub>k</sub> = %{x:d}: %{y:.3g}<extra>%{fullData.name}</extra>",
            }
        )
    if quantity == "entropy":
        for trace, errors in zip(data, found.entropy_error, strict=True):
            trace["customdata"] = errors
            trace["hovertemplate"] = trace["hovertemplate"].replace(
                "<extra>",
                text("figure.attention_scale_hover_error", error="%{customdata:.2g}") + "<extra>",
            )
        data.append(_most(found, style))
    if quantity == "variance":
        data += [_theory(found, place, style) for place in range(len(found.scalings))]
    spec = layout(style)
    first, last = int(found.d_k[0]), int(found.d_k[-1])
    spec |= {
        "xaxis": axis_layout(
            style,
            type="log",
            range=[math.log10(first), math.log10(last)],
            tickvals=_TICKS,
            ticktext=[f"{tick:,}" for tick in _TICKS],
            title={"text": text("figure.attention_scale_d_k")},
        ),
        "yaxis": axis_layout(style, title={"text": name}, **_range(found, quantity)),
        "shapes": [
            {
                "type": "line",
                "yref": "y domain",
                "x0": _BASE,
                "x1": _BASE,
                "y0": 0,
                "y1": 1,
                "line": {"color": palette.highlight, "width": 2},
                "layer": "below",
            }
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.attention_scale",
            quantity=_TAG.sub("", name),
            first=first,
            last=f"{last:,}",
            keys=found.keys,
            values="; ".join(
                f"{_TAG.sub('', trace['name'])} {number(float(line[-1]))}"
                for trace, line in zip(data, values, strict=False)
            ),
        ),
    )


def _most(found: Saturation, style: Style) -> dict[str, Any]:
    """Equal weights on all keys."""
    bits = math.log2(found.keys)
    return {
        "type": "scatter",
        "x": found.d_k[[0, -1]],
        "y": np.array([bits, bits]),
        "mode": "lines",
        "name": style.text(
            "figure.attention_scale_most",
            keys=found.keys,
            bits=number(bits).rstrip("0").rstrip("."),
        ),
        "line": {"color": style.palette.baseline, "width": 1.6, "dash": "dot"},
        "hovertemplate": "%{y:.3g}<extra>%{fullData.name}</extra>",
    }


def _theory(found: Saturation, place: int, style: Style) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": found.d_k,
        "y": found.theory[place],
        "mode": "lines",
        "name": style.text("figure.attention_scale_theory"),
        "legendgroup": "theory",
        "showlegend": place == 0,
        "line": {"color": style.palette.highlight, "width": 1.8, "dash": "dot"},
        "hovertemplate": "d<sub>k</sub> = %{x:d}: %{y:.3g}<extra>%{fullData.name}</extra>",
    }


def _range(found: Saturation, quantity: str) -> dict[str, Any]:
    """Of the vertical axis: from zero, or decades for the variance, which runs over three."""
    if quantity == "variance":
        seen = np.log10(np.concatenate([found.variance, found.theory]))
        return {
            "type": "log",
            "dtick": 1,
            "range": [float(seen.min()) - 0.2, float(seen.max()) + 0.2],
        }
    top = {
        "entropy": math.log2(found.keys),
        "largest": 1.0,
        "gradient": float(found.gradient.max()),
    }[quantity]
    return {"range": [0, 1.06 * top]}
