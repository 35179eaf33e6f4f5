"""A classifier while it learns: loss and accuracy, update by update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.accuracy.findings import TuneRecord, TuneSettings
from seqviz.compute.proportions import Proportion, wilson
from seqviz.figures.accuracy.curves import HOVER_LOSS, QUIET, panels
from seqviz.figures.accuracy.parts import at_ends, line, majority, on_axes, whisker
from seqviz.figures.accuracy.search import VALIDATED
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, finish
from seqviz.text import number

_STYLE = Style()
_EMPTY: dict[str, Any] = {  # without a trace a panel would have no axes
    "type": "scatter",
    "x": [0],
    "y": [0],
    "mode": "markers",
    "marker": {"opacity": 0},
    "hoverinfo": "skip",
    "showlegend": False,
}


def progress_view(
    trail: Sequence[TuneRecord],
    settings: TuneSettings,
    baseline: Proportion | None = None,
    n: int = VALIDATED,
    style: Style = _STYLE,
) -> Figure:
    """Loss (left) and accuracy (right), update by update; earlier runs are pale.

    trail: what was reported so far. n: validation sentences, for the intervals of the accuracies
    after each epoch. The axis is as long as a run from the start.
    """
    text, palette = style.text, style.palette
    updates = max([record.steps for record in trail], default=0) or settings.epochs * -(
        -settings.sentences // settings.batch
    )
    data: list[dict[str, Any]] = []
    runs = sorted({record.run for record in trail})
    for run in runs:
        part = [record for record in trail if record.run == run]
        step = np.array([record.step for record in part])
        loss, accuracy, valid = (
            np.array([getattr(record, name) for record in part], float)
            for name in ("loss", "accuracy", "validation")
        )
        known = np.isfinite(valid)
        names = [text("figure.acc_training"), text("figure.acc_validation")]
        if settings.runs > 1:
            names = [text("figure.acc_run", name=name, run=run + 1) for name in names]
        looks: dict[str, Any] = {
            "mode": "lines" if len(step) > 1 else "markers",
            "showlegend": False,
        }
        looks["opacity"] = 1 if run == runs[-1] else QUIET
        quiet = {"width": 1.6, "color": palette.truth}
        data += [
            {**line(step, loss, names[0], palette.truth, **looks, hovertemplate=HOVER_LOSS),
             "line": quiet},
            {**line(step, 100 * accuracy, names[0], palette.truth, end="2", **looks),
             "line": quiet},
        ]  # fmt: skip
        if known.any():
            data.append(
                line(
                    step[known],
                    100 * valid[known],
                    names[1],
                    palette.prediction,
                    end="2",
                    **(looks | {"mode": "lines+markers"}),
                    error_y=_interval(valid[known], n, palette.prediction),
                )
            )
    every = [
        np.array([getattr(record, name) for record in trail], float)
        for name in ("loss", "accuracy", "validation")
    ]
    spec = panels(
        style, text("figure.acc_update"), [0, updates], [every[0]], [[40, 100]], baseline, False
    )
    if runs:
        ends = [100 * float(every[1][-1]), 100 * _last(every[2])]
        words = [text("figure.acc_training"), text("figure.acc_validation")]
        spec["annotations"] += at_ends(
            words, [palette.truth, palette.prediction], ends, updates,
            tuple(spec["yaxis2"]["range"]), style, "2",
        )  # fmt: skip
        at = text("figure.acc_run_of", run=runs[-1] + 1, runs=max(settings.runs, runs[-1] + 1))
        spec["annotations"].append(panel_title(style, "", at))
    else:
        data += [_EMPTY, _EMPTY | on_axes("2")]
    if baseline is not None:
        data.append(majority(baseline, [0, updates], style, "2"))
    said = text("alt.acc_progress_start", steps=updates, runs=settings.runs)
    if trail:
        said = text(
            "alt.acc_progress",
            run=runs[-1] + 1,
            runs=settings.runs,
            step=trail[-1].step,
            steps=updates,
            loss=number(_last(every[0])),
            accuracy=number(100 * _last(every[1])),
            validation=number(100 * _last(every[2])),
        )
    return finish({"data": data, "layout": spec}, said, gap=0.17)


def _interval(share: Float[np.ndarray, "epoch"], n: int, color: str) -> dict[str, Any]:
    """The whiskers of accuracies on n sentences."""
    low, high = wilson(share, n)
    return whisker((100 * low).tolist(), (100 * share).tolist(), (100 * high).tolist(), color)


def _last(values: Float[np.ndarray, "record"]) -> float:
    known = values[np.isfinite(values)]
    return float(known[-1]) if known.size else float("nan")
