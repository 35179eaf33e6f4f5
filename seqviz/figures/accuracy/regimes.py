"""All systems of the lesson side by side, and beside them what texts print of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from seqviz.compute.accuracy.findings import Answers
from seqviz.compute.accuracy.reported import Reported
from seqviz.compute.proportions import Proportion, of, wilson
from seqviz.figures.accuracy.parts import (
    bar,
    majority,
    named_axis,
    on_axes,
    percent,
    percent_axis,
    said,
)
from seqviz.figures.accuracy.shares import answers_right
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, finish, layout
from seqviz.text import number

_STYLE = Style()
_PALE = 0.45  # opacity of the systems that are not chosen
_OURS, _THEIRS = [0, 0.55], [0.78, 1]  # of the width; between them are the names of theirs
_ROOM = 122  # percent at which the axis ends: the numbers stand behind the bars
_FAN = 0.2  # of a row: how far the runs stand apart
_NO_N = (0, 0)  # correct and n of an accuracy of which only the share is known


def regimes_view(
    found: tuple[Answers, ...],
    positive: Bool[np.ndarray, "sentence"],
    chosen: str,
    baseline: Proportion,
    reported: tuple[Reported, ...] = (),
    style: Style = _STYLE,
) -> Figure:
    """Accuracy of each system on the same sentences, the best last; a dot is one run.

    chosen: the system that stands out. A whisker is the 95 % interval of the mean of the runs, for
    as many sentences. reported: drawn hatched and apart, they are of other data and models; their
    whiskers follow from the n that the text gives.
    """
    text = style.text
    runs = {one.system: _runs(one, positive) for one in found}
    ours = {system: _mean(shares, len(positive)) for system, shares in runs.items()}
    order = sorted(ours, key=lambda system: np.nan_to_num(ours[system].share, nan=-1.0))
    theirs = sorted(reported, key=lambda one: one.accuracy)
    names = [text(f"figure.acc_system_{system}") for system in order]
    title = text("figure.acc_our_sentences", n=f"{len(positive):,}")
    dotted = text("figure.acc_majority_dotted", percent=percent(baseline.share))
    spec = layout(style)
    spec["annotations"] = []
    data = _bars(names, [ours[system] for system in order], order.index(chosen), style)
    data += _dots(names, [runs[system] for system in order], style)
    data.append(majority(baseline, [0.4, len(order) + 0.6], style, upright=True))
    bold = [f"<b>{name}</b>" if s == chosen else name for name, s in zip(names, order, strict=True)]
    spec |= _axes("", bold, _OURS if theirs else [0, 1], [0, 1], style)
    spec["annotations"] += _values(
        [ours[system] for system in order],
        order.index(chosen),
        "",
        style,
        [float(np.nanmax(runs[system], initial=0)) for system in order],
    )
    labels = [_named(one, style) for one in theirs]
    if theirs:
        proportions = [_printed(one) for one in theirs]
        for place, (one, name) in enumerate(zip(proportions, labels, strict=True), 1):
            words = said(one, style) if one.n else text("figure.acc_no_n", share=percent(one.share))
            hover = f"{words}<extra>{name.replace('<br>', ', ')}</extra>"
            data.append(
                bar(place, one, name.replace("<br>", ", "), style.palette.baseline, style, "2",
                    hatched=True, sideways=True, hovertemplate=hover)
            )  # fmt: skip
        height = min(1.0, max(0.3, 1.45 * len(theirs) / len(order)))
        spec |= _axes("2", labels, _THEIRS, [1 - height, 1], style)
        spec["annotations"] += _values(proportions, -1, "2", style)
        apart = {"x": 1, "xanchor": "right"}  # wider than its panel, and at the edge of the figure
        spec["annotations"].append(panel_title(style, "2", text("figure.acc_reported")) | apart)
    left = panel_title(style, "", f"{title}<br>{dotted}")
    spec["annotations"].append(left | {"align": "left"})
    spec["margin"] = {**spec["margin"], "t": 46 * style.scale}
    best, at = order[-1], ours[chosen]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_regimes",
            n=f"{len(positive):,}",
            systems=len(order),
            best=names[order.index(best)],
            top=number(100 * ours[best].share),
            chosen=names[order.index(chosen)],
            value=number(100 * at.share),
            low=number(100 * at.low),
            high=number(100 * at.high),
            baseline=number(100 * baseline.share),
            reported="; ".join(
                f"{name.replace('<br>', ', ')}: {number(100 * one.accuracy)} %"
                for name, one in zip(labels, theirs, strict=True)
            )
            or "–",
        ),
        names={"y": names}
        | ({"y2": [name.replace("<br>", ", ") for name in labels]} if theirs else {}),
        gap=0.13,
    )


def _runs(one: Answers, positive: Bool[np.ndarray, "sentence"]) -> np.ndarray:
    """The share of right answers of each run."""
    if not len(positive):
        return np.full(len(one.probability), np.nan)
    return answers_right(one.probability, positive).mean(axis=1)


def _mean(shares: np.ndarray, n: int) -> Proportion:
    """The mean over the runs, with the interval that one run with this accuracy has."""
    if not n:
        return of(0, 0)
    share = float(shares.mean())
    low, high = wilson(np.array([share]), n)
    return Proportion(round(share * n), n, share, float(low[0]), float(high[0]))


def _printed(one: Reported) -> Proportion:
    if one.n is None or one.correct is None:
        return Proportion(*_NO_N, one.accuracy, float("nan"), float("nan"))
    return of(one.correct, one.n)


def _named(one: Reported, style: Style) -> str:
    """What was trained, and on the second line the model."""
    return (
        f"{style.text(f'figure.acc_reported_{one.system}')}<br>{one.model.removesuffix('-uncased')}"
    )


def _bars(
    names: Sequence[str], found: Sequence[Proportion], chosen: int, style: Style
) -> list[dict[str, Any]]:
    color = style.palette.prediction
    return [
        bar(place, one, name, color, style, sideways=True,
            opacity=1 if place == chosen + 1 else _PALE)
        for place, (name, one) in enumerate(zip(names, found, strict=True), 1)
    ]  # fmt: skip


def _dots(names: Sequence[str], runs: Sequence[np.ndarray], style: Style) -> list[dict[str, Any]]:
    """One mark a run, where there is more than one."""
    marker = {"symbol": "circle-open", "size": 5, "color": style.palette.truth}
    return [
        {
            "type": "scatter",
            "x": 100 * shares,
            "y": place + np.linspace(-_FAN, _FAN, len(shares)),
            "mode": "markers",
            "name": style.text("figure.acc_runs_of", name=name),
            "showlegend": False,
            "marker": {**marker, "line": {"width": 1.2, "color": style.palette.truth}},
            "hovertemplate": "%{x:.1f} %<extra>%{fullData.name}</extra>",
        }
        for place, (name, shares) in enumerate(zip(names, runs, strict=True), 1)
        if len(shares) > 1
    ]


def _axes(
    end: str, names: Sequence[str], across: list[float], up: list[float], style: Style
) -> dict[str, Any]:
    """Percent from left to right, rows from top to bottom."""
    rows = named_axis(style, names, domain=up, anchor=f"x{end}")
    share = percent_axis(
        style, style.text("figure.acc_accuracy"), range=[0, _ROOM], domain=across, anchor=f"y{end}"
    )
    rows["range"] = rows["range"][::-1]
    rows["title"] = {**rows["title"], "text": style.text("figure.acc_system"), "standoff": 10}
    return {f"xaxis{end}": share, f"yaxis{end}": rows}


def _values(
    found: Sequence[Proportion],
    chosen: int,
    end: str,
    style: Style,
    best: Sequence[float] | None = None,
) -> list[dict[str, Any]]:
    """The share behind each bar, its whisker and its `best` run; bold for the chosen one."""
    best = best or [0.0] * len(found)
    return [
        label(
            style,
            f"<b>{percent(one.share)}</b>" if place == chosen + 1 else percent(one.share),
            style.palette.truth,
            **{key.replace("axis", "ref"): axis for key, axis in (on_axes(end) or _FIRST).items()},
            x=100 * float(np.nanmax([one.share, one.high, best[place - 1], 0])),
            y=place,
            xanchor="left",
            xshift=8,
        )
        for place, one in enumerate(found, 1)
    ]


_FIRST = {"xaxis": "x", "yaxis": "y"}
