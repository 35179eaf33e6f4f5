"""A real encoder with its own position table and with others in its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.positions.findings import Reordered
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.matrices import tokens_axis, weight_cells
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.weights_color import bar
from seqviz.text import number

_STYLE = Style()
_SERIES = (("alike", "prediction"), ("kept", "gru"), ("previous", "baseline"))


def variants(found: Reordered, style: Style = _STYLE) -> Figure:
    """Three numbers for each table: are two orders alike, is the meaning kept, is order seen."""
    text, palette = style.text, style.palette
    rows = np.arange(1, len(found.variants) + 1)
    data: list[dict[str, Any]] = []
    for name, role in _SERIES:
        values = getattr(found, name)
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": values,
                "y": rows,
                "name": text(f"figure.pos_{name}"),
                "marker": {"color": getattr(palette, role)},
                "text": [number(float(v), 4) for v in values],
                "textposition": "outside",
                "cliponaxis": False,
                "textfont": {"size": 12 * style.scale},
                "hovertemplate": "%{y}: %{x:.4f}<extra>%{fullData.name}</extra>",
            }
        )
    least = min(float(getattr(found, name).min()) for name, _ in _SERIES)
    spec = layout(style)
    spec |= {
        "bargap": 0.25,
        "xaxis": axis_layout(
            style,
            range=[min(0.0, 1.15 * least), 1.15],
            tickvals=[0, 0.25, 0.5, 0.75, 1],
            title={"text": text("figure.pos_cosine_or_share")},
        ),
        "yaxis": axis_layout(
            style,
            range=[len(rows) + 0.5, 0.5],
            tickvals=list(rows),
            ticktext=[text(f"figure.pos_table_{name}") for name in found.variants],
            showgrid=False,
            title={"text": text("figure.pos_table")},
        ),
    }
    by = dict(zip(found.variants, found.alike, strict=True))
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_variants",
            model=found.model,
            own=number(float(by["own"]), 4),
            zero=number(float(by["zero"]), 4),
        ),
    )


def maps(found: Reordered, variant: str, style: Style = _STYLE) -> Figure:
    """One head on the first text: with the model's own positions, and with another table."""
    text = style.text
    place = found.variants.index(variant)
    data, pieces = [], found.pieces
    spec = layout(style)
    titles = []
    for end, row, domain in (("", 0, [0, 0.42]), ("2", place, [0.52, 0.94])):
        heat = weight_cells(found.weights[row], style)
        heat.pop("texttemplate", None)
        data.append(
            heat
            | {"xaxis": f"x{end}", "yaxis": f"y{end}"}
            | ({"colorbar": bar(style, text("figure.weight"))} if end else {"showscale": False})
        )
        spec[f"xaxis{end}"] = tokens_axis(
            style, pieces, "figure.keys", most=20, domain=domain, anchor=f"y{end}"
        )
        spec[f"yaxis{end}"] = tokens_axis(
            style, pieces, "figure.queries", upright=True, anchor=f"x{end}"
        )
        titles.append(panel_title(style, end, text(f"figure.pos_table_{found.variants[row]}")))
    spec["yaxis2"] |= {"showticklabels": False, "title": {"text": ""}}
    spec["annotations"] = titles
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_maps",
            layer=found.layer,
            head=found.head,
            variant=text(f"figure.pos_table_{variant}"),
            own=number(float(found.previous[0])),
            other=number(float(found.previous[place])),
        ),
        names={"x": pieces, "y": pieces, "x2": pieces, "y2": pieces},
        gap=0.2,
    )
