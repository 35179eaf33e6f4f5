"""The race: accuracy and gradients of several cells while they train, and how far each can see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.figures.grammar.decades import log_axis, powers
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import from_log10, number

_STYLE = Style()
_DASHES = {"rnn": "dot", "lstm": "solid", "gru": "dash"}


def race_course(
    cells: Sequence[str],
    updates: Int[np.ndarray, "report"],
    accuracy: Float[np.ndarray, "report cell"],
    log10_gradients: Float[np.ndarray, "cell time"],
    learned: float,
    total: int | None = None,
    chance: float | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Left: accuracy on the test sequences by update. Right: |dJ/dh_t| by step, as it is now.

    updates, accuracy: at each report so far. learned: the accuracy from which a cell has learned
    the task. total: updates of the whole run (the axis does not move while the curves grow).
    chance: the accuracy of guessing.
    """
    text, palette = style.text, style.palette
    total = total or int(updates[-1])
    data: list[dict[str, Any]] = []
    levels = [(learned, "figure.learned", "dash")]
    if chance is not None:
        levels.append((chance, "figure.chance", "dot"))
    for level, name, dash in levels:
        data.append(
            {
                "type": "scatter",
                "x": [0, total],
                "y": [100 * level] * 2,
                "mode": "lines",
                "name": text(name, percent=f"{100 * level:.0f}"),
                "hoverinfo": "skip",
                "line": {"color": palette.baseline, "width": 1.6, "dash": dash},
            }
        )
    time = np.arange(1, log10_gradients.shape[1] + 1)
    for index, cell in enumerate(cells):
        line = {"color": getattr(palette, cell), "width": 2.8, "dash": _DASHES[cell]}
        data.append(
            {
                "type": "scatter",
                "x": updates,
                "y": 100 * accuracy[:, index],
                "mode": "lines",
                "name": text(f"option.{cell}"),
                "line": line,
            }
        )
        data.append(
            {
                "type": "scatter",
                "x": time,
                "y": powers(log10_gradients[index]),
                "xaxis": "x2",
                "yaxis": "y2",
                "mode": "lines",
                "name": text("figure.gradient_of", cell=text(f"option.{cell}")),
                "showlegend": False,
                "line": line,
                "customdata": [from_log10(float(v)) for v in log10_gradients[index]],
                "hovertemplate": "t = %{x}: %{customdata}<extra>%{fullData.name}</extra>",
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, domain=[0, 0.5], title={"text": text("figure.update")}, range=[0, total * 1.01]
        ),
        "yaxis": axis_layout(style, title={"text": text("figure.accuracy")}, range=[-3, 104]),
        "xaxis2": axis_layout(
            style,
            domain=[0.62, 1],
            anchor="y2",
            title={"text": text("figure.steps")},
            range=[0.5, len(time) + 0.5],
        ),
        "yaxis2": log_axis(style, log10_gradients, text("figure.gradient_norm"), anchor="x2"),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.race",
            update=int(updates[-1]),
            standings="; ".join(
                f"{text(f'option.{cell}')}: {100 * float(accuracy[-1, i]):.1f} %"
                for i, cell in enumerate(cells)
            ),
            gradients="; ".join(
                f"{text(f'option.{cell}')}: {from_log10(float(log10_gradients[i, 0]))}"
                for i, cell in enumerate(cells)
            ),
        ),
    )


def ladder(
    cells: Sequence[str],
    delays: Int[np.ndarray, "rung"],
    accuracy: Float[np.ndarray, "rung cell"],
    learned: Bool[np.ndarray, "rung cell"],
    style: Style = _STYLE,
) -> Figure:
    """Accuracy of each cell at each delay it was trained at; filled where it learned the task."""
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = []
    for index, cell in enumerate(cells):
        tried = np.isfinite(accuracy[:, index])
        color = getattr(palette, cell)
        shown = 100 * accuracy[tried, index]
        data.append(
            {
                "type": "scatter",
                "x": delays[tried],
                "y": shown,
                "mode": "lines+markers",
                "name": text(f"option.{cell}"),
                "line": {"color": color, "width": 2.4, "dash": _DASHES[cell]},
                "marker": {
                    "size": 13,
                    "color": color,
                    "symbol": ["circle" if ok else "x" for ok in learned[tried, index]],
                },
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            type="log",
            title={"text": text("figure.delay")},
            tickvals=[int(d) for d in delays],
            range=[-0.05, float(np.log10(delays[-1])) + 0.05],
        ),
        "yaxis": axis_layout(style, title={"text": text("figure.accuracy")}, range=[-3, 106]),
    }
    longest = [int(delays[learned[:, i]].max(initial=0)) for i in range(len(cells))]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.ladder",
            longest="; ".join(
                f"{text(f'option.{cell}')}: {number(reached) if reached else '–'}"
                for cell, reached in zip(cells, longest, strict=True)
            ),
        ),
    )
