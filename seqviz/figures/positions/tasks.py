"""Small Transformers on tasks that need order: how they learn, and how well they do in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.tiny.results import OrderResult, Scores
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label, spread
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.positions.parts import look
from seqviz.text import number

_STYLE = Style()
_APART = 6.0  # percent between two labels at the ends of lines
_TOP = 106.0
_RUN = 0.12  # rows between two runs of one encoding


def curves(
    updates: Int[np.ndarray, "report"],
    curve: Float[np.ndarray, "report encoding run"],
    encodings: Sequence[str],
    total: int | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Accuracy (%) while the networks learn: mean of the runs, in a band from worst to best.

    updates, curve: of the reports so far. encodings: names, in the order of the curve. total:
    updates of the whole run, so that the axis does not move while the curves grow.
    """
    text = style.text
    percent = 100 * curve
    total = total or (int(updates[-1]) if len(updates) else 1)
    data: list[dict[str, Any]] = []
    ends: list[float] = []
    runs = curve.shape[2]
    looks = [look(encoding, style) for encoding in encodings]
    for place, drawn in enumerate(looks):
        low, high = percent[:, place].min(axis=1), percent[:, place].max(axis=1)
        if runs > 1 and len(updates) > 1:
            data.append(
                {
                    "type": "scatter",
                    "x": np.concatenate([updates, updates[::-1]]),
                    "y": np.concatenate([low, high[::-1]]),
                    "mode": "lines",
                    "line": {"width": 0},
                    "fill": "toself",
                    "fillcolor": drawn.color,
                    "opacity": 0.14,
                    "hoverinfo": "skip",
                    "showlegend": False,
                }
            )
    for place, drawn in enumerate(looks):
        mean = percent[:, place].mean(axis=1)
        ends.append(float(mean[-1]) if len(mean) else 0.0)
        data.append(
            {
                "type": "scatter",
                "x": updates,
                "y": mean,
                "mode": "lines+markers" if len(updates) <= 12 else "lines",
                "name": drawn.name,
                "showlegend": False,
                "line": {"color": drawn.color, "width": 2.8, "dash": drawn.dash},
                "marker": {"size": 7, "symbol": drawn.symbol},
                "hovertemplate": "%{x:,d}: %{y:.1f} %<extra>%{fullData.name}</extra>",
            }
        )
    last = int(updates[-1]) if len(updates) else 0
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "r": 92 * style.scale, "t": 20}
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.update")}, range=[0, total]),
        "yaxis": axis_layout(style, title={"text": text("figure.accuracy")}, range=[-3, _TOP]),
        "annotations": [
            label(style, drawn.name, drawn.color, x=last, y=at, xanchor="left", xshift=6)
            for drawn, at in zip(looks, spread(ends, _APART, _TOP - _APART / 2), strict=True)
            if last
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_curves",
            update=last,
            runs=runs,
            values="; ".join(
                f"{drawn.name}: {end:.1f} %" for drawn, end in zip(looks, ends, strict=True)
            ),
        ),
    )


def accuracies(result: OrderResult, style: Style = _STYLE) -> Figure:
    """How many answers are right, by encoding: runs with their intervals, and their mean.

    Left sequences as long as those of the training, right twice as long. Dotted: the best that can
    be had without reading, and without order.
    """
    text = style.text
    encodings = result.settings.encodings
    looks = [look(encoding, style) for encoding in encodings]
    names = [drawn.name for drawn in looks]
    runs = result.test.accuracy.shape[1]
    middle = 1 + _RUN * (runs - 1) / 2
    data: list[dict[str, Any]] = []
    spec = layout(style)
    spec["annotations"] = []
    for end, scores, domain in (("", result.test, [0, 0.45]), ("2", result.longer, [0.55, 1])):
        data += _limits(scores, len(names), end, style)
        for row, _ in enumerate(names):
            data += _runs(scores, row, looks[row], end, style)
        spec[f"xaxis{end}"] = axis_layout(
            style,
            domain=domain,
            anchor=f"y{end}",
            range=[-3, 122],
            tickvals=[0, 25, 50, 75, 100],
            title={"text": text("figure.pos_accuracy")},
        )
        spec[f"yaxis{end}"] = axis_layout(
            style,
            anchor=f"x{end}",
            range=[len(names) + middle - 0.4, middle - 0.6],
            tickvals=np.arange(len(names)) + middle,
            ticktext=names,
            showgrid=False,
            showticklabels=not end,
            title={"text": text("figure.pos_scheme")},
        )
        spec["annotations"] += [
            panel_title(style, end, text("figure.pos_letters", count=scores.length)),
            *(_mean(scores, row, middle, end, style) for row in range(len(names))),
        ]
    spec["yaxis2"]["title"] = {"text": ""}  # the neighbor's holds for both
    spec["legend"] |= {"y": 1.07}
    spec["margin"] = {**spec["margin"], "t": 72 * style.scale}
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_accuracies",
            length=result.test.length,
            usual=_listed(result.test, names, style),
            longer=result.longer.length,
            long=_listed(result.longer, names, style),
            chance=f"{100 * result.test.chance:.1f}",
            blind=f"{100 * result.test.order_blind:.1f}",
        ),
        gap=0.22,
    )


