"""Bits per character of all models on the same sentences, and by amount of training text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seqviz.compute.language_models.amounts import BitsByAmount
from seqviz.compute.language_models.guessing import GuessRanks
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, whisker
from seqviz.stats.estimate import stack

SMOOTHINGS = ("witten_bell", "kneser_ney", "modified_kneser_ney")
_SYMBOLS = dict(zip(SMOOTHINGS, ("circle", "square", "triangle-up"), strict=True))

_TICKS = (1, 2, 3, 4, 6, 8, 12, 16)
_ENDS = (1.25, 12.0)  # of the axis, in bits


def bits_by_model(
    measured: BitsPerCharacter, model: str, reference: str, style: Style = STYLE
) -> Figure:
    """Plot bits per character by n, a line for each smoothing (left), and of other models (right).

    With n = 0 all characters are alike. Whiskers are 95% intervals over the sentences.

    Args:
        measured: bits of all models.
        model: model that is marked; the line of its smoothing is drawn last, over the others.
        reference: model that it is compared with in the description, marked as well.
        style: style of the figure.
    """
    label, palette = style.labels("figure.ruler_"), style.palette
    sheet = Sheet(style)
    others = [name for name in measured.models if name != "uniform" and not _is_ngram(name)]
    order = max(int(name[-1]) for name in measured.models if _is_ngram(name))
    x = axes.axis(label("n"), range=[-0.4, order + 0.5], tickvals=list(range(order + 1)))
    y = axes.axis(
        label("log_bits"), type="log", range=np.log10(_ENDS).tolist(), tickvals=_TICKS,
        ticktext=[str(k) for k in _TICKS],
    )  # fmt: skip
    names = [label(name) for name in others]
    if others:
        left, right = sheet.row((x, y), (axes.names(names, label("others")), y), gaps=(0.58, 0.7))
    else:
        left = sheet.panel(x, y)
    for smoothing in sorted(SMOOTHINGS, key=lambda name: name == model[:-1]):
        every = ["ngram1", *(f"{smoothing}{n}" for n in range(2, order + 1))]
        values, chosen = stack(map(measured.of, every)), smoothing == model[:-1]
        color = palette.prediction if chosen else palette.baseline
        left.line(np.arange(1, order + 1), values.mean, label(f"curve_{smoothing}"), color,
                  symbol=_SYMBOLS[smoothing], width=3 if chosen else 1.5, hover="%{x}: %{y:.3f}",
                  error_y=whisker(values.mean, *values.ci, color))  # fmt: skip
    left.points([0], [measured.of("uniform").mean], label("uniform"), palette.truth,
                symbol="diamond", hover="%{y:.3f}")  # fmt: skip
    if others:
        right.estimates(stack(map(measured.of, others)), label("networks"), palette.truth,
                        mode="markers", hover="%{x}: %{y:.3f}")  # fmt: skip
    for marked in dict.fromkeys((model, reference)):
        panel, at = (right, others.index(marked) + 1) if marked in others else (left, _n(marked))
        panel.points([at], [measured.of(marked).mean], label("compared"), palette.highlight,
                     size=14, symbol="circle-open", hover=False)  # fmt: skip
    compared = measured.compared(model, reference)
    compared |= {"model": model_name(model, label), "reference": model_name(reference, label)}
    return sheet.described(
        f"alt.ruler_{measured.compared(model, reference).variant}",
        names={"x2": names} if others else None, n_models=len(measured.models), **compared,
    )  # fmt: skip


def bits_by_training_text(measured: BitsByAmount, n: int, style: Style = STYLE) -> Figure:
    """Plot bits per character by the amount of training text, a line for each n.

    The chosen n has a band, the 95% interval over the held-out sentences, and a second line for
    sentences that were counted.

    Args:
        measured: bits by amount and n.
        n: the chosen one.
        style: style of the figure.
    """
    label, palette = style.labels("figure.ruler_"), style.palette
    sheet = Sheet(style)
    held, at = measured.held, measured.characters
    lowest = min(measured.train.min(), held.mean.min())
    span = [0.9 * float(lowest), 1.05 * float(held.mean.max())]
    ends = np.log10(at[[0, -1]]) + np.array([-0.05, 0.35])
    panel = sheet.panel(
        axes.axis(label("amount"), type="log", range=ends.tolist(), tickvals=at.tolist(),
                  ticktext=[f"{value / 1000:,.0f}" for value in at]),
        axes.axis(label("bits"), range=span),
    )  # fmt: skip
    orders = range(1, held.mean.shape[1] + 1)
    colors = [palette.prediction if k == n else palette.baseline for k in orders]
    chosen = held[:, n - 1]
    panel.band(at, chosen.low, chosen.high, palette.prediction)
    for k, color in zip(orders, colors, strict=True):
        panel.line(at, held.mean[:, k - 1], label("held", n=k), color, legend=k == n,
                   width=3 if k == n else 1.5, hover="%{y:.3f}")  # fmt: skip
    panel.line(at, measured.train[:, n - 1], label("counted", n=n), palette.highlight, dash="dash",
               hover="%{y:.3f}")  # fmt: skip
    panel.ends([f"n = {k}" for k in orders], colors, held.mean[-1].tolist(),
               float(np.log10(at[-1])), span)  # fmt: skip
    return sheet.described("alt.ruler_amount", **measured.summary(n))


def bits_of_sentence(
    measured: BitsPerCharacter, sentence: int, model: GuessRanks | None = None,
    reader: GuessRanks | None = None, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot bits per character on one sentence, the most on top, with bounds from guesses.

    Args:
        measured: bits of all models.
        sentence: place of the sentence.
        model: guesses of the longest n-gram, or None without a game.
        reader: guesses of the reader, or None before the game.
        style: style of the figure.
    """
    label, palette = style.labels("figure.ruler_"), style.palette
    sheet = Sheet(style)
    subset = measured.with_smoothing(SMOOTHINGS[-1])
    row = (subset.bits[:, sentence] / subset.characters[sentence]).tolist()
    spans = {model_name(name, label): (bits, bits)
             for name, bits in zip(subset.models, row, strict=True)}  # fmt: skip
    bounds = {"guessing": (model, palette.truth)} if model else {}
    if reader:
        bounds["you"] = (reader, palette.highlight)
    n = max(map(_n, measured.models))
    titles = {name: label(name, n=n) for name in bounds}
    spans |= {titles[name]: (guesses.lower, guesses.upper) for name, (guesses, _) in bounds.items()}
    names = sorted(spans, key=lambda name: -sum(spans[name]))
    panel = sheet.panel(axes.axis(label("bits"), rangemode="tozero"),
                        axes.ranked(names, label("model")))  # fmt: skip
    others = [name for name in names if name not in titles.values()]
    panel.points([spans[name][0] for name in others], [1 + names.index(name) for name in others],
                 label("models"), palette.prediction, hover="%{y}: %{x:.2f}")  # fmt: skip
    for name, (guesses, color) in bounds.items():
        ends = [guesses.lower, guesses.upper]
        panel.line(ends, [1 + names.index(titles[name])] * 2, titles[name], color, width=6,
                   symbol="line-ns", hover="%{x:.2f}")  # fmt: skip
    if reader:
        panel.rectangle([reader.lower, reader.upper], None, palette.highlight, width=0,
                        fillcolor=palette.highlight, opacity=0.15, layer="below")  # fmt: skip
    facts = subset.on_sentence(sentence)
    facts |= {"best": model_name(facts["best"], label), "n": n}
    player = reader or model
    key = "played" if reader else "sentence" if model else "text"
    return sheet.described(
        f"alt.ruler_{key}", names={"y": names}, **facts, **(player.summary() if player else {})
    )


def _is_ngram(model: str) -> bool:
    return model[:-1] in (*SMOOTHINGS, "ngram")


def _n(model: str) -> int:
    """Return the n of a model, 0 for characters that are all alike."""
    return int(model[-1]) if _is_ngram(model) else 0


def model_name(model: str, label: Callable[..., str]) -> str:
    """Return the displayed name of a model: that of its smoothing with n, or a word of its own.

    Args:
        model: name of the model in the results.
        label: returns a word of these figures, as `Style.labels` does.
    """
    return label(model[:-1], n=model[-1]) if _is_ngram(model) else label(model)
