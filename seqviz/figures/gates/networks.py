"""Networks compared: what they expect next, how large they are, how they learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Real

from seqviz.figures.gates.effects import SERIES, ending, mode_of
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain, token_axis
from seqviz.text import number

_STYLE = Style()
_CELLS = {"rnn": ("dot", "square"), "gru": ("dash", "diamond"), "lstm": ("solid", "circle")}
_PARTS = {"input": ("prediction", ""), "recurrent": ("highlight", "/"), "biases": ("baseline", ".")}


def agreement(
    words: Sequence[str],
    singular: Mapping[str, Float[np.ndarray, "word"]],
    plural: Mapping[str, Float[np.ndarray, "word"]],
    singular_word: str,
    plural_word: str,
    style: Style = _STYLE,
) -> Figure:
    """How many bits more probable the plural verb is than the singular one after each word.

    singular, plural: the two probabilities by the name of the network. Above the line of zero the
    network expects the plural. A probability of exactly 0 leaves a gap.
    """
    text, palette = style.text, style.palette
    one, many = plain(singular_word), plain(plural_word)
    places = np.arange(1, len(words) + 1)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": [0.5, len(words) + 0.5],
            "y": [0, 0],
            "mode": "lines",
            "name": text("figure.equally_likely"),
            "hoverinfo": "skip",
            "line": {"color": palette.truth, "width": 1.6, "dash": "dot"},
        }
    ]
    ratios: dict[str, Float[np.ndarray, "word"]] = {}
    for label, (role, dash, symbol) in zip(singular, _looks(list(singular)), strict=True):
        color = getattr(palette, role)
        ratios[label] = _log_ratio(plural[label], singular[label])
        data.append(
            {
                "type": "scatter",
                "x": places,
                "y": ratios[label],
                "mode": "lines+markers",
                "name": plain(label),
                "line": {"color": color, "width": 2.6, "dash": dash},
                "marker": {"color": color, "size": 9, "symbol": symbol},
                "customdata": [
                    [number(float(p)), number(float(s))]
                    for p, s in zip(plural[label], singular[label], strict=True)
                ],
                "hovertemplate": f"%{{x}}<br>P({many}) = %{{customdata[0]}}<br>"
                f"P({one}) = %{{customdata[1]}}<extra>%{{fullData.name}}</extra>",
            }
        )
    largest = max(
        [1.0, *(float(np.nanmax(np.abs(r))) for r in ratios.values() if np.isfinite(r).any())]
    )
    spec = layout(style)
    spec |= {
        "xaxis": token_axis(style, words, title={"text": text("figure.words_so_far")}),
        "yaxis": axis_layout(
            style,
            range=[-1.18 * largest, 1.18 * largest],
            title={"text": text("figure.log_ratio", plural=many, singular=one)},
        ),
        "annotations": [
            {
                "xref": "paper",
                "x": 0.01,
                "xanchor": "left",
                "yref": "paper",
                "y": y,
                "yanchor": anchor,
                "text": text("figure.more_likely", word=f"<i>{word}</i>"),
                "showarrow": False,
                "font": {"size": 13 * style.scale, "color": palette.baseline},
            }
            for y, anchor, word in ((1, "top", f"↑ {many}"), (0, "bottom", f"↓ {one}"))
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.agreement",
            plural=plural_word,
            singular=singular_word,
            words=len(words),
            endings="; ".join(f"{label}: {ending(r)}" for label, r in ratios.items()),
        ),
    )


def parameter_bars(counts: Mapping[str, Mapping[str, int]], style: Style = _STYLE) -> Figure:
    """Parameters of each cell, stacked from their parts, with the total at the end of the bar.

    counts: cell ("rnn", "gru", "lstm") -> part ("input", "recurrent", "biases") -> number.
    """
    text, palette = style.text, style.palette
    names = [text(f"option.{cell}") for cell in counts]
    data: list[dict[str, Any]] = []
    for part, (role, pattern) in _PARTS.items():
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": [count.get(part, 0) for count in counts.values()],
                "y": names,
                "name": text(f"figure.part_{part}"),
                "marker": {
                    "color": getattr(palette, role),
                    "pattern": {
                        "shape": pattern,
                        "fillmode": "overlay",
                        "fgcolor": palette.grid,
                        "size": 7,
                    },
                },
                "hovertemplate": "%{y}: %{x:,d}<extra>%{fullData.name}</extra>",
            }
        )
    totals = [sum(count.values()) for count in counts.values()]
    spec = layout(style)
    spec |= {
        "barmode": "stack",
        "xaxis": axis_layout(
            style,
            title={"text": text("figure.parameters")},
            range=[0, 1.16 * max([1, *totals])],
            tickformat=",d",
            nticks=6,
        ),
        "yaxis": axis_layout(
            style,
            title={"text": text("figure.cell")},
            type="category",
            autorange="reversed",
            showgrid=False,
        ),
        "annotations": [
            {
                "x": total,
                "y": name,
                "xanchor": "left",
                "xshift": 5,
                "text": f"<b>{total:,}</b>",
                "showarrow": False,
                "font": {"size": 15 * style.scale, "color": palette.truth},
            }
            for name, total in zip(names, totals, strict=True)
        ],
    }
    spec["legend"] |= {"traceorder": "normal"}
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.parameters",
            totals="; ".join(f"{n}: {t:,}" for n, t in zip(names, totals, strict=True)),
        ),
    )


def training(
    updates: Real[np.ndarray, "point"],
    accuracy: Float[np.ndarray, "point"],
    cell: str,
    goal: float | None = None,
    total: int | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Accuracy of a small network while it learns, in percent.

    cell: which network, for its color and name. goal: the accuracy from which it has learned the
    task. total: updates of the whole run (the axis does not move while the curve grows).
    """
    text, palette = style.text, style.palette
    dash, symbol = _CELLS[cell]
    total = total or (int(updates[-1]) if len(updates) else 1)
    data: list[dict[str, Any]] = []
    if goal is not None:
        data.append(
            {
                "type": "scatter",
                "x": [0, total],
                "y": [100 * goal] * 2,
                "mode": "lines",
                "name": text("figure.learned", percent=f"{100 * goal:.0f}"),
                "hoverinfo": "skip",
                "line": {"color": palette.baseline, "width": 1.6, "dash": "dot"},
            }
        )
    data.append(
        {
            "type": "scatter",
            "x": updates,
            "y": 100 * np.asarray(accuracy, float),
            "mode": mode_of(len(updates)),
            "name": text(f"option.{cell}"),
            "line": {"color": getattr(palette, cell), "width": 2.8, "dash": dash},
            "marker": {"size": 7, "symbol": symbol},
            "hovertemplate": "%{x:,d}: %{y:.1f} %<extra>%{fullData.name}</extra>",
        }
    )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.update")}, range=[0, total * 1.02]),
        "yaxis": axis_layout(style, title={"text": text("figure.accuracy")}, range=[-3, 104]),
    }
    known = accuracy[np.isfinite(accuracy)]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.gate_training",
            cell=text(f"option.{cell}"),
            update=int(updates[-1]) if len(updates) else 0,
            accuracy=f"{100 * float(known[-1]):.1f}" if known.size else "–",
        ),
    )


def _log_ratio(
    above: Float[np.ndarray, "word"], below: Float[np.ndarray, "word"]
) -> Float[np.ndarray, "word"]:
    """Bits; nan where a probability is exactly zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.log2(np.asarray(above, float)) - np.log2(np.asarray(below, float))
    return np.where(np.isfinite(bits), bits, np.nan)


def _looks(labels: Sequence[str]) -> list[tuple[str, str, str]]:
    """Color, dash and marker of each network: that of its cell, if its name says which it is.

    Two networks of the same cell cannot both have it: then all of them take turns.
    """
    cells = [[cell for cell in _CELLS if cell in label.lower()] for label in labels]
    named = [found[0] for found in cells if len(found) == 1]
    if len(set(named)) < len(labels):
        return [SERIES[position % len(SERIES)] for position in range(len(labels))]
    return [(cell, *_CELLS[cell]) for cell in named]
