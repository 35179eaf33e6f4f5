"""The sinusoidal encoding drawn: its table, what depends on the offset alone, the rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.offsets import Similarity
from seqviz.figures.grammar.annotations import headline
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import around
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.figures.grammar.weights_color import color_bar
from seqviz.figures.positions.clocks import clocks_figure, norms, wavelengths
from seqviz.figures.positions.parts import cells, counted, largest, numbers_in, stride, twins
from seqviz.text import number

__all__ = [
    "by_offset",
    "clocks_figure",
    "encoding_map",
    "norms",
    "rotation_figure",
    "similarity_matrix",
    "wavelengths",
]

_STYLE = Style()
_CELLS = 2**18  # of a map: more than a screen has pixels for
_SIDE = 512  # positions of a matrix of all pairs


def encoding_map(
    table: Float[np.ndarray, "position d_model"], base: float, style: Style = _STYLE
) -> Figure:
    """The table: position on x, dimension on y (0 on top), both from 0; blue below 0.

    Of a table with more than 2^18 entries only every k-th position is shown, and it says so.
    """
    text = style.text
    positions, width = table.shape
    step = stride(positions, max(1, _CELLS // width))
    z = table[::step].T
    heat = cells(z, text("figure.pos_value"), style, limit=largest(table))
    heat |= {
        "x": step * np.arange(z.shape[1]),
        "colorbar": color_bar(style, text("figure.pos_value")),
        "hovertemplate": text("figure.pos_hover_entry", position="%{x}", dimension="%{y}")
        + ": <b>%{z:.4f}</b><extra></extra>",
    }
    said = text("figure.pos_base", base=f"{base:,.7g}")
    if step > 1:
        said += f" · {text('figure.pos_every', step=step)}"
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, positions, text("figure.pos_position"), step=step),
        "yaxis": counted(style, width, text("figure.pos_dimension"), upright=True),
        "annotations": [headline(style, said)],
    }
    return finish(
        {"data": [heat], "layout": spec},
        text(
            "alt.pos_map",
            positions=f"{positions:,}",
            width=width,
            base=f"{base:,.7g}",
            low=number(float(table.min())),
            high=number(float(table.max())),
        ),
    )


def by_offset(
    found: Similarity,
    closed: Float[np.ndarray, "distance"] | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Dot products (above) and cosines (below) of all pairs of positions by their offset.

    Lines are means over the pairs; where pairs of one offset differ, a band runs from the least to
    the greatest. closed: the closed form of the dot product at the distances 0 ... n - 1, dotted.
    Raises ValueError for another number of distances.
    """
    text, palette = style.text, style.palette
    dot, cosine = found.dot_by_offset, found.cosine_by_offset
    distance = dot.offset
    if closed is not None and len(closed) != len(distance):
        raise ValueError(f"There are {len(distance)} distances, and {len(closed)} closed forms.")
    offset = np.concatenate([-distance[:0:-1], distance])
    mode = "lines" if len(offset) > 20 else "lines+markers"

    def both(values: np.ndarray) -> np.ndarray:
        """Pairs are the same either way round."""
        return np.concatenate([values[:0:-1], values])

    def line(values: np.ndarray, name: str, axis: str, **looks: Any) -> dict[str, Any]:
        return {
            "type": "scatter",
            "x": offset,
            "y": both(values),
            "yaxis": axis,
            "mode": mode,
            "name": text(f"figure.pos_{name}"),
            "hovertemplate": "k = %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
            **looks,
        }

    data = [
        line(dot.mean, "dot_mean", "y", line={"color": palette.truth, "width": 3}, zorder=2),
        line(
            cosine.mean,
            "cosine_mean",
            "y2",
            line={"color": palette.prediction, "width": 3},
            zorder=2,
        ),
    ]
    if closed is not None:
        looks = {"color": palette.highlight, "width": 3, "dash": "dot"}
        data.insert(1, line(closed, "closed", "y", line=looks, mode="lines", zorder=3))
    for curve, axis in ((dot, "y"), (cosine, "y2")):
        if curve.spread > 1e-9 * largest(curve.high, curve.low):  # more than rounding
            for values, fill in ((curve.low, None), (curve.high, "tonexty")):
                looks = {"color": palette.baseline, "width": 1}
                data.append(
                    line(values, "least" if fill is None else "greatest", axis, line=looks)
                    | {"fill": fill, "fillcolor": palette.band, "mode": "lines", "zorder": 1}
                    | {"showlegend": axis == "y", "legendgroup": "least" if fill else "greatest"}
                )
    last = float(offset[-1]) or 0.5
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, range=[-last, last], anchor="y2", title={"text": text("figure.pos_offset")}
        ),
        "yaxis": axis_layout(
            style,
            domain=[0.42, 1],
            range=around(dot.low, dot.high),
            title={"text": text("figure.pos_dot")},
        ),
        "yaxis2": axis_layout(
            style,
            domain=[0, 0.34],
            range=around(cosine.low, cosine.high, np.array([0.0, 1.0])),
            nticks=4,
            title={"text": text("figure.pos_cosine")},
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_by_offset",
            positions=len(distance),
            last=int(distance[-1]),
            zero=number(float(dot.mean[0])),
            one=number(float(dot.mean[min(1, len(dot.mean) - 1)])),
            far=number(float(dot.mean[-1])),
            cosine=number(float(cosine.mean[-1])),
            spread=number(dot.spread),
        ),
    )


