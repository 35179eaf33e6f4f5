"""Where a network's parameters are, and which of them are trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.accuracy.counting import Counted, Group, groups
from seqviz.figures.grammar.decades import ticks_of_ten
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.text import number

_STYLE = Style()
_ROWS = 14  # that find room; layers that are alike share a row beyond
_LABEL = 0.36  # of the axis: room for the number at the end of the longest bar, also on a phone
_TABLES = {"word_embeddings": "words", "position_embeddings": "positions",
           "token_type_embeddings": "types", "LayerNorm": "norm"}  # fmt: skip


def parts_view(found: Counted, title: str, style: Style = _STYLE) -> Figure:
    """Parameters of each part on a log axis: trained ones solid, frozen ones hatched.

    title: which network and what is trained, for the line above.
    """
    text, palette = style.text, style.palette
    rows = _rows(found, style)
    names = [name for name, _ in rows]
    data: list[dict[str, Any]] = []
    looks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("trained", palette.prediction, {"shape": ""}),
        ("frozen", palette.baseline, {"shape": "/", "fillmode": "replace", "size": 6,
                                      "fgcolor": palette.baseline, "solidity": 0.25}),
    )  # fmt: skip
    for kind, color, pattern in looks:
        counts = [
            row.trainable if kind == "trained" else row.total - row.trainable for _, row in rows
        ]
        kept = [place for place, count in enumerate(counts, 1) if count]
        if not kept:
            continue
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": [counts[place - 1] for place in kept],
                "y": kept,
                "width": 0.66,
                "name": text(f"figure.acc_{kind}"),
                "marker": {"color": color, "pattern": pattern,
                           "line": {"width": 1.2 if pattern["shape"] else 0, "color": color}},
                "customdata": [names[place - 1] for place in kept],
                "hovertemplate": "%{customdata}: %{x:,d}<extra>%{fullData.name}</extra>",
            }
        )  # fmt: skip
    largest = np.log10(max([10, *(row.total for _, row in rows)]))
    smallest = np.log10(max(1, min([10**6, *(row.total for _, row in rows if row.total)])))
    low = float(np.floor(smallest - 0.3))
    share = 100 * found.trainable / found.total if found.total else float("nan")
    words = text(
        "figure.acc_trained_of",
        title=plain(title),
        trainable=f"<b>{found.trainable:,}</b>",
        total=f"{found.total:,}",
        share=number(share),
    )
    places, words_of_ten = ticks_of_ten(int(low), int(np.ceil(largest)), most=10)
    spec = layout(style)
    spec["legend"] |= {"y": 1.075, "traceorder": "normal"}
    spec["margin"] = {**spec["margin"], "t": 72 * style.scale}
    spec |= {
        "barmode": "overlay",
        # From the left edge of the figure, not of its axes: on a phone it needs all of the width.
        "title": {
            "text": words,
            "font": {"size": 13 * style.scale},
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "pad": {"l": 10, "b": 5},
        },
        "xaxis": axis_layout(
            style,
            type="log",
            range=[low, float(largest + _LABEL * (largest - low))],
            tickvals=[10.0**k for k in places],
            ticktext=words_of_ten,
            title={"text": text("figure.acc_parameters_log")},
        ),
        "yaxis": axis_layout(
            style,
            range=[len(rows) + 0.6, 0.4],
            tickvals=list(range(1, len(rows) + 1)),
            ticktext=names,
            showgrid=False,
            title={"text": text("figure.acc_part")},
        ),
        "annotations": [
            *(
                label(
                    style,
                    f"<b>{row.total:,}</b>" if row.trainable else f"{row.total:,}",
                    palette.truth,
                    x=float(np.log10(max(row.total, 1))),
                    y=place,
                    xanchor="left",
                    xshift=5,
                )
                for place, (_, row) in enumerate(rows, 1)
            ),
        ],
    }  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_parts",
            title=title,
            total=f"{found.total:,}",
            trainable=f"{found.trainable:,}",
            share=number(share),
            values="; ".join(f"{name}: {row.total:,}" for name, row in rows),
        ),
        names={"y": names},
    )


def _rows(found: Counted, style: Style) -> list[tuple[str, Group]]:
    """Tables of the embeddings, layers, pooler, classifier, adapters, each with its name."""
    tables = {name: [0, 0] for name in _TABLES}
    for part in found.parts:
        first, table, *_ = part.name.split(".")
        if first == "embeddings":
            tables[table][0] += part.parameters
            tables[table][1] += part.parameters * part.trainable
    rows = [
        (style.text(f"figure.acc_part_{_TABLES[name]}"), Group(name, *pair))
        for name, pair in tables.items()
        if pair[0]
    ]
    others = [group for group in groups(found) if group.name != "embeddings"]
    merged = len(rows) + len(others) > _ROWS
    return rows + [(_named(run, style), _sum(run)) for run in _runs(others, merged)]


def _runs(found: list[Group], merged: bool) -> list[list[Group]]:
    """One list a row: layers with the same numbers together where `merged`."""
    rows: list[list[Group]] = []
    for group in found:
        if merged and rows and _alike(rows[-1][-1], group):
            rows[-1].append(group)
        else:
            rows.append([group])
    return rows


def _alike(first: Group, second: Group) -> bool:
    """Are these two layers with the same numbers?"""
    layers = first.name.startswith("layer") and second.name.startswith("layer")
    return layers and (first.total, first.trainable) == (second.total, second.trainable)


def _sum(run: list[Group]) -> Group:
    return Group(run[0].name, sum(g.total for g in run), sum(g.trainable for g in run))


def _named(run: list[Group], style: Style) -> str:
    kind, *first = run[0].name.split()
    if not first:
        return style.text(f"figure.acc_part_{kind}")
    if len(run) == 1:
        return style.text("figure.acc_part_layer", layer=first[0])
    last = run[-1].name.split()[1]
    return style.text("figure.acc_part_layer_range", first=first[0], last=last)
