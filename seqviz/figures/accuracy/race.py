"""Grid, random and Bayesian search beside one another: how soon each finds how good a setting."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.accuracy.findings import Searched
from seqviz.compute.proportions import Proportion, of_share
from seqviz.figures.accuracy.curves import VALIDATED
from seqviz.figures.accuracy.parts import HOVER, fitted, said
from seqviz.figures.grammar import axes
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import NAMED, Panel, Sheet, whisker
from seqviz.figures.grammar.style import Style
from seqviz.text import percent

_STYLE = Style()
_TICKS = 8
_BELOW = 8  # percent below the interval of the best down to which trials are shown
_METHODS = {  # role of the color, dash, marker
    "grid": ("truth", "dash", "square"),
    "random": ("rnn", "dot", "diamond"),
    "bayes": ("prediction", "solid", "circle"),
}


def best_so_far(found: tuple[Searched, ...], n: int = VALIDATED, style: Style = _STYLE) -> Figure:
    """The best validation accuracy so far, trial by trial, for each method of searching.

    n: validation sentences. Behind the last trial stands the 95 % interval of each method's best;
    pale marks are the trials themselves, those far below the lines are left out of view.
    """
    text = style.text
    runs = [one for one in found if len(one.validation)]
    last = max([1, *(len(one.validation) for one in runs)])
    room = max(0.3, 0.05 * last)  # between two intervals
    right = last + room * (len(runs) + 1)
    best = [np.fmax.accumulate(one.validation) for one in runs]
    tops = [of_share(float(line[-1]), n) for line in best]
    seen = [
        100 * np.array([top.low, top.high, *np.maximum(line, top.low - _BELOW / 100)])
        for line, top in zip(best, tops, strict=True)
    ]
    ends = fitted(*(seen or [np.array([50, 100])]), above=0.02)
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / step <= _TICKS)
    ticks = [1, *range(max(every, 2), last + 1, every)]
    sheet = Sheet(style)
    sheet.margin(r=108 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(text("figure.acc_trial"), range=[0.5, right], tickangle=0, tickvals=ticks),
        axes.percent(text("figure.acc_best_so_far", n=f"{n:,}"), *ends),
    )
    for place, (one, line, top) in enumerate(zip(runs, best, tops, strict=True), 1):
        _runner(panel, one, line, top, last + room * place)
    methods = [one.settings.method for one in runs]
    panel.ends(
        [f"{text(f'figure.acc_race_{method}')} <b>{100 * top.share:.1f}</b>"
         for method, top in zip(methods, tops, strict=True)],
        [getattr(style.palette, _METHODS[method][0]) for method in methods],
        [100 * top.share for top in tops],
        right,
        ends,
    )  # fmt: skip
    reached = [
        text("figure.acc_reached", name=text(f"figure.acc_method_{method}"),
             value=percent(top.share), trials=len(line))
        for method, top, line in zip(methods, tops, best, strict=True)
    ]  # fmt: skip
    return sheet.finish(text("alt.acc_race", n=f"{n:,}", values="; ".join(reached) or "–"))


def _runner(
    panel: Panel, found: Searched, best: np.ndarray, top: Proportion, behind: float
) -> None:
    """One method: a step where a trial is better than all before, the trials, and the interval."""
    style = panel.style
    role, dash, symbol = _METHODS[found.settings.method]
    name = style.text(f"figure.acc_method_{found.settings.method}")
    color, trials = getattr(style.palette, role), np.arange(1, len(best) + 1)
    step = {"color": color, "width": 2.8, "dash": dash, "shape": "hv"}
    panel.line(trials, 100 * best, name, color, line=step, hover=HOVER, legend=False)
    look: dict[str, Any] = {"size": 7, "symbol": symbol, "legend": False}
    each = style.text("figure.acc_trials_of", name=name)
    panel.points(trials, 100 * found.validation, each, color, opacity=0.6, hover=HOVER, **look)
    interval = whisker([100 * top.share], [100 * top.low], [100 * top.high], color)
    each, hover = style.text("figure.acc_best_of", name=name), said(top, style) + NAMED
    panel.points([behind], [100 * top.share], each, color, error_y=interval, hover=hover, **look)