def similarity_matrix(
    matrix: Float[np.ndarray, "position position"], title: str, style: Style = _STYLE
) -> Figure:
    """Every position against every other; a click gives j (x) and i (y), from 0.

    title: what is compared, as plain text. Signed colors where some values are negative. Of more
    than 512 positions every k-th is shown.
    """
    text = style.text
    count = len(matrix)
    step = stride(count, _SIDE)
    signed = bool((matrix[np.isfinite(matrix)] < 0).any())
    heat = cells(
        matrix[::step, ::step],
        plain(title),
        style,
        limit=largest(matrix) if signed else None,
        step=step,
        meta="pick",
        colorbar=color_bar(style, plain(title)),
        hovertemplate="i = %{y}, j = %{x}: <b>%{z:.4g}</b><extra></extra>",
    )
    said = plain(title) + (f" · {text('figure.pos_every', step=step)}" if step > 1 else "")
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, count, text("figure.pos_j"), step=step),
        "yaxis": counted(style, count, text("figure.pos_i"), upright=True, step=step),
        "annotations": [headline(style, said)],
    }
    beside = np.diag(matrix, 1)
    return finish(
        {"data": [heat], "layout": spec},
        text(
            "alt.pos_similarity",
            title=title,
            positions=count,
            itself=number(float(np.diag(matrix).mean())),
            neighbor=number(float(beside.mean())) if len(beside) else "–",
            ends=number(float(matrix[0, -1])),
        ),
    )


def rotation_figure(
    closed: Float[np.ndarray, "d_model d_model"],
    found: Float[np.ndarray, "d_model d_model"],
    offset: int,
    style: Style = _STYLE,
) -> Figure:
    """The matrix that moves an encoding on by `offset`: by its formula, and as least squares has it

    Numbers stand in the cells up to d_model = 8.
    """
    text = style.text
    width, limit = len(closed), largest(closed, found)
    difference = number(float(np.abs(closed - found).max()))
    titles = (
        text("figure.pos_rotation", offset=str(offset).replace("-", "−")),
        text("figure.pos_rotation_found", difference=difference),
    )
    data: list[dict[str, Any]] = []
    for end, matrix, name in (
        ("", closed, text("figure.pos_closed_form")),
        ("2", found, text("figure.pos_least_squares")),
    ):
        heat = cells(
            matrix,
            name,
            style,
            limit=limit,
            end=end,
            showscale=bool(end),
            colorbar=color_bar(style, text("figure.pos_entry"), x=0.94),
            hovertemplate="%{y}, %{x}: <b>%{z:.4f}</b><extra>" + name + "</extra>",
        )
        data.append(numbers_in(heat, style))
    spec = layout(style)
    spec |= twins(style, width, text("figure.pos_before"), text("figure.pos_after"), titles)
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_rotation",
            width=width,
            offset=offset,
            first=number(float(closed[0, 0])),
            difference=difference,
        ),
        gap=0.16,
    )
