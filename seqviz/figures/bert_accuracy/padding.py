"""Effect of [PAD] tokens on an answer, with and without the attention mask."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.bert_accuracy.results import SIDES, TOLD, Padding, PadsInMean, UserTextPadding
from seqviz.core.i18n import number, percent
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.stats.proportions import Proportion, answers_right, shares

MEASURES = ("accuracy", "flipped", "drift", "on_pads")
_ROLES = {"told": ("prediction", "circle"), "untold": ("rnn", "square")}
_DASHES = {"right": "solid", "left": "dash"}
_PALE = 0.55  # opacity of the side not chosen


def padding_effect(
    padding: Padding, measure: str, length: int, side: str, baseline: Proportion | None = None,
    in_mean: PadsInMean | None = None, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the effect of padding on all sentences by padded length (log axis).

    "flipped" is the share of sentences with another answer than without padding; it and "accuracy"
    have 95% bands. "drift" of the sentence vector and "on_pads", the share of attention on [PAD],
    have medians and quartiles.

    Args:
        padding: results by length and side.
        measure: "accuracy", "flipped", "drift" or "on_pads".
        length: marked length.
        side: padding side drawn with bands; the other is paler.
        baseline: accuracy of the answer that is more frequent in training; None for no line.
        in_mean: results with right padding included in the mean, too; for the first two measures.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: unknown measure or side.
    """
    if measure not in MEASURES or side not in SIDES:
        raise ValueError(f"{measure!r} is not one of {MEASURES}, or {side!r} not one of {SIDES}.")
    text, palette, lengths = style.text, style.palette, padding.lengths
    at, observed = SIDES.index(side), _curves(padding, measure)
    factor, say = (1, number) if measure == "drift" else (100, percent)
    values, guess = factor * observed, baseline if measure == "accuracy" else None
    more = _in_mean(padding, in_mean if side == "right" else None, measure)
    ends = _ends(measure, values.mean, *values.ci, more.share)
    if measure == "accuracy":
        around = [100 * guess.share] if guess else []
        ends = bars_and_labels.fitted(*values.ci, more.share, around, below=0.08)
    sheet = Sheet(style)
    sheet.margin(r=(112 if style.lang == "zh" else 130) * style.scale, t=34 * style.scale)
    title = axes.axis(text(f"figure.acc_measure_{measure}"), range=list(ends))
    panel = sheet.panel(_lengths_axis(lengths, style), title)
    _lines(panel, lengths, values, at, measure)
    in_mean_lines = dict(zip(TOLD, more.share, strict=False))
    _lines_in_mean(panel, lengths, more)
    if guess is not None:
        bars_and_labels.majority(panel, guess, [1, 1e4], words_at=0)
    for t, masking in enumerate(TOLD):
        low, high = values.ci
        panel.band(lengths, low[t, at], high[t, at], getattr(palette, _ROLES[masking][0]))
    panel.vertical(length, palette.highlight)
    last = float(np.log10(lengths[-1])) if len(lengths) else 1.0
    if len(lengths):
        pairs = [(masking, s) for masking in TOLD for s in (side, SIDES[1 - at])]
        names = [_name(masking, s, style) for masking, s in pairs]
        names += [text(f"figure.acc_mean_{masking}") for masking in in_mean_lines]
        colors = [getattr(palette, _ROLES[masking][0]) for masking, _ in pairs]
        colors += [palette.mlp for _ in in_mean_lines]
        heights = [*values.mean[:, [at, 1 - at], -1].ravel(), *more.share[:, -1]]
        panel.ends(names, colors, heights, last, ends)
    here = _nearest(lengths, length)
    n = "–" if here is None else f"{observed.n[1, at, here]:,}"
    masking, untold = ("–" if here is None else say(float(row[at, here])) for row in observed.mean)
    start = float(np.log10(lengths[0])) if len(lengths) else 0.0
    sample = text("figure.acc_first_n", n=n)
    bars_and_labels.reading(panel, sample, float(np.log10(length)), last, start)
    words = {"length": length, "told": masking, "untold": untold}
    sheet.headline(text("figure.acc_at_length", **words), size=13, yshift=3)
    names_of = {"measure": f"measure_{measure}", "side": f"side_{side}"}
    words |= {key: text(f"figure.acc_{name}") for key, name in names_of.items()}
    alt = text("alt.acc_padding", n=n, **words)
    if in_mean_lines and here is not None:
        shares = {masking: line[here] / 100 for masking, line in in_mean_lines.items()}
        alt += " " + text("alt.acc_in_mean", **shares)
    if guess is not None:
        alt += " " + text("alt.acc_baseline", percent=guess.share)
    return sheet.finish(alt)


def _lines_in_mean(panel: Panel, lengths: Int[np.ndarray, "length"], values: Proportion) -> None:
    """Draw lines with padding included in the mean, with and without the mask."""
    style = panel.style
    shares = replace(values, mean=values.share / 100)
    labels = bars_and_labels.format_proportions(shares, style.text)
    for masking, line, words in zip(TOLD, values.share, labels, strict=False):
        look = (style.palette.mlp, "solid" if masking == "untold" else "dot", "x")
        name, hover = style.text(f"figure.acc_mean_{masking}"), "%{x}: %{customdata}" + NAMED
        bars_and_labels.curve(panel, lengths, line, name, look, customdata=words, hover=hover,
                              legend=False)  # fmt: skip


