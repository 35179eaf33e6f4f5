"""What truncation loses, what chance gives back, and what clipping saves."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bptt import Descent, Randomized, Terms, Truncation
from seqviz.figures.grammar.decades import POWER, log_axis, powers, ticks_of_ten
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_DEEPEST = 12


def kept_and_lost(terms: Terms, found: Truncation, window: int, style: Style = _STYLE) -> Figure:
    """Left: the terms of the gradient, the lost ones in gray. Right: angle and length by window."""
    text, palette = style.text, style.palette
    high = int(np.ceil(np.nanmax(terms.log10)))
    finite = terms.log10[np.isfinite(terms.log10)]
    low = int(max(np.floor(finite.min()), high - _DEEPEST)) if finite.size else high - 1
    low = min(low, high - 1)
    places, labels = ticks_of_ten(low, high, 6)
    half = (terms.steps[1] - terms.steps[0]) / 2 if len(terms.steps) > 1 else 0.5
    edge = [float(terms.steps[0] - half), float(terms.steps[-1] + half)]
    grays = [[0, "rgba(128,140,152,0.08)"], [1, "rgba(128,140,152,0.75)"]]
    data: list[dict[str, Any]] = []
    for name, keep, scale in (("kept", True, WEIGHTS), ("lost", False, grays)):
        # A term that is exactly zero (there is no state before the first step) has no color.
        there = (terms.kept == keep) & np.isfinite(terms.log10)
        z = np.where(there, terms.log10, np.nan)
        if not np.isfinite(z).any():
            continue
        data.append(
            {
                "type": "heatmap",
                "x": terms.steps,
                "y": terms.steps,
                "z": z,
                "name": text(f"figure.terms_{name}"),
                "zmin": low,
                "zmax": high,
                "colorscale": scale,
                "showscale": keep,
                "hoverongaps": False,
                "hovertemplate": f"t = %{{x}}, τ = %{{y}}: {POWER}"
                f"<extra>{text(f'figure.terms_{name}')}</extra>",
                "colorbar": {
                    "title": {
                        "text": text("figure.term_size"),
                        "side": "right",
                        "font": {"size": 13 * style.scale},
                    },
                    "tickvals": places,
                    "ticktext": labels,
                    "thickness": 12,
                    "outlinewidth": 0,
                    "x": 0.5,
                    "xpad": 0,
                },
            }
        )
    lines = (
        ("angle", found.angle, "y2", palette.rnn, "solid"),
        ("length", found.length, "y3", palette.prediction, "dash"),
    )
    for name, values, axis, color, dash in lines:
        data.append(
            {
                "type": "scatter",
                "x": found.windows,
                "y": values,
                "xaxis": "x2",
                "yaxis": axis,
                "mode": "lines+markers",
                "name": text(f"figure.{name}"),
                "showlegend": False,
                "line": {"color": color, "width": 2.4, "dash": dash},
                "marker": {"size": 5},
            }
        )
        place = int(np.argmin(np.abs(found.windows - window)))
        data.append(
            {
                "type": "scatter",
                "x": found.windows[place : place + 1],
                "y": values[place : place + 1],
                "xaxis": "x2",
                "yaxis": axis,
                "mode": "markers",
                "showlegend": False,
                "hoverinfo": "skip",
                "marker": {
                    "color": palette.highlight,
                    "size": 13,
                    "symbol": "diamond",
                    "line": {"color": palette.truth, "width": 1.2},
                },
            }
        )
    right = axis_layout(
        style,
        type="log",
        domain=[0.7, 1],
        anchor="y3",
        title={"text": text("figure.window")},
        range=[-0.04, float(np.log10(found.windows[-1])) + 0.04],
        tickvals=[k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500) if k <= found.windows[-1]],
    )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            domain=[0, 0.48],
            range=edge,
            title={"text": text("figure.carried_to")},
            showgrid=False,
        ),
        "yaxis": axis_layout(
            style, range=edge, title={"text": text("figure.error_of_step")}, showgrid=False
        ),
        "xaxis2": right,
        "yaxis2": axis_layout(
            style, domain=[0.56, 1], anchor="x2", title={"text": text("figure.angle")},
            rangemode="tozero",
        ),
        "yaxis3": axis_layout(
            style, domain=[0, 0.44], anchor="x2", title={"text": text("figure.length")},
            rangemode="tozero",
        ),
    }  # fmt: skip
    place = int(np.argmin(np.abs(found.windows - window)))
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.truncation",
            window=window,
            last=int(found.windows[-1]),
            kept=f"{100 * float(found.kept[place]):.1f}",
            angle=number(float(found.angle[place])),
            length=number(float(found.length[place])),
        ),
    )


def mean_of_draws(found: Randomized, style: Style = _STYLE) -> Figure:
    """Distance of the mean of n randomly truncated gradients from the full one, by n."""
    text, palette = style.text, style.palette
    reference = found.error[0] / np.sqrt(found.draws)
    lines = (
        ("random", found.error, palette.prediction, "solid", "lines+markers"),
        ("square_root", reference, palette.baseline, "dot", "lines"),
        ("fixed", np.full(len(found.draws), found.fixed), palette.rnn, "dash", "lines"),
    )
    data = [
        {
            "type": "scatter",
            "x": found.draws,
            "y": values,
            "mode": mode,
            "name": text(f"figure.draws_{name}", window=found.window),
            "line": {"color": color, "width": 2.4, "dash": dash},
            "marker": {"size": 7},
        }
        for name, values, color, dash, mode in lines
    ]
    spec = layout(style)
    shown = np.concatenate([found.error, [found.fixed]])
    with np.errstate(divide="ignore"):
        logs = np.log10(shown)
    spec |= {
        "xaxis": axis_layout(
            style,
            type="log",
            title={"text": text("figure.draws")},
            tickvals=[int(n) for n in found.draws],
        ),
        "yaxis": log_axis(style, logs, text("figure.relative_distance")),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.draws",
            draws=int(found.draws[-1]),
            error=number(float(found.error[-1])),
            one=number(float(found.error[0])),
            window=found.window,
            fixed=number(found.fixed),
        ),
    )


def with_and_without_clipping(
    free: Descent, clipped: Descent, threshold: float, style: Style = _STYLE
) -> Figure:
    """Left: loss by update, with and without clipping. Right: the gradient's norm and theta."""
    text, palette = style.text, style.palette
    total = max(len(free.loss), len(clipped.loss))
    data: list[dict[str, Any]] = []
    runs = (
        ("free", free, palette.rnn, "dash"),
        ("clipped", clipped, palette.prediction, "solid"),
    )
    logs: dict[str, list[np.ndarray]] = {"loss": [], "norm": []}
    for name, run, color, dash in runs:
        for quantity, axis in (("loss", ""), ("norm", "2")):
            values = getattr(run, quantity)
            with np.errstate(divide="ignore"):
                logs[quantity].append(np.log10(values))
            data.append(
                {
                    "type": "scatter",
                    "x": np.arange(1, len(values) + 1),
                    "y": powers(logs[quantity][-1]),
                    "xaxis": f"x{axis}",
                    "yaxis": f"y{axis}",
                    "mode": "lines+markers" if len(values) < 12 else "lines",
                    "name": text(f"figure.descent_{name}"),
                    "showlegend": quantity == "loss",
                    "line": {"color": color, "width": 2.4, "dash": dash},
                }
            )
        if run.left_float32 is not None and len(run.loss):
            data.append(
                {
                    "type": "scatter",
                    "x": [len(run.loss)],
                    "y": [float(run.loss[-1])],
                    "mode": "markers+text",
                    "text": [text("figure.left_at", update=run.left_float32)],
                    "textposition": "middle right",
                    "textfont": {"color": color},
                    "showlegend": False,
                    "hoverinfo": "skip",
                    "marker": {"color": color, "symbol": "x", "size": 12},
                }
            )
    data.append(
        {
            "type": "scatter",
            "x": [1, total],
            "y": [threshold, threshold],
            "xaxis": "x2",
            "yaxis": "y2",
            "mode": "lines",
            "name": text("figure.threshold", value=number(threshold)),
            "line": {"color": palette.baseline, "width": 2, "dash": "dot"},
        }
    )
    logs["norm"].append(np.array([np.log10(threshold)]))
    spec = layout(style)
    update = {"text": text("figure.update")}
    spec |= {
        "xaxis": axis_layout(style, domain=[0, 0.45], title=update, range=[0, total * 1.02]),
        "yaxis": log_axis(style, np.concatenate(logs["loss"]), text("figure.mse")),
        "xaxis2": axis_layout(
            style, domain=[0.58, 1], anchor="y2", title=update, range=[0, total * 1.02]
        ),
        "yaxis2": log_axis(
            style, np.concatenate(logs["norm"]), text("figure.weight_gradient_norm"), anchor="x2"
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.clipping",
            threshold=number(threshold),
            updates=len(clipped.loss),
            clipped=number(float(clipped.loss[-1])) if len(clipped.loss) else "–",
            free=number(float(free.loss[-1])) if len(free.loss) else "–",
            free_updates=len(free.loss),
        ),
    )
