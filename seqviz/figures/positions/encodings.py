"""The sinusoidal encoding: its table, similarities by offset, and the rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.offsets import Similarity
from seqviz.compute.positions.sinusoidal import FittedRotation, Sinusoids
from seqviz.figures.positions.style import cells, every, pair_axes, stride, twins
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, scales

_CELLS = 2**18  # maximum number of cells of a map, more than a screen shows
_SIDE = 512  # maximum number of rows and columns of a matrix of pairs
_WRITTEN = 8  # maximum size of a matrix with numbers in the cells
_ROOM = 1.25  # color limit over the largest number; keeps numbers readable


def encoding_map(sines: Sinusoids, style: Style = STYLE) -> Figure:
    """Plot the table: position on x, dimension on y (0 on top), both from 0; blue below 0.

    Of a table with more than 2^18 entries every k-th position is shown; the headline says so.
    """
    label, sheet, table = style.labels("figure.pos_"), Sheet(style), sines.table
    positions, width = table.shape
    step = stride(positions, max(1, _CELLS // width))
    z = table[::step].T
    panel = sheet.panel(
        axes.counted(positions, label("position"), step=step),
        axes.counted(width, label("dimension"), upright=True),
    )
    entry = label("hover_entry", position="%{x}", dimension="%{y}")
    cells(panel, z, label("value"), scales.signed(scales.largest(table)),
          x=step * np.arange(z.shape[1]), hover=f"{entry}: <b>%{{z:.4f}}</b>")  # fmt: skip
    base = f"{sines.base:,.7g}"
    sheet.headline(label("base", base=base) + every(step, style.text))
    return sheet.described("alt.pos_map", positions=positions, width=width, base=base,
                           low=float(table.min()), high=float(table.max()))  # fmt: skip


def similarity_by_offset(
    similarity: Similarity, closed: Float[np.ndarray, "distance"], style: Style = STYLE
) -> Figure:
    """Plot dot products (top) and cosines (bottom) of all pairs of positions by offset.

    Lines are means over the pairs; the dotted line is the closed form.

    Args:
        similarity: dot products and cosines.
        closed: closed form of the dot product at the distances 0 ... n - 1.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: `closed` has another length.
    """
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style)
    dot, cosine = similarity.dot_by_offset, similarity.cosine_by_offset
    distance = dot.offset
    if len(closed) != len(distance):
        raise ValueError(f"There are {len(distance)} distances, and {len(closed)} closed forms.")
    offset = np.concatenate([-distance[:0:-1], distance])
    last = float(offset[-1]) or 0.5
    upper = sheet.panel(
        axes.axis(label("offset"), range=[-last, last], anchor="y2"),
        axes.axis(label("dot"), range=axes.around(dot.low, dot.high)), up=(0.42, 1),
    )  # fmt: skip
    full = axes.around(cosine.low, cosine.high, np.array([0.0, 1.0]))
    lower = sheet.panel(upper, axes.axis(label("cosine"), range=full, nticks=4), up=(0, 0.34))
    mode = "lines" if len(offset) > 20 else "lines+markers"
    for panel, values, name, color, more in (
        (upper, dot.mean, "dot_mean", palette.truth, {"zorder": 2}),
        (upper, closed, "closed", palette.highlight,
         {"dash": "dot", "mode": "lines", "zorder": 3}),
        (lower, cosine.mean, "cosine_mean", palette.prediction, {"zorder": 2}),
    ):  # fmt: skip
        both = np.concatenate([values[:0:-1], values])  # pairs are symmetric
        keys: dict[str, Any] = {"mode": mode, **more}
        panel.line(offset, both, label(name), color, width=3,
                   hover=f"k = %{{x}}: %{{y:.4g}}{NAMED}", **keys)  # fmt: skip
    return sheet.described(
        "alt.pos_by_offset", positions=len(distance), last=int(distance[-1]),
        zero=float(dot.mean[0]), one=float(dot.mean[min(1, len(dot.mean) - 1)]),
        far=float(dot.mean[-1]), cosine=float(cosine.mean[-1]), spread=dot.spread,
    )  # fmt: skip


def dot_products(similarity: Similarity, style: Style = STYLE) -> Figure:
    """Plot the dot product of every position with every other.

    A click gives j (x) and i (y), from 0. Colors are signed where some products are negative. Of
    more than 512 positions every k-th is shown.
    """
    sheet, matrix, count = Sheet(style), similarity.dot, len(similarity.dot)
    step, title = stride(count, _SIDE), style.text("figure.pos_dot_products")
    panel = sheet.panel(*pair_axes(style, count, "j", "i", step))
    negative = bool((matrix < 0).any())
    scale = scales.signed(scales.largest(matrix)) if negative else scales.unit_scale()
    cells(panel, matrix[::step, ::step], title, scale, step,
          hover="i = %{y}, j = %{x}: <b>%{z:.4g}</b>", pick=True)  # fmt: skip
    sheet.headline(title + every(step, style.text))
    return sheet.described(
        "alt.pos_similarity", title=title, positions=count, itself=float(np.diag(matrix).mean()),
        neighbor=float(np.diag(matrix, 1).mean()) if count > 1 else np.nan,
        ends=float(matrix[0, -1]),
    )  # fmt: skip


def rotation_matrices(
    closed: Float[np.ndarray, "d_model d_model"],
    fitted_rotation: FittedRotation,
    offset: int,
    style: Style = STYLE,
) -> Figure:
    """Plot the matrix that shifts an encoding by `offset`: closed form and least squares.

    Numbers stand in the cells up to d_model = 8.

    Args:
        closed: closed form (left).
        fitted_rotation: fit by least squares (right).
        offset: shift in positions.
        style: language, theme and scale of the figure.
    """
    label, sheet, width = style.labels("figure.pos_"), Sheet(style), len(closed)
    gap, solved, written = fitted_rotation.gap(closed), fitted_rotation.matrix, width <= _WRITTEN
    limit = scales.largest(closed, solved) * (_ROOM if written else 1)
    panels = twins(
        sheet,
        axes.counted(width, label("before")),
        axes.counted(width, label("after"), upright=True),
        (label("rotation", offset=offset), label("rotation_found", difference=gap)),
    )
    for panel, z, name, bar in zip(
        panels, (closed, solved), ("closed_form", "least_squares"), (None, label("entry")),
        strict=True,
    ):  # fmt: skip
        cells(panel, z, label(name), scales.signed(limit), bar=bar,
              hover="%{y}, %{x}: <b>%{z:.4f}</b>" + NAMED,
              **(_numbers(z, style) if written else {}))  # fmt: skip
    return sheet.described("alt.pos_rotation", width=width, offset=offset, difference=gap,
                           first=float(closed[0, 0]), gap=0.16)  # fmt: skip


def _numbers(z: Float[np.ndarray, "row column"], style: Style) -> dict[str, Any]:
    """Return cell texts with two decimals and without -0.00."""
    return {
        "text": np.char.replace(np.char.mod("%.2f", np.round(z, 2) + 0.0), "-", "−"),
        "texttemplate": "%{text}",
        "textfont": {"size": 12 * style.scale, "color": style.palette.truth},
    }
