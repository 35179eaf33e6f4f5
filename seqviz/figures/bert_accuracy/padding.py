"""Padding with the mask given or left out: what [PAD] tokens do to an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.bert_accuracy.results import SIDES, TOLD, Padding, PadsInMean, UserTextPadding
from seqviz.core.i18n import number, percent
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.stats.proportions import Proportion, answers_right, of, shares

MEASURES = ("accuracy", "flipped", "drift", "on_pads")
_ROLES = {"told": ("prediction", "circle"), "untold": ("rnn", "square")}
_DASHES = {"right": "solid", "left": "dash"}
_PALE = 0.55  # opacity of the side that is not chosen


def padding_effect(
    padding: Padding,
    measure: str,
    length: int,
    side: str,
    baseline: Proportion | None = None,
    in_mean: PadsInMean | None = None,
    style: Style = STYLE,
) -> Figure:
    """What padding does to all sentences, against the padded length (log axis).

    measure: "accuracy"; "flipped", the share of sentences whose answer is another than without
    padding (both with 95% bands); "drift" of the sentence vector or "on_pads", the share of the
    attention that falls on [PAD] (median and quartiles). length: the chosen one, marked. side: the
    one whose bands are drawn; the other is quieter. baseline: always the answer that is more
    frequent in training; where it is not given, in these sentences. in_mean: the same on the right
    with padding in the mean as well, for the first two measures. Raises ValueError for an
    unknown measure or side.
    """
    if measure not in MEASURES or side not in SIDES:
        raise ValueError(f"{measure!r} is not one of {MEASURES}, or {side!r} not one of {SIDES}.")
    text, palette = style.text, style.palette
    at, observed = SIDES.index(side), _curves(padding, measure)
    full, say = (1, number) if measure == "drift" else (100, percent)
    middle, low, high = (full * part for part in (observed.share, observed.low, observed.high))
    guess = None
    more = _in_mean(padding, in_mean if side == "right" else None, measure)
    ends = _ends(measure, middle, low, high, more.share)
    if measure == "accuracy":
        guess = baseline or _more_frequent(padding)
        ends = bars_and_labels.fitted(low, high, more.share, [100 * guess.share], below=0.08)
    sheet = Sheet(style)
    sheet.margin(r=(112 if style.lang == "zh" else 130) * style.scale, t=34 * style.scale)
    title = axes.axis(text(f"figure.acc_measure_{measure}"), range=list(ends))
    panel = sheet.panel(_lengths_axis(padding.lengths, style), title)
    _lines(panel, padding.lengths, Proportion(middle, low, high, observed.n), at, measure)
    named = list(zip(TOLD, more.share, strict=False))
    all_said = bars_and_labels.format_proportions(replace(more, mean=more.share / 100), style.text)
    for (masking, line), words in zip(named, all_said, strict=True):
        keys = {"customdata": words, "hover": "%{x}: %{customdata}" + NAMED, "legend": False}
        line_style = (palette.mlp, _DASHES["right" if masking == "untold" else "left"], "x")
        bars_and_labels.curve(
            panel, padding.lengths, line, text(f"figure.acc_mean_{masking}"), line_style, **keys
        )
    if guess is not None:
        bars_and_labels.majority(panel, guess, [1, 1e4], words_at=0)
    for t, masking in enumerate(TOLD):
        color = getattr(palette, _ROLES[masking][0])
        panel.band(padding.lengths, low[t, at], high[t, at], color)
    panel.vertical(length, palette.highlight)
    last = float(np.log10(padding.lengths[-1])) if len(padding.lengths) else 1.0
    if len(padding.lengths):
        pairs = [(label, s) for label in TOLD for s in (side, SIDES[1 - at])]
        names = [_name(pair, s, style) for pair, s in pairs]
        colors = [getattr(palette, _ROLES[pair][0]) for pair, _ in pairs]
        heights = [*middle[:, [at, 1 - at], -1].ravel(), *(line[-1] for _, line in named)]
        names += [text(f"figure.acc_mean_{label}") for label, _ in named]
        colors += [palette.mlp for _ in named]
        panel.ends(names, colors, heights, last, ends)
    here = _nearest(padding.lengths, length)
    n = "–" if here is None else f"{observed.n[1, at, here]:,}"
    masking, untold = ("–" if here is None else say(float(row[at, here])) for row in observed.share)
    bars_and_labels.reading(panel, f"n = {n}", float(np.log10(length)), last)
    words = text("figure.acc_at_length", length=length, told=masking, untold=untold)
    sheet.headline(words, size=13, yshift=3)
    alt = text(
        "alt.acc_padding",
        measure=text(f"figure.acc_measure_{measure}"),
        n=n,
        length=length,
        side=text(f"figure.acc_side_{side}"),
        told=masking,
        untold=untold,
    )
    if named and here is not None:
        shares = {label: percent(line[here] / 100) for label, line in named}
        alt += " " + text("alt.acc_in_mean", **shares)
    if guess is not None:
        alt += " " + text("alt.acc_baseline", percent=guess.share)
    return sheet.finish(alt)


def sentence_padding(padding: UserTextPadding, length: int, style: Style = STYLE) -> Figure:
    """One sentence padded: P(positive) on the left, share of the attention on [PAD] on the right.

    length: the chosen one, marked in both panels.
    """
    text = style.text
    limits = [float(padding.lengths.min(initial=1)), float(padding.lengths.max(initial=2))]
    sheet = Sheet(style)
    sheet.legend(y=1.07)
    sheet.margin(t=72 * style.scale)
    for across, values, key, title in (
        ((0, 0.45), padding.probability, "acc_positive", "answer"),
        ((0.55, 1), padding.on_pads, "acc_measure_on_pads", "on_pads"),
    ):
        panel = sheet.panel(
            _lengths_axis(padding.lengths, style),
            axes.percent(text(f"figure.{key}")),
            across=across,
            title=text(f"figure.acc_own_{title}"),
        )
        first = title == "answer"
        for t, masking in enumerate(TOLD):
            for s, side in enumerate(SIDES):
                name, line_style = _name(masking, side, style), _look(masking, side, style)
                keys = {"legend": first, "group": f"{masking} {side}"}
                bars_and_labels.curve(
                    panel, padding.lengths, 100 * values[t, s], name, line_style, **keys
                )
        if first:
            bars_and_labels.undecided(panel, limits, above=True)
        panel.vertical(length, style.palette.highlight)
    here, right = _nearest(padding.lengths, length), SIDES.index("right")
    masking, untold, on_pads = (
        "–" if here is None else percent(float(row[right, here]))
        for row in (*padding.probability, padding.on_pads[1])
    )
    words = {
        "plain": percent(padding.unpadded),
        "told": masking,
        "untold": untold,
        "on_pads": on_pads,
    }
    return sheet.finish(text("alt.acc_own_padding", length=length, **words), gap=0.2)


def _curves(padding: Padding, measure: str) -> Proportion:
    """Middle, low and high of the measure: share and Wilson interval, or median and quartiles.

    Of few sentences long paddings are known; the others are nan there and do not count.
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
    """The measure in percent with padding in the mean as well, [told, length]; no rows of none."""
    if in_mean is None or measure not in ("accuracy", "flipped"):
        nothing = np.zeros((0, len(padding.lengths)))
        return Proportion(nothing, nothing, nothing, nothing.astype(int))
    right = answers_right(in_mean.probability, in_mean.positive)
    if measure == "flipped":
        plain = padding.unpadded[: len(in_mean.positive)] > 0.5
        right = 1 - answers_right(in_mean.probability, plain)
    observed = shares(right)
    return Proportion(100 * observed.share, observed.low, observed.high, observed.n)