def sentence_padding(padding: UserTextPadding, length: int, style: Style = STYLE) -> Figure:
    """Plot P(positive) (left) and attention on [PAD] (right) of one sentence by padded length.

    Args:
        padding: results by length and side.
        length: length marked in both panels.
        style: language, theme and scale of the figure.
    """
    label, lengths, sheet = style.labels("figure.acc_"), padding.lengths, Sheet(style)
    sheet.legend(y=1.07)
    sheet.margin(t=72 * style.scale)
    across = _lengths_axis(lengths, style)
    panels = sheet.row(
        (across, axes.percent(label("positive"))),
        (across, axes.percent(label("measure_on_pads"))),
        gaps=(0.45, 0.55), titles=[label("own_answer"), label("own_on_pads")],
    )  # fmt: skip
    for panel, values in zip(panels, (padding.probability, padding.on_pads), strict=True):
        for (t, masking), (s, side) in product(enumerate(TOLD), enumerate(SIDES)):
            name, look = _name(masking, side, style), _look(masking, side, style)
            bars_and_labels.curve(panel, lengths, 100 * values[t, s], name, look,
                                  legend=panel is panels[0], group=f"{masking} {side}")  # fmt: skip
        if panel is panels[0]:
            limits = [float(lengths.min(initial=1)), float(lengths.max(initial=2))]
            bars_and_labels.undecided(panel, limits, above=True)
        panel.vertical(length, style.palette.highlight)
    here, right = _nearest(lengths, length), SIDES.index("right")
    given, out, on_pads = (
        np.nan if here is None else float(row[right, here])
        for row in (*padding.probability, padding.on_pads[1])
    )
    return sheet.described("alt.acc_own_padding", gap=0.2, length=length, plain=padding.unpadded,
                           told=given, untold=out, on_pads=on_pads)  # fmt: skip


def _curves(padding: Padding, measure: str) -> Proportion:
    """Return the measure with its range: Wilson interval, or median and quartiles.

    Long paddings are computed for few sentences only; the others are nan there and do not count.
    """
    if measure == "accuracy":
        return shares(answers_right(padding.probability, padding.positive))
    if measure == "flipped":
        return shares(1 - answers_right(padding.probability, padding.unpadded > 0.5))
    values = padding.drift if measure == "drift" else padding.on_pads
    n = np.isfinite(values).sum(axis=-1)
    quartiles = np.full((3, *n.shape), np.nan)
    for position in zip(*np.nonzero(n), strict=True):
        quartiles[(slice(None), *position)] = np.nanpercentile(values[position], [25, 50, 75])
    return Proportion(quartiles[1], quartiles[0], quartiles[2], n)


def _in_mean(padding: Padding, in_mean: PadsInMean | None, measure: str) -> Proportion:
    """Return the measure in percent with padding in the mean, [told, length], or no rows."""
    if in_mean is None or measure not in ("accuracy", "flipped"):
        nothing = np.zeros((0, len(padding.lengths)))
        return Proportion(nothing, nothing, nothing, nothing.astype(int))
    right = answers_right(in_mean.probability, in_mean.positive)
    if measure == "flipped":
        plain = padding.unpadded[: len(in_mean.positive)] > 0.5
        right = 1 - answers_right(in_mean.probability, plain)
    observed = shares(right)
    return Proportion(100 * observed.share, observed.low, observed.high, observed.n)


def _ends(measure: str, *values: Float[np.ndarray, "told side length"]) -> tuple[float, float]:
    """Return the ends of the y axis, which starts at zero."""
    top = max([float(v[np.isfinite(v)].max(initial=0)) for v in values])
    top = max(top, 0.01 if measure == "drift" else 10)
    return -0.03 * top, 1.12 * top


def _name(masking: str, side: str, style: Style) -> str:
    return style.text("figure.acc_pads", told=style.text(f"figure.acc_{masking}"),
                      side=style.text(f"figure.acc_side_{side}"))  # fmt: skip


def _look(masking: str, side: str, style: Style) -> tuple[str, str, str]:
    role, symbol = _ROLES[masking]
    symbol += "" if side == "right" else "-open"
    return getattr(style.palette, role), _DASHES[side], symbol


def _lines(
    panel: Panel, lengths: Int[np.ndarray, "length"], shares: Proportion, chosen: int, measure: str
) -> None:
    """Draw lines with and without the mask, chosen side first; hover texts have range and n."""
    digits, unit = (3, "") if measure == "drift" else (1, "%")
    hover = f"%{{x}}: %{{y:.{digits}f}}{unit} %{{customdata}}{NAMED}"
    for t, masking in enumerate(TOLD):
        for s in (chosen, 1 - chosen):
            row = shares[t, s]
            ranges = [unbroken(f"[{low:.{digits}f}, {high:.{digits}f}], n = {n:,}")
                      for low, high, n in zip(*row.ci, row.n, strict=True)]  # fmt: skip
            name = _name(masking, SIDES[s], panel.style)
            look = _look(masking, SIDES[s], panel.style)
            bars_and_labels.curve(panel, lengths, row.mean, name, look, customdata=ranges,
                                  hover=hover, opacity=1 if s == chosen else _PALE,
                                  legend=False)  # fmt: skip


def _lengths_axis(lengths: Int[np.ndarray, "length"], style: Style) -> dict[str, Any]:
    """Return a log axis with ticks at the powers of two within the lengths."""
    minimum, maximum = float(lengths.min(initial=32)), float(lengths.max(initial=32))
    powers = [2**k for k in range(1, 17) if minimum <= 2**k <= maximum] or [int(maximum)]
    return axes.axis(
        style.text("figure.acc_padded"), type="log", tickvals=powers,
        range=[float(np.log10(minimum)) - 0.03, float(np.log10(maximum)) + 0.03],
        ticktext=[f"{power:,}" for power in powers],
    )  # fmt: skip


def _nearest(lengths: Int[np.ndarray, "length"], length: int) -> int | None:
    """Return the index of the nearest length on the log axis, or None."""
    return int(np.argmin(np.abs(np.log(lengths / length)))) if len(lengths) else None
