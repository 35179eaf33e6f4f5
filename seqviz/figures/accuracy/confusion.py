"""How two systems err: what each says of the negative and of the positive sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.proportions import Confusion, of
from seqviz.figures.accuracy.compare import LOOKS, short
from seqviz.figures.accuracy.parts import percent, said
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.decades import BELOW
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain

_STYLE = Style()
_CELLS = [[0, f"rgba({BELOW[0]},{BELOW[1]},{BELOW[2]},0)"],
          [1, f"rgba({BELOW[0]},{BELOW[1]},{BELOW[2]},0.7)"]]  # fmt: skip
_KINDS = ("right_negative", "wrong_positive", "wrong_negative", "right_positive")


def confusion_view(
    first: Confusion, second: Confusion, names: tuple[str, str], style: Style = _STYLE
) -> Figure:
    """What each system says of the negative and of the positive sentences: counts, row percent."""
    text = style.text
    classes = [text("figure.acc_negative"), text("figure.acc_class_positive")]
    top = max(1, int(first.counts.max()), int(second.counts.max()))
    data: list[dict[str, Any]] = []
    spec = layout(style)
    spec["annotations"] = []
    ends = (("", first, names[0], [0, 0.46]), ("2", second, names[1], [0.54, 1]))
    for (end, found, name, domain), (role, *_) in zip(ends, LOOKS, strict=True):
        rows = [[of(int(cell), int(row.sum())) for cell in row] for row in found.counts]
        right = of(int(np.trace(found.counts)), int(found.counts.sum()))
        data.append(
            {
                "type": "heatmap",
                "x": [1, 2],
                "y": [1, 2],
                "z": found.counts,
                "xaxis": f"x{end}",
                "yaxis": f"y{end}",
                "name": f"{text('figure.acc_sentences')}, {plain(name)}",
                "colorscale": _CELLS,
                "zmin": 0,
                "zmax": top,
                "showscale": False,
                "xgap": 3,
                "ygap": 3,
                "text": [
                    [f"<b>{one.correct:,}</b><br>{percent(one.share)} %" for one in row]
                    for row in rows
                ],
                "texttemplate": "%{text}",
                "textfont": {"size": 16 * style.scale, "color": style.palette.truth},
                "customdata": [[said(one, style) for one in row] for row in rows],
                "hovertemplate": "<b>%{z:,d}</b><br>"
                + text("figure.acc_of_the_class", said="%{customdata}")
                + "<extra></extra>",
            }
        )
        for axis, other, key in (("x", "y", "predicted"), ("y", "x", "actual")):
            spec[f"{axis}axis{end}"] = axis_layout(
                style,
                range=[0.5, 2.5] if axis == "x" else [2.5, 0.5],
                tickvals=[1, 2],
                ticktext=classes,
                tickangle=0 if axis == "x" else -90,
                showgrid=False,
                anchor=f"{other}{end}",
                title={"text": text(f"figure.acc_{key}")},
                **({"domain": domain} if axis == "x" else {}),
            )
        title = f"{short(name)}: {said(right, style)}"
        color = getattr(style.palette, role)
        spec["annotations"].append(
            {**panel_title(style, end, title), "font": {"size": 13 * style.scale, "color": color}}
        )
    spec["yaxis2"]["title"] = {
        **spec["yaxis2"]["title"],
        "text": "",
    }  # the neighbor's holds for both
    spec["yaxis2"]["showticklabels"] = False
    spec["margin"] = {**spec["margin"], "t": 34 * style.scale}
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_confusion",
            values="; ".join(
                text(
                    "figure.acc_confused",
                    name=name,
                    **{
                        kind: f"{count:,}"
                        for kind, count in zip(_KINDS, found.counts.ravel().tolist(), strict=True)
                    },
                )
                for _, found, name, _ in ends
            ),
        ),
        names=dict.fromkeys(("x", "y", "x2", "y2"), classes),
        gap=0.2,
    )
