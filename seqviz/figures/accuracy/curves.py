"""How a classifier learned: loss and accuracy, epoch by epoch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.accuracy.findings import Tuned
from seqviz.compute.accuracy.reported import Curve
from seqviz.compute.proportions import Proportion, wilson
from seqviz.figures.accuracy.parts import (
    at_ends,
    band,
    fitted,
    line,
    majority,
    majority_label,
    percent,
    said,
    upright,
)
from seqviz.figures.accuracy.search import VALIDATED, judged
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_RIGHT = 92  # pixels for the names at the ends of lines
QUIET = 0.35  # opacity of a single run beside the mean, or of an earlier one
HOVER_LOSS = "%{x}: %{y:.3f}<extra>%{fullData.name}</extra>"
_WIDE, _NARROW = ([0, 0.42], [0.56, 1]), ([0, 0.36], [0.56, 1])  # of both panels; room for names


def curves_view(
    found: Tuned,
    reported: Curve | None = None,
    baseline: Proportion | None = None,
    n: int = VALIDATED,
    style: Style = _STYLE,
) -> Figure:
    """Loss (left) and accuracy (right) by epoch, 0 is before training: mean of the runs, and runs.

    The band is the 95 % interval of the mean accuracy on the n validation sentences; the epoch in
    which it is best is marked. reported: what a text prints of its own training. baseline: the
    answer that is most frequent in training, given always.
    """
    text, palette = style.text, style.palette
    runs, points = found.loss.shape
    epochs = np.arange(points)
    loss, train, valid = (
        _mean(values) for values in (found.loss, 100 * found.accuracy, 100 * found.validation)
    )
    training: dict[str, Any] = {"color": palette.truth, "dash": "dash", "symbol": "circle-open"}
    validation: dict[str, Any] = {"color": palette.prediction, "dash": "solid", "symbol": "circle"}
    plain: dict[str, Any] = {"showlegend": False}
    low, high = wilson(valid / 100, n)
    names = [text("figure.acc_training"), text("figure.acc_validation")]
    data: list[dict[str, Any]] = [
        line(epochs, loss, names[0], **training, hovertemplate=HOVER_LOSS, **plain),
        band(epochs, 100 * low, 100 * high, palette.prediction, "2"),
    ]
    for run in range(runs if runs > 1 else 0):
        thin = {"mode": "lines", "opacity": QUIET, **plain}
        for values, looks, name, end in (
            (found.loss[run], training, names[0], ""),
            (100 * found.accuracy[run], training, names[0], "2"),
            (100 * found.validation[run], validation, names[1], "2"),
        ):
            one = line(
                epochs, values, text("figure.acc_run", name=name, run=run + 1), **looks, end=end
            )
            data.append({**one, **thin, "line": {**one["line"], "width": 1.2}})
    strong = line(epochs, valid, names[1], **validation, end="2", **plain)
    strong["line"] |= {"width": 3.4}
    data += [line(epochs, train, names[0], **training, end="2", **plain), strong]
    colors, ends = [palette.truth, palette.prediction], [train[-1], valid[-1]]
    losses, seen = (
        [found.loss],
        [100 * found.accuracy, 100 * found.validation, 100 * low, 100 * high],
    )
    last = max(points - 1, 1)
    if reported is not None:
        data += _reported(reported, style)
        names.append(text("figure.acc_in_text"))
        colors.append(palette.mlp)
        ends.append(100 * float(reported.train[-1]))
        losses.append(reported.loss[None])
        seen += [100 * reported.train, 100 * reported.validation]
        last = max(last, len(reported.loss))
    spec = panels(
        style, text("figure.acc_epoch"), [0, last], losses, seen, baseline, reported is not None
    )
    spec["annotations"] += at_ends(
        names, colors, ends, last, tuple(spec["yaxis2"]["range"]), style, "2"
    )
    if reported is not None:
        both = [float(loss[-1]), float(reported.loss[-1])]
        loss_ends = tuple(spec["yaxis"]["range"])
        spec["annotations"] += at_ends(
            [names[0], names[2]], [palette.truth, palette.mlp], both, last, loss_ends, style
        )
    best = int(np.nanargmax(valid)) if np.isfinite(valid).any() else None
    if best is not None:
        data.append(_best(best, float(valid[best]), style))
        spec["shapes"] = [upright(best, palette.highlight, end) for end in ("", "2")]
        spec["annotations"].append(
            panel_title(
                style,
                "2",
                text(
                    "figure.acc_best_epoch",
                    epoch=best,
                    said=said(judged(valid[best] / 100, n), style),
                ),
            )
        )
    said_baseline = ""
    if baseline is not None:
        data.append(majority(baseline, [0, last], style, "2"))
        said_baseline = " " + text("alt.acc_baseline", percent=percent(baseline.share))
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_curves",
            epochs=points - 1,
            runs=runs,
            first=number(float(loss[0])),
            last=number(float(loss[-1])),
            train=number(float(train[-1])),
            validation=number(float(valid[-1])),
            best="–" if best is None else best,
            value="–" if best is None else number(float(valid[best])),
            n=f"{n:,}",
        )
        + said_baseline,
        gap=0.17,
    )


def panels(
    style: Style,
    across: str,
    span: list[float],
    losses: Sequence[Any],
    percents: Sequence[Any],
    baseline: Proportion | None,
    named: bool,
) -> dict[str, Any]:
    """Layout of the loss (left) and the accuracy (right); named: lines of the loss have names."""
    text = style.text
    flat = np.concatenate([np.ravel(np.asarray(values, float)) for values in losses])
    top = 1.06 * float(np.nanmax(flat)) if np.isfinite(flat).any() else 0.8
    base = [] if baseline is None or np.isnan(baseline.share) else [[100 * baseline.share - 3]]
    few = {"dtick": 1} if span[1] <= 12 else {"nticks": 6}
    left, right = _NARROW if named else _WIDE
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "r": _RIGHT * style.scale, "t": 30 * style.scale}
    for end, domain in (("", left), ("2", right)):
        spec[f"xaxis{end}"] = axis_layout(
            style,
            domain=domain,
            anchor=f"y{end}",
            range=[-0.02 * span[1], span[1] * 1.02],
            tickformat=",d",
            title={"text": across},
            **few,
        )
    spec["yaxis"] = axis_layout(
        style, range=[0, top], anchor="x", title={"text": text("figure.acc_loss")}
    )
    spec["yaxis2"] = axis_layout(
        style,
        range=list(fitted(*percents, *base, above=0.04)),
        anchor="x2",
        title={"text": text("figure.acc_accuracy")},
    )
    spec["annotations"] = (
        [] if baseline is None else [majority_label(baseline, style, "2")] if base else []
    )
    return spec


def _mean(values: Float[np.ndarray, "run epoch"]) -> Float[np.ndarray, "epoch"]:
    """Mean of the runs that have a number; nan where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(values, axis=0)


