"""A learned position table beside the sinusoidal one: similarity, path, spectrum, norms, shares."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Num

from seqviz.compute.positions.learned import Comparison, Path, Spectrum
from seqviz.compute.positions.offsets import Similarity
from seqviz.figures.grammar import axes, scales
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import NAMED, Panel, Sheet
from seqviz.figures.grammar.style import Style
from seqviz.figures.positions.parts import cells, every, hatched, look, stride, twins
from seqviz.text import number

_STYLE = Style()
_BOTH = ("learned", "sinusoidal")
_SIDE = 256  # positions of each of two matrices beside one another: a cell is then a pixel
_DEEPEST = 8  # decades below the strongest frequency
_WIDE = 10  # ratio of two norms from which on a log axis shows them better


def table_similarity(learned: Similarity, waves: Similarity, style: Style = _STYLE) -> Figure:
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
    for panel, found, name, bar in zip(panels, (learned, waves), names, bars, strict=True):
        limit = max(1.0, scales.largest(found.cosine))  # rounding may take a cosine beyond 1
        cells(
            panel, found.cosine[::step, ::step], name, scales.signed(limit), step, bar=bar,
            pick=True, hover="i = %{y}, j = %{x}: <b>%{z:.4f}</b>" + NAMED,
        )  # fmt: skip
    return sheet.finish(
        text(
            "alt.pos_tables",
            positions=count,
            learned=number(_beside(learned)),
            waves=number(_beside(waves)),
            far=number(float(learned.cosine[0, -1])),
            waves_far=number(float(waves.cosine[0, -1])),
        ),
        gap=0.16,
    )


def _beside(found: Similarity) -> float:
    """Mean cosine of neighboring positions; nan for a single one."""
    return float(np.diag(found.cosine, 1).mean()) if len(found.cosine) > 1 else float("nan")


def component_path(found: Path, across: int = 1, up: int = 2, style: Style = _STYLE) -> Figure:
    """Two principal components against one another, from position to position.

    across, up: which components, from 1. Raises ValueError for one that was not computed.
    """
    text, palette = style.text, style.palette
    positions, components = found.components.shape
    for chosen in (across, up):
        if not 1 <= chosen <= components:
            raise ValueError(f"There are components 1 to {components}, not {chosen}.")
    x, y = (found.components[:, k - 1] for k in (across, up))
    shares = [f"{100 * float(found.explained[k - 1]):.1f}" for k in (across, up)]
    titles = [
        text("figure.pos_component", component=k, percent=share)
        for k, share in zip((across, up), shares, strict=True)
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
            "colorscale": scales.plain().colors,
            "showscale": True,
            "colorbar": scales.color_bar(style, text("figure.pos_position"), x=1.015),
        },
        hover=text("figure.pos_hover_position", position="%{customdata}") + ": %{x:.3g}, %{y:.3g}",
    )  # fmt: skip
    for place, at in ((0, -26), (positions - 1, 26))[: min(positions, 2)]:
        panel.words(
            f"<b>{text('figure.pos_hover_position', position=place)}</b>",
            float(x[place]), float(y[place]), showarrow=True, arrowhead=0, arrowwidth=1.5,
            arrowcolor=palette.truth, ax=0, ay=at, standoff=4,
        )  # fmt: skip
    return sheet.finish(
        text(
            "alt.pos_path",
            positions=positions,
            across=across,
            up=up,
            share=shares[0],
            other=shares[1],
            start=f"({number(float(x[0]))}, {number(float(y[0]))})",
            end=f"({number(float(x[-1]))}, {number(float(y[-1]))})",
        )
    )


def power_spectrum(learned: Spectrum, waves: Spectrum, style: Style = _STYLE) -> Figure:
    """The share of the variance along the positions at each frequency, both axes logarithmic."""
    text = style.text
    shares = [_percent(found.power) for found in (learned, waves)]
    logs = np.log10(np.concatenate(shares))
    top = float(np.nanmax(logs)) if np.isfinite(logs).any() else 0.0
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.decades(np.log10(learned.frequency), text("figure.pos_frequency")),
        axes.decades(np.maximum(logs, top - _DEEPEST), text("figure.pos_share_of_variance")),
    )
    for scheme, found, share in zip(_BOTH, (learned, waves), shares, strict=True):
        _line(panel, scheme, found.frequency, share, "%{x:.4g}: %{y:.3g} %")
    lowest = [float(np.nan_to_num(share[0])) for share in shares]
    return sheet.finish(
        text(
            "alt.pos_spectrum",
            first=number(float(learned.frequency[0])),
            learned=number(lowest[0]),
            waves=number(lowest[1]),
        )
    )


def _percent(power: Float[np.ndarray, "frequency"]) -> Float[np.ndarray, "frequency"]:
    """Of the whole power; nan for none, which a log axis does not have."""
    return 100 * np.where(power > 0, power, np.nan) / (power.sum() or 1.0)


def table_norms(found: Comparison, style: Style = _STYLE) -> Figure:
    """The length of each row; on a log axis where the two tables are far apart."""
    text = style.text
    both = (found.norms, found.sinusoidal_norms)
    seen, title = np.concatenate(both), text("figure.pos_norm")
    apart = seen.min() > 0 and seen.max() / seen.min() > _WIDE
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.counted(len(found.norms), text("figure.pos_position")),
        axes.decades(np.log10(seen), title)
        if apart
        else axes.axis(title, range=[0, 1.08 * scales.largest(seen)]),
    )
    for scheme, values in zip(_BOTH, both, strict=True):
        _line(panel, scheme, np.arange(len(values)), values, "%{x}: %{y:.4g}")
    return sheet.finish(
        text(
            "alt.pos_table_norms",
            positions=len(found.norms),
            first=number(float(found.norms[0])),
            median=number(float(np.median(found.norms))),
            waves=number(float(np.median(found.sinusoidal_norms))),
        )
    )


def component_shares(found: Comparison, style: Style = _STYLE) -> Figure:
    """How much of the variance is in the first few principal components."""
    text = style.text
    both = (100 * found.share, 100 * found.sinusoidal_share)
    words = [text("figure.pos_components", count=int(count)) for count in found.counts]
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(text("figure.pos_share_of_variance_plain"), range=[0, 114]),
        axes.axis(
            text("figure.pos_first_components"),
            type="category", autorange="reversed", showgrid=False,
        ),
    )  # fmt: skip
    for scheme, shares in zip(_BOTH, both, strict=True):
        drawn = look(scheme, style)
        panel.bars(
            words, shares, drawn.name, drawn.color, sideways=True,
            ends=[f"{share:.1f} %" for share in shares.tolist()],
            marker=hatched(drawn.color, drawn.pattern, style), hover=f"%{{y}}: %{{x:.2f}} %{NAMED}",
        )  # fmt: skip
    values = (
        text("figure.pos_two_shares", count=int(count), learned=f"{own:.1f}", waves=f"{other:.1f}")
        for count, own, other in zip(found.counts, *both, strict=True)
    )
    return sheet.finish(text("alt.pos_shares", values="; ".join(values)))


def _line(
    panel: Panel, scheme: str, x: Num[np.ndarray, "point"], y: Num[np.ndarray, "point"], hover: str
) -> None:
    """One table in the looks of its scheme; points where there are few."""
    drawn = look(scheme, panel.style)
    symbol = drawn.symbol if len(x) <= 20 else None
    panel.line(
        x, y, drawn.name, drawn.color, width=2.4, dash=drawn.dash, symbol=symbol, size=8,
        hover=hover + NAMED,
    )  # fmt: skip
