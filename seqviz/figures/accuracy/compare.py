"""Two systems on the same sentences: sentence after sentence, and where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.proportions import Paired, Proportion, Running, of
from seqviz.figures.accuracy.parts import at_ends, band, fitted, line, percent, said, upright
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.text import number

_STYLE = Style()
LOOKS = (("prediction", "solid", "circle"), ("rnn", "dash", "diamond"))  # first, second system
_SETTLED = 40  # sentences before which the intervals are too wide to be shown whole
_LONGEST = 22  # characters of a name at the end of a line


def running_view(
    first: Running, second: Running, names: tuple[str, str], n: int, style: Style = _STYLE
) -> Figure:
    """Accuracy of two systems on the first 1, 2, ... sentences, with 95 % bands.

    n: sentences at which the two are read off. Raises ValueError for an n beyond the sentences.
    """
    text, palette = style.text, style.palette
    count = len(first.n)
    if not 1 <= n <= count:
        raise ValueError(f"There are 1 to {count:,} sentences, not {n:,}.")
    shown = [plain(name) for name in names]
    data: list[dict[str, Any]] = []
    both = tuple(zip((first, second), shown, LOOKS, strict=True))
    for found, _, (role, *_) in both:
        color = getattr(palette, role)
        data.append(band(found.n, 100 * found.low, 100 * found.high, color))
    for found, name, (role, dash, symbol) in both:
        color = getattr(palette, role)
        data.append(line(found.n, 100 * found.share, name, color, dash, symbol, showlegend=False))
    for found, name, (role, _, symbol) in both:
        marker = {"size": 11, "symbol": symbol, "color": getattr(palette, role)}
        data.append(
            {
                "type": "scatter",
                "x": [n],
                "y": [100 * float(found.share[n - 1])],
                "mode": "markers",
                "name": text("figure.acc_at_n", name=name, n=f"{n:,}"),
                "showlegend": False,
                "marker": {**marker, "line": {"width": 2, "color": palette.truth}},
                "hoverinfo": "skip",
            }
        )
    start = min(_SETTLED, count) - 1
    late = [100 * part[start:] for found in (first, second) for part in (found.low, found.high)]
    window = fitted(*late, above=0.02)
    words = [f"{name}: {said(_first(found, n), style)}" for found, name, _ in both]
    spec = layout(style)
    longest = max(min(len(name), _LONGEST) for name in names)
    spec["margin"] = {
        **spec["margin"],
        "r": (46 + 7.5 * longest) * style.scale,
        "t": 52 * style.scale,
    }
    spec |= {
        "xaxis": axis_layout(
            style, range=[0, max(count, 2)], tickformat=",d", nticks=7,
            title={"text": text("figure.acc_first_sentences")},
        ),
        "yaxis": axis_layout(
            style, range=list(window), title={"text": text("figure.acc_accuracy")}
        ),
        "shapes": [upright(n, palette.highlight)],
        "annotations": [
            *at_ends(
                [short(name) for name in names],
                [getattr(palette, role) for role, *_ in LOOKS],
                [100 * float(found.share[-1]) for found in (first, second)],
                count,
                window,
                style,
            ),
            label(style, "<br>".join(words), palette.truth, xref="paper", yref="paper", x=0, y=1,
                  xanchor="left", yanchor="bottom", align="left", yshift=4),
        ],
    }  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_running",
            n=f"{n:,}",
            first=names[0],
            second=names[1],
            values="; ".join(said(_first(found, n), style) for found in (first, second)),
            all=f"{count:,}",
        ),
    )


def paired_view(found: Paired, names: tuple[str, str], style: Style = _STYLE) -> Figure:
    """On how many sentences both are right, only the one, only the other, neither.

    McNemar's test looks at the two tiles with a frame only: there the systems differ.
    """
    text, palette = style.text, style.palette
    first, second = (plain(name) for name in names)
    counts = np.array([[found.both, found.only_first], [found.only_second, found.neither]])
    kinds = (("both", "first"), ("second", "neither"))
    roles = {"first": "prediction", "second": "rnn"}
    shapes, annotations = [], []
    for row in (0, 1):
        for column in (0, 1):
            kind, count = kinds[row][column], int(counts[row, column])
            role = roles.get(kind)
            color = getattr(palette, role) if role else palette.grid
            shapes.append(
                {
                    "type": "rect",
                    "x0": column + 0.53, "x1": column + 1.47,
                    "y0": row + 0.53, "y1": row + 1.47,
                    "fillcolor": palette.band if role else palette.grid,
                    "opacity": 1 if role else 0.5,
                    "line": {"color": color, "width": 4 if role else 0},
                    "layer": "below",
                }
            )  # fmt: skip
            size = (30 if role else 20) * style.scale
            share = of(count, found.n).share if found.n else float("nan")
            words = text(f"figure.acc_pair_{kind}", first=first, second=second)
            annotations.append(
                label(
                    style,
                    f"<span style='font-size:{size:g}px'><b>{count:,}</b></span><br>"
                    f"{words}<br>{percent(share)} %",
                    palette.truth,
                    x=column + 1,
                    y=row + 1,
                )
            )
    cells = {
        "type": "heatmap",
        "x": [1, 2],
        "y": [1, 2],
        "z": counts,
        "name": text("figure.acc_sentences"),
        "colorscale": [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
        "showscale": False,
        "hovertemplate": "%{z:,d}<extra>%{fullData.name}</extra>",
    }
    answers = [text("figure.acc_answer_right"), text("figure.acc_answer_wrong")]
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "t": 34 * style.scale}
    for axis, name in (("xaxis", second), ("yaxis", first)):
        spec[axis] = axis_layout(
            style, range=[0.5, 2.5] if axis == "xaxis" else [2.5, 0.5], tickvals=[1, 2],
            ticktext=answers, showgrid=False,
            title={"text": text("figure.acc_answers_of", name=name)},
        )  # fmt: skip
    spec["yaxis"]["tickangle"] = -90
    differing = found.only_first + found.only_second
    spec |= {"shapes": shapes, "annotations": annotations}
    p = "< 0.001" if found.p < 0.001 else f"= {number(found.p)}"
    annotations.append(
        panel_title(
            style, "", text("figure.acc_differ", count=f"{differing:,}", n=f"{found.n:,}", p=p)
        )
    )
    return finish(
        {"data": [cells], "layout": spec},
        text(
            "alt.acc_paired",
            first=names[0],
            second=names[1],
            n=f"{found.n:,}",
            both=f"{found.both:,}",
            only_first=f"{found.only_first:,}",
            only_second=f"{found.only_second:,}",
            neither=f"{found.neither:,}",
            p=p,
        ),
        names={"x": answers, "y": answers},
    )


def _first(found: Running, n: int) -> Proportion:
    """What has been reached after n sentences."""
    share, low, high = (float(part[n - 1]) for part in (found.share, found.low, found.high))
    return Proportion(round(share * n), n, share, low, high)


def short(name: str) -> str:
    """A name that finds room at the end of a line, escaped."""
    return plain(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")