def _best(epoch: int, value: float, style: Style) -> dict[str, Any]:
    """A ring around the best epoch."""
    color = style.palette.highlight
    return {
        "type": "scatter",
        "x": [epoch],
        "y": [value],
        "xaxis": "x2",
        "yaxis": "y2",
        "mode": "markers",
        "name": style.text("figure.acc_best_validation"),
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {
            "symbol": "circle-open",
            "size": 15,
            "color": color,
            "line": {"width": 3, "color": color},
        },
    }


def _reported(curve: Curve, style: Style) -> list[dict[str, Any]]:
    """What a text prints: dotted, with crosses; its epochs count from 1."""
    text, color = style.text, style.palette.mlp
    epochs = np.arange(1, len(curve.loss) + 1)
    looks: dict[str, Any] = {"color": color, "dash": "dot", "symbol": "x", "showlegend": False}
    wanted = (
        (curve.loss, "figure.acc_training", "", HOVER_LOSS),
        (100 * curve.train, "figure.acc_training", "2", None),
        (100 * curve.validation, "figure.acc_validation", "2", None),
    )
    traces = []
    for values, name, end, hover in wanted:
        if np.isfinite(values).any():
            words = text("figure.acc_reported_line", name=text(name))
            one = line(epochs, values, words, end=end, **looks)
            traces.append(one | ({"hovertemplate": hover} if hover else {}))
    return traces
