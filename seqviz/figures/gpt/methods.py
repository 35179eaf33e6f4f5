"""How many bits the tokens of texts cost, step by step, by who has written them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.methods import METHODS, ByMethod
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes
from seqviz.plotting.style import Palette
from seqviz.stats.estimate import stack

_LEFT, _RIGHT = (0.0, 0.6), (0.76, 1.0)
_DASH = {
    "human": "solid", "greedy": "dot", "beam": "dash", "nucleus": "solid", "plain": "dashdot",
    "hot": "solid",
}  # fmt: skip


def surprise_by_method(by_method: ByMethod, style: Style = STYLE) -> Figure:
    """Left the bits at each step, means in the bands of their 95% intervals; right per text.

    The diamonds are what the model expects to pay there (its entropy).
    """
    text = style.text
    sheet = Sheet(style)
    steps = np.arange(1, by_method.steps + 1)
    bits = {method: by_method.by_step(method) for method in METHODS}
    top = 1.04 * max(float(np.nanmax(item.high)) for item in bits.values())
    left = sheet.panel(
        axes.axis(text("figure.method_step"), range=[0.5, by_method.steps + 0.5]),
        axes.axis(text("figure.method_bits"), range=[0, top]),
        across=_LEFT,
    )
    names = [text(f"figure.method_{method}") for method in METHODS]
    for method, name in zip(METHODS, names, strict=True):
        color = _color(method, style.palette)
        left.band(steps, *bits[method].ci, color)
        left.line(steps, bits[method].mean, name, color, dash=_DASH[method], width=2,
                  hover="%{x}: %{y:.2f}")  # fmt: skip
    right = sheet.panel(
        axes.axis(text("figure.method_mean"), range=[0, top], nticks=4),
        axes.names(names, text("figure.method_way"), range=[len(names) + 0.6, 0.4]),
        across=_RIGHT,
    )
    positions = np.arange(1, len(METHODS) + 1)
    means = stack(by_method.mean(method) for method in METHODS)
    right.bars(
        positions, means.mean, text("figure.method_mean"),
        [_color(method, style.palette) for method in METHODS], sideways=True, legend=False,
        whiskers=means.ci, hover="%{y}: %{x:.2f}",
    )  # fmt: skip
    right.points(
        [by_method.entropy_of(method) for method in METHODS],
        positions,
        text("figure.method_entropy"),
        style.palette.highlight,
        symbol="diamond",
        size=10,
        edge={"color": style.palette.truth, "width": 1},
    )
    return sheet.described(
        "alt.methods",
        names={"y2": names},
        texts=by_method.texts,
        means="; ".join(
            f"{name}: {number(mean)}" for name, mean in zip(names, means.mean, strict=True)
        ),
    )


def _color(method: str, palette: Palette) -> str:
    roles = {
        "human": "truth", "greedy": "lstm", "beam": "gru", "nucleus": "mlp", "plain": "baseline",
        "hot": "rnn",
    }  # fmt: skip
    return str(getattr(palette, roles[method]))
