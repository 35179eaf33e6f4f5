"""A learned position table beside the sinusoidal one: similarity, path, spectrum, late rows."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.learned import Ages, PositionSpectrum, PrincipalPath
from seqviz.compute.positions.offsets import Similarity
from seqviz.core.i18n import number
from seqviz.figures.positions.style import cells, every, look, stride, twins
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, scales

_BOTH = ("learned", "sinusoidal")
_SIDE = 256  # positions of each of two matrices beside one another: a cell is then a pixel
_DEEPEST = 8  # decades below the strongest frequency


def table_similarity(learned: Similarity, sinusoids: Similarity, style: Style = STYLE) -> Figure:
    """Cosines of all pairs of positions: of the learned table, and of the sinusoidal one.

    Both from -1 to 1. A click gives j (x) and i (y), from 0. Of more than 256 positions every k-th
    is shown.
    """
    text = style.text
    count = len(learned.cosine)
    step = stride(count, _SIDE)
    names = [look(scheme, style).name for scheme in _BOTH]
    sheet = Sheet(style)
    panels = twins(
        sheet,
        axes.counted(count, text("figure.pos_j"), step=step),
        axes.counted(count, text("figure.pos_i"), upright=True, step=step),
        [name + every(step, text) for name in names],
    )
    bars = (None, text("figure.pos_cosine"))
    for panel, result, name, bar in zip(panels, (learned, sinusoids), names, bars, strict=True):
        limit = max(1.0, scales.largest(result.cosine))  # rounding may take a cosine beyond 1
        cells(
            panel, result.cosine[::step, ::step], name, scales.signed(limit), step, bar=bar,
            pick=True, hover="i = %{y}, j = %{x}: <b>%{z:.4f}</b>" + NAMED,
        )  # fmt: skip
    return sheet.described(
        "alt.pos_tables",
        positions=count,
        learned=_beside(learned),
        waves=_beside(sinusoids),
        far=float(learned.cosine[0, -1]),
        waves_far=float(sinusoids.cosine[0, -1]),
        gap=0.16,
    )


def _beside(similarity: Similarity) -> float:
    """Mean cosine of neighboring positions; nan for a single one."""
    return (
        float(np.diag(similarity.cosine, 1).mean()) if len(similarity.cosine) > 1 else float("nan")
    )


def component_path(principal_path: PrincipalPath, style: Style = STYLE) -> Figure:
    """The first two principal components against one another, from position to position."""
    text, palette = style.text, style.palette
    positions = len(principal_path.components)
    x, y = principal_path.components.T
    shares = [f"{100 * share:.1f}" for share in principal_path.explained.tolist()]
    titles = [
        text("figure.pos_component", component=k, percent=share)
        for k, share in enumerate(shares, 1)
    ]
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(titles[0], range=axes.around(x, margin=0.1)),
        axes.axis(titles[1], range=axes.around(y, margin=0.1), scaleanchor="x"),
    )
    panel.line(
        x, y, text("figure.pos_path"), palette.baseline, width=1, mode="lines+markers",
        legend=False, customdata=np.arange(positions),
        marker={
            "size": 8,
            "color": np.arange(positions),
            "cmin": 0,
            "cmax": max(positions - 1, 1),
            "colorscale": scales.unit_scale().colors,
            "showscale": True,
            "colorbar": scales.color_bar(style, text("figure.pos_position"), x=1.015),
        },
        hover=text("figure.pos_hover_position", position="%{customdata}") + ": %{x:.3g}, %{y:.3g}",
    )  # fmt: skip
    for position, at in ((0, -26), (positions - 1, 26))[: min(positions, 2)]:
        panel.words(
            f"<b>{text('figure.pos_hover_position', position=position)}</b>",
            float(x[position]), float(y[position]), showarrow=True, arrowhead=0, arrowwidth=1.5,
            arrowcolor=palette.truth, ax=0, ay=at, standoff=4, bgcolor=palette.band,
        )  # fmt: skip
    return sheet.described(
        "alt.pos_path",
        positions=positions,
        across=1,
        up=2,
        share=shares[0],
        other=shares[1],
        start=f"({number(float(x[0]))}, {number(float(y[0]))})",
        end=f"({number(float(x[-1]))}, {number(float(y[-1]))})",
    )


def early_and_late(learned: Ages, sinusoids: Ages, style: Style = STYLE) -> Figure:
    """Along the positions: above the norm of each, below its cosine with the next one."""
    text = style.text
    last = len(learned.norm) - 1
    sheet = Sheet(style)
    upper = sheet.panel(
        axes.axis(text("figure.pos_position"), range=[-0.01 * last, 1.01 * last], anchor="y2"),
        axes.axis(text("figure.pos_norm"), range=axes.around(learned.norm, np.zeros(1)), nticks=5),
        up=(0.55, 1),
    )
    low = min(0.0, float(np.nanmin(learned.neighbor)))
    lower = sheet.panel(
        upper, axes.axis(text("figure.pos_neighbor"), range=[low, 1.06], nticks=5), up=(0, 0.45)
    )
    for scheme, result in (("learned", learned), ("sinusoidal", sinusoids)):
        line_style = look(scheme, style)  # of the sines no norm: it is the same everywhere
        for panel, values in ((upper, learned.norm), (lower, result.neighbor)):
            if panel is upper and result is sinusoids:
                continue
            panel.line(
                np.arange(len(values)), values, line_style.name, line_style.color, width=2.2,
                dash="solid" if result is learned else "dash", legend=panel is lower, group=scheme,
                hover="p = %{x}: %{y:.3g}" + NAMED,
            )  # fmt: skip
    early, late, end = learned.early, learned.late, learned.last
    return sheet.described(
        "alt.pos_ages",
        positions=last + 1,
        early=early[1],
        late=late[1],
        norm=early[0],
        late_norm=late[0],
        end=end[1],
        end_norm=end[0],
    )


def power_spectrum(
    learned: PositionSpectrum, sinusoids: PositionSpectrum, style: Style = STYLE
) -> Figure:
    """The share of the variance along the positions at each frequency, both axes logarithmic."""
    text = style.text
    shares = [_percent(result.power) for result in (learned, sinusoids)]
    logs = np.log10(np.concatenate(shares))
    top = float(np.nanmax(logs)) if np.isfinite(logs).any() else 0.0
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.decades(np.log10(learned.frequency), text("figure.pos_frequency")),
        axes.decades(np.maximum(logs, top - _DEEPEST), text("figure.pos_share_of_variance")),
    )
    for scheme, outcome, share in zip(_BOTH, (learned, sinusoids), shares, strict=True):
        line_style = look(scheme, style)
        symbol = line_style.symbol if len(share) <= 20 else None  # points where there are few
        panel.line(
            outcome.frequency,
            share,
            line_style.name,
            line_style.color,
            width=2.4,
            dash=line_style.dash,
            symbol=symbol,
            size=8,
            hover="%{x:.4g}: %{y:.3g}%" + NAMED,
        )
    lowest = [float(np.nan_to_num(share[0])) for share in shares]
    return sheet.described(
        "alt.pos_spectrum",
        first=float(learned.frequency[0]),
        learned=lowest[0],
        waves=lowest[1],
    )


def _percent(power: Float[np.ndarray, "frequency"]) -> Float[np.ndarray, "frequency"]:
    """Of the whole power; nan for none, which a log axis does not have."""
    return 100 * np.where(power > 0, power, np.nan) / (power.sum() or 1.0)
