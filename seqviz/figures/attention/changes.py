"""What changes when heads are switched off or a mask is put on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.figures.attention.heads import counted
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.matrices import tokens_axis, weight_cells
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.figures.grammar.weights_color import bar
from seqviz.text import number

_STYLE = Style()
_LEFT, _RIGHT = [0, 0.44], [0.68, 1]


def switches(
    on: Bool[np.ndarray, "layer head"],
    moved: Float[np.ndarray, "token"],
    pieces: Sequence[str],
    candidates: Sequence[str],
    probabilities: Float[np.ndarray, "2 candidate"],
    style: Style = _STYLE,
) -> Figure:
    """Left the switchboard of all heads, to be clicked; right what the change does.

    Of a decoder (which has candidates) the probabilities of the next token before and after; of an
    encoder how far each token's vector has moved (1 - cosine).
    """
    text, palette = style.text, style.palette
    layers, heads = on.shape
    across = layers > heads
    z = (on.T if across else on).astype(np.uint8)
    rows, columns = z.shape
    board: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(columns),
        "y": np.arange(rows),
        "z": z,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, palette.highlight], [1, palette.band]],
        "showscale": False,
        "meta": "pick",
        "name": text("figure.head_on"),
        "xgap": 2,
        "ygap": 2,
        "text": np.where(z == 1, "", "×"),
        "texttemplate": "%{text}",
        "textfont": {"size": 15 * style.scale, "color": palette.truth},
        "hovertemplate": text(
            "figure.hover_switch",
            layer="%{x}" if across else "%{y}",
            head="%{y}" if across else "%{x}",
        )
        + "<extra></extra>",
    }
    titles = [text("figure.head"), text("figure.layer")]
    sideways, upright = titles[::-1] if across else titles
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, columns, [-0.5, columns - 0.5], sideways, domain=_LEFT),
        "yaxis": counted(style, rows, [rows - 0.5, -0.5], upright),
    }
    if candidates:
        data, axes = _next_tokens(candidates, probabilities, style)
    else:
        data, axes = _moved(moved, pieces, style)
    spec |= axes
    spec["xaxis2"] |= {"domain": _RIGHT}
    largest = int(np.argmax(moved)) if len(moved) else 0
    return finish(
        {"data": [board, *data], "layout": spec},
        text("alt.switches", off=int((~on).sum()), all=on.size)
        + " "
        + (
            text(
                "alt.next_tokens",
                before=candidates[int(np.argmax(probabilities[0]))],
                p=number(float(probabilities[0].max())),
                after=candidates[int(np.argmax(probabilities[1]))],
                q=number(float(probabilities[1].max())),
            )
            if candidates
            else text("alt.moved", most=pieces[largest], value=number(float(moved[largest])))
        ),
    )


def permissions(
    allowed: Bool[np.ndarray, "query key"],
    weights: Float[np.ndarray, "query key"],
    pieces: Sequence[str],
    layer: int,
    head: int,
    style: Style = _STYLE,
) -> Figure:
    """Left who may look at whom, to be clicked (x key, y query); right one head under this mask."""
    text, palette = style.text, style.palette
    tokens = len(pieces)
    places = np.arange(1, tokens + 1)
    mask: dict[str, Any] = {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": allowed.astype(np.uint8),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, palette.baseline], [1, palette.band]],
        "showscale": False,
        "meta": "pick",
        "name": text("figure.allowed"),
        "xgap": 1 if tokens <= 64 else 0,
        "ygap": 1 if tokens <= 64 else 0,
        "hovertemplate": text("figure.hover_allowed", query="%{y}", key="%{x}") + "<extra></extra>",
    }
    if tokens <= 16:
        mask |= {
            "text": np.where(allowed, "", "×"),
            "texttemplate": "%{text}",
            "textfont": {"size": 13 * style.scale, "color": palette.band},
        }
    heat = weight_cells(weights, style, allowed)
    heat |= {"xaxis": "x2", "yaxis": "y2", "colorbar": bar(style, text("figure.weight"))}
    heat.pop("texttemplate", None)
    spec = layout(style)
    spec |= {
        "xaxis": tokens_axis(style, pieces, "figure.keys", most=20, domain=[0, 0.42]),
        "yaxis": tokens_axis(style, pieces, "figure.queries", upright=True),
        "xaxis2": tokens_axis(
            style, pieces, "figure.keys", most=20, domain=[0.52, 0.94], anchor="y2"
        ),
        "yaxis2": tokens_axis(style, pieces, "figure.queries", upright=True, anchor="x2"),
    }
    spec["yaxis2"]["showticklabels"] = False
    spec["yaxis2"]["title"] |= {"text": ""}
    spec["annotations"] = [
        panel_title(style, "", text("figure.who_may")),
        panel_title(style, "2", text("figure.head_label", layer=layer, head=head)),
    ]
    return finish(
        {"data": [mask, heat], "layout": spec},
        text(
            "alt.permissions",
            tokens=tokens,
            share=f"{100 * float(allowed.mean()):.0f}",
            blind=int((~allowed).all(1).sum()),
        ),
        names={"x": pieces, "y": pieces, "x2": pieces, "y2": pieces},
        gap=0.2,
    )


def _next_tokens(
    candidates: Sequence[str], probabilities: Float[np.ndarray, "2 candidate"], style: Style
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    text, palette = style.text, style.palette
    rows = np.arange(1, len(candidates) + 1)
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": values,
            "y": rows,
            "xaxis": "x2",
            "yaxis": "y2",
            "name": text(f"figure.{name}"),
            "marker": {"color": color},
            "text": [number(float(v)) if v >= 0.001 else "< 0.001" for v in values],
            "textposition": "outside",
            "cliponaxis": False,
            "textfont": {"size": 12 * style.scale},
            "hoverinfo": "skip",
        }
        for name, values, color in (
            ("heads_all_on", probabilities[0], palette.baseline),
            ("heads_now", probabilities[1], palette.prediction),
        )
    ]
    return data, {
        "xaxis2": axis_layout(
            style,
            anchor="y2",
            range=[0, 1.25 * float(probabilities.max(initial=1e-9))],
            title={"text": text("figure.next_probability")},
            nticks=5,
        ),
        "yaxis2": axis_layout(
            style,
            anchor="x2",
            range=[len(candidates) + 0.6, 0.4],
            tickvals=list(rows),
            ticktext=[plain(_visible(c)) for c in candidates],
            showgrid=False,
            title={"text": text("figure.next_token")},
        ),
        "bargap": 0.25,
    }


def _moved(
    moved: Float[np.ndarray, "token"], pieces: Sequence[str], style: Style
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    text = style.text
    rows = np.arange(1, len(moved) + 1)
    upright = tokens_axis(style, pieces[: len(moved)], "figure.token", upright=True, anchor="x2")
    return [
        {
            "type": "bar",
            "orientation": "h",
            "x": moved,
            "y": rows,
            "xaxis": "x2",
            "yaxis": "y2",
            "name": text("figure.moved"),
            "showlegend": False,
            "marker": {"color": style.palette.prediction},
            "hovertemplate": "%{y}: %{x:.4f}<extra></extra>",
        }
    ], {
        "xaxis2": axis_layout(
            style,
            anchor="y2",
            range=[0, 1.05 * max(float(moved.max(initial=0)), 0.01)],
            title={"text": text("figure.moved")},
            nticks=5,
        ),
        "yaxis2": upright,
    }


def _visible(piece: str) -> str:
    return {"\n": "⏎", "\t": "⇥"}.get(piece, piece.replace("\n", "⏎"))
