"""Cost of a Transformer: parameters, operations, cache, and measured time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from seqviz.compute.transformer.cost import (
    COST_PARTS,
    GROUPS,
    Architecture,
    Operations,
    PassTimes,
    cache_bytes,
)
from seqviz.core.i18n import number
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes
from seqviz.plotting.treemap import treemap

_COLORS = {
    "table": "rnn", "self_attention": "lstm", "cross_attention": "mlp", "feed_forward": "gru",
    "norm": "baseline", "pooler": "highlight",
}  # fmt: skip
_LOOKS = {"gpt1": ("rnn", "dot"), "gpt2": ("gru", "dash"), "smollm2": ("lstm", "solid")}
_MILLION = 1e6
_LONGEST = 4096  # maximum number of tokens of a cache


def parameter_map(architecture: Architecture, style: Style = STYLE) -> Figure:
    """Plot the parameters as a treemap: a column for each stack, split into the layers' parts."""
    label = style.labels("figure.tr_")
    sheet = Sheet(style)
    sheet.margin(t=76)
    sheet.legend(y=1.09)
    counts, sizes = architecture.counts.tolist(), architecture.counts / _MILLION
    panel = sheet.panel(
        axes.axis(label("millions"), range=[0, architecture.total / _MILLION], showgrid=False),
        axes.axis(label("of_column"), range=[0, 100], showgrid=False),
    )
    parts = [(label(part), getattr(style.palette, _COLORS[part])) for part in COST_PARTS]
    words = [[f"{name}<br>{count:,}" for (name, _), count in zip(parts, row, strict=True)]
             for row in counts]  # fmt: skip
    columns = zip(GROUPS, sizes.sum(axis=1).tolist(), strict=True)
    treemap(panel, sizes, [label(group, millions=size) for group, size in columns], parts, words)
    largest = COST_PARTS[int(architecture.counts.sum(axis=0).argmax())]
    return sheet.described(
        "alt.tr_parameters", total=architecture.total, most=label(largest),
        share=architecture.share(largest), attention=architecture.share("self_attention"),
    )  # fmt: skip


def operation_lines(operations: Operations, tokens: int, style: Style = STYLE) -> Figure:
    """Plot the operations of a pass by length: the total, and the terms in n and in n^2.

    Args:
        operations: operations by length.
        tokens: marked length.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.tr_"), style.palette
    linear, quadratic = operations.linear, operations.quadratic
    sheet = Sheet(style)
    logs = np.log10(np.concatenate([linear + quadratic, quadratic]))
    panel = sheet.panel(
        axes.axis(label("tokens"), type="log", dtick=1, range=[0, np.log10(5000)]),
        axes.decades(logs, label("operations")),
    )
    for name, values, color, dash in (
        ("quadratic", quadratic, palette.rnn, "dash"),
        ("linear", linear, palette.lstm, "dot"),
        ("whole", linear + quadratic, palette.truth, "solid"),
    ):
        panel.line(operations.tokens, values, label(name), color, dash=dash,
                   hover=f"%{{x:,d}}: %{{y:.3s}}{NAMED}")  # fmt: skip
    panel.vertical(tokens, palette.highlight)
    return sheet.described(
        "alt.tr_operations", longest=int(operations.tokens[-1]), **operations.compared(tokens)
    )


def cache_lines(models: Sequence[Architecture], tokens: int, style: Style = STYLE) -> Figure:
    """Plot the size of the key-value cache in megabytes by length, with and without shared keys.

    Args:
        models: the models.
        tokens: marked length.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.tr_"), style.palette
    sheet = Sheet(style)
    sheet.margin(r=150 * style.scale)
    lines: list[tuple[str, str, str, Callable[[int], float]]] = []
    for model in models:
        color, dash = _LOOKS[model.name]
        lines.append((label(f"model_{model.name}"), getattr(palette, color), dash,
                      partial(_megabytes, model, None)))  # fmt: skip
        if model.key_heads < model.heads:
            lines.append((label("own_keys", heads=model.heads), palette.baseline, "dashdot",
                          partial(_megabytes, model, model.heads)))  # fmt: skip
    names, colors, _, sizes = zip(*lines, strict=True)
    last = [size(_LONGEST) for size in sizes]
    span = [0.0, 1.05 * max(last)]
    panel = sheet.panel(axes.axis(label("tokens"), range=[0, _LONGEST]),
                        axes.axis(label("megabytes"), range=span))  # fmt: skip
    lengths = np.linspace(0, _LONGEST, 17).astype(int)
    for name, color, dash, size in lines:
        panel.line(lengths, np.array([size(n) for n in lengths.tolist()]), name, color,
                   dash=dash, legend=False, hover=f"%{{x:,d}}: %{{y:.4~g}} MB{NAMED}")  # fmt: skip
    panel.ends(names, colors, last, _LONGEST, span)
    panel.vertical(tokens, palette.highlight)
    values = "; ".join(f"{name}: {number(size(tokens))}" for name, _, _, size in lines)
    return sheet.described("alt.tr_cache", tokens=tokens, values=values)


def _megabytes(model: Architecture, heads: int | None, tokens: int) -> float:
    return cache_bytes(model, tokens, heads) / _MILLION


def measured_passes(
    pass_times: PassTimes, titles: Mapping[str, str], style: Style = STYLE
) -> Figure:
    """Plot milliseconds of a pass by length: measurements, and a fitted quadratic by terms.

    Args:
        pass_times: measured times.
        titles: titles by model.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.tr_"), style.palette
    sheet = Sheet(style)
    sheet.margin(t=70)
    sheet.legend(y=1.09)
    n = np.linspace(0, float(pass_times.tokens[-1]), 65)
    times = []
    for at, name in enumerate(pass_times.models):
        panel = sheet.panel(
            axes.axis(label("tokens"), range=[0, 1.03 * n[-1]]),
            axes.axis(label("milliseconds"), rangemode="tozero"),
            across=(0.56 * at, 0.44 + 0.56 * at), title=titles[name],
        )  # fmt: skip
        a, b, c = (1000 * part for part in pass_times.fit(at))
        for part, values, color, dash in (
            ("fit", a + b * n + c * n**2, palette.truth, "solid"),
            ("linear", b * n, palette.lstm, "dot"),
            ("quadratic", c * n**2, palette.rnn, "dash"),
        ):
            panel.line(n, values, label(part), color, dash=dash, group=part,
                       hover=f"%{{x:.0f}}: %{{y:.4~g}} ms{NAMED}")  # fmt: skip
        seconds = 1000 * pass_times.seconds[at]
        panel.points(
            np.tile(pass_times.tokens, len(seconds)), seconds.ravel(), label("measured"),
            palette.prediction, size=7, opacity=0.6, group="measured",
            hover=f"%{{x:,d}}: %{{y:.4~g}} ms{NAMED}",
        )  # fmt: skip
        times.append(label("time_of", model=titles[name], **pass_times.summary(at)))
    return sheet.described(
        "alt.tr_time", longest=int(pass_times.tokens[-1]), values="; ".join(times), gap=0.2
    )
