"""A learned position table beside the sinusoidal one: similarity, path, spectrum, norms, shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.learned import Comparison, Path, Spectrum
from seqviz.figures.grammar.decades import log_axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import around, label
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, finish, layout
from seqviz.figures.grammar.weights_color import color_bar
from seqviz.figures.positions.parts import cells, counted, largest, look, stride, twins
from seqviz.text import number

_STYLE = Style()
_SIDE = 256  # positions of each of two matrices beside one another: a cell is then a pixel
_DEEPEST = 8  # decades below the strongest frequency
_WIDE = 10  # ratio of two norms from which on a log axis shows them better


def table_similarity(
    learned: Float[np.ndarray, "position position"],
    waves: Float[np.ndarray, "position position"],
    style: Style = _STYLE,
) -> Figure:
    """Cosines of all pairs of positions: of the learned table, and of the sinusoidal one.

    Both from -1 to 1. A click gives j (x) and i (y), from 0. Of more than 256 positions every k-th
    is shown.
    """
    text = style.text
    count = len(learned)
    step = stride(count, _SIDE)
    every = f" · {text('figure.pos_every', step=step)}" if step > 1 else ""
    names = [look(scheme, style).name for scheme in ("learned", "sinusoidal")]
    data = [
        cells(
            matrix[::step, ::step],
            name,
            style,
            limit=max(1.0, largest(matrix)),
            end=end,
            step=step,
            meta="pick",
            showscale=bool(end),
            colorbar=color_bar(style, text("figure.pos_cosine"), x=0.94),
            hovertemplate=f"i = %{{y}}, j = %{{x}}: <b>%{{z:.4f}}</b><extra>{name}</extra>",
        )
        for end, matrix, name in zip(("", "2"), (learned, waves), names, strict=True)
    ]
    spec = layout(style)
    titles = [name + every for name in names]
    spec |= twins(style, count, text("figure.pos_j"), text("figure.pos_i"), titles, step)
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_tables",
            positions=count,
            learned=number(_beside(learned)),
            waves=number(_beside(waves)),
            far=number(float(learned[0, -1])),
            waves_far=number(float(waves[0, -1])),
        ),
        gap=0.16,
    )


def _beside(matrix: Float[np.ndarray, "position position"]) -> float:
    """Mean over neighboring positions; nan for a single one."""
    return float(np.diag(matrix, 1).mean()) if len(matrix) > 1 else float("nan")


def path(found: Path, across: int = 1, up: int = 2, style: Style = _STYLE) -> Figure:
    """Two principal components against one another, from position to position.

    across, up: which components, from 1. Raises ValueError for one that was not computed.
    """
    text, palette = style.text, style.palette
    positions, components = found.components.shape
    for chosen in (across, up):
        if not 1 <= chosen <= components:
            raise ValueError(f"There are components 1 to {components}, not {chosen}.")
    x, y = found.components[:, across - 1], found.components[:, up - 1]
    share = [f"{100 * float(found.explained[k - 1]):.1f}" for k in (across, up)]
    titles = [
        text("figure.pos_component", component=k, percent=s)
        for k, s in zip((across, up), share, strict=True)
    ]
    trace: dict[str, Any] = {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "name": text("figure.pos_path"),
        "showlegend": False,
        "line": {"color": palette.baseline, "width": 1},
        "marker": {
            "size": 8,
            "color": np.arange(positions),
            "cmin": 0,
            "cmax": max(positions - 1, 1),
            "colorscale": WEIGHTS,
            "showscale": True,
            "colorbar": color_bar(style, text("figure.pos_position")),
        },
        "customdata": np.arange(positions),
        "hovertemplate": text("figure.pos_hover_position", position="%{customdata}")
        + ": %{x:.3g}, %{y:.3g}<extra></extra>",
    }
    ends = [0] if positions == 1 else [0, positions - 1]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, range=around(x, margin=0.1), title={"text": titles[0]}),
        "yaxis": axis_layout(
            style, range=around(y, margin=0.1), scaleanchor="x", title={"text": titles[1]}
        ),
        "annotations": [
            {
                **label(
                    style, f"<b>{text('figure.pos_hover_position', position=p)}</b>", palette.truth
                ),
                "x": float(x[p]),
                "y": float(y[p]),
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 1.5,
                "arrowcolor": palette.truth,
                "ax": 0,
                "ay": -26 if place == 0 else 26,
                "standoff": 4,
            }
            for place, p in enumerate(ends)
        ],
    }
    return finish(
        {"data": [trace], "layout": spec},
        text(
            "alt.pos_path",
            positions=positions,
            across=across,
            up=up,
            share=share[0],
            other=share[1],
            start=f"({number(float(x[0]))}, {number(float(y[0]))})",
            end=f"({number(float(x[-1]))}, {number(float(y[-1]))})",
        ),
    )


def spectrum(learned: Spectrum, waves: Spectrum, style: Style = _STYLE) -> Figure:
    """The share of the variance along the positions at each frequency, both axes logarithmic."""
    text = style.text
    data: list[dict[str, Any]] = []
    shares = []
    for scheme, found in (("learned", learned), ("sinusoidal", waves)):
        total = float(found.power.sum())
        share = 100 * found.power / total if total > 0 else np.full(len(found.power), np.nan)
        shares.append(np.where(share > 0, share, np.nan))
        data.append(
            _line(scheme, found.frequency, shares[-1], style)
            | {"hovertemplate": "%{x:.4g}: %{y:.3g} %<extra>%{fullData.name}</extra>"}
        )
    seen = np.log10(np.concatenate(shares))
    top = float(np.nanmax(seen)) if np.isfinite(seen).any() else 0.0
    spec = layout(style)
    spec |= {
        "xaxis": log_axis(style, np.log10(learned.frequency), text("figure.pos_frequency")),
        "yaxis": log_axis(
            style, np.maximum(seen, top - _DEEPEST), text("figure.pos_share_of_variance")
        ),
    }
    lowest = [s[0] if np.isfinite(s[0]) else 0.0 for s in shares]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_spectrum",
            first=number(float(learned.frequency[0])),
            learned=number(float(lowest[0])),
            waves=number(float(lowest[1])),
        ),
    )


def norms(found: Comparison, style: Style = _STYLE) -> Figure:
    """The length of each row; on a log axis where the two tables are far apart."""
    text = style.text
    both = (found.norms, found.sinusoidal_norms)
    data = [
        _line(scheme, np.arange(len(values)), values, style)
        | {"hovertemplate": "%{x}: %{y:.4g}<extra>%{fullData.name}</extra>"}
        for scheme, values in zip(("learned", "sinusoidal"), both, strict=True)
    ]
    seen = np.concatenate(both)
    title = text("figure.pos_norm")
    if seen.min() > 0 and seen.max() / seen.min() > _WIDE:
        y = log_axis(style, np.log10(seen), title)
    else:
        y = axis_layout(style, range=[0, 1.08 * largest(seen)], title={"text": title})
    spec = layout(style)
    spec |= {"xaxis": counted(style, len(found.norms), text("figure.pos_position")), "yaxis": y}
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_table_norms",
            positions=len(found.norms),
            first=number(float(found.norms[0])),
            median=number(float(np.median(found.norms))),
            waves=number(float(np.median(found.sinusoidal_norms))),
        ),
    )


def shares(found: Comparison, style: Style = _STYLE) -> Figure:
    """How much of the variance is in the first few principal components."""
    text = style.text
    words = [text("figure.pos_components", count=int(count)) for count in found.counts]
    data = []
    for scheme, values in (("learned", found.share), ("sinusoidal", found.sinusoidal_share)):
        drawn = look(scheme, style)
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": 100 * values,
                "y": words,
                "name": drawn.name,
                "marker": {
                    "color": drawn.color,
                    "pattern": {
                        "shape": "/" if scheme == "sinusoidal" else "",
                        "fillmode": "overlay",
                        "fgcolor": style.palette.grid,
                        "size": 7,
                    },
                },
                "text": [f"{100 * float(value):.1f} %" for value in values],
                "textposition": "outside",
                "cliponaxis": False,
                "hovertemplate": "%{y}: %{x:.2f} %<extra>%{fullData.name}</extra>",
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, range=[0, 114], title={"text": text("figure.pos_share_of_variance_plain")}
        ),
        "yaxis": axis_layout(
            style,
            type="category",
            autorange="reversed",
            showgrid=False,
            title={"text": text("figure.pos_first_components")},
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_shares",
            values="; ".join(
                text("figure.pos_two_shares", count=int(c), learned=f"{100 * a:.1f}",
                     waves=f"{100 * b:.1f}")
                for c, a, b in zip(found.counts, found.share, found.sinusoidal_share, strict=True)
            ),
        ),
    )  # fmt: skip


def _line(scheme: str, x: np.ndarray, y: np.ndarray, style: Style) -> dict[str, Any]:
    """One table in the looks of its scheme; points where there are few."""
    drawn = look(scheme, style)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines" if len(x) > 20 else "lines+markers",
        "name": drawn.name,
        "line": {"color": drawn.color, "dash": drawn.dash, "width": 2.4},
        "marker": {"symbol": drawn.symbol, "size": 8},
    }
