"""Surprisal of texts written by people and by decoding methods."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.methods import METHODS, ByMethod
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes
from seqviz.stats.estimate import stack

LOOK = {  # role of the color and dash of each method
    "human": ("truth", "solid"), "greedy": ("lstm", "dot"), "beam": ("gru", "dash"),
    "nucleus": ("mlp", "solid"), "plain": ("baseline", "dashdot"), "hot": ("rnn", "solid"),
}  # fmt: skip


def surprise_by_method(by_method: ByMethod, style: Style = STYLE) -> Figure:
    """Plot bits per step with 95% bands (left), and the mean per text as ranked bars (right).

    Diamonds mark the entropy: the surprisal that the model itself expects.
    """
    label, palette = style.labels("figure.method_"), style.palette
    sheet = Sheet(style)
    names = [label(method) for method in METHODS]
    colors = [getattr(palette, LOOK[method][0]) for method in METHODS]
    bits = [by_method.by_step(method) for method in METHODS]
    top = 1.04 * max(float(np.nanmax(item.high)) for item in bits)
    left, right = sheet.row(
        (axes.axis(label("step"), range=[0.5, by_method.steps + 0.5]),
         axes.axis(label("bits"), range=[0, top])),
        (axes.axis(label("mean"), range=[0, top], nticks=4), axes.ranked(names, label("way"))),
        gaps=(0.6, 0.76),
    )  # fmt: skip
    steps = np.arange(1, by_method.steps + 1)
    for method, item, name, color in zip(METHODS, bits, names, colors, strict=True):
        left.band(steps, *item.ci, color)
        left.line(steps, item.mean, name, color, dash=LOOK[method][1], width=2,
                  hover="%{x}: %{y:.2f}")  # fmt: skip
    means = stack(by_method.mean(method) for method in METHODS)
    right.ranked_bars(means, label("mean"), colors, legend=False, hover="%{y}: %{x:.2f}")
    right.points(
        [by_method.entropy_of(method) for method in METHODS], np.arange(1, len(METHODS) + 1),
        label("entropy"), palette.highlight, symbol="diamond", size=10,
        edge={"color": palette.truth, "width": 1},
    )  # fmt: skip
    pairs = zip(names, means.mean, strict=True)
    return sheet.described(
        "alt.methods", names={"y2": names}, texts=by_method.texts,
        means="; ".join(f"{name}: {number(mean)}" for name, mean in pairs),
    )  # fmt: skip
