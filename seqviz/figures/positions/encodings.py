"""The sinusoidal encoding drawn: its table, what depends on the offset alone, the rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.offsets import Similarity
from seqviz.compute.positions.sinusoidal import FittedRotation, Sinusoids
from seqviz.core.i18n import number
from seqviz.figures.positions.style import cells, every, stride, twins
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales

_CELLS = 2**18  # of a map: more than a screen has pixels for
_SIDE = 512  # positions of a matrix of all pairs
_WRITTEN = 8  # rows and columns of a matrix whose numbers find room in the cells
_ROOM = 1.25  # colors end here times the largest number where numbers are read in the cells


def encoding_map(sines: Sinusoids, style: Style = STYLE) -> Figure:
    """The table: position on x, dimension on y (0 on top), both from 0; blue below 0.

    Of a table with more than 2^18 entries only every k-th position is shown, and it says so.
    """
    text, table = style.text, sines.table
    positions, width = table.shape
    base = f"{sines.base:,.7g}"
    step = stride(positions, max(1, _CELLS // width))
    z = table[::step].T
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.counted(positions, text("figure.pos_position"), step=step),
        axes.counted(width, text("figure.pos_dimension"), upright=True),
    )
    entry = text("figure.pos_hover_entry", position="%{x}", dimension="%{y}")
    cells(
        panel, z, text("figure.pos_value"), scales.signed(scales.largest(table)),
        x=step * np.arange(z.shape[1]), hover=f"{entry}: <b>%{{z:.4f}}</b>",
    )  # fmt: skip
    sheet.headline(text("figure.pos_base", base=base) + every(step, text))
    return sheet.described(
        "alt.pos_map",
        positions=positions,
        width=width,
        base=base,
        low=float(table.min()),
        high=float(table.max()),
    )


def similarity_by_offset(
    similarity: Similarity, closed: Float[np.ndarray, "distance"], style: Style = STYLE
) -> Figure:
    """Dot products (above) and cosines (below) of all pairs of positions by their offset.

    Lines are means over the pairs. closed: the closed form of the dot product at the distances
    0 ... n - 1, dotted. Raises ValueError for another number of distances.
    """
    text, palette = style.text, style.palette
    dot, cosine = similarity.dot_by_offset, similarity.cosine_by_offset
    distance = dot.offset
    if len(closed) != len(distance):
        raise ValueError(f"There are {len(distance)} distances, and {len(closed)} closed forms.")
    offset = np.concatenate([-distance[:0:-1], distance])
    last = float(offset[-1]) or 0.5
    sheet = Sheet(style)
    upper = sheet.panel(
        axes.axis(text("figure.pos_offset"), range=[-last, last], anchor="y2"),
        axes.axis(text("figure.pos_dot"), range=axes.around(dot.low, dot.high)),
        up=(0.42, 1),
    )
    full = axes.around(cosine.low, cosine.high, np.array([0.0, 1.0]))
    lower = sheet.panel(
        upper, axes.axis(text("figure.pos_cosine"), range=full, nticks=4), up=(0, 0.34)
    )
    mode = "lines" if len(offset) > 20 else "lines+markers"

    def line(panel: Panel, values: np.ndarray, name: str, color: str, **more: Any) -> None:
        both = np.concatenate([values[:0:-1], values])  # pairs are the same either way round
        keys = {"mode": mode, **more}
        hover = f"k = %{{x}}: %{{y:.4g}}{NAMED}"
        panel.line(offset, both, text(f"figure.pos_{name}"), color, width=3, hover=hover, **keys)

    line(upper, dot.mean, "dot_mean", palette.truth, zorder=2)
    line(upper, closed, "closed", palette.highlight, dash="dot", mode="lines", zorder=3)
    line(lower, cosine.mean, "cosine_mean", palette.prediction, zorder=2)
    return sheet.described(
        "alt.pos_by_offset",
        positions=len(distance),
        last=int(distance[-1]),
        zero=float(dot.mean[0]),
        one=float(dot.mean[min(1, len(dot.mean) - 1)]),
        far=float(dot.mean[-1]),
        cosine=float(cosine.mean[-1]),
        spread=dot.spread,
    )


def dot_products(similarity: Similarity, style: Style = STYLE) -> Figure:
    """The dot product of every position with every other; a click gives j (x) and i (y), from 0.

    Signed colors where some are negative. Of more than 512 positions every k-th is shown.
    """
    text, matrix = style.text, similarity.dot
    count = len(matrix)
    step = stride(count, _SIDE)
    title = text("figure.pos_dot_products")
    negative = bool((matrix < 0).any())
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.counted(count, text("figure.pos_j"), step=step),
        axes.counted(count, text("figure.pos_i"), upright=True, step=step),
    )
    cells(
        panel, matrix[::step, ::step], title,
        scales.signed(scales.largest(matrix)) if negative else scales.unit_scale(),
        step, hover="i = %{y}, j = %{x}: <b>%{z:.4g}</b>", pick=True,
    )  # fmt: skip
    sheet.headline(title + every(step, text))
    beside = np.diag(matrix, 1)
    return sheet.described(
        "alt.pos_similarity",
        title=title,
        positions=count,
        itself=float(np.diag(matrix).mean()),
        neighbor=number(float(beside.mean())) if len(beside) else "–",
        ends=float(matrix[0, -1]),
    )


def rotation_matrices(
    closed: Float[np.ndarray, "d_model d_model"],
    fitted_rotation: FittedRotation,
    offset: int,
    style: Style = STYLE,
) -> Figure:
    """The matrix that moves an encoding on by `offset`: by its formula, and as least squares has it

    Numbers stand in the cells up to d_model = 8.
    """
    text, width = style.text, len(closed)
    difference = number(float(np.abs(closed - fitted_rotation.matrix).max()))
    written = width <= _WRITTEN
    limit = scales.largest(closed, fitted_rotation.matrix) * (_ROOM if written else 1)
    sheet = Sheet(style)
    panels = twins(
        sheet,
        axes.counted(width, text("figure.pos_before")),
        axes.counted(width, text("figure.pos_after"), upright=True),
        (
            text("figure.pos_rotation", offset=offset),
            text("figure.pos_rotation_found", difference=difference),
        ),
    )
    names = (text("figure.pos_closed_form"), text("figure.pos_least_squares"))
    bars = (None, text("figure.pos_entry"))
    for panel, z, name, bar in zip(
        panels, (closed, fitted_rotation.matrix), names, bars, strict=True
    ):
        cells(
            panel, z, name, scales.signed(limit), bar=bar, hover="%{y}, %{x}: <b>%{z:.4f}</b>"
            + NAMED, **(_numbers(z, style) if written else {}),
        )  # fmt: skip
    return sheet.described(
        "alt.pos_rotation",
        width=width,
        offset=offset,
        first=float(closed[0, 0]),
        difference=difference,
        gap=0.16,
    )


def _numbers(z: Float[np.ndarray, "row column"], style: Style) -> dict[str, Any]:
    """The numbers of a matrix in its cells, with two decimals and never as -0.00."""
    return {
        "text": np.char.replace(np.char.mod("%.2f", np.round(z, 2) + 0.0), "-", "−"),
        "texttemplate": "%{text}",
        "textfont": {"size": 12 * style.scale, "color": style.palette.truth},
    }
