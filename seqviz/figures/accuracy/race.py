"""Grid, random and Bayesian search beside one another: how soon each finds how good a setting."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.accuracy.findings import Searched
from seqviz.figures.accuracy.parts import at_ends, fitted, line, said, whisker
from seqviz.figures.accuracy.search import VALIDATED, judged
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_TICKS = 8
_METHODS = {  # role of the color, dash, marker
    "grid": ("truth", "dash", "square"),
    "random": ("rnn", "dot", "diamond"),
    "bayes": ("prediction", "solid", "circle"),
}


def search_race_view(
    found: tuple[Searched, ...], n: int = VALIDATED, style: Style = _STYLE
) -> Figure:
    """The best validation accuracy so far, trial by trial, for each method of searching.

    n: validation sentences. Behind the last trial stands the 95 % interval of each method's best;
    pale marks are the trials themselves, those far below the lines are left out of view.
    """
    text = style.text
    runs = [one for one in found if len(one.validation)]
    last = max([1, *(len(one.validation) for one in runs)])
    room = max(0.3, 0.05 * last)  # between two intervals
    data: list[dict[str, Any]] = []
    names, short, colors, ends, seen = [], [], [], [], []
    for place, one in enumerate(runs, 1):
        role, dash, symbol = _METHODS[one.settings.method]
        name, color = text(f"figure.acc_method_{one.settings.method}"), getattr(style.palette, role)
        best = np.fmax.accumulate(100 * one.validation)
        end = judged(float(best[-1]) / 100, n)
        trials = np.arange(1, len(best) + 1)
        curve = line(trials, best, name, color, dash, mode="lines", showlegend=False)
        curve["line"] |= {"shape": "hv", "width": 2.8}
        dots: dict[str, Any] = {"mode": "markers", "opacity": 0.6, "showlegend": False}
        each, top = text("figure.acc_trials_of", name=name), text("figure.acc_best_of", name=name)
        data += [
            curve,
            line(trials, 100 * one.validation, each, color, symbol=symbol, **dots),
            line(
                np.array([last + room * place]),
                best[-1:],
                top,
                color,
                symbol=symbol,
                mode="markers",
                showlegend=False,
                error_y=whisker([100 * end.low], best[-1:].tolist(), [100 * end.high], color),
                hovertemplate=f"{said(end, style)}<extra>%{{fullData.name}}</extra>",
            ),
        ]
        names.append(name)
        short.append(text(f"figure.acc_race_{one.settings.method}"))
        colors.append(color)
        ends.append(end)
        seen += [100 * end.low, 100 * end.high, *np.maximum(best, 100 * end.low - 8).tolist()]
    window = fitted(seen or [50, 100], above=0.02)
    right = last + room * (len(runs) + 1)
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / step <= _TICKS)
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "r": 108 * style.scale, "t": 20}
    spec |= {
        "xaxis": axis_layout(
            style,
            range=[0.5, right],
            tickangle=0,
            tickvals=[1, *range(max(every, 2), last + 1, every)],
            title={"text": text("figure.acc_trial")},
        ),
        "yaxis": axis_layout(
            style,
            range=list(window),
            title={"text": text("figure.acc_best_so_far", n=f"{n:,}")},
        ),
        "annotations": at_ends(
            [f"{name} <b>{100 * end.share:.1f}</b>" for name, end in zip(short, ends, strict=True)],
            colors,
            [100 * end.share for end in ends],
            right,
            window,
            style,
        ),
    }
    reached = [
        text(
            "figure.acc_reached",
            name=name,
            value=number(100 * end.share),
            trials=len(one.validation),
        )
        for name, end, one in zip(names, ends, runs, strict=True)
    ]
    return finish(
        {"data": data, "layout": spec},
        text("alt.acc_race", n=f"{n:,}", values="; ".join(reached) or "–"),
    )