def _limits(scores: Scores, rows: int, end: str, style: Style) -> list[dict[str, Any]]:
    """Lines from top to bottom at what needs no reading, and at what needs no order."""
    return [
        {
            "type": "scatter",
            "x": [100 * value] * 2,
            "y": [0, rows + 2],
            "xaxis": f"x{end}",
            "yaxis": f"y{end}",
            "mode": "lines",
            "name": style.text(f"figure.pos_{name}"),
            "legendgroup": name,
            "showlegend": not end,
            "line": {"color": color, "width": 2, "dash": dash},
            "hoverinfo": "skip",
        }
        for name, value, color, dash in (
            ("chance", scores.chance, style.palette.baseline, "dot"),
            ("order_blind", scores.order_blind, style.palette.truth, "dashdot"),
        )
    ]


def _runs(scores: Scores, row: int, drawn: Any, end: str, style: Style) -> list[dict[str, Any]]:
    """The runs of one encoding with their intervals, and a stroke at their mean."""
    accuracy = scores.accuracy[row]
    place = row + 1 + _RUN * np.arange(len(accuracy))
    common = {"type": "scatter", "xaxis": f"x{end}", "yaxis": f"y{end}", "showlegend": False}
    return [
        {
            **common,
            "x": 100 * accuracy,
            "y": place,
            "mode": "markers",
            "name": drawn.name,
            "marker": {"color": drawn.color, "symbol": drawn.symbol, "size": 8},
            "error_x": {
                "type": "data",
                "array": 100 * (scores.high[row] - accuracy),
                "arrayminus": 100 * (accuracy - scores.low[row]),
                "color": drawn.color,
                "thickness": 1.6,
                "width": 3,
            },
            "hovertemplate": "%{x:.1f} %<extra>%{fullData.name}</extra>",
        },
        {
            **common,
            "x": [100 * float(scores.mean[row])],
            "y": [float(place.mean())],
            "mode": "markers",
            "name": style.text("figure.pos_mean_of", name=drawn.name),
            "marker": {
                "symbol": "line-ns",
                "size": 30,
                "line": {"width": 3, "color": style.palette.truth},
            },
            "hovertemplate": "%{x:.1f} %<extra>%{fullData.name}</extra>",
        },
    ]


def _mean(scores: Scores, row: int, middle: float, end: str, style: Style) -> dict[str, Any]:
    """The mean beside the row, or that there is none."""
    mean = 100 * float(scores.mean[row])
    none = np.isnan(mean)
    return label(
        style,
        style.text("figure.pos_no_rows") if none else f"<b>{mean:.1f}</b>",
        style.palette.truth,
        xref=f"x{end}",
        yref=f"y{end}",
        x=122,
        y=row + middle,
        xanchor="right",
    )


def _listed(scores: Scores, names: Sequence[str], style: Style) -> str:
    return "; ".join(
        f"{name}: "
        + (style.text("figure.pos_no_rows") if np.isnan(mean) else f"{number(100 * mean)} %")
        for name, mean in zip(names, scores.mean.tolist(), strict=True)
    )
