"""What telling positions changes: two orders of the same words, seen by one attention head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.matrices import tokens_axis, weight_cells
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.figures.grammar.weights_color import bar
from seqviz.figures.positions.parts import look
from seqviz.text import number

_STYLE = Style()
ROUNDING = 1e-10  # a smaller distance is that of sums taken in another order
_NUMBERED, _NAMED = 26, 64  # bars that find room for their numbers, for their words
_LONGEST = 12  # characters of a word under a bar
_PATTERNS = {"none": "", "sinusoidal": "", "learned": "/", "rotary": "x", "alibi": ".", "t5": "-"}


def moved_words(
    words: Sequence[str],
    gaps: Mapping[str, Float[np.ndarray, "word"]],
    style: Style = _STYLE,
) -> Figure:
    """How far each word's output is from its output in the other order; a group a scheme.

    words: in the first order. gaps: by scheme, one distance a word; a distance that is only
    rounding is written as 0.
    """
    text = style.text
    count, groups = len(words), len(gaps)
    slots = groups * (count + 1) - 1  # one is left free between two groups
    top = max([float(gap.max(initial=0)) for gap in gaps.values()] or [0.0])
    top = top if top > ROUNDING else 1.0
    data: list[dict[str, Any]] = []
    titles, names = [], [""] * slots
    for group, (scheme, gap) in enumerate(gaps.items()):
        drawn, first = look(scheme, style), group * (count + 1)
        names[first : first + count] = words
        hidden = gap <= ROUNDING
        written = slots <= _NUMBERED
        data.append(
            {
                "type": "bar",
                "x": first + np.arange(1, count + 1),
                "y": gap,
                "name": drawn.name,
                "showlegend": False,
                "width": 0.8,
                "marker": {
                    "color": drawn.color,
                    "pattern": {
                        "shape": _PATTERNS[scheme],
                        "fillmode": "overlay",
                        "fgcolor": style.palette.grid,
                        "size": 7,
                    },
                },
                "text": [
                    "0" if zero else number(float(value), 2) if written else ""
                    for zero, value in zip(hidden, gap, strict=True)
                ],
                "textposition": "outside",
                "textangle": 0,
                "constraintext": "outside",
                "cliponaxis": False,
                "textfont": {"size": 12 * style.scale},
                "customdata": [plain(word) for word in words],
                "hovertemplate": "%{customdata}: %{y:.3g}<extra>%{fullData.name}</extra>",
            }
        )
        titles.append(
            label(
                style,
                f"<b>{drawn.name.replace(' ', '<br>')}</b>",  # they are near on a phone
                drawn.color,
                x=first + (count + 1) / 2,
                y=1,
                yref="y domain",
                yanchor="bottom",
                yshift=4,
            )
        )
    places = [place for place, name in enumerate(names, 1) if name and slots <= _NAMED]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            range=[0.3, max(slots, 1) + 0.7],
            tickvals=places,
            ticktext=[plain(_short(names[place - 1])) for place in places],
            showgrid=False,
            title={"text": text("figure.pos_word")},
        ),
        "yaxis": axis_layout(
            style, range=[0, 1.14 * top], title={"text": text("figure.pos_output_moved")}
        ),
        "annotations": titles,
        "bargap": 0.2,
        # On a phone the numbers would run into one another; 0 stays, it is narrow.
        "uniformtext": {"minsize": 10 * style.scale, "mode": "hide"},
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_moved",
            words=" ".join(words),
            values="; ".join(
                f"{look(scheme, style).name}: "
                + (number(float(gap.max(initial=0))) if (gap > ROUNDING).any() else "0")
                for scheme, gap in gaps.items()
            ),
        ),
        names={"x": names},
    )


def outputs(
    first_words: Sequence[str],
    first: Float[np.ndarray, "query key"],
    second_words: Sequence[str],
    second: Float[np.ndarray, "query2 key2"],
    style: Style = _STYLE,
) -> Figure:
    """The attention weights of two sentences (x key, y query), each with its own words."""
    text = style.text
    data: list[dict[str, Any]] = []
    spec = layout(style)
    spec["annotations"] = []
    for end, words, weights, domain in (
        ("", first_words, first, [0, 0.4]),
        ("2", second_words, second, [0.53, 0.93]),
    ):
        title = text("figure.pos_second_order" if end else "figure.pos_first_order")
        heat = weight_cells(weights, style)
        if len(words) > 9:
            heat.pop("texttemplate", None)
        data.append(
            heat
            | {
                "xaxis": f"x{end}",
                "yaxis": f"y{end}",
                "name": f"{heat['name']}, {title}",
                "showscale": bool(end),
                "colorbar": bar(style, text("figure.weight"), x=0.94),
            }
        )
        spec[f"xaxis{end}"] = tokens_axis(
            style, words, "figure.keys", most=20, domain=domain, anchor=f"y{end}"
        )
        spec[f"yaxis{end}"] = tokens_axis(
            style, words, "figure.queries", upright=True, anchor=f"x{end}"
        )
        spec["annotations"].append(panel_title(style, end, title))
    spec["yaxis2"]["title"] = {"text": ""}  # the neighbor's holds for both
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_outputs",
            first=" ".join(first_words),
            second=" ".join(second_words),
            weight=number(float(first[0, -1])),
            query=first_words[0],
            key=first_words[-1],
            other=number(float(second[0, -1])),
            other_query=second_words[0],
            other_key=second_words[-1],
        ),
        names={"x": first_words, "y": first_words, "x2": second_words, "y2": second_words},
        gap=0.24,
    )


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
