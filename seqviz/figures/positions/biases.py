"""Position biases on attention scores: ALiBi slopes, T5 buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.i18n import number
from seqviz.figures.positions.style import cells, look, pair_axes, stride
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales
from seqviz.plotting.scales import ABOVE, BELOW, ColorScale

_SIDE = 512  # maximum number of rows and columns of a matrix
_WRITTEN = 16  # maximum number of positions with buckets in the cells


def alibi(
    slopes: Float[np.ndarray, "head"],
    bias: Float[np.ndarray, "head query key"],
    head: int = 0,
    style: Style = STYLE,
) -> Figure:
    """Plot the slope of each head in powers of two (left) and the bias of one head (right).

    Where the bias is -inf, the key is masked and the cell empty.

    Args:
        slopes: slope of each head.
        bias: bias [head, query, key].
        head: head on the right, from 0.
        style: language, theme and scale of the figure.
    """
    label, sheet = style.labels("figure.pos_"), Sheet(style)
    added, heads, side = bias[head], *bias.shape[:2]
    step, limit = stride(side, _SIDE), scales.largest(added)
    lowest = int(np.floor(np.log2(slopes).min()))
    ticks = np.arange(lowest, 1)[:: max(1, -lowest // 8)]
    powers = [f"2<sup>{k}</sup>".replace("-", "−") if k else "1" for k in ticks]
    left, right = sheet.row(
        (axes.counted(heads, style.text("figure.head")),
         axes.axis(label("slope"), type="log", tickvals=2.0**ticks, ticktext=powers,
                   range=[(lowest - 0.4) * np.log10(2), 0.4 * np.log10(2)])),
        pair_axes(style, side, "key", "query", step), gaps=(0.38, 0.5, 0.93),
        titles=(label("slopes"), label("bias_of", head=head, slope=_fraction(float(slopes[head])))),
    )  # fmt: skip
    _slopes(left, slopes, head)
    finite = np.where(np.isfinite(added), added, np.nan)[::step, ::step]
    blue = ColorScale([[0, f"rgb{BELOW}"], [1, f"rgba{(*BELOW, 0)}"]], -limit, 0)
    cells(right, finite, label("bias"), blue, step, hover="i = %{y}, j = %{x}: <b>%{z:.4g}</b>")
    return sheet.described(
        "alt.pos_alibi", heads=heads, first=float(slopes[0]), last=float(slopes.min()), head=head,
        positions=side, least=-limit if np.nanmin(finite) < 0 else 0.0, gap=0.16,
    )  # fmt: skip


def _slopes(panel: Panel, slopes: Float[np.ndarray, "head"], head: int) -> None:
    """Draw the slopes with the chosen head highlighted."""
    label, palette = panel.style.labels("figure.pos_"), panel.style.palette
    heads = np.arange(len(slopes))
    scheme, chosen = look("alibi", panel.style), heads == head
    marker = {
        "symbol": scheme.symbol, "size": np.where(chosen, 14, 8),
        "color": [palette.highlight if here else scheme.color for here in chosen],
        "line": {"width": 1, "color": palette.truth},
    }  # fmt: skip
    panel.line(heads, slopes, label("slope"), scheme.color, width=1.6, dash=scheme.dash,
               mode="lines+markers", legend=False, marker=marker,
               hover=label("hover_head", head="%{x}") + ": %{y:.4g}")  # fmt: skip


def _fraction(slope: float) -> str:
    """Return a power of two as a fraction (1/2, 1/4, ...), other slopes as decimals."""
    power = -float(np.log2(slope))
    return f"1/{2 ** int(power):,}" if power == int(power) > 0 else number(slope)


def t5_buckets(buckets: Int[np.ndarray, "query key"], style: Style = STYLE) -> Figure:
    """Plot the bucket of every pair of positions: blue before the query, orange after.

    Neighboring buckets alternate in strength, which separates them.
    """
    label, sheet, side = style.labels("figure.pos_"), Sheet(style), len(buckets)
    step, count = stride(side, _SIDE), len(np.unique(buckets))
    panel = sheet.panel(*pair_axes(style, side, "key", "query", step))
    font = {"size": 12 * style.scale, "color": style.palette.truth}
    written = {"texttemplate": "%{z}", "textfont": font} if side <= _WRITTEN else {}
    cells(panel, buckets[::step, ::step], label("bucket"), _bucket_colors(buckets), step,
          hover="i = %{y}, j = %{x}: <b>%{z}</b>", **written)  # fmt: skip
    sheet.headline(label("buckets_used", count=count))
    return sheet.described("alt.pos_t5", positions=side, count=count, before=int(buckets[-1, 0]),
                           after=int(buckets[0, -1]))  # fmt: skip


def _bucket_colors(buckets: Int[np.ndarray, "query key"]) -> ColorScale:
    """Return a stepped color scale; buckets without pairs have no color."""
    last = int(buckets.max())
    after = np.unique(buckets[np.triu_indices(len(buckets), 1)])
    before = np.unique(buckets[np.tril_indices(len(buckets))])
    shades = {**_shades(after, ABOVE), **_shades(before, BELOW)}  # bucket 0 may be in both
    stops: list[list[Any]] = []
    for bucket in range(last + 1):
        color = shades.get(bucket, "rgba(0,0,0,0)")
        stops += [[bucket / (last + 1), color], [(bucket + 1) / (last + 1), color]]
    marks = axes.counted(last + 1, "")
    return ColorScale(stops, -0.5, last + 0.5, (marks["tickvals"], marks["ticktext"]))


def _shades(buckets: Int[np.ndarray, "bucket"], color: tuple[int, int, int]) -> dict[int, str]:
    """Return colors that get stronger by bucket; every second one is somewhat weaker."""
    result = {}
    for rank, bucket in enumerate(buckets.tolist()):
        strength = 0.25 + 0.6 * rank / max(len(buckets) - 1, 1) - (0.16 if rank % 2 else 0)
        result[bucket] = f"rgba({color[0]},{color[1]},{color[2]},{strength:.2f})"
    return result
