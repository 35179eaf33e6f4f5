"""All systems of the lesson side by side, and beside them what texts print of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.bert_accuracy.reported import Reported
from seqviz.compute.bert_accuracy.results import SystemPredictions
from seqviz.core.i18n import percent
from seqviz.figures.bert_accuracy.bars_and_labels import bar, bare, format_proportion, majority
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.stats.proportions import Proportion, answers_right, of, of_share

_PALE = 0.45  # opacity of the systems that are not chosen
_OURS, _THEIRS = (0, 0.55), (0.78, 1)  # of the width; between them are the names of theirs
_ROOM = 122  # percent at which the axis ends: the numbers stand behind the bars
_FAN = 0.2  # of a row: how far the runs stand apart


def system_accuracies(
    found: tuple[SystemPredictions, ...],
    positive: Bool[np.ndarray, "sentence"],
    chosen: str,
    baseline: Proportion,
    reported: tuple[Reported, ...] = (),
    style: Style = STYLE,
) -> Figure:
    """Accuracy of each system on the same sentences, the best last; a dot is one run.

    chosen: the system that stands out. A whisker is the 95% interval of the mean of the runs, for
    as many sentences. reported: drawn hatched and apart, they are of other data and models; their
    whiskers follow from the n that the text gives. Raises KeyError for a system that is not there.
    """
    text, n = style.text, len(positive)
    runs = {one.system: _runs(one, positive) for one in found}
    mean = {system: of_share(float(shares.mean()), n) for system, shares in runs.items()}
    order = sorted(mean, key=lambda system: np.nan_to_num(mean[system].share, nan=-1.0))
    names = {system: text(f"figure.acc_system_{system}") for system in order}
    dotted = text("figure.acc_majority_dotted", percent=percent(baseline.share))
    sheet = Sheet(style)
    sheet.margin(t=46 * style.scale)
    bold = [f"<b>{name}</b>" if one == chosen else name for one, name in names.items()]
    panel = _panel(sheet, bold, _OURS if reported else (0, 1), (0, 1))
    panel.title(f"{text('figure.acc_our_sentences', n=f'{n:,}')}<br>{dotted}", align="left")
    color = style.palette.prediction
    for place, one in enumerate(order, 1):
        opacity = 1 if one == chosen else _PALE
        bar(panel, place, mean[one], names[one], color, sideways=True, opacity=opacity)
    for place, one in enumerate(order, 1):
        _dots(panel, place, names[one], runs[one])
        furthest = [mean[one].share, mean[one].high, runs[one].max(initial=0)]
        _value(panel, place, mean[one].share, furthest, one == chosen)
    majority(panel, baseline, [0.4, len(order) + 0.6], upright=True, words_at=None)
    axis_names = {"y": list(names.values())}
    theirs = sorted(reported, key=lambda one: one.accuracy)
    labels = [_label(one, style).replace("<br>", ", ") for one in theirs]
    if theirs:
        _reported(sheet, theirs, min(1.0, max(0.3, 1.45 * len(theirs) / len(order))))
        axis_names["y2"] = labels
    printed = [f"{name}: {percent(one.accuracy)}" for name, one in zip(labels, theirs, strict=True)]
    return sheet.described(
        "alt.acc_regimes",
        n=f"{n:,}",
        systems=len(order),
        best=names[order[-1]],
        top=percent(mean[order[-1]].share),
        chosen=names[chosen],
        value=percent(mean[chosen].share),
        low=percent(mean[chosen].low),
        high=percent(mean[chosen].high),
        baseline=percent(baseline.share),
        reported="; ".join(printed) or "–",
        names=axis_names,
        gap=0.13,
    )


def _runs(
    one: SystemPredictions, positive: Bool[np.ndarray, "sentence"]
) -> Float[np.ndarray, "run"]:
    """The share of right answers of each run."""
    if not len(positive):
        return np.full(len(one.probability), np.nan)
    return answers_right(one.probability, positive).mean(axis=1)


def _label(one: Reported, style: Style) -> str:
    """What was trained, and on the second line the model."""
    trained = style.text(f"figure.acc_reported_{one.system}")
    return f"{trained}<br>{one.model.removesuffix('-uncased')}"


def _panel(
    sheet: Sheet, names: Sequence[str], across: tuple[float, float], up: tuple[float, float]
) -> Panel:
    """Percent from left to right, rows from top to bottom."""
    text = sheet.style.text
    rows = axes.names(names, range=[len(names) + 0.6, 0.4])
    rows["title"] = {"text": text("figure.acc_system"), "standoff": 10}
    share = axes.percent(text("figure.acc_accuracy"), range=[0, _ROOM])
    return sheet.panel(share, rows, across=across, up=up)


def _dots(panel: Panel, place: int, name: str, shares: Float[np.ndarray, "run"]) -> None:
    """One mark a run, where there is more than one."""
    if len(shares) < 2:
        return
    color, rows = panel.style.palette.truth, place + np.linspace(-_FAN, _FAN, len(shares))
    name = panel.style.text("figure.acc_runs_of", name=name)
    edge = {"width": 1.2, "color": color}
    keys: dict[str, Any] = {"symbol": "circle-open", "edge": edge, "legend": False}
    panel.points(100 * shares, rows, name, color, size=5, hover="%{x:.1f}%" + NAMED, **keys)


def _value(
    panel: Panel, place: int, share: float, furthest: Sequence[float], chosen: bool = False
) -> None:
    """The share behind the furthest of a bar, its whisker and its dots; bold for the chosen one."""
    words = bare(share)
    at = 100 * float(np.nanmax([0, *furthest]))
    panel.words(f"<b>{words}</b>" if chosen else words, at, place, xanchor="left", xshift=8)


def _reported(sheet: Sheet, theirs: Sequence[Reported], height: float) -> None:
    """What texts print, hatched, in a panel of its own, as high as this share of the sheet."""
    style = sheet.style
    labels = [_label(one, style) for one in theirs]
    panel = _panel(sheet, labels, _THEIRS, (1 - height, 1))
    for place, (one, label) in enumerate(zip(theirs, labels, strict=True), 1):
        printed = Proportion(0, 0, one.accuracy, float("nan"), float("nan"))
        words = style.text("figure.acc_no_n", share=percent(one.accuracy))
        if one.n is not None and one.correct is not None:
            printed = of(one.correct, one.n)
            words = format_proportion(printed, style.text)
        keys: dict[str, Any] = {"hatched": True, "sideways": True, "hover": words + NAMED}
        bar(panel, place, printed, label.replace("<br>", ", "), style.palette.baseline, **keys)
        _value(panel, place, printed.share, [printed.share, printed.high])
    # wider than its panel, and at the edge of the figure
    panel.title(style.text("figure.acc_reported"), x=1, xanchor="right")
