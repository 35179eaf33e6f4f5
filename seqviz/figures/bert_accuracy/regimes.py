"""All systems of the lesson compared, with values printed in texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.bert_accuracy.reported import Reported
from seqviz.compute.bert_accuracy.results import SystemPredictions
from seqviz.core.i18n import percent
from seqviz.figures.bert_accuracy.bars_and_labels import bar, bare, format_proportion, majority
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.stats.proportions import Proportion, answers_right, of, of_share

_PALE = 0.45  # opacity of the systems not chosen
# Horizontal domains; the labels of the right panel lie between.
_OURS, _THEIRS = (0, 0.55), (0.78, 1)
_ROOM = 122  # end of the axis in percent; leaves room for the numbers
_FAN = 0.2  # spread of the runs as a share of a row


def system_accuracies(
    systems: tuple[SystemPredictions, ...], positive: Bool[np.ndarray, "sentence"], chosen: str,
    baseline: Proportion, reported: tuple[Reported, ...] = (), style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the accuracy of each system on the same sentences, best last; a dot is one run.

    A whisker is the 95% interval of the mean of the runs, for as many sentences. Printed values are
    hatched and in another panel, because they are of other data and models; their whiskers follow
    from the n in the text.

    Args:
        systems: predictions of each system.
        positive: true labels.
        chosen: highlighted system.
        baseline: accuracy of the answer that is most frequent in training.
        reported: printed values.
        style: language, theme and scale of the figure.

    Raises:
        KeyError: unknown `chosen`.
    """
    text, n = style.text, len(positive)
    runs = {item.system: _runs(item, positive) for item in systems}
    mean = {system: of_share(float(shares.mean()), n) for system, shares in runs.items()}
    order = sorted(mean, key=lambda system: np.nan_to_num(mean[system].share, nan=-1.0))
    names = {system: text(f"figure.acc_system_{system}") for system in order}
    dotted = text("figure.acc_majority_dotted", share=baseline.share)
    sheet, best = Sheet(style), order[-1]
    sheet.margin(t=46 * style.scale)
    bold = [f"<b>{name}</b>" if item == chosen else name for item, name in names.items()]
    panel = _panel(sheet, bold, _OURS if reported else (0, 1), (0, 1))
    panel.title(f"{text('figure.acc_our_sentences', n=n)}<br>{dotted}", align="left")
    for position, entry in enumerate(order, 1):
        bar(panel, position, mean[entry], names[entry], style.palette.prediction, sideways=True,
            opacity=1 if entry == chosen else _PALE)  # fmt: skip
    for position, entry in enumerate(order, 1):
        _dots(panel, position, names[entry], runs[entry])
        furthest = [mean[entry].share, mean[entry].high, runs[entry].max(initial=0)]
        _value(panel, position, mean[entry].share, furthest, entry == chosen)
    majority(panel, baseline, [0.4, len(order) + 0.6], upright=True, words_at=None)
    axis_names = {"y": list(names.values())}
    theirs = sorted(reported, key=lambda item: item.accuracy)
    labels = [_label(their, style).replace("<br>", ", ") for their in theirs]
    if theirs:
        _reported(sheet, theirs, min(1.0, max(0.3, 1.45 * len(theirs) / len(order))))
        axis_names["y2"] = labels
    printed = [f"{name}: {percent(item.accuracy)}"
               for name, item in zip(labels, theirs, strict=True)]  # fmt: skip
    return sheet.described(
        "alt.acc_regimes", names=axis_names, gap=0.13, n=n, systems=len(order), best=names[best],
        top=mean[best].share, chosen=names[chosen], value=mean[chosen], baseline=baseline.share,
        reported="; ".join(printed) or "–",
    )  # fmt: skip


def _runs(
    system_predictions: SystemPredictions, positive: Bool[np.ndarray, "sentence"]
) -> Float[np.ndarray, "run"]:
    """Return the accuracy of each run."""
    if not len(positive):
        return np.full(len(system_predictions.probability), np.nan)
    return answers_right(system_predictions.probability, positive).mean(axis=1)


def _label(reported: Reported, style: Style) -> str:
    """Return the trained parts and, on a second line, the model."""
    trained = style.text(f"figure.acc_reported_{reported.system}")
    return f"{trained}<br>{reported.model.removesuffix('-uncased')}"


def _panel(
    sheet: Sheet, names: Sequence[str], across: tuple[float, float], up: tuple[float, float]
) -> Panel:
    """Create a panel with percent on x and rows from top to bottom."""
    text = sheet.style.text
    rows = axes.ranked(names) | {"title": {"text": text("figure.acc_system"), "standoff": 10}}
    share = axes.percent(text("figure.acc_accuracy"), range=[0, _ROOM])
    return sheet.panel(share, rows, across=across, up=up)


def _dots(panel: Panel, index: int, name: str, shares: Float[np.ndarray, "run"]) -> None:
    """Draw one mark for each of several runs."""
    if len(shares) < 2:
        return
    color, rows = panel.style.palette.truth, index + np.linspace(-_FAN, _FAN, len(shares))
    name = panel.style.text("figure.acc_runs_of", name=name)
    panel.points(100 * shares, rows, name, color, size=5, symbol="circle-open", legend=False,
                 edge={"width": 1.2, "color": color}, hover="%{x:.1f}%" + NAMED)  # fmt: skip


def _value(
    panel: Panel, index: int, share: float, furthest: Sequence[float], chosen: bool = False
) -> None:
    """Write the share behind bar, whisker and dots, in bold for the chosen system."""
    words = bare(share)
    at = 100 * float(np.nanmax([0, *furthest]))
    panel.words(f"<b>{words}</b>" if chosen else words, at, index, xanchor="left", xshift=8)


def _reported(sheet: Sheet, theirs: Sequence[Reported], height: float) -> None:
    """Draw the printed values, hatched, in a panel of this height."""
    style = sheet.style
    labels = [_label(their, style) for their in theirs]
    panel = _panel(sheet, labels, _THEIRS, (1 - height, 1))
    for position, (item, label) in enumerate(zip(theirs, labels, strict=True), 1):
        printed = Proportion(item.accuracy, float("nan"), float("nan"), 0)
        words = style.text("figure.acc_no_n", share=item.accuracy)
        if item.n is not None and item.correct is not None:
            printed = of(item.correct, item.n)
            words = format_proportion(printed, style.text)
        bar(panel, position, printed, label.replace("<br>", ", "), style.palette.baseline,
            hatched=True, sideways=True, hover=words + NAMED)  # fmt: skip
        _value(panel, position, printed.share, [printed.share, printed.high])
    # aligned right, because it is wider than its panel
    panel.title(style.text("figure.acc_reported"), x=1, xanchor="right")