def _more_frequent(padding: Padding) -> Proportion:
    """The answer that is more frequent in these sentences, given always."""
    n, positive = len(padding.positive), int(padding.positive.sum())
    return of(max(positive, n - positive), n)


def _ends(measure: str, *values: Float[np.ndarray, "told side length"]) -> tuple[float, float]:
    """Of the vertical axis; what starts from nothing starts from zero."""
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
    """Told and not told, the chosen side first; each point with its range and its n."""
    digits, unit = (3, "") if measure == "drift" else (1, "%")
    hover = f"%{{x}}: %{{y:.{digits}f}}{unit} %{{customdata}}{NAMED}"
    for t, masking in enumerate(TOLD):
        for s in (chosen, 1 - chosen):
            ranges = [
                unbroken(f"[{low:.{digits}f}, {high:.{digits}f}], n = {n:,}")
                for low, high, n in zip(
                    shares.low[t, s], shares.high[t, s], shares.n[t, s], strict=True
                )
            ]
            keys = {"customdata": ranges, "hover": hover, "opacity": 1 if s == chosen else _PALE}
            name, style = (
                _name(masking, SIDES[s], panel.style),
                _look(masking, SIDES[s], panel.style),
            )
            bars_and_labels.curve(
                panel, lengths, shares.share[t, s], name, style, legend=False, **keys
            )


def _lengths_axis(lengths: Int[np.ndarray, "length"], style: Style) -> dict[str, Any]:
    """A log axis whose ticks are the powers of two among and between the lengths."""
    minimum, maximum = float(lengths.min(initial=32)), float(lengths.max(initial=32))
    powers = [2**k for k in range(1, 17) if minimum <= 2**k <= maximum] or [int(maximum)]
    return axes.axis(
        style.text("figure.acc_padded"),
        type="log",
        range=[float(np.log10(minimum)) - 0.03, float(np.log10(maximum)) + 0.03],
        tickvals=powers,
        ticktext=[f"{power:,}" for power in powers],
    )


def _nearest(lengths: Int[np.ndarray, "length"], length: int) -> int | None:
    """Which computed length is nearest on the log axis; None of none."""
    return int(np.argmin(np.abs(np.log(lengths / length)))) if len(lengths) else None
