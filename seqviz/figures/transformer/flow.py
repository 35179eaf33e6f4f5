"""Tensor of one step of an encoder, and attention masks in two forms."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.flow import STEPS, Flow
from seqviz.compute.transformer.masking import MaskedScores
from seqviz.core.units import unbroken
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales

_ROOM = 1.6  # color limit over the largest number; keeps numbers readable


def step_tensor(flow: Flow, step: int, style: Style = STYLE) -> Figure:
    """Plot the tensor of one step of an encoder: a row for each word, heads side by side.

    Args:
        flow: tensors of all steps.
        step: step, from 1.
        style: language, theme and scale of the figure.
    """
    label, chosen = style.labels("figure.tr_"), flow.steps[step - 1]
    name, z = chosen.name, chosen.values
    shape = unbroken(" × ".join(f"{size:,}" for size in chosen.shape))
    column = label("key_of_head" if name == "weights" else "column")
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.counted(z.shape[1], column),
        axes.tokens(style, flow.words, label("word"), upright=True),
    )
    summary = label(f"step_{name}")
    scale = scales.signed(scales.largest(z))
    if name == "weights":
        scale = scales.weights(max(1, scales.largest(z)))  # dropout makes weights larger than 1
    elif name == "tokens":
        scale = scales.unit_scale(0, 30_000)
    panel.cells(
        z, summary, scale, x=np.arange(z.shape[1]), ygap=1, hover="%{y}, %{x}: <b>%{z:.4~g}</b>",
        texttemplate="%{z:.0f}" if name == "tokens" else "", textfont={"size": 14 * style.scale},
    )  # fmt: skip
    if name in ("queries", "weights"):
        width = z.shape[1] // flow.heads
        for head in range(1, flow.heads):
            panel.vertical(head * width - 0.5, style.palette.truth, width=1, layer="above")
    sheet.margin(r=124 * style.scale)
    sheet.headline(label("step", step=step, all=len(STEPS), name=summary, shape=shape))
    return sheet.described(
        "alt.tr_step", step=step, name=summary, shape=shape, words=len(flow.words),
        norm=flow.norm(step - 1),
    )  # fmt: skip


def two_operators(masked_scores: MaskedScores, style: Style = STYLE) -> Figure:
    """Plot masked scores (left), and the weights after adding and after multiplying the mask."""
    text, label, n = style.text, style.labels("figure.tr_mask_"), len(masked_scores.scores)
    positions = [str(index + 1) for index in range(n)]
    keys = axes.names(positions, text("figure.keys"), range=[0.5, n + 0.5])
    queries = axes.names(positions, text("figure.queries"), range=[n + 0.5, 0.5])
    hidden = {**queries, "title": {"text": ""}, "showticklabels": False}
    names = ("scores", "add", "multiply")
    sheet = Sheet(style)
    panels = sheet.row((keys, queries), (keys, hidden), (keys, hidden),
                       gaps=(0.28, 0.36, 0.64, 0.72), titles=[label(k) for k in names])  # fmt: skip
    font = {"size": 14 * style.scale, "color": style.palette.truth}
    limit = _ROOM * scales.largest(masked_scores.scores)
    tables = (masked_scores.scores, *masked_scores.weights)
    for panel, name, z in zip(panels, names, tables, strict=True):
        written = "%{z:.4~g}" if name == "scores" else "%{z:.4f}"
        panel.cells(
            z, label(name), scales.signed(limit if name == "scores" else _ROOM), bar=None, xgap=1,
            ygap=1, texttemplate=written, textfont=font,
            hover=text("figure.hover_weight", query="%{y}", key="%{x}", weight=written),
        )  # fmt: skip
        leaks = name == "multiply"
        color = style.palette.highlight if leaks else style.palette.baseline
        for row, column in np.argwhere(~masked_scores.allowed).tolist():
            panel.outline(color, row=row + 1, column=column + 1, width=3 if leaks else 1.5,
                          dash=None if leaks else "dot")  # fmt: skip
    first = float(masked_scores.weights[1, 0, 0])
    return sheet.described("alt.tr_masks", queries=n, first=first, **masked_scores.compared())
