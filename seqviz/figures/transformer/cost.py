"""What a Transformer costs: a treemap of its parameters, operations, cache, and measured time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqviz.compute.transformer.cost import (
    COST_PARTS,
    GROUPS,
    Architecture,
    Operations,
    PassTimes,
    cache_bytes,
)
from seqviz.core.i18n import number, percent
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes
from seqviz.plotting.treemap import treemap

_COLORS = {
    "table": "rnn", "self_attention": "lstm", "cross_attention": "mlp", "feed_forward": "gru",
    "norm": "baseline", "pooler": "highlight",
}  # fmt: skip
_LOOKS = (("gpt1", "rnn", "dot"), ("gpt2", "gru", "dash"), ("smollm2", "lstm", "solid"))
_MILLION = 1e6


def parameter_map(architecture: Architecture, style: Style = STYLE) -> Figure:
    """The parameters as areas: a column for each stack, in it the parts that its layers have."""
    text = style.text
    sheet = Sheet(style)
    sheet.margin(t=76)
    sheet.legend(y=1.09)
    panel = sheet.panel(
        axes.axis(
            text("figure.tr_millions"), range=[0, architecture.total / _MILLION], showgrid=False
        ),
        axes.axis(text("figure.tr_of_column"), range=[0, 100], showgrid=False),
    )
    sizes = architecture.counts / _MILLION
    parts = [(text(f"figure.tr_{p}"), getattr(style.palette, _COLORS[p])) for p in COST_PARTS]
    words = [
        [
            f"{text(f'figure.tr_{part}')}<br>{count:,}"
            for part, count in zip(COST_PARTS, row, strict=True)
        ]
        for row in architecture.counts.tolist()
    ]
    groups = [
        text(f"figure.tr_{group}", millions=float(size))
        for group, size in zip(GROUPS, sizes.sum(axis=1), strict=True)
    ]
    treemap(panel, sizes, groups, parts, words)
    largest_at = COST_PARTS[int(architecture.counts.sum(axis=0).argmax())]
    return sheet.described(
        "alt.tr_parameters",
        total=architecture.total,
        most=text(f"figure.tr_{largest_at}"),
        share=architecture.share(largest_at),
        attention=architecture.share("self_attention"),
    )


def operation_lines(operations: Operations, tokens: int, style: Style = STYLE) -> Figure:
    """Operations of a pass by its length, and the parts of it that go with n and with n^2.

    tokens: the length that is marked.
    """
    text, palette = style.text, style.palette
    full = operations.linear + operations.quadratic
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(text("figure.tr_tokens"), type="log", dtick=1, range=[0, np.log10(5000)]),
        axes.decades(
            np.log10(np.concatenate([full, operations.quadratic])), text("figure.tr_operations")
        ),
    )
    for name, values, color, dash in (
        ("quadratic", operations.quadratic, palette.rnn, "dash"),
        ("linear", operations.linear, palette.lstm, "dot"),
        ("whole", full, palette.truth, "solid"),
    ):
        panel.line(operations.tokens, values, text(f"figure.tr_{name}"), color, dash=dash,
                   hover=f"%{{x:,d}}: %{{y:.3s}}{NAMED}")  # fmt: skip
    panel.vertical(tokens, palette.highlight)
    share = percent(operations.share_at(tokens))
    return sheet.described(
        "alt.tr_operations", tokens=tokens, share=share,
        crossing=operations.crossing, longest=int(operations.tokens[-1]),
    )  # fmt: skip


def cache_lines(models: Sequence[Architecture], tokens: int, style: Style = STYLE) -> Figure:
    """Megabytes of keys and values by length, and what shared keys save; `tokens` is marked."""
    text, palette = style.text, style.palette
    lengths = np.linspace(0, 4096, 17).astype(int)
    existing = {name: (getattr(palette, color), dash) for name, color, dash in _LOOKS}
    names: list[str] = []
    colors: list[str] = []
    last: list[float] = []
    sheet = Sheet(style)
    sheet.margin(r=150 * style.scale)
    lines: list[tuple[str, Any, str, str]] = []
    for model in models:
        color, dash = existing[model.name]
        lines.append((text(f"figure.tr_model_{model.name}"), (model, None), color, dash))
        if model.key_heads < model.heads:
            name = text("figure.tr_own_keys", heads=model.heads)
            lines.append((name, (model, model.heads), palette.baseline, "dashdot"))
    maximum = max(cache_bytes(model, 4096, heads) for _, (model, heads), _, _ in lines) / _MILLION
    span = [0.0, 1.05 * maximum]
    panel = sheet.panel(
        axes.axis(text("figure.tr_tokens"), range=[0, 4096]),
        axes.axis(text("figure.tr_megabytes"), range=span),
    )
    for name, (model, heads), color, dash in lines:
        retained = np.array([cache_bytes(model, n, heads) for n in lengths.tolist()]) / _MILLION
        panel.line(lengths, retained, name, color, dash=dash, legend=False,
                   hover=f"%{{x:,d}}: %{{y:.4~g}} MB{NAMED}")  # fmt: skip
        names, colors, last = [*names, name], [*colors, color], [*last, float(retained[-1])]
    panel.ends(names, colors, last, 4096, span)
    panel.vertical(tokens, palette.highlight)
    summary = "; ".join(
        f"{name}: {number(cache_bytes(model, tokens, heads) / _MILLION)}"
        for name, (model, heads), _, _ in lines
    )
    return sheet.described("alt.tr_cache", tokens=tokens, values=summary)


def measured_passes(
    pass_times: PassTimes, titles: Mapping[str, str], style: Style = STYLE
) -> Figure:
    """Milliseconds of a pass by its length, each measurement a point, and the fitted powers of n.

    titles: of the models by their names.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=70)
    sheet.legend(y=1.09)
    n = np.linspace(0, float(pass_times.tokens[-1]), 65)
    labels = []
    for at, name in enumerate(pass_times.models):
        panel = sheet.panel(
            axes.axis(text("figure.tr_tokens"), range=[0, 1.03 * n[-1]]),
            axes.axis(text("figure.tr_milliseconds"), rangemode="tozero"),
            across=(0.56 * at, 0.44 + 0.56 * at), title=titles[name],
        )  # fmt: skip
        a, b, c = (1000 * part for part in pass_times.fit(at))
        for part, values, color, dash in (
            ("fit", a + b * n + c * n**2, palette.truth, "solid"),
            ("linear", b * n, palette.lstm, "dot"),
            ("quadratic", c * n**2, palette.rnn, "dash"),
        ):
            panel.line(n, values, text(f"figure.tr_{part}"), color, dash=dash, group=part,
                       legend=at == 0, hover=f"%{{x:.0f}}: %{{y:.4~g}} ms{NAMED}")  # fmt: skip
        seconds = 1000 * pass_times.seconds[at]
        panel.points(
            np.tile(pass_times.tokens, len(seconds)), seconds.ravel(), text("figure.tr_measured"),
            palette.prediction, size=7, opacity=0.6, group="measured", legend=at == 0,
            hover=f"%{{x:,d}}: %{{y:.4~g}} ms{NAMED}",
        )  # fmt: skip
        longest = float(np.median(seconds[:, -1]))
        share = percent(pass_times.quadratic_share(at))
        labels.append(text("figure.tr_time_of", model=titles[name], time=longest, share=share))
    return sheet.described(
        "alt.tr_time", longest=int(pass_times.tokens[-1]), values="; ".join(labels), gap=0.2
    )
