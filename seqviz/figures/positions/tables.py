"""A learned position table: similarity, path, spectrum, late rows; updates of its rows."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.learned import Ages, PositionSpectrum, PrincipalPath, RowUpdates
from seqviz.compute.positions.offsets import Similarity
from seqviz.figures.positions.style import cells, every, look, pair_axes, stride, twins
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, scales

_BOTH = ("learned", "sinusoidal")
_SIDE = 256  # maximum size of each of two maps, where a cell is a pixel
_DEEPEST = 8  # decades shown below the strongest frequency


def table_similarity(learned: Similarity, sinusoids: Similarity, style: Style = STYLE) -> Figure:
    """Plot cosines of all pairs of positions: the learned table (left) and sinusoids (right).

    Both scales run from -1 to 1. A click gives j (x) and i (y), from 0. Of more than 256 positions
    every k-th is shown.
    """
    label, sheet, count = style.labels("figure.pos_"), Sheet(style), len(learned.cosine)
    step = stride(count, _SIDE)
    names = [look(scheme, style).name for scheme in _BOTH]
    titles = [name + every(step, style.text) for name in names]
    panels = twins(sheet, *pair_axes(style, count, "j", "i", step), titles)
    bars = (None, label("cosine"))
    for panel, result, name, bar in zip(panels, (learned, sinusoids), names, bars, strict=True):
        limit = max(1.0, scales.largest(result.cosine))  # rounding may exceed a cosine of 1
        cells(panel, result.cosine[::step, ::step], name, scales.signed(limit), step, bar=bar,
              pick=True, hover="i = %{y}, j = %{x}: <b>%{z:.4f}</b>" + NAMED)  # fmt: skip
    return sheet.described(
        "alt.pos_tables", positions=count, learned=learned.cosine_apart(1),
        waves=sinusoids.cosine_apart(1), far=float(learned.cosine[0, -1]),
        waves_far=float(sinusoids.cosine[0, -1]), gap=0.16,
    )  # fmt: skip


def component_path(principal_path: PrincipalPath, style: Style = STYLE) -> Figure:
    """Plot the path of the positions in the first two principal components."""
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style)
    positions = len(principal_path.components)
    x, y = principal_path.components.T
    shares = [f"{100 * share:.1f}" for share in principal_path.explained.tolist()]
    titles = [label("component", component=k, percent=share) for k, share in enumerate(shares, 1)]
    panel = sheet.panel(
        axes.axis(titles[0], range=axes.around(x, margin=0.1)),
        axes.axis(titles[1], range=axes.around(y, margin=0.1), scaleanchor="x"),
    )
    marker = {
        "size": 8, "color": np.arange(positions), "cmin": 0, "cmax": max(positions - 1, 1),
        "colorscale": scales.unit_scale().colors, "showscale": True,
        "colorbar": scales.color_bar(style, label("position"), x=1.015),
    }  # fmt: skip
    panel.line(
        x, y, label("path"), palette.baseline, width=1, mode="lines+markers", legend=False,
        customdata=np.arange(positions), marker=marker,
        hover=label("hover_position", position="%{customdata}") + ": %{x:.3g}, %{y:.3g}",
    )  # fmt: skip
    for position, at in ((0, -26), (positions - 1, 26))[: min(positions, 2)]:
        panel.words(
            f"<b>{label('hover_position', position=position)}</b>", float(x[position]),
            float(y[position]), showarrow=True, arrowhead=0, arrowwidth=1.5,
            arrowcolor=palette.truth, ax=0, ay=at, standoff=4, bgcolor=palette.band,
        )  # fmt: skip
    return sheet.described(
        "alt.pos_path", positions=positions, across=1, up=2, share=shares[0], other=shares[1],
        start=(x[0], y[0]), end=(x[-1], y[-1]),
    )  # fmt: skip


def early_and_late(learned: Ages, sinusoids: Ages, style: Style = STYLE) -> Figure:
    """Plot the norm of each position (top) and its cosine with the next one (bottom)."""
    label, sheet, last = style.labels("figure.pos_"), Sheet(style), len(learned.norm) - 1
    low = min(0.0, float(np.nanmin(learned.neighbor)))
    upper = sheet.panel(
        axes.axis(label("position"), range=[-0.01 * last, 1.01 * last], anchor="y2"),
        axes.axis(label("norm"), range=axes.around(learned.norm, np.zeros(1)), nticks=5),
        up=(0.55, 1),
    )
    neighbor = axes.axis(label("neighbor"), range=[low, 1.06], nticks=5)
    lower = sheet.panel(upper, neighbor, up=(0, 0.45))
    for panel, values, scheme, dash in (  # sinusoids have a constant norm
        (upper, learned.norm, "learned", "solid"),
        (lower, learned.neighbor, "learned", "solid"),
        (lower, sinusoids.neighbor, "sinusoidal", "dash"),
    ):
        item = look(scheme, style)
        panel.line(np.arange(len(values)), values, item.name, item.color, width=2.2, dash=dash,
                   legend=panel is lower, group=scheme,
                   hover="p = %{x}: %{y:.3g}" + NAMED)  # fmt: skip
    return sheet.described("alt.pos_ages", positions=last + 1, **learned.quarters())


def row_updates(result: RowUpdates, style: Style = STYLE) -> Figure:
    """Plot the share of the training sequences that update each row of a position table."""
    label, sheet, last = style.labels("figure.pos_"), Sheet(style), len(result.separate) - 1
    panel = sheet.panel(
        axes.axis(label("position"), range=[-0.01 * last, 1.01 * last]),
        axes.axis(label("updated"), range=[-2, 105]),
    )
    own, joined = style.palette.gru, style.palette.baseline
    for name, shares, color, dash in (
        ("separate", result.separate, own, "solid"), ("packed", result.packed, joined, "dash"),
    ):  # fmt: skip
        panel.line(np.arange(last + 1), 100 * shares, label(name), color, width=2.4, dash=dash,
                   hover="p = %{x}: %{y:.3g}%" + NAMED)  # fmt: skip
    return sheet.described("alt.pos_updates", **result.summary())


def power_spectrum(
    learned: PositionSpectrum, sinusoids: PositionSpectrum, style: Style = STYLE
) -> Figure:
    """Plot the share of the variance along the positions by frequency, on log axes."""
    label, sheet = style.labels("figure.pos_"), Sheet(style)
    shares = [_percent(result.power) for result in (learned, sinusoids)]
    logs = np.log10(np.concatenate(shares))
    top = float(np.nanmax(logs)) if np.isfinite(logs).any() else 0.0
    panel = sheet.panel(
        axes.decades(np.log10(learned.frequency), label("frequency")),
        axes.decades(np.maximum(logs, top - _DEEPEST), label("share_of_variance")),
    )
    for scheme, outcome, share in zip(_BOTH, (learned, sinusoids), shares, strict=True):
        item = look(scheme, style)
        symbol = item.symbol if len(share) <= 20 else None  # markers where there are few points
        panel.line(outcome.frequency, share, item.name, item.color, width=2.4, dash=item.dash,
                   symbol=symbol, size=8, hover="%{x:.4g}: %{y:.3g}%" + NAMED)  # fmt: skip
    lowest = [float(np.nan_to_num(share[0])) for share in shares]
    return sheet.described("alt.pos_spectrum", first=float(learned.frequency[0]),
                           learned=lowest[0], waves=lowest[1])  # fmt: skip


def _percent(power: Float[np.ndarray, "frequency"]) -> Float[np.ndarray, "frequency"]:
    """Return percent of the total power; nan for 0, which a log axis does not have."""
    return 100 * np.where(power > 0, power, np.nan) / (power.sum() or 1.0)
